"""All methods on K paths side by side: how each generates, its exact expected length, and what it makes of drafts."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from math import comb, perm
from typing import Any

from spec_math.block_level import (
    block,
    chain,
    chain_priorities,
    multi_path,
    optimum,
    spectr,
    traversal,
    tree_rules,
    without_replacement,
)
from spec_math.block_level.conditionals import Conditionals
from spec_math.block_level.lengths import target_text
from spec_math.block_level.lengths.given_drafts import AlongTree, favourite_first, in_turn, planned, walked
from spec_math.block_level.lengths.target_text import Along, Met
from spec_math.block_level.optimum import OptimalLength
from spec_math.block_level.spectr import Verifier
from spec_math.block_level.tree import grow, leaves
from spec_math.block_level.tree_rules import TreeRule
from spec_math.chance import Coin
from spec_math.chance import law as law_of
from spec_math.distribution import capped_ratio
from spec_math.language.model import Model
from spec_math.scheme import Tokens, draw_independent
from spec_math.token_level import k_sequential, recursive
from spec_math.token_level import without_replacement as distinct
from spec_math.verdict import Bracket

Draft = Callable[[Coin, Conditionals, int, int], tuple[Tokens, ...]]
"""(coin, laws, lookahead, k) -> the drafted paths."""

Generate = Callable[[Coin, Model, Model, Tokens, int, int], Tokens]
"""(coin, target, draft, prefix, lookahead, k) -> the emitted tokens."""

GenerateTree = Callable[[Coin, Model, Model, Tokens, tuple[int, ...]], Tokens]
"""(coin, target, draft, prefix, widths) -> the emitted tokens."""

Expected = Callable[[Model, Model, Tokens, int, int], Any]
"""(target, draft, prefix, lookahead, k) -> tokens per target call, exactly."""

Terms = Callable[[int, int, int], float]
"""(V, lookahead, k) -> about how many terms the exact expected length adds up."""


def paths(lookahead: int, k: int) -> tuple[int, ...]:
    """Return the widths of K paths: a tree that branches at its root alone."""
    return (k, *[1] * (lookahead - 1))


@dataclass(frozen=True, eq=False)
class Drafts:
    """A kind of drafts: its name, and the most that any lossless verifier of them accepts.

    `optimum(target, draft, prefix, lookahead, k)` counts accepted tokens, without the target's own; it is asked for
    where `solvable(V, lookahead, k)` says that it is quick, of floats unless it is `exact`. None: none is known.
    """

    name: str
    optimum: Callable[[Model, Model, Tokens, int, int], OptimalLength | Bracket] | None = None
    solvable: Callable[[int, int, int], bool] = lambda size, lookahead, k: False  # noqa: ARG005
    exact: bool = False


LEAVES = 100
"""The optimum is solved for where the draft reaches at most so many texts of L tokens."""

SETS = 2_000
"""And, of distinct first tokens, where they can be drawn in at most so many ways, with the texts below them."""


def _few_sets(size: int, lookahead: int, k: int) -> bool:
    drawn = min(k, size)
    return k > 1 and size**lookahead <= LEAVES and perm(size, drawn) * size ** (drawn * (lookahead - 1)) <= SETS


CHAINS = Drafts("i.i.d. chains", optimum.tokens_per_call, lambda size, lookahead, _: size**lookahead <= LEAVES)
"""K chains, each drawn by itself; a single chain is one of them."""


def _on_paths(of_widths: Callable[..., Any]) -> Callable[..., Any]:
    """Return a function of the lookahead and k from one of a tree's widths, which are its last argument."""
    return lambda *given: of_widths(*given[:-2], paths(*given[-2:]))


DISTINCT = Drafts("distinct first tokens", _on_paths(optimum.tokens_per_call_of_tree), _few_sets, exact=True)
"""K chains whose first tokens are drawn without replacement."""


@dataclass(frozen=True)
class Proven:
    """A size for which a method is proved for every law: the tree's widths, a token that ends the text or None.

    `rounds` blocks in a row; `length`: its expected length too. `seconds` on one core. (k, 1, 1) are k paths of three.
    `formal` names the theorem in Rocq that says the same for every vocabulary and every size.
    """

    widths: tuple[int, ...]
    seconds: float
    end: int | None = None
    rounds: int = 1
    length: float = 0.0
    formal: str = ""


def _not_on_paths(*_: Any) -> Any:
    raise ValueError("this method drafts other shapes than K paths; spec-math frontier samples it")


@dataclass(frozen=True, eq=False)
class Method:
    """The record of a block method, a kind of drafts with a verifier of them: every fact that is known of it.

    `drafts` is the kind of its drafts, whose optimum bounds it. `tree` is its rule for drafted trees given as arrays.
    `pages` are its pages of the book, its theorem first; `proven` lists the sizes proved for all distributions.

    The other fields belong to methods on K paths of `lookahead` tokens. `draft` is the first part of `generate`, which
    drafts the paths. `alone` is the method of one chain that it is for k = 1; it is None for those methods themselves,
    which ignore k. `verifier` is that of each node of a walk, `on_tree` generates on a tree of any widths. `along` is
    its function of `target_text`, None where the target's text does not tell what it accepts. `along_tree` is that of
    `given_drafts`, for trees whose widths on `lookahead` levels are `widths(lookahead, k)`.
    """

    name: str
    drafts: Drafts
    alone: Method | None = None
    draft: Draft = _not_on_paths
    generate: Generate = _not_on_paths
    expected: Expected = _not_on_paths
    terms: Terms = _not_on_paths
    along: Along | None = None
    along_tree: AlongTree | None = None
    widths: Callable[[int, int], tuple[int, ...]] = paths
    verifier: Verifier | None = None
    on_tree: GenerateTree | None = None
    tree: TreeRule | None = None
    proven: tuple[Proven, ...] = (Proven((2,), 1.0),)
    pages: tuple[str, ...] = ()

    @property
    def page(self) -> str:
        """The first of its pages, in the book; empty where it has none."""
        return self.pages[0] if self.pages else ""

    @property
    def one_chain(self) -> bool:
        """True if it drafts one chain, whatever k is."""
        return self.alone is None


def traversal_expected(target: Model, draft: Model, prefix: Sequence[int], lookahead: int, k: int) -> Any:
    """Return the expected number of tokens per target call of traversal verification on K paths, without whole trees.

    The law: the children of the root are enumerated; one that is tried has the chance w_1 of its test, and the chain
    below it is a block that starts with that weight, so that E[w_i], w_i = min(1, w_{i−1} t/d), is its chance to be
    accepted up to i. V!/(V − k)! · V^(lookahead − 1) terms. Units: tokens per call.

    Raises:
        ValueError, TypeError: as `traversal.generate`.
    """
    laws = Conditionals(target, draft, prefix)
    total = one = laws.target()[0] * 0 + 1
    for roots, mass in law_of(lambda coin: distinct.draw(coin, laws.draft(), k)).items():
        reached, t = mass, laws.target()
        for place, root in enumerate(roots):
            d = distinct.without(laws.draft(), roots[:place])
            chance = capped_ratio(t[root], d[root])
            if not laws.ends((root,)):
                below = chain.accepted_below(laws, lookahead, (root,), (one, chance)) if lookahead > 1 else 0
                total = total + reached * (chance + below)
            reached, t = reached * (1 - chance), traversal.after_rejection(t, d, one)[0]
    return total


def _of_one(name: str, generate: Any, expected: Any, **facts: Any) -> Method:
    """A method of one chain: it ignores k."""
    return Method(
        name,
        CHAINS,
        None,
        lambda coin, laws, lookahead, _: (chain.draw(coin, laws, lookahead),),
        lambda coin, target, draft, prefix, lookahead, _: generate(coin, target, draft, prefix, lookahead),
        lambda target, draft, prefix, lookahead, _: expected(target, draft, prefix, lookahead),
        lambda size, lookahead, _: size**lookahead,
        **facts,
    )


def _walk(name: str, verifier: Verifier, met: Met, terms: Terms, **facts: Any) -> Method:
    """SpecTr's walk with a verifier at every node."""

    on_tree = partial(spectr.generate, verifier=verifier)
    return Method(
        name,
        CHAINS,
        TOKEN_BY_TOKEN,
        lambda coin, laws, lookahead, k: tuple(leaves(grow(coin, laws, paths(lookahead, k), draw_independent))),
        _on_paths(on_tree),
        _on_paths(partial(spectr.expected, verifier=verifier)),
        terms,
        along=target_text.walk(met),
        verifier=verifier,
        on_tree=on_tree,
        **facts,
    )


def _of_roots(name: str, alone: Method, on_tree: Any, expected: Expected, **facts: Any) -> Method:
    """A tree whose first tokens are drawn without replacement."""
    return Method(
        name,
        DISTINCT,
        alone,
        lambda coin, laws, lookahead, k: tuple(leaves(grow(coin, laws, paths(lookahead, k), distinct.draw))),
        _on_paths(on_tree),
        expected,
        lambda size, lookahead, k: perm(size, min(k, size)) * size ** (lookahead - 1),
        on_tree=on_tree,
        **facts,
    )


def _selecting(name: str, module: Any, terms: int = 1, **facts: Any) -> Method:
    """One of K i.i.d. chains is selected, and verified as a block; the numbers of its exact law may be long."""
    return Method(
        name,
        CHAINS,
        AS_A_BLOCK,
        lambda coin, laws, lookahead, k: tuple(chain.draw(coin, laws, lookahead) for _ in range(k)),
        module.generate,
        module.expected,
        lambda size, lookahead, k: terms * size**lookahead * k,
        **facts,
    )


def _states(size: int, lookahead: int, k: int) -> float:
    """Return the most pairs of a path and a number of drafts that a walk meets."""
    return sum(size**level * comb(k + level - 1, level) for level in range(lookahead))


def _enumerated(size: int, lookahead: int, k: int) -> float:
    return 4 * _states(size, lookahead, k) * size**k


def _in_closed_form(size: int, lookahead: int, k: int) -> float:
    return _states(size, lookahead, k) * size * k * k


TOKEN_BY_TOKEN = _of_one(
    "one chain, token by token",
    chain.generate,
    chain.expected,
    along=target_text.token_by_token,
    proven=(
        Proven((1, 1), 1.2, length=1.5, formal="chain_is_lossless"),
        Proven((1, 1), 0.3, end=1),
        Proven((1,), 3.0, rounds=2, formal="rounds_of_a_lossless_block_are_lossless"),
    ),
    tree=tree_rules.TOKEN_BY_TOKEN,
    pages=("theorems/chain", "how_to/write_a_block_verifier"),
)
AS_A_BLOCK = _of_one(
    "one chain, as a block",
    block.generate,
    block.expected,
    along=target_text.as_block,
    proven=(Proven((1, 1), 3.0, length=10.5, formal="block_is_lossless"), Proven((1, 1), 0.5, end=1)),
    tree=tree_rules.AS_A_BLOCK,
    pages=("theorems/block", "how_to/write_a_block_verifier"),
)
PLAN_AT_EVERY_NODE = _walk(
    "optimal plan at every node",
    spectr.by_plan,
    target_text.by_plan,
    _enumerated,
    proven=(),
    tree=tree_rules.PLAN,
    pages=("theorems/spectr", "theorems/pooled_priority"),
)
METHODS: tuple[Method, ...] = (
    TOKEN_BY_TOKEN,
    AS_A_BLOCK,
    _walk(
        "recursive rejection at every node",
        recursive.verify,
        target_text.by_recursive_rejection,
        _enumerated,
        proven=(Proven((2, 1), 3.6, formal="tree_is_lossless"),),
        tree=tree_rules.RECURSIVE,
        pages=("theorems/spectr", "theorems/recursive"),
    ),
    _walk(
        "K-SEQ at every node",
        k_sequential.verify,
        target_text.by_k_sequential,
        _in_closed_form,
        proven=(),
        tree=tree_rules.K_SEQUENTIAL,
        pages=("theorems/spectr", "theorems/k_sequential"),
    ),
    PLAN_AT_EVERY_NODE,
    _of_roots(
        "recursive rejection, distinct first tokens",
        TOKEN_BY_TOKEN,
        without_replacement.generate,
        _on_paths(without_replacement.expected),
        along_tree=walked(in_turn, afresh=True),
        proven=(Proven((2, 2), 3.0, formal="tree_without_replacement_is_lossless"),),
        tree=tree_rules.DISTINCT,
        pages=("theorems/without_replacement",),
    ),
    _of_roots(
        "traversal, distinct first tokens",
        AS_A_BLOCK,
        traversal.generate,
        traversal_expected,
        along_tree=walked(in_turn),
        proven=tuple(Proven(widths, 3.4, formal="traversal_is_lossless") for widths in ((2, 1), (2, 2))),
        tree=tree_rules.TRAVERSAL,
        pages=("theorems/traversal",),
    ),
    _selecting(
        "greedy multi-path",
        multi_path,
        along=target_text.highest_rank,
        tree=tree_rules.MULTI_PATH,
        proven=(Proven((2, 1), 40.0, formal="multi_path_is_lossless"),),
        pages=("theorems/multi_path",),
    ),
    _selecting(
        "chain priorities",
        chain_priorities,
        along=target_text.priorities,
        terms=16,
        proven=(Proven((2,), 0.4), Proven((3,), 0.6)),
        tree=tree_rules.PRIORITIES,
        pages=("theorems/chain_priorities",),
    ),
)
"""Every method of this floor that takes K paths, those of one chain first."""


def named(name: str) -> Method:
    """Return the method whose name holds these words, the first of several.

    Raises:
        ValueError: there is none; the message lists them.
    """
    fitting = [method for method in METHODS if name.lower() in method.name.lower()]
    if not fitting:
        raise ValueError(f"no method is named {name!r}; there are: {'; '.join(method.name for method in METHODS)}")
    return fitting[0]


TREES, SEQUENCES = Drafts("chosen trees"), Drafts("stochastic beams")
BRANCHING = Drafts("two distinct drafts at every node")
FAVOURED = Drafts("the likeliest and one drawn at every node")
STEMS = {stem: Drafts(f"i.i.d. chains below a stem of {stem}") for stem in (1,)}
"""Chains that share their first so many tokens, a kind for each length of the stem."""

CHOSEN = Method("target-only, likeliest tree", TREES, pages=("theorems/target_only",))
STATIC = Method("target-only, static tree", TREES, pages=("theorems/target_only",))
BEAMS = Method("stochastic beam, recursive rejection", SEQUENCES, pages=("theorems/stochastic_beam",))
BEAMS_TRAVERSED = Method("stochastic beam, traversal", SEQUENCES, pages=("theorems/stochastic_beam",))
PLANNED = Method("optimal plan, distinct first tokens", DISTINCT, along_tree=planned, pages=("theorems/planned_tree",))
NOISE = Method("shared noise", CHAINS, pages=("theorems/shared_noise",))
DELAYED = {
    stem: Method(
        f"chain priorities below a stem of {stem}",
        drafts,
        along=partial(target_text.priorities, stem=stem),
        pages=("theorems/delayed",),
    )
    for stem, drafts in STEMS.items()
}


def _branched(name: str, along: AlongTree, page: str, drafts: Drafts = BRANCHING) -> Method:
    """A tree that branches in two at every node."""
    return Method(name, drafts, along_tree=along, widths=lambda lookahead, _: (2,) * lookahead, pages=(page,))


BRANCHED_REJECTION = _branched(
    "recursive rejection, two distinct a node", walked(in_turn, afresh=True), "theorems/without_replacement"
)
BRANCHED_TRAVERSAL = _branched("traversal, two distinct a node", walked(in_turn), "theorems/traversal")
BRANCHED_PLAN = _branched("optimal plan, two distinct a node", planned, "theorems/planned_tree")
UNIVER = _branched("UniVer, the likeliest and one drawn a node", walked(favourite_first), "theorems/univer", FAVOURED)
