"""Statements about blocks in SpecTr and Timor et al. that fail as printed, each with an exact counterexample."""

from fractions import Fraction
from typing import Any

import pytest

from proofs_tests.block_level.models import Rows
from spec_math import Lossless, Lossy, check_lossless_block, law, overlap
from spec_math.arrays import exact
from spec_math.block_level import emitted_law, length, spectr
from spec_math.token_level import k_sequential, single

Text = tuple[int, ...]

QUARTER, HALF = exact(["1/4", "3/4"]), exact(["1/2", "1/2"])
TARGET, DRAFT = Rows((QUARTER,)), Rows((HALF,))


def selected(coin: Any, candidates: list[Text], gammas: Any = None, merge: Any = list) -> Text:
    """SpecTr Alg. 3 as printed on a list of texts, K-SEQ as its plan; `merge` makes S_next of the survivors."""
    emitted: Text = ()
    while True:
        firsts = tuple(text[0] for text in candidates)
        gamma = None if gammas is None else gammas(len(firsts))
        token = k_sequential.verify(coin, firsts, QUARTER, HALF, gamma)
        emitted += (token,)
        last = len(candidates[0]) == 1
        if last:
            return (*emitted, coin.draw(QUARTER)) if token in firsts else emitted
        candidates = merge([text[1:] for text in candidates if text[0] == token])
        if not candidates:
            return emitted


def drawn(coin: Any, levels: int, model: Any = HALF) -> Text:
    return tuple(coin.draw(model) for _ in range(levels))


def test_erratum_e_drafts_drawn_from_the_large_model_are_lossy() -> None:
    # Eq. 8 and Alg. 5 draw the drafts from M_b, where the plan of Alg. 3 takes them for drafts of M_s.
    def printed(coin: Any, prefix: Text) -> Text:  # noqa: ARG001
        return selected(coin, [drawn(coin, 1, QUARTER)])

    def mended(coin: Any, prefix: Text) -> Text:  # noqa: ARG001
        return selected(coin, [drawn(coin, 1, HALF)])

    assert emitted_law(printed, TARGET, 1) == {(0,): Fraction(1, 8), (1,): Fraction(7, 8)}
    assert check_lossless_block(mended, TARGET, 2)


def test_erratum_r_the_leaves_of_a_tree_are_no_independent_drafts() -> None:
    # Tree (1, 2): one token, then two below it. Its two leaves agree in their first token, which Alg. 3 tests twice.
    def printed(coin: Any, prefix: Text) -> Text:  # noqa: ARG001
        (first,) = drawn(coin, 1)
        return selected(coin, [(first, *drawn(coin, 1)), (first, *drawn(coin, 1))], Fraction)

    assert emitted_law(printed, TARGET, 1)[0,] == Fraction(19, 64)
    verdict = check_lossless_block(printed, TARGET, 3)
    assert isinstance(verdict, Lossy)
    assert check_lossless_block(lambda coin, prefix: spectr.generate(coin, TARGET, DRAFT, prefix, (1, 2)), TARGET, 3)


@pytest.mark.parametrize(
    ("merge", "mass"),
    [
        (lambda texts: sorted(set(texts)), Fraction(2159, 32768)),
        (lambda texts: sorted(set(texts), reverse=True), Fraction(1715, 32768)),
        (lambda texts: list(dict.fromkeys(texts)), Fraction(1937, 32768)),
    ],
    ids=["ascending", "descending", "in the order drawn"],
)
def test_erratum_s_a_set_of_survivors_is_lossy(merge: Any, mass: Fraction) -> None:
    # K = 2 paths of two tokens, γ = the number of candidates. A set forgets how often a text was drafted; 2159/32768
    # belongs to a set that is walked in ascending order.
    def printed(coin: Any, prefix: Text) -> Text:  # noqa: ARG001
        return selected(coin, [drawn(coin, 2), drawn(coin, 2)], Fraction, merge)

    assert isinstance(check_lossless_block(printed, TARGET, 1), Lossless)
    assert emitted_law(printed, TARGET, 2)[0, 0] == mass != Fraction(1, 16)
    assert isinstance(check_lossless_block(printed, TARGET, 2), Lossy)


def test_erratum_s_a_multiset_of_survivors_is_lossless() -> None:
    def mended(coin: Any, prefix: Text) -> Text:  # noqa: ARG001
        return selected(coin, [drawn(coin, 2), drawn(coin, 2)], Fraction)

    assert check_lossless_block(mended, TARGET, 3)


def test_erratum_t_a_block_can_hold_one_token_more_than_theorem_3_says() -> None:
    # Theorem 3 continues Y^τ by L − τ tokens; with L = 1, τ is 2 with probability 3/4 here.
    lengths = law(lambda coin: len(spectr.generate(coin, TARGET, DRAFT, (), (1,))))
    assert lengths == {1: Fraction(1, 4), 2: Fraction(3, 4)}
    assert lengths[2] == overlap(QUARTER, HALF)
    # As a statement about L + 1 tokens it holds.
    assert check_lossless_block(lambda coin, prefix: spectr.generate(coin, TARGET, DRAFT, prefix, (1,)), TARGET, 2)


def test_block_verification_of_another_vocabulary_cannot_reuse_psi() -> None:
    # Timor et al., section 3.3: T = {a, b}, D = {a, b, aa}, one draft token. The second letter of the drafted 'aa' is
    # no draw from ψ, the law of the first letter: verified as if it were, aa comes out too often.
    target = Rows((HALF,))
    draft = exact(["1/4", "1/4", "1/2"])
    psi = exact(["3/4", "1/4"])
    spelled = [(0,), (1,), (0, 0)]

    def naive(coin: Any, prefix: Text) -> Text:  # noqa: ARG001
        emitted: Text = ()
        for letter in spelled[coin.draw(draft)]:
            emission = single.emit(coin, letter, HALF, psi)
            emitted += (emission.token,)
            if not emission.accepted:
                return emitted
        return (*emitted, coin.draw(HALF))

    def first_letter_alone(coin: Any, prefix: Text) -> Text:  # noqa: ARG001
        return (single.verify(coin, spelled[coin.draw(draft)][0], HALF, psi),)

    assert isinstance(check_lossless_block(naive, target, 1), Lossless)
    verdict = check_lossless_block(naive, target, 2)
    assert isinstance(verdict, Lossy)
    assert emitted_law(naive, target, 2)[0, 0] == Fraction(11, 36)
    assert check_lossless_block(first_letter_alone, target, 2, rounds=2)
    assert max(map(len, length.law(naive, ()))) == 3
