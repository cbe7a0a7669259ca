"""The embedded default: two n-gram models of CPython's own documentation, compared on held-out words."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cache
from typing import Any

import numpy as np

from spec_math.language import Corpus, NGram, documentation
from spec_math.language.context_tree import windows
from spec_math.studies.positions.stream import Positions, from_rows

TARGET_ORDER, DRAFT_ORDER = 5, 2


@dataclass(frozen=True)
class DefaultModels:
    """The corpus, the target (order 5) and the draft (order 2) learnt from its training part."""

    corpus: Corpus
    target: NGram
    draft: NGram


@cache
def models() -> DefaultModels:
    """Learn both models, once in a process.

    >>> models().target.order, models().draft.order
    (5, 2)
    """
    corpus = documentation()
    learn = [NGram.learn(corpus.training, order, corpus.size) for order in (TARGET_ORDER, DRAFT_ORDER)]
    return DefaultModels(corpus, *learn)


def positions(limit: int = 2000) -> Positions:
    """Return evenly spaced held-out positions, at most `limit`, each with both models' laws there.

    >>> positions(10).count
    10
    """
    found = models()
    target = _contexts(found.corpus.held_out, TARGET_ORDER, limit)
    draft = _contexts(found.corpus.held_out, DRAFT_ORDER, limit)
    result = from_rows(
        lambda start, stop: found.target.rows(target[start:stop]),
        lambda start, stop: found.draft.rows(draft[start:stop]),
        (len(target), found.corpus.size),
    )
    source = (
        f"n-gram models of orders {TARGET_ORDER} and {DRAFT_ORDER} learnt from CPython's documentation, "
        f"at {len(target):,} held-out words"
    )
    return replace(result, source=source, names=found.corpus.names)


def _contexts(tokens: Any, order: int, limit: int) -> Any:
    contexts, _ = windows(tokens, order)
    chosen = np.linspace(0, len(contexts) - 1, min(limit, len(contexts))).round().astype(int)
    return contexts[chosen]
