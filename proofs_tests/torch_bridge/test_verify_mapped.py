"""Draft logits over another vocabulary: decided as by the replayed programs, with the target's law, and bad maps are
refused."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

torch = pytest.importorskip("torch")

from proofs_tests.block_level.tree_batches import noisy  # noqa: E402
from proofs_tests.drafting import merged_trees  # noqa: E402
from proofs_tests.drafting.merged_batches import batch, forms  # noqa: E402
from proofs_tests.token_level.replayed_rows import Watching  # noqa: E402
from proofs_tests.torch_bridge.no_wait import NoWait  # noqa: E402
from proofs_tests.torch_bridge.trees_on_logits import tensors  # noqa: E402
from spec_math import SCHEMES, law  # noqa: E402
from spec_math.block_level import tree_rules  # noqa: E402
from spec_math.block_level.tree_rules import TREE_RULES, TreeRule  # noqa: E402
from spec_math.drafting.merged import emit  # noqa: E402
from spec_math.scheme import Scheme  # noqa: E402
from torch_bridge import MappedLogits, columns, explore, verify_drafts, verify_tree  # noqa: E402
from torch_bridge.options import Options  # noqa: E402

RECURSIVE = next(scheme for scheme in SCHEMES if scheme.name == "recursive rejection")
NEAR = 2.0**-40
"""Uniforms nearer to a threshold decide nothing here: rows of 5 masses are off by less than 2^-48."""


def logits(rows: Any) -> Any:
    return torch.from_numpy(np.asarray(rows, dtype=np.float64)).log()


def differing(scheme: Scheme, seed: int, k: int) -> int:
    target, draft, tokens, uniforms, places = batch(scheme, k, seed)
    uniforms = np.random.default_rng(seed).random(uniforms.shape)
    rows = MappedLogits(logits(draft), torch.from_numpy(places), shared=False)
    found = verify_drafts(scheme, logits(target), rows, *(torch.from_numpy(each) for each in (tokens, uniforms)))
    wrong = 0
    for row, drafts in enumerate(tokens):
        coin = Watching(uniforms[row])
        floats = target[row].astype(np.float64), draft[row].astype(np.float64)
        want = emit(coin, scheme.emit, tuple(drafts[drafts >= 0].tolist()), floats, places[row])  # type: ignore[arg-type]
        wrong += coin.distance > NEAR and (int(found.emitted[row]), bool(found.accepted[row])) != tuple(want)
    return wrong


@forms
def test_drafts_over_another_vocabulary_are_decided_as_by_the_replayed_program(scheme: Scheme) -> None:
    assert sum(differing(scheme, seed, k) for seed in range(3) for k in (1, 3)) == 0


@pytest.mark.usefixtures("coarse_grid")
@pytest.mark.parametrize("rule", [rule for rule in TREE_RULES if rule.decide], ids=lambda rule: rule.name)
def test_trees_over_another_vocabulary_are_decided_as_by_the_replayed_program(rule: TreeRule) -> None:
    for seed in range(2):
        given, places = merged_trees.drafted(rule, seed, largest=16)
        given = noisy(given, seed)
        target, draft, tokens, parents, uniforms = tensors(given)
        rows = MappedLogits(draft, torch.from_numpy(places), shared=False)
        found = verify_tree(rule, target, rows, tokens, parents, uniforms, Options(end=3))
        for row, (emitted, count) in enumerate(zip(found.emitted.tolist(), found.count.tolist(), strict=True)):
            coin = Watching(given.uniforms[row])
            want = merged_trees.replayed(rule, given, row, places, coin)
            assert tuple(emitted[:count]) == want or coin.distance <= NEAR


TARGET, DRAFT = [0.25, 0.5, 0.25], [0.5, 0.375, 0.125]


def emitted_law(places: list[int], shared: bool, verify: Any = verify_drafts, k: int = 1) -> list[float]:
    """The law of the torch function over its drafts and its uniforms: on the draft's law as it says it was drawn."""
    masses = [mass if place >= 0 or not shared else 0.0 for mass, place in zip(DRAFT, places, strict=True)]
    drawn_from = [mass / sum(masses) for mass in masses]
    rows = MappedLogits(logits([DRAFT]), torch.tensor(places), shared)
    total = [0.0] * 3
    for tokens, mass in law(lambda coin: RECURSIVE.draw(coin, drawn_from, k)).items():
        given = logits([TARGET]), rows, torch.tensor([tokens])

        def call(given: Any = given) -> int:
            uniforms = torch.rand(1, columns(RECURSIVE, k) + 1, dtype=torch.float64)
            return verify(RECURSIVE, *given, uniforms, Options(check=False)).emitted.item()

        for token, share in explore(call).items():  # type: ignore[union-attr]
            total[token] += float(mass) * share
    return total


def gap(*given: Any) -> float:
    return max(abs(mass - wanted) for mass, wanted in zip(emitted_law(*given), TARGET, strict=True))


@pytest.mark.parametrize("shared", [True, False], ids=["intersection", "union"])
@pytest.mark.parametrize("places", [[2, -1, 0], [1, 2, 0], [-1, -1, 2]], ids=str)
def test_the_law_of_the_torch_function_over_another_vocabulary_is_the_targets(places: list[int], shared: bool) -> None:
    assert gap(places, shared) < 1e-12


def _off_by_one(scheme: Scheme, target: Any, draft: MappedLogits, *rest: Any) -> Any:
    """The target's masses are those of the next token."""
    return verify_drafts(scheme, target.roll(1, dims=1), draft, *rest)


def _renormalised(scheme: Scheme, target: Any, draft: MappedLogits, *rest: Any) -> Any:
    """The draft is verified as if drawn from all its tokens, where it was drawn from the shared ones."""
    return verify_drafts(scheme, target, draft._replace(shared=not draft.shared), *rest)


def _without_the_rest(scheme: Scheme, target: Any, draft: MappedLogits, *rest: Any) -> Any:
    """The residual is taken on the shared tokens alone."""
    lacking = torch.ones(3, dtype=torch.bool)
    lacking[draft.places[draft.places >= 0]] = False
    return verify_drafts(scheme, target.masked_fill(lacking, -torch.inf), draft, *rest)


@pytest.mark.parametrize("wrong", [_off_by_one, _renormalised, _without_the_rest])
def test_wrong_torch_functions_over_another_vocabulary_have_another_law(wrong: Any) -> None:
    assert gap([2, -1, 0], True, wrong) > 1e-2


def test_options_are_those_of_a_dense_draft() -> None:
    """A grammar, top-k, top-p and temperature of each request: the laws are those of rows laid out densely."""
    rng = np.random.default_rng(0)
    target, draft = (torch.from_numpy(rng.standard_normal((6, size))) for size in (7, 5))
    places = torch.tensor([4, -1, 6, 0, 2])
    allowed = torch.ones(6, 7, dtype=torch.bool)
    allowed[:3, 4] = False
    options = Options(torch.tensor([0.5, 1.0, 2.0] * 2), 3, 0.9, allowed=allowed)
    rows = MappedLogits(draft, places)
    dense = torch.full((6, 7), -torch.inf, dtype=torch.float64)
    dense[:, places[places >= 0]] = draft[:, places >= 0]
    for token in (2, 3):
        drafts, uniforms = torch.full((6, 1), token), torch.full((6, 3), 0.999, dtype=torch.float64)
        found = verify_drafts(RECURSIVE, target, rows, drafts, uniforms, Options(**{**vars(options), "check": False}))
        on_dense = verify_drafts(
            RECURSIVE, target, dense, places[drafts], uniforms, Options(**{**vars(options), "check": False})
        )
        assert found.accepted.tolist() == on_dense.accepted.tolist()


def test_a_step_over_another_vocabulary_looks_at_no_value_on_the_host() -> None:
    target, draft, tokens, uniforms, places = batch(RECURSIVE, 3, 0)
    given = logits(target), MappedLogits(logits(draft), torch.from_numpy(places)), torch.from_numpy(tokens)
    with NoWait():
        found = verify_drafts(RECURSIVE, *given, torch.from_numpy(uniforms.astype(np.float64)), Options(check=False))
    assert found.emitted.shape == (40,)


BAD: list[tuple[dict[str, Any], str]] = [
    ({"places": [2, 9]}, r"places must lie in 0\.\.3, .*; places\[1\] is 9"),
    ({"places": [-2, 1]}, r"places\[0\] is -2"),
    ({"places": [1, 1]}, r"places\[0\] and places\[1\] are both 1"),
    ({"places": [[0, 1], [2, 2]]}, r"places\[1, 0\] and places\[1, 1\] are both 2"),
    ({"places": [0, 1, 2]}, r"got \(3,\) beside"),
    ({"tokens": [[0], [2]]}, r"tokens must lie in 0\.\.1"),
    ({"uniforms": (2, 2)}, "one more than columns"),
    ({"places": [0, -1], "tokens": [[0], [1]]}, r"no mass on the drafted token 1 at tokens\[1, 0\]"),
    ({"places": [-1, -1]}, r"draft_logits, on the tokens that may be drafted\[0\] is -inf"),
]


@pytest.mark.parametrize(("change", "message"), BAD, ids=[message for _, message in BAD])
def test_bad_maps_are_refused_with_their_place(change: dict[str, Any], message: str) -> None:
    places, tokens = (
        torch.tensor(change.get(name, wanted)) for name, wanted in (("places", [2, 0]), ("tokens", [[0], [1]]))
    )
    uniforms = torch.full(change.get("uniforms", (2, 3)), 0.5)
    draft = MappedLogits(torch.zeros(2, 2), places)
    with pytest.raises(ValueError, match=message):
        _ = verify_drafts(RECURSIVE, torch.zeros(2, 4), draft, tokens, uniforms)


def test_rules_that_are_programs_alone_say_so() -> None:
    target, tokens = torch.zeros(1, 2, 4), torch.tensor([[0]])
    draft, one = MappedLogits(torch.zeros(1, 2, 2), torch.tensor([2, 0])), torch.zeros(1, 4)
    with pytest.raises(ValueError, match="'optimal plan, distinct drafts' has no array formula"):
        _ = verify_tree(tree_rules.PLAN_OF_DISTINCT, target, draft, tokens, tokens - 1, one)
    (scheme,) = (scheme for scheme in SCHEMES if scheme.decide is None)
    with pytest.raises(ValueError, match="'optimal plan without replacement' has no array formula"):
        _ = verify_drafts(scheme, target[:, 0], draft._replace(logits=draft.logits[:, 0]), tokens, one)


def test_bad_maps_of_trees_are_refused_with_their_place() -> None:
    tokens, uniforms, target = torch.tensor([[0], [1]]), torch.zeros(2, 3), torch.zeros(2, 2, 4)
    for places, message in (
        ([2, 9], r"places\[1\] is 9"),
        ([0, -1], "no mass on token 1 of node 0 in request 1"),
        ([-1, -1], r"may be drafted\[0, 0\] is -inf"),
    ):
        draft = MappedLogits(torch.zeros(2, 2, 2), torch.tensor(places))
        with pytest.raises(ValueError, match=message):
            _ = verify_tree(tree_rules.TOKEN_BY_TOKEN, target, draft, tokens, tokens * 0 - 1, uniforms)


def test_maps_of_other_types_are_refused_always() -> None:
    target, tokens, uniforms = torch.zeros(1, 4), torch.tensor([[0]]), torch.zeros(1, 3)
    for places, error in ((torch.zeros(2), TypeError), ([0, 1], TypeError), (torch.zeros(2, 2).long(), ValueError)):
        with pytest.raises(error, match="places"):
            draft = MappedLogits(torch.zeros(1, 2), places)
            _ = verify_drafts(RECURSIVE, target, draft, tokens, uniforms, Options(check=False))
