"""Mutants that are the same program by a rule that anyone can check on the difference alone."""

from __future__ import annotations

import re
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

WORDS = re.compile(r"\"[^\"]*\"|'[^']*'")
STRICT = re.compile(r",?\s*strict=\w+")
CAST = re.compile(r"\bcast\([^,()]*(\"[^\"]*\")?,")

SHOW = """
import sys
from mutmut.mutation.diff_apply import get_diff_for_mutant
for name in sys.stdin.read().split():
    print("\\x00" + name)
    print(get_diff_for_mutant(name))
"""


def differences(names: Sequence[str], place: Path) -> dict[str, str]:
    """Return the difference that each mutant makes, as text."""
    if not names:
        return {}
    command = [sys.executable, "-c", SHOW]
    ran = subprocess.run(command, cwd=place, input="\n".join(names), capture_output=True, text=True, check=True)
    pieces = [piece.partition("\n") for piece in ran.stdout.split("\x00")[1:]]
    return {name: difference for name, _, difference in pieces}


def rule(difference: str) -> str:
    """Return why a mutant is no wrong version, or nothing.

    >>> rule("-    for a, b in zip(x, y, strict=True):\\n+    for a, b in zip(x, y, strict=False):")
    'strict= guards lengths that are equal'
    >>> rule('-    checked(draft, "draft")\\n+    checked(draft, "XXdraftXX")')
    'words of a message'
    >>> rule("-    return a + b\\n+    return a - b")
    ''
    """
    before = [line[1:] for line in difference.splitlines() if line.startswith("-") and not line.startswith("---")]
    after = [line[1:] for line in difference.splitlines() if line.startswith("+") and not line.startswith("+++")]
    if [STRICT.sub("", line) for line in before] == [STRICT.sub("", line) for line in after]:
        return "strict= guards lengths that are equal"
    if [WORDS.sub("''", line) for line in before] == [WORDS.sub("''", line) for line in after]:
        return "words of a message"
    if [CAST.sub("cast(", line) for line in before] == [CAST.sub("cast(", line) for line in after]:
        return "cast does nothing when it runs"
    return ""
