"""Options that do not fit what is verified, and drafts that a rule does not take, are refused where values are seen."""

from __future__ import annotations

from typing import Any

import pytest

torch = pytest.importorskip("torch")

from spec_math import SCHEMES  # noqa: E402
from spec_math.block_level import tree_rules  # noqa: E402
from torch_bridge import assert_same_tokens, verify_block, verify_drafts, verify_token, verify_tree  # noqa: E402
from torch_bridge.options import Options  # noqa: E402

ROWS = torch.zeros(2, 3, 4)
CHAIN = torch.tensor([[0, 1], [2, 3]]), torch.tensor([[-1, 0], [-1, 0]])
UNIFORMS = torch.full((2, 9), 0.25)
GREEDY = next(scheme for scheme in SCHEMES if scheme.name == "greedy drafts")
NAN = float("nan")


def tree(options: Options, rule: Any = tree_rules.TARGET_ONLY, **changed: Any) -> Any:
    given = dict(zip(("target", "draft", "tokens", "parents"), (ROWS, ROWS, *CHAIN), strict=True)) | changed
    copies = given.pop("copies", None)
    return verify_tree(rule, *given.values(), UNIFORMS, options, copies)


def drafts(options: Options) -> Any:
    return verify_drafts(SCHEMES[0], ROWS[:, 0], ROWS[:, 0], torch.tensor([[0], [1]]), UNIFORMS[:, :2], options)


def chain(options: Options) -> Any:
    return verify_token(ROWS, ROWS[:, :2], CHAIN[0], UNIFORMS[:, :3], options)


calls = pytest.mark.parametrize("call", [tree, drafts, chain])


def test_a_depth_or_width_below_the_trees_is_refused() -> None:
    """With depth=1 a chain of two nodes was emitted as its second node, without its parent."""
    for rule in (tree_rules.TARGET_ONLY, tree_rules.TOKEN_BY_TOKEN, tree_rules.TRAVERSAL):
        with pytest.raises(ValueError, match=r"options\.depth .* it is 1, and in request 0 2 drafts lie below"):
            _ = tree(Options(depth=1), rule)
    with pytest.raises(ValueError, match=r"options\.width .* it is 1, and in request 0 2 drafts follow one node"):
        _ = tree(Options(width=1), parents=torch.full((2, 2), -1))
    assert tree(Options(depth=5)).accepted_nodes.shape == (2, 5)


@calls
@pytest.mark.parametrize(
    ("name", "value", "message"),
    [
        ("temperature", torch.ones(3), r"temperature holds one number for each request, \[B\] with B = 2; got \(3,\)"),
        ("temperature", torch.tensor(1.0), r"B = 2; got \(\)"),
        ("top_k", torch.ones(1, dtype=torch.int64), r"top_k holds one number .* got \(1,\)"),
        ("top_p", torch.ones(2, 1), r"top_p holds one number .* got \(2, 1\)"),
        ("allowed", torch.ones(3, 4, dtype=torch.bool), r"allowed must be .* got torch.bool \(3, 4\)"),
        ("allowed", torch.ones(2, 5, dtype=torch.bool), r"allowed must be .* got torch.bool \(2, 5\)"),
        ("allowed", torch.ones(2, 4), r"allowed must be .* got torch.float32 \(2, 4\)"),
        ("end", 4, r"end is a token of the target, in 0\.\.3; got 4"),
    ],
)
def test_options_of_another_shape_are_refused_always(call: Any, name: str, value: Any, message: str) -> None:
    for check in (True, False):
        with pytest.raises(ValueError, match=message):
            _ = call(Options(check=check, **{name: value}))


@calls
@pytest.mark.parametrize(
    ("name", "value", "message"),
    [
        ("temperature", [1.0, -0.5], r"must be finite and >= 0 in every request; temperature\[1\] is -0.5"),
        ("temperature", [NAN, 1.0], r"temperature\[0\] is nan"),
        ("temperature", [1.0, float("inf")], r"temperature\[1\] is inf"),
        ("top_k", [1, 0], r"must be at least 1 in every request; top_k\[1\] is 0"),
        ("top_p", [0.5, 1.5], r"must be a mass in \(0, 1\] in every request; top_p\[1\] is 1.5"),
    ],
)
def test_numbers_of_requests_that_make_no_law_are_refused(call: Any, name: str, value: Any, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        _ = call(Options(**{name: torch.tensor(value)}))


@calls
def test_a_mask_that_leaves_no_token_is_refused(call: Any) -> None:
    with pytest.raises(ValueError, match=r"target_logits\[1.*\] is -inf: every token is masked"):
        _ = call(Options(allowed=torch.tensor([[True] * 4, [False] * 4])))


def test_an_end_that_is_no_token_is_refused() -> None:
    with pytest.raises(ValueError, match="end is a token, 0 or more; got -1"):
        _ = Options(end=-1)
    for value in (2.0, True):
        with pytest.raises(TypeError, match="end is a token, a whole number"):
            _ = Options(end=value)  # type: ignore[arg-type]


@pytest.mark.parametrize("verify", [verify_token, verify_block])
def test_nothing_follows_the_end_of_a_chain(verify: Any) -> None:
    """Token 1 ends a text: the chain 0, 1, 2 is accepted as 0, 1, and what is drafted behind may be anything."""
    rows, tokens, uniforms = torch.zeros(1, 4, 4), torch.tensor([[0, 1, 2]]), torch.full((1, 4), 0.25)
    target, draft = rows.clone(), rows[:, :3].clone()
    target[0, 2:], draft[0, 2:] = NAN, NAN
    assert verify(target, draft, tokens, uniforms, Options(end=1)).emitted.tolist() == [[0, 1, -1, -1]]
    assert verify(rows, rows[:, :3], tokens, uniforms).emitted.tolist() == [[0, 1, 2, 1]]


def test_a_bound_that_is_no_number_is_refused() -> None:
    for bound in (NAN, torch.tensor([0.1, NAN])):
        with pytest.raises(ValueError, match="bounds must be numbers; one is NaN"):
            assert_same_tokens([[1], [2]], torch.tensor([[1], [3]]), [0.5, 0.5], bound)


@pytest.mark.parametrize(
    ("rule", "message"),
    [
        (tree_rules.TRAVERSAL, "needs distinct drafts after a node: .* in request 0 node 0 has 2 copies"),
        (tree_rules.TARGET_ONLY, "needs distinct drafts after a node: .* in request 0 node 0 has 2 copies"),
        (tree_rules.TOKEN_BY_TOKEN, "needs one draft after a node: .* in request 0 node 0 has 2 copies"),
    ],
)
def test_copies_for_a_rule_of_other_drafts_are_refused(rule: Any, message: str) -> None:
    copies = torch.tensor([[2, 1], [1, 1]])
    with pytest.raises(ValueError, match=message):
        _ = tree(Options(), rule, copies=copies)
    with pytest.raises(ValueError, match="takes no copies"):
        _ = tree(Options(check=False, width=2), rule, copies=copies)


def test_greedy_drafts_that_are_no_favourites_are_refused() -> None:
    draft, uniforms = torch.tensor([[3.0, 2.0, 1.0, 0.0]]), torch.full((1, 2), 0.5)
    for good in ([0, 1, 3], [0, 1, 2], [1, 0, 3], [0, -1, -1]):
        assert verify_drafts(GREEDY, draft, draft, torch.tensor([good]), uniforms).emitted.shape == (1,)
    for bad, token in (([0, 2, 1], 1), ([1, 3, 2], 0)):
        with pytest.raises(ValueError, match=rf"greedy drafts .* in request 0 the drafts .* and token {token}, which"):
            _ = verify_drafts(GREEDY, draft, draft, torch.tensor([bad]), uniforms)


@pytest.mark.parametrize("rule", tree_rules.TREE_RULES, ids=lambda rule: rule.name)
@pytest.mark.parametrize("check", [True, False])
def test_logits_with_a_gradient_are_verified(rule: Any, check: bool) -> None:
    one = rule.siblings == "one"
    given = ROWS.clone().requires_grad_(), ROWS.clone().requires_grad_()
    parents = CHAIN[1] if one else torch.full((2, 2), -1)
    options = Options(check=check, depth=2, width=2, temperature=0.5)
    found = verify_tree(rule, *given, CHAIN[0], parents, UNIFORMS, options)
    plain = verify_tree(rule, ROWS, ROWS, CHAIN[0], parents, UNIFORMS, options)
    assert found.emitted.tolist() == plain.emitted.tolist()


@pytest.mark.parametrize("rule", tree_rules.TREE_RULES, ids=lambda rule: rule.name)
@pytest.mark.parametrize("parent", [99, -7])
def test_the_parent_of_an_absent_node_means_nothing(rule: Any, parent: int) -> None:
    tokens, parents = torch.tensor([[0, -1], [1, -1]]), torch.tensor([[-1, 0], [-1, 0]])
    odd = torch.tensor([[-1, parent], [-1, 0]])
    for options in (Options(), Options(check=False, depth=2, width=2)):
        found = [tree(options, rule, tokens=tokens, parents=each).emitted.tolist() for each in (parents, odd)]
        assert found[0] == found[1]
