"""The judge of generators on exact models: paths, bound, a text that is never emitted; arrays that are not laws."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import pytest

from spec_math import Lossless, Lossy, check_lossless_block
from spec_math.arrays import exact
from spec_math.block_level import block, chain, emitted_law, optimum
from spec_math.block_level.conditionals import Conditionals
from spec_math.chance import law
from spec_math.language import Table

TARGET, DRAFT = exact(["1/4", "3/4"]), exact(["1/2", "1/2"])


def test_a_lossless_generator_is_so_with_bound_0_and_its_paths_are_counted() -> None:
    """One drafted token: 2 drafts, kept or not where t < d, and 2 bonus tokens where it is kept: 2 · 2 + 1 paths."""
    verdict = check_lossless_block(
        lambda coin, prefix: chain.generate(coin, lambda _: TARGET, lambda _: DRAFT, prefix, 1), lambda _: TARGET, 2
    )
    assert verdict == Lossless(paths=5, bound=0.0)


def test_a_text_that_is_never_emitted_is_the_counterexample() -> None:
    verdict = check_lossless_block(lambda *_: (0,), lambda _: TARGET, 1)
    assert isinstance(verdict, Lossy)
    assert (verdict.tokens, verdict.emitted, verdict.target) in [((0,), 1, Fraction(1, 4)), ((1,), 0, Fraction(3, 4))]
    # Of the two texts that are as far off, this one has to be named where the other is half right.
    half = check_lossless_block(lambda coin, _: (coin.draw(exact(["1/2", 0, "1/2"])),), lambda _: exact([0, 1, 0]), 1)
    assert isinstance(half, Lossy)
    assert (half.tokens, half.emitted, half.target, half.total_variation) == ((1,), 0, 1, 1)


@pytest.mark.parametrize("verify", [block.verify, chain.verify])
@pytest.mark.parametrize(
    ("targets", "drafts", "named"), [([[1, 1], [1, 0]], [[1, 0]], "target"), ([[1, 0]] * 2, [[1, 1]], "draft")]
)
def test_a_row_that_is_no_law_is_named(verify: Any, targets: Any, drafts: Any, named: str) -> None:
    with pytest.raises(ValueError, match=f"{named}.* sum to 2"):
        verify(None, (0,), [exact(row) for row in targets], [exact(row) for row in drafts])


def test_nothing_is_judged_after_a_text_that_has_ended() -> None:
    model = Table({(): ["1/2", "1/2"]}, context=0, end=1)
    assert check_lossless_block(lambda coin, prefix: (coin.draw(model(prefix)),), model, 1, prefix=(0,))
    with pytest.raises(ValueError, match="end"):
        check_lossless_block(lambda coin, prefix: (coin.draw(model(prefix)),), model, 1, prefix=(0, 1))


def test_a_number_that_is_no_count_is_named() -> None:
    model = Table({(): ["1/2", "1/2"]}, context=0)

    def one(coin: Any, _: Any) -> tuple[int, ...]:
        return (coin.draw(model(())),)

    with pytest.raises(ValueError, match=r"^horizon must be at least 1; got 0"):
        check_lossless_block(one, model, 0)
    with pytest.raises(ValueError, match=r"^rounds must be at least 1; got 0"):
        check_lossless_block(one, model, 1, 0)
    with pytest.raises(ValueError, match=r"^rounds must be at least 1; got 0"):
        emitted_law(one, model, 1, 0)
    with pytest.raises(ValueError, match=r"^lookahead must be at least 1; got 0"):
        optimum.level_bound(model, model, (), 0, 1)
    with pytest.raises(ValueError, match=r"^lookahead must be at least 1; got 0"):
        law(lambda coin: chain.draw(coin, Conditionals(model, model, ()), 0))


def test_a_lossless_verdict_says_what_it_judged_and_that_exact_laws_met_floats() -> None:
    def judged(handed: Any, target: Any, horizon: int, rounds: int) -> Lossless:
        verdict = check_lossless_block(lambda coin, _: (coin.draw(handed),), lambda _: target, horizon, rounds, (1,))
        assert isinstance(verdict, Lossless)
        return verdict

    floats = TARGET.astype(float)
    for masses, stored in ((TARGET, "as Fractions"), (floats, "stored as float64")):
        alone, twice = judged(masses, masses, 1, 1), judged(masses, masses, 2, 2)
        assert alone.assumed == twice.assumed == ()
        assert alone.scope == f"the first 1 tokens of 1 block after the prefix (1,), {stored}"
        assert twice.scope == f"the first 2 tokens of 2 blocks after the prefix (1,), {stored}"
    assert judged(floats, TARGET, 1, 1).assumed == (
        "the program passed floats to its coin, so the verdict is about floats",
    )
