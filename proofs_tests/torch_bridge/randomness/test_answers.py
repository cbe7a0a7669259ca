"""Tokens compared fork in two, and no more than a prefix needs; whatever comes later has its law given the answers."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from itertools import product
from math import prod
from typing import Any

import numpy as np
import pytest

torch = pytest.importorskip("torch", reason="torch is an optional extra")

from spec_math.audit import Explored, ExploreError  # noqa: E402
from spec_math.pathwise.races import Race  # noqa: E402
from torch_bridge.randomness.source import explore as explore_partly  # noqa: E402

LAW = [0.125, 0.375, 0.5]
OTHER = [0.5, 0.25, 0.25]

PATHS = [(2, 1, 2), (2, 2, 0), (1, 0, 1), (1, 1, 2)]
ROWS = [[LAW, OTHER, [0.0, 0.5, 0.5]], [LAW, OTHER, LAW], [LAW, LAW, OTHER], [LAW, LAW, [0.25, 0.25, 0.5]]]
TOP_P = 0.8


def explore(run: Callable[[], Any]) -> Explored:
    found = explore_partly(run)
    assert isinstance(found, Explored)
    return found


def kept(row: list[float]) -> list[float]:
    """The smallest set of likeliest tokens that reaches TOP_P, by a loop: the oracle of the mask below."""
    order, left, mass = sorted(range(3), key=lambda x: (-row[x], x)), [0.0] * 3, 0.0
    for token in order:
        if mass <= TOP_P:
            left[token] = row[token]
        mass += row[token]
    return [one / sum(left) for one in left]


def nucleus(masses: Any) -> Any:
    """A filter as trees of drafts have it: sorted, summed, shifted by one, and scattered back."""
    found, order = masses.sort(dim=-1, descending=True, stable=True)
    out = found.cumsum(-1) > TOP_P
    out[:, 1:] = out[:, :-1].clone()
    out[:, 0] = False
    return masses.masked_fill(out.scatter(1, order, out), 0.0)


def longest() -> tuple[int, int]:
    """One token drawn for each node of each path in one batch; the path whose drafts match furthest."""
    tokens = torch.multinomial(nucleus(torch.tensor(ROWS).view(12, 3)), 1).view(4, 3)
    mask = (torch.tensor(PATHS) == tokens).int()
    lengths = torch.cumprod(mask, dim=1).sum(dim=1)
    return int(lengths.argmax()), int(lengths.max())


def by_formula() -> dict[tuple[int, int], float]:
    """Rows are independent: each path matches m drafts with the product of their masses and one that fails."""
    law: dict[tuple[int, int], float] = {}
    match = [
        [kept(row)[token] for row, token in zip(rows, path, strict=True)]
        for rows, path in zip(ROWS, PATHS, strict=True)
    ]
    for lengths in product(range(4), repeat=4):
        mass = prod(prod(row[:n]) * (1 - row[n] if n < 3 else 1) for row, n in zip(match, lengths, strict=True))
        if mass:
            best = (lengths.index(max(lengths)), max(lengths))
            law[best] = law.get(best, 0.0) + mass
    return law


def test_a_mask_over_twelve_rows_asks_for_no_more_than_the_prefixes_that_match() -> None:
    found, wanted = explore(longest), by_formula()
    assert dict(found) == pytest.approx(wanted, abs=1e-12)
    # At most 0, 1, 2 or 3 drafts of each of four paths; looked at row by row, 2 to the 12th and more.
    assert found.paths <= 4**4


def test_what_looks_at_every_row_takes_the_paths_that_it_took() -> None:
    """The control: the same mask whose rows are read one by one."""

    def run() -> tuple[int, ...]:
        tokens = torch.multinomial(torch.tensor([LAW] * 3), 1).view(1, 3)
        return tuple((tokens == torch.tensor([PATHS[0]])).int()[0].tolist())

    assert explore(run).paths == 2**3


USES: dict[str, Callable[[Any], Any]] = {
    "tolist": lambda mask: mask.tolist(),
    "truth": lambda mask: [bool(one) for one in mask],
    "not": lambda mask: [not one for one in (~mask).tolist()],
    "a view": lambda mask: mask.view(1, 2)[0].tolist(),
    "the data": lambda mask: mask.data.tolist(),
    "numpy": lambda mask: mask.numpy().tolist(),
    "an array": lambda mask: np.asarray(mask).tolist(),
    "a cast": lambda mask: [bool(one) for one in mask.int().tolist()],
    "floats": lambda mask: [one > 0 for one in mask.float().tolist()],
    "another mask": lambda mask: (mask & torch.tensor([True, True])).tolist(),
    "written over": lambda mask: mask.logical_or_(torch.tensor([False, False])).tolist(),
    "chosen by": lambda mask: torch.where(mask, torch.tensor(True), torch.tensor(False)).tolist(),
    "its transpose": lambda mask: mask.view(2, 1).T[0].tolist(),
    "a copy": lambda mask: mask.clone().tolist(),
    "by index": lambda mask: [bool(mask[0]), bool(mask[1])],
    "after its shape": lambda mask: [bool(mask[n]) for n in range(mask.shape[0])],
    "unequal": lambda mask: [not one for one in mask.ne(torch.tensor([True, True])).tolist()],
    "a product backwards": lambda mask: _of_products(mask),
}


def _of_products(mask: Any) -> list[bool]:
    first = mask.cumprod(0).tolist()
    return [bool(first[0]), bool(mask.tolist()[1])]


@pytest.mark.parametrize("use", USES.values(), ids=USES)
def test_a_mask_has_its_law_however_it_is_used(use: Callable[[Any], Any]) -> None:
    def run() -> tuple[bool, ...]:
        tokens = torch.multinomial(torch.tensor([LAW, OTHER]), 1).view(2)
        return tuple(use(tokens == torch.tensor([2, 0])))

    wanted = {(a, b): 0.25 for a in (False, True) for b in (False, True)}
    assert dict(explore(run)) == pytest.approx(wanted, abs=1e-15)


def after_two_questions() -> tuple[bool, bool, int]:
    token = torch.multinomial(torch.tensor(LAW), 1)
    return bool(token == 2), bool(token == 0), int(token)


def test_what_is_asked_later_is_drawn_given_the_answers(monkeypatch: pytest.MonkeyPatch) -> None:
    wanted = {(True, False, 2): 0.5, (False, True, 0): 0.125, (False, False, 1): 0.375}
    assert dict(explore(after_two_questions)) == pytest.approx(wanted, abs=1e-15)

    # The control: a race that forgets who has lost; its path contradicts itself, which ordinary numbers show.
    def unlost(race: Race) -> list[Fraction]:
        return [Fraction(one.rate) for one in race.entered()]

    monkeypatch.setattr(Race, "_left", unlost)
    with pytest.raises(ExploreError, match="on ordinary numbers"):
        explore(after_two_questions)


def _twice(first: Callable[[Any], Any]) -> Callable[[], tuple[bool, int, bool]]:
    def run() -> tuple[bool, int, bool]:
        drawn = [torch.multinomial(torch.tensor(law), 1, generator=_seeded()) for law in (LAW, OTHER)]
        early = first(drawn[0])
        return bool(early), int(drawn[1]), bool(drawn[0] == 1)

    return run


def _seeded() -> Any:
    return torch.Generator().manual_seed(5)


def test_noise_that_is_drawn_twice_keeps_its_joint_law(monkeypatch: pytest.MonkeyPatch) -> None:
    """A race that was asked about in part has its winner drawn before its clocks race again, with other weights."""
    apart = explore(_twice(lambda token: int(token) == 2))
    asked = explore(_twice(lambda token: token == 2))
    assert dict(asked) == pytest.approx(dict(apart), abs=1e-12)
    shared = sum(mass for (early, last, _), mass in asked.items() if early and last == 2)
    assert shared - LAW[2] * OTHER[2] > 0.05  # the noise was one indeed

    def unnoted(race: Race, index: int) -> None:  # the control: a winner that later races do not hear of
        race._winner = index  # pyright: ignore[reportPrivateUsage]
        for one in race.entered():
            one.atom.unsettled = None

    monkeypatch.setattr(Race, "_won", unnoted)
    with pytest.raises(ExploreError, match="on ordinary numbers"):
        explore(_twice(lambda token: token == 2))


def test_the_same_noise_with_the_same_weights_is_one_race() -> None:
    def run() -> tuple[bool, bool, int]:
        first, second = (torch.multinomial(torch.tensor(LAW), 1, generator=_seeded()) for _ in range(2))
        return bool(first == 2), bool(second == 2), int(second)

    assert dict(explore(run)) == pytest.approx(
        {(True, True, 2): 0.5, (False, False, 0): 0.125, (False, False, 1): 0.375}, abs=1e-15
    )


def test_a_token_of_no_mass_and_one_of_all_mass_ask_nothing() -> None:
    def run() -> tuple[bool, bool, bool]:
        token = torch.multinomial(torch.tensor([0.0, 1.0, 0.0]), 1)
        return bool(token == 0), bool(token == 1), bool(token == 7)

    found = explore(run)
    assert dict(found) == {(False, True, False): 1.0}
    assert found.paths == 1
