"""Recognising, by a provider's words, that a request did not fit the context window.

Most providers answer with status 400 and a sentence; only some add a code. The phrases
below are what the providers named beside them send. What looks alike is told apart
first: a limit of tokens per minute, and a completion bound that is set too high.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Final

# Statuses under which a provider may speak of the window: others mean what they say.
_STATUSES: Final = frozenset({None, 400, 413, 422, 500})

_CODES: Final = frozenset(
    {
        *("context_length_exceeded", "context_window_exceeded", "context_exceeded"),
        *("exceed_context_size_error", "tokens_limit_reached", "model_max_prompt_tokens_exceeded"),
    }
)

_RATE: Final = re.compile(
    r"per[ _-](minute|hour|day|second)|\b[tr]p[mdh]\b|rate[ _-]?limit|too many requests|please wait|throttl|\bquota\b",
    re.IGNORECASE,
)

_PHRASES: Final = (
    # OpenAI, Azure, vLLM, DeepSeek, Together, Bedrock, OpenRouter, Fireworks, Mistral, SGLang; "prompt" is xAI's
    r"maximum (context|prompt|model) (length|limit|window|size)",
    r"exceed(s|ed|ing)?\b.{0,60}\bcontext (window|length|limit|size)",  # OpenAI, Anthropic, llama.cpp, Perplexity
    r"context (window|length|size|limit)\b.{0,30}\bexceed",  # llama.cpp, MiniMax, Ollama
    r"exceeded max context length",  # Ollama
    r"longer than the (model['’]?s )?(maximum )?(context|model) length",  # SGLang, vLLM
    r"input tokens exceed the configured limit",  # OpenAI
    r"reduce the length of (the|your) (messages|prompt|input)",  # Groq, Cerebras, older OpenAI
    r"prompt is too long",  # Anthropic, Bedrock, Fireworks
    r"prompt too long",  # Ollama
    r"input token count\b.{0,40}\b(exceeds the maximum|model only supports)",  # Gemini, Vertex
    r"input is too long for requested model",  # Bedrock
    r"too many input tokens",  # Bedrock
    r"`?inputs`? tokens \+ `?max_new_tokens`? must be",  # Together, TGI
    r"\d tokens\) exceeds? the maximum allowed length \(",  # SGLang
    r"prompt token count of \d+ exceeds the limit",  # GitHub Copilot
    r"loaded with context length of only",  # LM Studio
    r"exceeded model token limit",  # Moonshot
    r"prompt exceeds max length",  # Z.ai
    r"range of input length should be",  # DashScope
    r"number of tokens in the prompt cannot exceed",  # Cohere
    r"input tokens \d+ cannot exceed the total tokens limit",  # watsonx
    r"body too large for .{1,60} max size: \d+ tokens",  # GitHub Models
)
_WINDOW: Final = re.compile("|".join(f"(?:{phrase})" for phrase in _PHRASES), re.IGNORECASE | re.DOTALL)

_OUTPUT: Final = re.compile(
    r"at most \d+ (completion|output) tokens|maximum allowed number of output tokens|maxOutputTokens"
    r"|maximum value for `?max_tokens`?|max(imum)?[ _](output|completion)[ _]tokens?\b.{0,60}\b(exceeds|must be|range)",
    re.IGNORECASE | re.DOTALL,
)


def is_rate_limit_text(message: str) -> bool:
    """Tell whether a provider's sentence speaks of a rate, not of one request's size."""
    return _RATE.search(message) is not None


def is_look_alike(message: str) -> bool:
    """Tell whether a sentence about tokens speaks of a rate, or of the bound of the completion alone."""
    return is_rate_limit_text(message) or _OUTPUT.search(message) is not None


def is_context_overflow(
    message: str, *, status: int | None = None, code: str | None = None, patterns: Iterable[str] = ()
) -> bool:
    """Tell whether a provider refused a request because it does not fit the context window.

    Args:
        message: The provider's words.
        status: The HTTP status, where there was one.
        code: The provider's own code for the failure.
        patterns: Regular expressions of the program's own, for providers not known here;
            they count whatever the status.

    Returns:
        True for a full window; False for a rate limit or a completion bound set too high.
    """
    if any(re.search(pattern, message, re.IGNORECASE) for pattern in patterns):
        return True
    if status not in _STATUSES or is_look_alike(message):
        return False
    return code in _CODES or _WINDOW.search(message) is not None
