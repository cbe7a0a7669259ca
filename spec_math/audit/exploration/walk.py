"""The exact law of what a sampler emits on a case: every path of the drafts, of its coins, of its random numbers."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import AbstractContextManager
from dataclasses import dataclass, field, replace
from fractions import Fraction
from typing import Any

from spec_math.audit.case import Case
from spec_math.audit.exploration.atom import ExploreError
from spec_math.audit.exploration.followed import Followed, unseen_refused
from spec_math.audit.exploration.tape import CURE, LeakError, Tape
from spec_math.audit.subject import Subject
from spec_math.chance import ChanceError, Coin, paths
from spec_math.scheme import is_index

Text = tuple[int, ...]

CUT = "cut"
"""The outcome of a path that asks its coin without end: its mass stays unexplored."""


@dataclass(frozen=True)
class Fault:
    """What broke on a path: its kind ("form", "tokens", "padding" or an exception's name), said in words, and where.

    "form" is an answer that is no token, "tokens" one outside the vocabulary, "padding" a block that ends in them.

    >>> Fault("form", "emitted None, which is no token index").way
    ()
    """

    kind: str
    said: str
    way: tuple[str, ...] = ()
    tokens: Text = ()
    mass: Any = 0


@dataclass
class Walk:
    """What the paths walked so far emit: {tokens: mass}, and for each the heaviest path to it.

    `unexplored` is the mass of the paths that the budget left; `deepest` the most random numbers on one path, the
    drafts included; `exact` whether every threshold was rational, `reused` whether a random number came twice. `fault`
    says what broke first, with its path, and `faults` on how many paths it did: the walk ends where one path is sound
    and one is not.
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


def walk(subject: Subject, case: Case, tape: Tape, budget: int, told: Callable[[int], None] = lambda _: None) -> Walk:
    """Walk a sampler down every path on a case, up to a budget of paths; stop at the first that breaks.

    The tape is what followed code asks, on the subject's grid. `told` hears of each path.

    Raises:
        ExploreError: the code's randomness cannot be followed; LeakError: the code does not repeat itself.

    >>> from spec_math.audit.case import position
    >>> from spec_math.audit.subject import subject_of
    >>> hopeful = subject_of(lambda tokens, target, draft: tokens[0])
    >>> walk(hopeful, position(["1/4", "3/4"], ["1/2", "1/2"]), Tape(), 100).masses
    {(0,): Fraction(1, 2), (1,): Fraction(1, 2)}
    """
    run = _Run(subject, case, tape)
    found = Walk()
    with run.exploring():
        _walk(run, found, budget, told)
        if found.fault is None:
            run.check_repeats()
    found.reused = tape.reused
    return found


def _walk(run: _Run, found: Walk, budget: int, told: Callable[[int], None]) -> None:
    total = Fraction(0)
    for path in paths(run):
        found.paths += 1
        told(found.paths)
        if path.outcome is CUT:
            continue
        total = total + path.mass
        found.deepest = max(found.deepest, run.drawn)
        found.ignored += path.mass * run.ignored
        outcome: Any = path.outcome
        if isinstance(outcome, Fault):
            found.faults += 1
            found.fault = found.fault or replace(outcome, mass=path.mass)
        else:
            text = outcome[: run.case.horizon]
            found.masses[text] = found.masses.get(text, 0) + path.mass
            if text not in found.ways or found.ways[text][0] < path.mass:
                found.ways[text] = path.mass, run.steps()
        if found.paths >= budget or 0 < found.faults < found.paths:
            break
    found.unexplored = max(Fraction(0), 1 - total)
    found.exact = run.exact and not isinstance(total, float)


class _Run:
    """The sampler as a program against a coin, with the steps of the path that it is on."""

    def __init__(self, subject: Subject, case: Case, tape: Tape) -> None:
        self.case, self._subject = case, subject
        self._followed = Followed(self._called, subject.sources, tape, subject.fn)
        self._drafts: list[str] = []
        self._coins: list[str] = []
        self._tokens: Text = ()

    def __call__(self, coin: Coin) -> Text | Fault | str:
        self._drafts, self._coins, self._tokens = [], [], ()
        self._followed.tape.log = []
        if not self._subject.call.drafts_itself:
            self._tokens = self._drafted(coin)
        try:
            if self._subject.shape == "verifier":
                outcome = _text(self._called(*self._tokens, coin=_Recording(coin, self._coins)))
            else:
                outcome = _text(self._followed(coin, *self._tokens))
        except ExploreError:
            raise
        except (Exception, SystemExit) as error:  # whatever a sampler raises is told with its path
            _raise_if_not_followed(error)
            if isinstance(error, ChanceError) and str(error).startswith("one path asks for more than"):
                return CUT
            return Fault(type(error).__name__, f"{type(error).__name__}: {error}", self.steps(), self._tokens)
        broken = _broken(outcome, self.case)
        return outcome if broken is None else replace(broken, way=self.steps(), tokens=self._tokens)

    @property
    def exact(self) -> bool:
        """Whether the code met no binary float as a threshold."""
        return self._followed.tape.exact

    @property
    def ignored(self) -> Any:
        """What guards of logarithms changed on this path."""
        return self._followed.tape.ignored

    @property
    def drawn(self) -> int:
        """How many random numbers this path has drawn."""
        return len(self._drafts) + len(self._coins) + self._followed.tape.drawn

    def steps(self) -> tuple[str, ...]:
        """Return the path so far, in words."""
        log = [(question.partition(" with masses ")[0], answer) for question, answer in self._followed.tape.log]
        asked = [f"{question}: {answer}" for question, answer in log if answer != ""]
        return (*self._drafts, *self._coins, *asked)

    def exploring(self) -> AbstractContextManager[None]:
        """What lasts while all paths are walked; a verifier has its coin, and may draw from nothing else."""
        return unseen_refused() if self._subject.shape == "verifier" else self._followed.exploring()

    def check_repeats(self) -> None:
        """Walk some of followed code's paths once more."""
        if self._subject.shape != "verifier":
            self._followed.check_repeats()

    def _drafted(self, coin: Coin) -> Text:
        rows = self.case.draft if self.case.lookahead else self.case.draft * self.case.k
        tokens: Text = ()
        for place, row in enumerate(rows):
            tokens = (*tokens, coin.draw(list(row)))
            self._drafts.append(f"draft {place + 1}: token {tokens[-1]}")
        return tokens

    def _called(self, *tokens: int, coin: Coin | None = None) -> Any:
        case = self.case
        rows = (case.target, case.draft) if case.lookahead else (case.target[0], case.draft[0])
        return _hashable(self._subject.run(rows, tokens, coin))


def _hashable(outcome: Any) -> Any:
    """Return tokens as Python's own: an int, or a tuple of what was a list, an array or a tensor."""
    if hasattr(outcome, "tolist"):
        outcome = outcome.tolist()
    if isinstance(outcome, list | tuple):
        listed: list[Any] = list(outcome)
        outcome = tuple(_plain(entry) for entry in listed)
    try:
        _ = hash(outcome)
    except TypeError:
        return Fault("form", f"emitted {outcome!r}, which is not a token index or a flat list of them")
    return outcome


def _plain(entry: Any) -> Any:
    return entry.item() if hasattr(entry, "item") and getattr(entry, "ndim", 0) == 0 else entry


def _text(outcome: Any) -> Any:
    return outcome if isinstance(outcome, tuple) else (outcome,)


def _broken(outcome: Any, case: Case) -> Fault | None:
    """Return what is wrong with emitted tokens, or None."""
    if isinstance(outcome[0] if outcome else None, Fault):
        return outcome[0]
    if not outcome or not all(is_index(token) for token in outcome):
        shown = outcome[0] if len(outcome) == 1 else outcome
        tuples = " or tuple of them" if case.lookahead else ""
        return Fault("form", f"emitted {shown!r}, which is not a token index{tuples}")
    if not case.lookahead and len(outcome) != 1:
        said = f"emitted {outcome} where one token was asked for; a block of tokens is judged with a lookahead"
        return Fault("form", said)
    strays = [token for token in outcome if not 0 <= token < case.size]
    if not strays:
        return None
    sound = outcome[: -len(strays)]
    padded = case.lookahead and len(outcome) == case.lookahead + 1 and strays == [strays[0]] * len(strays)
    if padded and sound and all(0 <= token < case.size for token in sound):
        return Fault("padding", f"emitted {outcome}: it ends in {strays[0]}, which is not a token but may be padding")
    return Fault("tokens", f"emitted {outcome}, outside the tokens 0..{case.size - 1}")


def _raise_if_not_followed(error: BaseException) -> None:
    """An error about the very objects that stand for random numbers is explore's limit, not the sampler's fault."""
    if isinstance(error, ChanceError) and "no function of its coin" in str(error):
        raise LeakError(f"state leaks between runs: {error}; {CURE}") from error
    if any(kind in str(error) for kind in ("Uniform", "Clock", "Noise")):
        raise ExploreError(
            f"the code does with a random number what explore cannot follow ({type(error).__name__}: {error})"
        ) from error


class _Recording:
    """A coin whose questions and answers are kept, in words."""

    def __init__(self, coin: Coin, kept: list[str]) -> None:
        self._coin, self._kept = coin, kept

    def flip(self, p: Any) -> bool:
        answer = self._coin.flip(p)
        self._kept.append(f"flip({p}): {answer}")
        return answer

    def draw(self, masses: Any) -> int:
        answer = self._coin.draw(masses)
        self._kept.append(f"a draw: token {answer}")
        return answer
