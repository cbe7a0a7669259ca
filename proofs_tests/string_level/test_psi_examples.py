"""The paper's examples of ψ, and what ψ is not."""

from __future__ import annotations

from fractions import Fraction

from proofs_tests.language.longest_prefixes import first_by_strings
from spec_math.chance import law
from spec_math.language import GreedyTokenizer, Vocabulary
from spec_math.string_level.psi import first_token, longest_lookahead, psi
from spec_math.string_level.segmentation import count

HALF = Fraction(1, 2)
HELLO = ["hello_", "world", "wo", "rld"]


def test_hello_world_needs_three_draws():
    draft, target = Vocabulary(HELLO), Vocabulary([*HELLO, "hello_world"])
    assert longest_lookahead(target, draft) == 3
    masses = ["1/2", "1/4", "1/8", "1/8"]
    whole = psi(target, draft, masses)
    assert whole[-1] == HALF * (Fraction(1, 4) + Fraction(1, 8) ** 2)
    # After hello_ and world the token is determined: a third draw is asked for after hello_ wo alone.
    assert first_token(target, draft, lambda _: masses).draws == 1 + HALF + Fraction(1, 8) + HALF * Fraction(1, 8)
    # Asked for after nothing, hello_, wo and hello_ wo; a drafter without context has one law.
    assert (first_token(target, draft, lambda _: masses).calls, first_token(target, draft, masses).calls) == (4, 1)
    assert psi(target, draft, masses, lookahead=3).tolist() == whole.tolist()
    assert psi(target, draft, masses, lookahead=2)[-1] == Fraction(1, 8)


def test_n_max_counts_the_finest_way_of_drafting_a_proper_prefix():
    # abcd, a proper prefix of abcde, is drafted as abc ⊕ d, and as a ⊕ b ⊕ cd: three tokens leave it undetermined.
    assert longest_lookahead(Vocabulary(["abcde"]), Vocabulary(["a", "b", "cd", "abc", "d"])) == 4


def test_a_ten_character_token_is_never_drafted_within_two_tokens_of_four_characters():
    draft, target = Vocabulary(["abcd", "efgh", "ij", "k"]), Vocabulary(["abcdefghij", "abcd", "efgh", "ij", "k"])
    assert psi(target, draft, ["1/4"] * 4, lookahead=2)[0] == 0
    assert psi(target, draft, ["1/4"] * 4, lookahead=3)[0] == Fraction(1, 64)


def test_a_drafted_token_may_be_longer_than_the_target_token():
    # T = {a, b}, D = {a, b, aa}: the remainder of a drafted aa is a token that was not drafted.
    target, draft = Vocabulary(["a", "b"]), Vocabulary(["a", "b", "aa"])
    assert GreedyTokenizer(target).encode("aa") == (0, 0)
    assert psi(target, draft, ["1/4", "1/2", "1/4"]).tolist() == [HALF, HALF]


def test_a_drafter_of_repetitions_always_drafts_the_one_target_token():
    assert psi(Vocabulary(["a"]), Vocabulary(["a", "aa"]), ["1/3", "2/3"]).tolist() == [1]


def test_psi_is_not_the_sum_over_exact_segmentations():
    # Text that runs on: T = {a, aa}, D = {a}. The one segmentation of a has mass 1, and the first token is aa.
    assert psi(Vocabulary(["a", "aa"]), Vocabulary(["a"]), [1]).tolist() == [0, 1]
    assert count("a", Vocabulary(["a"])) == 1
    # Overshoot: T = {a, b}, D = {ab}: no segmentation of a at all, and the first token is a.
    assert psi(Vocabulary(["a", "b"]), Vocabulary(["ab"]), [1]).tolist() == [1, 0]
    assert count("a", Vocabulary(["ab"])) == 0


def test_a_shorter_lookahead_changes_psi():
    target, draft = Vocabulary(["a", "b", "ab"]), Vocabulary(["a", "b"])
    assert psi(target, draft, ["1/2", "1/2"], lookahead=1).tolist() == [HALF, HALF, 0]
    assert psi(target, draft, ["1/2", "1/2"]).tolist() == [Fraction(1, 4), HALF, Fraction(1, 4)]


def test_erratum_i_the_printed_rule_draws_one_token_too_many():
    # S₁(i) = 1[i > n] lets the loop end at i = n + 1; with n = 1 it already drafts ab, which the text excludes.
    def printed(coin, n):
        text, drawn = "", 0
        while not drawn > n:
            text, drawn = text + "ab"[coin.draw([HALF, HALF])], drawn + 1
        return first_by_strings(text, ["a", "b", "ab"])

    as_printed = law(lambda coin: printed(coin, 1))
    target, draft = Vocabulary(["a", "b", "ab"]), Vocabulary(["a", "b"])
    assert as_printed == {"a": Fraction(1, 4), "ab": Fraction(1, 4), "b": HALF}
    assert psi(target, draft, ["1/2", "1/2"], lookahead=1).tolist() == [HALF, HALF, 0]
    assert psi(target, draft, ["1/2", "1/2"], lookahead=2).tolist() == [as_printed[word] for word in ("a", "b", "ab")]


def test_erratum_j_lemma_3_1_counts_exact_segmentations_only():
    # D₂ over {a, b}, complete; the target token aa has 2^(2−1) = 2 segmentations, as the Lemma says of sequences with
    # T(d₁ ⊕ … ⊕ d_i)₁ = aa. Stopped when the first token is determined, there are 4: overshoots count.
    words = ["a", "b", "aa", "ab", "ba", "bb"]
    assert count("aa", Vocabulary(words)) == 2
    stopped, waiting = [], [()]
    while waiting:
        drafted = waiting.pop()
        text = "".join(drafted)
        if text in ("", "a", "b"):
            waiting += [(*drafted, word) for word in words]
        elif first_by_strings(text, words) == "aa":
            stopped.append(drafted)
    assert sorted(stopped) == [("a", "a"), ("a", "aa"), ("a", "ab"), ("aa",)]
    # For a (m = 1) the Lemma says 1, and no stopped sequence begins with a: it always runs on to aa or ab.
    assert psi(Vocabulary(words), Vocabulary(words), ["1/6"] * 6).tolist()[0] == 0


def test_erratum_z_the_sum_over_all_lengths_diverges():
    # T = D = {a}: each length adds P(T(a…a)₁ = a) = 1, so the sum over the lengths up to n is n.
    vocabulary = Vocabulary(["a"])
    sums = [psi(vocabulary, vocabulary, [1], lookahead=length)[0] for length in range(1, 6)]
    assert sum(sums) == 5
    assert psi(vocabulary, vocabulary, [1]).tolist() == [1]
