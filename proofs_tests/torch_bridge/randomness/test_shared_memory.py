"""Tokens that nobody has looked at, in memory that is read or written unseen: they have their law, or are refused.

Before, the number that names a draw was read there: a token came out as -4611686018427387904, or as less than 0.
"""

from __future__ import annotations

import ctypes
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from spec_math.audit import ExploreError
from spec_math.pathwise import followed

torch: Any = pytest.importorskip("torch")

import torch_bridge  # noqa: E402
from spec_math.verdict import Lossless, Lossy  # noqa: E402
from torch_bridge.randomness.source import explore  # noqa: E402
from torch_bridge.randomness.tokens import FIRST, Later  # noqa: E402

P = torch.tensor([0.25, 0.75], dtype=torch.float64)
LAW = {0: 0.25, 1: 0.75}
Write = Callable[[Any], Any]


def token() -> Any:
    return torch.multinomial(P, 1)


def zeros() -> Any:
    return torch.zeros(1, dtype=torch.int64)


def written(tensor: Any) -> None:
    tensor[0] = token()[0]


WRITES: dict[str, Write] = {
    "copied": lambda z: z.copy_(token()),
    "set": written,
    "set in a view": lambda z: written(z.view(1, 1)[0]),
    "drawn out": lambda z: torch.multinomial(P, 1, out=z),
    "gathered out": lambda z: torch.gather(token(), 0, torch.tensor([0]), out=z),
    "filled": lambda z: z.fill_(token()[0]),
    "by its operator": lambda z: torch.ops.aten.copy_.default(z, token()),
}


def of_an_array(write: Write) -> int:
    array = np.zeros(1, np.int64)
    write(torch.from_numpy(array))
    return int(array[0])


def of_bytes(write: Write) -> int:
    held = bytearray(8)
    write(torch.frombuffer(held, dtype=torch.int64))
    return held[0]


def shown(share: Callable[[Any], Any], read: Callable[[Any], int]) -> Callable[[Write], int]:
    def use(write: Write) -> int:
        tensor = zeros()
        seen = share(tensor)
        write(tensor)
        return read(seen)

    return use


SHARES: dict[str, Callable[[Write], int]] = {
    "from_numpy": of_an_array,
    "frombuffer": of_bytes,
    "numpy()": shown(lambda z: z.numpy(), lambda seen: int(seen[0])),
    "asarray": shown(np.asarray, lambda seen: int(seen[0])),
    "dlpack": shown(np.from_dlpack, lambda seen: int(seen[0])),
    "storage": shown(lambda z: z.untyped_storage(), lambda seen: int(seen[0])),
    "address": shown(lambda z: ctypes.c_int64.from_address(z.data_ptr()), lambda seen: seen.value),
}


@pytest.mark.parametrize("share", SHARES)
def test_a_token_in_memory_that_others_read_has_its_law(share: str) -> None:
    assert explore(lambda: SHARES[share](WRITES["copied"])) == LAW


@pytest.mark.parametrize("write", WRITES)
def test_a_token_has_its_law_however_it_is_written_there(write: str) -> None:
    assert explore(lambda: of_an_array(WRITES[write])) == LAW


def shared_then_changed() -> int:
    one = token()
    array = one.numpy()
    one.add_(1)
    return int(array[0]) - 1


def changed_in_a_list() -> int:
    one = token()
    torch._foreach_add_([one], 1)
    return int(one) - 1


def drawn_over() -> int:
    one = torch.multinomial(P.flip(0), 1)
    torch.multinomial(P, 1, out=one)
    return int(one)


@pytest.mark.parametrize("use", [shared_then_changed, changed_in_a_list, drawn_over])
def test_a_token_that_is_drawn_in_its_memory_is_so_for_all_who_share_it(use: Callable[[], int]) -> None:
    """Before: the array kept what was read, a list could not be written to, and the first draw was not written over."""
    assert explore(use) == LAW


def unseen(tensor: Any) -> Any:
    with torch._C.DisableTorchFunction():
        return tensor.item()


@pytest.mark.parametrize("draw", [token, lambda: torch.rand(1)], ids=["a token", "a uniform"])
def test_calls_that_are_not_seen_are_refused(draw: Callable[[], Any]) -> None:
    with pytest.raises(ExploreError, match="DisableTorchFunction"):
        explore(lambda: unseen(draw()) < 0.5)
    assert unseen(torch.ones(1)) == 1  # and afterwards torch is as it was


def right(target: Any, draft: Any) -> int:  # noqa: ARG001
    array = np.zeros(1, np.int64)
    torch.from_numpy(array).copy_(torch.multinomial(target, 1))
    return 1 if array[0] > 0 else 0


def wrong(target: Any, draft: Any) -> int:
    return right(draft, target)


def test_samplers_that_draw_into_arrays_are_judged_by_their_law() -> None:
    """Before, the right one was Lossy at every target, and Lossless where the target is token 0 alone."""
    laws = ["1/4", "3/4"], ["1/2", "1/2"]
    assert isinstance(torch_bridge.check_sampler(right, *laws), Lossless)
    assert isinstance(torch_bridge.check_sampler(wrong, *laws), Lossy)
    assert isinstance(torch_bridge.check_sampler(wrong, ["1", "0"], ["1/2", "1/2"]), Lossy)


def _never(*_: Any) -> bool:
    return False


def _none(*_: Any) -> None:
    return None


def test_ordinary_numbers_find_a_token_that_got_out(monkeypatch: pytest.MonkeyPatch) -> None:
    """The control: where nobody looks whether memory is shared, ordinary numbers do, and without them the name is read.

    Before, ordinary numbers met the same name, since their tokens waited too.
    """
    monkeypatch.setattr(Later, "_is_shared", _never)
    with pytest.raises(ExploreError, match="on ordinary numbers"):
        explore(lambda: of_an_array(WRITES["copied"]))
    monkeypatch.setattr(followed, "numbers_for", _none)
    assert explore(lambda: of_an_array(WRITES["copied"])) == {FIRST: 1}
