"""Sampling options of engines by their documented meaning, one function each, on logits [n, V].

Source: the OpenAI API reference (penalties, logit bias), vLLM's SamplingParams and transformers' generation reference
(temperature, top-k, top-p, min-p, repetition penalty, bad words, minimum length).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Any, NamedTuple

import numpy as np

from spec_math import distribution
from spec_math.arrays import Array

Text = tuple[int, ...]

HISTORY = frozenset({"bad_words", "frequency_penalty", "min_tokens", "presence_penalty", "repetition_penalty"})
"""Options whose effect depends on the tokens before."""

ORDER = (
    *("logit_bias", "bad_words", "min_tokens", "repetition_penalty", "frequency_penalty", "presence_penalty"),
    *("temperature", "min_p", "top_k", "top_p"),
)
"""The options by name, in the order in which they are applied: vLLM's. transformers applies min-p last of all, which
differs only where min-p stands beside top-k or top-p."""


class Processed(NamedTuple):
    """Masses [n, V] that a token is drawn from, and how near a row was to another decision of its options [n].

    `margins` are differences of log-probabilities (nats): the least change that would let a filter keep another set of
    tokens, or the argmax be another token; inf where no option decides, 0 where engines differ on what an option means.

    Made by `processed`.
    """

    masses: Array
    margins: Array


def softmax(logits: Array) -> Array:
    """Return probabilities [..., V] of logits [..., V] in float64; −inf counts as probability 0.

    >>> softmax(np.array([0.0, -np.inf, 0.0])).tolist()
    [0.5, 0.0, 0.5]
    """
    raised = np.exp(logits - logits.max(axis=-1, keepdims=True))
    return raised / raised.sum(axis=-1, keepdims=True)


def temperature(logits: Array, value: float) -> Array:
    """Return logits [n, V] divided by a temperature > 0; at 0 the first argmax alone is kept (greedy).

    >>> temperature(np.array([[1.0, 2.0]]), 0.5).tolist()
    [[2.0, 4.0]]
    """
    if value > 0:
        return logits / value
    best = np.zeros(logits.shape, dtype=bool)
    best[np.arange(len(logits)), logits.argmax(axis=-1)] = True
    return np.where(best, logits, -np.inf)


def top_k(logits: Array, value: int) -> Array:
    """Return logits [n, V] with those below the k-th largest removed; tokens tied with the k-th stay; k ≤ 0 is off.

    >>> top_k(np.array([[1.0, 3.0, 2.0]]), 2).tolist()
    [[-inf, 3.0, 2.0]]
    """
    if value <= 0 or value >= logits.shape[-1]:
        return logits
    least = -np.partition(-logits, value - 1, axis=-1)[..., value - 1, None]
    return np.where(logits >= least, logits, -np.inf)


def top_p(logits: Array, value: float) -> Array:
    """Return logits [n, V] of the smallest set of likeliest tokens whose probability is at least p; the others −inf.

    Among equal tokens the lowest index counts as the likelier one.

    >>> top_p(np.log([[0.5, 0.3, 0.2]]), 0.7).round(3).tolist()
    [[-0.693, -1.204, -inf]]
    """
    if value >= 1:
        return logits
    return np.where(distribution.top_p(softmax(logits), value) > 0, logits, -np.inf)


def min_p(logits: Array, value: float) -> Array:
    """Return logits [n, V] of the tokens with at least `value` times the largest probability; the others −inf.

    >>> min_p(np.log([[0.5, 0.3, 0.2]]), 0.5).round(3).tolist()
    [[-0.693, -1.204, -inf]]
    """
    if value <= 0:
        return logits
    return np.where(distribution.min_p(softmax(logits), value) > 0, logits, -np.inf)


def presence_penalty(logits: Array, value: float, counts: Array) -> Array:
    """Return logits [n, V] less the penalty at each token that was generated before; the prompt does not count.

    >>> presence_penalty(np.zeros((1, 2)), 0.5, np.array([[0, 3]])).tolist()
    [[0.0, -0.5]]
    """
    return logits - value * (counts > 0)


def frequency_penalty(logits: Array, value: float, counts: Array) -> Array:
    """Return logits [n, V] less the penalty times the number of times that a token was generated before.

    >>> frequency_penalty(np.zeros((1, 2)), 0.5, np.array([[0, 3]])).tolist()
    [[0.0, -1.5]]
    """
    return logits - value * counts


def repetition_penalty(logits: Array, value: float, seen: Array) -> Array:
    """Return logits [n, V], divided by the penalty where positive, else multiplied, at tokens of prompt and text.

    >>> repetition_penalty(np.array([[1.0, -1.0, 1.0]]), 2.0, np.array([[True, True, False]])).tolist()
    [[0.5, -2.0, 1.0]]
    """
    return np.where(seen, np.where(logits > 0, logits / value, logits * value), logits)


def logit_bias(logits: Array, value: Mapping[Any, float]) -> Array:
    """Return logits [n, V] plus the bias of each token that has one; JSON's keys may be text.

    >>> logit_bias(np.zeros((1, 2)), {"1": -2.0}).tolist()
    [[0.0, -2.0]]
    """
    moved = logits.copy()
    for token, bias in value.items():
        moved[:, int(token)] += bias
    return moved


def bad_words(logits: Array, value: Sequence[Sequence[int]], texts: Sequence[Text]) -> Array:
    """Return logits [n, V] without each token that would complete a forbidden sequence after its text.

    >>> bad_words(np.zeros((2, 2)), [[1], [1, 0]], [(0,), (1,)]).tolist()
    [[0.0, -inf], [-inf, -inf]]
    """
    moved = logits.copy()
    for *start, last in value:
        ends = [not start or text[-len(start) :] == tuple(start) for text in texts]
        moved[np.array(ends, dtype=bool), last] = -np.inf
    return moved


def min_tokens(logits: Array, value: int, generated: Array, end: int | None) -> Array:
    """Return logits [n, V] without the end token where fewer than `value` tokens were generated [n].

    >>> min_tokens(np.zeros((2, 2)), 1, np.array([0, 1]), 1).tolist()
    [[0.0, -inf], [0.0, 0.0]]
    """
    if end is None:
        return logits
    moved = logits.copy()
    moved[generated < value, end] = -np.inf
    return moved


def known(options: Mapping[str, Any]) -> Mapping[str, Any]:
    """Return options as they are, if this module knows all of them.

    Raises:
        ValueError: one is unknown.

    >>> known({"top_k": 3})
    {'top_k': 3}
    """
    unknown = sorted(set(options) - set(ORDER))
    if unknown:
        raise ValueError(f"unknown sampling options {', '.join(unknown)}; known are {', '.join(sorted(ORDER))}")
    return options


def fit(options: Mapping[str, Any], size: int) -> bool:
    """Return whether options can be applied to V tokens, and leave one.

    >>> fit({"top_p": 0.5}, 4), fit({"logit_bias": {"7": 1.0}}, 4)
    (True, False)
    """
    try:
        return bool(np.isfinite(processed(np.zeros((1, size)), options, [(0,)], [(0, 1)], size - 1).masses).all())
    except (TypeError, ValueError, LookupError, AttributeError):
        return False


_PLAIN = {"temperature": temperature, "top_k": top_k, "top_p": top_p, "min_p": min_p, "logit_bias": logit_bias}


def processed(
    logits: Array,
    options: Mapping[str, Any],
    prompts: Sequence[Text],
    texts: Sequence[Text],
    end: int | None = None,
    order: Sequence[str] = (),
) -> Processed:
    """Return the distributions [n, V] of the next token, from logits [n, V] after prompt + text, under options.

    Options are applied in `order`, by default that of `ORDER`. `end` is the end token, for `min_tokens`. A row that its
    options leave without a token is all NaN.

    Raises:
        ValueError: an option is unknown.

    >>> from spec_math.engines.options import processed
    >>> processed(np.log([[0.5, 0.3, 0.2]]), {"top_k": 2}, [()], [()]).masses.round(3).tolist()
    [[0.625, 0.375, 0.0]]
    """
    counts = np.zeros((0, 0))
    seen = np.zeros((0, 0), dtype=bool)
    if HISTORY & set(known(options)):
        counts = np.array([np.bincount(text, minlength=logits.shape[-1]) for text in map(_indices, texts)])
        seen = counts + np.array([np.bincount(one, minlength=logits.shape[-1]) for one in map(_indices, prompts)]) > 0
    applied: dict[str, Callable[[Array, Any], Array]] = _PLAIN | {
        "bad_words": partial(bad_words, texts=texts),
        "min_tokens": partial(min_tokens, generated=np.array([len(text) for text in texts]), end=end),
        "repetition_penalty": partial(repetition_penalty, seen=seen),
        "frequency_penalty": partial(frequency_penalty, counts=counts),
        "presence_penalty": partial(presence_penalty, counts=counts),
    }
    margins = np.full(len(logits), np.inf)
    # An engine rounds a removed token to −inf as this does: differences of two of them decide nothing.
    with np.errstate(invalid="ignore", divide="ignore"):
        for name in order or ORDER:
            if name not in options:
                continue
            value = options[name]
            margins = np.minimum(margins, _margin(name, logits, value))
            if name == "bad_words":  # transformers lets a word begin in the prompt, vLLM does not
                whole = [(*prompt, *text) for prompt, text in zip(prompts, texts, strict=True)]
                margins[(bad_words(logits, value, whole) != bad_words(logits, value, texts)).any(axis=1)] = 0
            logits = applied[name](logits, value)
        return Processed(softmax(logits), margins)


def _indices(text: Text) -> Array:
    return np.asarray(text, dtype=np.int64)


def _margin(name: str, logits: Array, value: Any) -> Array:
    """Return how near each row is to another decision of a filter [n], in nats."""
    size, ordered = logits.shape[-1], -np.sort(-logits, axis=-1)
    if name == "temperature" and value == 0:
        return ordered[:, 0] - ordered[:, 1]
    if name == "top_k" and 0 < value < size:
        return np.nan_to_num(ordered[:, value - 1] - ordered[:, value], nan=np.inf)
    if name == "min_p" and value > 0:
        gaps = np.abs(logits - logits.max(axis=-1, keepdims=True) - np.log(value))
        return np.where(np.isnan(gaps), np.inf, gaps).min(axis=-1)
    if name == "top_p" and value < 1:
        sums = np.cumsum(-np.sort(-softmax(logits), axis=-1), axis=-1)
        # Two tokens that tie across the threshold are two decisions as well.
        kept = np.clip((sums < value).sum(axis=-1), 0, size - 2)
        rows = np.arange(len(logits))
        apart = np.nan_to_num(ordered[rows, kept] - ordered[rows, kept + 1], nan=np.inf)
        return np.minimum(np.abs(sums - value).min(axis=-1), apart)
    return np.full(len(logits), np.inf)
