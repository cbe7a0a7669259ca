"""What vLLM's verification files need of their own package to run alone, under Triton's interpreter."""

from __future__ import annotations

import inspect
import logging
from collections.abc import Callable
from types import SimpleNamespace
from typing import Any

import numpy as np

from torch_bridge.engines.source_file import interpreted_triton


def parts() -> dict[str, dict[str, Any]]:
    """Return, by module, the names that stand in: Triton, a logger, and the launcher of kernels."""
    triton = interpreted_triton()
    language = triton.language

    def log1p(x: Any) -> Any:
        return tensor(language, np.log1p(x.handle.data), x.dtype)

    return {
        "vllm.triton_utils": {
            "triton": triton,
            "tl": language,
            "tldevice": SimpleNamespace(log1p=log1p),
            "HAS_TRITON": True,
        },
        "vllm.logger": {"init_logger": logging.getLogger},
        "vllm.model_executor.warmup.jit_warmup_triton_helper": {
            "triton_kernel_dispatcher_with_warmup": _dispatcher,
        },
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
