"""What samplers return is read as tokens, whatever holds them; what holds none is refused."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

torch = pytest.importorskip("torch", reason="torch is an optional extra")

from spec_math.audit import ExploreError  # noqa: E402
from torch_bridge.returned import generated, verified  # noqa: E402

ROWS = {
    "a list": [2, 1],
    "a row of a list": [[2, 1]],
    "a tensor": torch.tensor([2, 1]),
    "a row of a tensor": torch.tensor([[2, 1]]),
    "an array": np.array([2, 1]),
    "a row of an array": np.array([[2, 1]]),
    "an array of a smaller type": np.array([2, 1], dtype=np.int32),
}


@pytest.mark.parametrize("row", ROWS.values(), ids=ROWS)
def test_a_text_is_read_from_whatever_holds_it(row: Any) -> None:
    assert generated(row, (0, 1, 0), 2) == (2, 1)


@pytest.mark.parametrize("prompt", [torch.tensor([0, 1, 0]), np.array([0, 1, 0])], ids=["a tensor", "an array"])
def test_a_text_that_is_returned_with_its_prompt_is_cut(prompt: Any) -> None:
    assert generated(np.append(np.asarray(prompt), [2, 1]), (0, 1, 0), 2) == (2, 1)


@pytest.mark.parametrize("row", [torch.tensor([2, 1, -1]), np.array([2, 1, -1])], ids=["a tensor", "an array"])
def test_padding_ends_a_row(row: Any) -> None:
    assert verified(row, (2, 0)) == (2, 1)


@pytest.mark.parametrize("masses", [np.array([0.5, 0.5]), torch.tensor([0.5, 0.5]), "0 1"])
def test_what_holds_no_whole_numbers_is_no_row_of_tokens(masses: Any) -> None:
    with pytest.raises(ExploreError, match=r"no row of tokens is found|not a row of tokens"):
        generated(masses, (0, 1, 0), 2)
