"""Batches of drafted trees as arrays, and the programs that they are compared with, replayed tree by tree."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from itertools import product
from typing import Any, NamedTuple

import numpy as np

from proofs_tests.block_level.chain_generators import rounded_selection
from proofs_tests.block_level.models import Rows
from spec_math.arrays import exact
from spec_math.block_level import block, chain, selected_chain, spectr, target_only, traversal, tree_rules
from spec_math.block_level import without_replacement as distinct
from spec_math.block_level.chain_priorities import Priorities
from spec_math.block_level.conditionals import Conditionals
from spec_math.block_level.multi_path import HighestRank
from spec_math.block_level.tree import Node
from spec_math.chance import Coin
from spec_math.scheme import Tokens
from spec_math.token_level import k_sequential, pooled_priority, recursive

SIZE = 4


class Batch(NamedTuple):
    """targets, drafts [B, N + 1, V], tokens, parents [B, N], uniforms [B, C]; the models behind them, and the end."""

    targets: Any
    drafts: Any
    tokens: Any
    parents: Any
    uniforms: Any
    models: tuple[Rows, Rows]
    end: int | None


def parent_arrays(size: int) -> Iterator[tuple[int, ...]]:
    """All trees on so many nodes, in every order in which parents come before their children."""
    return product(*(range(-1, node) for node in range(size)))


def random_parents(rng: np.random.Generator, size: int) -> list[int]:
    """A random tree, a chain, or something between."""
    reach = int(rng.integers(1, size + 1))
    return [int(rng.integers(max(-1, node - reach), node)) for node in range(size)]


def chains(k: int, lookahead: int) -> list[int]:
    """The parents of k chains side by side."""
    return [-1 if place % lookahead == 0 else place - 1 for place in range(k * lookahead)]


def model(rng: np.random.Generator, end: int | None, size: int = SIZE) -> Rows:
    """A model of seven laws of small weights, with zeros and ties, or far apart."""
    far = rng.random() < 0.3
    rows: list[Any] = []
    for _ in range(7):
        weights = 3 ** rng.integers(0, 9, size) * (rng.random(size) < 0.9) if far else rng.integers(0, 4, size)
        weights[rng.integers(size)] += 1
        rows.append(exact(weights.astype(object)) / weights.sum())
    return Rows(tuple(rows), end)


def batch(rule: tree_rules.TreeRule, parents: list[Any], seed: int, end: int | None = None) -> Batch:
    """Draft the trees of these parents from random models; no node is made where no token is possible."""
    rng = np.random.default_rng(seed)
    number, many = max(map(len, parents)), len(parents)
    models = model(rng, end), model(rng, end)
    targets, drafts = (exact(np.zeros((many, number + 1, SIZE))) + exact([1, 0, 0, 0]) for _ in range(2))
    tokens, arrays = np.full((many, number), -1), np.full((many, number), -1)
    for row, above in enumerate(parents):
        arrays[row, : len(above)] = above
        paths: dict[int, Tokens] = {-1: ()}
        targets[row, 0], drafts[row, 0] = models[0](()), models[1](())
        for node, parent in enumerate(above):
            if parent not in paths or (paths[parent] and paths[parent][-1] == end):
                continue
            law = models[1](paths[parent])
            free = np.flatnonzero(law > 0)
            siblings = [int(tokens[row, other]) for other in range(node) if above[other] == parent]
            if rule.siblings != "any":
                free = np.array([token for token in free if token not in siblings])
            if not len(free) or (rule.siblings == "one" and siblings) or (rule.chains and parent >= 0 and siblings):
                continue
            tokens[row, node] = rng.choice(free)
            paths[node] = (*paths[parent], int(tokens[row, node]))
            if paths[node][-1] != end:
                targets[row, node + 1], drafts[row, node + 1] = models[0](paths[node]), models[1](paths[node])
    uniforms = exact(rng.integers(0, 12, (many, rule.coins(number)))) / 12
    return Batch(targets, drafts, tokens, arrays, uniforms, models, end)


def noisy(given: Batch, seed: int) -> Batch:
    """The same trees with float laws in which no ratio t/d is met twice, on uniforms of their own."""
    rng = np.random.default_rng(seed)
    rows = [[row.astype(np.float64) * rng.uniform(0.5, 1.5, SIZE) for row in model.rows] for model in given.models]
    models = tuple(Rows(tuple(row / row.sum() for row in each), given.end) for each in rows)
    laws = [each.astype(np.float64) for each in (given.targets, given.drafts)]
    for row in range(len(given.tokens)):
        for node, path in _paths(given, row).items():
            if given.end is None or path[-1:] != (given.end,):
                for law, model in zip(laws, models, strict=True):
                    law[row, node + 1] = model(path)
    uniforms = rng.random(given.uniforms.shape)
    return given._replace(targets=laws[0], drafts=laws[1], uniforms=uniforms, models=(models[0], models[1]))


def depth(given: Batch) -> int:
    """The number of levels of the deepest tree."""
    deepest = 1
    for tokens, parents in zip(given.tokens, given.parents, strict=True):
        levels: dict[int, int] = {-1: 0}
        for node, parent in enumerate(parents.tolist()):
            if tokens[node] >= 0:
                levels[node] = levels[parent] + 1
        deepest = max(deepest, *levels.values())
    return deepest


def width(given: Batch) -> int:
    """The most drafts after one path."""
    most = 1
    for row in range(len(given.tokens)):
        paths = _paths(given, row)
        stems = [path[:-1] for path in paths.values() if path]
        most = max([most, *map(stems.count, stems)])
    return most


def replayed(rule: tree_rules.TreeRule, given: Batch, row: int, coin: Coin) -> Tokens:
    """What the program emits on one tree."""
    laws = Conditionals(*given.models, ())
    return PROGRAMS[rule](coin, given, row, laws)


def _paths(given: Batch, row: int) -> dict[int, Tokens]:
    paths: dict[int, Tokens] = {-1: ()}
    for node, parent in enumerate(given.parents[row].tolist()):
        if given.tokens[row, node] >= 0:
            paths[node] = (*paths[parent], int(given.tokens[row, node]))
    return paths


def _nodes(given: Batch, row: int, above: int = -1) -> tuple[Node, ...]:
    tokens, parents = given.tokens[row].tolist(), given.parents[row].tolist()
    return tuple(
        Node(token, _nodes(given, row, node))
        for node, (token, parent) in enumerate(zip(tokens, parents, strict=True))
        if token >= 0 and parent == above
    )


def _chains(given: Batch, row: int) -> list[Tokens]:
    paths, parents = _paths(given, row), given.parents[row].tolist()
    inner = {parents[node] for node in paths if node >= 0}
    return [path for node, path in paths.items() if node >= 0 and node not in inner]


def _walk(verifier: Any) -> Callable[..., Tokens]:
    def program(coin: Coin, given: Batch, row: int, laws: Conditionals) -> Tokens:
        tokens, parents = given.tokens[row].tolist(), given.parents[row].tolist()
        path, group = (), {-1}
        while True:
            below = [node for node, parent in enumerate(parents) if tokens[node] >= 0 and parent in group]
            if not below:
                return (*path, coin.draw(laws.target(path)))
            drafts = tuple(tokens[node] for node in below)
            token = verifier(coin, drafts, laws.target(path), laws.draft(path))
            path = (*path, token)
            if token not in drafts or laws.ends(path):
                return path
            group = {node for node in below if tokens[node] == token}

    return program


def _siblings(emit: Any) -> Callable[..., Tokens]:
    """A walk that goes on at the child that was accepted."""

    def program(coin: Coin, given: Batch, row: int, laws: Conditionals) -> Tokens:
        tokens, parents = given.tokens[row].tolist(), given.parents[row].tolist()
        path, node = (), -1
        while True:
            below = [place for place, parent in enumerate(parents) if tokens[place] >= 0 and parent == node]
            if not below:
                return (*path, coin.draw(laws.target(path)))
            drafts = tuple(tokens[place] for place in below)
            token, accepted = emit(coin, drafts, laws.target(path), laws.draft(path))
            path = (*path, token)
            if not accepted or laws.ends(path):
                return path
            node = below[drafts.index(token)]

    return program


def _of_one(verify: Any) -> Callable[..., Tokens]:
    def program(coin: Coin, given: Batch, row: int, laws: Conditionals) -> Tokens:
        tokens = max(_paths(given, row).values(), key=len)
        if not tokens:
            return (coin.draw(laws.target()),)
        targets = [laws.target(tokens[:place]) for place in range(len(tokens) + (not laws.ends(tokens)))]
        return verify(coin, tokens, targets, [laws.draft(tokens[:place]) for place in range(len(tokens))])

    return program


def _selected(rule: Any) -> Callable[..., Tokens]:
    def program(coin: Coin, given: Batch, row: int, laws: Conditionals) -> Tokens:
        drafted = _chains(given, row)
        if not drafted:
            return (coin.draw(laws.target()),)
        return selected_chain.verify(coin, rule(laws, len(drafted)), drafted)

    return program


PROGRAMS: dict[tree_rules.TreeRule, Callable[..., Tokens]] = {
    tree_rules.TARGET_ONLY: lambda coin, given, row, laws: target_only.verify(coin, _nodes(given, row), laws),
    tree_rules.TOKEN_BY_TOKEN: _of_one(chain.verify),
    tree_rules.AS_A_BLOCK: _of_one(block.verify),
    tree_rules.RECURSIVE: _walk(recursive.verify),
    tree_rules.K_SEQUENTIAL: _walk(k_sequential.verify),
    tree_rules.PLAN: _walk(spectr.by_plan),
    tree_rules.DISTINCT: lambda coin, given, row, laws: distinct.verify(coin, _nodes(given, row), laws),
    tree_rules.PLAN_OF_DISTINCT: _siblings(pooled_priority.emit_without_replacement),
    tree_rules.TRAVERSAL: lambda coin, given, row, laws: traversal.verify(coin, _nodes(given, row), laws),
    tree_rules.MULTI_PATH: _selected(HighestRank),
    tree_rules.PRIORITIES: _selected(Priorities),
    tree_rules.ROUNDED_PRIORITIES: _selected(rounded_selection),
}
