"""tpu-inference: rejection sampling in JAX, run on NumPy in its place."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from torch_bridge.engines.engine import Edit, Engine, Step
from torch_bridge.engines.source import Archive
from torch_bridge.stand_ins import jax

ARCHIVE = Archive(
    "tpu-inference",
    "0.32.0",
    "tpu_inference-0.32.0-py3-none-any.whl",
    "7c25a3c76cefd383f06ef115a6ed4d7bed82c081f047046bfef55f5913ea06d4",
)
OWN = ("layers.common.binary_search", "layers.common.sharding", "layers.jax.sample.sampling_metadata")
GIVEN = {**jax.GIVEN, "jax.sharding": {}, **{f"tpu_inference.{one}": {} for one in OWN}}


def _runs(one_hot: bool) -> Callable[[Any, Step], Sequence[int]]:
    def run(module: Any, step: Step) -> Sequence[int]:
        drafts = step.drafted()
        texts = [(*step.text, *drafts[:n]) for n in range(len(drafts) + 1)]
        target = np.array([step.target(text) for text in texts])
        draft = None if one_hot else np.array([step.draft(text) for text in texts[:-1]])
        bonus = int(np.random.default_rng().choice(target.shape[-1], p=target[-1]))
        given = np.array(drafts), np.array([len(drafts)]), draft, target[:-1], np.array([bonus])
        key = (len(step.text),)
        return [int(token) for token in module.rejection_sample(*given, True, key=key) if token >= 0]

    return run


def _engine(name: str, rule: str) -> Engine:
    module, function = "tpu_inference.layers.jax.sample.rejection_sampler", "rejection_sample"
    control = Edit("accepted = ratio >= uniform_probs", "accepted = ratio >= 0")
    return Engine(name, ARCHIVE, module, function, rule, _runs(rule == "one-hot"), control, (), ("jax",), GIVEN)


ENGINES = (_engine("tpu-inference", "chain"), _engine("tpu-inference one-hot", "one-hot"))
