"""Files of saved programs: DSPy's JSON form, written whole or not at all, and pickles where they are asked for.

A state file is the state by path with ``metadata`` beside it. Of that, DSPy reads
``dependency_versions`` and stops at a name in it that it does not know; what this library
adds stands under ``metadata["reasonact"]``: its version, and attributes of modules by path.
"""

from __future__ import annotations

import json
import logging
import pickle
import re
import sys
from collections.abc import Collection, Mapping
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from types import ModuleType
from typing import TYPE_CHECKING, Any, Final

from reasonact.modules.disk import write_whole
from reasonact.modules.state import plain, unchanged_on_failure
from reasonact.tools.pickling import for_another_process

if TYPE_CHECKING:
    from reasonact.modules.base_module import BaseModule

logger = logging.getLogger("reasonact.state")

PROGRAM_FILE: Final = "program.pkl"
METADATA_FILE: Final = "metadata.json"

_METADATA: Final = "metadata"
_OURS: Final = "reasonact"
_DSPY_LINE: Final = (3, 4)
_NO_PICKLE: Final = (
    "unpickling runs whatever code the file holds, so a pickle is only loaded with allow_pickle=True; "
    "say so for files of your own. A .json file needs no such trust"
)


def save_state(module: BaseModule, path: str | Path) -> None:
    """Write a module's state to a file; see ``BaseModule.save``."""
    target = Path(path)
    if target.suffix not in (".json", ".pkl"):
        raise ValueError(f"a state is saved to a file that ends in .json or .pkl, not {str(path)!r}")
    state = module.dump_state(json_mode=target.suffix == ".json")
    if _METADATA in state:
        raise ValueError("the form of saved files keeps the name 'metadata' for itself; rename that predictor")
    if target.suffix == ".pkl":
        write_whole(target, _pickled({**state, _METADATA: _metadata(module)}, ()))
        return
    # A dump_state of the program's own may hold what JSON does not know.
    text = json.dumps({**state, _METADATA: _metadata(module)}, indent=2, ensure_ascii=False, default=plain)
    try:
        data = text.encode("utf-8")
    except UnicodeEncodeError:  # lone surrogates
        data = json.dumps(json.loads(text), indent=2).encode("ascii")
    write_whole(target, data + b"\n")


def load_file(module: BaseModule, path: str | Path, *, allow_pickle: bool, allow_unsafe_lm_state: bool) -> None:
    """Take over the state in a file; see ``BaseModule.load``."""
    source = Path(path)
    if source.suffix not in (".json", ".pkl"):
        raise ValueError(f"a state is loaded from a file that ends in .json or .pkl, not {str(path)!r}")
    if source.suffix == ".pkl" and not allow_pickle:
        raise ValueError(f"{source}: {_NO_PICKLE}")
    content = source.read_bytes()
    saved = _unpickled(content, source) if source.suffix == ".pkl" else _parsed(content, source)
    if not isinstance(saved, Mapping) or not isinstance(saved.get(_METADATA), Mapping):
        raise ValueError(f"{source} is no saved state: it has no 'metadata' beside the states of predictors")
    ours = _checked_metadata(saved[_METADATA], source)
    state = {name: value for name, value in saved.items() if name != _METADATA}
    trust = {"allow_unsafe_lm_state": True} if allow_unsafe_lm_state else {}
    with unchanged_on_failure(module):
        try:
            module.load_state(state, **trust)
            _adopt_attributes(module, ours)
        except ValueError as error:
            raise ValueError(f"{source}: {error}") from error


def save_whole(module: BaseModule, path: str | Path, modules_to_serialize: Collection[ModuleType]) -> None:
    """Pickle a whole program to a folder; see ``BaseModule.save``."""
    folder = Path(path)
    if folder.suffix:
        raise ValueError(f"a whole program is saved to a folder, whose name has no ending, not {str(path)!r}")
    content = _pickled(module, modules_to_serialize)
    folder.mkdir(parents=True, exist_ok=True)
    write_whole(folder / PROGRAM_FILE, content)
    write_whole(folder / METADATA_FILE, json.dumps(_metadata(module), indent=2).encode("utf-8") + b"\n")


def read_whole(path: str | Path, allow_pickle: bool) -> Any:
    """What `save_whole` wrote.

    Args:
        path: The folder.
        allow_pickle: Unpickle it, which can run any code.

    Returns:
        The object in it.

    Raises:
        ValueError: It may not be unpickled or cannot be, or is of a newer version.
        FileNotFoundError: There is no such folder, or it holds no program.
    """
    folder = Path(path)
    if not allow_pickle:
        raise ValueError(f"{folder}: {_NO_PICKLE}")
    if not folder.exists():
        raise FileNotFoundError(f"there is no {str(folder)!r}")
    metadata = _parsed((folder / METADATA_FILE).read_bytes(), folder / METADATA_FILE)
    if not isinstance(metadata, Mapping):
        raise ValueError(f"{folder / METADATA_FILE} is no metadata of a saved program")
    _checked_metadata(metadata, folder)
    return _unpickled((folder / PROGRAM_FILE).read_bytes(), folder / PROGRAM_FILE)


def _metadata(module: BaseModule) -> dict[str, Any]:
    attributes: dict[str, dict[str, Any]] = {}
    for path, part in module.named_parts():
        for name in getattr(part, "saved_attributes", ()):
            attributes.setdefault(name, {})[path] = getattr(part, name)
    return {
        "dependency_versions": {"python": f"{sys.version_info.major}.{sys.version_info.minor}"},
        _OURS: {"version": _own_version(), **attributes},
    }


def _own_version() -> str:
    try:
        return version(_OURS)
    except PackageNotFoundError:  # run from a folder of sources
        return "0"


def _checked_metadata(metadata: Mapping[str, Any], source: Path) -> Mapping[str, Any]:
    """The part of this library, after a look at who wrote the file."""
    versions = metadata.get("dependency_versions")
    if not isinstance(versions, Mapping):
        raise ValueError(f"{source} is no saved state: its metadata has no 'dependency_versions'")
    dspy = versions.get("dspy")
    if isinstance(dspy, str) and _numbers(dspy)[:2] > _DSPY_LINE:
        logger.warning(
            "%s was saved by DSPy %s; this library follows DSPy 3.4, and may read it otherwise", source, dspy
        )
    ours = metadata.get(_OURS, {})
    if not isinstance(ours, Mapping) or not isinstance(ours.get("version", ""), str):
        raise ValueError(f"{source} cannot be read: metadata['reasonact'] is {ours!r:.100}")
    theirs, here = _numbers(ours.get("version", "0")), _numbers(_own_version())
    if _series(theirs) > _series(here):
        raise ValueError(
            f"{source} was saved by reasonact {ours['version']}, and this is {_own_version()}: "
            "install the newer one to load it"
        )
    return ours


def _numbers(text: str) -> tuple[int, ...]:
    return tuple(int(number) for number in re.findall(r"\d+", text)[:3])


def _series(numbers: tuple[int, ...]) -> tuple[int, ...]:
    """The part of a version within which files keep their form: below 1.0 the second number counts."""
    return numbers[:1] if numbers[:1] > (0,) else numbers[:2]


def _adopt_attributes(module: BaseModule, ours: Mapping[str, Any]) -> None:
    for path, part in module.named_parts():
        for name in getattr(part, "saved_attributes", ()):
            by_path = ours.get(name, {})
            if not isinstance(by_path, Mapping):
                raise ValueError(f"metadata['reasonact'][{name!r}] is no dict by path, but {by_path!r:.100}")
            if path in by_path:
                try:
                    part.adopt_attribute(name, by_path[path])
                except TypeError as error:
                    raise ValueError(f"{name} of {path!r}: {error}") from error


def _parsed(content: bytes, source: Path) -> Any:
    try:
        return json.loads(content)
    except (ValueError, RecursionError) as error:
        raise ValueError(f"{source} is broken, or no JSON: {error}") from error


def _pickled(value: Any, by_value: Collection[ModuleType]) -> bytes:
    cloudpickle = _cloudpickle()
    registered = []
    try:
        for module in by_value:
            cloudpickle.register_pickle_by_value(module)
            registered.append(module)
        with for_another_process():
            content: bytes = cloudpickle.dumps(value)
            return content
    except Exception as error:  # an object's own __reduce__ may raise anything
        raise ValueError(
            f"this cannot be pickled: {type(error).__name__}: {error}. Locks, connections and open files "
            "stay in their process; save the state alone, as in save('state.json')"
        ) from error
    finally:
        for module in registered:
            cloudpickle.unregister_pickle_by_value(module)


def _unpickled(content: bytes, source: Path) -> Any:
    try:
        return pickle.loads(content)
    except Exception as error:  # unpickling runs foreign code
        raise ValueError(f"{source} cannot be unpickled: {type(error).__name__}: {error}") from error


def _cloudpickle() -> Any:
    try:
        import cloudpickle
    except ImportError as error:
        raise ImportError("saving a pickle needs cloudpickle: pip install 'reasonact[pickle]'") from error
    return cloudpickle
