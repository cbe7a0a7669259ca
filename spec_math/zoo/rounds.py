"""Bugs across rounds: what one step leaves behind, what a tree keeps for a text, and random numbers used twice."""

from __future__ import annotations

import random
from collections.abc import Callable
from fractions import Fraction
from functools import cache
from itertools import accumulate, count
from typing import Any

import numpy as np

from spec_math.arrays import Array, exact, proportional_to
from spec_math.block_level import block, chain, without_replacement
from spec_math.chance import Coin
from spec_math.distribution import normalised, residual_of, restricted
from spec_math.masses import FlipAndDraw
from spec_math.pathwise.exploration import as_generator
from spec_math.zoo import toy
from spec_math.zoo.specimen import THIRDS, SmallCase, Specimen, drawn_from, laws
from spec_math.zoo.toy import HORIZON, LOOKAHEAD, TOY, Generate, Laws, Rows, Text, by_ratio, engine, ratio

POSITIONS = Laws(
    tuple(exact(row) for row in (["3/4", "1/4"], ["2/5", "3/5"], ["1/8", "7/8"])),
    tuple(exact(row) for row in (["1/3", "2/3"], ["3/4", "1/4"], ["4/5", "1/5"])),
    LOOKAHEAD,
)
"""Two tokens and laws by position: enough for rounds on rounds to be walked in full."""


Key = Callable[[int, int], Any]
"""From a coin's place and its round to what it is kept under: coins of one key are one number."""
Round = Callable[[Laws, Text, Callable[[int], Any]], Text]
"""From laws, the text so far, and the coin of each place, to the tokens of one more round."""


def _pick(u: Any, law: Array) -> int:
    """Return the first token whose running sum exceeds u, as every inverse-CDF kernel does."""
    return next(token for token, total in enumerate(accumulate(law)) if total > u)


def _anew(_used: Any) -> Any:
    return random.random()


def _seeded(seed: Any) -> Any:
    return np.random.default_rng(seed).random()


def _rounds(step: Round, key: Key, given: Laws, horizon: int, number: Callable[[Any], Any] = _anew) -> Generate:
    """Round after round of a step, the coin of its place n made by number and kept for the text under key(n, round)."""

    def sampler(prefix: Text) -> Text:
        coins = cache(number)
        text, turns = (), count()
        while len(text) < horizon:
            turn = next(turns)
            text += step(given, prefix + text, lambda place, turn=turn: coins(key(place, turn)))
        return text

    return as_generator(sampler)


class _Placed(FlipAndDraw):
    """A coin that flips by the numbers of places, from a first one on, and draws by numbers of its own."""

    def __init__(self, number: Callable[[int], Any], first: int) -> None:
        self._numbers = map(number, count(first))

    def flip(self, p: Any) -> bool:
        return bool(next(self._numbers) < p)

    def draw(self, masses: Any) -> int:
        return _pick(random.random(), masses)


def _block(given: Laws, text: Text, coin: Callable[[int], Any]) -> Text:
    """M35: block verification, each draft tested with the coin of its place in the text, committed or not."""
    return block.generate(_Placed(coin, len(text) + 1), given.target, given.draft, text, given.lookahead)


ONE_ROUND = _rounds(_block, lambda place, _: (7, place), POSITIONS, 1, _seeded)
"""The coins of M35 in one round: each is used once, and the block is lossless."""


def _penalised(prefix: Text) -> Array:
    """Return the law after a prefix with the weight of each token that it holds halved."""
    return _lowered(POSITIONS.target(prefix), prefix)


def _lowered(law: Array, seen: Text) -> Array:
    return proportional_to([mass / 2 if token in seen else mass for token, mass in enumerate(law)])


def _counting(counted: Text, start: int) -> Rows:
    """Return the rows where, of what stands before a step that starts at a place, only some tokens were counted."""
    return lambda text: _lowered(POSITIONS.target(text), counted + text[start:])


def _one_penalty_a_step(coin: Coin, prefix: Text) -> Text:
    """M46: of the tokens that a step emits only the last is added to those that are penalised."""
    text: Text = ()
    counted: Text = ()
    while len(text) < HORIZON:
        step = engine(drawn_from(POSITIONS), by_ratio(), _counting(counted, len(prefix + text)))
        emitted = step(coin, prefix + text)
        text, counted = text + emitted, (*counted, emitted[-1])
    return text


ROUNDS = (
    Specimen(
        "M35",
        contract="replay",
        generate=_rounds(_block, lambda place, _: (7, place), POSITIONS, HORIZON, _seeded),
        fresh=_rounds(_block, lambda place, turn: (7, place, turn), POSITIONS, HORIZON, _seeded),
        target=POSITIONS.target,
    ).told(
        "coins by position are used again for positions that were not committed",
        "vLLM, spec_step_seed",
        "number coins by draw and not by position, or draw anew for positions that were not committed",
        "block verification on two tokens, rounds until three tokens stand; in one round it is lossless",
    ),
    Specimen("M46", generate=_one_penalty_a_step, target=_penalised).told(
        "penalties count one token a step",
        "SGLang #33643",
        "update the penalties after each token of a step, drafts too, before the next row is processed",
        f"a penalty of {Fraction(1, 2)} on tokens seen, on two tokens, rounds until three tokens stand",
    ),
)


def _bonus_first(given: Laws) -> Generate:
    """M51: two paths in one array of tokens; the bonus token is written before the accepted ones are moved.

    The root is slot 0, its two children, drafted without replacement, are slots 1 and 2, and slot n + 2 follows slot n.
    """

    def generate(coin: Coin, prefix: Text) -> Text:
        law, draft = given.target(prefix), given.draft(prefix)
        accepted, tokens = [0], [-1] * (2 * given.lookahead + 2)
        for slot in (1, 2):
            tokens[slot] = x = coin.draw(draft)
            if coin.flip(ratio(law, draft, x)):
                accepted.append(slot)
                break
            law, draft = residual_of(law, draft), restricted(draft, np.arange(len(draft)) != x)
        while len(accepted) > 1:  # a path goes on without siblings
            text = (*prefix, *(tokens[slot] for slot in accepted[1:]))
            law, draft, slot = given.target(text), given.draft(text), accepted[-1] + 2
            if len(accepted) > given.lookahead:
                break
            tokens[slot] = x = coin.draw(draft)
            if not coin.flip(ratio(law, draft, x)):
                law = residual_of(law, draft)
                break
            accepted.append(slot)
        tokens[len(accepted)] = coin.draw(law)
        return (*(tokens[slot] for slot in accepted[1:]), tokens[len(accepted)])

    return generate


def _chain(given: Laws, text: Text, coin: Callable[[int], Any]) -> Text:
    """M52: a chain, whose n-th draft is tested with coin n."""
    return chain.generate(_Placed(coin, 0), given.target, given.draft, text, given.lookahead)


def _tree(given: Laws, text: Text, coin: Callable[[int], Any]) -> Text:
    """M53: two siblings behind the text, each tested with the coin of its place."""
    return without_replacement.generate(_Placed(coin, len(text)), given.target, given.draft, text, (2,))


THREE = laws(["1/6", "1/3", "1/2"], ["1/2", "1/6", "1/3"])


def _kept(name: str, step: Round, given: Laws, distance: Fraction) -> Specimen:
    """Return a specimen that runs on small laws of its own: rounds on rounds of the toy are too many paths."""
    return Specimen(
        name,
        contract="replay",
        generate=_rounds(step, lambda place, _: place, given, toy.HORIZON),
        fresh=_rounds(step, lambda place, turn: (place, turn), given, toy.HORIZON),
        target=given.target,
        note="on small distributions of its own, rounds until three tokens stand",
        smallest=SmallCase(lambda laws: _rounds(step, lambda place, _: place, laws, 2), given, 2, distance),
    )


KEPT = (
    Specimen("M51", generate=_bonus_first(TOY), smallest=SmallCase(_bonus_first, THIRDS, 1, Fraction(1, 9))).told(
        "the bonus token is written before the accepted tokens are moved, and overwrites one",
        "Sequoia, SpecTree and SpecInferTree",
        "move the accepted tokens first, then write the bonus token behind them",
        "two paths, their first tokens drafted without replacement",
    ),
    _kept("M52", _chain, THIRDS, Fraction(1, 9)).told(
        "coins are drawn once for a text, and each round tests with the same ones",
        "Sequoia, SpecTree and SpecInferTree",
        "draw the coins anew in every round",
    ),
    _kept("M53", _tree, THREE, Fraction(1, 108)).told(
        "coins by absolute place: a place whose draft was rejected is tried again with its coin",
        "Sequoia, SpecTree and SpecInferTree",
        "draw the coins anew in every round, or let them depend on the round as well",
    ),
)


Sampler = Callable[[Text], Text]


def _same(used: Any) -> Any:
    return used


def _round(before: Callable[[], None] = lambda: None, again: Callable[[Any], Any] = _anew) -> Sampler:
    """One round of a chain; `before` each coin something is done, and a coin u that rejected gives way to again(u).

    M32: the number that rejected the draft draws from the residual too; it is never below the ratio. M36: the generator
    is seeded anew before every acceptance coin, so that all coins are one.
    """

    def sampler(_prefix: Text) -> Text:
        tokens = tuple(_pick(random.random(), law) for law in toy.DRAFT)
        for place, x in enumerate(tokens):
            t, d = toy.TARGET[place], toy.DRAFT[place]
            before()
            u = random.random()
            if not u < ratio(t, d, x):
                return (*tokens[:place], _pick(again(u), residual_of(t, d)))
        return (*tokens, _pick(random.random(), toy.TARGET[-1]))

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
        return (_pick(again(u), normalised(t, t)),)

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
        return (*tokens, _pick(random.random(), toy.TARGET[-1]))

    return sampler


def _standing_still(restore: Callable[[Any], None]) -> Sampler:
    """M37: a compiled sampler holds the generator's state of its first call, and draws each token at one quantile."""

    def sampler(_prefix: Text) -> Text:
        state = random.getstate()
        tokens: Text = ()
        for law in toy.TARGET:
            restore(state)
            tokens = (*tokens, _pick(random.random(), law))
        return tokens

    return sampler


def _broken(name: str, broken: Sampler, fresh: Sampler, printed: Any = (None, None)) -> Specimen:
    return Specimen(name, contract="replay", generate=as_generator(broken), fresh=as_generator(fresh), printed=printed)


FRESH = _round()

REPLAY = (
    _broken("M32", _round(again=_same), FRESH, (".013", None)).told(
        "the coin that rejected draws the correction",
        "FlashInfer PR #424",
        "draw a number of its own for the correction",
    ),
    _broken("M33", _siblings_coin(_same), _siblings_coin(_anew), (".048", None)).told(
        "one coin for the acceptance of siblings and the final draw",
        "SGLang PR #7207, #7231",
        "draw a number of its own for the final draw, or test siblings against the running sum with one coin",
        "the draft's two likeliest tokens are the siblings",
    ),
    _broken("M34", _gumbel(0), _gumbel(2**30), (".0035", None)).told(
        "the draft's Gumbel noise is the correction's",
        "vLLM #47386, #54282",
        "draw noise of its own for the correction: another seed, offset or salt than the draft's",
        "exactly .003435, by an integral too; the corpus has .0035 from 2e7 samples, 1e-4 of it noise",
    ),
    _broken("M36", _round(before=lambda: random.seed(7)), FRESH).told(
        "re-seeding before every coin",
        "feifeibear, random_seed, PR #8",
        "seed once for a request, and never inside the loop",
    ),
    _broken("M37", _standing_still(random.setstate), _standing_still(lambda _: None)).told(
        "a compiled sampler never advances its generator",
        "mlx-lm #1439",
        "hand the generator's state into the compiled function and out of it again",
    ),
)
