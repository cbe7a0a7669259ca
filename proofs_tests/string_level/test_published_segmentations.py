"""The segmentations of Qwen2's tokens (Timor et al., Appendix C), and ψ over two real vocabularies."""

from __future__ import annotations

from bisect import bisect_left
from fractions import Fraction
from functools import cache
from hashlib import sha256
from math import sqrt

import numpy as np
import pytest

from proofs_tests.real_vocabularies import published, real
from spec_math.language import Vocabulary
from spec_math.string_level import segmentation
from spec_math.string_level.psi import first_token, longest_lookahead, psi, unreachable
from spec_math.studies.vocabularies import psi as segmentation_counts
from spec_math.studies.vocabularies.psi import by_length, histogram


@cache
def qwen2():
    """Qwen2's vocabulary as the paper takes it: the names of the special tokens are strings like all others."""
    apart = real("qwen2")
    return Vocabulary([apart.special.get(index, token) for index, token in enumerate(apart)])


@cache
def all_counts():
    return segmentation.counts(qwen2().tokens, qwen2())


def test_hello_has_14_segmentations_and_16_forward_passes():
    for word in ("hello", "Hello"):
        assert segmentation.count(word, qwen2()) == 14
        assert len(segmentation.list(word, qwen2())) == 14
        assert segmentation.forward_passes(word, qwen2()) == 16
    # Of the 2^4 compositions two are missing, those with the piece llo, which is no token.
    assert "llo" not in qwen2()


def test_figure_1_lists_hello_with_a_capital():
    # Erratum z: the caption and the text say 'hello'; Figure 1 lists the segmentations of 'Hello', in this order.
    listed = [[qwen2()[token].decode() for token in cut] for cut in segmentation.list("Hello", qwen2())]
    assert listed == [
        ["H", "e", "l", "l", "o"],
        ["H", "e", "l", "lo"],
        ["H", "e", "ll", "o"],
        ["H", "el", "l", "o"],
        ["H", "el", "lo"],
        ["H", "ell", "o"],
        ["H", "ello"],
        ["He", "l", "l", "o"],
        ["He", "l", "lo"],
        ["He", "ll", "o"],
        ["Hel", "l", "o"],
        ["Hel", "lo"],
        ["Hell", "o"],
        ["Hello"],
    ]


def test_all_151646_tokens_are_counted():
    counts = all_counts()
    assert len(counts) == 151_646
    assert max(counts) == 170141183460469231731686062719443664897
    assert sum(counts) == int(published()["all_151646"]["sum"])
    assert sum(count > 2**53 for count in counts) == 148
    digest = sha256("\n".join(map(str, counts)).encode()).hexdigest()
    assert digest == published()["all_counts_sha256_newline_joined_id_order"]


def test_the_1646_longest_tokens_that_the_paper_gave_up_on_are_counted():
    order = sorted(range(151_646), key=lambda index: (len(qwen2()[index]), index))
    longest = [all_counts()[index] for index in order[150_000:]]
    assert len(longest) == 1_646
    assert sum(longest) == int(published()["longest_1646_tiebreak_id"]["sum"])
    assert min(longest) == 931


def quantiles(values):
    """The quartiles, where the 150,000 values that stand beside each one agree on it."""
    ordered = sorted(values)
    last = len(ordered) - 1
    places = [(last * quarter // 4, -(-last * quarter // 4)) for quarter in (1, 2, 3)]
    assert all(ordered[low] == ordered[high] for low, high in places)
    return [ordered[low] for low, _ in places]


def spread(values):
    """Mean and standard deviation (n − 1) from exact sums."""
    size, total, squares = len(values), sum(values), sum(value * value for value in values)
    return total / size, sqrt(Fraction(squares * size - total * total, size * (size - 1)))


def test_table_5_where_it_is_determined_and_the_interval_for_the_rest():
    lengths = [len(token) for token in qwen2()]
    counts = all_counts()
    shorter = [counts[index] for index, length in enumerate(lengths) if length < 17]
    tied = sorted(counts[index] for index, length in enumerate(lengths) if length == 17)
    # 150,000 shortest tokens: all of up to 16 bytes, and 272 of the 310 of 17 bytes. Which ones the paper does not say.
    kept = 150_000 - len(shorter)
    assert (len(shorter), len(tied), kept) == (149_728, 310, 272)

    # Lengths are determined: those kept are all 17.
    chosen = sorted(lengths)[:150_000]
    mean, deviation = spread(chosen)
    assert (f"{mean:.2f}", f"{deviation:.2f}", min(chosen), max(chosen)) == ("6.21", "2.87", 1, 17)
    assert quantiles(chosen) == [4, 6, 8]

    # Quartiles and minimum of the counts too: every tied token has more than 56 (the least has 1,222).
    least, most = shorter + tied[:kept], shorter + tied[-kept:]
    assert tied[0] == 1_222
    for choice in (least, most):
        assert min(choice) == 1
        assert quantiles(choice) == [7, 15, 56]

    # Mean and deviation are not (erratum l). Both grow when a kept count is exchanged for a larger one, since all tied
    # counts lie above every mean: so the 272 least and the 272 largest bound them.
    (low, low_deviation), (high, high_deviation) = spread(least), spread(most)
    assert (f"{low:.2f}", f"{high:.2f}") == ("138.68", "147.03")
    assert (f"{low_deviation:.1f}", f"{high_deviation:.1f}") == ("705.7", "950.1")
    assert tied[0] > high
    assert low <= 144.31 <= high
    assert low_deviation <= 880.98 <= high_deviation
    # The maximum is 65,536 unless all four tokens that reach it are dropped.
    assert max(most) == 65_536 > max(least)
    assert tied.count(65_536) == 4


def test_table_5_is_reached_by_some_choice_of_the_tied_tokens():
    dropped = set(published()["table5"]["ties"]["dropped_ids_reproducing_paper"])
    lengths = [len(token) for token in qwen2()]
    chosen = [
        count
        for index, (length, count) in enumerate(zip(lengths, all_counts(), strict=True))
        if length <= 17 and index not in dropped
    ]
    mean, deviation = spread(chosen)
    assert (len(chosen), f"{mean:.2f}", f"{deviation:.2f}", max(chosen)) == (150_000, "144.31", "880.98", 65_536)


def test_figures_2_and_3_are_drawn_from_the_counts_of_each_length():
    found = segmentation_counts.counts(qwen2(), 150_000)
    assert (max(found.by_length), len(found.by_length[17]), found.kept) == (17, 310, 272)
    every = segmentation_counts.counts(qwen2())
    for listed, told in published()["by_length"].items():
        length, row = int(listed), every.by_length[int(listed)]
        assert (len(row), sum(row), row[0], row[-1]) == (told["n"], int(told["sum"]), told["min"], int(told["max"]))
        if length < 17:
            assert row == found.by_length[length]
    lines = segmentation_counts.summary(found)
    # Table 5: what is determined has equal ends, what is not contains what is printed.
    assert [lines[name] for name in ("minimum", "25 %", "50 %", "75 %")] == [(1, 1), (7, 7), (15, 15), (56, 56)]
    assert all(
        lines[name][0] <= printed <= lines[name][1]
        for name, printed in (("mean", 144.31), ("standard deviation", 880.98), ("maximum", 65_536))
    )
    assert by_length(found, "Figure 2") != by_length(every, "Figure 2")
    assert len(histogram(found, "Figure 3").panels[0].curves) == 2  # type: ignore[union-attr]


class Begins:
    """How probable it is that a drafted text begins with a string: by covering the string, without any trie."""

    def __init__(self, tokens, weights, total):
        self.order = sorted((token, weight) for token, weight in zip(tokens, weights, strict=True) if token)
        self.words = [token for token, _ in self.order]
        self.sums = [0, *np.cumsum([weight for _, weight in self.order], dtype=np.int64).tolist()]
        self.weight = dict(self.order)
        self.total = total

    def starting(self, prefix):
        """The mass of the tokens that begin with prefix."""
        low, high = bisect_left(self.words, prefix), bisect_left(self.words, prefix + b"\xff" * 300)
        return Fraction(self.sums[high] - self.sums[low], self.total)

    def __call__(self, text):
        reach = [Fraction(1)] + [Fraction(0)] * (len(text) - 1)
        for end in range(1, len(text)):
            for begin in range(end):
                if text[begin:end] in self.weight:
                    reach[end] += reach[begin] * Fraction(self.weight[text[begin:end]], self.total)
        return sum((mass * self.starting(text[begin:]) for begin, mass in enumerate(reach)), Fraction(0))


@cache
def real_draft():
    """Weights on Qwen2's text tokens that sum to 2^40, so that floats hold every mass exactly."""
    draft = real("qwen2")
    weights = np.random.default_rng(2025).integers(0, 2**23, len(draft))
    weights[list(draft.special)] = 0
    weights[draft.index("a")] = 0
    weights[draft.index("a")] = 2**40 - weights.sum()
    assert weights.min() >= 0
    return weights


def test_psi_of_all_llama_tokens_from_a_qwen2_drafter():
    target, draft, weights = real("llama3.1"), real("qwen2"), real_draft()
    found = first_token(target, draft, weights / 2.0**40)
    assert found.untokenisable == 0
    # Hold each ψ against P(text begins with x) − Σ P(text begins with the next longer tokens), in exact arithmetic.
    # Roundings on the way of one mass: every draft node sums at most 256 children on each of at most 256 levels; a
    # node of the target trie is reached from at most 128 ancestors, by a product and a sum from each, and that 128
    # times; and a token gathers at most 256 terms from each of 128 ancestors of each of its K nodes.
    begins = Begins(draft.tokens, weights.tolist(), 2**40)
    for word in (b"hello", b"ing", b"the", b" the", b"Qu", b"000", "é".encode(), b"ization"):
        token = target.index(word)
        nearest: list[bytes] = []
        for longer in sorted(other for other in target.tokens if other.startswith(word) and other != word):
            # In ascending order a token stands right before all that begin with it.
            if not nearest or not longer.startswith(nearest[-1]):
                nearest.append(longer)
        true = begins(word) - sum((begins(other) for other in nearest), Fraction(0))
        nodes = int((target.trie.longest == token).sum())
        roundings = 256 * 256 + 2 * 128 * 128 + 256 * 128 * nodes
        # (1 + u)^N − 1 ≤ N·u / (1 − N·u) with u = 2^-53.
        assert abs(Fraction(found.law[token]) - true) <= Fraction(roundings, 2**53 - roundings) * true
        assert true > 0


def test_every_lookahead_of_real_vocabularies_sums_to_one():
    target, draft = real("llama3.1"), real("qwen2")
    masses = real_draft() / 2.0**40
    short = psi(target, draft, masses, lookahead=1)
    # The masses sum to exactly 1 and one product with 1 is exact: what rounds are the sums, at most two for each node
    # of the draft trie and one for each target token; twice that also covers the terms of higher order.
    assert abs(short.sum() - 1) <= 2.0**-53 * 2 * (len(draft.trie) + len(target))
    assert np.count_nonzero(short) < np.count_nonzero(psi(target, draft, masses, lookahead=2))


def test_no_target_token_of_llama_is_out_of_reach_of_qwen2():
    assert unreachable(real("llama3.1"), real("qwen2")) == ()
    assert longest_lookahead(real("llama3.1"), real("qwen2")) == 128
    # The byte tokens that a piece repeats are read as the piece, and so never drafted.
    assert set(unreachable(real("gemma2"), real("llama2"))) == set(real("gemma2").repeats)


@pytest.mark.parametrize("name", ["mixtral-8x22b", "phi3-medium"])
def test_only_repeated_bytes_are_unreachable_in_sentencepiece_vocabularies(name):
    assert set(unreachable(real(name), real("qwen2"))) == set(real(name).repeats)
