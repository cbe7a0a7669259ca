"""Longest-prefix tokenisation over plain strings."""

from __future__ import annotations


def by_strings(text: str, words: list[str]) -> list[str] | None:
    """Timor et al., Section 3: the longest prefix that is a token, again and again."""
    read: list[str] = []
    while text:
        prefixes = [word for word in words if text.startswith(word)]
        if not prefixes:
            return None
        read.append(max(prefixes, key=len))
        text = text[len(read[-1]) :]
    return read


def first_by_strings(text, words):
    """The longest token that the text begins with, over plain strings."""
    return max((word for word in words if text.startswith(word)), key=len, default=None)
