"""Bugs of the rows: the law of another position, temperatures and filters applied twice or to some rows alone."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from fractions import Fraction
from typing import Any

import numpy as np

from spec_math.arrays import Array
from spec_math.chance import Coin
from spec_math.distribution import min_p, residual_of, restricted, temperature, top_k
from spec_math.zoo import toy
from spec_math.zoo.specimen import TOY, Laws, SmallCase, Specimen, laws
from spec_math.zoo.toy import Drafter, Generate, Rows, Text, Verify, by_ratio, engine, one_hot, sampled


def cold(prefix: Text) -> Array:
    """Return the target's law [5] at temperature 1/2.

    >>> cold(())[0] > toy.target(())[0]
    True
    """
    return temperature(toy.target(prefix), Fraction(1, 2))


def likely(prefix: Text) -> Array:
    """Return the target's law [5] after min-p 0.2.

    >>> sum(mass > 0 for mass in likely(()))
    2
    """
    return min_p(toy.target(prefix), Fraction(1, 5))


def cold_and_filtered(prefix: Text) -> Array:
    """Return the target's law [5] at temperature 1/2, after top-3.

    >>> sum(mass > 0 for mass in cold_and_filtered(()))
    3
    """
    return top_k(cold(prefix), 3)


def masked(prefix: Text) -> Array:
    """Return the target's law [5] on tokens 0, 1 and 2, as a grammar would have it.

    >>> sum(mass > 0 for mass in masked(()))
    3
    """
    return restricted(toy.target(prefix), np.arange(5) < 3)


def _other_requests_row(coin: Coin, tokens: Text, targets: Sequence[Array], reported: Sequence[Array]) -> Text:
    """M17: the reported rows of a batch were reordered."""
    return by_ratio()(coin, tokens, targets, list(reversed(reported)))


def _last_row(rows: Rows) -> Callable[[Coin, Text, Sequence[Array], Sequence[Array]], Text]:
    """Verify with the rows given, and draw the token after the drafts from a row of other processing."""

    def verify(coin: Coin, tokens: Text, targets: Sequence[Array], reported: Sequence[Array]) -> Text:
        return by_ratio()(coin, tokens, [*targets[:-1], rows(tokens)], reported)

    return verify


def _greedy_verify(_coin: Coin, tokens: Text, targets: Sequence[Array], _reported: Sequence[Array]) -> Text:
    """M22: drafts are kept while they are the argmax, and the argmax is emitted; temperature is never read."""
    emitted: Text = ()
    for place, x in enumerate(tokens):
        emitted = (*emitted, int(np.argmax(targets[place])))
        if emitted[-1] != x:
            return emitted
    return (*emitted, int(np.argmax(targets[-1])))


def _state_of_a_token(coin: Coin, prefix: Text) -> Text:
    """M18: a batch of two requests, where token j reads the temperature of request j, not of the request it is of.

    The request judged is the first, at temperature 1; the second is at 1/2, and so is the first's second token.
    """
    temperatures = (Fraction(1), Fraction(1, 2))

    def row(text: Text) -> Array:
        return temperature(toy.target(text), temperatures[min(len(text) - len(prefix), 1)])

    return engine(sampled, _last_row(toy.target), row)(coin, prefix)


def _broken_rows(name: str, generate: Generate, cause: str, reference: str, target: Rows, *told: Any) -> Specimen:
    """Return a specimen; `told` is what the corpus prints and the reading taken, where there is either."""
    printed: Any = next((one for one in told if isinstance(one, tuple)), (None, None))
    note = next((one for one in told if isinstance(one, str)), "")
    heat = Fraction(1, 2) if target is cold else Fraction(1)
    how: dict[str, Any] = {"target": target, "printed": printed, "note": note, "heat": heat}
    return Specimen(name, cause, reference, "verifier", generate, sampled, **how)


ROWS = (
    _broken_rows(
        "M17",
        engine(sampled, _other_requests_row),
        "the draft's row of another request or position",
        "vLLM #41044 (review); 1Cat-vLLM #656 (cause unconfirmed)",
        toy.target,
        (".143", ".166"),
    ).mended_by("gather the draft's rows by request and position, and test it on requests that differ"),
    _broken_rows(
        "M18",
        _state_of_a_token,
        "per-request tensors are read per token",
        "vLLM #35398 (review)",
        toy.target,
        "the state is a temperature here; in the engine it was the seed too",
    ).mended_by("expand the tensors of requests to their tokens before they are read"),
    _broken_rows(
        "M19",
        engine(sampled, _last_row(cold)),
        "sampling parameters are not applied to the target where it verifies",
        "vLLM #9834, PR #10198; vllm-ascend #6685",
        cold,
        (".187", ".224"),
        "the token after the drafts has the parameters, as the printed joint distance shows",
    ).mended_by("apply the request's parameters to every row that verifies, as to the one that is sampled"),
    _broken_rows(
        "M20",
        engine(sampled, _last_row(toy.target), cold),
        "the logits processor is missing on the bonus token",
        "EAGLE, bf10ac5",
        cold,
        ("0", ".038"),
    ).mended_by("apply the logits processor to all rows, that of the bonus token too"),
    _broken_rows(
        "M21",
        engine(sampled, _last_row(likely)),
        "min-p is applied to the bonus token alone",
        "vLLM #42744, #18902; SGLang #28200, #28242",
        likely,
        (".066", ".128"),
        "min-p 0.2",
    ).mended_by("apply min-p to all rows, or to none"),
    _broken_rows(
        "M22",
        engine(sampled, _greedy_verify),
        "temperature is ignored: drafts are verified greedily",
        "SGLang #31214, #32922, #39253; mistral.rs #2424; LiteRT-LM #3017",
        toy.target,
        (".242", ".277"),
    ).mended_by("divide by the temperature and verify by the ratio; verify greedily at temperature 0 alone"),
    _broken_rows(
        "M44",
        engine(sampled, by_ratio()),
        "a shim discards the expanded temperature and top-k",
        "vLLM #42638, #55005",
        cold_and_filtered,
        "with temperature 1/2 and top-3 asked for",
    ).mended_by("hand the expanded parameters on to the call that is wrapped"),
    _broken_rows(
        "M45",
        engine(sampled, _last_row(toy.target), masked),
        "the grammar's mask is missing on the bonus token",
        "vLLM #44006, #44292, #44297, #54437",
        masked,
        "with a grammar that allows tokens 0, 1 and 2",
    ).mended_by("mask the bonus token's row by the grammar's state after all accepted drafts"),
)


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


def _broken_warpers(name: str, program: Program, told: tuple[str, str], parts: Any, small: Any) -> Specimen:
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

WARPERS = (
    _broken_warpers(
        "M56",
        _twice,
        (
            "the warper is applied twice: the temperature divides logits that it has divided already",
            "tyshiwo1, speculative Jacobi decoding",
        ),
        (COLD, _colder(COLD), _sampled),
        (_twice, laws(THIRDS, THIRDS), 1, Fraction(12, 85)),
    ).mended_by("apply the warpers once, where the target's law is made, and verify against that"),
    _broken_warpers(
        "M57",
        _bonus_alone(3),
        (
            "top-k and top-p are applied to the row of the bonus token alone",
            "lmdeploy 0.18.0, RejectionSampler.forward",
        ),
        (Fraction(1), _filtered, _sampled),
        (_bonus_alone(1), laws(["1/2", "1/2"], ["1/2", "1/2"]), 1, Fraction(1, 2)),
    ).mended_by("filter every row of the target before drafts are verified against it"),
    _broken_warpers(
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
