"""A constant added to all logits of a row changes no law: `compare --logits` says the same, from -10^4 to 10^4.

What it printed in silence for row maxima of -111, 94 and 129: a maximal coupling that always accepts, and more for
greedy drafts than probability allows, beside an optimum of .67: bucket keys in float32 over- and underflowed.
"""

from __future__ import annotations

import csv
from decimal import Decimal
from pathlib import Path
from typing import Any

import ml_dtypes
import numpy as np
import pytest
from typer.testing import CliRunner

from proofs_tests.soundness import position_oracle as oracle
from spec_math.cli import app
from spec_math.files.law_files import open_laws
from spec_math.invariants import BrokenInvariantError
from spec_math.studies.positions.comparison import compare
from spec_math.studies.positions.stream import from_files
from spec_math.token_level import SCHEMES
from spec_math.token_level.streamed import Chunk, rounding

COUNT, SIZE, KS = 5, 7, (1, 2, 4)
OFFSETS = [0.0, -111.0, 94.0, 129.0, 88.5, 299.0, -300.5, 709.0, -745.0, 1e4, -1e4]


def ignore(_done: int) -> None:
    """A progress bar that nobody watches."""


def logits() -> tuple[np.ndarray, np.ndarray]:
    """Multiples of 2^-8: adding any of the offsets rounds none of them, in float64."""
    rng = np.random.default_rng(20241122)
    target = np.round(rng.normal(0, 3, (COUNT, SIZE)) * 256) / 256
    draft = np.round((target + rng.normal(0, 1.5, (COUNT, SIZE))) * 256) / 256
    draft[1, 3] = target[2, 2] = -np.inf
    return target, draft


def expected(target: np.ndarray, draft: np.ndarray) -> dict[tuple[str, int], float]:
    """The mean of each line, from decimals of 60 digits."""
    laws = [(oracle.softmax(t), oracle.softmax(d)) for t, d in zip(target, draft, strict=True)]
    ways: dict[str, Any] = {
        "K-SEQ at γ*": oracle.k_sequential,
        "recursive rejection": oracle.recursive,
        "greedy drafts": oracle.greedy,
        "optimal plan": oracle.optimum,
        "optimum, i.i.d. drafts": oracle.optimum,
        "optimal plan without replacement": oracle.optimum_without_replacement,
        "optimum, without replacement": oracle.optimum_without_replacement,
    }
    found = {(name, k): [way(t, d, k) for t, d in laws] for name, way in ways.items() for k in KS}
    found["maximal coupling", 1] = [oracle.overlap(t, d) for t, d in laws]
    found["one-hot draft", 1] = [oracle.favourite(t, d) for t, d in laws]
    found["sample and match", 1] = [oracle.match(t, d) for t, d in laws]
    found["SpecHub", 2] = [oracle.hub(t, d) for t, d in laws]
    return {key: float(sum(values, Decimal(0)) / len(values)) for key, values in found.items()}


def compared(paths: tuple[Path, Path]) -> dict[tuple[str, int], float]:
    """What `compare` finds in two files of logits, by the name of the line and k."""
    result = compare(from_files(*map(open_laws, paths), logits=True), SCHEMES, KS, ignore)
    result.watch.hold()
    lines = [*result.lines, *result.optima]
    return {(line.name, k): tally.mean for line in lines for k, tally in line.acceptance.items()}


def stored(folder: Path, target: Any, draft: Any) -> tuple[Path, Path]:
    paths = folder / "target.npy", folder / "draft.npy"
    for path, values in zip(paths, (target, draft), strict=True):
        np.save(path, values)
    return paths


@pytest.mark.parametrize("offset", OFFSETS)
def test_every_mean_is_the_same_whatever_is_added_to_the_drafts_logits(tmp_path: Path, offset: float) -> None:
    target, draft = logits()
    means = compared(stored(tmp_path, target, draft + offset))
    for key, value in expected(target, draft).items():
        assert abs(means[key] - value) <= 2 * rounding(SIZE, 4), key


def test_the_command_says_the_same(tmp_path: Path) -> None:
    target, draft = logits()
    paths = stored(tmp_path, target - 111.0, draft + 129.0)
    files = ["--target", str(paths[0]), "--draft", str(paths[1]), "--logits", "--k", "1,2,4"]
    said = CliRunner().invoke(app, ["compare", *files, "--out", str(tmp_path / "out")])
    assert said.exit_code == 0, said.output
    with (tmp_path / "out" / "comparison.csv").open(encoding="utf-8", newline="") as stream:
        rows = {(row["scheme"], int(row["k"])): float(row["acceptance"]) for row in csv.DictReader(stream)}
    for key, value in expected(target, draft).items():
        assert abs(rows[key] - value) <= 2 * rounding(SIZE, 4), key


@pytest.mark.parametrize("stored_as", ["float32", "float16", "bfloat16"])
@pytest.mark.parametrize("offset", [-60.0, 50.0])
def test_logits_of_every_storage_type_that_holds_the_sum_exactly(tmp_path: Path, stored_as: str, offset: float) -> None:
    """Whole and half logits below 128, so that even bfloat16 rounds none of them."""
    target, draft = (np.round(np.clip(side, -6, 6)) for side in logits())
    kind = ml_dtypes.bfloat16 if stored_as == "bfloat16" else np.dtype(stored_as)
    paths = stored(tmp_path, (target - offset).astype(kind), (draft + offset).astype(kind))
    means = compared(paths)
    for key, value in expected(target, draft).items():
        assert abs(means[key] - value) <= 2 * rounding(SIZE, 4), key


@pytest.mark.parametrize("heat", [0.25, 1.0, 3.0])
def test_a_temperature_is_applied_to_differences_alone(tmp_path: Path, heat: float) -> None:
    target, draft = logits()
    batches = [
        next(from_files(*map(open_laws, stored(tmp_path, target, draft + offset)), True, (1.0, heat)).batches(COUNT))
        for offset in (0.0, 600.0)
    ]
    assert np.array_equal(batches[0].drafts, batches[1].drafts)


@pytest.mark.parametrize("sums", [(1.0, 1e-50), (1e-50, 1e50), (1e-320, 1.0), (5e307, 1e-308), (3e-162, 2e161)])
def test_masses_in_proportion_have_one_answer(sums: tuple[float, float]) -> None:
    """[1, 3] against [1e-50, 1e-50] is [1, 3] against [1, 1]: with an overlap of 3/4, not 1."""
    targets, drafts = np.array([[1.0, 3.0]]) * sums[0], np.array([[1.0, 1.0]]) * sums[1]
    chunk = Chunk(2, (1, 2, 3))
    chunk.take(targets, drafts)
    t, d = ([Decimal(mass) for mass in law] for law in (["0.25", "0.75"], ["0.5", "0.5"]))
    # 10^-320 has three digits: the law of these masses is another one, by less than that.
    bound = rounding(2, 3) if min(sums) > 1e-300 else 2.0**-10
    assert abs(chunk.overlap(1)[0][0] - 0.75) <= bound
    assert abs(chunk.match(1)[0][0] - 0.5) <= bound
    for k in (1, 2, 3):
        for streamed, way in (
            (chunk.optimum, oracle.optimum),
            (chunk.k_sequential, oracle.k_sequential),
            (chunk.recursive, oracle.recursive),
            (chunk.greedy, oracle.greedy),
        ):
            assert abs(streamed(k)[0][0] - float(way(t, d, k))) <= bound


def test_masses_of_one_row_span_all_floats() -> None:
    """Ratios from 2^-1074 to beyond every float, and a token of each law that the other never draws."""
    target = np.array([1.0, 2.0**-1074, 0.5, 2.0**-1000, 0.0, 2.0**-30])
    draft = np.array([2.0**-1074, 1.0, 0.25, 2.0**-900, 0.5, 0.0])
    t, d = oracle.law_of(target.tolist()), oracle.law_of(draft.tolist())
    chunk = Chunk(6, (1, 2, 8))
    chunk.take(target[None], draft[None])
    for k in (1, 2, 8):
        for streamed, way in (
            (chunk.optimum, oracle.optimum),
            (chunk.k_sequential, oracle.k_sequential),
            (chunk.recursive, oracle.recursive),
            (chunk.greedy, oracle.greedy),
        ):
            assert abs(streamed(k)[0][0] - float(way(t, d, k))) <= rounding(6, k), (k, way)


def test_a_row_without_mass_is_refused() -> None:
    for bad in ([0.0, 0.0], [np.nan, 1.0], [np.inf, 1.0]):
        with pytest.raises(ValueError, match="positive and finite"):
            Chunk(2, (1,)).take(np.array([[1.0, 1.0]]), np.array([bad]))


def test_a_softmax_without_its_shift_is_caught_while_it_streams(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The control: exponentials as they were, of logits themselves where these are moderate."""
    from spec_math.studies.positions import stream

    def plain(chunk: Any, heat: float, into: tuple[Any, Any], _place: Any) -> None:
        logs, masses = into
        np.copyto(logs, chunk, casting="unsafe")
        np.exp(np.minimum(logs / heat, 500.0), out=masses)

    monkeypatch.setattr(stream, "_exponentials", plain)
    paths = stored(tmp_path, *logits())
    with pytest.raises(BrokenInvariantError, match="softmax does not change when all logits are raised"):
        compare(from_files(*map(open_laws, paths), logits=True), SCHEMES, (1,), ignore)
