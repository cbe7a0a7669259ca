"""Streams of positions: logits and probabilities give one comparison, and a row that is no distribution is named."""

import numpy as np
import pytest

from spec_math.files.law_files import LawFileError, open_laws
from spec_math.studies.positions.stream import compressed, filtered, from_files, from_rows, parsed_filters


def saved(folder, name, array):
    np.save(folder / name, array)
    return open_laws(folder / name)


def whole(positions, rows=3):
    batches = [(b.targets.copy(), b.drafts.copy()) for b in positions.batches(rows)]
    return [
        np.concatenate(side) / np.concatenate(side).sum(axis=1, keepdims=True) for side in zip(*batches, strict=True)
    ]


def test_logits_and_probabilities_give_the_same_laws(tmp_path):
    logits = np.random.default_rng(0).standard_normal((7, 5))
    laws = np.exp(logits) / np.exp(logits).sum(axis=1, keepdims=True)
    a = from_files(*(saved(tmp_path, f"l{i}.npy", logits) for i in range(2)), logits=True)
    b = from_files(*(saved(tmp_path, f"p{i}.npy", laws) for i in range(2)), logits=False)
    # Each mass is an exponential over a sum: a few unit roundoffs of 2^-53 on either side.
    assert max(np.abs(x - y).max() for x, y in zip(whole(a), whole(b), strict=True)) <= 32 * 2.0**-53
    other = from_files(
        *(saved(tmp_path, f"o{i}.npy", logits + np.array([0, 0, 0, 0, 9])) for i in range(2)), logits=True
    )
    assert np.abs(whole(a)[0] - whole(other)[0]).max() > 0.01


def test_temperature_of_the_draft_is_the_power_of_its_law(tmp_path):
    logits = np.random.default_rng(1).standard_normal((4, 5))
    file = saved(tmp_path, "l.npy", logits)
    laws = saved(tmp_path, "p.npy", np.exp(logits) / np.exp(logits).sum(axis=1, keepdims=True))
    expected = np.exp(logits / 0.5)
    expected /= expected.sum(axis=1, keepdims=True)
    power = filtered(from_files(laws, laws, False), parsed_filters(["draft.temperature=0.5"]))
    for positions in (from_files(file, file, True, (1.0, 0.5)), power):
        assert np.abs(whole(positions)[1] - expected).max() <= 64 * 2.0**-53
        assert np.abs(whole(positions)[0] - expected).max() > 0.01


def test_minus_infinity_is_mass_zero(tmp_path):
    file = saved(tmp_path, "l.npy", np.array([[0.0, -np.inf, 0.0]]))
    assert whole(from_files(file, file, logits=True))[0].tolist() == [[0.5, 0.0, 0.5]]


@pytest.mark.parametrize(
    ("row", "logits", "words"),
    [
        ([0.5, 0.4], False, r"position 3: masses stored as float64 must sum to 1 within .*; these sum to 1 -0\.1"),
        ([-0.5, 1.5], False, r"position 3: masses must be >= 0; token 0 has -0\.5; if these are logits, pass --logits"),
        ([np.nan, 1.0], False, "position 3: masses must be finite; token 0 has nan"),
        ([np.inf, 1.0], False, "position 3: masses must be finite; token 0 has inf"),
        ([np.nan, 1.0], True, "position 3: logits must not be NaN; token 0 is"),
        ([1.0, np.inf], True, r"position 3: logits must be below \+inf; token 1 is"),
        ([-np.inf, -np.inf], True, "position 3: every logit is −inf"),
    ],
)
def test_a_row_that_is_no_law_is_named_with_its_cure(tmp_path, row, logits, words):
    rows = np.full((5, 2), 0.5)
    good = saved(tmp_path, "good.npy", rows)
    rows[3] = row
    bad = saved(tmp_path, "bad.npy", rows)
    for pair in ((good, bad), (bad, good)):
        with pytest.raises(LawFileError, match=rf"bad\.npy: {words}"):
            list(from_files(*pair, logits=logits).batches(2))


def test_the_bound_of_a_sum_is_that_of_the_stored_type(tmp_path):
    off = np.full((1, 2), 0.5 + 2e-6)
    single, double = saved(tmp_path, "s.npy", off.astype(np.float32)), saved(tmp_path, "d.npy", off)
    assert 3e-6 < next(from_files(single, single, logits=False).batches(1)).sum_error < 5e-6
    with pytest.raises(LawFileError, match="float64 must sum to 1 within"):
        list(from_files(double, double, logits=False).batches(1))


def test_files_of_different_shapes_are_refused(tmp_path):
    with pytest.raises(LawFileError, match=r"a\.npy has \[2, 2\], .*b\.npy has \[2, 3\]"):
        from_files(
            saved(tmp_path, "a.npy", np.full((2, 2), 0.5)),
            saved(tmp_path, "b.npy", np.full((2, 3), 1 / 3)),
            logits=False,
        )


def test_compression_keeps_the_union_of_both_tops_and_nothing_else():
    t, d = np.array([[0.1, 0.2, 0.3, 0.4]]), np.array([[0.4, 0.3, 0.2, 0.1]])
    batch = next(compressed(from_rows(lambda a, b: t[a:b], lambda a, b: d[a:b], (1, 4)), 1).batches(8))
    assert np.abs(batch.targets - [[0.1 / 0.5, 0.4 / 0.5]]).max() <= 4 * 2.0**-53
    assert np.abs(batch.drafts - [[0.4 / 0.5, 0.1 / 0.5]]).max() <= 4 * 2.0**-53
