"""Tokens that nobody looks at do not fork, and those that somebody looks at, in whatever way, have their law."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

torch = pytest.importorskip("torch", reason="torch is an optional extra")

from spec_math import law  # noqa: E402
from spec_math.audit import Explored, Partial  # noqa: E402
from spec_math.block_level import chain  # noqa: E402
from spec_math.field.engine_law import token_bound, total_variation  # noqa: E402
from torch_bridge.randomness.source import explore  # noqa: E402
from torch_bridge.randomness.tokens import FIRST, Later  # noqa: E402

LAW = [0.125, 0.375, 0.5]
ROWS = 8

LOOKS: dict[str, Callable[[Any], Any]] = {
    "item": lambda token: token.item(),
    "int": lambda token: int(token),
    "list index": lambda token: [0, 1, 2][token],
    "tolist": lambda token: token.reshape(1).tolist()[0],
    "numpy": lambda token: int(token.numpy()),
    "as an array": lambda token: int(np.asarray(token)),
    "format": lambda token: int(f"{token}"),
    "comparison": lambda token: 0 if token == 0 else 1 if token < 2 else 2,
    "truth": lambda token: 0 if not token else int(token),
    "arithmetic": lambda token: int((token * 2 + 1).item() // 2),
    "added in place": lambda token: int(token.clone().add_(1)) - 1,
    "as an index": lambda token: int(torch.tensor([0, 1, 2])[token]),
    "gather by it": lambda token: int(torch.tensor([0, 1, 2]).gather(0, token.reshape(1))),
    "gathered": lambda token: int(torch.stack([token, token]).gather(0, torch.tensor([1]))),
    "one hot": lambda token: int(torch.nn.functional.one_hot(token, 3).argmax()),
    "a new tensor": lambda token: int(torch.tensor([token, 7])[0]),
    "a cast": lambda token: int(token.to(torch.int32)),
    "a float": lambda token: int(token.float()),
    "written": lambda token: int(_written(torch.zeros(3, dtype=torch.int64), token)),
    "written and cast": lambda token: int(_written(torch.zeros(3, dtype=torch.int32), token)),
    "copied and cast": lambda token: int(torch.zeros((), dtype=torch.int32).copy_(token)),
    "joined with floats": lambda token: int(torch.cat([token.reshape(1), torch.zeros(1)])[0]),
    "chosen beside floats": lambda token: int(torch.where(torch.tensor(True), token, torch.tensor(0.5))),
    "joined, reshaped, chosen": lambda token: int(
        torch.where(torch.tensor([True]), torch.cat([token.view(1, 1), token.view(1, 1)], 1)[0, 1:], torch.tensor([9]))
    ),
    "embedding": lambda token: int(torch.nn.functional.embedding(token, torch.eye(3)).argmax()),
    "sorted": lambda token: int(torch.stack([token, torch.tensor(5)]).sort().values[0]),
    "equal": lambda token: next(x for x in range(3) if torch.equal(token, torch.tensor(x))),
    "iteration": lambda token: int(next(iter(token.reshape(1)))),
    "deep in a list": lambda token: int(torch.stack([torch.stack([token])])[0, 0]),
    "by a keyword": lambda token: int(torch.gather(input=torch.tensor([0, 1, 2]), dim=0, index=token.reshape(1))),
    "as text of its tensor": lambda token: int(str(token.reshape(1)).strip("tensor([])")),
    "scatter by it": lambda token: int(torch.zeros(3).scatter_(0, token.reshape(1), 1.0).argmax()),
}


def _written(into: Any, token: Any) -> Any:
    into[1] = token
    return into[1]


@pytest.mark.parametrize("look", LOOKS.values(), ids=LOOKS)
def test_a_token_has_its_law_however_it_is_looked_at(look: Callable[[Any], Any]) -> None:
    def run() -> int:
        return look(torch.multinomial(torch.tensor(LAW), 1)[0])

    found = explore(run)
    assert dict(found) == dict(enumerate(LAW))
    assert found.paths == 3 or look is LOOKS["comparison"]


def test_a_name_of_a_draw_is_no_token() -> None:
    """The control: what the tensor really holds would be found in the outcome, were it not looked at."""
    later = Later()
    tokens = later.put([lambda: 2], torch.int64)
    assert tokens.tolist() == [FIRST]
    later.seen("tolist", (tokens,), {})
    assert tokens.tolist() == [2]


def eight_rows() -> int:
    for _ in range(ROWS):
        torch.multinomial(torch.tensor(LAW), 1)
    return int(torch.multinomial(torch.tensor(LAW), 1))


def one_of_a_batch() -> int:
    return int(torch.multinomial(torch.tensor([LAW] * (ROWS + 1)), 1).gather(0, torch.tensor([[4]])))


def one_race_of_a_batch() -> int:
    noise = torch.empty(ROWS + 1, 3).exponential_()
    return int((torch.tensor([LAW] * (ROWS + 1)) / noise).argmax(-1)[4])


@pytest.mark.parametrize("run", [eight_rows, one_of_a_batch, one_race_of_a_batch])
def test_eight_rows_that_are_not_used_cost_nothing(run: Callable[[], int]) -> None:
    found = explore(run)
    assert dict(found) == pytest.approx(dict(enumerate(LAW)), abs=1e-15)
    assert found.paths == len(LAW)


def test_a_token_that_is_looked_at_twice_is_one() -> None:
    def run() -> tuple[int, int]:
        token = torch.multinomial(torch.tensor(LAW), 1)
        copy = token.clone()
        return int(token), int(copy)

    assert set(explore(run)) == {(0, 0), (1, 1), (2, 2)}


def test_argmax_of_uniforms_to_the_power_of_reciprocal_masses_draws_by_mass() -> None:
    def run() -> int:
        return int((torch.rand(3, dtype=torch.float64) ** (1 / torch.tensor(LAW, dtype=torch.float64))).argmax())

    assert dict(explore(run)) == pytest.approx(dict(enumerate(LAW)), abs=1e-15)


def test_guards_that_almost_surely_do_nothing_are_followed() -> None:
    def run() -> int:
        noise = torch.empty(3).exponential_()
        safe = torch.where((noise == 0) | torch.isinf(noise) | torch.isnan(noise), 1e-10, noise)
        return int((torch.tensor(LAW) / safe).argmax())

    assert dict(explore(run)) == dict(enumerate(LAW))


def test_a_token_without_mass_never_wins_and_its_infinite_time_is_seen() -> None:
    def run() -> tuple[bool, int]:
        times = torch.empty(2).exponential_() / torch.tensor([0.0, 1.0])
        return bool(torch.isinf(times[0])), int(times.argmin())

    assert dict(explore(run)) == {(True, 1): 1.0}


def test_a_chain_of_two_drafts_of_three_tokens_takes_as_many_paths_as_it_has_outcomes() -> None:
    """Nine drafts; the first is kept or not, the second likewise, and a token of the residual or the bonus follows."""
    target, draft = torch.tensor([0.125, 0.375, 0.5]), torch.tensor([0.5, 0.25, 0.25])

    def run() -> tuple[int, ...]:
        tokens = [torch.multinomial(draft, 1) for _ in range(2)]
        rows = [torch.multinomial(target, 1) for _ in range(3)]  # drawn for every row, as some samplers do
        for place, token in enumerate(tokens):
            if target[token] < draft[token] and torch.rand(1) >= target[token] / draft[token]:
                left = (target - draft).clamp(min=0)
                return (*map(int, tokens[:place]), int(torch.multinomial(left / left.sum(), 1)))
        return (*map(int, tokens), int(rows[2]))

    assert explore(run).paths <= 39


TARGET = [[0.125, 0.375, 0.5], [0.25, 0.25, 0.5], [0.5, 0.25, 0.25], [0.375, 0.5, 0.125]]
DRAFT = [[0.5, 0.25, 0.25], [0.375, 0.375, 0.25], [0.25, 0.5, 0.25], [0.25, 0.25, 0.5]]
"""After no token, and after each."""


def litgpt_step(look_at_all: bool) -> tuple[int, ...]:
    """A step as litgpt calls it: models that keep their own cache, a sample of every row, tokens joined as tensors.

    Two drafts of three tokens, laws without zeros that depend on the last token.
    """
    target, draft = torch.tensor(TARGET), torch.tensor(DRAFT)

    def sampled(law: Any) -> tuple[Any, Any]:
        token = torch.multinomial(law, 1)
        return (token.clone() if not look_at_all else torch.tensor([int(token)])), law

    last, drafts, reported = torch.tensor([-1]), [], []
    for _ in range(2):
        last, law = sampled(draft[last[0] + 1].log().softmax(-1))
        drafts.append(last)
        reported.append(law)
    joined = torch.cat([torch.tensor([-1]), *drafts])
    rows = [sampled(target[token + 1].log().softmax(-1)) for token in joined]
    accepted: list[Any] = []
    for place, token in enumerate(torch.cat(drafts)):
        ratio = rows[place][1][token] / reported[place][token]
        if torch.rand(1) > ratio.clamp(max=1):
            left = (rows[place][1] - reported[place]).clamp(min=0)
            accepted.append(torch.multinomial(left / left.sum(), 1))
            break
        accepted.append(token[None])
    else:
        accepted.append(rows[2][0])
    return tuple(torch.cat(accepted).tolist())


def test_a_step_as_litgpt_has_it_takes_at_most_sixty_paths_of_two_drafts_of_three_tokens() -> None:
    """39 are the least: nine pairs of drafts, and for each what is kept and what follows it. Its law is the chain's.

    The control: with every sample looked at as it is drawn, sixty paths leave most of the mass.
    """
    found, eager = explore(lambda: litgpt_step(False), 60), explore(lambda: litgpt_step(True), 60)
    assert isinstance(found, Explored)
    assert isinstance(eager, Partial)
    assert eager.unexplored > 0.5

    def after(rows: list[list[float]]) -> Callable[[tuple[int, ...]], list[float]]:
        return lambda text: rows[text[-1] + 1 if text else 0]

    wanted = law(lambda coin: chain.generate(coin, after(TARGET), after(DRAFT), (), 2))
    # float32 logarithms and softmaxes: the bound of a float32 verifier that emits three tokens.
    assert total_variation(found, wanted) < 3 * token_bound(0.125, 3)
