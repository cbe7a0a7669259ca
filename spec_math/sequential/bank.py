"""The law that each known bug emits at one position, in closed form of the target and the draft.

Source: the zoo, which names the issues of engines.
"""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from typing import Any, NamedTuple

import numpy as np

from spec_math.arrays import Array, as_laws, divide, exact, is_exact, ones_like, positive_part, proportional_to
from spec_math.distribution import normalised, one_hot, residual_of, temperature, top_k
from spec_math.sequential.dirichlet import drawn_law


class Bug(NamedTuple):
    """A bug of the zoo by its name there, what it does, and the law [V] that it emits for a target and a draft [V].

    `of_target` says that the law is one of the target alone; `sums`, that a few sums over the vocabulary give its
    likelihood ratio at a token.
    """

    name: str
    cause: str
    emitted: Callable[[Array, Array], Array]
    of_target: bool = False
    sums: bool = False


def bank(target: Any, draft: Any = None) -> dict[str, Array]:
    """Return what each bug would emit, by name: laws [V] of the target's number type, without those that equal it.

    Without a draft, the bugs that need none. Floats are divided by their sums first, as drawing from them does.

    Raises:
        TypeError, ValueError: as `arrays.as_laws`.

    >>> bank(["1/4", "3/4"], ["1/2", "1/2"])["M11"].tolist()
    [Fraction(5, 16), Fraction(11, 16)]
    >>> sorted(bank(["1/4", "3/4"]))
    ['M19', 'M22']
    """
    t, d = (drawn_law(law) for law in as_laws(target, target if draft is None else draft))
    found = {bug.name: bug.emitted(t, d) for bug in (WITHOUT_DRAFT if draft is None else BUGS)}
    return {name: law for name, law in found.items() if not bool((law == t).all())}


def ratio(t: Array, d: Array) -> Array:
    """Return min(1, t/d), and 1 where d = 0: the chance that a token, if drafted, is accepted.

    >>> from spec_math.arrays import exact
    >>> ratio(exact(["1/4", "3/4"]), exact([1, 0])).tolist()
    [Fraction(1, 4), Fraction(1, 1)]
    """
    return np.minimum(divide(t, d, ones_like(t)), ones_like(t))


def verified(t: Array, d: Array, drafted: Array, chance: Array) -> Array:
    """Return drafted·chance + (1 − Σ drafted·chance)·residual of (t, d): a test with a chance of its own.

    The law of: x ~ drafted, kept with chance(x), else a draw from the residual of target t and reported draft d.

    >>> from spec_math.arrays import exact
    >>> t, d = exact(["1/4", "3/4"]), exact(["1/2", "1/2"])
    >>> verified(t, d, d, ratio(t, d)).tolist() == t.tolist()
    True
    """
    kept = drafted * chance
    return kept + (drafted.sum() - kept.sum()) * residual_of(t, d)


def _number(text: str, like: Array) -> Any:
    return Fraction(text) if is_exact(like) else float(Fraction(text))


def _greedy_draft(t: Array, d: Array) -> Array:
    return verified(t, d, one_hot(np.argmax(d), d), ratio(t, d))


def _filtered_draft(t: Array, d: Array) -> Array:
    return verified(t, d, top_k(d, min(3, len(d))), ratio(t, d))


def _colder_draft(t: Array, d: Array) -> Array:
    return verified(t, d, temperature(d, _number("1/2", d)), ratio(t, d))


def _unverified(_t: Array, d: Array) -> Array:
    return d.copy()


def _redrawn(t: Array, d: Array) -> Array:
    return np.minimum(t, d) + positive_part(d - t).sum() * t


def _at_the_drafted(t: Array, d: Array) -> Array:
    # A draft x is rejected with mass r_x = (d − t)+(x), and then t without x is drawn from: t(y)/(1 − t(x)), y ≠ x.
    rejected = positive_part(d - t)
    passed = divide(rejected, 1 - t, t - t)
    return np.minimum(t, d) + t * (passed.sum() - passed)


def _likeliest_left(t: Array, d: Array) -> Array:
    rejected = positive_part(d - t).sum()
    return np.minimum(t, d) + rejected * one_hot(np.argmax(residual_of(t, d)), t)


def _over_the_largest(t: Array, d: Array) -> Array:
    return verified(t, d, d, t / t.max())


def _either(t: Array, d: Array) -> Array:
    return verified(t, d, d, t + (1 - t) * ratio(t, d))


def _temperature_ignored(t: Array, _d: Array) -> Array:
    # The law at temperature 1 behind a target at 1/2: roots, rounded to floats where the target is exact.
    roots = np.sqrt(t.astype(float))
    return proportional_to(exact(roots) if is_exact(t) else roots)


def _likeliest(t: Array, _d: Array) -> Array:
    return one_hot(np.argmax(t), t)


def _matched_or_redrawn(t: Array, d: Array) -> Array:
    matched = one_hot(np.argmax(d), t) * t
    return matched + (t.sum() - matched.sum()) * t


def _without_the_favourite(t: Array, d: Array) -> Array:
    favourite = one_hot(np.argmax(d), t)
    return normalised(t - t * favourite, favourite)


def _lenient(t: Array, d: Array) -> Array:
    return verified(t, d, d, np.minimum(2 * divide(t, d, ones_like(t)), ones_like(t)))


def _constant(t: Array, d: Array) -> Array:
    return verified(t, d, d, np.where(t > _number("3/10", t) * d, ones_like(t), t - t))


def _discarded(t: Array, d: Array) -> Array:
    # Drafts of low confidence are thrown away, and the target is drawn from; the others are verified against all of d.
    kept = np.where(d >= _number("3/20", d), d, d - d)
    return verified(t, d, kept, ratio(t, d)) + (d.sum() - kept.sum()) * t


BUGS: tuple[Bug, ...] = (
    Bug("M2", "a greedy draft verified against the softmax", _greedy_draft, sums=True),
    Bug("M3", "drafted after top-3, reported before", _filtered_draft),
    Bug("M4", "drafted at temperature 1/2, reported at 1", _colder_draft),
    Bug("M7", "the draft is emitted unverified", _unverified, sums=True),
    Bug("M11", "a rejection redraws from the target", _redrawn, sums=True),
    Bug("M12", "the draft is subtracted at the drafted token only", _at_the_drafted),
    Bug("M13", "the residual is drawn without noise", _likeliest_left),
    Bug("M14", "acceptance t(x)/max t", _over_the_largest, sums=True),
    Bug("M16", "a match or the ratio test is enough", _either, sums=True),
    Bug("M19", "a temperature of 1/2 is not applied to the target", _temperature_ignored, of_target=True),
    Bug("M22", "the target's likeliest token", _likeliest, of_target=True),
    Bug("M25", "sample and match, a mismatch is redrawn", _matched_or_redrawn),
    Bug("M26", "the target is zeroed at a greedy draft", _without_the_favourite),
    Bug("M48", "a lenience of 1/2 on the ratio", _lenient, sums=True),
    Bug("M48, constant", "a constant threshold of 0.3 in place of the coin", _constant),
    Bug("M49", "drafts below 3/20 discarded without renormalising", _discarded),
)
"""Bugs of the zoo whose first token has a closed form in the target and the draft alone; `audit.ZOO` tells where from.

M8, M10 and M15 emit what M7 does at one position; M6 what M2 does where laws go by position alone."""


def in_words(name: str) -> str:
    """Return what a suspect of a test does, its number after it; a suspect that is no known bug by its own name.

    >>> in_words("M11"), in_words("d/t to 1")
    ('a rejection redraws from the target (M11)', 'd/t to 1')
    """
    return next((f"{bug.cause} ({name})" for bug in BUGS if bug.name == name), name)


WITHOUT_DRAFT: tuple[Bug, ...] = tuple(bug for bug in BUGS if bug.of_target)
