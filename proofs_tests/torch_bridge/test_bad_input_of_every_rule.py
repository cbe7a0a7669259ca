"""Every rule refuses bad values with their request and place where they are looked at, and looks at none where not."""

from __future__ import annotations

from typing import Any

import pytest

torch = pytest.importorskip("torch")

from proofs_tests.torch_bridge.draft_batches import schemes  # noqa: E402
from proofs_tests.torch_bridge.no_wait import NoWait  # noqa: E402
from proofs_tests.torch_bridge.trees_on_logits import rules  # noqa: E402
from spec_math.block_level.tree_rules import TreeRule  # noqa: E402
from spec_math.scheme import Scheme  # noqa: E402
from torch_bridge import columns, tree_columns, verify_drafts, verify_tree  # noqa: E402
from torch_bridge.options import Options  # noqa: E402

ROWS = torch.tensor([[2.0, 1.0, 0.0], [1.0, 2.0, -torch.inf]])


def drafts(scheme: Scheme) -> dict[str, Any]:
    """Two requests that every scheme takes: the draft's favourites, 0 and 1, come first."""
    tokens = torch.tensor([[0, 2], [1, 0]])
    return {
        "target": ROWS.clone(),
        "draft": ROWS.clone(),
        "tokens": tokens[:, : scheme.drafts or 2],
        "uniforms": torch.full((2, columns(scheme, 2)), 0.5),
    }


def trees(rule: TreeRule) -> dict[str, Any]:
    """Two requests that every rule takes: one chain of two tokens, else two children of the root."""
    after = 0 if rule.siblings == "one" else -1
    return {
        "target": ROWS[:, None].repeat(1, 3, 1),
        "draft": ROWS[:, None].repeat(1, 3, 1),
        "tokens": torch.tensor([[0, 1], [1, 0]]),
        "parents": torch.tensor([[-1, after]] * 2),
        "uniforms": torch.full((2, tree_columns(rule, 2)), 0.5),
    }


def put(given: dict[str, Any], name: str, place: tuple[int, ...], value: float) -> dict[str, Any]:
    given[name] = given[name].clone()
    given[name][place] = value
    return given


BAD = [
    ("target", (1, 0), float("nan"), r"target_logits\[1\] is nan"),
    ("draft", (1, 0), float("nan"), r"draft_logits\[1\] is nan"),
    ("tokens", (1, 0), 3, r"tokens\[1, 0\] is 3"),
    ("tokens", (1, 0), 2, r"no mass on the drafted token 2 at tokens\[1, 0\]"),
    ("tokens", (1, 1), 1, r"distinct; tokens\[1, 1\] is 1, as is tokens\[1, 0\]"),
    ("uniforms", (1, 0), 1.0, r"uniforms\[1, 0\] is 1.0"),
]
BAD_TREES = [
    ("target", (1, 0, 0), float("nan"), r"target_logits\[1, 0\] is nan"),
    ("draft", (1, 0, 0), float("nan"), r"draft_logits\[1, 0\] is nan"),
    ("parents", (1, 0), 1, "in request 1 node 0 has the parent 1"),
    ("tokens", (1, 0), 3, "in request 1 node 0 has 3"),
    ("tokens", (1, 0), 2, "no mass on token 2 of node 0 in request 1"),
    ("tokens", (1, 1), 1, "in request 1 nodes 0 and 1 carry token 1 after node -1"),
    ("uniforms", (1, 0), 1.0, r"uniforms\[1, 0\] is 1.0"),
]


@pytest.mark.parametrize("bad", BAD, ids=lambda bad: bad[3])
@schemes
def test_every_scheme_refuses_bad_values_where_it_looks_at_them(scheme: Scheme, bad: Any) -> None:
    name, place, value, message = bad
    without_law = name == "draft" or value == 2
    if without_law and not scheme.reads.draft:
        pytest.skip("the draft's law is not read")
    if "distinct" in message and (not scheme.distinct or scheme.drafts == 1):
        pytest.skip("its drafts may agree")
    good = drafts(scheme)
    assert verify_drafts(scheme, *good.values()).emitted.shape == (2,)
    wrong = put(drafts(scheme), name, place, value)
    with pytest.raises(ValueError, match=message):
        _ = verify_drafts(scheme, *wrong.values())
    if scheme.decide is not None and value != 3:  # a token that is no index may be an error of the device's own
        with NoWait():
            assert verify_drafts(scheme, *wrong.values(), Options(check=False)).emitted.shape == (2,)


@pytest.mark.parametrize("bad", BAD_TREES, ids=lambda bad: bad[3])
@rules
def test_every_rule_of_trees_refuses_bad_values_where_it_looks_at_them(rule: TreeRule, bad: Any) -> None:
    name, place, value, message = bad
    if (name == "draft" or value == 2) and not rule.reads_draft:
        pytest.skip("the draft's law is not read")
    if "carry" in message and rule.siblings != "distinct":
        pytest.skip("its siblings may agree, or there are none")
    good = trees(rule)
    assert verify_tree(rule, *good.values()).emitted.shape[0] == 2
    wrong = put(trees(rule), name, place, value)
    with pytest.raises(ValueError, match=message):
        _ = verify_tree(rule, *wrong.values())
    if rule.decide is not None and value != 3:
        with NoWait():
            options = Options(check=False, depth=2, width=2)
            assert verify_tree(rule, *wrong.values(), options).emitted.shape[0] == 2
