"""The plan on logits decides as `plan.emit` replayed, whose law and acceptance are proven in token_level/test_plan."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

torch = pytest.importorskip("torch")

from proofs_tests.torch_bridge.batches import law_of  # noqa: E402
from spec_math.chance import replay  # noqa: E402
from spec_math.token_level import plan  # noqa: E402
from torch_bridge import verify_plan  # noqa: E402
from torch_bridge.options import DEFAULT, Options  # noqa: E402


def given(rows: int, k: int, size: int, options: Options = DEFAULT) -> tuple[Any, Any, Any, Any]:
    rng = np.random.default_rng([rows, k, size])
    target = torch.from_numpy(2 * rng.standard_normal((rows, size)))
    draft = target + torch.from_numpy(rng.standard_normal((rows, size)))
    tokens = np.array([rng.choice(size, k, p=law_of(row, options)) for row in draft])
    tokens[np.arange(k) >= rng.integers(0, k + 1, rows)[:, None]] = -1
    return target, draft, torch.from_numpy(tokens), torch.from_numpy(rng.random((rows, 4)))


@pytest.mark.parametrize("options", [DEFAULT, Options(temperature=0.6, top_k=5), Options(top_p=0.8)], ids=str)
@pytest.mark.parametrize("k", [1, 2, 4])
def test_plans_on_logits_are_replayed_plans(k: int, options: Options) -> None:
    target, draft, tokens, uniforms = given(60, k, 9, options)
    emitted, accepted = verify_plan(target, draft, tokens, uniforms, options)
    for row in range(60):
        laws = law_of(target[row], options), law_of(draft[row], options)
        listed = tuple(token for token in tokens[row].tolist() if token >= 0)
        if listed:
            made = plan.plan(*laws, len(listed))
            want = replay(lambda coin, a=(listed, made): plan.emit(coin, *a), uniforms[row].tolist())
        else:
            want = (replay(lambda coin, t=laws[0]: coin.draw(t), uniforms[row, -1:].tolist()), False)
        assert (int(emitted[row]), bool(accepted[row])) == tuple(want)


def test_a_plan_on_swapped_laws_or_other_uniforms_is_rejected() -> None:
    target, draft, tokens, uniforms = given(60, 2, 9)
    emitted = verify_plan(target, draft, tokens, uniforms).emitted
    assert (verify_plan(draft, target, tokens, uniforms).emitted != emitted).any()
    assert (verify_plan(target, draft, tokens, uniforms.roll(1, dims=1)).emitted != emitted).any()
