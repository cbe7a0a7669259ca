"""Bugs of temperatures and filters: applied twice, to some rows alone, or to what is drafted and not what is tested."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from fractions import Fraction
from typing import Any

import numpy as np

from spec_math.arrays import Array
from spec_math.audit.zoo.engine import Drafter, Generate, Rows, Text, Verify, by_ratio, one_hot
from spec_math.audit.zoo.small_case import TOY, Laws, SmallCase, laws
from spec_math.audit.zoo.specimen import Specimen
from spec_math.chance import Coin
from spec_math.distribution import residual_of, temperature, top_k

COLD = Fraction(1, 2)


def _at(rows: Rows, heat: Fraction) -> Rows:
    return lambda prefix: temperature(rows(prefix), heat)


def _twice(given: Laws, drafter: Drafter) -> Generate:
    """M56: the target's law is made colder in the model's call, and once more where drafts are verified."""
    return _chain(given.lookahead, drafter, _at(_at(given.target, COLD), COLD), by_ratio())


def _bonus_alone(kept: int) -> Callable[[Laws, Drafter], Generate]:
    """M57: drafts are verified against the whole law, and the token after them is drawn after top-k."""

    def program(given: Laws, drafter: Drafter) -> Generate:
        def verify(coin: Coin, tokens: Text, targets: Sequence[Array], reported: Sequence[Array]) -> Text:
            return by_ratio()(coin, tokens, [*targets[:-1], top_k(targets[-1], kept)], reported)

        return _chain(given.lookahead, drafter, given.target, verify)

    return program


def _greedy_by_ratio(given: Laws, drafter: Drafter) -> Generate:
    """M58: at temperature 0 drafts are the likeliest tokens, tested by softmax masses; what is drawn is an argmax."""

    def verify(coin: Coin, tokens: Text, targets: Sequence[Array], reported: Sequence[Array]) -> Text:
        sure = [*targets[:-1], one_hot(int(np.argmax(targets[-1])), targets[-1])]
        return by_ratio(rest=_likeliest_left)(coin, tokens, sure, reported)

    return _chain(given.lookahead, drafter, given.target, verify)


def _likeliest_left(t: Array, d: Array, _x: int) -> Array:
    return one_hot(int(np.argmax(residual_of(t, d))), t)


def _chain(lookahead: int, drafter: Drafter, target: Rows, verify: Verify) -> Generate:
    def generate(coin: Coin, prefix: Text) -> Text:
        tokens: Text = ()
        reported: list[Array] = []
        for _ in range(lookahead):
            x, law = drafter(coin, prefix + tokens)
            tokens, reported = (*tokens, int(x or 0)), [*reported, law]
        return verify(coin, tokens, [target(prefix + tokens[:n]) for n in range(lookahead + 1)], reported)

    return generate


def _sampled(given: Laws) -> Drafter:
    def drafter(coin: Coin, prefix: Text) -> tuple[int, Array]:
        law = given.draft(prefix)
        return coin.draw(law), law

    return drafter


def _likeliest(given: Laws) -> Drafter:
    """Draft the likeliest token and report the softmax."""

    def drafter(_coin: Coin, prefix: Text) -> tuple[int, Array]:
        law = given.draft(prefix)
        return int(np.argmax(law)), law

    return drafter


Program = Callable[[Laws, Drafter], Generate]


def _broken(name: str, program: Program, told: tuple[str, str], parts: Any, small: Any) -> Specimen:
    """Return a specimen.

    `told` is its cause and where it is; `parts` the temperature of the request, what it makes of a target's rows, and
    the drafter; `small` the program on small laws, those laws, a horizon and the distance there.
    """
    heat, asked, drafter = parts
    smaller, given, horizon, distance = small
    return Specimen(
        name,
        *told,
        "verifier" if drafter is _sampled else "drafter",
        program(TOY, drafter(TOY)),
        drafter(TOY),
        target=asked(TOY),
        smallest=SmallCase(lambda one: smaller(one, drafter(one)), given, horizon, distance, asked),
        heat=heat,
    )


def _colder(heat: Fraction) -> Callable[[Laws], Rows]:
    return lambda given: _at(given.target, heat)


def _filtered(given: Laws) -> Rows:
    """Return the rows after top-3, or top-1 of two tokens."""
    return lambda prefix: top_k(given.target(prefix), 3 if len(given.target(prefix)) > 3 else 1)


THIRDS = ["1/3", "2/3"]

SPECIMENS = (
    _broken(
        "M56",
        _twice,
        (
            "the warper is applied twice: the temperature divides logits that it has divided already",
            "tyshiwo1, speculative Jacobi decoding",
        ),
        (COLD, _colder(COLD), _sampled),
        (_twice, laws(THIRDS, THIRDS), 1, Fraction(12, 85)),
    ).mended_by("apply the warpers once, where the target's law is made, and verify against that"),
    _broken(
        "M57",
        _bonus_alone(3),
        (
            "top-k and top-p are applied to the row of the bonus token alone",
            "lmdeploy 0.18.0, RejectionSampler.forward",
        ),
        (Fraction(1), _filtered, _sampled),
        (_bonus_alone(1), laws(["1/2", "1/2"], ["1/2", "1/2"]), 1, Fraction(1, 2)),
    ).mended_by("filter every row of the target before drafts are verified against it"),
    _broken(
        "M58",
        _greedy_by_ratio,
        (
            "at temperature 0 the draft is an argmax, and is tested by the ratio of softmax masses",
            "litgpt 0.5.13; romsto/Speculative-Decoding",
        ),
        (Fraction(0), _colder(Fraction(0)), _likeliest),
        (_greedy_by_ratio, laws(THIRDS, ["2/3", "1/3"]), 1, Fraction(1, 2)),
    ).mended_by("report the draft as one-hot at temperature 0, and verify against the target's one-hot law"),
)
