"""Engines' own code for rules that are lossy on purpose emits the laws that `spec_math.lossy` gives for them."""

from __future__ import annotations

import os
from fractions import Fraction
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
import pytest

pytest.importorskip("torch", reason="torch is an optional extra")

import torch

from proofs_tests.field import sources, trees
from spec_math.chance import law
from spec_math.field.installed import missing
from spec_math.field.source_file import load
from spec_math.lossy import ensemble, fly, margin, typical
from spec_math.pathwise.exploration import Partial
from torch_bridge.randomness.source import explore

TARGET, DRAFT = np.array([0.5, 0.25, 0.1875, 0.0625]), np.array([0.25, 0.25, 0.125, 0.375])
"""Laws that every type holds exactly; the fourth token is rare for the target and favoured by the draft."""


def away(found: Any, wanted: Any) -> float:
    return float(np.abs(np.asarray(found) - np.asarray(wanted)).max())


# Softmaxes and logarithms in float64: a few dozen operations of 2^-53 each.
ROUNDING = 1e-13


@pytest.mark.parametrize("weight", [0.25, 0.5, 0.875])
def test_the_ensemble_of_transformers_has_the_law_of_the_ensemble(weight: float) -> None:
    if said := missing("transformers"):
        pytest.skip(said)
    from proofs_tests.field.step_cases import step_law

    found = step_law([TARGET, TARGET], [DRAFT], weight, dtype=torch.float64)
    first = [sum(mass for text, mass in found.items() if text[0] == token) for token in range(4)]
    assert away(first, ensemble.law(TARGET, DRAFT, 1, weight)) < ROUNDING
    # Control: the ensemble of another weight, and the lossless law, are others.
    assert away(first, ensemble.law(TARGET, DRAFT, 1, weight / 2)) > 0.01
    assert away(first, TARGET) > 0.01
    kept = sum(mass for text, mass in found.items() if len(text) == 2)
    assert abs(kept - ensemble.acceptance(TARGET, DRAFT, 1, weight)) < ROUNDING


@pytest.mark.parametrize(("threshold", "alpha"), [(0.09, 0.3), (0.5, 0.9)])
def test_typical_acceptance_of_medusa_has_the_law_of_typical_acceptance(threshold: float, alpha: float) -> None:
    """One drafted token at a time, sampled from the draft; the accepted ones are far from where 10^-5 matters."""
    path = os.environ.get("MEDUSA_UTILS")
    if not path:
        pytest.skip("MEDUSA_UTILS does not say where medusa/model/utils.py of Medusa is")
    evaluate = trees.from_file(path, "evaluate_posterior")
    emitted = np.zeros(4)
    for token, mass in enumerate(DRAFT):
        found = trees.medusa_law(
            evaluate, lambda _: TARGET, [(token,)], posterior_threshold=threshold, posterior_alpha=alpha
        )
        for text, chance in found.items():
            emitted[text[0]] += mass * chance
    options = typical.Options(threshold, alpha)
    assert away(emitted, typical.law(TARGET, DRAFT, 1, options)) < ROUNDING
    assert away(emitted, TARGET) > 0.01


def _as_they_are(_: Any, logits: torch.Tensor) -> torch.Tensor:
    return logits


@pytest.mark.parametrize("offset", [-3, 2, 20])
@pytest.mark.parametrize("drafts", [(3,), (3, 0)])
def test_mars_own_code_has_the_law_of_mars(
    drafts: tuple[int, ...], offset: int, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """A tree of one level, of the draft's likeliest tokens with their draft masses, as its drafter hands them over."""
    path = os.environ.get("MARS_UTILS")
    if not path:
        pytest.skip("MARS_UTILS does not say where mars/model/utils.py of MARS is")
    monkeypatch.chdir(tmp_path)  # the file may open a log where it is loaded
    evaluate = trees.from_file(path, "evaluate_posterior")
    logits = (torch.log(torch.tensor(TARGET)) + offset).repeat(len(drafts), 2, 1)
    candidates = torch.tensor([[0, token] for token in drafts])
    masses = torch.tensor([[1.0, DRAFT[token]] for token in drafts], dtype=torch.float64)

    def once() -> int:
        best, length, after = evaluate(
            logits.clone(), candidates.clone(), _as_they_are, masses.clone(), relaxation_threshold=0.9
        )
        return int(candidates[int(best), 1]) if int(length) else int(torch.multinomial(after, 1))

    found = explore(once)
    assert not isinstance(found, Partial)
    emitted = [float(found.get(token, 0)) for token in range(4)]
    options = margin.Options("9/10", offset)
    assert away(emitted, margin.law(TARGET, DRAFT, len(drafts), options)) < ROUNDING
    # Control: another constant, by which the other branch is taken, gives another law.
    other = margin.Options("9/10", 2 if offset != 2 else 20)
    assert away(emitted, margin.law(TARGET, DRAFT, len(drafts), other)) > 0.01


def deferred_by_the_kernel(
    module: Any, x: tuple[int, ...], passing: tuple[bool, ...], options: fly.Options
) -> list[bool]:
    """Which drafts vLLM's kernel lets pass, for coins that pass or fail each test: it sets their uniforms to 0."""
    targets = [[float(mass) for mass in sources.target(x[:place])] for place in range(len(x))]
    drafts = [[float(mass) for mass in sources.draft(x[:1] if place else ())] for place in range(len(x))]
    ratios = [t[y] / d[y] for y, t, d in zip(x, targets, drafts, strict=True)]
    coins = [min(1.0, r) / 2 if passes else (min(1.0, r) + 1) / 2 for r, passes in zip(ratios, passing, strict=True)]
    uniforms = torch.tensor(coins, dtype=torch.float64)
    rows = torch.tensor(targets, dtype=torch.float32)
    module.apply_fly_random_acceptance_kernel[(1,)](
        torch.tensor([len(x)], dtype=torch.int32),
        torch.tensor(x, dtype=torch.int32),
        torch.tensor(drafts, dtype=torch.float32),
        rows,
        uniforms,
        module.compute_fly_entropy(rows, options.top),
        torch.tensor([False]),
        rows.shape[-1],
        float(options.entropy),
        NO_DRAFT_PROBS=False,
        FLY_WINDOW_SIZE=options.window,
    )
    return [ratio >= coin for ratio, coin in zip(ratios, uniforms.tolist(), strict=True)]


@pytest.mark.filterwarnings("ignore:Conversion of an array:DeprecationWarning")  # of Triton's interpreter, with NumPy 2
@pytest.mark.parametrize(("entropy", "window"), [("0", 1), ("1", 1), ("0", 2), ("2", 1)])
def test_fly_of_vllm_has_the_law_of_fly(entropy: str, window: int) -> None:
    """Its own kernel, asked for every chain and every answer of its coins; what follows a rejection is the residual."""
    from spec_math.field.engines.vllm import parts

    module = load(sources.root("vllm"), "vllm.v1.spec_decode.fly", parts())
    options, lookahead = fly.Options(entropy, window), 3

    def drafter(prefix: tuple[int, ...]) -> list[Fraction]:
        return sources.draft(prefix[:1])

    found: dict[tuple[int, ...], Fraction] = {}
    for x in product(range(3), repeat=lookahead):
        laws = [(sources.target(x[:i]), drafter(x[:i])) for i in range(lookahead)]
        chances = [min(Fraction(1), t[y] / d[y]) if d[y] else Fraction(0) for y, (t, d) in zip(x, laws, strict=True)]
        drafted = Fraction(1)
        for y, (_, d) in zip(x, laws, strict=True):
            drafted *= d[y]
        for passing in product((True, False), repeat=lookahead):
            weight = drafted
            for passes, chance in zip(passing, chances, strict=True):
                weight *= chance if passes else 1 - chance
            if not weight:
                continue
            kept = deferred_by_the_kernel(module, x, passing, options)
            number = kept.index(False) if False in kept else lookahead
            after = sources.target(x) if number == lookahead else None
            if after is None:
                t, d = laws[number]
                lacking = [max(Fraction(0), a - b) for a, b in zip(t, d, strict=True)]
                after = [part / sum(lacking) for part in lacking]
            for token, share in enumerate(after):
                if share:
                    text = (*x[:number], token)
                    found[text] = found.get(text, Fraction(0)) + weight * share
    ours = law(lambda coin: fly.generate(coin, (sources.target, drafter), (), lookahead, options))
    assert found == ours
    other = law(lambda coin: fly.generate(coin, (sources.target, drafter), (), lookahead, fly.Options("1/10", 3)))
    assert found != other or entropy == "2"


def test_the_chain_kernel_of_sglang_takes_two_thresholds_and_does_not_look_at_them() -> None:
    """They act in its kernel for trees (`test_sglang_tree.py`); a chain with thresholds of 1/8 loses nothing."""
    from spec_math.field.source_file import interpreted_triton

    folder = sources.root("sglang")
    interpreted_triton()
    module = load(folder, "sglang.kernels.ops.speculative.reject_sampling", {})
    emitted: list[list[int]] = []
    for thresholds in ((1.0, 1.0), (0.125, 0.125)):
        rng, rows = np.random.default_rng(1), 64
        predicts = torch.full((rows * 2,), -1, dtype=torch.int32)
        module.chain_speculative_sampling_triton(
            predicts,
            torch.full((rows, 2), -1, dtype=torch.int32),
            torch.zeros(rows, dtype=torch.int32),
            torch.stack([torch.zeros(rows, dtype=torch.int64), torch.full((rows,), 3)], dim=1),
            torch.arange(rows * 2).view(rows, 2),
            None,
            None,
            torch.tensor(rng.random((rows, 1)), dtype=torch.float32),
            torch.tensor(rng.random(rows), dtype=torch.float32),
            torch.tensor(np.tile(TARGET, (rows, 2, 1)), dtype=torch.float32),
            torch.tensor(np.tile(DRAFT, (rows, 1, 1)), dtype=torch.float32),
            *thresholds,
            True,
        )
        emitted.append(predicts.tolist())
    assert emitted[0] == emitted[1]
    assert {3} < set(emitted[0])
