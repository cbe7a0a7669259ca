"""A causal model of transformers, asked for the laws after many prefixes at once.

Source: transformers' own interface (`AutoModelForCausalLM`).
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import torch

from spec_math import array_coin

BATCH = 32
"""Prefixes that go through the model together."""


class CausalModel:
    """A model that turns prefixes into laws [n, V], in float64, by the softmax of its logits at each prefix's end.

    Raises:
        ValueError: an empty prefix: a causal model speaks after at least one token.

    >>> CausalModel.__name__
    'CausalModel'
    """

    def __init__(self, model: Any) -> None:
        self.model = model.eval().requires_grad_(False)
        self.size = int(model.config.get_text_config().vocab_size)

    def __call__(self, prefixes: Sequence[tuple[int, ...]]) -> np.ndarray[Any, np.dtype[np.float64]]:
        """Return the laws [n, V] after prefixes of any lengths, padded behind, which a causal model ignores."""
        if not all(prefixes):
            raise ValueError("a causal model speaks after at least one token; got an empty prefix")
        # Prefixes of like lengths go together, so that little is padded.
        order = sorted(range(len(prefixes)), key=lambda at: len(prefixes[at]))
        found = np.empty((len(prefixes), self.size))
        for start in range(0, len(order), BATCH):
            places = order[start : start + BATCH]
            found[places] = self._rows([prefixes[at] for at in places])
        return found

    def _rows(self, prefixes: list[tuple[int, ...]]) -> Any:
        longest = max(map(len, prefixes))
        padded = torch.tensor([[*prefix, *[0] * (longest - len(prefix))] for prefix in prefixes])
        logits = self.model(input_ids=padded.to(self.model.device)).logits
        ends = torch.tensor([len(prefix) - 1 for prefix in prefixes], device=logits.device)
        return self._laws(logits[torch.arange(len(prefixes), device=logits.device), ends])

    def _laws(self, logits: Any, heat: float = 1.0) -> Any:
        return torch.softmax(logits[:, : self.size].double() / heat, dim=-1).cpu().numpy()

    def written(self, prefix: Sequence[int], length: int, rng: Any, heat: float = 1.0) -> tuple[list[int], Any]:
        """Write a text after a prefix at a temperature: its tokens, and the laws [length, V] that they are drawn from.

        One uniform a token, of a NumPy Generator. What was read is kept by the model, and not read again.
        """
        tokens, rows, past, known = list[int](), list[Any](), None, torch.tensor([[*prefix]])
        while len(tokens) < length:
            told = self.model(input_ids=known.to(self.model.device), past_key_values=past, use_cache=True)
            past = told.past_key_values
            rows.append(self._laws(told.logits[0, -1:], heat))
            tokens += array_coin.drawn(rows[-1], rng.random(1)).tolist()
            known = torch.tensor([tokens[-1:]])
        return tokens, np.concatenate(rows)

    def along(self, prefix: Sequence[int], tokens: Sequence[int], heat: float = 1.0) -> Any:
        """Return the laws [n, V] at the places of a text's tokens after a prefix, at a temperature."""
        known = torch.tensor([[*prefix, *tokens[:-1]]], device=self.model.device)
        return self._laws(self.model(input_ids=known).logits[0, len(prefix) - 1 :], heat)


def load(name: str) -> CausalModel:
    """Load a model by its folder, or by the name of one that was downloaded, on the accelerator where there is one.

    Raises:
        ModuleNotFoundError: transformers is not installed.
        OSError: there is no such model.
    """
    from transformers import AutoModelForCausalLM

    model: Any = _loaded(AutoModelForCausalLM, name, torch_dtype="auto")
    return CausalModel(model.to("cuda" if torch.cuda.is_available() else "cpu"))


def _loaded(kind: Any, name: str, **options: Any) -> Any:
    try:
        return kind.from_pretrained(name, local_files_only=True, **options)
    except OSError as error:
        raise OSError(f"{name}: no folder of a model, and transformers keeps none of that name: download it") from error


def windows(name: str, text: Path, number: int, longest: int = 128) -> tuple[tuple[int, ...], ...]:
    """Cut a text into `number` evenly spaced prefixes of at most `longest` tokens, by the tokeniser of a model.

    Raises:
        ValueError: the text has fewer than 2 tokens.
    """
    from transformers import AutoTokenizer

    tokens: list[int] = _loaded(AutoTokenizer, name)(text.read_text(encoding="utf-8"))["input_ids"]
    if len(tokens) < 2:
        raise ValueError(f"{text}: prefixes are cut from at least 2 tokens; the text has {len(tokens)}")
    ends = np.unique(np.linspace(1, len(tokens) - 1, number).round().astype(int)).tolist()
    return tuple(tuple(tokens[max(0, end - longest) : end]) for end in ends)
