"""The optimum of each kind of drafts that the schemes draw: what no verifier of these very drafts exceeds.

All are 1 − max_H [P(S ⊆ H) − t(H)]. A certain draft x has P(S ⊆ H) = 1 where x lies in H, so that H = {x} is best and
the optimum is t(x). Of greedy drafts, Top and one draw outside it, every best H contains Top, and the optimum is t(Top)
plus the overlap of the target with the law of the draw; SpecHub's sets have the law of greedy's for two drafts.

Source: SpecTr, Eq. 3 and 4; the formulas of sets are worked out here.
"""

from __future__ import annotations

from typing import Any

from spec_math.distribution import overlap
from spec_math.scheme import Optimum
from spec_math.token_level import exponential_clocks, greedy, one_hot, optimal
from spec_math.token_level.streamed import Chunk


def _one(target: Any, draft: Any, k: int) -> Any:  # noqa: ARG001 - one draft, whatever k is
    return overlap(target, draft)


def _hub(target: Any, draft: Any, k: int) -> Any:  # noqa: ARG001 - two drafts, whatever k is
    return greedy.membership(target, draft, 2)


ONE = Optimum("one draft", _one, None, Chunk.overlap)
CERTAIN = Optimum("the draft's favourite", one_hot.membership, None, Chunk.favourite)
INDEPENDENT = Optimum("i.i.d. drafts", optimal.acceptance, optimal.acceptances, Chunk.optimum)
WITHOUT_REPLACEMENT = Optimum(
    "without replacement",
    optimal.acceptance_without_replacement,
    optimal.acceptances_without_replacement,
    most=exponential_clocks.MOST,
)
GREEDY = Optimum("greedy drafts", greedy.membership, None, Chunk.greedy)
HUB = Optimum("SpecHub's drafts", _hub, None, Chunk.hub)
