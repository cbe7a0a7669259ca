"""The drafter's side of the contract: the law that it reports is the law that its token was sampled from.

Source: worked out here, after issues of engines that the zoo names.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from spec_math.arrays import is_exact, sum_gap
from spec_math.arrays import law as checked
from spec_math.audit.exploration.atom import ExploreError
from spec_math.audit.exploration.explore import Partial, explore
from spec_math.chance import Coin, law
from spec_math.verdict import UNIT, Lossless, Lossy

Reported = tuple[int | None, tuple[Any, ...]]


def check_drafter(drafter: Callable[[], tuple[int | None, Any]], **options: Any) -> Lossless | Lossy:
    """Decide whether a drafter, explored as it is, samples its token from the law [V] that it reports with it.

    The law: P(token = x | the reported law is r) = r(x) for every r that it reports. A greedy draft reported as one-hot
    keeps it, and so does a sampled one reported as one-hot at its token; a greedy draft reported as a softmax does not.
    A drafter may return None for "no draft"; the law is then that of the tokens which it does draft.
    `options` are those of `explore`. Where the masses are floats, the verdict allows what the reported law's own sum is
    off by, as drawing divides by it, and a rounding of each mass.

    Raises:
        ExploreError: as `explore`; or the budget of paths ran out.

    >>> import random
    >>> check_drafter(lambda: (random.choices([0, 1], [1, 3])[0], ["1/2", "1/2"])).token
    0
    """

    def run() -> Reported:
        return _shown(drafter())

    found = explore(run, **options)
    if isinstance(found, Partial):
        raise ExploreError(f"{found.paths} paths left {found.unexplored} of the mass unexplored; raise budget")
    return _judged(found, found.paths, found.ignored)


def check_drafter_program(drafter: Callable[[Coin], tuple[int | None, Any]]) -> Lossless | Lossy:
    """Decide the same of a drafter that is a program against a coin, coin -> (token, reported law [V]).

    Raises:
        ChanceError: the program asks its coin for what is no chance.

    >>> from fractions import Fraction
    >>> bool(check_drafter_program(lambda coin: (coin.draw([Fraction(1, 2)] * 2), ["1/2", "1/2"])))
    True
    """
    masses = law(lambda coin: _shown(drafter(coin)))
    return _judged(masses, len(masses))


def _shown(answer: tuple[int | None, Any]) -> Reported:
    token, reported = answer
    return token, tuple(checked(reported, "reported law").tolist())


def _judged(masses: Mapping[Reported, Any], paths: int, slack: float = 0.0) -> Lossless | Lossy:
    given: dict[tuple[Any, ...], dict[int, Any]] = {}
    for (token, reported), mass in masses.items():
        if token is None:
            continue
        tokens = given.setdefault(reported, {})
        tokens[token] = tokens.get(token, 0) + mass
    distance, worst = 0, None
    for reported, tokens in given.items():
        share = sum(tokens.values())
        strays = [token for token in tokens if not 0 <= token < len(reported)]
        if strays:
            return Lossy(f"drafted the token {strays[0]}, outside 0..{len(reported) - 1}", token=strays[0])
        gaps = [abs(tokens.get(token, 0) - share * wanted) for token, wanted in enumerate(reported)]
        distance = distance + sum(gaps) / 2
        token = max(range(len(gaps)), key=gaps.__getitem__)
        if worst is None or gaps[token] > worst[0]:
            worst = gaps[token], token, tokens.get(token, 0) / share, reported[token]
        if not is_exact(row := checked(list(reported))):
            slack += float(share) * (float(sum_gap(row)) + len(reported) * UNIT["float64"])
    if worst is None or distance <= slack:
        return Lossless(paths, slack)
    _, token, drafted, wanted = worst
    return Lossy(
        f"token {token} is drafted with probability {drafted} where the law reported with it has {wanted} "
        f"(total variation {distance}); report the law that the token was sampled from",
        token=token,
        emitted=drafted,
        target=wanted,
        total_variation=distance,
    )
