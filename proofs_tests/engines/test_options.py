"""Each sampling option against a hand-written oracle that goes token by token."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from spec_math.engines.options import ORDER, Text, known, processed
from spec_math.engines.study import MATRIX

Logits = list[float]
NONE = -math.inf
END = 3


def share(logits: Logits) -> list[float]:
    top = max(logits)
    raised = [math.exp(logit - top) for logit in logits]
    return [one / sum(raised) for one in raised]


def nucleus(logits: Logits, p: float) -> Logits:
    masses, total, kept = share(logits), 0.0, set[int]()
    for token in sorted(range(len(logits)), key=lambda one: (-masses[one], one)):
        if total >= p and kept:
            break
        kept.add(token)
        total += masses[token]
    return [logit if token in kept else NONE for token, logit in enumerate(logits)]


def forbidden(logits: Logits, words: list[list[int]], text: Text) -> Logits:
    out = {word[-1] for word in words if list(text[len(text) - len(word) + 1 :]) == word[:-1] or len(word) == 1}
    return [NONE if token in out else logit for token, logit in enumerate(logits)]


def scaled(logit: float, penalty: float) -> float:
    return logit / penalty if logit > 0 else logit * penalty


ORACLES: Mapping[str, Callable[[Logits, Any, Text, Text], Logits]] = {
    "temperature": lambda row, value, _, __: [logit / value for logit in row],
    "top_k": lambda row, k, _, __: [logit if sum(o > logit for o in row) < k else NONE for logit in row],
    "top_p": lambda row, p, _, __: nucleus(row, p),
    "min_p": lambda row, p, _, __: [
        x if one >= p * max(share(row)) else NONE for x, one in zip(row, share(row), strict=True)
    ],
    "presence_penalty": lambda row, value, _, text: [x - value * (i in text) for i, x in enumerate(row)],
    "frequency_penalty": lambda row, value, _, text: [x - value * text.count(i) for i, x in enumerate(row)],
    "repetition_penalty": lambda row, value, prompt, text: [
        scaled(x, value) if i in prompt + text else x for i, x in enumerate(row)
    ],
    "logit_bias": lambda row, bias, _, __: [x + bias.get(str(i), 0.0) for i, x in enumerate(row)],
    "bad_words": lambda row, words, _, text: forbidden(row, words, text),
    "min_tokens": lambda row, n, _, text: [NONE if i == END and len(text) < n else x for i, x in enumerate(row)],
}
TEXTS = st.lists(st.integers(0, 3), max_size=4).map(tuple)
ROWS = st.lists(st.integers(-24, 24).map(lambda eighths: eighths / 8), min_size=4, max_size=4)


def test_every_option_has_an_oracle_and_a_place_in_the_matrix() -> None:
    assert set(ORDER) == set(ORACLES) == set(MATRIX)


@pytest.mark.parametrize("name", ORDER)
@given(row=ROWS, prompt=TEXTS, text=TEXTS)
def test_an_option_has_its_documented_meaning(name: str, row: Logits, prompt: Text, text: Text) -> None:
    value = {"bad_words": [[0], [1, 2]], "min_tokens": 2}.get(name, MATRIX[name])
    exact = processed(np.array([row]), {name: value}, [prompt], [text], END)
    if exact.margins[0] < 1e-9:  # two tokens that tie, or a sum at the threshold: rounding decides
        return
    wanted = share(ORACLES[name](row, value, prompt, text))
    # Four masses, each of a few operations of relative error 2^-53.
    assert np.abs(exact.masses[0] - wanted).max() < 64 * 2.0**-53


@given(row=ROWS, prompt=TEXTS, text=TEXTS)
def test_options_are_applied_in_their_order(row: Logits, prompt: Text, text: Text) -> None:
    options = {"top_p": 0.8, "temperature": 0.5, "presence_penalty": 1.0, "logit_bias": {"1": 1.0}}
    exact = processed(np.array([row]), options, [prompt], [text], END)
    if exact.margins[0] < 1e-9:
        return
    for name in [name for name in ORDER if name in options]:
        row = ORACLES[name](row, options[name], prompt, text)
    assert np.abs(exact.masses[0] - share(row)).max() < 256 * 2.0**-53


def test_greedy_keeps_the_first_argmax_and_says_how_near_the_next_one_is() -> None:
    exact = processed(np.array([[1.0, 2.0, 1.75]]), {"temperature": 0.0}, [()], [()])
    assert exact.masses.tolist() == [[0, 1, 0]]
    assert exact.margins.tolist() == [0.25]


@pytest.mark.parametrize(("name", "value"), [("top_k", 2), ("top_p", 0.5), ("min_p", 0.5)])
def test_a_tie_or_a_threshold_leaves_no_margin(name: str, value: float) -> None:
    """The control: a row on which rounding decides is known by its margin."""
    on_it = np.log([[0.4, 0.2, 0.2, 0.2]]) if name != "top_p" else np.log([[0.5, 0.3, 0.1, 0.1]])
    assert processed(on_it, {name: value}, [()], [()]).margins[0] < 1e-12
    beside = np.log([[0.43, 0.3, 0.17, 0.1]])
    assert processed(beside, {name: value}, [()], [()]).margins[0] > 0.01


def test_an_unknown_option_is_refused() -> None:
    with pytest.raises(ValueError, match="unknown sampling options mirostat; known are"):
        known({"mirostat": 2})
