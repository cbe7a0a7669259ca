"""Worker processes that end with the work: when it is interrupted, and when the process that started them is gone."""

from __future__ import annotations

import multiprocessing
import os
import signal
from collections.abc import Callable, Generator, Iterable
from concurrent.futures import ProcessPoolExecutor, as_completed
from contextlib import contextmanager
from multiprocessing import resource_tracker
from multiprocessing.connection import wait
from threading import Thread
from typing import TypeVar

Item = TypeVar("Item")
Result = TypeVar("Result")

LONGEST_WAIT = 1.0
"""Seconds until a pool whose processes were killed is left to itself."""


def side_by_side(
    work: Callable[[Item], Result], items: Iterable[Item], at_once: int
) -> Generator[tuple[Item, Result], None, None]:
    """Do work on items in so many processes, the first ones first; yield each item with its result when it is done.

    Whoever leaves early, by an exception or by Ctrl-C, closes the iterator: the processes are then killed.
    """
    before = set(multiprocessing.active_children())
    workers = ProcessPoolExecutor(at_once, multiprocessing.get_context("spawn"), _begin)
    try:
        with _interrupts_held_back():
            waiting = {workers.submit(work, item): item for item in items}
        for done in as_completed(waiting):
            yield waiting.pop(done), done.result()
        workers.shutdown()
    except BaseException:
        for process in set(multiprocessing.active_children()) - before:
            process.kill()
        _shut_down(workers)
        raise


def _shut_down(workers: ProcessPoolExecutor) -> None:
    """Wait for the pool's own thread, which closes pipes that Python's exit would else write to at the same moment.

    The wait is bounded: on some versions of Python that thread hangs when its processes were killed.
    """
    end = Thread(target=workers.shutdown, kwargs={"cancel_futures": True}, daemon=True)
    end.start()
    end.join(LONGEST_WAIT)


@contextmanager
def _interrupts_held_back() -> Generator[None, None, None]:
    """Hold back Ctrl-C while processes start: they inherit that, and leave it to this process to end them."""
    if not hasattr(signal, "pthread_sigmask"):
        yield
        return
    resource_tracker.ensure_running()  # its own start would let Ctrl-C through again
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


def _begin() -> None:
    """Begin a worker: Ctrl-C is not its own, and it ends with the process that started it."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    Thread(target=_end_with_the_parent, daemon=True).start()


def _end_with_the_parent() -> None:
    parent = multiprocessing.parent_process()
    if parent is not None:
        wait([parent.sentinel])
        os._exit(1)
