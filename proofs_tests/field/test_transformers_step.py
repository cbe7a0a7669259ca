"""transformers' verification step: its exact law is the target's, and broken copies of it are known bugs of the zoo."""

from __future__ import annotations

from functools import cache
from typing import Any
from unittest import mock

import numpy as np
import pytest

pytest.importorskip("torch", reason="torch is an optional extra")
pytest.importorskip("transformers", reason="transformers is not installed: pip install 'spec_math[transformers]'")

import torch

from proofs_tests.field.step_cases import DRAFT, TARGET, known, shipped, step_law, target, verify_step
from spec_math.audit import OWN_GRID, Specimen, diagnose
from spec_math.block_level.lossless import continued
from spec_math.field.engine_law import FLOAT32, float32_bound, judged, total_variation
from spec_math.field.installed import edited, engine_part
from spec_math.samplers.likeness import likenesses
from torch_bridge.subject import subject_of

UTILS = "transformers.generation.utils"


@cache
def law_of(old: str = "", new: str = "", weight: float | None = None) -> Any:
    """The step's law in float64, as shipped or edited."""
    return step_law(TARGET, DRAFT, weight, edited(shipped(), old, new) if old else None, torch.float64)


def specimen(law: Any) -> Specimen:
    """The step as an entry of the zoo: in float64 its verdicts allow for next to no rounding."""
    return Specimen("step", "", "", None, lambda coin, _: list(law)[coin.draw(list(law.values()))], target=target)


def test_speculative_sampling_emits_the_target_within_a_millionth() -> None:
    """How long it takes is a row of benchmarks/engines.py."""
    law = step_law(TARGET, DRAFT)
    first = [sum(mass for tokens, mass in law.items() if tokens[0] == token) for token in range(5)]
    assert max(abs(first - TARGET[0])) < 1e-6
    verdict = judged(law, target, 3, float32_bound(TARGET))
    assert verdict
    assert verdict.paths == law.paths
    assert judged(law, target, 3, 1e-6)


def test_in_double_precision_it_is_lossless_to_the_bound_of_programs() -> None:
    assert diagnose(specimen(law_of())).contract is None


BROKEN = [
    ("M7", "r_i <= probability_ratio", "r_i < 2"),
    ("M11", "torch.clamp((p_n_plus_1 - q_n_plus_1), min=0)", "p_n_plus_1.clone()"),
    (
        "M12",
        "torch.clamp((p_n_plus_1 - q_n_plus_1), min=0)",
        "(p_n_plus_1 - q_n_plus_1 * torch.nn.functional.one_hot("
        "new_candidate_input_ids[:, n_matches], q.shape[-1])).clamp(min=0)",
    ),
    (
        "M13",
        "torch.multinomial(p_prime, num_samples=1)",
        "(torch.multinomial(p_prime, num_samples=1) if n_matches == gamma else p_prime.argmax(-1, keepdim=True))",
    ),
]


@pytest.mark.parametrize(("name", "old", "new"), BROKEN, ids=[name for name, *_ in BROKEN])
def test_a_broken_copy_is_lossy_and_is_the_known_bug(name: str, old: str, new: str) -> None:
    """Ratio or residual patched: the law is that of the zoo's specimen, text by text, and the verifier is named."""
    law = law_of(old, new)
    # Both laws are exact but for float64: far below the smallest distance between specimens.
    assert total_variation(continued(law, target, 3), known(name)) < 1e-12
    assert not judged(law, target, 3, 1e-6)
    assert diagnose(specimen(law)).contract == "verifier"


@pytest.mark.parametrize("name", [name for name, *_ in BROKEN])
def test_the_shipped_step_is_none_of_the_known_bugs(name: str) -> None:
    assert total_variation(continued(law_of(), target, 3), known(name)) > 0.01


@pytest.mark.parametrize("name", ["", "M11"])
def test_the_audit_of_the_step_names_its_fault(name: str) -> None:
    """As `spec-math audit ...:verify_step --lookahead 2 --numbers torch.float64` does."""
    step = next((edited(shipped(), old, new) for known_as, old, new in BROKEN if known_as == name), shipped())
    with mock.patch.object(engine_part(UTILS, "_speculative_sampling"), "_speculative_sampling", step):
        found = likenesses(subject_of(verify_step, numbers="torch.float64"), 2, 1000)
    assert [one.specimen.name for one in found if one.same] == [name] * bool(name)


@pytest.mark.parametrize("weight", [0.25, 0.9])
def test_the_ensemble_emits_the_mixture_by_design(weight: float) -> None:
    """Each drafted position that is reached has w·target + (1 − w)·draft, and the last token the target's law."""
    law = law_of(weight=weight)
    by_design = weight * TARGET[:2] + (1 - weight) * DRAFT
    first, second, third = np.zeros(5), np.zeros(5), np.zeros(5)
    for tokens, mass in law.items():
        first[tokens[0]] += mass
        if len(tokens) > 1:
            second[tokens[1]] += mass
        if len(tokens) > 2:
            third[tokens[2]] += mass
    # float64 logarithms and softmaxes: a few units of 2^-53.
    assert np.abs(first - by_design[0]).max() < 1e-14
    assert np.abs(second / second.sum() - by_design[1]).max() < 1e-14
    assert np.abs(third / third.sum() - TARGET[2]).max() < 1e-14
    assert diagnose(specimen(law)).contract == "verifier"


def test_the_ensemble_keeps_its_law_in_single_precision() -> None:
    law = step_law(TARGET, DRAFT, 0.5)
    first = [sum(mass for tokens, mass in law.items() if tokens[0] == token) for token in range(5)]
    assert np.abs(first - (TARGET[0] + DRAFT[0]) / 2).max() < float32_bound(TARGET[:1])


def test_a_uniform_of_zero_accepts_what_the_target_never_says() -> None:
    """u <= t/d with u on the grid k/2^24: a draft of target mass 0 is kept with chance 2^-24 (M39)."""
    half = [[0.0, 1.0], [0.5, 0.5]]
    ideal, real = (step_law(half, [[0.5, 0.5]], grid=grid) for grid in (None, OWN_GRID))
    assert all(tokens[0] != 0 for tokens in ideal)
    assert sum(mass for tokens, mass in real.items() if tokens[0] == 0) == 0.5 * FLOAT32
