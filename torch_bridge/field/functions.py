"""Thirty public functions, chosen before any was tried, and what one command says of each: docs/field_functions.md."""

# ruff: noqa: E501 - the page is Markdown

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path

Listed = Sequence[Mapping[str, str]]
"""Records with package, function, options, what is hard, found, and a reason where it was not found lossless."""

PAGE = Path(__file__).parent.parent.parent / "docs" / "field_functions.md"

HEAD = """# Thirty functions, as they are

These public functions were chosen from the packages of [the field](field.md) before any of them was tried, for what is hard to call
about them. Each row is what one command says of the function as it was published, without an adapter: lossless or lossy on the laws
of the command, for every path of its random numbers, or refused with what is missing. Of the 30, {lossless} are lossless as called,
{lossy} lossy, and {refused} are refused.

"""


def listed() -> Listed:
    """Return the thirty functions as they are recorded.

    >>> len(listed())
    30
    """
    found: Listed = json.loads((Path(__file__).parent / "functions.json").read_text(encoding="utf-8"))
    return found


def page(functions: Listed) -> str:
    """Return the page of the functions: how many were judged, a table, and the command of each.

    >>> record = {"package": "toy 1", "function": "a.py:f", "options": "", "hard": "names", "found": "lossless"}
    >>> "1 are lossless as called" in page([record])
    True
    """
    many = Counter(one["found"] for one in functions)
    rows = ["| package | function | hard to call | found | why |", "|" + "---|" * 5]
    rows += [
        f"| {one['package']} | `{_name(one)}` | {one['hard']} | {_shown(one)} | {one.get('reason', '')} |"
        for one in functions
    ]
    commands = [f"spec-math audit {one['function']} {one['options']}".strip() for one in functions]
    counts = {word: many[word] for word in ("lossless", "lossy", "refused")}
    return (
        HEAD.format(**counts)
        + "\n".join(rows)
        + "\n\n## The commands\n\nIn the order of the table, in the folder of the package's source:\n\n```\n"
        + "\n".join(commands)
        + "\n```\n"
    )


def _name(one: Mapping[str, str]) -> str:
    return one["function"].rpartition(":")[2]


def _shown(one: Mapping[str, str]) -> str:
    return "**lossy**" if one["found"] == "lossy" else one["found"]
