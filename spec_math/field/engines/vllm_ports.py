"""Ports of vLLM's rejection sampler: vllm-ascend, vllm-gaudi, vllm-rbln and tpu-inference."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from types import SimpleNamespace
from typing import Any

import numpy as np
import torch

from spec_math.field import stand_ins
from spec_math.field.engine import PLAIN, Archive, Defect, Edit, Engine, Repository, Step, processed, real_tokens
from spec_math.field.stand_ins import Unpinned, uniform_probs

ASCEND_ARCHIVE = Archive(
    "vllm_ascend-0.18.0-cp311-cp311-manylinux_2_24_aarch64.whl",
    "5395dc4065dea188d0fead4a01c20243a92101a27b4e79c23aeacda844a3f690",
)
ASCEND_PLACE = "vllm_ascend.sample.rejection_sampler:rejection_sample"
ASCEND_OWN = ("ops.triton.reject_sample", "sample.sampler")
ASCEND_GIVEN = {**stand_ins.given(["vllm"]), **{f"vllm_ascend.{one}": {} for one in ASCEND_OWN}}


ALL_RANDOM = SimpleNamespace(all_greedy=False, all_random=True, temperature=torch.ones(1), generators={})


def _verified(verify: Any, drafts: list[list[int]], *laws: Any) -> list[int]:
    """Call a port's verification of requests with as many drafts each; return the tokens that the first one emits.

    `laws` are the draft's, the target's, the bonus tokens and the metadata.
    """
    ends = torch.arange(1, len(drafts) + 1) * len(drafts[0])
    tokens, counts = torch.tensor(drafts, dtype=torch.int32).flatten(), [len(one) for one in drafts]
    return real_tokens(verify(tokens, counts, counts[0], ends, *laws)[0])


def _run_port(module: Any, step: Step, name: str, one_hot: bool) -> Sequence[int]:
    """Call a port's function of a name, which takes the target's logits, or its laws where it is torch's own."""
    drafts, target, draft = step.chain()
    masses = target.softmax(-1)
    reported = None if one_hot else draft.exp().contiguous()
    wanted = (masses if name.startswith("torch") else target)[:-1].contiguous()
    bonus = torch.multinomial(masses[-1], 1)[None]
    return _verified(getattr(module, name), [drafts], reported, wanted, bonus, ALL_RANDOM)


def _run_ascend(module: Any, step: Step, one_hot: bool) -> Sequence[int]:
    module.torch = Unpinned()
    return _run_port(module, step, "rejection_sample", one_hot)


def _engine_ascend(name: str, rule: str, old: str, **known: Any) -> Engine:
    run, control = partial(_run_ascend, one_hot=rule == "one-hot"), Edit(old, "(target_token_probs >= 0)")
    return Engine(name, ASCEND_ARCHIVE, ASCEND_PLACE, run, control, rule, (), ("vllm",), ASCEND_GIVEN, **known)


RATIO = "target_token_probs / draft_token_probs >= uniform_token_probs"
OFF = (Edit("using_block_verify = max_spec_len >= 3 and draft_probs is not None", "using_block_verify = False"),)
BLOCK = Defect(
    "The code compares the product of the ratios with a product of uniforms, and draws from the residual of a single "
    "token. Without block verification the code is lossless. In the smallest case with continuous uniforms, the "
    "probability that all three drafts are accepted is too high by (x + x²/2)/8 = 0.53, with x = 3·log 2.",
    *OFF,
)
ASCEND = (
    _engine_ascend("vllm-ascend", "chain", RATIO, most=2),
    _engine_ascend("vllm-ascend one-hot", "one-hot", RATIO, most=2),
    _engine_ascend("vllm-ascend block", "block", "(pi >= uniform_token_probs)", defects=(BLOCK,), grid=3, narrow=True),
)


def _run_ascend_batch(module: Any, step: Step) -> Sequence[int]:
    module.torch = Unpinned()
    many, (drafts, target, rows) = step.lookahead, replace(step, options=PLAIN).chain()
    draft = rows.exp()
    # The other request's drafts are certain and kept, so that its coins decide nothing.
    sure = torch.eye(draft.shape[-1])[[0] * many]
    heats = torch.tensor([step.options.temperature, 1.0])
    metadata = SimpleNamespace(**vars(ALL_RANDOM) | {"all_random": False, "temperature": heats}, top_k=None, top_p=None)
    ends = torch.tensor([many, 2 * many])
    logits = module.apply_sampling_constraints(torch.cat([target[:-1], sure.log()]), ends, metadata)
    last = (target[-1] / (step.options.temperature or 1e-3)).softmax(-1)
    bonus = torch.stack([torch.multinomial(last, 1), torch.tensor([0])]).int()
    laws = torch.cat([draft, sure]), logits.contiguous(), bonus, metadata
    return _verified(module.rejection_sample, [drafts, [0] * many], *laws)


def _unfiltered(logits: torch.Tensor, *_: Any) -> torch.Tensor:
    return logits


SAMPLER = {"apply_top_k_top_p": _unfiltered}
ASCEND_BATCH = replace(
    ASCEND[0],
    name="vllm-ascend mixed batch",
    run=_run_ascend_batch,
    options=("temperature",),
    given={**ASCEND_GIVEN, "vllm_ascend.sample.sampler": SAMPLER},
)


GAUDI_VLLM = {"vllm.v1.sample": {"rejection_sampler": SimpleNamespace(PLACEHOLDER_TOKEN_ID=-1, GREEDY_TEMPERATURE=0)}}


def _run_gaudi(module: Any, step: Step) -> Sequence[int]:
    drafts = step.drafted()
    target = step.rows(step.target, drafts).softmax(-1)
    laws = None, target[:-1], target[-1:].argmax(-1, keepdim=True)
    return _verified(module.rejection_sample, [drafts], *laws, SimpleNamespace(all_greedy=True))


GAUDI = Engine(
    name="vllm-gaudi",
    source=Repository("vllm-project/vllm-gaudi"),
    function="vllm_gaudi.v1.sample.hpu_rejection_sampler:rejection_sample",
    rule="match, greedy",
    run=_run_gaudi,
    control=Edit("pos < num_accepted.unsqueeze(-1)", "pos + 1 < num_accepted.unsqueeze(-1)"),
    stubs=("vllm",),
    given=GAUDI_VLLM,
    law=lambda _, target, options: processed(target, replace(options, temperature=0.0)),
)


RBLN_ARCHIVE = Archive("vllm_rbln-0.12.0", "0af77bcf84421b15ffbb9625b880ce2184f6afa4cc720e91dd2c904d19ee2263")
RBLN_OWN = ("envs", "compilation", "logger", "platform")
RBLN_GIVEN: dict[str, dict[str, Any]] = {f"vllm_rbln.{one}": {} for one in RBLN_OWN}
RBLN_GIVEN["vllm_rbln.v1.sample.ops.top_k_top_p"] = {"GREEDY_TEMPERATURE": 0}
RBLN_GIVEN["vllm.v1.sample.rejection_sampler"] = {"generate_uniform_probs": uniform_probs}


def _engine_rbln(name: str, rule: str) -> Engine:
    place = "vllm_rbln.v1.sample.rbln_rejection_sampler:torch_rejection_sample"
    control = Edit("accept = accept & ~invalid_mask", "accept = ~invalid_mask")
    run = partial(_run_port, name="torch_rejection_sample", one_hot=rule == "one-hot")
    return Engine(name, RBLN_ARCHIVE, place, run, control, rule, (), ("vllm",), RBLN_GIVEN)


RBLN = (_engine_rbln("vllm-rbln", "chain"), _engine_rbln("vllm-rbln one-hot", "one-hot"))


TPU_ARCHIVE = Archive("tpu_inference-0.32.0", "7c25a3c76cefd383f06ef115a6ed4d7bed82c081f047046bfef55f5913ea06d4")
TPU_MODULE = "tpu_inference.layers.jax.sample.rejection_sampler"
ACCEPTS_ALL = Edit("accepted = ratio >= uniform_probs", "accepted = ratio >= 0")
TPU_OWN = ("layers.common.binary_search", "layers.common.sharding", "layers.jax.sample.sampling_metadata")
TPU_GIVEN = {**stand_ins.GIVEN, "jax.sharding": {}, **{f"tpu_inference.{one}": {} for one in TPU_OWN}}


def _run_tpu(module: Any, step: Step, one_hot: bool) -> Sequence[int]:
    drafts = step.drafted()
    target = np.array(step.laws(step.target, drafts))
    draft = None if one_hot else np.array(step.laws(step.draft, drafts)[:-1])
    return _of_tpu(module, step, drafts, draft, target[:-1], target[-1])


def _of_tpu(module: Any, step: Step, drafts: list[int], draft: Any, target: Any, last: Any) -> list[int]:
    bonus = np.random.default_rng().choice(len(last), p=last)
    given = np.array(drafts), np.array([len(drafts)]), draft, target, np.array([int(bonus)])
    return [int(token) for token in module.rejection_sample(*given, True, key=(len(step.text),)) if token >= 0]


def _engine_tpu(name: str, rule: str) -> Engine:
    place, run = f"{TPU_MODULE}:rejection_sample", partial(_run_tpu, one_hot=rule == "one-hot")
    return Engine(name, TPU_ARCHIVE, place, run, ACCEPTS_ALL, rule, (), ("jax",), TPU_GIVEN)


TPU = (_engine_tpu("tpu-inference", "chain"), _engine_tpu("tpu-inference one-hot", "one-hot"))


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
    masses = stand_ins.softmax(logits)
    order = np.argsort(-masses, kind="stable")
    sorted_ = np.take_along_axis(masses, order, -1)
    kept = np.take_along_axis(np.cumsum(sorted_, -1) - sorted_ < least[:, None], np.argsort(order, -1), -1)
    return np.where(kept, logits, replace_val)


def _run_tpu_sampler(module: Any, step: Step) -> Sequence[int]:
    drafts, options = step.drafted(), step.options
    logits = np.log(np.maximum(step.laws(step.target, drafts), LEAST))
    # A greedy request is told by the temperature −1; the batch samples, for another request does.
    metadata = SimpleNamespace(
        temperature=np.array([options.temperature or -1.0], dtype=np.float32),
        top_k=np.array([options.top_k or 0]),
        top_p=np.array([options.top_p or 1.0]),
    )
    target = module._compute_probs(logits[:-1], np.array([len(drafts)]), metadata)
    return _of_tpu(module, step, drafts, None, target, step.laws(processed(step.target, options), drafts)[-1])


ORDER = Defect(
    "At the verified positions, the code applies top_k and top_p before the temperature. For the bonus token, the code "
    "applies top_k and top_p after the temperature.",
    Edit(
        "    logits = logits.astype(jnp.float32)\n    # Only", "    logits = logits / temperatures[:, None]\n    # Only"
    ),
    Edit("    logits /= (temperatures + 1e-9)\n", ""),
)
GREEDY = Defect(
    "A greedy request in a batch with sampled requests has the temperature −1. The code divides the request's logits "
    "at the verified positions by −1, so the least likely token becomes the most likely.",
    Edit(
        "temperatures = sampling_metadata.temperature[segment_ids]",
        "temperatures = sampling_metadata.temperature[segment_ids]\n"
        "    temperatures = jnp.where(temperatures < 0, 1e-3, temperatures)",
    ),
)
MASKS = {"topk_mask": topk_mask, "topp_mask": topp_mask}
TPU_SAMPLER = replace(
    TPU[1],
    name="tpu-inference sampler",
    function=f"{TPU_MODULE}:_compute_probs, rejection_sample",
    run=_run_tpu_sampler,
    options=("temperature", "top_k", "top_p"),
    given={**TPU_GIVEN, "tpu_inference.layers.common.binary_search": MASKS},
    defects=(ORDER, GREEDY),
    most=2,
)


ENGINES = (*ASCEND, ASCEND_BATCH, GAUDI, *RBLN, *TPU, TPU_SAMPLER)
