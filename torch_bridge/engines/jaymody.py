"""speculative-sampling of jaymody: the loop in NumPy, on models that return probabilities."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from spec_math.language.model import Model
from torch_bridge.engines.engine import PROMPT, Edit, Engine, Step, Text
from torch_bridge.engines.source import Repository


def _run(module: Any, step: Step) -> Sequence[int]:
    module.tqdm = _Quiet

    def rows(law: Model) -> Any:
        def answers(ids: Any) -> Any:
            text: Text = tuple(int(token) for token in ids)
            return np.array([law(text[len(PROMPT) : n + 1]) for n in range(len(text))])

        return answers

    prompt = np.array(step.prompt)
    found = module.speculative_sampling(prompt, rows(step.draft), rows(step.target), 1, step.lookahead)
    return found[len(prompt) :].tolist()


class _Quiet:
    def __init__(self, **_: Any) -> None: ...

    def __enter__(self) -> Any:
        return self

    def __exit__(self, *_: object) -> None: ...

    def update(self, _: int) -> None:
        """Show no progress."""


ENGINES = (
    Engine(
        name="jaymody",
        source=Repository("jaymody/speculative-sampling"),
        module="main",
        function="speculative_sampling",
        rule="chain",
        run=_run,
        control=Edit("max_fn(q[i] - p[i])", "q[i]"),
        stubs=("gpt2", "utils", "fire"),
    ),
)
