"""How often a text is drafted: by draws without replacement, and at most by a stochastic beam."""

from __future__ import annotations

from fractions import Fraction
from itertools import product

import numpy as np
import pytest

from proofs_tests.studies.frontier.drafted_texts import inner_and_leaves
from proofs_tests.studies.frontier.toy_models import TABLES
from spec_math.arrays import exact
from spec_math.block_level import stochastic_beam
from spec_math.chance import law
from spec_math.studies.frontier import further
from spec_math.studies.lengths import ceilings
from spec_math.token_level import without_replacement


def test_two_draws_without_replacement_hold_a_token_as_often_as_enumerated() -> None:
    """Against all orders of draws; a token of mass 0 is never drawn."""
    draft = exact(["1/2", "1/5", 0, "1/5", "1/10"])
    for token in range(5):
        drawn = float(law(lambda coin, token=token: token in without_replacement.draw(coin, draft, 2)).get(True, 0))
        assert abs(ceilings.of_two(draft.astype(float), token) - drawn) < 2.0**-48


def test_two_drafts_of_a_draft_of_one_token_hold_it() -> None:
    certain = np.array([0.0, 1.0, 0.0])
    assert [ceilings.of_two(certain, token) for token in range(3)] == [0.0, 1.0, 0.0]


@pytest.mark.parametrize("k", [2, 3])
def test_a_text_is_in_a_beam_no_more_often_than_raced(k: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """Against the beam's own program; merging clocks only raises it, and one level alone is exact."""
    laws = further.GatheredLaws(*TABLES, ())
    met = law(lambda coin: stochastic_beam.grow(coin, laws, 2, k)) if k == 2 else {}
    for text in product(range(3), repeat=2):
        raced = ceilings.raced(laws, text, (k,))[0]
        held = sum((p for nodes, p in met.items() if text in inner_and_leaves(nodes)), Fraction(0))
        assert raced[1] >= float(held) - 2.0**-40
        first = law(lambda coin, text=text: text[0] in without_replacement.draw(coin, TABLES[1](()), k))
        assert abs(raced[0] - float(first.get(True, 0))) < 2.0**-40
    # The control: a race against fewer clocks than there are is above what is raced against all.
    whole = ceilings.raced(laws, (0, 1), (2,))[0]
    monkeypatch.setattr(ceilings, "LIGHT", 0.3)
    assert ceilings.raced(laws, (0, 1), (2,))[0][1] > whole[1]


def test_clocks_that_ring_as_one_only_raise_a_chance(monkeypatch: pytest.MonkeyPatch) -> None:
    """One level of 200 tokens: above the exact chance, and the more so the more of them are merged."""
    draft = np.random.default_rng(0).dirichlet(np.full(200, 0.3))
    laws = further.GatheredLaws(lambda _: draft, lambda _: draft, ())
    monkeypatch.setattr(ceilings, "GROUPS", 199)
    rows = [ceilings.raced(laws, (token,), (2, 8))[:, 0].tolist() for token in (0, 50, 199)]
    for groups in (40, 4):
        monkeypatch.setattr(ceilings, "GROUPS", groups)
        merged = [ceilings.raced(laws, (token,), (2, 8))[:, 0].tolist() for token in (0, 50, 199)]
        assert all(
            low < high for own, more in zip(rows, merged, strict=True) for low, high in zip(own, more, strict=True)
        )
        rows = merged
