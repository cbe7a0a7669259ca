"""Samplers as they were published, called without an adapter: table models for models, logits for laws, a batch of one.

What a function takes is read from its names, and said in the verdict; what is not understood is asked for.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from math import exp
from typing import Any

import numpy as np
import torch

from spec_math.pathwise.atom import ExploreError
from spec_math.pathwise.followed import SOURCES
from spec_math.samplers.call import call_of
from spec_math.samplers.signature import Signature, bound, is_method, read
from spec_math.samplers.subject import Numbers, Subject
from spec_math.samplers.told import Told, split_roles
from spec_math.samplers.words import roles_of
from torch_bridge.randomness.source import torch_source
from torch_bridge.returned import DECISION, as_told, generated, verified
from torch_bridge.toy_models import TableModel
from torch_bridge.ways import Round, Way, said, value_of, ways_of

DEEPEST, WIDEST = 7, 16
"""Laws are handed over as logits: their masses are at least e^−7, on 16 tokens at most."""

LOGITS = 4 * DEEPEST + WIDEST + 5
"""A mass of a softmax of logits is off by a factor 1 ± (4D + V + 5)·u, as `engines.judged.token_bound` derives."""


Given = tuple[torch.Tensor, torch.Tensor, Sequence[int]]
"""Laws [L + 1, V] and [L, V] by position, or [V] each, and the drafted tokens."""


def subjects(
    fn: Callable[..., Any], roles: str | Mapping[str, str] | None, grid: int | None, told: Told | None = None
) -> list[Subject]:
    """Return the ways to call a function as it is, each as a subject; none where it is not understood.

    >>> def step(draft_model, target_model, input_ids, gamma): ...
    >>> len(subjects(step, None, None))
    16
    """
    told = told or Told()
    plain, kinds = split_roles(roles)
    sides = {str(key): str(role) for key, role in roles_of(plain).items()} if plain is not None else {}
    found = read(fn, sides, kinds, told.values)
    if found is None:
        return []
    return [_subject(found, way, told, grid) for way in ways_of(found)]


def _subject(found: Signature, way: Way, told: Told, grid: int | None) -> Subject:
    numbers = _numbers(way.dtype)
    refused: set[bool] = set()

    def given(tokens: Any, target: Any, draft: Any) -> Any:
        return _called(found, way, told, (target, draft, tokens), refused)

    def given_one(token: Any, target: Any, draft: Any) -> Any:
        return _called(found, way, told, (target, draft, (token,)), refused)

    def drafting(target: Any, draft: Any) -> Any:
        return _called(found, way, told, (target, draft, ()), refused)

    sampler: Any = given_one if found.single else given if found.given_drafts else drafting
    sampler.__qualname__ = sampler.__name__ = getattr(found.fn, "__name__", "sampler")
    call, sources = call_of(sampler), (*SOURCES, torch_source)
    words, many = said(found, way, told), not found.single
    made = Subject(sampler, call, numbers, sources, grid, said=words, chain=many)
    doubt = lambda: DECISION if refused == {True} else ""  # noqa: E731
    alike = said(found, replace(way, whole=False), told)
    return replace(made, doubt=doubt, alike=alike, fixed=found.fixed, text=found.has("length"))


def _numbers(dtype: torch.dtype) -> Numbers:
    def rows(given: Any) -> torch.Tensor:
        return torch.from_numpy(np.array(given, dtype=object).astype(np.float64)).to(dtype)

    name = str(dtype).removeprefix("torch.")
    return Numbers(f"torch.{name}", rows, tuple, LOGITS * torch.finfo(dtype).eps / 2)


def _called(found: Signature, way: Way, told: Told, given: Given, refused: set[bool]) -> Any:
    """Call the function on rows of laws by position [L + 1, V] and [L, V], and return the tokens that it emits."""
    target, draft, tokens = given
    if target.dim() == 1:
        target, draft = target[None].expand(2, -1), draft[None]
    _check_laws(target)
    lookahead, horizon = len(draft), len(target)
    prompt = tuple(place % 2 for place in range(lookahead + horizon + 4))
    one = Round(target, draft, tuple(map(int, tokens)), prompt, told.temperature)
    models = {
        "target model": TableModel(_by_place(target), prompt, way.form, way.dtype),
        "draft model": TableModel(_by_place(draft), prompt, way.form, way.dtype),
    }
    values: dict[str, Any] = dict(told.values)
    for name, kind in found.takes:
        if kind == "cache":
            if way.last:
                values[name] = models["target model"](torch.tensor([prompt[:-1]])).past_key_values
        elif kind != "key" or way.numpy:
            values[name] = models[kind] if kind in models else value_of(name, kind, found, way, one)
    mine = {name.removeprefix("self."): values.pop(name) for name in list(values) if name.startswith("self.")}
    fn = found.fn if not mine and not is_method(found.fn) else bound(found.fn, mine)
    if found.has("places"):
        for model in models.values():
            model(torch.tensor([prompt]), input_pos=torch.arange(len(prompt)))
    raw = fn(**values)
    if told.returns:
        return as_told(raw, one.tokens, told.returns)
    if found.models and not found.given_drafts:
        return generated(raw, prompt, lookahead + horizon + 2)
    return verified(raw, one.tokens, refused)


def _by_place(laws: torch.Tensor) -> Callable[[tuple[int, ...]], Any]:
    listed = laws.double().numpy()
    return lambda text: listed[len(text) % len(listed)]


def _check_laws(laws: torch.Tensor) -> None:
    least = float(laws[laws > 0].min())
    if least < exp(-DEEPEST) or laws.shape[-1] > WIDEST:
        raise ExploreError(
            f"a function that takes models or logits is judged on masses of at least e^-{DEEPEST} and {WIDEST} tokens "
            f"at most, for which its rounding is known; got {least:.3g} and {laws.shape[-1]} tokens"
        )
