"""tpu-inference: verification with what a request asks for, in a batch where another one samples; one-hot drafts."""

from __future__ import annotations

from collections.abc import Sequence
from types import SimpleNamespace
from typing import Any

import numpy as np

from torch_bridge.engines.engine import Defect, Edit, Engine, Options, Step, processed
from torch_bridge.engines.tpu_inference import ARCHIVE, GIVEN

LEAST = 1e-30
"""A mass of 0 as a logit: an infinite one is no logit of a model."""


def topk_mask(logits: Any, most: Any, replace_val: float) -> Any:
    """Keep the `most` largest of each row [n, V], with whatever equals the last of them.

    >>> topk_mask(np.array([[3.0, 1.0, 2.0]]), np.array([2]), -np.inf).tolist()
    [[3.0, -inf, 2.0]]
    """
    last = np.take_along_axis(-np.sort(-logits), np.maximum(most, 1)[:, None] - 1, axis=-1)
    return np.where(logits >= last, logits, replace_val)


def topp_mask(logits: Any, least: Any, replace_val: float) -> Any:
    """Keep the smallest set of the likeliest tokens of each row [n, V] whose mass is at least `least`.

    >>> topp_mask(np.log([[0.5, 0.25, 0.25]]), np.array([0.4]), 0.0).round(2).tolist()
    [[-0.69, 0.0, 0.0]]
    """
    masses = np.exp(logits - logits.max(-1, keepdims=True))
    masses = masses / masses.sum(-1, keepdims=True)
    order = np.argsort(-masses, kind="stable")
    sorted_ = np.take_along_axis(masses, order, -1)
    kept = np.take_along_axis(np.cumsum(sorted_, -1) - sorted_ < least[:, None], np.argsort(order, -1), -1)
    return np.where(kept, logits, replace_val)


def _run(module: Any, step: Step) -> Sequence[int]:
    drafts, options = step.drafted(), step.options
    texts = [(*step.text, *drafts[:n]) for n in range(len(drafts) + 1)]
    logits = np.log(np.maximum([np.asarray(step.target(text), dtype=float) for text in texts], LEAST))
    # A greedy request is told by the temperature −1; the batch samples, for another request does.
    metadata = SimpleNamespace(
        temperature=np.array([options.temperature or -1.0], dtype=np.float32),
        top_k=np.array([options.top_k or 0]),
        top_p=np.array([options.top_p or 1.0]),
    )
    many = np.array([len(drafts)])
    target = module._compute_probs(logits[:-1], many, metadata)
    last = np.asarray(processed(step.target, options)(texts[-1]), dtype=float)
    bonus = int(np.random.default_rng().choice(len(last), p=last))
    found = module.rejection_sample(
        np.array(drafts), many, None, target, np.array([bonus]), True, key=(len(step.text),)
    )
    return [int(token) for token in found if token >= 0]


ORDER = Defect(
    "For the verified places top_k and top_p are applied before the temperature, and for the bonus token after it.",
    (
        Edit(
            "    logits = logits.astype(jnp.float32)\n    # Only",
            "    logits = logits / temperatures[:, None]\n    # Only",
        ),
        Edit("    logits /= (temperatures + 1e-9)\n", ""),
    ),
    Options(0.5, None, 0.8),
)
GREEDY = Defect(
    "A greedy request of a batch that samples has the temperature −1, and its verified places are divided by it: the "
    "least likely token becomes the likeliest.",
    (
        Edit(
            "temperatures = sampling_metadata.temperature[segment_ids]",
            "temperatures = sampling_metadata.temperature[segment_ids]\n"
            "    temperatures = jnp.where(temperatures < 0, 1e-3, temperatures)",
        ),
    ),
    Options(0.0),
)
MASKS = {"topk_mask": topk_mask, "topp_mask": topp_mask}
ENGINES = (
    Engine(
        name="tpu-inference sampler",
        source=ARCHIVE,
        module="tpu_inference.layers.jax.sample.rejection_sampler",
        function="_compute_probs, rejection_sample",
        rule="one-hot",
        run=_run,
        control=Edit("accepted = ratio >= uniform_probs", "accepted = ratio >= 0"),
        options=("temperature", "top_k", "top_p"),
        stubs=("jax",),
        given={**GIVEN, "tpu_inference.layers.common.binary_search": MASKS},
        defects=(ORDER, GREEDY),
        most=2,
    ),
)
