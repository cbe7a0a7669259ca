"""vllm-gaudi: its verification, which is of greedy requests alone."""

from __future__ import annotations

from collections.abc import Sequence
from types import SimpleNamespace
from typing import Any

import numpy as np
import torch

from spec_math.arrays import asarray
from spec_math.language.model import Model
from torch_bridge.engines.engine import Edit, Engine, Options, Step, Text
from torch_bridge.engines.source import Repository

VLLM = {"vllm.v1.sample": {"rejection_sampler": SimpleNamespace(PLACEHOLDER_TOKEN_ID=-1, GREEDY_TEMPERATURE=0)}}


def _run(module: Any, step: Step) -> Sequence[int]:
    drafts = step.drafted()
    target, many = step.rows(step.target, drafts).softmax(-1), len(drafts)
    tokens, ends = torch.tensor(drafts, dtype=torch.int32), torch.tensor([many])
    laws = None, target[:-1], target[-1:].argmax(-1, keepdim=True)
    found = module.rejection_sample(tokens, [many], many, ends, *laws, SimpleNamespace(all_greedy=True))
    return [token for token in found[0].tolist() if token >= 0]


def _greedy(_module: Any, target: Model, _options: Options) -> Model:
    def law(text: Text) -> Any:
        masses = np.asarray(asarray(target(text)), dtype=np.float64)
        return np.eye(len(masses))[masses.argmax()]

    return law


ENGINES = (
    Engine(
        name="vllm-gaudi",
        source=Repository("vllm-project/vllm-gaudi"),
        module="vllm_gaudi.v1.sample.hpu_rejection_sampler",
        function="rejection_sample",
        rule="match, greedy",
        run=_run,
        control=Edit("pos < num_accepted.unsqueeze(-1)", "pos + 1 < num_accepted.unsqueeze(-1)"),
        stubs=("vllm",),
        given=VLLM,
        law=_greedy,
    ),
)
