"""What rounding in half precision leaves open is asked again in float64, where a wrong program is condemned."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from importlib import import_module
from typing import Any

import ml_dtypes
import numpy as np
import pytest

from spec_math.arrays import Array
from spec_math.audit import check_sampler
from spec_math.block_level import check_lossless_block
from spec_math.block_level.lossless import asked_in_float64
from spec_math.distribution import residual
from spec_math.language.model import InFloat64
from spec_math.testing import NotLosslessError, UndecidedError, assert_lossless_block
from spec_math.token_level import single
from spec_math.verdict import Lossless, Lossy, Reason, Undecided, check_lossless

TARGET = np.array([0.5, 0.25, 0.25]).astype(ml_dtypes.bfloat16)
DRAFT = np.array([0.25, 0.5, 0.25]).astype(ml_dtypes.bfloat16)
COARSE = np.array([0.2, 0.3, 0.5]).astype(ml_dtypes.bfloat16)


NEARLY = 2.0**-40


def target(_prefix: Any) -> Array:
    return TARGET


def draft(_prefix: Any) -> Array:
    return DRAFT


def block(coin: Any, target_model: Any, draft_model: Any, prefix: Any, accepted: float = 1.0) -> tuple[int, ...]:
    """A chain of one draft, which accepts `accepted` times as often as it should."""
    t, d = target_model(prefix), draft_model(prefix)
    x = coin.draw(d)
    if coin.flip(min(1.0, accepted * float(t[x]) / float(d[x]))):
        return x, coin.draw(target_model((*prefix, x)))
    return (coin.draw(residual(*(np.asarray(law, dtype=np.float64) for law in (t, d)))),)


def shifting(coin: Any, prefix: Any, model: Any) -> tuple[int, ...]:
    """Draws from (t + 8) − 8, which is t, but in half precision keeps no more than two bits of it."""
    t = model(prefix)
    shifted = (t + t.dtype.type(8)) - t.dtype.type(8)
    return (coin.draw(shifted / shifted.sum()),)


def shifting_block(coin: Any, target_model: Any, draft_model: Any, prefix: Any) -> tuple[int, ...]:
    del draft_model
    return shifting(coin, prefix, target_model)


def coarse(_prefix: Any) -> Array:
    return COARSE


def judged_twice(generate: Callable[..., Any], models: tuple[Any, ...], horizon: int) -> tuple[Any, Any]:
    first = check_lossless_block(partial(generate, *models), models[0], horizon)
    wide = [InFloat64(model) for model in models]
    return first, asked_in_float64(first, partial(generate, *wide), wide[0], horizon)


def test_a_block_that_rounding_could_explain_is_condemned_in_float64() -> None:
    def generate(target_model: Any, draft_model: Any, coin: Any, prefix: Any) -> Any:
        return block(coin, target_model, draft_model, prefix, 0.875)

    first, again = judged_twice(generate, (target, draft), 2)
    assert isinstance(first, Undecided), str(first)
    assert first.reason is Reason.ROUNDING
    assert isinstance(again, Lossy)
    assert "float64" in again.reason


def test_a_right_block_is_lossless_before_it_is_asked() -> None:
    def generate(target_model: Any, draft_model: Any, coin: Any, prefix: Any) -> Any:
        return block(coin, target_model, draft_model, prefix)

    first, again = judged_twice(generate, (target, draft), 2)
    assert isinstance(first, Lossless), str(first)
    assert again is first


def test_a_right_block_that_rounds_badly_stays_undecided() -> None:
    def generate(model: Any, coin: Any, prefix: Any) -> Any:
        return shifting(coin, prefix, model)

    first, again = judged_twice(generate, (coarse,), 1)
    assert isinstance(first, Undecided), str(first)
    assert again is first


def test_an_assertion_asks_in_float64_by_itself() -> None:
    with pytest.raises(NotLosslessError, match="float64"):
        assert_lossless_block(partial(block, accepted=0.875), 1, models=[(target, draft)])
    assert_lossless_block(block, 1, models=[(target, draft)])
    with pytest.raises(UndecidedError):
        assert_lossless_block(shifting_block, 1, models=[(coarse, draft)])


LAWS = ["1/5", "3/10", "1/2"], ["1/2", "1/4", "1/4"]


def sampler(accepted: float, dtype: Any = None) -> Callable[..., int]:
    """Maximal coupling in torch, which accepts `accepted` times as often as it should, in a type of its own if told."""
    torch = import_module("torch")

    def sample(tokens: Any, target: Any, draft: Any) -> int:
        t, d = (law if dtype is None else law.to(getattr(torch, dtype)) for law in (target, draft))
        x = int(tokens[0])
        if torch.rand((), dtype=torch.float64) < accepted * t[x].double() / d[x].double():
            return x
        left = (t - d).clamp(min=0)
        return int(torch.multinomial(left / left.sum(), 1))

    return sample


def test_a_sampler_in_half_precision_that_rounding_could_explain_is_condemned() -> None:
    pytest.importorskip("torch", reason="torch is not installed")
    judge = import_module("torch_bridge.subject").check_sampler
    verdict = judge(sampler(0.875), *LAWS, numbers="torch.bfloat16")
    assert isinstance(verdict, Lossy), str(verdict)
    assert "with numbers in float64" in verdict.reason
    assert judge(sampler(1.0), *LAWS, numbers="torch.bfloat16")


def test_a_sampler_that_computes_in_half_precision_inside_is_left_undecided() -> None:
    pytest.importorskip("torch", reason="torch is not installed")
    judge = import_module("torch_bridge.subject").check_sampler
    verdict = judge(sampler(0.875, "bfloat16"), *LAWS, numbers="torch.bfloat16")
    assert not verdict, str(verdict)


def test_masses_that_a_verifier_asks_its_coin_for_are_lossy_on_every_path_too() -> None:
    def halves(coin: Any, tokens: Any, target: Any, draft: Any) -> int:
        del tokens, target
        return coin.draw([draft[0] * 0 + draft[0] / draft[0] / 2] * 3)

    assert isinstance(check_sampler(halves, *LAWS, 1), Lossy)
    assert isinstance(check_sampler(halves, *LAWS), Lossy)

    def raises(coin: Any, tokens: Any, target: Any, draft: Any) -> int:
        raise KeyError((coin, tokens, target, draft))

    assert isinstance(check_sampler(raises, *LAWS, 1), Undecided)


# Masses that float16 and bfloat16 hold exactly.
EIGHTHS = [3 / 8, 3 / 8, 1 / 8, 1 / 8], [1 / 8, 1 / 4, 1 / 4, 3 / 8]


def sometimes_three(coin: Any, tokens: Any, target: Array, draft: Array, chance: float = 0.005) -> int:
    """Replaces so many answers by token 3: a total variation of 7/8 of that."""
    return 3 if coin.flip(chance) else single.verify(coin, tokens[0], target, draft)


def rounding_its_ratio(coin: Any, tokens: Any, target: Array, draft: Array) -> int:
    """A right verifier that computes its chance in half precision, whatever its laws are stored in."""
    t, d = (np.asarray(law, dtype=np.float64) for law in (target, draft))
    x = tokens[0]
    return x if coin.flip(float(np.float16(min(1.0, t[x] / d[x])))) else coin.draw(residual(t, d))


@pytest.mark.parametrize("stored", [np.float16, ml_dtypes.bfloat16, np.float32])
def test_a_small_mistake_is_lossy_in_every_type(stored: Any) -> None:
    laws = [np.array(law).astype(stored) for law in EIGHTHS]
    verdict = check_lossless(sometimes_three, *laws, k=1)
    assert isinstance(verdict, Lossy)
    assert abs(float(verdict.total_variation) - 0.005 * 7 / 8) < 1e-6
    assert isinstance(check_lossless(partial(sometimes_three, chance=0.0), *laws, k=1), Lossless)


@pytest.mark.parametrize("stored", [np.float16, ml_dtypes.bfloat16])
def test_rounding_inside_a_verifier_is_not_called_a_mistake(stored: Any) -> None:
    verdict = check_lossless(rounding_its_ratio, *[np.array(law).astype(stored) for law in EIGHTHS], k=1)
    assert isinstance(verdict, Undecided)
    assert "significant bits" in verdict.explanation


def test_a_small_mistake_of_a_block_is_lossy_in_half_precision() -> None:
    laws = [np.array(law).astype(np.float16) for law in EIGHTHS]

    def block(coin: Any, target_model: Any, draft_model: Any, prefix: Any, chance: float) -> tuple[int, ...]:
        t, d = target_model(prefix), draft_model(prefix)
        return (sometimes_three(coin, (coin.draw(d),), t, d, chance),)

    models = [lambda _, law=law: law for law in laws]
    finer = [InFloat64(model) for model in models]
    for chance, expected in ((0.005, Lossy), (0.0, Lossless)):
        verdict = check_lossless_block(
            lambda coin, text, chance=chance: block(coin, *models, text, chance), models[0], 1
        )
        assert isinstance(verdict, Lossless)
        again = lambda coin, text, chance=chance: block(coin, *finer, text, chance)  # noqa: E731
        assert isinstance(asked_in_float64(verdict, again, finer[0], 1), expected)


@pytest.mark.parametrize("kind", ["bfloat16", "float16", "float32"])
def test_tensors_are_asked_in_float64_too(kind: str) -> None:
    # Float32 would make a tie that float64 does not; the program is wrong on ties alone.
    torch = pytest.importorskip("torch")
    laws = ([0.75, 0.25, 0.0], [0.75, 0.25, NEARLY if kind != "float16" else 2.0**-24])
    seen = set()

    def verify(coin: Any, _tokens: Any, target: Any, draft: Any) -> int:
        seen.add(str(target.dtype))
        if target[0] == draft[0] and target.dtype != getattr(torch, kind):
            return coin.draw([0.999, 0.001, 0])
        return coin.draw([0.75, 0.25, 0.0])

    t, d = (torch.tensor(law, dtype=torch.float64).to(getattr(torch, kind)) for law in laws)
    verdict = check_lossless(verify, t, d, k=1)
    assert isinstance(verdict, Lossless), str(verdict)
    assert seen == {f"torch.{kind}", "torch.float64"}
