"""Table models have the same law after a text, handed over whole, by a cache that was cut, or by places."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

torch = pytest.importorskip("torch", reason="torch is an optional extra")

from spec_math.audit import explore  # noqa: E402
from torch_bridge.randomness.source import torch_source  # noqa: E402
from torch_bridge.toy_models import TableModel  # noqa: E402

PROMPT = (1, 0, 1)
TEXT = (0, 1, 1)


def law(text: tuple[int, ...]) -> list[float]:
    weight = 1 + sum((n + 1) * (2 * token + 1) for n, token in enumerate(text))
    return [1 / (weight + 1), weight / (weight + 1)]


def ids(*tokens: int) -> Any:
    return torch.tensor([tokens])


def whole(model: Any) -> Any:
    return model(ids(*PROMPT, *TEXT)).logits


def by_a_cache_that_is_cropped(model: Any) -> Any:
    cache = model(ids(*PROMPT, 1, 1)).past_key_values
    assert cache.get_seq_length() == 5
    cache.crop(3)
    return model(input_ids=ids(*TEXT), past_key_values=cache, use_cache=True).logits


def by_a_cache_cropped_from_its_end(model: Any) -> Any:
    cache = model(ids(*PROMPT, 1)).past_key_values
    cache.crop(-1)
    return model(ids(*TEXT), past_key_values=cache)[0]


def by_sliced_layers(model: Any) -> Any:
    layers = model(ids(*PROMPT, 0, 0)).past_key_values
    cut = tuple((key[:, :, :3, :], value[:, :, :3, :]) for key, value in layers)
    return model(ids(*TEXT), past_key_values=cut).logits


def by_a_tuple(model: Any) -> Any:
    model.form = "tuple"
    _, cache = model(ids(*PROMPT))
    logits, _ = model(ids(*TEXT), cache=cache)
    return logits


def by_places(model: Any) -> Any:
    model.form = "tensor"
    model(ids(*PROMPT, 1, 1), input_pos=torch.arange(5))  # what is written over later is forgotten
    return model(ids(*TEXT), input_pos=torch.arange(3, 6))


@pytest.mark.parametrize(
    "ask", [whole, by_a_cache_that_is_cropped, by_a_cache_cropped_from_its_end, by_sliced_layers, by_a_tuple, by_places]
)
def test_the_law_after_a_text_does_not_depend_on_how_it_is_handed_over(ask: Callable[[Any], Any]) -> None:
    found = ask(TableModel(law, PROMPT, dtype=torch.float64))[0, -3:].exp()
    wanted = torch.tensor([law(TEXT[: n + 1]) for n in range(3)], dtype=torch.float64)
    assert float((found - wanted).abs().max()) < 1e-15


def test_a_cache_that_is_cut_wrongly_shows() -> None:
    """The control: one token too many in the cache is another text."""
    model = TableModel(law, PROMPT, dtype=torch.float64)
    cache = model(ids(*PROMPT, 1)).past_key_values
    found = model(ids(*TEXT), past_key_values=cache).logits[0, -1].exp()
    assert abs(float(found[0]) - law(TEXT)[0]) > 0.01


def test_rows_before_the_text_are_not_its_law() -> None:
    found = TableModel(lambda _: [0.25, 0.75], PROMPT, dtype=torch.float64)(ids(*PROMPT)).logits[0].exp()
    assert found[:, 0].tolist() == pytest.approx([0.75, 0.75, 0.25], abs=1e-15)


def test_a_gap_between_places_is_an_error() -> None:
    with pytest.raises(ValueError, match="leaves a gap"):
        TableModel(law, PROMPT)(ids(0), input_pos=torch.tensor([7]))


def test_logits_that_a_caller_writes_over_are_fresh_in_the_next_call() -> None:
    for model in (TableModel(law, PROMPT, dtype=torch.float64), TableModel(law, PROMPT, "tensor", torch.float64)):
        first = model(ids(*TEXT))
        logits = first if isinstance(first, torch.Tensor) else first.logits
        kept = logits.clone()
        logits[:] = -torch.inf
        again = model(ids(*TEXT))
        assert torch.equal(again if isinstance(again, torch.Tensor) else again.logits, kept)


def test_torch_has_one_thread_while_it_is_followed_and_as_many_as_before_afterwards() -> None:
    before, seen = torch.get_num_threads(), list[int]()

    def coin() -> bool:
        seen.append(torch.get_num_threads())
        return bool(torch.rand(1) < 0.5)

    try:
        for many in (3, 1):
            torch.set_num_threads(many)
            assert explore(coin, sources=[torch_source])
            assert torch.get_num_threads() == many
    finally:
        torch.set_num_threads(before)
    assert set(seen) == {1}
