"""TokenTiming: what does not hold as printed, each with an exact counterexample; letters as in the errata."""

from __future__ import annotations

from fractions import Fraction
from itertools import product

import pytest
from hypothesis import given

from proofs_tests.language.collapsing import Collapsing
from proofs_tests.strategies import pairs
from proofs_tests.tokenized_models import speaker
from spec_math import Lossless, Lossy, check_lossless_block, exact, law, residual, total_variation
from spec_math.block_level import emitted_law, target_law
from spec_math.drafting import intersection
from spec_math.language import GreedyTokenizer, Vocabulary
from spec_math.language.overlap import not_recovered
from spec_math.papers import two_vocabularies
from spec_math.string_level import timing
from spec_math.string_level.methods import METHODS
from spec_math.string_level.reading import opened
from spec_math.string_level.speed import measure

HALF = Fraction(1, 2)


def printed(target, drafter, lookahead):
    return lambda coin, prefix: timing.generate(coin, target, drafter, prefix, lookahead)


def first(generate, size):
    """The law of the first emitted token."""
    masses = law(lambda coin: generate(coin, ())[0])
    return [masses.get(token, 0) for token in range(size)]


def distance(generate, target, horizon):
    """The total variation of the joint law of the first tokens from the target's."""
    ours, theirs = emitted_law(generate, target.model, horizon), target_law(target.model, horizon)
    return sum(abs(ours.get(text, 0) - theirs.get(text, 0)) for text in {*ours, *theirs}) / 2


def test_m_a_sample_of_the_target_after_a_rejection_is_lossy():
    # Alg. 2, line 19. Equal vocabularies: the emitted law is min(t, d) + TV·t.
    target, drafter = speaker(["a", "b"], ["1/4", "3/4"]), speaker(["a", "b"], ["1/2", "1/2"])
    generate = printed(target, drafter, 1)
    assert first(generate, 2) == [Fraction(5, 16), Fraction(11, 16)]
    verdict = check_lossless_block(generate, target.model, 1)
    assert isinstance(verdict, Lossy)
    assert (verdict.tokens, verdict.emitted, verdict.target) == ((0,), Fraction(5, 16), Fraction(1, 4))


@given(pairs())
def test_m_it_is_lossless_only_where_the_draft_is_proportional_to_the_target(pair):
    target, draft = pair
    proportional = len({d / t for t, d in zip(target, draft, strict=True) if t > 0}) == 1
    assert (timing.first_token_law(target, draft).tolist() == target.tolist()) == proportional


def test_n_lines_4_and_5_call_encode_and_decode_the_wrong_way_round():
    # S ← Tokenizer_d.encode(D), T ← Tokenizer_t.decode(S), where D are tokens and S is a text.
    ours, theirs = GreedyTokenizer(Vocabulary(["a", "b"])), GreedyTokenizer(Vocabulary(["ab"]))
    with pytest.raises(TypeError, match="must be str or bytes"):
        theirs.encode((0,))
    with pytest.raises(TypeError, match="token indices are ints"):
        ours.decode(theirs.decode((0,)))
    assert ours.encode(theirs.decode((0,))) == (0, 1)


def test_o_a_copied_probability_accepts_too_much_without_any_rejection():
    # D = {aa, bb}, T = {a, b}, all uniform: p is 1/2 at both tokens, and so is t; nothing is ever rejected, so that a
    # mended line 19 would change nothing. The second letter is always the first one.
    target, drafter = speaker(["a", "b"], ["1/2", "1/2"]), speaker(["aa", "bb"], ["1/2", "1/2"])
    outcomes = law(lambda coin: timing.run(coin, target, drafter, (), 1))
    assert {outcome.accepted for outcome in outcomes} == {2}
    assert emitted_law(printed(target, drafter, 1), target.model, 2) == {(0, 0): HALF, (1, 1): HALF}
    assert distance(printed(target, drafter, 1), target, 2) == HALF


def test_o_the_probability_of_the_last_of_many_is_biased_too():
    target = speaker(["aa", "ab", "ba", "bb"], ["7/10", "1/10", "1/10", "1/10"])
    drafter = speaker(["a", "b"], ["1/2", "1/2"])
    emitted = first(printed(target, drafter, 2), 4)
    assert emitted == [Fraction(67, 100), *[Fraction(11, 100)] * 3]
    # A residual in place of line 19's sample does not mend it: p = (1/2, …) is not a probability distribution to
    # subtract, and with the true proposal 1/4 in its place the tokens that were accepted with min(1, t/p) do not add
    # up.
    accepted = [Fraction(1, 4) * min(1, t / HALF) for t in target.law(())]
    left = [max(t - Fraction(1, 4), 0) for t in target.law(())]
    mended = [kept + (1 - sum(accepted)) * rest / sum(left) for kept, rest in zip(accepted, left, strict=True)]
    assert mended == [Fraction(85, 100), *[Fraction(5, 100)] * 3]
    assert total_variation(target.law(()), mended) == Fraction(3, 20)


def test_o_p_of_a_prefix_is_underestimated_which_is_the_wrong_side():
    # Appendix A.2, case 2: "p is not overestimated". A proposal taken for rarer than it is, is accepted too often:
    # D = {ab, aa}, T = {a, b}: a is drafted first for sure, p(a) = 1/2, and t(a) = 1/2 accepts it for sure.
    target, drafter = speaker(["a", "b"], ["1/2", "1/2"]), speaker(["ab", "aa"], ["1/2", "1/2"])
    assert first(printed(target, drafter, 1), 2) == [1, 0]


def test_p_tli_accepts_nothing_outside_the_intersection_unconditionally():
    # Figure 1: "If the draft tokens fall outside the intersection, they will be accepted unconditionally".
    target = speaker(["a", "b"], ["1/4", "3/4"], ["1/2", "1/2"])
    drafter = speaker(["a", "c"], ["1/2", "1/2"], ["1/3", "2/3"])
    outcomes = law(lambda coin: intersection.run(coin, target, drafter, (), 2))
    assert {token for outcome in outcomes for token in outcome.drafted} == {0}

    def generate(coin, prefix):
        return intersection.generate(coin, target, drafter, prefix, 2)

    assert isinstance(check_lossless_block(generate, target.model, 3, rounds=2), Lossless)


def test_q_lemma_1_assumes_what_appendix_f_of_timor_et_al_refutes():
    # f_decode(f_encode(S)) ≡ S: a tokeniser that collapses blanks gives another text back, and a vocabulary without a
    # token for each letter none at all.
    assert [loss.decoded for loss in not_recovered(Collapsing(), ["one  two"])] == ["one two"]
    assert not_recovered(GreedyTokenizer(Vocabulary(["b", "ba", "bb"])), ["bba"])[0].decoded is None
    # Two texts that are drafted differently become one: the string space does not tell them apart.
    assert Collapsing().encode("one  two") == Collapsing().encode("one two")


def test_ties_in_printed_order_make_even_equal_models_lossy():
    """Found here: Alg. 1, line 12, takes (i−1, j) first, and three equal tokens align along many paths of cost 0.

    The first draft token is then the only one aligned with the second re-tokenised one: p(t₂) is the chance of d₁. A
    rule that prefers the diagonal aligns a sequence with itself token by token.
    """
    path, cost = timing.align(["a", "a", "a"], ["a", "a", "a"], timing.WINDOW)
    assert (path, cost) == ([(0, 0), (0, 1), (0, 2), (1, 2), (2, 2)], 0)
    assert timing.mapped([b"a"] * 3, [b"a"] * 3, ["p1", "p2", "p3"], timing.WINDOW) == ["p1", "p1", "p3"]
    # One model drafts for itself: a for sure, then a or b, and a for sure after aa. Of the drafts aaa the second token
    # is held against p = 1 in place of 1/2, and rejected half the time.
    same = speaker(["a", "b"], [1, 0], ["1/2", "1/2"])
    assert [[str(mass) for mass in same.law((0,) * n)] for n in range(3)] == [["1", "0"], ["1/2", "1/2"], ["1", "0"]]
    verdict = check_lossless_block(printed(same, same, 3), same.model, 3)
    assert isinstance(verdict, Lossy)
    assert (verdict.tokens, verdict.emitted, verdict.target) == ((0, 0, 0), Fraction(3, 8), HALF)
    assert verdict.total_variation == Fraction(1, 8)
    assert isinstance(check_lossless_block(printed(same, same, 2), same.model, 3), Lossless)


def walked_back_as_printed(total, m, n, most):
    """Alg. 1, lines 9 to 13: (i', j') is found, and (i, j) keeps its value; stopped after `most` steps."""
    path, (i, j) = [], (m, n)
    while (i, j) != (0, 0) and len(path) < most:
        path.insert(0, (i, j))
        min([(i - 1, j), (i, j - 1), (i - 1, j - 1)], key=total.__getitem__)
    return path


def test_the_loop_of_algorithm_1_never_moves():
    total = dict.fromkeys(product(range(3), repeat=2), 0)
    assert walked_back_as_printed(total, 2, 2, most=50) == [(2, 2)] * 50


def test_figure_2_aligns_two_different_texts():
    # S ⊕ cal ⊕ ing ⊕ Law is no re-tokenisation of what Scale ⊕ ing ⊕ L ⊕ aw spells.
    drafted, retokenised = ["S", "cal", "ing", "Law"], ["Scale", "ing", "L", "aw"]
    assert "".join(drafted) == "ScalingLaw"
    assert "".join(retokenised) == "ScaleingLaw"


def test_a_probability_of_a_target_token_is_no_argument_that_there_is():
    # Line 10 hands MapProbabilities p(T), the drafter's probabilities of TARGET tokens: the drafter has none of these.
    target, drafter = speaker(["ab"], [1]), speaker(["a", "b"], ["1/2", "1/2"])
    _, reading = opened(target, drafter, ())
    assert len(reading(())) == len(drafter.vocabulary) != len(target.vocabulary)
    assert b"ab" not in drafter.vocabulary
    # Read as p(D): the chance of the last draft token aligned.
    assert timing.mapped([b"a", b"b"], [b"ab"], [reading(())[0], reading((0,))[1]], timing.WINDOW) == [HALF]


def test_consistently_is_not_what_table_1_shows():
    """ "TokenTiming consistently achieves a higher speedup than … the TLI method" against rows of its own Table 1."""
    table_1 = {
        ("Llama-3.1-70B", "Qwen2.5-0.5B"): ("1.21", "1.06"),
        ("Phi-4", "OPT-350M"): ("1.37", "1.22"),
        ("Qwen3-30B-A3B", "OPT-350M"): ("1.02", "1.02"),
    }
    assert all(Fraction(theirs) >= Fraction(ours) for theirs, ours in table_1.values())
    # And the summary of 5.2.1, "TLI's peak performance is capped at 1.09×" on DeepSeek-R1-Distill-Llama-70B: 1.21.
    assert Fraction("1.21") > Fraction("1.09")


def test_repetition_n_is_two_different_numbers():
    # Alg. 5 counts kinds of n-grams, Section 5.1 and Appendix G speak of all n-grams.
    assert two_vocabularies.rates(["a a a a b"], 1) != two_vocabularies.shares(["a a a a b"], 1)


def test_e_gamma_plus_1_is_tokens_a_call_and_no_speed_up():
    # Section 3: "The expected speed-up is E[γ + 1]". A drafter that costs as much as the target: 2 tokens for 3 calls.
    same = speaker(["a", "b"], ["1/2", "1/2"])
    (method,) = [method for method in METHODS if method.name == "TokenTiming as printed"]
    found = measure(method, same, same, (), 1, draft_cost=1)
    assert (found.tokens_per_call, found.speed_up) == (2, 1)


def test_p_and_q_change_places_between_section_3_and_appendix_d():
    # Section 3: p is the draft and q the target, accepted with min(1, q/p). Appendix D, Alg. 4: p is the target and q
    # the draft, rejected with 1 - p/q. Each is right alone; the formula of one with the letters of the other is not.
    target, draft = exact(["1/4", "3/4"]), exact(["1/2", "1/2"])

    def emitted(numerator, denominator):
        def program(coin):
            x = coin.draw(draft)
            return x if coin.flip(min(1, numerator[x] / denominator[x])) else coin.draw(residual(target, draft))

        masses = law(program)
        return [masses.get(token, 0) for token in range(2)]

    assert emitted(target, draft) == target.tolist()
    assert emitted(draft, target) == [HALF, HALF]
