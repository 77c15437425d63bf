"""Every error that leaves the library on purpose.

    Exception
    └── DSPyError                         message, code, model, provider, status, request_id, retry_after
        ├── AdapterParseError             a completion does not hold the fields that the signature asks for
        └── LMError                       a model could not be asked, or did not answer
            ├── LMConfigurationError      the setup is wrong: mend the program
            │   └── LMNotConfiguredError  no LM at all (also a ValueError)
            ├── LMTransportError          no connection, a reset, half a body
            ├── LMUnsupportedFeatureError the model cannot do what was asked of it
            ├── LMLockTimeoutError        a lock on a shared file was not free in time
            ├── LMCollectionLimitError    a response grew over the bound it may have
            ├── LMUnexpectedError         an answer, or a client fault, of no known kind
            │   └── LMStreamAssemblyError a stream that broke, with what came before
            └── LMProviderError           the provider said no
                ├── LMAuthError           401, 403: the key
                ├── LMBillingError        402, or a quota that is used up
                ├── LMRateLimitError      429
                ├── LMTimeoutError        408, 504, or no answer in time
                ├── LMServerError         other 5xx
                └── LMInvalidRequestError other 4xx
                    ├── ContextWindowExceededError
                    └── LMUnsupportedModelError
    └── ControlFlow                       not a failure: leaves an agent's loop untouched

Beside the tree: `reasonact.TooManyErrors`, a DSPyError, ends a batch and has its results;
a tool that refuses its arguments raises `reasonact.tools.InvalidArguments`,
a ValueError; a tool of an MCP server that reports a failure `reasonact.tools.MCPToolError`,
a RuntimeError.

Names, fields and the places of the classes are DSPy's (3.4), so that programs that
catch them go on catching them. Plain misuse of an interface is a TypeError or a
ValueError of Python's own.
"""

from __future__ import annotations

import traceback
from collections.abc import Mapping, Sequence
from typing import Any, ClassVar


class DSPyError(Exception):
    """Root of the errors of this library.

    Args:
        message: What was wrong, where, and what to do.
        code: A stable word for the kind of failure; each class has its own default.
        model: The model that was asked, as it was named to ``LM``.
        provider: The provider behind it, as LiteLLM names it.
        provider_code: The provider's own code for the failure.
        status: The HTTP status, where there was one.
        request_id: The provider's id of the request, for its support desk.
        retry_after: Seconds that the provider asked to wait.
    """

    default_code: ClassVar[str | None] = None

    def __init__(
        self,
        message: str = "",
        *,
        code: str | None = None,
        model: str | None = None,
        provider: str | None = None,
        provider_code: str | None = None,
        status: int | None = None,
        request_id: str | None = None,
        retry_after: float | None = None,
    ) -> None:
        super().__init__(message)
        self.message = message
        self.model, self.provider = model, provider
        self.status, self.code, self.provider_code = status, code or self.default_code, provider_code
        self.request_id, self.retry_after = request_id, retry_after

    def __str__(self) -> str:
        return f"[{self.model}] {self.message}" if self.model else self.message

    def __reduce__(self) -> tuple[Any, ...]:
        # Exceptions cross process borders (batches, pools); their keywords go along as state.
        return (_rebuilt, (type(self), self.args), dict(self.__dict__))


def _rebuilt(cls: type[BaseException], args: tuple[Any, ...]) -> BaseException:
    error = cls.__new__(cls)
    error.args = args
    return error


class LMError(DSPyError):
    """A language model could not be asked, or did not answer."""

    default_code = "lm_error"


class LMTransportError(LMError):
    """The connection failed before a whole answer was there."""

    default_code = "transport"


class LMLockTimeoutError(LMError):
    """A lock on a shared file was not free in time.

    Args:
        message: What was being done.
        path: The file that the lock guards.
        lock_path: The lock file itself.
    """

    default_code = "lock_timeout"

    def __init__(self, message: str = "", *, path: str = "", lock_path: str = "", **kwargs: Any) -> None:
        super().__init__(message, **kwargs)
        self.path = path
        self.lock_path = lock_path


class LMCollectionLimitError(LMError):
    """A response grew over the bound that it may have.

    Args:
        message: Which bound, and by how much.
        source: The collector that was filling up; its ``partial`` is what came so far.
    """

    default_code = "collection_limit"

    def __init__(self, message: str = "", *, source: Any = None, **kwargs: Any) -> None:
        super().__init__(message, **kwargs)
        self.source = source

    @property
    def partial(self) -> Any:
        """What had come before the bound was met."""
        return getattr(self.source, "partial", None)


class LMConfigurationError(LMError):
    """The model's setup is wrong; no retry can mend it."""

    default_code = "configuration"


class LMNotConfiguredError(LMConfigurationError, ValueError):
    """There is no LM to ask: neither configured, nor in the context, nor on the module."""

    default_code = "not_configured"


class LMUnsupportedFeatureError(LMError):
    """The model or its client cannot do what the request asks for.

    Args:
        message: What was asked for, and of whom.
        features: The names of the features in question.
        feature: The one feature, where there is one.
        issues: A sentence for each obstacle.
    """

    default_code = "unsupported_feature"

    def __init__(
        self,
        message: str = "",
        *,
        features: list[str] | None = None,
        feature: str | None = None,
        issues: list[str] | None = None,
        **kwargs: Any,
    ) -> None:
        super().__init__(message, **kwargs)
        self.features = list(features) if features is not None else ([feature] if feature else [])
        self.feature = feature or (self.features[0] if self.features else None)
        self.issues = list(issues or [])


class LMUnexpectedError(LMError):
    """An answer of no known form, or a failure of the client itself."""

    default_code = "unexpected"


class LMStreamAssemblyError(LMUnexpectedError):
    """A stream broke or did not add up to an answer.

    Args:
        message: Where it broke.
        partial: What had come before.
        part_index: The number of the chunk that did not fit, from 0.
    """

    default_code = "stream_assembly"

    def __init__(self, message: str = "", *, partial: Any = None, part_index: int | None = None, **kwargs: Any) -> None:
        super().__init__(message, **kwargs)
        self.partial = partial
        self.part_index = part_index


class LMProviderError(LMError):
    """The provider was reached and refused or failed."""

    default_code = "provider"


class LMAuthError(LMProviderError):
    """The key is missing, wrong, or not allowed to do this."""

    default_code = "auth"


class LMBillingError(LMProviderError):
    """The account has no credit or quota left."""

    default_code = "billing"


class LMRateLimitError(LMProviderError):
    """Too many requests or tokens in too short a time."""

    default_code = "rate_limit"


class LMTimeoutError(LMProviderError):
    """No answer came in time."""

    default_code = "timeout"


class LMServerError(LMProviderError):
    """The provider failed on its own side."""

    default_code = "server"


class LMInvalidRequestError(LMProviderError):
    """The provider refused the request as it stands; sending it again changes nothing."""

    default_code = "invalid_request"


class ContextWindowExceededError(LMInvalidRequestError):
    """The request does not fit into the model's context window.

    Args:
        model: The model whose window was too small.
        message: The provider's words.
    """

    default_code = "context_window_exceeded"

    def __init__(
        self, *, model: str | None = None, message: str = "The request does not fit the context window.", **kwargs: Any
    ) -> None:
        super().__init__(message, model=model, **kwargs)


class LMUnsupportedModelError(LMInvalidRequestError):
    """The provider does not know the model, or does not offer it here."""

    default_code = "unsupported_model"


class AdapterParseError(DSPyError):
    """A completion does not hold what the signature asks for.

    Args:
        adapter_name: The adapter that read the completion.
        signature: The signature whose output fields were looked for.
        lm_response: The completion, whole.
        message: Which field, which value, and what was expected instead.
        parsed_result: The fields that could be read.
        raw_fields: The text of each field that was found, readable or not.
        tool_calls: Native calls that came with the completion, as the client gave them.

    Attributes:
        forged_observations: How many tool results of the model's own making were dropped.
    """

    default_code = "adapter_parse_error"
    forged_observations: int = 0

    def __init__(
        self,
        adapter_name: str,
        signature: Any,
        lm_response: str,
        message: str | None = None,
        parsed_result: Any = None,
        *,
        raw_fields: Mapping[str, Any] | None = None,
        tool_calls: Sequence[Any] = (),
    ) -> None:
        self.signature, self.adapter_name = signature, adapter_name
        self.lm_response, self.parsed_result = lm_response, parsed_result
        self.raw_fields = dict(raw_fields or {})
        self.tool_calls = list(tool_calls)
        expected = ", ".join(getattr(signature, "output_fields", {}))
        text = f"{message}\n\n" if message else ""
        text += f"{adapter_name} could not read the completion.\nFields wanted: [{expected}]\n"
        if parsed_result is not None:
            found = ", ".join(parsed_result) if isinstance(parsed_result, Mapping) else str(parsed_result)
            text += f"Fields read: [{found}]\n"
        super().__init__(f"{text}Completion: {lm_response}")


class ControlFlow(DSPyError):
    """Base of the exceptions that are no failures: they always leave an agent's loop.

    A tool that raises one is not answered by an error result; the caller of the agent
    gets the exception. ``ConfirmationRequired`` is one.
    """

    default_code = "control_flow"


_RETRYABLE = (LMTransportError, LMRateLimitError, LMTimeoutError, LMServerError)


def is_retryable_lm_error(error: BaseException) -> bool:
    """Tell whether sending the same request again may help.

    Args:
        error: Any exception.

    Returns:
        True for a lost connection, a rate limit, a timeout and a provider's own failure.
    """
    return isinstance(error, _RETRYABLE)


def format_error_for_lm(error: BaseException, *, traceback_frames: int = 0) -> str:
    """Put an exception into the words that a model reads as a tool's result.

    Args:
        error: What was raised.
        traceback_frames: How many frames, the innermost last, to add below the line.

    Returns:
        One line, ``Class: message``, and the frames asked for.
    """
    try:
        line = " ".join(str(error).split())
    except Exception:  # a class of the user's whose __str__ fails must not hide what happened
        line = "(its message cannot be shown)"
    text = f"{type(error).__name__}: {line}" if line else type(error).__name__
    if traceback_frames > 0:
        frames = traceback.format_list(traceback.extract_tb(error.__traceback__)[-traceback_frames:])
        text += "\n" + "".join(frames).rstrip()
    return text
