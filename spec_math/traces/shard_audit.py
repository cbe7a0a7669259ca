"""Audit of one shard: its logits are streamed once, and the result is returned as sums."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from spec_math.traces import row_kernel
from spec_math.traces.result import ShardResult, log_wealths
from spec_math.traces.row_kernel import BAD_DRAFT, BAD_TARGET, DRAFTED, EMITTED, FACTS, IMPOSSIBLE
from spec_math.traces.schema import TraceError
from spec_math.traces.shard_file import Shard, open_shard

TOLERANCE = 1e-5
"""Total variation that is no bug: what a softmax and a cumulated sum in float32 may be off by at V = 152,000."""

CHECKS = 24
"""Points of a shard at which its evidence is kept, for the curve."""

SHOWN = 3
"""Examples of each kind that are told in words."""


def audit_shard(path: str | Path, tolerance: float = TOLERANCE, checks: int = CHECKS) -> ShardResult:
    """Audit a recorded shard, in memory for a few rows of logits and some 350 bytes a row.

    Raises:
        TraceError: the shard is not a trace, truncated, or broken: its name, the reason and the cure.
        OSError: it cannot be read just now.
    """
    return audit_opened(open_shard(path), tolerance, checks)


def audit_opened(shard: Shard, tolerance: float = TOLERANCE, checks: int = CHECKS) -> ShardResult:
    """Audit an opened shard.

    The nulls, each for all contexts up to `tolerance` in total variation: emitted tokens have the law softmax(target
    logits); drafted tokens have the law softmax(draft logits); the acceptance is that of the verification it names.
    Rows whose target logits have no law (NaN, +inf, all −inf) are left out and counted: whether they have one was
    settled before their token was drawn, so that the evidence stays valid.

    Raises:
        TraceError: the tolerance is not a total variation; the shard ends early.

    >>> from spec_math.traces.recorder import toy_shard
    >>> audit_opened(toy_shard()).counts["rows"]
    200
    """
    if not 0 <= tolerance < 1:
        raise TraceError(f"the tolerance is a total variation in [0, 1); got {tolerance}")
    found, ids = shard.header, shard.ids
    bets, draft_bets, facts, flags = _measured(shard)
    slack = tolerance + row_kernel.rounding(found.size)
    looks = np.unique(np.linspace(0, found.rows, checks + 1).round().astype(np.int64))
    emitted = log_wealths(bets, slack, looks)
    with_draft = (ids["drafted"] >= 0) & (flags & (BAD_TARGET | BAD_DRAFT) == 0)
    # Beyond the first draft of a block, a verifier of blocks has chosen which rows there are, by their drafts.
    drawn = draft_bets if found.by_position else draft_bets[ids["depth"] == 0]
    drafted = log_wealths(drawn, slack, np.array([len(drawn)]))[-1]
    expected = facts[:, 1] if found.verification == "sample and match" else facts[:, 0]
    accepted = ids["accepted"] != 0
    surprise = (accepted - expected.astype(np.float64))[with_draft if found.by_position else slice(0, 0)]
    wealth = log_wealths(surprise[:, None], slack, np.array([len(surprise)]))[-1]
    columns = _columns(with_draft, accepted, expected, facts[:, 0], bets, flags)
    repeated = repeats(ids["emitted"], ids["request"])
    groups = {
        "by_depth": (ids["depth"], found.lookahead + 1),
        "by_place": (by_place(ids["position"]), PLACES),
        "by_entropy": (by_entropy(facts[:, 2]), len(ENTROPY_EDGES)),
        "by_repetition": (repeated.astype(np.int64), 2),
    }
    told = _told(shard, flags)
    return ShardResult(
        counts={
            "rows": found.rows,
            "blocks": int((ids["depth"] == 0).sum()),
            "drafts": int(with_draft.sum()),
            **{name: int(where.sum()) for name, where in told.items()},
        },
        checks=looks,
        emitted=emitted,
        drafted=drafted,
        accepted=wealth,
        **{name: tabulate(group, size, columns) for name, (group, size) in groups.items()},
        loop=longest_run(repeated, ids["request"]),
        predicted=found.by_position,
        verification=found.verification,
        size=found.size,
        examples=tuple(_examples(shard, told)),
    )


def _measured(shard: Shard) -> tuple[Any, Any, Any, Any]:
    rows, size = shard.header.rows, shard.header.size
    bets, draft_bets, facts = (np.zeros((rows, len(names)), np.float32) for names in (EMITTED, DRAFTED, FACTS))
    flags = np.zeros(rows, dtype=np.uint8)
    tokens = np.stack([shard.ids["emitted"], shard.ids["drafted"]], axis=1)
    scratch = np.empty((2, size), dtype=np.float32)
    first = 0
    for targets, drafts in shard.chunks():
        last = first + len(targets)
        part = slice(first, last)
        row_kernel.measure(
            targets, drafts, tokens[part], scratch, bets[part], draft_bets[part], facts[part], flags[part]
        )
        first = last
    if first != rows:
        raise TraceError(f"{shard.path}: truncated: {rows} rows were announced, and {first} were found; write it anew")
    return bets, draft_bets, facts, flags


def _columns(with_draft: Any, accepted: Any, expected: Any, optimum: Any, bets: Any, flags: Any) -> list[Any]:
    # f is 0 or 1 in both, so that E f (1 − E f) = |f − E f| (1 − |f − E f|), whichever f was.
    above, favourite = bets[:, 0], bets[:, 3]
    spread = [np.abs(gain * (1 - np.abs(gain))) for gain in (above, favourite)]
    e = expected * with_draft
    shares = [with_draft, accepted & with_draft, e, optimum * with_draft, e * (1 - e)]
    return [flags & BAD_TARGET == 0, *shares, above, spread[0], favourite, spread[1]]


def _told(shard: Shard, flags: Any) -> dict[str, Any]:
    """The faults of a row, by the names of the counts."""
    ids = shard.ids
    return {
        "bad target rows": flags & BAD_TARGET != 0,
        "bad draft rows": flags & BAD_DRAFT != 0,
        "impossible tokens": flags & IMPOSSIBLE != 0,
        "impossible drafts": flags & row_kernel.IMPOSSIBLE_DRAFT != 0,
        "contradictions": (ids["accepted"] != 0) & (ids["emitted"] != ids["drafted"]),
    }


def _examples(shard: Shard, told: dict[str, Any]) -> list[str]:
    size = shard.header.size
    sentences = {
        "bad target rows": "the target logits are no distribution (NaN, +inf or all −inf); the row was left out",
        "bad draft rows": "the draft logits are not a probability distribution; bets that need the draft were left out",
        "impossible tokens": "the token {emitted} was emitted, to which the target gives no mass (V = {size})",
        "impossible drafts": "the token {drafted} was drafted, to which the draft gives no mass (V = {size})",
        "contradictions": "the draft {drafted} is said to be accepted, and {emitted} was emitted",
    }
    found: list[str] = []
    for name, where in told.items():
        for row in np.flatnonzero(where)[:SHOWN].tolist():
            ids = {column: int(values[row]) for column, values in shard.ids.items()}
            place = f"{shard.path.name}: row {row} (request {ids['request']}, position {ids['position']}): "
            found.append(place + sentences[name].format(**ids, size=size))
    return found


COLUMNS = (
    "rows",
    "drafts",
    "accepted",
    "expected",
    "optimum",
    "variance",
    "above",
    "above variance",
    "favourite",
    "favourite variance",
)
"""Sums over a group's rows. `variance` is of expected·(1 − expected); the last four are of the bets "target above
draft" and "the favourite": what they gained, and the variance that the target's law gives that."""

ENTROPY_EDGES = (0.0, 0.1, 0.25, 0.5, 1.0, 1.5, 2.0, 3.0, 4.0, 6.0, 8.0)
"""Nats: group g holds entropies from edge g up to the next."""

PLACES = 40
"""Group g of places holds the positions 2^g − 1 up to 2^(g+1) − 2."""


def tabulate(groups: np.ndarray[Any, Any], size: int, columns: Sequence[np.ndarray[Any, Any]]) -> np.ndarray[Any, Any]:
    """Return sums [size, 10] of ten columns [n] over groups [n] of rows.

    >>> tabulate(np.array([0, 0, 1]), 2, [np.ones(3)] * 10)[:, 0].tolist()
    [2.0, 1.0]
    """
    found = np.zeros((size, len(COLUMNS)))
    for place, column in enumerate(columns):
        found[:, place] = np.bincount(groups, weights=column, minlength=size)[:size]
    return found


def by_entropy(entropy: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
    """Return the group of each entropy, in nats.

    >>> by_entropy(np.array([0.0, 0.3, 9.0])).tolist()
    [0, 2, 10]
    """
    return np.maximum(np.searchsorted(ENTROPY_EDGES, entropy, side="right") - 1, 0)


def by_place(position: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
    """Return the group of each place in a text: 0, 1–2, 3–6, 7–14, …

    >>> by_place(np.array([0, 1, 2, 3, 6, 7])).tolist()
    [0, 1, 1, 2, 2, 3]
    """
    return np.clip(np.frexp(np.maximum(position, 0) + 1.0)[1] - 1, 0, PLACES - 1)


def place_name(group: int) -> str:
    """Return what a group of places holds, in words.

    >>> place_name(0), place_name(2)
    ('0', '3–6')
    """
    first, last = 2**group - 1, 2 ** (group + 1) - 2
    return str(first) if first == last else f"{first}–{last}"


def entropy_name(group: int) -> str:
    """Return what a group of entropies holds, in words.

    >>> entropy_name(0), entropy_name(10)
    ('0–0.1', '≥ 8')
    """
    if group == len(ENTROPY_EDGES) - 1:
        return f"≥ {ENTROPY_EDGES[group]:g}"
    return f"{ENTROPY_EDGES[group]:g}–{ENTROPY_EDGES[group + 1]:g}"


STRETCH = 8
"""Tokens that must have followed each other before, in the same text and shard, for the last of them to count."""


def repeats(tokens: np.ndarray[Any, Any], texts: np.ndarray[Any, Any], stretch: int = STRETCH) -> np.ndarray[Any, Any]:
    """Return [n] whether each token ends a stretch that its text has already held; rows of a text in their order.

    >>> repeats(np.array([1, 2, 1, 2, 1]), np.zeros(5, dtype=int), stretch=2).tolist()
    [False, False, False, True, True]
    """
    order = np.argsort(texts, kind="stable")
    found = np.zeros(len(tokens), dtype=bool)
    if len(tokens) < stretch:
        return found
    token, text = tokens[order], texts[order]
    windows = np.lib.stride_tricks.sliding_window_view(token, stretch)
    ends = np.flatnonzero(text[stretch - 1 :] == text[: len(text) - stretch + 1])
    # Equal stretches of one text are told from different ones by their 64-bit mixture; the first of each is no repeat.
    keys = _mixed(np.concatenate([text[ends, None], windows[ends]], axis=1))
    _, first = np.unique(keys, return_index=True)
    again = np.ones(len(keys), dtype=bool)
    again[first] = False
    found[order[ends + stretch - 1]] = again
    return found


def longest_run(repeated: np.ndarray[Any, Any], texts: np.ndarray[Any, Any]) -> tuple[int, int]:
    """Return the length of the longest run of repeated tokens of one text, and that text; (0, −1) where none is.

    >>> longest_run(np.array([True, True, False, True]), np.array([7, 7, 7, 7]))
    (2, 7)
    """
    order = np.argsort(texts, kind="stable")
    again, text = repeated[order], texts[order]
    best, of, run = 0, -1, 0
    for place in np.flatnonzero(again).tolist():
        goes_on = place > 0 and again[place - 1] and text[place - 1] == text[place]
        run = run + 1 if goes_on else 1
        if run > best:
            best, of = run, int(text[place])
    return best, of


def _mixed(rows: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
    """Mix each row's integers into 64 bits (the steps of splitmix64); n rows meet by chance with n²/2^65."""
    keys = np.zeros(len(rows), dtype=np.uint64)
    with np.errstate(over="ignore"):
        for column in rows.T:
            keys = (keys ^ column.astype(np.int64).view(np.uint64)) + np.uint64(0x9E3779B97F4A7C15)
            keys = (keys ^ (keys >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
            keys = (keys ^ (keys >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
            keys ^= keys >> np.uint64(31)
    return keys
