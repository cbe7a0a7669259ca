"""Recording a trace from models on this machine, to try the audit with a right verifier or a wrong one."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from spec_math.chance import Coin
from spec_math.masses import FlipAndDraw
from spec_math.scheme import Emission, Tokens
from spec_math.token_level import single
from spec_math.traces.schema import INTEGERS, as_float32, check_ids, header, metadata, stored_type
from spec_math.traces.shard_file import Chunks, Shard, chunk_rows

Model = Callable[[Tokens], Any]
"""From a prefix to a law [V]."""

VerifyBlock = Callable[[Coin, Tokens, Sequence[Any], Sequence[Any]], Tokens]
"""(coin, drafted tokens, targets [L + 1, V], drafts [L, V]) -> the emitted tokens, accepted ones first."""


@dataclass(frozen=True)
class Engine:
    """A speculative decoder to record: two models, a verifier of blocks, and the law its drafts are really drawn from.

    `drawn_from` is None for a drafter that keeps its contract; else a function from the draft law that is reported to
    the law that is drawn from.
    """

    target: Model
    draft: Model
    verify: VerifyBlock
    lookahead: int = 4
    drawn_from: Callable[[Any], Any] | None = None


class SeededCoin(FlipAndDraw):
    """A coin over a NumPy Generator, for float laws of any size; the uniforms are those of `replay`, in order.

    >>> SeededCoin(np.random.default_rng(0)).draw(np.array([0.0, 1.0]))
    1
    """

    def __init__(self, rng: np.random.Generator) -> None:
        self._rng = rng

    def flip(self, p: Any) -> bool:
        """Return True with probability p."""
        return bool(self._rng.random() < p)

    def draw(self, masses: Any) -> int:
        """Return token i with probability masses[i]; masses [V] are divided by their sum."""
        sums = np.cumsum(np.asarray(masses, dtype=np.float64))
        return int(np.searchsorted(sums, self._rng.random() * sums[-1], side="right"))


def by_position(verify: Callable[[Coin, int, Any, Any], Emission] = single.emit) -> VerifyBlock:
    """Make a verifier of blocks from one of single drafts: position by position up to the first rejection.

    verify: (coin, drafted token, target, draft) -> the emitted token, and whether the draft was accepted.

    >>> coin = SeededCoin(np.random.default_rng(0))
    >>> by_position()(coin, (1,), [np.array([0.5, 0.5]), np.array([1.0, 0.0])], [np.array([0.5, 0.5])])
    (1, 0)
    """

    def verify_block(coin: Coin, tokens: Tokens, targets: Sequence[Any], drafts: Sequence[Any]) -> Tokens:
        for place, token in enumerate(tokens):
            emitted, accepted = verify(coin, token, targets[place], drafts[place])
            if not accepted:
                return (*tokens[:place], emitted)
        return (*tokens, coin.draw(targets[-1]))

    return verify_block


def record(engine: Engine, texts: int, length: int, rng: np.random.Generator) -> dict[str, Any]:
    """Run an engine on `texts` texts up to at least `length` tokens each, and return the columns of its trace.

    Logits are the logs of the laws, in float32.

    >>> law = lambda prefix: np.array([0.25, 0.75])
    >>> columns = record(Engine(law, law, by_position(), lookahead=2), 1, 3, np.random.default_rng(0))
    >>> columns["depth"].tolist(), columns["accepted"].tolist()
    ([0, 1, 2], [1, 1, 0])
    """
    coin = SeededCoin(rng)
    rows: list[tuple[int, ...]] = []
    logits: tuple[list[Any], list[Any]] = [], []
    for text in range(texts):
        prefix: Tokens = ()
        while len(prefix) < length:
            drafted, emitted = _block(engine, coin, prefix, logits)
            for depth, token in enumerate(emitted):
                guess = drafted[depth] if depth < len(drafted) else -1
                rows.append((guess, token, int(depth + 1 < len(emitted)), text, len(prefix) + depth, depth))
            prefix = (*prefix, *emitted)
    # Columns of their own: some writers take the memory of a view as it lies.
    columns = dict(zip(INTEGERS, np.array(rows, dtype=np.int64).T.copy(), strict=True))
    return {"target_logits": np.stack(logits[0]), "draft_logits": np.stack(logits[1]), **columns}


def _block(engine: Engine, coin: Coin, prefix: Tokens, logits: tuple[list[Any], list[Any]]) -> tuple[Tokens, Tokens]:
    drafted: Tokens = ()
    drafts: list[Any] = []
    for _ in range(engine.lookahead):
        law = np.asarray(engine.draft((*prefix, *drafted)))
        drafts.append(law)
        drafted = (*drafted, coin.draw(engine.drawn_from(law) if engine.drawn_from else law))
    targets = [np.asarray(engine.target((*prefix, *drafted[:place]))) for place in range(engine.lookahead + 1)]
    emitted = engine.verify(coin, drafted, targets, drafts)
    with np.errstate(divide="ignore"):
        for depth in range(len(emitted)):
            logits[0].append(np.log(targets[depth]).astype(np.float32))
            none = np.zeros_like(targets[depth])
            logits[1].append((np.log(drafts[depth]) if depth < len(drafted) else none).astype(np.float32))
    return drafted, emitted


def as_shard(columns: dict[str, Any], lookahead: int, verification: str = "maximal coupling") -> Shard:
    """Return columns as an opened shard, without a file; logits of any type that a file may hold.

    >>> toy_shard().header.size
    4
    """
    notes = metadata(lookahead, verification)
    found = header({name: (column.dtype.name, column.shape) for name, column in columns.items()}, notes, "in memory")
    ids = {name: columns[name].astype(np.int64) for name in INTEGERS}
    check_ids(ids, found, "in memory")
    step = chunk_rows(found.size)

    def chunks() -> Chunks:
        for first in range(0, found.rows, step):
            rows = slice(first, first + step)
            targets = _shown(columns["target_logits"][rows], found.dtype)
            yield targets, _shown(columns["draft_logits"][rows], found.dtype) if found.has_draft else targets[:0]

    return Shard(Path("in memory"), found, ids, chunks)


def _shown(stored: Any, dtype: str) -> Any:
    rows = np.ascontiguousarray(stored).view(stored_type(dtype))
    return as_float32(rows, dtype, np.empty(rows.shape, np.float32))


def toy_shard(rows: int = 200) -> Shard:
    """Return a right trace on four tokens, with `rows` rows.

    >>> toy_shard(20).header.rows
    20
    """
    target, draft = np.array([0.4, 0.3, 0.2, 0.1]), np.array([0.1, 0.2, 0.3, 0.4])
    engine = Engine(lambda _: target, lambda _: draft, by_position(), lookahead=2)
    columns = record(engine, 1, rows, np.random.default_rng(0))
    return as_shard({name: column[:rows] for name, column in columns.items()}, engine.lookahead)
