"""What the parameters of a public sampler take, read from their names: models, a prompt, logits, counts, temperatures.

Source: worked out here, after the signatures of public samplers.
"""

from __future__ import annotations

import inspect
import re
from collections.abc import Mapping
from typing import Literal

from spec_math.audit.roles import DRAFT, LAW, LOGS, TARGET, kind_of

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

LOOKAHEAD = {
    *("gamma", "lookahead", "speculative_k", "num_draft_tokens", "num_speculative_tokens", "n_draft", "num_drafts"),
    *("draft_len", "draft_length", "spec_len", "speculate_k", "num_assistant_tokens", "max_spec_len"),
}
LENGTH = {
    *("max_len", "max_length", "max_new_tokens", "max_gen_len", "n_tokens_to_generate", "seq_len", "max_tokens"),
    *("max_seq_len", "max_returned_tokens", "num_tokens"),
}
PROMPT = {
    *("input_ids", "prompt", "prefix", "inputs", "context", "prompt_ids", "ids", "context_ids", "input_tokens", "inp"),
}
SAMPLING = {"do_sample", "do_sampling", "use_sampling"}
GREEDY = {"greedy", "use_greedy"}
KEY = {"key", "rng_key", "prng_key"}
CACHE = {"past_key_values", "past", "kv_cache", "past_kv"}
TOKS = {"toks", "tokens", "ids", "token"}
MADE = {"gen", "generated", "proposed", "speculated", "speculative", "draft", "drafted"}
END = {"eos_token_id", "eos_tokens_id", "pad_token_id", "stop_token_id", "eos_id", "pad_id"}
SMALL = DRAFT | {"approx", "approximate", "ssm"}


BY_NAME: dict[str, Taken] = {
    **dict.fromkeys(SAMPLING, "sampling"),
    **dict.fromkeys(GREEDY, "greedy"),
    **dict.fromkeys(KEY, "key"),
    **dict.fromkeys(CACHE, "cache"),
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
    words = {word.lower() for word in re.findall(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|\d+", name)}
    if name in BY_NAME and name not in told:
        return BY_NAME[name]
    side = told.get(name) or ("target" if words & TARGET else "draft" if words & SMALL else "")
    if words & TARGET and words & SMALL and name not in told:
        side = ""
    if words & {"model", "net", "network", "lm", "llm"} and not words & LAW:
        return "target model" if side == "target" else "draft model" if side == "draft" else None
    if name in LOOKAHEAD:
        return "lookahead"
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
    if name in END:
        return "end"
    if "bonus" in words:
        return "bonus"
    if words & LOGS and words <= LOGS | TARGET | SMALL | LAW and side:
        return "target logs" if side == "target" else "draft logs"
    if words & TOKS and words <= TOKS | MADE and words & MADE:
        return "tokens"
    kind = told.get(name) or kind_of(name)
    if kind in ("target", "draft", "tokens"):
        return kind
    return None


def takes_none(parameter: inspect.Parameter) -> bool:
    """Say whether a parameter may be None, by its default or its annotation.

    >>> def step(is_greedy: "Tensor | None", rows): ...
    >>> [takes_none(one) for one in inspect.signature(step).parameters.values()]
    [True, False]
    """
    said = parameter.annotation if isinstance(parameter.annotation, str) else str(parameter.annotation)
    return parameter.default is None or bool(re.search(r"\bNone\b|\bOptional\b", said))
