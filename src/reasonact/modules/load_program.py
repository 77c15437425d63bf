"""Loading a whole program that was pickled."""

from __future__ import annotations

from pathlib import Path

from reasonact.modules.module import Module
from reasonact.modules.saved_files import read_whole


def load(path: str | Path, allow_pickle: bool = False) -> Module:
    """Load a program that ``module.save(path, save_program=True)`` wrote.

    Args:
        path: The folder.
        allow_pickle: Has to be True: a pickle can run any code while it is loaded, so load
            only what you wrote yourself.

    Returns:
        The program.

    Raises:
        ValueError: ``allow_pickle`` is False, or the folder holds no program that can be
            unpickled here.
        OSError: There is no such folder.
    """
    program = read_whole(path, allow_pickle)
    if not isinstance(program, Module):
        kind = f"{type(program).__module__}.{type(program).__qualname__}"
        raise ValueError(
            f"{path} holds a {kind}, which is no module of this library; a program of DSPy's is brought over "
            "by its state: program.save('state.json') there, load('state.json') here"
        )
    return program
