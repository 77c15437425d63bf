"""BaseModule: a tree of modules and parameters, with its copies and its saved state."""

from __future__ import annotations

import copy
from collections.abc import Collection, Iterator, Mapping
from pathlib import Path
from types import ModuleType
from typing import TYPE_CHECKING, Any, ClassVar, TypeVar

from reasonact.modules.parameter import Parameter
from reasonact.runtime.deferred import deferred

if TYPE_CHECKING:
    from reasonact.modules import saved_files
    from reasonact.modules import state as loading
else:
    saved_files = deferred("reasonact.modules.saved_files")
    loading = deferred("reasonact.modules.state")

B = TypeVar("B", bound="BaseModule")


class BaseModule:
    """A tree of modules and parameters, walked by attribute.

    Attributes, and the items of lists, tuples and dicts in them, are visited in order;
    names are paths such as ``steps[0].predict`` or ``by_kind['a']``.
    """

    records: ClassVar[frozenset[str]] = frozenset()
    """Names of attributes that tell of past calls: they grow with use, and nothing below them is a part."""

    saved_attributes: ClassVar[tuple[str, ...]] = ()
    """Names of attributes, beside the parameters, that a saved file holds of this module."""

    def named_parts(self) -> list[tuple[str, Any]]:
        """This module as ``self``, and every module and parameter below it with its path.

        A sub-module that is marked as compiled is passed over: its state is frozen.
        """
        found: list[tuple[str, Any]] = [("self", self)]
        seen = {id(self)}

        def visit(path: str, value: Any) -> None:
            if not isinstance(value, (Parameter, BaseModule, list, tuple, dict)) or id(value) in seen:
                return
            if isinstance(value, (Parameter, BaseModule)):
                if getattr(value, "_compiled", False) and not isinstance(value, Parameter):
                    return
                found.append((path, value))
            seen.add(id(value))
            if isinstance(value, (list, tuple)):
                for index, below in enumerate(value):
                    visit(f"{path}[{index}]", below)
            elif isinstance(value, dict):
                for key, below in value.items():
                    visit(f"{path}['{key}']", below)
            elif not isinstance(value, Parameter):
                for name, below in _attributes(value):
                    visit(f"{path}.{name}", below)

        for name, value in _attributes(self):
            visit(name, value)
        return found

    def named_parameters(self) -> list[tuple[str, Any]]:
        """Every `Parameter` of `named_parts`; ``self`` where this module is one itself."""
        return [(path, part) for path, part in self.named_parts() if isinstance(part, Parameter)]

    def parameters(self) -> list[Any]:
        """The parameters of `named_parameters` without their paths."""
        return [parameter for _, parameter in self.named_parameters()]

    def named_sub_modules(
        self, type_: type[Any] | None = None, skip_compiled: bool = False
    ) -> Iterator[tuple[str, Any]]:
        """Every module below this one and itself, with its path from ``self``.

        Args:
            type_: Only modules of this class; by default of any.
            skip_compiled: Leave out what is marked as compiled, and what is below it.

        Yields:
            Pairs of path and module, this one first.
        """
        wanted = type_ or BaseModule
        waiting: list[tuple[str, Any]] = [("self", self)]
        seen = {id(self)}
        while waiting:
            path, value = waiting.pop(0)
            if isinstance(value, wanted):
                yield path, value
            below: list[tuple[str, Any]] = []
            if isinstance(value, BaseModule):
                if not (skip_compiled and getattr(value, "_compiled", False)):
                    below = [(f"{path}.{name}", item) for name, item in _attributes(value)]
            elif isinstance(value, (list, tuple)):
                below = [(f"{path}[{index}]", item) for index, item in enumerate(value)]
            elif isinstance(value, dict):
                below = [(f"{path}[{key}]", item) for key, item in value.items()]
            for name, item in below:
                if isinstance(item, (BaseModule, list, tuple, dict)) and id(item) not in seen:
                    seen.add(id(item))
                    waiting.append((name, item))

    def deepcopy(self: B) -> B:
        """A copy in which nothing that is learned or recorded is shared.

        What cannot be copied deeply (a lock, a connection, a client) is copied shallowly,
        or shared where that fails too. Tools of a copy call the same functions.
        """
        return _twin(self, self.__dict__, {})

    def reset_copy(self: B) -> B:
        """A deep copy whose parameters are back in their initial state."""
        twin = self.deepcopy()
        for parameter in twin.parameters():
            parameter.reset()
        return twin

    def __deepcopy__(self: B, memo: dict[int, Any]) -> B:
        own_form = hasattr(type(self), "__setstate__")
        state: Any = self.__getstate__() if own_form else self.__dict__  # type: ignore[attr-defined]
        if not isinstance(state, dict):  # a subclass with a state of its own form
            twin = memo[id(self)] = self.__class__.__new__(self.__class__)
            twin.__setstate__(copy.deepcopy(state, memo))  # type: ignore[attr-defined]
            return twin
        return _twin(self, state, memo)

    def adopt_instructions(self, name: str, instructions: str) -> str:
        """Hook: what a saved text of instructions becomes when it is loaded into a predictor of this module.

        A module that writes something of its own into instructions, as agents do with their
        tools, overrides it.

        Args:
            name: The predictor's path below this module.
            instructions: The saved text.

        Returns:
            The text to use.
        """
        return instructions

    def adopt_attribute(self, name: str, value: Any) -> None:
        """Hook: take one of `saved_attributes` over from a file.

        Args:
            name: The attribute.
            value: What the file holds for it.

        Raises:
            TypeError, ValueError: It cannot be that.
        """
        setattr(self, name, value)

    def dump_state(self, json_mode: bool = True) -> dict[str, Any]:
        """What the program has learned, as plain data in DSPy's form.

        Args:
            json_mode: Write demos and records as JSON can hold them; False keeps the objects.

        Returns:
            The state of every parameter by its path: demos, instructions, the words of the
            fields, options of requests, its own LM without keys.
        """
        return {name: parameter.dump_state(json_mode=json_mode) for name, parameter in self.named_parameters()}

    def load_state(self, state: Mapping[str, Any], *, allow_unsafe_lm_state: bool = False) -> None:
        """Take over what `dump_state` gave, here or in DSPy. On an error nothing is changed.

        Args:
            state: The state of every parameter by its path.
            allow_unsafe_lm_state: Also take addresses and headers of requests, and LM
                classes of the program's own. Say so only for a state that you trust.

        Raises:
            ValueError: The state is none, lacks a parameter, or holds what cannot be used.
        """
        loading.load_tree(self, state, allow_unsafe_lm_state=allow_unsafe_lm_state)

    def save(
        self, path: str | Path, save_program: bool = False, modules_to_serialize: Collection[ModuleType] | None = None
    ) -> None:
        """Write the state to a file, or the whole program to a folder.

        The file is either the old one or the new one, never half of it.

        Args:
            path: A file that ends in ``.json``, or in ``.pkl`` for states that JSON cannot
                hold; with ``save_program`` a folder, which is made where it is missing.
            save_program: Pickle the program with its code's names, not the state alone.
            modules_to_serialize: Python modules whose code goes into the pickle itself.

        Raises:
            ValueError: The path has another ending, or the program cannot be pickled.
            ImportError: A pickle was asked for and cloudpickle is not installed.
            OSError: It cannot be written.
        """
        if save_program:
            saved_files.save_whole(self, path, modules_to_serialize or ())
        else:
            saved_files.save_state(self, path)

    def load(self, path: str | Path, allow_pickle: bool = False, allow_unsafe_lm_state: bool = False) -> None:
        """Take over the state in a file that `save` wrote, here or in DSPy. On an error nothing is changed.

        Keys are never in a file. Instructions of agents get the tools that the agent has now.

        Args:
            path: The file, ``.json`` or ``.pkl``.
            allow_pickle: Load a ``.pkl``, which can run any code while it is loaded.
            allow_unsafe_lm_state: As for `load_state`.

        Raises:
            ValueError: The file is broken, no saved state, of a newer version or of another
                program; or it is a pickle and that was not allowed.
            OSError: It cannot be read.
        """
        saved_files.load_file(self, path, allow_pickle=allow_pickle, allow_unsafe_lm_state=allow_unsafe_lm_state)


def _attributes(module: BaseModule) -> list[tuple[str, Any]]:
    return [(name, value) for name, value in module.__dict__.items() if name not in module.records]


def _twin(module: B, state: Mapping[str, Any], memo: dict[int, Any]) -> B:
    twin = memo[id(module)] = module.__class__.__new__(module.__class__)
    copied = {name: _copied(value, memo) for name, value in state.items()}
    if state is not module.__dict__:
        twin.__setstate__(copied)  # type: ignore[attr-defined]
    else:
        for name, value in copied.items():
            setattr(twin, name, value)
    return twin


def _copied(value: Any, memo: dict[int, Any]) -> Any:
    if id(value) in memo:
        return memo[id(value)]
    if isinstance(value, BaseModule):
        own = type(value).deepcopy is not BaseModule.deepcopy
        return memo.setdefault(id(value), value.deepcopy()) if own else _twin(value, value.__dict__, memo)
    # Item by item, so that one lock in a dict does not leave the modules beside it shared.
    if type(value) is list:
        items: list[Any] = memo.setdefault(id(value), [])
        items.extend(_copied(item, memo) for item in value)
        return items
    if type(value) is dict:
        table: dict[Any, Any] = memo.setdefault(id(value), {})
        table.update((key, _copied(item, memo)) for key, item in value.items())
        return table
    if type(value) is tuple:
        return tuple(_copied(item, memo) for item in value)
    try:
        return copy.deepcopy(value, memo)
    except Exception:
        try:
            return copy.copy(value)
        except Exception:
            return value
