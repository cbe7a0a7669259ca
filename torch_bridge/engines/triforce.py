"""TriForce: a draft, the target on a cache of retrieved tokens, and the target, each verifying the one before."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import count, takewhile
from types import SimpleNamespace
from typing import Any

import torch

from torch_bridge.engines.engine import Defect, Edit, Engine, Step
from torch_bridge.engines.source import Repository

FILL = 100
"""What the loop fills places up with that hold no token yet."""


class _Engines:
    """The three models and their caches, as the loop calls them; what is retrieved gives the target's own laws."""

    def __init__(self, step: Step) -> None:
        self.step, self.model, self.emitted = step, SimpleNamespace(device="cpu"), [0]
        self.engine = self.kv_cache = self.graph_cache = self.draft_cache = self
        self.seq_len = self.start_size = self.recent_size = self.calls = 0

    def inference(self, input_ids: torch.Tensor) -> torch.Tensor:
        rows = self.step.rows(self.step.target, input_ids[0, 1:].tolist())[None]
        self.calls += 1
        return rows if self.calls > 2 else torch.eye(rows.shape[-1])[:1, None].log()

    def graph_verify(self, input_ids: torch.Tensor, **_: Any) -> torch.Tensor:
        return self.step.rows(self.step.target, _tokens(input_ids)).softmax(-1)

    def graph_draft_inference(self, input_ids: torch.Tensor, **_: Any) -> torch.Tensor:
        self.emitted = _tokens(input_ids)
        return self.step.rows(self.step.draft, self.emitted)[-1].softmax(-1)

    def __getattr__(self, name: str) -> Any:
        return _nothing


def _nothing(*_: Any, **__: Any) -> None: ...


def _tokens(ids: torch.Tensor) -> list[int]:
    return list(takewhile(lambda token: token != FILL, ids[0, 1:].tolist()))


def _run(module: Any, step: Step) -> Sequence[int]:
    # Of the prompt comes one token, always the same, which is the loop's first and not judged.
    module.time = SimpleNamespace(time=count().__next__)
    models, prompt = _Engines(step), step.ids()
    module.TriForce(SimpleNamespace(eos_token_id=-1), models, prompt, step.lookahead, max_len=1, top_p=0, temperature=1)
    return models.emitted


MIDDLE = Defect(
    "Where the middle model rejects a draft it draws from its whole law in place of the residual, and what it hands on "
    "is no longer drawn from the law that it reports.",
    (
        Edit(
            "else:\n            pred_token_idx = sample(verify_prob[n])",
            "else:\n            pred_token_idx = sample(max_fn(verify_prob[n] - speculation_prob))",
        ),
    ),
)
ENGINES = (
    Engine(
        name="TriForce",
        source=Repository("Infini-AI-Lab/TriForce"),
        module="utils.decoding",
        function="TriForce, Middle_Spec",
        rule="two levels",
        run=_run,
        control=Edit("sample(max_fn(verify_prob-speculation_prob))", "sample(verify_prob)"),
        stubs=("termcolor",),
        most=2,
        slow=True,
        defects=(MIDDLE,),
    ),
)
