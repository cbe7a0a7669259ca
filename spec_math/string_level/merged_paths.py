"""ψ for an n-gram drafter with context: drafted texts that continue alike are merged, so that few remain."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import lru_cache
from typing import Any

import numpy as np

from spec_math.kernels import inner_kernel
from spec_math.language import NGram, Vocabulary
from spec_math.language.trie import compiled
from spec_math.string_level.drafted_paths import landing
from spec_math.string_level.psi import FirstToken, with_text

Waiting = tuple[Any, Any, Any]
"""Drafted texts that leave the first token open: nodes of the target's trie, contexts [n, order − 1], masses [n, P]."""

_CELLS = 2**22  # masses asked for at once: 32 MiB, however many tokens there are


def first_tokens(
    target_vocabulary: Vocabulary, draft_vocabulary: Vocabulary, draft: NGram, starts: Sequence[Any]
) -> list[FirstToken]:
    """Return ψ for an n-gram drafter after each of P starts, sequences of draft tokens, in one walk.

    Of the draft tokens said so far an n-gram model looks at the last order − 1 alone, so that texts with one node and
    one context have one future, and their masses are summed; after order − 1 draft tokens that context is the same
    whatever the start was, and its law is asked for once for all of them. Depth by depth of the target's trie, since
    each draft token leads deeper. `calls` counts the contexts asked about after each start, not the paths. All terms
    are positive: a mass passes through at most depth · (D + order) roundings.

    Raises:
        ValueError: the model has another number of tokens than the vocabulary, or a draft token has no text.

    >>> letters = Vocabulary(["a", "b"])
    >>> model = NGram.learn([0, 1, 0, 1, 1], order=2, size=2)
    >>> [found.untokenisable for found in first_tokens(Vocabulary(["a", "ab"]), letters, model, [(0,), (1,)])]
    [0.8125, 0.5]
    """
    if draft.size != len(draft_vocabulary):
        raise ValueError(f"the draft vocabulary has {len(draft_vocabulary)} tokens; the model has {draft.size}")
    if draft_vocabulary.special:
        index, name = next(iter(draft_vocabulary.special.items()))
        raise ValueError(f"draft token {index} ({name!r}) adds no text, and an n-gram model gives it mass")
    if not len(starts):
        return []
    number = len(starts)
    depth, places = _walks(target_vocabulary, draft_vocabulary)
    result = np.zeros((len(target_vocabulary.trie.node) + 1, number))
    waiting: list[list[Waiting]] = [[] for _ in range(int(depth.max()) + 1)]
    contexts = np.array([draft.context(tuple(start)) for start in starts]).reshape(number, draft.order - 1)
    waiting[0].append((np.zeros(number, np.int64), contexts, np.eye(number)))
    calls, draws = np.zeros(number, np.int64), np.zeros(number)
    for level in waiting:
        if not level:
            continue
        nodes, contexts, masses = _merged(level)
        calls, draws = calls + (masses > 0).sum(axis=0), draws + masses.sum(axis=0)
        for part in _parts(len(nodes), draft.size):
            rows = draft.rows(contexts[part])
            at, token = _drawn(rows, masses[part], nodes[part], places, result)
            onward = np.concatenate([contexts[part][at, 1:], token[:, None]], axis=1)[:, : draft.order - 1]
            _put(waiting, depth, (places[nodes[part][at], token], onward, rows[at, token][:, None] * masses[part][at]))
    return [
        FirstToken(law.copy(), float(none), with_text(target_vocabulary, law == 0), int(asked), float(drawn))
        for law, none, asked, drawn in zip(result[:-1].T, result[-1], calls, draws, strict=True)
    ]


@lru_cache(maxsize=4)
def _walks(target_vocabulary: Vocabulary, draft_vocabulary: Vocabulary) -> tuple[Any, Any]:
    """Return what every position needs: the depth of each node, and where each draft token leads from it."""
    trie = target_vocabulary.trie
    return _depths(trie.start), landing(trie, draft_vocabulary)


def _depths(start: Any) -> Any:
    """Return the depth of every node: nodes are numbered by depth, each node's children in a row."""
    depth = np.zeros(len(start) - 1, np.int64)
    low, high, level = 0, 1, 0
    while low < high:
        depth[low:high] = level
        low, high, level = high, int(start[high]), level + 1
    return depth


def _merged(level: list[Waiting]) -> Waiting:
    """Sum the masses of texts with one node and one context."""
    nodes, contexts, masses = (np.concatenate(parts) for parts in zip(*level, strict=True))
    order = np.lexsort((*contexts.T, nodes))
    nodes, contexts = nodes[order], contexts[order]
    new = (nodes[1:] != nodes[:-1]) | (contexts[1:] != contexts[:-1]).any(axis=1)
    first = np.flatnonzero(np.concatenate([[True], new]))
    return nodes[first], contexts[first], np.add.reduceat(masses[order], first, axis=0)


@compiled
def _drawn(rows: Any, masses: Any, nodes: Any, places: Any, result: Any) -> Any:
    """Draw one token more for each text: add what settles the first token to the result, return what stays open.

    What stays open is returned as the places [m] of texts and the tokens [m] drawn.
    """
    open_ = 0
    for i in range(len(rows)):
        for token in range(rows.shape[1]):
            open_ += places[nodes[i], token] >= 0
    at, tokens = np.empty(open_, np.int64), np.empty(open_, np.int64)
    open_ = 0
    for i in range(len(rows)):
        # Neighbours mostly settle the same token, so that their masses are summed before they meet those of the text.
        settled, before = 0.0, -1
        for token in range(rows.shape[1]):
            place = places[nodes[i], token]
            if place >= 0:
                at[open_], tokens[open_] = i, token
                open_ += 1
            else:
                if place != before:
                    _settle(result, before, settled, masses, i)
                    settled, before = 0.0, place
                settled += rows[i, token]
        _settle(result, before, settled, masses, i)
    return at, tokens


@inner_kernel
def _settle(result: Any, place: int, settled: float, masses: Any, i: int) -> None:
    # The token −1, none, is the last place.
    if settled > 0:
        for start in range(masses.shape[1]):
            result[-2 - place, start] += settled * masses[i, start]


def _put(waiting: list[list[Waiting]], depth: Any, texts: Waiting) -> None:
    nodes, contexts, masses = texts
    for level in np.unique(depth[nodes]):
        here = depth[nodes] == level
        waiting[int(level)].append((nodes[here], contexts[here], masses[here]))


def _parts(size: int, width: int) -> Iterator[slice]:
    step = max(1, _CELLS // width)
    return (slice(begin, begin + step) for begin in range(0, size, step))
