"""What to draft and how to verify it, in words, with how far the samples can be trusted.

Source: our own.
"""

from __future__ import annotations

from collections.abc import Sequence

from spec_math.studies.frontier.comparison import Frontier, Point
from spec_math.studies.frontier.ways import TREES


def advice(found: Sequence[Frontier]) -> list[str]:
    """Say what to take in each regime, and where along the temperatures the kind of drafts changes.

    >>> advice([])
    []
    """
    said = [of_regime(one) for one in found]
    for name in dict.fromkeys(one.regime.name for one in found):
        said += _crossing([one for one in found if one.regime.name == name])
    return said


def of_regime(found: Frontier) -> str:
    """Say what to take in one regime: the fastest method, its shape, what is left to the bound, and the runner-up.

    >>> of_regime.__name__
    'of_regime'
    """
    best = found.fastest[0]
    low, high = best.tokens.interval
    return (
        f"{found.regime.title}: draft {best.shape}, verify with {best.method.name}: {best.tokens.value:.2f} tokens "
        f"a call ({low:.2f} to {high:.2f} with {best.tokens.confidence:.0%}), {best.speed_up:.2f} times plain "
        f"decoding at these costs; {_bound(best)}; {_runner_up(best, found.fastest)}."
    )


def _bound(best: Point) -> str:
    if best.bound is None or best.share is None:
        return "no bound is known for such drafts"
    if best.share >= 1:
        # Both are sampled, on drafts of their own.
        return (
            f"no verifier of such drafts exceeds {best.bound.value:.2f} ± {best.bound.error:.2f}, from which the "
            "speed-up is counted, as the sample lies above it"
        )
    return f"no verifier of such drafts exceeds {best.bound.value:.2f} ± {best.bound.error:.2f}"


def _runner_up(best: Point, points: Sequence[Point]) -> str:
    other = next((point for point in points[1:]), None)
    if other is None:
        return "nothing else was compared"
    apart = other.speed_up * (1 + 2 * other.tokens.error / other.tokens.value) < best.speed_up * (
        1 - 2 * best.tokens.error / best.tokens.value
    )
    return (
        f"next is {other.method.name} with {other.shape}, {other.speed_up:.2f} times, "
        f"{'two standard errors apart' if apart else 'which these samples do not tell apart'}"
    )


def _crossing(found: Sequence[Frontier]) -> list[str]:
    """Say from which temperature on trees are faster than drawn chains, or the reverse."""
    ordered = sorted(found, key=lambda one: -one.regime.temperature)
    kinds = [one.fastest[0].method.drafts is TREES for one in ordered]
    changes = [place for place in range(1, len(kinds)) if kinds[place] != kinds[place - 1]]
    if len(ordered) < 2:
        return []
    name = ordered[0].regime.name
    if not changes:
        kind = "a chosen tree" if kinds[0] else "drawn chains"
        span = f"{ordered[-1].regime.temperature:g} to {ordered[0].regime.temperature:g}"
        return [f"{name}: {kind} at every temperature from {span}."]
    place = changes[0]
    point = ordered[place].fastest[0]
    above, below = ordered[place - 1].regime.temperature, ordered[place].regime.temperature
    return [
        f"{name}: somewhere between the temperatures {above:g} and {below:g} the answer changes: from {below:g} "
        f"downwards take {point.method.name} with {point.shape}."
    ]
