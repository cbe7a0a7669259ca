"""Randomness of torch that is not seen: scripted functions, threads, seeds of entropy, the explorer without torch."""

from __future__ import annotations

import random
import warnings
from collections.abc import Callable
from typing import Any

import pytest

from proofs_tests.soundness.unseen_sources import PAIR, in_a_thread, leaky, right
from spec_math.audit import check_sampler
from spec_math.verdict import Lossless, Lossy, Reason, Undecided

torch: Any = pytest.importorskip("torch")
pytest.importorskip("array_api_compat")

from torch_bridge.subject import check_sampler as check_with_torch  # noqa: E402

Check = Callable[..., Any]


def _script(function: Any) -> Any:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)
        return torch.jit.script(function)


@_script
def _scripted(size: int):
    return torch.rand(size)


@_script
def _kernel(u, chance):
    return u < chance


class _Module(torch.nn.Module):
    def forward(self, x):
        """Add noise."""
        return x + torch.rand(1)


_MODULE = _script(_Module())
_GENERATOR = torch.Generator().manual_seed(3)
_HELD = [torch.Generator().manual_seed(3)]

REFUSED: dict[str, Callable[[], Any]] = {
    "a scripted function": lambda: _scripted(1).item(),
    "a scripted module": lambda: _MODULE(torch.zeros(1)).item(),
    "a thread": in_a_thread(lambda: torch.rand(1).item()),
    "a function that is not followed": lambda: torch.empty(1).random_(1000).item() / 1000,
    "torch.seed": lambda: torch.seed() % 1000 / 1000,
    "a generator's seed": lambda: torch.Generator().seed() % 1000 / 1000,
    "the seed of a generator made before": lambda: _GENERATOR.seed() % 1000 / 1000,
    "the default generator's seed": lambda: torch.default_generator.seed() % 1000 / 1000,
}
FOLLOWED: dict[str, Callable[[], Any]] = {
    "torch.rand": lambda: torch.rand(1).item(),
    "a generator made before": lambda: torch.rand(1, generator=_GENERATOR).item(),
    "a generator in a list": lambda: torch.rand(1, generator=_HELD[0]).item(),
    "a generator made inside": lambda: torch.rand(1, generator=torch.Generator()).item(),
}


def left_open(found: Any) -> bool:
    return isinstance(found, Undecided) and found.reason is Reason.RANDOMNESS_NOT_SEEN


@pytest.mark.parametrize("name", REFUSED)
@pytest.mark.parametrize("made", [right, leaky])
@pytest.mark.parametrize("check", [check_sampler, check_with_torch])
def test_torch_s_unseen_draws_are_left_open(name: str, made: Any, check: Check) -> None:
    assert left_open(check(made(REFUSED[name]), *PAIR, numbers="float64"))


@pytest.mark.parametrize("name", FOLLOWED)
def test_torch_s_draws_are_followed_with_its_source_and_left_open_without(name: str) -> None:
    assert isinstance(check_with_torch(right(FOLLOWED[name]), *PAIR, numbers="float64"), Lossless)
    assert isinstance(check_with_torch(leaky(FOLLOWED[name]), *PAIR, numbers="float64"), Lossy)
    for made in (right, leaky):
        assert left_open(check_sampler(made(FOLLOWED[name]), *PAIR, numbers="float64"))


@pytest.mark.parametrize("check", [check_sampler, check_with_torch])
def test_kernels_that_draw_nothing_are_judged(check: Check) -> None:
    def by_kernel(target: Any, _draft: Any) -> int:
        u = 0.2 if random.random() < float(target[0]) else 0.7
        product = torch.ones(300, 300) @ torch.ones(300, 300)  # on torch's own threads
        return int(not _kernel(torch.tensor(u), torch.tensor(0.5))) + int(product[0, 0] - 300)

    assert isinstance(check(by_kernel, *PAIR, numbers="float64"), Lossless)
    assert isinstance(check(lambda target, draft: by_kernel(target[::-1], draft), *PAIR, numbers="float64"), Lossy)
