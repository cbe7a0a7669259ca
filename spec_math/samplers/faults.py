"""The meaning of a broken path for the verdict: lossy where another path is sound, not judged where none is."""

from __future__ import annotations

import math
import random
import re
from collections.abc import Callable, Generator
from contextlib import contextmanager, nullcontext
from typing import Any

import numpy as np

from spec_math.pathwise.places import patched
from spec_math.samplers.case import Case
from spec_math.samplers.subject import Subject
from spec_math.samplers.walk import Fault, Walk
from spec_math.verdict import Lossy, Reason, Undecided
from spec_math.wording import counted

RUNS = 5_000
"""Plain runs at most, to see an exception come up for real."""

OF_TYPES = ("TypeError", "AttributeError", "NotImplementedError")
"""Exceptions that the type of an argument causes: where the caller stated no type, they say nothing."""

OF_SHAPES = re.compile(
    "could not be broadcast|size of tensor a|[Ss]hape mismatch|shapes .* not aligned|[0-9]-dimensional"
)
"""Messages of arrays whose shapes do not fit: the judge may have handed over rows that were not meant."""


def judged_fault(subject: Subject, case: Case, found: Walk, walked: Callable[[], Walk]) -> Lossy | Undecided:
    """Return the verdict on a walk that met a fault: Lossy if another path is sound and the fault comes up again.

    An exception of followed code must come up in a plain run too, with real random numbers: it may be due to the
    objects that stand in for them. Runs are as many as find a path of its probability with chance 1 − e^−20, and
    `RUNS` at most; in every second of these, Python's uniforms are often as close to 0 or 1 as they rarely are.
    """
    fault = found.fault or Fault("", "")
    # What a verifier asks of its coin is its own doing, on every path too: masses that are no distribution.
    asked_of_coin = subject.shape == "verifier" and fault.kind == "ChanceError"
    if found.faults == found.paths and not asked_of_coin:
        return Undecided(Reason.NOT_JUDGED, f"{_every(found)}, {fault.said}{_advice(subject, case, fault)}", fault.way)
    if fault.kind in ("padding", "refusal"):
        return Undecided(Reason.NOT_JUDGED, fault.said + _advice(subject, case, fault), fault.way)
    raised = fault.kind not in ("form", "tokens")
    if raised and subject.shape != "verifier" and OF_SHAPES.search(fault.said):
        said = f"{fault.said}, on some paths: it may take rows of another shape, and not be meant to be called so"
        return Undecided(Reason.NOT_JUDGED, said + _advice(subject, case, fault), fault.way)
    if raised and subject.others and fault.kind in OF_TYPES:
        said = f"{fault.said}, on some paths, given {subject.numbers.name} by default; say which numbers it takes"
        return Undecided(Reason.NOT_JUDGED, said, fault.way)
    again = walked().fault
    if again is None or (again.kind, again.way) != (fault.kind, fault.way):
        return Undecided(Reason.RANDOMNESS_NOT_SEEN, f"{fault.said}, but not when the same path was followed again")
    if raised and subject.shape != "verifier" and not _comes_up(subject, case, fault):
        said = f"{fault.said}, while random numbers were followed, but in none of up to {RUNS:,} plain runs"
        return Undecided(Reason.RANDOMNESS_NOT_SEEN, said, fault.way)
    return Lossy(fault.said, path=fault.way)


def _every(found: Walk) -> str:
    walked = f"{counted(found.paths, 'path')} followed"
    return f"on all {walked}" if found.unexplored else f"nothing was judged: on every path ({walked})"


def _advice(subject: Subject, case: Case, fault: Fault) -> str:
    call = f"it was called as {subject.call}, given {subject.numbers.name}"
    if fault.kind == "refusal":
        return (
            "; if that means that all drafts were rejected, wrap the function so that it returns the token that is "
            f"then drawn from the residual; {call}"
        )
    if fault.kind == "form":
        return f"; {call}; wrap it so that it returns the token, or the list of tokens, that it emits"
    if fault.kind == "padding":
        return "; strip the padding: [token for token in emitted if token >= 0]"
    chain = "" if case.lookahead else "; if it takes drafts in a row, give a lookahead"
    return f"; {call}{chain}"


def _comes_up(subject: Subject, case: Case, fault: Fault) -> bool:
    """Run the function on the fault's drafts with its own random numbers until the same exception comes up."""
    chance: Any = fault.mass
    for row, token in zip(case.drafted_from, fault.tokens, strict=False):
        chance = chance / row[token]
    held = random.getstate(), np.random.get_state()  # noqa: NPY002 - the state that the code may draw from
    try:
        for number in range(min(RUNS, math.ceil(20 / chance)) if chance else RUNS):
            try:
                with _seldom(number) if number % 2 else nullcontext():
                    subject.run(case.rows, fault.tokens)
            except (Exception, SystemExit) as error:  # whatever it raises is compared
                if type(error).__name__ == fault.kind:
                    return True
    finally:
        random.setstate(held[0])
        np.random.set_state(held[1])  # noqa: NPY002
    return False


@contextmanager
def _seldom(seed: int) -> Generator[None]:
    """Let Python's uniforms often be close to 0 or 1 while the block lasts: numbers k/2^53 that it draws, if seldom."""
    own = random.Random(seed)
    plain: Callable[[Any], float] = random.Random.random
    hidden: Any = getattr(random, "_inst", None)

    def uniform(self: Any) -> float:
        if self is own or own_number() < 0.5:
            return plain(self)
        close = int(2.0 ** (53 * own_number())) / 2.0**53
        return close if own_number() < 0.5 else 1 - close

    def own_number() -> float:
        return plain(own)

    with patched([(random.Random, {"random": uniform}), (random, {"random": lambda: uniform(hidden)})]):
        yield
