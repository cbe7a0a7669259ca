"""Edited copies of an engine's functions, and which engines are there."""

from __future__ import annotations

from statistics import mean

import pytest

pytest.importorskip("torch", reason="torch is an optional extra")

from spec_math.field.engine_law import judged, total_variation
from spec_math.field.installed import edited, engine_part, missing
from spec_math.verdict import Reason, Undecided


def test_an_edit_leaves_the_original() -> None:
    assert edited(mean, "return _convert(total / n, T)", "return 0")([1, 2]) == 0
    assert mean([1, 2]) == 1.5


@pytest.mark.parametrize(("old", "found"), [("no such line", 0), ("n", 30)])
def test_an_edit_is_of_one_place(old: str, found: int) -> None:
    with pytest.raises(ValueError, match=f"has '{old}' {found if not found else '[0-9]+'} times"):
        edited(mean, old, "")


def test_an_absent_engine_says_how_to_install_it() -> None:
    assert missing("torch") is None
    assert missing("no_such_engine") == "no_such_engine is not installed: pip install no_such_engine"
    with pytest.raises(ModuleNotFoundError, match="no_such_engine is not installed"):
        engine_part("no_such_engine.sampler", "sample")


def test_a_version_without_the_function_is_named() -> None:
    with pytest.raises(AttributeError, match=r"torch 2\..* has no torch.nn.functional.speculate"):
        engine_part("torch.nn.functional", "speculate")


def test_the_judge_completes_short_texts_and_cuts_long_ones() -> None:
    def fair(_prefix: object) -> list[float]:
        return [0.5, 0.5]

    assert judged({(0,): 0.5, (1, 0, 0, 0): 0.25, (1, 1): 0.25}, fair, 2, 0)
    assert judged({(0,): 0.5, (1, 0, 0): 0.25 + 2.0**-20, (1, 1): 0.25 - 2.0**-20}, fair, 2, 2.0**-20)
    # A bound that would explain a quarter of the mass forgives no more than the cap.
    left_open = judged({(0,): 0.5, (1, 0, 0, 0): 0.5}, fair, 2, 0.25)
    assert isinstance(left_open, Undecided)
    assert left_open.reason is Reason.ROUNDING
    found = judged({(0,): 0.5, (1, 0, 0, 0): 0.5}, fair, 2, 0)
    assert (found.tokens, found.total_variation) in (((1, 0), 0.25), ((1, 1), 0.25))


def test_total_variation_counts_what_one_law_lacks() -> None:
    assert total_variation({0: 1.0}, {1: 1.0}) == 1
