"""Speed from tokens per call and stated latencies: the shipped tables, the best lookahead, the best tree."""

from fractions import Fraction
from typing import Any, NamedTuple

import pytest

from proofs_tests.block_level.models import Rows
from spec_math.arrays import exact
from spec_math.block_level import chain
from spec_math.block_level.lengths import cost

TOKENS = {  # SpecTr, Table 4, the 6M draft: tokens per call by (paths, length)
    (1, 4): "2.21",
    (2, 4): "2.43",
    (4, 4): "2.74",
    (8, 4): "2.99",
    (1, 8): "2.33",
    (2, 8): "2.61",
    (4, 8): "2.96",
    (8, 8): "3.27",
}
TREES = [(paths, *[1] * (length - 1)) for paths, length in TOKENS]


class Choice(NamedTuple):
    widths: tuple[int, ...]
    tokens_per_call: Any
    latency: Any
    speed_up: Any


def best(expected_length: Any, candidates: Any, latency: Any, plain: Any = 1) -> Choice:
    """The tree with the largest speed-up, the first among equals."""
    costs = [(widths, expected_length(widths), latency(widths)) for widths in candidates]
    choices = [Choice(*known, cost.speed_up(known[1], known[2], plain)) for known in costs]
    return max(choices, key=lambda choice: choice.speed_up)


def chains(longest: int) -> list[tuple[int, ...]]:
    return [(1,) * size for size in range(1, longest + 1)]


def published(widths: tuple[int, ...]) -> Fraction:
    return Fraction(TOKENS[widths[0], len(widths)])


def test_the_shipped_tables_read_as_printed() -> None:
    # Sums of the printed rows, taken by hand from the paper.
    assert sum(entry.mean for entry in cost.SPECTR_TABLE_1.values()) == Fraction("8.79")
    assert sum(entry.spread for entry in cost.SPECTR_TABLE_1.values()) == Fraction("1.49")
    assert sum(entry.mean for entry in cost.SPECTR_TABLE_3.values()) == Fraction("1.45")
    assert sum(entry.spread for entry in cost.SPECTR_TABLE_3.values()) == Fraction("0.43")
    assert cost.SPECTR_TABLE_1[4, 1].mean == 1
    assert cost.SPECTR_TABLE_1[8, 8] == (Fraction("1.42"), Fraction("0.4"))
    assert set(cost.SPECTR_TABLE_1) == set(cost.SPECTR_TABLE_3)


def test_the_tree_with_the_most_tokens_is_not_the_fastest() -> None:
    # By Tables 1 and 4 with free drafting: 8 paths of 8 tokens yield 3.27 a call, but cost 1.42.
    target = cost.from_table(cost.SPECTR_TABLE_1)
    choice = best(published, TREES, lambda widths: cost.of_block(widths, target))
    assert choice == Choice((8, 1, 1, 1), Fraction("2.99"), Fraction("1.10"), Fraction(299, 110))
    assert max(TREES, key=published) == (8, *[1] * 7)


def test_a_draft_call_for_each_token_makes_table_3_cost_more_than_it_gains_in_length() -> None:
    # Read as one call a drafted token, 0.18 a call: eight tokens cost more than the target's call they save.
    target, draft = cost.from_table(cost.SPECTR_TABLE_1), cost.from_table(cost.SPECTR_TABLE_3)
    choice = best(published, TREES, lambda widths: cost.of_block(widths, target, draft))
    assert choice.widths == (8, 1, 1, 1)
    assert choice.latency == Fraction("1.10") + Fraction("0.18") + 3 * Fraction("0.20")
    assert choice.speed_up == Fraction(299, 188)


@pytest.mark.parametrize(
    ("spreads", "paths", "length", "speed"),
    [(-1, 8, 8, Fraction(327, 102)), (0, 8, 4, Fraction(299, 110)), (1, 4, 8, Fraction(296, 119))],
)
def test_the_fastest_tree_changes_within_the_spread_of_the_table(
    spreads: int, paths: int, length: int, speed: Fraction
) -> None:
    target = cost.from_table(cost.SPECTR_TABLE_1, spreads)
    choice = best(published, TREES, lambda widths: cost.of_block(widths, target))
    assert (choice.widths[0], len(choice.widths), choice.speed_up) == (paths, length, speed)


def test_the_best_lookahead_balances_acceptance_against_the_draft() -> None:
    # Without context and with overlap a, tokens per call are (1 − a^(L+1))/(1 − a); a draft token costs c, so that one
    # more is worth it while a^(L+1) (1 + L c) > c (1 + a + ... + a^L): here a = 3/4 and c = 1/8.
    target, draft = Rows((exact(["1/4", "3/4"]),)), Rows((exact(["1/2", "1/2"]),))
    a, c = Fraction(3, 4), Fraction(1, 8)
    lookahead = 1
    while a ** (lookahead + 1) * (1 + lookahead * c) > c * sum(a**i for i in range(lookahead + 1)):
        lookahead += 1
    choice = best(
        lambda widths: chain.expected(target, draft, (), len(widths)),
        chains(8),
        lambda widths: cost.of_block(widths, lambda length, batch: 1, lambda length, batch: c),  # noqa: ARG005
    )
    assert len(choice.widths) == lookahead == 4


def test_a_tree_drafts_each_level_from_the_nodes_above() -> None:
    asked: list[tuple[str, int, int]] = []

    def told(name: str) -> Any:
        def latency(length: int, batch: int) -> int:
            asked.append((name, length, batch))
            return 1

        return latency

    assert cost.of_block((2, 3, 1), told("target"), told("draft")) == 4
    assert asked == [("target", 3, 6), ("draft", 1, 1), ("draft", 1, 2), ("draft", 1, 6)]


def test_the_speed_up_is_over_the_call_that_plain_decoding_makes() -> None:
    choice = best(len, chains(3), lambda widths: 1 + Fraction(len(widths), 4), plain=Fraction(1, 2))
    assert choice == Choice((1, 1, 1), 3, Fraction(7, 4), Fraction(6, 7))
    assert cost.speed_up(3, Fraction(7, 4), Fraction(1, 2)) == Fraction(6, 7)


@pytest.mark.parametrize(
    ("call", "error", "message"),
    [
        (
            lambda: cost.from_table(cost.SPECTR_TABLE_1)(5, 1),
            LookupError,
            "length 5 and batch 1; the table has lengths",
        ),
        (lambda: cost.from_table(cost.SPECTR_TABLE_1)(4, 3), LookupError, r"batches \[1, 2, 4, 8\]"),
        (lambda: cost.speed_up(2, 0), ValueError, "latencies must be positive; got 0 for a block and 1 for plain"),
        (lambda: cost.speed_up(2, 1, 0), ValueError, "latencies must be positive; got 1 for a block and 0 for plain"),
        (lambda: cost.speed_up(Fraction(1, 2), 1), ValueError, "every call yields at least 1 token"),
        (lambda: cost.of_block((), len), ValueError, "at least one level"),
    ],
)
def test_cost_refuses(call: Any, error: type[Exception], message: str) -> None:
    with pytest.raises(error, match=message):
        call()
