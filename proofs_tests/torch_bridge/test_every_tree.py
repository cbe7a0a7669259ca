"""Trees of every shape on logits: all parents of up to four nodes, some of five and six, as the replayed programs; with
controls. And what torch.compile traces of a step."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

torch = pytest.importorskip("torch")

from proofs_tests.block_level.tree_batches import Batch, batch, chains, noisy, parent_arrays  # noqa: E402
from proofs_tests.block_level.tree_shapes import PRIORITIES  # noqa: E402
from proofs_tests.torch_bridge.trees_on_logits import differing, rules, tensors  # noqa: E402
from spec_math.block_level import tree_rules  # noqa: E402
from spec_math.block_level.tree_rules import TREE_RULES, TreeRule  # noqa: E402
from torch_bridge import tree_columns, verify_tree  # noqa: E402
from torch_bridge.options import Options  # noqa: E402

pytestmark = pytest.mark.usefixtures("coarse_grid")
NEAR = 2.0**-43
"""Uniforms nearer to a threshold of the program are left out: none of these batches has one."""


def given(rule: TreeRule) -> Batch:
    """Trees of laws in which no ratio is met twice: what a rule orders by ratio it then orders alike in any digits."""
    parents: list[Any] = [each for size in range(1, 5) for each in parent_arrays(size)]
    rng = np.random.default_rng(0)
    parents += [[int(rng.integers(-1, node)) for node in range(size)] for size in (5, 6) for _ in range(25)]
    if rule.chains:
        parents = 4 * [chains(k, length) for k in range(1, 5) for length in range(1, 4) if k * length <= 6]
    if rule.siblings == "one":
        parents = [chains(1, length) for length in range(1, 7)]
    return noisy(batch(rule, parents, 5), 5)


@rules
def test_every_small_tree_is_verified_as_by_the_replayed_program(rule: TreeRule) -> None:
    trees = given(rule)
    assert differing(rule, trees, verify_tree(rule, *tensors(trees)), NEAR) == (0, 0)


def _another_parent(rule: TreeRule, target: Any, draft: Any, tokens: Any, parents: Any, *rest: Any) -> Any:
    return verify_tree(rule, target, draft, tokens, (parents - 1).clamp(min=-1), *rest)


def _another_row(rule: TreeRule, target: Any, *rest: Any) -> Any:
    return verify_tree(rule, target.roll(1, dims=1), *rest)


def _one_copy(rule: TreeRule, target: Any, draft: Any, tokens: Any, parents: Any, *rest: Any) -> Any:
    once = tokens.clone()
    for row, above in zip(once, parents.tolist(), strict=True):
        seen: set[tuple[int, int]] = set()
        for node, parent in enumerate(above):
            if (parent, int(row[node])) in seen or (parent >= 0 and row[parent] < 0):
                row[node] = -1
            seen.add((parent, int(row[node])))
    return verify_tree(rule, target, draft, once, parents, *rest)


WRONG: list[Callable[..., Any]] = [_another_parent, _another_row, _one_copy]


@pytest.mark.parametrize("wrong", WRONG, ids=lambda wrong: wrong.__name__)
@pytest.mark.parametrize(
    "rule",
    [rule for rule in TREE_RULES if rule not in PRIORITIES and rule.siblings != "one"],
    ids=lambda rule: rule.name,
)
def test_wrong_functions_of_small_trees_are_found(rule: TreeRule, wrong: Any) -> None:
    if wrong is _one_copy and rule.siblings != "any":
        pytest.skip("such trees have no copies")
    trees = given(rule)
    options = Options(check=False, depth=6, width=6)
    try:
        found = differing(rule, trees, wrong(rule, *tensors(trees), options), NEAR)[0]
    except (AssertionError, ValueError):  # the accepted nodes are no path of the tree, or it is not a tree
        found = 1
    assert found > 0


LONG = (tree_rules.K_SEQUENTIAL, tree_rules.PLAN, tree_rules.ROUNDED_PRIORITIES)
"""Rules of so many operations that the compiler takes ten seconds and more for a level."""


def captured(rule: TreeRule, levels: int) -> tuple[Any, Any]:
    """What a step emits that torch.compile has traced as one graph, and what it emits as it is."""
    generator = torch.Generator().manual_seed(0)
    target, draft = torch.randn(2, 2, 3, 4, generator=generator).unbind()
    tokens, parents = torch.tensor([[1, 2]] * 2), torch.tensor([[-1, levels - 2]] * 2)
    uniforms = torch.rand(2, tree_columns(rule, 2), dtype=torch.float64, generator=generator)

    def step(target: Any, draft: Any, tokens: Any, parents: Any, uniforms: Any) -> Any:
        options = Options(check=False, depth=levels, width=3 - levels)
        return tuple(verify_tree(rule, target, draft, tokens, parents, uniforms, options))

    torch._dynamo.reset()
    compiled = torch.compile(step, backend="eager", fullgraph=True)
    found, wanted = (each(target, draft, tokens, parents, uniforms) for each in (compiled, step))
    return [part.tolist() for part in found], [part.tolist() for part in wanted]


@pytest.mark.filterwarnings("ignore:Dynamo detected a call")
@pytest.mark.usefixtures("few_steps")
@pytest.mark.parametrize("rule", [rule for rule in TREE_RULES if rule.decide], ids=lambda rule: rule.name)
def test_a_step_on_trees_is_one_graph_to_the_compiler(rule: TreeRule) -> None:
    """`torch.compile` traces the whole step: no value breaks the graph. Its code is not generated here."""
    found, wanted = captured(rule, 1 if rule in LONG else 2)
    assert found == wanted


@pytest.mark.filterwarnings("ignore:Dynamo detected a call")
def test_a_program_alone_is_no_graph_to_the_compiler() -> None:
    """The control: what looks at values is refused."""
    with pytest.raises(torch._dynamo.exc.TorchDynamoException):
        _ = captured(tree_rules.PLAN_OF_DISTINCT, 1)
