"""What to draft and how to verify it, in words, with how far the samples can be trusted.

Source: our own.
"""

from __future__ import annotations

from collections.abc import Sequence

from spec_math.studies.frontier.comparison import Frontier, Point
from spec_math.studies.frontier.ways import TREES
from spec_math.wording import listed


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

    >>> from spec_math.studies.frontier.comparison import Asked, Costs, compare
    >>> from spec_math.studies.frontier.regime import drafting_itself
    >>> from spec_math.studies.progress import no_progress
    >>> asked = Asked((2,), Costs(), 12)
    >>> found = compare(drafting_itself([0.5, 0.5]), asked, no_progress)
    >>> of_regime(found).partition(" tokens")[0]
    'one law, temperature 1: draft one chain of 2, verify with one chain, token by token: 3.00 (1.89 to 3.00)'
    """
    best = found.fastest[0]
    taken = f"draft {best.shape}, verify with {best.method.name}"
    if best.speed_up < 1:
        taken = f"draft nothing, which is faster at these costs than any method here; the fastest is to {taken}"
    return (
        f"{found.regime.title}: {taken}: {best.tokens} tokens a "
        f"call, with {best.tokens.confidence:.0%}, and {best.speed_up:.2f} times plain "
        f"decoding at these costs; {_bound(best)}; {_runner_up(best, found.fastest)}."
    )


def _bound(best: Point) -> str:
    if best.bound is None:
        return "no bound is known for such drafts"
    if best.lucky:
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
    return (
        f"next is {other.method.name} with {other.shape}, {other.speed_up:.2f} times, "
        f"{'two standard errors apart' if _apart(best, other) else 'which these samples do not tell apart'}"
    )


def _apart(best: Point, other: Point) -> bool:
    """Say whether the speed-ups of two methods are more than two standard errors of either apart."""
    return other.speed_up * (1 + 2 * other.tokens.error / other.tokens.value) < best.speed_up * (
        1 - 2 * best.tokens.error / best.tokens.value
    )


def _crossing(found: Sequence[Frontier]) -> list[str]:
    """Say at which temperatures chosen trees are faster than drawn drafts, and where these samples tell them apart."""
    ordered = sorted(found, key=lambda one: -one.regime.temperature)
    if len(ordered) < 2:
        return []
    name, heats = ordered[0].regime.name, [one.regime.temperature for one in ordered]
    trees = [one.fastest[0].method.drafts is TREES for one in ordered]
    changes = [place for place in range(1, len(trees)) if trees[place] != trees[place - 1]]
    if not changes:
        said = f"{_kind(trees[0])} at every temperature from {heats[-1]:g} to {heats[0]:g}"
    else:
        said = "; ".join(
            f"somewhere between the temperatures {heats[place - 1]:g} and {heats[place]:g} the answer changes: from "
            f"{heats[place]:g} downwards take {ordered[place].fastest[0].method.name} with "
            f"{ordered[place].fastest[0].shape}"
            for place in changes
        )
    return [f"{name}: {said}. {_told_apart(ordered)}"]


def _kind(trees: bool) -> str:
    return "a chosen tree" if trees else "drawn drafts"


def _told_apart(ordered: Sequence[Frontier]) -> str:
    """Say at which temperatures the best chosen tree and the best drawn drafts are two standard errors apart."""
    sure: dict[bool, list[str]] = {True: [], False: []}
    for one in ordered:
        best = one.fastest[0]
        other = next(
            (point for point in one.fastest if (point.method.drafts is TREES) != (best.method.drafts is TREES)), None
        )
        if other is not None:
            sure[_apart(best, other)].append(f"{one.regime.temperature:g}")
    told, open_ = listed(sure[True]), listed(sure[False])
    parts = [f"two standard errors apart at {told}"] if told else []
    parts += [f"not told apart by these samples at {open_}"] if open_ else []
    return f"Chosen trees and drawn drafts are {', and '.join(parts)}." if parts else "Only one of them was compared."
