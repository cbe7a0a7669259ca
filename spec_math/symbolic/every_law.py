"""All that is proved for every law, in one tuple.

Source: the theorem pages of the book, which each theorem names.
"""

from __future__ import annotations

from functools import partial
from typing import Any

from spec_math.block_level import block, chain, chain_priorities, multi_path, spectr, traversal, without_replacement
from spec_math.chance import Coin
from spec_math.drafting import intersection, union
from spec_math.language.model import Model
from spec_math.scheme import Tokens
from spec_math.string_level import exact_match, rejection, timing_repaired
from spec_math.symbolic import block_theorems, string_theorems, token_theorems
from spec_math.symbolic.block_theorems import Block
from spec_math.symbolic.theorem import Theorem
from spec_math.token_level import SCHEMES, recursive

QUICK = 2.0
"""Seconds on one core up to which a proof counts as quick."""


def chosen(words: tuple[str, ...] = (), quick: bool = False) -> tuple[Theorem, ...]:
    """Return the theorems whose name and scope hold one of these words or phrases, all of them where there are none.

    Raises:
        ValueError: a word is in no theorem.

    >>> [theorem.scope for theorem in chosen(("one-hot draft: lossless",))][0]
    'all laws on 2 tokens, 1 draft'
    """
    for word in words:
        if not any(_speaks_of(theorem, word) for theorem in THEOREMS):
            names = sorted({theorem.name for theorem in THEOREMS})
            raise ValueError(f"no theorem speaks of {word!r}; there are: {', '.join(names)}")
    return tuple(
        theorem
        for theorem in THEOREMS
        if (not words or any(_speaks_of(theorem, word) for word in words)) and (not quick or theorem.seconds <= QUICK)
    )


def _speaks_of(theorem: Theorem, word: str) -> bool:
    return word.lower() in f"{theorem.name} {theorem.scope}".lower()


def _on_tree(method: Any, widths: tuple[int, ...], **more: Any) -> Block:
    def generate(coin: Coin, target: Model, draft: Model, prefix: Tokens) -> Tokens:
        return method.generate(coin, target, draft, prefix, widths, **more)

    return generate


def _on_chains(method: Any, *sizes: int) -> Block:
    def generate(coin: Coin, target: Model, draft: Model, prefix: Tokens) -> Tokens:
        return method.generate(coin, target, draft, prefix, *sizes)

    return generate


def _of_one_position() -> list[Theorem]:
    of = {scheme.name: scheme for scheme in SCHEMES}
    lossless, formula, optimal = token_theorems.lossless, token_theorems.as_its_formula, token_theorems.optimal
    one, hot, match = of["maximal coupling"], of["one-hot draft"], of["sample and match"]
    again, apart = of["recursive rejection"], of["recursive rejection without replacement"]
    greedy, hub = of["greedy drafts"], of["SpecHub"]
    plan, plan_apart = of["optimal plan"], of["optimal plan without replacement"]
    k_sequential, k_formula = token_theorems.lossless_k_sequential, token_theorems.formula_k_sequential
    return [
        *[lossless(one, n, seconds=s) for n, s in ((2, 0.1), (3, 0.1), (4, 0.5), (5, 3.5))],
        *[lossless(hot, n, seconds=0.1) for n in (2, 3, 4)],
        *[lossless(match, n, seconds=0.1) for n in (2, 3, 4)],
        *[
            lossless(again, *nk, seconds=s)
            for nk, s in (((2, 2), 0.1), ((2, 3), 0.1), ((3, 2), 0.3), ((3, 3), 0.6), ((4, 2), 3.4))
        ],
        *[lossless(apart, *nk, seconds=s) for nk, s in (((2, 2), 0.1), ((3, 2), 0.2), ((3, 3), 0.2), ((4, 2), 4.8))],
        *[lossless(greedy, *nk, seconds=s) for nk, s in (((2, 2), 0.1), ((3, 2), 0.4), ((3, 3), 0.2), ((4, 3), 3.5))],
        *[lossless(hub, n, 2, seconds=s) for n, s in ((2, 0.1), (3, 1.0))],
        *[
            k_sequential(n, k, s)
            for n, k, s in ((2, 1, 0.2), (2, 2, 0.2), (2, 3, 0.3), (3, 1, 0.9), (3, 2, 2.0), (3, 3, 2.8))
        ],
        *[
            lossless(plan, *nk, seconds=s)
            for nk, s in (((2, 1), 0.3), ((2, 2), 0.3), ((2, 3), 0.3), ((3, 1), 0.9), ((3, 2), 6.6))
        ],
        *[lossless(plan_apart, *nk, seconds=s) for nk, s in (((2, 2), 0.2), ((3, 2), 13.0), ((3, 3), 1.0))],
        *[formula(one, n, seconds=s) for n, s in ((2, 0.1), (3, 0.2), (4, 1.4))],
        *[formula(scheme, 3, seconds=0.1) for scheme in (hot, match)],
        *[formula(again, *nk, seconds=s) for nk, s in (((2, 3), 0.1), ((3, 2), 0.4), ((3, 3), 1.1))],
        *[formula(apart, *nk, seconds=s) for nk, s in (((2, 2), 0.1), ((3, 2), 0.4), ((3, 3), 0.4))],
        *[formula(greedy, *nk, seconds=s) for nk, s in (((2, 2), 0.1), ((3, 2), 0.8), ((3, 3), 0.4))],
        *[formula(hub, n, 2, seconds=s) for n, s in ((2, 0.1), (3, 4.3))],
        *[k_formula(n, k, s) for n, k, s in ((2, 1, 0.2), (2, 2, 0.3), (2, 3, 0.3), (3, 2, 2.3))],
        *[optimal(one, n, seconds=0.2) for n in (2, 3)],
        *[optimal(greedy, *nk, seconds=s) for nk, s in (((2, 2), 0.1), ((3, 2), 0.9), ((3, 3), 0.3))],
        *[optimal(hub, n, 2, seconds=s) for n, s in ((2, 0.1), (3, 1.3))],
        *[optimal(plan, *nk, seconds=s) for nk, s in (((2, 2), 0.4), ((2, 3), 0.3), ((3, 2), 11.4))],
        *[optimal(plan_apart, *nk, seconds=s) for nk, s in (((2, 2), 0.3), ((3, 2), 17.0), ((3, 3), 0.9))],
    ]


def _of_blocks() -> list[Theorem]:
    lossless = partial(block_theorems.lossless, tokens=2)
    one_by_one, as_a_block = "one chain, token by token", "one chain, as a block"
    return [
        lossless(one_by_one, _on_chains(chain, 2), lookahead=2, seconds=1.2),
        lossless(one_by_one, _on_chains(chain, 2), lookahead=2, end=1, seconds=0.3),
        lossless(as_a_block, _on_chains(block, 2), lookahead=2, seconds=3.0),
        lossless(as_a_block, _on_chains(block, 2), lookahead=2, end=1, seconds=0.5),
        block_theorems.lossless_twice(one_by_one, _on_chains(chain, 1), 2, 3, 3.0),
        block_theorems.length_as_its_formula(one_by_one, _on_chains(chain, 2), chain.expected, 2, 1.5),
        block_theorems.length_as_its_formula(as_a_block, _on_chains(block, 2), block.expected, 2, 10.5),
        lossless("traversal of a tree (2, 1)", _on_tree(traversal, (2, 1)), lookahead=2, seconds=2.9),
        lossless("traversal of a tree (2, 2)", _on_tree(traversal, (2, 2)), lookahead=2, seconds=3.4),
        lossless("tree without replacement (2, 2)", _on_tree(without_replacement, (2, 2)), lookahead=2, seconds=3.0),
        lossless(
            "SpecTr tree (2, 1), recursive rejection",
            _on_tree(spectr, (2, 1), verifier=recursive.verify),
            lookahead=2,
            seconds=3.6,
        ),
        lossless("multi-path, 2 chains", _on_chains(multi_path, 2, 2), lookahead=2, seconds=40.0),
        lossless("chain priorities, 2 chains", _on_chains(chain_priorities, 1, 2), lookahead=1, seconds=0.4),
        lossless("chain priorities, 3 chains", _on_chains(chain_priorities, 1, 3), lookahead=1, seconds=0.6),
    ]


def _of_strings() -> list[Theorem]:
    small, cut, joined, over, doubled = (
        (("a", "b"), ("b", "c")),
        (("a", "b"), ("a", "b", "ab")),
        (("a", "b", "ab"), ("a", "b")),
        (("a", "aa", "b"), ("a", "b", "ba")),
        (("a", "b"), ("aa", "b")),
    )
    slem, slrs = exact_match.generate, rejection.generate
    return [
        *[string_theorems.lossless("SLEM", slem, words, seconds=0.1) for words in (small, cut, joined, over)],
        *[
            string_theorems.lossless("SLRS", slrs, words, seconds=s)
            for words, s in ((small, 0.3), (cut, 0.2), (joined, 1.5), (over, 11.0))
        ],
        *[
            string_theorems.lossless("TLI", intersection.generate, words, seconds=s)
            for words, s in ((small, 0.1), (cut, 4.2))
        ],
        string_theorems.lossless("union", union.generate, small, seconds=0.4),
        *[
            string_theorems.lossless(
                "TokenTiming, drafts as deterministic", timing_repaired.deterministic, words, seconds=s
            )
            for words, s in ((cut, 0.4), (doubled, 0.2), (joined, 4.0))
        ],
        *[
            string_theorems.lossless("TokenTiming, drafts by their own law", timing_repaired.conditional, words, n, s)
            for words, n, s in ((doubled, 2, 2.5), (cut, 1, 0.3), (joined, 1, 0.6))
        ],
    ]


THEOREMS: tuple[Theorem, ...] = (*_of_one_position(), *_of_blocks(), *_of_strings())
