"""From a run to its reader: one item at a time, in threads and tasks, and how it ends."""

import asyncio
import contextvars
import threading

import pytest

from reasonact.runtime.drive import to_thread
from reasonact.runtime.handoff import END, Handoff, StreamClosed
from reasonact.runtime.stream import astream, stream


class Producer:
    """Hands over numbers, and knows how far it is and how it ended."""

    def __init__(self, count, error=None, wanted=None):
        self.handoff = Handoff(wanted)
        self.count = count
        self.error = error
        self.reached = 0
        self.ended_by = None
        self.ended = threading.Event()

    def run(self):
        try:
            for number in range(self.count):
                self.reached = number + 1
                self.handoff.put(number)
            if self.error is not None:
                raise self.error
        except BaseException as error:
            self.ended_by = error
            raise
        finally:
            self.ended.set()

    async def arun(self):
        try:
            for number in range(self.count):
                self.reached = number + 1
                await self.handoff.aput(number)
            if self.error is not None:
                raise self.error
        except BaseException as error:
            self.ended_by = error
            raise
        finally:
            self.ended.set()

    async def in_thread(self):
        await to_thread(self.run)

    def read(self, how):
        """What comes, as a list; in each of the ways to run and read."""
        if how == "thread":
            return list(stream(self.run, self.handoff))

        async def read():
            start = self.arun if how == "task" else self.in_thread
            return [item async for item in astream(start, self.handoff)]

        return asyncio.run(read())


WAYS = ("thread", "task", "thread below a task")


@pytest.mark.parametrize("how", WAYS)
def test_items_come_in_order_and_all_of_them(how):
    assert list(range(500)) == Producer(500).read(how)


@pytest.mark.parametrize("how", WAYS)
def test_a_run_without_items_is_an_empty_stream(how):
    assert [] == Producer(0).read(how)


@pytest.mark.parametrize("how", WAYS)
def test_what_the_run_raises_comes_after_its_items(how):
    producer = Producer(2, ZeroDivisionError("bad"))
    seen = []

    async def read(start):
        async for item in astream(start, producer.handoff):
            seen.append(item)

    with pytest.raises(ZeroDivisionError, match="bad"):
        if how == "thread":
            for item in stream(producer.run, producer.handoff):
                seen.append(item)
        else:
            asyncio.run(read(producer.arun if how == "task" else producer.in_thread))
    assert [0, 1] == seen


@pytest.mark.parametrize("how", WAYS)
def test_what_is_not_wanted_is_dropped_without_waiting_for_the_reader(how):
    assert [0, 100, 200] == Producer(300, wanted=lambda number: number % 100 == 0).read(how)


def test_a_run_is_never_further_than_the_item_that_its_reader_holds():
    producer = Producer(5)
    items = stream(producer.run, producer.handoff)
    for number in range(5):
        assert (number, number + 1) == (next(items), producer.reached)
    assert END not in list(items)


async def test_a_task_is_never_further_than_the_item_that_its_reader_holds():
    producer = Producer(5)
    items = astream(producer.arun, producer.handoff)
    for number in range(5):
        assert (number, number + 1) == (await anext(items), producer.reached)
        await asyncio.sleep(0)
        assert number + 1 == producer.reached
    await items.aclose()


def test_leaving_the_loop_ends_a_run_in_a_thread():
    producer = Producer(100)
    for number in stream(producer.run, producer.handoff):
        if number == 3:
            break
    assert producer.ended.wait(1)
    assert (4, True) == (producer.reached, isinstance(producer.ended_by, StreamClosed))


async def test_aclose_ends_a_task_before_it_returns():
    producer = Producer(100)
    items = astream(producer.arun, producer.handoff)
    assert 0 == await anext(items)
    await items.aclose()
    assert (1, True) == (producer.reached, isinstance(producer.ended_by, asyncio.CancelledError))


async def test_leaving_the_loop_ends_a_task():
    producer = Producer(100)
    async for _ in astream(producer.arun, producer.handoff):
        break
    assert await asyncio.to_thread(producer.ended.wait, 1)
    assert 1 == producer.reached


async def test_cancelling_the_reader_ends_a_run_that_hands_nothing_over():
    ended = asyncio.Event()
    begun = asyncio.Event()

    async def silent():
        try:
            begun.set()
            await asyncio.Event().wait()
        finally:
            ended.set()

    async def read():
        async for _ in astream(silent, Handoff()):
            pass

    reader = asyncio.ensure_future(read())
    await begun.wait()
    reader.cancel()
    with pytest.raises(asyncio.CancelledError):
        await asyncio.wait_for(reader, 1)
    assert ended.is_set()


async def test_a_run_that_fails_while_it_is_left_troubles_nobody():
    complaints = []
    asyncio.get_running_loop().set_exception_handler(lambda loop, about: complaints.append(about))
    handoff = Handoff()

    async def stubborn():
        try:
            await handoff.aput(1)
            await asyncio.Event().wait()
        finally:
            raise OSError("while closing")

    items = astream(stubborn, handoff)
    assert 1 == await anext(items)
    await items.aclose()
    del items
    await asyncio.sleep(0)
    assert [] == complaints


def test_a_run_sees_the_context_of_the_call_and_not_of_the_reader():
    word = contextvars.ContextVar("word", default="none")
    handoff = Handoff()
    token = word.set("at the call")
    items = stream(lambda: handoff.put(word.get()), handoff)
    word.reset(token)
    assert ["at the call"] == list(items)


def test_many_threads_hand_over_to_one_reader_and_nothing_is_lost():
    handoff = Handoff()

    def work(first):
        for number in range(first, first + 50):
            handoff.put(number)

    def run():
        threads = [threading.Thread(target=work, args=(first,)) for first in range(0, 400, 50)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()

    seen = list(stream(run, handoff))
    assert list(range(400)) == sorted(seen)
    assert all(seen.index(first) < seen.index(first + 49) for first in range(0, 400, 50))


def test_closing_frees_every_thread_that_waits():
    handoff = Handoff()
    freed = []

    def work():
        try:
            handoff.put("item")
        except StreamClosed:
            freed.append(True)

    threads = [threading.Thread(target=work) for _ in range(5)]
    for thread in threads:
        thread.start()
    assert "item" == handoff.get()
    handoff.close()
    for thread in threads:
        thread.join(5)
    assert [True] * 5 == freed
    with pytest.raises(StreamClosed):
        handoff.put("late")


async def test_sync_code_on_the_readers_own_loop_does_not_wait_for_it():
    handoff = Handoff()

    async def run():
        for number in range(3):
            handoff.put(number)

    assert [0, 1, 2] == [item async for item in astream(run, handoff)]


def test_a_stream_that_is_never_read_never_runs():
    producer = Producer(3)
    stream(producer.run, producer.handoff).close()
    assert 0 == producer.reached
