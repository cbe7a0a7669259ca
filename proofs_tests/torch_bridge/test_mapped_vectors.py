"""Vectors of drafts over another vocabulary: the bridge passes them, plain kernels do, and wrong ones do not."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

torch = pytest.importorskip("torch")

from safetensors.torch import load_file  # noqa: E402

from proofs_tests.torch_bridge.plain_reader import drawn, files, read, softmax  # noqa: E402
from spec_math import SCHEMES  # noqa: E402
from spec_math.block_level.tree_rules import TREE_RULES  # noqa: E402
from torch_bridge import MappedLogits, verify_drafts, verify_tree, write_vectors  # noqa: E402
from torch_bridge.rule_vectors import KINDS  # noqa: E402

NEAR = 1e-4
"""Distances below it are left out, as in the vectors of one vocabulary."""
kinds = pytest.mark.parametrize("kind", KINDS)


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    place = tmp_path_factory.mktemp("vectors")
    write_vectors(place, 3)
    return place


def rows(arrays: dict[str, Any], kind: str) -> tuple[Any, Any]:
    return arrays["target_logits"], MappedLogits(arrays["draft_logits"], arrays["places"], shared=KINDS[kind][2])


@kinds
@pytest.mark.parametrize("scheme", [scheme for scheme in SCHEMES if scheme.decide], ids=lambda scheme: scheme.name)
def test_every_scheme_over_another_vocabulary_passes_its_vectors(folder: Path, scheme: Any, kind: str) -> None:
    arrays = load_file(files(folder, "mappeddrafts")[f"{scheme.name} over {kind}"])
    found = verify_drafts(scheme, *rows(arrays, kind), arrays["tokens"], arrays["uniforms"])
    far = arrays["distance"] > NEAR
    assert (found.emitted == arrays["expected"][:, 0])[far].all()
    assert (found.accepted.long() == arrays["accepted"])[far].all()
    assert far.sum() > 8


@kinds
@pytest.mark.parametrize("rule", [rule for rule in TREE_RULES if rule.decide], ids=lambda rule: rule.name)
def test_every_rule_of_a_tree_over_another_vocabulary_passes_its_vectors(folder: Path, rule: Any, kind: str) -> None:
    arrays = load_file(files(folder, "mappedtree")[f"{rule.name} over {kind}"])
    given = (arrays[name] for name in ("tokens", "parents", "uniforms"))
    found = verify_tree(rule, *rows(arrays, kind), *given)
    far, width = arrays["distance"] > NEAR, found.emitted.shape[1]
    assert (found.emitted == arrays["expected"][:, :width])[far].all()
    assert (found.accepted_nodes == arrays["nodes"][:, : width - 1])[far].all()
    assert far.sum() > 8


def laws(target: Any, draft: Any, places: list[int], kind: str, wrong: str) -> tuple[list[float], list[float], Any]:
    """The target's masses of the draft's tokens and of all others as one; the draft's; the others' own."""
    t, both = softmax(target), zip(draft, places, strict=True)
    masked = [x if place >= 0 or kind == "union" else -1e30 for x, place in both]
    rest = [0.0 if token in places else mass for token, mass in enumerate(t)]
    own = [t[place] if place >= 0 else 0.0 for place in places]
    # The wrong kernel's residual holds the draft's tokens alone.
    return [*own, 0.0 if wrong == "residual" else sum(rest)], [*softmax(masked), 0.0], rest


def kernel(target: Any, draft: Any, given: dict[str, Any], row: int, kind: str, wrong: str) -> list[int]:
    """Recursive rejection over distinct siblings of the draft's tokens, as one would write it in C."""
    places = given["places"][1:] + given["places"][:1] if wrong == "map" else given["places"]
    tokens, parents, coins = given["tokens"][row], given["parents"][row], iter(given["uniforms"][row])
    emitted, node = list[int](), -1
    while True:
        t, d, rest = laws(target[node + 1], draft[node + 1], places, kind, wrong)
        accepted = None
        for child, (token, parent) in enumerate(zip(tokens, parents, strict=True)):
            if token < 0 or parent != node or d[token] == 0:
                continue
            if next(coins) < t[token] / d[token]:
                accepted = child
                break
            left = [max(a - b, 0.0) for a, b in zip(t, d, strict=True)]
            t = [mass / sum(left) for mass in left] if sum(left) else t
            d[token] = 0.0
            d = [mass / sum(d) for mass in d]
        if accepted is None:
            y = drawn(t, next(coins))
            return [*emitted, drawn(rest, next(coins)) if y == len(places) else places[y]]
        emitted, node = [*emitted, places[tokens[accepted]]], accepted


def failed(folder: Path, kind: str, shape: str, wrong: str = "") -> int:
    """Requests that the kernel decides otherwise; a row of drafts of one position is a tree of one level."""
    name = "recursive rejection without replacement" if shape == "drafts" else "recursive rejection, distinct drafts"
    arrays = read(files(folder, f"mapped{shape}")[f"{name} over {kind}"])
    if shape == "drafts":
        arrays["parents"] = [[-1] * len(row) for row in arrays["tokens"]]
    count = 0
    for row, distance in enumerate(arrays["distance"]):
        logits = [arrays["target_logits"][row], arrays["draft_logits"][row]]
        if shape == "drafts":
            # After a draft that is accepted nothing more is asked of this level: any row will do.
            logits = [[own] * (1 + len(arrays["tokens"][row])) for own in logits]
        emitted = kernel(logits[0], logits[1], arrays, row, kind, wrong)
        expected = [token for token in arrays["expected"][row] if token >= 0]
        count += distance > NEAR and emitted[: len(expected)] != expected
    return count


@kinds
@pytest.mark.parametrize("shape", ["drafts", "tree"])
def test_a_plain_kernel_over_another_vocabulary_passes_its_vectors(folder: Path, kind: str, shape: str) -> None:
    assert failed(folder, kind, shape) == 0


@kinds
@pytest.mark.parametrize("wrong", ["map", "residual"])
@pytest.mark.parametrize("shape", ["drafts", "tree"])
def test_wrong_kernels_over_another_vocabulary_are_rejected(folder: Path, kind: str, shape: str, wrong: str) -> None:
    """The map is off by one; the residual is taken over the draft's vocabulary alone."""
    assert failed(folder, kind, shape, wrong) > 0


@pytest.mark.parametrize("shape", ["drafts", "tree"])
def test_drafts_of_all_tokens_are_no_drafts_of_the_shared_ones(folder: Path, shape: str) -> None:
    """A kernel that takes the draft's law of the union for that of the intersection is rejected too."""
    name = "recursive rejection without replacement" if shape == "drafts" else "recursive rejection, distinct drafts"
    arrays = load_file(files(folder, f"mapped{shape}")[f"{name} over intersection"])
    given = [arrays[name] for name in ("tokens", "parents", "uniforms") if name in arrays]
    rule: Any = next(each for each in (*SCHEMES, *TREE_RULES) if each.name == name)
    verify: Any = verify_drafts if shape == "drafts" else verify_tree
    found = verify(rule, arrays["target_logits"], rows(arrays, "union")[1], *given)
    wanted = arrays["expected"][:, 0] if shape == "drafts" else arrays["expected"]
    assert (found.emitted != wanted).any()
