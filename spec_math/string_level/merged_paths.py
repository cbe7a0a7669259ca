"""ψ for an n-gram drafter with context: drafted texts that continue alike are merged, so that few remain."""

from __future__ import annotations

from collections.abc import Iterator
from functools import lru_cache
from typing import Any

import numpy as np

from spec_math.language import NGram, Vocabulary
from spec_math.language.trie import compiled
from spec_math.string_level.drafted_paths import landing
from spec_math.string_level.psi import FirstToken

Waiting = tuple[Any, Any, Any]
"""Drafted texts that leave the first token open: nodes of the target's trie, contexts [n, order − 1], masses [n]."""

_CELLS = 2**22  # masses asked for at once: 32 MiB, however many tokens there are


def first_token(
    target_vocabulary: Vocabulary, draft_vocabulary: Vocabulary, draft: NGram, context_tokens: Any
) -> FirstToken:
    """Return ψ until the first target token is determined, for an n-gram drafter after some draft tokens.

    The same as `psi.first_token` of that model, in fewer steps: of the draft tokens said so far an n-gram model looks
    at the last order − 1 alone, so that texts with one node and one context have one future, and their masses are
    summed. Depth by depth of the target's trie, since each draft token leads deeper. `calls` counts the contexts asked
    about, not the paths. All terms are positive: a mass passes through at most depth · (D + order) roundings.

    context_tokens: draft tokens. Float laws.

    Raises:
        ValueError: the model has another number of tokens than the vocabulary, or a draft token has no text.

    >>> letters = Vocabulary(["a", "b"])
    >>> model = NGram.learn([0, 1, 0, 1, 1], order=2, size=2)
    >>> found = first_token(Vocabulary(["a", "ab"]), letters, model, (0,))
    >>> found.law.tolist(), found.untokenisable
    ([0.03515625, 0.15234375], 0.8125)
    """
    if draft.size != len(draft_vocabulary):
        raise ValueError(f"the draft vocabulary has {len(draft_vocabulary)} tokens; the model has {draft.size}")
    if draft_vocabulary.special:
        index, name = next(iter(draft_vocabulary.special.items()))
        raise ValueError(f"draft token {index} ({name!r}) adds no text, and an n-gram model gives it mass")
    trie = target_vocabulary.trie
    depth, places = _walks(target_vocabulary, draft_vocabulary)
    result = np.zeros(len(trie.node) + 1)
    waiting: list[list[Waiting]] = [[] for _ in range(int(depth.max()) + 1)]
    waiting[0].append((np.zeros(1, np.int64), draft.context(tuple(context_tokens))[None, :], np.ones(1)))
    calls, draws = 0, 0.0
    for level in waiting:
        if not level:
            continue
        nodes, contexts, masses = _merged(level)
        calls, draws = calls + len(nodes), draws + float(masses.sum())
        for part in _parts(len(nodes), draft.size):
            rows = draft.rows(contexts[part])
            at, token, onward_masses = _drawn(rows, masses[part], places[nodes[part]], result)
            place = places[nodes[part][at], token]
            onward = np.concatenate([contexts[part][at, 1:], token[:, None]], axis=1)[:, : draft.order - 1]
            _put(waiting, depth, (place, onward, onward_masses))
    found = result[:-1]
    texts = target_vocabulary.tokens
    silent = tuple(int(token) for token in np.flatnonzero(found == 0) if texts[int(token)])
    return FirstToken(found, float(result[-1]), silent, calls, draws)


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
    keys = np.concatenate([nodes[:, None], contexts], axis=1)
    distinct, inverse = np.unique(keys, axis=0, return_inverse=True)
    return distinct[:, 0], distinct[:, 1:], np.bincount(inverse.reshape(-1), weights=masses, minlength=len(distinct))


@compiled
def _drawn(rows: Any, masses: Any, places: Any, result: Any) -> Any:
    """Draw one token more for each text: add what settles the first token to the result, return what stays open."""
    open_ = 0
    for i in range(len(rows)):
        for token in range(rows.shape[1]):
            open_ += places[i, token] >= 0
    at, tokens, onward = np.empty(open_, np.int64), np.empty(open_, np.int64), np.empty(open_)
    open_ = 0
    for i in range(len(rows)):
        for token in range(rows.shape[1]):
            mass = rows[i, token] * masses[i]
            place = places[i, token]
            if place >= 0:
                at[open_], tokens[open_], onward[open_] = i, token, mass
                open_ += 1
            else:
                result[-2 - place] += mass  # the token −1, none, is the last place
    return at, tokens, onward


def _put(waiting: list[list[Waiting]], depth: Any, texts: Waiting) -> None:
    nodes, contexts, masses = texts
    for level in np.unique(depth[nodes]):
        here = depth[nodes] == level
        waiting[int(level)].append((nodes[here], contexts[here], masses[here]))


def _parts(size: int, width: int) -> Iterator[slice]:
    step = max(1, _CELLS // width)
    return (slice(begin, begin + step) for begin in range(0, size, step))
