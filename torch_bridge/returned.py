"""Reading what a public sampler returned as the tokens that it emitted: rows, padded or not, counts, records, laws."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import fields, is_dataclass
from typing import Any

import numpy as np
import torch

from spec_math.pathwise.atom import ExploreError
from spec_math.samplers.told import Part

ONE = ("token_id", "token", "next_token", "sampled_token", "output_token", "emitted_token")
MANY = ("accepted_tokens", "tokens", "token_ids", "output_token_ids", "emitted_tokens", "accepted_token_ids")
AFTER = ("bonus_token", "resample_token", "resampled_token", "corrected_token", "correction_token", "next_token")
KEPT = ("accepted", "is_accepted", "accept")


def generated(raw: Any, prompt: Sequence[int], most: int) -> tuple[int, ...]:
    """Return the new tokens of a generated text, with the prompt or without it: `most` of them are fewer than it.

    Raises:
        ExploreError: it is not understood which tokens are new.

    >>> generated(torch.tensor([[0, 1, 0, 2]]), (0, 1, 0), 2), generated([2], (0, 1, 0), 2)
    ((2,), (2,))
    """
    tokens = _tokens_in(raw)
    if len(tokens) > len(prompt) and tokens[: len(prompt)] == [*prompt]:
        return tuple(tokens[len(prompt) :])
    if not tokens or len(tokens) > most:
        raise ExploreError(
            f"it returned {len(tokens)} tokens after a prompt of {len(prompt)} and {most} at most to come: it is not "
            "understood which of them are new"
        )
    return tuple(tokens)


def verified(raw: Any, tokens: Sequence[int], refused: set[bool] | None = None) -> tuple[int, ...]:
    """Return the tokens emitted: of a row, padded by −1; of a number of accepted drafts and the token after them.

    `refused` takes in, for drafts that it says it did not accept, whether the token beside them is the draft itself.

    Raises:
        ExploreError: it is not understood what was returned.

    >>> verified(torch.tensor([[2, 1, -1]]), (2, 0)), verified((1, torch.tensor(1)), (2, 0))
    ((2, 1), (2, 1))
    """
    if isinstance(raw, tuple) and len(raw) == 2 and type(raw[0]) is int and getattr(raw[1], "ndim", None) == 0:
        return _kept_and_next(raw[0], raw[1], tokens)
    if isinstance(raw, tuple) and len(raw) == 2 and isinstance(raw[0], bool | np.bool_) and len(tokens) == 1:
        return (_decided(bool(raw[0]), _one(raw[1]), tokens, refused),)
    found = _tokens_in(_of_record(raw, tokens, refused))
    # A list of two on every path is left open by the judge; a row of two may be padded besides.
    pair = len(found) == 2 and len(tokens) > 1 and not isinstance(raw, tuple) and not is_dataclass(raw)
    if pair and not (isinstance(raw, list) and -1 not in found):
        raise ExploreError(
            "it returned two numbers: they may be how many drafts were accepted and the token after them; say which "
            "with --returns count,token or --returns tokens, or wrap it so that it returns the tokens emitted"
        )
    end = next((place for place, token in enumerate(found) if token == -1), len(found))
    if any(token != -1 for token in found[end:]):
        raise ExploreError(f"it returned {found}: tokens after −1, which are not understood")
    if not end:
        raise ExploreError("it returned no token at all")
    return tuple(found[:end])


def as_told(raw: Any, tokens: Sequence[int], parts: Sequence[Part]) -> tuple[int, ...]:
    """Return the tokens emitted, by the parts of an answer that the caller told; a law is drawn from.

    Raises:
        ExploreError: it returned something else.

    >>> as_told(torch.tensor([[1, 0]]), (2, 2), ("count", "token"))
    (2, 0)
    """
    listed: list[Any] = [*raw] if isinstance(raw, tuple) else [raw]
    if len(listed) == 1 and len(parts) > 1 and hasattr(listed[0], "reshape"):
        listed = [*listed[0].reshape(-1)]
    if len(listed) != len(parts):
        raise ExploreError(f"it returned {len(listed)} parts, where --returns names {len(parts)}")
    found = dict(zip(parts, listed, strict=True))
    if "tokens" in found:
        after = (_one(found["token"]),) if "token" in found else ()
        return (*(token for token in _tokens_in(found["tokens"]) if token != -1), *after)
    if "law" in found:
        law = torch.as_tensor(found["law"])
        found["token"] = torch.multinomial(law.reshape(1, -1), 1)[0, 0]
    if "count" not in found:
        return (_one(found["token"]),)
    return _kept_and_next(_one(found["count"]), found["token"], tokens)


def _kept_and_next(many: int, token: Any, tokens: Sequence[int]) -> tuple[int, ...]:
    if not 0 <= many <= len(tokens):
        raise ExploreError(f"it returned {many} and a token, where {len(tokens)} drafts were given")
    return (*map(int, tokens[:many]), _one(token))


DECISION = (
    "it returned the drafted token each time that it did not accept it: whether it is emitted then is not known; say "
    "so with --returns _,token, or wrap it"
)


def _decided(accepted: bool, token: int, tokens: Sequence[int], refused: set[bool] | None) -> int:
    if refused is not None and not accepted:
        refused.add(token == int(tokens[0]))
    return token


def _of_record(raw: Any, tokens: Sequence[int], refused: set[bool] | None) -> Any:
    """Return the tokens that an object of somebody's class holds, read from its fields; other answers as they are."""
    if not is_dataclass(raw) or isinstance(raw, type):
        return raw
    held: dict[str, Any] = {one.name: getattr(raw, one.name) for one in fields(raw)}
    many, one = [name for name in MANY if name in held], [name for name in ONE if name in held]
    if len(many) == 1:
        after = [held[name] for name in AFTER if held.get(name) is not None]
        if len(after) <= 1:
            return [_entry(token) for token in (*held[many[0]], *after)]
    elif not many and len(one) == 1:
        token = _one(_entry(held[one[0]]))
        kept = next((name for name in KEPT if name in held), None)
        return [token if kept is None else _decided(bool(held[kept]), token, tokens, refused)]
    raise ExploreError(f"it returned {type(raw).__name__} with {', '.join(held)}, in which no tokens are understood")


def _entry(token: Any) -> Any:
    """Return the token of a record in a list; a token as it is."""
    if not is_dataclass(token):
        return token
    named = [one.name for one in fields(token) if one.name in ONE]
    if len(named) != 1:
        raise ExploreError(f"it returned {type(token).__name__}, in which no token is understood")
    return getattr(token, named[0])


def _one(token: Any) -> int:
    plain = token.reshape(-1) if hasattr(token, "reshape") else token
    if hasattr(plain, "numel") and plain.numel() != 1:
        raise ExploreError(f"it returned {list(token.shape)} numbers in the place of one")
    return int(plain)


def _tokens_in(raw: Any) -> list[int]:
    """Return the tokens of an answer: the first tensor or list of whole numbers in it, of one row."""
    first = raw[0] if isinstance(raw, tuple) and raw and not isinstance(raw[0], int) else raw
    array = isinstance(first, np.ndarray | torch.Tensor)
    rows: Any = first.tolist() if array else first
    if isinstance(rows, list | tuple):
        listed: list[Any] = [*(rows[0] if len(rows) == 1 and isinstance(rows[0], list) else rows)]
        if all(isinstance(one, int | np.integer) or getattr(one, "ndim", 1) == 0 for one in listed):
            return [int(one) for one in listed]
    shown = f"{type(first).__name__} of {first.dtype} {list(first.shape)}" if array else type(raw).__name__
    raise ExploreError(f"it returned {shown}, in which no row of tokens is found")
