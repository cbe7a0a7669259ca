"""On both embedded defaults the planned tree accepts more than traversal of the same drafts."""

from __future__ import annotations

import numpy as np
import pytest

from benchmarks import same_drafts
from spec_math.block_level.methods import CHAINS, DISTINCT
from spec_math.studies.frontier import contenders
from spec_math.studies.lengths import ceilings
from spec_math.studies.lengths.units import Key, Units

PREFIXES = 600


@pytest.mark.parametrize("place", [0, 1], ids=["documentation", "source code"])
def test_a_planned_tree_is_ahead_of_traversal_on_the_defaults(place: int) -> None:
    """Two chains with distinct first tokens, both verifiers averaged over their coins: three standard errors apart."""
    name, models = contenders.defaults()[place]
    ahead = same_drafts.ahead_of_traversal(contenders.at(name, models, 1), 2, PREFIXES)
    assert ahead.mean() > 3 * ahead.std(ddof=1) / PREFIXES**0.5
    # It is a mean, and no rule for every drafted tree; the control of the measure, traversal over itself, is below.
    assert (ahead < 0).any()


def test_the_measure_of_a_verifier_over_itself_is_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    name, models = contenders.defaults()[0]
    monkeypatch.setattr(same_drafts, "BOTH", same_drafts.BOTH[1:] * 2)
    assert not same_drafts.ahead_of_traversal(contenders.at(name, models, 1), 2, 20).any()


def test_distinct_tokens_are_compared_on_the_same_texts(monkeypatch: pytest.MonkeyPatch) -> None:
    """The difference of two bounds is that of their samples, and on one level never below 0 (distinct drafts gain)."""
    monkeypatch.setattr(same_drafts, "KS", (2,))
    name, models = contenders.defaults()[0]
    of = contenders.at(name, models, 1)
    found = same_drafts.distinct_over_chains(of, 8)
    units = Units(of.models.target, of.models.draft, of.models.prefixes, contenders.LONGEST, 0, (), ceilings.along)
    distinct, alike = (
        units.bounds(range(8), {key: contenders.LONGEST})[key] for key in (Key(DISTINCT, 2), Key(CHAINS, 2))
    )
    assert np.array_equal(found[2, 4], (distinct - alike)[:, :4].sum(axis=1))
    # A chance rounded twice, and the sum over a race of groups of clocks.
    assert (found[2, 1] > -(2.0**-40)).all()
