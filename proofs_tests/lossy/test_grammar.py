"""Masked speculation and the law given validity: both exactly, the correction between them, and a gap near 1."""

from fractions import Fraction
from itertools import product

import pytest

from spec_math import exact
from spec_math.block_level import block, chain
from spec_math.block_level.lossless import emitted_law, target_law
from spec_math.papers import grammar

OPEN, CLOSE, OTHER = 0, 1, 2


def dyck(pairs):
    """All balanced texts of so many pairs."""
    found = []
    for text in product((OPEN, CLOSE), repeat=2 * pairs):
        depths = [sum(1 if token == OPEN else -1 for token in text[: i + 1]) for i in range(2 * pairs)]
        if min(depths) >= 0 and depths[-1] == 0:
            found.append(text)
    return found


def target(prefix):
    """Closing is rare, the rarer the more is open; a third token that no text has."""
    depth = sum(1 if token == OPEN else -1 for token in prefix if token != OTHER)
    close = Fraction(1, 10 * (1 + max(0, depth)))
    return exact([Fraction(1, 2), close, Fraction(1, 2) - close])


def draft(prefix):
    return exact(["1/3", "1/3", "1/3"] if len(prefix) % 2 else ["1/2", "1/4", "1/4"])


def trap(rare):
    """After token 0 almost surely nothing valid follows; token 1, which is unlikely, is always completed."""
    return lambda prefix: exact(
        [1 - rare, rare, 0] if not prefix else [0, 1 - rare * rare, rare * rare] if prefix[0] == 0 else [0, 0, 1]
    )


TRAP = grammar.grammar([(0, 2), (1, 2)])
DYCK = grammar.grammar(dyck(2))


def by_hand(model, texts):
    """The law given validity by listing the target's texts: no Φ, no model."""
    whole = target_law(model, len(texts[0]))
    masses = [whole.get(text, Fraction(0)) for text in texts]
    return [mass / sum(masses) for mass in masses]


def step_by_step(model, texts):
    """The masked law by following each text: allowed tokens are found by looking at all texts."""
    found = []
    for text in texts:
        mass = Fraction(1)
        for place, token in enumerate(text):
            row = model(text[:place])
            allowed = {other[place] for other in texts if other[:place] == text[:place]}
            mass *= row[token] / sum(row[y] for y in allowed)
        found.append(mass)
    return found


def test_both_laws_are_those_found_by_listing_texts():
    for pairs in (1, 2, 3):
        language = grammar.grammar(dyck(pairs))
        conditioned = grammar.text_law(grammar.conditioned(target, language), language)
        masked = grammar.text_law(grammar.masked(target, language), language)
        assert conditioned == by_hand(target, language.texts)
        assert masked == step_by_step(target, language.texts)
        assert sum(masked) == sum(conditioned) == 1
        assert (masked == conditioned) == (pairs == 1)


def test_masking_is_corrected_by_the_probability_of_completion():
    """conditioned = masked · Π m/Φ, and the masked mean of Π m is Φ."""
    for pairs in (2, 3):
        language = grammar.grammar(dyck(pairs))
        masked = grammar.text_law(grammar.masked(target, language), language)
        weights = grammar.correction(target, language)
        conditioned = grammar.text_law(grammar.conditioned(target, language), language)
        assert [m * w for m, w in zip(masked, weights, strict=True)] == conditioned
        assert sum(m * w for m, w in zip(masked, weights, strict=True)) == 1
        whole = target_law(target, 2 * pairs)
        assert grammar.completion(target, language) == sum(whole.get(text, 0) for text in language.texts)


@pytest.mark.parametrize("generate", [chain.generate, block.generate])
@pytest.mark.parametrize("make", [grammar.masked, grammar.conditioned])
@pytest.mark.parametrize("drafted", ["own", "masked", "conditioned"])
def test_lossless_speculation_emits_either_law_whatever_drafts(generate, make, drafted):
    """The method is lossless for the model that it is given: a masked one gives masked texts, whatever the draft is."""
    model = make(target, DYCK)
    drafter = {"own": draft, "masked": grammar.masked(draft, DYCK), "conditioned": grammar.conditioned(draft, DYCK)}[
        drafted
    ]
    emitted = emitted_law(lambda coin, prefix: generate(coin, model, drafter, prefix, 2), model, 4, rounds=4)
    assert [emitted.get(text, 0) for text in DYCK.texts] == grammar.text_law(model, DYCK)


def test_a_decoder_that_masks_does_not_emit_the_law_given_validity():
    """The control of the test above: the two laws differ, and masked speculation is as far off as masking."""
    model = grammar.masked(target, DYCK)
    emitted = emitted_law(lambda coin, prefix: chain.generate(coin, model, draft, prefix, 2), model, 4, rounds=4)
    wanted = grammar.text_law(grammar.conditioned(target, DYCK), DYCK)
    away = sum(max(Fraction(0), emitted.get(text, 0) - mass) for text, mass in zip(DYCK.texts, wanted, strict=True))
    assert away == grammar.gap(target, DYCK).total_variation > 0


def test_the_gap_of_masking_comes_near_1():
    """1 − rare of the masked texts begin with token 0, and next to none of the valid ones do."""
    for rare in (Fraction(1, 10), Fraction(1, 1000)):
        far = grammar.gap(trap(rare), TRAP)
        masked, valid = 1 - rare, (1 - rare) * rare**2 / ((1 - rare) * rare**2 + rare)
        assert far.total_variation == masked - valid
    assert far.total_variation > Fraction(997, 1000)
    assert float(far.from_target) > 6


def test_a_grammar_without_a_valid_completion_is_an_error_that_names_it():
    with pytest.raises(ValueError, match=r"a grammar needs at least one text, .* it has no valid completion"):
        grammar.grammar([])
    never = grammar.grammar([(2, 2)])
    stuck = trap(Fraction(1, 10))
    for ask in (
        lambda: grammar.conditioned(stuck, never),
        lambda: grammar.correction(stuck, never),
        lambda: grammar.gap(stuck, never),
    ):
        with pytest.raises(ValueError, match="the target emits no text of the grammar: the probability of a valid"):
            ask()
    dead = grammar.masked(stuck, grammar.grammar([(0, 0), (1, 2)]))
    with pytest.raises(
        ValueError, match=r"after \(0,\) the grammar keeps the tokens \(0,\), and the target has no mass"
    ):
        dead((0,))
    with pytest.raises(ValueError, match=r"the text \(0,\) is the beginning of another"):
        grammar.grammar([(0,), (0, 1)])
    with pytest.raises(TypeError, match="a text of a grammar is a tuple of token indices"):
        grammar.grammar([("a",)])


def test_floats_follow_the_exact_laws():
    floating = grammar.gap(lambda prefix: target(prefix).astype(float), DYCK)
    exactly = grammar.gap(target, DYCK).total_variation
    assert abs(floating.total_variation - float(exactly)) < 1e-12
