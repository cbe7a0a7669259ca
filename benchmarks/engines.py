"""What the exact law of a real engine's step costs, against as many plain runs of that step. Needs transformers."""

from __future__ import annotations

from time import process_time
from typing import Any

import numpy as np
import torch

from benchmarks.table import Row, interleaved
from spec_math.audit.zoo import toy
from torch_bridge.engines.installed import engine_part
from torch_bridge.engines.transformers_step import step_law, verify_step

BOUND = 60
"""An explored run follows each operation on what was drawn by hand. When this row was a time, it was promised a second:
some sixty times what as many plain runs take, here in the same run and in processor time on both sides."""


def rows(repeats: int = 5) -> list[Row]:
    """Measure transformers' `_speculative_sampling` on the zoo's laws: 5 tokens, 2 drafts, the bonus token too."""
    target, draft = (
        laws / laws.sum(-1, keepdims=True)
        for laws in (np.array([[float(mass) for mass in row] for row in rows]) for rows in (toy.TARGET, toy.DRAFT))
    )
    threads = torch.get_num_threads()
    torch.set_num_threads(1)
    try:
        runs = runs_of(target, draft)
        laws = torch.from_numpy(target), torch.from_numpy(draft)

        def plain() -> None:
            for _ in range(runs):
                verify_step(torch.multinomial(laws[1], 1)[:, 0], *laws)

        ours, theirs = interleaved((lambda: step_law(target, draft), plain), repeats, clock=process_time)
    finally:
        torch.set_num_threads(threads)
    ratios = sorted(a / b for a, b in zip(ours, theirs, strict=True))
    spread = f"{ratios[0]:.3g}..{ratios[-1]:.3g}; best {min(ours):.3g} s / {min(theirs):.3g} s"
    against = f"{runs:,} plain runs of the step: as many as the law takes"
    return [Row("exact law of transformers' step, V = 5", ratios[len(ratios) // 2], BOUND, "×", spread, against)]


def runs_of(target: Any, draft: Any) -> int:
    """Count how often the step is run for its law."""
    step, runs = engine_part("transformers.generation.utils", "_speculative_sampling")._speculative_sampling, [0]

    def counted(*arguments: Any, **options: Any) -> Any:
        runs[0] += 1
        return step(*arguments, **options)

    step_law(target, draft, step=counted)
    return runs[0]
