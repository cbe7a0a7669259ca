"""Exact distributions of the next token, in float64 from a model's weights.

A model is a table of logits, or a causal language model of transformers in a folder.
"""

from __future__ import annotations

import json
from collections.abc import Generator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Protocol

import numpy as np

from spec_math.arrays import Array
from spec_math.engines.options import Text, processed


class Model(Protocol):
    """A model: its number of tokens V, its end token if it has one, and its logits.

    `rounding` bounds what the arithmetic of an engine that computes this model may change in a logit, in nats.
    """

    size: int
    end: int | None
    rounding: float

    def rows(self, prompts: Sequence[Text], texts: Sequence[Text]) -> list[Array]:
        """Return the logits [len(text), V] after prompt + text[:j], j = 0, …, len(text) − 1, of each text."""
        ...


class Table:
    """A model with a memory of two tokens: logits first[last] + second[the one before], tables [V + 1, V] in float64.

    Row V of a table stands for no token. An engine of tables works in float64, so its rounding is 2^-40.

    Raises:
        ValueError: the tables are not two of shape [V + 1, V].

    >>> model = Table(np.zeros((3, 2)), np.array([[0.0, 1.0], [0.0, 0.0], [0.0, 0.0]]), None)
    >>> model.rows([()], [(0, 1, 1)])[0].tolist()
    [[0.0, 0.0], [0.0, 0.0], [0.0, 1.0]]
    """

    rounding = 2.0**-40

    def __init__(self, first: Array, second: Array, end: int | None) -> None:
        if first.shape != second.shape or first.shape[0] != first.shape[1] + 1:
            raise ValueError(f"tables of a model have one shape [V + 1, V]; got {first.shape} and {second.shape}")
        self.first, self.second, self.end = first.astype(float), second.astype(float), end
        self.size = first.shape[1]
        self.whole = self.first[:, None] + self.second[None, :]

    def rows(self, prompts: Sequence[Text], texts: Sequence[Text]) -> list[Array]:
        """Return the logits [len(text), V] after each beginning of each text."""
        found: list[Array] = []
        for prompt, text in zip(prompts, texts, strict=True):
            tokens = np.array((self.size, self.size, *prompt, *text), dtype=np.int64)
            start = len(prompt) + 2
            found.append(self.whole[tokens[start - 1 : -1], tokens[start - 2 : -2]][: len(text)])
        return found

    def row(self, prefix: Text) -> Array:
        """Return the logits [V] after one prefix."""
        last = prefix[-1] if prefix else self.size
        return self.whole[last, prefix[-2] if len(prefix) > 1 else self.size]


class Causal:
    """A causal language model of transformers, in float64; one batched forward pass gives all rows of all texts.

    `rounding` is 16 times the largest difference between the logits in float32 and in float64 after all single tokens
    and 64 random texts of 16 tokens: what another order of the same float32 operations may change.

    Raises:
        ValueError: torch or transformers is not installed, or the folder holds no model.
    """

    def __init__(self, folder: Path) -> None:
        torch, transformers = torch_and_transformers()
        if not (folder / "config.json").is_file():
            raise ValueError(f"{folder} holds no model: config.json is missing; write one: spec-math engine pair")
        with quietly(transformers):
            self._model = transformers.AutoModelForCausalLM.from_pretrained(folder, dtype=torch.float64).eval()
            single = transformers.AutoModelForCausalLM.from_pretrained(folder, dtype=torch.float32).eval()
        self._torch = torch
        self.size = int(self._model.config.vocab_size)
        end = self._model.config.eos_token_id
        self.end: int | None = None if end is None else int(end)
        texts = np.random.default_rng(0).integers(0, self.size, size=(64, 16))
        with torch.no_grad():
            ids = torch.tensor(texts)
            apart = (single(ids).logits.double() - self._model(ids).logits).abs().max()
        self.rounding = 16 * float(apart)

    def rows(self, prompts: Sequence[Text], texts: Sequence[Text]) -> list[Array]:
        """Return the logits [len(text), V] after each beginning of each text; prompts need at least one token."""
        if any(not prompt for prompt in prompts):
            raise ValueError("a causal model needs a prompt of at least one token")
        whole = [(*prompt, *text) for prompt, text in zip(prompts, texts, strict=True)]
        longest = max(map(len, whole), default=0)
        # Causal attention: what stands after a position changes nothing there.
        ids = self._torch.tensor([[*text, *[0] * (longest - len(text))] for text in whole])
        with self._torch.no_grad():
            logits = self._model(ids).logits.numpy()
        starts = [len(prompt) - 1 for prompt in prompts]
        return [logits[i, at : at + len(text)] for i, (at, text) in enumerate(zip(starts, texts, strict=True))]


def torch_and_transformers() -> tuple[Any, Any]:
    """Return the modules torch and transformers, imported now.

    Raises:
        ValueError: one is missing; it names the extra to install.
    """
    try:
        import torch
        import transformers
    except ImportError as error:
        raise ValueError(
            f"models of transformers need {error.name}: pip install 'spec_math[torch,transformers]'"
        ) from None
    return torch, transformers


@contextmanager
def quietly(transformers: Any) -> Generator[None]:
    """Let transformers show errors alone, and no bars, for a while."""
    logging = transformers.utils.logging
    before, bars = logging.get_verbosity(), logging.is_progress_bar_enabled()
    logging.set_verbosity_error()
    logging.disable_progress_bar()
    try:
        yield
    finally:
        logging.set_verbosity(before)
        if bars:
            logging.enable_progress_bar()


def model_of(folder: Path) -> Model:
    """Read the model in a folder: tables of this library, or a causal model of transformers.

    Raises:
        ValueError: the folder holds no model, or torch or transformers is missing.
    """
    config = folder / "config.json"
    kind = json.loads(config.read_text(encoding="utf-8")).get("model_type") if config.is_file() else None
    if kind != "spec_math_tables":
        return Causal(folder)
    from safetensors.numpy import load_file

    held = load_file(folder / "model.safetensors")
    return Table(held["first"], held["second"], json.loads(config.read_text(encoding="utf-8")).get("eos_token_id"))


def next_tokens(
    model: Model,
    prompts: Sequence[Text],
    texts: Sequence[Text],
    options: Mapping[str, Any] | None = None,
    order: Sequence[str] = (),
) -> Array:
    """Return the distributions [n, V] of the next token after each prompt + text, under options.

    >>> next_tokens(Table(np.zeros((3, 2)), np.zeros((3, 2)), None), [()], [(1,)]).tolist()
    [[0.5, 0.5]]
    """
    # Any token stands for the one that comes next: its own row is not asked for.
    logits = np.array([row[-1] for row in model.rows(prompts, [(*text, 0) for text in texts])])
    return processed(logits, options or {}, prompts, texts, model.end, order).masses
