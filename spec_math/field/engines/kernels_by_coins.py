"""vLLM's and SGLang's verification of chains as records: Triton kernels whose uniforms are put in and bisected."""

from __future__ import annotations

from functools import partial

from spec_math.field.engine import Archive, Bisected, Edit, Engine, Repository
from spec_math.field.engines import sglang, vllm, vllm_runner
from spec_math.field.engines.vllm import parts
from spec_math.field.source_file import interpreted_triton

SGLANG = Archive(
    "sglang-0.5.23-cp311-cp311-manylinux_2_34_x86_64.whl",
    "00b3cd5b265ac76c64185fbb6b95424f324ddd9f428d0306b77bc9db9d859937",
)


def _interpreted() -> dict[str, dict[str, object]]:
    interpreted_triton()
    return {}


def _vllm(name: str, rule: str, control: Edit) -> Engine:
    how = Bisected(partial(vllm.kernel_of, one_hot=rule == "one-hot"), parts, (), rule == "one-hot")
    return _engine(name, vllm.MODULE, rule, control, how)


def _runner(name: str, rule: str, control: Edit) -> Engine:
    told = {"block": "block" in rule, "one_hot": "one-hot" in rule}
    how = Bisected(partial(vllm_runner.kernel_of, **told), parts, vllm_runner.BESIDE, told["one_hot"])
    return _engine(name, vllm_runner.MODULE, rule, control, how)


def _sglang(name: str, rule: str, control: Edit) -> Engine:
    how = Bisected(partial(sglang.kernel_of, block=rule == "block"), _interpreted)
    return _engine(name, sglang.MODULE, rule, control, how)


def _engine(name: str, module: str, rule: str, control: Edit, how: Bisected) -> Engine:
    own = name.startswith("SGLang")
    return Engine(
        name,
        SGLANG if own else Repository("vllm-project/vllm"),
        module,
        "chain_speculative_sampling_triton" if own else "rejection_sample",
        rule,
        how,
        control,
        most=2,
        slow=True,
    )


RESIDUAL = Edit("prob = tl.maximum(target_prob - draft_prob, 0.0)", "prob = target_prob")
DRAWN = Edit("if is_bonus or not is_valid_rejected_draft:", "if True:")
HALVED = Edit("target_u = coin_final * norm_sum", "target_u = 0.5 * coin_final * norm_sum")
ENGINES = (
    _vllm("vLLM", "chain", RESIDUAL),
    _vllm("vLLM one-hot", "one-hot", Edit(">= uniform_prob", ">= 0.0 * uniform_prob")),
    _runner("vLLM second runner", "chain", DRAWN),
    _runner("vLLM second runner block", "block", DRAWN),
    _runner("vLLM second runner one-hot", "one-hot", DRAWN),
    _sglang("SGLang", "chain", HALVED),
    _sglang("SGLang block", "block", HALVED),
)
