"""Recordings and drawn texts: the values of whole rows, document by document, and errors that name the position."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest

from proofs_tests.block_level.estimators import against_exact, trees_against_exact
from proofs_tests.block_level.models import Rows
from spec_math.arrays import exact
from spec_math.block_level.lengths import recorded_text
from spec_math.block_level.lengths.recorded_text import Along, along, drawn, recorded, reduced
from spec_math.block_level.lengths.target_text import Text, accepted, bound
from spec_math.block_level.methods import METHODS, named
from spec_math.language import Table

CANDIDATES = [(method, 1 if method.one_chain else k) for method in METHODS if method.along for k in (2, 3)]
SIZE, LOOKAHEAD = 600, 4


def recording(positions: int, size: int = SIZE) -> tuple[Any, Any, Any]:
    """Rows of both models, in part with equal ratios and with tokens that the draft never draws, and a text."""
    rng = np.random.default_rng(5)
    targets, drafts = rng.dirichlet(np.full(size, 0.2), positions), rng.dirichlet(np.full(size, 0.5), positions)
    drafts = (drafts + 2 * targets) / 3
    # A third of the tokens has a few ratios alone, a sixth is never drafted.
    drafts[:, : size // 3] = targets[:, : size // 3] * rng.choice([0.25, 1.0, 2.0], (positions, size // 3))
    drafts[:, -(size // 6) :] = 0.0
    tokens = [int(rng.choice(size, p=row)) for row in targets]
    return targets, drafts / drafts.sum(1, keepdims=True), np.array(tokens)


def chunks(*rows: Any, many: int = 7) -> Iterator[tuple[Any, ...]]:
    for start in range(0, len(rows[0]), many):
        yield tuple(side[start : start + many] for side in rows)


def values(rows: Any, tokens: Any, documents: list[int], end: int | None = None) -> list[Along]:
    return list(recorded(rows, tokens, documents, CANDIDATES, LOOKAHEAD, end))


def furthest(change: Callable[[Any, Any, int], Any] | None, monkeypatch: pytest.MonkeyPatch) -> dict[str, float]:
    """The largest difference of a method's value at a start to that of whole rows, per accepted token."""
    targets, drafts, tokens = recording(60)
    starts = np.arange(60 - LOOKAHEAD + 1)[:, None] + np.arange(LOOKAHEAD)
    whole = along(Text(targets, drafts, tokens, starts), CANDIDATES)
    if change:
        monkeypatch.setattr(recorded_text, "reduced", change)
    (found,) = values(chunks(targets, drafts), tokens, [60])
    return {"bound": float(np.abs(found.bounds[2] - whole.bounds[2]).max())} | {
        f"{method.name} {k}": float(np.abs(found.accepted[method, k] - whole.accepted[method, k]).max())
        for method, k in CANDIDATES
    }


def test_reduced_rows_give_the_values_of_whole_rows(monkeypatch: pytest.MonkeyPatch) -> None:
    """Of one chain and of the highest rank exactly, as they hang on the text's token alone; of others to 3·10^-3."""
    gaps = furthest(None, monkeypatch)
    sharp = ("bound", "one chain", "greedy multi-path")
    assert [name for name, gap in gaps.items() if gap > (1e-9 if name.startswith(sharp) else 3e-3)] == []


def without_its_place(target: Any, draft: Any, token: int) -> Any:
    """The token is put behind its equals: the control."""
    t, d, place = reduced(target, draft, token)
    return t, d, max(place - 1, 0)


def in_a_few_classes(target: Any, draft: Any, token: int) -> Any:
    """Four classes beside the token."""
    t, d, place = reduced(target, draft, token)
    parts = [slice(0, place // 2), slice(place // 2, place), slice(place, place + 1), slice(place + 1, len(t))]
    return np.array([t[part].sum() for part in parts]), np.array([d[part].sum() for part in parts]), 2


@pytest.mark.parametrize("wrong", [without_its_place, in_a_few_classes])
def test_wrong_classes_are_seen(monkeypatch: pytest.MonkeyPatch, wrong: Any) -> None:
    assert max(furthest(wrong, monkeypatch).values()) > 0.01


def test_classes_hold_all_masses_and_change_the_target_little() -> None:
    targets, drafts, tokens = recording(40)
    for t, d, token in zip(targets, drafts, tokens.tolist(), strict=True):
        classes, drafted, place = reduced(7 * t, 3 * d, token)
        assert abs(classes.sum() - 1) < 1e-12 and abs(drafted.sum() - 1) < 1e-12 and len(classes) < 200
        assert (classes[place], drafted[place]) == pytest.approx((t[token], d[token]), rel=1e-12)
        for scale in (0.5, 1.0, 1.7, 3.0):
            gap = np.maximum(t - scale * d, 0).sum() - np.maximum(classes - scale * drafted, 0).sum()
            assert -1e-12 < gap < 1e-3


def test_documents_are_texts_of_their_own() -> None:
    targets, drafts, tokens = recording(50)
    found = values(chunks(targets, drafts), tokens, [20, 3, 27])
    assert [len(one.bounds[2]) for one in found] == [17, 0, 24]
    for one, first, last in zip(found, (0, 20, 23), (20, 23, 50), strict=True):
        (alone,) = values(chunks(targets[first:last], drafts[first:last]), tokens[first:last], [last - first])
        assert all((one.accepted[name] == alone.accepted[name]).all() for name in CANDIDATES)
    # The control: one text of all has windows from one document into the next.
    (joined,) = values(chunks(targets, drafts), tokens, [50])
    assert len(joined.bounds[2]) == 47


def test_a_text_that_ended_has_a_start_at_each_token() -> None:
    targets, drafts, tokens = recording(30)
    end = int(tokens[-1])
    first = int(np.flatnonzero(tokens == end)[0])
    (found,) = values(chunks(targets[: first + 1], drafts[: first + 1]), tokens[: first + 1], [first + 1], end)
    assert found.bounds[2].shape == (first + 1, LOOKAHEAD)
    for name in CANDIDATES:
        # The end token, and what is behind it, brings no further token.
        assert found.accepted[name][-1].tolist() == [0.0] * LOOKAHEAD
        assert (np.fliplr(found.accepted[name][-LOOKAHEAD:])[np.tril_indices(LOOKAHEAD)] == 0).all() or first < 4


def test_text_of_another_temperature_is_weighted() -> None:
    """In expectation: exact tables do it in `test_target_text`; here the weights are those of each window."""
    targets, drafts, tokens = recording(40)
    writers = targets**0.7 / (targets**0.7).sum(1, keepdims=True)
    (own,) = values(chunks(targets, drafts), tokens, [40])
    (found,) = values(chunks(targets, drafts, writers), tokens, [40])
    places = np.arange(40), tokens
    ratios = targets[places] / writers[places]
    windows = np.arange(40 - LOOKAHEAD + 1)[:, None] + np.arange(LOOKAHEAD)
    assert np.allclose(found.weights, np.cumprod(ratios[windows], axis=1), rtol=1e-9)
    assert (own.weights == 1).all() and own.effective.tolist() == [37.0] * LOOKAHEAD
    assert (found.effective < 37).all()
    for name in CANDIDATES:
        assert np.allclose(found.accepted[name], own.accepted[name] * found.weights, rtol=1e-9)


def test_bad_recordings_are_refused_with_their_position() -> None:
    targets, drafts, tokens = recording(12)
    absent = int(np.flatnonzero(targets[5] == targets[5].min())[0])
    never = targets.copy()
    never[5, absent] = 0.0
    wrong = tokens.copy()
    wrong[5] = absent
    cases: list[tuple[str, Any]] = [
        (r"position 5: the text has token \d+, which", lambda: values(chunks(never, drafts), wrong, [12])),
        (r"position 5: the target draws token \d+", lambda: values(chunks(targets, drafts, never), tokens, [12])),
        (
            "the documents have 11 tokens in all, but 12 are given",
            lambda: values(chunks(targets, drafts), tokens, [11]),
        ),
        ("the rows end before position 7", lambda: values(chunks(targets[:7], drafts[:7]), tokens, [12])),
        ("more rows than the 8 tokens", lambda: values(chunks(targets, drafts), tokens[:8], [8])),
        (
            r"position 3: a token lies in 0\.\.599; got 600",
            lambda: values(chunks(targets, drafts), [0, 1, 2, 600], [4]),
        ),
        ("position 2: a text goes on after the end", lambda: values(chunks(targets, drafts), tokens, [12], tokens[2])),
    ]
    for message, call in cases:
        with pytest.raises(ValueError, match=message):
            call()
    with pytest.raises(
        ValueError, match="recursive rejection, distinct first tokens: both distributions along one text"
    ):
        list(recorded(chunks(targets, drafts), tokens, [12], [(named("recursive rejection, dis"), 2)], LOOKAHEAD))


def test_drawn_texts_have_the_exact_mean() -> None:
    """4,000 texts of a table with an end token: each mean within 4 standard errors of the exact value."""
    rows = (["1/2", "1/3", "1/6"], ["1/6", "2/3", "1/6"]), (["1/4", "1/2", "1/4"], ["1/3", "1/6", "1/2"])
    exactly = [Rows(tuple(exact(row) for row in side), 2) for side in rows]
    floats = [Rows(tuple(model.astype(float) for model in side.rows), 2) for side in exactly]
    text = drawn(floats[0], floats[1], [()] * 4000, 3, np.random.default_rng(0))
    for method, k in CANDIDATES:
        found = 1 + accepted(method.along or bound, text, k).sum(1)
        gap = abs(found.mean() - float(method.expected(exactly[0], exactly[1], (), 3, k)))
        assert gap < 4 * found.std() / 4000**0.5 + 1e-12, method.name


def test_estimates_along_texts_have_the_exact_mean() -> None:
    """The small table of `proofs_tests.block_level.estimators`, with fewer samples."""
    gaps = [(name, found.gap(value)) for name, value, found in against_exact(300)]
    gaps += [(name, one.gap(value)) for name, value, *both in trees_against_exact(300) for one in both]
    assert [gap for gap in gaps if abs(gap[1]) > 4] == []


def test_n_gram_models_and_tables_are_drawn_from_alike() -> None:
    table = Table({(): [0.25, 0.75]}, context=0)
    text = drawn(table, table, [(), (0,)], 2, np.random.default_rng(0))
    assert accepted(bound, text, 2).tolist() == [[1.0, 1.0]] * 2
