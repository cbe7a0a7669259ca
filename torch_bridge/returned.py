"""Reading what a public sampler returned as the tokens that it emitted: rows, padded or not, counts, records, laws."""

from __future__ import annotations

import importlib
import inspect
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, fields, is_dataclass
from fractions import Fraction
from itertools import product
from typing import Any, Literal, get_args

import numpy as np
import torch

from spec_math.pathwise.atom import ExploreError
from spec_math.samplers.signature import own_attributes

Part = Literal["tokens", "count", "length", "index", "token", "law", "_"]
"""A part of an answer: emitted tokens, how many drafts were kept, how many of the tokens count, the accepted draft's
index or None, the next token, a distribution to draw it from, or nothing."""


@dataclass(frozen=True)
class Told:
    """Values of parameters by name and as they were told, the parts of an answer, the temperature that is judged."""

    values: Mapping[str, Any] = field(default_factory=dict[str, Any])
    texts: tuple[str, ...] = ()
    returns: tuple[Part, ...] = ()
    temperature: Fraction = Fraction(1)


ONE = ("token_id", "token", "next_token", "sampled_token", "output_token", "emitted_token")
MANY = ("accepted_tokens", "tokens", "token_ids", "output_token_ids", "emitted_tokens", "accepted_token_ids")
AFTER = ("bonus_token", "resample_token", "resampled_token", "corrected_token", "correction_token", "next_token")
KEPT = ("accepted", "is_accepted", "accept")


FEW = 4
"""The readings of an answer that are shown."""


class AnswerError(ExploreError):
    """An answer that is not understood: it says nothing of the function's random numbers."""

    of_randomness = False


class UnreadError(AnswerError):
    """An answer in which no tokens are understood; `readings` are lines of which one may read it, from the `drafts`."""

    def __init__(self, said: str, raw: Any, drafts: str = "tokens") -> None:
        self.readings = readings(raw, drafts)
        told = "; ".join(self.readings[:FEW])
        super().__init__(f"{said}; in an adapter it is one of: {told}" if told else said)


class Decided(tuple[int, ...]):
    """A token beside the decision not to accept the draft; `again` says that it is the draft itself."""

    again = False


class Kept(tuple[int, ...]):
    """The drafts that a count says were kept, and the token after them: no number and a token themselves."""

    told = True


def generated(raw: Any, prompt: Any, most: int = 0) -> tuple[int, ...]:
    """Return the new tokens of a generated text, with the prompt or without it: `most` of them are fewer than it.

    Raises:
        ExploreError: it is not understood which tokens are new.

    >>> generated(torch.tensor([[0, 1, 0, 2]]), (0, 1, 0)), generated([2], torch.tensor([[0, 1, 0]]))
    ((2,), (2,))
    """
    tokens, before = _tokens_in(raw, "()"), np.asarray(prompt).reshape(-1).tolist()
    most = most or max(1, len(before) - 2)
    if len(tokens) > len(before) and tokens[: len(before)] == before:
        return tuple(tokens[len(before) :])
    if not tokens or len(tokens) > most:
        raise AnswerError(
            f"it returned {len(tokens)} tokens after a prompt of {len(before)} and {most} at most to come: it is not "
            "understood which of them are new"
        )
    return tuple(tokens)


def verified(raw: Any, tokens: Sequence[int]) -> tuple[int, ...]:
    """Return the tokens emitted: of a row, padded by −1; of a number of accepted drafts and the token after them.

    Raises:
        ExploreError: it is not understood what was returned.

    >>> verified(torch.tensor([[2, 1, -1]]), (2, 0)), verified((1, torch.tensor(1)), (2, 0))
    ((2, 1), (2, 1))
    """
    if isinstance(raw, tuple) and len(raw) == 2 and type(raw[0]) is int and getattr(raw[1], "ndim", None) == 0:
        return _kept_and_next(raw[0], raw[1], tokens)
    if isinstance(raw, tuple) and len(raw) == 2 and isinstance(raw[0], bool | np.bool_) and len(tokens) == 1:
        return _decided(bool(raw[0]), _one(raw[1]), tokens)
    record = _of_record(raw, tokens)
    if isinstance(record, Decided):
        return record
    found = _tokens_in(record)
    # A row as long as can be, and a number that may say how much of it is emitted.
    beside = [_one(one) for one in raw[1:] if len(_may_be(one)) > 2] if type(raw) is tuple else []
    whole = len(found) == len(tokens) + 1 and -1 not in found
    if whole and any(one < len(tokens) or one == len(found) for one in beside):
        raise UnreadError("it returned tokens and a number, which may say how many of them are emitted", raw)
    # A list of two on every path is left open by the judge; a row of two may be padded besides.
    pair = len(found) == 2 and len(tokens) > 1 and not isinstance(raw, tuple) and not is_dataclass(raw)
    if pair and not (isinstance(raw, list) and -1 not in found):
        said = "it returned two numbers, which may be tokens, or a count and a token; say so with --returns count,token"
        raise UnreadError(said, raw)
    return before_padding(found)


def before_padding(row: Any, pad: int = -1) -> tuple[int, ...]:
    """Return the tokens of a row before its padding.

    Raises:
        ExploreError: it is no row of tokens, begins with padding, or has tokens after it.

    >>> before_padding(torch.tensor([[2, 1, 9, 9]]), pad=9)
    (2, 1)
    """
    found = _tokens_in(row)
    end = next((place for place, token in enumerate(found) if token == pad), len(found))
    if any(token != pad for token in found[end:]):
        raise AnswerError(f"it returned {found}: tokens after {pad}, which are not understood".replace("-", "−"))
    if not end:
        raise AnswerError("it returned no token at all")
    return tuple(found[:end])


def emitted(raw: Any, tokens: Sequence[int], parts: str | Sequence[Part]) -> tuple[int, ...]:
    """Return the tokens emitted, by the parts of an answer in order; a distribution is drawn from.

    Raises:
        ExploreError: it returned something else.

    >>> emitted(torch.tensor([[1, 0]]), (2, 2), "count,token"), emitted((None, 1), (2, 2), "index,token")
    ((2, 0), (1,))
    >>> emitted(([2, 0, 0], 2), (2, 2), "tokens,length"), emitted((7, 1, [0, 0, 1.0]), (2, 2), "_,count,law")
    ((2, 0), (2, 2))
    """
    parts = parts_of(parts) if isinstance(parts, str) else parts
    listed = [*_named(raw).values()] or ([*raw] if isinstance(raw, tuple) else [raw])
    if len(listed) == 1 and len(parts) > 1 and (isinstance(raw, list) or hasattr(listed[0], "reshape")):
        listed = raw if isinstance(raw, list) else [*listed[0].reshape(-1)]
    if len(listed) != len(parts):
        raise UnreadError(f"it returned {len(listed)} parts, where --returns names {len(parts)}", raw)
    found = dict(zip(parts, listed, strict=True))
    if "length" in found:
        return tuple(_tokens_in(found["tokens"])[: _one(found["length"])])
    if "tokens" in found:
        after = (_one(found["token"]),) if "token" in found else ()
        return (*(token for token in _tokens_in(found["tokens"]) if token != -1), *after)
    if found.get("index") is not None:
        return (int(tokens[_one(found["index"])]),)
    if "law" in found and found.get("token") is None:
        law = torch.as_tensor(found["law"])
        found["token"] = torch.multinomial(law.reshape(1, -1), 1)[0, 0]
    if "count" not in found:
        return (_one(found["token"]),)
    return Kept(_kept_and_next(_one(found["count"]), found["token"], tokens))


def readings(raw: Any, drafts: str = "tokens") -> tuple[str, ...]:
    """Return lines of an adapter of which one may read an answer, the likeliest first, by what its parts look like.

    The fields of a record that may be tokens come first. A function that drafts by itself counts no `drafts`.

    >>> readings((torch.tensor(0), 1, torch.tensor([0.5, 0.5])))[:2]
    ('return emitted(returned, tokens, "count,_,law")', 'return emitted(returned, tokens, "_,count,law")')
    """
    named, scalars = _named(raw), isinstance(raw, list) and len(raw) == 2 and len(_may_be(raw[0])) > 2
    listed = [*named.values()] or ([*raw] if isinstance(raw, tuple) or scalars else [raw])
    each = (parts for parts in product(*map(_may_be, listed[:MOST])) if drafts != "()" or "count" not in parts)
    read = [",".join([*parts, *"_" * len(listed[MOST:])]) for parts in each]
    read = ["tokens"] * scalars + [text for text in read if _told(text) in _ANSWERS]

    def rank(text: str) -> tuple[bool, bool, int, bool]:
        parts = text.split(",")
        # A number beside tokens may be anything: the tokens alone come first.
        return "law" not in parts, {*parts} != {"tokens", "_"}, parts.count("_"), not {"count", "tokens"} & {*parts}

    read.sort(key=rank)
    field = "returned[{!r}]" if isinstance(raw, Mapping) else "returned.{}"
    rows = [field.format(name) for name, part in named.items() if _is_row(part)]
    alone = [f"return before_padding({row})" for row in rows]
    alone += [f"return generated({row}, prompt)" for row in rows if drafts == "()"]
    return (*alone, *(f'return emitted(returned, {drafts}, "{text}")' for text in read))


MOST = 6
"""The parts of an answer, the first, that are told apart."""


def _named(raw: Any) -> dict[str, Any]:
    """Return the parts of a record or a mapping by their names; nothing of other answers."""
    if isinstance(raw, Mapping):
        return {str(name): part for name, part in raw.items()}
    names = [one.name for one in fields(raw)] if is_dataclass(raw) else getattr(raw, "_fields", ())
    return {name: getattr(raw, name) for name in names} if not isinstance(raw, type) else {}


def _is_row(part: Any) -> bool:
    return isinstance(part, list | tuple | np.ndarray | torch.Tensor) and _array(part).dtype.kind in "iu"


def _array(part: Any) -> Any:
    try:
        return np.asarray(part)
    except ValueError:  # rows of several lengths
        return np.zeros(0)


def _may_be(part: Any) -> tuple[Part, ...]:
    if part is None:
        return ("index", "_")
    array = _array(part)
    if array.dtype.kind == "f":
        return ("law", "_") if array.size > 1 else ("_",)
    if array.dtype.kind not in "iu":
        return ("_",)
    return ("count", "token", "length", "index", "_") if array.size == 1 else ("tokens", "_")


def _kept_and_next(many: int, token: Any, tokens: Sequence[int]) -> tuple[int, ...]:
    if not 0 <= many <= len(tokens):
        raise AnswerError(f"it returned {many} and a token, where {len(tokens)} drafts were given")
    return (*map(int, tokens[:many]), _one(token))


DECISION = (
    "it returned the drafted token each time that it did not accept it: whether it is emitted then is not known; say "
    "so with --returns _,token, or wrap it"
)


def _decided(accepted: bool, token: int, tokens: Sequence[int]) -> tuple[int, ...]:
    if accepted:
        return (token,)
    found = Decided((token,))
    found.again = token == int(tokens[0])
    return found


def parts_of(text: str) -> tuple[Part, ...]:
    """Read what a function returns, in order: "count,token", "tokens,_", "_,count,law".

    Raises:
        ValueError: a word is unknown, or the words do not make emitted tokens.
    """
    said = [word.strip() for word in text.split(",")]
    found = tuple(known for word in said for known in get_args(Part) if known == word)
    if len(found) != len(said) or _told(",".join(said)) not in _ANSWERS:
        raise ValueError(
            "the parts of the return value are listed in order, with _ for a part to skip, as one of "
            f"{', '.join(repr(','.join(one)) for one in _ANSWERS)}; got {text!r}"
        )
    return found


def _told(text: str) -> list[str]:
    return sorted(part for part in text.split(",") if part != "_")


_ANSWERS = (
    *(["tokens"], ["token"], ["law"], ["token", "tokens"], ["length", "tokens"], ["law", "token"]),
    *(["count", "token"], ["count", "law"], ["index", "token"], ["index", "law"]),
)


def values_of(fn: Callable[..., Any], given: Sequence[str]) -> dict[str, Any]:
    """Read values of parameters or of a method's self.x, each name=expression, as the function's module reads it.

    An expression may also be module:expression, where it needs a name that the function's module has not.

    Raises:
        ValueError: one is not written so, the function has no such parameter, or it cannot be evaluated.
    """
    plain: Any = inspect.unwrap(fn)
    names = [*inspect.signature(fn).parameters, *own_attributes(fn)]
    found: dict[str, Any] = {}
    for one in given:
        name, equals, written = (part.strip() for part in one.partition("="))
        if not equals or not written:
            raise ValueError(f"a value is given as name=expression; got {one!r}")
        if name not in names:
            raise ValueError(f"a value is given for {name!r}, which is not one of the parameters: {', '.join(names)}")
        module, colon, rest = written.partition(":")
        space = getattr(plain, "__globals__", {})
        if colon and module.replace(".", "").isidentifier():
            space, written = vars(importlib.import_module(module)), rest
        try:
            found[name] = eval(written, dict(space))
        except Exception as error:  # whatever the expression does
            raise ValueError(f"the value of {name}, {written!r}, cannot be made: {error}") from error
    return found


def _of_record(raw: Any, tokens: Sequence[int]) -> Any:
    """Return the tokens that an object of somebody's class holds, read from its fields; other answers as they are."""
    held = _named(raw)
    if not held or isinstance(raw, tuple):
        return raw
    many, one = [name for name in MANY if name in held], [name for name in ONE if name in held]
    if len(many) == 1:
        after = [held[name] for name in AFTER if held.get(name) is not None]
        if len(after) <= 1:
            return [_entry(token) for token in (*held[many[0]], *after)]
    elif not many and len(one) == 1:
        token = _one(_entry(held[one[0]]))
        kept = next((name for name in KEPT if name in held), None)
        return [token] if kept is None else _decided(bool(held[kept]), token, tokens)
    said = f"it returned {type(raw).__name__} with {', '.join(held)}, in which no tokens are understood"
    raise UnreadError(said, raw)


def _entry(token: Any) -> Any:
    """Return the token of a record in a list; a token as it is."""
    if not is_dataclass(token):
        return token
    named = [one.name for one in fields(token) if one.name in ONE]
    if len(named) != 1:
        raise AnswerError(f"it returned {type(token).__name__}, in which no token is understood")
    return getattr(token, named[0])


def _one(token: Any) -> int:
    plain = token.reshape(-1) if hasattr(token, "reshape") else token
    if hasattr(plain, "numel") and plain.numel() != 1:
        raise AnswerError(f"it returned {list(token.shape)} numbers in the place of one")
    return int(plain)


def _tokens_in(raw: Any, drafts: str = "tokens") -> list[int]:
    """Return the tokens of an answer: the first tensor or list of whole numbers in it, of one row."""
    first = raw[0] if isinstance(raw, tuple) and raw and not isinstance(raw[0], int) else raw
    array = isinstance(first, np.ndarray | torch.Tensor)
    rows: Any = first.tolist() if array else first
    if isinstance(rows, list | tuple):
        one_row = len(rows) == 1 and (isinstance(rows[0], list) or getattr(rows[0], "ndim", 0) == 1)
        listed: list[Any] = [*(rows[0] if one_row else rows)]
        if all(isinstance(one, int) or getattr(one, "ndim", 1) == 0 or "token" in _may_be(one) for one in listed):
            return [int(one) for one in listed]
    shown = f"{type(first).__name__} of {first.dtype} {list(first.shape)}" if array else type(raw).__name__
    raise UnreadError(f"it returned {shown}, in which no row of tokens is found", raw, drafts)
