"""What every rule that verifies one drafted chain as a block is held to: losslessness, and block verification's law."""

from __future__ import annotations

from typing import Any

from spec_math import check_lossless_block
from spec_math.block_level import block, chain
from spec_math.block_level.conditionals import Conditionals
from spec_math.chance import law
from spec_math.language.model import Model


def assert_lossless(rule: Any, models: tuple[Model, Model], lookahead: int, rounds: int = 1) -> None:
    """Judge `rule.generate` on the tokens that `rounds` target calls emit at most, less one where there are several."""
    target, draft = models
    horizon = lookahead + 1 if rounds == 1 else rounds * (lookahead + 1) - 1
    verdict = check_lossless_block(
        lambda coin, prefix: rule.generate(coin, target, draft, prefix, lookahead), target, horizon, rounds
    )
    assert verdict, str(verdict)


def assert_block_verification(rule: Any, models: tuple[Model, Model], lookahead: int) -> None:
    """Hold `rule.verify` to the law of block verification, given each chain that the draft can draw."""
    laws = Conditionals(*models, ())
    for tokens, t, d in law(lambda coin: _shown(chain.draw_with_rows(coin, laws, lookahead))):
        assert law(lambda coin, x=tokens, t=t, d=d: rule.verify(coin, x, t, d)) == law(
            lambda coin, x=tokens, t=t, d=d: block.verify(coin, x, t, d)
        )


def _shown(drawn: tuple[Any, Any, Any]) -> tuple[Any, ...]:
    tokens, targets, drafts = drawn
    return tokens, tuple(map(tuple, targets)), tuple(map(tuple, drafts))
