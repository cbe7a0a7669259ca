"""The exact law of what a sampler emits on a case: every path of the drafts, of its coins, of its random numbers."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any

from spec_math.audit.case import Case
from spec_math.audit.exploration.atom import ExploreError
from spec_math.audit.exploration.followed import Followed
from spec_math.audit.exploration.tape import Tape
from spec_math.audit.subject import Subject
from spec_math.chance import Coin, paths
from spec_math.scheme import is_index

Text = tuple[int, ...]


@dataclass
class Walk:
    """What the paths walked so far emit: {tokens: mass}, and for each the heaviest path to it.

    `unexplored` is the mass of the paths that the budget left; `deepest` the most random numbers on one path, the
    drafts included; `exact` whether every threshold was rational. `fault` says what broke, with its path.
    """

    masses: dict[Text, Any] = field(default_factory=dict[Text, Any])
    ways: dict[Text, tuple[Any, tuple[str, ...]]] = field(default_factory=dict[Text, tuple[Any, tuple[str, ...]]])
    unexplored: Any = Fraction(0)
    paths: int = 0
    deepest: int = 0
    exact: bool = True
    ignored: Any = Fraction(0)
    fault: tuple[str, str, tuple[str, ...]] | None = None


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
    found, total = Walk(), Fraction(0)
    for outcome, mass in _outcomes(run, found):
        found.paths += 1
        told(found.paths)
        total = total + mass
        found.deepest = max(found.deepest, run.drawn)
        found.ignored += mass * run.ignored
        if found.fault is not None:
            break
        text = outcome[: case.horizon]
        found.masses[text] = found.masses.get(text, 0) + mass
        if text not in found.ways or found.ways[text][0] < mass:
            found.ways[text] = mass, run.steps()
        if found.paths >= budget:
            break
    found.unexplored = max(Fraction(0), 1 - total)
    found.exact = run.exact and not isinstance(total, float)
    if found.fault is None:
        run.check_repeats()
    return found


def _outcomes(run: _Run, found: Walk) -> Iterator[tuple[Text, Any]]:
    """Go through the outcomes and their masses; one that breaks is the last, and is told in `found`."""
    walking = paths(run)
    while True:
        try:
            path = next(walking, None)
        except ExploreError:
            raise
        except Exception as error:  # whatever a sampler raises is evidence against it
            _raise_if_not_followed(error)
            found.fault = type(error).__name__, f"{type(error).__name__}: {error}", run.steps()
            yield (), Fraction(0)
            return
        if path is None:
            return
        said = _broken(path.outcome, run.case)
        if said:
            found.fault = "tokens", said, run.steps()
        yield path.outcome, path.mass
        if said:
            return


class _Run:
    """The sampler as a program against a coin, with the steps of the path that it is on."""

    def __init__(self, subject: Subject, case: Case, tape: Tape) -> None:
        self.case, self._subject = case, subject
        self._followed = Followed(self._called, subject.sources, tape, subject.fn)
        self._drafts: list[str] = []
        self._coins: list[str] = []
        self._tokens: Text = ()

    def __call__(self, coin: Coin) -> Text:
        self._drafts, self._coins, self._tokens = [], [], ()
        self._followed.tape.log = []
        if self._subject.shape != "laws":
            self._tokens = self._drafted(coin)
        if self._subject.shape == "verifier":
            return _text(self._called(_Recording(coin, self._coins), *self._tokens))
        return _text(self._followed(coin, *self._tokens))

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

    def check_repeats(self) -> None:
        """Walk followed code's first path once more."""
        if self._subject.shape != "verifier":
            self._followed.check_repeats()

    def _drafted(self, coin: Coin) -> Text:
        rows = self.case.draft if self.case.lookahead else self.case.draft * self.case.k
        tokens: Text = ()
        for place, row in enumerate(rows):
            tokens = (*tokens, coin.draw(list(row)))
            self._drafts.append(f"draft {place + 1}: token {tokens[-1]}")
        return tokens

    def _called(self, *arguments: Any) -> Any:
        """Call the function with fresh laws: one that writes into them must not spoil the next path."""
        case, numbers = self.case, self._subject.numbers
        target, draft = (numbers.rows(rows if case.lookahead else rows[0]) for rows in (case.target, case.draft))
        if self._subject.shape == "laws":
            return _hashable(self._subject.fn(target, draft))
        if self._subject.shape == "verifier":
            coin, *tokens = arguments
            return _hashable(self._subject.fn(coin, tuple(tokens), target, draft))
        return _hashable(self._subject.fn(numbers.tokens(arguments), target, draft))


def _hashable(outcome: Any) -> Any:
    """Return tokens as Python's own: an int, or a tuple of what was a list, an array or a tensor."""
    if hasattr(outcome, "tolist"):
        outcome = outcome.tolist()
    if isinstance(outcome, list | tuple):
        listed: list[Any] = list(outcome)
        return tuple(entry.item() if hasattr(entry, "item") else entry for entry in listed)
    return outcome


def _text(outcome: Any) -> Any:
    return outcome if isinstance(outcome, tuple) else (outcome,)


def _broken(outcome: Any, case: Case) -> str:
    """Say what is wrong with emitted tokens, or nothing."""
    if not outcome or not all(is_index(token) for token in outcome):
        return f"emitted {outcome}, which is no token index" + (" or tuple of them" if case.lookahead else "")
    if not case.lookahead and len(outcome) != 1:
        return f"emitted {outcome} where one token was asked for; a block of tokens is judged with a lookahead"
    if any(not 0 <= token < case.size for token in outcome):
        return f"emitted {outcome}, outside the tokens 0..{case.size - 1}"
    return ""


def _raise_if_not_followed(error: Exception) -> None:
    """An error about the very objects that stand for random numbers is explore's limit, not the sampler's fault."""
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
