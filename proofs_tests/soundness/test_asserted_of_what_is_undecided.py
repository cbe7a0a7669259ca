"""An assertion that a verifier is lossless passed in silence where nothing had been decided."""

from __future__ import annotations

import os
import secrets
from collections.abc import Callable
from typing import Any

import pytest

from spec_math.scheme import Scheme, draw_independent
from spec_math.testing import NotLosslessError, UndecidedError, assert_lossless

PAIRS = [(["1/4", "3/4"], ["1/2", "1/2"])]


def never_a_law(coin: Any, tokens: Any, target: Any, draft: Any) -> int:
    del tokens, draft
    return coin.draw([2 * mass for mass in target])


def raises(tokens: Any, target: Any, draft: Any) -> int:
    raise RuntimeError(f"not written yet: {tokens}, {target}, {draft}")


def of_secrets(tokens: Any, target: Any, draft: Any) -> int:
    del target, draft
    return secrets.randbelow(2) * int(tokens[0])


def of_entropy(tokens: Any, target: Any, draft: Any) -> int:
    del target, draft
    return os.urandom(1)[0] % 2 * int(tokens[0])


@pytest.mark.parametrize("verifier", [raises, of_secrets, of_entropy])
def test_what_is_not_decided_is_not_asserted(verifier: Callable[..., int]) -> None:
    with pytest.raises(UndecidedError, match="undecided"):
        assert_lossless(verifier, pairs=PAIRS)


def test_masses_that_are_never_a_distribution_are_a_fault() -> None:
    with pytest.raises(NotLosslessError, match="sum to 2"):
        assert_lossless(never_a_law, pairs=PAIRS)


def test_a_scheme_that_is_not_decided_is_not_asserted() -> None:
    def unwritten(coin: Any, tokens: Any, target: Any, draft: Any) -> int:
        raise NotImplementedError(f"{coin}, {tokens}, {target}, {draft}")

    scheme = Scheme("unwritten", draw_independent, unwritten, lambda *_: 0, lambda *_: 0)
    with pytest.raises(UndecidedError, match="undecided"):
        assert_lossless(scheme, pairs=PAIRS)


def test_what_is_lossless_is_asserted() -> None:
    assert_lossless(lambda coin, tokens, target, draft: coin.draw(target), pairs=PAIRS)  # noqa: ARG005
