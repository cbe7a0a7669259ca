"""Vectors of every rule: the bridge passes them, a plain reader does, and wrong kernels of a tree rule do not."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

torch = pytest.importorskip("torch")

from safetensors.torch import load_file  # noqa: E402

from proofs_tests.torch_bridge.plain_reader import drawn, files, read, softmax  # noqa: E402
from spec_math import SCHEMES  # noqa: E402
from spec_math.block_level.tree_rules import TREE_RULES  # noqa: E402
from torch_bridge import verify_drafts, verify_tree, write_vectors  # noqa: E402

NEAR = 1e-4
"""Distances below it are left out: float32 softmaxes of 20 tokens are off by less than 1e-6 in all, and the chances and
borders here divide by masses of 1e-2 and more."""


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    place = tmp_path_factory.mktemp("vectors")
    write_vectors(place, 3)
    return place


@pytest.mark.parametrize("scheme", SCHEMES, ids=lambda scheme: scheme.name)
def test_every_scheme_on_logits_passes_its_vectors(folder: Path, scheme: Any) -> None:
    arrays = load_file(files(folder, "drafts")[scheme.name])
    given = [arrays[name] for name in ("target_logits", "draft_logits", "tokens", "uniforms")]
    found = verify_drafts(scheme, *given)
    far = arrays["distance"] > NEAR
    assert (found.emitted == arrays["expected"][:, 0])[far].all()
    assert (found.accepted.long() == arrays["accepted"])[far].all()
    assert far.sum() > 8


@pytest.mark.parametrize("rule", TREE_RULES, ids=lambda rule: rule.name)
def test_every_rule_of_a_tree_passes_its_vectors(folder: Path, rule: Any) -> None:
    arrays = load_file(files(folder, "tree")[rule.name])
    given = [arrays[name] for name in ("target_logits", "draft_logits", "tokens", "parents", "uniforms")]
    found = verify_tree(rule, *given)
    far, width = arrays["distance"] > NEAR, found.emitted.shape[1]
    assert (found.emitted == arrays["expected"][:, :width])[far].all()
    assert (found.accepted_nodes == arrays["nodes"][:, : width - 1])[far].all()
    assert far.sum() > 8
    assert len(arrays["count"].unique()) > 1


def kernel(target: Any, draft: Any, tokens: Any, parents: Any, uniforms: Any, wrong: str = "") -> list[int]:
    """Recursive rejection over distinct siblings, as one would write it in C: lists, and nothing else."""
    coins, emitted, node = iter(uniforms), list[int](), -1
    while True:
        t, d = softmax(target[node + 1]), softmax(draft[node + 1])
        accepted = None
        for child, (token, parent) in enumerate(zip(tokens, parents, strict=True)):
            if token < 0 or parent != node:
                continue
            if next(coins) < t[token] / d[token]:
                accepted = child
                break
            left = [max(a - b, 0.0) for a, b in zip(t, d, strict=True)]
            t = [mass / sum(left) for mass in left] if wrong != "residual" else t
            d[token] = 0.0
            if wrong != "draft":
                d = [mass / sum(d) for mass in d]
        if accepted is None:
            return [*emitted, drawn(t, next(coins))]
        emitted, node = [*emitted, tokens[accepted]], accepted


def failed(folder: Path, wrong: str = "") -> int:
    arrays = read(files(folder, "tree")["recursive rejection, distinct drafts"])
    count = 0
    for row, distance in enumerate(arrays["distance"]):
        given = [arrays[name][row] for name in ("target_logits", "draft_logits", "tokens", "parents", "uniforms")]
        emitted = kernel(*given, wrong=wrong)
        expected = [token for token in arrays["expected"][row] if token >= 0]
        count += distance > NEAR and emitted != expected
    return count


def test_a_plain_kernel_of_a_tree_rule_passes_its_vectors(folder: Path) -> None:
    assert failed(folder) == 0


@pytest.mark.parametrize("wrong", ["residual", "draft"])
def test_wrong_kernels_of_a_tree_rule_are_rejected(folder: Path, wrong: str) -> None:
    """The target kept after a rejection; the draft not divided by what it has left."""
    assert failed(folder, wrong) > 0
