"""Right samplers that cast their laws to a coarser type inside were lossy by 2e-8: the judge counted float64 alone."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from proofs_tests.soundness.audited import LAWS, verdict_of
from spec_math.audit import check_sampler
from spec_math.files.place import load_function
from spec_math.verdict import Lossless, Lossy, Reason, Undecided, check_lossless

CODE = """
import numpy as np

def cast(kind, target, draft):
    return target.astype(kind), draft.astype(kind)

def in_numpy(tokens, target, draft, kind, slip=0.0):
    t, d = cast(kind, target, draft)
    x = tokens[0]
    if np.random.rand() < t[x] / d[x] + slip:
        return x
    left = np.maximum(t - d, 0).astype(np.float64)
    return np.random.choice(len(left), p=left / left.sum())

def single(tokens, target, draft):
    return in_numpy(tokens, target, draft, np.float32)

def half(tokens, target, draft):
    return in_numpy(tokens, target, draft, np.float16)

def single_as_python_s_floats(tokens, target, draft):
    t, d = cast(np.float32, target, draft)
    x = tokens[0]
    if random.random() < float(t[x] / d[x]):
        return x
    return random.choices(range(len(t)), np.maximum(t - d, 0).tolist())[0]

def double(tokens, target, draft):
    return in_numpy(tokens, target, draft, np.float64)

def with_a_coin(coin, tokens, target, draft, kind, slip=0.0):
    t, d = (np.asarray([float(mass) for mass in law]).astype(kind) for law in (target, draft))
    x = tokens[0]
    if coin.flip(np.minimum(kind(1), t[x] / d[x] + kind(slip))):
        return x
    left = np.maximum(t - d, 0)
    return coin.draw(left / left.sum())

def half_with_a_coin(coin, tokens, target, draft):
    return with_a_coin(coin, tokens, target, draft, np.float16)

def half_drawn_with_a_coin(coin, tokens, target, draft):
    left = np.asarray([float(mass) for mass in target]).astype(np.float16)
    return coin.draw(left / left.sum())

def double_with_a_coin(coin, tokens, target, draft):
    return with_a_coin(coin, tokens, target, draft, np.float64)

def double_with_a_coin_off_by_little(coin, tokens, target, draft):
    return with_a_coin(coin, tokens, target, draft, np.float64, 1e-6)

def half_with_a_coin_off_by_more(coin, tokens, target, draft):
    return with_a_coin(coin, tokens, target, draft, np.float16, 0.1)

def double_off_by_little(tokens, target, draft):
    return in_numpy(tokens, target, draft, np.float64, 1e-6)

def single_off_by_more(tokens, target, draft):
    return in_numpy(tokens, target, draft, np.float32, 1e-3)
"""

THIRDS = (["1/3", "1/3", "1/3"], ["1/5", "3/5", "1/5"])
TENTHS = (["1/10", "2/10", "7/10"], ["3/10", "3/10", "4/10"])
FIFTHS_AND_QUARTERS = (["2/5", "3/5"], ["3/4", "1/4"])


def on(laws: tuple[list[str], list[str]], name: str, folder: Path, **how: Any) -> object:
    module = folder / "sampling.py"
    module.write_text("import random\n" + CODE)
    return check_sampler(load_function(f"{module}:{name}").value, *laws, k=1, **how)


@pytest.mark.parametrize("name", ["single", "half", "single_as_python_s_floats"])
@pytest.mark.parametrize("laws", [THIRDS, FIFTHS_AND_QUARTERS])
def test_a_right_sampler_that_casts_is_left_open(laws: tuple[list[str], list[str]], name: str, tmp_path: Path) -> None:
    verdict = on(laws, name, tmp_path)
    assert isinstance(verdict, Undecided)
    assert verdict.reason is Reason.ROUNDING
    assert not isinstance(on(LAWS, name, tmp_path), Lossy)


@pytest.mark.parametrize(
    ("laws", "name"), [(THIRDS, "half_with_a_coin"), (TENTHS, "half_with_a_coin"), (TENTHS, "half_drawn_with_a_coin")]
)
def test_a_coin_that_is_handed_halves_shows_them(laws: tuple[list[str], list[str]], name: str, tmp_path: Path) -> None:
    """It was lossy by what rounding did, where `check_lossless` finds the same function lossless to within a bound."""
    verdict = on(laws, name, tmp_path)
    assert isinstance(verdict, Undecided)
    assert verdict.reason is Reason.ROUNDING
    assert "seems to compute in float16" in verdict.explanation
    assert not isinstance(check_lossless(load_function(f"{tmp_path}/sampling.py:{name}").value, *laws, 1), Lossy)


@pytest.mark.parametrize("laws", [THIRDS, TENTHS])
def test_a_coin_that_is_handed_doubles_is_judged_as_before(laws: tuple[list[str], list[str]], tmp_path: Path) -> None:
    assert isinstance(on(laws, "double_with_a_coin", tmp_path), Lossless)
    for name in ("double_with_a_coin_off_by_little", "half_with_a_coin_off_by_more"):
        assert isinstance(on(laws, name, tmp_path), Lossy)


def test_in_the_type_that_it_computes_in_it_is_judged(tmp_path: Path) -> None:
    assert isinstance(on(THIRDS, "single", tmp_path, numbers="float32"), Lossless)
    assert isinstance(on(THIRDS, "double", tmp_path), Lossless)


@pytest.mark.parametrize("laws", [THIRDS, LAWS, FIFTHS_AND_QUARTERS])
@pytest.mark.parametrize("name", ["double_off_by_little", "single_off_by_more"])
def test_what_no_type_explains_is_lossy_as_before(laws: tuple[list[str], list[str]], name: str, tmp_path: Path) -> None:
    """The control: 1e-6 in float64, and 1e-3 in float32."""
    assert isinstance(on(laws, name, tmp_path), Lossy)


def test_the_command_says_the_same(tmp_path: Path) -> None:
    assert isinstance(verdict_of(CODE, "double_off_by_little", tmp_path, k=1), Lossy)
