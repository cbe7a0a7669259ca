"""Verifiers of one position, a file for each rule: how drafts are drawn, the program, its closed forms.

Modules are loaded when they are first used.
"""

from typing import TYPE_CHECKING

from spec_math.lazy import lazily

if TYPE_CHECKING:
    from spec_math.token_level import (
        bounds,
        draft_law,
        greedy,
        hub,
        k_sequential,
        one_hot,
        optimal,
        plan,
        pooled_priority,
        recursive,
        sample_and_match,
        shared_noise,
        single,
        transport,
        without_replacement,
    )
    from spec_math.token_level.schemes import SCHEMES

__getattr__ = lazily(__name__, {"spec_math.token_level.schemes": ("SCHEMES",)})

__all__ = [
    "SCHEMES",
    "bounds",
    "draft_law",
    "greedy",
    "hub",
    "k_sequential",
    "one_hot",
    "optimal",
    "plan",
    "pooled_priority",
    "recursive",
    "sample_and_match",
    "shared_noise",
    "single",
    "transport",
    "without_replacement",
]


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
