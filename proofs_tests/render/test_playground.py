"""The playground's numbers, run by node without a browser: they are the library's, lossy rules and their bound too."""

from __future__ import annotations

import json
import shutil
import subprocess
from importlib import resources
from random import Random
from typing import Any

import numpy as np
import pytest

from spec_math import SCHEMES, total_variation
from spec_math.lossy import RULES, budget
from spec_math.token_level import optimal

NODE = shutil.which("node")
if NODE is None:
    pytest.skip("node is not installed; `make test-browser` runs the page in a browser", allow_module_level=True)

# As in test_browser: at most 10^4 weights of at most 72 roundings each, on both sides.
BOUND = 2 * (10**4 + 72) * 2.0**-53
LAWS = (resources.files("spec_math.render.playground") / "laws.js").read_text(encoding="utf-8")
CASES = [(1, 1.0), (2, 0.75), (3, 0.3)]


def pairs() -> list[tuple[list[float], list[float]]]:
    """Six pairs of laws on five tokens, with zeros, one of them equal and one a sure draft."""
    random = Random(5)
    found: list[tuple[list[float], list[float]]] = []
    for _ in range(4):
        weights = [[random.choice([0, 1, 2, 3, 5, 8]) + (token == 0) for token in range(5)] for _ in range(2)]
        t, d = ([weight / sum(row) for weight in row] for row in weights)
        found.append((t, d))
    return [*found, (found[0][0], found[0][0]), (found[1][0], [0.0, 1.0, 0.0, 0.0, 0.0])]


def computed(laws: str) -> list[list[dict[str, Any]]]:
    """What the page's script computes for every pair and every case."""
    asked = [[*pair, *case] for pair in pairs() for case in CASES]
    script = f"{laws}\nconst asked = {json.dumps(asked)};\n" + (
        "console.log(JSON.stringify(asked.map((one) => spec.numbers(...one).map("
        "({ name, acceptance, totalVariation, possible }) => ({ name, acceptance, totalVariation, possible })))));"
    )
    done = subprocess.run([str(NODE), "-e", script], capture_output=True, text=True, timeout=120, check=True)
    return json.loads(done.stdout)


def differences(laws: str) -> dict[str, float]:
    """By how much each number of the page is off, at most over all cases."""
    found: dict[str, float] = {}
    wanted = [(np.array(t), np.array(d), *case) for t, d in pairs() for case in CASES]
    for rows, (t, d, k, strictness) in zip(computed(laws), wanted, strict=True):
        values = {s.name: float(s.acceptance(t, d, s.drafts or k)) for s in SCHEMES}
        values["optimum, independent drafts"] = float(optimal.acceptance(t, d, k))
        values["optimum, without replacement"] = float(optimal.acceptance_without_replacement(t, d, k))
        for row in rows:
            name = row["name"]
            lossy = [rule for rule in RULES[:2] if rule.name == name]
            for rule in lossy:
                off = float(total_variation(rule.law(t, d, 1, str(strictness)), t))
                gaps = {
                    name: abs(row["acceptance"] - float(rule.acceptance(t, d, 1, str(strictness)))),
                    f"{name}: distance": abs(row["totalVariation"] - off),
                    f"{name}: possible": abs(row["possible"] - float(budget.acceptance(t, d, 1, off))),
                }
                found |= {key: max(gap, found.get(key, 0.0)) for key, gap in gaps.items()}
            if not lossy and not name.startswith("a bug"):
                gap = max(abs(row["acceptance"] - values[name]), abs(row["totalVariation"]))
                found[name] = max(gap, found.get(name, 0.0))
    return found


def test_the_playground_computes_what_the_library_computes() -> None:
    found = differences(LAWS)
    assert len(found) == 8 + 2 + 2 * 3
    assert max(found.values()) <= BOUND, found


@pytest.mark.parametrize(
    ("right", "wrong", "seen"),
    [
        ("const scaled = draft.map((mass) => strictness * mass);", "const scaled = draft;", "lenience"),
        ("residual(target, scaled)", "residual(target, draft)", "lenience: distance"),
        ("single + rule.totalVariation", "single + 2 * rule.totalVariation", "ensemble: possible"),
        ("1 - (1 - left) / gamma) ** k", "1 - (1 - left) / gamma) ** (k + 1)", "K-SEQ at γ*"),
    ],
)
def test_a_wrong_formula_is_seen(right: str, wrong: str, seen: str) -> None:
    assert LAWS.count(right) == 1
    assert differences(LAWS.replace(right, wrong))[seen] > 100 * BOUND
