"""Every verifier of one position on logits decides as its program replayed, never waits, and has the target's law."""

from __future__ import annotations

from collections.abc import Callable
from itertools import pairwise, product
from typing import Any

import pytest

torch = pytest.importorskip("torch")


from proofs_tests.token_level.replayed_rows import Watching, emitted  # noqa: E402
from proofs_tests.torch_bridge.batches import law_of  # noqa: E402
from proofs_tests.torch_bridge.draft_batches import batch, schemes  # noqa: E402
from proofs_tests.torch_bridge.no_wait import NoWait  # noqa: E402
from spec_math import SCHEMES, law  # noqa: E402
from spec_math.scheme import Scheme  # noqa: E402
from spec_math.token_level.batch import plan, rejection  # noqa: E402
from torch_bridge import columns, explore, verify_drafts  # noqa: E402
from torch_bridge.options import DEFAULT, Options  # noqa: E402

on_device = pytest.mark.parametrize(
    "scheme", [scheme for scheme in SCHEMES if scheme.decide], ids=lambda scheme: scheme.short_name
)


def differing(scheme: Scheme, given: Any, found: Any, bound: float, options: Options = DEFAULT) -> tuple[int, int]:
    """Rows that the program decides otherwise although no uniform is within the bound of a threshold; rows excused."""
    wrong = excused = 0
    for row, (target, draft, tokens, uniforms) in enumerate(zip(*given, strict=True)):
        coin = Watching(uniforms.tolist())
        want = emitted(scheme, coin, tokens.tolist(), law_of(target, options), law_of(draft, options))
        if coin.distance <= bound:
            excused += 1
        else:
            wrong += (int(found.emitted[row]), bool(found.accepted[row])) != tuple(want)
    return wrong, excused


@schemes
def test_drafts_on_logits_are_decided_as_by_the_replayed_program(scheme: Scheme) -> None:
    for shape in ((60, 1, 3), (60, 3, 8), (25, 2, 150)):
        given = batch(scheme, shape, torch.float64)
        wrong, excused = differing(scheme, given, verify_drafts(scheme, *given), 2.0**-36)
        assert (wrong, excused) == (0, 0), shape


@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16, torch.float16], ids=str)
@schemes
def test_narrow_logits_are_decided_alike_away_from_thresholds(scheme: Scheme, dtype: Any) -> None:
    given = batch(scheme, (60, 3, 8), dtype)
    wrong, excused = differing(scheme, given, verify_drafts(scheme, *given), 1e-3)
    assert wrong == 0
    assert excused < 12


@pytest.mark.parametrize(
    "options", [Options(temperature=0.6, top_k=5), Options(top_p=0.8), Options(temperature=0)], ids=str
)
@schemes
def test_temperature_top_k_and_top_p_apply_to_both_laws(scheme: Scheme, options: Options) -> None:
    given = batch(scheme, (40, 3, 9), torch.float64, options)
    assert differing(scheme, given, verify_drafts(scheme, *given, options), 2.0**-36, options)[0] == 0


@on_device
def test_a_step_looks_at_no_value_on_the_host(scheme: Scheme) -> None:
    given = batch(scheme, (400, 3, 8), torch.float32)
    with NoWait():
        found = verify_drafts(scheme, *given, Options(check=False))
    assert (found.emitted == verify_drafts(scheme, *given).emitted).all()


def _masked_write(ones: Any) -> None:
    ones[ones > 0] = 2.0


WAITS: list[Callable[[Any], Any]] = [
    lambda ones: bool(ones > 0),
    lambda ones: ones.sum().item(),
    lambda ones: ones.nonzero(),
    lambda ones: ones[ones > 0],
    _masked_write,
    lambda ones: ones.masked_select(ones > 0),
    lambda ones: torch.equal(ones, ones),
]


@pytest.mark.parametrize("waits", WAITS)
def test_the_check_for_waits_finds_each(waits: Callable[[Any], Any]) -> None:
    with NoWait(), pytest.raises(AssertionError, match="waits"):
        _ = waits(torch.ones(2)[:1])


@on_device
def test_chunks_decide_as_the_whole(scheme: Scheme) -> None:
    given = batch(scheme, (30, 3, 8), torch.float64)
    whole, parts = (verify_drafts(scheme, *given, Options(chunk_bytes=size)) for size in (10**6, 200))
    assert whole.emitted.tolist() == parts.emitted.tolist()


TARGET, DRAFT = [0.2, 0.5, 0.3], [0.5, 0.25, 0.25]


def emitted_law(verify: Any, scheme: Scheme, k: int) -> list[float]:
    """The law of the torch function over its drafts and its uniforms."""
    logits = [torch.tensor([masses], dtype=torch.float64).log() for masses in (TARGET, DRAFT)]
    total = [0.0] * 3
    for tokens, mass in law(lambda coin: scheme.draw(coin, DRAFT, k)).items():
        given = *logits, torch.tensor([tokens])
        for token, share in token_law(verify, scheme, given, columns(scheme, k)).items():
            total[token] += mass * share
    return total


def token_law(verify: Any, scheme: Scheme, given: Any, width: int) -> Any:
    """By `explore`; of the plan's component, which it cannot follow, and of K-SEQ, where it takes long, by halving."""
    if scheme.decide not in (plan.decide_plan, rejection.decide_k_sequential):
        return explore(
            lambda: verify(
                scheme, *given, torch.rand(1, width, dtype=torch.float64), Options(check=False)
            ).emitted.item()
        )

    def outcomes(rows: Any) -> list[int]:
        uniforms = torch.tensor(rows, dtype=torch.float64)
        copies = [each.expand(len(uniforms), -1) for each in given]
        return verify(scheme, *copies, uniforms, Options(check=False)).emitted.tolist()

    return by_pieces(outcomes, (), width)


def by_pieces(outcomes: Any, before: tuple[float, ...], width: int) -> dict[int, float]:
    """The law of a function of uniforms, constant on boxes: the places where it changes, one column after the other.

    Two uniforms are told apart by the outcomes on a grid of the columns behind.
    """
    if len(before) == width:
        return {outcomes([before])[0]: 1.0}
    behind = width - len(before) - 1
    rest = list(product(*[[(i + 0.5) / 6 for i in range(6)]] * min(behind, 2)))
    rest = [(*each, *[0.37] * (behind - len(each))) for each in rest]

    def signatures(places: list[float]) -> list[tuple[int, ...]]:
        found = outcomes([(*before, place, *each) for place in places for each in rest])
        return [tuple(found[at : at + len(rest)]) for at in range(0, len(found), len(rest))]

    grid = [(i + 0.5) / 20 for i in range(20)]
    seen = signatures(grid)
    pairs = [(low, high) for low, high, a, b in zip(grid, grid[1:], seen, seen[1:], strict=False) if a != b]
    lows = [seen[grid.index(low)] for low, _ in pairs]
    for _ in range(36):
        middles = [(low + high) / 2 for low, high in pairs]
        found = signatures(middles) if middles else []
        pairs = [
            (middle, high) if now == was else (low, middle)
            for (low, high), middle, now, was in zip(pairs, middles, found, lows, strict=True)
        ]
    borders = [0.0, *(low for low, _ in pairs), 1.0]
    total: dict[int, float] = {}
    for low, high in pairwise(borders):
        for token, share in by_pieces(outcomes, (*before, (low + high) / 2), width).items():
            total[token] = total.get(token, 0.0) + (high - low) * share
    return total


LAW_BOUND = 1e-9
"""A border is placed to 2^-36 / 30, and a law has fewer than 100 of them; masses are sums of as many floats."""


@on_device
def test_the_law_of_the_torch_function_is_the_targets(scheme: Scheme) -> None:
    found = emitted_law(verify_drafts, scheme, scheme.drafts or 2)
    assert max(abs(mass - wanted) for mass, wanted in zip(found, TARGET, strict=True)) < LAW_BOUND


def _with_laws_swapped(scheme: Scheme, target: Any, draft: Any, *rest: Any) -> Any:
    return verify_drafts(scheme, draft, target, *rest)


@on_device
def test_a_wrong_torch_function_has_another_law(scheme: Scheme) -> None:
    found = emitted_law(_with_laws_swapped, scheme, scheme.drafts or 2)
    assert max(abs(mass - wanted) for mass, wanted in zip(found, TARGET, strict=True)) > 1e-3
