"""The paths that refute a verifier: as few as show that a text is more or less likely than under the target.

The problem: find a set of paths whose masses exceed the target's probability of a text, or of all other texts, by more
than rounding explains. Paths are taken by falling mass; the text and the side that need the fewest are chosen.
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from itertools import accumulate, islice
from typing import Any, NamedTuple

from spec_math.certificates import check_paths
from spec_math.certificates.check_paths import number
from spec_math.certificates.tree import Claim, Text, Way, masses_of
from spec_math.masses import as_list, by_outcome

MOST = 1_000_000
"""The most paths, over all blocks, among which the refuting ones are looked for."""

TRIED = 8
"""The texts furthest below the target for which the paths to all other texts are counted."""


class Run(NamedTuple):
    """A path over all blocks: its mass, its text, and the place of its path in the tree after each text."""

    mass: Fraction
    text: Text
    trail: tuple[tuple[Text, int], ...]


class Found(NamedTuple):
    """A side of some texts, and the paths that prove it."""

    texts: list[Text]
    side: str
    runs: Sequence[Run]


def refutation(claim: Claim) -> tuple[list[list[int]] | None, str, dict[Text, list[Way]], int]:
    """Return the texts and the side that paths refute, these paths for each text before a block, and the most coins.

    Where a path breaks, the texts and the side are None, and the path is shown with the paths that lead to its block.

    Raises:
        ValueError: no set of paths refutes it beyond what rounding explains, or there are too many.
    """
    runs, broken, coins, gap = _runs(claim)
    if broken is not None:
        return None, "more", _shown(claim, [broken]), coins
    if claim.broken:
        raise ValueError("the path that broke was not met again: the program is not a function of its coin")
    found = _fewest(claim, runs, coins, gap)
    return [list(text) for text in found.texts], found.side, _shown(claim, found.runs), coins


def _runs(claim: Claim) -> tuple[list[Run], Run | None, int, float]:
    """Walk all blocks; return every path over them, the first that breaks, and the most coins and gap of a block."""
    runs, coins, gap = [Run(Fraction(1), (), ())], 0, 0.0
    walks: dict[Text, list[tuple[Fraction, list[Any] | None, bool]]] = {}
    for _ in range(claim.header["rounds"]):
        after: list[Run] = []
        for run in runs:
            if claim.over(run.text):
                after.append(run)
                continue
            if run.text not in walks:
                kept = walks[run.text] = []
                for way in claim.ways(run.text):
                    kept.append((Fraction(way.mass), way.leaf, way.fault))
                    coins, gap = max(coins, way.coins), max(gap, way.gap)
                    if way.fault:
                        break
            for place, (mass, leaf, fault) in enumerate(walks[run.text]):
                if leaf is None:
                    continue
                longer = Run(run.mass * mass, run.text, (*run.trail, (run.text, place)))
                if fault:
                    return [], longer, coins, gap
                after.append(longer._replace(text=(run.text + tuple(leaf[1]))[: claim.header["horizon"]]))
            if len(after) > MOST:
                raise ValueError(f"more than {MOST:,} paths lead through the blocks; judge a smaller case")
        runs = after
    return runs, None, coins, gap


def _fewest(claim: Claim, runs: list[Run], coins: int, gap: float) -> Found:
    """Return the paths of the text and the side that need fewest."""
    spread = _Continuation(claim)
    wanted = spread.of(())
    emitted = by_outcome((text, run.mass * chance) for run in runs for text, chance in spread.of(run.text).items())
    gaps: dict[Any, Any] = {text: emitted.get(text, 0) - wanted.get(text, 0) for text in {**wanted, **emitted}}
    bound = claim.header["rounds"] * spread.explained(coins, gap)

    def heaviest(texts: list[Text], side: str) -> Found:
        """Return as many of the heaviest paths as exceed the target of some texts, or of all others, together."""

        def chance(law: dict[Text, Fraction]) -> Any:
            inside = sum(law[text] for text in texts if text in law)
            return inside if side == "more" else 1 - inside

        threshold = chance(wanted) + bound
        shares = [(run.mass * share, at) for at, run in enumerate(runs) if (share := chance(spread.of(run.text)))]
        parts = sorted(shares, reverse=True)
        sums = accumulate(mass for mass, _ in parts)
        needed = next(number for number, total in enumerate(sums, 1) if total > threshold)
        return Found(texts, side, [runs[place] for _, place in parts[:needed]])

    found = [heaviest([text], "more") for text, gap in gaps.items() if gap > bound]
    lowest = sorted(gaps, key=gaps.__getitem__)[:TRIED]
    found += [heaviest([text], "less") for text in lowest if -gaps[text] > bound]
    over = [text for text, gap in gaps.items() if gap > 0]
    if not found and sum((gaps[text] for text in over), Fraction(0)) > bound:
        found.append(heaviest(over, "more"))
    if not found:
        raise ValueError(f"no paths exceed the target by more than {float(bound):.3g}, which rounding may explain")
    return min(found, key=lambda one: len(one.runs))


def _shown(claim: Claim, runs: Sequence[Run]) -> dict[Text, list[Way]]:
    """Walk the trees again, and return the paths that are shown."""
    places: dict[Text, set[int]] = {}
    for run in runs:
        for text, place in run.trail:
            places.setdefault(text, set()).add(place)
    shown: dict[Text, list[Way]] = {}
    for text, chosen in places.items():
        ways = islice(claim.ways(text), max(chosen) + 1)
        shown[text] = [way for place, way in enumerate(ways) if place in chosen]
    return shown


class _Continuation:
    """The target's distribution of the texts of the horizon that begin with a text, kept for each."""

    def __init__(self, claim: Claim) -> None:
        self._claim = claim
        self._known: dict[Text, dict[Text, Fraction]] = {}
        gaps = (abs(sum(map(number, masses_of(row))) - 1) for row in claim.draft.values())
        self._gap = max(gaps, default=Fraction(0))

    def of(self, text: Text) -> dict[Text, Fraction]:
        """Return {longer text: probability}."""
        if text not in self._known:
            if self._claim.over(text):
                self._known[text] = {text: Fraction(1)}
            else:
                row = [number(mass) for mass in masses_of(self._claim.target(text))]
                self._gap = max(self._gap, abs(sum(row) - 1))
                self._known[text] = {
                    longer: chance * mass / sum(row)
                    for token, mass in enumerate(row)
                    if mass
                    for longer, chance in self.of((*text, token)).items()
                }
        return self._known[text]

    def explained(self, coins: int, gap: float) -> Any:
        """Return what rounding explains in one block, as the checker adds it up, or a little more."""
        a = check_paths.TYPES[self._claim.header["numbers"]][0]
        unit, off = (Fraction(1, a), Fraction(gap) + Fraction(1, 2**50)) if a else (Fraction(0), Fraction(0))
        size = len(as_list(self._claim.target(())))
        return check_paths.explained(unit, size, coins, 2 * (self._gap + unit), off)
