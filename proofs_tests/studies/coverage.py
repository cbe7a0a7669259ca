"""Coverage of the race behind `frontier`: how often its intervals and its decision miss exact values on small tables.

Run `python -m proofs_tests.studies.coverage` for 400 runs of each of three models, of 12 documents of each, and of each
model without a margin, where every decision is one to take a candidate as the fastest.
`python -m proofs_tests.studies.coverage 40` takes a tenth of the time.
"""

from __future__ import annotations

import sys
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from fractions import Fraction
from functools import cache
from itertools import product
from typing import Any

import numpy as np
import pytest
from scipy import stats

from proofs_tests.studies.frontier.enumerated_ways import walked
from proofs_tests.studies.frontier.toy_models import TABLES, quiet, table
from spec_math.block_level.lengths import target_text
from spec_math.block_level.methods import CHAINS, named
from spec_math.language import Table
from spec_math.sequential import decision as deciding
from spec_math.sequential.decision import Candidate, Decision, Terms, race
from spec_math.studies.blocks.comparison import BlockModels
from spec_math.studies.costs import parsed
from spec_math.studies.frontier import comparison, contenders, further
from spec_math.studies.frontier.comparison import Asked
from spec_math.studies.frontier.contenders import at
from spec_math.studies.lengths.units import Contender

RARE = {"": ["97/100", "1/50", "1/100"], "0": ["9/10", "9/100", "1/100"], "1": ["1/10", "1/10", "4/5"]} | {
    "2": ["3/10", "3/10", "2/5"]
}
OFTEN = {"": ["97/100", "1/100", "1/50"], "0": ["4/5", "1/10", "1/10"], "1": ["4/5", "1/10", "1/10"]} | {
    "2": ["3/10", "2/5", "3/10"]
}
FLAT = {key: ["1/3", "1/3", "1/3"] for key in ("", "0", "1", "2")}
MODELS = {"mixed": TABLES, "seldom rejected": (table(RARE), table(OFTEN)), "flat draft": (table(RARE), table(FLAT))}
"""Tables of three tokens, target and draft."""

LONGEST, BUDGETS, SAMPLES, RUNS = 2, (2, 4), 2_000, 400
QUICK = tuple(named(name) for name in ("token by token", "as a block", "recursive rejection at", "multi-path"))
COSTS = parsed("draft=0.25")


@contextmanager
def short(methods: Iterable[Any] = QUICK) -> Iterator[None]:
    """Compare short blocks of these methods alone."""
    every, kept = further.every, tuple(methods)
    patch = pytest.MonkeyPatch()
    for module in (contenders, comparison):
        patch.setattr(module, "LONGEST", LONGEST)
    patch.setattr(contenders, "KS", (2,))
    patch.setattr(contenders, "DEPTHS", (2,))
    patch.setattr(further, "every", lambda budgets: [one for one in every(budgets) if one.method in kept])
    try:
        yield
    finally:
        patch.undo()


def exact_bound(tables: tuple[Table, Table], k: int, size: int) -> Fraction:
    """Return 1 + Σ U(s) over texts s: U the least of 1 − (1 − d(s))^k and t(last token) U(all before)."""
    most, drafted = {(): Fraction(1)}, {(): Fraction(1)}
    for length in range(1, size + 1):
        for text in product(range(3), repeat=length):
            rows = [side(text[:-1])[text[-1]] for side in tables]
            drafted[text] = drafted[text[:-1]] * rows[1]
            most[text] = min(1 - (1 - drafted[text]) ** k, most[text[:-1]] * rows[0])
    return sum(most.values(), Fraction(0))


@cache
def exact(name: str) -> tuple[list[Contender], list[float], list[float]]:
    """Return the contenders of a model, their exact speed-ups, and those of their bounds."""
    found, speeds, bounds = further.every(BUDGETS), list[float](), list[float]()
    for one in found:
        call = COSTS.of_call(one.shape.nodes, one.shape.levels, one.shape.widest)
        speeds.append(float(walked(one.method, one.shape, MODELS[name])) / call)
        bounds.append(float(exact_bound(MODELS[name], one.shape.k, one.shape.levels)) / call)
    return found, speeds, bounds


def missed(found: Decision, speeds: list[float], bounds: list[float] | None = None) -> Counter[str]:
    """Count what a race missed, each kind once: an interval without the exact value, or a wrong decision."""

    def without(mean: Any, truth: float) -> bool:
        return mean is not None and not mean.low - 1e-9 <= truth <= mean.high + 1e-9

    places, best = range(len(speeds)), max(speeds)
    told = Counter({"runs": 1, found.outcome: 1})
    told["levels"] = any(without(found.level(place), speeds[place]) for place in places)
    told["differences"] = any(
        without(found.difference(place, found.taken), speeds[place] - speeds[found.taken]) for place in places
    )
    if bounds is not None:
        told["shares"] = any(without(found.share(place), speeds[place] / bounds[place]) for place in places)
    margin = {"take": 0.0, "equivalent": found.terms.margin}.get(found.outcome, np.inf)
    told["wrong decisions"] = best > (1 + margin) * speeds[found.taken] + 1e-9
    return told


def of_command(name: str, seed: int, samples: int = SAMPLES) -> Counter[str]:
    """Run the comparison of the command `frontier` once; call it within `short`."""
    regime = at(name, BlockModels(*MODELS[name], ((),), 3, name), 1)
    found = comparison.compare(regime, Asked(BUDGETS, COSTS, samples, seed), quiet)
    return missed(found.decision, *exact(name)[1:])


def without_margin(name: str, seed: int) -> Counter[str]:
    """Run the comparison once where nothing counts as equivalent; call it within `short`."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(comparison, "MARGIN", 0.0)
        return of_command(name, seed)


DOCUMENTS = (4, 90, 12, 30, 6, 150, 24, 10, 60, 8, 40, 16)
"""Tokens of each document."""


def of_documents(name: str, seed: int) -> Counter[str]:
    """Race on 12 documents that the target wrote: every second position is a unit, and its prefix is what came before.

    The exact value is the mean over these positions, each with the expectation after its own prefix.
    """
    target, draft = MODELS[name]
    rng = np.random.default_rng([seed, 1])
    rows: list[Any] = []
    tokens: list[int] = []
    windows: list[list[int]] = []
    starts: list[tuple[int, ...]] = []
    for length in DOCUMENTS:
        last: tuple[int, ...] = ()
        for place in range(length):
            if place % LONGEST == 0 and place + LONGEST <= length:
                windows.append(list(range(len(tokens), len(tokens) + LONGEST)))
                starts.append(last)
            rows.append([np.asarray(side(last), dtype=float) for side in (target, draft)])
            tokens.append(int(rng.choice(3, p=rows[-1][0])))
            last = (tokens[-1],)
    text = target_text.Text(np.array([t for t, _ in rows]), np.array([d for _, d in rows]), tokens, windows)
    found = [one for one in exact(name)[0] if one.method.drafts is CHAINS]
    calls = [float(COSTS.of_call(one.shape.nodes, one.shape.levels, one.shape.widest)) for one in found]
    sums = {one.key: target_text.accepted(one.method.along, text, one.shape.k) for one in found}  # type: ignore[arg-type]
    values = np.stack(
        [(1 + sums[one.key][:, : one.size].sum(axis=1)) / call for one, call in zip(found, calls, strict=True)], axis=1
    )
    names = [Candidate(str(one.shape), 1 / call, (1 + one.size) / call) for one, call in zip(found, calls, strict=True)]
    decision = race(names, lambda units, places, _: values[units][:, places], Terms(len(values)))
    misses = Counter[str]()
    # Each candidate has units of its own number; the exact values are those of the units that it has.
    after = np.array([[_after(name, one, start) for one in range(len(found))] for start in starts]) / calls
    for place in range(len(found)):
        own, both = len(decision.values[place]), len(decision.values[place])
        mean, truth = decision.mean(place), float(after[:own, place].mean())
        apart = float((after[:both, place] - after[:both, decision.taken]).mean())
        misses["levels"] |= not mean.low - 1e-9 <= truth <= mean.high + 1e-9  # type: ignore[operator]
        gap = decision.difference(place, decision.taken)
        misses["differences"] |= not gap.low - 1e-9 <= apart <= gap.high + 1e-9  # type: ignore[operator]
    speeds = after[: len(decision.values[decision.taken])].mean(axis=0).tolist()
    told = missed(decision, speeds)
    return Counter({kind: told[kind] for kind in ("runs", decision.outcome, "wrong decisions")}) + misses


@cache
def _after(name: str, place: int, start: tuple[int, ...]) -> float:
    one = [one for one in exact(name)[0] if one.method.drafts is CHAINS][place]
    return float(one.method.expected(*MODELS[name], start, one.shape.levels, one.shape.k))


def peeking(gains: Any, worst: float) -> float:
    """The control: the normal limit of the units so far, looked at as often as one likes."""
    if worst <= 0 or len(gains) < 2:
        return 0.0
    spread = float(gains.std(ddof=1)) / len(gains) ** 0.5
    return float(-stats.norm.logsf(float(gains.mean()) / spread)) if spread else np.inf


def narrow(gains: Any, worst: float) -> float:
    """The control: bets as if gains lay in a twentieth of their range."""
    odds = np.maximum(gains, -worst / 20) / (worst / 20)
    grown = [np.log1p(share * odds).sum() for share in deciding.SHARES]
    return float(np.logaddexp.reduce(grown) - np.log(len(grown)))


def counted(of: Callable[[str, int], Counter[str]], name: str, runs: int) -> Counter[str]:
    """Add up what so many runs miss."""
    with short():
        return sum((of(name, seed) for seed in range(runs)), Counter[str]())


KINDS = ("levels", "differences", "shares", "wrong decisions", "take", "equivalent", "undecided")


def main(runs: int = RUNS) -> None:
    """Print a table: what so many runs of each model miss, and how they end."""
    print(f"| model | {' | '.join(KINDS)} |\n|{'---|' * (len(KINDS) + 1)}")  # noqa: T201
    for what, of in (("", of_command), (", 12 documents", of_documents), (", no margin", without_margin)):
        for name in MODELS:
            told = counted(of, name, runs)
            print(f"| {name}{what} | {' | '.join(str(told[kind]) for kind in KINDS)} |", flush=True)  # noqa: T201


if __name__ == "__main__":
    main(*map(int, sys.argv[1:]))
