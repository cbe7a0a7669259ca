"""torch code explored as it is: its draws, generators and types, against laws known otherwise, and what is refused."""

from __future__ import annotations

import math
from collections.abc import Iterator
from fractions import Fraction
from functools import cache
from itertools import permutations, product
from typing import Any

import pytest

from spec_math import check_lossless_block
from spec_math.audit import (
    OWN_GRID,
    ExploreError,
    LeakError,
    UnseenRandomnessError,
    as_generator,
    check_drafter,
    explore,
)
from spec_math.audit.exploration.atom import Atom
from spec_math.audit.exploration.races import joint
from spec_math.verdict import Lossy

torch = pytest.importorskip("torch", reason="torch is an optional extra")

from torch_bridge.explore import explore as explored  # noqa: E402
from torch_bridge.random_draws import BITS, uniform_value  # noqa: E402
from torch_bridge.random_source import torch_source  # noqa: E402

LAW = [0.125, 0.375, 0.5]
TARGET, DRAFT = [0.125, 0.375, 0.5], [0.5, 0.25, 0.25]
"""Their ratios are dyadic: the test rounds nothing."""


def law_of(masses: list[float]) -> dict[int, float]:
    return dict(enumerate(masses))


@pytest.fixture
def p() -> Any:
    return torch.tensor(LAW)


def by_multinomial(p: Any) -> int:
    return torch.multinomial(p, 1).item()


def by_generator(p: Any) -> int:
    return torch.multinomial(p, num_samples=1, generator=torch.Generator().manual_seed(3)).item()


def by_walk(p: Any) -> int:
    return int((p.cumsum(-1) > torch.rand(1)).int().argmax())


def by_race_in_place(p: Any) -> int:
    noise = torch.empty_like(p)
    noise.exponential_()
    return p.clone().div_(noise).argmax(dim=-1).item()


def by_time(p: Any) -> int:
    return int(torch.argmin(torch.empty(3).exponential_(1.0, generator=torch.Generator()) / p))


def by_rows(p: Any) -> int:
    """A generator for the second request, which overwrites its row of the noise of the batch."""
    noise = torch.empty(2, 3)
    noise.exponential_()
    noise[1].exponential_(generator=torch.Generator().manual_seed(5))
    return (p.expand(2, 3) / noise).argmax(dim=-1, keepdim=True)[1, 0].item()


def by_categorical(p: Any) -> int:
    return torch.distributions.Categorical(probs=p, validate_args=False).sample().item()


@pytest.mark.parametrize("draw", [by_multinomial, by_generator, by_walk, by_race_in_place, by_time, by_rows])
def test_a_draw_has_its_law(draw: Any, p: Any) -> None:
    """LAW is dyadic, so that nothing rounds; rows of a batch that are not looked at are summed out."""
    assert explored(lambda: draw(p)) == law_of(LAW)


def test_a_distribution_draws_by_multinomial(p: Any) -> None:
    assert explored(lambda: by_categorical(p)) == law_of(LAW)


@pytest.mark.parametrize("noise", ["gumbel by hand", "exponential"])
def test_gumbel_argmax_draws_the_softmax(noise: str, p: Any) -> None:
    def draw() -> int:
        if noise == "exponential":
            gumbel = -torch.empty_like(p).exponential_().log()
        else:
            gumbel = -(-torch.zeros_like(p).uniform_(0, 1).log()).log()
        return (p.log() + gumbel).argmax().item()

    found = explored(draw)
    # log p is rounded to float32 by at most 2^-24·|log p| ≤ 2^-24·2.1, half an ulp of it; e^x turns it into a relative
    # error of as much for each of three rates, and the sum divides by them.
    assert all(abs(found[token] - mass) <= 4.2 * 2.0**-23 * mass for token, mass in enumerate(LAW))


@cache
def every_uniform(dtype: str) -> tuple[Any, Any]:
    """All values of torch.rand of a type of at most 24 bits, and how many of the 2^24 each has."""
    values = (torch.arange(2**24, dtype=torch.float32) / 2**24).to(getattr(torch, dtype))
    values[values == 1] = 0
    return torch.unique(values, return_counts=True)


@pytest.mark.parametrize("dtype", ["float64", "float32", "float16", "bfloat16"])
def test_real_uniforms_are_as_claimed(dtype: str) -> None:
    """k/2^53 and k/2^24, and no coarser; half precision is float32 of the same seed, rounded, and 1 made 0."""
    kind = getattr(torch, dtype)
    drawn = torch.rand(50_000, dtype=kind, generator=torch.Generator().manual_seed(0))
    if dtype in ("float64", "float32"):
        cells = drawn.double() * 2 ** BITS[kind]
        assert bool((cells == cells.round()).all())
        assert bool((cells % 2 == 1).any())
    else:
        single = torch.rand(50_000, generator=torch.Generator().manual_seed(0)).to(kind)
        assert bool((single == 1).any())
        single[single == 1] = 0
        assert torch.equal(single, drawn)


@pytest.mark.parametrize("dtype", ["float32", "float16", "bfloat16"])
def test_uniforms_are_listed_with_their_multiplicity(dtype: str) -> None:
    values, counts = every_uniform(dtype)
    ends = counts.cumsum(0)
    places = range(0, len(values), max(1, len(values) // 500))
    for place in [*places, 1, len(values) - 1]:
        first, last = int(ends[place] - counts[place]), int(ends[place]) - 1
        kind = getattr(torch, dtype)
        assert uniform_value(first, 24, kind) == uniform_value(last, 24, kind) == values[place]


@pytest.mark.parametrize(
    ("dtype", "zero"),
    [("float64", 2.0**-53), ("float32", 2.0**-24), ("float16", 2.0**-12 + 2.0**-24), ("bfloat16", 2.0**-9 + 2.0**-24)],
)
def test_every_type_has_its_own_chance_of_zero(dtype: str, zero: float) -> None:
    """What `<=` lets through where `<` does not."""
    kind = getattr(torch, dtype)
    assert explored(lambda: bool(torch.rand(1, dtype=kind) <= 0), grid=OWN_GRID) == {True: zero, False: 1 - zero}
    assert explored(lambda: bool(torch.zeros(1, dtype=kind) < torch.rand(1, dtype=kind)), grid=OWN_GRID)[False] == zero
    assert explored(lambda: bool(torch.rand(1, dtype=kind) < 0), grid=OWN_GRID) == {False: 1}
    assert explored(lambda: bool(torch.rand(1, dtype=kind) <= 0)) == {False: 1}


@pytest.mark.parametrize("dtype", ["float32", "float16", "bfloat16"])
def test_on_its_own_grid_code_rounds_as_it_does(dtype: str) -> None:
    """Counted over every uniform of the type, by torch itself."""
    kind = getattr(torch, dtype)
    q, t = torch.tensor(0.3, dtype=kind), torch.tensor(0.1, dtype=kind)
    values, counts = every_uniform(dtype)
    counted = int(counts[values * q < t].sum()) / 2**24
    assert explored(lambda: bool(torch.rand((), dtype=kind) * q < t), grid=OWN_GRID)[True] == counted
    assert explored(lambda: bool(torch.rand((), dtype=kind) * q < t))[True] == float(t) / float(q)


def test_a_uniform_compared_twice_is_conditioned_and_an_explorer_that_forgets_is_caught(
    p: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    def forgetful(self: Atom, cut: Fraction, asked: str) -> bool:
        return self.tape.flip(asked, cut)

    assert explored(lambda: by_walk(p)) == law_of(LAW)
    monkeypatch.setattr(Atom, "below", forgetful)
    assert explored(lambda: by_walk(p)) != law_of(LAW)


def test_numbers_keep_what_is_known_of_them_through_copies_and_views() -> None:
    def moved() -> tuple[bool, ...]:
        u = torch.rand(2)
        kept = torch.stack([u, u.clone()]).t().reshape(-1)[[0, 1, 2, 3]].to(torch.float64)
        other = torch.zeros(4, dtype=torch.float64)
        other[:] = kept
        return tuple((other < 0.5).tolist())

    quarter = 0.25
    assert explored(moved) == {(a, a, b, b): quarter for a in (True, False) for b in (True, False)}


def test_a_generator_seeded_anew_repeats_itself() -> None:
    def globally() -> tuple[bool, bool]:
        torch.manual_seed(7)
        first = bool(torch.rand(1) < 0.5)
        torch.manual_seed(7)
        return first, bool(torch.rand(1) < 0.5)

    def locally() -> tuple[bool, bool]:
        return tuple(  # type: ignore[return-value]
            bool(torch.rand(1, generator=torch.Generator().manual_seed(7)) < 0.5) for _ in range(2)
        )

    def advancing() -> tuple[bool, bool]:
        generator = torch.Generator().manual_seed(7)
        return tuple(bool(torch.rand(1, generator=generator) < 0.5) for _ in range(2))  # type: ignore[return-value]

    assert explored(globally) == explored(locally) == {(True, True): 0.5, (False, False): 0.5}
    assert len(explored(advancing)) == 4


def test_numbers_of_one_seed_in_calls_of_other_sizes_are_refused() -> None:
    """On this processor they are the same numbers; on another, exponentials are not."""

    def at_once_and_in_turn() -> tuple[bool, bool]:
        torch.manual_seed(7)
        at_once = torch.rand(2)
        torch.manual_seed(7)
        in_turn = [torch.rand(1), torch.rand(1)]
        return bool(at_once[1] < 0.5), bool(in_turn[1] < 0.5)

    with pytest.raises(ExploreError, match="number 1 of a call"):
        explored(at_once_and_in_turn)


def test_one_noise_for_the_draft_and_its_correction_is_followed() -> None:
    """One seed draws a token from each of two laws: their joint law is that of two races."""
    q, r = [0.25, 0.75], [0.75, 0.25]

    def both() -> tuple[int, int]:
        tokens: list[int] = []
        for law in (q, r):
            torch.manual_seed(1)
            tokens.append(torch.multinomial(torch.tensor(law), 1).item())
        return tuple(tokens)  # type: ignore[return-value]

    laws = [[Fraction(mass) for mass in law] for law in (q, r)]
    expected = {(x, y): float(joint(laws, (x, y))) for x in range(2) for y in range(2) if joint(laws, (x, y))}
    assert explored(both) == expected


def test_several_tokens_are_drawn_with_and_without_replacement(p: Any) -> None:
    without = explored(lambda: tuple(torch.multinomial(p, 2).tolist()))
    assert without == {
        (x, y): pytest.approx(LAW[x] * LAW[y] / (1 - LAW[x]), abs=2.0**-53)  # one rounding of an exact mass
        for x in range(3)
        for y in range(3)
        if x != y
    }
    with_it = explored(lambda: tuple(torch.multinomial(p, 2, replacement=True).tolist()))
    assert with_it == {(x, y): LAW[x] * LAW[y] for x in range(3) for y in range(3)}


def by_search(p: Any) -> int:
    return int(torch.searchsorted(p.cumsum(-1), torch.rand(1), right=True))


def by_bucket(p: Any) -> int:
    return int(torch.bucketize(torch.rand(()), p.cumsum(-1)))


def by_topk(p: Any) -> int:
    return torch.topk(p / torch.empty_like(p).exponential_(), 1).indices.item()


def by_max(p: Any) -> int:
    return (p / torch.empty_like(p).exponential_()).max(dim=-1).indices.item()


def by_eighths(p: Any) -> int:
    return int((torch.randint(8, (1,)) >= 8 * p.cumsum(-1)).sum())


def by_flips(_: Any) -> int:
    first, second = torch.bernoulli(torch.tensor([0.125, 3 / 7], dtype=torch.float64)).tolist()
    return 0 if first else 1 if second else 2


def by_flips_in_place(p: Any) -> int:
    return 0 if torch.empty(1).bernoulli_(float(p[0])).item() else 1 + int(torch.empty(1).bernoulli_(4 / 7).item())


def by_permutation(p: Any) -> int:
    return int((torch.randperm(8)[0] >= 8 * p.cumsum(-1)).sum())


@pytest.mark.parametrize("draw", [by_search, by_bucket, by_topk, by_max, by_eighths, by_flips, by_flips_in_place])
def test_draws_by_other_functions_have_the_law(draw: Any, p: Any) -> None:
    # The flips of 3/7 and 4/7 are float64, off by a relative 2^-53 each, and each mass is rounded once.
    found = explored(lambda: draw(p))
    assert all(abs(found[token] - mass) <= 2.0**-52 for token, mass in enumerate(LAW))


def test_a_permutation_is_drawn_card_by_card() -> None:
    found = explored(lambda: tuple(torch.randperm(3).tolist()))
    assert found == dict.fromkeys(permutations(range(3)), Fraction(1, 6))


def test_the_first_of_two_ranks_is_drawn_and_then_the_second_among_those_left(p: Any) -> None:
    """Gumbel-top-k is sampling without replacement."""
    wanted = {(x, y): LAW[x] * LAW[y] / (1 - LAW[x]) for x in range(3) for y in range(3) if x != y}
    for rank in (
        lambda noise: noise.topk(2).indices,
        lambda noise: noise.sort(descending=True).indices[:2],
        lambda noise: noise.argsort(descending=True)[:2],
    ):
        found = explored(lambda rank=rank: tuple(rank(p / torch.empty_like(p).exponential_()).tolist()))
        assert found.keys() == wanted.keys()
        assert all(abs(found[pair] - mass) <= 2.0**-53 for pair, mass in wanted.items())


def test_one_noise_row_serves_three_positions() -> None:
    """As a batch does that draws a correction at every position from one row of noise and keeps one of them."""
    rows = [[0.25, 0.75], [0.5, 0.5], [0.75, 0.25]]

    def corrections() -> tuple[int, ...]:
        noise = torch.empty(2).exponential_()
        return tuple((torch.tensor(rows) / noise).argmax(dim=-1).tolist())

    laws = [[Fraction(mass) for mass in row] for row in rows]
    wanted = {cell: joint(laws, cell) for cell in product(range(2), repeat=3)}
    assert explored(corrections) == {cell: float(mass) for cell, mass in wanted.items() if mass}
    for place, row in enumerate(rows):
        assert explored(lambda place=place: corrections()[place]) == law_of(row)


def test_hard_gumbel_softmax_is_a_draw() -> None:
    logits = torch.tensor([0.0, 0.0, -torch.inf, 0.0])
    found = explored(lambda: int(torch.nn.functional.gumbel_softmax(logits, tau=0.5, hard=True).argmax()))
    assert found == {0: 1 / 3, 1: 1 / 3, 3: 1 / 3}


@pytest.mark.parametrize("guard", ["shift", "clamp", "none"])
def test_small_numbers_that_keep_a_logarithm_finite_are_told(guard: str, p: Any) -> None:
    small = 2.0**-30

    def noise(x: Any) -> Any:
        if guard == "none":
            return -(-x.log()).log()
        if guard == "clamp":
            return -(-x.clamp(min=small).log()).clamp_min(small).log()
        return -((-(x + small).log()) + small).log()

    found = explored(lambda: (p.log() + noise(torch.rand_like(p))).argmax().item())
    plain = explored(lambda: (p.log() - torch.empty_like(p).exponential_().log()).argmax().item())
    assert found == plain
    # Two guards for each of three numbers, none of them off by more than itself.
    assert found.ignored == (0 if guard == "none" else 6 * small)


def test_a_guarded_law_is_as_near_as_it_says() -> None:
    """P(E_0 + g < E_1·…) for the coarse guard 1/10,000, integrated: e^-g/2 and 1 − e^-g/2."""
    guard = 1e-4

    def race() -> int:
        noise = torch.empty(2, dtype=torch.float64).exponential_()
        noise = torch.stack([noise[0] + guard, noise[1]])
        return noise.argmin().item()

    found = explored(race)
    assert 0 < abs(found[0] - math.exp(-guard) / 2) <= found.ignored == guard


def test_a_number_raced_with_and_without_a_guard_is_refused() -> None:
    def both() -> tuple[int, int]:
        noise = torch.empty(2).exponential_()
        return noise.argmin().item(), (noise + 1e-6).argmin().item()

    with pytest.raises(ExploreError, match="both with and without a small number"):
        explored(both)


@pytest.fixture
def speculate() -> Iterator[Any]:
    """Rejection sampling of a batch as an engine writes it, with the test and the correction to be broken."""

    def sampler(correct: bool = True, test: Any = None) -> Any:
        t, d = torch.tensor(TARGET), torch.tensor(DRAFT)

        def block(_prefix: Any) -> tuple[int, ...]:
            tokens = torch.multinomial(d.expand(2, 3), 1).squeeze(-1)
            ratio = t[tokens] / d[tokens]
            accepted = torch.rand_like(ratio) <= (ratio if test is None else test(ratio))
            matches = int(((~accepted).cumsum(-1) < 1).sum())
            rest = t if matches == 2 else (t - d).clamp(min=0) if correct else t
            noise = torch.empty_like(rest)
            noise.exponential_()
            return (*tokens[:matches].tolist(), rest.div(noise).argmax(dim=-1).item())

        return block

    yield sampler


def test_a_sampler_in_torch_meets_the_judge_of_generators(speculate: Any) -> None:
    def judged(sampler: Any) -> Any:
        return check_lossless_block(as_generator(sampler, sources=(torch_source,)), lambda _: TARGET, 3)

    # The masses are float64 sums of paths, each rounded once: far below the judge's own bound for floats.
    assert judged(speculate())
    assert not judged(speculate(correct=False))
    assert not judged(speculate(test=torch.ones_like))


def test_a_drafter_in_torch_is_judged(p: Any) -> None:
    kept = check_drafter(lambda: (torch.multinomial(p, 1).item(), p), sources=(torch_source,))
    broken = check_drafter(lambda: (torch.multinomial(p**2, 1).item(), p), sources=(torch_source,))
    assert kept
    assert isinstance(broken, Lossy)


@pytest.mark.parametrize(
    ("fn", "said"),
    [
        (lambda: torch.randn(1).item() < 0, "does not follow torch's randn"),
        (lambda: torch.randint(5000, (1,)).item(), "at most 1000 apart"),
        (lambda: torch.bernoulli(torch.rand(1)).item(), "bernoulli of random chances"),
        (lambda: torch.poisson(torch.tensor([0.5])).item(), "torch's poisson"),
        (lambda: torch.empty(1).normal_().item() < 0, "torch's normal_"),
        (lambda: torch.empty(2).random_(3).tolist(), "torch's random_"),
        (lambda: torch.nn.functional.dropout(torch.ones(2), 0.5).tolist(), "torch's dropout"),
        (lambda: torch.normal(0.0, 1.0, (1,), generator=torch.Generator()).item() < 0, "torch's normal"),
        (lambda: torch.nn.functional.gumbel_softmax(torch.zeros(2)).argmax().item(), r"gumbel_softmax\(hard=True\)"),
        (lambda: torch.rand(2).clamp(min=0.5).log().argmax().item(), "follows small bounds alone"),
        (lambda: torch.rand(2).clamp(0.1, 0.9).argmax().item(), "explore follows clamp"),
        (lambda: torch.empty(2).exponential_().max().item() < 1, "max of random numbers along one dimension"),
        (lambda: torch.rand(2).sum().item() < 1, "torch's sum of a random number"),
        (lambda: torch.rand(2).sort().indices.tolist(), "exponential or Gumbel noise only"),
        (lambda: torch.rand(2).argmax().item(), "exponential or Gumbel noise only"),
        (lambda: float(torch.rand(1)), "__float__"),
        (lambda: bool(torch.rand(1) < torch.rand(1)), "two random numbers meet"),
        (lambda: (torch.rand(60, dtype=torch.bfloat16) < 2, torch.rand(9, dtype=torch.bfloat16)), "has room for 63"),
    ],
)
def test_what_cannot_be_followed_is_refused(fn: Any, said: str) -> None:
    with pytest.raises(ExploreError, match=said):
        explored(fn)


def test_state_that_leaks_is_found() -> None:
    weights = torch.tensor([0.5, 0.5])

    def spoils_its_weights() -> int:
        token = torch.multinomial(weights, 1).item()
        weights[0] += 1
        return token

    with pytest.raises(LeakError, match=r"with masses 3/4, 1/4 where the run before it asked .* with masses 1/2, 1/2"):
        explored(spoils_its_weights)


def test_generators_are_left_as_they_were() -> None:
    own = torch.Generator().manual_seed(1)
    before = torch.default_generator.get_state(), own.get_state()
    explored(lambda: bool(torch.rand(1) < 0.5) and bool(torch.rand(1, generator=own) < 0.5))
    assert torch.equal(before[0], torch.default_generator.get_state())
    assert torch.equal(before[1], own.get_state())


def test_without_the_source_torch_is_refused() -> None:
    """Python's explore sees no fork in torch code, and says so, by name; torch that draws nothing is as any code."""
    for draw in (lambda: torch.rand(1), lambda: torch.rand(1, generator=torch.Generator())):
        with pytest.raises(UnseenRandomnessError, match="torch's rand"):
            explore(lambda draw=draw: bool(draw() < 2))
    assert explore(lambda: bool(torch.ones(1) < 2)) == {True: 1}
