"""Texts with both models' distributions along them, recorded or drawn: values of all candidates from every start.

A recording is read once, chunk by chunk. Each row of thousands of tokens is reduced to some dozens of classes of tokens
of nearly equal ratios t/d: no method on i.i.d. chains looks at more than these and the text's own token.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from spec_math import array_coin
from spec_math.block_level.lengths.drafted_chains import rows_after
from spec_math.block_level.lengths.target_text import Text, accepted, bound, check_written
from spec_math.block_level.methods import Method
from spec_math.kernels import inner_kernel, kernel
from spec_math.language.model import Model
from spec_math.scheme import Tokens
from spec_math.token_level.optimum.ratio_order import NEAR
from spec_math.token_level.streamed import BUCKETS, EDGES, LOW, STEPS

FLOAT = np.ndarray[Any, np.dtype[np.float64]]

Candidate = tuple[Method, int]
"""A method, and its number k of chains."""

WHOLE = 256
"""Rows of at most so many tokens are taken as they are."""

LOSS = 2.0**-12
"""Tokens are one class where that changes the target by at most so much in total variation; or by bucket of t/d."""


@dataclass(frozen=True, eq=False)
class Along:
    """Values of all candidates from the S starts of one text, for i = 1..L accepted tokens.

    `accepted[method, k]` [S, L] is P(at least i drafted tokens are accepted | text): a call of lookahead l brings
    1 + the sum of the first l columns on average. `bounds[k]` [S, L] is what no lossless verifier of k i.i.d. chains
    exceeds, start by start. `weights` [S, L] are 1 on the target's own text. On another's text they are the target's
    mass over the writer's, and all values are weighted already.
    """

    accepted: dict[Candidate, FLOAT]
    bounds: dict[int, FLOAT]
    weights: FLOAT

    @property
    def effective(self) -> FLOAT:
        """The effective sample size (Σ w)² / Σ w² of the windows of i tokens, [L]."""
        return self.weights.sum(0) ** 2 / np.maximum((self.weights**2).sum(0), 2.0**-1000)


def along(text: Text, candidates: Sequence[Candidate]) -> Along:
    """Return the values of candidates (method, k) from every start of a text, and the bounds of their k.

    Raises:
        ValueError: a method that a text does not tell, named.
    """
    for method, _ in candidates:
        if method.along is None:
            raise ValueError(
                f"{method.name}: both distributions along one text do not tell what it accepts, as that hangs on the "
                "other drafts; sample it from the models"
            )
    found = {(method, k): accepted(method.along, text, k) for method, k in candidates if method.along is not None}
    return Along(found, {k: accepted(bound, text, k) for k in sorted({k for _, k in candidates})}, text.weights)


def recorded(
    rows: Iterable[Sequence[FLOAT]],
    tokens: Sequence[int],
    documents: Sequence[int],
    candidates: Sequence[Candidate],
    lookahead: int,
    end: int | None = None,
) -> Iterator[Along]:
    """Yield the values of all candidates for each document of a recording, read once.

    `rows` are chunks (targets [n, V], drafts [n, V]) of consecutive positions, row p the distributions of token p of
    `tokens` [N] given all before it; not yet divided by their sums. A chunk has a third array [n, V] where another
    distribution wrote the text. `documents` are the lengths of the documents, in order; no window reaches from one into
    the next. A document that ends with `end` has a start at each of its tokens, another none at its last L − 1.

    Raises:
        ValueError: the lengths do not add up to N, or the rows; a token out of range, or one after `end`; a token that
            the target never draws, without the distribution that wrote it; as `check_written`. Each names its position.

    >>> from spec_math.block_level.methods import AS_A_BLOCK
    >>> rows = [(np.array([[0.25, 0.75]] * 3), np.array([[0.5, 0.5]] * 3))]
    >>> [found] = recorded(rows, [0, 1, 1], [3], [(AS_A_BLOCK, 1)], 2)
    >>> found.accepted[AS_A_BLOCK, 1].round(3).tolist()
    [[1.0, 1.0], [0.667, 0.444]]
    """
    listed = np.asarray(tokens, dtype=np.int64)
    if sum(documents) != len(listed):
        raise ValueError(f"the documents have {sum(documents):,} tokens in all, but {len(listed):,} are given")
    stream, first = _reduced_rows(rows, listed), 0
    for length in documents:
        own = listed[first : first + length]
        inside = np.flatnonzero(own[:-1] == (-1 if end is None else end))
        if len(inside):
            raise ValueError(f"position {first + inside[0]}: a text goes on after the end token {end}; separate them")
        taken = [row for _, row in zip(range(length), stream, strict=False)]
        if len(taken) < length:
            raise ValueError(f"the rows end before position {first + len(taken)}; there are {len(listed):,} tokens")
        ended = end is not None and length > 0 and own[-1] == end
        starts = length if ended else max(0, length - lookahead + 1)
        windows = np.arange(starts)[:, None] + np.arange(lookahead)
        ends = np.zeros(length, bool)
        ends[-1:] = ended
        if length:
            yield along(of_rows(taken, np.where(windows < length, windows, -1), ends), candidates)
        first += length
    if next(stream, None) is not None:
        raise ValueError(f"there are more rows than the {len(listed):,} tokens")


def drawn(target: Model, draft: Model, prefixes: Sequence[Tokens], lookahead: int, rng: Any) -> Text:
    """Let the target write `lookahead` tokens, or up to an end token, after each prefix: one start each, float models.

    rng is a NumPy Generator; one uniform a token.

    >>> text = drawn(lambda _: [0.5, 0.5], lambda _: [0.5, 0.5], [()] * 3, 2, np.random.default_rng(0))
    >>> text.windows.tolist(), accepted(bound, text, 2).min().tolist()
    ([[0, 3], [1, 4], [2, 5]], 1.0)
    """
    end: int | None = getattr(target, "end", None)
    texts, rows = [tuple(prefix) for prefix in prefixes], list[Any]()
    windows, ends = np.full((len(texts), lookahead), -1), list[bool]()
    for place in range(lookahead):
        growing = [at for at, text in enumerate(texts) if not (place and end is not None and text[-1] == end)]
        for begin in range(0, len(growing), _AT_ONCE):
            part = growing[begin : begin + _AT_ONCE]
            t, d = (np.asarray(rows_after(model, [texts[at] for at in part])) for model in (target, draft))
            tokens = array_coin.drawn(t, rng.random(len(part)))
            windows[part, place] = len(rows) + np.arange(len(part))
            rows += _reduced_rows([(t, d)], tokens)
            for at, token in zip(part, tokens.tolist(), strict=True):
                texts[at] = (*texts[at], token)
                ends.append(token == end)
    return of_rows(rows, windows, np.array(ends))


_AT_ONCE = 256
"""Rows that are asked for at once."""


def of_rows(rows: Sequence[tuple[FLOAT, FLOAT, int, float]], windows: Any, ends: Any) -> Text:
    """Put reduced rows together, of one length by masses of 0."""
    both = np.zeros((2, len(rows), max(len(t) for t, _, _, _ in rows)))
    for number, (t, d, _, _) in enumerate(rows):
        both[0, number, : len(t)], both[1, number, : len(d)] = t, d
    return Text(both[0], both[1], [row[2] for row in rows], windows, ends, np.array([row[3] for row in rows]))


def _reduced_rows(rows: Iterable[Sequence[FLOAT]], tokens: Any) -> Iterator[tuple[FLOAT, FLOAT, int, float]]:
    """Yield for each position both rows, reduced, the place of its token among them, and the token's written mass."""
    position = 0
    for chunk in rows:
        for t, d, *writer in zip(*chunk, strict=True):
            if position >= len(tokens):
                raise ValueError(f"there are more rows than the {len(tokens):,} tokens")
            token = int(tokens[position])
            if not 0 <= token < len(t):
                raise ValueError(f"position {position}: a token lies in 0..{len(t) - 1}; got {token}")
            if writer:
                check_written(t, writer[0], position)
            author = writer[0] if writer else t
            if not author[token] > 0:
                raise ValueError(
                    f"position {position}: the text has token {token}, which the distribution that should have written "
                    "it never draws; check that text and rows belong together, with the same temperature and top-p"
                )
            yield (*reduced(t, d, token), float(author[token] / author.sum()))
            position += 1


def reduced(target: FLOAT, draft: FLOAT, token: int) -> tuple[FLOAT, FLOAT, int]:
    """Return both distributions over classes of tokens of nearly equal ratios t/d, and the place of the token's own.

    Masses [V], not yet divided by their sums. The token and those of exactly its ratio stay apart. Values of a text are
    those of the target with t in proportion to d within each class, `LOSS` at most or a 64th of an octave away.
    """
    t, d = target / target.sum(), draft / draft.sum()
    if len(t) <= WHOLE:
        return t, d, token
    found = np.zeros((2, BUCKETS + 5))
    size, place = _reduce(t, d, token, LOSS, found)
    return found[0, :size].copy(), found[1, :size].copy(), place


_SHIFT, _FIRST = 52 - (STEPS.bit_length() - 1), (1023 + LOW) * STEPS - 1


@kernel(error_model="numpy")
def _reduce(target: Any, draft: Any, token: int, most: float, found: Any) -> Any:
    """Write the masses of classes by t/d ascending into `found`; return how many there are, and the token's place.

    Bucket b of the token has five parts: lower ratios, its own ratio before the token, the token, its own ratio behind
    it, and higher ratios. Tokens without draft mass have the bucket behind all others.
    """
    own = target[token] / draft[token]
    inner = _bucket(own, draft[token])
    for i in range(len(target)):
        ratio = target[i] / draft[i]
        place = _bucket(ratio, draft[i])
        if place == inner:
            part = 0 if ratio < own * (1 - NEAR) else 4 if ratio > own * (1 + NEAR) else 1 if i < token else 3
            place += 2 if i == token else part
        elif place > inner:
            place += 4
        found[0, place] += target[i]
        found[1, place] += draft[i]
    # Neighbours are joined in place, but for the token and its equals.
    size, at, low = 0, 0, 0.0
    for place in range(BUCKETS + 5):
        t, d = found[0, place], found[1, place]
        apart = inner < place < inner + 4
        floor = EDGES[place] if place <= inner else own if place <= inner + 4 else EDGES[place - 4]
        ceiling = own if inner <= place < inner + 4 else EDGES[place + 1 if place < inner else place - 3]
        joins = d > 0.0 and not apart and size > 0 and low >= 0.0
        if joins and _lost(t + found[0, size - 1], d + found[1, size - 1], low, ceiling) <= most:
            found[0, size - 1] += t
            found[1, size - 1] += d
        elif t > 0.0 or d > 0.0 or place == inner + 2:
            at = size if place == inner + 2 else at
            found[0, size], found[1, size] = t, d
            size, low = size + 1, -1.0 if apart else floor
    return size, at


@inner_kernel
def _bucket(ratio: float, draft: float) -> int:
    """Return the bucket of a ratio, as in `streamed`; the one behind all others where the draft has no mass."""
    if not draft > 0.0:
        return BUCKETS
    bits: Any = np.float64(ratio).view(np.int64)
    return min(max((bits >> _SHIFT) - _FIRST, 0), BUCKETS - 1)


@inner_kernel
def _lost(target: float, draft: float, low: float, high: float) -> float:
    """Return the most Σ (t − λd)+ of a class of ratios from low to high, λ its mean ratio."""
    if high == np.inf:
        return target - low * draft
    return (high * draft - target) * (target - low * draft) / ((high - low) * draft)
