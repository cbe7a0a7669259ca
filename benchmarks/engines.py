"""What the exact law of a real engine's step costs, against as many plain runs of that step. Needs transformers."""

from __future__ import annotations

from time import process_time

import numpy as np
import torch

from benchmarks.table import Row, interleaved
from spec_math.field.catalogue import named
from spec_math.field.engine import Step
from spec_math.field.engine_law import engine_law
from spec_math.field.installed import engine_part
from spec_math.language.model import Model
from spec_math.zoo import toy

BOUND = 60
"""An explored run follows each operation on what was drawn by hand. When this row was a time, it was promised a second:
some sixty times what as many plain runs take, here in the same run and in processor time on both sides."""


def rows(repeats: int = 5) -> list[Row]:
    """Measure transformers' `_speculative_sampling` on the zoo's laws: 5 tokens, 2 drafts, the bonus token too."""
    engine, _ = named("transformers")
    module = engine_part("transformers.generation.utils", "_speculative_sampling")
    laws = _floats(toy.target), _floats(toy.draft)
    threads = torch.get_num_threads()
    torch.set_num_threads(1)
    try:
        explored = engine_law(engine, module, laws, 2)
        runs, step = explored.paths, Step(*laws, 2)

        def plain() -> None:
            for _ in range(runs):
                engine.run(module, step)

        ours, theirs = interleaved((lambda: engine_law(engine, module, laws, 2), plain), repeats, clock=process_time)
    finally:
        torch.set_num_threads(threads)
    ratios = sorted(a / b for a, b in zip(ours, theirs, strict=True))
    spread = f"{ratios[0]:.3g}..{ratios[-1]:.3g}; best {min(ours):.3g} s / {min(theirs):.3g} s"
    against = f"{runs:,} plain runs of the step: as many as the law takes"
    return [Row("exact law of transformers' step, V = 5", ratios[len(ratios) // 2], BOUND, "×", spread, against)]


def _floats(model: Model) -> Model:
    return lambda text: np.array([float(mass) for mass in model(text)])
