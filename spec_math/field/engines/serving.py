"""Samplers of serving engines: lmdeploy, neuronx, TensorRT-LLM, and the rules of compiled ones that are restated."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import torch

from spec_math.arrays import asarray
from spec_math.field.engine import (
    LIKELIEST,
    Archive,
    Defect,
    Edit,
    Engine,
    Options,
    Repository,
    Restated,
    Step,
    Text,
    real_tokens,
)
from spec_math.field.stand_ins import Unpinned
from spec_math.language.model import Model
from spec_math.pathwise.loading import Loading, load_module
from spec_math.pathwise.places import paused

ARCHIVE = Archive(
    "lmdeploy-0.18.0-cp311-cp311-manylinux_2_28_x86_64.whl",
    "e6790a25dcdb0345c160567fdf2ac604fec319389523a8b806834c9d92c8ffe1",
)


def _run_lmdeploy(module: Any, step: Step, one_hot: bool = False) -> Sequence[int]:
    drafts, target, draft = step.chain()
    bonus = torch.multinomial(target[-1].softmax(-1), 1)
    told = {"is_greedy": None, "draft_probs": None if one_hot else draft[None].exp()}
    found = module.DefaultRejectionSamplingImpl().forward(target[None, :-1], torch.tensor([drafts]), bonus, **told)
    return real_tokens(found[0][0])


MODULE = "lmdeploy.pytorch.backends.default.rejection_sampling"
PLACE = f"{MODULE}:DefaultRejectionSamplingImpl.forward"
REMOVED = Edit("(target_probs - draft_probs)", "(target_probs)")
LMDEPLOY_KEPT = Edit(
    "random_accepted = target_draft_probs >= uniform_probs", "random_accepted = target_draft_probs < 2"
)
ABSENT = ("transformers", "psutil")
ONE_HOT = partial(_run_lmdeploy, one_hot=True)
LMDEPLOY = (
    Engine("lmdeploy", ARCHIVE, PLACE, _run_lmdeploy, REMOVED, stubs=ABSENT),
    Engine("lmdeploy one-hot", ARCHIVE, PLACE, ONE_HOT, LMDEPLOY_KEPT, "one-hot", stubs=ABSENT),
)


def _drawn(scores: torch.Tensor, _seeds: Any, _offsets: Any, indices: torch.Tensor) -> torch.Tensor:
    return indices.gather(1, torch.multinomial(scores, 1))[:, 0]


def _verification(module: Any) -> Any:
    """Return the verification of the default backend, out of the same package, and let drawing be torch's own."""
    if not hasattr(module, "verification"):
        root = Path(module.__file__).parents[3]
        with paused():  # what is imported draws from what is real
            module.verification = load_module(root, MODULE, Loading(ABSENT)).DefaultRejectionSamplingImpl()
        module.FusedLogitsProcessor.__init__.__globals__["_multinomial_sampling"] = _drawn
    return module.verification


def _run_lmdeploy_sampler(module: Any, step: Step, greedy: bool) -> Sequence[int]:
    options, many, (drafts, rows, _) = step.options, step.lookahead, step.chain()
    sure = torch.eye(rows.shape[-1])[[0] * (many + 1)].log()
    target = torch.stack([rows / (options.temperature or 1.0), sure])
    first = [1 if options.temperature == 0 else options.top_k or 0] * (many + 1)
    kept = torch.tensor(first + [1 if greedy else 0] * (many + 1))
    sampling = module.SamplingInputs(
        top_k=kept,
        top_p=torch.tensor([options.top_p or 1.0] * len(kept)),
        max_top_k=0 if 0 in kept else int(kept.max()),
        has_greedy=bool((kept == 1).any()),
        batch_size=len(kept),
    )
    sampler = object.__new__(module.RejectionSampler)
    torch.nn.Module.__init__(sampler)
    sampler._impl = _verification(module)
    return real_tokens(sampler(target, torch.tensor([drafts, [0] * many]), sampling)[0][0])


FILTERS = Defect(
    "The code applies top_k, top_p and min_p when it draws the bonus token, but not to the target's distributions that "
    "verify drafts.",
    Edit(
        "target_draft_logits = target_logits[:, :-1].contiguous()",
        "target_draft_logits = _filtered(target_logits, expanded_sampling_inputs)[:, :-1].contiguous()",
    ),
    Edit(
        "class RejectionSampler(nn.Module):",
        "def _filtered(logits, inputs):\n"
        "    own = FusedLogitsProcessor.__init__.__globals__\n"
        "    scores, order = logits.flatten(0, 1).sort(1, descending=True)\n"
        "    top_k = inputs.top_k.masked_fill(inputs.top_k <= 0, scores.size(1))\n"
        "    scores = own['_filter_topk_sorted_'](scores, top_k)\n"
        "    scores = own['_filter_topp_sorted_'](scores, inputs.top_p)\n"
        "    return scores.gather(1, order.argsort(1)).view_as(logits)\n\n\n"
        "class RejectionSampler(nn.Module):",
    ),
)
UNUSED = ("messages", "pytorch.envs", "pytorch.messages", "pytorch.engine.guided_process", "pytorch.backends")
GIVEN: dict[str, dict[str, Any]] = {f"lmdeploy.{one}": {} for one in UNUSED}
GIVEN["lmdeploy.pytorch.engine.engine"] = {"Engine": None}
GIVEN["lmdeploy.pytorch.engine.engine_instance"] = {"EngineInstance": None}


def _engine(name: str, greedy: bool) -> Engine:
    return Engine(
        name=name,
        source=ARCHIVE,
        function="lmdeploy.pytorch.spec_decode.reject_sampler:RejectionSampler.forward",
        rule="one-hot",
        run=partial(_run_lmdeploy_sampler, greedy=greedy),
        control=Edit("bonus_logits = target_logits[:, -1]", "bonus_logits = target_logits[:, 0]"),
        options=("temperature", "top_k", "top_p"),
        given=GIVEN,
        defects=(FILTERS,),
        most=2,
    )


LMDEPLOY_SAMPLER = (_engine("lmdeploy sampler", False), _engine("lmdeploy sampler beside a greedy request", True))


OWN = "neuronx_distributed_inference"
BESIDE = (
    *("models.application_base", "models.config", "models.layer_boundary_marker", "models.model_wrapper"),
    *("modules.async_execution", "modules.attention.attention_process_groups", "modules.attention.utils"),
    *("modules.autobucketing", "modules.eagle.hidden_state", "modules.eagle.token_tree", "modules.flashdecode.utils"),
    *("modules.generation.seq_parallel_logits_slice", "modules.kvcache.block_kv_cache_manager"),
    *("modules.kvcache.data_parallel_kv_cache_manager", "modules.kvcache.kv_cache_manager", "modules.lora_serving"),
    *("utils.distributed", "utils.random"),
)


def _run_neuronx(module: Any, step: Step) -> Sequence[int]:
    decoder = object.__new__(module.NeuronFusedSpecModel)
    decoder.config = SimpleNamespace(pad_token_id=-1)
    drafts = step.drafted(lambda drafts: step.rows(step.draft, drafts)[-1].argmax())
    target = step.rows(step.target, drafts).softmax(-1)[None]
    ids, sure, all_ids = torch.tensor([drafts]), torch.ones(1, len(drafts)), torch.arange(target.size(-1))
    listed = all_ids.expand(target.shape)
    adjusted = decoder._adjust_target_probs(sure, ids, target, listed, len(drafts))
    drawn = torch.multinomial(adjusted[0], 1).view(1, -1)
    laws = ids, sure, listed[:, :-1], target[:, :-1]
    return real_tokens(decoder._speculative_token_selection(ids, drawn, *laws)[0][0])


NEURONX = Engine(
    name="neuronx",
    source=Repository("aws-neuron/neuronx-distributed-inference"),
    function=f"{OWN}.models.model_base:NeuronFusedSpecModel._adjust_target_probs, _speculative_token_selection",
    rule="one-hot, likeliest",
    run=_run_neuronx,
    control=Edit("sliced_target_probs - adjusted_draft_probs", "sliced_target_probs"),
    stubs=("neuronx_distributed", "torch_xla", "transformers", *(f"{OWN}.{name}" for name in BESIDE)),
    given={f"{OWN}.modules.generation.sampling": {"rand_like": torch.rand_like}},
    edits=(Edit(f"import {OWN}.modules.autobucketing as autobucketing", "autobucketing = None"),),
)


def _run_tensorrt(module: Any, step: Step) -> Sequence[int]:
    module.torch = Unpinned()
    generator, options = step.kept.setdefault("generator", torch.Generator()), step.options
    sampling = {"top_k": options.top_k or 3, "top_p": options.top_p or 1.0, "temperature": options.temperature}
    drafts: list[int] = []
    laws: list[torch.Tensor] = []
    for _ in range(step.lookahead):
        token, law = module.top_k_top_p_sampling_batch(step.rows(step.draft, drafts)[-1:], **sampling)
        drafts.append(int(token))
        laws.append(law[0])
    tokens, target = module.top_k_top_p_sampling_batch(step.rows(step.target, drafts), **sampling)
    rejected = module.get_rejected_indices(torch.stack(laws), target, generator, drafts)
    if rejected.numel() == 0:
        return [*drafts, int(tokens[-1])]
    kept = int(rejected[0])
    return [*drafts[:kept], module.sample_rejected(torch.stack(laws), target, generator, kept)]


TENSORRT = Engine(
    name="TensorRT-LLM",
    source=Repository("NVIDIA/TensorRT-LLM"),
    function="tensorrt_llm._torch.pyexecutor.sampling_utils:get_rejected_indices, sample_rejected",
    run=_run_tensorrt,
    control=Edit("new = last_target - last_draft", "new = last_target"),
    options=("temperature > 0", "top_k", "top_p"),
    given={"tensorrt_llm.bindings.executor": {}, "tensorrt_llm.sampling_params": {}},
)


def _listed(module: Any, model: Model, options: Options) -> Any:
    def candidates(text: Text) -> Any:
        law = [float(mass) for mass in np.asarray(asarray(model(text)), dtype=np.float64)]
        return module.candidates(law, options.top_k or len(law), options.top_p or 1.0, options.temperature)

    return candidates


def _run_llama_cpp(module: Any, step: Step) -> Sequence[int]:
    target, draft = (_listed(module, model, step.options) for model in (step.target, step.draft))
    drafts = step.drafted(lambda drafts: module.draft_token(draft((*step.text, *drafts))))
    rows, reported = ([law(text) for text in step.texts(drafts)] for law in (target, draft))
    return module.verify(drafts, reported[:-1], rows.__getitem__)


def _law(module: Any, target: Model, options: Options) -> Model:
    """The target's law as its own filters make it: top-p comes before the temperature."""
    listed = _listed(module, target, options)
    return lambda text: [dict(listed(text)).get(token, 0.0) for token in range(len(asarray(target(text))))]


SAMPLED = Defect(
    LIKELIEST + " The code becomes lossless if it samples the draft from the candidates, and if the residual is "
    "repaired too.",
    Edit("return listed[0][0]", "return _drawn([token for token, _ in listed], [mass for _, mass in listed])"),
)
BY_PLACE = Defect(
    "For the residual, the code subtracts the probabilities at equal positions of the target's and the draft's list of "
    "candidates. A position can hold different tokens in these lists, because the filters can keep different tokens.",
    Edit("(draft[i][1] if i < len(draft) else 0.0)", "_mass(draft, target[i][0])"),
)
LLAMA_CPP = Engine(
    name="llama.cpp example",
    source=Restated("ggml-org/llama.cpp 007d713"),
    function="spec_math.field.restated.llama_cpp:examples/speculative/speculative.cpp, main, restated",
    rule="likeliest, by ratio",
    run=_run_llama_cpp,
    control=Edit("random.random() <= ", "random.random() / 2 <= "),
    options=("temperature > 0", "top_k", "top_p"),
    law=_law,
    unit=2.0**-53,
    defects=(SAMPLED, BY_PLACE),
)


def _run_openvino(module: Any, step: Step) -> Sequence[int]:
    drafts = step.drafted()
    reported = [law[token] for law, token in zip(step.laws(step.draft, drafts), drafts, strict=False)]
    return module.verify(drafts, reported, step.laws(step.target, drafts).__getitem__)


OTHERS = Defect(
    "The code draws a token y from the target, and accepts the draft x if a uniform with only 101 values is at most "
    "the ratio of the draft probability of x to the target probability of y. After a rejection the code emits a draw "
    "from the target's distribution at the next position. The code is lossless if it accepts x only if x = y, and "
    "otherwise emits y.",
    Edit("random.random() < min(floor(100 * ratio) + 1, COINS) / COINS", "drawn == drafts[place]"),
    Edit("rejected = True", "return [*emitted, drawn]"),
)
OPENVINO = Engine(
    name="openvino-genai",
    source=Restated("openvino-genai 2026.4.1.0"),
    function="spec_math.field.restated.openvino_genai:validate_candidate, restated",
    rule="its own",
    run=_run_openvino,
    control=Edit("drawn = random.choices(range(len(law)), law)[0]", "drawn = drafts[min(place, len(drafts) - 1)]"),
    defects=(OTHERS,),
)


def _run_xllm(module: Any, step: Step) -> Sequence[int]:
    drafts, *rows = step.chain()
    target, draft = (row.softmax(-1) for row in rows)
    tokens, bonus = torch.tensor(drafts), torch.multinomial(target[-1], 1)
    return module.random_sample(tokens, module.kept(tokens, draft), target[:-1], bonus)


ONE = Defect(
    "The code keeps only the drafted token's draft probability, so the residual subtracts only this probability. After "
    "a rejection, the other tokens that the draft favours are therefore emitted too often. The code is lossless if it "
    "keeps the draft's whole distribution.",
    Edit("torch.zeros_like(laws).scatter(-1, tokens[:, None], selected)", "laws"),
)
XLLM = Engine(
    name="xLLM",
    source=Restated("jd-opensource/xllm 87e8d6e"),
    function="spec_math.field.restated.xllm:RejectionSampler::random_sample, restated",
    run=_run_xllm,
    control=Edit("< ratio[:, 0]", "< 2 * ratio[:, 0]"),
    defects=(ONE,),
)


ENGINES = (*LMDEPLOY, *LMDEPLOY_SAMPLER, NEURONX, TENSORRT, LLAMA_CPP, OPENVINO, XLLM)
