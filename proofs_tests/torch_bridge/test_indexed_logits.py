"""The head evaluated for some tokens is the full head, gathered."""

from __future__ import annotations

from typing import Any

import pytest

torch = pytest.importorskip("torch")

from torch_bridge import indexed_logits  # noqa: E402


@pytest.mark.parametrize("dtype", [torch.float64, torch.float32, torch.bfloat16], ids=str)
def test_indexed_logits_are_the_full_heads(dtype: Any) -> None:
    torch.manual_seed(0)
    head, hidden = torch.randn(200, 32, dtype=dtype), torch.randn(7, 32, dtype=dtype)
    tokens = torch.randint(-1, 200, (7, 20))
    exact = (hidden.double() @ head.double().T).gather(1, tokens.clamp(min=0)).masked_fill(tokens < 0, -torch.inf)
    found = indexed_logits(head, hidden, tokens)
    # A dot product of 32 terms in any order, rounded to the type at each step at worst.
    bound = 33 * torch.finfo(dtype).eps * (hidden.double().abs() @ head.double().abs().T).max()
    there = tokens >= 0
    assert found.dtype == dtype
    assert float((found.double() - exact)[there].abs().max()) < float(bound)
    assert (found[~there] == -torch.inf).all()
    wrong = indexed_logits(head, hidden.flip(0), tokens)
    assert float((wrong.double() - exact)[there].abs().max()) > float(bound)


def test_shapes_types_and_devices_must_fit() -> None:
    head, hidden, tokens = torch.zeros(4, 3), torch.zeros(2, 3), torch.zeros(2, 2, dtype=torch.long)
    with pytest.raises(ValueError, match=r"\[V, d\], \[B, d\] and \[B, k\]"):
        indexed_logits(head, hidden[:, :2], tokens)
    with pytest.raises(TypeError, match="one floating type"):
        indexed_logits(head, hidden.double(), tokens)
    with pytest.raises(TypeError, match="tokens must be whole numbers"):
        indexed_logits(head, hidden, tokens == 0)
    with pytest.raises(ValueError, match="one device"):
        indexed_logits(head, hidden, tokens.to("meta"))
