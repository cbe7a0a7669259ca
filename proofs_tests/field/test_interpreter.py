"""Under `language_once` Triton's interpreter computes what it does by itself, with less work, and leaves no trace."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any
from unittest import mock

import pytest

torch = pytest.importorskip("torch")
pytest.importorskip("triton", reason="triton is not installed; make test-engines runs these tests")

import triton  # noqa: E402
import triton.language as tl  # noqa: E402
from triton.runtime import interpreter  # noqa: E402

from spec_math.field.source_file import EngineError, language_once  # noqa: E402

pytestmark = [
    pytest.mark.skipif(not triton.knobs.runtime.interpret, reason="kernels run on a CPU under TRITON_INTERPRET=1 only"),
    pytest.mark.filterwarnings("ignore:Conversion of an array with ndim:DeprecationWarning"),
]


@triton.jit
def _softmax(x):
    masses = tl.exp(x - tl.max(x, axis=0))
    return masses / tl.sum(masses, axis=0)


@triton.jit
def _kernel(values, sums, tokens, size, TILE: tl.constexpr):
    row = tl.program_id(0)
    at = tl.arange(0, TILE)
    x = tl.load(values + row * size + at, mask=at < size, other=float("-inf"))
    running = tl.cumsum(_softmax(x.to(tl.float32)), axis=0)
    tl.store(sums + row * size + at, running, mask=at < size)
    tl.store(tokens + row, tl.argmax(x, axis=0).to(tl.int64))


def launched(dtype: Any) -> tuple[Any, Any]:
    torch.manual_seed(0)
    values = torch.randn(5, 7).to(dtype)
    sums, tokens = torch.zeros(5, 7), torch.zeros(5, dtype=torch.int64)
    _kernel[(5,)](values, sums, tokens, 7, TILE=8)
    return sums, tokens


def language() -> dict[tuple[str, str], Any]:
    places = (tl, tl.core, tl.math, tl.tensor, tl.dtype, tl.core.tensor_descriptor_base)
    return {(place.__name__, name): getattr(place, name) for place in places for name in dir(place)}


@pytest.mark.parametrize("dtype", [torch.float64, torch.float32, torch.float16, torch.bfloat16], ids=str)
def test_kernels_compute_the_same(dtype: Any) -> None:
    with language_once():  # first, as the interpreter by itself leaves some of the language in place
        found = [launched(dtype), launched(dtype)]
    sums, tokens = launched(dtype)
    for one in found:
        assert torch.equal(one[0], sums)
        assert torch.equal(one[1], tokens)
    assert len(set(tokens.tolist())) > 1


def test_the_language_is_put_in_place_once_for_all_launches() -> None:
    """A kernel and the functions that it calls see the language's two modules; by itself it is once a call."""
    with mock.patch.object(interpreter, "_patch_lang", wraps=interpreter._patch_lang) as put_in_place:
        with language_once():
            launched(torch.float32)
            launched(torch.float32)
        assert 1 <= put_in_place.call_count <= 2
        launched(torch.float32)
        assert put_in_place.call_count > 5 * 3


def test_the_language_is_restored_also_after_an_error() -> None:
    before, functions = language(), dict(vars(interpreter))
    with language_once():
        launched(torch.float32)
        assert language() != before
    assert language() == before
    with pytest.raises(ZeroDivisionError), language_once():
        launched(torch.float32)
        raise ZeroDivisionError
    assert language() == before
    assert dict(vars(interpreter)) == functions


@pytest.mark.parametrize("name", ["_patch_lang", "_get_np_dtype"])
def test_another_version_of_triton_is_left_alone(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delattr(interpreter, name)
    before = dict(vars(interpreter))
    with language_once():
        assert dict(vars(interpreter)) == before


def test_without_the_interpreter_it_is_told() -> None:
    with (
        mock.patch.object(triton, "knobs", SimpleNamespace(runtime=SimpleNamespace(interpret=False))),
        pytest.raises(EngineError, match="without its interpreter"),
        language_once(),
    ):
        pass
