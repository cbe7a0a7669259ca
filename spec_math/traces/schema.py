"""Schema of a recorded trace, version 1: its columns, its metadata, and the rules that a shard keeps.

A row is one emitted token. The rows of one target call (a block) follow each other, depth 0 first.

| column | type, shape | what it holds |
|---|---|---|
| target_logits | float16, bfloat16, float32 or float64 [n, V] | softmax of it is the law that the token should have |
| draft_logits | the same [n, V] | softmax of it is the law the draft was drawn from; left out: drafts are one-hot |
| drafted | integers [n] | the token drafted at this position, −1 for none (the bonus token) |
| emitted | integers [n] | the token that the verifier emitted |
| accepted | 0 or 1 [n] | whether a test accepted the draft |
| request | integers [n] | which text it belongs to |
| position | integers [n] | the token's place in its text |
| depth | integers [n] | its place in its block: 0, 1, … lookahead |

Logits are those that the sampler used: after temperature, penalties and masks (−inf is mass 0), in its own precision.
Rows without a draft may hold anything in draft_logits.

| metadata | value |
|---|---|
| schema, version | "spec_math.trace", "1" |
| lookahead | the most drafted tokens of a block, fixed beforehand |
| verification | "maximal coupling", "sample and match", "one-hot draft", "block" or "other" |

Every lossless verifier, of blocks too, emits a token of its target's law at each row that it reaches (see `bets`). The
first three verify position by position: whether they reach a row says nothing about the draft there, and how often they
accept is predicted. Of "block" and "other" the drafts are judged at depth 0 alone, and no acceptance is predicted.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

SCHEMA, VERSION = "spec_math.trace", "1"
INTEGERS = ("drafted", "emitted", "accepted", "request", "position", "depth")
LOGITS = ("float16", "bfloat16", "float32", "float64")
ONE_HOT = "one-hot draft"
BY_POSITION = ("maximal coupling", "sample and match", ONE_HOT)
VERIFICATIONS = (*BY_POSITION, "block", "other")

Ids = dict[str, np.ndarray[Any, Any]]


class TraceError(ValueError):
    """A shard that cannot be audited; the message names the file, the reason and the cure."""


@dataclass(frozen=True)
class Header:
    """The header of a shard, read before its rows: n, V, the type of its logits, whether drafts have logits."""

    rows: int
    size: int
    dtype: str
    has_draft: bool
    lookahead: int
    verification: str

    @property
    def by_position(self) -> bool:
        """True if drafts are verified one by one, so that acceptance is predicted and drafts are drawn at every row."""
        return self.verification in BY_POSITION


def metadata(lookahead: int, verification: str = "maximal coupling") -> dict[str, str]:
    """Return the metadata of a shard, as strings, ready to be written beside its columns.

    Raises:
        TraceError: no such verification, or a lookahead below 0.

    >>> metadata(4)["version"]
    '1'
    """
    found = {"schema": SCHEMA, "version": VERSION, "lookahead": str(lookahead), "verification": verification}
    _promise(found, "the metadata")
    return found


def header(shapes: Mapping[str, tuple[str, Sequence[int]]], notes: Mapping[str, str], place: str) -> Header:
    """Read a header from the type and shape of each column and the metadata.

    Raises:
        TraceError: another schema or version, a column that is missing, one of another type or shape, or draft logits
            beside one-hot drafts.

    >>> shapes = {name: ("int64", [2]) for name in INTEGERS} | {"target_logits": ("float32", [2, 5])}
    >>> header(shapes, metadata(4), "a.safetensors").size
    5
    >>> header(shapes, {}, "a.safetensors")
    Traceback (most recent call last):
    spec_math.traces.schema.TraceError: a.safetensors: another schema: it says none where a trace says \
'spec_math.trace'; write it with spec_math.traces.write_shard, or as docs/how_to/record_a_trace.md shows
    """
    lookahead, verification = _promise(notes, place)
    missing = [name for name in ("target_logits", *INTEGERS) if name not in shapes]
    if missing:
        raise TraceError(f"{place}: a trace holds the column {missing[0]!r}; this file has {', '.join(sorted(shapes))}")
    dtype, shape = shapes["target_logits"]
    if len(shape) != 2 or shape[1] < 1 or dtype not in LOGITS:
        raise TraceError(
            f"{place}: target_logits are [n, V] of {', '.join(LOGITS)}; these are {list(shape)} of {dtype}"
        )
    rows, size = shape
    if "draft_logits" in shapes and (shapes["draft_logits"][0], list(shapes["draft_logits"][1])) != (dtype, [*shape]):
        other = shapes["draft_logits"]
        raise TraceError(
            f"{place}: draft_logits have the type and shape of target_logits, {dtype} {[*shape]}; these are "
            f"{other[0]} {list(other[1])}; pad a smaller vocabulary with −inf"
        )
    if "draft_logits" in shapes and verification == ONE_HOT:
        raise TraceError(
            f"{place}: drafts that are verified as one-hot need no distribution; leave out draft_logits, or name the "
            f"verification that used them"
        )
    for name in INTEGERS:
        kind, length = shapes[name]
        if list(length) != [rows] or not kind.startswith(("int", "uint", "bool")):
            raise TraceError(f"{place}: {name} holds {rows} integers, one a row; this is {list(length)} of {kind}")
    return Header(rows, size, dtype, "draft_logits" in shapes, lookahead, verification)


def check_ids(ids: Ids, found: Header, place: str) -> None:
    """Check that rows form blocks: depth 0 first, then each one deeper, in one text, while drafts are accepted.

    Raises:
        TraceError: the first row that breaks the rule.

    >>> ids = {name: np.zeros(2, dtype=np.int64) for name in INTEGERS} | {"depth": np.array([0, 2])}
    >>> check_ids(ids, Header(2, 5, "float32", True, 4, "block"), "a")
    Traceback (most recent call last):
    spec_math.traces.schema.TraceError: a: row 1 has depth 2 after depth 0; a block has the depths 0, 1, 2, … \
and lies in one shard
    """
    depth, request, position = ids["depth"], ids["request"], ids["position"]
    if not found.rows:
        return
    before = np.concatenate([[-1], depth[:-1]])
    row = _first((depth != 0) & (depth != before + 1))
    if row is not None:
        after = f" after depth {before[row]}" if row else ""
        raise TraceError(
            f"{place}: row {row} has depth {depth[row]}{after}; a block has the depths 0, 1, 2, … and lies in one shard"
        )
    if depth.max() > found.lookahead:
        row = int(depth.argmax())
        raise TraceError(
            f"{place}: row {row} has depth {depth[row]}, and the lookahead is said to be {found.lookahead}; "
            f"say the most drafted tokens of a block in the metadata"
        )
    inside = depth[1:] > 0
    goes_on = (request[1:] == request[:-1]) & (position[1:] == position[:-1] + 1) & (ids["accepted"][:-1] != 0)
    row = _first(np.concatenate([[False], inside & ~goes_on]))
    if row is not None:
        raise TraceError(
            f"{place}: row {row} does not go on from the row before it, which must be the token before it in the same "
            f"text, its draft accepted; a block ends where a draft is rejected"
        )


def _promise(notes: Mapping[str, str], place: str) -> tuple[int, str]:
    said = notes.get("schema")
    if said != SCHEMA:
        raise TraceError(
            f"{place}: another schema: it says {'none' if said is None else repr(said)} where a trace says {SCHEMA!r}; "
            f"write it with spec_math.traces.write_shard, or as docs/how_to/record_a_trace.md shows"
        )
    if notes.get("version") != VERSION:
        raise TraceError(
            f"{place}: another schema: version {notes.get('version')!r}, and this reader knows version {VERSION!r}; "
            f"write it anew"
        )
    lookahead = notes.get("lookahead", "")
    if not lookahead.isdecimal():
        raise TraceError(f"{place}: the metadata lookahead is a whole number as text; got {lookahead!r}")
    verification = notes.get("verification", "")
    if verification not in VERIFICATIONS:
        raise TraceError(
            f"{place}: the metadata verification is one of {', '.join(map(repr, VERIFICATIONS))}; got {verification!r}"
        )
    return int(lookahead), verification


def _first(wrong: np.ndarray[Any, Any]) -> int | None:
    found = np.flatnonzero(wrong)
    return int(found[0]) if len(found) else None


def stored_type(dtype: str) -> np.dtype[Any]:
    """Return the NumPy type in which the bytes of a logit are held; of bfloat16, 16 bits.

    >>> stored_type("bfloat16").name
    'uint16'
    """
    return np.dtype("uint16" if dtype == "bfloat16" else dtype)


def as_float32(stored: np.ndarray[Any, Any], dtype: str, into: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
    """Return rows [m, V] as float32, in `into` [≥ m, V] where they are not float32 already.

    A float64 row is shifted so that its largest logit is 0 before it is rounded: float32 near 100 would lose what
    float32 near 0 keeps.

    >>> as_float32(np.array([[0x3F80]], dtype=np.uint16), "bfloat16", np.empty((1, 1), np.float32)).tolist()
    [[1.0]]
    """
    if dtype == "float32":
        return stored
    shown = into[: len(stored)]
    if dtype == "bfloat16":
        bits = shown.view(np.uint32)
        np.left_shift(stored, np.uint32(16), out=bits, casting="unsafe", dtype=np.uint32)
    elif dtype == "float64":
        tops = stored.max(axis=1, keepdims=True)
        with np.errstate(invalid="ignore", over="ignore"):
            np.subtract(stored, np.where(np.isfinite(tops), tops, 0.0), out=shown, casting="same_kind")
    else:
        np.copyto(shown, stored)
    return shown
