"""What a parameter takes, read from its name: the target's law, the draft's, the drafted tokens, or the coin.

Only names that say it are read. A name that papers use for both sides, such as p or q, is left to the caller, since a
guess between target and draft would condemn right samplers.

Source: worked out here, after the signatures of public samplers.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Literal, get_args

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


def kind_of(name: str) -> Kind:
    """Return what a parameter's name says, or "" where it says nothing, or two things.

    >>> [kind_of(name) for name in ("draft_probs", "target", "draft_token_ids", "p", "target_draft_ratio")]
    ['draft', 'target', 'tokens', '', '']
    >>> kind_of("draft_logits"), kind_of("targetModel"), kind_of("past_key_values")
    ('logits', 'models', 'models')
    """
    words = _words(name)
    if words and words <= {"self", "cls"}:
        return "self"
    for kind, known in _OTHERS.items():
        if words & known and not (kind == "models" and words & LAW):
            return kind
    return _role(words - {"model"} if words & LAW else words)


def takes_one(name: str) -> bool:
    """Say whether a name of drafted tokens means one token.

    >>> takes_one("draft_token"), takes_one("token_ids"), takes_one("x")
    (True, False, False)
    """
    words = _words(name)
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


def _words(name: str) -> set[str]:
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
