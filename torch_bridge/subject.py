"""Samplers in torch as subjects of an audit: laws as tensors, torch's randomness followed with Python's and NumPy's.

A published sampler is called without an adapter: table models for models, logits for laws, a batch of one. What it
takes is read from its names, and said in the verdict; what is not understood is asked for.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from fractions import Fraction
from functools import partial
from math import exp
from typing import Any, get_args

import torch

from spec_math.pathwise.atom import ExploreError
from spec_math.pathwise.followed import SOURCES
from spec_math.samplers import subject
from spec_math.samplers.call import Call
from spec_math.samplers.counts import checked_sampler
from spec_math.samplers.signature import Signature, as_it_is, bound, is_method
from spec_math.samplers.subject import Numbers, Subject
from spec_math.samplers.told import Told, parts_of, values_of
from spec_math.samplers.words import Given, Role, name_of, roles_of
from spec_math.verdict import Verdict
from torch_bridge.randomness.source import torch_source
from torch_bridge.returned import DECISION, as_told, generated, verified
from torch_bridge.toy_models import table_models
from torch_bridge.ways import Round, Way, said, ways_of

TYPES = ("float64", "float32", "float16", "bfloat16")


def subject_of(
    fn: Callable[..., Any],
    shape: str | None = None,
    numbers: str | None = None,
    grid: int | None = None,
    roles: str | Mapping[str, str] | None = None,
    told: Told | None = None,
) -> Subject:
    """Return a function as a subject, as `spec_math.samplers.subject.subject_of`, with torch's randomness followed.

    `told` is what a caller tells of a function that is called as it is. `numbers` may also be torch.float64,
    torch.float32, torch.float16 or torch.bfloat16; by default torch.float32 where the function or its module
    names torch.

    >>> subject_of(lambda target, draft: int(torch.multinomial(target, 1))).numbers.name
    'torch.float32'
    """
    said = roles_of(roles, get_args(Given))
    plain = {key: role for key, role in said.items() if role in get_args(Role)}
    found = subject.subject_of(fn, shape, numbers if numbers in subject.NUMBERS else None, grid, plain)
    found = replace(found, sources=(*SOURCES, torch_source))
    known = told or Told()
    only = plain != said or known.anything
    signature = as_it_is(fn, said, known.values) if numbers is None else None
    ways = [] if signature is None else [_subject(signature, way, known, grid) for way in ways_of(signature)]
    if ways and (found.call.unclear or only) and shape is None:
        return replace(ways[0], variants=tuple(ways[1:]))
    if only:
        raise ValueError(
            f"{found.call.unclear or 'numbers and shapes'}; values, answers and temperatures are told of functions "
            "that are called as they are: target and draft, or their models, must be understood, and numbers left out"
        )
    if found.shape == "tokens":
        found = replace(found, variants=tuple(ways))
    if numbers in subject.NUMBERS or (numbers is None and found.shape == "verifier"):
        return found
    if numbers is not None:
        return replace(found, numbers=_tensors(numbers), others=())
    single, double = _tensors("torch.float32"), _tensors("torch.float64")
    if subject.names(fn, "torch"):
        return replace(found, numbers=single, others=(double, found.numbers, *found.others))
    return replace(found, others=(*found.others, single, double))


def told_subject_of(told: tuple[Sequence[str], str | None, str | None], fn: Callable[..., Any], *args: Any) -> Subject:
    """Return a function as a subject, with values, the parts of an answer and a temperature as a caller writes them."""
    values, returns, heat = told
    parts = parts_of(returns) if returns is not None else ()
    known = Told(values_of(fn, values), parts, Fraction(heat or "1"))
    shape, numbers, grid, roles = (*args, *(None,) * 4)[:4]
    return subject_of(fn, shape, numbers, grid, roles, known)


def check_sampler(
    fn: Callable[..., Any], target: Any, draft: Any, k: int | None = None, lookahead: int = 0, **how: Any
) -> Verdict:
    """Decide whether somebody's sampler in torch emits the target's law, as `spec_math.audit.check_sampler` does.

    >>> bool(check_sampler(lambda target, draft: int(torch.multinomial(target, 1)), ["1/4", "3/4"], ["1/2", "1/2"]))
    True
    """
    return checked_sampler(subject_of, fn, (target, draft), k, {"lookahead": lookahead, **how})


def _tensors(name: str) -> Numbers:
    library, _, kind = name.partition(".")
    if library != "torch" or kind not in TYPES:
        known = ", ".join((*subject.NUMBERS, *(f"torch.{one}" for one in TYPES)))
        raise ValueError(f"numbers must be one of {known}; got {name!r}")
    dtype: torch.dtype = getattr(torch, kind)

    finer = None if kind == "float64" else _tensors("torch.float64")
    return Numbers(name, rows_of(dtype), partial(torch.tensor, dtype=torch.int64), torch.finfo(dtype).eps / 2, finer)


DEEPEST, WIDEST = 7, 16
"""Laws are handed over as logits: their masses are at least e^−7, on 16 tokens at most."""

LOGITS = 4 * DEEPEST + WIDEST + 5
"""A mass of a softmax of logits is off by a factor 1 ± (4D + V + 5)·u, as `engines.judged.token_bound` derives."""


Laws = tuple[torch.Tensor, torch.Tensor, Sequence[int]]
"""Laws [L + 1, V] and [L, V] by position, or [V] each, and the drafted tokens."""


def _subject(found: Signature, way: Way, told: Told, grid: int | None) -> Subject:
    refused: set[bool] = set()

    def sampler(*given: Any) -> Any:
        *tokens, target, draft = given
        drafted = tokens if found.single or not tokens else tokens[0]
        return _called(found, way, told, (target, draft, drafted), refused)

    sampler.__qualname__ = sampler.__name__ = getattr(found.fn, "__name__", "sampler")
    drafts: tuple[tuple[str, Role], ...] = (("token" if found.single else "tokens", "tokens"),)
    laws: tuple[tuple[str, Role], ...] = ("target", "target"), ("draft", "draft")
    takes = (*drafts[: found.given_drafts], *laws)
    call = Call(name_of(sampler), takes, len(takes), found.single)
    unit = LOGITS * torch.finfo(way.dtype).eps / 2
    numbers = Numbers(str(way.dtype), rows_of(way.dtype), tuple, unit)
    return Subject(
        sampler,
        call,
        numbers,
        (*SOURCES, torch_source),
        grid,
        said=said(found, way, told),
        chain=not found.single,
        fixed=found.fixed,
        text=found.has("length"),
        doubt=lambda: DECISION if refused == {True} else "",
        alike=said(found, replace(way, whole=False), told),
    )


def rows_of(dtype: torch.dtype) -> Callable[[Any], torch.Tensor]:
    """Return what makes exact rows tensors of a type."""
    return lambda given: torch.from_numpy(subject.in_float64(given)).to(dtype)


def _called(found: Signature, way: Way, told: Told, given: Laws, refused: set[bool]) -> Any:
    """Call the function on rows of laws by position [L + 1, V] and [L, V], and return the tokens that it emits."""
    target, draft, tokens = given
    if target.dim() == 1:
        target, draft = target[None].expand(2, -1), draft[None]
    _check_laws(target)
    lookahead, horizon = len(draft), len(target)
    prompt = tuple(place % 2 for place in range(lookahead + horizon + 4))
    models = table_models(_by_place(target), _by_place(draft), prompt, way.form, way.dtype)
    one = Round(found, way, target, draft, tuple(map(int, tokens)), prompt, told.temperature, models)
    has = {"cache": way.last, "key": way.numpy}
    values: dict[str, Any] = {name: one.value_of(name, kind) for name, kind in found.takes if has.get(kind, True)}
    values |= told.values
    mine = {name.removeprefix("self."): values.pop(name) for name in list(values) if name.startswith("self.")}
    fn = bound(found.fn, mine) if is_method(found.fn) else found.fn
    if found.has("places"):
        for model in models:
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
