"""Certificates as JSON: true ones of many laws, and forged ones, each of which shows nothing about what it claims."""

from __future__ import annotations

import json
from collections.abc import Iterator
from copy import deepcopy
from typing import Any

from spec_math import SCHEMES, exact
from spec_math.token_level import draft_law, transport
from spec_math.token_level.certificate import FORMAT

Data = dict[str, Any]

TARGET, DRAFT = ["2/5", "3/5"], ["3/4", "1/4"]


def true() -> dict[str, Data]:
    """Certificates that hold, by what they are about."""
    tied = exact(["1/2", 0, "1/4", "1/4"]), exact(["1/8", "1/2", "1/8", "1/4"])
    found = {
        "two drafts": transport.solve(TARGET, draft_law.iid(DRAFT, 2)),
        "sets": transport.solve(TARGET, draft_law.independent_sets([DRAFT] * 3)),
        "zeros": transport.solve(tied[0], draft_law.iid(tied[1], 2)),
        "disjoint": transport.solve([1, 0], {(1,): 1}),
        "nothing drafted": transport.solve(TARGET, {(): 1}),
    }
    found |= {scheme.name: transport.solve(tied[0], draft_law.drawn(scheme.draw, tied[1], 2)) for scheme in SCHEMES[:5]}
    return {name: json.loads(claim.as_json()) for name, claim in found.items()}


def made(target: list[str], law: list[Any], coupling: list[Any], acceptance: str, subset: list[int]) -> Data:
    return {
        "format": FORMAT,
        "drafts": "tuples",
        "target": target,
        "acceptance": acceptance,
        "subset": subset,
        "draft_law": law,
        "coupling": coupling,
    }


HALVES = ["1/2", "1/2"]
ON_THE_DIAGONAL = [[[0], 0, "1/2"], [[1], 1, "1/2"]]

# Each is right but for one condition, so that a judge who forgets that condition is deceived.
ONE_FAULT = {
    "masses that sum to 2": made(
        ["1", "1"],
        [[[0], "1"], [[1], "1"]],
        [[[0], 0, "1/2"], [[0], 1, "1/2"], [[1], 0, "1/2"], [[1], 1, "1/2"]],
        "1",
        [],
    ),
    "a draft listed twice": made(HALVES, [[[0], "1/3"], [[0], "1/2"], [[1], "1/2"]], ON_THE_DIAGONAL, "1", []),
    "a negative mass": made(
        TARGET,
        [[[0], "3/4"], [[1], "1/4"]],
        [[[0], 0, "23/40"], [[0], 1, "7/40"], [[1], 0, "-7/40"], [[1], 1, "17/40"]],
        "1",
        [],
    ),
    "a draft that is no token": made(
        ["1", "0"], [[[0], "1/2"], [[-1], "1/2"]], [[[0], 0, "1/2"], [[-1], 0, "1/2"]], "1/2", [-1]
    ),
    "a draft that the law does not have": made(HALVES, [[[0], "1/2"]], ON_THE_DIAGONAL, "1", []),
    "rows of another law": made(HALVES, [[[0], "1/3"], [[1], "2/3"]], ON_THE_DIAGONAL, "1", []),
    "another law emitted": made(HALVES, [[[0], "1"]], [[[0], 0, "1"]], "1", []),
    "a suboptimal coupling": made(
        HALVES, [[[0], "1/2"], [[1], "1/2"]], [[[0], 1, "1/2"], [[1], 0, "1/2"]], "0", []
    ),
}  # fmt: skip


def forged() -> Iterator[tuple[str, Data]]:
    """Everything that is to be rejected, by what was done to it."""
    yield from ONE_FAULT.items()
    for name, claim in true().items():
        for what, value in (("acceptance", "1" if claim["acceptance"] != "1" else "99/100"), ("acceptance", "1/3")):
            if claim[what] != value:
                yield f"{name}: {what} {value}", claim | {what: value}
        for place in range(len(claim["coupling"])):
            for mass in ("0", "-1/4", "2"):
                spoilt = deepcopy(claim)
                if spoilt["coupling"][place][2] != mass:
                    spoilt["coupling"][place][2] = mass
                    yield f"{name}: cell {place} {mass}", spoilt
        for place in range(len(claim["target"])):
            spoilt = deepcopy(claim)
            spoilt["target"][place] = "7/9"
            yield f"{name}: target {place}", spoilt
        yield f"{name}: a coupling cut short", claim | {"coupling": claim["coupling"][:-1]}
        yield f"{name}: a law cut short", claim | {"draft_law": claim["draft_law"][:-1]}
    bernoulli = true()["two drafts"]
    yield "no subset", bernoulli | {"subset": []}
    yield "another subset", bernoulli | {"subset": [1]}
    yield "a subset of no tokens", bernoulli | {"subset": [0, 7]}
