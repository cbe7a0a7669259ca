"""The trial of what is proved: laws with ties and zeros of every kind, and what comes of a program that fails there."""

from __future__ import annotations

from fractions import Fraction
from itertools import combinations, permutations
from typing import Any

import pytest

from spec_math import SCHEMES, check_lossless
from spec_math.symbolic import Proof, Theorem, prove, regions
from spec_math.symbolic.points import evaluated
from spec_math.symbolic.theorem import arranged
from spec_math.symbolic.token_theorems import lossless
from spec_math.symbolic.trial import SEED, Faces, laws_to_try
from spec_math.token_level import single
from spec_math.verdict import Reason

pytest.importorskip("z3")

PAIR = Theorem("a pair", "", lambda *_: True, {"t": 3, "d": 3})


def pairs(seed: int = SEED) -> list[tuple[list[Fraction], list[Fraction]]]:
    return [(t.tolist(), d.tolist()) for t, d in (arranged(PAIR, p) for p in laws_to_try(PAIR, Faces(), seed))]


@pytest.mark.parametrize("seed", [SEED, 1, 2])
def test_the_laws_that_are_tried_have_ties_and_zeros_of_every_kind(seed: int) -> None:
    listed = pairs(seed)
    generic = [(t, d) for t, d in listed if len({*t, *d}) == 6 and min(*t, *d) > 0]
    assert len(generic) > 3
    wanted = {
        "equal": lambda t, d: t == d,
        "one-hot, different": lambda t, d: max(t) == max(d) == 1 and t != d,
        "one-hot, equal": lambda t, d: max(t) == 1 and t == d,
        "uniform": lambda t, d: len({*t, *d}) == 1,
        "disjoint": lambda t, d: max(t) < 1 and not any(a and b for a, b in zip(t, d, strict=True)),
        "a zero of the target alone": lambda t, d: min(t) == 0 < min(d),
        "a zero of the draft alone": lambda t, d: min(d) == 0 < min(t),
        "a permutation": lambda t, d: t != d and sorted(t) == sorted(d) and len({*t}) == 3,
        "a tie within the target": lambda t, d: len({*t}) == 2 and min(t) > 0 and len({*d}) == 3,
        "a tie within the draft": lambda t, d: len({*d}) == 2 and min(d) > 0 and len({*t}) == 3,
        "one token's masses tied": lambda t, d: [a == b > 0 for a, b in zip(t, d, strict=True)].count(True) == 1,
        "masses of two tokens tied": lambda t, d: any(t[i] == d[j] > 0 for i, j in permutations(range(3), 2)),
        "two ratios tied": lambda t, d: (
            t != d and any(t[i] * d[j] == t[j] * d[i] > 0 for i, j in combinations(range(3), 2))
        ),
        "a sum tied": lambda t, d: any(0 < d[i] < d[i] + d[j] == m for i, j in combinations(range(3), 2) for m in t),
        "tiny": lambda t, d: 0 < min(*t, *d) < Fraction(1, 2**60),
    }
    assert [kind for kind, is_so in wanted.items() if not any(is_so(t, d) for t, d in listed)] == []


def test_each_law_is_one_and_is_tried_once_and_the_seed_chooses() -> None:
    listed = pairs()
    assert all(sum(law) == 1 and min(law) >= 0 and type(m) is Fraction for pair in listed for law in pair for m in law)
    assert len({(*t, *d) for t, d in listed}) == len(listed)
    assert 40 < len(listed) < 60
    assert pairs() == listed != pairs(SEED + 1)


@pytest.mark.parametrize("theorem", [lossless(SCHEMES[0], 3), lossless(SCHEMES[3], 2, 2)], ids=lambda t: t.name)
def test_a_law_is_tried_on_each_face_that_has_a_rational_one(theorem: Theorem) -> None:
    faces = Faces()
    for region, _ in regions(theorem):
        faces.add(region)
    points = list(laws_to_try(theorem, faces))
    assert len(faces.of) > 10
    missed = [p for p in faces.of if not any(evaluated(p, point) == 0 for point in points)]
    grid = next(iter(faces.of.values())).space.points
    assert [str(p) for p in missed if (grid.signs(p) == 2).any()] == []
    for point in points:
        parameters = arranged(theorem, point)
        assert all(min(law) >= 0 and law.sum() == 1 for law in parameters[:2])
        assert all(scalar >= 1 for scalar in parameters[2:])


def proof(verifier: Any, **more: Any) -> Proof:
    return prove(Theorem("mine", "", lambda t, d: check_lossless(verifier, t, d, 1), {"t": 2, "d": 2}), **more)


def test_a_proof_that_a_single_law_contradicts_is_withdrawn_with_a_sentence() -> None:
    """Nothing refuses `type(mass) is Fraction`: only the trial tells."""

    def wrong_on_fractions(coin: Any, tokens: Any, target: Any, draft: Any) -> int:
        tied = type(target[0]) is Fraction and target[0] * draft[1] == target[1] * draft[0] != 0
        return 0 if tied else single.verify(coin, tokens[0], target, draft)

    found = proof(wrong_on_fractions)
    assert found.verdict == "refuted"
    assert found.reason.startswith("the proof on symbols is withdrawn")
    assert found.tried > 0
    assert not check_lossless(wrong_on_fractions, *found.counterexample.parameters.values(), 1)  # type: ignore[union-attr]


def test_what_is_proved_says_on_how_many_laws_it_was_tried() -> None:
    found = proof(single.verify)
    assert found
    assert found.tried > 30


def test_a_limit_leaves_a_theorem_open() -> None:
    found = prove(lossless(SCHEMES[0], 4), limit=0.0)
    assert (found.verdict, found.undecided) == ("open", Reason.BUDGET)
    assert "0 regions were judged" in found.reason


def test_a_wrong_theorem_is_refuted_by_the_trial_though_no_time_is_left() -> None:
    found = prove(Theorem("wrong", "", lambda t, d: min(t) != max(d), {"t": 2, "d": 2}), limit=0.0)
    assert (found.verdict, found.regions, found.reason) == ("refuted", 0, "")
