"""The optimum of each kind of drafts that several schemes share: what no verifier of these very drafts exceeds.

All are 1 − max_H [P(S ⊆ H) − t(H)]. Drafts that one scheme alone draws have their optimum in its file.

Source: SpecTr, Eq. 3 and 4.
"""

from __future__ import annotations

from typing import Any

from spec_math.distribution import overlap
from spec_math.scheme import Optimum
from spec_math.token_level import exponential_clocks, optimal
from spec_math.token_level.streamed import Chunk


def _one(target: Any, draft: Any, k: int) -> Any:  # noqa: ARG001 - one draft, whatever k is
    return overlap(target, draft)


ONE = Optimum("one draft", _one, None, Chunk.overlap)
INDEPENDENT = Optimum("i.i.d. drafts", optimal.acceptance, optimal.acceptances, Chunk.optimum)
WITHOUT_REPLACEMENT = Optimum(
    "without replacement",
    optimal.acceptance_without_replacement,
    optimal.acceptances_without_replacement,
    most=exponential_clocks.MOST,
)
