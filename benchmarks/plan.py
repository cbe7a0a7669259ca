"""What optimal verification of one position costs, against one stable argsort of the same ratios; and how exact it is.

Run from the project's folder: python -m benchmarks.plan [cases]
The 2,000 stress cases are those of proofs_tests/token_level/plan_stress.py, of which the tests take the first 400.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from statistics import median
from typing import Any

import numpy as np

from benchmarks.table import Row, interleaved, ratio_row, show, time_row
from proofs_tests.token_level.plan_stress import Case, Errors, cases
from spec_math import sample
from spec_math.arrays import Array
from spec_math.scheme import Tokens
from spec_math.token_level.plan import Plan, plan, plan_without_replacement, verify

SIZE = 151_936
ARGSORT = 'np.argsort(ratios, kind="stable")'
PUBLISHED = "published elsewhere, on another machine"


def softmax(logits: Array) -> Array:
    """Return the law ∝ e^logit."""
    weights = np.exp(logits - logits.max())
    return weights / weights.sum()


def pair(size: int, kind: str) -> tuple[Array, Array]:
    """Return a target of logits N(0, 3²), and a draft of the same logits moved by N(0, 1), or of logits of its own."""
    rng = np.random.default_rng(0)
    logits = 3 * rng.standard_normal(size)
    moved = logits + rng.standard_normal(size) if kind == "near" else 3 * rng.standard_normal(size)
    return softmax(logits), softmax(moved)


def ready(made: Plan) -> Plan:
    """Verify once, so that everything a plan keeps for later is there."""
    support = made.order.tokens[: made.drafts] if not made.independent else made.order.tokens[:1].repeat(made.drafts)
    sample(lambda coin: verify(coin, tuple(support.tolist()), made), np.random.default_rng(0))
    return made


def verifications(made: Plan, draft: Array, number: int) -> Callable[[], Any]:
    """Return a work that verifies `number` drafted tuples one after another."""
    rng = np.random.default_rng(1)
    drawn: list[Tokens] = [
        tuple(rng.choice(len(draft), made.drafts, replace=made.independent, p=draft).tolist()) for _ in range(number)
    ]
    return lambda: [sample(lambda coin, tokens=tokens: verify(coin, tokens, made), rng) for tokens in drawn]


def one_verification(name: str, made: Plan, draft: Array, number: int, bound: float) -> Row:
    """Measure one verification: the best of eleven runs of many, as other work on the machine is no cost of ours."""
    (seconds,) = interleaved((verifications(ready(made), draft, number),), 11)
    each = [1e6 * second / number for second in seconds]
    return Row(name, min(each), bound, "µs", f"{min(each):.3g}..{max(each):.3g}; means of {number}")


def errors(name: str, found: list[Errors]) -> list[Row]:
    """Report the worst errors of some plans."""
    rows: list[Row] = []
    for field in Errors._fields:
        values = [float(getattr(error, field)) for error in found]
        spread = f"median {median(values):.1e}; {len(values):,} plans"
        rows.append(
            Row(
                f"{name}: L1 error of the law" if field == "law" else f"{name}: acceptance missed",
                max(values),
                1e-11,
                "",
                spread,
                "long doubles" if field == "law" else "α*",
            )
        )
    return rows


def speed() -> list[Row]:
    """Measure every promise of speed."""
    rows: list[Row] = []
    for kind in ("near", "independent"):
        target, draft = pair(SIZE, kind)
        ratios = target / draft

        def argsort(ratios: Array = ratios) -> Any:
            return np.argsort(ratios, kind="stable")

        def made(make: Callable[..., Plan], k: int, laws: tuple[Array, Array] = (target, draft)) -> Callable[[], Plan]:
            return lambda: ready(make(*laws, k))

        named = f"V = {SIZE:,}, {kind}"
        rows += [ratio_row(f"plan, k = {k}, {named}", (made(plan, k), argsort), 6, ARGSORT) for k in (2, 4, 8)]
        rows += [
            ratio_row(
                f"without replacement, k = {k}, {named}", (made(plan_without_replacement, k), argsort), most, ARGSORT
            )
            for k, most in ((2, 8), (4, 24), (8, 40))
        ]
        rows += [
            one_verification(f"one verification, k = {k}, {named}", plan(target, draft, k), draft, 500, 50)
            for k in (2, 4, 8)
        ]
        rows += [
            one_verification(
                f"one verification without replacement, k = {k}, {named}",
                plan_without_replacement(target, draft, k),
                draft,
                number,
                50,
            )
            for k, number in ((2, 500),)
        ]
    for size, k, published in ((1_000, 2, 35), (10, 5, 71)):
        laws = pair(size, "near")
        row = time_row(
            f"plan and one verification, k = {k}, V = {size:,}", lambda laws=laws, k=k: ready(plan(*laws, k)), published
        )
        rows.append(Row(row.name, row.value, row.bound, row.unit, row.spread, PUBLISHED))
    return rows


def accuracy(number: int) -> list[Row]:
    """Measure every promise of exactness."""
    full = [
        Case(softmax(scale * noise[0]), softmax(scale * noise[1]), k, replaced)
        for scale in (10, 30)
        for replaced, ks in ((True, (2, 4, 8)), (False, (2,)))
        for k in ks
        for noise in [np.random.default_rng([scale, k]).standard_normal((2, SIZE))]
    ]
    stress = [case.errors() for case in cases(number, seed=0)]
    return [
        *errors(f"{number:,} stress cases", stress),
        *errors(f"logits N(0, 10²), N(0, 30²), V = {SIZE:,}", [case.errors() for case in full]),
    ]


def rows() -> list[Row]:
    """Measure both, with 2,000 stress cases."""
    return [*accuracy(2_000), *speed()]


if __name__ == "__main__":
    kept = show(accuracy(int(sys.argv[1]) if len(sys.argv) > 1 else 2_000), "How exact a float plan is")
    sys.exit(not (show(speed(), "What a plan costs") and kept))
