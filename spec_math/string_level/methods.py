"""Every method for two vocabularies, each a record: a generator of one shape, what it accepts, what it asks for."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import takewhile
from typing import Any, NamedTuple

from spec_math.block_level.conditionals import Conditionals
from spec_math.chance import Coin
from spec_math.distribution import capped_ratio
from spec_math.drafting import intersection, union
from spec_math.language import TokenizedModel, Vocabulary
from spec_math.language.model import Model
from spec_math.scheme import Tokens
from spec_math.string_level import exact_match, rejection, timing
from spec_math.string_level.reading import Reading, candidate

Generate = Callable[[Coin, TokenizedModel, TokenizedModel, Sequence[int], int], Tokens]
"""From a coin, target, drafter, a prefix in target tokens and a lookahead in draft tokens to the emitted tokens."""


class First(NamedTuple):
    """The sources of the first draft: the laws of target [T] and draft [D], their vocabularies, and ψ [T]."""

    target: Any
    draft: Any
    target_vocabulary: Vocabulary
    draft_vocabulary: Vocabulary
    psi: Any


class Draft(NamedTuple):
    """A drafted text at one position: the target, the laws after its prefix, how the drafter reads, what it drafted."""

    target: TokenizedModel
    laws: Conditionals
    reading: Reading
    drafted: Tokens


Vocabularies = tuple[tuple[str, ...], tuple[str, ...]]
"""The target's tokens and the drafter's."""


class Proven(NamedTuple):
    """A pair of small vocabularies on which a method is proved for all laws, in so many seconds on one core."""

    vocabularies: Vocabularies
    seconds: float
    lookahead: int = 2


SMALL: Vocabularies = (("a", "b"), ("b", "c"))
CUT: Vocabularies = (("a", "b"), ("a", "b", "ab"))
JOINED: Vocabularies = (("a", "b", "ab"), ("a", "b"))
OVERLAPPING: Vocabularies = (("a", "aa", "b"), ("a", "b", "ba"))
DOUBLED: Vocabularies = (("a", "b"), ("aa", "b"))


@dataclass(frozen=True, eq=False)
class Method:
    """A method, with every fact that is known of it.

    `needs` is the constraint that Timor et al., Table 4, puts on its drafter. `accepts` is the chance that the first
    drafted target token is accepted (Table 3): None where it depends on the whole draft. `models` are target and draft
    on the target's vocabulary, for methods that verify there; `retokenised` reads a draft as target tokens and says
    with which chance each is accepted after those before it, for methods that do. `one_token`: it drafts a single
    target token by ψ, whatever the lookahead is. `like`: the method whose acceptance it has. `dominated`: another one
    accepts at least as much. `proven` lists what is proved for every law, `pages` the pages of the book.

    >>> [method.name for method in METHODS if not method.lossless]
    ['TokenTiming as printed']
    """

    name: str
    generate: Generate
    needs: str
    accepts: Callable[[First], Any] | None = None
    lossless: bool = True
    models: Callable[[TokenizedModel, TokenizedModel], tuple[Model, Model]] | None = None
    retokenised: Callable[[Draft], tuple[Tokens, Any]] | None = None
    one_token: bool = False
    like: Method | None = None
    dominated: bool = False
    proven: tuple[Proven, ...] = (Proven(SMALL, 1.0),)
    pages: tuple[str, ...] = ()

    @property
    def page(self) -> str:
        """The first of its pages, in the book; empty where it has none."""
        return self.pages[0] if self.pages else ""


def _matched(draft: Draft) -> tuple[Tokens, Any]:
    tokens = candidate(draft.target, draft.laws.prefix, draft.reading.text(draft.drafted), exact_match.LOOKBEHIND)
    return tokens, masses(draft.laws, tokens)


def _by_printed_ratios(draft: Draft) -> tuple[Tokens, Any]:
    tokens = candidate(draft.target, draft.laws.prefix, draft.reading.text(draft.drafted), 0)
    proposed = timing.proposal(draft.target, draft.reading, draft.drafted, tokens)
    return tokens, ratios(draft.laws, tokens, proposed)


UNION = Method(
    "union",
    union.generate,
    "not applicable: TLI accepts at least as much",
    lambda first: union.acceptance(*first[:4]),
    models=union.models,
    dominated=True,
    proven=(Proven(SMALL, 0.4),),
    pages=("theorems/union",),
)
TLI = Method(
    "TLI",
    intersection.generate,
    "accurate, large overlap of vocabularies",
    lambda first: intersection.acceptance(*first[:4]),
    models=lambda target, drafter: (target.model, intersection.model(drafter, target.vocabulary)),
    proven=(Proven(SMALL, 0.1), Proven(CUT, 4.2)),
    pages=("theorems/intersection",),
)
SLEM = Method(
    "SLEM",
    exact_match.generate,
    "accurate",
    lambda first: exact_match.acceptance(first.target, first.psi),
    retokenised=_matched,
    proven=tuple(Proven(words, 0.1) for words in (SMALL, CUT, JOINED, OVERLAPPING)),
    pages=("theorems/exact_match",),
)
SLRS = Method(
    "SLRS",
    rejection.generate,
    "accurate, short tokens",
    lambda first: rejection.acceptance(first.target, first.psi),
    one_token=True,
    proven=(Proven(SMALL, 0.3), Proven(CUT, 0.2), Proven(JOINED, 1.5), Proven(OVERLAPPING, 11.0)),
    pages=("theorems/rejection", "theorems/psi"),
)
TOKEN_TIMING = Method(
    "TokenTiming as printed",
    timing.generate,
    "no row in Table 4; lossy",
    lossless=False,
    retokenised=_by_printed_ratios,
    proven=(),
    pages=("theorems/timing",),
)
METHODS: tuple[Method, ...] = (
    UNION,
    TLI,
    SLEM,
    SLRS,
    TOKEN_TIMING,
    Method(
        "TokenTiming, deterministic",
        timing.deterministic,
        "no row in Table 4; as SLEM",
        SLEM.accepts,
        like=SLEM,
        proven=(Proven(CUT, 0.4), Proven(DOUBLED, 0.2), Proven(JOINED, 4.0)),
        pages=("theorems/timing",),
    ),
    # It proposes its first token with the law ψ, as SLRS does.
    Method(
        "TokenTiming, conditional",
        timing.conditional,
        "no row in Table 4; few and short tokens",
        SLRS.accepts,
        like=SLRS,
        proven=(Proven(DOUBLED, 2.5), Proven(CUT, 0.3, 1), Proven(JOINED, 0.6, 1)),
        pages=("theorems/timing",),
    ),
)


def ratios(laws: Conditionals, drafted: Tokens, proposed: Sequence[Any]) -> list[Any]:
    """Return min(1, t/p) for each drafted target token, given those before it: the chance that it is accepted.

    >>> ratios(Conditionals(lambda prefix: ["1/4", "3/4"], lambda prefix: ["1/2", "1/2"], ()), (0, 1), [1, 1])
    [Fraction(1, 4), Fraction(3, 4)]
    """
    return [capped_ratio(mass, chance) for mass, chance in zip(masses(laws, drafted), proposed, strict=False)]


def masses(laws: Conditionals, drafted: Tokens) -> list[Any]:
    """Return the target's mass of each drafted token given those before it, up to the target's end.

    >>> masses(Conditionals(lambda prefix: ["1/4", "3/4"], lambda prefix: ["1/2", "1/2"], ()), (0, 1))
    [Fraction(1, 4), Fraction(3, 4)]
    """
    going = takewhile(lambda place: not laws.ends(drafted[:place]), range(len(drafted)))
    return [laws.target(drafted[:place])[drafted[place]] for place in going]


def emitted(laws: Conditionals, drafted: Tokens, chances: Sequence[Any]) -> Any:
    """Return the expected tokens of a block whose drafted tokens are accepted one after another with these chances.

    1 + Σ_j Π_{i≤j} chance_i: a rejection, or the end of the draft, adds one token. After the target's end nothing is.

    >>> from fractions import Fraction
    >>> laws = Conditionals(lambda prefix: ["1/2", "1/2"], lambda prefix: ["1/2", "1/2"], ())
    >>> emitted(laws, (0, 0), [Fraction(1, 2), Fraction(1, 3)])
    Fraction(5, 3)
    """
    total: Any = 1
    weight: Any = 1
    for place, chance in enumerate(chances):
        weight = weight * chance
        if laws.ends(drafted[: place + 1]):
            return total  # accepted, it is the block's last token; rejected, another one is
        total = total + weight
    return total
