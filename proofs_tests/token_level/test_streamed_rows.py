"""Streamed closed forms at V = 200,000 against exact sums: every storage, peaked laws, ties, masses out of range."""

from __future__ import annotations

from fractions import Fraction
from functools import cache

import ml_dtypes
import numpy as np
import pytest
from safetensors.numpy import save_file

from proofs_tests.token_level.exact_rows import ExactRow, exponentials
from spec_math.files.law_files import open_laws
from spec_math.studies.positions.stream import from_files
from spec_math.token_level.excess import Excess
from spec_math.token_level.streamed import Chunk, RatioBuckets, rounding
from spec_math.token_level.streamed import _laws as streamed_laws

LARGE, SMALL = 200_000, 3_000
KS = (1, 2, 5)
STORED = {"float16": np.float16, "bfloat16": ml_dtypes.bfloat16, "float32": np.float32, "float64": np.float64}


def softmax(logits):
    masses = np.exp(logits - logits.max())
    return masses / masses.sum()


def normal(rng, size, spread):
    return spread * rng.standard_normal(size)


def near(rng, size):
    """A draft that is the target's with noise, as a distilled one is."""
    logits = normal(rng, size, 3)
    return softmax(logits), softmax(logits + normal(rng, size, 0.5))


def peaked(rng, size):
    """Nearly all mass on one token, which is another one in the draft; the tails are all alike, and large in number."""
    target, draft = softmax(normal(rng, size, 1)) * 1e-6, softmax(normal(rng, size, 1)) * 1e-3
    target[77], draft[size - 3] = 1 - 1e-6, 1 - 1e-3
    return target, draft


def tied(rng, size):
    """Four weights, so that there are many tokens of each ratio, and many favourites."""
    return rng.integers(0, 4, size) / 4, rng.integers(0, 4, size) / 4


def equal(rng, size):
    law = softmax(normal(rng, size, 4))
    return law, law.copy()


def disjoint(rng, size):
    target, draft = softmax(normal(rng, size, 2)), softmax(normal(rng, size, 2))
    target[::2], draft[1::2] = 0.0, 0.0
    return target, draft


def denormal(rng, size):
    """A tail below every float64 that is normal, and a draft all of which is."""
    target = softmax(normal(rng, size, 1))
    target[size // 2 :] = 5e-324
    return target, rng.integers(1, 9, size) * 5e-324


def offset(rng, size):
    """As exponentials of logits far from 0 are: each row in a range of its own."""
    target, draft = near(rng, size)
    return target * 2.0**-1000, draft * 2.0**900


WHOLE = (near, peaked, tied, equal, disjoint)
CASES = [
    *((law, dtype, SMALL) for law in WHOLE for dtype in STORED),
    *((law, "float64", SMALL) for law in (denormal, offset)),
    *((near, "float64", LARGE), (peaked, "float32", LARGE), (tied, "bfloat16", LARGE), (disjoint, "float16", LARGE)),
]


def name_of(case):
    return f"{case[0].__name__} {case[1]} {case[2]}"


cases = pytest.mark.parametrize("case", CASES, ids=name_of)


@cache
def rows(case):
    """A pair as it is stored, in float64, and in whole numbers."""
    law, dtype, size = case
    pair = law(np.random.default_rng([5, size, *map(ord, law.__name__)]), size)
    target, draft = (side.astype(STORED[dtype]).astype(np.float64) for side in pair)
    return target, draft, ExactRow(target, draft)


@cache
def streamed(case):
    target, draft, _ = rows(case)
    chunk = Chunk(len(target), KS)
    chunk.take(target[None], draft[None])
    t, d = (streamed_laws(side[None])[0] for side in (target, draft))
    return chunk, Excess(RatioBuckets.of(t[None], d[None]).excess)


@cache
def exact(case):
    """{(a query of the chunk, k): acceptance and test acceptance, exactly}; K-SEQ's at the γ that is streamed."""
    row, (_, excess) = rows(case)[2], streamed(case)
    top = Fraction(row.a[row.best(1)[0]], row.sum_a)
    found = {("overlap", 1): (row.overlap,) * 2, ("favourite", 1): (top,) * 2, ("match", 1): (row.match,) * 2}
    found["hub", 2] = (row.greedy(2)[0],) * 2
    for k in KS:
        found["optimum", k] = (row.optimum(k),) * 2
        found["greedy", k] = row.greedy(k)
        found["recursive", k] = (row.recursive(k),) * 2
        found["k_sequential", k] = (row.k_sequential(Fraction(excess.gamma_star(k).item()), k),) * 2
    return found


def wrong(case, found):
    """What is further from the exact value than its rounding may be: {what: gap}."""
    gaps: dict[str, float] = {}
    for (name, k), pair in exact(case).items():
        for kind, values, value in zip(("acceptance", "test acceptance"), found(name, k), pair, strict=True):
            gap = abs(Fraction(float(values[0])) - value)
            if gap > Fraction(rounding(case[2], k)):
                gaps[f"{name} {kind}, k = {k}"] = float(gap)
    return gaps


def of_chunk(case):
    chunk, _ = streamed(case)
    return lambda name, k: getattr(chunk, name)(k)


def test_excess_by_ratio_order_is_the_sum_over_all_tokens():
    """Where λ is a token's own ratio, as near to it as no key tells apart, or none's; with ties and masses of 0."""
    rng = np.random.default_rng(4)
    for _ in range(60):
        a, b = (rng.integers(0, 4, 9).tolist() for _ in range(2))
        a, b = [*a, 1, 10**60, 10**60 + 1], [*b, 1, 10**60 + 1, 10**60]
        row = ExactRow(a, b)
        t, d = [Fraction(mass, sum(a)) for mass in a], [Fraction(mass, sum(b)) for mass in b]
        own = [x / y for x, y in zip(t, d, strict=True) if y]
        near = [ratio + off for ratio in own if ratio for off in (Fraction(1, 10**400), -Fraction(1, 10**400))]
        for scale in (*own, *near, Fraction(0), Fraction(1, 3), Fraction(9)):
            assert row.excess(scale) == sum(max(x - scale * y, Fraction(0)) for x, y in zip(t, d, strict=True))


@cases
def test_streamed_values_are_the_exact_sums(case):
    assert wrong(case, of_chunk(case)) == {}


@pytest.mark.parametrize("case", [case for case in CASES if case[2] == SMALL or case[0] is near], ids=name_of)
def test_gamma_star_is_where_the_exact_condition_is_met(case):
    """f(γ*) is at most what rounding may add to it, and a bracket's width below γ* it is at least as little below 0."""
    row, (_, excess) = rows(case)[2], streamed(case)
    for k in KS[1:]:
        gamma, slack = Fraction(excess.gamma_star(k).item()), Fraction(rounding(case[2], k))
        assert row.f(gamma, k) <= slack
        assert gamma == 1 or row.f(gamma * (1 - Fraction(1, 2**39)), k) >= -slack


LOGITS = {"float16": 20.0, "bfloat16": 100.0, "float32": -111.0, "float64": 1e5}
"""Numbers that all logits of a row may share."""


@pytest.mark.parametrize("dtype", LOGITS)
def test_logits_of_a_file_are_streamed_as_their_exact_softmax(tmp_path, dtype):
    """Each row with an offset of its own, which no softmax sees; softmaxes of sixty digits.

    An exponential of a gap g loses a unit roundoff of g and two more: (ln V + 2) u on average over a law, in each law.
    """
    rng = np.random.default_rng(3)
    sides = [(rng.choice([1.0, 5.0], (3, 1)) * rng.standard_normal((3, SMALL))).astype(STORED[dtype]) for _ in range(2)]
    sides = [side + np.array([[0.0], [LOGITS[dtype]], [-LOGITS[dtype] / 2]]).astype(STORED[dtype]) for side in sides]
    for name, side in zip("td", sides, strict=True):
        save_file({"logits": side}, tmp_path / f"{name}.safetensors")
    files = [open_laws(str(tmp_path / f"{name}.safetensors")) for name in "td"]
    (batch,) = from_files(*files, logits=True).batches(3)
    chunk = Chunk(SMALL, KS)
    chunk.take(batch.targets, batch.drafts)
    slack = 4 * (np.log(SMALL) + 2) * 2.0**-53
    for place in range(3):
        row = ExactRow(*(exponentials(side[place].astype(np.float64)) for side in sides))
        for found, expected in (
            (chunk.overlap(1), row.overlap),
            (chunk.optimum(2), row.optimum(2)),
            (chunk.recursive(2), row.recursive(2)),
        ):
            assert abs(float(found[0][place]) - float(expected)) <= rounding(SMALL, 2) + slack


# Controls: the same comparison rejects these.


def test_sums_in_float32_are_rejected():
    case = (near, "float64", LARGE)
    target, draft, _ = rows(case)
    narrow = [np.array([np.minimum(target, draft).sum(dtype=np.float32)])] * 2
    honest = of_chunk(case)
    assert set(wrong(case, lambda name, k: narrow if name == "overlap" else honest(name, k))) == {
        "overlap acceptance, k = 1",
        "overlap test acceptance, k = 1",
    }


def test_ratios_in_float32_are_rejected():
    """Of masses far from 1 the ratio is 0 or infinite in float32, and so is what depends on its order."""
    case = (offset, "float64", SMALL)
    target, draft, _ = rows(case)
    chunk = Chunk(SMALL, KS)
    with np.errstate(over="ignore"):
        held = [np.maximum(side.astype(np.float32).astype(np.float64), 1e-300) for side in (target, draft)]
    chunk.take(held[0][None], np.minimum(held[1], 1e300)[None])
    assert len(wrong(case, lambda name, k: getattr(chunk, name)(k))) > 10


def test_one_token_left_out_is_rejected():
    """Of 200,000 tokens, one of the mass 10^-6."""
    case = (near, "float64", LARGE)
    target, draft, _ = rows(case)
    cut = target.copy()
    cut[int(np.abs(target - 1e-6).argmin())] = 0.0
    chunk = Chunk(LARGE, KS)
    chunk.take(cut[None], draft[None])
    assert len(wrong(case, lambda name, k: getattr(chunk, name)(k))) > 10


@pytest.mark.parametrize("k", [2, 3])
def test_greedy_drafts_whose_rest_is_below_the_range_of_sums(k):
    """All but one token lie below 2^-400: what is left once that one is fixed is scaled before it is divided by."""
    draft = np.array([2.0**-500, 1.0, 2.0**-501, 2.0**-503])
    target = np.array([0.25, 0.25, 0.3, 0.2])
    chunk = Chunk(4, (k,), 1)
    chunk.take(target[None], draft[None])
    rest = [0.0, 0.0, 0.3, 0.2] if k == 3 else [0.25, 0.0, 0.3, 0.2]
    left = np.array([0.0, 0.0, 4.0, 1.0]) if k == 3 else np.array([8.0, 0.0, 4.0, 1.0])
    wanted = np.minimum(rest, left / left.sum()).sum()
    accepted, tested = (side[0] for side in chunk.greedy(k))
    assert tested == pytest.approx(wanted, abs=1e-12)
    assert accepted == pytest.approx(wanted + (0.5 if k == 3 else 0.25), abs=1e-12)
