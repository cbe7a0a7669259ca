"""The law of the drafts, {tokens: mass}: how it is built, checked, and reduced to the law of the drafted set.

Source: SpecTr, Eq. 3 and 4.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from fractions import Fraction
from math import comb, lcm
from typing import Any, NamedTuple, TypeVar, cast

from spec_math.arrays import Array, as_law, check_same_number_type, count, is_exact
from spec_math.chance import Coin, paths
from spec_math.masses import by_outcome
from spec_math.scheme import Tokens, is_index

Drafts = Tokens | frozenset[int]
"""What is drafted: a tuple of tokens, or the set of them alone."""

OUTCOMES = 2_000_000
"""The most terms or paths that a builder here goes through."""

Key = TypeVar("Key", Tokens, frozenset[int])


def iid(draft: Any, k: int) -> dict[Tokens, Any]:
    """Return the law of k i.i.d. drafts, P(x) = Π d(x_i), for a draft law [V].

    Raises:
        TypeError, ValueError: k is not a positive integer, draft is not a probability distribution, or there are more
            than 2·10^6 tuples.

    >>> iid(["1/4", "3/4"], 2)[0, 1]
    Fraction(3, 16)
    """
    return independent([draft] * count(k))


def independent(drafts: Sequence[Any]) -> dict[Tokens, Any]:
    """Return the law of independent drafts, P(x) = Π d_i(x_i), the i-th drawn from drafts[i]; each a law [V].

    Two drafters that each propose one token are `independent([first, second])`.

    Raises:
        TypeError, ValueError: no law given, laws of two sizes or two number types, or more than 2·10^6 tuples.

    >>> independent([["1/2", "1/2"], [1, 0]])
    {(0, 0): Fraction(1, 2), (1, 0): Fraction(1, 2)}
    """
    start = cast("tuple[int, ...]", ())
    return _extended(drafts, start, lambda drawn, token: (*drawn, token))


def independent_sets(drafts: Sequence[Any]) -> dict[frozenset[int], Any]:
    """Return the law of the SET of independent drafts without writing down their tuples; each draft a law [V].

    One draft after another: P(S ∪ {y}) gains P(S)·d_i(y). Sums of positive terms only, so floats lose nothing.

    >>> sorted(independent_sets([["1/4", "3/4"]] * 2).values())
    [Fraction(1, 16), Fraction(3, 8), Fraction(9, 16)]
    """
    start: frozenset[int] = frozenset()
    return _extended(drafts, start, lambda drawn, token: drawn | {token})


def drawn(draw: Callable[[Coin, Any, int], Tokens], draft: Any, k: int) -> dict[Tokens, Any]:
    """Return the law of a scheme's own drafts, by walking every path of its `draw(coin, draft, k)`.

    Without replacement, greedy, SpecHub: the program that drafts is the definition. Draft [V].

    Raises:
        TypeError, ValueError: k is not a positive integer, draft is not a probability distribution, or the program has
            more than 2·10^6 paths.

    >>> from spec_math.token_level import without_replacement
    >>> drawn(without_replacement.draw, ["1/2", "1/4", "1/4"], 2)[0, 1]
    Fraction(1, 4)
    """
    masses, k = as_law(draft, "draft"), count(k)
    if masses.ndim != 1:
        raise ValueError(f"the distribution of drafts is that of one position, a draft [V]; got {tuple(masses.shape)}")
    result: dict[Tokens, Any] = {}
    # A draw that tosses no coin is certain, and so in the number type of the draft: a float beside other floats.
    one = masses[0] * 0 + 1
    for walked, path in enumerate(paths(lambda coin: draw(coin, masses, k))):
        if walked == OUTCOMES:
            raise ValueError(_too_many("this draw has", "paths", f"V = {len(masses)}, k = {k}"))
        result[path.outcome] = result.get(path.outcome, one - one) + one * path.mass
    return result


def sets(draft_law: Mapping[Any, Any]) -> dict[frozenset[int], Any]:
    """Return the law of the drafted set, P(S = s) = Σ P(x) over the tuples x whose tokens are s.

    Which tokens can be accepted depends on the set alone, so the optimum is that of this smaller law.

    >>> sets({(0, 1): Fraction(1, 4), (1, 0): Fraction(1, 4), (1, 1): Fraction(1, 2)})[frozenset({0, 1})]
    Fraction(1, 2)
    """
    # Fractions are added as whole numbers over one denominator, several times faster.
    unit = common_denominator(draft_law.values())
    terms = (mass if unit is None else mass.numerator * (unit // mass.denominator) for mass in draft_law.values())
    result = by_outcome(zip(map(frozenset[int], draft_law), terms, strict=True))
    return result if unit is None else {key: Fraction(total, unit) for key, total in result.items()}


def common_denominator(masses: Iterable[Any]) -> int | None:
    """Return the least common denominator of Fractions, None if any mass is no Fraction.

    Masses: any numbers, a list of them or [n].
    """
    listed = list(masses)
    exactly = all(type(mass) is Fraction for mass in listed)
    return lcm(*{mass.denominator for mass in listed}) if exactly else None


def checked(draft_law: Any, target: Array) -> dict[Drafts, Any]:
    """Check a law of drafts {tuple or frozenset of tokens: mass} against a checked target [V]; mass 0 is left out.

    Masses may be int, Fraction or str (exact), or floats; they must be of the target's number type and sum to 1. The
    empty tuple is allowed: nothing was drafted.

    Raises:
        TypeError: no mapping, keys that are neither all tuples nor all frozensets of indices, another number type.
        ValueError: a token outside the vocabulary, masses that are not a probability distribution.

    >>> from spec_math.arrays import exact
    >>> checked({(0,): "1/4", (1,): "3/4"}, exact(["1/2", "1/2"]))
    {(0,): Fraction(1, 4), (1,): Fraction(3, 4)}
    """
    if not isinstance(draft_law, Mapping):
        raise TypeError(
            f"a distribution of drafts is a mapping {{tuple of tokens: mass}}; got {type(draft_law).__name__}; "
            "draft_law.iid(draft, k) builds one"
        )
    listed = cast("Mapping[Any, Any]", draft_law)
    if not any(all(isinstance(key, kind) for key in listed) for kind in (tuple, frozenset)):
        raise TypeError("the keys of a distribution of drafts are all tuples of tokens, or all frozensets of tokens")
    keys = [_indices(key, len(target)) for key in listed]
    if not keys:
        raise ValueError("draft distribution: a distribution needs at least one outcome; got none")
    masses = as_law(list(listed.values()), "draft distribution")
    if is_exact(target) != is_exact(masses):
        check_same_number_type(target, masses)
    return {key: mass for key, mass in zip(keys, masses.tolist(), strict=True) if mass != 0}


class Sizes(NamedTuple):
    """The size of the optimal transport problem of k drafts on V tokens, on tuples and on sets."""

    vocabulary: int
    k: int
    tuples: int
    tuple_variables: int
    sets: int
    set_variables: int
    members: int

    def __str__(self) -> str:
        return (
            f"V = {self.vocabulary}, k = {self.k}: {self.tuples:,} tuples, {self.tuple_variables:,} variables; "
            f"{self.sets:,} sets, {self.set_variables:,} variables, {self.members:,} of them with the token in the set"
        )


def sizes(vocabulary: int, k: int) -> Sizes:
    """Return the sizes of SpecTr's linear program (Eq. 4) on tuples, as printed, and on draft sets.

    Tuples: V^k of them, V^(k+1) variables. Sets of at most k tokens: Σ_{1≤j≤k} C(V, j) of them, V times as many
    variables, of which Σ j·C(V, j) pair a set with its own token: only those are edges of the maximum flow.
    Source: SpecTr, Eq. 4 and Lemma 2.

    Raises:
        TypeError, ValueError: V or k is not a positive integer.

    >>> print(sizes(16, 3))
    V = 16, k = 3: 4,096 tuples, 65,536 variables; 696 sets, 11,136 variables, 1,936 of them with the token in the set
    """
    v, k = count(vocabulary, "vocabulary"), count(k)
    chosen = [comb(v, j) for j in range(1, k + 1)]
    members = sum(j * number for j, number in enumerate(chosen, 1))
    return Sizes(v, k, v**k, v ** (k + 1), sum(chosen), sum(chosen) * v, members)


def _extended(drafts: Sequence[Any], start: Key, extend: Callable[[Key, int], Key]) -> dict[Key, Any]:
    rows = [as_law(draft, f"draft {place}") for place, draft in enumerate(drafts)]
    if not rows:
        raise ValueError("independent drafts need at least one draft distribution; got none")
    for row in rows:
        check_same_number_type(rows[0], row)
        if row.ndim != 1 or row.shape != rows[0].shape:
            raise ValueError(f"drafts must have one shape [V]; got {tuple(rows[0].shape)} and {tuple(row.shape)}")
    result: dict[Key, Any] = {start: None}
    for row in rows:
        drawable = [(token, mass) for token, mass in enumerate(row.tolist()) if mass != 0]
        if len(result) * len(drawable) > OUTCOMES:
            raise ValueError(_too_many("these drafts take", "terms", f"V = {len(row)}, k = {len(rows)}"))
        result = by_outcome(
            (extend(key, token), chance if mass is None else mass * chance)
            for key, mass in result.items()
            for token, chance in drawable
        )
    return result


def _indices(key: Any, size: int) -> Drafts:
    for token in key:
        if type(token) is not int and not is_index(token):
            raise TypeError(f"a drafted token is an index; got {token!r} of type {type(token).__name__} in {key!r}")
        if not 0 <= token < size:
            raise ValueError(f"a drafted token must lie in 0..{size - 1}; got {token} in {key!r}")
    return cast("Drafts", type(key)(int(token) for token in key))


def _too_many(what: str, noun: str, size: str) -> str:
    return (
        f"{what} more than {OUTCOMES:,} {noun} ({size}); independent_sets lists sets alone, and optimal.acceptance and "
        "optimal.acceptance_without_replacement need no distribution of drafts at all"
    )
