"""Verifiers on drafts over another vocabulary: the target's tokens that the draft lacks count as one, and nothing is
lost."""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np
import pytest

from proofs_tests.drafting.merged_batches import batch, forms
from proofs_tests.token_level.replayed_rows import Watching, laws, weights
from spec_math import SCHEMES, law
from spec_math.array_coin import ArrayCoin
from spec_math.arrays import exact
from spec_math.drafting import merged
from spec_math.drafting.merged import decide_merged, emit
from spec_math.scheme import Emission, Scheme
from spec_math.token_level import optimal

schemes = pytest.mark.parametrize("scheme", SCHEMES, ids=lambda scheme: scheme.name)
TARGET, DRAFT = exact(["1/5", "1/2", "1/5", "1/10"]), exact(["1/2", "1/4", "1/4"])
PLACES = np.array([2, -1, 0])
"""The draft's second token is none of the target's, and the target's tokens 1 and 3 are none of the draft's."""


def union(target: Any, draft: Any, places: Any) -> tuple[Any, Any]:
    """Both laws on the union, dense, by a loop: the target's tokens, then the draft's own."""
    none = target[0] * 0
    own = [token for token, place in enumerate(places) if place < 0]
    wide = [*([none] * len(target)), *(draft[token] for token in own)]
    for token, place in enumerate(places):
        if place >= 0:
            wide[place] = draft[token]
    return np.array([*target, *([none] * len(own))]), np.array(wide)


def emitted_law(scheme: Scheme, k: int, places: Any = PLACES, emit: Any = emit) -> tuple[list[Any], Any]:
    """The law of the emitted token, and the probability that it is a draft."""

    def program(coin: Any) -> tuple[int, bool]:
        tokens = scheme.draw(coin, DRAFT, k)
        token = emit(coin, scheme.emit, tokens, (TARGET, DRAFT), places).token
        return token, token in [places[each] for each in tokens]

    found = law(program)
    masses = [sum((mass for (token, _), mass in found.items() if token == own), TARGET[0] * 0) for own in range(4)]
    return masses, sum((mass for (_, among), mass in found.items() if among), TARGET[0] * 0)


@pytest.mark.parametrize("k", [1, 2])
@schemes
def test_merged_verifiers_are_lossless_and_accept_as_on_the_union(scheme: Scheme, k: int) -> None:
    masses, among = emitted_law(scheme, k)
    assert masses == TARGET.tolist()
    assert among == scheme.acceptance(*union(TARGET, DRAFT, PLACES), k)


def test_merging_leaves_the_optimum_as_it_is() -> None:
    rng = np.random.default_rng(0)
    for _ in range(20):
        target, draft = laws(weights(rng, (6,), "near")), laws(weights(rng, (4,), "near"))
        places = np.where(rng.random(4) < 0.3, -1, rng.permutation(6)[:4])
        row, _ = merged.row(target, places)
        dense = union(target, draft, places)
        for k in (1, 2, 3):
            assert optimal.acceptance(row, merged.padded(draft), k) == optimal.acceptance(*dense, k)


# Wrong versions, each of which has another law.


def _off_by_one(coin: Any, verifier: Any, tokens: Any, given: Any, places: Any) -> Emission:
    """The target's masses are looked up one token further than where drafts are emitted."""
    row, rest = merged.row(given[0], np.where(places < 0, -1, (places + 1) % 4))
    found = verifier(coin, tokens, row, merged.padded(given[1]))
    return Emission(merged.placed(coin, found.token, rest, places), found.accepted)


def _without_the_rest(coin: Any, verifier: Any, tokens: Any, given: Any, places: Any) -> Emission:
    """The residual forgets the tokens that the draft lacks."""
    row, rest = merged.row(given[0], places)
    row = row.copy()
    row[-1] = row[-1] * 0
    found = verifier(coin, tokens, row / row.sum(), merged.padded(given[1]))
    return Emission(merged.placed(coin, found.token, rest, places), found.accepted)


def _renormalised(coin: Any, verifier: Any, tokens: Any, given: Any, places: Any) -> Emission:
    """The draft is divided by its mass on the target's tokens, although drafts come from all of it."""
    shared = given[1] * (places >= 0)
    return emit(coin, verifier, tokens, (given[0], shared / shared.sum()), places)


@pytest.mark.parametrize("wrong", [_off_by_one, _without_the_rest, _renormalised])
def test_wrong_maps_have_another_law(wrong: Any) -> None:
    for scheme in SCHEMES:
        if scheme.short_name not in ("maximal coupling", "recursive rejection", "optimal plan"):
            continue
        places = PLACES
        if wrong is _renormalised:  # what the wrong law cannot draw is refused, not decided
            checked = partial(_accepting, wrong)
            assert emitted_law(scheme, 1, places, checked)[0] != TARGET.tolist()
        else:
            assert emitted_law(scheme, 1, places, wrong)[0] != TARGET.tolist()


def _accepting(wrong: Any, coin: Any, verifier: Any, tokens: Any, given: Any, places: Any) -> Emission:
    """A token that the target lacks is rejected at once, as an engine would, and the target goes on alone."""
    if places[tokens[0]] < 0:
        row, rest = merged.row(given[0], places)
        left = np.maximum(row - merged.padded(given[1] * (places >= 0)), 0)
        return Emission(merged.placed(coin, coin.draw(left / left.sum()), rest, places), accepted=False)
    return wrong(coin, verifier, tokens, given, places)


def differing(decide: Any, scheme: Scheme, given: tuple[Any, ...], bound: float = -1.0) -> int:
    """Rows further than the bound from a threshold where formula and program part, or use other coins."""
    target, draft, tokens, uniforms, places = given
    coin = ArrayCoin(uniforms)
    found = decide(scheme.decide, coin, tokens, (target, draft), places)
    wrong = 0
    for row in range(len(tokens)):
        watching = Watching(uniforms[row])
        drafts = tuple(int(token) for token in tokens[row] if token >= 0)
        want = emit(watching, scheme.emit, drafts, (target[row], draft[row]), places[row])  # type: ignore[arg-type]
        same = (int(found.token[row]), bool(found.accepted[row]), int(coin.column[row])) == (*want, watching.used)
        wrong += watching.distance > bound and not same
    return wrong


@forms
def test_the_merged_formula_is_the_replayed_program_on_fractions(scheme: Scheme) -> None:
    for k in (1, 2, 3):
        assert sum(differing(decide_merged, scheme, batch(scheme, k, seed)) for seed in range(2)) == 0


def _residual_of_another_request(decide: Any, coin: Any, tokens: Any, rows: Any, places: Any) -> Any:
    return decide_merged(decide, coin, tokens, (np.roll(rows[0], 1, axis=0), rows[1]), places)


def _another_map(decide: Any, coin: Any, tokens: Any, rows: Any, places: Any) -> Any:
    return decide_merged(decide, coin, tokens, rows, np.roll(places, 1, axis=1))


@pytest.mark.parametrize("wrong", [_residual_of_another_request, _another_map])
@forms
def test_wrong_merged_formulas_are_found(scheme: Scheme, wrong: Any) -> None:
    assert sum(differing(wrong, scheme, batch(scheme, 2, seed)) for seed in range(2)) > 0
