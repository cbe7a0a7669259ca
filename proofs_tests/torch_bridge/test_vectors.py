"""Conformance vectors: the files are whole, say what the programs emit, and tell a wrong verifier from a right one."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

torch = pytest.importorskip("torch")

from safetensors.torch import load_file  # noqa: E402

from proofs_tests.torch_bridge.batches import Logits, law_of, replayed  # noqa: E402
from spec_math import SCHEMES, replay  # noqa: E402
from spec_math.block_level.tree_rules import TREE_RULES  # noqa: E402
from spec_math.testing import DifferentTokensError  # noqa: E402
from spec_math.token_level import plan  # noqa: E402
from torch_bridge import assert_same_tokens, vectors, verify_block, verify_token, write_vectors  # noqa: E402
from torch_bridge.options import Options  # noqa: E402


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    place = tmp_path_factory.mktemp("vectors")
    write_vectors(place, 7)
    return place


def listed(folder: Path, *verifiers: str) -> list[tuple[dict[str, Any], dict[str, Any]]]:
    files = json.loads((folder / "vectors.json").read_text())["files"]
    return [(file, load_file(folder / file["file"])) for file in files if file["verifier"] in verifiers]


def inputs(arrays: dict[str, Any]) -> Logits:
    return Logits(*(arrays[name] for name in ("target_logits", "draft_logits", "tokens", "uniforms")))


def test_every_verifier_type_and_shape_is_there(folder: Path) -> None:
    found = listed(folder, "token", "block", "k_seq", "plan")
    rules, mapped = listed(folder, "drafts", "tree"), listed(folder, "mappeddrafts", "mappedtree")
    assert len(found) == len(vectors.CASES) == len(list(folder.glob("*.safetensors"))) - len(rules) - len(mapped)
    assert len(rules) == len(SCHEMES) + len(TREE_RULES)
    for file, arrays in found:
        sizes = (arrays["tokens"] >= 0).sum(dim=1)
        assert sizes.min() == 0
        assert sizes.max() == arrays["tokens"].shape[1]
        assert arrays["accepted"].max() > 0, file["file"]
        assert (arrays["distance"] >= 0).all()
        assert float(arrays["uniforms"].float().max()) < 1
        assert (arrays["uniforms"].float().double() == arrays["uniforms"]).all()
    assert {str(arrays["target_logits"].dtype) for _, arrays in found} == {
        "torch.float32",
        "torch.bfloat16",
        "torch.float16",
    }


def test_vectors_hold_what_the_replayed_programs_emit(folder: Path) -> None:
    for file, arrays in listed(folder, "token", "block"):
        options = Options(**file["options"])
        if arrays["target_logits"].shape[-1] < 100:
            assert_same_tokens(
                replayed(file["verifier"], inputs(arrays), options), arrays["expected"], arrays["distance"], 1e-12
            )


def test_verifiers_on_logits_pass_their_vectors(folder: Path) -> None:
    verifiers = {"token": verify_token, "block": verify_block}
    compared = 0
    for file, arrays in listed(folder, "token", "block"):
        emitted = verifiers[file["verifier"]](*inputs(arrays), Options(**file["options"])).emitted
        assert_same_tokens(arrays["expected"], emitted, arrays["margin"], file["bound"], arrays["uniforms"])
        compared += int((arrays["margin"] > file["bound"]).sum())
    assert compared > 0.9 * sum(len(arrays["tokens"]) for _, arrays in listed(folder, "token", "block"))


def test_vectors_of_the_plan_hold_what_replayed_plans_emit(folder: Path) -> None:
    for file, arrays in listed(folder, "plan"):
        options, found = Options(**file["options"]), []
        for target_logits, draft_logits, padded, uniforms in zip(*inputs(arrays), strict=True):
            target, draft = law_of(target_logits, options), law_of(draft_logits, options)
            tokens = tuple(token for token in padded.tolist() if token >= 0)
            if tokens:
                made = plan.plan(target, draft, len(tokens))
                found.append(replay(lambda coin, a=(tokens, made): plan.emit(coin, *a), uniforms.tolist()))
            else:
                found.append((replay(lambda coin, t=target: coin.draw(t), uniforms[-1:].tolist()), False))
        emitted, accepted = (torch.tensor(column) for column in zip(*found, strict=True))
        assert_same_tokens(arrays["expected"][:, 0], emitted, arrays["distance"], 1e-12)
        assert (accepted.long() == arrays["accepted"]).all()
        with pytest.raises(DifferentTokensError):  # the control
            assert_same_tokens(arrays["expected"][:, 0], emitted.roll(1), arrays["distance"], 1e-12)


def test_vectors_reject_the_other_verifier_and_shifted_uniforms(folder: Path) -> None:
    for verifier, wrong in (("token", verify_block), ("block", verify_token)):
        rejected = 0
        for file, arrays in listed(folder, verifier):
            for verify, shift in ((wrong, 0), ({"token": verify_token, "block": verify_block}[verifier], 1)):
                given = inputs(arrays)
                given = given._replace(uniforms=given.uniforms.roll(shift, dims=1))
                try:
                    emitted = verify(*given, Options(**file["options"])).emitted
                    assert_same_tokens(arrays["expected"], emitted, arrays["margin"], file["bound"])
                except DifferentTokensError:
                    rejected += 1
        assert rejected > len(listed(folder, verifier))


def test_k_seq_vectors_are_decided_by_their_own_gamma(folder: Path) -> None:
    """A second verifier, from the printed formulas, in float64."""
    for file, arrays in listed(folder, "k_seq"):
        options = Options(**file["options"])
        for row, padded in enumerate(arrays["tokens"].tolist()):
            t, d = (torch.from_numpy(law_of(arrays[name][row], options)) for name in ("target_logits", "draft_logits"))
            tokens, gamma = [token for token in padded if token >= 0], arrays["gamma"][row]
            passed = torch.minimum(d, t / gamma)
            beta, token = passed.sum(), -1
            coins = arrays["uniforms"][row]
            for draft, uniform in zip(tokens, coins, strict=False):
                if token < 0 and uniform < t[draft] / (gamma * d[draft]):
                    token = draft
            rate = (1 - (1 - beta) ** len(tokens)) / beta if beta > 0 else 0.0
            left = (t - passed * rate).clamp(min=0)
            if token < 0:
                left = left if left.sum() > 0 else t
                token = int((left.cumsum(0) > coins[-1] * left.sum()).int().argmax())
            assert_same_tokens([arrays["expected"][row, 0]], [token], arrays["distance"][row, None], 1e-9)


def test_the_same_seed_gives_the_same_files(tmp_path: Path, folder: Path) -> None:
    for path in write_vectors(tmp_path, 7):
        assert path.read_bytes() == (folder / path.name).read_bytes()


def test_a_failed_write_leaves_nothing_behind(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(path: Path, content: bytes) -> int:
        with path.open("wb") as file:
            file.write(content[:10])
        raise OSError("no space left")

    monkeypatch.setattr(Path, "write_bytes", full)
    with pytest.raises(OSError, match="no space left"):
        write_vectors(tmp_path)
    assert list(tmp_path.iterdir()) == []


def test_the_first_difference_is_named() -> None:
    expected, got = torch.tensor([[1, 2, -1], [3, 4, 5]]), torch.tensor([[1, 0, -1], [3, 9, 5]])
    message = r"row 1, position 1: expected token 4, got 9; the row is 0.2 from .* uniforms are \[0.5\] \(1 of 2 rows"
    with pytest.raises(DifferentTokensError, match=message):
        assert_same_tokens(expected, got, [1e-9, 0.2], 1e-6, torch.tensor([[0.1], [0.5]]))
    assert_same_tokens(expected, got, [1e-9, 0.2], [1e-6, 0.3])
    with pytest.raises(ValueError, match="one is NaN"):
        assert_same_tokens(expected, got, [float("nan"), 0.2], 1e-6)
    with pytest.raises(ValueError, match="one shape"):
        assert_same_tokens(expected, got[:, :2], [0.1, 0.2], 1e-6)
