"""The ways in which a public sampler may be meant to be called, and what each gives to its parameters."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import product
from types import SimpleNamespace
from typing import Any

import numpy as np
import torch

from spec_math.samplers.signature import Signature, made, record_of
from spec_math.samplers.subject import names
from spec_math.samplers.told import Told
from spec_math.samplers.words import Taken
from torch_bridge.toy_models import Form

ANSWERS: dict[Form, str] = {
    "object": ".logits and .past_key_values",
    "tensor": "logits",
    "tuple": "(logits, cache)",
    "pair": "(logits, (cache, None))",
    "masses": "masses",
}


def said(found: Signature, way: Way, told: Told) -> str:
    """Return in words how a function is called, and what it is taken to return where that was told."""
    answers = ANSWERS[way.form]
    meaning = {
        "target model": f"a model of the target that returns {answers}",
        "draft model": f"a model of the draft that returns {answers}",
        "target": "the target's laws",
        "draft": "the draft's masses of the drafted tokens" if way.masses else "the draft's laws",
        "target mass": "the target's mass of the drafted token",
        "draft mass": "the draft's mass of the drafted token",
        "target logs": "logarithms of the target's laws",
        "draft logs": "logarithms of the draft's laws",
        "tokens": "the drafted tokens",
        "prompt": "the prompt's last token" if way.last else "a prompt",
        "token": "the prompt's last token",
        "places": "its place",
        "places end": "its place + 1",
        "bonus": "a token of the target's last law",
        "length": "a length of the whole text" if way.whole else "a length",
        "temperature": f"{float(told.temperature):g}",
        "sampling": str(told.temperature != 0),
        "greedy": str(told.temperature == 0),
        "end": "a token that there is not",
        "none": "None",
        "lookahead": "the drafts of a round",
        "cumulative": "the drafts of a round",
        "key": "a key",
        "metadata": "how requests are sampled",
        "cache": "the target's cache of the prompt before" if way.last else "",
        "processor": "None" if told.temperature == 0 else "one that divides by the temperature",
        "candidates": "one row of candidates, the last token and the drafts",
        "candidate logits": "logarithms of the target's laws, for that row",
        "draft records": "drafted tokens with the draft's masses of them",
        "target records": f"a {'token' if way.drawn else 'likeliest token'} of each target's law, with masses",
    }
    listed = "; ".join(f"{name}: {meaning[taken]}" for name, taken in found.takes if meaning[taken])
    listed += "".join(f"; {name}: {value!r}, as told" for name, value in told.values.items())
    laid = ", in a batch of one" if way.batch else ", without a batch dimension"
    laid = "" if found.models or found.has("candidates", "draft records") or found.single else laid
    laid += ", no law after all drafts" * way.cut
    laid += ", each draft fixed, as no law of it is taken" * found.fixed
    laid += f", returning {', '.join(told.returns)}, as told" if told.returns else ""
    return f"{getattr(found.fn, '__qualname__', 'the function')}({listed}){laid}"


FORMS: tuple[Form, ...] = ("object", "tensor", "tuple", "pair")
TYPES = (torch.float64, torch.float32)
NEW = {"max_new_tokens", "max_gen_len", "n_tokens_to_generate", "num_tokens", "max_tokens", "N"}
"""Lengths that are of new tokens by their name; `seq_len` is of the whole text, and others may be both."""
WHOLE = {"seq_len", "max_seq_len", "max_returned_tokens"}


LISTED = re.compile(r"(typing\.)?[Ll]ist\[(int|(torch\.)?Tensor)\b")
"""How a list of tokens, or of tensors, is annotated."""


@dataclass(frozen=True)
class Way:
    """One way to call a function: how models answer, how laws are laid out, and in which type.

    `cut` leaves out the target's law after all drafts; `masses` gives of the draft's laws those of the drafted tokens;
    `last` gives the prompt's last token, the rest being in the cache; `flat` a prompt without a batch dimension;
    `whole` a length of the whole text; `drawn` a token of the target's law in a record, in place of its likeliest.
    """

    form: Form = "object"
    batch: bool = False
    dtype: torch.dtype = torch.float64
    listed: bool = False
    cut: bool = False
    masses: bool = False
    last: bool = False
    flat: bool = False
    whole: bool = False
    drawn: bool = False
    numpy: bool = False


def ways_of(found: Signature) -> list[Way]:
    """Return the ways in which a function may be meant to be called, the likeliest first."""
    numpy = names(found.fn, "numpy") and not names(found.fn, "torch")
    options: dict[str, Sequence[Any]] = {"dtype": TYPES}
    if found.has("target model"):
        options |= {"form": ("masses",) if numpy else FORMS}
        options |= {"last": (True,) if found.has("cache") and found.given_drafts else (False,)}
        if found.has("length"):
            length = found.name_of("length")
            options |= {"whole": (length in WHOLE,) if length in NEW | WHOLE else (False, True)}
        if found.has("prompt"):
            flat = (True,) if numpy else (False, True)
            options |= {"listed": (True,)} if "ist[" in found.annotation(found.name_of("prompt")) else {"flat": flat}
    if found.has("target records"):
        options |= {"drawn": (False, True)}
    elif found.given_drafts and not found.single:
        layers = (False,) if numpy else (True, False)
        options |= {"batch": layers}
        if found.has("draft") and not found.has("draft mass"):
            options |= {"masses": (False, True)}
        if not found.has("target model", "candidates"):
            options |= {"cut": (True,) if found.has("bonus") else (False, True)}
    return [Way(numpy=numpy, **dict(zip(options, one, strict=True))) for one in product(*options.values())]


@dataclass(frozen=True)
class Round:
    """One round of a case: laws [L + 1, V] and [L, V] by position, the drafted tokens, the prompt, a temperature."""

    target: torch.Tensor
    draft: torch.Tensor
    tokens: tuple[int, ...]
    prompt: tuple[int, ...]
    heat: Fraction

    @property
    def judged(self) -> torch.Tensor:
        """The target's laws [L + 1, V] at the temperature."""
        if self.heat == 0:
            return torch.nn.functional.one_hot(self.target.argmax(-1), self.target.shape[-1]).to(self.target.dtype)
        if self.heat == 1:
            return self.target
        powers = self.target ** (1 / float(self.heat))
        return powers / powers.sum(-1, keepdim=True)


def value_of(name: str, kind: Taken, found: Signature, way: Way, one: Round) -> Any:
    """Return what a way gives to a parameter; models and their caches are made elsewhere."""
    value = _GIVEN[kind](one, way, found, name)
    return value.numpy() if way.numpy and isinstance(value, torch.Tensor) else value


def _laid(rows: torch.Tensor, way: Way, found: Signature) -> Any:
    # Copies: a function that writes into its arguments must not spoil the next path.
    if found.single:
        return rows[0].clone()
    if rows.is_floating_point() and LISTED.match(found.annotation(found.name_of("draft"))):
        return [row[None].clone() for row in rows]
    return rows[None].clone() if way.batch else rows.clone()


def _drafts(one: Round, way: Way, found: Signature, _: str) -> Any:
    tokens = torch.tensor(list(one.tokens), dtype=torch.int64)
    if not found.single and LISTED.match(found.annotation(found.name_of("tokens"))):
        return list(one.tokens)
    return _laid(tokens, way, found)


def _of_drafts(rows: torch.Tensor, one: Round) -> torch.Tensor:
    return torch.stack([rows[place, token] for place, token in enumerate(one.tokens)])


def _count(one: Round, _: Way, found: Signature, name: str) -> Any:
    said, many = found.annotation(name), len(one.draft)
    if "ist[int" in said:
        return [many]
    return torch.tensor([many]) if "Tensor" in said or "rray" in said else many


def _prompt(one: Round, way: Way, _f: Signature, _n: str) -> Any:
    ids = one.prompt[-1:] if way.last else one.prompt
    if way.listed:
        return list(ids)
    return torch.tensor(ids) if way.flat else torch.tensor([ids])


def _metadata(one: Round, _w: Way, _f: Signature, _n: str) -> Any:
    greedy, heat = one.heat == 0, torch.tensor([float(one.heat)])
    return SimpleNamespace(
        all_greedy=greedy, all_random=not greedy, temperature=heat, generators={}, top_k=None, top_p=None
    )


def _processor(one: Round, _w: Way, _f: Signature, _n: str) -> Any:
    if one.heat == 0:
        return None

    def divided(_: Any, scores: torch.Tensor) -> torch.Tensor:
        return scores / float(one.heat)

    return divided


def _bonus(one: Round, way: Way, _f: Signature, _n: str) -> Any:
    law = one.judged[-1]
    if way.numpy:
        return np.array([np.random.default_rng().choice(len(law), p=law.numpy())])
    return torch.multinomial(law, 1)


def _records(side: str) -> Callable[..., Any]:
    def given(one: Round, way: Way, found: Signature, name: str) -> Any:
        record = record_of(found.fn, name)
        if record is None:  # the signature was read otherwise
            return None
        if side == "draft":
            return [made(record, token, one.draft[place].tolist(), None) for place, token in enumerate(one.tokens)]
        rows: list[Any] = []
        for place, law in enumerate(one.target):
            token = int(torch.multinomial(one.judged[place], 1)) if way.drawn else int(law.argmax())
            drafted = one.tokens[place] if place < len(one.tokens) else None
            rows.append(made(record, token, law.tolist(), drafted))
        return rows

    return given


Given = Callable[[Round, Way, Signature, str], Any]

_GIVEN: dict[Taken, Given] = {
    "prompt": _prompt,
    "token": lambda one, _w, _f, _n: torch.tensor(one.prompt[-1:]),
    "places": lambda one, _w, _f, _n: torch.tensor([len(one.prompt) - 1]),
    "places end": lambda one, _w, _f, _n: len(one.prompt),
    "lookahead": _count,
    "length": lambda one, way, _f, _n: len(one.target) + 1 + (len(one.prompt) if way.whole else 0),
    "temperature": lambda one, _w, _f, _n: float(one.heat),
    "sampling": lambda one, _w, _f, _n: one.heat != 0,
    "greedy": lambda one, _w, _f, _n: one.heat == 0,
    "target": lambda one, way, found, _n: _laid(one.target[:-1] if way.cut else one.target, way, found),
    "target logs": lambda one, way, found, _n: _laid((one.target[:-1] if way.cut else one.target).log(), way, found),
    "draft": lambda one, way, found, _n: _laid(_of_drafts(one.draft, one) if way.masses else one.draft, way, found),
    "draft logs": lambda one, way, found, _n: _laid(one.draft.log(), way, found),
    "target mass": lambda one, _w, _f, _n: _of_drafts(one.target, one)[0],
    "draft mass": lambda one, _w, _f, _n: _of_drafts(one.draft, one)[0],
    "tokens": _drafts,
    "bonus": _bonus,
    "end": lambda _o, _w, _f, _n: 1 << 20,
    "none": lambda _o, _w, _f, _n: None,
    "cumulative": lambda one, _w, _f, _n: torch.tensor([len(one.draft)]),
    "key": lambda _o, _w, _f, _n: (0,),
    "metadata": _metadata,
    "processor": _processor,
    "candidates": lambda one, _w, _f, _n: torch.tensor([[one.prompt[-1], *one.tokens]]),
    "candidate logits": lambda one, _w, _f, _n: one.target.log()[None],
    "draft records": _records("draft"),
    "target records": _records("target"),
}
