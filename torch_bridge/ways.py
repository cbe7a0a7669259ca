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
"""What models answer, the likeliest first; masses are for functions in NumPy alone."""


def said(found: Signature, way: Way, told: Told) -> str:
    """Return in words how a function is called, and what it is taken to return where that was told."""
    heat = told.temperature
    fields = {
        "answers": ANSWERS[way.form],
        "draft": "masses of the drafted tokens" if way.masses else "distributions",
        "prompt": "the prompt's last token" if way.last else "a prompt",
        "length": "a length of the whole text" if way.whole else "a length",
        "heat": f"{float(heat):g}",
        "sampled": str(heat != 0),
        "greedy": str(heat == 0),
        "cache": "the target's cache of the prompt before" if way.last else "",
        "processor": "None" if heat == 0 else "one that divides by the temperature",
        "record": "token" if way.drawn else "likeliest token",
    }
    meaning = [(name, _GIVEN[taken][0].format(**fields)) for name, taken in found.takes]
    listed = "; ".join(f"{name}: {words}" for name, words in meaning if words)
    listed += "".join(f"; {name}: {value!r}, as told" for name, value in told.values.items())
    laid = ", in a batch of one" if way.batch else ", without a batch dimension"
    laid = "" if found.models or found.has("candidates", "draft records") or found.single else laid
    laid += ", no distribution after all drafts" * way.cut
    laid += ", each draft fixed, as no distribution of it is taken" * found.fixed
    laid += f", returning {', '.join(told.returns)}, as told" if told.returns else ""
    return f"{getattr(found.fn, '__qualname__', 'the function')}({listed}){laid}"


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
    options: dict[str, Sequence[Any]] = {"dtype": (torch.float64, torch.float32)}
    if found.has("target model"):
        forms = ("masses",) if numpy else tuple(ANSWERS)[:-1]
        options |= {"form": forms, "last": (found.has("cache") and found.given_drafts,)}
        if found.has("length"):
            length = found.name_of("length")
            options |= {"whole": (length in WHOLE,) if length in NEW | WHOLE else (False, True)}
        if found.has("prompt"):
            flat = (True,) if numpy else (False, True)
            options |= {"listed": (True,)} if "ist[" in found.annotation(found.name_of("prompt")) else {"flat": flat}
    if found.has("target records"):
        options |= {"drawn": (False, True)}
    elif found.given_drafts and not found.single:
        options |= {"batch": (False,) if numpy else (True, False)}
        if found.has("draft") and not found.has("draft mass"):
            options |= {"masses": (False, True)}
        if not found.has("target model", "candidates"):
            options |= {"cut": (True,) if found.has("bonus") else (False, True)}
    return [Way(numpy=numpy, **dict(zip(options, one, strict=True))) for one in product(*options.values())]


@dataclass(frozen=True)
class Round:
    """One round of a case, as a way of calling gives it to a function.

    Laws [L + 1, V] and [L, V] by position, the drafted tokens, the prompt, a temperature, and the target's model
    and the draft's.
    """

    found: Signature
    way: Way
    target: torch.Tensor
    draft: torch.Tensor
    tokens: tuple[int, ...]
    prompt: tuple[int, ...]
    heat: Fraction
    models: tuple[Any, Any]

    @property
    def judged(self) -> torch.Tensor:
        """The target's laws [L + 1, V] at the temperature."""
        if self.heat == 0:
            return torch.nn.functional.one_hot(self.target.argmax(-1), self.target.shape[-1]).to(self.target.dtype)
        if self.heat == 1:
            return self.target
        powers = self.target ** (1 / float(self.heat))
        return powers / powers.sum(-1, keepdim=True)

    def value_of(self, name: str, kind: Taken) -> Any:
        """Return what is given to a parameter."""
        value = _GIVEN[kind][1](self, name)
        return value.numpy() if self.way.numpy and isinstance(value, torch.Tensor) else value

    def laid(self, rows: torch.Tensor) -> Any:
        """Return laws or tokens by position as the function takes them."""
        # Copies: a function that writes into its arguments must not spoil the next path.
        if self.found.single:
            return rows[0].clone()
        floats = rows.is_floating_point()
        if LISTED.match(self.found.annotation(self.found.name_of("draft" if floats else "tokens"))):
            return [row[None].clone() for row in rows] if floats else rows.tolist()
        return rows[None].clone() if self.way.batch else rows.clone()

    def given_target(self) -> torch.Tensor:
        """Return the target's laws that are given, with the one after all drafts or without it."""
        return self.target[:-1] if self.way.cut else self.target

    def of_drafts(self, rows: torch.Tensor) -> torch.Tensor:
        """Return the masses [L] of the drafted tokens."""
        return torch.stack([rows[place, token] for place, token in enumerate(self.tokens)])


def _count(one: Round, name: str) -> Any:
    said, many = one.found.annotation(name), len(one.draft)
    if "ist[int" in said:
        return [many]
    return torch.tensor([many]) if "Tensor" in said or "rray" in said else many


def _prompt(one: Round, _: str) -> Any:
    ids = one.prompt[-1:] if one.way.last else one.prompt
    if one.way.listed:
        return list(ids)
    return torch.tensor(ids) if one.way.flat else torch.tensor([ids])


def _metadata(one: Round, _: str) -> Any:
    greedy, heat = one.heat == 0, torch.tensor([float(one.heat)])
    return SimpleNamespace(
        all_greedy=greedy, all_random=not greedy, temperature=heat, generators={}, top_k=None, top_p=None
    )


def _bonus(one: Round, _: str) -> Any:
    law = one.judged[-1]
    if one.way.numpy:
        return np.array([np.random.default_rng().choice(len(law), p=law.numpy())])
    return torch.multinomial(law, 1)


def _draft_records(one: Round, name: str) -> Any:
    record: Any = record_of(one.found.fn, name)
    return [made(record, token, law.tolist(), None) for token, law in zip(one.tokens, one.draft, strict=True)]


def _target_records(one: Round, name: str) -> Any:
    record: Any = record_of(one.found.fn, name)
    drawn = (int(torch.multinomial(law, 1)) if one.way.drawn else int(law.argmax()) for law in one.judged)
    rows = zip(drawn, one.target.tolist(), (*one.tokens, None), strict=True)
    return [made(record, token, law, drafted) for token, law, drafted in rows]


def _processor(one: Round, _: str) -> Any:
    def divided(_: Any, scores: torch.Tensor) -> torch.Tensor:
        return scores / float(one.heat)

    return divided if one.heat else None


_GIVEN: dict[Taken, tuple[str, Callable[[Round, str], Any]]] = {
    "target model": ("a model of the target that returns {answers}", lambda one, _: one.models[0]),
    "draft model": ("a model of the draft that returns {answers}", lambda one, _: one.models[1]),
    "cache": ("{cache}", lambda one, _: one.models[0](torch.tensor([one.prompt[:-1]])).past_key_values),
    "target": ("the target's distributions", lambda one, _: one.laid(one.given_target())),
    "target logs": ("logarithms of the target's distributions", lambda one, _: one.laid(one.given_target().log())),
    "target mass": ("the target's mass of the drafted token", lambda one, _: one.of_drafts(one.target)[0]),
    "target records": ("a {record} of each target's distribution, with masses", _target_records),
    "draft": (
        "the draft's {draft}",
        lambda one, _: one.laid(one.of_drafts(one.draft) if one.way.masses else one.draft),
    ),
    "draft logs": ("logarithms of the draft's distributions", lambda one, _: one.laid(one.draft.log())),
    "draft mass": ("the draft's mass of the drafted token", lambda one, _: one.of_drafts(one.draft)[0]),
    "draft records": ("drafted tokens with the draft's masses of them", _draft_records),
    "tokens": ("the drafted tokens", lambda one, _: one.laid(torch.tensor(one.tokens, dtype=torch.int64))),
    "bonus": ("a token of the target's last distribution", _bonus),
    "candidates": (
        "one row of candidates, the last token and the drafts",
        lambda one, _: torch.tensor([[one.prompt[-1], *one.tokens]]),
    ),
    "candidate logits": (
        "logarithms of the target's distributions, for that row",
        lambda one, _: one.target.log()[None],
    ),
    "prompt": ("{prompt}", _prompt),
    "token": ("the prompt's last token", lambda one, _: torch.tensor(one.prompt[-1:])),
    "places": ("its place", lambda one, _: torch.tensor([len(one.prompt) - 1])),
    "places end": ("its place + 1", lambda one, _: len(one.prompt)),
    "lookahead": ("the drafts of a round", _count),
    "cumulative": ("the drafts of a round", lambda one, _: torch.tensor([len(one.draft)])),
    "length": ("{length}", lambda one, _: len(one.target) + 1 + one.way.whole * len(one.prompt)),
    "end": ("a token that there is not", lambda _, __: 1 << 20),
    "temperature": ("{heat}", lambda one, _: float(one.heat)),
    "sampling": ("{sampled}", lambda one, _: one.heat != 0),
    "greedy": ("{greedy}", lambda one, _: one.heat == 0),
    "processor": ("{processor}", _processor),
    "metadata": ("how requests are sampled", _metadata),
    "key": ("a key", lambda _, __: (0,)),
    "none": ("None", lambda _, __: None),
}
"""What is given, in words and as a value, by what a parameter takes."""
