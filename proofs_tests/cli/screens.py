"""Faults of an output on a screen: lines that are too wide or too many, words that are broken in every row."""

from __future__ import annotations

MOST = 40


def faults(text: str, width: int = 80, most: int = MOST) -> list[str]:
    """Return the lines that are wider than the screen, errors left out, and how many lines there are too many."""
    lines = text.splitlines()
    wide = [line for line in lines if len(line) > width and not line.startswith(("error: ", "wrote "))]
    return wide + ([f"{len(lines)} lines"] if len(lines) > most else [])


def opens_and_closes(text: str) -> bool:
    """Say whether an output begins and ends with one and the same paragraph, line by line."""
    lines = [line.rstrip() for line in text.rstrip().splitlines()]
    first = lines[: lines.index("")] if "" in lines else lines
    return lines[-len(first) :] == first
