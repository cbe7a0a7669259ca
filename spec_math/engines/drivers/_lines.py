"""Lines of a driver: what an engine is, then answers to requests, as `spec_math.engines.protocol` says.

Imported first: what libraries print goes to the errors, and a driver's own file does not hide the package of its name.
"""

import json
import os
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

OUT = os.fdopen(os.dup(1), "w", buffering=1, encoding="utf-8")
os.dup2(2, 1)
sys.path[:] = [place for place in sys.path if Path(place or ".").resolve() != Path(__file__).parent.resolve()]

LOOKAHEAD = 3
"""The lookahead where none is asked for."""


def characters_of(pair: Path) -> tuple[str, bool]:
    """Return the characters that are a pair's tokens, and whether the last one ends a text."""
    shape = json.loads((pair / "pair.json").read_text(encoding="utf-8"))
    return "abcdefghijklmnopqrstuvwxyz01234."[: shape["size"] - 1] + ".", shape["end"]


def told(what: dict[str, Any]) -> None:
    """Write a line."""
    OUT.write(json.dumps(what) + "\n")


def serve(about: dict[str, Any], answered: Callable[[list[dict[str, Any]], int], list[dict[str, Any]]]) -> None:
    """Write what an engine is, and its answers to each line of requests until the input ends.

    What breaks inside the engine is a failed answer; a RuntimeError of the driver's own ends it with its message.
    """
    told(about)
    for line in sys.stdin:
        asked = json.loads(line)
        requests, lookahead = asked["requests"], asked["lookahead"]
        told({"answers": answered(requests, LOOKAHEAD if lookahead is None else lookahead)})
