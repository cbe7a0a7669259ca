"""Bugs of the rows: the law of another position, temperatures and filters applied twice or to some rows alone."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from typing import Any

import numpy as np

from spec_math.arrays import Array
from spec_math.chance import Coin
from spec_math.distribution import min_p, residual_of, restricted, temperature, top_k
from spec_math.zoo import toy
from spec_math.zoo.specimen import SmallCase, Specimen, broken, drawn_from, laws
from spec_math.zoo.toy import (
    TOY,
    Drafter,
    Generate,
    Laws,
    Rows,
    Text,
    Verify,
    by_ratio,
    drawing,
    engine,
    likeliest,
    on_rows,
    processed,
    sampled,
)

COLD = Fraction(1, 2)

cold = processed(lambda law: temperature(law, COLD))
likely = processed(lambda law: min_p(law, Fraction(1, 5)))
cold_and_filtered = processed(lambda law: top_k(temperature(law, COLD), 3))
masked = processed(lambda law: restricted(law, np.arange(5) < 3))
"""The target's law on tokens 0, 1 and 2, as a grammar would have it."""


def _last_row(rows: Rows) -> Verify:
    """Verify with the rows given, and draw the token after the drafts from a row of other processing."""
    return on_rows(lambda tokens, targets, reported: ([*targets[:-1], rows(tokens)], reported))


_GREEDILY = on_rows(
    lambda _, targets, reported: ([*map(likeliest, targets)], reported),
    by_ratio(lambda t, _d, x: t[x], lambda t, _d, _x: t),
)
"""M22: drafts are kept while they are the argmax, and the argmax is emitted; temperature is never read."""


def _state_of_a_token(coin: Coin, prefix: Text) -> Text:
    """M18: a batch of two requests, where token j reads the temperature of request j, not of the request it is of.

    The request judged is the first, at temperature 1; the second is at 1/2, and so is the first's second token.
    """
    temperatures = (Fraction(1), Fraction(1, 2))

    def row(text: Text) -> Array:
        return temperature(toy.target(text), temperatures[min(len(text) - len(prefix), 1)])

    return engine(sampled, _last_row(toy.target), row)(coin, prefix)


def _ignoring(name: str, verify: Verify, wanted: Rows, **known: Any) -> Specimen:
    return Specimen(name, generate=engine(sampled, verify), drafter=sampled, target=wanted, **known)


ROWS = (
    broken(
        "M17", sampled, on_rows(lambda _, targets, reported: (targets, reported[::-1])), printed=(".143", ".166")
    ).told(
        "the draft's row of another request or position",
        "vLLM #41044 (review); 1Cat-vLLM #656 (cause unconfirmed)",
        "gather the draft's rows by request and position, and test it on requests that differ",
    ),
    Specimen("M18", generate=_state_of_a_token, drafter=sampled).told(
        "per-request tensors are read per token",
        "vLLM #35398 (review)",
        "expand the tensors of requests to their tokens before they are read",
        "the state is a temperature here; in the engine it was the seed too",
    ),
    _ignoring("M19", _last_row(cold), cold, printed=(".187", ".224"), heat=COLD).told(
        "sampling parameters are not applied to the target where it verifies",
        "vLLM #9834, PR #10198; vllm-ascend #6685",
        "apply the request's parameters to every row that verifies, as to the one that is sampled",
        "the token after the drafts has the parameters, as the printed joint distance shows",
    ),
    broken("M20", sampled, _last_row(toy.target), cold, printed=("0", ".038"), heat=COLD).told(
        "the logits processor is missing on the bonus token",
        "EAGLE, bf10ac5",
        "apply the logits processor to all rows, that of the bonus token too",
    ),
    _ignoring("M21", _last_row(likely), likely, printed=(".066", ".128")).told(
        "min-p is applied to the bonus token alone",
        "vLLM #42744, #18902; SGLang #28200, #28242",
        "apply min-p to all rows, or to none",
        "min-p 0.2",
    ),
    broken("M22", sampled, _GREEDILY, printed=(".242", ".277")).told(
        "temperature is ignored: drafts are verified greedily",
        "SGLang #31214, #32922, #39253; mistral.rs #2424; LiteRT-LM #3017",
        "divide by the temperature and verify by the ratio; verify greedily at temperature 0 alone",
    ),
    _ignoring("M44", by_ratio(), cold_and_filtered).told(
        "a shim discards the expanded temperature and top-k",
        "vLLM #42638, #55005",
        "hand the expanded parameters on to the call that is wrapped",
        "with temperature 1/2 and top-3 asked for",
    ),
    broken("M45", sampled, _last_row(toy.target), masked).told(
        "the grammar's mask is missing on the bonus token",
        "vLLM #44006, #44292, #44297, #54437",
        "mask the bonus token's row by the grammar's state after all accepted drafts",
        "with a grammar that allows tokens 0, 1 and 2",
    ),
)


def _at(rows: Rows, heat: Fraction) -> Rows:
    return lambda prefix: temperature(rows(prefix), heat)


def _twice(given: Laws, drafter: Drafter) -> Generate:
    """M56: the target's law is made colder in the model's call, and once more where drafts are verified."""
    return engine(drafter, by_ratio(), _at(_at(given.target, COLD), COLD), given.lookahead)


def _bonus_alone(given: Laws, drafter: Drafter) -> Generate:
    """M57: drafts are verified against the whole law, and the token after them is drawn after top-k."""
    return engine(drafter, _last_row(_filtered(given)), given.target, given.lookahead)


def _greedy_by_ratio(given: Laws, drafter: Drafter) -> Generate:
    """M58: at temperature 0 drafts are the likeliest tokens, tested by softmax masses; what is drawn is an argmax."""
    by_masses = by_ratio(rest=lambda t, d, _x: likeliest(residual_of(t, d)))
    sure = on_rows(lambda _, targets, reported: ([*targets[:-1], likeliest(targets[-1])], reported), by_masses)
    return engine(drafter, sure, given.target, given.lookahead)


def _likeliest(given: Laws) -> Drafter:
    """Draft the likeliest token and report the softmax."""
    return drawing(likeliest, given=given)


Program = Callable[[Laws, Drafter], Generate]


def _broken_warpers(
    name: str,
    program: Program,
    heat: Fraction,
    asked: Callable[[Laws], Rows],
    drafter: Any,
    small: tuple[Laws, Fraction],
) -> Specimen:
    """Return a specimen from the temperature of a request, and from what it makes of a target's rows."""
    return Specimen(
        name,
        contract="verifier" if drafter is drawn_from else "drafter",
        generate=program(TOY, drafter(TOY)),
        drafter=drafter(TOY),
        target=asked(TOY),
        smallest=SmallCase(lambda one: program(one, drafter(one)), small[0], 1, small[1], asked),
        heat=heat,
    )


def _colder(heat: Fraction) -> Callable[[Laws], Rows]:
    return lambda given: _at(given.target, heat)


def _filtered(given: Laws) -> Rows:
    """Return the rows after top-3, or top-1 of two tokens."""
    return lambda prefix: top_k(given.target(prefix), 3 if len(given.target(prefix)) > 3 else 1)


THIRDS, HALVES = ["1/3", "2/3"], ["1/2", "1/2"]

WARPERS = (
    _broken_warpers("M56", _twice, COLD, _colder(COLD), drawn_from, (laws(THIRDS, THIRDS), Fraction(12, 85))).told(
        "the warper is applied twice: the temperature divides logits that it has divided already",
        "tyshiwo1, speculative Jacobi decoding",
        "apply the warpers once, where the target's distribution is made, and verify against that",
    ),
    _broken_warpers(
        "M57", _bonus_alone, Fraction(1), _filtered, drawn_from, (laws(HALVES, HALVES), Fraction(1, 2))
    ).told(
        "top-k and top-p are applied to the row of the bonus token alone",
        "lmdeploy 0.18.0, RejectionSampler.forward",
        "filter every row of the target before drafts are verified against it",
    ),
    _broken_warpers(
        "M58",
        _greedy_by_ratio,
        Fraction(0),
        _colder(Fraction(0)),
        _likeliest,
        (laws(THIRDS, THIRDS[::-1]), Fraction(1, 2)),
    ).told(
        "at temperature 0 the draft is an argmax, and is tested by the ratio of softmax masses",
        "litgpt 0.5.13; romsto/Speculative-Decoding",
        "report the draft as one-hot at temperature 0, and verify against the target's one-hot distribution",
    ),
)
