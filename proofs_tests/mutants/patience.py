"""A plugin of pytest: which tests run against a mutant, the fastest first, and how long each may take.

With compilation off a few tests on large vocabularies take minutes. They are left out of mutation testing, by name.
Where the usual time of a test is known, a wrong version that needs many times that has been told from the right one.
"""

from __future__ import annotations

import json
import os
import signal
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any

import pytest

SECONDS = float(os.environ.get("PATIENCE_SECONDS", "6"))
PLACE = os.environ.get("PATIENCE_FILE", "")
passed: dict[str, float] = {}
failed: list[str] = []


class TooSlowError(BaseException):
    """The time is up; no `except Exception` of a test may swallow it."""


@cache
def allowed() -> dict[str, float]:
    """Return the tests that may run, with their usual seconds; empty before they were timed."""
    place = Path(__file__).parent / "allowed.json"
    return json.loads(place.read_text(encoding="utf-8")) if place.is_file() else {}


def pytest_collection_modifyitems(config: Any, items: list[Any]) -> None:
    """Deselect what is not on the list, or not wanted for this mutant."""
    seconds = allowed()
    if not seconds:
        return
    file = os.environ.get("WANTED_TESTS", "")
    names = set(seconds).intersection(Path(file).read_text(encoding="utf-8").split("\n") if file else seconds)
    config.hook.pytest_deselected(items=[item for item in items if item.nodeid not in names])
    items[:] = sorted((item for item in items if item.nodeid in names), key=lambda item: seconds[item.nodeid])


@pytest.hookimpl(wrapper=True)
def pytest_pyfunc_call(pyfuncitem: Any) -> Iterator[None]:
    """Interrupt a test that takes too long; seconds are the processor's, whoever else uses the machine."""
    usual = allowed().get(pyfuncitem.nodeid)
    # What a test was timed with may have been made by another before it, which took SECONDS at most.
    seconds = SECONDS + 8 * (usual or 0)

    def give_up(*_: Any) -> None:
        raise TooSlowError(f"longer than {seconds} s")

    before = signal.signal(signal.SIGPROF, give_up)
    signal.setitimer(signal.ITIMER_PROF, seconds)
    try:
        return (yield)
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0)
        signal.signal(signal.SIGPROF, before)


def pytest_runtest_logreport(report: Any) -> None:
    """Keep the names of tests that pass, with their seconds, and of those that fail for another reason than time."""
    if report.when == "call" and report.passed:
        passed[report.nodeid] = report.duration
    if report.failed and TooSlowError.__name__ not in str(report.longrepr):
        failed.append(report.nodeid)


def pytest_sessionfinish(session: Any) -> None:
    """Write the names down, where a file was asked for; a worker leaves that to the process that started it."""
    if PLACE and not hasattr(session.config, "workerinput"):
        written = Path(PLACE).write_text(json.dumps({"passed": passed, "failed": failed}), encoding="utf-8")
        if not written:
            raise OSError(f"{PLACE} could not be written")
