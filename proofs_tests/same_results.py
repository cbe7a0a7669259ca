"""What commands print on their defaults, from two trees: `python -m proofs_tests.same_results OLD NEW [COMMAND...]`.

OLD and NEW are folders with their own `.venv`. Numbers of one place in the JSON agree to within rounding, texts word
for word; what differs is printed, and the exit code is 1. `--numbers` leaves texts out.
"""

from __future__ import annotations

import base64
import gzip
import json
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

COMMANDS = {
    "compare": ["compare"],
    "blocks": ["blocks"],
    "vocabularies": ["vocabularies"],
    "lossy": ["lossy"],
    "frontier": ["frontier"],
    "psi": ["psi", "the", "--vocabulary", "{vocabulary}"],
}
"""What is asked; seeds are fixed by the defaults."""

ROUNDING = 1e-9
"""Sums in another order differ by less than that share of a number, and by less than that share of a thousandth."""

VOCABULARIES = Path(__file__).parents[2] / "shared" / "vocabularies"


def vocabulary(folder: Path) -> Path:
    """Write the tokens of GPT-2 that are texts as a JSON list, a form that `spec-math psi` reads."""
    with gzip.open(VOCABULARIES / "gpt2.json.gz") as file:
        spelled = [base64.b64decode(token) for token in json.load(file)["tokens"]]
    texts = [token.decode(errors="replace") for token in spelled]
    out = folder / "vocabulary.json"
    _ = out.write_text(json.dumps(list(dict.fromkeys(text for text in texts if "\ufffd" not in text))))
    return out


def printed(tree: Path, command: list[str]) -> Any:
    """The JSON that a command of a tree writes."""
    with tempfile.TemporaryDirectory() as folder:
        out = Path(folder) / "result.json"
        asked = [part.format(vocabulary=vocabulary(Path(folder))) if "{" in part else part for part in command]
        done = subprocess.run(
            [tree / ".venv" / "bin" / "spec-math", *asked, "--out", out],
            cwd=tree,
            capture_output=True,
            text=True,
            check=False,
        )
        if not out.is_file():
            raise SystemExit(f"{tree}: spec-math {' '.join(asked)} wrote no JSON: {done.stderr[-400:]}")
        return json.loads(out.read_text(encoding="utf-8"))


def leaves(value: Any, place: tuple[Any, ...] = ()) -> Iterator[tuple[tuple[Any, ...], Any]]:
    """Every number and text with its place; what has a name stands under it, and not under its number."""
    if isinstance(value, dict):
        for key, one in value.items():
            yield from leaves(one, (*place, key))
    elif isinstance(value, list):
        for at, one in enumerate(value):
            named = isinstance(one, dict) and isinstance(one.get("name"), str)
            yield from leaves(one, (*place, one["name"] if named else at))
    else:
        yield place, value


def differences(old: Any, new: Any) -> list[tuple[tuple[Any, ...], Any, Any]]:
    """Places whose values differ by more than rounding; None for what one side has not."""
    a, b = dict(leaves(old)), dict(leaves(new))
    return [(place, a.get(place), b.get(place)) for place in {**a, **b} if not same(a.get(place), b.get(place))]


def same(one: Any, other: Any) -> bool:
    """Whether two values are the same but for rounding."""
    if isinstance(one, float | int) and isinstance(other, float | int) and not isinstance(one, bool):
        return (
            one == other
            or abs(one - other) <= ROUNDING * max(abs(one), abs(other), 1e-3)
            or (one != one and other != other)
        )
    return bool(one == other)


def main() -> int:
    """Compare and print."""
    words = [word for word in sys.argv[1:] if word != "--numbers"]
    old, new, asked = Path(words[0]).resolve(), Path(words[1]).resolve(), words[2:] or list(COMMANDS)
    worst = 0
    for name in asked:
        found = differences(printed(old, COMMANDS[name]), printed(new, COMMANDS[name]))
        numbers = [one for one in found if all(isinstance(value, float | int) for value in one[1:])]
        shown = numbers if "--numbers" in sys.argv else found
        _ = sys.stdout.write(f"{name}: {len(numbers)} numbers and {len(found) - len(numbers)} other values differ\n")
        for place, before, after in shown[:40]:
            _ = sys.stdout.write(f"  {'/'.join(map(str, place))}\n    {before!r}\n    {after!r}\n")
        worst = max(worst, bool(shown))
    return worst


if __name__ == "__main__":
    sys.exit(main())
