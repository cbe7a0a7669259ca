"""vLLM's two rejection samplers as published: exact laws against the target, and changed copies as known bugs."""

from __future__ import annotations

from fractions import Fraction
from functools import partial
from math import log
from pathlib import Path
from typing import Any

import numpy as np
import pytest

pytest.importorskip("torch")

from proofs_tests.field.sources import changed, counted, draft, exact, named, root, target
from proofs_tests.field.sources import kernel as kernel_at
from spec_math.field import chain_kernel
from spec_math.field.chain_kernel import Requests
from spec_math.field.engine_law import judged
from spec_math.field.engines import vllm, vllm_runner
from spec_math.field.engines.vllm import parts
from spec_math.field.source_file import EngineError, load
from spec_math.zoo import toy

# Triton's interpreter turns arrays of one element into numbers, which NumPy discourages.
pytestmark = pytest.mark.filterwarnings("ignore:Conversion of an array with ndim:DeprecationWarning")

FIRST = "vllm/v1/sample/rejection_sampler.py"
SECOND = "vllm/v1/worker/gpu/spec_decode/rejection_sampler_utils.py"
UNIT = 2.0**-24
LAWS = {"zoo toy": (toy.target, toy.draft), "laws that look back": (target, draft)}

MODES = {
    "V1, token": (vllm, {}),
    "V1, one-hot": (vllm, {"one_hot": True}),
    "second runner, token": (vllm_runner, {}),
    "second runner, token, one-hot": (vllm_runner, {"one_hot": True}),
    "second runner, block": (vllm_runner, {"block": True}),
    "second runner, block, one-hot": (vllm_runner, {"block": True, "one_hot": True}),
}


def bound(models: tuple[Any, Any], lookahead: int) -> float:
    """What float32 explains of a total variation, in u = 2^-24 and to first order; half the result would do.

    D being the largest |log| of a mass, a logit is off by D·u; less the largest one by D·u more; its exponential by 4u,
    their sum by V·u besides; the logarithm of the sum by 4u·log V; the differences that make a log-mass by D·u each.
    So a mass is off by the factor 1 ± e, e = (4D + V + 16)·u, which covers a softmax too. Of a chain, w after L tokens
    is off by 2L·e, ρ by (2L + 2)e, both counting in a coin as ρ + 1 − w; a residual by (2L + 4)e in sum, drawn with the
    chance that is its own sum. The race compares products that are off by 6u. Uniforms have at least 2^24 values.
    """
    rows = [[float(mass) for mass in model(prefix)] for model in models for prefix in [(), (0,), (1,), (2,)]]
    size = len(rows[0])
    e = (4 * max(-log(mass) for row in rows for mass in row if mass) + size + 16) * UNIT
    return 2 * (lookahead * ((4 * lookahead + 2) * e + 2 * UNIT) + (2 * lookahead + 4) * e + 6 * UNIT) / 2


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("laws", LAWS)
def test_the_sampler_is_lossless(laws: str, mode: str, record_property: Any) -> None:
    folder = root("vllm")
    (adapter, named_options), models = MODES[mode], LAWS[laws]
    law, cost = counted(adapter, lambda: exact(adapter, folder, models, 2, **named_options))
    assert abs(float(sum(law.values())) - 1) < 1e-12
    first, joint = (float(judged(law, models[0], horizon, -1).total_variation) for horizon in (1, 3))
    record_property("finding", f"vLLM 0.33.0 {mode}, {laws}: TV {first:.1e} (1 token), {joint:.1e} (3); {cost}")
    assert joint <= bound(models, 2) < 2e-4


CHANGES = {
    "M8": (vllm, {}, FIRST, {">= uniform_prob": ">= 0.0 * uniform_prob"}),
    "M11": (vllm, {}, FIRST, {"prob = tl.maximum(target_prob - draft_prob, 0.0)": "prob = target_prob"}),
    "M13": (vllm, {}, FIRST, {"inv_q = q.reciprocal()": "inv_q = torch.ones_like(q)"}),
    "M7": (vllm_runner, {}, SECOND, {"accepted = target_logprob > tl.log(u) + draft_logprob": "accepted = True"}),
    "M11, second runner": (vllm_runner, {}, SECOND, {"if is_bonus or not is_valid_rejected_draft:": "if True:"}),
    "M28": (vllm_runner, {"block": True}, SECOND, {"target_log_probs += log_p_tau": "target_log_probs += 0.0"}),
    "M27": (
        vllm_runner,
        {"block": True},
        SECOND,
        {
            "target_log_probs += log_p_tau": "target_log_probs += 0.0",
            "h = tl.where(denom > 0.0, residual_mass / denom, 1.0)": "h = prefix_joint_ratio",
        },
    ),
}


@pytest.mark.parametrize("name", CHANGES)
def test_a_changed_copy_is_lossy_and_recognised(name: str, tmp_path: Path, record_property: Any) -> None:
    adapter, options, file, changes = CHANGES[name]
    folder = changed(root("vllm"), tmp_path, file, changes)
    law = exact(adapter, folder, LAWS["zoo toy"], 2, **options)
    limit = bound(LAWS["zoo toy"], 2)
    verdict = judged(law, toy.target, 3, limit)
    assert not verdict
    record_property("finding", f"vLLM, copy changed to {name}: TV {float(verdict.total_variation):.3g} (3 tokens)")
    assert name[:3].strip(",") in named(law, limit)
    assert not named(law, limit) & {"C1", "C6"}


# A draft that the grammar refuses is taken away before verification: −1 stands in its place.
HALF = Fraction(1, 2)


def allowed(_prefix: Any) -> list[Fraction]:
    return [HALF, HALF, Fraction(0)]


def unaware(_prefix: Any) -> list[Fraction]:
    return [HALF, Fraction(0), HALF]


def refused(text: tuple[int, ...]) -> tuple[int, ...]:
    return tuple(-1 if 2 in text[: place + 1] else token for place, token in enumerate(text))


def test_the_first_runner_redraws_from_the_residual_where_a_draft_was_taken_away() -> None:
    """The token behind a placeholder comes from (t − d)+: right where the placeholder took away a token of mass 0."""
    kernel = kernel_at(vllm, root("vllm"))
    law = chain_kernel.law(kernel, allowed, unaware, 1, handed=refused)
    assert judged(law, allowed, 1, bound((allowed, unaware), 1))
    # Where nothing was drafted at all, the target would be right, and this is not it.
    law = chain_kernel.law(kernel, allowed, unaware, 1, handed=lambda _text: (-1,))
    assert float(judged(law, allowed, 1, 0).total_variation) == pytest.approx(0.5, abs=1e-6)


@pytest.mark.parametrize("block", [False, True], ids=["token", "block"])
def test_the_second_runner_redraws_from_the_target_where_a_draft_was_taken_away(block: bool) -> None:
    """As found: behind a placeholder the target itself is drawn from, which is right where nothing was drafted.

    With structured outputs something was: a draft that the grammar refuses is sampled, sent to the scheduler, and comes
    back as -1 (grammar_invalid_drafts; that way was read, and not run). Its mass is then handed out by t in place of
    (t − d)+. In the smallest case, t = (1/2, 1/2, 0) and d = (1/2, 0, 1/2), the law is (3/4, 1/4, 0): total variation
    d(refused) · TV(t, residual) = 1/2 · 1/2, as in the known bug M49. To hand on the refused draft itself would cure
    it: its mass under the grammar is 0, so that it is rejected and the residual drawn. Drafts without laws do not lose.
    """
    kernel = kernel_at(vllm_runner, root("vllm"), block=block)
    law = chain_kernel.law(kernel, allowed, unaware, 1, handed=refused)
    assert float(judged(law, allowed, 1, bound((allowed, unaware), 1)).total_variation) == pytest.approx(0.25, abs=1e-6)
    law = chain_kernel.law(kernel, allowed, unaware, 1, handed=lambda _text: (-1,))
    assert judged(law, allowed, 1, bound((allowed, unaware), 1))
    law = chain_kernel.law(kernel, allowed, unaware, 1)
    assert judged(law, allowed, 1, bound((allowed, unaware), 1))
    blind = kernel_at(vllm_runner, root("vllm"), block=block, one_hot=True)
    law = chain_kernel.law(blind, allowed, unaware, 1, one_hot=True, handed=refused)
    assert judged(law, allowed, 1, bound((allowed, unaware), 1))


def test_the_second_runner_never_emits_what_the_draft_has_no_logit_for() -> None:
    """As found: the target's vocabulary is cut to the draft's, also for the bonus token. Behind it must lie padding."""
    module = load(root("vllm"), vllm_runner.MODULE, parts(), vllm_runner.BESIDE)
    requests = Requests(np.full((1, 2, 3), 1 / 3), np.full((1, 1, 2), 1 / 2), np.zeros((1, 1), dtype=np.int64))
    for coin in (0, vllm_runner.GRID - 1):
        _, logits = vllm_runner.launch(module, requests, np.full((1, 1), coin), block=False, one_hot=False)
        assert logits[0, 2] == -np.inf


def test_draws_that_are_not_foreseen_are_told(tmp_path: Path) -> None:
    """Uniforms of another type or shape, exponentials for each position: the adapter stops, and makes up no law."""
    copy = partial(changed, root("vllm"), tmp_path, FIRST)
    with pytest.raises(EngineError, match="uniforms of"):
        exact(vllm, copy({"dtype=torch.float64,\n        device=device,": "dtype=torch.float32,"}), (target, draft), 1)
    with pytest.raises(EngineError, match="exponentials, not"):
        exact(vllm, copy({"(batch_size, vocab_size)": "(len(draft_token_ids), vocab_size)"}), (target, draft), 2)
