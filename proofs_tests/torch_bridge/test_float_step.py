"""The exact error of a speculative step in half and single precision at V = 8, and other ways to the same numbers."""

from __future__ import annotations

from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest

from spec_math.audit import law_by_bisection

torch = pytest.importorskip("torch", reason="torch is an optional extra")

from proofs_tests.torch_bridge.every_uniform import every_uniform  # noqa: E402
from torch_bridge.float_rounding import float_step  # noqa: E402

TARGET = [Fraction(k, 36) for k in (8, 7, 6, 5, 4, 3, 2, 1)]
DRAFT = [Fraction(k, 36) for k in (1, 3, 5, 7, 8, 6, 4, 2)]
TABLE = {"float32": ("3.60e-08", "6.71e-08"), "float16": ("2.51e-04", "2.64e-04"), "bfloat16": ("2.01e-03", "3.15e-03")}
"""Total variation from the exact target: on ideal coins, and on the type's own uniforms."""


def in_type(dtype: str) -> tuple[Any, Any]:
    kind = getattr(torch, dtype)
    return tuple(torch.tensor([float(mass) for mass in law], dtype=kind) for law in (TARGET, DRAFT))  # type: ignore[return-value]


def counted(kernel: Any, dtype: str) -> dict[Any, Fraction]:
    """The law of a kernel that takes a column of uniforms: all of them in half precision, bisection in float32."""
    if dtype == "float32":
        return law_by_bisection(lambda u: kernel(torch.tensor([float(u)]))[0].item(), 24)
    values, counts = every_uniform(dtype)
    answers = kernel(values)
    return {answer: Fraction(int(counts[answers == answer].sum()), 2**24) for answer in torch.unique(answers).tolist()}


def walked(masses: Any, dtype: str) -> dict[Any, Fraction]:
    """The law of an inverse-CDF draw of the type."""
    sums = masses.cumsum(-1)
    return counted(lambda u: (sums > (u * sums[-1])[:, None]).int().argmax(-1), dtype)


def distance(emitted: dict[int, Fraction]) -> Fraction:
    return sum((abs(emitted.get(token, Fraction(0)) - mass) for token, mass in enumerate(TARGET)), Fraction(0)) / 2


@pytest.mark.parametrize("dtype", TABLE)
def test_the_error_of_a_step_is_the_table_s(dtype: str) -> None:
    found = float_step(TARGET, DRAFT, getattr(torch, dtype))
    assert (f"{found.ideal:.2e}", f"{found.own_grid:.2e}") == TABLE[dtype]


@pytest.mark.parametrize("dtype", TABLE)
def test_on_its_own_grid_the_step_is_three_kernels_counted(dtype: str) -> None:
    """Draft, test and correction as kernels of an injected uniform, with real runs of torch and no exploration."""
    t, d = in_type(dtype)
    drafted, corrected = walked(d, dtype), walked((t - d).clamp(min=0), dtype)
    emitted = {token: Fraction(0) for token in range(8)}
    for x, mass in drafted.items():
        kept = counted(lambda u: u * d[x] < t[x], dtype).get(True, Fraction(0))  # noqa: B023
        emitted[x] += mass * kept
        for y, rest in corrected.items():
            emitted[y] += mass * (1 - kept) * rest
    assert sum(emitted.values()) == 1
    # float_step adds sixteen float64 masses of at most 1, each rounded by 2^-54 at most, and halves the sum.
    assert abs(float_step(TARGET, DRAFT, getattr(torch, dtype)).own_grid - float(distance(emitted))) <= 16 * 2.0**-53


@pytest.mark.parametrize("dtype", TABLE)
def test_on_ideal_coins_the_step_is_a_formula_of_the_stored_laws(dtype: str) -> None:
    t, d = in_type(dtype)

    def drawn(masses: Any) -> list[Fraction]:
        sums = [Fraction(total) for total in masses.cumsum(-1).double().tolist()]
        return [(b - a) / sums[-1] for a, b in zip([Fraction(0), *sums], sums, strict=False)]

    stored = [[Fraction(mass) for mass in law.double().tolist()] for law in (t, d)]
    kept = [min(Fraction(1), a / b) for a, b in zip(*stored, strict=True)]
    drafted, corrected = drawn(d), drawn((t - d).clamp(min=0))
    rejected = sum((mass * (1 - chance) for mass, chance in zip(drafted, kept, strict=True)), Fraction(0))
    emitted = {x: drafted[x] * kept[x] + rejected * corrected[x] for x in range(8)}
    assert abs(float_step(TARGET, DRAFT, getattr(torch, dtype)).ideal - float(distance(emitted))) <= 16 * 2.0**-53


def test_laws_that_the_type_holds_have_no_error_on_ideal_coins_and_a_broken_step_has_one() -> None:
    held = [0.25, 0.25, 0.5], [0.5, 0.375, 0.125]
    for dtype in TABLE:
        assert float_step(*held, getattr(torch, dtype)).ideal == 0
    # Swapped laws are another target: the distance reported is not blind.
    thirds = [1 / 3, 1 / 3, 1 / 3], [0.5, 0.25, 0.25]
    assert float_step(*thirds, torch.bfloat16).ideal > 0


def test_the_page_shows_the_table() -> None:
    page = Path(__file__).parents[2] / "docs" / "how_to" / "check_your_own_verifier.md"
    rows = [f"| {dtype} | {ideal} | {own} |" for dtype, (ideal, own) in TABLE.items()]
    assert "\n".join(rows) in page.read_text(encoding="utf-8")
    assert [[8 - k for k in range(8)], [1, 3, 5, 7, 8, 6, 4, 2]] == [
        [int(m * 36) for m in law] for law in (TARGET, DRAFT)
    ]
