"""Drafts of a law so sharp that what it leaves underflows: the emitted law is the target's, and as many are accepted.

Before, weights of the whole row were held in float32, and a draft whose weight was 0 among them was always accepted:
greedy drafts, SpecHub, drafts without replacement and trees of distinct siblings emitted it in place of the target.
"""

from __future__ import annotations

from math import exp
from typing import Any

import pytest

torch = pytest.importorskip("torch")

from spec_math import SCHEMES  # noqa: E402
from spec_math.block_level import tree_rules  # noqa: E402
from spec_math.block_level.tree_rules import TreeRule  # noqa: E402
from spec_math.scheme import Scheme  # noqa: E402
from spec_math.token_level.batch.drafts import without_tokens  # noqa: E402
from torch_bridge import (  # noqa: E402
    MappedLogits,
    columns,
    draft_rows,
    explore,
    softmax_rows,
    tree_columns,
    verify_drafts,
    verify_tree,
)
from torch_bridge.options import Options  # noqa: E402
from torch_bridge.softmax_rows import weigh  # noqa: E402
from torch_bridge.threshold import bound  # noqa: E402

NAMED = {scheme.short_name: scheme for scheme in SCHEMES}
REMOVING = ("recursive, no replacement", "greedy drafts", "SpecHub")
TARGET = [0.0, -0.5, -1.0]
CASES = [
    ([0.0, -12.0, -12.0625], 0.125, torch.bfloat16),
    ([0.0, -120.0, -121.0], 1.0, torch.float32),
    ([0.0, -101.0, -102.0], 1.0, torch.float32),
    ([0.0, -900.0, -901.0], 1.0, torch.float64),
]
"""Draft logits, temperature, type: what is left of the draft is 0 in the type, or in the third of a digit or two."""


def of(cases: list[Any]) -> Any:
    """The cases, and the first of them over a vocabulary that is mapped."""
    listed = [*((*case, False) for case in cases), (*cases[0], True)]
    return pytest.mark.parametrize(("draft", "temperature", "dtype", "mapped"), listed, ids=str)


def softmax(logits: list[float], temperature: float) -> list[float]:
    weights = [exp((x - max(logits)) / temperature) for x in logits]
    return [weight / sum(weights) for weight in weights]


def drafted(draft: list[float], temperature: float) -> dict[tuple[int, int], float]:
    """The law of two distinct drafts: the first token up to e^-90, and one of the others by its share of them alone."""
    return {(0, 1 + place): mass for place, mass in enumerate(softmax(draft[1:], temperature))}


def rows(logits: list[float], dtype: Any, shape: tuple[int, ...] = (1,)) -> Any:
    return torch.tensor(logits, dtype=dtype).expand(*shape, -1).contiguous()


def found(
    scheme: Scheme, draft: list[float], temperature: float, dtype: Any, mapped: bool
) -> tuple[list[float], float]:
    """The law of the emitted token over drafts and uniforms, and the chance that it is one of the drafts."""
    law, accepted = [0.0] * 3, 0.0
    given: Any = rows(draft, dtype)
    given = MappedLogits(given, torch.arange(3)) if mapped else given
    options, pairs = Options(temperature=temperature), drafted(draft, temperature)

    def call() -> tuple[int, bool]:
        tokens = drawn(pairs)
        uniforms = torch.rand(1, columns(scheme, 2) + mapped, dtype=torch.float64)
        target = rows(TARGET, dtype)
        token = verify_drafts(scheme, target, given, torch.tensor([tokens]), uniforms, options).emitted.item()
        return token, token in tokens

    for (token, kept), share in explore(call).items():  # type: ignore[union-attr]
        law[token] += float(share)
        accepted += float(share) * kept
    return law, accepted


def drawn(pairs: dict[tuple[int, int], float]) -> tuple[int, int]:
    """Drafts drawn in the explored call: paths are then walked again, on ordinary numbers, for all of them at once."""
    return list(pairs)[int(torch.multinomial(torch.tensor([*pairs.values()], dtype=torch.float64), 1))]


def tree_law(rule: TreeRule, draft: list[float], temperature: float, dtype: Any, mapped: bool) -> list[float]:
    law = [0.0] * 3
    given: Any = rows(draft, dtype, (1, 3))
    given = MappedLogits(given, torch.arange(3)) if mapped else given
    options, pairs = Options(temperature=temperature), drafted(draft, temperature)

    def call() -> int:
        trees = torch.tensor([drawn(pairs)]), torch.tensor([[-1, -1]])
        uniforms = torch.rand(1, tree_columns(rule, 2) + mapped, dtype=torch.float64)
        return verify_tree(rule, rows(TARGET, dtype, (1, 3)), given, *trees, uniforms, options).emitted[0, 0].item()

    for token, share in explore(call).items():  # type: ignore[union-attr]
        law[token] += float(share)
    return law


def gap(law: list[float], temperature: float) -> float:
    return max(abs(mass - wanted) for mass, wanted in zip(law, softmax(TARGET, temperature), strict=True))


def allowed(dtype: Any) -> float:
    """Two coins and a draw, each off by the bound of one."""
    return 3 * bound(dtype, 3, 1)


def best(draft: list[float], temperature: float) -> float:
    """t(0) + Σ min(t, d') over the others: what greedy drafts and SpecHub accept, and no rule exceeds."""
    t, d = softmax(TARGET, temperature), softmax(draft[1:], temperature)
    return t[0] + sum(map(min, t[1:], d))


@pytest.mark.parametrize("name", REMOVING)
@of(CASES)
def test_what_is_left_of_a_sharp_draft_keeps_its_law(
    name: str, draft: list[float], temperature: float, dtype: Any, mapped: bool
) -> None:
    law, accepted = found(NAMED[name], draft, temperature, dtype, mapped)
    assert gap(law, temperature) < allowed(dtype)
    if name in ("greedy drafts", "SpecHub"):
        assert abs(accepted - best(draft, temperature)) < allowed(dtype)


@pytest.mark.parametrize("rule", [tree_rules.DISTINCT, tree_rules.TRAVERSAL], ids=lambda rule: rule.name)
@of(CASES[2:3])
def test_trees_of_distinct_siblings_of_a_sharp_draft_keep_the_law(
    rule: TreeRule, draft: list[float], temperature: float, dtype: Any, mapped: bool
) -> None:
    assert gap(tree_law(rule, draft, temperature, dtype, mapped), temperature) < allowed(dtype)


def _held(kept: Any, tokens: Any, options: Options) -> Any:
    """What is left of weights of the whole row."""
    return without_tokens(weigh(kept, options), tokens) if tokens.shape[1] else weigh(kept, options)


@pytest.mark.parametrize("name", REMOVING)
def test_weights_that_are_held_lose_the_law_or_the_drafts(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(draft_rows, "weigh_rest", _held)
    nothing, little = CASES[1], CASES[2]
    assert gap(found(NAMED[name], *little, False)[0], little[1]) > 10 * allowed(torch.float32)
    # Where all weights are 0 the drafts are passed over: the law is kept, and the gain of the second draft is lost.
    assert found(NAMED[name], *nothing, False)[1] < best(*nothing[:2]) - 0.1


@pytest.mark.parametrize("mapped", [False, True])
def test_weights_that_are_held_lose_the_law_of_trees(mapped: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(softmax_rows, "weigh_rest", _held)
    rule = tree_rules.TRAVERSAL if mapped else tree_rules.DISTINCT
    assert gap(tree_law(rule, *CASES[2], mapped), 1.0) > 10 * allowed(torch.float32)


@pytest.mark.parametrize("name", ["maximal coupling", "recursive rejection", "recursive, no replacement"])
def test_a_draft_without_weight_is_passed_over(name: str) -> None:
    """Drafts that are none: the law stays the target's, where nothing waits that could refuse them."""

    def call() -> int:
        given = rows(TARGET, torch.float32), rows([0.0, -200.0, -201.0], torch.float32), torch.tensor([[1]])
        uniforms = torch.rand(1, columns(NAMED[name], 1), dtype=torch.float64)
        return verify_drafts(NAMED[name], *given, uniforms, Options(check=False)).emitted.item()

    law: Any = explore(call)
    assert gap([float(law.get(token, 0)) for token in range(3)], 1.0) < allowed(torch.float32)


LIGHT = rows([0.0, -120.0, -200.0], torch.float32)


@pytest.mark.parametrize(
    ("name", "tokens", "message"),
    [
        ("K-SEQ", [[0, 1]], r"tokens\[1, 1\] is 1, 120 nats below the draft's largest logit that was left"),
        ("recursive, no replacement", [[1, 0]], r"tokens\[1, 0\] is 1, 120 nats"),
        ("recursive, no replacement", [[0, 2]], r"tokens\[1, 1\] is 2, 80 nats"),
        ("SpecHub", [[1, 0]], r"tokens\[1, 0\] is 1, 120 nats"),
    ],
)
@pytest.mark.parametrize("mapped", [False, True])
def test_a_draft_that_weighs_too_little_is_refused(
    name: str, tokens: list[list[int]], message: str, mapped: bool
) -> None:
    """The second request's; that of 80 nats at a temperature that makes them 800."""
    scheme = NAMED[name]
    draft: Any = torch.cat([torch.zeros(1, 3), LIGHT])
    given = torch.zeros(2, 3), MappedLogits(draft, torch.arange(3)) if mapped else draft
    uniforms = torch.full((2, columns(scheme, 2) + mapped), 0.5, dtype=torch.float64)
    several = torch.tensor([[0, 1], *tokens])
    if "80" in message:
        assert verify_drafts(scheme, *given, several, uniforms).emitted.shape == (2,)
        with pytest.raises(ValueError, match=message.replace("80", "800")):
            _ = verify_drafts(scheme, *given, several, uniforms, Options(temperature=0.1))
    else:
        with pytest.raises(ValueError, match=message):
            _ = verify_drafts(scheme, *given, several, uniforms)


def test_a_node_that_weighs_too_little_is_refused() -> None:
    trees = torch.tensor([[0, 2], [0, 1]]), torch.tensor([[-1, 0], [-1, -1]])
    logits = LIGHT.expand(2, 3, 3)
    for rule, message in ((tree_rules.TRAVERSAL, "request 0 node 1"), (tree_rules.RECURSIVE, "request 0 node 1")):
        uniforms = torch.full((2, tree_columns(rule, 2)), 0.5, dtype=torch.float64)
        with pytest.raises(ValueError, match=message + " has token 2, 200 nats below"):
            _ = verify_tree(rule, logits, logits, *trees, uniforms)
    # Siblings: distinct ones are drawn from what is left, i.i.d. ones from all.
    rest = (each[1:] for each in trees)
    tokens, parents = rest
    distinct = torch.full((1, tree_columns(tree_rules.TRAVERSAL, 2)), 0.5, dtype=torch.float64)
    assert verify_tree(tree_rules.TRAVERSAL, logits[1:], logits[1:], tokens, parents, distinct).count.tolist() == [2]
    alike = torch.full((1, tree_columns(tree_rules.RECURSIVE, 2)), 0.5, dtype=torch.float64)
    with pytest.raises(ValueError, match="request 0 node 1 has token 1, 120 nats below"):
        _ = verify_tree(tree_rules.RECURSIVE, logits[1:], logits[1:], tokens, parents, alike)
