"""mtplx: one drafted token verified in NumPy."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from torch_bridge.engines.engine import Edit, Engine, Step
from torch_bridge.engines.source import Archive


def _run(module: Any, step: Step) -> Sequence[int]:
    target, draft = (np.array(law(step.text), dtype=np.float64) for law in (step.target, step.draft))
    return [module.verify_one_token(target, draft, step.drafted()[0]).token_id]


ENGINES = (
    Engine(
        name="mtplx",
        source=Archive(
            "mtplx",
            "2.12.2",
            "mtplx-2.12.2-py3-none-any.whl",
            "6f77365395d5574316be5d521a16d23681cd9c44622ce555d5d7242e00d8a91f",
        ),
        module="mtplx.sampling",
        function="verify_one_token",
        rule="chain",
        run=_run,
        control=Edit("np.maximum(np.asarray(target_p) - np.asarray(draft_q), 0.0)", "np.asarray(target_p)"),
        most=1,
    ),
)
