"""The judge of generators: is the joint law of the first tokens, continued by the target, the target's?

Source: SpecTr, Theorem 3, for what the law of the first tokens is.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from fractions import Fraction
from itertools import zip_longest
from typing import Any

from spec_math.arrays import count, is_exact, storage
from spec_math.beside_the_coin import standing_still
from spec_math.block_level.conditionals import opening
from spec_math.block_level.emitted import (
    EmissionError,
    Generate,
    Text,
    checked_block,
    continued,
    is_over,
)
from spec_math.chance import Coin
from spec_math.every_path import BUDGET, NOT_OF_ITS_COIN, NOT_REPEATED, Program, Walked, repeats, walk
from spec_math.float_allowance import Allowance, Level, adding_up, cap, rounding, unit_of
from spec_math.language.model import Model
from spec_math.number_types import Symbol
from spec_math.verdict import Lossless, Lossy, Reason, Undecided, Verdict, judged
from spec_math.wording import counted


def check_lossless_block(
    generate: Generate,
    target_model: Model,
    horizon: int,
    rounds: int = 1,
    prefix: Sequence[int] = (),
    at_most: float | None = None,
) -> Verdict:
    """Decide whether a generator's tokens, continued by the target, have the target's joint law.

    The law: P(first `horizon` tokens after prefix = s) = Π t(s_i | prefix + s_<i) for every text s, over `rounds`
    blocks in a row. The first token alone shows little: a wrong bonus token or residual can leave it exact. With
    Fractions the verdict is exact; with floats it forgives what `float_allowance` derives, as `check_lossless` does. A
    generator that breaks (masses that are not a probability distribution, no token, a token out of range, tokens after
    the end, an exception on some paths) is Lossy, with its reason and path; else `tokens` is the text furthest off.
    Where all paths raise, a default generator of Python, NumPy or torch moves, rounding could explain a difference that
    is not forgiven, or a million paths decide nothing, it is Undecided; `asked_in_float64` asks again where that was
    rounding in a type coarser than float64.

    Raises:
        TypeError, ValueError: the target's laws are not probability distributions, horizon or rounds is not a positive
            integer. Never for what the generator does.

    Source: SpecTr, Theorem 3.

    >>> target = lambda prefix: [Fraction(1, 4), Fraction(3, 4)]
    >>> verdict = check_lossless_block(lambda coin, prefix: (coin.draw(target(prefix)),) * 2, target, 2)
    >>> verdict.tokens, verdict.emitted, verdict.target
    ((0, 0), Fraction(1, 4), Fraction(1, 16))
    """
    return standing_still(lambda: _judged(generate, target_model, (horizon, rounds), prefix, at_most))


def _judged(
    generate: Generate,
    target_model: Model,
    asked: tuple[int, int],
    prefix: Sequence[int],
    at_most: float | None,
) -> Verdict:
    """Judge so many tokens of so many blocks."""
    horizon, rounds = asked
    start, first = opening(target_model, prefix)
    gaps: list[float] = []
    wanted = continued({(): Fraction(1)}, target_model, count(horizon, "horizon"), start, gaps)
    run = _Rounds(generate, target_model, horizon, start)
    for _ in range(count(rounds, "rounds")):
        run.another()
        if run.fault is not None:
            return run.fault
    types = () if is_exact(first) else (storage(first),)
    bound = run.allowance(types, max(gaps, default=0.0), cap(types, at_most))
    emitted = continued(run.running, target_model, horizon, start)
    verdict = judged(emitted, wanted, bound, run.paths, run.unexplored)
    if isinstance(verdict, Lossy) and not run.repeats():
        return Undecided(Reason.NOT_JUDGED, f"{NOT_REPEATED}: {NOT_OF_ITS_COIN}")
    if isinstance(verdict, Undecided):
        return verdict
    kind = f"stored as {types[0]}" if types else "as Fractions"
    scope = f"the first {horizon} tokens of {counted(rounds, 'block')} after the prefix {start}, {kind}"
    if isinstance(verdict, Lossless):
        floats = ("the coins were handed floats, so that this is a verdict on floats",)
        verdict = replace(verdict, assumed=floats if verdict.bound and not types else ())
    return replace(verdict, scope=scope)


def asked_in_float64(
    verdict: Verdict, generate: Generate, target_model: Model, horizon: int, rounds: int = 1, prefix: Sequence[int] = ()
) -> Verdict:
    """Return a verdict on blocks, asked again of the same program in float64 where rounding left it undecided.

    The law: that of `check_lossless_block`. `generate` and `target_model` are the generator and the target that were
    judged, with their laws in float64 (`language.model.InFloat64`). What is wrong there is Lossy. What is right there
    was off by rounding alone, however much that was, and stays Undecided.

    Raises:
        TypeError, ValueError: as `check_lossless_block`.

    Source: our own.

    >>> left = Undecided(Reason.ROUNDING, "the total variation is 0.02, of which rounding explains 0.1")
    >>> target = lambda prefix: [0.25, 0.75]
    >>> asked_in_float64(left, lambda coin, prefix: (coin.draw([0.27, 0.73]),), target, 1).total_variation > 0.019
    True
    >>> asked_in_float64(left, lambda coin, prefix: (coin.draw(target(prefix)),), target, 1) is left
    True
    """
    if not isinstance(verdict, Undecided) or verdict.reason is not Reason.ROUNDING:
        return verdict
    found = check_lossless_block(generate, target_model, horizon, rounds, prefix)
    return (
        replace(found, reason=f"with the same laws as float64, {found.reason}") if isinstance(found, Lossy) else verdict
    )


class _Rounds:
    """The blocks of a generator after one another: what was emitted so far, {text: mass}, and how it was walked."""

    def __init__(self, generate: Generate, target_model: Model, horizon: int, start: Text) -> None:
        self._generate, self._horizon, self._start = generate, horizon, start
        self._end: int | None = getattr(target_model, "end", None)
        first = opening(target_model, start)[1]
        self._size, self._types = len(first), () if is_exact(first) else (storage(first),)
        self._walks: list[list[tuple[float, Walked, Program]]] = []
        self.running: dict[Text, Any] = {(): Fraction(1)}
        self.fault: Verdict | None = None
        self.unexplored: Any = Fraction(0)
        self.paths = 0
        self.left = BUDGET

    def another(self) -> None:
        """Walk one more block after each text that is not over; stop at a fault, or where the budget is spent."""
        after: dict[Text, Any] = {}
        self._walks.append([])
        for text, mass in self.running.items():
            if is_over(text, self._horizon, self._end):
                _add(after, text, mass)
                continue
            if self.left <= 0:
                self.unexplored += mass
                continue
            found = self._walked(text, mass)
            if self.fault is not None:
                return
            self.unexplored += mass * found.unexplored
            for block, share in found.masses.items():
                _add(after, (text + block)[: self._horizon], mass * share)
        self.running = after

    def _walked(self, text: Text, mass: Any) -> Walked:
        prefix = self._start + text

        def program(coin: Coin) -> Any:
            return _hashable(self._generate(coin, prefix))

        def broken(block: Any) -> Lossy | None:
            try:
                _ = checked_block(block, self._size, self._end)
            except EmissionError as error:
                return Lossy(f"after the prefix {prefix}: {error}")
            return None

        def said(error: BaseException) -> str:
            return f"after the prefix {prefix}: {type(error).__name__}: {error}"

        found = walk(program, broken, said, self.left, self._types)
        self.left -= found.paths
        self.paths += found.paths
        # From the second block on other paths have returned: an exception on all paths from here is one on some.
        self.fault = found.raised if found.raised is not None and len(self._walks) > 1 else found.fault
        share = 1.0 if isinstance(mass, Symbol) else float(mass)
        self._walks[-1].append((share, found, program))
        return found

    def allowance(self, types: tuple[str, ...], gap: float, at_most: float) -> Allowance:
        """Return what rounding explains: block by block, each level of coins with its reach after all texts.

        A block multiplies the ratios of its rows: what `gap` each row of the target is off by, and each law that a coin
        was handed, is carried along the path.
        """
        walks = [walked for block in self._walks for walked in block]
        unit = unit_of([*types, *(name for _, found, _ in walks for name in found.stored)])
        if not unit:
            return Allowance()
        lost = 0.0
        for block in self._walks:
            levels: list[Level] = []
            for share, found, _ in block:
                own = [Level(unit, off, share * reach) for _, off, reach in found.levels(unit, gap, carried=True)]
                levels = [_merged(*both) for both in zip_longest(levels, own, fillvalue=Level(unit, reach=0.0))]
            lost += rounding(levels, self._size)
        coins = sum(max((found.deepest for _, found, _ in block), default=0) for block in self._walks)
        return Allowance(lost, at_most, adding_up(self.paths, coins + self._horizon, self._size))

    def repeats(self) -> bool:
        """Say whether the blocks that were walked come out the same once more."""
        return all(repeats(program, found, self._types) for block in self._walks for _, found, program in block)


def _merged(one: Level, other: Level) -> Level:
    return Level(one.unit, max(one.gap, other.gap), one.reach + other.reach)


def _hashable(block: Any) -> Any:
    return tuple(block) if isinstance(block, list) else block


def _add(masses: dict[Text, Any], text: Text, mass: Any) -> None:
    masses[text] = masses[text] + mass if text in masses else mass
