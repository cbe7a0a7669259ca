"""Threads that explored code starts or uses: what they draw is noted, as it cannot be followed."""

from __future__ import annotations

import _thread
import sys
import threading
from collections.abc import Callable, Generator
from contextlib import contextmanager
from threading import get_ident
from typing import Any

from spec_math.pathwise.entropy import noting
from spec_math.pathwise.generators import Still
from spec_math.pathwise.places import patched
from spec_math.pathwise.tape import Tape


@contextmanager
def threads_noted(tape: Tape) -> Generator[None]:
    """Note on the tape the threads of a run that draw, while the block lasts."""
    started: list[threading.Thread] = tape.held("threads", list)
    pending: list[Any] = tape.held("tasks", list)
    started.clear()
    pending.clear()
    with tape.standing("threads", lambda: _standing(tape, started, pending)):
        yield
    worker: Any = getattr(sys.modules.get("concurrent.futures.thread"), "_worker", None)
    running = [one for one in started if one.is_alive() and getattr(one, "_target", None) is not worker]
    if running or not all(one.done() for one in pending):
        tape.note("a thread that the function started, and that runs on after it")


@contextmanager
def _standing(tape: Tape, started: list[threading.Thread], pending: list[Any]) -> Generator[None]:
    raw = noting(tape, "a thread started by _thread.start_new_thread", _thread.start_new_thread)
    classes = [(threading.Thread, _methods(tape, started)), *_pools(tape, pending)]
    with patched([*classes, (_thread, {"start_new_thread": raw})]):
        yield


def _methods(tape: Tape, started: list[threading.Thread]) -> dict[str, Any]:
    thread: Any = threading.Thread
    plain_start, plain_inner = thread.start, thread._bootstrap_inner

    def start(self: threading.Thread) -> None:
        if not tape.foreign():
            started.append(self)
        plain_start(self)

    def bootstrap(self: threading.Thread) -> None:
        if any(self is one for one in started):
            _as_the_code_s_own(tape, lambda: plain_inner(self))
        else:
            plain_inner(self)

    return {"start": start, "_bootstrap_inner": bootstrap}


def _as_the_code_s_own(tape: Tape, work: Callable[[], Any]) -> Any:
    """Do work in a thread of the code: generators that are a thread's own, or the process's, stand still in it too."""
    tape.threads.add(get_ident())
    with tape.unnoted():  # numba seeds a new thread's states when they are first read
        still = Still([])
    try:
        return work()
    finally:
        for name in still.moved():
            tape.note(f"in a thread, {name}")
        tape.threads.discard(get_ident())


def _pools(tape: Tape, pending: list[Any]) -> list[tuple[type[Any], dict[str, Any]]]:
    """Pools made before the run: work handed to a thread is the code's own, work handed to a process is not seen."""
    found: list[tuple[type[Any], dict[str, Any]]] = []
    loaded: Any = sys.modules.get
    if (threads := getattr(loaded("concurrent.futures.thread"), "ThreadPoolExecutor", None)) is not None:
        found.append((threads, {"submit": _submitting(tape, pending, threads.submit)}))
    if (processes := getattr(loaded("concurrent.futures.process"), "ProcessPoolExecutor", None)) is not None:
        found.append((processes, {"submit": noting(tape, "another process (ProcessPoolExecutor)", processes.submit)}))
    if (pool := getattr(loaded("multiprocessing.pool"), "Pool", None)) is not None:
        names = ("apply_async", "_map_async", "imap", "imap_unordered")
        found.append((pool, {name: noting(tape, "a pool of multiprocessing", getattr(pool, name)) for name in names}))
    return found


def _submitting(tape: Tape, pending: list[Any], plain: Any) -> Any:
    def submit(self: Any, fn: Any, /, *args: Any, **kwargs: Any) -> Any:
        if tape.foreign():
            return plain(self, fn, *args, **kwargs)
        pending.append(plain(self, lambda: _as_the_code_s_own(tape, lambda: fn(*args, **kwargs))))
        return pending[-1]

    return submit
