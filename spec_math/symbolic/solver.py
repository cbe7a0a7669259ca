"""The solver z3, asked one question: can these polynomials have these signs at once? Its "no" is a proof."""

from __future__ import annotations

from collections.abc import Iterable
from fractions import Fraction
from operator import eq, ge, gt, le, lt, ne
from typing import Any, NamedTuple

from spec_math.symbolic.polynomial import NEGATIVE, NONNEGATIVE, NONPOSITIVE, NONZERO, POSITIVE, ZERO, Polynomial, Ring

PATIENCE = 100_000
"""What z3 may spend on one question, in its own units, the same on every machine: about a tenth of a second where it is
used up. In the hardest of these proofs no question that it could answer took more than 60,000."""
SECONDS_PER_UNIT = 2e-5
"""A net below it, twenty times wider: some steps of z3 are not counted."""
_INTERRUPTED = "interrupted from keyboard"


_COMPARED = {NEGATIVE: lt, NONPOSITIVE: le, ZERO: eq, NONNEGATIVE: ge, POSITIVE: gt, NONZERO: ne}


class Answer(NamedTuple):
    """The answer of z3: `impossible` is a proof; `point` are values of the variables, where it has rational ones."""

    impossible: bool
    point: dict[int, Fraction] | None


class Solver:
    """The questions of one ring to z3.

    Raises:
        ModuleNotFoundError: z3 is not installed.
    """

    def __init__(self, ring: Ring) -> None:
        try:
            import z3  # pyright: ignore[reportMissingTypeStubs]
        except ModuleNotFoundError as error:
            raise ModuleNotFoundError(
                "proofs for all distributions need z3 to discard impossible regions; install the extra: pip install "
                "'spec_math[prove]'"
            ) from error
        self._z3: Any = z3
        self._variables: list[Any] = [z3.Real(name) for name in ring.names]
        self._written: dict[int, Any] = {}
        self._conditions: dict[tuple[int, int], Any] = {}
        self._linear: dict[tuple[int, frozenset[tuple[int, int]]], Answer] = {}
        self.asked = 0

    def ask(self, conditions: Iterable[tuple[Polynomial, int]], patience: int = PATIENCE) -> Answer:
        """Ask whether the polynomials can have these signs at once; what fewer conditions exclude is out at once.

        First the linear ones; then all but those that say no more than "not 0", with which z3 is slow.
        """
        listed = list(conditions)
        self.asked += 1
        linear = [pair for pair in listed if pair[0].degree <= 1]
        found = self._of_linear(linear, patience)
        if found.impossible or len(linear) == len(listed):
            return found
        telling = [pair for pair in listed if pair[1] != NONZERO]
        found = self._answer("QF_NRA", telling, patience)
        return found if found.impossible or len(telling) == len(listed) else self._answer("QF_NRA", listed, patience)

    def _of_linear(self, conditions: list[tuple[Polynomial, int]], patience: int) -> Answer:
        """Answer for linear polynomials: with one that is not, these are a region's own, asked for again and again."""
        key = patience, frozenset((polynomial.index, wanted) for polynomial, wanted in conditions)
        if key not in self._linear:
            self._linear[key] = self._answer("QF_LRA", conditions, patience)
        return self._linear[key]

    def _answer(self, logic: str, conditions: list[tuple[Polynomial, int]], patience: int) -> Answer:
        solver = self._z3.SolverFor(logic)
        solver.set("rlimit", patience)
        solver.set("timeout", max(1, round(1000 * SECONDS_PER_UNIT * patience)))
        solver.add(*[self._condition(*pair) for pair in conditions])
        answer = solver.check()
        if answer == self._z3.unsat:
            return Answer(True, None)
        if answer == self._z3.unknown and solver.reason_unknown() == _INTERRUPTED:
            raise KeyboardInterrupt  # z3 has taken the signal for itself, and Python has not seen it
        return Answer(False, self._point(solver.model()) if answer == self._z3.sat else None)

    def _point(self, model: Any) -> dict[int, Fraction] | None:
        point: dict[int, Fraction] = {}
        for at, variable in enumerate(self._variables):
            value = model.eval(variable, model_completion=True)
            if not self._z3.is_rational_value(value):
                return None
            point[at] = Fraction(value.numerator_as_long(), value.denominator_as_long())
        return point

    def _condition(self, polynomial: Polynomial, wanted: int) -> Any:
        key = (polynomial.index, wanted)
        if key not in self._conditions:
            self._conditions[key] = _COMPARED[wanted](self._expression(polynomial), 0)
        return self._conditions[key]

    def _expression(self, polynomial: Polynomial) -> Any:
        if polynomial.index not in self._written:
            terms: list[Any] = []
            for powers, coefficient in polynomial.terms.items():
                term: Any = self._z3.RealVal(coefficient)
                for variable, power in zip(self._variables, powers, strict=True):
                    for _ in range(power):
                        term = term * variable
                terms.append(term)
            self._written[polynomial.index] = self._z3.Sum(terms) if terms else self._z3.RealVal(0)
        return self._written[polynomial.index]
