"""The judge on float models: verdicts within its stated bound, and no blindness for what is larger."""

from typing import Any

import numpy as np
import pytest

from spec_math import check_lossless_block
from spec_math.block_level import block, chain, emitted_law, spectr, target_law, without_replacement

Text = tuple[int, ...]


def peaked(seed: int, scale: float) -> Any:
    """A float model: the softmax of normal logits of the given scale, drawn afresh for each prefix."""

    def model(prefix: Text) -> Any:
        logits = scale * np.random.default_rng([seed, len(prefix), *prefix]).standard_normal(3)
        weights = np.exp(logits - logits.max())
        return weights / weights.sum()

    return model


GENERATORS = [
    (chain.generate, 2),
    (block.generate, 2),
    (spectr.generate, (2,)),
    (without_replacement.generate, (2, 1)),
]


@pytest.mark.parametrize(("generate", "shape"), GENERATORS)
@pytest.mark.parametrize(("scale", "seed"), [(1.0, 0), (1.0, 1), (10.0, 2), (10.0, 3)])
def test_generators_are_lossless_on_floats_within_the_bound(generate: Any, shape: Any, scale: float, seed: int) -> None:
    target, draft = peaked(seed, scale), peaked(seed + 100, scale)
    verdict = check_lossless_block(lambda coin, prefix: generate(coin, target, draft, prefix, shape), target, 3)
    assert verdict, str(verdict)
    assert 0 < verdict.bound < 1e-12


def test_a_bias_above_the_bound_is_caught_on_floats() -> None:
    target, draft = peaked(0, 1.0), peaked(1, 1.0)

    def biased(coin: Any, prefix: Text) -> Text:
        t = target(prefix)
        return chain.generate(coin, lambda p: 0.99999 * target(p) + 1e-5 * t[::-1], draft, prefix, 1)

    verdict = check_lossless_block(biased, target, 2)
    assert not verdict
    assert verdict.total_variation > 1e-8
    wanted = target_law(target, 2)
    emitted = emitted_law(biased, target, 2)
    assert verdict.total_variation == pytest.approx(
        sum(abs(emitted[text] - wanted[text]) for text in wanted) / 2, rel=1e-9
    )
