"""Verification on logits of every type against softmaxes of sixty digits and one request at a time in Fractions."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import numpy as np
import pytest

torch = pytest.importorskip("torch")

from proofs_tests.block_level import blocks_oracle as oracle  # noqa: E402
from torch_bridge import threshold, verify_block, verify_token  # noqa: E402

RULES = {"token": (verify_token, oracle.verify_token), "block": (verify_block, oracle.verify_block)}
DTYPES = (torch.float64, torch.float32, torch.bfloat16, torch.float16)


def logits(rng: Any, rows: tuple[int, ...], size: int) -> Any:
    """Rows of logits with masks, ties on whole numbers, spreads from 1 to 30, and an offset of their own."""
    found = rng.choice([1.0, 4.0, 30.0], (*rows, 1)) * rng.standard_normal((*rows, size))
    found = np.where(rng.random((*rows, 1)) < 0.3, found.round(), found)
    found[..., 1:][rng.random((*rows, size - 1)) < 0.15] = -np.inf
    return found + rng.choice([0.0, 100.0, -250.0], (*rows, 1))


def batch(seed: int, shape: tuple[int, int, int], dtype: Any) -> tuple[Any, Any, Any, Any, list[Any]]:
    """A ragged batch, and its laws [B, 2L + 1] in Fractions; some drafts are equal to their targets or near them."""
    requests, lookahead, size = shape
    rng = np.random.default_rng([seed, *shape])
    targets = logits(rng, (requests, lookahead + 1), size)
    drafts, kind = logits(rng, (requests, lookahead), size), rng.random((requests, lookahead, 1))
    drafts = np.where(kind < 0.5, targets[:, :-1] + np.where(kind < 0.3, rng.standard_normal(drafts.shape), 0), drafts)
    stored = [torch.from_numpy(side).to(dtype) for side in (targets, drafts)]
    laws = [[[oracle.softmax(row) for row in request] for request in side.double().tolist()] for side in stored]
    tokens = np.array([[rng.choice(size, p=np.array(law, dtype=float)) for law in request] for request in laws[1]])
    tokens[np.arange(lookahead) >= rng.integers(0, lookahead + 1, requests)[:, None]] = -1
    uniforms = rng.random((requests, lookahead + 1))
    uniforms = np.where(rng.random(uniforms.shape) < 0.2, np.floor(8 * uniforms) / 8, uniforms)
    return *stored, torch.from_numpy(tokens), torch.from_numpy(uniforms), laws


@pytest.mark.parametrize("dtype", DTYPES, ids=str)
@pytest.mark.parametrize("shape", [(150, 1, 2), (100, 3, 5), (6, 2, 300)], ids=str)
@pytest.mark.parametrize("rule", RULES)
def test_logits_are_verified_as_the_oracle_verifies_their_laws(rule: str, shape: Any, dtype: Any) -> None:
    targets, drafts, tokens, uniforms, laws = batch(0, shape, dtype)
    emitted, count = RULES[rule][0](targets, drafts, tokens, uniforms)
    bound = threshold.bound(dtype, shape[2], shape[1] if rule == "block" else 0)
    far = wrong = 0
    for place, found in enumerate(emitted.tolist()):
        chain = [token for token in tokens[place].tolist() if token >= 0]
        row = list(map(Fraction, uniforms[place].tolist()))
        wanted = RULES[rule][1](laws[0][place], laws[1][place], chain, row)
        far += wanted.margin > bound
        wrong += wanted.margin > bound and found != [*wanted.tokens, *[-1] * (len(found) - len(wanted.tokens))]
    assert wrong == 0
    # A uniform of 0 lies on the border before the first token, and is not compared.
    assert far >= (0.75 if dtype == torch.float64 else 0.6) * len(emitted)
    assert (count == (emitted >= 0).sum(dim=1)).all()


@pytest.mark.parametrize("rule", RULES)
def test_the_other_rule_is_rejected(rule: str) -> None:
    """The control: token by token is not a block."""
    targets, drafts, tokens, uniforms, laws = batch(0, (100, 3, 5), torch.float64)
    other = RULES["block" if rule == "token" else "token"][0](targets, drafts, tokens, uniforms).emitted
    differing = 0
    for place, found in enumerate(other.tolist()):
        chain = [token for token in tokens[place].tolist() if token >= 0]
        row = list(map(Fraction, uniforms[place].tolist()))
        wanted = RULES[rule][1](laws[0][place], laws[1][place], chain, row)
        differing += wanted.margin > 1e-9 and found != [*wanted.tokens, *[-1] * (len(found) - len(wanted.tokens))]
    assert differing >= 3
