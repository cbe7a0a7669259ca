"""Trees on logits are verified as by the replayed programs, without a wait, and bad trees are refused by name."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

torch = pytest.importorskip("torch")

from proofs_tests.block_level import tree_batches  # noqa: E402
from proofs_tests.block_level.models import Rows  # noqa: E402
from proofs_tests.block_level.tree_shapes import PRIORITIES  # noqa: E402
from proofs_tests.torch_bridge.no_wait import NoWait  # noqa: E402
from proofs_tests.torch_bridge.trees_on_logits import arrays, differing, drafted, rules, tensors  # noqa: E402
from spec_math import law  # noqa: E402
from spec_math.block_level import tree_rules  # noqa: E402
from spec_math.block_level.conditionals import Conditionals  # noqa: E402
from spec_math.block_level.tree import grow  # noqa: E402
from spec_math.block_level.tree_rules import TREE_RULES, TreeRule  # noqa: E402
from spec_math.scheme import draw_independent  # noqa: E402
from spec_math.token_level import without_replacement  # noqa: E402
from torch_bridge import explore, tree_columns, verify_tree  # noqa: E402
from torch_bridge.options import Options  # noqa: E402

on_device = pytest.mark.parametrize("rule", [rule for rule in TREE_RULES if rule.decide], ids=lambda rule: rule.name)


@rules
def test_trees_on_logits_are_verified_as_by_the_replayed_program(rule: TreeRule) -> None:
    for seed in range(2):
        given = drafted(rule, seed)
        found = verify_tree(rule, *tensors(given), Options(end=3))
        assert differing(rule, given, found, 2.0**-36) == (0, 0)


@rules
def test_large_trees_are_verified_as_by_the_replayed_program(rule: TreeRule) -> None:
    given = drafted(rule, 5, many=4, largest=64, end=None)
    assert differing(rule, given, verify_tree(rule, *tensors(given)), 2.0**-36) == (0, 0)


@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16], ids=str)
@rules
def test_trees_on_narrow_logits_are_decided_alike_away_from_thresholds(rule: TreeRule, dtype: Any) -> None:
    wide = tensors(drafted(rule, 1))
    # Equal ratios t/d would be ranked by their last digits.
    noise = torch.Generator().manual_seed(0)
    logits = [each + torch.randn(each.shape, generator=noise, dtype=each.dtype) for each in wide[:2]]
    exact = (*(each.to(dtype) for each in logits), *wide[2:])
    laws = [torch.softmax(each.double(), dim=-1).numpy() for each in exact[:2]]
    found = verify_tree(rule, *exact, Options(end=3))
    again = verify_tree(rule, *(torch.from_numpy(law).log() for law in laws), *exact[2:], Options(end=3))
    differ = (found.emitted != again.emitted).any(dim=1)
    assert int(differ.sum()) <= 1


@on_device
def test_a_tree_is_verified_without_a_look_at_values(rule: TreeRule) -> None:
    given = tensors(drafted(rule, 2, many=6), torch.float32)
    with NoWait():
        blind = verify_tree(rule, *given, Options(end=3, check=False))
    seen = verify_tree(rule, *given, Options(end=3))
    size = seen.emitted.shape[1]
    assert blind.emitted[:, :size].tolist() == seen.emitted.tolist()
    assert (blind.emitted[:, size:] == -1).all()


@on_device
def test_chunks_of_trees_are_verified_as_the_whole(rule: TreeRule) -> None:
    given = tensors(drafted(rule, 3, many=9))
    whole, parts = (verify_tree(rule, *given, Options(end=3, chunk_bytes=size)) for size in (10**7, 400))
    assert all(a.tolist() == b.tolist() for a, b in zip(whole, parts, strict=True))


def verified_law(verify: Any, rule: TreeRule, models: tuple[Rows, Rows], widths: tuple[int, ...]) -> dict[Any, float]:
    """The law of the first tokens that one call of the torch function emits, continued by the target.

    The tree is drawn in the explored call: paths are then walked again, on ordinary numbers, for all trees at once.
    """
    laws = Conditionals(*models, ())
    draw = draw_independent if rule.siblings == "any" else without_replacement.draw
    drawn = law(lambda coin: grow(coin, laws, widths, draw))
    trees = [on_logits(nodes, models) for nodes in drawn]
    masses = torch.tensor([float(mass) for mass in drawn.values()], dtype=torch.float64)
    options = Options(check=False, depth=len(widths), width=2)

    def call() -> tuple[int, ...]:
        given = trees[int(torch.multinomial(masses, 1))]
        uniforms = torch.rand(1, tree_columns(rule, given[2].shape[1]), dtype=torch.float64)
        emitted, count, _ = verify(rule, *given, uniforms, options)
        return tuple(emitted[0, : int(count)].tolist())

    total: dict[Any, float] = {}
    for block, share in explore(call).items():  # type: ignore[union-attr]
        for longer, rest in continued(block, models[0], len(widths) + 1):
            total[longer] = total.get(longer, 0.0) + share * rest
    return total


def on_logits(nodes: Any, models: tuple[Rows, Rows]) -> tuple[Any, ...]:
    """The logits, tokens and parents of one drafted tree."""
    listed = arrays(nodes)
    tokens, parents = (torch.tensor([each]) for each in zip(*listed, strict=True))
    paths: list[tuple[int, ...]] = [()]
    for token, above in listed:
        paths.append((*paths[above + 1], token))
    laws = [
        torch.tensor([[[float(x) for x in model(path)] for path in paths]], dtype=torch.float64) for model in models
    ]
    return (*(each.log() for each in laws), tokens, parents)


def continued(block: tuple[int, ...], target: Rows, horizon: int) -> list[tuple[tuple[int, ...], float]]:
    found = [(block, 1.0)]
    for _ in range(horizon - len(block)):
        found = [((*path, y), mass * float(t)) for path, mass in found for y, t in enumerate(target(path)) if t > 0]
    return found


FOLLOWED = [rule for rule in TREE_RULES if rule not in (tree_rules.PLAN, tree_rules.K_SEQUENTIAL, tree_rules.RECURSIVE)]
"""Of the others `explore` takes minutes, and of the plan's component it knows nothing: see test_laws_on_a_grid."""


def gap(verify: Any, rule: TreeRule, one_level: bool = False) -> float:
    rng = np.random.default_rng(3)
    models = tree_batches.model(rng, None, 2), tree_batches.model(rng, None, 2)
    # Chain priorities are explored on one level: of two it takes minutes.
    widths = (2,) if one_level or rule in PRIORITIES else (1, 1) if rule.siblings == "one" else (2, 1)
    found = verified_law(verify, rule, models, widths)
    wanted = dict(continued((), models[0], len(widths) + 1))
    return max(abs(found.get(text, 0.0) - wanted.get(text, 0.0)) for text in {*found, *wanted})


@pytest.mark.usefixtures("coarse_grid")
@pytest.mark.parametrize("rule", FOLLOWED, ids=lambda rule: rule.name)
def test_the_law_of_the_torch_function_on_trees_is_the_targets(rule: TreeRule) -> None:
    assert gap(verify_tree, rule) < 1e-12


def _with_rows_of_another_node(rule: TreeRule, target: Any, *rest: Any) -> Any:
    return verify_tree(rule, target.roll(1, dims=1), *rest)


@pytest.mark.usefixtures("coarse_grid")
@pytest.mark.parametrize("rule", [tree_rules.TRAVERSAL, *PRIORITIES], ids=lambda rule: rule.name)
def test_a_wrong_torch_function_on_trees_has_another_law(rule: TreeRule) -> None:
    assert rule in PRIORITIES or gap(verify_tree, rule, one_level=True) < 1e-12
    assert gap(_with_rows_of_another_node, rule, one_level=True) > 1e-3


ROWS = torch.zeros(2, 4, 3)
TREE = {"tokens": torch.tensor([[0, 1, 2], [0, 1, -1]]), "parents": torch.tensor([[-1, -1, 0], [-1, 0, -1]])}


@pytest.mark.parametrize(
    ("rule", "change", "message"),
    [
        ("TRAVERSAL", {"parents": [[-1, 2, 0], [-1, 0, -1]]}, "request 0 node 1 has the parent 2"),
        ("TRAVERSAL", {"parents": [[-1, -1, 0], [-2, 0, -1]]}, "request 1 node 0 has the parent -2"),
        ("TRAVERSAL", {"tokens": [[0, 0, 2], [0, 1, -1]]}, "request 0 nodes 0 and 1 carry token 0 after node -1"),
        ("TRAVERSAL", {"tokens": [[0, 3, 2], [0, 1, -1]]}, "request 0 node 1 has 3"),
        ("TRAVERSAL", {"tokens": [[0, 1, 2], [-1, 1, -1]]}, "request 1 node 1 has the parent 0, whose token is -1"),
        ("TRAVERSAL", {"draft": (1, 1, 1)}, "no mass on token 1 of node 1 in request 1"),
        ("TRAVERSAL", {"target": (0, 2, None)}, r"target_logits\[0, 2\] is nan"),
        ("TOKEN_BY_TOKEN", {}, "takes one chain; in request 0 nodes 0 and 1 follow the same node"),
        ("MULTI_PATH", {}, "request 0 node 1 stands for 1 of them and 0 go on"),
        ("MULTI_PATH", {"copies": [[1, 0, 1], [1, 1, 1]]}, "request 0 node 1 has 0 copies"),
        ("TRAVERSAL", {"uniforms": torch.ones(2, 4)}, "uniforms must lie in"),
    ],
)
def test_bad_trees_are_refused_with_request_and_node(rule: str, change: dict[str, Any], message: str) -> None:
    given = {name: torch.tensor(change.get(name, array.tolist())) for name, array in TREE.items()}
    target, draft = ROWS.clone(), ROWS.clone()
    if "draft" in change:
        draft[change["draft"]] = -torch.inf
    if "target" in change:
        target[change["target"][:2]] = torch.nan
    uniforms = change.get("uniforms", torch.zeros(2, 9))
    copies = torch.tensor(change["copies"]) if "copies" in change else None
    with pytest.raises(ValueError, match=message):
        _ = verify_tree(getattr(tree_rules, rule), target, draft, *given.values(), uniforms, copies=copies)


@pytest.mark.parametrize(
    ("place", "array", "error"),
    [
        (0, torch.zeros(2, 3, 3), ValueError),
        (1, torch.zeros(2, 4, 2), ValueError),
        (1, torch.zeros(2, 4, 3, dtype=torch.float64), TypeError),
        (2, torch.zeros(2, 3), TypeError),
        (3, torch.zeros(2, 2, dtype=torch.int64), ValueError),
        (3, [[0]], TypeError),
        (4, torch.zeros(2, 2), ValueError),
    ],
)
def test_shapes_and_types_are_checked_always(place: int, array: Any, error: type[Exception]) -> None:
    given: list[Any] = [ROWS, ROWS, *TREE.values(), torch.zeros(2, 9)]
    given[place] = array
    with pytest.raises(error):
        _ = verify_tree(tree_rules.TRAVERSAL, *given, Options(check=False))
    with pytest.raises(TypeError, match="METHODS"):
        _ = tree_columns("traversal", 2)  # type: ignore[arg-type]
