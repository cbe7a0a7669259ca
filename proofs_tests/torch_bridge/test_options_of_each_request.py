"""Numbers of each request, a mask of allowed tokens: the same as one call a request with its own numbers."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

torch = pytest.importorskip("torch")

from proofs_tests.torch_bridge.batches import batch as chains  # noqa: E402
from spec_math import SCHEMES  # noqa: E402
from spec_math.block_level import tree_rules  # noqa: E402
from torch_bridge import chain_tree, columns, tree_columns, verify_block, verify_drafts, verify_token, verify_tree  # noqa: E402
from torch_bridge.options import Options, restricted  # noqa: E402

REQUESTS, SIZE = 12, 9
EACH = {
    "temperature": torch.tensor([0.0, 0.5, 1.0, 2.0] * 3),
    "top_k": torch.tensor([9, 3, 5] * 4),
    "top_p": torch.tensor([1.0, 0.7] * 6, dtype=torch.float64),
}


def alone(request: int, **changed: Any) -> Options:
    return Options(
        temperature=float(EACH["temperature"][request]),
        top_k=int(EACH["top_k"][request]),
        top_p=float(EACH["top_p"][request]),
        **changed,
    )


def logits(*shape: int) -> Any:
    return torch.from_numpy(2 * np.random.default_rng(1).standard_normal(shape))


def test_rows_are_restricted_by_the_numbers_of_their_request() -> None:
    given = logits(REQUESTS, 2, SIZE).round()  # with ties
    together = restricted(given, Options(**EACH))
    for request in range(REQUESTS):
        assert torch.equal(together[request], restricted(given[request], alone(request)))
    assert not torch.equal(together, restricted(given, Options(**{**EACH, "top_k": EACH["top_k"].roll(1)})))


@pytest.mark.parametrize("scheme", SCHEMES, ids=lambda scheme: scheme.short_name)
def test_drafts_are_verified_by_the_numbers_of_their_request(scheme: Any) -> None:
    # A certain draft has no second token.
    given = {**EACH, "temperature": torch.ones(REQUESTS)} if scheme.distinct else EACH
    target = logits(REQUESTS, SIZE)
    draft = target + 0.3
    tokens = target.topk(scheme.drafts or 2, dim=-1).indices
    tokens = tokens if scheme.distinct else tokens[:, :1].expand(-1, scheme.drafts or 2)
    uniforms = torch.from_numpy(np.random.default_rng(0).random((REQUESTS, columns(scheme, 2))))
    together = verify_drafts(scheme, target, draft, tokens, uniforms, Options(**given))
    for request in range(REQUESTS):
        here = slice(request, request + 1)
        options = Options(*(float(given[name][request]) for name in ("temperature",)), int(given["top_k"][request]))
        options = Options(options.temperature, options.top_k, float(given["top_p"][request]))
        own = verify_drafts(scheme, target[here], draft[here], tokens[here], uniforms[here], options)
        assert own.emitted.tolist() == together.emitted[here].tolist()


@pytest.mark.parametrize("verify", [verify_token, verify_block])
def test_chains_are_verified_by_the_numbers_of_their_request(verify: Any) -> None:
    given = chains((REQUESTS, 3, SIZE), 0)
    options = Options(**EACH, check=False)
    together = verify(*given, options)
    for request in range(REQUESTS):
        own = verify(*(each[request : request + 1] for each in given), alone(request, check=False))
        assert own.emitted.tolist() == together.emitted[request : request + 1].tolist()


@pytest.mark.parametrize("rule", [tree_rules.RECURSIVE, tree_rules.PRIORITIES], ids=lambda rule: rule.name)
def test_tokens_that_a_grammar_forbids_are_never_emitted(rule: Any) -> None:
    rng = np.random.default_rng(2)
    allowed = torch.from_numpy(rng.random((REQUESTS, SIZE)) < 0.5)
    allowed[:, :2] = True
    drafted = torch.from_numpy(rng.integers(0, 2, (REQUESTS, 2, 2)))
    tree = chain_tree(drafted)
    target, draft = logits(REQUESTS, 5, SIZE), logits(REQUESTS, 5, SIZE).flip(-1)
    uniforms = torch.from_numpy(rng.random((REQUESTS, tree_columns(rule, 4))))
    given = target, draft, tree.tokens, tree.parents, uniforms
    masked = verify_tree(rule, *given, Options(allowed=allowed))
    row = verify_tree(rule, *given, Options(allowed=allowed[:, None].expand(-1, 5, -1)))
    assert masked.emitted.tolist() == row.emitted.tolist()
    for tokens, mask in zip(masked.emitted.tolist(), allowed.tolist(), strict=True):
        assert all(mask[token] for token in tokens if token >= 0)
    free = verify_tree(rule, *given)
    assert any(
        not mask[token]
        for tokens, mask in zip(free.emitted.tolist(), allowed.tolist(), strict=True)
        for token in tokens
    )


@pytest.mark.filterwarnings("ignore:Dynamo detected a call")
@pytest.mark.usefixtures("few_steps")
@pytest.mark.parametrize("scheme", [scheme for scheme in SCHEMES if scheme.decide], ids=lambda scheme: scheme.name)
def test_a_step_is_one_graph_to_the_compiler(scheme: Any) -> None:
    """`torch.compile` traces the whole step: no value breaks the graph. Its code is not generated here."""
    rng = np.random.default_rng(0)
    given = (logits(4, SIZE), logits(4, SIZE), torch.from_numpy(rng.integers(0, SIZE, (4, 2))))
    uniforms = torch.from_numpy(rng.random((4, columns(scheme, 2))))
    options = Options(check=False)
    torch._dynamo.reset()
    step = torch.compile(lambda *each: verify_drafts(scheme, *each, options).emitted, backend="eager", fullgraph=True)
    assert step(*given, uniforms).tolist() == verify_drafts(scheme, *given, uniforms, options).emitted.tolist()
