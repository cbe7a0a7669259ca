"""Samplers in torch as subjects of an audit: laws as tensors, torch's randomness followed with Python's and NumPy's.

Source: worked out here.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any

import numpy as np
import torch

from spec_math.audit import subject
from spec_math.audit.counts import checked_sampler
from spec_math.audit.exploration.followed import SOURCES
from spec_math.audit.subject import Numbers, Subject
from spec_math.verdict import Verdict
from torch_bridge.random_source import torch_source

TYPES = ("float64", "float32", "float16", "bfloat16")


def subject_of(
    fn: Callable[..., Any],
    shape: str | None = None,
    numbers: str | None = None,
    grid: int | None = None,
    roles: str | Mapping[str, str] | None = None,
) -> Subject:
    """Return a function as a subject, as `spec_math.audit.subject.subject_of`, with torch's randomness followed.

    `numbers` may also be torch.float64, torch.float32, torch.float16 or torch.bfloat16; by default torch.float32 where
    the function or its module names torch.

    Raises:
        ValueError, TypeError: as there.

    >>> subject_of(lambda target, draft: int(torch.multinomial(target, 1))).numbers.name
    'torch.float32'
    """
    found = subject.subject_of(fn, shape, numbers if numbers in subject.NUMBERS else None, grid, roles)
    found = replace(found, sources=(*SOURCES, torch_source))
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

    return Numbers(name, rows, tokens, torch.finfo(dtype).eps / 2)
