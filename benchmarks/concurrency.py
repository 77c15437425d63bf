"""200 async runs at once through LiteLLM, beside bare loops of the same requests."""

from __future__ import annotations

from benchmarks.through_litellm import measure_many

measure = measure_many
