"""The array form of chain and block verification decides what the replayed programs decide on the same uniforms."""

from __future__ import annotations

import re
from fractions import Fraction
from itertools import product
from random import Random
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from proofs_tests.block_level.chain_batches import Batch, distance, exact_batch, float_batch, replayed
from proofs_tests.block_level.models import Rows, model_pairs
from spec_math import array_coin
from spec_math.arrays import exact, proportional_to
from spec_math.block_level import block, chain, length
from spec_math.block_level.batch import array_form
from spec_math.block_level.batch.array_form import decide_block, decide_chain, verify_block, verify_chain

RULES = [(verify_chain, decide_chain, chain.verify), (verify_block, decide_block, block.verify)]
IDS = ["chain", "block"]


@pytest.mark.parametrize(("verify", "program"), [(verify, program) for verify, _, program in RULES], ids=IDS)
@given(data=st.data(), lookahead=st.integers(1, 3), seed=st.integers(0, 2**32 - 1))
def test_array_form_is_the_replayed_program_on_fractions(
    verify: Any, program: Any, data: st.DataObject, lookahead: int, seed: int
) -> None:
    """Everywhere, on thresholds too: no distance is excepted."""
    batch = exact_batch(data.draw(model_pairs(data.draw(st.integers(2, 4)))), lookahead, seed)
    emitted, count = verify(*batch)
    expected = [replayed(program, batch, row) for row in range(len(batch.tokens))]
    assert emitted.tolist() == expected
    assert count.tolist() == [sum(token >= 0 for token in row) for row in expected]


FLOATS = [(shape, kind) for shape in ((300, 3, 2), (200, 4, 5), (40, 6, 300)) for kind in ("fine", "coarse")]


@pytest.mark.parametrize("library", ["numpy", "torch", "torch in float32"])
@pytest.mark.parametrize(("shape", "kind"), FLOATS, ids=str)
@pytest.mark.parametrize(("verify", "decide", "program"), RULES, ids=IDS)
def test_array_form_is_the_replayed_program_beyond_the_rounding(
    verify: Any, decide: Any, program: Any, shape: tuple[int, int, int], kind: str, library: str
) -> None:
    """All rows at a distance of more than `rounding(V)` agree; none is nearer where the uniforms are not on a grid."""
    batch = float_batch(np.random.default_rng([*shape, kind == "fine"]), shape, kind)
    given_to_it: Any = batch
    if library != "numpy":
        torch = pytest.importorskip("torch")
        if library.endswith("32"):
            batch = Batch(
                batch.targets.astype(np.float32), batch.drafts.astype(np.float32), batch.tokens, batch.uniforms
            )
        given_to_it = Batch(*(torch.from_numpy(array) for array in batch))
    emitted, count = verify(*given_to_it)
    far = np.asarray(distance(decide, given_to_it)) > array_coin.rounding(shape[-1])
    expected = np.array([replayed(program, batch, row) for row in range(shape[0])])
    assert (np.asarray(emitted)[far] == expected[far]).all()
    assert (np.asarray(count) == (np.asarray(emitted) >= 0).sum(axis=1)).all()
    # On a grid of sixteenths, coarse laws put many coins ON their chance, but few of all.
    assert far.all() if kind == "fine" else far.mean() > 0.8
    assert len(np.unique(np.asarray(count))) > 1, "all blocks of one length would show nothing"


@pytest.mark.parametrize(("verify", "decide"), [(verify, decide) for verify, decide, _ in RULES], ids=IDS)
@given(data=st.data(), lookahead=st.integers(1, 3), seed=st.integers(0, 2**32 - 1))
def test_nothing_changes_within_the_distance(
    verify: Any, decide: Any, data: st.DataObject, lookahead: int, seed: int
) -> None:
    batch = exact_batch(data.draw(model_pairs(data.draw(st.integers(2, 3)))), lookahead, seed)
    least = distance(decide, batch)
    emitted = verify(*batch).emitted
    for sign in (-1, 1):
        moved = batch.uniforms + sign * least[:, None] * Fraction(99, 100)
        moved = np.where((moved >= 0) & (moved < 1), moved, batch.uniforms)
        assert (verify(batch.targets, batch.drafts, batch.tokens, moved).emitted == emitted).all()


@pytest.mark.parametrize(("verify", "decide", "program"), RULES, ids=IDS)
@pytest.mark.parametrize("lookahead", [1, 2])
def test_array_form_has_exactly_the_law_of_the_program(verify: Any, decide: Any, program: Any, lookahead: int) -> None:
    """Between the thresholds nothing changes, so that the law is a sum over cells: one uniform in each, its volume."""
    target, draft = (lambda p: TARGET[sum(p) % 2]), (lambda p: DRAFT[sum(p) % 2])
    emitted_law: dict[tuple[int, ...], Fraction] = {}
    for tokens in product(range(3), repeat=lookahead):
        paths = [tokens[:place] for place in range(lookahead + 1)]
        drafted = Fraction(1)
        for place, token in enumerate(tokens):
            drafted *= draft(paths[place])[token]
        laws = exact([[target(path) for path in paths]]), exact([[draft(path) for path in paths[:-1]]])
        cuts = cells(decide, *laws, tokens)
        corners = list(product(*(range(len(cut) - 1) for cut in cuts)))
        uniforms = exact([[cut[at] for cut, at in zip(cuts, corner, strict=True)] for corner in corners])
        rows = [np.repeat(array, len(corners), axis=0) for array in (*laws, np.array([tokens]))]
        emitted, count = verify(*rows, uniforms)
        for corner, block_, size in zip(corners, emitted.tolist(), count.tolist(), strict=True):
            volume = drafted
            for cut, at in zip(cuts, corner, strict=True):
                volume *= cut[at + 1] - cut[at]
            text = tuple(block_[:size])
            emitted_law[text] = emitted_law.get(text, Fraction(0)) + volume
    generate = chain.generate if program is chain.verify else block.generate
    assert emitted_law == length.law(lambda coin, prefix: generate(coin, target, draft, prefix, lookahead), ())


TARGET = [exact(["1/2", "1/3", "1/6"]), exact(["1/5", "1/5", "3/5"])]
DRAFT = [exact(["1/6", "1/2", "1/3"]), exact(["2/5", "2/5", "1/5"])]


def cells(decide: Any, targets: Any, drafts: Any, tokens: tuple[int, ...]) -> list[list[Fraction]]:
    """The thresholds of each column, whatever the others decide."""
    lookahead = len(tokens)
    cuts: list[set[Fraction]] = [{Fraction(0), Fraction(1)} for _ in range(lookahead + 1)]
    for corner in product([Fraction(0), Fraction(999, 1000)], repeat=lookahead):
        decisions = decide(targets, drafts, np.array([tokens]), exact([[*corner, 0]]))
        sums = np.cumsum(decisions.masses[0])
        cuts[-1] |= set((sums / sums[-1]).tolist())
        for place in range(lookahead):
            cuts[place].add(decisions.chances[0, place])
    return [sorted(cut) for cut in cuts]


# Controls: the same comparisons reject these.


def weighed(random: Random, size: int) -> Any:
    return proportional_to([random.randint(1, 6) for _ in range(size)])


def not_strict(targets: Any, drafts: Any, tokens: Any, uniforms: Any) -> Any:
    """u ≤ p: a coin exactly on its chance accepts."""
    return verify_chain(targets, drafts, tokens, np.where(uniforms > 0, uniforms - Fraction(1, 10**9), uniforms))


def shifted(verify: Any) -> Any:
    """Each position takes the coin of the next."""

    def verified(targets: Any, drafts: Any, tokens: Any, uniforms: Any) -> Any:
        columns = np.concatenate([uniforms[:, 1:-1], uniforms[:, :1], uniforms[:, -1:]], axis=1)
        return verify(targets, drafts, tokens, columns)

    return verified


def plain_residual(targets: Any, drafts: Any, tokens: Any, uniforms: Any) -> Any:
    """Block verification whose rejected position draws from (t − d)+ instead of (w t − d)+."""

    def decide(*arrays: Any) -> Any:
        found = decide_block(*arrays)
        size = array_form.lengths(tokens)
        kept = np.full(len(tokens), targets[0, 0, 0] * 0 + 1)
        return found._replace(masses=array_form.following(targets, drafts, found.accepted, size, kept))

    return array_form.verified(decide, targets, drafts, tokens, uniforms)


def first_run(targets: Any, drafts: Any, tokens: Any, uniforms: Any) -> Any:
    """Block verification that stops at the first coin which refuses."""

    def decide(*arrays: Any) -> Any:
        found = decide_block(*arrays)
        accepts = found.tossed & (uniforms[:, :-1] < found.chances)
        return found._replace(accepted=np.logical_and.accumulate(accepts, axis=1).sum(axis=1))

    return array_form.verified(decide, targets, drafts, tokens, uniforms)


CONTROLS = [
    (not_strict, chain.verify),
    (shifted(verify_chain), chain.verify),
    (shifted(verify_block), block.verify),
    (plain_residual, block.verify),
    (first_run, block.verify),
    (verify_chain, block.verify),
]


@pytest.mark.parametrize(
    ("control", "program"), CONTROLS, ids=["≤", "shifted", "shifted block", "residual", "run", "chain"]
)
def test_a_wrong_array_form_is_rejected(control: Any, program: Any) -> None:
    random = Random(0)
    target, draft = (Rows(tuple(weighed(random, 4) for _ in range(3))) for _ in range(2))
    differing = 0
    for seed in range(10):
        batch = exact_batch((target, draft), 3, seed, rows=20)
        emitted = control(*batch).emitted.tolist()
        differing += sum(emitted[row] != replayed(program, batch, row) for row in range(20))
    assert differing > 0


@pytest.mark.parametrize("name", ["targets", "drafts", "tokens", "uniforms"])
def test_arrays_that_do_not_fit_are_told_apart(name: str) -> None:
    batch = float_batch(np.random.default_rng(0), (3, 2, 4), "fine")
    arrays = dict(zip(("targets", "drafts", "tokens", "uniforms"), batch, strict=True))
    arrays[name] = arrays[name][:, :-1]
    with pytest.raises(ValueError, match=r"must be \[B, L \+ 1, V\]"):
        verify_chain(**arrays)


SHAPES = [(3, 3, 4), (3, 2, 4), (3, 2), (3, 3)]


@pytest.mark.parametrize(
    ("which", "shape"),
    [
        (which, other)
        for which, shape in enumerate(SHAPES)
        for other in [
            *((*shape[:axis], shape[axis] + by, *shape[axis + 1 :]) for axis in range(len(shape)) for by in (-1, 1)),
            shape[:-1],
            (*shape, 1),
            (),
        ]
    ],
)
def test_each_axis_of_each_array_has_one_length(which: int, shape: tuple[int, ...]) -> None:
    shapes = [*SHAPES[:which], shape, *SHAPES[which + 1 :]]
    told = f"with L ≥ 1; got {', '.join(map(str, shapes))}"
    with pytest.raises(ValueError, match=re.escape(told)):
        array_form.check(*map(np.zeros, shapes))


def test_a_place_and_a_token_at_least_are_needed() -> None:
    array_form.check(*map(np.zeros, SHAPES))
    array_form.check(*map(np.zeros, [(1, 2, 1), (1, 1, 1), (1, 1), (1, 2)]))
    for shapes in ([(3, 1, 4), (3, 0, 4), (3, 0), (3, 1)], [(3, 3, 0), (3, 2, 0), (3, 2), (3, 3)]):
        with pytest.raises(ValueError, match="with L ≥ 1"):
            array_form.check(*map(np.zeros, shapes))


@pytest.mark.parametrize(("verify", "decide"), [(verify, decide) for verify, decide, _ in RULES], ids=IDS)
def test_tensors_are_decided_on_their_own_device_as_arrays_are(verify: Any, decide: Any) -> None:
    torch = pytest.importorskip("torch", reason="torch is not installed")
    for seed in range(4):
        batch = float_batch(np.random.default_rng(seed), (20, 3, 5), "fine")
        tensors = [torch.from_numpy(np.ascontiguousarray(each)) for each in batch]
        # What is made without naming the batch's own device is made elsewhere, and does not mix with it.
        with torch.device("meta"):
            found, decided = verify(*tensors), decide(*tensors)
        wanted = verify(*batch)
        assert found.emitted.tolist() == wanted.emitted.tolist()
        assert found.count.tolist() == wanted.count.tolist()
        assert (decided.tossed.tolist(), decided.accepted.tolist()) == tuple(
            each.tolist() for each in decide(*batch)[1:3]
        )


def test_exact_and_float_laws_do_not_mix() -> None:
    batch = float_batch(np.random.default_rng(0), (3, 2, 4), "fine")
    with pytest.raises(TypeError, match="one number type"):
        verify_block(exact(batch.targets), batch.drafts, batch.tokens, batch.uniforms)


def test_a_row_with_nothing_left_over_is_drawn_from_the_target_whatever_other_rows_have() -> None:
    targets = exact([[["1/2", "1/2"], [1, 0]], [["1/4", "3/4"], [1, 0]]])
    drafts, none, one = exact([[["1/2", "1/2"]], [["1/2", "1/2"]]]), np.array([0, 0]), np.array([1, 1])
    masses = array_form.following(targets, drafts, none, one, exact([1, 1]))
    assert masses.tolist() == [[Fraction(1, 2), Fraction(1, 2)], [0, Fraction(1, 4)]]


@pytest.mark.parametrize("stored", ["int32", "int64"])
def test_lengths_are_stored_as_the_tokens_are(stored: str) -> None:
    tokens = np.array([[0, 1], [0, -1], [-1, 1]], dtype=stored)
    assert (array_form.lengths(tokens).tolist(), array_form.lengths(tokens).dtype) == ([2, 1, 0], tokens.dtype)


def test_what_is_emitted_stays_on_the_device_of_the_tokens() -> None:
    torch = pytest.importorskip("torch", reason="torch is not installed")
    tokens, one = (
        torch.zeros((3, 2), dtype=torch.int64, device="meta"),
        torch.zeros(3, dtype=torch.int64, device="meta"),
    )
    assert {array.device.type for array in array_form.joined(tokens, one, one)} == {"meta"}
