"""vLLM's rejection sampler of its second model runner, by token or by block: its hash RNG injected."""

from __future__ import annotations

from collections.abc import Generator
from contextlib import contextmanager
from fractions import Fraction
from functools import partial
from types import ModuleType
from typing import Any
from unittest import mock

import numpy as np
import torch
from numpy.typing import NDArray

from spec_math.field.chain_kernel import BLOCK, TOKEN, Kernel, Requests, Text, Whole
from spec_math.field.engine import Bisected, Edit, Engine
from spec_math.field.engines.vllm import VLLM, parts, tensor
from spec_math.field.source_file import EngineError, interpreted_triton, language_once

GRID = 2**31
"""tl.rand turns 32 random bits into one of 2^31 numbers, two patterns to each."""

STEP = np.float32(4.6566127342e-10)
"""tl.rand's k-th number is k, rounded to float32, times this."""

MODULE = "vllm.v1.worker.gpu.spec_decode.rejection_sampler_utils"
BESIDE = ("vllm.v1.worker.gpu.sample.gumbel", "vllm.v1.spec_decode.fly")

LARGEST = 1024
"""A residual is drawn from in pieces of this many tokens; laws are read from the first."""


def kernel_of(module: ModuleType, *, block: bool = False, one_hot: bool = False) -> Kernel:
    """Return the sampler of a loaded module as a function of its coins; without a law of the draft where `one_hot`."""

    def emit(requests: Requests, coins: Whole) -> list[Text]:
        return launch(module, requests, coins, block=block, one_hot=one_hot)[0]

    def following(requests: Requests, coins: Whole, number: Whole) -> list[list[Fraction]]:
        texts, logits = launch(module, requests, coins, block=block, one_hot=one_hot)
        for text, row, accepted in zip(texts, logits, number.tolist(), strict=True):
            if len(text) != accepted + 1 or text[-1] != int(row.argmax()):
                raise EngineError(f"the kernel emitted {text} after {accepted} tokens, from the logits {row.tolist()}")
        weights = np.exp(logits - logits.max(axis=-1, keepdims=True))
        return [[Fraction(weight) for weight in row] for row in weights.tolist()]

    return Kernel(BLOCK if block else TOKEN, GRID, emit, following)


def launch(
    module: ModuleType, requests: Requests, coins: Whole, *, block: bool, one_hot: bool
) -> tuple[list[Text], NDArray[np.float64]]:
    """Run the engine's function once on coins [R, L]; return what is emitted and the logits [R, V] of the last token.

    Without noise the last token is the first maximum of these logits.
    """
    many, lookahead = requests.tokens.shape
    slots, size = lookahead + 1, requests.targets.shape[-1]
    if size > LARGEST:
        raise EngineError(f"distributions of up to {LARGEST} tokens are read from this kernel; got {size}")
    with np.errstate(divide="ignore"):
        targets = torch.tensor(np.log(requests.targets), dtype=torch.float32).view(many * slots, size)
        drafts = torch.tensor(np.log(requests.drafts), dtype=torch.float32)
    sampled = torch.cat([torch.zeros(many, 1, dtype=torch.int64), torch.from_numpy(requests.tokens)], dim=1)
    # Lanes behind the vocabulary hold −inf − (−inf).
    with language_once(), _injected(module, coins, slots) as seen, np.errstate(divide="ignore", invalid="ignore"):
        emitted, number = module.rejection_sample(
            targets,
            None if one_hot else drafts,
            sampled.reshape(-1),
            torch.arange(many + 1, dtype=torch.int32) * slots,
            torch.arange(many * slots),  # each position its own, so that the coin asked for is known by it
            torch.arange(many, dtype=torch.int32),
            torch.arange(many, dtype=torch.int32).repeat_interleave(slots),
            torch.arange(slots, dtype=torch.int32).repeat(many),
            torch.ones(many),
            torch.zeros(many, dtype=torch.int64),
            lookahead,
            use_block_verification=block,
        )
    texts: list[Text] = [tuple(row[:n]) for row, n in zip(emitted.tolist(), number.tolist(), strict=True)]
    return texts, np.stack([seen[row][:size] for row in range(many)]).astype(np.float64)


@contextmanager
def _injected(module: ModuleType, coins: Whole, slots: int) -> Generator[dict[int, NDArray[np.float32]]]:
    """Put coins in place of tl.rand, and no noise in place of Gumbel's; give the logits that it would be added to."""
    language = interpreted_triton().language
    seen: dict[int, NDArray[np.float32]] = {}

    def rand(_seed: Any, offset: Any) -> Any:
        request, place = divmod(int(offset.handle.data.item()), slots)
        return tensor(language, np.float32(coins[request, place]) * STEP, language.float32)

    def argmax(logits: Any, _block: Any, _mask: Any, position: Any, *_: Any, **__: Any) -> Any:
        values = np.array(logits.handle.data)
        if values.size > LARGEST:
            raise EngineError(f"the kernel drew from pieces of {values.size} tokens, not {LARGEST}")
        seen.setdefault(int(position.handle.data.item()) // slots, values)
        return language.max(logits, axis=0, return_indices=True)

    with mock.patch.object(language, "rand", rand), mock.patch.object(module, "_seeded_resample_argmax", argmax):
        yield seen


DRAWN = Edit("if is_bonus or not is_valid_rejected_draft:", "if True:")


def _engine(name: str, rule: str) -> Engine:
    told = {"block": rule == "block", "one_hot": rule == "one-hot"}
    how = Bisected(partial(kernel_of, **told), parts, BESIDE, told["one_hot"])
    return Engine(name, VLLM, f"{MODULE}:rejection_sample", how, DRAWN, rule, most=2, slow=True)


ENGINES = (
    _engine("vLLM second runner", "chain"),
    _engine("vLLM second runner block", "block"),
    _engine("vLLM second runner one-hot", "one-hot"),
)
