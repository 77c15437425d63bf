"""The wheel and the sdist: the same bytes from the same files, what belongs in them and nothing else."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tarfile
import zipfile
from email import message_from_bytes
from email.message import Message
from pathlib import Path, PurePosixPath
from typing import NamedTuple

import pytest

ROOT = Path(__file__).parents[2]
PACKAGE = ROOT / "src" / "reasonact"
BUILD = "import sys; from hatchling import build; build.build_wheel(sys.argv[1]); build.build_sdist(sys.argv[1])"


class Distributions(NamedTuple):
    wheel: Path
    sdist: Path

    def contents(self) -> tuple[bytes, bytes]:
        return self.wheel.read_bytes(), self.sdist.read_bytes()


def build(tree: Path, into: Path) -> Distributions:
    """Build in a process of its own, as a front end does; without isolation, so that no network is needed."""
    into.mkdir()
    environment = {name: value for name, value in os.environ.items() if name != "SOURCE_DATE_EPOCH"}
    subprocess.run([sys.executable, "-c", BUILD, into], cwd=tree, env=environment, check=True, capture_output=True)
    return Distributions(next(into.glob("*.whl")), next(into.glob("*.tar.gz")))


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> Distributions:
    return build(ROOT, tmp_path_factory.mktemp("first") / "dist")


@pytest.fixture(scope="module")
def unpacked(built: Distributions, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The tree of the sdist, as it came: other places, times and rights than those of the tree it was built from."""
    folder = tmp_path_factory.mktemp("another place")
    with tarfile.open(built.sdist) as archive:
        archive.extractall(folder, **({"filter": "data"} if hasattr(tarfile, "data_filter") else {}))
    return next(folder.iterdir())


@pytest.fixture(scope="module")
def metadata(built: Distributions) -> Message:
    with zipfile.ZipFile(built.wheel) as archive:
        name = next(name for name in archive.namelist() if name.endswith(".dist-info/METADATA"))
        return message_from_bytes(archive.read(name))


def names_in_wheel(built: Distributions) -> set[str]:
    with zipfile.ZipFile(built.wheel) as archive:
        return set(archive.namelist())


def names_in_sdist(built: Distributions) -> set[PurePosixPath]:
    with tarfile.open(built.sdist) as archive:
        return {PurePosixPath(*PurePosixPath(name).parts[1:]) for name in archive.getnames()}


def test_a_second_build_of_the_sdist_s_own_files_gives_the_same_bytes(
    built: Distributions, unpacked: Path, tmp_path: Path
) -> None:
    assert built.contents() == build(unpacked, tmp_path / "dist").contents()


def test_rights_times_and_what_a_test_run_leaves_behind_change_no_byte(
    built: Distributions, unpacked: Path, tmp_path: Path
) -> None:
    tree = tmp_path / "tree"
    shutil.copytree(unpacked, tree)
    for place in ("src/reasonact/__pycache__/errors.cpython-311.pyc", ".hypothesis/examples", ".coverage", ".ci/run"):
        (tree / place).parent.mkdir(parents=True, exist_ok=True)
        (tree / place).write_text("left behind")
    for path in tree.rglob("*"):
        if path.is_file():
            path.chmod(0o600)
            os.utime(path, (1_000_000_000, 1_000_000_000))
    assert built.contents() == build(tree, tmp_path / "dist").contents()


def test_the_wheel_holds_the_package_and_its_metadata_alone(built: Distributions) -> None:
    package = {
        path.relative_to(PACKAGE.parent).as_posix()
        for path in PACKAGE.rglob("*")
        if path.is_file() and "__pycache__" not in path.parts
    }
    about = names_in_wheel(built) - package
    assert package == names_in_wheel(built) - about
    assert {"METADATA", "RECORD", "WHEEL", "entry_points.txt", "licenses/LICENSE"} == {
        name.partition(".dist-info/")[2] for name in about
    }
    assert "reasonact/py.typed" in package
    assert {".py", ".typed", ".css", ".js"} == {Path(name).suffix for name in package}


def test_the_sdist_holds_what_is_needed_to_build_test_and_read_and_no_more(built: Distributions) -> None:
    names = names_in_sdist(built)
    assert {
        *("src", "tests", "examples", "docs", "benchmarks", "mkdocs.yml", "pyproject.toml", "PKG-INFO", ".gitignore"),
        *("CHANGELOG.md", "CONTRIBUTING.md", "LICENSE", "README.md", "SECURITY.md"),
    } == {name.parts[0] for name in names}
    assert {".py", ".typed", ".css", ".js", ".md", ".yml", ".toml", ".json", ".csv", ""} == {
        name.suffix for name in names
    }
    assert not [name for name in names if {"__pycache__", ".hypothesis", ".pytest_cache"} & set(name.parts)]


def test_no_file_knows_where_it_was_built(built: Distributions) -> None:
    places = [str(place).encode() for place in (ROOT, Path.home(), built.wheel.parent) if place != Path("/")]
    with zipfile.ZipFile(built.wheel) as archive, tarfile.open(built.sdist) as source:
        texts = {name: archive.read(name) for name in archive.namelist()}
        for member in source.getmembers():
            file = source.extractfile(member)
            texts[member.name] = b"" if file is None else file.read()
    assert [] == [name for name, text in texts.items() if any(place + b"/" in text for place in places)]


def test_the_metadata_is_of_a_version_that_installers_and_indexes_know(metadata: Message) -> None:
    assert "2.4" == metadata["Metadata-Version"]
    assert "MIT" == metadata["License-Expression"]
    assert ">=3.10" == metadata["Requires-Python"]


def test_what_is_installed_needs_no_tool_of_developers(metadata: Message) -> None:
    always = {line.partition(">")[0] for line in metadata.get_all("Requires-Dist", []) if "extra ==" not in line}
    known = {"json-repair", "jsonschema", "litellm", "pydantic", "rich", "tenacity", "tqdm", "typing-extensions"}
    assert known == always
    assert ["dev", "docs", "langchain", "local", "mcp", "migrate", "pickle"] == sorted(
        metadata.get_all("Provides-Extra", [])
    )


def test_every_module_of_the_wheel_can_be_imported_and_every_name_is_there(
    built: Distributions, tmp_path: Path
) -> None:
    with zipfile.ZipFile(built.wheel) as archive:
        archive.extractall(tmp_path)
    program = """
import importlib, pkgutil, sys
import reasonact, reasonact.view
assert reasonact.__file__.startswith(sys.argv[1]), reasonact.__file__
for name in reasonact.__all__:
    getattr(reasonact, name)
for module in pkgutil.walk_packages(reasonact.__path__, "reasonact."):
    if not module.name.endswith("__main__"):
        importlib.import_module(module.name)
print("all there")
"""
    ran = subprocess.run(
        [sys.executable, "-c", program, str(tmp_path)],
        env={**os.environ, "PYTHONPATH": str(tmp_path)},
        cwd=tmp_path,
        capture_output=True,
        text=True,
    )
    assert ("all there\n", "") == (ran.stdout, ran.stderr)
