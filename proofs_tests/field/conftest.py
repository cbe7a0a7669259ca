"""What the audits of engines found is listed at the end of a run, though they pass."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest


@pytest.fixture
def quiet() -> Iterator[None]:
    """Transformers says nothing but errors."""
    from transformers.utils import logging

    before = logging.get_verbosity()
    logging.set_verbosity_error()
    yield
    logging.set_verbosity(before)


def pytest_terminal_summary(terminalreporter: Any) -> None:
    """List the findings that tests recorded."""
    found = [
        value
        for outcome in ("passed", "failed")
        for report in terminalreporter.stats.get(outcome, [])
        for name, value in getattr(report, "user_properties", [])
        if name == "finding"
    ]
    if found:
        terminalreporter.section("what was found")
        for finding in found:
            terminalreporter.line(finding)
