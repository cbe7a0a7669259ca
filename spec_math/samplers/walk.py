"""Every path of a sampler on one case: its drafts, its coins and its random numbers, with the law that it emits."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction
from itertools import islice
from math import isfinite
from typing import Any

from spec_math.chance import ChanceError, Coin, paths
from spec_math.masses import FlipAndDraw, summed
from spec_math.pathwise.atom import ExploreError, UnseenRandomnessError
from spec_math.pathwise.exploration import Estimate, HeaviestFirst
from spec_math.pathwise.followed import SOURCES, Followed, Source
from spec_math.pathwise.tape import LeakError, Tape
from spec_math.samplers.answer import Answers, Fault, Text, broken, plain, raised_in_words
from spec_math.samplers.case import FEWER, Case
from spec_math.samplers.subject import Subject

CUT = "cut"
"""The outcome of a path that asks its coin without end: its mass stays unexplored."""


@dataclass
class Walk:
    """The distribution of the paths walked so far: {tokens: mass}, and for each the heaviest path to it.

    `unexplored` is the mass of the paths that the budget left; `deepest` the most random numbers on one path, the
    drafts included; `exact` whether every threshold was rational, `reused` whether a random number came twice. `fault`
    says what broke first, with its path, and `faults` on how many paths it did: the walk ends where one path is sound
    and one is not. `cut` says that it ended at a path that asks its coin without end; `misread` what else all answers
    of a chain may be than tokens; `digits` how many binary digits the floats had that were met;
    `seed` what a generator was seeded with on more paths than one.
    """

    masses: dict[Text, Any] = field(default_factory=dict[Text, Any])
    ways: dict[Text, tuple[Any, tuple[str, ...]]] = field(default_factory=dict[Text, tuple[Any, tuple[str, ...]]])
    unexplored: Any = Fraction(0)
    paths: int = 0
    deepest: int = 0
    exact: bool = True
    ignored: Any = Fraction(0)
    reused: bool = False
    fault: Fault | None = None
    faults: int = 0
    cut: bool = False
    misread: str = ""
    digits: frozenset[int] = frozenset()
    seed: str = ""


LONG = 60.0
"""Seconds that the walk of a built-in case may be expected to take."""


class LongWalkError(Exception):
    """The walk of a built-in case would take longer than `LONG`: a smaller one is to be asked for."""


def walk(
    subject: Subject,
    case: Case,
    tape: Tape,
    budget: int,
    progress: Callable[[int], None] = lambda _: None,
    enough: Callable[[Walk], bool] = lambda _: False,
) -> Walk:
    """Walk a sampler down every path on a case, up to a budget of paths; stop at the first that breaks.

    The tape is what followed code asks, on the subject's grid. `progress` is called with the number of paths. A walk
    that lasts stops where the paths so far are `enough`, which is asked every few seconds.

    Raises:
        ExploreError: the code's randomness cannot be followed; LeakError: the code does not repeat itself;
            LongWalkError: the case is built in, and its walk would take long.
    """

    estimate = Estimate()

    def stopped(found: Walk, summed_up: Callable[[], Any]) -> bool:
        with tape.unnoted():  # whoever is called may look at the clock
            progress(found.paths)
            seconds = estimate.at(found.paths, lambda: 1 - float(summed_up()))
            found.exact = found.exact and tape.exact  # which summing up has said of the masses alone
            if seconds is None or enough(found):
                return seconds is not None
            if case.built_in and case.size > FEWER[-1] and seconds > LONG:
                raise LongWalkError
            return False

    run = Run(subject, case, tape)
    found = Walk()

    def whole() -> int:
        _take_all(run, found, budget, stopped)
        return 0

    if run.followed is not None:
        with run.followed.exploring():
            whole()
            if found.fault is None:
                run.followed.check_repeats()
    elif not subject.sources:
        whole()
    else:
        # All of its paths are one run, in which nothing else may be drawn.
        all_paths = Followed(whole, subject.sources, tape, subject.fn)
        all_paths.on_ordinary = False
        _ = all_paths(_NoCoin())
    found.exact = tape.exact and found.exact
    found.reused = tape.reused
    found.digits = frozenset(tape.digits)
    found.seed = tape.seeded.again
    found.misread = run.answers.misread(case.lookahead) if case.lookahead and not subject.text else ""
    return found


BROKEN = 8
"""A function whose likeliest paths, so many, break by one of the ways to call it was not meant to be called so."""


def _take_all(run: Run, found: Walk, budget: int, stopped: Callable[[Walk, Callable[[], Any]], bool]) -> None:
    of_texts: dict[Text, list[Any]] = {}
    lost: list[Any] = []
    broken = BROKEN if run.subject.said else budget

    def summed_up() -> Any:
        total = summed([mass for masses in (*of_texts.values(), lost) for mass in masses])
        found.masses = {text: summed(masses) for text, masses in of_texts.items()}
        found.unexplored = max(Fraction(0), 1 - total)
        found.exact = not isinstance(total, float)
        return found.unexplored

    for path in paths(run, HeaviestFirst()):
        found.paths += 1
        if path.outcome is CUT:
            found.cut = True
            break
        found.deepest = max(found.deepest, run.drawn)
        if run.tape.ignored:
            found.ignored += path.mass * run.tape.ignored
        outcome: Any = path.outcome
        if isinstance(outcome, Fault):
            found.faults += 1
            found.fault = found.fault or replace(outcome, mass=path.mass)
            lost.append(path.mass)
        else:
            text = outcome[: run.case.horizon]
            of_texts.setdefault(text, []).append(path.mass)
            if text not in found.ways or found.ways[text][0] < path.mass:
                found.ways[text] = path.mass, run.steps()
        if found.paths >= budget or 0 < found.faults < found.paths or found.faults >= broken:
            break
        if stopped(found, summed_up):
            break
    _ = summed_up()


class Run:
    """The sampler as a program against a coin, with the steps of the path that it is on."""

    def __init__(self, subject: Subject, case: Case, tape: Tape) -> None:
        self.case, self.subject = case, subject
        self.tape, self._drafts_itself = tape, subject.call.drafts_itself
        self.followed: Followed | None = None
        if subject.shape != "verifier":
            self.followed = Followed(self._called, subject.sources, tape, subject.fn)
            self.followed.repeats = subject.repeats
            self.followed.on_ordinary = self.followed.watching = subject.watched
        self._coins: list[tuple[Any, int]] = []
        self.tokens: Text = ()
        self.raw: Any = None
        self.answers = Answers()

    def __call__(self, coin: Coin) -> Text | Fault | str:
        """Run the sampler on one path: draw its drafts, call it, and return its tokens or what is wrong with them."""
        self._coins, self.tokens, self.tape.log = [], (), []
        for row in () if self._drafts_itself else self.case.drafted_from:
            self.tokens = (*self.tokens, coin.draw(list(row)))
        try:
            if self.followed is None:
                outcome = self._called(*self.tokens, coin=_Recording(coin, self._coins, self.tape.meet))
            else:
                outcome = self.followed(coin, *self.tokens)
        except ExploreError:
            raise
        except (Exception, SystemExit) as error:  # whatever a sampler raises is told with its path
            _raise_if_not_followed(error)
            if isinstance(error, ChanceError) and str(error).startswith("one path asks for more than"):
                return CUT
            return Fault(type(error).__name__, raised_in_words(error), self.steps(), self.tokens)
        outcome = outcome if isinstance(outcome, tuple) else (outcome,)
        fault = broken(outcome, self.case)
        if fault is not None:
            return replace(fault, way=self.steps(), tokens=self.tokens)
        if self.case.lookahead:
            self.answers.note(self.raw, self.tokens, outcome)
        return outcome

    @property
    def drawn(self) -> int:
        """The number of random numbers that this path has drawn."""
        return len(self.tokens) + len(self._coins) + self.tape.drawn

    def steps(self) -> tuple[str, ...]:
        """Return the path so far, in words."""
        drafts = (f"draft {place + 1}: token {token}" for place, token in enumerate(self.tokens))
        coins = (f"a draw: token {answer}" if p is None else f"flip({p}): {bool(answer)}" for p, answer in self._coins)
        return (*drafts, *coins, *in_words(self.tape.log))

    def _called(self, *tokens: int, coin: Coin | None = None) -> Any:
        self.raw = self.subject.run(self.case.rows, tokens, coin)
        return plain(self.raw)


def _raise_if_not_followed(error: BaseException) -> None:
    """An error about the very objects that stand for random numbers is explore's limit, not the sampler's fault."""
    if isinstance(error, ChanceError) and "not a function of its coin" in str(error):
        raise LeakError(str(error)) from error
    if any(kind in str(error) for kind in ("Uniform", "Clock", "Noise")):
        raise ExploreError(
            f"explore cannot follow what the code does with a random number ({type(error).__name__}: {error})"
        ) from error


class _Recording(FlipAndDraw):
    """A coin whose chances and answers are kept; they are put into words for the heaviest paths alone."""

    def __init__(self, coin: Coin, kept: list[tuple[Any, int]], met: Callable[[Fraction], None]) -> None:
        self._coin, self._kept, self._met = coin, kept, met

    def flip(self, p: Any) -> bool:
        self._meet(p)
        answer = self._coin.flip(p)
        self._kept.append((p if type(p) in (Fraction, float) else f"{p}", answer))
        return answer

    def draw(self, masses: Any) -> int:
        self._meet(masses)
        answer = self._coin.draw(masses)
        self._kept.append((None, answer))
        return answer

    def _meet(self, numbers: Any) -> None:
        """Note the floats of a chance or of a row of masses, of any type; what is no number is the coin's to refuse."""
        plain = numbers.tolist() if hasattr(numbers, "tolist") else numbers
        for number in plain if isinstance(plain, list | tuple) else (plain,):
            if isinstance(number, float) and isfinite(number):
                self._met(Fraction(number))


class _NoCoin:
    """The coin of random numbers beside the verifier's own coin: there must be none."""

    def flip(self, p: Any) -> bool:  # noqa: ARG002
        raise UnseenRandomnessError(_BESIDE, ("random numbers beside the coin",))

    draw: Any = flip


_BESIDE = "the verifier draws random numbers beside its coin; let the coin make all of its decisions"


def way_to(
    fn: Callable[[], Any],
    wanted: Callable[[Any], bool],
    budget: int = 100_000,
    grid: int | None = None,
    sources: Sequence[Source] = SOURCES,
) -> tuple[str, ...]:
    """Return the first path of a function to an outcome that is wanted, as the draws on it; nothing where none is.

    Arguments and errors are those of `explore`.

    >>> import random
    >>> way_to(lambda: random.random() < 0.25, lambda outcome: outcome)
    ('<python uniform 0> < 0.25: True',)
    """
    tape = Tape(grid)
    run = Followed(fn, sources, tape)
    with run.exploring():
        for path in islice(paths(run), budget):
            if wanted(path.outcome):
                return in_words(tape.log)
    return ()


def in_words(log: Iterable[tuple[str, Hashable]]) -> tuple[str, ...]:
    """Return what was drawn on a path, one sentence a draw.

    >>> in_words([("flip(1/2)", "True"), ("draw with masses 1, 0", "0"), ("seed", "")])
    ('flip(1/2): True', 'draw: 0')
    """
    asked = ((question.partition(" with masses ")[0], answer) for question, answer in log)
    return tuple(f"{question}: {answer}" for question, answer in asked if answer != "")
