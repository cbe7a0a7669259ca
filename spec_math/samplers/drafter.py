"""The drafter's contract: a drafted token is sampled from the law that is reported with it."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from spec_math.arrays import as_law as checked
from spec_math.arrays import asarray, is_exact, storage, sum_gap
from spec_math.chance import Coin, law
from spec_math.float_allowance import Allowance, cap, drawing
from spec_math.masses import by_outcome
from spec_math.pathwise.atom import ExploreError
from spec_math.pathwise.exploration import Partial, explore
from spec_math.verdict import Lossy, Reason, Undecided, Verdict, judged

Reported = tuple[int | None, tuple[Any, ...], str]
"""A token, the law reported with it, and the floating type that this is stored in, "" for Fractions."""


def check_drafter(drafter: Callable[[], tuple[int | None, Any]], **options: Any) -> Verdict:
    """Decide whether a drafter, explored as it is, samples its token from the law [V] that it reports with it.

    The law: P(token = x | the reported law is r) = r(x) for every r that it reports. A greedy draft reported as one-hot
    keeps it, and so does a sampled one reported as one-hot at its token; a greedy draft reported as a softmax does not.
    A drafter may return None for "no draft"; the law is then that of the tokens which it does draft.
    `options` are those of `explore`. Where the masses are floats, the verdict allows what the reported law's own sum is
    off by, as drawing divides by it, and a rounding of each mass. Where the budget of paths is spent, or the randomness
    cannot be followed, it is Undecided.

    >>> import random
    >>> check_drafter(lambda: (random.choices([0, 1], [1, 3])[0], ["1/2", "1/2"])).token
    0
    """

    def run() -> Reported:
        return _shown(drafter())

    try:
        found = explore(run, **options)
    except ExploreError as error:
        return Undecided(Reason.RANDOMNESS_NOT_SEEN, str(error))
    if isinstance(found, Partial):
        left = f"{found.paths:,} paths left {float(found.unexplored):.3g} of the mass unexplored"
        return Undecided(Reason.BUDGET, f"{left}; raise the budget")
    return _judged(found, found.paths, float(found.ignored))


def check_drafter_program(drafter: Callable[[Coin], tuple[int | None, Any]]) -> Verdict:
    """Decide the same of a drafter that is a program against a coin, coin -> (token, reported law [V]).

    Raises:
        ChanceError: the program asks its coin for what is not a chance.

    >>> from fractions import Fraction
    >>> bool(check_drafter_program(lambda coin: (coin.draw([Fraction(1, 2)] * 2), ["1/2", "1/2"])))
    True
    """
    masses = law(lambda coin: _shown(drafter(coin)))
    return _judged(masses, len(masses))


def _shown(answer: tuple[int | None, Any]) -> Reported:
    token, reported = answer
    row = checked(reported, "reported distribution")
    return token, tuple(row.tolist()), "" if is_exact(row) else storage(asarray(reported))


def _judged(masses: Mapping[Reported, Any], paths: int, ignored: float = 0.0) -> Verdict:
    drafted = [(token, row, kind, mass) for (token, row, kind), mass in masses.items() if token is not None]
    for token, row, *_ in drafted:
        if not 0 <= token < len(row):
            return Lossy(f"drafted the token {token}, outside 0..{len(row) - 1}", token=token)
    emitted = by_outcome(((token, row), mass) for token, row, _, mass in drafted)
    shares = by_outcome((row, mass) for _, row, _, mass in drafted)
    types = {row: kind for _, row, kind, _ in drafted}
    wanted = {(token, row): share * mass for row, share in shares.items() for token, mass in enumerate(row)}
    if not wanted:
        return Undecided(Reason.NOT_JUDGED, "it never drafts a token")
    floats = [(row, kind, float(sum_gap(checked(list(row))))) for row, kind in types.items() if kind]
    lost = sum(float(shares[row]) * drawing(len(row), kind, off) for row, kind, off in floats)
    verdict = judged(emitted, wanted, Allowance(lost, cap(types.values()), left_out=ignored), paths)
    if not isinstance(verdict, Lossy):
        return verdict
    outcome = max(wanted, key=lambda one: abs(emitted.get(one, 0) - wanted[one]))
    (token, row), share = outcome, shares[outcome[1]]
    drafted = emitted.get(outcome, 0) / share
    return Lossy(
        f"token {token} is drafted with probability {drafted} where the distribution reported with it has {row[token]} "
        f"(total variation {verdict.total_variation}); report the distribution that the token was sampled from",
        token=token,
        emitted=drafted,
        target=row[token],
        total_variation=verdict.total_variation,
    )
