"""vLLM's rejection sampler of its first model runner: its uniforms and exponentials are injected."""

from __future__ import annotations

import inspect
import logging
from collections.abc import Callable, Generator
from contextlib import contextmanager
from fractions import Fraction
from functools import partial
from types import ModuleType, SimpleNamespace
from typing import Any
from unittest import mock

import numpy as np
import torch
from numpy.typing import NDArray

from spec_math.field.chain_kernel import TOKEN, Kernel, Requests, Text, Whole, cuts_by_kind, expected
from spec_math.field.engine import Bisected, Edit, Engine, Repository
from spec_math.field.source_file import EngineError, interpreted_triton, language_once

GRID = 2**53
"""torch.rand in float64, which the engine calls, gives k/2^53."""

MODULE = "vllm.v1.sample.rejection_sampler"

LEAST = int(np.float32(2.0**-60).view(np.int32))
NOISES = int(np.float32(2.0).view(np.int32)) - LEAST
"""Exponentials are injected as the float32 numbers from 2^-60 to 2, counted by their bit patterns."""

NEVER = 2.0**100
"""An exponential so late that its token loses the race to any other that has mass."""


def kernel_of(module: ModuleType, *, one_hot: bool = False) -> Kernel:
    """Return the sampler of a loaded module as a function of its coins; without a law of the draft where `one_hot`."""

    def emit(requests: Requests, coins: Whole, noise: NDArray[np.float32] | None = None) -> list[Text]:
        many, _, size = requests.targets.shape
        exponentials = np.ones((many, size), dtype=np.float32) if noise is None else noise
        return launch(module, requests, coins, exponentials, one_hot=one_hot)

    def following(requests: Requests, coins: Whole, number: Whole) -> list[list[Fraction]]:
        bonus = number == requests.tokens.shape[1]
        weights = np.array(requests.targets[:, -1])
        if (rejected := np.flatnonzero(~bonus)).size:
            weights[rejected] = _raced(emit, requests.take(rejected), coins[rejected], number[rejected])
        return [[Fraction(weight) for weight in row] for row in weights.tolist()]

    return Kernel(TOKEN, GRID, emit, following)


def _raced(emit: Any, requests: Requests, coins: Whole, number: Whole) -> NDArray[np.float64]:
    """Return the weights [R, V] of the tokens that race after a rejection, relative to the largest, by bisection."""
    many, _, size = requests.targets.shape
    first = np.array([text[-1] for text in emit(requests, coins)])
    request, token = np.divmod(np.arange(many * size), size)
    others = np.flatnonzero(token != first[request])
    request, token = request[others], token[others]

    def below(rows: Whole, k: Whole) -> NDArray[np.bool_]:
        noise = np.full((len(rows), size), NEVER, dtype=np.float32)
        at = np.arange(len(rows))
        noise[at, first[request[rows]]] = 1
        noise[at, token[rows]] = (LEAST + k).astype(np.int32).view(np.float32)
        texts = emit(requests.take(request[rows]), coins[request[rows]], noise)
        return np.array([text[-1] for text in texts]) == token[rows]

    masses = expected(TOKEN, requests, coins, GRID).masses
    ratios = masses[request, token] / masses[request, first[request]].clip(2.0**-60)
    guesses = ratios.clip(2.0**-60, 1).astype(np.float32).view(np.int32).astype(np.int64) - LEAST
    kinds = (number[request] * size + first[request]) * size + token
    found = cuts_by_kind(below, guesses, NOISES, kinds)
    weights = np.zeros((many, size))
    weights[np.arange(many), first] = 1
    weights[request, token] = np.where(found > 0, (LEAST + found - 1).astype(np.int32).view(np.float32), 0)
    return weights


def launch(
    module: ModuleType, requests: Requests, coins: Whole, exponentials: NDArray[np.float32], *, one_hot: bool
) -> list[Text]:
    """Run the engine's function once on uniforms coins/2^53 [R, L] and exponentials [R, V]; return what is emitted.

    The bonus token is V, which no rejection can draw; it must come out behind all drafted tokens or not at all.
    """
    many, lookahead = requests.tokens.shape
    size = requests.targets.shape[-1]
    with np.errstate(divide="ignore"):
        logits = torch.tensor(np.log(requests.targets[:, :-1]), dtype=torch.float32).view(-1, size)
    reported = torch.tensor(requests.drafts, dtype=torch.float32).view(-1, size)
    metadata = SimpleNamespace(all_greedy=False, all_random=True, temperature=torch.ones(many), generators={})
    with language_once(), _injected(torch.from_numpy(coins / GRID).reshape(-1), torch.from_numpy(exponentials)):
        emitted = module.rejection_sample(
            torch.tensor(requests.tokens, dtype=torch.int32).reshape(-1),
            [lookahead] * many,
            lookahead,
            torch.arange(1, many + 1, dtype=torch.int32) * lookahead,
            None if one_hot else reported,
            logits,
            torch.full((many, 1), size, dtype=torch.int64),
            metadata,
        )
    texts: list[Text] = [tuple(token for token in row if token >= 0) for row in emitted.tolist()]
    if any((text[-1:] == (size,)) != (len(text) == lookahead + 1) for text in texts):
        raise EngineError("the bonus token was emitted after a rejection, or another in its place")
    return texts


@contextmanager
def _injected(uniforms: torch.Tensor, exponentials: torch.Tensor) -> Generator[None]:
    """Put numbers in place of those that the engine draws: torch.rand's, and those of one exponential_ of [R, V]."""

    def rand(shape: Any, **named: Any) -> torch.Tensor:
        if tuple(shape) != tuple(uniforms.shape) or named.get("dtype") != torch.float64:
            raise EngineError(f"the engine drew {tuple(shape)} uniforms of {named.get('dtype')}, not {uniforms.shape}")
        return uniforms.clone()

    def exponential(noise: torch.Tensor, **_: Any) -> torch.Tensor:
        if noise.shape != exponentials.shape:
            raise EngineError(f"the engine drew {tuple(noise.shape)} exponentials, not {tuple(exponentials.shape)}")
        return noise.copy_(exponentials)

    with mock.patch.object(torch, "rand", rand), mock.patch.object(torch.Tensor, "exponential_", exponential):
        yield


def parts() -> dict[str, dict[str, Any]]:
    """Return, by module, the names that stand in: Triton, a logger, and the launcher of kernels."""
    triton = interpreted_triton()
    language = triton.language

    def log1p(x: Any) -> Any:
        return tensor(language, np.log1p(x.handle.data), x.dtype)

    units = {"triton": triton, "tl": language, "tldevice": SimpleNamespace(log1p=log1p), "HAS_TRITON": True}
    return {
        "vllm.triton_utils": units,
        "vllm.logger": {"init_logger": logging.getLogger},
        "vllm.model_executor.warmup.jit_warmup_triton_helper": {"triton_kernel_dispatcher_with_warmup": _dispatcher},
    }


def tensor(language: Any, values: Any, kind: Any) -> Any:
    """Return NumPy values as a tensor of the interpreter, of a scalar type such as `language.float32`."""
    from triton.runtime.interpreter import TensorHandle

    data = np.asarray(values)
    typed = language.block_type(kind, list(data.shape)) if data.ndim and not kind.is_block() else kind
    return language.core.tensor(TensorHandle(np.atleast_1d(data), kind.scalar), typed)


def _dispatcher(kernel: Any, warmup_inputs: Any = None) -> Callable[[Callable[..., Any]], Callable[..., Any]]:  # noqa: ARG001
    """Stand in for the decorator that launches a kernel: arguments go by name, `_ptr` marking the kernel's pointers."""

    def decorated(grid_and_constants: Callable[..., Any]) -> Callable[..., Any]:
        signature = inspect.signature(grid_and_constants)

        def launch(*args: Any, **named: Any) -> None:
            grid, constants = grid_and_constants(*args, **named)
            bound = {**signature.bind(*args, **named).arguments, **constants}
            kernel[grid](**{name: bound.get(name, bound.get(name.removesuffix("_ptr"))) for name in kernel.arg_names})

        return launch

    return decorated


VLLM = Repository("vllm-project/vllm")
RESIDUAL = Edit("prob = tl.maximum(target_prob - draft_prob, 0.0)", "prob = target_prob")


def _engine(name: str, rule: str, control: Edit) -> Engine:
    told = rule == "one-hot"
    how = Bisected(partial(kernel_of, one_hot=told), parts, (), told)
    return Engine(name, VLLM, f"{MODULE}:rejection_sample", how, control, rule, most=2, slow=True)


ENGINES = (
    _engine("vLLM", "chain", RESIDUAL),
    _engine("vLLM one-hot", "one-hot", Edit(">= uniform_prob", ">= 0.0 * uniform_prob")),
)
