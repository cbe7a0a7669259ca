"""Random logits with drafted tokens, for verifiers of one position."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

torch = pytest.importorskip("torch")


from proofs_tests.token_level.replayed_rows import Drawing  # noqa: E402
from proofs_tests.torch_bridge.batches import law_of  # noqa: E402
from spec_math import SCHEMES  # noqa: E402
from spec_math.scheme import Scheme  # noqa: E402
from torch_bridge import columns  # noqa: E402
from torch_bridge.options import DEFAULT, Options  # noqa: E402

schemes = pytest.mark.parametrize("scheme", SCHEMES, ids=lambda scheme: scheme.short_name)


def batch(
    scheme: Scheme, shape: tuple[int, int, int], dtype: Any, options: Options = DEFAULT, seed: int = 0
) -> tuple[Any, Any, Any, Any]:
    """Logits near, equal to and far from each other, with masked tokens; ragged drafts; uniforms."""
    rows, k, size = shape
    rng = np.random.default_rng([*shape, seed])
    target = 2 * rng.standard_normal((rows, size))
    draft = target + rng.choice([0, 1e-3, 1, 3], (rows, 1)) * rng.standard_normal((rows, size))
    for logits in (target, draft):
        logits[:, 1:][rng.random((rows, size - 1)) < 0.15] = -np.inf
    sharp = rng.random(rows) < 0.1
    draft[sharp, 1:] = -np.inf
    targets, drafts = (torch.from_numpy(logits).to(dtype) for logits in (target, draft))
    width = max(scheme.drafts or 1, k if scheme.drafts is None else 1)
    tokens = np.full((rows, width), -1)
    for row in range(rows):
        if row % 9 != 4:
            drawn = scheme.draw(Drawing(rng), law_of(drafts[row], options), int(rng.integers(1, k + 1)))
            tokens[row, : len(drawn)] = drawn
    uniforms = torch.from_numpy(rng.random((rows, columns(scheme, k))))
    return targets, drafts, torch.from_numpy(tokens), uniforms
