"""Ctrl-C ends a command within two seconds, also where an import or a loop swallows it, and where threads go on.

Python tells an interrupt to the main thread alone, as an exception that any bare `except` can swallow. Files appear
whole or not at all, so that a process may be ended anywhere.
"""

from __future__ import annotations

import os
import signal
import sys
import threading
from collections.abc import Generator
from contextlib import contextmanager
from typing import Any

GRACE = 1.5
"""Seconds that are left to a command to say what it kept."""

INTERRUPTED = 130
"""The exit code of a command that was interrupted."""

_asked: list[int] = []
"""The interrupts since the outermost `interruptible` began."""


def guard() -> None:
    """From now on, end this process GRACE seconds after an interrupt if it has not ended by itself.

    The operating system writes each signal to a pipe at once, and a thread reads it, whatever the main thread does.
    Without POSIX, or beside the main thread, Python's own way is all there is.
    """
    if os.name != "posix" or threading.current_thread() is not threading.main_thread():
        return
    read, write = os.pipe()
    os.set_blocking(write, False)
    signal.set_wakeup_fd(write, warn_on_full_buffer=False)
    threading.Thread(target=_watch, args=(read,), daemon=True).start()


def _watch(pipe: int) -> None:
    while signal.SIGINT not in os.read(pipe, 64):
        pass
    threading.Event().wait(GRACE)
    os.write(2, b"interrupted\n")
    os._exit(INTERRUPTED)


@contextmanager
def interruptible() -> Generator[None]:
    """Take an error that follows on an interrupt for that interrupt: imports and compilers swallow it, and then break.

    One may stand inside another.

    Raises:
        KeyboardInterrupt: in place of any such error.
    """
    # Only Python's own way is replaced: who set another, or runs this beside the main thread, has a way of their own.
    ours = threading.current_thread() is threading.main_thread()
    ours = ours and signal.getsignal(signal.SIGINT) is signal.default_int_handler
    ours = ours and sys.unraisablehook is sys.__unraisablehook__
    if ours:
        signal.signal(signal.SIGINT, _noted)
        sys.unraisablehook = _unraisable
    try:
        yield
    except Exception:
        if _asked:
            raise KeyboardInterrupt from None
        raise
    finally:
        if ours:
            _asked.clear()
            signal.signal(signal.SIGINT, signal.default_int_handler)
            sys.unraisablehook = sys.__unraisablehook__


def _noted(number: int, _: Any) -> None:
    _asked.append(number)
    raise KeyboardInterrupt


def _unraisable(left: Any) -> None:
    if not isinstance(left.exc_value, KeyboardInterrupt):
        sys.__unraisablehook__(left)
