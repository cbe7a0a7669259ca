"""Rows of logits that nothing was drafted from, and that nothing follows, may hold anything: not a number, here."""

from __future__ import annotations

from typing import Any

import pytest

torch = pytest.importorskip("torch")

from proofs_tests.torch_bridge import batches  # noqa: E402
from proofs_tests.torch_bridge.draft_batches import batch, schemes  # noqa: E402
from proofs_tests.torch_bridge.trees_on_logits import drafted, rules, tensors  # noqa: E402
from spec_math.block_level.tree_rules import TreeRule  # noqa: E402
from spec_math.scheme import Scheme  # noqa: E402
from torch_bridge import verify_block, verify_drafts, verify_token, verify_tree  # noqa: E402
from torch_bridge.options import Options  # noqa: E402

END = 3


@schemes
def test_the_drafts_law_of_a_request_without_drafts_may_be_anything(scheme: Scheme) -> None:
    target, draft, tokens, uniforms = batch(scheme, (30, 3, 8), torch.float64)
    unread = draft.masked_fill((tokens[:, :1] < 0), torch.nan)
    assert unread.isnan().any()
    found, wanted = (verify_drafts(scheme, target, rows, tokens, uniforms) for rows in (unread, draft))
    assert found.emitted.tolist() == wanted.emitted.tolist()


@pytest.mark.parametrize("verify", [verify_token, verify_block])
def test_rows_behind_the_end_of_a_chain_may_be_anything(verify: Any) -> None:
    given = batches.batch((40, 4, 8), 0)
    none = torch.cat([given.tokens < 0, torch.ones(40, 1, dtype=torch.bool)], dim=1)
    targets = given.targets.clone()
    targets[:, 1:][none[:, :-1]] = torch.nan
    drafts = given.drafts.masked_fill(none[:, :-1, None], torch.nan)
    assert verify(targets, drafts, *given[2:]).emitted.tolist() == verify(*given).emitted.tolist()


def unread(tokens: Any, parents: Any) -> tuple[list[list[bool]], list[list[bool]]]:
    """Which rows of target and draft [B, N + 1] no verifier may read: copies of one path share the first one's row."""
    targets, drafts = list[list[bool]](), list[list[bool]]()
    for row, above in zip(tokens.tolist(), parents.tolist(), strict=True):
        paths: dict[int, tuple[int, ...]] = {-1: ()}
        for node, (token, parent) in enumerate(zip(row, above, strict=True)):
            if token >= 0:
                paths[node] = (*paths[parent], token)
        inner = {path[:-1] for path in paths.values() if path}
        targets.append([slot - 1 not in paths or paths[slot - 1][-1:] == (END,) for slot in range(len(row) + 1)])
        drafts.append([paths.get(slot - 1) not in inner for slot in range(len(row) + 1)])
    return targets, drafts


@rules
def test_rows_that_no_walk_reads_may_be_anything(rule: TreeRule) -> None:
    for seed in range(2):
        target, draft, tokens, parents, uniforms = tensors(drafted(rule, seed, many=12))
        tokens[0] = -1  # a request without nodes
        unfollowed, undrafted = (torch.tensor(each)[..., None] for each in unread(tokens, parents))
        rows = target.masked_fill(unfollowed, torch.nan), draft.masked_fill(undrafted, torch.nan)
        found, wanted = (
            verify_tree(rule, *each, tokens, parents, uniforms, Options(end=END)) for each in (rows, (target, draft))
        )
        assert found.emitted.tolist() == wanted.emitted.tolist()
