"""Mutants that are no wrong versions: by a rule on the difference alone, or one by one, each with its reason.

`explained.toml` holds the second kind: the function, the lines as the mutant has them, and why no test can or need
reject them.
"""

from __future__ import annotations

import re
import subprocess
import sys
import tomllib
from collections.abc import Mapping, Sequence
from pathlib import Path

STRICT = re.compile(r",?\s*strict=\w+")
ALONG = re.compile(r",\s*axis=[-+]?1(?=\))")
DROPPED = re.compile(r",\s*(?=\))")
PAIRS_OF_AXES = ("/token_level/", "/block_level/")
"""The floors whose array formulas take along an axis from arrays [B, V], but for lines with three axes."""
THREE_AXES = "[:, :, None]"
AT_LEAST_0 = re.compile(r"where\(([^(),]+) (?:(?:< 0|<= 0|< 1), 0, \1|(?:>= 0|> 0|>= 1), \1, 0)\)")
"""The larger of 0 and a token, a node or a place, whole numbers: 0 may stand in the place of 0 or not."""
SORTED = re.compile(r'kind="(?:stable|STABLE)"')
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
    >>> rule("-    list(zip(x, y, strict=True))\\n+    list(zip(x, y, ))")
    'strict= guards lengths that are equal'
    >>> rule("-    return (token,)\\n+    return (token)"), rule('-    kind = "stable"\\n+    kind = "XXstableXX"')
    ('', '')
    >>> changed = "-    xp.take_along_axis(rows, at, axis=-1)\\n+    xp.take_along_axis(rows, at, axis={})"
    >>> rule("--- spec_math/token_level/hub.py\\n" + changed.format("+1"))
    'the last of two axes is 1, and the one that take_along_axis takes by itself'
    >>> rule(changed.format("+1")), rule("--- spec_math/token_level/hub.py\\n" + changed.format("-2"))
    ('', '')
    >>> rule("--- spec_math/block_level/batch/array_tree.py\\n" + changed.format("+1").replace("at", "at[:, :, None]"))
    ''
    >>> rule("--- spec_math/token_level/hub.py\\n" + changed.format("+1").replace("at", "d.argmax(axis=-1)"))
    ''
    >>> rule('-    np.argsort(keys, kind="stable")\\n+    np.argsort(keys, kind="STABLE")')
    'NumPy reads the kind of a sort in either case'
    >>> rule("-    at = xp.where(best < 0, 0, best)\\n+    at = xp.where(best < 1, 0, best)")
    '0 stands in the place of 0'
    >>> rule("-    at = xp.where(best < 0, 0, best)\\n+    at = xp.where(best < 0, 1, best)")
    ''
    """
    before, after = _sides(difference)
    if any(map(STRICT.search, before)):
        plain = ([DROPPED.sub("", STRICT.sub("", line)) for line in side] for side in (before, after))
        if next(plain) == next(plain):
            return "strict= guards lengths that are equal"
    if any(" take_along_axis(" in line.replace(".", " ") for line in before):
        plain = ([DROPPED.sub("", ALONG.sub("", line)) for line in side] for side in (before, after))
        two = not any(THREE_AXES in line for line in before) and any(floor in difference for floor in PAIRS_OF_AXES)
        # Another function of the line may take an axis too, of an array of any shape.
        alone = all(line.count("axis=") == line.count("take_along_axis(") for line in before)
        if two and alone and next(plain) == next(plain):
            return "the last of two axes is 1, and the one that take_along_axis takes by itself"
    larger = ([AT_LEAST_0.sub(r"max(\1, 0)", line) for line in side] for side in (before, after))
    if next(larger) == next(larger):
        return "0 stands in the place of 0"
    if [SORTED.sub("kind", line) for line in before] == [SORTED.sub("kind", line) for line in after]:
        return "NumPy reads the kind of a sort in either case"
    if [CAST.sub("cast(", line) for line in before] == [CAST.sub("cast(", line) for line in after]:
        return "cast does nothing when it runs"
    return ""


def reasons(differences: Mapping[str, str]) -> dict[str, str]:
    """Return why some mutants are left as they are, by name, of those whose differences are given."""
    listed = tomllib.loads((Path(__file__).parent / "explained.toml").read_text(encoding="utf-8"))["mutant"]
    known = {(entry["function"], _plain(entry["becomes"].splitlines())): entry["reason"] for entry in listed}
    keys = {name: (function(name), _plain(_sides(text)[1])) for name, text in differences.items()}
    return {name: known[key] for name, key in keys.items() if key in known}


def function(name: str) -> str:
    """Return the function that a mutant changes.

    >>> function("spec_math.token_level.hub.x__emit__mutmut_3"), function("spec_math.coupling.xǁLawǁlook__mutmut_12")
    ('token_level.hub._emit', 'coupling.Law.look')
    """
    module, _, changed = name.rpartition("__mutmut_")[0].partition(".x")
    inside = changed.removeprefix("_") if not changed.startswith("ǁ") else changed.strip("ǁ").replace("ǁ", ".")
    return f"{module.removeprefix('spec_math.')}.{inside}"


def _plain(lines: Sequence[str]) -> tuple[str, ...]:
    return tuple(line.strip() for line in lines)


def _sides(difference: str) -> tuple[list[str], list[str]]:
    lines = difference.splitlines()
    before = [line[1:] for line in lines if line.startswith("-") and not line.startswith("---")]
    return before, [line[1:] for line in lines if line.startswith("+") and not line.startswith("+++")]
