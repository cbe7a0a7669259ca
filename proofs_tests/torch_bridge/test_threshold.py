"""The bound on rounding holds for what torch computes here, and margins are distances to other decisions."""

from __future__ import annotations

from typing import Any

import pytest

torch = pytest.importorskip("torch")

from proofs_tests.torch_bridge.batches import batch  # noqa: E402
from torch_bridge import threshold, verify_block, verify_token  # noqa: E402
from torch_bridge.options import Options  # noqa: E402
from torch_bridge.softmax_rows import BLOCK, weigh  # noqa: E402


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64], ids=str)
def test_weights_are_within_the_roundings_that_the_bound_counts(dtype: Any) -> None:
    """Every gap that leaves a weight normal: relative to the largest, (2·42 + 3g)u at most."""
    unit = torch.finfo(dtype).eps / 2
    for shift in (0.0, 17.3, -1234.5):
        gaps = torch.linspace(0, 80, 40_001, dtype=torch.float64)
        logits = (shift - gaps).to(dtype)
        gaps = (logits.double()[0] - logits.double()).abs()
        weights = weigh(logits, Options()).double()
        error = (weights / weights[0] / (-gaps).exp() - 1).abs() / unit
        # The float64 exponential it is compared with is itself off by a rounding of the gap.
        assert (error <= 84 + 3 * gaps + (gaps if dtype == torch.float64 else 0)).all()


@pytest.mark.parametrize("size", [50, 1000, 32_000, 151_936])
@pytest.mark.parametrize("spread", [0.5, 3, 20])
def test_sums_and_laws_are_within_the_bound_and_the_bound_is_not_slack_by_orders(size: int, spread: float) -> None:
    torch.manual_seed(size)
    logits = spread * torch.randn(4, size)
    exact = torch.softmax(logits.double(), dim=-1)
    weights = weigh(logits, Options()).double()
    single = threshold.bound(torch.float32, size) / 5
    assert float((weights / weights.sum(dim=-1, keepdim=True) - exact).abs().sum(dim=-1).max()) < single < 1e-4


@pytest.mark.parametrize(
    ("verify", "margin"), [(verify_token, threshold.margin_token), (verify_block, threshold.margin_block)]
)
def test_nothing_changes_within_the_margin_and_something_does_beyond(verify: Any, margin: Any) -> None:
    """A coin's margin is its distance times at most 1, so that moving all uniforms by less changes nothing."""
    given = batch((300, 3, 6), 0)
    far, emitted = margin(*given), verify(*given).emitted
    changed = torch.zeros(300, dtype=torch.bool)
    for sign in (-1, 1):
        for factor in (0.99, 1.01):
            moved = (given.uniforms + sign * factor * far[:, None]).clamp(0, 1 - 2.0**-53)
            differs = (verify(*given[:3], moved).emitted != emitted).any(dim=1)
            assert factor > 1 or not differs.any()
            changed |= differs
    # Where the nearest threshold is that of a token's coin, the step beyond it changes the coin's answer.
    assert float(changed.double().mean()) > 0.2


def test_bounds_grow_with_the_vocabulary_the_lookahead_and_the_roundings() -> None:
    assert threshold.bound(torch.float64, 1000) < 1e-10 < threshold.bound(torch.float32, 1000)
    assert threshold.bound(torch.float32, 1000) < threshold.bound(torch.float32, 100_000)
    assert threshold.bound(torch.float32, 1000, 1) < threshold.bound(torch.float32, 1000, 2)
    assert BLOCK == 128, "the bound's derivation names it"
