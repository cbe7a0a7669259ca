"""EAGLE's and Medusa's evaluate_posterior: the user's own file by path, stand-ins of the same signature otherwise."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import numpy as np
import pytest

pytest.importorskip("torch", reason="torch is an optional extra")

import torch

from proofs_tests.field import trees
from spec_math.audit import Specimen, diagnose
from spec_math.distribution import temperature
from spec_math.field.engine_law import judged
from spec_math.field.installed import edited
from spec_math.zoo import toy

TARGET = [np.array([float(mass) for mass in row]) for row in toy.TARGET]
PATHS = [(2, 1), (2, 2), (0, 1), (0,), (4,)]
"""Siblings at both levels, and leaves at different depths."""

ROUNDING = 1e-13
"""Laws here are float64: a few dozen operations of 2^-53 each."""


def target(prefix: Any) -> Any:
    row = TARGET[len(prefix) % 3]
    return row / row.sum()


def cold(prefix: Any) -> Any:
    return temperature(target(prefix), 0.5)


def halved(_ids: Any, scores: Any) -> Any:
    return scores / 0.5


def contract(law: Any, wanted: Any = target) -> Any:
    engine = Specimen("", "", "", None, lambda coin, _: list(law)[coin.draw(list(law.values()))], target=wanted)
    return diagnose(engine).contract


def test_a_drafted_tree_leaves_the_joint_law_of_three_tokens() -> None:
    law = trees.eagle_law(trees.evaluate_posterior, target, PATHS)
    assert {len(text) for text in law} == {1, 2, 3}
    assert judged(law, target, 3, ROUNDING)
    assert contract(law) is None


def test_a_processor_changes_the_target_and_nothing_else() -> None:
    law = trees.eagle_law(trees.evaluate_posterior, target, PATHS, halved)
    assert judged(law, cold, 3, ROUNDING)
    assert not judged(law, target, 3, 0.01)


BROKEN = [
    ("a rejected token is not zeroed", "masses[token] = 0", "pass"),
    ("a test is passed twice as easily", "random.random() <= masses", "random.random() / 2 <= masses"),
    (
        "the residual of the level above goes on (M23)",
        "        masses = logits_processor(None, logits[row, depth][None])[0].softmax(-1)\n    return",
        "        if len(tried) == 1:\n"
        "            masses = logits_processor(None, logits[row, depth][None])[0].softmax(-1)\n    return",
    ),
]


@pytest.mark.parametrize(("what", "old", "new"), BROKEN, ids=[what for what, *_ in BROKEN])
def test_a_broken_copy_is_judged_and_the_verifier_named(what: str, old: str, new: str) -> None:
    assert what
    law = trees.eagle_law(edited(trees.evaluate_posterior, old, new), target, PATHS)
    assert not judged(law, target, 3, 0.001)
    assert contract(law) == "verifier"


def test_a_draw_for_each_sibling_is_the_one_hot_test_by_other_means() -> None:
    """What must not be flagged: a fresh draw from what is left, and the token zeroed where it is not the one."""
    drawn = edited(
        trees.evaluate_posterior,
        "if random.random() <= masses[token]:",
        "if torch.multinomial(masses, 1).item() == token:",
    )
    assert judged(trees.eagle_law(drawn, target, PATHS), target, 3, ROUNDING)


def test_a_next_token_without_the_processor_leaves_the_first_exact() -> None:
    """M20: where a draft was kept, the token after it is drawn from the raw target."""
    raw = edited(
        trees.evaluate_posterior,
        "        masses = logits_processor(None, logits[row, depth][None])[0].softmax(-1)\n    return",
        "        masses = logits_processor(None, logits[row, depth][None])[0].softmax(-1)\n"
        "    if depth + 1 == candidates.shape[1]:\n"
        "        masses = logits[row, depth].softmax(-1)\n    return",
    )
    law = trees.eagle_law(raw, target, PATHS, halved)
    assert judged(law, cold, 2, ROUNDING)
    assert not judged(law, cold, 3, 0.001)


@pytest.mark.parametrize(("paths", "said"), [([], "at least one"), ([()], "at least one"), ([(5,)], "outside 0..4")])
def test_a_tree_that_is_none_is_refused(paths: Any, said: str) -> None:
    with pytest.raises(ValueError, match=said):
        trees.eagle_law(trees.evaluate_posterior, target, paths)


def test_typical_acceptance_is_lossy_by_design() -> None:
    law = trees.medusa_law(trees.evaluate_typical, target, PATHS)
    kept = {text[:-1] for text in law}
    assert len(kept) == 1  # no coin decides what is kept
    assert not judged(law, target, 3, 0.1)


def test_a_threshold_that_nothing_passes_leaves_the_target() -> None:
    """The control of the control: with nothing kept, Medusa's step is plain sampling."""
    law = trees.medusa_law(trees.evaluate_typical, target, PATHS, posterior_threshold=2, posterior_alpha=1e9)
    assert judged(law, target, 3, ROUNDING)
    colder = trees.medusa_law(
        trees.evaluate_typical, target, PATHS, temperature=0.5, posterior_threshold=2, posterior_alpha=1e9
    )
    assert judged(colder, cold, 3, ROUNDING)


# The user's own files.


def test_a_file_is_loaded_by_path(tmp_path: Path) -> None:
    place = tmp_path / "utils.py"
    place.write_text(Path(trees.__file__).read_text(encoding="utf-8"), encoding="utf-8")
    law = trees.eagle_law(trees.from_file(place, "evaluate_posterior"), target, PATHS)
    assert judged(law, target, 3, ROUNDING)


OWN = {"EAGLE_UTILS": "eagle/model/utils.py of EAGLE", "MEDUSA_UTILS": "medusa/model/utils.py of Medusa"}


def own(variable: str) -> Any:
    path = os.environ.get(variable)
    if not path:
        pytest.skip(f"{variable} does not say where {OWN[variable]} is")
    return trees.from_file(path, "evaluate_posterior")


def test_eagle_itself() -> None:
    law = trees.eagle_law(own("EAGLE_UTILS"), target, PATHS)
    assert judged(law, target, 3, ROUNDING)


def test_medusa_itself_is_lossy_by_design() -> None:
    law = trees.medusa_law(own("MEDUSA_UTILS"), target, PATHS)
    assert not judged(law, target, 3, 0.01)


def test_logits_may_be_in_single_precision() -> None:
    law = trees.eagle_law(trees.evaluate_posterior, target, PATHS, dtype=torch.float32)
    assert judged(law, target, 3, 1e-6)
    assert not judged(law, target, 3, ROUNDING)
