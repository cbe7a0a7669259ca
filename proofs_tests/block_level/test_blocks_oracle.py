"""Chains and blocks as arrays, of laws from every storage, against one request at a time in Fractions."""

from __future__ import annotations

from fractions import Fraction
from random import Random

import numpy as np
import pytest

from proofs_tests.block_level import blocks_oracle as oracle
from proofs_tests.block_level.given_rows import GivenRows
from spec_math import array_coin
from spec_math.array_coin import ArrayCoin
from spec_math.arrays import array_namespace, exact
from spec_math.block_level import tree_rules
from spec_math.block_level.batch.array_tree import ArrayTree, emitted
from spec_math.field import chain_kernel

END = 0
"""The token that ends a text."""


def verified(rule, targets, drafts, tokens, uniforms):
    """Emitted tokens [B, L + 1] and their number [B] of chains verified as trees of one path."""
    xp = array_namespace(tokens)
    parents = xp.broadcast_to(xp.arange(tokens.shape[1])[None, :] - 1, tokens.shape)
    tree = ArrayTree(tokens, parents, depth=tokens.shape[1], width=1, end=END)
    # Nothing is drawn after the end, whatever the law there is.
    followed = xp.where((xp.sum(targets, axis=-1) > 0)[..., None], targets, targets[:, :1])
    laws = GivenRows(followed, xp.concat([drafts, drafts[:, :1]], axis=1))
    return emitted(tree, rule.decide(ArrayCoin(uniforms, last_draws=True), tree, laws))


def verify_chain(*batch):
    return verified(tree_rules.TOKEN_BY_TOKEN, *batch)


def verify_block(*batch):
    return verified(tree_rules.AS_A_BLOCK, *batch)


def joined(decisions, tokens, uniforms):
    """What the decisions of `chain_kernel` emit, padded with −1."""
    follows = array_coin.drawn(decisions.masses, uniforms[:, -1])
    rows = zip(tokens.tolist(), decisions.accepted.tolist(), follows.tolist(), strict=True)
    texts = [[*drafted[:number], *([token] if token >= 0 else [])] for drafted, number, token in rows]
    return [[*text, *[-1] * (tokens.shape[1] + 1 - len(text))] for text in texts]


RULES = {
    "token": (verify_chain, chain_kernel.decide_chain, oracle.verify_token),
    "block": (verify_block, chain_kernel.decide_block, oracle.verify_block),
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
    """Laws [L + 1] and [L], up to L drafted tokens, a uniform a coin; nothing follows the end token.

    Uniforms on eighths and on the chances that small weights have, or at random.
    """
    targets = [row(random, size) for _ in range(lookahead + 1)]
    drafts = [row(random, size, target) for target in targets[:-1]]
    length = random.randint(0, lookahead)
    tokens = [random.choices(range(size), [float(mass) for mass in law])[0] for law in drafts[:length]]
    if END in tokens:
        tokens = tokens[: tokens.index(END) + 1]
        targets[len(tokens)] = [Fraction(0)] * size
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
    found, count = RULES[rule][0](*arrays(given))
    expected, margins = decided(rule, given)
    assert found.tolist() == expected
    batch = arrays(given)
    assert joined(RULES[rule][1](*batch), *batch[2:]) == expected
    assert count.tolist() == [sum(token >= 0 for token in tokens) for tokens in expected]
    assert sum(margin == 0 for margin in margins) >= 50
    assert len(set(count.tolist())) >= 2


def bound(lookahead, size):
    """How far float64 may be from exact decisions on the masses that it is given, on the oracle's scale.

    u = 2^-53. A weight is off by a relative 2L u, two roundings a step; the masses (w·t − d)+ by (2L + 2) u in all, as
    w·t sums to 1 at most; a sum of V of them by V u more. A draw compares a running sum with u · S, the total's error
    and a product's rounding: (2 (2L + 2) + 2V + 1) u. A coin compares u with ρ/(ρ + 1 − w); times the denominator it is
    off by the errors of ρ and w and three roundings, less than that and 2L u + 3 u. Laws divided by their sums may sum
    to 1 + V u, and are divided by that again, at every position: 2 V (L + 1) u more.
    """
    again = 2 * size * (lookahead + 1)
    return Fraction(101, 100) * Fraction(2 * (2 * lookahead + 2) + 2 * size + 2 * lookahead + 4 + again, 2**53)


def floats(given, dtype):
    """The same requests in floats, laws as they were stored over their sums; and as the Fractions that these are."""

    def stored(side):
        rows = np.array([[float(mass) for mass in law] for law in side]).astype(dtype).astype(np.float64)
        sums = rows.sum(axis=1, keepdims=True)
        return rows / np.where(sums > 0, sums, 1)

    rounded = [(*(stored(side) for side in one[:2]), one[2], [float(u) for u in one[3]]) for one in given]
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
    tokens_found, _ = RULES[rule][0](*batch)
    expected, margins = decided(rule, given)
    far = [margin > bound(lookahead, size) for margin in margins]
    wrong = [
        place
        for place, (found, wanted) in enumerate(zip(tokens_found.tolist(), expected, strict=True))
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
    return verify_block(targets, drafts, tokens, np.maximum(uniforms - Fraction(1, 10**30), 0))[0].tolist()


def one_coin_late(targets, drafts, tokens, uniforms):
    return verify_block(targets, drafts, tokens, np.roll(uniforms, 1, axis=1))[0].tolist()


def kept_unweighted(targets, drafts, tokens, uniforms):
    """The residual of single verification."""
    rows = np.arange(len(tokens))
    found = chain_kernel.decide_block(targets, drafts, tokens, uniforms)
    left = np.maximum(targets[rows, found.accepted] - drafts[rows, np.minimum(found.accepted, drafts.shape[1] - 1)], 0)
    ended = (found.accepted == (tokens >= 0).sum(axis=1))[:, None] | (left.sum(axis=1, keepdims=True) == 0)
    return joined(found._replace(masses=np.where(ended, found.masses, left)), tokens, uniforms)


def token_by_token(*batch):
    return verify_chain(*batch)[0].tolist()


@pytest.mark.parametrize("wrong", [strict_in_reverse, one_coin_late, kept_unweighted, token_by_token])
def test_a_wrong_array_form_is_rejected_by_the_oracle(wrong):
    given = requests(1, 200, 3, 4)
    given += on_thresholds("block", given)
    assert wrong(*arrays(given)) != decided("block", given)[0]
