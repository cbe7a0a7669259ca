"""Samplers in torch as subjects of an audit: laws as tensors, torch's randomness followed with Python's and NumPy's."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from fractions import Fraction
from typing import Any

import numpy as np
import torch

from spec_math.pathwise.followed import SOURCES
from spec_math.samplers import subject
from spec_math.samplers.counts import checked_sampler
from spec_math.samplers.subject import Numbers, Subject
from spec_math.samplers.told import Told, parts_of, split_roles, values_of
from spec_math.verdict import Verdict
from torch_bridge import as_it_is
from torch_bridge.randomness.source import torch_source

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

    Raises:
        ValueError, TypeError: as `spec_math.samplers.subject.subject_of`.

    >>> subject_of(lambda target, draft: int(torch.multinomial(target, 1))).numbers.name
    'torch.float32'
    """
    plain, kinds = split_roles(roles)
    found = subject.subject_of(fn, shape, numbers if numbers in subject.NUMBERS else None, grid, plain)
    found = replace(found, sources=(*SOURCES, torch_source))
    only = bool(kinds) or (told is not None and told.anything)
    if (found.call.unclear or only) and numbers is None and shape is None:
        ways = as_it_is.subjects(fn, roles, grid, told)
        if ways:
            return replace(ways[0], variants=tuple(ways[1:]))
    if only:
        raise ValueError(
            f"{found.call.unclear or 'numbers and shapes'}; values, answers and temperatures are told of functions "
            "that are called as they are: target and draft, or their models, must be understood, and numbers left out"
        )
    if numbers is None and found.shape == "tokens":
        found = replace(found, variants=tuple(as_it_is.subjects(fn, roles, grid)))
    if numbers in subject.NUMBERS:
        return found
    if numbers is not None:
        return replace(found, numbers=_tensors(numbers), others=())
    if found.shape == "verifier":
        return found
    single, double = _tensors("torch.float32"), _tensors("torch.float64")
    if subject.names(fn, "torch"):
        return replace(found, numbers=single, others=(double, found.numbers, *found.others))
    return replace(found, others=(*found.others, single, double))


def told_subject_of(told: tuple[Sequence[str], str | None, str | None], fn: Callable[..., Any], *args: Any) -> Subject:
    """Return a function as a subject, with values, the parts of an answer and a temperature as a caller writes them.

    Raises:
        ValueError, TypeError: as `subject_of`, `values_of` and `parts_of`.

    >>> def verify(draft_tokens, target_logits, draft_probs, alpha): ...
    >>> told_subject_of((["alpha=2"], "count,token", "1/2"), verify).said.rpartition("; ")[2]
    'alpha: 2, as told), in a batch of one, returning count, token, as told'
    """
    values, returns, heat = told
    parts = parts_of(returns) if returns is not None else ()
    known = Told(values_of(fn, values), parts, Fraction(heat or "1"))
    shape, numbers, grid, roles = (*args, *(None,) * 4)[:4]
    return subject_of(fn, shape, numbers, grid, roles, known)


def check_sampler(
    fn: Callable[..., Any], target: Any, draft: Any, k: int | None = None, lookahead: int = 0, **how: Any
) -> Verdict:
    """Decide whether somebody's sampler in torch emits the target's law, as `spec_math.audit.check_sampler` does.

    Raises:
        ValueError, TypeError: as there.

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

    def rows(given: Any) -> torch.Tensor:
        return torch.from_numpy(np.array(given, dtype=object).astype(np.float64)).to(dtype)

    def tokens(given: tuple[int, ...]) -> torch.Tensor:
        return torch.tensor(given, dtype=torch.int64)

    finer = None if kind == "float64" else _tensors("torch.float64")
    return Numbers(name, rows, tokens, torch.finfo(dtype).eps / 2, finer)
