"""The array formulas decide what the replayed programs decide on the same uniforms: everywhere on Fractions, and on
floats wherever no uniform lies on a threshold."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
import pytest

from proofs_tests.token_level.replayed_rows import Drawing, batch, coins, differing, floats, laws, weights
from spec_math import SCHEMES
from spec_math.array_coin import ArrayCoin
from spec_math.arrays import exact
from spec_math.chance import replay
from spec_math.scheme import Scheme
from spec_math.token_level import optimal
from spec_math.token_level.batch import drafts as array_drafts
from spec_math.token_level.batch import drafts as batch_drafts
from spec_math.token_level.batch import rejection
from spec_math.token_level.batch.drafts import Decide
from spec_math.token_level.optimum import several_drafters

FORMS = [scheme for scheme in SCHEMES if scheme.decide is not None]
schemes = pytest.mark.parametrize("scheme", FORMS, ids=lambda scheme: scheme.name)


@pytest.mark.parametrize("k", [1, 2, 3])
@schemes
def test_array_forms_are_the_replayed_programs_on_fractions(scheme: Scheme, k: int) -> None:
    """Everywhere, on thresholds too."""
    for seed in range(6):
        assert differing(scheme.decide, scheme, batch(scheme, k, seed)) == 0


@schemes
def test_array_forms_are_the_replayed_programs_on_floats(scheme: Scheme) -> None:
    excused = 2.0**-36
    for k in (1, 2, 4):
        for seed in range(3):
            given = floats(batch(scheme, k, seed, rows=60, size=7), seed)
            assert differing(scheme.decide, scheme, given, excused) == 0


def test_drafters_of_their_own_are_tested_in_turn() -> None:
    rng = np.random.default_rng(0)
    for k in (1, 2, 3):
        target, drafts = weights(rng, (60, 3), "near"), weights(rng, (60, k, 3), "far")
        target, drafts = laws(target), laws(drafts)
        tokens = np.array([several_drafters.draw(Drawing(rng), list(row)) for row in drafts])
        uniforms = exact(rng.integers(0, 12, (60, k + 1))) / 12
        token, _ = rejection.decide_recursive(ArrayCoin(uniforms), tokens, target, drafts)
        for row in range(60):
            given = tuple(tokens[row].tolist()), target[row], list(drafts[row])
            want = replay(lambda coin, a=given: several_drafters.emit(coin, *a), uniforms[row].tolist())
            assert int(token[row]) == want.token


def test_distinct_drafts_are_not_tested_as_independent_ones() -> None:
    """A token rejected keeps for ever what it had when the draft law lost it; one that goes on losing is found."""
    scheme = next(each for each in FORMS if each.decide is rejection.decide_without_replacement)
    for wrong in (rejection.decide_recursive, _loses_on):
        assert sum(differing(wrong, scheme, batch(scheme, 3, seed)) for seed in range(3)) > 0, wrong.__name__


def _loses_on(coin: ArrayCoin, tokens: Any, target: Any, draft: Any) -> Any:
    seen = [array_drafts.without_tokens(draft, tokens[:, : max(0, place - 1)]) for place in range(tokens.shape[1])]
    return rejection.decide_recursive(coin, tokens, target, np.stack(seen, axis=1))


def gammas(coin: ArrayCoin, size: Any, target: Any, draft: Any) -> Any:
    """γ* of each request, as `decide_k_sequential` searches it."""
    laws, totals = (target, draft), (coin.total(target), coin.total(draft))
    return rejection._gamma_and_beta(coin, size, laws, totals)[0]


def test_gamma_on_floats_is_gamma_star_of_its_fractions(monkeypatch: pytest.MonkeyPatch) -> None:
    """To 2^-40, which is what f is decided to where it is flat; on the host and as a device does. Control: one step."""
    rng = np.random.default_rng(5)
    t, d = weights(rng, (40, 6), "near"), weights(rng, (40, 6), "far")
    target, draft, size = laws(t), laws(d), rng.integers(1, 6, 40)
    true = gammas(ArrayCoin(exact([[0]] * 40)), size, target, draft).astype(float)
    floats = size, target.astype(float), draft.astype(float)
    coin = ArrayCoin(np.zeros((40, 1)))
    assert np.abs(gammas(coin, *floats) / true - 1).max() < 2.0**-40
    monkeypatch.setattr(batch_drafts, "on_host", _never)
    assert np.abs(gammas(coin, *floats) / true - 1).max() < 2.0**-40
    monkeypatch.setattr(rejection, "STEPS", 1)
    assert np.abs(gammas(coin, *floats) / true - 1).max() > 0.1


def _never(_: Any) -> bool:
    return False


# Wrong versions, each of which the comparison above must find.


def _shifted(decide: Decide, coin: ArrayCoin, tokens: Any, target: Any, draft: Any) -> Any:
    return decide(ArrayCoin(np.roll(coin.uniforms, 1, axis=1)), tokens, target, draft)


def _of_another_row(decide: Decide, coin: ArrayCoin, tokens: Any, target: Any, draft: Any) -> Any:
    return decide(coin, tokens, np.roll(target, 1, axis=0), draft)


def _copies_once(decide: Any, coin: ArrayCoin, tokens: Any, target: Any, draft: Any) -> Any:
    once = tokens.copy()
    for row in once:
        kept = list(dict.fromkeys(token for token in row.tolist() if token >= 0))
        row[:] = kept + [-1] * (len(row) - len(kept))
    return decide(coin, once, target, draft)


def _one_draft_less(decide: Decide, coin: ArrayCoin, tokens: Any, target: Any, draft: Any) -> Any:
    fewer = tokens.copy()
    fewer[:, -1] = -1
    return decide(coin, fewer, target, draft)


WRONG: list[Callable[..., Any]] = [_shifted, _of_another_row, _one_draft_less]


@schemes
def test_wrong_array_forms_are_found(scheme: Scheme) -> None:
    for wrong in WRONG:
        found = sum(differing(partial(wrong, scheme.decide), scheme, batch(scheme, 3, seed)) for seed in range(3))
        assert found or (wrong is _shifted and coins(scheme, 3) == 1), wrong.__name__
    if scheme.drafts is None and scheme.optimum is optimal.INDEPENDENT:
        found = sum(
            differing(partial(_copies_once, scheme.decide), scheme, batch(scheme, 3, seed)) for seed in range(3)
        )
        assert found > 0


def test_what_is_left_of_a_draft_may_be_a_function() -> None:
    """A `Remaining` in place of rows emits the same tokens; one that forgets the tokens is the control."""
    target, draft = (np.array([row]) for row in ([0.1, 0.2, 0.3, 0.4], [0.4, 0.3, 0.2, 0.1]))
    rows, uniforms = np.repeat(target, 60, 0), np.random.default_rng(3).random((60, 4))
    tokens = np.array([[0, 1, 2]] * 60)

    def left(tokens: Any) -> Any:
        found = np.repeat(draft, len(tokens), 0)
        np.put_along_axis(found, tokens, 0.0, axis=1)
        return found

    def found(law: Any) -> list[int]:
        return rejection.decide_without_replacement(ArrayCoin(uniforms), tokens, rows, law).token.tolist()

    assert found(left) == found(np.repeat(draft, 60, 0))
    assert found(lambda tokens: np.repeat(draft, len(tokens), 0)) != found(left)
