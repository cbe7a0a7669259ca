"""The kernels of chain verification decide as the reference does, under Triton's interpreter on a CPU."""

from __future__ import annotations

from typing import Any

import pytest

torch = pytest.importorskip("torch")

from proofs_tests.torch_bridge.batches import batch, replayed  # noqa: E402
from torch_bridge import Options, assert_same_tokens, verify_token  # noqa: E402
from torch_bridge.same_tokens import DifferentTokensError  # noqa: E402
from torch_bridge.threshold import bound, margin_token  # noqa: E402

pytest.importorskip("triton", reason="triton is not installed; make test-engines runs these tests")

import triton  # noqa: E402

from torch_bridge import tiled_verify  # noqa: E402

pytestmark = [
    pytest.mark.skipif(not triton.knobs.runtime.interpret, reason="kernels run on a CPU under TRITON_INTERPRET=1 only"),
    pytest.mark.filterwarnings("ignore:Conversion of an array with ndim:DeprecationWarning"),
    pytest.mark.usefixtures("interpreted"),
]


@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16, torch.float16], ids=str)
@pytest.mark.parametrize(("shape", "tile"), [((12, 3, 7), 16), ((8, 3, 200), 64), ((6, 2, 257), 128)], ids=str)
def test_kernels_decide_as_replayed_programs(shape: Any, tile: int, dtype: Any) -> None:
    for temperature in (1.0, 0.7):
        options = Options(temperature=temperature)
        given = batch(shape, 5, dtype, options)
        found = tiled_verify.verify_token(*given, options, tile=tile)
        margin = margin_token(*given, options)
        limit = bound(dtype, shape[-1])
        assert float((margin > limit).double().mean()) > 0.8
        wanted = replayed("token", given, options)
        assert_same_tokens(wanted, found.emitted, margin, limit)
        assert found.count.tolist() == (found.emitted >= 0).sum(dim=1).tolist()
        # The reference in torch may differ from the program where the margin is small, and so may the kernels from it.
        far = margin > 2 * limit
        assert found.emitted[far].tolist() == verify_token(*given, options).emitted[far].tolist()
        shifted = given._replace(uniforms=(given.uniforms + 0.5) % 1)
        with pytest.raises(DifferentTokensError):
            assert_same_tokens(wanted, tiled_verify.verify_token(*shifted, options, tile=tile).emitted, margin, limit)


def test_rejections_and_whole_chains_both_occur() -> None:
    """The batches above draw from residuals, from target rows after a rejection of none, and after shorter chains."""
    given = batch((12, 3, 7), 5, torch.float32)
    counts = tiled_verify.verify_token(*given, tile=16).count
    lengths = (given.tokens >= 0).sum(dim=1)
    assert bool((counts <= lengths).any())
    assert bool((counts == lengths + 1).any())


def test_the_largest_uniform_meets_a_token_that_has_mass() -> None:
    """Tiles and tokens are both found by running sums whose own end is the total."""
    torch.manual_seed(0)
    logits = torch.randn(40, 2, 100)
    logits[..., 70:] = -torch.inf
    top = 1 - 2.0**-53
    uniforms = torch.tensor([[0.0, top]], dtype=torch.float64).repeat(40, 1)
    tokens = torch.zeros(40, 1, dtype=torch.long)
    found = tiled_verify.verify_token(logits, logits[:, :1], tokens, uniforms, tile=16)
    assert (found.count == 2).all()
    assert (found.emitted[:, 1] < 70).all()


def test_equal_laws_accept_and_disjoint_ones_reject() -> None:
    draft = torch.zeros(1, 1, 2)
    target = torch.tensor([[[-torch.inf, 0.0], [0.0, -torch.inf]]])
    uniforms = torch.tensor([[0.9, 0.5]])
    assert tiled_verify.verify_token(target, draft, torch.tensor([[1]]), uniforms).emitted.tolist() == [[1, 0]]
    assert tiled_verify.verify_token(target, draft, torch.tensor([[0]]), uniforms).emitted.tolist() == [[1, -1]]


@pytest.mark.filterwarnings("ignore:All-NaN slice encountered:RuntimeWarning")
def test_rows_behind_the_end_of_a_chain_may_hold_anything() -> None:
    given = batch((8, 3, 50), 3, torch.float32)
    lengths = (given.tokens >= 0).sum(dim=1)
    spoilt = given.targets.clone(), given.drafts.clone()
    for request, length in enumerate(lengths.tolist()):
        spoilt[0][request, length + 1 :] = torch.nan
        spoilt[1][request, length:] = torch.nan
    right = tiled_verify.verify_token(*given, tile=16).emitted
    assert tiled_verify.verify_token(*spoilt, given.tokens, given.uniforms, tile=16).emitted.tolist() == right.tolist()


def test_what_the_kernels_do_not_have_is_refused() -> None:
    given = batch((2, 1, 5), 0, torch.float32)
    for options in (Options(top_k=2), Options(top_p=0.5), Options(temperature=0)):
        with pytest.raises(ValueError, match="the kernels take logits as they are"):
            tiled_verify.verify_token(*given, options)
    with pytest.raises(TypeError, match="the kernels compute in float32"):
        tiled_verify.verify_token(*batch((2, 1, 5), 0))
    with pytest.raises(ValueError, match="uniforms must lie in"):
        tiled_verify.verify_token(*given[:3], given.uniforms + 1)
