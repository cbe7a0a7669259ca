"""Functions that draw and compare are found, and no others."""

from __future__ import annotations

from pathlib import Path

from spec_math.studies.audits.samples import suspects

SOURCE = """
import torch

def verify(p, q, x):
    return x if torch.rand(1) < p[x] / q[x] else int(torch.multinomial(p, 1))

class Sampler:
    def step(self, p):
        return (p / torch.empty(3).exponential_()).argmax() == 1

def greedy(p, x):
    return x == p.argmax()

def noise():
    return torch.rand(3)
"""


def test_what_draws_and_compares_is_listed_with_its_command(tmp_path: Path) -> None:
    (tmp_path / "sampling.py").write_text(SOURCE)
    (tmp_path / "broken.py").write_text("def (")
    found = suspects(tmp_path)
    assert [(one.name, one.line, one.draws) for one in found] == [
        ("verify", 4, ("rand", "multinomial")),
        ("Sampler.step", 8, ("exponential_",)),
    ]
    assert found[0].command == f"spec-math audit {tmp_path / 'sampling.py'}:verify"
