"""Each operation that a number of Python's has: a symbol does what a Fraction does, or refuses. None is forgotten."""

from __future__ import annotations

import cmath
import copy
import math
import operator
import pickle
from collections.abc import Callable
from decimal import Decimal
from fractions import Fraction
from functools import partial
from itertools import product
from typing import Any

import numpy as np
import pytest

from proofs_tests.symbolic.places import worth
from spec_math.symbolic import SymbolError, Theorem, prove, regions
from spec_math.symbolic.number import HIGHEST, Number
from spec_math.verdict import Reason, Undecided

pytest.importorskip("z3")

THIRD, INF, NAN = Fraction(1, 3), float("inf"), float("nan")

EXACT: dict[str, tuple[Callable[[Any], Any], ...]] = {
    "__abs__": (abs, lambda x: abs(x - THIRD), np.abs),
    "__add__": (lambda x: x + 2, lambda x: x + THIRD, lambda x: x + np.int64(3), lambda x: x + True, lambda x: x + x),
    "__bool__": (bool, lambda x: not x - THIRD),
    "__copy__": (copy.copy,),
    "__deepcopy__": (copy.deepcopy, lambda x: copy.deepcopy([x])[0]),
    "__eq__": (
        *(partial(operator.eq, other) for other in (0, THIRD, 0.5, np.float64(0.5), 0.1, INF, NAN, None, "x")),
        lambda x: x == 0.5,
        lambda x: x in [THIRD, 1],
    ),
    "__ge__": tuple(partial(operator.le, other) for other in (0, THIRD, 0.5, np.float64(0.5), 1 / 3, INF, -INF, NAN)),
    "__gt__": tuple(partial(operator.lt, other) for other in (0, THIRD, 0.5, np.float64(0.5), 1 / 3, INF, -INF, NAN)),
    "__le__": tuple(partial(operator.ge, other) for other in (1, THIRD, 0.5, np.float64(0.5), 1 / 3, INF, -INF, NAN)),
    "__lt__": tuple(partial(operator.gt, other) for other in (1, THIRD, 0.5, np.float64(0.5), 1 / 3, INF, -INF, NAN)),
    "__mul__": (lambda x: x * 2, lambda x: x * THIRD, lambda x: x * x),
    "__ne__": tuple(partial(operator.ne, other) for other in (0, THIRD, 0.5, INF, NAN, None)),
    "__neg__": (operator.neg,),
    "__pos__": (operator.pos,),
    "__pow__": (
        *(partial(lambda power, x: (x + 1) ** power, power) for power in (-3, -1, 0, 1, 2, Fraction(-2), np.int64(2))),
        lambda x: pow(x + 1, -2),
        lambda x: np.power(np.array([x + 1], dtype=object), -1)[0],
        lambda x: np.array([x + 1], dtype=object) ** 2 @ np.array([1]),
        lambda x: math.prod([x, x]),
    ),
    "__radd__": (lambda x: 2 + x, lambda x: THIRD + x, lambda x: np.int64(3) + x, lambda x: sum([x, x])),
    "__rmul__": (lambda x: 2 * x, lambda x: THIRD * x, lambda x: np.int64(3) * x),
    "__rsub__": (lambda x: 2 - x, lambda x: THIRD - x, lambda x: np.int64(3) - x),
    "__rtruediv__": (lambda x: 2 / (x + 1), lambda x: THIRD / (x + 1), lambda x: np.int64(3) / (x + 1)),
    "__sub__": (lambda x: x - 2, lambda x: x - THIRD, lambda x: x - x),
    "__truediv__": (lambda x: x / 2, lambda x: x / THIRD, lambda x: x / (x + 1)),
    "conjugate": (lambda x: x.conjugate(), lambda x: np.conj(np.array([x], dtype=object))[0]),
    "from_decimal": (lambda x: x + x.from_decimal(Decimal("0.5")),),
    "from_float": (lambda x: x + x.from_float(0.5),),
    "imag": (lambda x: x.imag,),
    "real": (lambda x: x.real,),
    "__class__": (lambda x: isinstance(x, Fraction), lambda x: type(x)(1, 3), lambda x: issubclass(type(x), Fraction)),
    "__new__": (lambda x: x.__new__(type(x), 1, 3),),
}
"""What a symbol does as a Fraction does, by the name of the method, each with uses of it."""

REFUSED: dict[str, tuple[Callable[[Any], Any], ...]] = {
    "__ceil__": (math.ceil, lambda x: np.ceil(np.array([x], dtype=object))),
    "__complex__": (complex, cmath.sqrt),
    "__divmod__": (lambda x: divmod(x, 1),),
    "__float__": (
        float,
        math.sqrt,
        math.isnan,
        lambda x: math.isclose(x, THIRD),
        lambda x: math.fsum([x]),
        lambda x: np.float64(x),
        lambda x: np.array([x], dtype=object).astype(float),
        lambda x: max(x, 1, key=float),
    ),
    "__floor__": (math.floor, lambda x: np.floor(np.array([x], dtype=object))),
    "__floordiv__": (lambda x: x // THIRD,),
    "__format__": (lambda x: f"{x}", lambda x: format(x, ">9"), lambda x: "{:}".format(x)),  # noqa: UP032
    "__getstate__": (lambda x: x.__getstate__(),),
    "__hash__": (hash, lambda x: {x}, lambda x: {(x, 1): 0}, lambda x: frozenset([x]), lambda x: x in {THIRD}),
    "__int__": (int,),
    "__mod__": (lambda x: x % THIRD, lambda x: np.mod(np.array([x], dtype=object), THIRD)),
    "__rdivmod__": (lambda x: divmod(1, x),),
    "__reduce__": (lambda x: x.__reduce__(),),
    "__reduce_ex__": (pickle.dumps,),
    "__repr__": (repr, lambda x: str([x]), lambda x: "%r" % x),  # noqa: UP031
    "__rfloordiv__": (lambda x: 1 // x,),
    "__rmod__": (lambda x: 1 % x,),
    "__round__": (round, lambda x: round(x, 9)),
    "__rpow__": (lambda x: 2**x, lambda x: THIRD**x),
    "__str__": (str, lambda x: "%s" % x, lambda x: np.array([x], dtype=object).astype(str)),  # noqa: UP031
    "__trunc__": (math.trunc,),
    "_denominator": (lambda x: x._denominator,),
    "_numerator": (lambda x: x._numerator, lambda x: Fraction.__add__(THIRD, x)),
    "as_integer_ratio": (lambda x: x.as_integer_ratio(),),
    "denominator": (lambda x: x.denominator, Fraction, lambda x: Decimal(1) == x),
    "is_integer": (lambda x: x.is_integer(),),
    "limit_denominator": (lambda x: x.limit_denominator(9),),
    "numerator": (lambda x: x.numerator,),
}
"""What a symbol refuses, by the name of the method, each with uses of it."""

FLOATS: tuple[Callable[[Any], Any], ...] = (
    *(partial(operation, 0.5) for operation in (operator.add, operator.sub, operator.mul, operator.truediv)),
    *(partial(operation, np.float32(0.5)) for operation in (operator.add, operator.mul)),
    *(partial(operation, 0.5j) for operation in (operator.add, operator.eq)),
    lambda x: x + 0.0,
    lambda x: x > np.float32(0.5),
    lambda x: x**0.5,
    lambda x: x**THIRD,
    lambda x: x ** (HIGHEST + 1),
    lambda x: x**x,
    lambda x: sum([x], 0.0),
    lambda x: np.float64(1) / (x + 1),
    lambda x: np.array([x], dtype=object) @ np.array([0.5]),
    lambda x: np.full(2, 0.5) * x,
    lambda x: x.__pow__(-HIGHEST - 1),
)
"""Arithmetic that leaves the exact numbers, or the powers that are multiplied out."""

INHERITED = {"__dir__", "__doc__", "__getattribute__", "__init__", "__init_subclass__", "__module__", "__setattr__"}
INHERITED |= {"__delattr__", "__sizeof__", "__slots__", "__subclasshook__", "__abstractmethods__", "_abc_impl"}
"""What every object has, and tells no mass from another."""

PRIVATE = {"_add", "_sub", "_mul", "_div", "_floordiv", "_divmod", "_mod", "_richcmp", "_operator_fallbacks"}
PRIVATE |= {"_from_coprime_ints", "_from_numeric"}
"""A Fraction's own way to compute, which asks for numerators: those are refused."""

NAMES = sorted({*dir(Fraction), *dir(float), *dir(int), *dir(np.float64)})


def on_one_law(use: Callable[[Any], Any]) -> list[Any]:
    return [found.verdict for found in regions(Theorem("a use", "", lambda t: [use(t[0])], {"t": 2}))]


@pytest.mark.parametrize("name", NAMES)
def test_each_operation_of_pythons_numbers_is_exact_or_refused_or_one_that_a_fraction_has_not(name: str) -> None:
    """What neither has raises AttributeError or TypeError alike."""
    if name in EXACT or name in REFUSED:
        assert name in vars(Number) or name == "__class__"
    elif name not in INHERITED | PRIVATE:
        assert name not in {*dir(Fraction), *dir(Number)}


@pytest.mark.parametrize(("name", "use"), [(name, use) for name, uses in EXACT.items() for use in uses])
def test_what_is_exact_is_what_fractions_give_on_each_region(name: str, use: Callable[[Any], Any]) -> None:
    del name
    met = set[Fraction]()
    for region, verdict in regions(Theorem("a use", "", lambda t: [use(t[0])], {"t": 2})):
        assert isinstance(verdict, list), verdict
        for point in region.points():
            met.add(point[0])
            wanted = use(point[0])
            assert worth(verdict[0], point) == wanted
            assert isinstance(wanted, bool | np.bool_) == isinstance(verdict[0], bool | np.bool_)
    assert {Fraction(0), Fraction(1), THIRD, Fraction(1, 2)} <= met


@pytest.mark.parametrize(
    "use", [*(use for uses in REFUSED.values() for use in uses), *FLOATS, lambda x: complex(0, 1) + x]
)
def test_what_is_refused_is_noted_even_where_the_program_catches_it(use: Callable[[Any], Any]) -> None:
    """No verdict comes of it: the theorem is true of all laws, and is left open."""

    def statement(target: Any) -> bool:
        try:
            use(target[0])
        except SymbolError:
            pass
        except Exception:  # Python or NumPy may turn it into an error of their own
            pass
        return True

    (verdict,) = on_one_law(use)
    assert isinstance(verdict, Undecided)
    assert verdict.reason is Reason.NOT_JUDGED
    found = prove(Theorem("caught", "", statement, {"t": 2}))
    assert (found.verdict, found.undecided) == ("open", Reason.NOT_JUDGED)
    assert "a symbol stands for many masses" in found.reason


@pytest.mark.parametrize("use", [lambda x: x**-1, lambda x: pow(x, -2), lambda x: 1 / x, lambda x: 2 / (x - THIRD)])
def test_division_by_zero_is_met_where_fractions_meet_it(use: Callable[[Any], Any]) -> None:
    for region, verdict in regions(Theorem("division", "", lambda t: [use(t[0])], {"t": 2})):
        for point in region.points():
            try:
                wanted = use(point[0])
            except ZeroDivisionError:
                assert "ZeroDivisionError" in str(verdict)
            else:
                assert worth(verdict[0], point) == wanted


@pytest.mark.parametrize(
    "use",
    [
        lambda masses: np.sort(masses),
        lambda masses: np.unique(masses),
        lambda masses: np.array(sorted(masses)),
        lambda masses: np.maximum.accumulate(masses),
        lambda masses: np.sign(masses - masses[::-1]),
        lambda masses: np.where(masses > masses[::-1], masses, 0),
        lambda masses: np.cumsum(masses)[np.argsort(masses)],
        lambda masses: np.array([masses.max(), masses.min(), masses.argmax(), masses.sum()]),
        lambda masses: np.clip(masses, THIRD, Fraction(1, 2)),
    ],
)
def test_what_arrays_do_by_comparing_is_exact(use: Callable[[Any], Any]) -> None:
    for region, verdict in regions(Theorem("arrays", "", lambda t: [*use(t)], {"t": 3})):
        for point in list(region.points())[:20]:
            masses = np.array([*point, 1 - sum(point)], dtype=object)
            assert [worth(value, point) for value in verdict] == list(use(masses))


@pytest.mark.parametrize(("kind", "attribute"), list(product((np.log, np.exp, np.sqrt), [None])))
def test_functions_that_fractions_have_not_fail_alike(kind: Any, attribute: None) -> None:
    del attribute
    with pytest.raises(TypeError):
        kind(np.array([THIRD], dtype=object))
    (verdict,) = on_one_law(lambda x: kind(np.array([x], dtype=object)))
    assert "TypeError" in str(verdict) or isinstance(verdict, Undecided)
