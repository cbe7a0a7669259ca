"""torch code explored as it is: its draws, generators and types, against laws known otherwise, and what is refused."""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction
from typing import Any

import pytest

from proofs_tests.torch_bridge.randomness.explored_laws import LAW, law_of, torch
from spec_math import check_lossless_block
from spec_math.audit import ExploreError, LeakError, UnseenRandomnessError, as_generator, check_drafter, explore
from spec_math.pathwise import followed
from spec_math.pathwise.atom import Atom
from spec_math.pathwise.races import joint
from spec_math.verdict import Lossy
from torch_bridge.randomness.source import explore as explored
from torch_bridge.randomness.source import torch_source

TARGET, DRAFT = [0.125, 0.375, 0.5], [0.5, 0.25, 0.25]
"""Their ratios are dyadic: the test rounds nothing."""


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


def test_a_uniform_compared_twice_is_conditioned_and_an_explorer_that_forgets_is_caught(
    p: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    def forgetful(self: Atom, cut: Fraction, asked: str) -> bool:
        return self.tape.flip(asked, cut)

    assert explored(lambda: by_walk(p)) == law_of(LAW)
    monkeypatch.setattr(Atom, "below", forgetful)
    with pytest.raises(ExploreError, match="on ordinary numbers"):
        explored(lambda: by_walk(p))
    monkeypatch.setattr(followed, "numbers_for", lambda *_: None)
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


def by_permutation(p: Any) -> int:
    return int((torch.randperm(8)[0] >= 8 * p.cumsum(-1)).sum())


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
        (lambda: torch.rand(2).sort().indices.tolist(), "rings first"),
        (lambda: (torch.rand(2) + 1).argmax().item(), "over noise and over"),
        (lambda: float(torch.rand(1)), "__float__"),
        (lambda: bool(torch.rand(1) < 2 * torch.rand(1)), "two random numbers meet"),
        (lambda: (torch.rand(60, dtype=torch.bfloat16) < 2, torch.rand(9, dtype=torch.bfloat16)), "has room for 63"),
    ],
)
def test_what_cannot_be_followed_is_refused(fn: Any, said: str) -> None:
    with pytest.raises(ExploreError, match=said):
        explored(fn)


@pytest.mark.parametrize("name", ["poisson_of", "sum", "__getitem__", "where"])
def test_a_call_that_draws_is_refused_whatever_it_is_named(name: str) -> None:
    """After names that draw nothing the generator is not looked at: the end of the run, or a draw, finds it moved."""

    def drawing(x: Any) -> Any:
        return torch.poisson(x)

    drawing.__name__ = name
    called = torch.overrides.wrap_torch_function(lambda x: (x,))(drawing)
    after: list[Any] = [lambda: 0, lambda: torch.rand(1).lt(0.5).item()]
    for then in after:
        with pytest.raises(ExploreError, match=r"does not follow"):
            explored(lambda then=then: (called(torch.ones(1)).shape, then()))


def test_state_that_leaks_is_found() -> None:
    weights = torch.tensor([0.5, 0.5])

    def spoils_its_weights() -> int:
        token = torch.multinomial(weights, 1).item()
        weights[0] += 1
        return token

    with pytest.raises(LeakError, match=r"with masses \d+/\d+, 1/\d+ where the run .* with masses 1/2, 1/2"):
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
