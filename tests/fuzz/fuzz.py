"""Fuzzes one target with atheris: ``python tests/fuzz/fuzz.py chat --minutes 10``.

Needs ``pip install atheris``, which builds on Linux and macOS for Pythons that it knows; no other part of
the project needs it. Options of libFuzzer follow ``--``. A finding is kept as a file, and

    python tests/fuzz/fuzz.py chat -- FILE

plays it again. Mend what it shows, and keep it as a test with the value that is right.
"""

from __future__ import annotations

import argparse
import os
import sys
import time
from pathlib import Path

import atheris

os.environ.setdefault("LITELLM_LOCAL_MODEL_COST_MAP", "True")
sys.path.insert(0, str(Path(__file__).parent))
with atheris.instrument_imports(include=["reasonact"], enable_loader_override=False):
    from targets import TARGETS

from seeds import seeds

SECONDS_OF_ONE_INPUT = 2.0
"""Processor time that an input may take; the longest text is 10,000 characters, and tracing slows by five."""
HANGS_AFTER, MEMORY_IN_MIB, LONGEST_INPUT = 1_200, 2_048, 600


class TooSlow(Exception):
    """An input took more processor time than any should."""


def main() -> None:
    """Fuzz until the time is over or a promise is broken."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("target", choices=TARGETS)
    parser.add_argument(
        "--minutes", type=float, default=10.0, help="of processor time, so that load counts for nothing"
    )
    parser.add_argument("--corpus", type=Path, default=None, help="a directory that keeps what was found interesting")
    own, further = _parted(sys.argv[1:])
    options = parser.parse_args(own)
    target = TARGETS[options.target]
    corpus = options.corpus or Path(".fuzz") / options.target
    corpus.mkdir(parents=True, exist_ok=True)
    for number, seed in enumerate(seeds(options.target)):
        (corpus / f"seed-{number:03}").write_bytes(seed)

    spent = _Spent(options.minutes * 60)

    def timed(data: bytes) -> None:
        started = time.process_time()
        target(data)
        ended = time.process_time()
        if ended - started > SECONDS_OF_ONE_INPUT:
            raise TooSlow(f"{ended - started:.1f} s for {len(data)} bytes")
        spent.count(ended)

    limits = [
        *(f"-timeout={HANGS_AFTER}", f"-rss_limit_mb={MEMORY_IN_MIB}", f"-max_len={LONGEST_INPUT}"),
        *(f"-artifact_prefix={corpus.parent}/{options.target}-", "-print_final_stats=1"),
    ]
    files = [] if any(not option.startswith("-") for option in further) else [str(corpus)]
    atheris.Setup([sys.argv[0], *limits, *further, *files], timed)
    atheris.Fuzz()


def _parted(arguments: list[str]) -> tuple[list[str], list[str]]:
    """What stands before ``--``, and behind it."""
    end = arguments.index("--") if "--" in arguments else len(arguments)
    return arguments[:end], arguments[end + 1 :]


class _Spent:
    """Ends the process when its time is over: libFuzzer itself knows only the time on the wall."""

    def __init__(self, seconds: float) -> None:
        self._until = time.process_time() + seconds
        self._inputs = 0

    def count(self, now: float) -> None:
        self._inputs += 1
        if now > self._until:
            print(f"{self._inputs} inputs, no promise broken", flush=True)
            os._exit(0)


if __name__ == "__main__":
    main()
