"""Shared noise on K drafted chains: those that are still right race on, and the block has the target's law."""

from __future__ import annotations

from typing import Any

from hypothesis import given, settings

from proofs_tests.block_level.models import Rows, model_pairs
from spec_math import check_lossless_block
from spec_math.arrays import exact
from spec_math.block_level import length, spectr
from spec_math.token_level import shared_noise


@settings(max_examples=12)
@given(model_pairs(2, small=True))
def test_shared_noise_of_two_chains_is_lossless(models: tuple[Rows, Rows]) -> None:
    target, draft = models
    verdict = check_lossless_block(
        lambda coin, prefix: spectr.generate(coin, target, draft, prefix, (2, 1), shared_noise.verify), target, 3
    )
    assert verdict, str(verdict)
    walked = length.expected(
        lambda coin, prefix: spectr.generate(coin, target, draft, prefix, (2, 1), shared_noise.verify), ()
    )
    assert spectr.expected(target, draft, (), (2, 1), shared_noise.verify) == walked


@settings(max_examples=4)
@given(model_pairs(2, small=True))
def test_shared_noise_of_two_chains_is_lossless_over_two_rounds(models: tuple[Rows, Rows]) -> None:
    target, draft = models
    verdict = check_lossless_block(
        lambda coin, prefix: spectr.generate(coin, target, draft, prefix, (2, 1), shared_noise.verify), target, 5, 2
    )
    assert verdict, str(verdict)


def test_a_race_for_the_drafts_law_is_lossy() -> None:
    """The control: the token of the least noise over the draft's masses, and not over the target's."""

    def wrong(coin: Any, tokens: Any, target: Any, draft: Any) -> int:  # noqa: ARG001
        return shared_noise.verify(coin, tokens, draft, draft)

    def target(prefix: tuple[int, ...]) -> Any:  # noqa: ARG001
        return exact(["1/4", "3/4"])

    def draft(prefix: tuple[int, ...]) -> Any:  # noqa: ARG001
        return exact(["1/2", "1/2"])

    assert not check_lossless_block(
        lambda coin, prefix: spectr.generate(coin, target, draft, prefix, (2, 1), wrong), target, 3
    )
