"""Lines of a driver: what an engine is, then answers to requests, as `spec_math.engines.protocol` says.

Imported first: what libraries print goes to the errors, and a driver's own file does not hide the package of its name.
"""

import json
import os
import subprocess
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

Answered = Callable[[list[dict[str, Any]], int], list[dict[str, Any]]]
"""The function that answers the requests of a line at a lookahead."""

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


def serve(about: dict[str, Any], answered: Answered) -> None:
    """Write what an engine is, and its answers to each line of requests until the input ends.

    A driver tells what breaks inside the engine as a failed answer.
    """
    told(about)
    for line in sys.stdin:
        asked = json.loads(line)
        requests, lookahead = asked["requests"], asked["lookahead"]
        told({"answers": answered(requests, LOOKAHEAD if lookahead is None else lookahead)})


def by_lookahead(start: Callable[[int], Any], answers: Callable[[Any, list[dict[str, Any]]], Any]) -> Answered:
    """Answer each lookahead by an engine that is started for it, and started again after an answer that failed."""
    own = dict[int, Any]()

    def answered(requests: list[dict[str, Any]], lookahead: int) -> list[dict[str, Any]]:
        if lookahead not in own:
            own[lookahead] = start(lookahead)
        found = answers(own[lookahead], requests)
        if any("failed" in one for one in found):  # what is left of it is not to be trusted
            del own[lookahead]
        return found

    return answered


def by_process(command: Sequence[str]) -> Answered:
    """Answer each lookahead by a process of its own: the command, with the lookahead as its last argument."""

    def start(lookahead: int) -> Any:
        pipe, whole = subprocess.PIPE, [*command, str(lookahead)]
        process: Any = subprocess.Popen(whole, text=True, stdin=pipe, stdout=pipe)
        process.stdout.readline()
        return process

    def answers(process: Any, requests: list[dict[str, Any]]) -> list[dict[str, Any]]:
        process.stdin.write(json.dumps({"requests": requests, "lookahead": None}) + "\n")
        process.stdin.flush()
        line = process.stdout.readline()
        found = json.loads(line)["answers"] if line else [{"failed": "the engine ended"}] * len(requests)
        if any("failed" in one for one in found):
            process.kill()
        return found

    return by_lookahead(start, answers)
