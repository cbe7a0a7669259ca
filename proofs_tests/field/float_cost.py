"""What float32 costs over three tokens of a tiny Llama."""

from __future__ import annotations

from functools import cache
from typing import Any

import numpy as np
import pytest

pytest.importorskip("torch", reason="torch is an optional extra")
pytest.importorskip("transformers", reason="transformers is not installed: pip install 'spec_math[transformers]'")

import torch

from proofs_tests.field.llamas import PROMPT, llama
from spec_math.field.engine_law import float32_bound
from spec_math.field.engines.transformers import Rows

TOKENS = 3


@cache
def pair(size: int, layers: int = 1) -> tuple[Any, Any]:
    """A target and an assistant of other weights."""
    return llama(size, 0, layers), llama(size, 1)


@cache
def allowed(size: int, layers: int = 1) -> float:
    """The total variation that float32 may cost over three tokens: in the verifier, and in the logits it is given.

    A forward pass in float32 is off by what it differs from one in float64; one with a cache adds in another order, so
    that as much again is allowed. A logit off by δ moves each mass by a factor e^±2δ, a total variation of at most 2δ.
    """
    model = pair(size, layers)[0]
    precise = llama(size, 0, layers).double()
    texts = [text for length in range(TOKENS) for text in np.ndindex(*[size] * length)]
    with torch.no_grad():
        ids = [torch.tensor([[*PROMPT, *text]]) for text in texts]
        off = max(float((model(one).logits - precise(one).logits).abs().max()) for one in ids)
    rows = [Rows(model, PROMPT)(text).tolist() for text in texts]
    return TOKENS * (max(float32_bound([row]) for row in rows) + 2 * 2 * off)
