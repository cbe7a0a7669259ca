"""SGLang's kernel for chains, token by token or as a block: its uniforms being arguments."""

from __future__ import annotations

from fractions import Fraction
from functools import partial
from types import ModuleType
from typing import Any

import numpy as np
import torch

from spec_math.field.chain_kernel import BLOCK, TOKEN, Kernel, Requests, Text, Whole, cuts_by_kind, expected
from spec_math.field.engine import Archive, Bisected, Edit, Engine
from spec_math.field.source_file import interpreted_triton, language_once

GRID = 2**24
"""torch.rand in float32, which the engine calls, gives k/2^24."""

MODULE = "sglang.kernels.ops.speculative.reject_sampling"


def kernel_of(module: ModuleType, *, block: bool = False) -> Kernel:
    """Return the kernel of a loaded module as a function of its coins."""
    rule = BLOCK if block else TOKEN

    def emit(requests: Requests, coins: Whole) -> list[Text]:
        return launch(module, requests, coins, np.zeros(len(coins), dtype=np.int64), block=block)

    def following(requests: Requests, coins: Whole, number: Whole) -> list[list[Fraction]]:
        """Bisect the final uniform to where each token begins; the token drawn is taken to grow with it."""
        many, _, size = requests.targets.shape
        request, token = np.divmod(np.arange(many * (size - 1)), size - 1)

        def below(rows: Whole, k: Whole) -> Any:
            texts = launch(module, requests.take(request[rows]), coins[request[rows]], k, block=block)
            return np.array([text[number[row]] for text, row in zip(texts, request[rows], strict=True)]) <= token[rows]

        masses = expected(rule, requests, coins, GRID).masses
        sums = masses.cumsum(axis=-1)
        guesses = np.ceil(sums[:, :-1] / sums[:, -1:] * GRID).astype(np.int64).ravel()
        ends = cuts_by_kind(below, guesses, GRID, number[request] * size + token).reshape(many, size - 1)
        return [[Fraction(int(k), GRID) for k in row] for row in np.diff(ends, axis=1, prepend=0, append=GRID)]

    return Kernel(rule, GRID, emit, following)


def launch(module: ModuleType, requests: Requests, coins: Whole, final: Whole, *, block: bool) -> list[Text]:
    """Run the engine's function once on uniforms coins/2^24 [R, L] and final/2^24 [R]; return what is emitted."""
    many, lookahead = requests.tokens.shape
    slots = lookahead + 1
    tokens = torch.from_numpy(np.ascontiguousarray(requests.tokens))
    predicts = torch.full((many * slots,), -1, dtype=torch.int32)
    accept_index = torch.full((many, slots), -1, dtype=torch.int32)
    accept_number = torch.zeros(many, dtype=torch.int32)
    places = torch.arange(many * slots).view(many, slots)
    with language_once():
        module.chain_speculative_sampling_triton(
            predicts,
            accept_index,
            accept_number,
            torch.cat([torch.zeros(many, 1, dtype=torch.int64), tokens], dim=1),
            places,
            None,
            None,
            _float32(coins / GRID),
            _float32(final / GRID),
            _float32(requests.targets),
            _float32(requests.drafts),
            1.0,
            1.0,
            True,
            block_verification=block,
        )
    emitted = predicts.view(many, slots).tolist()
    return [tuple(row[: number + 1]) for row, number in zip(emitted, accept_number.tolist(), strict=True)]


def _float32(values: Any) -> torch.Tensor:
    return torch.tensor(np.asarray(values), dtype=torch.float32)


ARCHIVE = Archive(
    "sglang-0.5.23-cp311-cp311-manylinux_2_34_x86_64.whl",
    "00b3cd5b265ac76c64185fbb6b95424f324ddd9f428d0306b77bc9db9d859937",
)
HALVED = Edit("target_u = coin_final * norm_sum", "target_u = 0.5 * coin_final * norm_sum")


def _interpreted() -> dict[str, dict[str, object]]:
    interpreted_triton()
    return {}


def _engine(name: str, rule: str) -> Engine:
    how = Bisected(partial(kernel_of, block=rule == "block"), _interpreted)
    return Engine(name, ARCHIVE, f"{MODULE}:chain_speculative_sampling_triton", how, HALVED, rule, most=2, slow=True)


ENGINES = (_engine("SGLang", "chain"), _engine("SGLang block", "block"))
