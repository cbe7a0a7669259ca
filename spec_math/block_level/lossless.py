"""The judge of generators: is the joint law of the first tokens, continued by the target, the target's?

Source: SpecTr, Theorem 3, for what the law of the first tokens is.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from fractions import Fraction
from functools import partial
from itertools import zip_longest
from typing import Any

from spec_math.arrays import count, is_exact, storage, sum_gap
from spec_math.block_level.conditionals import conditional, opening
from spec_math.chance import Coin, Path, paths, possible
from spec_math.every_path import BUDGET, UNREPEATED, Program, Walked, repeats, standing_still, walk
from spec_math.float_allowance import Allowance, Level, adding_up, cap, rounding, unit_of
from spec_math.language.model import Model
from spec_math.masses import by_outcome, divided
from spec_math.number_types import Symbol
from spec_math.recording import NotingBits, finer_in_words
from spec_math.scheme import is_index
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
    generate: Generate, target_model: Model, asked: tuple[int, int], prefix: Sequence[int], at_most: float | None
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
            return run.shown(run.fault, rounds)
    types = () if is_exact(first) else (storage(first),)
    bound = run.allowance(types, max(gaps, default=0.0), cap(types, at_most))
    emitted = continued(run.running, target_model, horizon, start)
    verdict = judged(emitted, wanted, bound, run.paths, run.unexplored, run.endless)
    if isinstance(verdict, Lossy) and not run.repeats():
        return Undecided(Reason.NOT_JUDGED, UNREPEATED)
    if isinstance(verdict, Undecided):
        return verdict
    kind = f"stored as {types[0]}" if types else "as Fractions"
    scope = f"the first {horizon} tokens of {counted(rounds, 'block')} after the prefix {start}, {kind}"
    if isinstance(verdict, Lossless):
        floats = ("the program passed floats to its coin, so the verdict is about floats",)
        verdict = replace(verdict, assumed=floats if verdict.bound and not types else ())
    return replace(run.shown(verdict, rounds), scope=scope)


def asked_in_float64(
    verdict: Verdict, generate: Generate, target_model: Model, horizon: int, rounds: int = 1, prefix: Sequence[int] = ()
) -> Verdict:
    """Return a verdict on blocks, asked again of the same program in float64 where rounding decides.

    The law: that of `check_lossless_block`. `generate` and `target_model` are the generator and the target that were
    judged, with their laws in float64 (`language.model.InFloat64`). What is wrong there is Lossy, unless its numbers
    look rounded there too. What is right there was off by rounding alone, and keeps its verdict.

    Raises:
        TypeError, ValueError: as `check_lossless_block`.

    >>> left = Undecided(Reason.ROUNDING, "the total variation is 0.02; rounding explains up to 0.1")
    >>> target = lambda prefix: [0.25, 0.75]
    >>> asked_in_float64(left, lambda coin, prefix: (coin.draw([0.27, 0.73]),), target, 1).total_variation > 0.019
    True
    >>> asked_in_float64(left, lambda coin, prefix: (coin.draw(target(prefix)),), target, 1) is left
    True
    """
    rounded = isinstance(verdict, Undecided) and verdict.reason is Reason.ROUNDING
    if not rounded and not (isinstance(verdict, Lossless) and verdict.bound > NOTICED):
        return verdict
    bits: list[int] = []
    found = check_lossless_block(
        lambda coin, text: generate(NotingBits(coin, bits), text), target_model, horizon, rounds, prefix
    )
    return finer_in_words(found, [] if rounded else bits) if isinstance(found, Lossy) else verdict


NOTICED = 1e-6
"""The bound of a verdict from which it is asked again in float64."""


class _Rounds:
    """The blocks of a generator after one another: what was emitted so far, {text: mass}, and how it was walked."""

    def __init__(self, generate: Generate, target_model: Model, horizon: int, start: Text) -> None:
        self._generate, self._horizon, self._start = generate, horizon, start
        self._end: int | None = getattr(target_model, "end", None)
        self._target, self._least = target_model, dict[Text, Any]()
        first = opening(target_model, start)[1]
        self._size, self._types = len(first), () if is_exact(first) else (storage(first),)
        self._walks: list[list[tuple[float, Walked, Program]]] = []
        self.running: dict[Text, Any] = {(): Fraction(1)}
        self.fault: Verdict | None = None
        self.unexplored: Any = Fraction(0)
        self.paths = 0
        self.left = BUDGET
        self.endless = ""

    def another(self) -> None:
        """Walk one more block after each text that is not over; stop at a fault, or where the budget is spent."""
        self._walks.append([])
        self.running = _a_block_more(self.running, self._horizon, self._end, self._walked)

    def _walked(self, text: Text, mass: Any) -> dict[Text, Any]:
        if self.fault is not None or self.left <= 0:
            self.unexplored += mass
            return {}
        prefix = self._start + text

        def program(coin: Coin) -> Any:
            block = self._generate(coin, prefix)
            return tuple(block) if isinstance(block, list) else block

        def broken(block: Any) -> Lossy | None:
            wrong = _wrong(self._size, self._end, block)
            return None if wrong is None else Lossy(f"after the prefix {prefix}: {wrong}")

        def said(error: BaseException) -> str:
            return f"after the prefix {prefix}: {type(error).__name__}: {error}"

        found = walk(program, broken, said, self.left, self._types)
        self.left -= found.paths
        self.endless = found.endless or self.endless
        self._least[text] = found.least
        self.paths += found.paths
        # From the second block on other paths have returned: an exception on all paths from here is one on some.
        self.fault = found.raised if found.raised is not None and len(self._walks) > 1 else found.fault
        share = 1.0 if isinstance(mass, Symbol) else float(mass)
        self._walks[-1].append((share, found, program))
        if self.fault is not None:
            return {}
        self.unexplored += mass * found.unexplored
        return found.masses

    def shown(self, verdict: Verdict, rounds: int) -> Verdict:
        """Let a verdict carry what its certificate needs."""
        if isinstance(verdict, Undecided):
            return verdict
        stored = {name for block in self._walks for _, found, _ in block for name in found.stored}
        broken = isinstance(verdict, Lossy) and verdict.total_variation is None
        walked = stored, self._least, bool(verdict), broken, self.paths
        of_it = self._start, self._horizon, rounds, self._end
        target, start, generate, types = self._target, self._start, self._generate, self._types
        wrong = partial(_wrong, self._size, self._end)

        def certificate() -> Any:
            from spec_math.certificates.judged import Blocks, Walk, block_certificate

            def following(text: tuple[int, ...]) -> Any:
                return conditional(target, start + text)

            rows = Blocks(generate, following, *of_it)
            return block_certificate(rows, types, wrong, Walk(*walked))

        return replace(verdict, evidence=(certificate,))

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


def _wrong(size: int, end: int | None, block: Any) -> str | None:
    try:
        _ = checked_block(block, size, end)
    except EmissionError as error:
        return str(error)
    return None


def _merged(one: Level, other: Level) -> Level:
    return Level(one.unit, max(one.gap, other.gap), one.reach + other.reach)


def _add(masses: dict[Text, Any], text: Text, mass: Any) -> None:
    masses[text] = masses[text] + mass if text in masses else mass


def _a_block_more(
    running: dict[Text, Any], horizon: int, end: int | None, law: Callable[[Text, Any], dict[Text, Any]]
) -> dict[Text, Any]:
    """Let texts {text: mass} that are not over go on by a block, whose law after a text is law(text, mass)."""
    return by_outcome(
        ((text + block)[:horizon], mass * share)
        for text, mass in running.items()
        for block, share in ({(): 1} if is_over(text, horizon, end) else law(text, mass)).items()
    )


Text = tuple[int, ...]
Generate = Callable[[Coin, Text], Text]
"""A generator of one block: from a coin and a prefix to the emitted tokens alone."""


def emitted_law(
    generate: Generate, target_model: Model, horizon: int, rounds: int = 1, prefix: Sequence[int] = ()
) -> dict[Text, Any]:
    """Compute the law of the first `horizon` tokens after prefix: `rounds` blocks in a row, continued by the target.

    The law: P(s) = Σ_b P(the blocks emit b) · Π t(s_i | prefix + s_<i) over the i beyond b, where b is s or a prefix of
    it (or s a prefix of b). A second block starts from what the first one emitted. Texts end at the horizon or with
    the target's `end` token. A generator is taken for a function of its coin and prefix: its law after one prefix is
    computed once.

    Raises:
        EmissionError: the generator emits no token, something that is no token, or tokens after the end.
        ValueError, TypeError: horizon or rounds is not a positive integer; a law of the target is not a probability
            distribution.

    Source: SpecTr, Theorem 3.

    >>> from spec_math.block_level import chain
    >>> target, draft = (lambda prefix: ["1/4", "3/4"]), (lambda prefix: ["1/2", "1/2"])
    >>> emitted_law(lambda coin, prefix: chain.generate(coin, target, draft, prefix, 1), target, 2)[0, 0]
    Fraction(1, 16)
    """
    start, first = opening(target_model, prefix)
    horizon, size = count(horizon, "horizon"), len(first)
    end: int | None = getattr(target_model, "end", None)
    running: dict[Text, Any] = {(): Fraction(1)}
    for _ in range(count(rounds, "rounds")):
        running = _a_block_more(running, horizon, end, lambda text, _: block_law(generate, start + text, size, end))
    return continued(running, target_model, horizon, start)


def target_law(target_model: Model, horizon: int, prefix: Sequence[int] = ()) -> dict[Text, Any]:
    """Compute the target's own law of the first `horizon` tokens after prefix, {text: mass}; texts may end earlier.

    Raises:
        ValueError, TypeError: horizon is not a positive integer; a law of the target is not a probability distribution.

    >>> target_law(lambda prefix: ["1/4", "3/4"], 2)[0, 1]
    Fraction(3, 16)
    """
    start, _ = opening(target_model, prefix)
    return continued({(): Fraction(1)}, target_model, count(horizon, "horizon"), start)


def continued(
    masses: dict[Text, Any], target_model: Model, horizon: int, prefix: Text = (), gaps: list[float] | None = None
) -> dict[Text, Any]:
    """Let the target continue texts {text: mass} up to the horizon or to its end token; masses of 0 are left out.

    A float law of the target is divided by its sum, as a draw from it is; what the sums are off by is added to `gaps`.
    """
    end: int | None = getattr(target_model, "end", None)
    by_length: list[dict[Text, Any]] = [{} for _ in range(horizon + 1)]
    for text, mass in masses.items():
        by_length[len(text)][text] = mass
    finished: dict[Text, Any] = {}
    for length in range(horizon + 1):
        for text, mass in by_length[length].items():
            if is_over(text, horizon, end):
                finished[text] = mass
                continue
            row = conditional(target_model, prefix + text)
            if gaps is not None and not is_exact(row):
                gaps.append(float(sum_gap(row)))
            for token, chance in enumerate(divided(row)):
                if possible(chance):
                    _add(by_length[length + 1], (*text, token), mass * chance)
    return finished


def block_law(generate: Generate, prefix: Text, size: int, end: int | None) -> dict[Text, Any]:
    """Compute the law of what one block emits after prefix, {tokens: mass}, by walking every path of the generator.

    Raises:
        EmissionError: a path emits no token, something that is not a token index below `size`, or tokens after the end.
    """

    def block(path: Path) -> Text:
        try:
            return checked_block(path.outcome, size, end)
        except EmissionError as error:
            error.add_note(f"on the path: {', '.join(path.choices) or 'no choice'}")
            raise

    return by_outcome((block(path), path.mass) for path in paths(lambda coin: generate(coin, prefix)))


class EmissionError(ValueError):
    """A generator emitted something that is not a block: no token, a token out of range, or tokens after the end."""


def checked_block(block: Any, size: int, end: int | None) -> Text:
    """Return an emitted block as a tuple of ints: at least one index below `size`, the end token only at its end.

    Raises:
        EmissionError: it is not such a block.
    """
    if not isinstance(block, tuple | list):
        raise EmissionError(f"emitted {block!r}, which is not a tuple of tokens")
    tokens: tuple[Any, ...] = tuple(block)
    if not tokens:
        raise EmissionError("emitted no token; every call of the target yields at least one")
    for token in tokens:
        if not is_index(token) or not 0 <= token < size:
            raise EmissionError(f"emitted {tokens}: {token!r} is not a token index in 0..{size - 1}")
    if end is not None and end in tokens[:-1]:
        raise EmissionError(f"emitted {tokens}: tokens follow the end token {end}")
    return tuple(int(token) for token in tokens)


def is_over(text: Text, horizon: int, end: int | None) -> bool:
    """Say whether a text has reached the horizon, or ended."""
    return len(text) >= horizon or (end is not None and bool(text) and text[-1] == end)
