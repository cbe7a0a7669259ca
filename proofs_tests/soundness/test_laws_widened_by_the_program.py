"""Laws stored in half precision do not sum to 1, and what a program computes from them in a wider type does not either:
a coin that held it to the wider type's bound condemned right verifiers."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import ml_dtypes
import numpy as np
import pytest

from spec_math import check_lossless
from spec_math.block_level import check_lossless_block
from spec_math.chance import ChanceError, law
from spec_math.verdict import Lossless, Lossy

TYPES = (ml_dtypes.bfloat16, np.float16)
WEIGHTS = (0.363281, 0.363281, 0.0908203, 0.181641), (0.332031, 0.332031, 0.332031, 0.006073)


def coupled(coin: Any, source: tuple[int, Any], goal: Any) -> int:
    token, law = source
    if coin.flip(min(1, goal[token] / law[token])):
        return token
    left = np.maximum(goal - law, 0)
    return coin.draw(left / left.sum())


def widened(coin: Any, tokens: Any, target: Any, draft: Any) -> int:
    return coupled(coin, (tokens[0], draft.astype(np.float32)), target.astype(np.float32))


def between(coin: Any, tokens: Any, target: Any, draft: Any) -> int:
    del tokens
    middle = (target.astype(np.float32) + draft.astype(np.float32)) / 2
    return coupled(coin, (coin.draw(middle), middle), target.astype(np.float32))


def from_doubles(coin: Any, tokens: Any, target: Any, draft: Any) -> int:
    del tokens, draft
    return coin.draw(list(target.astype(np.float64) * 0.3 + target.astype(np.float64) * 0.7))


@pytest.mark.parametrize("verifier", [widened, between, from_doubles])
@pytest.mark.parametrize("dtype", TYPES, ids=["bfloat16", "float16"])
def test_a_right_verifier_that_widens_its_laws_is_not_condemned(verifier: Callable[..., int], dtype: Any) -> None:
    target, draft = (np.array(weights).astype(dtype) for weights in WEIGHTS)
    assert isinstance(check_lossless(verifier, target, draft, 1), Lossless)


def test_a_right_generator_that_widens_its_laws_is_not_condemned() -> None:
    row = np.array(WEIGHTS[0]).astype(ml_dtypes.bfloat16)

    def generate(coin: Any, prefix: Any) -> tuple[int, ...]:
        del prefix
        return (coin.draw(row.astype(np.float32) * 0.25 + row.astype(np.float32) * 0.75),)

    assert isinstance(check_lossless_block(generate, lambda _: row, 1), Lossless)


def test_masses_of_float32_that_are_off_by_more_than_float32_explains_are_still_refused() -> None:
    single = [np.array(weights, dtype=np.float64) / sum(weights) for weights in WEIGHTS]
    target, draft = (weights.astype(np.float32) for weights in single)

    def off(coin: Any, tokens: Any, target: Any, draft: Any) -> int:
        return coin.draw(target * np.float32(1.001)) if tokens[0] == 0 else coin.draw(draft)

    assert isinstance(check_lossless(off, target, draft, 1), Lossy)
    with pytest.raises(ChanceError, match="float32 may be off"):
        law(lambda coin: coin.draw(target * np.float32(1.001)))
