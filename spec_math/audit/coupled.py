"""Coupled test of a kernel: the same uniforms go into a reference and the kernel, and their decisions are compared."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from operator import itemgetter
from typing import Any

from spec_math.arrays import count
from spec_math.chance import Coin, Cumulative, replay
from spec_math.masses import FlipAndDraw
from spec_math.sequential.evidence import Guarantee, NotRejected, level
from spec_math.verdict import Lossy

BLIND = (
    "random numbers that are not the ones put in: a kernel's own stream that is shared, reused, reseeded or stuck; "
    "what it emits by itself needs a test of its own (identity_test, contexts_test)",
    "inputs that it was not run on",
)


@dataclass(frozen=True)
class Difference:
    """A run in which the kernel's outcome is not the reference's, and the least change of one uniform that explains it.

    `decision` is the place of the reference's flip or draw that, answered otherwise, gives what the kernel returned,
    `asked` what was asked there, and `distance` how far its uniform lies from there; all None where no one decision
    explains the outcome.

    Made by `coupled_test`.
    """

    run: int
    reference: Any
    kernel: Any
    decision: int | None = None
    asked: str | None = None
    uniform: Any = None
    distance: Any = None

    def __str__(self) -> str:
        said = f"run {self.run}: the reference returns {self.reference}, the kernel {self.kernel}"
        if self.decision is None:
            return f"{said}; no single decision explains it"
        return (
            f"{said}, as if {self.asked}, decision {self.decision}, had been answered otherwise; its uniform "
            f"{self.uniform} is {float(self.distance):.3g} from there"
        )


def coupled_test(
    reference: Callable[..., Any], kernel: Callable[..., Any], slack: Any = 0.0, columns: bool = False
) -> CoupledTest:
    """Return a test that runs a reference and a kernel on the same uniforms and compares what they return.

    `reference(coin, *inputs)` is a program; `kernel(uniforms, *inputs)` any function; both return a token, tokens, or
    another value that can be compared. A difference that a change of one uniform by `slack` or less explains is
    counted as rounding: what a kernel in another precision may decide otherwise. Any other difference is proof: there
    are no false positives.

    Args:
        reference: the program that is right.
        kernel: the code to be tested, on injected uniforms.
        slack: the distance from a threshold that rounding may bridge, as derived for the kernel's precision.
        columns: the reference's flip i takes uniform i and its draw the last, as kernels lay them out.

    Raises:
        ValueError: a slack outside [0, 1).

    >>> test = coupled_test(lambda coin: coin.flip(0.5), lambda uniforms: uniforms[0] < 0.51)
    >>> test.update([0.3])
    >>> test.update([0.505])
    >>> test.first.run, test.first.decision, round(test.first.distance, 3)
    (2, 0, 0.005)
    """
    return CoupledTest(reference, kernel, slack, columns)


class CoupledTest:
    """A running comparison; made by `coupled_test`."""

    def __init__(self, reference: Callable[..., Any], kernel: Callable[..., Any], slack: Any, columns: bool) -> None:
        if not 0 <= slack < 1:
            raise ValueError(f"slack is a distance of a uniform from its threshold, in [0, 1); got {slack}")
        self.slack = slack
        self.samples = 0
        self.differences = 0
        self.roundings = 0
        self.first: Difference | None = None
        self.nearest: Any = None
        self._reference, self._kernel, self._columns = reference, kernel, columns

    def update(self, uniforms: Sequence[Any], *inputs: Any) -> None:
        """Run both on given uniforms in [0, 1) and inputs, and compare.

        Raises:
            ValueError: the reference asks for more uniforms than were given. What the kernel raises is its outcome.
        """
        self.samples += 1

        def run(forced: Mapping[int, Any] | None = None) -> tuple[Any, list[Decision]]:
            return watch(lambda coin: self._reference(coin, *inputs), uniforms, self._columns, forced)

        wanted, decisions = run()
        wanted = _plain(wanted)
        try:
            found = _plain(self._kernel(uniforms, *inputs))
        except Exception as error:  # a kernel that breaks on good input differs from one that does not
            found = f"{type(error).__name__}: {error}"
        distances = [gap for decision in decisions if (gap := decision.distance()) is not None]
        self.nearest = min([*distances, *([] if self.nearest is None else [self.nearest])], default=None)
        if found == wanted:
            return
        difference = self._explained(run, decisions, wanted, found)
        if difference.distance is not None and difference.distance <= self.slack:
            self.roundings += 1
            return
        self.differences += 1
        self.first = self.first or difference

    def run(self, draws: int, length: int, rng: Any, *inputs: Any) -> None:
        """Run both `draws` times on fresh uniforms [length] of a NumPy Generator, with the same inputs.

        Raises:
            TypeError, ValueError: draws or length is not a positive integer; as `update`.
        """
        length = count(length, "length")
        for _ in range(count(draws, "draws")):
            self.update(rng.random(length).tolist(), *inputs)

    def _explained(self, run: Callable[..., Any], decisions: list[Decision], wanted: Any, found: Any) -> Difference:
        tried = [(place, answer) for place, one in enumerate(decisions) for answer in _others(one, found)]
        fitting = [(place, answer) for place, answer in tried if _plain(run({place: answer})[0]) == found]
        if not fitting:
            return Difference(self.samples, wanted, found)
        distance, place = min(((decisions[at].distance(answer), at) for at, answer in fitting), key=itemgetter(0))
        one = decisions[place]
        return Difference(self.samples, wanted, found, place, one.asked, one.uniform, distance)

    @property
    def verdict(self) -> Lossy | NotRejected:
        """`Lossy` with the first difference that rounding does not explain; else `NotRejected`."""
        if self.first is None:
            return NotRejected(self.samples, 0.0, self.promise)
        return Lossy(str(self.first), emitted=self.first.kernel, target=self.first.reference)

    def promise(self, samples: int | None = None, power: float = 0.99) -> Guarantee:
        """Return what the test promises for that many runs, by default those so far.

        What is `detectable` is the chance per run that the kernel decides otherwise, beyond rounding. An acceptance
        that is off by that much, or an emitted law at that total variation on injected uniforms, makes such a chance.
        """
        n = self.samples if samples is None else samples
        found = -math.expm1(math.log1p(-level(power, "power")) / n) if n else None
        return Guarantee(0.0, found, n, power, BLIND, "a chance per run to decide otherwise")

    def __str__(self) -> str:
        return f"comparison on the same uniforms: {self.promise()}"


def coupled_sample_size(chance: Any, power: Any) -> int:
    """Return the runs within which a chance per run to decide otherwise shows with a given power: 1 − (1 − p)^n.

    Raises:
        ValueError: the chance or the power lies outside (0, 1).

    >>> coupled_sample_size(0.01, 0.99)
    459
    """
    wanted, each = level(power, "power"), level(chance, "the chance per run to decide otherwise")
    return math.ceil(math.log1p(-wanted) / math.log1p(-each))


def _others(decision: Decision, found: Any) -> list[Any]:
    """The answers to try in place of one: its neighbours, and of a draw the tokens that the kernel returned."""
    if isinstance(decision.answer, bool):
        return decision.neighbours()
    returned = found if isinstance(found, tuple) else (found,)
    tokens = [x for x in returned if isinstance(x, int) and 0 <= x < len(decision.cuts) - 1 and x != decision.answer]
    return list(dict.fromkeys([*decision.neighbours(), *tokens]))


def _plain(outcome: Any) -> Any:
    """Bring an outcome to what can be compared: arrays and tensors to tuples, their numbers to Python's."""
    if hasattr(outcome, "tolist"):
        outcome = outcome.tolist()
    return tuple(map(_plain, outcome)) if isinstance(outcome, list | tuple) else outcome


@dataclass(frozen=True)
class Decision:
    """A flip or a draw as it was made: what was asked, its uniform in [0, 1), the answer, and where answers change.

    `cuts` holds the ends of the answers' intervals of uniforms: (0, p, 1) for a flip, whose answers are True and False
    in this order; 0 and the running sums over the total for a draw, whose answers are the tokens.
    """

    asked: str
    uniform: Any
    answer: Any
    cuts: tuple[Any, ...]

    def distance(self, answer: Any = None) -> Any:
        """Return how far the uniform is from where the answer is given; if none is named, from where any other is."""
        if answer is not None:
            place = self._place(answer)
            low, high = self.cuts[place], self.cuts[place + 1]
            return max(low - self.uniform, self.uniform - high, 0 * self.uniform)
        place = self._place(self.answer)
        inner = [cut for cut in self.cuts[place : place + 2] if 0 < cut < 1]
        return min((abs(self.uniform - cut) for cut in inner), default=None)

    def neighbours(self) -> list[Any]:
        """Return the answers next to the one given: on both sides the next that has an interval of its own."""
        if isinstance(self.answer, bool):
            return [not self.answer] if 0 < self.cuts[1] < 1 else []
        place = self._place(self.answer)
        wide = [i for i in range(len(self.cuts) - 1) if self.cuts[i] < self.cuts[i + 1] and i != place]
        return [*[i for i in wide if i < place][-1:], *[i for i in wide if i > place][:1]]

    def _place(self, answer: Any) -> int:
        return int(not answer) if isinstance(answer, bool) else int(answer)


class WatchingCoin(FlipAndDraw):
    """A coin that takes uniforms in order, or by columns: flip i takes uniform i, the draw the last one.

    `forced` names decisions, by their place, whose answer is given whatever their uniform says.
    """

    def __init__(self, uniforms: Sequence[Any], columns: bool = False, forced: Mapping[int, Any] | None = None) -> None:
        self.decisions: list[Decision] = []
        self._uniforms, self._columns, self._forced = list(uniforms), columns, dict(forced or {})
        self._next = 0

    def flip(self, p: Any) -> bool:
        """Return whether the next uniform is below p, and note it."""
        uniform = self._take(last=False)
        answer = replay(lambda coin: coin.flip(p), [uniform])
        return bool(self._noted(Decision(f"flip({p})", uniform, answer, (0, p, 1))))

    def draw(self, masses: Any) -> int:
        """Return the token that the uniform draws, and note it."""
        uniform = self._take(last=True)
        cumulative = masses if isinstance(masses, Cumulative) else Cumulative(masses)
        sums = cumulative.sums
        cuts = (0, *(total / sums[-1] for total in sums))
        return int(self._noted(Decision(f"draw of {len(sums)}", uniform, cumulative.at(uniform), cuts)))

    def _take(self, last: bool) -> Any:
        place = len(self._uniforms) - 1 if self._columns and last else self._next
        if place >= len(self._uniforms):
            raise ValueError(f"the program asks for more uniforms than the {len(self._uniforms)} that were given")
        self._next = place + 1
        return self._uniforms[place]

    def _noted(self, decision: Decision) -> Any:
        answer = self._forced.get(len(self.decisions), decision.answer)
        self.decisions.append(decision)
        return answer


def watch(
    program: Callable[[Coin], Any],
    uniforms: Sequence[Any],
    columns: bool = False,
    forced: Mapping[int, Any] | None = None,
) -> tuple[Any, list[Decision]]:
    """Run a program on given uniforms; return its outcome and its decisions.

    Raises:
        ValueError: the program asks for more uniforms than were given, or one lies outside [0, 1).
    """
    coin = WatchingCoin(uniforms, columns, forced)
    outcome = program(coin)
    return outcome, coin.decisions
