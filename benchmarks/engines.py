"""How long the exact law of a real engine's step takes, down every path of its randomness. Needs transformers."""

from __future__ import annotations

import numpy as np
import torch

from benchmarks.table import Row, time_row
from spec_math.audit.zoo import toy
from torch_bridge.engines.transformers_step import step_law


def rows() -> list[Row]:
    """Measure transformers' `_speculative_sampling` on the zoo's laws: 5 tokens, 2 drafts, the bonus token too."""
    target, draft = (
        laws / laws.sum(-1, keepdims=True)
        for laws in (np.array([[float(mass) for mass in row] for row in rows]) for rows in (toy.TARGET, toy.DRAFT))
    )
    threads = torch.get_num_threads()
    torch.set_num_threads(1)
    try:
        return [time_row("exact law of transformers' step, V = 5", lambda: step_law(target, draft), 1000.0, repeats=5)]
    finally:
        torch.set_num_threads(threads)
