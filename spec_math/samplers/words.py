"""The role of a parameter, read from its name: the target's law, the draft's, the drafted tokens, or the coin.

Only names that say it are read. A name that papers use for both sides, such as p or q, is left to the caller, since a
guess between target and draft would condemn right samplers.
"""

from __future__ import annotations

import inspect
import re
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Literal, get_args

Role = Literal["coin", "tokens", "target", "draft"]
"""What the judge can give to a parameter."""

Kind = Literal[
    "coin",
    "tokens",
    "target",
    "draft",
    "drafts",
    "logits",
    "uniforms",
    "seed",
    "generator",
    "models",
    "prefix",
    "self",
    "",
]
"""What a name says: a role, "drafts" for tokens or laws, something that the judge does not give, or nothing."""

TARGET = {"target", "targets", "verifier", "teacher", "big", "large"}
DRAFT = {"draft", "drafts", "drafter", "proposal", "assistant", "small", "student"}
LAW = {
    *("law", "laws", "prob", "probs", "probability", "probabilities", "dist", "dists", "distribution", "distributions"),
    *("mass", "masses", "pmf", "row", "rows", "p", "q"),
}
MANY = {"tokens", "ids", "drafted", "candidates", "xs"}
ONE = {"token", "id", "candidate"}
LOGS = {"logits", "logit", "logprobs", "logprob", "logp", "log", "logs", "scores", "score"}
UNIFORMS = {"uniform", "uniforms", "u", "us", "noise", "coins", "rand"}
SEED = {"seed"}
GENERATOR = {"rng", "generator", "gen", "key", "prng", "random"}
MODELS = {"model", "models", "past", "cache", "kv", "tokenizer", "mask", "prompt", "hidden", "forward", "lm", "llm"}
PREFIX = {"prefix", "context", "history"}


def parameters_of(fn: Callable[..., Any]) -> list[inspect.Parameter]:
    """Return a function's parameters; none where they cannot be read."""
    try:
        return list(inspect.signature(fn).parameters.values())
    except (TypeError, ValueError):
        return []


def kind_of(name: str) -> Kind:
    """Return what a parameter's name says, or "" where it says nothing, or two things.

    >>> [kind_of(name) for name in ("draft_probs", "target", "draft_token_ids", "p", "target_draft_ratio")]
    ['draft', 'target', 'tokens', '', '']
    >>> kind_of("draft_logits"), kind_of("targetModel"), kind_of("past_key_values")
    ('logits', 'models', 'models')
    """
    words = words_in(name)
    if words and words <= {"self", "cls"}:
        return "self"
    for kind, known in _OTHERS.items():
        if words & known and not (kind == "models" and words & LAW):
            return kind
    return _role(words - {"model"} if words & LAW else words)


def takes_one(name: str) -> bool:
    """Say whether a name of drafted tokens means one token."""
    words = words_in(name)
    return bool(words & ONE) and not words & MANY


def kinds_of(names: Sequence[str]) -> dict[str, Kind]:
    """Return what each of a function's parameters says; t and d together are target and draft, and x is the tokens.

    >>> kinds_of(["t", "d", "x"])
    {'t': 'target', 'd': 'draft', 'x': 'tokens'}
    >>> kinds_of(["t", "x"])["t"]
    ''
    """
    found: dict[str, Kind] = {name: kind_of(name) for name in names}
    if {"t", "d"} <= set(names):
        found |= {"t": "target", "d": "draft"}
    if "x" in found and "tokens" not in found.values():
        found["x"] = "tokens"
    # The laws of several positions beside their tokens; without these, drafts may be either.
    drafts = [name for name, kind in found.items() if kind == "drafts"]
    if len(drafts) == 1 and "tokens" in found.values() and "draft" not in found.values():
        found[drafts[0]] = "draft"
    return found


def roles_of(text: str | Mapping[str, str]) -> dict[str | int, Role]:
    """Read roles as a caller tells them: by name, "p=target,q=draft", or by position, "tokens,target,draft".

    Raises:
        ValueError: a role is unknown or told twice, or names and positions are mixed.

    >>> roles_of("p=target, q=draft"), roles_of("target,draft")
    ({'p': 'target', 'q': 'draft'}, {0: 'target', 1: 'draft'})
    """
    parts = [f"{name}={role}" for name, role in text.items()] if isinstance(text, Mapping) else text.split(",")
    found: dict[str | int, Role] = {}
    for place, part in enumerate(parts):
        name, equals, said = (piece.strip() for piece in part.rpartition("="))
        role = next((known for known in get_args(Role) if known == said), None)
        if role is None or (equals and not name) or role in found.values() or (name or place) in found:
            raise ValueError(
                f"roles are told as p=target,q=draft, or in order as tokens,target,draft; each of "
                f"{', '.join(get_args(Role))} once at most; got {part.strip()!r} in {text!r}"
            )
        found[name or place] = role
    if len({type(key) for key in found}) > 1:
        raise ValueError(f"roles are told all by name or all by position; got {text!r}")
    return found


def words_in(name: str) -> set[str]:
    """Return the words of a name, in_this_way or inThisWay."""
    return {word.lower() for word in re.findall(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|\d+", name)}


def _role(words: set[str]) -> Kind:
    sides = words & TARGET, words & DRAFT
    if words == {"coin"}:
        return "coin"
    if words == {"drafts"}:
        return "drafts"
    if words & (MANY | ONE):
        return "tokens" if words <= MANY | ONE | DRAFT else ""
    if all(sides) or not words <= TARGET | DRAFT | LAW:
        return ""
    return "target" if sides[0] else "draft" if sides[1] else ""


_OTHERS: dict[Kind, set[str]] = {
    "logits": LOGS,
    "models": MODELS | {"input"},
    "prefix": PREFIX,
    "uniforms": UNIFORMS,
    "seed": SEED,
    "generator": GENERATOR,
}


Taken = Literal[
    "target model",
    "draft model",
    "prompt",
    "token",
    "places",
    "places end",
    "lookahead",
    "length",
    "temperature",
    "target",
    "draft",
    "target logs",
    "draft logs",
    "tokens",
    "bonus",
    "end",
    "none",
    "cumulative",
    "sampling",
    "greedy",
    "key",
    "metadata",
    "cache",
    "processor",
    "candidates",
    "candidate logits",
    "target mass",
    "draft mass",
    "draft records",
    "target records",
]
"""What is given to a parameter; "none" for one that is left to its default, or takes None."""

LENGTH = {
    *("max_len", "max_length", "max_new_tokens", "max_gen_len", "n_tokens_to_generate", "seq_len", "max_tokens"),
    *("max_seq_len", "max_returned_tokens", "num_tokens"),
}
PROMPT = {
    *("input_ids", "prompt", "prefix", "inputs", "context", "prompt_ids", "ids", "context_ids", "input_tokens", "inp")
}
TOKS = {"toks", "tokens", "ids", "token"}
MADE = {"gen", "generated", "proposed", "speculated", "speculative", "draft", "drafted"}
SMALL = DRAFT | {"approx", "approximate", "ssm"}


BY_NAME: dict[str, Taken] = {
    **dict.fromkeys(("do_sample", "do_sampling", "use_sampling"), "sampling"),
    **dict.fromkeys(("greedy", "use_greedy"), "greedy"),
    **dict.fromkeys(("key", "rng_key", "prng_key"), "key"),
    **dict.fromkeys(("past_key_values", "past", "kv_cache", "past_kv"), "cache"),
    **dict.fromkeys(("eos_token_id", "eos_tokens_id", "pad_token_id", "stop_token_id", "eos_id", "pad_id"), "end"),
    **dict.fromkeys(("gamma", "lookahead", "speculative_k", "num_draft_tokens", "num_speculative_tokens"), "lookahead"),
    **dict.fromkeys(("n_draft", "num_drafts", "draft_len", "draft_length", "spec_len", "speculate_k"), "lookahead"),
    **dict.fromkeys(("num_assistant_tokens", "max_spec_len"), "lookahead"),
    "cu_num_draft_tokens": "cumulative",
    "sampling_metadata": "metadata",
    "logits_processor": "processor",
    "candidates": "candidates",
}


def taken_by(name: str, told: Mapping[str, str], models: bool) -> Taken | None:
    """Return what a parameter takes by its name, None where that is not known; `told` are roles by name.

    `models` says that the function takes models: `input_ids` is then what they go on after.

    >>> taken_by("approx_model", {}, True), taken_by("draft_logprobs", {}, False), taken_by("alpha", {}, False)
    ('draft model', 'draft logs', None)
    >>> taken_by("net", {"net": "target"}, True)
    'target model'
    """
    words = words_in(name)
    if name in BY_NAME and name not in told:
        return BY_NAME[name]
    side = told.get(name) or ("target" if words & TARGET else "draft" if words & SMALL else "")
    if words & TARGET and words & SMALL and name not in told:
        side = ""
    if words & {"model", "net", "network", "lm", "llm"} and not words & LAW:
        return "target model" if side == "target" else "draft model" if side == "draft" else None
    if words & {"temperature", "temp"}:
        return "temperature"
    if models:
        known: dict[str, Taken] = {"token": "token", "input_pos": "places", "input_pos_maxp1": "places end"}
        if name in known:
            return known[name]
        if name in LENGTH:
            return "length"
    if name in PROMPT:
        return "prompt"
    if "bonus" in words:
        return "bonus"
    if words & LOGS and words <= LOGS | TARGET | SMALL | LAW and side:
        return "target logs" if side == "target" else "draft logs"
    if words & TOKS and words <= TOKS | MADE and words & MADE:
        return "tokens"
    kind = told.get(name) or kind_of(name)
    return kind if kind in ("target", "draft", "tokens") else None


def takes_none(parameter: inspect.Parameter) -> bool:
    """Say whether a parameter may be None, by its default or its annotation."""
    said = parameter.annotation if isinstance(parameter.annotation, str) else str(parameter.annotation)
    return parameter.default is None or bool(re.search(r"\bNone\b|\bOptional\b", said))
