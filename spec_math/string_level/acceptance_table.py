"""Table 3 of Timor et al. as a function: what each method accepts of the first draft, over two vocabularies."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from spec_math.distribution import overlap
from spec_math.drafting import intersection, union
from spec_math.language import Vocabulary
from spec_math.string_level import exact_match, rejection
from spec_math.string_level.psi import first_token


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
    return AcceptanceTable(
        standard=overlap(target, law) if same else None,
        union=union.acceptance(*both),
        exact_match=exact_match.acceptance(target, first.law),
        rejection=rejection.acceptance(target, first.law),
        intersection=intersection.acceptance(*both),
        untokenisable=first.untokenisable,
    )
