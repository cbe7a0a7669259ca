"""All engines whose sources can be downloaded, by name."""

from __future__ import annotations

from torch_bridge.engines import (
    dflash,
    eagle_copies,
    feifeibear,
    flashspec,
    gpt_fast,
    jaymody,
    kernels_by_coins,
    litgpt,
    llama_cpp,
    lmdeploy,
    lmdeploy_sampler,
    lucidrains,
    medusa,
    mtplx,
    neuronx,
    openvino_genai,
    paths_that_draw,
    romsto,
    rotalabs_accel,
    rotalabs_accel_tree,
    sequential_speculative_decoding,
    sequoia,
    specdec,
    speculative_jacobi,
    tensorrt_llm,
    tightwad,
    tightwad_proxy,
    tpu_inference,
    tpu_inference_sampler,
    transformers,
    triforce,
    vllm_ascend,
    vllm_ascend_batch,
    vllm_gaudi,
    vllm_rbln,
    xllm,
)
from torch_bridge.engines.engine import Engine

ENGINES: tuple[Engine, ...] = (
    *sequential_speculative_decoding.ENGINES,
    *tightwad.ENGINES,
    *tightwad_proxy.ENGINES,
    *specdec.ENGINES,
    *litgpt.ENGINES,
    *flashspec.ENGINES,
    *dflash.ENGINES,
    *rotalabs_accel.ENGINES,
    *rotalabs_accel_tree.ENGINES,
    *lmdeploy.ENGINES,
    *lmdeploy_sampler.ENGINES,
    *lucidrains.ENGINES,
    *vllm_ascend.ENGINES,
    *vllm_ascend_batch.ENGINES,
    *vllm_rbln.ENGINES,
    *mtplx.ENGINES,
    *feifeibear.ENGINES,
    *romsto.ENGINES,
    *jaymody.ENGINES,
    *tpu_inference.ENGINES,
    *tpu_inference_sampler.ENGINES,
    *eagle_copies.ENGINES,
    *gpt_fast.ENGINES,
    *openvino_genai.ENGINES,
    *tensorrt_llm.ENGINES,
    *triforce.ENGINES,
    *sequoia.ENGINES,
    *transformers.ENGINES,
    *medusa.ENGINES,
    *kernels_by_coins.ENGINES,
    *paths_that_draw.ENGINES,
    *speculative_jacobi.ENGINES,
    *neuronx.ENGINES,
    *vllm_gaudi.ENGINES,
    *xllm.ENGINES,
    *llama_cpp.ENGINES,
)


def named(name: str) -> tuple[Engine, ...]:
    """Return the engines of a name, of a package, or of a repository: `rotalabs-accel` has several.

    Raises:
        ValueError: there is none; says which there are.

    >>> [engine.rule for engine in named("specdec")]
    ['chain']
    """
    found = tuple(one for one in ENGINES if name in (one.name, one.project))
    if not found:
        known = ", ".join(one.name for one in ENGINES)
        raise ValueError(f"there is no engine {name!r}; audit takes module:name, file.py:name, or one of {known}")
    return found
