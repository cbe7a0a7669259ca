"""Chains and blocks as arrays, in every storage and from logits, against one request at a time in Fractions."""

from __future__ import annotations

from fractions import Fraction
from random import Random

import numpy as np
import pytest

from proofs_tests.block_level import blocks_oracle as oracle
from spec_math.arrays import exact
from spec_math.block_level.batch import array_form

RULES = {
    "token": (array_form.verify_chain, array_form.decide_chain, oracle.verify_token),
    "block": (array_form.verify_block, array_form.decide_block, oracle.verify_block),
}
rules = pytest.mark.parametrize("rule", RULES)


def row(random, size, base=None):
    """A law of small weights with zeros and ties: one near another, equal to it, or of its own."""
    if base is not None and random.random() < 0.3:
        return list(base)
    weights = [random.choice([0, 0, 1, 1, 2, 3, 7]) for _ in range(size)]
    weights[random.randrange(size)] += 1
    law = [Fraction(weight, sum(weights)) for weight in weights]
    if base is not None and random.random() < 0.3:
        share = Fraction(1, 10 ** random.randint(1, 12))
        return [(1 - share) * old + share * new for old, new in zip(base, law, strict=True)]
    return law


def request(random, lookahead, size):
    """Laws [L + 1] and [L], 1 to L drafted tokens or none, a uniform a coin; a fifth of the texts end with their draft.

    Uniforms on eighths and on the chances that small weights have, or at random.
    """
    targets = [row(random, size) for _ in range(lookahead + 1)]
    drafts = [row(random, size, target) for target in targets[:-1]]
    length = random.randint(0, lookahead)
    tokens = [random.choices(range(size), [float(mass) for mass in law])[0] for law in drafts[:length]]
    if length and random.random() < 0.2:
        targets[length] = [Fraction(0)] * size
    uniforms = [
        Fraction(random.randrange(8), 8) if random.random() < 0.3 else Fraction(random.random())
        for _ in range(lookahead + 1)
    ]
    return targets, drafts, tokens, uniforms


def requests(seed, number, lookahead, size):
    random = Random(f"{seed} {lookahead} {size}")
    return [request(random, lookahead, size) for _ in range(number)]


def on_thresholds(rule, given):
    """The same requests with one uniform moved onto the nearest threshold: of a coin, or of the last draw."""
    random, moved = Random(0), []
    decide = RULES[rule][1]
    for targets, drafts, tokens, uniforms in given:
        batch = arrays([(targets, drafts, tokens, uniforms)])
        found, place = decide(*batch), random.randrange(len(uniforms))
        if place < len(uniforms) - 1:
            wanted = found.chances[0, place]
        else:
            sums = np.cumsum(found.masses[0])
            wanted = random.choice(list(sums)) / sums[-1] if sums[-1] else Fraction(0)
        there = [*uniforms[:place], wanted, *uniforms[place + 1 :]]
        moved.append((targets, drafts, tokens, there if wanted < 1 else uniforms))
    return moved


def arrays(given):
    """Requests as the arrays of a batch, in Fractions; −1 from where a chain is shorter."""
    targets, drafts, uniforms = (exact([one[place] for one in given]) for place in (0, 1, 3))
    lookahead = drafts.shape[1]
    tokens = np.array([[*one[2], *[-1] * (lookahead - len(one[2]))] for one in given])
    return targets, drafts, tokens, uniforms


def decided(rule, given):
    """What the oracle says of each request: rows of tokens padded with −1, and the margins."""
    verify, width = RULES[rule][2], len(given[0][1]) + 1
    found = [verify(*one) for one in given]
    return [[*one.tokens, *[-1] * (width - len(one.tokens))] for one in found], [one.margin for one in found]


SHAPES = [(1, 2), (1, 5), (2, 3), (3, 4), (4, 3)]


@rules
@pytest.mark.parametrize(("lookahead", "size"), SHAPES)
def test_arrays_of_fractions_decide_as_the_oracle_everywhere(rule, lookahead, size):
    """400 requests, half of them with a uniform exactly on a threshold: no margin is asked for."""
    given = requests(1, 200, lookahead, size)
    given += on_thresholds(rule, given)
    emitted, count = RULES[rule][0](*arrays(given))
    expected, margins = decided(rule, given)
    assert emitted.tolist() == expected
    assert count.tolist() == [sum(token >= 0 for token in tokens) for tokens in expected]
    assert sum(margin == 0 for margin in margins) >= 50
    assert len(set(count.tolist())) >= 2


def bound(lookahead, size):
    """How far float64 may be from exact decisions on the masses that it is given, on the oracle's scale.

    u = 2^-53. A weight is off by a relative 2L u, two roundings a step; the masses (w·t − d)+ by (2L + 2) u in all, as
    w·t sums to 1 at most; a sum of V of them by V u more. A draw compares a running sum with u · S, the total's error
    and a product's rounding: (2 (2L + 2) + 2V + 1) u. A coin compares u with ρ/(ρ + 1 − w); times the denominator it is
    off by the errors of ρ and w and three roundings, less than that and 2L u + 3 u. Laws that float16 rounded may sum
    to 1 + V 2^-12 or so: a hundredth more.
    """
    return Fraction(101, 100) * Fraction(2 * (2 * lookahead + 2) + 2 * size + 2 * lookahead + 4, 2**53)


def floats(given, dtype):
    """The same requests in floats; and as the Fractions that these floats are."""
    rounded = [
        (
            *(np.array([[float(mass) for mass in law] for law in side]).astype(dtype) for side in one[:2]),
            one[2],
            [float(u) for u in one[3]],
        )
        for one in given
    ]
    again = [
        (
            *([[Fraction(float(mass)) for mass in law] for law in side] for side in one[:2]),
            one[2],
            list(map(Fraction, one[3])),
        )
        for one in rounded
    ]
    return rounded, again


@rules
@pytest.mark.parametrize("library", ["numpy", "torch"])
@pytest.mark.parametrize("dtype", ["float64", "float32", "float16"])
@pytest.mark.parametrize(("lookahead", "size"), SHAPES)
def test_arrays_of_floats_decide_as_the_oracle_beyond_the_bound(rule, library, dtype, lookahead, size):
    """On the floats as they are; uniforms next to a threshold by four bounds decide as they do far from it."""
    rounded, given = floats(near(rule, requests(2, 150, lookahead, size), bound(lookahead, size)), dtype)
    _, _, tokens, _ = arrays(given)
    targets, drafts = (np.stack([one[place] for one in rounded]) for place in (0, 1))
    uniforms = np.array([one[3] for one in rounded])
    batch = targets, drafts, tokens, uniforms
    if library == "torch":
        torch = pytest.importorskip("torch")
        batch = tuple(map(torch.from_numpy, batch))
    emitted, _ = RULES[rule][0](*batch)
    expected, margins = decided(rule, given)
    far = [margin > bound(lookahead, size) for margin in margins]
    wrong = [
        place
        for place, (found, wanted) in enumerate(zip(emitted.tolist(), expected, strict=True))
        if far[place] and found != wanted
    ]
    assert wrong == []
    assert np.mean(far) > 0.8


def near(rule, given, width):
    """Requests of which each second one has its last uniform four bounds beside a border of its draw."""
    random, moved = Random(1), []
    for number, (targets, drafts, tokens, uniforms) in enumerate(given):
        there = uniforms
        if number % 2:
            sums = np.cumsum(RULES[rule][1](*arrays([(targets, drafts, tokens, uniforms)])).masses[0])
            if sums[-1]:
                wanted = random.choice(list(sums)) / sums[-1] + random.choice([-1, 1]) * 4 * width / sums[-1]
                there = [*uniforms[:-1], wanted] if 0 <= wanted < 1 else uniforms
        moved.append((targets, drafts, tokens, there))
    return moved


# Controls: the same comparison rejects these.


def strict_in_reverse(targets, drafts, tokens, uniforms):
    """u ≤ p accepts."""
    return array_form.verify_block(targets, drafts, tokens, np.maximum(uniforms - Fraction(1, 10**30), 0))


def one_coin_late(targets, drafts, tokens, uniforms):
    return array_form.verify_block(targets, drafts, tokens, np.roll(uniforms, 1, axis=1))


def kept_unweighted(targets, drafts, tokens, uniforms):
    """The residual of single verification."""

    def decide(*batch):
        found = array_form.decide_block(*batch)
        one = np.full(len(tokens), Fraction(1))
        return found._replace(
            masses=array_form.following(targets, drafts, found.accepted, array_form.lengths(tokens), one)
        )

    return array_form.verified(decide, targets, drafts, tokens, uniforms)


@pytest.mark.parametrize("wrong", [strict_in_reverse, one_coin_late, kept_unweighted, array_form.verify_chain])
def test_a_wrong_array_form_is_rejected_by_the_oracle(wrong):
    given = requests(1, 200, 3, 4)
    given += on_thresholds("block", given)
    assert wrong(*arrays(given)).emitted.tolist() != decided("block", given)[0]
