"""The programs of one position in Rocq, computed in fractions, are the library's, and both are the paper's formulas.

Each tie asks Rocq for the numbers of some sixty instances, and compares them by == with what the Python programs give
along every path of their coins, and with the closed form, written out here. Both files of ties take a minute of one
core: Rocq loads its libraries for each file of the theory.
"""

from __future__ import annotations

from fractions import Fraction
from functools import partial
from pathlib import Path
from random import Random
from typing import Any

import pytest

from proofs_tests.controls import draws_the_residual_from_the_target
from proofs_tests.formal import rocq
from proofs_tests.formal.instances import masses, positions, vocabularies
from proofs_tests.formal.ties import (
    ONE,
    ZERO,
    Numbers,
    Tie,
    answers,
    asked,
    emissions,
    emitted,
    excess,
    overlap,
    pairs,
    split,
)
from proofs_tests.wrong_choices import k_sequential_below_gamma_star_clipped
from spec_math import exact, law
from spec_math.drafting import intersection, union
from spec_math.language import Vocabulary
from spec_math.lossy import budget
from spec_math.scheme import Emission, draw_independent
from spec_math.token_level import (
    k_sequential,
    one_hot,
    optimal,
    plan,
    pooled_priority,
    recursive,
    sample_and_match,
    single,
    transport,
    without_replacement,
)

pytestmark = pytest.mark.skipif(not rocq.installed(), reason="Rocq (coqc) is not installed")


def on_drafts(draw: Any, emit: Any, t: Numbers, d: Numbers, k: int) -> Any:
    """The program that draws k drafts and verifies them."""

    def once(coin: Any) -> Any:
        return emit(coin, draw(coin, exact(d), k), exact(t), exact(d))

    return once


# One draft


def check_1(values: Numbers, t: Numbers, d: Numbers, k: int) -> None:
    """Accepted min(t, d), drawn (t - d)+; the acceptance is Σ min(t, d)."""
    found, (accepts,) = split(values, 2 * len(t), 1)
    assert found == emissions(on_drafts(single.draw, single.emit, t, d, k), len(t))
    assert found == pairs(overlap(t, d), excess(t, d))
    assert emitted(found) == t
    assert accepts == sum(found[::2]) == sum(overlap(t, d)) == single.acceptance(t, d)


def check_2(values: Numbers, t: Numbers, d: Numbers, k: int) -> None:
    """Of either rule, accepted t·d and drawn t·(1 - d)."""
    for emit, found in zip((one_hot.emit, sample_and_match.emit), split(values, 2 * len(t), 2 * len(t)), strict=True):
        assert found == emissions(on_drafts(single.draw, emit, t, d, k), len(t))
        assert found == pairs(*zip(*((a * b, a * (1 - b)) for a, b in zip(t, d, strict=True)), strict=True))
        assert emitted(found) == t


# k drafts


def check_3(values: Numbers, t: Numbers, d: Numbers, k: int) -> None:
    """Drawn after all tests (t - l d)+, where l grows k times by the excess E(l); accepted 1 - E(l)."""
    found, (rejected,) = split(values, 2 * len(t), 1)
    taken = ZERO
    for _ in range(k):
        taken += sum(excess(t, d, taken), ZERO)
    left = excess(t, d, taken)
    assert found == emissions(on_drafts(recursive.draw, recursive.emit, t, d, k), len(t))
    assert found == pairs([a - b for a, b in zip(t, left, strict=True)], left)
    assert emitted(found) == t
    assert rejected == sum(found[1::2]) == sum(left) == 1 - recursive.acceptance(t, d, k)


def check_4(values: Numbers, t: Numbers, d: Numbers, k: int) -> None:
    """The target's distribution, and the acceptance by recursion over the rejected drafts."""
    assert values == emissions(on_drafts(without_replacement.draw, without_replacement.emit, t, d, k), len(t))
    assert emitted(values) == t
    assert sum(values[::2]) == without_replacement.acceptance(t, d, k)


def with_gammas(seed: str) -> list[Any]:
    """Each position at γ*, and at a larger γ."""
    random = Random(seed)
    found: list[Any] = []
    for t, d, k in positions(seed):
        gamma = k_sequential.gamma_star(t, d, k)
        found += [(t, d, gamma, k), (t, d, Fraction(int(8 * gamma) + 1 + random.randrange(8), 8), k)]
    # A γ* that is no fraction is the end of a bracket of 2^-64: such numbers are long, and few of them are computed.
    long = [case for case in found if case[2].denominator > 2**20]
    kept = [case for case in long if len(case[0]) == 2 and case[3] == 2]
    return [case for case in found if case not in long or case in kept]


def check_5(values: Numbers, t: Numbers, d: Numbers, gamma: Fraction, k: int) -> None:
    """Accepted min(d, t/γ) p/β; p = 1 - (1 - β)^k; the condition f(γ) = p - γβ ≤ 0 holds."""
    found, (accepts, condition) = split(values, 2 * len(t), 2)
    passed = overlap(d, [mass / gamma for mass in t])
    beta = sum(passed, ZERO)
    accepted = [mass * sum((1 - beta) ** j for j in range(k)) for mass in passed]
    assert found == emissions(on_drafts(draw_independent, partial(k_sequential.emit, gamma=gamma), t, d, k), len(t))
    assert found == pairs(accepted, [a - b for a, b in zip(t, accepted, strict=True)])
    assert emitted(found) == t
    assert accepts == sum(found[::2]) == 1 - (1 - beta) ** k == k_sequential.test_acceptance(t, d, k, gamma)
    assert condition == accepts - gamma * beta == k_sequential.f(t, d, k, gamma)
    assert condition <= 0


def short_gammas(seed: str) -> list[Any]:
    return [case for case in with_gammas(seed) if case[2].denominator <= 2**20]


def subsets(size: int) -> list[list[int]]:
    return [[token for token in range(size) if number >> token & 1] for number in range(1 << size)]


def check_6(values: Numbers, t: Numbers, d: Numbers, gamma: Fraction, k: int) -> None:
    """Each verifier is at or below the bound of each set H, 1 - (P(S ⊆ H) - t(H)); the least is the optimum."""
    reached, bounds, distinct = split(values, 3, 1 << len(t), 1 << len(t))
    repeated, sequential, apart = reached
    assert repeated == recursive.acceptance(t, d, k)
    assert sequential == k_sequential.acceptance(t, d, k, gamma)
    assert apart == without_replacement.acceptance(t, d, k)
    drawn: Any = law(lambda coin: without_replacement.draw(coin, d, k))
    for H, cut, other in zip(subsets(len(t)), bounds, distinct, strict=True):
        kept = sum((t[token] for token in H), ZERO)
        assert cut == 1 - (sum((d[token] for token in H), ZERO) ** k - kept)
        assert other == 1 - (sum((mass for S, mass in drawn.items() if set(S) <= set(H)), ZERO) - kept)
        assert max(repeated, sequential) <= cut
        assert apart <= other
    assert min(bounds) == optimal.acceptance(t, d, k)
    assert min(distinct) == optimal.acceptance_without_replacement(t, d, k) == transport.acceptance_of(t, drawn)


def plans(seed: str) -> list[Any]:
    """Two drafts where there are three tokens: the plan goes through all pairs of tokens in each of many steps."""
    return [(t, d, min(k, 2) if len(t) > 2 else k) for t, d, k in positions(seed, sizes=(1, 2, 2, 2, 2, 3))]


def check_7(values: Numbers, t: Numbers, d: Numbers, k: int) -> None:
    """Accepted min(t, c), drawn (t - c)+, c the law of the draft put forward; accepted 1 - max (d(H)^k - t(H))."""
    found, c, (lacking,) = split(values, 2 * len(t), len(t), 1)
    known = plan.plan(t, d, k)
    assert found == emissions(on_drafts(draw_independent, pooled_priority.emit, t, d, k), len(t))
    assert found == pairs(overlap(t, c), excess(t, c))
    assert emitted(found) == t
    assert c == known.selection.tolist()
    of_sets = [sum((d[v] for v in H), ZERO) ** k - sum((t[v] for v in H), ZERO) for H in subsets(len(t))]
    assert lacking == max(of_sets) == sum(excess(t, c)) == 1 - optimal.acceptance(t, d, k) == 1 - known.acceptance


# Two vocabularies, and a budget


def check_13(values: Numbers, t: Numbers, d: Numbers, targets: list[int], drafts: list[int]) -> None:
    """Accepted Σ min(t, d/d(T)) of the restricted draft, at least the Σ min(t, d) of the union."""
    size = len(t)
    restricted, found, (accepts, at_least) = split(values, size, 2 * size, 2)
    ours, theirs = (Vocabulary(["abcd"[token] for token in listed]) for listed in (targets, drafts))
    on_target, on_draft = [t[token] for token in targets], [d[token] for token in drafts]
    masses_of = intersection.draft_law(on_draft, ours, theirs)
    shared = [token for token in targets if token in drafts]
    total = sum((d[token] for token in shared), ZERO)
    assert restricted == [d[token] / total if token in shared else ZERO for token in range(size)]
    assert [restricted[token] for token in targets] == masses_of.tolist()
    known: Any = law(lambda coin: single.emit(coin, coin.draw(masses_of), exact(on_target), masses_of))
    places = {token: place for place, token in enumerate(targets)}
    listed = [(places.get(token, -1), accepted) for token in range(size) for accepted in (True, False)]
    assert found == [known.get(Emission(*outcome), ZERO) for outcome in listed]
    assert emitted(found) == t
    assert accepts == sum(found[::2]) == sum(overlap(t, restricted))
    assert accepts == intersection.acceptance(on_target, on_draft, ours, theirs)
    assert at_least == sum(overlap(t, d)) == union.acceptance(on_target, on_draft, ours, theirs) <= accepts


def budgets(seed: str) -> list[Any]:
    random = Random(seed)
    spent = (ZERO, Fraction(1, 40), Fraction(1, 7), Fraction(1, 3), ONE)
    return [(t, masses(random, len(t)), d, min(k, 2), random.choice(spent)) for t, d, k in positions(seed, 2)]


def membership(verify: Any, d: Numbers, k: int) -> tuple[Numbers, Fraction]:
    """The law of the token that a program on the coin and its drafts emits, and how often the token is a draft."""

    def once(coin: Any) -> tuple[int, bool]:
        drafts = draw_independent(coin, d, k)
        token = verify(coin, drafts)
        return token, token in drafts

    found: Any = law(once)
    among = [found.get((token, True), ZERO) for token in range(len(d))]
    return [mass + found.get((token, False), ZERO) for token, mass in enumerate(among)], sum(among, ZERO)


def check_14(values: Numbers, t: Numbers, s: Numbers, d: Numbers, k: int, e: Fraction) -> None:
    """Corrected: the target's distribution, and at most the total variation is lost. Biased: min(1, a + e)."""
    found, (lossy, right, away), biased, (a, relaxed, moved) = split(values, 2 * len(t), 3, len(t), 3)

    def wrong_target(coin: Any, drafts: Any) -> int:
        return recursive.verify(coin, drafts, s, d)

    q, accepted = membership(wrong_target, d, k)

    def corrected(coin: Any, drafts: Any) -> int:
        return single.verify(coin, wrong_target(coin, drafts), t, q)

    assert emitted(found) == t
    assert membership(corrected, d, k) == (t, right)
    assert (q, accepted) == (s, lossy)
    assert sum(found[::2]) == sum(overlap(t, q))
    assert away == sum(excess(t, s))
    assert right >= lossy - away

    moving = min(e, 1 - a) / (1 - a) if a < 1 else ZERO

    def replaced(coin: Any, drafts: Any) -> int:
        token = recursive.verify(coin, drafts, t, d)
        return drafts[0] if token not in drafts and coin.flip(moving) else token

    assert a == recursive.acceptance(t, d, k)
    assert membership(replaced, d, k) == (biased, relaxed)
    assert relaxed == min(ONE, a + e)
    assert moved == sum(excess(t, biased)) <= e
    assert k > 1 or relaxed == budget.acceptance(t, d, k, e)


def of_one(name: str, t: Numbers, d: Numbers, _: int) -> str:
    return asked(name, len(t), t, d)


def of_many(name: str, t: Numbers, *given: Any) -> str:
    return asked(name, len(t), t, *given)


def of_vocabularies(t: Numbers, d: Numbers, ours: list[int], theirs: list[int]) -> str:
    return asked("theorem_13", len(t), t, d, tuple(ours), tuple(theirs))


TIES = {
    "1": Tie(list(positions("1", 1)), partial(of_one, "theorem_1"), check_1),
    "2": Tie(list(positions("2", 1)), partial(of_one, "theorem_2"), check_2),
    "3": Tie(list(positions("3")), partial(of_many, "theorem_3"), check_3),
    "4": Tie(list(positions("4")), partial(of_many, "theorem_4"), check_4),
    "5": Tie(with_gammas("5"), partial(of_many, "theorem_5"), check_5),
    "6": Tie(short_gammas("6"), partial(of_many, "theorem_6"), check_6),
    "7": Tie(plans("7"), partial(of_many, "theorem_7"), check_7),
    "13": Tie(list(vocabularies("13")), of_vocabularies, check_13),
    "14": Tie(budgets("14"), partial(of_many, "theorem_14"), check_14),
}


@pytest.fixture(scope="module")
def computed(definitions: Path) -> dict[str, list[Numbers]]:
    """The numbers that Rocq computes for each instance."""
    return answers(definitions, "instances", TIES)


@pytest.mark.parametrize("theorem", TIES)
def test_rocq_the_library_and_the_formula_agree(theorem: str, computed: dict[str, list[Numbers]]) -> None:
    tie = TIES[theorem]
    assert len(tie.instances) >= 60
    for case, values in zip(tie.instances, computed[theorem], strict=True):
        tie.check(values, *case)


# Controls: wrong programs are told from the right ones.

UNEVEN, EVEN = [Fraction(1, 4), Fraction(3, 4)], [Fraction(1, 2)] * 2
CONTROLS: dict[str, tuple[str, tuple[Any, ...]]] = {
    "the target after a rejection": ("control_1", (UNEVEN, EVEN)),
    "K-SEQ at γ = 1": ("control_5", (UNEVEN, EVEN, ONE, 2)),
    "drafts not divided": (
        "control_4",
        ([Fraction(1, 6), Fraction(1, 3), Fraction(1, 2)], [Fraction(1, 2), Fraction(1, 4), Fraction(1, 4)], 2),
    ),
    "drafts sorted": ("control_of_order", (UNEVEN, EVEN, 2)),
}


@pytest.fixture(scope="module")
def wrong(definitions: Path) -> dict[str, Numbers]:
    """The values that Rocq computes for the controls."""
    terms = [asked(name, len(case[0]), *case) for name, case in CONTROLS.values()]
    return dict(zip(CONTROLS, rocq.values(definitions, "controls", terms), strict=True))


@pytest.mark.parametrize("name", CONTROLS)
def test_a_control_does_not_have_the_targets_law(name: str, wrong: dict[str, Numbers]) -> None:
    """Rocq proves that some token has another mass; here it computes so, and the masses still sum to 1."""
    target = CONTROLS[name][1][0]
    assert emitted(wrong[name]) != target
    assert sum(wrong[name]) == 1


@pytest.mark.parametrize(
    ("name", "draw", "verify", "k"),
    [
        ("the target after a rejection", single.draw, draws_the_residual_from_the_target, 1),
        ("K-SEQ at γ = 1", draw_independent, k_sequential_below_gamma_star_clipped, 2),
    ],
)
def test_a_control_is_the_same_control_in_python(
    name: str, draw: Any, verify: Any, k: int, wrong: dict[str, Numbers]
) -> None:
    known: Any = law(on_drafts(draw, verify, UNEVEN, EVEN, k))
    assert emitted(wrong[name]) == [known[0], known[1]]


def test_the_comparison_fails_on_a_control(wrong: dict[str, Numbers], computed: dict[str, list[Numbers]]) -> None:
    """A control in the place of the program, and the numbers of one instance in the place of another's."""
    with pytest.raises(AssertionError):
        check_1([*wrong["the target after a rejection"], sum(overlap(UNEVEN, EVEN), ZERO)], UNEVEN, EVEN, 1)
    with pytest.raises(AssertionError):
        check_4(wrong["drafts sorted"], UNEVEN, EVEN, 2)
    for theorem, tie in TIES.items():
        of_others = [
            case
            for case, values in zip(tie.instances, computed[theorem], strict=True)
            if values != computed[theorem][-1]
        ]
        for case in of_others:
            with pytest.raises(AssertionError):
                tie.check(computed[theorem][-1], *case)


def test_the_counterexamples_are_proved(definitions: Path) -> None:
    """The lemmas of the controls, with their proofs."""
    assert rocq.run(definitions, rocq.COMPILER, "-vok", *rocq.OPTIONS, "controls.v") == ""
