"""Ctrl-C ends a command within two seconds, also where an import or a loop swallows it, and where threads go on.

Python tells an interrupt to the main thread alone, as an exception that any bare `except` can swallow. Files appear
whole or not at all, so that a process may be ended anywhere.
"""

from __future__ import annotations

import os
import signal
import threading

GRACE = 1.5
"""Seconds that are left to a command to say what it kept."""

INTERRUPTED = 130
"""The exit code of a command that was interrupted."""


def guard() -> None:
    """From now on, end this process GRACE seconds after an interrupt if it has not ended by itself.

    The operating system writes each signal to a pipe at once, and a thread reads it, whatever the main thread does.
    Without POSIX, or beside the main thread, Python's own way is all there is.

    >>> guard.__module__
    'spec_math.cli.interrupt'
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
