"""What torch code does on ordinary numbers, it does while it is explored, or is refused: torch's functions in a table.

Before, a draw that was told to write into `out` left there what torch happened to draw, and randint(1, high=3) drew 0.
"""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction as F  # noqa: N817
from itertools import permutations
from typing import Any

import numpy as np
import pytest

from spec_math.audit import ExploreError
from spec_math.audit import explore as explore_numpy

torch: Any = pytest.importorskip("torch")

from spec_math.field import stand_ins  # noqa: E402
from torch_bridge.randomness.source import explore  # noqa: E402

Case = Callable[[], Any]
D = torch.float64
P = torch.tensor([0.25, 0.25, 0.5], dtype=D)
C = P.cumsum(0)
QUARTER = {1: F(1, 4), 0: F(3, 4)}
BY_P = {0: F(1, 4), 1: F(1, 4), 2: F(1, 2)}
PAIRS = {(a, b): F(1, 6) for a, b in permutations(range(3), 2)}
ORDERS = {order: F(1, 6) for order in permutations(range(3))}


def u(*size: int, dtype: Any = D) -> Any:
    return torch.rand(*(size or (1,)), dtype=dtype)


def token(many: int = 1, replacement: bool = False) -> Any:
    return torch.multinomial(P, many, replacement)


def shown(found: Any) -> Any:
    if not isinstance(found, torch.Tensor):
        return found
    listed = [int(one) for one in found.reshape(-1)]
    return listed[0] if len(listed) == 1 else tuple(listed)


def into(draw: Callable[[Any], Any], dtype: Any, size: int = 1) -> Any:
    buffer = torch.zeros(size, dtype=dtype)
    draw(buffer)
    return buffer


def in_a_view() -> Any:
    whole = torch.zeros(2, dtype=D)
    whole[:1].uniform_()
    return whole[0] < 0.25


def through_a_view() -> Any:
    whole = u(2)
    whole[:1].mul_(0.5)
    return whole[0] < 0.125


def token_in_a_buffer() -> Any:
    buffer = torch.full((3,), -1)
    buffer[0:1] = token()
    return buffer[0]


def as_an_index(one: Any) -> int:
    return (0, 1, 2)[one]


def token_added_to() -> Any:
    one = token()
    seen = one.view(1, 1)
    one.add_(1)
    return seen[0, 0] - 1


def through_autograd() -> Any:
    weight = torch.ones(1, dtype=D, requires_grad=True)
    (weight * u()).sum().backward()
    return weight.grad < 0.25


FOLLOWED: dict[str, tuple[Case, dict[Any, Any]]] = {
    "rand": (lambda: u() < 0.25, QUARTER),
    "rand into": (lambda: into(lambda b: torch.rand(1, out=b), torch.float32) < 0.25, QUARTER),
    "rand_like of a type": (lambda: torch.rand_like(P, dtype=torch.float32)[0] < 0.25, QUARTER),
    "rand of half precision": (lambda: u(dtype=torch.bfloat16) < 0.25, QUARTER),
    "uniform_ by name": (lambda: torch.empty(1).uniform_(**{"from": 1, "to": 5}) < 2, QUARTER),
    "uniform_ to": (lambda: torch.empty(1).uniform_(to=4) < 1, QUARTER),
    "uniform_ in a view": (in_a_view, QUARTER),
    "mul_ in a view": (through_a_view, QUARTER),
    "data": (lambda: u().data < 0.25, QUARTER),
    "a parameter": (lambda: torch.nn.Parameter(u()) < 0.25, QUARTER),
    "bernoulli of p": (lambda: torch.bernoulli(torch.zeros(1), p=0.25), QUARTER),
    "bernoulli into": (lambda: into(lambda b: torch.bernoulli(torch.tensor([0.25]), out=b), torch.float32), QUARTER),
    "bernoulli_ of chances": (lambda: torch.zeros(1).bernoulli_(torch.tensor([0.25])), QUARTER),
    "bernoulli_ of bool": (lambda: torch.zeros(1, dtype=torch.bool).bernoulli_(0.25), QUARTER),
    "randint": (lambda: torch.randint(4, (1,)), dict.fromkeys(range(4), F(1, 4))),
    "randint by names": (lambda: torch.randint(low=1, high=3, size=(1,)), {1: F(1, 2), 2: F(1, 2)}),
    "randint by half a name": (lambda: torch.randint(1, high=3, size=(1,)), {1: F(1, 2), 2: F(1, 2)}),
    "randint of bytes": (lambda: torch.randint(0, 2, (1,), dtype=torch.uint8) - 1, {255: F(1, 2), 0: F(1, 2)}),
    "randint into": (lambda: into(lambda b: torch.randint(2, (1,), out=b), torch.int64), {0: F(1, 2), 1: F(1, 2)}),
    "randperm": (lambda: torch.randperm(3), ORDERS),
    "randperm into": (lambda: into(lambda b: torch.randperm(3, out=b), torch.int64, 3), ORDERS),
    "multinomial": (lambda: token(), BY_P),
    "multinomial into": (lambda: into(lambda b: torch.multinomial(P, 1, out=b), torch.int64), BY_P),
    "multinomial of weights": (lambda: torch.multinomial(P * 8, 1), BY_P),
    "multinomial of even weights, twice": (lambda: torch.multinomial(torch.ones(3), 2), PAIRS),
    "with replacement": (
        lambda: torch.multinomial(input=torch.ones(2), num_samples=2, replacement=True),
        dict.fromkeys([(a, b) for a in range(2) for b in range(2)], F(1, 4)),
    ),
    "in rows": (
        lambda: torch.multinomial(torch.tensor([[1.0, 0.0], [1.0, 1.0]]), 1),
        {(0, 0): F(1, 2), (0, 1): F(1, 2)},
    ),
    "a token in a buffer": (token_in_a_buffer, BY_P),
    "a token that is added to": (token_added_to, BY_P),
    "a token in NumPy": (lambda: int(token().numpy()[0]), BY_P),
    "a token as an index": (lambda: as_an_index(token()), BY_P),
    "a token in a pattern": (lambda: torch.nn.functional.one_hot(token(), 3).argmax(), BY_P),
    "a token that is scattered by": (lambda: torch.zeros(3).scatter_(0, token(), 1.0).argmax(), BY_P),
    "a token that is filled in": (lambda: torch.zeros(1).fill_(token()[0]), BY_P),
    "a token that is padded": (lambda: torch.nn.functional.pad(token(), (0, 1), value=-1)[0], BY_P),
    "the bits of a token": (lambda: token().view(dtype=torch.int32)[0], BY_P),
    "a token beside a float": (lambda: torch.where(torch.tensor([True]), token(), 0.5), BY_P),
    "a token or a float by name": (lambda: torch.where(torch.tensor([True]), token(), other=0.5), BY_P),
    "a token joined into floats": (lambda: into(lambda b: torch.cat([token()], out=b), torch.float64), BY_P),
    "a token joined into bytes": (lambda: into(lambda b: torch.cat([token()], out=b), torch.uint8), BY_P),
    "a token equals itself": (lambda: (lambda one: one == one)(token()), {1: F(1)}),
    "searchsorted": (lambda: torch.searchsorted(C, u(), side="right"), BY_P),
    "searchsorted by names": (lambda: torch.searchsorted(sorted_sequence=C, input=u()), BY_P),
    "bucketize": (lambda: torch.bucketize(u(), C, right=True), BY_P),
    "argmax of sums": (lambda: (u() < C).int().argmax(), BY_P),
    "ties of topk": (lambda: (u(2) > 0.5).int().argmax(), {0: F(3, 4), 1: F(1, 4)}),
    "exponential_ by name": (lambda: (P / torch.empty(3, dtype=D).exponential_(lambd=2)).argmax(), BY_P),
    "max along": (lambda: (P / torch.empty(3, dtype=D).exponential_()).max(dim=-1, keepdim=True).indices, BY_P),
    "topk by names": (lambda: torch.topk(torch.empty(3, dtype=D).exponential_(), k=2, dim=0, largest=False)[1], PAIRS),
    "sort by names": (
        lambda: torch.sort(torch.ones(3) / torch.empty(3).exponential_(), stable=True, descending=True)[1],
        ORDERS,
    ),
    "u ** (1 / w)": (lambda: u(3).pow_(1 / P).argmax(), BY_P),
    "Categorical": (lambda: torch.distributions.Categorical(P).sample(), BY_P),
    "Categorical of a shape": (
        lambda: torch.distributions.Categorical(torch.ones(2)).sample((2,)),
        dict.fromkeys([(a, b) for a in range(2) for b in range(2)], F(1, 4)),
    ),
    "Bernoulli": (lambda: torch.distributions.Bernoulli(torch.tensor(0.25)).sample(), QUARTER),
    "Uniform": (lambda: torch.distributions.Uniform(1.0, 5.0).sample() < 2, QUARTER),
    "OneHotCategorical": (lambda: torch.distributions.OneHotCategorical(P).sample().argmax(), BY_P),
}
"""The function, and its law by hand."""


@pytest.mark.parametrize("name", FOLLOWED)
def test_what_is_followed_has_its_law(name: str) -> None:
    use, law = FOLLOWED[name]
    found = explore(lambda: shown(use()))
    assert isinstance(found, dict)
    assert {one: float(mass) for one, mass in found.items()} == {one: float(mass) for one, mass in law.items()}


REFUSED: dict[str, Case] = {
    "int": lambda: (u() * 3).int(),
    "to": lambda: (u() * 3).to(torch.int64),
    "floor": lambda: (u() * 3).floor(),
    "round": lambda: (u() * 3).round(),
    "numpy": lambda: u().numpy()[0] < 0.25,
    "set data": lambda: setattr(torch.zeros(1, dtype=D), "data", u()) or 0,
    "sigmoid": lambda: u().sigmoid() < 0.6,
    "abs": lambda: (u() - 0.5).abs() < 0.25,
    "sum": lambda: u(2).sum() < 1,
    "sort": lambda: u(2).sort().indices,
    "maximum": lambda: torch.maximum(u(), u()) < 0.5,
    "into a tensor": lambda: torch.searchsorted(C, u(), out=torch.zeros(1, dtype=torch.int64)),
    "searchsorted among": lambda: torch.searchsorted(u(), 0.25),
    "searchsorted by a sorter": lambda: torch.searchsorted(C.flip(0), u(), sorter=torch.tensor([2, 1, 0])),
    "add with alpha": lambda: torch.add(P.log(), torch.empty(3, dtype=D).exponential_().log(), alpha=-1).argmax(),
    "gumbel_softmax": lambda: torch.nn.functional.gumbel_softmax(P.log()).argmax(),
    "randn": lambda: torch.randn(1) < 0,
    "normal_": lambda: torch.zeros(1).normal_() < 0,
    "geometric_": lambda: torch.zeros(1).geometric_(0.5),
    "random_": lambda: torch.zeros(1).random_(3),
    "dropout": lambda: torch.nn.functional.dropout(torch.ones(1), 0.25),
    "a module's weights": lambda: torch.nn.init.uniform_(torch.zeros(1)) < 0.25,
    "Normal": lambda: torch.distributions.Normal(0.0, 1.0).sample() < 0,
    "Gamma": lambda: torch.distributions.Gamma(1.0, 1.0).sample() < 1,
    "autograd": through_autograd,
    "its type": lambda: isinstance(u().item(), float),
    "its text": lambda: str(u().item()) < "0.5",
}


@pytest.mark.parametrize("name", REFUSED)
def test_what_is_not_followed_is_refused(name: str) -> None:
    with pytest.raises(ExploreError):
        explore(lambda: shown(REFUSED[name]()))


@pytest.mark.parametrize(
    "weights", [[-0.5, 1.5], [float("nan"), 1.0], [float("inf"), 1.0], [0.0, 0.0]], ids=["-", "nan", "inf", "0"]
)
def test_weights_that_torch_refuses_are_refused_alike(weights: list[float]) -> None:
    with pytest.raises(RuntimeError, match=r"probability tensor|invalid multinomial"):
        explore(lambda: shown(torch.multinomial(torch.tensor(weights), 1)))


def test_a_key_of_jax_keeps_to_one_shape_and_its_bounds() -> None:
    assert explore_numpy(lambda: bool(stand_ins.uniform((1,), (1,), minval=1.0, maxval=5.0)[0] < 2)) == {
        True: F(1, 4),
        False: F(3, 4),
    }
    same = explore_numpy(
        lambda: bool(stand_ins.uniform((1,), (2,))[0] < 0.5) == bool(stand_ins.uniform((1,), (2,))[0] < 0.5)
    )
    assert same == {True: F(1)}
    with pytest.raises(ExploreError, match="drawn from twice"):
        explore_numpy(
            lambda: bool(stand_ins.uniform((1,), (2,))[0] < 0.5) == bool(stand_ins.uniform((1,), (3,))[0] < 0.5)
        )


def test_what_jax_leaves_out_is_left_out() -> None:
    assert stand_ins.one_hot(np.array([-1, 3]), 3).sum() == 0
    assert stand_ins.segment_min(np.array([1, 2, 3]), np.array([-1, 0, 2]), 2).tolist() == [2, 2**31 - 1]
    assert stand_ins.repeat(np.eye(2), 2, axis=0).shape == (4, 2)
    with pytest.raises(TypeError, match="whole numbers alone"):
        stand_ins.segment_min(np.array([0.5]), np.array([0]), 1)
