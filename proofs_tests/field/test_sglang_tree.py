"""SGLang's kernel for trees, compiled for the CPU: lossless at thresholds of 1, and else with the law of the rule."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest

from proofs_tests.field import sglang_tree
from proofs_tests.field.sglang_tree import HEADER, Tree, compiled
from proofs_tests.field.sources import changed, unpacked
from spec_math.block_level import length, target_only
from spec_math.block_level.tree import Node
from spec_math.chance import law
from spec_math.field.source_file import EngineError
from spec_math.lossy import thresholds

QUARTERS: dict[tuple[int, ...], list[str]] = {
    (): ["1/2", "1/4", "1/4"],
    (0,): ["1/4", "1/2", "1/4"],
    (1,): ["1/4", "1/4", "1/2"],
    (0, 2): ["1/2", "0", "1/2"],
}
NODES = (Node(0, (Node(2),)), Node(1))
TWO_LEVELS = Tree((0, 1, 2), (-1, -1, 0), [[Fraction(m) for m in QUARTERS[path]] for path in ((), (0,), (1,), (0, 2))])
GRID = 12
"""What is left after a rejection is one token, or three of four quarters: decisions change at multiples of 1/12."""

TARGET = ["1/2", "1/4", "3/16", "1/16"]
DRAFTS: dict[tuple[int, ...], int] = {(3, 0): 336, (3,): 240, (3, 1, 2): 48}
"""Drafted siblings, and a grid for the places at which a decision changes under the thresholds below."""


def one_level(folder: Path, drafts: Sequence[int], single: Any, accumulated: Any) -> dict[int, Fraction]:
    rows = [[Fraction(mass) for mass in TARGET]] * (len(drafts) + 1)
    tree = Tree(drafts, [-1] * len(drafts), rows)
    emitted: dict[int, Fraction] = {}
    for text, mass in sglang_tree.law(folder, tree, DRAFTS[tuple(drafts)], single, accumulated).items():
        emitted[text[0]] = emitted.get(text[0], Fraction(0)) + mass
    return emitted


@pytest.fixture
def published() -> Path:
    folder = unpacked("sglang")
    if not (folder / HEADER).is_file():
        pytest.skip(f"no {HEADER} among the sources; make test-engines fetches it")
    return folder


def test_the_tree_kernel_emits_the_law_of_target_only_trees(published: Path) -> None:
    def drafter(_: Sequence[int]) -> list[str]:
        return ["1/3", "1/3", "1/3"]

    def target(prefix: Sequence[int]) -> list[str]:
        return QUARTERS[tuple(prefix)]

    ours = length.law(lambda coin, prefix: target_only.generate(coin, target, drafter, prefix, lambda _: NODES), ())
    assert sglang_tree.law(published, TWO_LEVELS, GRID) == ours
    assert sglang_tree.law(published, TWO_LEVELS, GRID, accumulated=Fraction(1, 2)) != ours


@pytest.mark.parametrize("drafts", DRAFTS)
@pytest.mark.parametrize(("accumulated", "single"), [("1", "1"), ("1/2", "1"), ("1", "1/4"), ("3/4", "1/4")])
def test_two_thresholds_have_the_law_of_the_rule(
    published: Path, drafts: tuple[int, ...], accumulated: str, single: str
) -> None:
    found = one_level(published, drafts, Fraction(single), Fraction(accumulated))
    options = thresholds.Options(accumulated, single)
    assert found == law(lambda coin: thresholds.verify(coin, drafts, TARGET, TARGET, options))
    lossless = {token: Fraction(mass) for token, mass in enumerate(TARGET)}
    forced = any(lossless[token] >= Fraction(single) for token in drafts)
    assert (found == lossless) == (accumulated == "1" and not forced)


@pytest.mark.parametrize(
    ("there", "instead"),
    [
        ("prob_acc += target_prob_single", "prob_acc = target_prob_single"),
        ("draft_probs[cur_prob_offset + draft_token_id] = target", "draft_probs[cur_prob_offset] = target"),
        ("coin = uniform_samples_for_final_sampling[bx]", "coin = uniform_samples[bx * num_draft_tokens]"),
    ],
    ids=["each sibling tested alone", "a rejected sibling left in", "the coin used again"],
)
def test_a_changed_kernel_is_lossy(published: Path, tmp_path: Path, there: str, instead: str) -> None:
    lossy = changed(published, tmp_path, HEADER, {there: instead})
    lossless = {token: Fraction(mass) for token, mass in enumerate(TARGET)}
    assert one_level(published, (3, 0), 1, 1) == lossless
    assert one_level(lossy, (3, 0), 1, 1) != lossless


def test_a_header_that_is_not_there_or_no_kernel_is_refused(tmp_path: Path) -> None:
    with pytest.raises(EngineError, match="there is no file"):
        compiled(tmp_path / "none.cuh", "")
    (tmp_path / "wrong.cuh").write_text("not C++\n")
    with pytest.raises(EngineError, match=r"refuses wrong\.cuh"):
        compiled(tmp_path / "wrong.cuh", "")
