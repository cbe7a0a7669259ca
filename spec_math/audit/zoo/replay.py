"""Bugs of reused randomness: numbers that should be independent are used twice, in plain code that is explored."""

from __future__ import annotations

import random
from collections.abc import Callable
from itertools import accumulate
from typing import Any

import numpy as np

from spec_math.arrays import Array
from spec_math.audit.zoo import toy
from spec_math.audit.zoo.engine import Generate, Text, ratio
from spec_math.audit.zoo.specimen import Specimen
from spec_math.distribution import normalised, residual_of
from spec_math.pathwise.exploration import as_generator

Sampler = Callable[[Text], Text]


def _pick(law: Array, u: Any) -> int:
    """Return the first token whose running sum exceeds u, as every inverse-CDF kernel does."""
    return next(token for token, total in enumerate(accumulate(law)) if total > u)


def _drafted() -> Text:
    return tuple(_pick(law, random.random()) for law in toy.DRAFT)


def _rejected_coin(again: Callable[[Any], Any]) -> Sampler:
    """M32: the number that rejected the draft draws from the residual too; it is never below the ratio."""

    def sampler(_prefix: Text) -> Text:
        tokens = _drafted()
        for place, x in enumerate(tokens):
            t, d = toy.TARGET[place], toy.DRAFT[place]
            u = random.random()
            if not u < ratio(t, d, x):
                return (*tokens[:place], _pick(residual_of(t, d), again(u)))
        return (*tokens, _pick(toy.TARGET[-1], random.random()))

    return sampler


def _siblings_coin(again: Callable[[Any], Any]) -> Sampler:
    """M33: one number is compared with the running mass of the siblings, and where it passes all, drawn with again."""

    def sampler(_prefix: Text) -> Text:
        t = toy.TARGET[0].copy()
        u = random.random()
        passed = 0
        for x in np.argsort(-toy.DRAFT[0], kind="stable")[:2]:
            passed = passed + t[x]
            if u < passed:
                return (int(x),)
            t[x] -= t[x]
        return (_pick(normalised(t, t), again(u)),)

    return sampler


def _gumbel(salt: int) -> Sampler:
    """M34: the noise of a position, made of a seed and the position, draws both the draft and its correction."""

    def sampler(_prefix: Text) -> Text:
        tokens: Text = ()
        for place, d in enumerate(toy.DRAFT):
            tokens = (*tokens, int(np.argmin(np.random.default_rng((7, place)).exponential(size=5) / d)))
        for place, x in enumerate(tokens):
            t, d = toy.TARGET[place], toy.DRAFT[place]
            if not random.random() < ratio(t, d, x):
                noise = np.random.default_rng((7, place + salt)).exponential(size=5)
                return (*tokens[:place], int(np.argmin(noise / residual_of(t, d))))
        return (*tokens, _pick(toy.TARGET[-1], random.random()))

    return sampler


def _reseeded(seed: Callable[[int], None]) -> Sampler:
    """M36: the generator is seeded anew before every acceptance coin, so that all coins are one."""

    def sampler(_prefix: Text) -> Text:
        tokens = _drafted()
        for place, x in enumerate(tokens):
            t, d = toy.TARGET[place], toy.DRAFT[place]
            seed(place)
            if not random.random() < ratio(t, d, x):
                return (*tokens[:place], _pick(residual_of(t, d), random.random()))
        return (*tokens, _pick(toy.TARGET[-1], random.random()))

    return sampler


def _standing_still(restore: Callable[[Any], None]) -> Sampler:
    """M37: a compiled sampler holds the generator's state of its first call, and draws each token at one quantile."""

    def sampler(_prefix: Text) -> Text:
        state = random.getstate()
        tokens: Text = ()
        for law in toy.TARGET:
            restore(state)
            tokens = (*tokens, _pick(law, random.random()))
        return tokens

    return sampler


def _explored(sampler: Sampler) -> Generate:
    return as_generator(sampler)


def _fresh_number(_used: Any) -> Any:
    return random.random()


def _same_number(used: Any) -> Any:
    return used


def _do_nothing(_: Any) -> None:
    return None


def _seed(_place: int) -> None:
    random.seed(7)


def _restore(state: Any) -> None:
    random.setstate(state)


def _broken(name: str, samplers: tuple[Sampler, Sampler], cause: str, reference: str, *told: Any) -> Specimen:
    """Return a specimen; `told` is what the corpus prints and a note, where there is either."""
    broken, fresh = samplers
    printed: Any = next((one for one in told if isinstance(one, tuple)), (None, None))
    note = next((one for one in told if isinstance(one, str)), "")
    return Specimen(
        name, cause, reference, "replay", _explored(broken), fresh=_explored(fresh), printed=printed, note=note
    )


SPECIMENS = (
    _broken(
        "M32",
        (_rejected_coin(_same_number), _rejected_coin(_fresh_number)),
        "the coin that rejected draws the correction",
        "FlashInfer PR #424",
        (".013", None),
    ).mended_by("draw a number of its own for the correction"),
    _broken(
        "M33",
        (_siblings_coin(_same_number), _siblings_coin(_fresh_number)),
        "one coin for the acceptance of siblings and the final draw",
        "SGLang PR #7207, #7231",
        (".048", None),
        "the draft's two likeliest tokens are the siblings",
    ).mended_by("draw a number of its own for the final draw, or test siblings against the running sum with one coin"),
    _broken(
        "M34",
        (_gumbel(0), _gumbel(2**30)),
        "the draft's Gumbel noise is the correction's",
        "vLLM #47386, #54282",
        (".0035", None),
        "exactly .003435, by an integral too; the corpus has .0035 from 2e7 samples, 1e-4 of it noise",
    ).mended_by("draw noise of its own for the correction: another seed, offset or salt than the draft's"),
    _broken(
        "M36",
        (_reseeded(_seed), _reseeded(_do_nothing)),
        "re-seeding before every coin",
        "feifeibear, random_seed, PR #8",
    ).mended_by("seed once for a request, and never inside the loop"),
    _broken(
        "M37",
        (_standing_still(_restore), _standing_still(_do_nothing)),
        "a compiled sampler never advances its generator",
        "mlx-lm #1439",
    ).mended_by("hand the generator's state into the compiled function and out of it again"),
)
