"""A verdict is a value with its evidence: Lossless, Lossy or Undecided, Optimal or a bracket.

Source: lossless as in SpecTr, Section 3, valid transport plan; the judge is our own.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from spec_math.arrays import Array, asarray, count, is_exact, laws, storage, sum_gap
from spec_math.chance import Coin, Path, paths
from spec_math.float_allowance import UNIT, Allowance
from spec_math.scheme import Scheme, Tokens, draw_independent, is_index
from spec_math.verdict_values import (
    Bracket,
    Lossless,
    Lossy,
    Optimal,
    Reason,
    Undecided,
    Verdict,
    drafts_in_words,
)
from spec_math.worlds import as_text

__all__ = [
    "UNIT",
    "Allowance",
    "Bracket",
    "Lossless",
    "Lossy",
    "Optimal",
    "Reason",
    "Undecided",
    "Verdict",
    "Verifier",
    "check_lossless",
    "drafts_in_words",
    "judged",
]


def judged(
    emitted: Mapping[Any, Any],
    wanted: Mapping[Any, Any],
    bound: Allowance | float = 0.0,
    paths: int = 0,
    unexplored: Any = 0,
) -> Verdict:
    """Decide whether one law is another: the one judge of two laws, {outcome: mass}, tokens or texts.

    The law: Σ |emitted − wanted| / 2 ≤ bound. `bound` is what rounding explains, 0 where all is exact. What it exceeds
    the cap by is not forgiven: beyond the cap, and within what rounding explains, nothing is decided. `unexplored` is
    the mass of the paths that were not walked: then Σ (emitted − wanted)+ and that much more bracket the distance.
    An outcome that is an int is a token of the counterexample, a tuple a text.

    >>> judged({0: 0.5, 1: 0.5}, {0: 0.25, 1: 0.75}).total_variation
    0.25
    >>> judged({0: 0.5, 1: 0.5}, {0: 0.5, 1: 0.5}, 1e-9), judged({0: 0.6, 1: 0.4}, {0: 0.5, 1: 0.5}, 0.3).reason
    (Lossless(paths=0, bound=1e-09, drafts=()), <Reason.ROUNDING: 'rounding could explain it'>)
    """
    allowed = bound if isinstance(bound, Allowance) else Allowance(float(bound))
    zero = next(iter(wanted.values())) * 0
    outcomes = [*wanted, *(outcome for outcome in emitted if outcome not in wanted)]
    more = {outcome: emitted.get(outcome, zero) - wanted.get(outcome, zero) for outcome in outcomes}
    if unexplored:
        gaps = {outcome: max(zero, gap) for outcome, gap in more.items()}
        distance = sum(gaps.values(), zero)
    else:
        gaps = {outcome: abs(gap) for outcome, gap in more.items()}
        distance = sum(gaps.values(), zero) / 2
    if not distance <= allowed.rounding + allowed.measured:
        outcome = max(outcomes, key=gaps.__getitem__)
        ours, theirs = emitted.get(outcome, zero), wanted.get(outcome, zero)
        return _differing(outcome, (ours, theirs, distance), allowed, bool(unexplored))
    if distance + unexplored <= (allowed.forgiven - allowed.measured if allowed.measured else allowed.forgiven):
        return Lossless(paths, allowed.forgiven)
    if unexplored:
        return Undecided(
            Reason.BUDGET,
            f"{paths:,} paths left {float(unexplored):.3g} of the mass unexplored, and what they emit decides nothing; "
            "raise budget, or judge a smaller case",
        )
    return Undecided(
        Reason.ROUNDING,
        f"the total variation is {float(distance):.3g}, of which rounding in these number types explains "
        f"{allowed.rounding:.3g}; a verdict forgives {allowed.at_most:.3g} at most",
    )


def _differing(outcome: Any, found: tuple[Any, Any, Any], allowed: Allowance, partly: bool) -> Lossy:
    ours, theirs, distance = found
    single = not isinstance(outcome, tuple)
    said, more = f"token {outcome} is" if single else f"the tokens {outcome} are", "at least " if partly else ""
    rounded = f", of which rounding explains {allowed.rounding:.2g}" if allowed.rounding else ""
    return Lossy(
        f"{said} emitted with probability {more}{as_text(ours)} where the target has {as_text(theirs)} "
        f"(total variation {more}{as_text(distance)}{rounded})",
        token=outcome if single else None,
        tokens=None if single else outcome,
        emitted=ours,
        target=theirs,
        total_variation=distance,
    )


Verifier = Callable[[Coin, Tokens, Array, Array], int]


def check_lossless(verifier: Scheme | Verifier, target: Any, draft: Any, k: int = 1) -> Verdict:
    """Decide whether a verifier of one position emits the target's law, by walking every path of it.

    The law: Σ over drafts and coins of P(drafts) · P(emitted = y | drafts) = t(y) for every token y. A Scheme drafts as
    it says; a function verify(coin, tokens, target, draft) is given k i.i.d. drafts. Laws [V]; with Fractions the
    verdict is exact. A verifier that breaks (negative masses, masses that are no law, an exception, a token out of
    range) is Lossy, with its reason and path.

    Raises:
        TypeError, ValueError: target or draft is no law, or k no count. Never for what the verifier does.

    >>> def hopeful(coin, tokens, target, draft):
    ...     return tokens[0]
    >>> verdict = check_lossless(hopeful, ["1/4", "3/4"], ["1/2", "1/2"])
    >>> verdict.token, verdict.emitted, verdict.target
    (0, Fraction(1, 2), Fraction(1, 4))
    """
    t, d = laws(target, draft)
    if t.ndim != 1:
        raise ValueError(f"check_lossless judges one position, laws of shape [V]; got {tuple(t.shape)}")
    k = count(k)
    draw, verify = (verifier.draw, verifier.verify) if isinstance(verifier, Scheme) else (draw_independent, verifier)
    drafts: list[Tokens] = []
    # The verifier gets its laws in the type they are stored in, since it checks them against that type's bound.
    stored_target, stored_draft = asarray(target), asarray(draft)

    def program(coin: Coin) -> Any:
        tokens = draw(coin, _copy(stored_draft), k)
        drafts[:] = [tokens]
        # Fresh copies: a verifier that writes into its laws must not spoil the next path.
        return verify(coin, tokens, _copy(stored_target), _copy(stored_draft))

    unit = 0.0 if is_exact(t) else max(UNIT.get(storage(law), UNIT["float64"]) for law in (stored_target, stored_draft))
    gap = 0.0 if is_exact(t) else float(sum_gap(t)) + float(sum_gap(d))
    return _judged(program, t.tolist(), drafts, (unit, gap))


def _judged(
    program: Callable[[Coin], Any], target: list[Any], drafts: list[Tokens], rounding: tuple[float, float]
) -> Verdict:
    emitted: list[Any] = [mass - mass for mass in target]
    walked, depth = 0, 0
    walk = paths(program)
    while True:
        drafts.clear()
        try:
            path = next(walk)
        except StopIteration:
            break
        except Exception as error:  # whatever a verifier raises is evidence against it
            # A StopIteration arrives wrapped, as the cause of another exception.
            notes = getattr(error, "__notes__", None) or getattr(error.__cause__, "__notes__", ())
            place = tuple(note.removeprefix("on the path: ") for note in notes)
            return Lossy(f"{type(error).__name__} for the drafts {_shown(drafts)}: {error}", path=place)
        walked, depth = walked + 1, max(depth, len(path.choices))
        broken = _broken(path, len(target))
        if broken is not None:
            return broken
        emitted[int(path.outcome)] += path.mass
    bound = _float_bound(len(target), walked, depth, rounding)
    return judged(dict(enumerate(emitted)), dict(enumerate(target)), bound, walked)


def _broken(path: Path, size: int) -> Lossy | None:
    token: Any = path.outcome
    if not is_index(token):
        return Lossy(f"emitted {token!r}, which is no token index", path=path.choices)
    if not 0 <= token < size:
        return Lossy(f"emitted the token {token}, outside 0..{size - 1}", token=int(token), path=path.choices)
    return None


def _float_bound(size: int, walked: int, depth: int, rounding: tuple[float, float]) -> float:
    """Bound the rounding of an enumerated float program in total variation; 0 for an exact one.

    A coin's law is a quotient of sums of at most V masses: a relative error of V + 8 unit roundoffs at most. A residual
    of a residual inherits the error of the one before it, weighted by the chance to get there: the i-th coin adds at
    most i times as much, `depth` coins depth² times. Each coin also adds the gaps of the two laws' own sums. The masses
    of the paths are added one by one in float64.
    """
    unit, gap = rounding
    return depth * (depth * (size + 8) * unit + gap) + (walked * UNIT["float64"] if unit else 0.0)


def _copy(x: Array) -> Array:
    return x.copy() if isinstance(x, np.ndarray) else x.clone()


def _shown(drafts: list[Tokens]) -> str:
    return str(drafts[0]) if drafts else "(none drawn yet)"
