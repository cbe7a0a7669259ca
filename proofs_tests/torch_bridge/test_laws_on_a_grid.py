"""The exact law of the torch functions whose uniforms `explore` does not follow in time: every cell of a grid, counted.

Laws are chosen so that every threshold of every path of the program is a multiple of 1/m, which the program itself is
asked. What a batch of one request for each cell emits, a uniform in the middle of each side, is then the law: whole
numbers over m^C, compared by ==.
"""

from __future__ import annotations

from fractions import Fraction
from itertools import product
from math import prod
from typing import Any

import numpy as np
import pytest

torch = pytest.importorskip("torch")

from proofs_tests.torch_bridge.trees_on_logits import arrays  # noqa: E402
from spec_math import SCHEMES, law  # noqa: E402
from spec_math.arrays import exact  # noqa: E402
from spec_math.block_level import tree_rules  # noqa: E402
from spec_math.block_level.conditionals import Conditionals  # noqa: E402
from spec_math.block_level.tree import grow  # noqa: E402
from spec_math.block_level.tree_rules import TreeRule  # noqa: E402
from spec_math.chance import Coin  # noqa: E402
from spec_math.scheme import Scheme, draw_independent  # noqa: E402
from spec_math.token_level import without_replacement  # noqa: E402
from torch_bridge import tree_columns, verify_drafts, verify_tree  # noqa: E402
from torch_bridge.options import Options  # noqa: E402

Case = tuple[TreeRule, int, list[str], list[str], tuple[int, ...], int]
CASES: list[Case] = [
    (tree_rules.RECURSIVE, 4, ["1/4", "1/4", "1/2"], ["1/2", "1/4", "1/4"], (2,), 3),
    (tree_rules.RECURSIVE, 4, ["1/4", "3/4"], ["1/2", "1/2"], (2, 1), 4),
    (tree_rules.K_SEQUENTIAL, 12, ["1/12", "1/3", "7/12"], ["1/12", "1/6", "3/4"], (2,), 3),
    (tree_rules.PLAN, 6, ["1/6", "1/3", "1/2"], ["1/2", "1/6", "1/3"], (2,), 4),
    (tree_rules.PLAN_OF_DISTINCT, 6, ["1/6", "1/3", "1/2"], ["1/2", "1/6", "1/3"], (2,), 4),
]
"""Rule, m, target, draft, widths of the tree, and how many coins a path tosses at most, which the program is asked."""
cases = pytest.mark.parametrize("case", CASES, ids=lambda case: f"{case[0].name}-{len(case[4])}")


class OnGrid:
    """A coin that finds every threshold on the grid of 1/m, and no path with more coins than `most`."""

    def __init__(self, coin: Coin, size: int, most: int) -> None:
        self._coin, self._size, self._left = coin, size, most

    def flip(self, p: Any) -> bool:
        self._toss([min(Fraction(p), Fraction(1))])
        return self._coin.flip(p)

    def draw(self, masses: Any) -> int:
        listed = np.array(getattr(masses, "masses", masses))
        self._toss(np.cumsum(listed) / listed.sum())
        return self._coin.draw(masses)

    def _toss(self, borders: Any) -> None:
        self._left -= 1
        assert self._left >= 0
        assert all((border * self._size).denominator == 1 for border in borders)


def grid(size: int, columns: int, used: int) -> Any:
    """Uniforms [size^used, columns] in the middle of every cell; columns that no path reaches hold 1/2."""
    middles = (torch.arange(size, dtype=torch.float64) + 0.5) / size
    cells = torch.cartesian_prod(*[middles] * used)
    return torch.nn.functional.pad(cells, (0, columns - used), value=0.5)


def off(verify: Any, case: Case) -> dict[tuple[int, ...], Fraction]:
    """How much more than the target's mass the law of the torch function gives to texts of so many tokens."""
    rule, size, target, draft, widths, used = case
    rows = exact(target), exact(draft)
    laws = Conditionals(lambda _: rows[0], lambda _: rows[1], ())
    total: dict[tuple[int, ...], Fraction] = {}
    horizon = len(widths) + 1
    draw = draw_independent if rule.siblings == "any" else without_replacement.draw
    for nodes, mass in law(lambda coin: grow(coin, laws, widths, draw)).items():
        assert law(lambda coin, nodes=nodes: rule.program(OnGrid(coin, size, used), nodes, laws))
        tokens, parents = (torch.tensor([each]) for each in zip(*arrays(nodes), strict=True))
        uniforms = grid(size, tree_columns(rule, tokens.shape[1]), used)
        logits = [
            torch.tensor([float(x) for x in row]).double().log().expand(1, tokens.shape[1] + 1, -1) for row in rows
        ]
        given = [each.expand(len(uniforms), *each.shape[1:]) for each in (*logits, tokens, parents)]
        found = verify(rule, *given, uniforms, Options(check=False, depth=len(widths), width=2))
        texts, numbers = found.emitted.unique(dim=0, return_counts=True)
        for text, number in zip(texts.tolist(), numbers.tolist(), strict=True):
            block = tuple(token for token in text if token >= 0)
            for rest in product(range(len(target)), repeat=horizon - len(block)):
                share = Fraction(number, len(uniforms)) * product_of(rows[0], rest)
                total[*block, *rest] = total.get((*block, *rest), Fraction(0)) + mass * share
    texts = product(range(len(target)), repeat=horizon)
    return {text: total.get(text, Fraction(0)) - product_of(rows[0], text) for text in texts}


def product_of(law: Any, text: tuple[int, ...]) -> Fraction:
    return prod((law[token] for token in text), start=Fraction(1))


@cases
def test_the_law_of_the_torch_function_on_trees_is_exactly_the_targets(case: Case) -> None:
    assert set(off(verify_tree, case).values()) == {0}


def _laws_swapped(rule: TreeRule, target: Any, draft: Any, *rest: Any) -> Any:
    return verify_tree(rule, draft, target, *rest)


def _one_copy(rule: TreeRule, target: Any, draft: Any, tokens: Any, parents: Any, *rest: Any) -> Any:
    """Drafts of the root that agree count as one."""
    again = (parents == -1) & (tokens == tokens[:, :1])
    again[:, 0] = False
    lost = again | again.gather(1, parents.clamp(min=0)) & (parents >= 0)
    return verify_tree(rule, target, draft, tokens.masked_fill(lost, -1), parents, *rest)


@cases
def test_a_wrong_torch_function_on_trees_is_seen_on_the_grid(case: Case) -> None:
    assert set(off(_laws_swapped, case).values()) != {0}


@pytest.mark.parametrize("case", CASES[2:4], ids=lambda case: f"{case[0].name}-{len(case[4])}")
def test_a_copy_that_counts_once_is_seen_on_the_grid(case: Case) -> None:
    """Recursive rejection may leave drafts out, and stays lossless in this case; the other rules count them."""
    assert set(off(_one_copy, case).values()) != {0}


PLAN_OF_DISTINCT = next(scheme for scheme in SCHEMES if scheme.name == "optimal plan without replacement")


def distinct_law(verify: Any) -> list[Fraction]:
    """The law of the torch function on two distinct drafts, on the grid of sixths."""
    target, draft = DISTINCT
    logits = [torch.tensor([[float(x) for x in row]]).double().log() for row in (target, draft)]
    total = [Fraction(0)] * 3
    for tokens, mass in law(lambda coin: PLAN_OF_DISTINCT.draw(coin, draft, 2)).items():
        assert law(lambda coin, t=tokens: PLAN_OF_DISTINCT.verify(OnGrid(coin, 6, 4), t, target, draft))
        uniforms = grid(6, 4, 4)
        given = [each.expand(len(uniforms), -1) for each in (*logits, torch.tensor([tokens]))]
        for token in verify(PLAN_OF_DISTINCT, *given, uniforms, Options(check=False)).emitted.tolist():
            total[token] += mass / len(uniforms)
    return total


DISTINCT = exact(["1/6", "1/3", "1/2"]), exact(["1/2", "1/6", "1/3"])


def _swapped(scheme: Scheme, target: Any, draft: Any, *rest: Any) -> Any:
    return verify_drafts(scheme, draft, target, *rest)


def test_the_law_of_the_plan_without_replacement_is_exactly_the_targets() -> None:
    assert distinct_law(verify_drafts) == DISTINCT[0].tolist()
    assert distinct_law(_swapped) != DISTINCT[0].tolist()
