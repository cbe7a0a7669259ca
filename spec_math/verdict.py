"""Judge of one position: does a verifier emit the target's distribution?

Source: lossless as in SpecTr, Section 3, valid transport plan.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Any

from spec_math.arrays import Array, as_laws, asarray, copied, count, divided_in_float64, is_exact, storage, sum_gap
from spec_math.chance import Coin
from spec_math.every_path import BUDGET, OFTEN, UNREPEATED, UNWALKED, Walked, repeats, standing_still, walk
from spec_math.float_allowance import UNIT as UNIT
from spec_math.float_allowance import Allowance as Allowance
from spec_math.float_allowance import adding_up, cap, rounding, unit_of
from spec_math.masses import divided, possible
from spec_math.number_types import as_text
from spec_math.scheme import Scheme, Tokens, draw_independent, is_index
from spec_math.verdict_values import Bracket as Bracket
from spec_math.verdict_values import Lossless as Lossless
from spec_math.verdict_values import Lossy as Lossy
from spec_math.verdict_values import Optimal as Optimal
from spec_math.verdict_values import Reason as Reason
from spec_math.verdict_values import Undecided as Undecided
from spec_math.verdict_values import Verdict as Verdict
from spec_math.verdict_values import drafts_in_words as drafts_in_words


def judged(
    emitted: Mapping[Any, Any],
    wanted: Mapping[Any, Any],
    bound: Allowance | float = 0.0,
    paths: int = 0,
    unexplored: Any = 0,
    endless: str = "",
) -> Verdict:
    """Decide whether one law is another: the one judge of two laws, {outcome: mass}, tokens or texts.

    The law: Σ |emitted − wanted| / 2 ≤ bound. `bound` is what rounding explains, 0 where all is exact. What it exceeds
    the cap by is not forgiven: beyond the cap, and within what rounding explains, nothing is decided. `unexplored` is
    the mass of the paths that were not walked: then Σ (emitted − wanted)+ and that much more bracket the distance. What
    was left out of the law that was found (`Allowance.left_out`) may hide as much: it counts against Lossless too.
    Where a program has paths without end (`endless`), `UNWALKED` of unexplored mass is forgiven, and told as the bound.
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
    if not distance <= allowed.explained:
        outcome = max(outcomes, key=gaps.__getitem__)
        ours, theirs = emitted.get(outcome, zero), wanted.get(outcome, zero)
        return _differing(outcome, (ours, theirs, distance), allowed, bool(unexplored))
    most = distance + unexplored + allowed.left_out if allowed.left_out else distance + unexplored
    if most <= (allowed.forgiven - allowed.measured if allowed.measured else allowed.forgiven):
        return Lossless(paths, allowed.forgiven)
    if unexplored:
        if endless and unexplored <= UNWALKED:
            looped = f"it may loop: paths of total probability {float(unexplored):.2g} were not followed"
            return Lossless(paths, float(distance + unexplored) + allowed.forgiven, assumed=(looped,))
        cure = f"{endless}; bound the program's loop" if endless else "raise budget, or judge a smaller case"
        left = f"{paths:,} paths left {float(unexplored):.3g} of the mass unexplored"
        return Undecided(Reason.BUDGET, f"{left}, and the rest does not decide; {cure}")
    if allowed.left_out:
        return Undecided(
            Reason.ROUNDING,
            f"the total variation is {float(distance):.3g} without the small numbers that keep a logarithm finite; "
            f"they change the distribution by up to {allowed.left_out:.3g}, and a verdict tolerates "
            f"{allowed.forgiven:.3g}; make them smaller",
        )
    return Undecided(
        Reason.ROUNDING,
        f"the total variation is {float(distance):.3g}; rounding in these number types explains up to "
        f"{allowed.rounding:.3g}, and a verdict tolerates {allowed.at_most:.3g} at most",
    )


def _differing(outcome: Any, found: tuple[Any, Any, Any], allowed: Allowance, partly: bool) -> Lossy:
    ours, theirs, distance = found
    single = not isinstance(outcome, tuple)
    said = f"token {outcome} is" if single else f"the tokens {outcome} are"
    rounded = f"; rounding explains at most {allowed.rounding:.2g}" if allowed.rounding else ""
    shown = [f"at least {float(value):.6g}" if partly else as_text(value) for value in (ours, distance)]
    return Lossy(
        f"{said} emitted with probability {shown[0]} where the target has {as_text(theirs)} "
        f"(total variation {shown[1]}{rounded})",
        token=outcome if single else None,
        tokens=None if single else outcome,
        emitted=ours,
        target=theirs,
        total_variation=distance,
    )


Verifier = Callable[[Coin, Tokens, Array, Array], int]

NUMBERS = (1, 2, 3)
"""The numbers of drafts that a verifier is judged for where none is asked for."""

LUCKY = 8
"""A law on so few paths, that is the target's though the coin is asked for drafts alone, is walked again so often."""

UNASKED = 20_000
"""The paths, as foreseen, up to which it is judged for a number of drafts that nobody asked for."""


def check_lossless(
    verifier: Scheme | Verifier,
    target: Any,
    draft: Any,
    k: int | None = None,
    at_most: float | None = None,
    budget: int = BUDGET,
) -> Verdict:
    """Decide whether a verifier of one position emits the target's law, by walking every path of it.

    The law: Σ over drafts and coins of P(drafts) · P(emitted = y | drafts) = t(y) for every token y. A Scheme drafts as
    it says; a function verify(coin, tokens, target, draft) is given k i.i.d. drafts: 1, then 2 and 3 where k is None
    and it takes them. Laws [V]; with Fractions the verdict is exact, with floats it forgives what `float_allowance`
    derives, at most 1e-4 in total variation (1e-2 for laws in half precision), or `at_most` if that is less.

    Negative masses, masses that are not a probability distribution, an exception on some paths, a token out of range
    are Lossy, with the path. Where every path raises, where rounding could explain a difference beyond what is
    forgiven, where a default generator of Python, NumPy or torch moves, or more than `budget` paths would have to be
    walked, the verdict is Undecided.

    Raises:
        TypeError, ValueError: target or draft is not a probability distribution, k or budget no count, at_most no total
            variation. Never for what the verifier does.

    >>> def hopeful(coin, tokens, target, draft):
    ...     return tokens[0]
    >>> verdict = check_lossless(hopeful, ["1/4", "3/4"], ["1/2", "1/2"])
    >>> verdict.token, verdict.emitted, verdict.target
    (0, Fraction(1, 2), Fraction(1, 4))
    """
    t, _ = as_laws(target, draft)
    if t.ndim != 1:
        raise ValueError(f"check_lossless judges one position, distributions of shape [V]; got {tuple(t.shape)}")
    # The verifier gets its laws in the type they are stored in, since it checks them against that type's bound.
    stored = asarray(target), asarray(draft)
    types = () if is_exact(t) else tuple({storage(law) for law in stored})
    asked = _Question(verifier, stored, types, cap(types, at_most), count(budget, "budget"))
    fixed = verifier.drafts if isinstance(verifier, Scheme) else None
    if k is not None or fixed is not None:
        number = count(k) if k is not None else count(fixed)
        return standing_still(lambda: asked.answered(number, fixed))
    return standing_still(asked.merged)


@dataclass(frozen=True)
class _Question:
    """A verifier on a pair of laws [V], stored in `types`, with what is forgiven and how many paths may be walked."""

    verifier: Scheme | Verifier
    laws: tuple[Array, Array]
    types: tuple[str, ...]
    at_most: float
    budget: int
    bits: list[int] | None = None

    def answered(self, k: int, fixed: int | None = None) -> Verdict:
        """Judge the verifier for k drafts; a scheme whose number is fixed ignores k."""
        return self.told(self._judged(k)[0], fixed or k)

    def told(self, verdict: Verdict, k: int) -> Verdict:
        """Write into a verdict what it covers."""
        if isinstance(verdict, Undecided):
            return replace(verdict, drafts=(k,))
        said = replace(verdict, drafts=(k,), scope=self._scope())
        return replace(said, assumed=self._assumed(said)) if isinstance(said, Lossless) else said

    def merged(self) -> Verdict:
        """Judge the verifier for 1, 2 and 3 drafts, as far as it takes them, and return one verdict."""
        lossless: list[Lossless] = []
        left: list[tuple[str, Verdict]] = []
        support = sum(map(possible, divided(self.laws[1])))
        for k in NUMBERS:
            foreseen = lossless[-1].paths * support if lossless else 0
            if foreseen > UNASKED:
                why = f"about {foreseen:,} paths; ask with k = {k}"
                left.append((f"{k} ({why})", Undecided(Reason.BUDGET, why, drafts=(k,))))
                continue
            verdict, raised = self._judged(k)
            verdict = self.told(verdict, k)
            if isinstance(verdict, Lossless):
                lossless.append(verdict)
            elif raised and isinstance(verdict, Undecided):
                left.append((f"{k} ({verdict.explanation})", verdict))
            elif raised and lossless and isinstance(verdict, Lossy):
                # Nobody asked for so many drafts.
                why = f"{verdict.reason}; other paths return, and it is lossless for fewer drafts: ask with k = {k}"
                return Undecided(Reason.NOT_JUDGED, why, verdict.path, (k,))
            else:
                return verdict
        if not lossless:
            return left[0][1]
        return replace(
            lossless[0],
            paths=sum(verdict.paths for verdict in lossless),
            bound=max(verdict.bound for verdict in lossless),
            drafts=tuple(number for verdict in lossless for number in verdict.drafts),
            not_judged=tuple(why for why, _ in left),
            assumed=max((verdict.assumed for verdict in lossless), key=len),
            evidence=tuple(make for verdict in lossless for make in verdict.evidence),
        )

    def _judged(self, k: int) -> tuple[Verdict, bool]:
        """Return the verdict for k drafts, and whether it rests on an exception that is not about masses."""
        target, draft = self.laws
        ours = self.verifier
        draw, verify = (ours.draw, ours.verify) if isinstance(ours, Scheme) else (draw_independent, ours)
        drafts: list[Tokens] = []

        def program(coin: Coin) -> Any:
            drafts.clear()
            drafts.append(draw(coin, copied(draft), k))
            # Fresh copies: a verifier that writes into its laws must not spoil the next path.
            return verify(
                coin if self.bits is None else _noting(coin, self.bits), drafts[0], copied(target), copied(draft)
            )

        def said(error: BaseException) -> str:
            shown = str(drafts[0]) if drafts else "(none drawn yet)"
            return raised_in_words(error, f"for the drafts {shown}")

        size = len(target)
        found = walk(program, lambda token: _broken(token, size), said, self.budget, self.types, closed=True)
        if found.fault is not None:
            by_raising = found.raised is not None and (
                found.fault is found.raised or not isinstance(found.fault, Lossy)
            )
            return self._shown(found.fault, k, found), by_raising
        wanted = dict(enumerate(divided(target)))
        emitted = {int(token): mass for token, mass in found.masses.items()}
        verdict = judged(emitted, wanted, self._allowed(found, k if draw is draw_independent else 0), *found.walked)
        # What asks its coin for nothing may decide by random numbers that are not seen, and be right by luck.
        lucky = isinstance(verdict, Lossless) and found.paths <= LUCKY and found.deepest <= k
        often = LUCKY if lucky else OFTEN
        if (lucky or isinstance(verdict, Lossy)) and not repeats(program, found, self.types, True, often):
            verdict = Undecided(Reason.NOT_JUDGED, UNREPEATED)
        return self._in_float64(self._shown(verdict, k, found), k), False

    def _shown(self, verdict: Verdict, k: int, found: Walked) -> Verdict:
        """Let a verdict carry what its certificate needs."""
        if isinstance(verdict, Undecided):
            return verdict
        broken = isinstance(verdict, Lossy) and verdict.total_variation is None
        walked = found.stored, found.least, bool(verdict), broken, found.paths

        def certificate() -> Any:
            from spec_math.certificates.judged import Walk, position_certificate

            return position_certificate(self.verifier, self.laws, self.types, k, Walk(*walked))

        return replace(verdict, evidence=(certificate,))

    def _in_float64(self, verdict: Verdict, k: int) -> Verdict:
        """Ask again for the same laws, stored as float64 and divided by their sums: there rounding explains nothing.

        What is wrong there is lossy, unless its numbers look rounded. What is right there was off by rounding.
        """
        rounded = isinstance(verdict, Undecided) and verdict.reason is Reason.ROUNDING
        if (isinstance(verdict, Undecided) and not rounded) or self.types in ((), ("float64",)):
            return verdict
        from spec_math.recording import finer_in_words  # float64 is asked for what coarser types leave open

        bits: list[int] = []
        in_float64 = replace(self, laws=tuple(map(divided_in_float64, self.laws)), types=("float64",), bits=bits)
        finer, _ = in_float64._judged(k)
        if isinstance(verdict, Lossy):
            if not isinstance(finer, Lossless):
                return verdict
            return Undecided(Reason.ROUNDING, f"{verdict.reason}; with the same masses as float64 it is lossless")
        if isinstance(finer, Lossless):
            return verdict
        if isinstance(finer, Lossy):
            return finer_in_words(finer, [] if rounded else bits)
        return verdict if rounded else replace(finer, explanation=f"with the masses as float64, {finer.explanation}")

    def _allowed(self, found: Walked, exact_draws: int) -> Allowance:
        """Return what rounding explains; drafts that are drawn from the draft law as it is stored lose nothing."""
        unit = unit_of([*self.types, *found.stored])
        if not unit:
            return Allowance()
        size = len(self.laws[0])
        gap = sum(float(sum_gap(law)) for law in self.laws) if self.types else 0.0
        lost = rounding(found.levels(unit, gap)[exact_draws:], size)
        return Allowance(lost, self.at_most, adding_up(found.paths, found.deepest, size))

    def _scope(self) -> str:
        kind = f"stored as {' and '.join(sorted(self.types))}" if self.types else "as Fractions"
        return f"one pair of distributions on {len(self.laws[0])} tokens, {kind}"

    def _assumed(self, verdict: Lossless) -> tuple[str, ...]:
        drafted = "the scheme" if isinstance(self.verifier, Scheme) else "the judge, independently from the draft"
        floats = "the program passed floats to its coin, so the verdict is about floats"
        told = verdict.assumed or ((floats,) if verdict.bound and not self.types else ())
        return (f"drafts are drawn by {drafted}", *told)


def _noting(coin: Coin, bits: list[int]) -> Coin:
    from spec_math.recording import NotingBits

    return NotingBits(coin, bits)


def _broken(token: Any, size: int) -> Lossy | None:
    if not is_index(token):
        return Lossy(f"emitted {token!r}, which is not a token index")
    if not 0 <= token < size:
        return Lossy(f"emitted the token {token}, outside 0..{size - 1}", token=int(token))
    return None


OF_THE_CODE = (NameError, TypeError, AttributeError, ImportError, SyntaxError)
"""Exceptions that speak of a function's code, and not of the numbers that it was given."""


def raised_in_words(error: BaseException, where: str) -> str:
    """Say what a program raised; an error of its code comes with the line that raises it."""
    if not isinstance(error, OF_THE_CODE):
        return f"{type(error).__name__} {where}: {error}"
    traceback = error.__traceback__
    while traceback is not None and traceback.tb_next is not None:
        traceback = traceback.tb_next
    if traceback is None:
        return f"its code fails with {type(error).__name__}: {error} ({where})"
    code = traceback.tb_frame.f_code
    file = code.co_filename.rpartition("/")[2]
    place = f"{code.co_name}, {file}, line {traceback.tb_lineno}"
    return f"its code fails with {type(error).__name__} in {place}: {error} ({where})"
