"""Second ways to the same numbers: enumeration by forking, optima by brute force over subsets. No library formula."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from fractions import Fraction
from itertools import combinations, product
from typing import Any


class _Fork(BaseException):  # no error, and nothing that a verifier may catch
    def __init__(self, masses: list[Any]) -> None:
        super().__init__()
        self.masses = masses


class _Forced:
    """A coin that answers from a list, and stops the program where the list ends."""

    def __init__(self, answers: tuple[int, ...]) -> None:
        self._answers = iter(answers)

    def _answer(self, masses: list[Any]) -> int:
        try:
            return next(self._answers)
        except StopIteration:
            raise _Fork(masses) from None

    def flip(self, p: Any) -> bool:
        return self._answer([1 - p, p]) == 1

    def draw(self, masses: Any) -> int:
        return self._answer(list(getattr(masses, "masses", masses)))


def forked(program: Callable[[Any], Any]) -> dict[Any, Any]:
    """The law of a program, found breadth first: run it on ever longer lists of answers until it returns."""
    waiting: list[tuple[tuple[int, ...], Any]] = [((), Fraction(1))]
    found: dict[Any, Any] = {}
    while waiting:
        answers, weight = waiting.pop(0)
        try:
            outcome = program(_Forced(answers))
        except _Fork as fork:
            waiting += [((*answers, i), weight * mass) for i, mass in enumerate(fork.masses) if mass != 0]
        else:
            found[outcome] = found.get(outcome, 0) + weight
    return found


def independent_drafts(draft: Sequence[Any], k: int) -> dict[tuple[int, ...], Any]:
    """The law of k i.i.d. drafts, written out."""
    law: dict[tuple[int, ...], Any] = {}
    for tokens in product(range(len(draft)), repeat=k):
        mass = Fraction(1)
        for token in tokens:
            mass = mass * draft[token]
        if mass != 0:
            law[tokens] = mass
    return law


def successive_drafts(draft: Sequence[Any], k: int) -> dict[tuple[int, ...], Any]:
    """The law of k drafts without replacement; the whole support where it has fewer than k tokens."""
    support = [token for token in range(len(draft)) if draft[token] != 0]
    law: dict[tuple[int, ...], Any] = {(): Fraction(1)}
    for _ in range(min(k, len(support))):
        law = {
            (*tokens, y): mass * draft[y] / (1 - sum(draft[x] for x in tokens))
            for tokens, mass in law.items()
            for y in support
            if y not in tokens
        }
    return law


def subsets(size: int) -> Iterator[frozenset[int]]:
    """All sets of tokens."""
    for count in range(size + 1):
        for chosen in combinations(range(size), count):
            yield frozenset(chosen)


def optimum(target: Sequence[Any], drafts: dict[tuple[int, ...], Any]) -> Any:
    """The most that a coupling of these drafts with the target can have in common: the minimum over all 2^V cuts."""
    return 1 - max(
        sum((mass for tokens, mass in drafts.items() if inside.issuperset(tokens)), Fraction(0))
        - sum((target[token] for token in inside), Fraction(0))
        for inside in subsets(len(target))
    )
