"""Table models: what samplers call as a model, made of a law after each prefix, in the usual forms."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from functools import lru_cache
from types import SimpleNamespace
from typing import Any, Literal

import numpy as np
import torch

from spec_math.arrays import asarray
from spec_math.language.model import Model

Form = Literal["object", "copied", "tensor", "tuple", "pair", "masses"]
"""What a call returns: an object with .logits and .past_key_values, the logits alone, (logits, cache), (logits, cache)
with a cache that is a pair of a tensor [B, 1, n, 1] and nothing, or masses in NumPy. A cache object that is handed over
grows by the call, as in transformers, unless the form is "copied"."""

IDS = ("input_ids", "idx", "ids", "x", "tokens", "inputs", "input", "inputs_embeds")
CACHES = ("past_key_values", "past_key_value", "cache", "past", "kv_cache", "layer_past")


def logits_of(law: Any, dtype: torch.dtype = torch.float32) -> torch.Tensor:
    """Return the logarithms of a law [..., V], -inf where it has no mass."""
    return torch.tensor(np.asarray(asarray(law), dtype=np.float64)).log().to(dtype)


@lru_cache(1_024)
def _kept_logits(row: tuple[Any, ...], dtype: torch.dtype, roll: int) -> torch.Tensor:
    return logits_of(row, dtype).roll(roll)


class TableCache:
    """The text that a table model has seen, tokens [B, n], as a cache that is cropped, sliced or handed on.

    It answers get_seq_length() and crop(n); as layers of keys and values [B, 1, n, 1] it holds the tokens themselves,
    so that whatever is cut off the tensors is cut off the text.

    >>> cache = TableCache(torch.tensor([[3, 1, 2]]))
    >>> cache.crop(2)
    >>> cache.get_seq_length(), cache[0][0].flatten().tolist()
    (2, [3.0, 1.0])
    """

    def __init__(self, ids: torch.Tensor) -> None:
        self.ids = ids

    def get_seq_length(self, layer: int = 0) -> int:  # noqa: ARG002
        """Return how many tokens were seen."""
        return int(self.ids.shape[1])

    def crop(self, most: int) -> None:
        """Keep the first tokens, or with a negative number leave out the last."""
        self.ids = self.ids[:, :most]

    @property
    def layers(self) -> tuple[tuple[torch.Tensor, torch.Tensor], ...]:
        """The one layer, its keys and its values [B, 1, n, 1]."""
        kept = self.ids.float()[:, None, :, None]
        return ((kept, kept.clone()),)

    def __getitem__(self, layer: int) -> tuple[torch.Tensor, torch.Tensor]:
        return self.layers[layer]

    def __iter__(self) -> Iterator[tuple[torch.Tensor, torch.Tensor]]:
        return iter(self.layers)

    def __len__(self) -> int:
        return 1


class TableModel:
    """A model whose logits after each text are the logarithms of a law of what follows its prompt.

    Tokens [B, n] or [n] come first or under a usual name; a cache, likewise, is what an earlier call returned, cut as
    the caller likes; `input_pos` says where tokens stand in a text that the model keeps, which begins with the prompt.
    Rows inside the prompt hold the first law moved by one token, which is not to be used.

    Made anew for each run, for it may keep a text.

    >>> model = TableModel(lambda text: [0.5, 0.5] if text else [1, 0], [1, 0, 1])
    >>> model(torch.tensor([[1, 0, 1, 0]])).logits[0, -2:].softmax(-1).tolist()
    [[1.0, 0.0], [0.5, 0.5]]
    """

    def __init__(self, law: Model, prompt: Sequence[int], form: Form = "object", dtype: Any = torch.float32) -> None:
        self.law, self.prompt, self.form = law, tuple(prompt), form
        self.dtype, self.device, self.training = dtype, torch.device("cpu"), False
        self.vocab_size = len(asarray(law(())))
        self.config = SimpleNamespace(vocab_size=self.vocab_size, eos_token_id=None, is_encoder_decoder=False)
        self.max_seq_length = self.max_seq_len = 1 << 20
        self._kept = list(prompt)

    def __call__(self, *args: Any, **named: Any) -> Any:
        """Return the logits [B, n, V] of the token after each of the given ones, in the model's form."""
        ids: Any = args[0] if args else next(named[one] for one in IDS if named.get(one) is not None)
        ids = ids[..., 0].round() if isinstance(ids, torch.Tensor) and ids.is_floating_point() else ids  # embeddings
        one_row = not isinstance(ids, torch.Tensor) or ids.dim() == 1
        rows = torch.as_tensor(ids, dtype=torch.int64).reshape(1, -1) if one_row else ids.long()
        places = named.get("input_pos")
        cache = next((named[one] for one in CACHES if named.get(one) is not None), None)
        if places is not None:
            seen, texts = self._at(rows, places.reshape(-1).tolist())
        else:
            before = _tokens_of(cache, len(rows))
            if len(self.prompt) <= rows.shape[1] > before.shape[1] and torch.equal(rows[:, : before.shape[1]], before):
                before = before[:, :0]  # the whole text is handed over beside its cache
            seen = torch.cat([before, rows], dim=1)
            texts = [[tuple(row[: n + 1]) for n in range(before.shape[1], len(row))] for row in seen.tolist()]
        logits = torch.stack([torch.stack([self._logits(text) for text in row]) for row in texts])
        logits = logits[0] if one_row else logits
        # A cache of transformers grows whatever the form, as the caller made it.
        grows = hasattr(cache, "crop") and (self.form == "object" or not isinstance(cache, TableCache))
        held: Any = _grown(cache, seen) if grows else TableCache(seen)
        if self.form == "tensor":
            return logits
        if self.form == "masses":
            return logits.exp().numpy()
        if self.form == "pair":
            return logits, (held.layers[0][0], None)
        return (logits, held) if self.form == "tuple" else TableOutput(logits, held)

    forward = __call__

    def embed(self, ids: torch.Tensor) -> torch.Tensor:
        """Return embeddings [..., 1] of tokens, which a call takes in their place.

        >>> model = TableModel(lambda text: [0.5, 0.5] if text else [1, 0], [1, 0, 1])
        >>> ids = torch.tensor([[1, 0, 1, 0]])
        >>> bool((model(inputs_embeds=model.embed(ids)).logits == model(ids).logits).all())
        True
        """
        return ids.to(self.dtype)[..., None]

    def _at(self, rows: torch.Tensor, places: list[int]) -> tuple[torch.Tensor, list[list[tuple[int, ...]]]]:
        """Write tokens at their places into the kept text, and return it with what stands up to each of them."""
        for place, token in zip(places, rows[0].tolist(), strict=True):
            if place > len(self._kept):
                raise ValueError(f"input_pos {place} leaves a gap after the {len(self._kept)} tokens that are kept")
            self._kept[place : place + 1] = [token]
        return torch.tensor([self._kept]), [[tuple(self._kept[: place + 1]) for place in places]]

    def _logits(self, text: tuple[int, ...]) -> torch.Tensor:
        row = asarray(self.law(text[len(self.prompt) :])).tolist()
        return _kept_logits(tuple(row), self.dtype, int(len(text) < len(self.prompt)))

    def to(self, *_: Any, **__: Any) -> TableModel:
        """Return the model itself."""
        return self

    eval = cuda = half = float = to

    def modules(self) -> Iterator[Any]:
        """Return the model as its only part."""
        return iter((self,))

    def parameters(self) -> Iterator[torch.Tensor]:
        """Return one number, from which callers read the device and the type."""
        return iter((torch.zeros(1, dtype=self.dtype),))


class TableTokenizer:
    """A tokenizer whose texts are tokens themselves: of whatever it is given it makes one prompt [1, n].

    Made of the prompt. No token ends a text.

    >>> tokenizer = TableTokenizer(torch.tensor([[0, 1]]))
    >>> tokenizer("a text", return_tensors="pt").input_ids.tolist(), tokenizer.encode("a text")
    ([[0, 1]], [0, 1])
    >>> tokenizer.decode(torch.tensor([[0, 1, 1]]), skip_special_tokens=True)
    [0, 1, 1]
    """

    eos_token_id = pad_token_id = bos_token_id = 1 << 20

    def __init__(self, prompt: torch.Tensor) -> None:
        self.prompt = prompt

    def __call__(self, *_: Any, **__: Any) -> Any:
        """Return the prompt [1, n], and a mask of ones, by key or by attribute."""
        return _Encoded(input_ids=self.prompt, attention_mask=torch.ones_like(self.prompt))

    def encode(self, *_: Any, return_tensors: str | None = None, **__: Any) -> Any:
        """Return the prompt as a list, or [1, n] where tensors are asked for."""
        return self.prompt if return_tensors else self.prompt[0].tolist()

    def decode(self, ids: Any, *_: Any, **__: Any) -> list[int]:
        """Return tokens as a list."""
        return torch.as_tensor(ids).reshape(-1).tolist()

    def batch_decode(self, rows: Any, *_: Any, **__: Any) -> list[list[int]]:
        """Return rows of tokens as lists."""
        return [self.decode(row) for row in rows]


class _Encoded(SimpleNamespace):
    def __getitem__(self, name: str) -> torch.Tensor:
        return vars(self)[name]

    def keys(self) -> Iterable[str]:
        return vars(self).keys()

    def to(self, *_: Any, **__: Any) -> _Encoded:
        return self


class TableOutput:
    """An answer with .logits and .past_key_values, which can be indexed as a tuple of the two."""

    def __init__(self, logits: torch.Tensor, cache: TableCache) -> None:
        self.logits, self.past_key_values = logits, cache

    def __getitem__(self, place: Any) -> Any:
        return getattr(self, place) if isinstance(place, str) else (self.logits, self.past_key_values)[place]


def _grown(cache: Any, seen: torch.Tensor) -> Any:
    """Let a cache, ours or one of transformers, hold all tokens that were seen [B, n]."""
    if isinstance(cache, TableCache):
        cache.ids = seen
    else:
        cache.update(*TableCache(seen[:, cache.get_seq_length() :]).layers[0], 0)
    return cache


def _tokens_of(cache: Any, rows: int) -> torch.Tensor:
    """Return the tokens [B, n] that a cache holds, whatever was cut off it."""
    if cache is None or (hasattr(cache, "get_seq_length") and not cache.get_seq_length()):
        return torch.zeros(rows, 0, dtype=torch.int64)
    if isinstance(cache, TableCache):
        return cache.ids
    if hasattr(cache, "layers"):
        cache = cache.layers[0].keys
    while not isinstance(cache, torch.Tensor):
        cache = cache[0]
    return cache[:, 0, :, 0].round().long()
