"""SGLang's chain kernel as published: its exact law is the target's, and changed copies are seen as known bugs."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

pytest.importorskip("torch")

from proofs_tests.field.sources import changed, counted, draft, exact, named, root, target
from spec_math.field.chain_kernel import Requests
from spec_math.field.engine_law import judged
from spec_math.field.engines import sglang
from spec_math.field.source_file import EngineError
from spec_math.zoo import toy

# Triton's interpreter turns arrays of one element into numbers, which NumPy discourages.
pytestmark = pytest.mark.filterwarnings("ignore:Conversion of an array with ndim:DeprecationWarning")

FILE = "sglang/kernels/ops/speculative/reject_sampling.py"
UNIT = 2.0**-24
LAWS = {"zoo toy": (toy.target, toy.draft), "laws that look back": (target, draft)}


def bound(size: int, lookahead: int, *, block: bool) -> float:
    """What float32 and the grid k/2^24 explain of a total variation; all in u = 2^-24, to first order.

    Laws are rounded (u each). A coin accepts where fl(k·d) < t: its chance is off by 2u + u for the rounding, by u for
    the grid and less than 5u in all. A residual (t − d)+ is off by 3u(t + d), in sum 6u, and it is drawn from with
    the chance that is its own sum ρ: in the emitted law 6u, or 12u with the sum's own error. Running sums and the
    total are off by V·u each and their product with the uniform by u: each of V − 1 borders by (2V + 5)u with the grid.
    For a block, w after L tokens is off by 4L·u, ρ by (4L + 4 + V)u, and a coin's chance ρ/(ρ + 1 − w), which counts
    with the chance ρ + 1 − w that no later coin accepts, by both of these and the grid.
    """
    coin = (8 * lookahead + 6 + size) if block else 5
    residual = (8 * lookahead + 12) if block else 12
    return (lookahead * coin + residual + (size - 1) * (2 * size + 5)) * UNIT


@pytest.mark.parametrize("block", [False, True], ids=["token", "block"])
@pytest.mark.parametrize("laws", LAWS)
def test_the_chain_kernel_is_lossless(laws: str, block: bool, record_property: Any) -> None:
    folder = root("sglang")
    models = LAWS[laws]
    law, cost = counted(sglang, lambda: exact(sglang, folder, models, 2, block=block))
    size = len(models[0](()))
    assert abs(float(sum(law.values())) - 1) < 1e-12
    first, joint = (float(judged(law, models[0], horizon, -1).total_variation) for horizon in (1, 3))
    rule = "block" if block else "token"
    record_property(
        "finding", f"SGLang 0.5.23 chain, {rule}, {laws}: TV {first:.1e} (1 token), {joint:.1e} (3); {cost}"
    )
    assert joint <= bound(size, 2, block=block) < 1e-5


def test_the_two_rules_accept_differently() -> None:
    """Blocks are accepted longer on average: the two laws of emitted texts are not one."""
    folder = root("sglang")
    token, block = (exact(sglang, folder, (target, draft), 2, block=block) for block in (False, True))
    mean = [float(sum(mass * len(text) for text, mass in law.items())) for law in (token, block)]
    assert mean[1] > mean[0] + 0.01


PLAIN_RESIDUAL = {"residual_scale = prefix_prob": "residual_scale = 1.0", "norm_sum = residual_mass": "norm_sum = -1.0"}
CHANGES = {
    "M8": (False, {"(coin * q < p)": "(0.0 * coin * q < p)"}),
    "M11": (False, {"diff = residual_scale * p_val - q_val": "diff = residual_scale * p_val"}),
    "M28": (True, PLAIN_RESIDUAL),
    "M27": (True, {**PLAIN_RESIDUAL, "if coin < accept_prob:": "if coin < prefix_prob:"}),
}


@pytest.mark.parametrize("name", CHANGES)
def test_a_changed_copy_is_lossy_and_recognised(name: str, tmp_path: Path, record_property: Any) -> None:
    block, changes = CHANGES[name]
    folder = changed(root("sglang"), tmp_path, FILE, changes)
    law = exact(sglang, folder, LAWS["zoo toy"], 2, block=block)
    limit = bound(5, 2, block=block)
    verdict = judged(law, toy.target, 3, limit)
    assert not verdict
    record_property("finding", f"SGLang, copy changed to {name}: TV {float(verdict.total_variation):.3g} (3 tokens)")
    assert name in named(law, limit)
    assert not named(law, limit) & {"C1", "C6"}


def test_coins_read_twice_are_noticed(tmp_path: Path) -> None:
    """Every position tests the first coin: no law of independent coins is made up for it."""
    folder = changed(root("sglang"), tmp_path, FILE, {"uni_ptr_base + (step - 1) * stride_uni_s": "uni_ptr_base"})
    with pytest.raises(EngineError, match="do not act one by one"):
        exact(sglang, folder, (target, draft), 2)


def test_the_largest_uniforms_emit_the_last_token_without_mass() -> None:
    """As found: the total comes from one sum, the running sums from another, and where rounding leaves the running sum
    below the uniform times the total, no token is met and the last of the vocabulary is emitted, whatever its mass.

    The smallest row met has five tokens; on a GPU both sums run in another order, and this was not measured there.
    """
    folder = root("sglang")
    row = [0.20825427770614624, 0.17516234517097473, 0.032956693321466446, 0.5836266279220581, 0.0]
    law = exact(sglang, folder, (lambda _prefix: row,) * 2, 1)
    leak = sum(mass for text, mass in law.items() if text[-1] == 4)
    assert 0 < leak <= 2 * UNIT
    safe = [0.25, 0.25, 0.25, 0.25, 0.0]
    law = exact(sglang, folder, (lambda _prefix: safe,) * 2, 1)
    assert all(text[-1] != 4 for text in law)


def test_a_kernel_that_is_not_there_is_told(tmp_path: Path) -> None:
    root("sglang")
    with pytest.raises(EngineError, match="give the folder that holds the package 'sglang'"):
        exact(sglang, tmp_path, (target, draft), 1)
    ones = np.ones((1, 2, 1))
    assert Requests(ones, ones[:, :1], np.zeros((1, 1), dtype=np.int64)).take(np.array([0])).tokens.tolist() == [[0]]
