"""Predict: one model call for one signature, with a second adapter to fall back on."""

from __future__ import annotations

import secrets
from collections.abc import Mapping
from typing import Any

from pydantic_core import PydanticUndefined

from reasonact.adapters.active import active_adapter
from reasonact.adapters.base import Adapter
from reasonact.adapters.conversation import Rendered
from reasonact.adapters.json_adapter import JSONAdapter
from reasonact.errors import AdapterParseError, LMNotConfiguredError
from reasonact.lm.base import BaseLM
from reasonact.modules.commands import CallModule
from reasonact.modules.inputs import check_inputs
from reasonact.modules.module import Module, reported
from reasonact.modules.parameter import Parameter
from reasonact.modules.showing import shown_live, withdraw
from reasonact.modules.state import dump_predict, load_predict
from reasonact.runtime.callbacks import BaseCallback
from reasonact.runtime.drive import adrive, drive
from reasonact.runtime.events import live_sink
from reasonact.runtime.flow import Flow, call
from reasonact.runtime.settings import settings
from reasonact.signatures.signature import Signature, SignatureLike, ensure_signature
from reasonact.types.prediction import Prediction

# With several completions asked for, a temperature near 0 would give the same one again.
_SAMPLING_TEMPERATURE = 0.7
_NEAR_GREEDY = 0.15


class Predict(Module, Parameter):
    """Ask a model for a signature's outputs.

    Calling it takes the signature's inputs by keyword, and beside them ``signature``,
    ``demos``, ``config`` and ``lm`` in place of its own for this one call.

    Args:
        signature: A `Signature` class or its string form.
        callbacks: Callbacks for this object alone.
        **config: Options that go with every request (``temperature``, ``n``, ...).

    Raises:
        ValueError: The signature cannot be read, or has no output field.
    """

    is_predictor = True

    def __init__(
        self,
        signature: SignatureLike,
        callbacks: list[BaseCallback] | None = None,
        **config: Any,
    ) -> None:
        super().__init__(callbacks=callbacks)
        self.stage = secrets.token_hex(8)
        self.signature: type[Signature] = ensure_signature(signature)
        if not self.signature.output_fields:
            raise ValueError(
                f"the signature {self.signature.signature!r} has no output field; write what to produce after '->'"
            )
        self.config: dict[str, Any] = config
        self.reset()

    def reset(self) -> None:
        """Forget the LM, the demos and the records."""
        self.lm: BaseLM | None = None
        self.traces: list[Any] = []
        self.train: list[Any] = []
        self.demos: list[Any] = []

    def update_config(self, **kwargs: Any) -> None:
        """Add to the options that go with every request."""
        self.config = {**self.config, **kwargs}

    def get_config(self) -> dict[str, Any]:
        """The options that go with every request."""
        return self.config

    def dump_state(self, json_mode: bool = True) -> dict[str, Any]:
        """What the predictor has learned, as plain data in DSPy's form; otherwise as for `BaseModule`."""
        return dump_predict(self, json_mode)

    def load_state(  # type: ignore[override] # it returns the predictor, as DSPy's does
        self, state: Mapping[str, Any], *, allow_unsafe_lm_state: bool = False
    ) -> Predict:
        """Take over what `dump_state` gave, here or in DSPy. On an error nothing is changed.

        Args:
            state: The state of this predictor.
            allow_unsafe_lm_state: Also take addresses and headers of requests, and LM
                classes of the program's own. Say so only for a state that you trust.

        Returns:
            This predictor.

        Raises:
            ValueError: The state is none, or holds what cannot be used.
        """
        load_predict(self, state, allow_unsafe_lm_state=allow_unsafe_lm_state)
        return self

    def __call__(self, /, *args: Any, **kwargs: Any) -> Prediction:
        """Ask the model. See the class for what a call takes.

        Returns:
            A `Prediction` with the output fields, typed; with ``n`` completions its
            ``completions`` hold all of them.

        Raises:
            ValueError: Positional arguments, or an ``lm`` that is none.
            LMNotConfiguredError: There is no LM to ask.
            AdapterParseError: The completion does not hold the output fields.
            LMError: The model could not be asked.
        """
        self._refuse_positional(args)
        return super().__call__(**kwargs)

    async def acall(self, /, *args: Any, **kwargs: Any) -> Prediction:
        """As calling the object, on the running event loop."""
        self._refuse_positional(args)
        return await super().acall(**kwargs)

    def forward(self, /, **kwargs: Any) -> Prediction:
        """What a call does between its callbacks. Override it together with `aforward`."""
        return drive(self.flow(kwargs))

    async def aforward(self, /, **kwargs: Any) -> Prediction:
        """As `forward`, on the running event loop."""
        return await adrive(self.flow(kwargs))

    def flow(self, kwargs: Mapping[str, Any], rendered: Rendered | None = None) -> Flow[Prediction]:
        """The one body of `forward` and `aforward`.

        Args:
            kwargs: What the call was given.
            rendered: What an agent's run has rendered of its history so far. An agent has checked
                its inputs, and they are not checked again.

        Returns:
            The prediction.
        """
        overrides = {name: kwargs[name] for name in ("signature", "demos", "config", "lm") if name in kwargs}
        given = {name: value for name, value in kwargs.items() if name not in overrides and name != "_trace"}
        signature = ensure_signature(overrides.get("signature") or self.signature)
        demos = overrides.get("demos", self.demos)
        lm = _usable_lm(overrides.get("lm") or self.lm or settings.lm)
        options = _request_options({**self.config, **overrides.get("config", {})}, lm)
        if rendered is None:  # an agent has checked its inputs once, and need not at each turn
            check_inputs(f"the signature {signature.signature!r}", signature, given)
        inputs = _with_defaults(signature, given)

        adapter = active_adapter()

        def body() -> Flow[list[dict[str, Any]]]:
            return _completions(self, adapter, lm, options, signature, demos, inputs, rendered)

        sink = live_sink()
        completions = yield from body() if sink is None else shown_live(sink, self, signature, body)
        prediction = Prediction.from_completions(completions, signature=signature)
        if kwargs.get("_trace", True):
            self._record(inputs, prediction)
        return prediction

    def _record(self, inputs: dict[str, Any], prediction: Prediction) -> None:
        trace = settings.trace
        if trace is None or settings.max_trace_size <= 0:
            return
        if len(trace) >= settings.max_trace_size:
            trace.pop(0)
        trace.append((self, inputs, prediction))

    def _refuse_positional(self, args: tuple[Any, ...]) -> None:
        if args:
            names = ", ".join(f"{name}=..." for name in self.signature.input_fields)
            raise ValueError(f"inputs are given by keyword, as in predict({names}); found {len(args)} positional")

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self.signature})"


def call_predict(predict: Any, inputs: Mapping[str, Any], rendered: Rendered | None = None) -> Flow[Any]:
    """Call a predictor from inside a flow, handing it what this run has rendered so far.

    A module that overrides its call or its forward methods is called as such, and renders
    for itself.

    Args:
        predict: A `Predict`, or whatever a program has put in its place.
        inputs: Its keyword arguments.
        rendered: The run's memo of past messages.

    Returns:
        The prediction.
    """
    if isinstance(predict, Predict) and _runs_the_own_flow(predict):
        return (yield from reported(predict, (), inputs, predict.flow(inputs, rendered)))
    return (yield from call(CallModule(predict, (), inputs)))


def _runs_the_own_flow(predict: Predict) -> bool:
    cls = type(predict)
    own = cls is Predict or all(
        getattr(cls, name) is getattr(Predict, name) for name in ("__call__", "acall", "forward", "aforward")
    )
    return own and not ({"forward", "aforward", "acall"} & predict.__dict__.keys())


def _completions(
    predict: Predict,
    adapter: Adapter,
    lm: BaseLM,
    options: Mapping[str, Any],
    signature: type[Signature],
    demos: list[Any],
    inputs: dict[str, Any],
    rendered: Rendered | None,
) -> Flow[list[dict[str, Any]]]:
    try:
        return (yield from adapter.call_flow(lm, options, signature, demos, inputs, rendered))
    except AdapterParseError as first:
        if first.tool_calls or not getattr(adapter, "use_json_adapter_fallback", False):
            raise
        yield from withdraw(predict)
        # It asks in the same mode: a prompt without native tools is followed by one without.
        fallback = JSONAdapter(
            callbacks=adapter.callbacks,
            use_native_function_calling=adapter.use_native_function_calling,
            parallel_tool_calls=adapter.parallel_tool_calls,
        )
        fallback.native_response_types = adapter.native_response_types
        try:
            return (yield from fallback.call_flow(lm, options, signature, demos, inputs, None))
        except AdapterParseError as second:
            raise second from first


def _usable_lm(lm: Any) -> BaseLM:
    if lm is None:
        raise LMNotConfiguredError(
            "there is no LM to ask; name one with reasonact.configure(lm=reasonact.LM('provider/model'))"
        )
    if isinstance(lm, str):
        raise ValueError(f"lm is the text {lm!r}, not an LM; write lm=reasonact.LM({lm!r})")
    if not isinstance(lm, BaseLM):
        raise ValueError(f"lm is a {type(lm).__name__}, not an LM; subclass reasonact.BaseLM to make it one")
    return lm


def _request_options(config: dict[str, Any], lm: BaseLM) -> dict[str, Any]:
    temperature = config.get("temperature", lm.kwargs.get("temperature"))
    count = config.get("n") or lm.kwargs.get("n") or 1
    if count > 1 and (temperature is None or temperature <= _NEAR_GREEDY):
        return {**config, "temperature": _SAMPLING_TEMPERATURE}
    return config


def _with_defaults(signature: type[Signature], given: dict[str, Any]) -> dict[str, Any]:
    inputs = dict(given)
    for name, field in signature.input_fields.items():
        if name not in inputs and not field.is_required():
            default = field.get_default(call_default_factory=True, validated_data={})
            if default is not PydanticUndefined:
                inputs[name] = default
    return inputs
