"""Make the script module importable for the tests beside it, and keep settings apart."""

import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parent))


@pytest.fixture(autouse=True)
def settings_of_one_test() -> Iterator[None]:
    """No test sees what another has configured."""
    import reasonact

    with reasonact.context(lm=None, adapter=None, callbacks=[]):
        yield
