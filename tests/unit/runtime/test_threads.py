"""Threads for blocking work: as many as are needed, each used again."""

from __future__ import annotations

import contextvars
import os
import subprocess
import sys
import threading

import pytest

from reasonact.runtime.threads import in_daemon_thread, start_in_thread

place: contextvars.ContextVar[str] = contextvars.ContextVar("place", default="nowhere")


def test_a_function_runs_in_a_daemon_thread_with_the_callers_context():
    token = place.set("here")
    try:
        assert ("here", True) == in_daemon_thread(lambda: (place.get(), threading.current_thread().daemon)).result()
    finally:
        place.reset(token)


def test_what_a_function_raises_is_its_futures():
    def fail() -> None:
        raise KeyboardInterrupt("as it was")

    with pytest.raises(KeyboardInterrupt, match="as it was"):
        in_daemon_thread(fail).result()


def test_work_that_never_ends_takes_no_place_from_other_work():
    gate = threading.Event()
    blocked = [in_daemon_thread(gate.wait) for _ in range(50)]
    assert [n * n for n in range(50)] == [in_daemon_thread(lambda n=n: n * n).result() for n in range(50)]
    gate.set()
    assert [True] * 50 == [future.result() for future in blocked]


def test_pieces_one_after_another_share_a_few_threads():
    seen = []
    for _ in range(100):
        done = threading.Event()

        def work(done: threading.Event = done) -> None:
            seen.append(threading.get_ident())
            done.set()

        start_in_thread(work)
        done.wait()
    assert 100 == len(seen)
    assert len(set(seen)) < 50


@pytest.mark.skipif(not hasattr(os, "fork"), reason="there is no fork here")
@pytest.mark.filterwarnings("ignore:.*fork.*:DeprecationWarning")
def test_a_forked_child_starts_threads_of_its_own():
    in_daemon_thread(lambda: None).result()
    reading, writing = os.pipe()
    child = os.fork()
    if child == 0:
        os.write(writing, str(in_daemon_thread(lambda: 42).result(timeout=20)).encode())
        os._exit(0)
    os.close(writing)
    assert b"42" == os.read(reading, 10)
    os.waitpid(child, 0)
    os.close(reading)


AT_THE_END = """
import builtins
from reasonact.runtime.drive import call_in_thread

class Last:
    def __del__(self, call=call_in_thread):
        try:
            call(print, "ran")
        except RuntimeError as error:
            print(error, flush=True)

call_in_thread(print, "idle now")
builtins.last = Last()
"""


def test_work_at_the_interpreters_end_is_refused_instead_of_waited_for():
    ended = subprocess.run([sys.executable, "-c", AT_THE_END], capture_output=True, text=True, timeout=60)
    assert ["idle now", "the interpreter is ending, and runs no threads any more"] == ended.stdout.splitlines()
