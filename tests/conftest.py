"""What every test starts from: no network for price lists, no cache but its own, and one budget of examples."""

from __future__ import annotations

import atexit
import logging
import os
import shutil
import signal
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings

HERE = Path(__file__).parent
sys.path.insert(0, str(HERE))

import budget  # noqa: E402 - it stands beside this file

os.environ["LITELLM_LOCAL_MODEL_COST_MAP"] = "True"
# The LM's disk cache would answer the second run of a test from the first one's.
os.environ["REASONACT_CACHEDIR"] = tempfile.mkdtemp(prefix="reasonact-tests-")
atexit.register(shutil.rmtree, os.environ["REASONACT_CACHEDIR"], ignore_errors=True)

# Started in the background, a shell lets its children ignore Ctrl-C; the tests of it need the usual handler.
if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)

# A run of the suite says of a commit always the same; a long one looks for new cases.
TIMELESS = {"deadline": None, "suppress_health_check": [HealthCheck.too_slow]}  # a busy machine is no failure
settings.register_profile("usual", max_examples=budget.USUAL, derandomize=True, **TIMELESS)
settings.register_profile("long", max_examples=budget.USUAL * budget.LONG, print_blob=True, **TIMELESS)


def pytest_configure(config: pytest.Config) -> None:
    """Choose the budget: `-m long` is the long run."""
    long = config.option.markexpr == "long"
    settings.load_profile("long" if long else "usual")
    if long:
        budget.set_out_for_a_long_run()


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """In a long run every property test is one of it, with the time that it needs."""
    if config.option.markexpr != "long":
        return
    for item in items:
        if HERE / "properties" in item.path.parents or getattr(getattr(item, "obj", None), "is_hypothesis_test", False):
            item.add_marker(pytest.mark.long)
            item.add_marker(pytest.mark.timeout(3600))


@pytest.fixture(autouse=True)
def logging_as_it_was() -> Iterator[None]:
    """No test is without the log since another has run a command, which switches it off."""
    root = logging.getLogger("reasonact")
    before = (root.level, root.propagate, list(root.handlers))
    yield
    root.setLevel(before[0])  # which forgets what loggers below know of it
    root.propagate, root.handlers[:] = before[1:]
