"""Three number types: exact stays exact, element by element, and the same formula serves them all."""

from __future__ import annotations

import inspect
from collections.abc import Iterator, Mapping
from decimal import Decimal
from fractions import Fraction
from types import ModuleType
from typing import Any

import ml_dtypes
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from spec_math import SCHEMES, arrays, distribution, exact, number_types
from spec_math.number_types import asarray, divide, is_exact, number_type, ones_like, positive_part, zeros_like
from spec_math.token_level import (
    bounds,
    draft_law,
    excess,
    greedy,
    hub,
    k_sequential,
    one_hot,
    optimal,
    recursive,
    sample_and_match,
    single,
    transport,
    without_replacement,
)
from spec_math.token_level.optimum import several_drafters
from spec_math.verdict import Bracket, Optimal

THIRD = Fraction(1, 3)


@pytest.mark.parametrize(
    ("values", "wanted"),
    [
        ([1, 0], [1, 0]),
        (["1/3", "0.25", " 2 "], [THIRD, Fraction(1, 4), 2]),
        ([THIRD, 1], [THIRD, 1]),
        ([0.5, 0.1], [Fraction(1, 2), Fraction(3602879701896397, 36028797018963968)]),
        ([2**80, 1], [2**80, 1]),
        (np.array([1, 2], dtype=np.uint8), [1, 2]),
        (np.array([0.1], dtype=np.float32), [Fraction(13421773, 134217728)]),
        (np.array([0.5], dtype=np.float16), [Fraction(1, 2)]),
        (np.array([0.5], dtype=ml_dtypes.bfloat16), [Fraction(1, 2)]),
        ([[1, "1/2"], [0, 2]], [[1, Fraction(1, 2)], [0, 2]]),
        ("1/3", THIRD),
    ],
)
def test_exact_converts_without_rounding(values: Any, wanted: Any) -> None:
    converted = exact(values)
    assert converted.tolist() == wanted
    assert_all_fractions(converted, "exact")


@given(value=st.floats(allow_nan=False, allow_infinity=False))
def test_exact_holds_the_very_number_of_a_float(value: float) -> None:
    assert exact([value])[0] == Fraction(value)
    assert float(exact([np.float64(value)])[0]) == value


def test_exact_rounds_neither_long_doubles_nor_long_integers() -> None:
    step = np.finfo(np.longdouble).eps
    assert exact(np.array([1 + step]))[0] == 1 + Fraction(*step.as_integer_ratio())
    torch = pytest.importorskip("torch", reason="torch is not installed")
    assert exact(torch.tensor([2**60 + 1])).tolist() == [2**60 + 1]
    assert exact(torch.tensor([0.1])).tolist() == [Fraction(13421773, 134217728)]
    assert exact(torch.tensor([0.5], dtype=torch.bfloat16)).tolist() == [Fraction(1, 2)]
    with pytest.raises(TypeError, match="True is not a mass"):
        exact(torch.tensor([True]))


@pytest.mark.parametrize("value", [True, None, 1j, Decimal(1), [1], object()])
def test_exact_refuses_what_is_no_number(value: Any) -> None:
    with pytest.raises(TypeError):
        exact([value, [1, 2]] if isinstance(value, list) else [value])


@pytest.mark.parametrize("value", [float("nan"), float("inf"), -float("inf"), "nan", "x", "", "1/0"])
def test_exact_refuses_what_is_not_finite_or_no_numeral(value: Any) -> None:
    with pytest.raises(ValueError, match=r"masses must be finite|is not a number"):
        exact([value])


def test_exact_checks_no_sum() -> None:
    assert exact(["-1/2", 7]).tolist() == [Fraction(-1, 2), 7]


def test_lists_become_exact_unless_they_hold_a_float() -> None:
    assert is_exact(asarray([1, "1/2", THIRD]))
    assert asarray([1, 0.5, THIRD]).dtype == np.float64
    assert is_exact(asarray(np.array([1, 2])))
    assert is_exact(asarray(np.array([1, THIRD], dtype=object)))
    assert asarray(np.array([0.5], dtype=np.float32)).dtype == np.float32
    assert [number_type(asarray(x)) for x in ([1], [1.0])] == ["exact (Fractions)", "floating (NumPy)"]


@given(top=st.integers(-3, 3), bottom=st.integers(-3, 3))
def test_over_divides_where_there_is_something_to_divide_by(top: int, bottom: int) -> None:
    found = divide(exact([top]), exact([bottom]), exact([7]))
    assert found.tolist() == [Fraction(top, bottom) if bottom else 7]
    assert_all_fractions(found, "over")
    with np.errstate(all="raise"):
        floats = divide(np.array([float(top)]), np.array([float(bottom)]), np.array([7.0]))
    assert floats.tolist() == [top / bottom if bottom else 7]


@pytest.mark.parametrize("kind", [np.float16, np.float32, np.float64])
def test_floats_stay_in_their_type_and_shape(kind: type) -> None:
    """Nothing to divide by 0: what is taken otherwise still has its say in shape and type."""
    top, two = np.array([1, -3], dtype=kind), np.array([2], dtype=kind)
    assert positive_part(top).dtype == kind and positive_part(top).tolist() == [1, 0]
    assert divide(top, two, top).dtype == kind and divide(top, two, top).tolist() == [0.5, -1.5]
    assert divide(top, two, np.zeros((3, 2), dtype=kind)).tolist() == [[0.5, -1.5]] * 3
    assert divide(top, two, np.zeros(2)).dtype == np.float64
    assert divide(top, np.array([0, 2], dtype=kind), np.array([7, 7], dtype=kind)).tolist() == [7, -1.5]


def test_constants_are_of_their_arrays_kind() -> None:
    rows = exact([[1, 0], [0, 1]])
    assert_all_fractions(zeros_like(rows), "zeros_like")
    assert_all_fractions(ones_like(rows), "ones_like")
    assert zeros_like(np.ones(2, dtype=np.float32)).dtype == np.float32
    assert positive_part(exact([-1, 1])).tolist() == [0, 1]
    assert_all_fractions(positive_part(exact([-1, 0, 1])), "positive_part")


# Exact in, exact out: every public function below is called with exact laws, alone and in a batch, and every element
# of what it returns is looked at. An argument's name says what it is.

TARGET, DRAFT = exact(["1/8", 0, "3/8", "1/2"]), exact(["1/2", "1/4", "1/4", 0])
OTHER = exact(["1/4", "1/4", "1/4", "1/4"])
KEEP = np.array([True, False, True, True])

SINGLE: dict[str, Any] = {
    "target": TARGET,
    "draft": DRAFT,
    "values": TARGET,
    "weights": TARGET,
    "masses": TARGET,
    "x": TARGET,
    "top": TARGET,
    "bottom": DRAFT,
    "otherwise": OTHER,
    "keep": KEEP,
    "k": 2,
    "p": Fraction(1, 2),
    "value": Fraction(1, 2),
    "scale": Fraction(3, 2),
    "gamma": Fraction(2),
    "left": Fraction(1, 2),
    "t": TARGET,
    "d": DRAFT,
    "tokens": [0],
    "ks": (1, 2),
    "subset": [0],
    "scheme": SCHEMES[3],
    "draw": single.draw,
    "token": 1,
    "like": TARGET,
    "order": np.array([3, 0, 2, 1]),
    "drafts": [DRAFT, OTHER],
    "draft_law": {(0, 1): Fraction(1, 2), (2,): Fraction(1, 2)},
}
ROWS = {"keep", "t", "d", "target", "draft", "values", "weights", "masses", "x", "top", "bottom", "otherwise"}
BATCH = {name: np.stack([value, value]) if name in ROWS else value for name, value in SINGLE.items()}

NO_NUMBERS = {
    # say something about arrays or names
    "array_namespace",
    "check_same_number_type",
    "count",
    "as_text",
    "is_exact",
    "is_torch_array",
    "remembering",
    "sums_to_one",
    "storage",
    "number_type",
    "descending_rank",
    # of floats alone
    "cut",
    "divided_in_float64",
    "sum_gap",
    "estimate",
    "linear_program",
    # sets of tokens, and checks
    "bounding_subset",
    "common_denominator",
    "checked",
    "sizes",
    # programs: they return tokens
    "draw",
    "emit",
    "tried_in_turn",
    "verify",
    "the_token",
    # of two single masses, or a single chance
    "capped_ratio",
    "chance",
    "none_of",
    # of a network
    "maximum_flow",
}
ONE_POSITION = {"gathered", "one_hot", "without", "scaled", "column", "as_probability"}
ONE_POSITION_MODULES = (bounds, draft_law, several_drafters, transport)

MODULES = (
    arrays,
    number_types,
    distribution,
    single,
    one_hot,
    sample_and_match,
    k_sequential,
    excess,
    recursive,
    without_replacement,
    greedy,
    hub,
    optimal,
    *ONE_POSITION_MODULES,
)


def public_functions() -> list[Any]:
    return [
        pytest.param(function, id=f"{module.__name__}.{name}")
        for module in MODULES
        for name, function in functions(module)
    ]


def functions(module: ModuleType) -> list[tuple[str, Any]]:
    found = [(name, getattr(value, "py_func", value)) for name, value in vars(module).items() if callable(value)]
    return [
        (name, function)
        for name, function in found
        if inspect.isfunction(function)
        and function.__module__ == module.__name__
        and not name.startswith("_")
        and name not in NO_NUMBERS
    ]


def elements(result: Any) -> Iterator[Any]:
    if isinstance(result, np.ndarray):
        yield from result.flat
    elif isinstance(result, tuple | list):
        for part in result:
            yield from elements(part)
    elif isinstance(result, Bracket):
        yield from (result.lower, result.upper)
    elif isinstance(result, Optimal | transport.Certificate):
        yield result.acceptance
        yield from elements(getattr(result, "coupling", {}))
    elif isinstance(result, Mapping):
        for part in result.values():
            yield from elements(part)
    else:
        yield result


def assert_all_fractions(result: Any, name: str) -> None:
    found = list(elements(result))
    assert found, name
    leaked = {type(element) for element in found} - {Fraction}
    assert not leaked, f"{name} leaks {leaked}"


def called(function: Any, hand: dict[str, Any]) -> Any:
    parameters = inspect.signature(function).parameters.values()
    unknown = [
        p.name for p in parameters if p.name not in hand and p.default is inspect.Parameter.empty and p.name != "name"
    ]
    assert not unknown, (
        f"{function.__module__}.{function.__name__}: say what {unknown} stand for, or why it gives no numbers"
    )
    return function(**{p.name: hand[p.name] for p in parameters if p.name in hand})


@pytest.mark.parametrize("function", public_functions())
def test_exact_in_exact_out(function: Any) -> None:
    name = function.__name__
    alone = called(function, SINGLE)
    assert_all_fractions(alone, name)
    if name not in ONE_POSITION and function.__module__ not in {module.__name__ for module in ONE_POSITION_MODULES}:
        batch = called(function, BATCH)
        assert_all_fractions(batch, f"{name} of a batch")
        assert list(elements(batch)) == [*elements(alone), *elements(alone)] or isinstance(alone, tuple)


@pytest.mark.parametrize("gamma", [2, 2.0, "2", Fraction(2)])
def test_a_scale_of_any_kind_leaves_exact_laws_exact(gamma: Any) -> None:
    for form in (k_sequential.beta, k_sequential.f, k_sequential.acceptance, k_sequential.test_acceptance):
        arguments = {"target": TARGET, "draft": DRAFT, "k": 2, "gamma": gamma}
        wanted = called(form, {**arguments, "gamma": Fraction(2)})
        found = called(form, arguments)
        assert_all_fractions(found, form.__name__)
        assert found == wanted


def test_there_is_something_to_look_at() -> None:
    assert len(public_functions()) >= 50
