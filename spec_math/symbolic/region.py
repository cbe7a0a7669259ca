"""A region: the laws on which some polynomials have certain signs. It answers comparisons, or asks to be split."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from contextlib import suppress
from fractions import Fraction
from time import process_time
from typing import Any

from spec_math.symbolic.number import SymbolError
from spec_math.symbolic.points import Point, Points, evaluated, sign_at
from spec_math.symbolic.polynomial import (
    ANY,
    NEGATIVE,
    SINGLE,
    ZERO,
    Field,
    Polynomial,
    RationalFunction,
    flipped,
    product,
    sign_of,
)
from spec_math.symbolic.solver import Solver

Conditions = dict[Polynomial, int]
KEPT_MASSES = "a mass of another run is asked for: keep no masses between two calls"
LAST_LOOK = 1_000_000
"""What z3 may spend on a region on which a proof would fail, in its own units."""


class Split(BaseException):
    """A question with more than one answer on a region: the polynomial and the sets of signs that decide it.

    No Exception, so that no judge of programs takes it for a fault of the program.
    """

    def __init__(self, polynomial: Polynomial, parts: Sequence[int]) -> None:
        super().__init__(polynomial)
        self.polynomial = polynomial
        self.parts = tuple(parts)


class EmptyRegion(BaseException):
    """The solver has found out that a region holds no laws at all."""


class Spent(BaseException):
    """The processor time of a proof is used up."""


class BrokenOff(BaseException):
    """A run that is not wanted any further."""


class SignNode:
    """A node of the tree of signs of a proof: it asks for the sign of a polynomial, or holds what was judged there.

    `parts` are the nodes below by their sets of signs. `solved` is the variable for which the equality above it is
    solved. `held` is what was kept of the verdict of its region. A node with neither parts nor verdict is a region that
    holds no distributions. The root of a tree says by `kept` what is kept, and knows the `space` of the proof.
    """

    def __init__(self, kept: Callable[[], Any] | None = None) -> None:
        self.polynomial: Polynomial | None = None
        self.parts: dict[int, SignNode] = {}
        self.solved: int | None = None
        self.held: Any = None
        self.kept = kept
        self.space: Space | None = None

    def asks(self, polynomial: Polynomial, parts: Iterable[int]) -> None:
        """Ask for the sign of a polynomial: one part for each of these sets of signs."""
        self.polynomial, self.parts = polynomial, {wanted: SignNode() for wanted in parts}


class Space:
    """Parts that all regions of one proof share: the field, the grid of points, the solver, and how often it said no.

    Raises:
        Spent: more processor time than `limit` seconds, at the first question after that.
    """

    def __init__(self, names: Sequence[str], points: Points, limit: float | None = None) -> None:
        self.field = Field(names)
        self.points = points
        self.solver = Solver(self.field.ring)
        self.discarded = 0
        self.running: Region | None = None
        self._ends = None if limit is None else process_time() + limit

    def look_at_the_clock(self) -> None:
        """Raise `Spent` where the time limit is used up."""
        if self._ends is not None and process_time() > self._ends:
            raise Spent


class Region:
    """The laws where each polynomial of `conditions` has one of its signs, with what is known to follow.

    `values` are the variables as functions of those that are left, once linear equalities are solved. `alive` are the
    grid's points in the region, `witnesses` further ones; where there are none the solver decides what is possible.
    `asked` are the questions of a run with their answers; from `most_questions` on the run is broken off. Once its run
    is `over`, no program may ask.
    A `strict` region follows no chance without asking whether it is 0. Where it has a list `later`, a question that
    splits it makes it the first of the parts, on which the program goes on, and puts the others on the list.
    """

    def __init__(self, space: Space, conditions: Conditions, values: tuple[RationalFunction, ...], alive: Any) -> None:
        self.space = space
        self.field: Field = space.field
        self.conditions = conditions
        self.values = values
        self.alive = alive
        self.witnesses: list[Point] = []
        self._known = dict(conditions)
        self.facts = dict(conditions)
        self.strict = False
        self.open: Split | None = None
        self.later: list[Region] | None = None
        self.refused: SymbolError | None = None
        self._answers: dict[tuple[int, int], bool] = {}
        self.asked: list[tuple[int, int, bool]] = []
        self.most_questions: int | None = None
        self.over = False
        self.node: SignNode | None = None

    @property
    def running(self) -> bool:
        """Say whether a program is followed, on this region or on another one."""
        return self.space.running is not None

    def refuse(self, error: SymbolError) -> None:
        """Note the first refusal, on the region on which a program is followed."""
        region = self.space.running or self
        if region.refused is None:
            region.refused = error

    def has_sign(self, value: RationalFunction, wanted: int) -> bool:
        """Say whether a function has one of the wanted signs all over the region.

        Raises:
            Split: it has on one part and has not on another, and the program cannot go on with one of them.
        """
        self._look_at_the_run()
        key = (value.index, wanted)
        found = self._answers.get(key)
        if found is None:
            found = self._answers[key] = self._decided(value, wanted)
        self.asked.append((*key, found))
        return found

    def is_zero(self, value: RationalFunction) -> bool:
        """Say whether a function is known to vanish all over the region."""
        if self.strict:
            return self.has_sign(value, ZERO)
        self._look_at_the_run()
        # Not from `facts`: what is learnt on the way must not change the paths of a program half walked.
        return self._known.get(value.top.primitive()[1]) == ZERO

    def _look_at_the_run(self) -> None:
        """Raise where a program asks a mass of another run, or where its run is to be broken off."""
        if self.over or self.space.running not in (None, self):
            error = SymbolError(KEPT_MASSES)
            self.refuse(error)
            raise error
        if self.most_questions is not None and len(self.asked) >= self.most_questions:
            raise BrokenOff

    def impossible(self) -> bool:
        """Ask the solver with a longer limit whether the region holds no laws, where nothing else has settled it."""
        if len(self.alive) or self.witnesses:
            return False
        gone = self.space.solver.ask(self.conditions.items(), LAST_LOOK).impossible
        self.space.discarded += gone
        return gone

    def holds(self, point: Point) -> bool:
        """Say whether a point, in the coordinates of all variables, lies in the region."""
        solved = self.completed(point) == tuple(point)
        return solved and all(sign_at(polynomial, point) & wanted for polynomial, wanted in self.conditions.items())

    @property
    def solved(self) -> int:
        """The number of variables that follow from the others by equalities."""
        return sum(value is not own for value, own in zip(self.values, self.field.variables, strict=True))

    def completed(self, left: Sequence[Fraction]) -> Point:
        """Return the point with these values of the variables that are left; those that were solved follow."""
        return tuple(evaluated(value.top, left) / _scale(value) for value in self.values)

    def copied(self) -> Region:
        """Return the same region with all that is known of it, for another run."""
        region = self._part(self.conditions, self.values, self.facts)
        region._known, region.strict, region._answers = self._known, self.strict, dict(self._answers)
        return region

    def made_strict(self) -> Region:
        """Return the same region, on which every chance is asked whether it is 0 before it is followed."""
        region = self._part(self.conditions, self.values, self.facts)
        region.strict, region.node = True, self.node
        return region

    def _part(self, conditions: Conditions, values: tuple[RationalFunction, ...], facts: Conditions) -> Region:
        """Return a region of these conditions with the same points, of which all this is known before any question."""
        region = Region(self.space, conditions, values, self.alive)
        region._known, region.facts, region.witnesses = dict(facts), dict(facts), list(self.witnesses)
        return region

    def split(self, polynomial: Polynomial, wanted: int) -> Region:
        """Return the part of the region where a polynomial has one of the wanted signs."""
        conditions = {**self.conditions, polynomial: self.facts.get(polynomial, ANY) & wanted}
        pivot = _pivot(polynomial) if wanted == ZERO else None
        node = None if self.node is None else self.node.parts[wanted]
        if node is not None:
            node.solved = pivot
        if pivot is None:
            part = self._part(conditions, self.values, {**self.facts, **conditions})
            part._answers = dict(self._answers)  # what is so all over the region is so on its parts
        else:
            part = self._solved(polynomial, pivot)
        part.alive = self.alive[(self.space.points.signs(polynomial)[self.alive] & wanted) != 0]
        part.witnesses = [point for point in self.witnesses if sign_at(polynomial, point) & wanted]
        part.strict, part.node = self.strict, node
        return part

    def parts(self, split: Split) -> list[Region]:
        """Return the parts of the region by the sets of signs of a question, without those that hold no laws."""
        found: list[Region] = []
        for wanted in split.parts:
            with suppress(EmptyRegion):
                found.append(self.split(split.polynomial, wanted))
        return found

    def points(self) -> Iterable[Point]:
        """Return rational points of the region, those that were met on the way to it."""
        yield from self.witnesses
        for place in self.alive:
            yield self.space.points.at(int(place))

    def _solved(self, polynomial: Polynomial, variable: int) -> Region:
        """Solve an equality for a variable, and put it into all else."""
        parts = polynomial.coefficients(variable)
        top, bottom = self.field.ring.scaled(parts.get(0, self.field.ring.zero), -1), parts[1].constant or 1
        values = tuple(self._put(value, variable, top, bottom) for value in self.values)

        def put(polynomial: Polynomial) -> Polynomial:
            return self.field.ring.with_value(polynomial, variable, top, bottom)

        return self._part(self._put_into_all(self.conditions, put), values, self._put_into_all(self.facts, put))

    def _put_into_all(self, conditions: Conditions, put: Callable[[Polynomial], Polynomial]) -> Conditions:
        """Return conditions with an equality put into them; those that turn into numbers are checked and dropped."""
        result: Conditions = {}
        for condition, wanted in conditions.items():
            content, left = put(condition).primitive()
            wanted = wanted if content > 0 else flipped(wanted)
            if left.constant is None:
                wanted &= result.get(left, ANY)
                result[left] = wanted
            else:
                wanted &= sign_of(left.constant)
            if not wanted:
                raise EmptyRegion
        return result

    def _put(self, value: RationalFunction, variable: int, top: Polynomial, bottom: int) -> RationalFunction:
        power = max(value.top.coefficients(variable), default=0)
        scale = _scale(value) * abs(bottom) ** power
        polynomial = self.field.ring.with_value(value.top, variable, top, bottom)
        return self.field.of(polynomial, self.field.ring.number(scale))

    def _decided(self, value: RationalFunction, wanted: int) -> bool:
        content, top = self._reduced(value.top).primitive()
        if top.constant == 0:
            return bool(wanted & ZERO)
        if top in self.facts or top.degree <= 1:
            factors = [(top, 1)]
        else:
            sign, found = top.factors()
            content, factors = content * sign, list(found)
        factors += value.bottom.factors()[1]
        while True:
            known = [(self.facts.get(factor, ANY), power) for factor, power in factors]
            possible = product(known, sign_of(content))
            if not possible & ~wanted:
                return True
            if not possible & wanted:
                return False
            self._refine(factors, known, wanted, sign_of(content))

    def _reduced(self, polynomial: Polynomial) -> Polynomial:
        """Return 0 for a polynomial that vanishes by the region's unsolved equalities, others as they are."""
        left = polynomial
        for equality, wanted in self.conditions.items():
            if wanted != ZERO or not left.terms:
                continue
            for variable in equality.variables():
                lead = equality.coefficients(variable)
                if not self._known_signs(lead[max(lead)]) & ZERO:
                    left = self.field.ring.remainder(left, equality, variable)
                    break
        return polynomial if left.terms else left

    def _known_signs(self, polynomial: Polynomial) -> int:
        content, factors = polynomial.factors()
        known = [(self.facts.get(factor, ANY), power) for factor, power in factors]
        return product(known, sign_of(content))

    def _refine(
        self, factors: list[tuple[Polynomial, int]], known: list[tuple[int, int]], wanted: int, sign: int
    ) -> None:
        """Learn more about the first factor whose sign is open; split if it can go either way."""
        at = next(at for at, (had, _) in enumerate(known) if had not in SINGLE)
        polynomial, had = factors[at][0], known[at][0]
        parts = [single for single in SINGLE if single & had]
        if all(other in SINGLE for place, (other, _) in enumerate(known) if place != at):
            # Only the answer matters now: the signs that lead to "yes" stay together, and those that lead to "no".
            yes = 0
            for single in parts:
                outcome = product([*known[:at], (single, known[at][1]), *known[at + 1 :]], sign)
                yes |= single if outcome & wanted else 0
            parts = sorted((yes, had & ~yes), key=lambda part: part in (ZERO, NEGATIVE, 0))
        parts = [part for part in parts if part]
        feasible = [part for part in parts if self._feasible(polynomial, part)]
        if self.node is not None:
            self.node.asks(polynomial, parts)
        if not feasible:
            raise EmptyRegion
        if len(feasible) == 1:
            self.facts[polynomial] = feasible[0]
            self.node = None if self.node is None else self.node.parts[feasible[0]]
        elif not self._goes_on(Split(polynomial, feasible)):
            self.open = Split(polynomial, feasible)
            raise self.open

    def _goes_on(self, split: Split) -> bool:
        """Become the first of the parts in the middle of a run; say whether that run is the one the part would have.

        It is not where the part has solved an equality, or knows of a chance that is 0 and was followed all the same.
        """
        if self.later is None or self.refused is not None:
            return False
        zero = [polynomial for polynomial, wanted in self.facts.items() if wanted == ZERO]
        first = self.facts.get(split.polynomial, ANY) & split.parts[0]
        if first == ZERO or any(self._known.get(polynomial) != ZERO for polynomial in zero):
            return False
        part, *others = self.parts(split)
        self.later += reversed(others)
        self.conditions, self.facts = part.conditions, part.facts
        self.alive, self.witnesses, self.node = part.alive, part.witnesses, part.node
        return True

    def _feasible(self, polynomial: Polynomial, wanted: int) -> bool:
        """Say whether a polynomial can have these signs; False is proved, True may be a guess."""
        self.space.look_at_the_clock()
        if bool((self.space.points.signs(polynomial)[self.alive] & wanted).any()):
            return True
        if any(sign_at(polynomial, point) & wanted for point in self.witnesses):
            return True
        answer = self.space.solver.ask([*self.conditions.items(), (polynomial, wanted)])
        if answer.impossible:
            self.space.discarded += 1
            return False
        if answer.point is not None:
            self.witnesses.append(self.completed([answer.point[at] for at in range(len(self.values))]))
        return True


def _pivot(polynomial: Polynomial) -> int | None:
    """Return a variable that an equality can be solved for: it occurs as c·x alone, c a number."""
    for variable in polynomial.variables():
        parts = polynomial.coefficients(variable)
        if max(parts) == 1 and parts[1].constant is not None:
            return variable
    return None


def _scale(value: RationalFunction) -> int:
    """Return the number that a variable's value is divided by: it is a polynomial besides."""
    return value.bottom.constant or 1
