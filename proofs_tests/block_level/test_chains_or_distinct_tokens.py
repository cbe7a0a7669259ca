"""I.i.d. chains against chains with distinct first tokens, as many and as long: neither is better for all models."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from typing import Any

from hypothesis import given, settings

from proofs_tests.block_level.models import Rows, model_pairs
from spec_math.arrays import Array, exact
from spec_math.block_level import block, optimum
from spec_math.block_level.optimum import OptimalLength

Model = Callable[[tuple[int, ...]], Array]


def both(target: Any, draft: Any, lookahead: int, k: int) -> tuple[Fraction, Fraction]:
    """The most that any verifier yields: of i.i.d. chains, and of distinct first tokens."""
    of_chains = optimum.tokens_per_call(target, draft, (), lookahead, k)
    of_distinct = optimum.tokens_per_call_of_tree(target, draft, (), (k, *[1] * (lookahead - 1)))
    assert isinstance(of_chains, OptimalLength)
    assert isinstance(of_distinct, OptimalLength)
    return of_chains.tokens_per_call, of_distinct.tokens_per_call


def after_the_first(first: tuple[Array, Array], later: tuple[Array, Array]) -> tuple[Model, Model]:
    """Two models with one pair of laws for the first token, and another after it."""
    return (lambda prefix: later[0] if prefix else first[0]), (lambda prefix: later[1] if prefix else first[1])


HALVES, ONE_SIDED = exact(["1/2", "1/2"]), exact(["9/10", "1/10"])


def test_an_instance_where_i_i_d_chains_are_worth_more() -> None:
    """The first token is all but settled, the second is not: two tries below it are worth more than one elsewhere.

    Of chains 0 is drafted with .99, and 01 with 1 − .91²: .99 + .495 + .1719; distinct tokens have 1 + .5 + .1.
    """
    models = after_the_first((exact([1, 0]), ONE_SIDED), (HALVES, ONE_SIDED))
    chains, distinct = both(*models, 2, 2)
    assert (chains, distinct) == (1 + Fraction(16569, 10000), 1 + Fraction(16, 10))


def test_an_instance_where_distinct_first_tokens_are_worth_more() -> None:
    """The other way round: the first token is open, the second is drafted as the target writes it."""
    models = after_the_first((HALVES, ONE_SIDED), (HALVES, HALVES))
    chains, distinct = both(*models, 2, 2)
    assert (chains, distinct) == (1 + Fraction(138, 100), 3)


@settings(max_examples=6)
@given(model_pairs(2, end=False, small=True))
def test_where_later_tokens_are_drafted_as_written_distinct_tokens_are_never_behind(models: tuple[Rows, Rows]) -> None:
    target, draft = models

    def drafted(prefix: tuple[int, ...]) -> Array:
        return target(prefix) if prefix else draft(prefix)

    chains, distinct = both(target, drafted, 2, 2)
    assert distinct >= chains


@settings(max_examples=6)
@given(model_pairs(2, end=False, small=True))
def test_where_the_first_token_is_certain_i_i_d_chains_are_never_behind(models: tuple[Rows, Rows]) -> None:
    target, draft = models

    def drafted(prefix: tuple[int, ...]) -> Array:
        return draft(prefix) if prefix else exact([0, 1])

    chains, distinct = both(target, drafted, 2, 2)
    assert chains >= distinct
    # Distinct drafts are one chain there, whose optimum is block verification.
    assert distinct == block.expected(target, drafted, (), 2)
