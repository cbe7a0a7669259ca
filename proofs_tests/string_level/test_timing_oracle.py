"""Thousands of alignments against every warping path, and blocks of TokenTiming against its pseudocode, exactly."""

from __future__ import annotations

import warnings
from collections import Counter
from random import Random

import pytest

from proofs_tests.string_level.timing_oracle import block_law, edits, least_paths, warping_paths
from spec_math import law
from spec_math.arrays import proportional_to
from spec_math.language import TokenizedModel, Vocabulary
from spec_math.string_level import timing
from spec_math.string_level.alignment import WidenedBandWarning, align, band

ALPHABETS = ("a", "ab", "abc", "aé\U0001f600")


def levenshtein(first, second):
    return align([first], [second], 0)[1]


def tokens(random, letters, most):
    return [
        "".join(random.choice(letters) for _ in range(random.randint(0, 4))) for _ in range(random.randint(1, most))
    ]


def instances(number, seed):
    """Short tokens over few letters, empty ones too: ties of every kind; half of them as bytes."""
    random = Random(seed)
    for _ in range(number):
        letters = random.choice(ALPHABETS)
        xs, ys = tokens(random, letters, 5), tokens(random, letters, 5)
        if random.random() < 1 / 4:
            ys = [*xs[:2], *ys][:5]
        if random.random() < 1 / 2:
            xs, ys = ([word.encode() for word in side] for side in (xs, ys))
        yield xs, ys, random.randint(0, 4)


def test_alignments_are_the_first_of_the_least_warping_paths():
    """Path, cost and width of 3,000 instances: ties, empty tokens, and bands that are too narrow, each many times."""
    seen = Counter()
    for xs, ys, window in instances(3_000, 1):
        least, cost, width = least_paths(xs, ys, window)
        assert band(len(xs), len(ys), window) == width
        with warnings.catch_warnings(record=True) as said:
            warnings.simplefilter("always")
            found = align(xs, ys, window)
        assert [warning.category for warning in said] == [WidenedBandWarning] * (width > window)
        assert found == (least[0], cost), (xs, ys, window)
        proposed = [f"p{place}" for place in range(len(xs))]
        if isinstance(xs[0], bytes):
            last = [max(i for i, j in least[0] if j == place) for place in range(len(ys))]
            assert timing.mapped(xs, ys, proposed, window) == [proposed[i] for i in last]
            seen["mapped"] += 1
        seen["widened"] += width > window
        seen["empty"] += not all(xs) or not all(ys)
        seen["tied"] += len(least) > 1
        # The control: a rule that prefers the diagonal would take another path.
        seen["not the shortest"] += min(least, key=len) != least[0]
    assert min(seen.values()) >= 200, seen
    assert len(seen) == 5


def test_levenshtein_is_the_edits_by_furthest_ends():
    random = Random(2)
    for _ in range(3_000):
        letters = random.choice(ALPHABETS)
        first, second = ("".join(random.choice(letters) for _ in range(random.randint(0, 9))) for _ in range(2))
        assert levenshtein(first, second) == edits(first, second)
        assert levenshtein(first.encode(), second.encode()) == edits(first.encode(), second.encode())


def test_the_oracle_counts_all_paths():
    """Delannoy numbers, and on the diagonal of width 0 one path."""
    assert [len(warping_paths(size, size, size)) for size in range(1, 6)] == [1, 3, 13, 63, 321]
    assert len(warping_paths(5, 5, 0)) == 1
    assert warping_paths(4, 1, 2) == []


def speaker(random, letters, longest):
    """All letters and two longer words, with a model of two tokens of context that has zeros."""
    words = [*letters, *{"".join(random.choice(letters) for _ in range(random.randint(2, longest))) for _ in range(2)}]
    rows = {}

    def model(prefix):
        seen = tuple(prefix[-2:])
        if seen not in rows:
            rows[seen] = proportional_to([random.choice([0, 1, 2, 3, 5]) for _ in words[1:]] + [random.randint(1, 4)])
        return rows[seen]

    return [word.encode() for word in words], model


@pytest.mark.parametrize("seed", range(4))
def test_blocks_of_the_printed_algorithm_have_the_law_of_its_pseudocode(seed):
    """30 pairs of random vocabularies and models, 1 to 3 draft tokens, windows 0 to 3: every mass, as a fraction."""
    random, lengths = Random(seed), set()
    for _ in range(30):
        target, drafter = speaker(random, "ab", 3), speaker(random, "ab", 3)
        lookahead, window = random.randint(1, 3), random.randint(0, 3)
        speakers = [TokenizedModel(model, Vocabulary(words)) for words, model in (target, drafter)]
        found = law(lambda coin, s=speakers, n=lookahead, w=window: timing.run(coin, *s, (), n, w).tokens)
        expected = block_law(target, drafter, lookahead, window)
        assert found == expected
        assert sum(expected.values()) == 1
        lengths |= {len(block) for block in expected}
    assert len(lengths) >= 5


def test_another_tie_rule_has_another_law():
    """The control: the last of the least paths gives other chances, on the vocabularies of the test above."""
    random, differing = Random(0), 0
    for _ in range(30):
        target, drafter = speaker(random, "ab", 3), speaker(random, "ab", 3)
        lookahead, window = random.randint(1, 3), random.randint(0, 3)
        laws = [block_law(target, drafter, lookahead, window, which) for which in (0, -1)]
        differing += laws[0] != laws[1]
    assert differing >= 5
