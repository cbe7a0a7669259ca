"""The pool of the highest draft, found without sorting all tokens, is that of the sorted rows."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from proofs_tests.token_level.slow_hulls import geometric
from spec_math import exact
from spec_math.token_level import decide_plan, part_plan, part_sorted

SIZES = (2, 3, 7, 50, 300, 2_000)
ROWS = 12


def laws(rng: np.random.Generator, size: int, kind: str) -> Any:
    """Targets and drafts near to far from each other, flat to sharp; with ties, zeros, or masses in small numbers."""
    target = rng.standard_normal((ROWS, size)) * rng.choice([0.1, 1, 3, 10])
    draft = target + rng.standard_normal((ROWS, size)) * rng.choice([0, 1e-6, 1e-2, 1, 4])
    if kind == "ties":
        target, draft = np.round(2 * target) / 2, np.round(2 * draft) / 2
    target, draft = (np.exp(logits - logits.max(axis=1, keepdims=True)) for logits in (target, draft))
    if kind == "zeros":
        target, draft = (masses * (rng.random(masses.shape) < 0.8) for masses in (target, draft))
    if kind == "small":
        target, draft = (rng.integers(0, 4, masses.shape).astype(float) for masses in (target, draft))
    for masses in (target, draft):
        masses[:, 0] += masses.sum(axis=1) == 0
        masses /= masses.sum(axis=1, keepdims=True)
    return (target.astype(np.float32), draft.astype(np.float32)) if kind == "narrow" else (target, draft)


def sorted_pools(target: Any, draft: Any, sizes: Any, u: Any, best: Any) -> tuple[Any, Any, Any]:
    """The same by rows sorted as a whole; of narrow laws by the ratios of the same masses in float64."""
    target, draft = (masses if masses.dtype == object else masses.astype(float) for masses in (target, draft))
    curves = decide_plan.selection(decide_plan.ratios(target, draft), target, draft, sizes, int(sizes.max()))
    place = (curves.tokens == best[:, None]).argmax(axis=1)
    first, _ = decide_plan.edge(curves, u, place)
    return curves.tokens[np.arange(len(first)), first], curves.low, curves.high


def clipped(target: Any, draft: Any, low: float, high: float) -> Any:
    t, d = (masses.astype(float) / masses.astype(float).sum() for masses in (target, draft))
    return np.minimum(np.maximum(t, low * d), high * d)


def apart(given: Any, ours: Any, theirs: Any) -> float:
    """The most mass between the first tokens of two pools, or by which two selection laws differ, of all requests."""
    found = 0.0
    for row, (target, draft) in enumerate(zip(*given[:2], strict=True)):
        key = decide_plan.ratios(target.astype(float)[None], draft.astype(float)[None])[0]
        place = np.argsort(np.argsort(key, kind="stable"))
        low, high = sorted((place[ours[0][row]], place[theirs[0][row]]))
        between = (place >= low) & (place < high)
        one, other = (clipped(target, draft, *(float(each[row]) for each in pools[1:])) for pools in (ours, theirs))
        found = max(found, draft[between].sum(), target[between].sum(), np.abs(one - other).sum(), abs(one.sum() - 1))
    return found


BOUND = 1e-11
"""Sums of up to 2,000 masses are taken in another order, and divided by what is left behind them."""


@pytest.mark.parametrize("kind", ["far", "ties", "zeros", "small", "narrow"])
def test_pools_are_those_of_sorted_rows_and_selection_laws_have_mass_one(kind: str) -> None:
    rng, wrong = np.random.default_rng(len(kind)), 0.0
    for size in SIZES * 4:
        target, draft = laws(rng, size, kind)
        best = np.array([rng.choice(size, p=masses / masses.sum()) for masses in draft.astype(float)])
        given: Any = [target, draft, rng.integers(2, 6, ROWS), rng.random(ROWS), best]
        found = part_plan.pools(*given)
        assert apart(given, found, sorted_pools(*given)) < BOUND
        # Control: the pools at another uniform.
        wrong = max(wrong, apart(given, part_plan.pools(*given[:3], u=given[3] / 4, best=best), found))
    assert wrong > 0.01


def test_pools_are_those_of_fractions() -> None:
    """Whole numbers over a power of two, which floats hold: the same tokens, ties included."""
    rng = np.random.default_rng(3)
    for size in (2, 5, 9, 40):
        counts = rng.integers(0, 4, (2, ROWS, size))
        counts[:, :, 0] += 4 * size - counts.sum(axis=-1)
        target, draft = counts / (4 * size)
        best = np.array([rng.choice(size, p=masses) for masses in draft])
        sizes, u = rng.integers(2, 5, ROWS), rng.integers(1, 64, ROWS) / 64 + 1e-9
        t, d = (exact(side.astype(object)) / (4 * size) for side in counts)
        first, low, high = sorted_pools(t, d, sizes, exact(u), best)
        found = part_plan.pools(target, draft, sizes, u, best)
        assert found[0].tolist() == first.tolist()
        assert all(
            np.abs(ours - theirs.astype(float)).max() < BOUND
            for ours, theirs in zip(found[1:], (low, high), strict=True)
        )


def test_pools_that_no_few_lines_find_are_those_of_fractions() -> None:
    """A hull of 200 vertices, of which each line shows one. Control: laws that are alike have one pool."""
    laws, best = geometric(200), np.array([0, 1, 77, 150, 199])
    target, draft = (np.tile(side.astype(float), (len(best), 1)) for side in laws)
    sizes, u = np.full(len(best), 2), np.full(len(best), 0.5)
    given: Any = [side[None] for side in laws]
    curves = decide_plan.selection(decide_plan.ratios(given[0], given[1]), given[0], given[1], np.array([2]), 2)
    place = curves.tokens[0].argsort()
    true = [decide_plan.edge(curves, exact(["1/2"]), place[[token]])[0][0] for token in best]
    assert part_plan.pools(target, draft, sizes, u, best)[0].tolist() == curves.tokens[0][true].tolist()
    assert part_plan.pools(draft, draft, sizes, u, best)[0].tolist() == [0] * len(best)


def light_tokens(rng: np.random.Generator) -> Any:
    """Two heavy tokens, of ratios 0.65 and 1.7, and thirty of the second ratio that hardly have any mass."""
    light = 10.0 ** rng.uniform(-17, -15, 30)
    draft = np.concatenate([[2 / 3], light, [1 / 3]])
    target = draft * np.concatenate([[0.65], np.full(31, 1.7)])
    return target[None] / target.sum(), draft[None] / draft.sum()


def test_tokens_of_hardly_any_mass_do_not_move_the_selection_law() -> None:
    """Where most is lost is at such a token by rounding alone. Control: bounds that start from that place."""
    rng, wrong = np.random.default_rng(0), 0.0
    for _ in range(60):
        target, draft = light_tokens(rng)
        given: list[Any] = [target, draft, np.array([2]), np.array([0.5]), np.array([0])]
        for _, low, high in (part_plan.pools(*given), sorted_pools(*given)):
            assert abs(clipped(target[0], draft[0], low[0], high[0]).sum() - 1) < BOUND
        below = [np.concatenate([[0.0], np.cumsum(masses[0])]) for masses in (target, draft)]
        worst = int((below[1] ** 2 - below[0]).argmax())
        former = max(float(high[0]), float(target[0, worst - 1] / draft[0, worst - 1]))
        wrong = max(wrong, abs(clipped(target[0], draft[0], float(low[0]), former).sum() - 1))
    assert wrong > 1e-3


def test_a_bucket_is_sorted_only_where_a_bound_asks_for_it() -> None:
    """Of laws like a model's a small part of the buckets; of laws with one ratio but for rounding all their tokens."""
    rng = np.random.default_rng(0)
    logits = 3 * rng.standard_normal(32_000)
    target, draft = (np.exp(each) / np.exp(each).sum() for each in (logits, logits + rng.standard_normal(32_000)))
    part = part_sorted.room(32_000)
    totals = part_sorted.gather(target, draft, part)
    _, order, starts, done, _, _ = part
    before = int(done.sum())
    _ = part_plan.selection_law(4, (target, draft, totals, part))
    assert 0 < done.sum() - before < 40
    for bucket in np.flatnonzero(done):
        tokens = order[starts[bucket] : starts[bucket + 1]]
        stable = np.lexsort((tokens, target[tokens] / draft[tokens]))
        assert (stable == np.arange(len(tokens))).all()
