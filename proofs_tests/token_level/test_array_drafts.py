"""What array formulas ask of a batch of drafts, in each number type, against the same written out for one request."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from spec_math import exact
from spec_math.array_coin import ArrayCoin
from spec_math.token_level.batch import drafts as array_drafts
from spec_math.token_level.batch import drafts as batch_drafts
from spec_math.token_level.batch import plan

ROWS, SIZE, WIDTH = 40, 6, 3


def batch(seed: int) -> tuple[Any, Any, Any, Any]:
    """Two batches of masses in 8ths, a factor in quarters, and tokens, −1 behind the last; no float rounds."""
    rng = np.random.default_rng(seed)
    rows, others = rng.integers(0, 5, (2, ROWS, SIZE))
    tokens = np.array([rng.permutation(SIZE)[:WIDTH] for _ in range(ROWS)])
    tokens[np.arange(WIDTH) >= rng.integers(0, WIDTH + 1, (ROWS, 1))] = -1
    return rows, others, rng.integers(0, 9, ROWS), tokens


def plain(values: Any, unit: int) -> Any:
    return values / unit


def single(values: Any, unit: int) -> Any:
    return (values / unit).astype(np.float32)


def fractions(values: Any, unit: int) -> Any:
    return exact(values.astype(object)) / unit


def tensor(values: Any, unit: int) -> Any:
    torch = pytest.importorskip("torch")
    return torch.from_numpy(values / unit)


def single_tensor(values: Any, unit: int) -> Any:
    return tensor(values, unit).float()


KINDS = [plain, single, fractions, tensor, single_tensor]
kinds = pytest.mark.parametrize("kind", KINDS, ids=lambda kind: kind.__name__)


def tokens_like(kind: Callable[..., Any], tokens: Any) -> Any:
    return pytest.importorskip("torch").from_numpy(tokens) if "tensor" in kind.__name__ else tokens


def listed(values: Any) -> Any:
    return [[float(mass) for mass in row] if isinstance(row, list) else float(row) for row in values.tolist()]


def kept(row: Any, gone: Any) -> list[float]:
    return [0.0 if place in gone else mass / 8 for place, mass in enumerate(row)]


@kinds
def test_masses_and_what_is_left_of_them_are_those_of_each_request(kind: Any) -> None:
    rows, others, factor, tokens = batch(0)
    masses, taken, times = kind(rows, 8), kind(others, 8), kind(factor, 4)
    at, token = tokens_like(kind, tokens), tokens_like(kind, tokens[:, 0])
    each = list(zip(rows.tolist(), others.tolist(), factor.tolist(), tokens.tolist(), strict=True))
    assert array_drafts.sizes(at).tolist() == [sum(token >= 0 for token in row) for *_, row in each]
    assert listed(array_drafts.mass_of(masses, token)) == [row[x[0]] / 8 if x[0] >= 0 else 0 for row, *_, x in each]
    assert listed(array_drafts.times(masses, times)) == [[m * f / 32 for m in row] for row, _, f, _ in each]
    assert listed(array_drafts.left_over(masses, taken, times)) == [
        [max(0, 4 * m - f * d) / 32 for m, d in zip(row, other, strict=True)] for row, other, f, _ in each
    ]
    without = array_drafts.remaining(masses)
    assert listed(without(at)) == [kept(row, x) for row, *_, x in each]
    assert listed(array_drafts.remaining(without)(at[:, :1])) == [kept(row, x[:1]) for row, *_, x in each]
    assert listed(masses) == [kept(row, ()) for row, *_ in each]
    assert array_drafts.favourite(masses, masses).tolist() == [row.index(max(row)) for row, *_ in each]
    assert listed(array_drafts.ratio(masses[:, 0], masses[:, 1])) == pytest.approx(
        [row[0] / row[1] if row[1] else 0 for row, *_ in each], rel=1e-6
    )


@kinds
@pytest.mark.parametrize("own", [True, False])
def test_a_mass_is_put_on_one_token_of_each_request(kind: Any, own: bool) -> None:
    rows, _, factor, tokens = batch(1)
    masses, given = kind(rows, 8), zip(rows.tolist(), factor.tolist(), tokens[:, 0].tolist(), strict=True)
    wanted = [[f / 4 if place == x else m / 8 for place, m in enumerate(row)] for row, f, x in given]
    assert listed(array_drafts.with_mass(masses, tokens_like(kind, tokens[:, 0]), kind(factor, 4), own)) == wanted
    # The rows of somebody else are not written into.
    assert listed(masses) == (wanted if own else [kept(row, ()) for row in rows.tolist()])


def test_a_factor_beyond_a_narrow_type_leaves_nothing_of_masses_and_no_nan() -> None:
    rows, taken = (np.array(masses, dtype=np.float32) for masses in ([[0.5, 0.5]], [[0.5, 0.0]]))
    assert array_drafts.left_over(rows, taken, np.array([np.inf])).tolist() == [[0.0, 0.5]]
    assert array_drafts.left_over(rows, taken, np.array([1e300])).tolist() == [[0.0, 0.5]]


def _always(_: Any) -> bool:
    return True


def _never(_: Any) -> bool:
    return False


@kinds
@pytest.mark.parametrize("host", [True, False])
def test_a_draw_is_from_what_is_left_where_something_is(kind: Any, host: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    """Each row has one token of its own left, or none, and a target that is another token for certain."""
    monkeypatch.setattr(batch_drafts, "on_host", {True: _always, False: _never}[host])
    tokens, some = np.arange(ROWS) % SIZE, np.arange(ROWS) % 3 > 0
    target, left = np.eye(SIZE, dtype=np.int64)[(tokens + 1) % SIZE], np.eye(SIZE, dtype=np.int64)[tokens]
    left = left * some[:, None]
    uniforms = kind(np.arange(ROWS)[:, None], ROWS)
    masses, law = kind(left, 2), kind(target, 2)
    where = tokens_like(kind, np.arange(ROWS) % 5 > 0)
    wanted = np.where(some, tokens, (tokens + 1) % SIZE).tolist()
    coin = ArrayCoin(uniforms)
    found = array_drafts.drawn_or_target(coin, masses, masses.sum(-1), law, where).tolist()
    drawn = where.tolist()
    assert [x for x, there in zip(found, drawn, strict=True) if there] == [
        x for x, there in zip(wanted, drawn, strict=True) if there
    ]
    assert coin.column.tolist() == [int(there) for there in drawn]
    # Masses that should be left, and have rounded to 0.
    coin, everywhere = ArrayCoin(uniforms), masses[:, 0] >= 0

    def left_of(rows: Any) -> Any:
        return array_drafts.or_else(coin, masses[rows], law[rows])

    rounded = array_drafts.drawn_rows(coin, left_of, law, everywhere, everywhere)
    assert rounded.tolist() == wanted


@kinds
def test_the_highest_draft_is_the_last_by_key_and_index(kind: Any) -> None:
    rows, _, _, tokens = batch(2)
    found = plan.highest(kind(rows, 8), tokens_like(kind, tokens)).tolist()
    for row, drafts, token in zip(rows.tolist(), tokens.tolist(), found, strict=True):
        there = [x for x in drafts if x >= 0]
        assert token == max(there, key=lambda x, row=row: (row[x], x)) if there else 0 <= token < SIZE
