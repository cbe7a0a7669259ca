"""Redistribution by a kernel, RDK: the draft law sent from its vocabulary to the target's by a stochastic matrix.

Source: TokenTiming, Section 2 (Timor et al. 2025c).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import accumulate
from typing import Any

from spec_math.arrays import Array, check_same_number_type, count
from spec_math.arrays import as_law as checked
from spec_math.distribution import overlap
from spec_math.drafting import intersection, union
from spec_math.drafting.correspondence import law_after, on_vocabulary
from spec_math.language import TokenizedModel, Vocabulary
from spec_math.language.model import Model
from spec_math.string_level import exact_match, rejection
from spec_math.string_level.alignment import align
from spec_math.string_level.psi import first_token


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


@dataclass(frozen=True)
class AcceptanceTable:
    """The probability that the first drafted target token is accepted, by method.

    standard: Σ min(t, d), and None ("undefined") unless both vocabularies are the same tokens in the same order.
    union: Σ_{T∩D} min(t, d).     intersection (TLI): Σ_{T∩D} min(t, d/d(T)).
    exact_match (SLEM): Σ_T t·ψ.  rejection (SLRS): Σ_T min(t, ψ).
    untokenisable: the mass of the drafted texts that begin with no target token, which ψ leaves out.

    >>> AcceptanceTable(None, 0, 0, 0, 0, 0).rows()[0]
    ('Alg. 5 (SD)', None)
    """

    standard: Any
    union: Any
    exact_match: Any
    rejection: Any
    intersection: Any
    untokenisable: Any

    def rows(self) -> tuple[tuple[str, Any], ...]:
        """Return the lines of Table 3 in the paper's order: (method, acceptance or None)."""
        return (
            ("Alg. 5 (SD)", self.standard),
            ("Alg. 1 (union)", self.union),
            ("Alg. 2 (SLEM)", self.exact_match),
            ("Alg. 3 (SLRS)", self.rejection),
            ("Alg. 4 (TLI)", self.intersection),
        )


def table(
    target: Any, draft: Any, target_vocabulary: Vocabulary, draft_vocabulary: Vocabulary, lookahead: int | None = None
) -> AcceptanceTable:
    """Compute Table 3 for a target law [T] and a drafter: a law [D], or a model on draft tokens, at its empty prefix.

    ψ is that of `lookahead`, or of drafting until the first target token is determined. Fractions in, Fractions out.

    Raises:
        ValueError, TypeError: as `union.acceptance` and `psi.first_token`.

    Source: Timor et al., Table 3.

    >>> found = table(["1/4", "3/4"], ["1/2", "1/4", "1/4"], Vocabulary(["a", "b"]), Vocabulary(["b", "c", "ba"]))
    >>> [(name, str(acceptance)) for name, acceptance in found.rows()][1:]
    [('Alg. 1 (union)', '1/2'), ('Alg. 2 (SLEM)', '9/16'), ('Alg. 3 (SLRS)', '3/4'), ('Alg. 4 (TLI)', '3/4')]
    """
    first = first_token(target_vocabulary, draft_vocabulary, draft, lookahead)
    law = draft(()) if callable(draft) else draft
    both = target, law, target_vocabulary, draft_vocabulary
    same = target_vocabulary.tokens == draft_vocabulary.tokens and target_vocabulary.special == draft_vocabulary.special
    by_text = exact_match.acceptance(target, first.law), rejection.acceptance(target, first.law)
    by_token = overlap(target, law) if same else None, union.acceptance(*both)
    return AcceptanceTable(*by_token, *by_text, intersection.acceptance(*both), first.untokenisable)


SHARE = Fraction(9, 10)
"""The share of aligned places whose offset a window is to hold."""


def offsets(pairs: Iterable[tuple[Sequence[str | bytes], Sequence[str | bytes]]]) -> dict[int, int]:
    """Count the offsets |i − j| of the aligned places of pairs of token sequences, without a band: {offset: count}.

    Source: TokenTiming, Appendix K, Fig. 6 (Δpos).

    >>> offsets([(["a", "b", "cd"], ["ab", "cd"])])
    {0: 1, 1: 2}
    """
    found: Counter[int] = Counter()
    for first, second in pairs:
        path, _ = align(first, second, max(len(first), len(second)))
        found.update(abs(i - j) for i, j in path)
    return dict(sorted(found.items()))


def reach(counts: Mapping[int, int], share: Any = SHARE) -> int:
    """Return the least offset up to which at least `share` of the aligned places lie. Source: Appendix K.

    Raises:
        ValueError: there are no places, or the share is outside (0, 1].

    >>> reach({0: 8, 1: 1, 5: 1}), reach({0: 8, 1: 1, 5: 1}, Fraction(19, 20))
    (1, 5)
    """
    total = sum(counts.values())
    if total == 0:
        raise ValueError("offsets are counted over at least one aligned place; there is none")
    if not 0 < share <= 1:
        raise ValueError(f"a share of the places lies in (0, 1]; got {share}")
    ordered = sorted(counts)
    within = accumulate(counts[offset] for offset in ordered)
    return next(offset for offset, number in zip(ordered, within, strict=True) if number >= share * total)


def chosen(reaches: Iterable[int], mean_speed_up: Callable[[int], Any]) -> int:
    """Return the window with the largest mean speed-up, the narrowest among equals.

    Searched from the least to the largest reach of the model pairs. Source: Appendix K, which so comes to w = 8.

    Raises:
        ValueError: there is no model pair.

    >>> chosen([2, 6, 4], lambda window: -abs(window - 5))
    5
    """
    found = list(reaches)
    if not found:
        raise ValueError("windows are chosen for at least one model pair; there is none")
    return max(range(min(found), max(found) + 1), key=mean_speed_up)


def rates(texts: Iterable[str], order: int = 3) -> list[Fraction]:
    """Return for n = 1 to `order` how many different n-grams of words occur more than once, in per cent of them all.

    r_n = 100 · |{f in F_n: f > 1}| / |F_n|, counted over all texts together, words cut at blanks; 0 where none is.
    Source: TokenTiming, Alg. 5. Its prose speaks of all n-grams, repeated ones each time (`shares`): another number.

    Raises:
        ValueError, TypeError: order is not a positive integer.

    >>> [str(rate) for rate in rates(["a b a b", "a c"], order=2)]
    ['200/3', '100/3']
    """
    return [_percent(sum(f > 1 for f in found.values()), len(found)) for found in _counts(texts, order)]


def shares(texts: Iterable[str], order: int = 3) -> list[Fraction]:
    """Return, for n = 1 to `order`, how many n-grams are of a kind that occurs more than once, per cent of all.

    Source: TokenTiming, Section 5.1 ("proportion of duplicate n-grams among all n-grams in the output").

    >>> [str(share) for share in shares(["a b a b", "a c"], order=2)]
    ['250/3', '50']
    """
    return [_percent(sum(f for f in found.values() if f > 1), found.total()) for found in _counts(texts, order)]


def _counts(texts: Iterable[str], order: int) -> list[Counter[tuple[str, ...]]]:
    found: list[Counter[tuple[str, ...]]] = [Counter() for _ in range(count(order, "order"))]
    for text in texts:
        words = text.split()
        for n, grams in enumerate(found, 1):
            grams.update(tuple(words[at : at + n]) for at in range(len(words) - n + 1))
    return found


def _percent(part: int, whole: int) -> Fraction:
    return Fraction(100 * part, whole) if whole else Fraction(0)
