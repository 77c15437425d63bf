"""Async modules in blocking code."""

from __future__ import annotations

import asyncio
import contextvars
import copy
import pickle
from typing import Any

import pytest

import reasonact
from reasonact.modules.syncify import syncify

OWN = contextvars.ContextVar("OWN", default="unset")


class Adding(reasonact.Module):
    """Async only."""

    def __init__(self) -> None:
        super().__init__()
        self.more = 1

    async def aforward(self, /, n: int = 0, **others: Any) -> Any:
        await asyncio.sleep(0)
        return n + self.more, reasonact.settings.get("mine"), OWN.get(), others


def test_a_module_gets_a_forward_in_its_place() -> None:
    module = Adding()
    assert syncify(module) is module
    assert 3 == module(n=2)[0]


def test_a_wrapped_module_stays_as_it_is() -> None:
    module = Adding()
    wrapped: Any = syncify(module, in_place=False)
    assert (3, module) == (wrapped(n=2)[0], wrapped.program)
    with pytest.raises(NotImplementedError):
        module(n=2)
    assert 3 == asyncio.run(wrapped.acall(n=2))[0]


@pytest.mark.parametrize("in_place", [True, False])
def test_settings_context_variables_and_any_argument_name_hold(in_place: bool) -> None:
    module = syncify(Adding(), in_place=in_place)
    OWN.set("callers")
    with reasonact.context(mine=7):
        assert (1, 7, "callers", {"self": 1, "program": 2}) == module(self=1, program=2)


@pytest.mark.parametrize("in_place", [True, False])
async def test_it_works_inside_a_running_event_loop(in_place: bool) -> None:
    assert 3 == syncify(Adding(), in_place=in_place)(n=2)[0]


@pytest.mark.parametrize(
    "way", [copy.deepcopy, lambda module: module.deepcopy(), lambda m: pickle.loads(pickle.dumps(m))]
)
def test_a_copy_runs_itself_and_not_the_original(way: Any) -> None:
    module = syncify(Adding())
    twin = way(module)
    twin.more = 10
    assert (1, 10) == (module(n=0)[0], twin(n=0)[0])


@pytest.mark.parametrize("program", [lambda n: n, 3, reasonact.Module()])
def test_what_has_no_aforward_is_refused_at_once(program: Any) -> None:
    with pytest.raises(TypeError, match="defines aforward"):
        syncify(program)
