"""Samplers in torch, audited as they are: in half and single precision, by the command and by the function."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

torch = pytest.importorskip("torch", reason="torch is an optional extra")

from spec_math.audit import judge  # noqa: E402
from spec_math.cli import app  # noqa: E402
from spec_math.samplers.case import default  # noqa: E402
from torch_bridge import check_sampler  # noqa: E402
from torch_bridge.subject import subject_of  # noqa: E402

WHOLE = """
import torch

def block(tokens, targets, drafts):
    'Rejection sampling of a chain as an engine writes it.'
    ratios = targets[:-1].gather(-1, tokens[:, None])[:, 0] / drafts.gather(-1, tokens[:, None])[:, 0]
    accepted = torch.rand_like(ratios) RELATION ratios
    kept = int((accepted.int().cumprod(-1)).sum())
    rest = targets[kept] if kept == len(tokens) else (targets[kept] - drafts[kept]).clamp(min=0)
    return [*tokens[:kept].tolist(), torch.multinomial(rest, 1).item()]
"""


def by_gumbel(tokens: Any, target: Any, draft: Any) -> Any:
    x = tokens[0]
    noise = -torch.log(-torch.log(torch.rand_like(target) + 1e-20) + 1e-20)
    if bool(torch.rand(()) < target[x] / draft[x]):
        return x
    return ((target - draft).clamp(min=0).log() + noise).argmax()


def by_one_noise(target: Any, draft: Any) -> Any:
    """M34: the noise that drafted corrects."""
    noise = torch.empty_like(target).exponential_()
    x = (draft / noise).argmax()
    if bool(torch.rand(()) < target[x] / draft[x]):
        return x
    return ((target - draft).clamp(min=0) / noise).argmax()


@pytest.fixture
def module(tmp_path: Path) -> Path:
    place = tmp_path / "engine.py"
    place.write_text(WHOLE.replace("RELATION", "<"))
    return place


def run(*arguments: Any) -> Any:
    return CliRunner().invoke(app, ["audit", *(str(argument) for argument in arguments)])


def test_an_engine_s_block_is_lossless_and_its_mirror_is_not(module: Path) -> None:
    right = run(f"{module}:block", "--lookahead", "2")
    assert right.exit_code == 0, right.output
    assert "given torch.float32" in " ".join(right.output.split())
    module.write_text(WHOLE.replace("RELATION", ">"))
    wrong = run(f"{module}:block", "--lookahead", "1", "--pytest", module.parent / "test_case.py")
    assert wrong.exit_code == 1
    text = (module.parent / "test_case.py").read_text()
    assert "from torch_bridge import check_sampler" in text
    assert 'sampler.numbers = "torch.float32"' in text


@pytest.mark.parametrize("numbers", ["torch.float64", "torch.float32", "torch.bfloat16"])
def test_gumbel_noise_with_guards_is_judged_in_each_type(numbers: str) -> None:
    found = judge(subject_of(by_gumbel, numbers=numbers), default(), 1000)
    assert found.verdict
    assert 0 < found.joint <= found.bound
    assert float(found.walk.ignored) > 0


def test_one_noise_for_draft_and_correction_is_found() -> None:
    found = judge(subject_of(by_one_noise), default(), 1000)
    assert not found.verdict
    assert f"{float(found.first):.6f}" == "0.003435"
    assert not check_sampler(by_one_noise, ["1/2", "3/8", "1/8"], ["1/4", "1/4", "1/2"])
    with pytest.raises(ValueError, match=r"torch\.bfloat16; got 'torch\.int8'"):
        subject_of(by_gumbel, numbers="torch.int8")
