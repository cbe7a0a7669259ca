"""Sampled lengths against exact ones, on models small enough for both; and drafts that are drawn as they should be."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from fractions import Fraction
from itertools import product
from typing import Any

import numpy as np
import pytest

from spec_math.block_level import block, chain, optimum
from spec_math.block_level.conditionals import Conditionals
from spec_math.block_level.lengths import monte_carlo
from spec_math.block_level.lengths.monte_carlo import (
    DraftedMasses,
    GatheredLaws,
    Setting,
    ceilings,
    drafted_after_every_prefix,
    drafted_masses,
    extended,
    of_every_prefix,
    sample,
    with_distinct_roots,
)
from spec_math.block_level.methods import CHAINS, DISTINCT, METHODS, named
from spec_math.chance import law
from spec_math.language import NGram, Table
from spec_math.token_level import without_replacement

TARGET = Table({(): [0.5, 0.3, 0.2], (0,): [0.1, 0.6, 0.3], (1,): [0.7, 0.2, 0.1], (2,): [0.2, 0.2, 0.6]}, context=1)
DRAFT = Table({(): [0.2, 0.5, 0.3], (0,): [0.4, 0.4, 0.2], (1,): [0.3, 0.4, 0.3], (2,): [0.5, 0.25, 0.25]}, context=1)
OPEN = [(), (0,), (1,)]
ENDING = tuple(Table({prefix: model.rows[prefix] for prefix in OPEN}, context=1, end=2) for model in (TARGET, DRAFT))
TEXT = np.random.default_rng(5).integers(0, 4, 400)


@pytest.mark.parametrize("models", [(TARGET, DRAFT), ENDING], ids=["no end", "end"])
def test_every_method_is_within_its_interval(models: Any) -> None:
    """Of 99 % intervals some miss; at five standard errors, one in two million."""
    setting = Setting(*models, [()], (1, 2, 3), 2)
    for line in sample(setting, 400, np.random.default_rng(1)):
        for lookahead in (1, 2):
            exact = float(line.method.expected(*models, (), lookahead, line.k))
            mean = line.tokens(lookahead)
            assert abs(mean.value - exact) <= 5 * mean.error + 1e-12, (line.method.name, line.k, lookahead)
            gain = line.gain(lookahead)
            plain = float(chain.expected(*models, (), lookahead))
            assert abs(gain.value - (exact - plain)) <= 5 * gain.error + 1e-12


def test_differences_are_sharper_than_values() -> None:
    setting = Setting(TARGET, DRAFT, [(), (0,), (1,), (2,)], (2,), 4)
    for line in sample(setting, 200, np.random.default_rng(2)):
        if not line.method.one_chain:
            assert line.gain(4).error < line.tokens(4).error


def test_every_prefix_agrees_with_the_exact_mean_over_prefixes() -> None:
    target, draft = NGram.learn(TEXT, 3, 4), NGram.learn(TEXT, 2, 4)
    prefixes = [(), (0,), (1, 2), (3, 3), (0, 2)]
    setting = Setting(target, draft, prefixes, (1,), 3)
    found = of_every_prefix(drafted_after_every_prefix(setting, 1_000, np.random.default_rng(0)))
    for means, expected in zip(found[:2], (chain.expected, block.expected), strict=True):
        for lookahead in (1, 2, 3):
            exact = np.mean([expected(target, draft, prefix, lookahead) for prefix in prefixes])
            mean = means[lookahead - 1]
            assert abs(mean.value - exact) <= 5 * mean.error
            assert mean.samples == 5_000
    for gain, plain, kept in zip(found.gain, *found[:2], strict=True):
        assert abs(gain.value - (kept.value - plain.value)) <= 2.0**-40
        assert gain.value == 0 if gain is found.gain[0] else gain.value > 5 * gain.error
    assert found.gain[2].error < found.as_a_block[2].error


def test_chains_drafted_at_once_are_those_drafted_repeat_by_repeat(monkeypatch: pytest.MonkeyPatch) -> None:
    """In parts of two repeats, and of five where the last is not full; three prefixes, so that none may be mixed up."""
    setting = Setting(NGram.learn(TEXT, 3, 4), NGram.learn(TEXT, 2, 4), [(), (0,), (1, 2)], (1, 2), 3)
    found: list[DraftedMasses] = []
    for at_once in (1, 6, 15, 2**15):
        monkeypatch.setattr(monte_carlo, "_AT_ONCE", at_once)
        found.append(drafted_after_every_prefix(setting, 8, np.random.default_rng(3)))
    assert all((ours == first).all() for one in found for ours, first in zip(one, found[0], strict=True))


def texts(model: NGram, prefix: tuple[int, ...], size: int) -> dict[tuple[int, ...], float]:
    """The law of the next `size` tokens."""
    masses = {(): 1.0}
    for _ in range(size):
        masses = {(*s, x): m * p for s, m in masses.items() for x, p in enumerate(model((*prefix, *s)))}
    return masses


def test_ceilings_are_sums_over_texts_and_above_the_optimum() -> None:
    target, draft = NGram.learn(TEXT[:40], 3, 3 + 1), NGram.learn(TEXT[100:160], 2, 4)
    prefixes = [(0,), (1, 2)]
    setting = Setting(target, draft, prefixes, (1, 2, 3), 2)
    found = ceilings(drafted_after_every_prefix(setting, 3_000, np.random.default_rng(0)), setting.ks)
    for k in (1, 2, 3):
        exact = np.zeros(2)
        for prefix in prefixes:
            for size in (1, 2):
                drafted = texts(draft, prefix, size)
                exact[size - 1 :] += sum(
                    min(mass, 1 - (1 - drafted[s]) ** k) for s, mass in texts(target, prefix, size).items()
                ) / len(prefixes)
        if k == 1:
            kept = [[block.expected(target, draft, prefix, size) for prefix in prefixes] for size in (1, 2)]
            assert 1 + exact[1] > np.mean(kept[1]) + 1e-3, "the sum over texts is not reached by one chain"
            exact = np.mean(kept, axis=1) - 1
        for mean, value in zip(found[k], 1 + exact, strict=True):
            assert abs(mean.value - value) <= 5 * mean.error
        if k == 1:
            continue
        best = np.mean([float(optimum.level_bound(target, draft, prefix, 2, k)) for prefix in prefixes])
        assert 1 + exact[1] >= best - 1e-9


def test_gathered_laws_are_the_models_own_and_are_asked_for_once(monkeypatch: pytest.MonkeyPatch) -> None:
    target, draft = NGram.learn(TEXT, 3, 4), NGram.learn(TEXT, 2, 4)
    gathered, asked = GatheredLaws(target, draft, (0, 1)), Conditionals(target, draft, (0, 1))
    paths = [(), (2,), (2, 3), (2, 3, 1)]
    theirs = [(asked.target(path).tolist(), asked.draft(path).tolist()) for path in paths]
    gathered.gather(paths)
    # From here on no model may be asked.
    monkeypatch.setattr(NGram, "__call__", None)
    monkeypatch.setattr(NGram, "rows", None)
    gathered.gather([*paths, ()])
    assert [(gathered.target(path).tolist(), gathered.draft(path).tolist()) for path in paths] == theirs


@pytest.mark.parametrize("orders", [(4, 2), (2, 4), (3, 3)])
def test_masses_along_drafted_chains_are_the_models_own(orders: tuple[int, int]) -> None:
    """The same chains, token by token: drawn by the draft on the same uniforms, with whole rows of both models."""
    target, draft = (NGram.learn(TEXT, order, 4) for order in orders)
    longest, uniforms = max(orders) - 1, np.random.default_rng(8).random((3, 20))
    starts = [tuple(TEXT[at : at + longest].tolist()) for at in range(20)]
    t, d = drafted_masses((target, draft), np.array(starts), uniforms.T)
    for row, start in enumerate(starts):
        prefix = start
        for place in range(3):
            token = int(draft.draw([draft.context(prefix)], [uniforms[place, row]])[0])
            assert (t[row, place], d[row, place]) == (target(prefix)[token], draft(prefix)[token])
            prefix = (*prefix, token)


class Given:
    """A generator whose uniforms are given."""

    def __init__(self, uniforms: list[float]) -> None:
        self.uniforms = uniforms

    def random(self, size: int) -> Any:
        taken, self.uniforms = self.uniforms[:size], self.uniforms[size:]
        return np.array(taken)


GRID = [(i + 0.5) / 12 for i in range(12)]


def drawn(first_of_each: bool) -> dict[Any, Fraction]:
    """The law of two distinct tokens, every uniform on a grid of twelfths, on which all borders lie."""
    laws = GatheredLaws(lambda _: [0.5, 0.25, 0.25], lambda _: [0.5, 0.25, 0.25], ())
    counted: Counter[Any] = Counter()
    for uniforms in product(GRID, repeat=3):
        rng = Given(list(uniforms))
        chains = extended(laws, [(), ()], 1, rng)
        if first_of_each:
            chains = with_distinct_roots(laws, chains, 2, 1, rng)
        counted[tuple(token for (token,) in chains)] += 1
    return {tokens: Fraction(times, 12**3) for tokens, times in counted.items()}


def test_distinct_first_tokens_are_drawn_without_replacement() -> None:
    exact = law(lambda coin: without_replacement.draw(coin, ["1/2", "1/4", "1/4"], 2))
    assert drawn(first_of_each=True) == exact
    assert drawn(first_of_each=False) != exact


def test_chains_stop_at_the_end_and_at_the_lookahead() -> None:
    laws = GatheredLaws(*ENDING, (0,))
    chains = extended(laws, [(), (1,), (2,)] * 30, 3, np.random.default_rng(0))
    assert all(chain_.index(2) == len(chain_) - 1 if 2 in chain_ else len(chain_) == 3 for chain_ in chains)
    assert {len(chain_) for chain_ in chains} == {1, 2, 3}


def test_too_few_samples_and_exact_models_are_refused() -> None:
    setting = Setting(TARGET, DRAFT, [()], (2,), 2)
    with pytest.raises(ValueError, match="take at least 4; got 3"):
        sample(setting, 3, np.random.default_rng(0))
    exact = Table({(): ["1/2", "1/2"]}, context=0)
    with pytest.raises(TypeError, match="sampling takes float distributions"):
        sample(Setting(exact, exact, [()], (2,), 2), 8, np.random.default_rng(0))
    with pytest.raises(TypeError, match="asked of n-gram models"):
        drafted_after_every_prefix(setting, 2, np.random.default_rng(0))
    with pytest.raises(LookupError, match=r"no row for prefix \([01],\)"):
        sample(Setting(Table({(): [0.5, 0.5]}), Table({(): [0.5, 0.5]}), [()], (1,), 2), 8, np.random.default_rng(0))


def test_a_method_of_double_effort_sees_every_second_sample_and_is_held_against_the_same_ones() -> None:
    """The plain method under another name gains nothing on plain chains, sample by sample."""
    plain = METHODS[0]
    setting = Setting(TARGET, DRAFT, [(), (0,), (1,)], (1, 2), 3)
    (slow,) = sample(setting, 9, np.random.default_rng(3), methods=[replace(plain, effort=2)])
    (all_of_them,) = sample(setting, 9, np.random.default_rng(3), methods=[plain])
    assert slow.accepted.tolist() == slow.plain.tolist() == all_of_them.accepted[::2].tolist()
    assert slow.accepted.shape == (5, 3)
    gained = slow.gain(3)
    assert (gained.value, gained.error, gained.samples) == (0.0, 0.0, 5)
    assert gained.low < 0 < gained.high
    assert len({tuple(row) for row in all_of_them.accepted.tolist()}) > 3


@pytest.mark.parametrize("in_turn", [True, False])
def test_prefixes_come_in_turn_where_that_is_asked_for(in_turn: bool) -> None:
    met: list[Any] = []

    def prepare(nodes: Any, k: int) -> Any:  # noqa: ARG001
        met.append(nodes.laws.prefix)
        return lambda chains, lookahead: [0.0] * lookahead  # noqa: ARG005

    prefixes = [(0,), (1,), (2,), (0, 1), (1, 1)]
    setting = Setting(TARGET, DRAFT, prefixes, (1,), 1, in_turn)
    rng = np.random.default_rng(0)
    _ = sample(setting, 12, rng, methods=[replace(METHODS[1], prepare=prepare)])
    assert (met == (prefixes * 3)[:12]) == in_turn
    assert set(met) <= set(prefixes)
    assert len(set(met)) > 2


def groups_by_call(drafts: str) -> list[tuple[int, list[list[Any]]]]:
    """What two methods are handed in 3 samples of at most 5 chains: (k, groups) of each call."""
    calls: list[tuple[int, list[list[Any]]]] = []

    def prepare(nodes: Any, k: int) -> Any:  # noqa: ARG001
        calls.append((k, []))

        def given(chains: Any, lookahead: int) -> list[float]:
            calls[-1][1].append(list(chains))
            return [float(len(calls[-1][1]))] * lookahead

        return given

    method = replace(named("K-SEQ"), drafts=drafts, prepare=prepare)
    lines = sample(
        Setting(TARGET, DRAFT, [()], (2, 3, 5), 2),
        3,
        np.random.default_rng(5),
        methods=[method, replace(method, name="again")],
    )
    # The mean over groups: of 1 and 2 where there are two.
    assert [line.accepted.tolist() for line in lines[:3]] == [[[1.5] * 2] * 3, [[1.0] * 2] * 3, [[1.0] * 2] * 3]
    return calls


def test_chains_are_shared_out_in_groups_that_do_not_overlap() -> None:
    calls = groups_by_call(CHAINS)
    for at in range(0, len(calls), 6):
        of_sample = calls[at : at + 6]
        assert [k for k, _ in of_sample] == [2, 3, 5] * 2
        pairs, triple, whole = (groups for _, groups in of_sample[:3])
        (chains,) = whole
        assert pairs == [chains[:2], chains[2:4]]
        assert triple == [chains[:3]]
        assert [groups for _, groups in of_sample[3:]] == [pairs, triple, whole]


def test_methods_without_replacement_share_their_chains_too() -> None:
    calls = groups_by_call(DISTINCT)
    for at in range(0, len(calls), 6):
        first, second = calls[at : at + 3], calls[at + 3 : at + 6]
        assert first == second
        for k, groups in first:
            for chains in groups:
                assert len({chain_[0] for chain_ in chains}) == len(chains) == min(k, 3)
                assert all(len(chain_) == 2 for chain_ in chains)


def test_every_prefix_is_reproducible_and_stops_at_the_lookahead() -> None:
    model, other = NGram.learn(TEXT, 3, 4), NGram.learn(TEXT, 2, 4)
    setting = Setting(model, other, [(), (0,), (1, 2), (3, 3), (0, 2)], (1,), 2)
    first, again, another = (
        of_every_prefix(drafted_after_every_prefix(setting, 4, np.random.default_rng(seed))) for seed in (0, 0, 1)
    )
    assert first == again != another
    assert [len(means) for means in first] == [2, 2, 2]
