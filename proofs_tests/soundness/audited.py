"""One sampler judged twice, by the function and by the command; both must say the same. No test itself."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

from typer.testing import CliRunner

from spec_math.audit import check_sampler
from spec_math.cli import app
from spec_math.files.place import load_function
from spec_math.verdict import Lossless, Lossy, Reason, Undecided

LAWS = (["1/2", "3/8", "1/8"], ["1/4", "1/4", "1/2"])
CODES = {Lossless: 0, Lossy: 1, Undecided: 3}

RIGHT = """
import random
from functools import partial

def corrected(target, draft):
    return random.choices(range(len(target)), [max(t - d, 0) for t, d in zip(target, draft)])[0]

def accepted(x, target, draft):
    return random.random() * draft[x] < target[x]

def right(x, target, draft):
    return x if accepted(x, target, draft) else corrected(target, draft)

def wrong(x, target, draft):
    return x if accepted(x, target, draft) else random.choices(range(len(target)), target)[0]

def drawn(draft):
    return random.choices(range(len(draft)), draft)[0]
"""


def verdict_of(code: str, name: str, folder: Path, **how: Any) -> Any:
    """The verdict on a function of a piece of code, which the command must share; its output stands in `said`."""
    module = folder / "sampling.py"
    module.write_text(RIGHT + code)
    place = f"{module}:{name}"
    lookahead = how.get("lookahead", 0)
    laws = ([LAWS[0]] * (lookahead + 1), [LAWS[1]] * lookahead) if lookahead else LAWS
    verdict = check_sampler(load_function(place).value, *laws, **how)
    told = [part for key, value in how.items() for part in (f"--{key}", str(value))]
    target, draft = (",".join(law) for law in LAWS)
    result = CliRunner().invoke(app, ["audit", place, "--target", target, "--draft", draft, *told])
    said = " ".join(result.output.split())
    assert result.exit_code == CODES[type(verdict)], said
    words = {0: "is lossless", 1: "is LOSSY", 3: "undecided|not judged"}[result.exit_code]
    assert re.search(words, said), said
    return verdict


def not_judged(verdict: Any) -> bool:
    return isinstance(verdict, Undecided) and verdict.reason is Reason.NOT_JUDGED
