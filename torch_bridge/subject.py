"""Samplers in torch as subjects of an audit: laws as tensors, torch's randomness followed with Python's and NumPy's.

Source: worked out here.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import torch

from spec_math.audit import case, judgement, subject
from spec_math.audit.exploration.followed import SOURCES
from spec_math.audit.subject import Numbers, Subject
from spec_math.verdict import Lossless, Lossy
from torch_bridge.random_source import torch_source

TYPES = ("float64", "float32", "float16", "bfloat16")


def subject_of(
    fn: Callable[..., Any], shape: str | None = None, numbers: str | None = None, grid: int | None = None
) -> Subject:
    """Return a function as a subject, as `spec_math.audit.subject.subject_of`, with torch's randomness followed.

    `numbers` may also be torch.float64, torch.float32, torch.float16 or torch.bfloat16; by default torch.float32 where
    the function or its module names torch.

    Raises:
        ValueError: as there.

    >>> subject_of(lambda target, draft: int(torch.multinomial(target, 1))).numbers.name
    'torch.float32'
    """
    found = subject.subject_of(fn, shape, numbers if numbers in subject.NUMBERS else None, grid)
    if numbers is None and found.shape != "verifier" and subject.names(fn, "torch"):
        numbers = "torch.float32"
    chosen = found.numbers if numbers is None or numbers in subject.NUMBERS else _tensors(numbers)
    return Subject(found.fn, found.shape, chosen, (*SOURCES, torch_source), grid)


def check_sampler(
    fn: Callable[..., Any], target: Any, draft: Any, k: int = 1, lookahead: int = 0, **how: Any
) -> Lossless | Lossy:
    """Decide whether somebody's sampler in torch emits the target's law, as `spec_math.audit.check_sampler` does.

    Raises:
        ValueError, TypeError, ExploreError, LeakError: as there.

    >>> bool(check_sampler(lambda target, draft: int(torch.multinomial(target, 1)), ["1/4", "3/4"], ["1/2", "1/2"]))
    True
    """
    budget, horizon = how.pop("budget", judgement.BUDGET), how.pop("horizon", None)
    judged = case.chain(target, draft, horizon) if lookahead else case.position(target, draft, k)
    return judgement.decided(judgement.judge(subject_of(fn, **how), judged, budget))


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
