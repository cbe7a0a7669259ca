"""Each method on blocks: program = closed form = logits = proof, and a wrong twin of it is rejected."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from proofs_tests.block_level import tree_batches
from proofs_tests.block_level.models import Rows
from proofs_tests.block_level.tree_batches import batch
from proofs_tests.block_level.tree_shapes import floats, shapes
from proofs_tests.token_level.replayed_rows import Watching
from spec_math import Lossless, Lossy, check_lossless_block, exact, law
from spec_math.block_level import tree_rules
from spec_math.block_level.methods import METHODS, Method
from spec_math.block_level.tree_rules import TreeRule
from spec_math.symbolic import THEOREMS, prove

PAIRS = {
    "two tokens": (
        Rows((exact(["1/4", "3/4"]), exact(["2/3", "1/3"]), exact(["3/5", "2/5"]), exact(["1/8", "7/8"]))),
        Rows((exact(["1/2", "1/2"]), exact(["1/3", "2/3"]), exact(["1/5", "4/5"]), exact(["3/4", "1/4"]))),
    ),
    "an end token, a zero": (
        Rows((exact(["1/2", "1/4", "1/4"]), exact(["1/6", "1/3", "1/2"])), end=2),
        Rows((exact(["1/4", "1/4", "1/2"]), exact(["1/2", "1/2", 0])), end=2),
    ),
    "equal": (
        Rows((exact(["1/3", "2/3"]), exact(["1/5", "4/5"]))),
        Rows((exact(["1/3", "2/3"]), exact(["1/5", "4/5"]))),
    ),
}
THRESHOLD = 2.0**-36
"""A uniform this near to a threshold may be decided either way in float64."""

each_method = pytest.mark.parametrize("method", METHODS, ids=lambda method: method.name)
each_pair = pytest.mark.parametrize("pair", PAIRS)


def emitted(method: Method, pair: str, k: int) -> dict[tuple[int, ...], Any]:
    target, draft = PAIRS[pair]
    return law(lambda coin: method.generate(coin, target, draft, (), 2, k))


@each_method
@each_pair
@pytest.mark.parametrize("k", [1, 2])
def test_the_program_is_lossless_and_as_long_as_its_closed_form_says(method: Method, pair: str, k: int) -> None:
    target, draft = PAIRS[pair]
    verdict = check_lossless_block(lambda coin, prefix: method.generate(coin, target, draft, prefix, 2, k), target, 3)
    assert isinstance(verdict, Lossless)
    assert verdict.bound == 0
    length = sum(mass * len(tokens) for tokens, mass in emitted(method, pair, k).items())
    assert length == method.expected(target, draft, (), 2, k)


@each_method
def test_no_method_is_longer_than_the_optimum_of_its_drafts(method: Method) -> None:
    target, draft = PAIRS["two tokens"]
    assert method.drafts.optimum is not None
    bound = method.drafts.optimum(target, draft, (), 2, 2)
    most = bound.upper if hasattr(bound, "upper") else bound.tokens_per_call  # type: ignore[union-attr]
    assert float(method.expected(target, draft, (), 2, 2)) <= float(most) + 1e-12


RULES = [rule for rule in tree_rules.TREE_RULES if rule.decide is not None]


@pytest.mark.parametrize("rule", RULES, ids=lambda rule: rule.name)
def test_logits_are_decided_as_the_program_decides(rule: TreeRule) -> None:
    torch = pytest.importorskip("torch")
    from torch_bridge import verify_tree

    given = floats(batch(rule, shapes(rule, np.random.default_rng(0), 30, 9), 0), 0)
    with np.errstate(divide="ignore"):
        targets, drafts = (torch.tensor(np.log(laws)) for laws in (given.targets, given.drafts))
    arrays = (torch.tensor(part) for part in (given.tokens, given.parents, given.uniforms))
    found = verify_tree(rule, targets, drafts, *arrays)
    judged = 0
    for row in range(len(given.tokens)):
        watching = Watching(given.uniforms[row])
        want = tree_batches.replayed(rule, given, row, watching)
        if watching.distance > THRESHOLD:
            assert tuple(token for token in found.emitted[row].tolist() if token >= 0) == want
            judged += 1
    assert judged >= 0.8 * len(given.tokens)


NAMES = tuple(method.name for method in METHODS)
PROVED = [one for one in THEOREMS if one.name.startswith(NAMES) and "on 2 tokens" in one.scope and one.seconds <= 3]


@pytest.mark.parametrize("theorem", PROVED, ids=lambda theorem: f"{theorem.name}, {theorem.scope}")
def test_what_is_stated_is_proved_for_every_distribution_on_two_tokens(theorem: Any) -> None:
    pytest.importorskip("z3")
    found = prove(theorem)
    assert found, found.counterexample or found.reason


def one_more_than_drafted(method: Method, coin: Any, prefix: tuple[int, ...], k: int) -> tuple[int, ...]:
    """The token after the drafts comes from the draft's distribution."""
    target, draft = PAIRS["two tokens"]
    tokens = method.generate(coin, target, draft, prefix, 2, k)
    return (*tokens[:2], coin.draw(draft(prefix + tokens[:2]))) if len(tokens) == 3 else tokens


@each_method
def test_a_wrong_bonus_token_is_rejected(method: Method) -> None:
    target = PAIRS["two tokens"][0]
    verdict = check_lossless_block(lambda coin, prefix: one_more_than_drafted(method, coin, prefix, 2), target, 3)
    assert isinstance(verdict, Lossy)
    assert verdict.tokens is not None
    assert len(verdict.tokens) == 3


@each_method
def test_a_dropped_last_test_is_rejected(method: Method) -> None:
    """Every coin of a test says yes."""
    target, draft = PAIRS["two tokens"]

    class Yes:
        def __init__(self, coin: Any) -> None:
            self.draw = coin.draw

        def flip(self, _: Any) -> bool:
            return True

    verdict = check_lossless_block(lambda coin, p: method.generate(Yes(coin), target, draft, p, 2, 2), target, 3)  # type: ignore[arg-type]
    assert isinstance(verdict, Lossy)
