"""speculative-decoding: the generation loop of lucidrains, with Gumbel noise for drafts."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import torch

from torch_bridge.engines.engine import Edit, Engine, Step
from torch_bridge.engines.source import Archive
from torch_bridge.stand_ins.rearranged import rearrange


def _run(module: Any, step: Step) -> Sequence[int]:
    def answers(model: Any) -> Any:
        # A cache is there to be cut; the whole text is handed over each time.
        def answer(ids: torch.Tensor, **_: Any) -> Any:
            return model(ids), (torch.zeros(1, 1, ids.shape[1], 1), None)

        return answer

    target, draft = map(answers, step.models("tensor"))
    ids = step.ids()
    length = ids.shape[1] + 1
    heat = step.options.temperature
    found = module.speculative_decoding(target, draft, ids, length, step.lookahead, heat, filter_thres=0.0)
    return found[0][0].tolist()


ENGINES = (
    Engine(
        name="lucidrains",
        source=Archive(
            "speculative-decoding",
            "0.2.0",
            "speculative_decoding-0.2.0-py3-none-any.whl",
            "0652f1723decdfeadec7333fe4d6d37abf17fe0cf59f59637107d7af3f762cfb",
        ),
        module="speculative_decoding.speculative_decoding",
        function="speculative_decoding",
        rule="chain",
        run=_run,
        control=Edit("(bool_tensor.cumsum(dim = dim) == 0)", "(bool_tensor.cumsum(dim = dim) < 9)"),
        options=("temperature > 0",),
        stubs=("beartype",),
        given={"einops": {"rearrange": rearrange}},
    ),
)
