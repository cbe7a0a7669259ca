"""The coin of a row of uniforms refuses what the row does not hold."""

from __future__ import annotations

from typing import Any

import pytest

from proofs_tests.block_level.column_coin import replay_row


@pytest.mark.parametrize("uniforms", [[0.1], [0.1, 0.2, 0.3]])
def test_a_row_of_uniforms_has_a_coin_a_position_and_one_draw(uniforms: list[float]) -> None:
    def program(coin: Any) -> int:
        return coin.flip(0.5) + coin.draw([0.5, 0.5]) + (coin.draw([0.5, 0.5]) if len(uniforms) > 1 else 0)

    with pytest.raises(ValueError, match="one more coin" if len(uniforms) == 1 else "a second one"):
        replay_row(program, uniforms)
