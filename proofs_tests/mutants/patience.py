"""A plugin of pytest that gives each test a few seconds and writes down which tests pass in that time.

With compilation off a few tests on large vocabularies take minutes. They are left out of mutation testing, by name.
"""

from __future__ import annotations

import json
import os
import signal
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

SECONDS = float(os.environ.get("PATIENCE_SECONDS", "4"))
PLACE = os.environ.get("PATIENCE_FILE", "")
passed: list[str] = []


class TooSlowError(BaseException):
    """The time is up; no `except Exception` of a test may swallow it."""


@pytest.hookimpl(wrapper=True)
def pytest_runtest_protocol(item: Any) -> Iterator[None]:  # noqa: ARG001 - pytest calls it by this name
    """Interrupt a test that takes too long."""

    def give_up(*_: Any) -> None:
        raise TooSlowError(f"longer than {SECONDS} s")

    before = signal.signal(signal.SIGALRM, give_up)
    signal.setitimer(signal.ITIMER_REAL, SECONDS)
    try:
        return (yield)
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)


def pytest_runtest_logreport(report: Any) -> None:
    """Keep the names of the tests that pass."""
    if report.when == "call" and report.passed:
        passed.append(report.nodeid)


def pytest_sessionfinish() -> None:
    """Write the names, where a file was asked for."""
    if PLACE:
        written = Path(PLACE).write_text(json.dumps(passed), encoding="utf-8")
        if not written:
            raise OSError(f"{PLACE} could not be written")
