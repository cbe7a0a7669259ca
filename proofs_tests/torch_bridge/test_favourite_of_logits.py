"""SpecHub's favourite is that of the logits as they are stored, also where their weights round alike."""

from __future__ import annotations

from typing import Any

import pytest

torch = pytest.importorskip("torch")

from proofs_tests.token_level.replayed_rows import Watching, emitted  # noqa: E402
from proofs_tests.torch_bridge.batches import law_of  # noqa: E402
from spec_math import SCHEMES  # noqa: E402
from torch_bridge import MappedLogits, columns, verify_drafts  # noqa: E402
from torch_bridge.draft_rows import Left  # noqa: E402
from torch_bridge.options import DEFAULT  # noqa: E402

(HUB,) = (scheme for scheme in SCHEMES if scheme.name == "SpecHub")
NEAR = torch.tensor([[0.01, 0.010000001, -0.5, -1.0]])
TARGET = torch.tensor([[-1.0, 0.0, 0.5, -0.25]])


def batch(many: int = 200) -> tuple[Any, ...]:
    """Drafts of a law whose two favourites have one weight in float32, and uniforms."""
    generator = torch.Generator().manual_seed(0)
    pairs = torch.tensor([[0, 1], [2, 1], [3, 1], [1, 0], [1, 2], [1, 3]])
    tokens = pairs[torch.randint(6, (many,), generator=generator)]
    uniforms = torch.rand(many, columns(HUB, 2) + 1, generator=generator, dtype=torch.float64)
    return TARGET.expand(many, -1), NEAR.expand(many, -1), tokens, uniforms


def differing(found: Any) -> int:
    target, draft, tokens, uniforms = batch()
    wrong = 0
    for row in range(len(tokens)):
        coin = Watching(uniforms[row].tolist())
        want = emitted(HUB, coin, tokens[row].tolist(), law_of(target[row], DEFAULT), law_of(draft[row], DEFAULT))
        wrong += (int(found.emitted[row]), bool(found.accepted[row])) != tuple(want)
    return wrong


def test_the_favourite_is_that_of_the_stored_logits() -> None:
    assert torch.softmax(NEAR, dim=-1).argmax() == 0 != NEAR.argmax()
    target, draft, tokens, uniforms = batch()
    assert differing(verify_drafts(HUB, *batch())) == 0
    mapped = MappedLogits(draft, torch.arange(4))
    assert differing(verify_drafts(HUB, target, mapped, tokens, uniforms)) == 0


def test_the_favourite_of_rounded_weights_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    """The control: what was decided before."""
    monkeypatch.setattr(Left, "favourite", lambda _, whole: whole.argmax(dim=-1))
    assert differing(verify_drafts(HUB, *batch())) > 0
