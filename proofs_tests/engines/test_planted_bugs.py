"""Sixteen planted bugs of a stub engine are found within 20,000 tokens at level 10^-6, and narrowed down; none is
found where none is planted."""

from __future__ import annotations

from time import monotonic

import numpy as np
import pytest

from proofs_tests.engines.stub_runs import MOST, hunt, pair_of, right_runs
from spec_math.engines.protocol import Request
from spec_math.engines.stub import BUGS, Stub

TOKENS = "tokens do not have the exact distribution"
IGNORED = "tokens look as if the option were ignored"

NARROWED: dict[str, tuple[str, str]] = {
    "draft_processors": ("no options", "drafted at temperature 1/2, reported at 1 (M4)"),
    "residual_row": ("no options", TOKENS),
    "shared_coin": ("one prompt", "the residual is drawn with the draft's random number"),
    "one_stream": ("no options", "requests of one batch share random numbers"),
    "penalty_per_step": ("frequency_penalty=2.0", "as if the options did not see the latest tokens"),
    "min_p_ignored": ("min_p=0.3", IGNORED),
    "last_in_batch": ("no options", "at place 3 of the batch of 4"),
    "stale_cache": ("no options", "in the first token after a round with 2 or more, then 0 accepted"),
    "bonus_temperature": ("no options", "in the bonus token after a whole accepted block"),
    "draft_logprobs": ("no options", "log-probabilities are not the target's"),
    "seed_ignored": ("no options", "a seed that is used again gives other texts"),
    "end_passed": ("no options", "the text goes on after its end token"),
    "redraw": ("no options", "a rejection redraws from the target (M11)"),
    "greedy_drift": ("greedy", "from position 0 on"),
    "bias_on_bonus": ('logit_bias={"0": 3.0, "1": -3.0}', IGNORED),
    "bad_words_accepted": ("bad_words=[[0], [2], [3, 1]]", IGNORED),
}
"""The first case that fails for each bug, and what is said of it or of its suspect."""


def test_every_planted_bug_is_listed() -> None:
    assert set(NARROWED) == set(BUGS)
    assert len(BUGS) == 16


@pytest.mark.parametrize("bug", BUGS)
def test_a_planted_bug_is_found_and_narrowed_down(bug: str) -> None:
    one = hunt(Stub(pair_of(1), bug), 1)
    assert one.first is not None
    assert one.first <= MOST
    case, _, words = one.failures[0]
    wanted = NARROWED[bug]
    assert case == wanted[0]
    assert wanted[1] in f"{words}; {one.suspect}"


def test_a_right_engine_is_asked_the_same_and_nothing_is_found() -> None:
    """The control, at the same level and with the same numbers of tokens."""
    one = hunt(Stub(pair_of(1)), 1)
    assert (one.first, one.failures) == (None, [])


def test_right_runs_alarm_at_most_at_the_stated_rate() -> None:
    """At level .01: with the true rate at the level, more than 4 alarms of 60 have probability .0003 (binomial)."""
    start, runs, alarms = monotonic(), 0, 0
    while runs < 60 and monotonic() - start < 60:
        alarms += len(right_runs(4, 300, runs))
        runs += 4
    assert alarms <= 4


@pytest.mark.parametrize("bug", BUGS)
def test_a_planted_bug_is_off_where_it_does_not_apply(bug: str) -> None:
    """Without speculation every stub is the right one: equal texts from equal seeds."""
    asked = [Request((0, 3), 8, {"min_p": 0.1}, seed) for seed in range(4)]
    plain = Stub(pair_of(2)).ask(asked, 0)
    assert Stub(pair_of(2), bug).ask(asked, 0) == plain


def test_the_right_stub_has_the_exact_distribution_of_two_tokens() -> None:
    """Held by a chi-square of its own, which shares nothing with the sequential tests."""
    from scipy.stats import chisquare

    from spec_math.engines.exact import next_tokens
    from spec_math.engines.pair import PairShape, tables

    pair = tables(PairShape(size=4, seed=4))
    stub, firsts = Stub(pair), range(4)
    first, *after = (next_tokens(pair.target, [(0,)], [text])[0] for text in ((), *((x,) for x in firsts)))
    law = {(x, y): first[x] * after[x][y] for x in firsts for y in firsts if x != pair.target.end}
    law |= {(x,): first[x] for x in firsts if x == pair.target.end}
    answers = stub.ask([Request((0,), 2, {}, seed) for seed in range(8000)], 1)
    texts = list(law)
    counts = np.array([sum(answer.tokens == text for answer in answers) for text in texts])
    assert counts.sum() == 8000
    assert chisquare(counts, 8000 * np.array(list(law.values()))).pvalue > 1e-4
    wrong = Stub(pair, "redraw").ask([Request((0,), 2, {}, seed) for seed in range(8000)], 1)
    counts = np.array([sum(answer.tokens == text for answer in wrong) for text in texts])
    assert chisquare(counts, 8000 * np.array(list(law.values()))).pvalue < 1e-6
