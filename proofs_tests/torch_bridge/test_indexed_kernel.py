"""The kernel of the indexed head gives the reference's logits, under Triton's interpreter on a CPU."""

from __future__ import annotations

from typing import Any

import pytest

torch = pytest.importorskip("torch")

from torch_bridge import indexed_logits  # noqa: E402

pytest.importorskip("triton", reason="triton is not installed; make test-engines runs these tests")

import triton  # noqa: E402

from torch_bridge import indexed_kernel  # noqa: E402

pytestmark = [
    pytest.mark.skipif(not triton.knobs.runtime.interpret, reason="kernels run on a CPU under TRITON_INTERPRET=1 only"),
    pytest.mark.filterwarnings("ignore:Conversion of an array with ndim:DeprecationWarning"),
    pytest.mark.usefixtures("interpreted"),
]


@pytest.mark.parametrize("dtype", [torch.float64, torch.float32, torch.float16, torch.bfloat16], ids=str)
@pytest.mark.parametrize("shape", [(200, 32, 7, 20), (50, 600, 3, 1), (9, 256, 1, 33)], ids=str)
def test_the_kernel_gives_the_full_heads_logits(shape: tuple[int, int, int, int], dtype: Any) -> None:
    size, dimension, requests, looked = shape
    torch.manual_seed(0)
    head, hidden = torch.randn(size, dimension, dtype=dtype), torch.randn(requests, dimension, dtype=dtype)
    tokens = torch.randint(-1, size, (requests, looked))
    exact = (hidden.double() @ head.double().T).gather(1, tokens.clamp(min=0))
    # Products and sums of `dimension` terms in any order in the accumulator's type, and one rounding to the result's.
    wide = torch.finfo(torch.float64 if dtype == torch.float64 else torch.float32).eps
    limit = (dimension + 1) * wide * (hidden.double().abs() @ head.double().abs().T).max() + torch.finfo(
        dtype
    ).eps * exact.abs().max()
    found = indexed_kernel.indexed_logits(head, hidden, tokens)
    there = tokens >= 0
    assert found.dtype == dtype
    assert float((found.double() - exact)[there].abs().max()) < float(limit)
    assert (found[~there] == -torch.inf).all()
    reference = indexed_logits(head, hidden, tokens)
    assert (reference[~there] == found[~there]).all()
    other = indexed_kernel.indexed_logits(head, hidden.flip(-1), tokens)
    assert float((other.double() - exact)[there].abs().max()) > float(limit)


def test_a_head_and_tokens_that_are_not_contiguous_are_read_right() -> None:
    torch.manual_seed(1)
    head, hidden = torch.randn(8, 40).T, torch.randn(8, 2).T
    tokens = torch.randint(0, 40, (5, 2)).T
    found = indexed_kernel.indexed_logits(head, hidden, tokens)
    assert torch.allclose(found, indexed_logits(head, hidden, tokens), atol=1e-5)


def test_what_does_not_fit_is_refused_before_anything_is_launched() -> None:
    head, hidden, tokens = torch.zeros(4, 3), torch.zeros(2, 3), torch.zeros(2, 2, dtype=torch.long)
    with pytest.raises(ValueError, match=r"\[V, d\], \[B, d\] and \[B, k\]"):
        indexed_kernel.indexed_logits(head, hidden[:, :2], tokens)
    with pytest.raises(ValueError, match="kernels run on CUDA devices"):
        indexed_kernel.indexed_logits(*(array.to("meta") for array in (head, hidden, tokens)))
