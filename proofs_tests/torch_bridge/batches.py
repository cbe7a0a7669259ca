"""Random batches of logits, and the programs that they are compared with, replayed row by row."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
import pytest

torch = pytest.importorskip("torch")

from proofs_tests.block_level.column_coin import replay_row  # noqa: E402
from spec_math.block_level import block, chain  # noqa: E402
from spec_math.distribution import normalised, temperature, top_k, top_p  # noqa: E402
from torch_bridge.options import DEFAULT, Options  # noqa: E402

PROGRAMS: dict[str, Callable[..., tuple[int, ...]]] = {"token": chain.verify, "block": block.verify}


class Logits(NamedTuple):
    """target_logits [B, L + 1, V], draft_logits [B, L, V], tokens [B, L], uniforms [B, L + 1]."""

    targets: Any
    drafts: Any
    tokens: Any
    uniforms: Any


def law_of(logits: Any, options: Options = DEFAULT) -> np.ndarray[Any, Any]:
    """The law of one row in float64, by NumPy and the library's own restrictions: no line of torch_bridge."""
    row = logits.double().numpy()
    masses = np.exp(row - row.max())
    result = normalised(masses, masses)
    if options.temperature != 1:
        result = temperature(result, options.temperature)
    if options.top_k is not None:
        result = top_k(result, options.top_k)
    return result if options.top_p is None else top_p(result, options.top_p)


def batch(
    shape: tuple[int, int, int], seed: int, dtype: Any = torch.float64, options: Options = DEFAULT, spread: float = 3
) -> Logits:
    """Ragged chains drawn from drafts that are near to, equal to or far from their targets; some tokens are masked."""
    requests, lookahead, size = shape
    rng = np.random.default_rng([*shape, seed])
    targets = spread * rng.standard_normal((requests, lookahead + 1, size))
    drafts = targets[:, :-1] + rng.choice([0, 1e-3, 1, spread], (requests, 1, 1)) * rng.standard_normal(
        (requests, lookahead, size)
    )
    for rows in (targets, drafts):
        rows[..., 1:][rng.random(rows[..., 1:].shape) < 0.1] = -np.inf
    target, draft = torch.from_numpy(targets).to(dtype), torch.from_numpy(drafts).to(dtype)
    tokens = np.array([[rng.choice(size, p=law_of(row, options)) for row in request] for request in draft])
    tokens[np.arange(lookahead) >= rng.integers(0, lookahead + 1, requests)[:, None]] = -1
    return Logits(target, draft, torch.from_numpy(tokens), torch.from_numpy(rng.random((requests, lookahead + 1))))


def replayed(rule: str, given: Logits, options: Options = DEFAULT) -> Any:
    """The tokens [B, L + 1] of the program, replayed on each row's uniforms."""
    width = given.tokens.shape[1] + 1
    rows: list[list[int]] = []
    for target, draft, padded, uniforms in zip(*given, strict=True):
        tokens = tuple(token for token in padded.tolist() if token >= 0)
        targets = [law_of(row, options) for row in target[: len(tokens) + 1]]
        drafts = [law_of(row, options) for row in draft[: len(tokens)]]
        if tokens:
            given_row = (PROGRAMS[rule], tokens, targets, drafts)
            emitted = replay_row(lambda coin, a=given_row: a[0](coin, *a[1:]), uniforms.tolist())
        else:
            emitted = (replay_row(lambda coin, law=targets[0]: coin.draw(law), uniforms.tolist()),)
        rows.append([*emitted, *[-1] * (width - len(emitted))])
    return torch.tensor(rows)
