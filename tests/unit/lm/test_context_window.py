"""A full context window, told from the words of each provider, and from what looks alike."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from reasonact.errors import ContextWindowExceededError, LMInvalidRequestError, LMRateLimitError
from reasonact.lm.context_window import is_context_overflow
from reasonact.lm.provider_errors import translate
from reasonact.runtime.settings import settings

FULL = {
    "openai": (
        400,
        (
            "This model's maximum context length is 8192 tokens. However, your messages resulted in 8545 tokens. "
            "Please reduce the length of the messages."
        ),
    ),
    "openai responses": (
        400,
        "Your input exceeds the context window of this model. Please adjust your input and try again.",
    ),
    "openai gpt-5": (
        400,
        "Input tokens exceed the configured limit of 272000 tokens. Your messages resulted in 300001 tokens.",
    ),
    "azure": (
        400,
        (
            "This model's maximum context length is 4096 tokens, however you requested 4199 tokens (3687 in your "
            "prompt; 512 for the completion)."
        ),
    ),
    "anthropic": (400, "prompt is too long: 208310 tokens > 200000 maximum"),
    "anthropic with max_tokens": (
        400,
        "input length and `max_tokens` exceed context limit: 190000 + 20000 > 200000, decrease input length",
    ),
    "gemini": (400, "The input token count (1196265) exceeds the maximum number of tokens allowed (1048576)."),
    "vertex": (
        400,
        "Unable to submit request because the input token count is 40001 but model only supports up to 32768.",
    ),
    "bedrock": (400, "Input is too long for requested model."),
    "bedrock cohere": (400, "Too many input tokens. Max input tokens: 8192, request input token count: 9001"),
    "mistral": (
        400,
        "Prompt contains 40001 tokens and 0 draft tokens, too large for model with 32768 maximum context length",
    ),
    "groq": (400, "Please reduce the length of the messages or completion."),
    "together": (
        422,
        "Input validation error: `inputs` tokens + `max_new_tokens` must be <= 8193. Given: 9001 `inputs` tokens",
    ),
    "fireworks": (400, "The prompt is too long: 40177, model maximum context length: 32767"),
    "perplexity": (400, "The input exceeds the model's maximum context window of 128000 tokens"),
    "openrouter": (
        400,
        (
            "This endpoint's maximum context length is 131072 tokens. However, you requested about 210001 tokens "
            "(209001 of text input, 1000 in the output)."
        ),
    ),
    "vllm": (
        400,
        (
            "This model's maximum context length is 4096 tokens. However, you requested 5001 tokens (4001 in the "
            "messages, 1000 in the completion)."
        ),
    ),
    "vllm prompt": (400, "The decoder prompt (length 9001) is longer than the maximum model length of 4096."),
    "vllm no room left": (
        400,
        (
            "'max_tokens' or 'max_completion_tokens' is too large: 2000. This model's maximum context length is 4096 "
            "tokens and your request has 2104 input tokens (2000 > 4096 - 2104)."
        ),
    ),
    "llama.cpp": (400, "request (481909 tokens) exceeds the available context size (32768 tokens), try increasing it"),
    "llama.cpp while writing": (500, "Context size has been exceeded."),
    "llama-cpp-python": (400, "Requested tokens (5001) exceed context window of 2048"),
    "ollama": (400, "the input length exceeds the context length"),
    "ollama cloud": (400, "prompt too long; exceeded max context length by 12 tokens"),
    "sglang": (400, "The input (61709 tokens) is longer than the model's context length (40960 tokens)."),
    "sglang requested": (
        400,
        (
            "Requested token count exceeds the model's maximum context length of 4096 tokens. You requested a total of "
            "5001 tokens."
        ),
    ),
    "deepseek": (
        400,
        (
            "This model's maximum context length is 131072 tokens. However, you requested 131134 tokens (122942 in the "
            "messages, 8192 in the completion)."
        ),
    ),
    "xai": (400, "This model's maximum prompt length is 131072 but the request contains 136973 tokens."),
    "lm studio": (
        400,
        (
            "Trying to keep the first 6721 tokens when context the overflows. However, the model is loaded with "
            "context length of only 4096 tokens, which is not enough."
        ),
    ),
    "github models": (413, "Request body too large for gpt-4o model. Max size: 8000 tokens."),
    "cohere": (400, "too many tokens: total number of tokens in the prompt cannot exceed 4081 - received 4292."),
    "moonshot": (400, "Invalid request: Your request exceeded model token limit: 8192"),
    "dashscope": (400, "Range of input length should be [1, 30720]"),
}

ALIKE = {
    "openai output bound": (
        400,
        (
            "max_tokens is too large: 200000. This model supports at most 16384 completion tokens, whereas you "
            "provided 200000."
        ),
    ),
    "anthropic output bound": (
        400,
        "max_tokens: 100000 > 8192, which is the maximum allowed number of output tokens for claude-3-5-sonnet",
    ),
    "groq output bound": (
        400,
        (
            "`max_tokens` must be less than or equal to `8192`, the maximum value for `max_tokens` is less than the "
            "`context_window` for this model"
        ),
    ),
    "vertex output bound": (
        400,
        (
            "Unable to submit request because it has a maxOutputTokens value of 9000 but the supported range is from 1 "
            "(inclusive) to 8193 (exclusive)."
        ),
    ),
    "openai rate": (
        429,
        (
            "Rate limit reached for gpt-4o in organization org-x on tokens per min (TPM): Limit 30000, Used 29000, "
            "Requested 4000."
        ),
    ),
    "groq rate as 413": (
        413,
        (
            "Request too large for model `llama-3.3-70b` in organization `org_x` on tokens per minute (TPM): Limit "
            "6000, Requested 9001, please reduce your message size and try again."
        ),
    ),
    "anthropic rate": (
        429,
        "This request would exceed your organization's rate limit of 40,000 input tokens per minute.",
    ),
    "bedrock throttling": (429, "Too many tokens, please wait before trying again."),
    "a key": (401, "Your key is too long for this model's maximum context length"),
    "something else": (400, "messages: text content blocks must be non-empty"),
}


@pytest.mark.parametrize("provider", FULL)
def test_a_full_window_is_recognised(provider):
    status, message = FULL[provider]
    assert is_context_overflow(message, status=status)
    assert is_context_overflow(message)


@pytest.mark.parametrize("provider", ALIKE)
def test_what_looks_alike_is_not_taken_for_one(provider):
    status, message = ALIKE[provider]
    assert not is_context_overflow(message, status=status)


@pytest.mark.parametrize(
    "code", ["context_length_exceeded", "exceed_context_size_error", "tokens_limit_reached", "context_window_exceeded"]
)
def test_a_code_is_enough(code):
    assert is_context_overflow("no words", status=400, code=code)
    assert not is_context_overflow("no words", status=429, code=code)


def test_a_program_can_add_patterns_of_its_own():
    message = "E-4711: payload above model capacity"
    assert not is_context_overflow(message, status=409)
    assert is_context_overflow(message, status=409, patterns=[r"e-4711\b"])

    import litellm

    error = litellm.BadRequestError(message, "m", "openai")
    assert LMInvalidRequestError is type(translate(error))
    with settings.context(context_window_patterns=[r"E-4711"]):
        assert ContextWindowExceededError is type(translate(error))


def test_litellms_class_counts_unless_the_words_tell_otherwise():
    import litellm

    assert ContextWindowExceededError is type(translate(litellm.ContextWindowExceededError("full", "m", "openai")))
    _, rate = ALIKE["anthropic rate"]
    assert LMRateLimitError is type(translate(litellm.RateLimitError(rate, "anthropic", "m")))
    _, output = ALIKE["anthropic output bound"]
    assert LMInvalidRequestError is type(translate(litellm.ContextWindowExceededError(output, "m", "anthropic")))


@given(st.text(max_size=400), st.sampled_from([None, 400, 413, 429, 500]))
def test_any_text_gets_an_answer(text, status):
    assert is_context_overflow(text, status=status) in (True, False)
