"""gpt-fast: speculative decoding with models that keep their cache inside; drawn by races of exponentials."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import torch

from torch_bridge.engines.engine import Defect, Edit, Engine, Step
from torch_bridge.engines.source import Repository
from torch_bridge.toy_models import TableModel


def _run(module: Any, step: Step) -> Sequence[int]:
    last = len(step.prompt) - 1
    target, draft = (_placed(model) for model in step.models("tensor"))
    for model in (target, draft):
        model(step.ids(), torch.arange(last + 1))
    sampling = {"temperature": step.options.temperature, "top_k": step.options.top_k}
    token = step.ids()[0, -1].int()
    return module.speculative_decode(target, draft, token, last, step.lookahead, **sampling).tolist()


def _placed(model: TableModel) -> Callable[[torch.Tensor, torch.Tensor], torch.Tensor]:
    """A model whose second argument is where its tokens stand."""
    return lambda ids, places: model(ids, input_pos=places)


SHAPES = Defect(
    "Since batches came, each draft and its masses have a dimension of requests in front, which the verification does "
    "not know of.",
    (
        Edit("draft_tokens = torch.cat(draft_tokens)", "draft_tokens = torch.cat(draft_tokens).view(-1)"),
        Edit("draft_probs = torch.stack(draft_probs)", "draft_probs = torch.cat(draft_probs)"),
    ),
)
ENGINES = (
    Engine(
        name="gpt-fast",
        source=Repository("pytorch-labs/gpt-fast"),
        module="generate",
        function="speculative_decode",
        rule="chain",
        run=_run,
        control=Edit("new = q - p\n", "new = q\n"),
        options=("temperature > 0", "top_k"),
        given={"model": {"Transformer": object}, "tokenizer": {}},
        defects=(SHAPES,),
    ),
)
