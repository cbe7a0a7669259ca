"""Building blocks of adapters: what a sampler takes, made of distributions, and its answer read as tokens.

An adapter is a file with a function `sampler` of the drafted tokens [L], the target's distributions [L + 1, V] and the
draft's [L, V], by position. It takes `token` in place of `tokens` for a single draft, no tokens where it drafts by
itself, and no `draft` where no distribution of the drafts is used: each row of drafts is then judged. The command
`spec-math audit FILE` judges it, and the option `--adapter FILE` writes one.
"""

from __future__ import annotations

import random as random
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import partial
from types import SimpleNamespace as SimpleNamespace
from typing import Any

import numpy as np
import torch

from spec_math.pathwise.tape import GivenKey as GivenKey
from spec_math.samplers.signature import bound as bound
from spec_math.samplers.signature import initialised as initialised
from spec_math.samplers.signature import judged_at as judged_at
from spec_math.samplers.signature import made, record_of
from spec_math.samplers.signature import ticking as ticking
from torch_bridge.returned import before_padding as before_padding
from torch_bridge.returned import emitted as emitted
from torch_bridge.returned import generated as generated
from torch_bridge.returned import values_of as values_of
from torch_bridge.returned import verified as verified
from torch_bridge.toy_models import Form, TableModel
from torch_bridge.toy_models import TableTokenizer as TableTokenizer


@dataclass(frozen=True)
class Adapter:
    """A function `sampler` of an adapter, with the types of its distributions and the temperature that it is judged at.

    `length` says that the sampler is told how many tokens to return.

    Made by `adapter`.
    """

    fn: Callable[..., Any]
    dtypes: tuple[torch.dtype, ...]
    temperature: str
    length: bool

    def __call__(self, *args: Any, **named: Any) -> Any:
        """Call the function."""
        return self.fn(*args, **named)


def adapter(dtype: str = "", temperature: str = "1", length: bool = False) -> Callable[..., Adapter]:
    """Mark a function as the sampler of an adapter whose distributions pass through logits and softmax.

    Rounding is forgiven accordingly, so that there are at most 16 tokens, with masses of at least e^−7. Without the
    mark, a sampler is given what its parameters say, as any function of tokens, target and draft. By default the
    distributions are in float64, and in float32 where the sampler is not lossless so.

    >>> @adapter(temperature="1/2")
    ... def sampler(target, draft):
    ...     return torch.multinomial(at_temperature(target, "1/2")[0], 1)
    >>> sampler(torch.eye(2, dtype=torch.float64), None).tolist(), sampler.dtypes
    ([0], (torch.float64, torch.float32))
    """
    dtypes = (getattr(torch, dtype),) if dtype else (torch.float64, torch.float32)
    return partial(Adapter, dtypes=dtypes, temperature=temperature, length=length)


def prompt_of(target: Any) -> torch.Tensor:
    """Return a prompt [1, n] that is longer than what is emitted, so that it is seen whether a text repeats it.

    >>> prompt_of(torch.ones(2, 3)).tolist()
    [[0, 1, 0, 1, 0, 1, 0]]
    """
    return (torch.arange(2 * len(target) + 3) % 2)[None]


def model_of(laws: torch.Tensor, prompt: torch.Tensor, form: Form = "object") -> TableModel:
    """Return a model whose logits after the prompt and n more tokens are those of row n of distributions [L, V].

    Its call returns an object with .logits and .past_key_values, or as `form` says: "tensor", "tuple" (logits, cache),
    "pair" (logits, (cache, None)), or "masses" in NumPy. It takes any batch of tokens, a cache as it was returned, cut
    as the caller likes, `input_pos`, and embeddings that its own `embed` made.

    >>> laws, prompt = torch.tensor([[1.0, 0.0], [0.5, 0.5]]), torch.tensor([[0, 1, 0]])
    >>> out = model_of(laws, prompt)(torch.tensor([[0, 1, 0, 0]] * 2))
    >>> out.logits[:, -2:].softmax(-1).tolist()
    [[[1.0, 0.0], [0.5, 0.5]], [[1.0, 0.0], [0.5, 0.5]]]
    >>> out.past_key_values.crop(3)
    >>> model_of(laws, prompt)(torch.tensor([[1]] * 2), past_key_values=out.past_key_values).logits.shape
    torch.Size([2, 1, 2])
    >>> model_of(laws, prompt, "masses")([0, 1, 0])[-1].tolist()
    [1.0, 0.0]
    """
    listed = np.asarray(laws.double())
    return TableModel(lambda text: listed[len(text) % len(listed)], prompt.reshape(-1).tolist(), form, laws.dtype)


def at_temperature(laws: torch.Tensor, temperature: str | Fraction) -> torch.Tensor:
    """Return distributions [..., V] at a temperature: 0 for the likeliest token, or a fraction.

    >>> at_temperature(torch.tensor([[0.25, 0.75]], dtype=torch.float64), "1/2").tolist()
    [[0.1, 0.9]]
    """
    heat = float(Fraction(temperature))
    if not heat:
        return torch.nn.functional.one_hot(laws.argmax(-1), laws.shape[-1]).to(laws.dtype)
    powers = laws ** (1 / heat)
    return powers / powers.sum(-1, keepdim=True)


def records(fn: Callable[..., Any], name: str, tokens: Any, laws: Any, drafted: Sequence[Any] = ()) -> list[Any]:
    """Return tokens as the dataclasses of which a function takes a list under a name, with their masses.

    A field of a mass or a log-probability is read from its name; one of the draft is that of the drafted token.

    >>> @dataclass
    ... class Seen:
    ...     token_id: int
    ...     prob: float
    >>> def verify(seen: list[Seen]): ...
    >>> records(verify, "seen", torch.tensor([1]), torch.tensor([[0.25, 0.75]]))
    [Seen(token_id=1, prob=0.75)]
    """
    kind: Any = record_of(fn, name)
    beside = [*map(int, drafted), *[None] * len(tokens)]
    return [made(kind, int(token), law.tolist(), one) for token, law, one in zip(tokens, laws, beside, strict=False)]
