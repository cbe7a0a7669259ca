"""Redistribution by a kernel, RDK: the draft law sent from its vocabulary to the target's by a stochastic matrix.

Source: TokenTiming, Section 2 (Timor et al. 2025c).
"""

from __future__ import annotations

from typing import Any

import numpy as np

from spec_math.arrays import Array, check_same_number_type
from spec_math.arrays import as_law as checked
from spec_math.distribution import overlap
from spec_math.drafting.correspondence import law_after, on_vocabulary, places
from spec_math.language import GreedyTokenizer, TokenizedModel, Vocabulary
from spec_math.language.model import Model
from spec_math.number_types import exact


def draft_law(draft: Any, kernel: Any) -> Array:
    """Return the redistributed draft law d·M [..., T]: Σ_x d(x) M(x, y), for a kernel M [D, T] whose rows are laws.

    Every kernel gives a law on T, and every verifier is lossless with it; the kernel decides how much is accepted.
    Source: TokenTiming, Section 2 (Timor et al. 2025c), which writes it Mᵀd.

    Raises:
        ValueError: a row of the kernel is not a probability distribution, or there is no row for each draft token.
        TypeError: exact and floating numbers are mixed.

    >>> draft_law(["1/2", "1/2"], [[1, 0], ["1/3", "2/3"]]).tolist()
    [Fraction(2, 3), Fraction(1, 3)]
    """
    d, rows = checked(draft, "draft"), checked(kernel, "kernel")
    check_same_number_type(d, rows)
    if rows.ndim != 2 or rows.shape[0] != d.shape[-1]:
        raise ValueError(
            f"a kernel has one row for each draft token, [D = {d.shape[-1]}, T]; got the shape {tuple(rows.shape)}"
        )
    return d @ rows


def acceptance(target: Any, draft: Any, kernel: Any) -> Any:
    """Return Σ_T min(t, d·M), the probability that the first draft is accepted, for laws [..., T] and [..., D].

    Raises:
        ValueError, TypeError: a law or a row of the kernel is not a probability distribution.

    >>> acceptance(["1/4", "3/4"], [1], [["1/2", "1/2"]])
    Fraction(3, 4)
    """
    return overlap(target, draft_law(draft, kernel))


def model(drafter: TokenizedModel, target_vocabulary: Vocabulary, kernel: Any) -> Model:
    """Return the drafter as a model on the target's tokens, which every verifier of blocks takes.

    It is conditioned on the text so far in its own tokens (`TokenizedModel.read`).

    Raises:
        ValueError: the kernel does not lead from the drafter's vocabulary to the target's.

    >>> drafter = TokenizedModel(lambda prefix: ["1/2", "1/2"], Vocabulary(["a", "c"]))
    >>> model(drafter, Vocabulary(["a", "b"]), [[1, 0], [0, 1]])((0,)).tolist()
    [Fraction(1, 2), Fraction(1, 2)]
    """
    rows = on_vocabulary(kernel, target_vocabulary, "kernel")
    return lambda prefix: draft_law(law_after(drafter, target_vocabulary, prefix), rows)


def by_first_token(target_vocabulary: Vocabulary, draft_vocabulary: Vocabulary) -> Array:
    """Return the kernel [D, T] that sends each draft token to the first target token of its text: M(x, T(x)₁) = 1.

    A token of both vocabularies stays where it is. Fractions; dense, so for small vocabularies.

    Raises:
        ValueError: a draft token begins with no target token, or is a special one that the target does not have.

    >>> by_first_token(Vocabulary(["a", "b"]), Vocabulary(["ab", "b"])).tolist()[0]
    [Fraction(1, 1), Fraction(0, 1)]
    """
    first = GreedyTokenizer(target_vocabulary).first
    same = places(target_vocabulary, draft_vocabulary)
    ends = [int(place) if place >= 0 else first(draft_vocabulary[token]) for token, place in enumerate(same)]
    lost = [token for token, end in enumerate(ends) if end is None]
    if lost:
        shown = draft_vocabulary[lost[0]] or draft_vocabulary.special[lost[0]]
        raise ValueError(
            f"every draft token must go somewhere; {len(lost)} of {len(draft_vocabulary)} begin with no target token, "
            f"the first of them token {lost[0]} ({shown!r}); write a kernel that says where their mass goes"
        )
    return exact(np.eye(len(target_vocabulary), dtype=int).astype(object)[np.array(ends, dtype=np.int64)])
