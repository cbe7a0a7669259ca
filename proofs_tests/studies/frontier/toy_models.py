"""Toy models of the frontier's tests, of three tokens with one token of context, and a progress that shows nothing."""

from __future__ import annotations

from collections.abc import Callable

from spec_math.language import Table

TARGET = {"": ["1/2", "1/3", "1/6"], "0": ["1/5", "1/5", "3/5"], "1": ["1/7", "2/7", "4/7"], "2": ["1/2", "1/4", "1/4"]}
DRAFT = {"": ["1/3", "1/3", "1/3"], "0": ["2/5", "2/5", "1/5"], "1": ["3/7", "2/7", "2/7"], "2": ["1/2", "1/4", "1/4"]}


def unseen(done: int) -> None:
    """Show nothing."""


def quiet(what: str, steps: int) -> Callable[[int], None]:  # noqa: ARG001
    return unseen


def table(rows: dict[str, list[str]]) -> Table:
    return Table({tuple(map(int, key.split())): row for key, row in rows.items()}, context=1)


TABLES = table(TARGET), table(DRAFT)
