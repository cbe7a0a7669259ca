"""The thing that a parameter takes, read from its name: a law, drafted tokens, a coin, a model, a length.

Only names that say it are read. A name that papers use for both sides, such as p or q, is left to the caller, since a
guess between target and draft would condemn right samplers.
"""

from __future__ import annotations

import inspect
import re
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Any, Literal, cast, get_args

Role = Literal["coin", "tokens", "target", "draft"]
"""What every judge can give to a parameter."""

_OfLaws = Literal["target logs", "draft logs", "target mass", "draft mass", "target records", "draft records"]
_OfDrafts = Literal["bonus", "candidates", "candidate logits", "lookahead", "cumulative"]
_OfModels = Literal["target model", "draft model", "prompt", "token", "places", "places end", "cache", "length", "end"]
_Settings = Literal["temperature", "sampling", "greedy", "key", "metadata", "processor", "none"]
_OfSizes = Literal["size", "device", "tokenizer", "batch", "top k", "top p", "counter", "list"]
Given = Literal[Role, _OfLaws, _OfDrafts, _OfModels, _Settings, _OfSizes]
"""What a caller may tell; "none" is for a parameter that is left to its default, or takes None."""

Unknown = Literal["drafts", "made", "logits", "model", "input", "prefix", "uniforms", "seed", "generator", "self", ""]
"""What a name says of a parameter that not every judge gives: "drafts" may be tokens or laws, and "made" tokens of the
draft or of the text so far; "" is nothing at all."""

Taken = Literal[Given, Unknown]

TARGET = {"target", "targets", "verifier", "teacher", "big", "large"}
DRAFT = {"draft", "drafts", "drafter", "proposal", "assistant", "small", "student"}
SMALL = DRAFT | {"approx", "approximate", "ssm"}
LAW = {
    *("law", "laws", "prob", "probs", "probability", "probabilities", "dist", "dists", "distribution", "distributions"),
    *("mass", "masses", "pmf", "row", "rows", "p", "q"),
}
MANY = {"tokens", "ids", "drafted", "candidates", "xs"}
ONE = {"token", "id", "candidate"}
LOGS = {"logits", "logit", "logprobs", "logprob", "logp", "log", "logs", "scores", "score"}
MODEL = {"model", "models", "net", "network", "lm", "llm"}
TOKS = {"toks", "tokens", "ids", "token"}
MADE = {"gen", "generated", "proposed", "speculated", "speculative", "draft", "drafted"}
PREFIX = {"prefix", "context", "history"}
OPTIONS = {"args", "kwargs", "config", "cfg", "params", "options", "settings"}
HOW_MANY = {"num", "n", "k", "len", "length", "steps", "count", "size", "depth", "window"}
AHEAD = DRAFT | {"candidate", "drafts", "spec", "speculate", "speculative", "speculation", "lookahead"}

_BY_WORD: dict[Taken, set[str]] = {
    "tokenizer": {"tokenizer"},
    "input": {"past", "cache", "kv", "mask", "prompt", "hidden", "forward", "input"},
    "prefix": PREFIX,
    "uniforms": {"uniform", "uniforms", "u", "us", "noise", "coins", "rand"},
    "seed": {"seed"},
    "generator": {"rng", "generator", "gen", "key", "prng", "random"},
    "bonus": {"bonus"},
}

_NAMES: dict[Taken, str] = {
    "": "ids",
    "self": "self cls",
    "coin": "coin",
    "drafts": "drafts proposed proposals speculated drafted",
    "candidates": "candidates",
    "prompt": "input_ids prompt prefix inputs context prompt_ids context_ids prefix_ids input_tokens prompt_tokens "
    "context_tokens prefix_tokens inp",
    "size": "vocab_size vocabulary_size n_vocab",
    "device": "device device_type",
    "batch": "batch_size bsz",
    "top k": "top_k topk",
    "top p": "top_p topp",
    "token": "token",
    "places": "input_pos",
    "places end": "input_pos_maxp1",
    "length": "gen_len max_len max_length max_new_tokens max_gen_len n_tokens_to_generate seq_len max_tokens "
    "max_seq_len max_returned_tokens num_tokens",
    "cache": "past_key_values past kv_cache past_kv",
    "end": "eos_token_id eos_tokens_id pad_token_id stop_token_id eos_id pad_id",
    "lookahead": "gamma lookahead num_assistant_tokens max_spec_len",
    "cumulative": "cu_num_draft_tokens",
    "sampling": "do_sample do_sampling use_sampling",
    "greedy": "greedy use_greedy",
    "key": "key rng_key prng_key",
    "metadata": "sampling_metadata",
    "none": "attention_mask",
    "processor": "logits_processor",
}
_BY_NAME: dict[str, Taken] = {name: taken for taken, names in _NAMES.items() for name in names.split()}

_WITHOUT_MODELS: dict[Taken, Taken] = {"token": "tokens", "places": "input", "places end": "input", "length": ""}
"""What a parameter takes where there are no models, of those that they need."""


def taken_by(name: str) -> Taken:
    """Return what a parameter takes by its name, "" where it says nothing, or two things.

    >>> [taken_by(name) for name in ("draft_probs", "target", "draft_token_ids", "p", "target_draft_ratio")]
    ['draft', 'target', 'tokens', '', '']
    >>> taken_by("draft_logits"), taken_by("targetModel"), taken_by("approx_model"), taken_by("past_key_values")
    ('draft logs', 'target model', 'draft model', 'cache')
    """
    words, law = words_in(name), bool(words_in(name) & LAW)
    if words & OPTIONS:
        return ""
    if name.strip("_") in _BY_NAME:
        return _BY_NAME[name.strip("_")]
    if words & {"temperature", "temp"}:
        return "temperature"
    if words & HOW_MANY and words & AHEAD and words <= HOW_MANY | AHEAD | {"max", "tokens"}:
        return "lookahead"
    side = side_of(name)
    if words & LOGS:
        plain = words <= LOGS | TARGET | SMALL | LAW
        return "logits" if not (plain and side) else "target logs" if side == "target" else "draft logs"
    if words & MODEL and not law:
        return model_of(side)
    if words & TOKS and words & MADE and words <= TOKS | MADE:
        return "tokens" if words <= MANY | ONE | DRAFT else "made"
    for kind, known in _BY_WORD.items():
        if words & known and not (kind == "input" and law):
            return kind
    if words & (MANY | ONE):
        return "tokens" if words <= MANY | ONE | DRAFT else ""
    return side if words - {"model"} <= TARGET | DRAFT | LAW else ""


def side_of(name: str) -> Literal["target", "draft", ""]:
    """Return the side that a name speaks of; "" where it names none, or both."""
    words = words_in(name)
    target, draft = bool(words & TARGET), bool(words & SMALL)
    return "" if target == draft else "target" if target else "draft"


def model_of(side: str) -> Taken:
    """Return the model of a side; one of no side is not known."""
    return "target model" if side == "target" else "draft model" if side == "draft" else "model"


def beside(found: Mapping[str, Taken]) -> dict[str, Taken]:
    """Return what parameters take, read beside each other: t and d together are target and draft, and x is the tokens.

    >>> beside({"t": "", "d": "", "x": ""})
    {'t': 'target', 'd': 'draft', 'x': 'tokens'}
    >>> beside({"t": "", "x": ""})["t"], beside({"model": "model", "draft_ids": "tokens"})["model"]
    ('', 'target model')
    """
    read: dict[str, Taken] = dict(found)
    if {"t", "d"} <= found.keys():
        read |= {"t": "target", "d": "draft"}
    if {"candidates", "logits"} <= found.keys():
        read |= {"candidates": "candidates", "logits": "candidate logits"}
    kinds = read.values()
    models, logs = (any(taken.endswith(ends) for taken in kinds) for ends in ("model", ("logs", "logits")))
    laws = {"target", "draft"} <= {*kinds}
    if not models:
        read = {name: _WITHOUT_MODELS.get(taken, taken) for name, taken in read.items()}
    may_be = ("token", "candidates", "")
    alone = next((name for name in ("token", "ids", "candidates", "x") if read.get(name) in may_be), None)
    if alone and "tokens" not in read.values() and (laws or not (models or logs)):
        read[alone] = "tokens"
    elif read.get("ids") == "" and (models or "tokens" in read.values()):
        read["ids"] = "prompt"
    drafts = [name for name, taken in read.items() if taken == "drafts"]
    if len(drafts) == 1 and "tokens" not in read.values() and {"draft", "draft logs"} & {*read.values()}:
        read[drafts[0]] = "tokens"
    sideless = [name for name, taken in read.items() if taken == "model"]
    if len(sideless) == 1 and {"tokens", "made"} & {*read.values()} and "target model" not in read.values():
        read[sideless[0]] = "target model"
    return read


def takes_one(name: str) -> bool:
    """Say whether a name of drafted tokens means one token."""
    words = words_in(name)
    return bool(words & ONE) and not words & MANY


def words_in(name: str) -> set[str]:
    """Return the words of a name, in_this_way or inThisWay."""
    return {word.lower() for word in re.findall(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|\d+", name)}


def parameters_of(fn: Callable[..., Any]) -> dict[str, inspect.Parameter]:
    """Return a function's parameters by name; none where they cannot be read."""
    try:
        return dict(inspect.signature(fn).parameters)
    except (TypeError, ValueError):
        return {}


def whole(fn: Any) -> Any:
    """Return the function that a partial, or a partial of one, was made of; another function as it is."""
    while isinstance(fn, partial):
        fn = cast(Any, fn).func
    return fn


def name_of(fn: Any) -> str:
    """Return the name by which a function is called in sentences."""
    name = getattr(whole(fn), "__qualname__", None) or type(whole(fn)).__name__
    return "the function" if "<lambda>" in name else str(name).rpartition("<locals>.")[2]


def roles_of(text: str | Mapping[Any, str] | None, known: Sequence[str] = get_args(Role)) -> dict[str | int, Given]:
    """Read roles as a caller tells them: by name, "p=target,q=draft", or by position, "tokens,target,draft".

    `known` are those that may be told by name.

    Raises:
        ValueError: a role is unknown or told twice, or names and positions are mixed.

    >>> roles_of("p=target, q=draft"), roles_of("target,draft")
    ({'p': 'target', 'q': 'draft'}, {0: 'target', 1: 'draft'})
    >>> roles_of("x=prompt,N=length", get_args(Given))
    {'x': 'prompt', 'N': 'length'}
    """
    if text is None:
        return {}
    told = [f"{name}={role}" for name, role in text.items()] if isinstance(text, Mapping) else text.split(",")
    found: dict[str | int, Any] = {}
    for place, part in enumerate(told):
        name, equals, said = (piece.strip() for piece in part.rpartition("="))
        key = int(name) if name.isdecimal() else name or place
        once = said in get_args(Role)
        unknown = said not in known or (not once and isinstance(key, int))
        if unknown or (equals and not name) or (once and said in found.values()) or key in found:
            raise ValueError(
                f"give roles as p=target,q=draft, or in order as tokens,target,draft; each of "
                f"{', '.join(get_args(Role))} once at most; got {part.strip()!r} in {text!r}"
            )
        found[key] = said
    if len({type(key) for key in found}) > 1:
        raise ValueError(f"give roles either all by name or all by position; got {text!r}")
    return found
