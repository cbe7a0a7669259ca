"""`Scheme`: the record of a verifier of one position, with its draft, its program and its closed forms.

Source: both notions of acceptance: SpecTr, Eq. 2 and Section 4.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable
from dataclasses import dataclass
from functools import wraps
from numbers import Integral
from typing import Any, NamedTuple, ParamSpec, cast

import numpy as np

from spec_math.arrays import Array, as_law, count
from spec_math.chance import Coin

Tokens = tuple[int, ...]


class Emission(NamedTuple):
    """The token that a verifier emits, and whether one of its tests accepted a draft.

    A token drawn from a residual may be among the drafts all the same: the acceptance counts it, the test's does not.

    >>> Emission(3, accepted=True)
    Emission(token=3, accepted=True)
    """

    token: int
    accepted: bool


Given = ParamSpec("Given")


def token_of(emit: Callable[Given, Emission]) -> Callable[Given, int]:
    """Return the verifier that tosses the coins of `emit` and says the emitted token alone.

    >>> token_of(lambda coin, token: Emission(token, accepted=True))(None, 3)
    3
    """

    @wraps(emit)
    def verify(*given: Given.args, **named: Given.kwargs) -> int:
        return emit(*given, **named).token

    verify.__name__ = verify.__qualname__ = "verify"
    verify.__signature__ = inspect.signature(emit).replace(return_annotation=int)  # type: ignore[attr-defined]
    return verify


Streamed = Callable[[Any, int], tuple[Any, Any]]
"""(a `token_level.streamed.Chunk`, k) -> acceptance and test acceptance [n] at the chunk's positions."""


@dataclass(frozen=True)
class Optimum:
    """The most that any verifier of one kind of drafts reaches, 1 − max_H [P(S ⊆ H) − t(H)], by a formula of that kind.

    `drafts` names the kind in words; `at(target, draft, k)` is the value for laws [..., V], `at_all(target, draft, ks)`
    that of several k at a lower price; `streamed` its form over a chunk. Float laws of more tokens are not asked for
    more than `most` drafts.

    >>> from spec_math import SCHEMES
    >>> SCHEMES[0].optimum(["1/4", "3/4"], ["1/2", "1/2"], 1), SCHEMES[0].optimum.drafts
    (Fraction(3, 4), 'one draft')
    """

    drafts: str
    at: Callable[[Any, Any, int], Any]
    at_all: Callable[[Any, Any, tuple[int, ...]], tuple[Any, ...]] | None = None
    streamed: Streamed | None = None
    most: int | None = None

    def __call__(self, target: Any, draft: Any, k: int) -> Any:
        """Return the optimum of k drafts."""
        return self.at(target, draft, k)

    def all(self, target: Any, draft: Any, ks: tuple[int, ...]) -> tuple[Any, ...]:
        """Return the optimum for each k."""
        if self.at_all is not None:
            return self.at_all(target, draft, ks)
        return tuple(self.at(target, draft, k) for k in ks)


Sizes = tuple[tuple[int, int, float], ...]
"""(tokens, drafts, seconds on one core): for what a theorem is proved."""


@dataclass(frozen=True)
class Proven:
    """For which sizes a scheme is proved for all distributions; `formal`: its theorem in Rocq, for every vocabulary."""

    lossless: Sizes = ()
    formulas: Sizes = ()
    optimal: Sizes = ()
    formal: str = ""


@dataclass(frozen=True)
class Parameter:
    """A number that a verifier and its closed forms take as a last argument, and when they may: proved for all those.

    The verifier takes a value where `excess(target, draft, k, value)` is at most 0; `scope` says so in words.
    """

    name: str
    scope: str
    excess: Callable[[Any, Any, int, Any], Any]


@dataclass(frozen=True)
class Reads:
    """The laws that the array formula of a scheme, `Scheme.decide`, reads.

    `draft` says that it looks at the draft's law at all, `drafters` that it takes one [B, k, V] of each draft,
    `favourite` that one of two drafts is the draft's likeliest token, `order` that it puts the tokens in order.

    >>> from spec_math import SCHEMES
    >>> [scheme.name for scheme in SCHEMES if not scheme.reads.draft]
    ['one-hot draft', 'sample and match']
    """

    draft: bool = True
    drafters: bool = False
    favourite: bool = False
    order: bool = False


@dataclass(frozen=True)
class Scheme:
    """A verifier of one position: a program against a coin, its closed forms, and the optimum of the drafts it draws.

    `acceptance(target, draft, k)` is the probability that the emitted token is among the drafts, `test_acceptance` that
    a test accepted one: the same where it is not given. `emit` is `verify` with the test's answer; `drafts` is the
    fixed number of tokens drafted where the scheme ignores k. `optimum(target, draft, k)` is the most that any verifier
    of these very drafts reaches; without it no gap is known. `streamed` gives both closed forms over many positions at
    once; `estimate(target, draft, k, paths, rng)` gives them with a standard error where they have too many terms.
    `monotone` says that the acceptance is proved not to fall as k grows. `decide` is the program as an array formula
    over a batch (`token_level.array_drafts.Decide`), `reads` what that asks of the laws; `coins(k)` is how many coins
    the longest path of the program tosses on k drafts. `distinct` says that no token is drafted twice. `proven` lists
    what is proved for all laws, for each value of `parameter` where there is one; `pages` are pages of the book, the
    scheme's theorem first.

    >>> from spec_math import SCHEMES
    >>> SCHEMES[0].name, SCHEMES[0].acceptance(["1/4", "3/4"], ["1/2", "1/2"], 1)
    ('maximal coupling', Fraction(3, 4))
    """

    name: str
    draw: Callable[[Coin, Array, int], Tokens]
    verify: Callable[[Coin, Tokens, Array, Array], int]
    acceptance: Callable[[Any, Any, int], Any]
    test_acceptance: Callable[[Any, Any, int], Any] = None  # type: ignore[assignment] # the acceptance, then
    emit: Callable[[Coin, Tokens, Array, Array], Emission] | None = None
    drafts: int | None = None
    short_name: str = ""
    optimum: Optimum | None = None
    streamed: Streamed | None = None
    estimate: Callable[[Any, Any, int, int, Any], Any] | None = None
    monotone: bool = False
    decide: Callable[..., Any] | None = None
    reads: Reads = Reads()
    coins: Callable[[int], int] | None = None
    distinct: bool = False
    parameter: Parameter | None = None
    proven: Proven | None = None
    pages: tuple[str, ...] = ()

    @property
    def page(self) -> str:
        """The first of its pages, in the book; empty where it has none."""
        return self.pages[0] if self.pages else ""

    def __post_init__(self) -> None:
        if not self.short_name:
            object.__setattr__(self, "short_name", self.name)
        if self.test_acceptance is None:  # pyright: ignore[reportUnnecessaryComparison]
            object.__setattr__(self, "test_acceptance", self.acceptance)


def draw_independent(coin: Coin, draft: Any, k: int) -> Tokens:
    """Draw k i.i.d. tokens from the draft law [V].

    Raises:
        TypeError, ValueError: k is not a positive integer, or draft is not a probability distribution.

    >>> from spec_math.chance import replay
    >>> replay(lambda coin: draw_independent(coin, ["1/2", "1/2"], 2), [0.1, 0.7])
    (0, 1)
    """
    masses = as_law(draft, "draft")
    return tuple(coin.draw(masses) for _ in range(count(k)))


def drafted(tokens: Any, draft: Array, least: int = 1) -> Tokens:
    """Check drafted tokens against the draft law [V] they are said to come from, and return them as a tuple.

    Raises:
        TypeError: a token is not a whole number.
        ValueError: fewer than `least` tokens, a token outside the vocabulary, or one that the draft cannot draw.

    >>> from spec_math.arrays import exact
    >>> drafted((0, 1), exact([1, 0]))
    Traceback (most recent call last):
    ValueError: the draft puts no mass on the drafted token 1; report the distribution they were drawn from
    """
    listed = cast("Tokens", tuple(tokens) if isinstance(tokens, tuple | list) else (tokens,))
    if len(listed) < least:
        raise ValueError(f"at least {least} drafted token(s) are needed; got {len(listed)}")
    for token in listed:
        if not is_index(token):
            raise TypeError(f"a drafted token is an index; got {token!r} of type {type(token).__name__}")
        if not 0 <= token < len(draft):
            raise ValueError(f"a drafted token must lie in 0..{len(draft) - 1}; got {token}")
        if draft[token] == 0:
            raise ValueError(
                f"the draft puts no mass on the drafted token {token}; report the distribution they were drawn from"
            )
    return tuple(int(token) for token in listed)


def is_index(token: Any) -> bool:
    """Say whether a value can be a token: a whole number, and no bool.

    >>> is_index(3), is_index(True), is_index(2.0)
    (True, False, False)
    """
    # Python's own number first: to look for Integral among the parents of a class takes ten times as long.
    return type(token) is int or (isinstance(token, Integral) and not isinstance(token, bool | np.bool_))


def the_token(token: Any) -> int:
    """Return the one drafted token, given as an index or as a tuple of one.

    Raises:
        ValueError: the tuple holds another number of tokens.

    >>> the_token((3,))
    3
    """
    if isinstance(token, tuple | list):
        listed = cast("Tokens", tuple(token))
        if len(listed) != 1:
            raise ValueError(f"this verifier takes one draft; got {len(listed)}")
        return listed[0]
    return cast(int, token)
