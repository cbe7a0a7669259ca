"""The one entrance: what is a law, what is a count, and what each refusal says."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import ml_dtypes
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from proofs_tests.strategies import WIDE, laws
from spec_math import exact, proportional_to, replay
from spec_math.arrays import SUM_BOUND, as_law, count, storage, stored_law, sum_gap
from spec_math.arrays import as_laws as two_laws
from spec_math.block_level import chain
from spec_math.language import Table
from spec_math.token_level.optimum import several_drafters

DTYPES = {"float64": np.float64, "float32": np.float32, "float16": np.float16, "bfloat16": ml_dtypes.bfloat16}


@given(masses=laws(4))
def test_a_law_is_returned_as_it_is(masses: Any) -> None:
    assert as_law(masses) is masses
    assert as_law(masses.tolist()).tolist() == masses.tolist()
    assert as_law([str(mass) for mass in masses]).tolist() == masses.tolist()
    assert as_law([masses.tolist(), masses.tolist()]).shape == (2, 4)


@given(weights=st.lists(WIDE, min_size=1, max_size=6).filter(any))
def test_proportional_to_keeps_every_ratio_and_sums_to_one(weights: list[Any]) -> None:
    masses = proportional_to(weights)
    assert masses.sum() == 1
    assert [mass * sum(weights) for mass in masses] == weights


def test_proportional_to_works_row_by_row() -> None:
    rows = proportional_to([[1, 3], [2, 2]])
    assert rows.tolist() == [[Fraction(1, 4), Fraction(3, 4)], [Fraction(1, 2), Fraction(1, 2)]]
    assert proportional_to([[1.0, 3.0], [2.0, 2.0]]).tolist() == [[0.25, 0.75], [0.5, 0.5]]


@pytest.mark.parametrize(
    ("weights", "said"),
    [
        ([1, -1], r"weights: masses must be >= 0; token 1 has -1"),
        ([1.0, float("nan")], r"weights: masses must be finite; token 1 is nan"),
        ([1.0, float("inf")], r"weights: masses must be finite; token 1 is inf"),
        ([0, 0], "weights must have a positive sum to be proportional to; a row sums to 0"),
        ([[1.0, 1.0], [0.0, 0.0]], "a row sums to 0"),
        ([1e308, 1e308], "sum to more than its type can hold; divide them by their largest first"),
        (3, "a distribution is a row of masses; got the single number 3"),
    ],
)
def test_proportional_to_refuses(weights: Any, said: str) -> None:
    with pytest.raises(ValueError, match=said):
        proportional_to(weights)


@pytest.mark.parametrize("dtype", DTYPES)
def test_a_softmax_over_a_whole_vocabulary_is_a_law_in_each_type(dtype: str) -> None:
    rng = np.random.default_rng(3)
    for spread in (0.1, 1.0, 3.0, 10.0):
        computed = np.float64 if dtype == "float64" else np.float32
        logits = rng.normal(0, spread, 152_000).astype(computed)
        weights = np.exp(logits - logits.max())
        masses = (weights / weights.sum(dtype=computed)).astype(DTYPES[dtype])
        checked = as_law(masses)
        assert checked.dtype == np.float64
        assert (checked == masses.astype(np.float64)).all()  # widened, and not rescaled
        assert float(sum_gap(masses)) <= SUM_BOUND[storage(masses)] == SUM_BOUND[dtype]


@pytest.mark.parametrize("dtype", DTYPES)
def test_a_stored_law_can_be_checked_again_and_a_widened_one_may_be_refused(dtype: str) -> None:
    masses = np.array([0.5, 0.5 + SUM_BOUND[dtype]], dtype=DTYPES[dtype])
    kept = stored_law(stored_law(masses))
    assert kept.dtype == masses.dtype
    assert as_law(kept).dtype == np.float64
    if dtype != "float64":
        with pytest.raises(ValueError, match="masses stored as float64 must sum to 1"):
            as_law(as_law(masses))


@pytest.mark.parametrize("dtype", ["float32", "float16", "bfloat16"])
def test_laws_of_single_and_half_precision_pass_through_whole_programs(dtype: str) -> None:
    """A draft, its test and its residual each check their laws: none of them may meet a widened one."""
    rng = np.random.default_rng(8)
    target, draft, other = (rng.dirichlet(np.ones(400)).astype(DTYPES[dtype]) for _ in range(3))
    assert float(sum_gap(target)) > SUM_BOUND["float64"]
    both = [draft, other]
    wasted = int(np.argmax(draft.astype(float) - target.astype(float)))
    start = float(draft[:wasted].astype(float).sum() + draft[wasted] / 2)
    for last in (0.0, 0.5, 0.999):
        # The first draft is one that the target wants less; every test meets a uniform that rejects it.
        block = replay(
            lambda coin: chain.generate(coin, lambda _: target, Table({(): draft}, context=0), (), 1),
            [start, 0.999999, last],
        )
        assert len(block) == 1
        drafts = wasted, int(other.argmax())
        emission = replay(
            lambda coin, x=drafts: several_drafters.emit(coin, x, target, both), [0.999999, 0.999999, last]
        )
        assert not emission.accepted
    assert 0 < several_drafters.acceptance(target, [draft, other]) < 1


def test_the_bounds_are_the_derived_ones() -> None:
    """2^17 sequential roundings of float64, 256 of float32, and the loss of a whole vocabulary in half precision."""
    assert SUM_BOUND == {
        "float64": 2**17 * 2.0**-53,
        "float32": 256 * 2.0**-24,
        "float16": 2.0**-7,
        "bfloat16": 2.0**-7,
    }
    assert SUM_BOUND["float16"] > 152_000 * 2.0**-25  # every mass below the smallest normal number, rounded to nearest
    assert SUM_BOUND["bfloat16"] > 2.0**-9  # every mass rounded by half a unit of 8 bits


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("sign", [1, -1])
def test_each_types_bound_is_where_it_says(dtype: str, sign: int) -> None:
    bound = SUM_BOUND[dtype]
    at_the_bound, beyond = (np.array([0.5, 0.5 + sign * gap], dtype=DTYPES[dtype]) for gap in (bound, 2 * bound))
    assert float(at_the_bound.astype(float).sum()) == 1 + sign * bound
    as_law(at_the_bound)
    with pytest.raises(
        ValueError, match=f"masses stored as {dtype} must sum to 1 within .*; these 2 are off by"
    ) as error:
        as_law(beyond)
    assert f"{2 * bound:.3g}" in str(error.value)
    assert "call proportional_to" in str(error.value)
    assert ("store logits" in str(error.value)) == (dtype in ("float16", "bfloat16"))


@pytest.mark.parametrize("dtype", DTYPES)
def test_torch_laws_meet_the_same_bounds(dtype: str) -> None:
    torch = pytest.importorskip("torch", reason="torch is not installed")
    bound = SUM_BOUND[dtype]
    inside, beyond = (torch.tensor([0.5, 0.5 + gap], dtype=getattr(torch, dtype)) for gap in (bound, 2 * bound))
    assert as_law(inside).dtype == (torch.float64 if dtype == "float64" else torch.float32)
    with pytest.raises(ValueError, match=f"masses stored as {dtype} must sum to 1"):
        as_law(beyond)


@pytest.mark.parametrize(
    ("masses", "said"),
    [
        (
            ["1/4", "2/3"],
            r"must sum to exactly 1; these 2 sum to 11/12 \(1/12 too little\); if you mean weights, call p",
        ),
        (["3/4", "2/3"], r"these 2 sum to 17/12 \(5/12 too much\)"),
        ([["1/2", "1/2"], ["1/2", "1/3"]], r"\(row \(1,\)\): masses must sum to exactly 1; these 2 sum to 5/6"),
        ([["1/2", "1/2"], [0.5, 0.25]], "a distribution mixes floats with strings"),
        ([[0.5, 0.5], [0.5, 0.25]], r"\(row 1 of 2\): masses stored as float64 must sum to 1 .* off by 0.25"),
        (["-1/4", "5/4"], "masses must be >= 0; token 0 has -1/4; if these are logits, take their softmax"),
        ([1.5, -0.5], "distribution: masses must be >= 0; token 1 has -0.5"),
        ([[0.5, 0.5], [1.5, -0.5]], r"distribution: masses must be >= 0; token 1 of row \(1,\) has -0.5"),
        ([float("nan"), 1.0], "distribution: masses must be finite; token 0 is nan"),
        ([0.0, float("inf")], "distribution: masses must be finite; token 1 is inf"),
        ([float("-inf"), 0.0], "distribution: masses must be finite; token 0 is -inf"),
        ([], r"a distribution needs at least one token; got shape \(0,\)"),
        ([[], []], r"a distribution needs at least one token; got shape \(2, 0\)"),
        (1, "a distribution is a row of masses; got the single number 1"),
        ([["1/2", "1/2"], [1]], "all rows must have one length; these do not"),
        ([[0.5, 0.5], [1.0]], "all rows must have one length; these do not"),
        (["1/2", "half"], "'half' is not a number; write '1/3' or '0.25'"),
        (["1/0", 1], "'1/0' is not a number"),
    ],
)
def test_what_is_no_law_is_refused_with_rule_numbers_gap_and_cure(masses: Any, said: str) -> None:
    with pytest.raises((ValueError, TypeError), match=said):
        as_law(masses)


@pytest.mark.parametrize(
    ("masses", "said"),
    [
        ([True, False], "True is not a mass; write 1 or 0"),
        ([1.0, False], "True and False are not masses; write 1 and 0"),
        ([None, 1], "masses must be int, Fraction, float or str; got None of type NoneType"),
        ([0.5, "1/2"], "a distribution mixes floats with strings; write all masses as strings, or all as floats"),
        ([1j, 1], "masses must be int, Fraction, float or str; got 1j of type complex"),
        (np.array([1j, 0]), "distributions must hold numbers; got an array of complex128"),
        (np.array([True, False]), "distributions must hold numbers; got an array of bool"),
        (np.array(["a", "b"]), "distributions must hold numbers; got an array of <U1"),
    ],
)
def test_what_is_no_number_is_refused(masses: Any, said: str) -> None:
    with pytest.raises(TypeError, match=said):
        as_law(masses)


def test_exacted_floats_are_told_from_a_wrong_sum() -> None:
    tenths = exact([0.1, 0.2, 0.7])
    gap = 1 - sum(tenths)
    assert gap == Fraction(1, 2**55)
    with pytest.raises(
        ValueError, match=r"these 3 sum to 1 − 2\^-55; they were binary floats: write strings or call p"
    ):
        as_law(tenths)
    for gap, shown in (
        (Fraction(1, 2**53), "2\\^-53"),
        (Fraction(3, 2**55), "about 2\\^-53"),
        (Fraction(5, 2**55), "about 2\\^-52"),
    ):
        with pytest.raises(ValueError, match=rf"these 2 sum to 1 \+ {shown}; they were binary floats"):
            as_law([Fraction(1, 2), Fraction(1, 2) + gap])
    assert as_law(exact([0.25, 0.75])).tolist() == [Fraction(1, 4), Fraction(3, 4)]
    assert as_law(["0.1", "0.2", "0.7"]).sum() == 1
    # A wrong sum is no rounding, dyadic or not.
    with pytest.raises(ValueError, match=r"these 2 sum to 3/4 \(1/4 too little\)"):
        as_law(exact([0.5, 0.25]))


@pytest.mark.parametrize(
    ("target", "draft", "error", "said"),
    [
        (
            ["1/2", "1/2"],
            [0.5, 0.5],
            TypeError,
            r"of one number type; target is exact \(Fractions\), draft is floating \(NumPy\)",
        ),
        ([0.5, 0.5], [1, 0], TypeError, "write both as ints, Fractions or strings, or both as floats"),
        (["1/2", "1/2"], [1], ValueError, r"one shape; target has \(2,\), draft has \(1,\)"),
        (["1/2", "1/2"], [["1/2", "1/2"]], ValueError, r"one shape; target has \(2,\), draft has \(1, 2\)"),
        (["1/2", "1/2"], ["1/2", "1/4"], ValueError, "draft: masses must sum to exactly 1"),
        (["1/2", "1/4"], ["1/2", "1/2"], ValueError, "target: masses must sum to exactly 1"),
    ],
)
def test_two_laws_of_a_call_are_of_one_world_and_shape(target: Any, draft: Any, error: Any, said: str) -> None:
    with pytest.raises(error, match=said):
        two_laws(target, draft)


def test_torch_and_numpy_are_two_worlds() -> None:
    torch = pytest.importorskip("torch", reason="torch is not installed")
    with pytest.raises(TypeError, match="target is torch, draft is floating"):
        two_laws(torch.tensor([0.5, 0.5]), np.array([0.5, 0.5]))
    with pytest.raises(TypeError, match=r"torch distributions must be floating; got torch\.int64"):
        as_law(torch.tensor([1, 0]))
    with pytest.raises(ValueError, match="distribution: masses must be >= 0; token 0 has"):
        as_law(torch.tensor([-0.5, 1.5]))
    with pytest.raises(ValueError, match=r"distribution: masses must be finite; token 1 of row \(1,\) is nan"):
        as_law(torch.tensor([[0.5, 0.5], [0.5, float("nan")]]))


def test_a_law_under_gradients_is_a_law() -> None:
    """Warnings are errors here: reading a number off a tensor that needs its gradient would be one."""
    torch = pytest.importorskip("torch", reason="torch is not installed")
    masses = torch.tensor([0.25, 0.75], requires_grad=True)
    assert as_law(masses).requires_grad


def test_a_batch_without_rows_is_a_batch() -> None:
    assert as_law(np.zeros((0, 3))).shape == (0, 3)
    assert as_law(np.zeros((0, 3), dtype=object)).shape == (0, 3)


@pytest.mark.parametrize("value", [1, 3, np.int64(2), np.uint8(7)])
def test_a_count_is_a_python_int(value: Any) -> None:
    assert type(count(value)) is int
    assert count(value) == value


@pytest.mark.parametrize(
    ("value", "error", "said"),
    [
        (0, ValueError, "k must be at least 1; got 0"),
        (-1, ValueError, "k must be at least 1; got -1"),
        (2.9, TypeError, r"k must be a whole number >= 1 \(an int\); got 2.9 of type float"),
        (3.0, TypeError, "got 3.0 of type float"),
        (True, TypeError, "got True of type bool"),
        (np.True_, TypeError, "of type bool"),
        ("2", TypeError, "got '2' of type str"),
        (None, TypeError, "got None of type NoneType"),
        (float("nan"), TypeError, "got nan of type float"),
        (Fraction(2), TypeError, "of type Fraction"),
    ],
)
def test_what_is_no_count_is_refused(value: Any, error: Any, said: str) -> None:
    with pytest.raises(error, match=said):
        count(value)
    with pytest.raises(error, match=said.replace("k must", "lookahead must")):
        count(value, "lookahead")


def test_the_gap_of_a_sum_is_taken_in_double_precision() -> None:
    masses = np.full(2**14, np.float32(1 / 2**14 * (1 + 2**-20)), dtype=np.float32)
    assert float(sum_gap(masses)) == 2.0**-20
    torch = pytest.importorskip("torch", reason="torch is not installed")
    assert float(sum_gap(torch.tensor(masses))) == 2.0**-20
