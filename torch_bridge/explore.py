"""The exact law of unmodified torch code: `spec_math.audit.explore` with torch's randomness followed too.

Source: worked out here.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from spec_math.audit.exploration.explore import Explored, Partial
from spec_math.audit.exploration.explore import explore as explore_with
from spec_math.audit.exploration.followed import SOURCES
from torch_bridge.random_source import torch_source


def explore(fn: Callable[[], Any], budget: int = 100_000, grid: int | None = None) -> Explored | Partial:
    """Compute the exact law of what a function returns, over torch's randomness, Python's and NumPy's.

    The law: {outcome: probability}. torch.rand, rand_like, randint, randperm, bernoulli, multinomial, gumbel_softmax
    (hard) and Tensor.uniform_ and exponential_ are followed, with a generator or without; comparisons and searchsorted
    fork, argmin, argmax, topk and sort of exponential or Gumbel noise race. On the CPU, in float64, float32, float16 or
    bfloat16. Masses are floats, as torch's numbers are. Generators are left as they were.

    Args:
        fn: a function of its draws alone, whose outcome is hashable: `.tolist()` or `.item()` of tensors of tokens.
        budget: the most paths to walk; where there are more, the result is a `Partial`.
        grid: None for ideal uniforms; b for uniforms k/2^b; `OWN_GRID` for each type's own, k/2^24 in float32 and as
            `random_draws.uniform_value` says in half precision. The code's arithmetic on a uniform is then done in its
            own type, rounding and all. Noise to race is ideal.

    Raises:
        ExploreError: as `spec_math.audit.explore`; a function of torch that is not known meets a random number.

    >>> import torch
    >>> explore(lambda: bool(torch.rand(1) < torch.tensor([0.25])))
    {True: 0.25, False: 0.75}
    """
    return explore_with(fn, budget, grid, (*SOURCES, torch_source))
