"""Bugs of the rows: a position or the last token uses the law of another position, or of another processing."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from fractions import Fraction
from typing import Any

import numpy as np

from spec_math.arrays import Array
from spec_math.audit.zoo import toy
from spec_math.audit.zoo.engine import Generate, Rows, Text, by_ratio, engine, sampled
from spec_math.audit.zoo.specimen import Specimen
from spec_math.chance import Coin
from spec_math.distribution import min_p, restricted, temperature, top_k


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


def _broken(name: str, generate: Generate, cause: str, reference: str, target: Rows, *told: Any) -> Specimen:
    """Return a specimen; `told` is what the corpus prints and the reading taken, where there is either."""
    printed: Any = next((one for one in told if isinstance(one, tuple)), (None, None))
    note = next((one for one in told if isinstance(one, str)), "")
    heat = Fraction(1, 2) if target is cold else Fraction(1)
    how: dict[str, Any] = {"target": target, "printed": printed, "note": note, "heat": heat}
    return Specimen(name, cause, reference, "verifier", generate, sampled, **how)


SPECIMENS = (
    _broken(
        "M17",
        engine(sampled, _other_requests_row),
        "the draft's row of another request or position",
        "vLLM #41044 (review); 1Cat-vLLM #656 (cause unconfirmed)",
        toy.target,
        (".143", ".166"),
    ).mended_by("gather the draft's rows by request and position, and test it on requests that differ"),
    _broken(
        "M18",
        _state_of_a_token,
        "per-request tensors are read per token",
        "vLLM #35398 (review)",
        toy.target,
        "the state is a temperature here; in the engine it was the seed too",
    ).mended_by("expand the tensors of requests to their tokens before they are read"),
    _broken(
        "M19",
        engine(sampled, _last_row(cold)),
        "sampling parameters are not applied to the target where it verifies",
        "vLLM #9834, PR #10198; vllm-ascend #6685",
        cold,
        (".187", ".224"),
        "the token after the drafts has the parameters, as the printed joint distance shows",
    ).mended_by("apply the request's parameters to every row that verifies, as to the one that is sampled"),
    _broken(
        "M20",
        engine(sampled, _last_row(toy.target), cold),
        "the logits processor is missing on the bonus token",
        "EAGLE, bf10ac5",
        cold,
        ("0", ".038"),
    ).mended_by("apply the logits processor to all rows, that of the bonus token too"),
    _broken(
        "M21",
        engine(sampled, _last_row(likely)),
        "min-p is applied to the bonus token alone",
        "vLLM #42744, #18902; SGLang #28200, #28242",
        likely,
        (".066", ".128"),
        "min-p 0.2",
    ).mended_by("apply min-p to all rows, or to none"),
    _broken(
        "M22",
        engine(sampled, _greedy_verify),
        "temperature is ignored: drafts are verified greedily",
        "SGLang #31214, #32922, #39253; mistral.rs #2424; LiteRT-LM #3017",
        toy.target,
        (".242", ".277"),
    ).mended_by("divide by the temperature and verify by the ratio; verify greedily at temperature 0 alone"),
    _broken(
        "M44",
        engine(sampled, by_ratio()),
        "a shim discards the expanded temperature and top-k",
        "vLLM #42638, #55005",
        cold_and_filtered,
        "with temperature 1/2 and top-3 asked for",
    ).mended_by("hand the expanded parameters on to the call that is wrapped"),
    _broken(
        "M45",
        engine(sampled, _last_row(toy.target), masked),
        "the grammar's mask is missing on the bonus token",
        "vLLM #44006, #44292, #44297, #54437",
        masked,
        "with a grammar that allows tokens 0, 1 and 2",
    ).mended_by("mask the bonus token's row by the grammar's state after all accepted drafts"),
)
