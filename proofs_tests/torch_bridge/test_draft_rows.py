"""Which requests have what is left of their draft weighed anew: all whose held weights lost digits."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

torch = pytest.importorskip("torch")

from spec_math import SCHEMES  # noqa: E402
from torch_bridge import columns, draft_rows, verify_drafts  # noqa: E402
from torch_bridge.options import Options  # noqa: E402
from torch_bridge.softmax_rows import weigh  # noqa: E402

DISTINCT = [scheme for scheme in SCHEMES if scheme.decide is not None and scheme.distinct]
SIZE, ROWS = 12, 400


def batch(seed: int, dtype: Any) -> tuple[Any, Any]:
    """Logits as far apart as their type reaches and further, and two distinct tokens, mostly the heaviest."""
    generator = torch.Generator().manual_seed(seed)
    reach = 110 if dtype == torch.float32 else 800
    scale = torch.tensor([1.0, 20.0, reach], dtype=torch.float64)[torch.arange(ROWS) % 3][:, None]
    logits = scale * torch.rand(ROWS, SIZE, generator=generator, dtype=torch.float64)
    heaviest = logits.argsort(dim=-1, descending=True)[:, :2]
    beyond = reach * torch.rand(ROWS, 1, generator=generator, dtype=torch.float64)
    logits.scatter_add_(-1, heaviest, beyond.expand(-1, 2).contiguous())
    tokens = logits.argsort(dim=-1, descending=True)[:, :2].clone()
    tokens[::5, 1] = torch.randint(0, SIZE, (ROWS,), generator=generator)[::5]
    tokens[tokens[:, 0] == tokens[:, 1], 1] = -1
    tokens[::7, 1] = -1
    return logits.to(dtype), tokens


def error(logits: Any, held: Any, tokens: Any) -> Any:
    """The L1 error [B] of the law that held weights leave without the tokens, and the drafts' largest relative one."""
    there = tokens >= 0
    gone = torch.zeros_like(held, dtype=torch.bool).scatter(-1, torch.where(there, tokens, tokens[:, :1]), True)
    left = held.double().masked_fill(gone, 0)
    true = torch.softmax(logits.double().masked_fill(gone, -torch.inf), dim=-1)
    own = logits.double().gather(-1, tokens.clamp(min=0)) - logits.double().logsumexp(dim=-1, keepdim=True)
    light = (held.gather(-1, tokens.clamp(min=0)).double() / own.exp() - 1).abs().nan_to_num(1).masked_fill(~there, 0)
    return (left / left.sum(dim=-1, keepdim=True) - true).abs().sum(dim=-1).nan_to_num(2), light.amax(dim=-1)


def test_where_held_weights_stand_they_have_their_digits() -> None:
    """In float32, beside float64: exponents of 170 at most are rounded to 2^-17, and those of sums to a few units."""
    allowed = 2.0**-16
    for seed in range(5):
        logits, tokens = batch(seed, torch.float32)
        held = weigh(logits, Options())
        found = draft_rows.lose_digits(held, tokens)
        law, drafted = error(logits, held, tokens)
        assert law[~found].max() < allowed
        assert drafted[~found].max() < allowed
        # Control: of the others some have lost their digits.
        assert law[found].max() > 0.01
        assert 20 < found.sum() < ROWS - 20


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64], ids=str)
@pytest.mark.parametrize("scheme", DISTINCT, ids=lambda scheme: scheme.short_name)
def test_requests_of_both_kinds_in_a_batch_are_decided_as_each_by_itself(scheme: Any, dtype: Any) -> None:
    draft, tokens = batch(7, dtype)
    if scheme.drafts == 2:
        tokens[:, 0], tokens[:, 1] = draft.argsort(dim=-1, descending=True)[:, :2].unbind(dim=-1)
    generator = torch.Generator().manual_seed(1)
    target = 2 * torch.randn(ROWS, SIZE, generator=generator, dtype=dtype)
    uniforms = torch.rand(ROWS, columns(scheme, 2), generator=generator, dtype=torch.float64)
    light = draft_rows.lose_digits(weigh(draft, Options()), tokens)
    assert 0 < light.sum() < ROWS
    together = verify_drafts(scheme, target, draft, tokens, uniforms, Options(check=False))
    for row in [*light.nonzero()[:20, 0].tolist(), *(~light).nonzero()[:20, 0].tolist()]:
        own: list[Any] = [each[row : row + 1] for each in (target, draft, tokens, uniforms)]
        alone = verify_drafts(scheme, *own, options=Options(check=False))
        assert (alone.emitted[0], alone.accepted[0]) == (together.emitted[row], together.accepted[row])


@pytest.mark.parametrize(
    "scheme", [scheme for scheme in SCHEMES if scheme.decide is not None], ids=lambda scheme: scheme.short_name
)
def test_what_a_formula_reads_is_said_by_its_scheme_not_by_its_name(scheme: Any) -> None:
    """A formula inside another function once was given rows that had underflowed, and a draft's law it never reads."""
    draft, tokens = batch(7, torch.float32)
    if scheme.drafts == 2:
        tokens = draft.argsort(dim=-1, descending=True)[:, :2]
    if scheme.drafts == 1:
        tokens = tokens[:, :1]
    target = torch.randn(ROWS, SIZE, generator=torch.Generator().manual_seed(1))
    uniforms = torch.rand(ROWS, columns(scheme, 2), generator=torch.Generator().manual_seed(2), dtype=torch.float64)
    again = replace(scheme, decide=lambda *given: scheme.decide(*given))
    given = target, draft if scheme.reads.draft else draft * float("nan"), tokens, uniforms
    options = Options(check=not scheme.reads.draft)
    found, other = verify_drafts(scheme, *given, options), verify_drafts(again, *given, options)
    assert torch.equal(found.emitted, other.emitted)
    assert torch.equal(found.accepted, other.accepted)
