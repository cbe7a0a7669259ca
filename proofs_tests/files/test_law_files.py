"""Files of laws: every format and type is read alike, and what cannot be read says so and leaves nothing behind."""

import ml_dtypes
import numpy as np
import pytest
import safetensors.numpy

from spec_math.files.law_files import LawFileError, open_laws

LAWS = np.array([[0.25, 0.75], [0.5, 0.5], [1.0, 0.0]])


def written(folder, ending, dtype):
    path = folder / f"laws{ending}"
    array = LAWS.astype(dtype)
    if ending == ".npy":
        np.save(path, array)
    elif ending == ".npz":
        np.savez_compressed(path, laws=array)
    else:
        safetensors.numpy.save_file({"laws": array}, path)
    return path


@pytest.mark.parametrize("ending", [".npy", ".npz", ".safetensors"])
@pytest.mark.parametrize("dtype", ["float64", "float32", "float16", ml_dtypes.bfloat16])
def test_every_format_and_type_yields_the_rows_that_were_written(tmp_path, ending, dtype):
    file = open_laws(written(tmp_path, ending, dtype))
    assert file.shape == (3, 2)
    assert file.dtype == np.dtype(dtype).name
    chunks = list(file.chunks(2))
    assert [chunk.shape for chunk in chunks] == [(2, 2), (1, 2)]
    assert np.concatenate(chunks).astype(float).tolist() == LAWS.tolist()


@pytest.mark.parametrize("ending", [".npy", ".npz", ".safetensors"])
def test_a_truncated_file_is_refused_by_name(tmp_path, ending):
    path = written(tmp_path, ending, "float64")
    content = path.read_bytes()
    for kept in (0, 7, len(content) // 2, len(content) - 1):
        path.write_bytes(content[:kept])
        with pytest.raises(LawFileError, match=f"laws{ending}.*(truncated|ends early|there is no)"):
            for _ in open_laws(path).chunks(2):
                pass


def test_npz_whose_member_is_cut_names_the_end(tmp_path):
    """A member shorter than its header says: the stream ends early although the archive is whole."""
    import io
    import zipfile

    held = io.BytesIO()
    np.save(held, LAWS)
    path = tmp_path / "laws.npz"
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("laws.npy", held.getvalue()[:-8])
    with pytest.raises(LawFileError, match="ends early or is broken"):
        list(open_laws(path).chunks(2))


def test_one_array_of_several_must_be_named(tmp_path):
    path = tmp_path / "both.npz"
    np.savez(path, target=LAWS, draft=LAWS[:, ::-1])
    with pytest.raises(LawFileError, match=r"holds the arrays draft, target; name one: .*both\.npz:NAME"):
        open_laws(path)
    with pytest.raises(LawFileError, match="there is no 'other'"):
        open_laws(f"{path}:other")
    assert next(open_laws(f"{path}:draft").chunks(1)).tolist() == [[0.75, 0.25]]


def test_arrays_that_hold_no_laws_are_refused(tmp_path):
    for array, words in (
        (np.zeros((2, 2, 2)), r"positions, V.*\[2, 2, 2\]"),
        (np.zeros((0, 2)), r"\[0, 2\]"),
        (np.zeros((2, 2), dtype=int), "this array is int64"),
    ):
        np.save(tmp_path / "a.npy", array)
        with pytest.raises(LawFileError, match=words):
            open_laws(tmp_path / "a.npy")
    np.save(tmp_path / "a.npy", np.array([{}], dtype=object), allow_pickle=True)
    with pytest.raises(LawFileError, match=r"a\.npy"):
        open_laws(tmp_path / "a.npy")


def test_a_missing_file_and_an_unknown_ending_are_told_apart(tmp_path):
    with pytest.raises(LawFileError, match="there is no such file"):
        open_laws(tmp_path / "none.npy")
    with pytest.raises(LawFileError, match=r"not from '.csv'"):
        open_laws(tmp_path / "laws.csv")


def test_one_position_may_be_a_vector(tmp_path):
    np.save(tmp_path / "one.npy", LAWS[0])
    file = open_laws(tmp_path / "one.npy")
    assert file.shape == (1, 2)
    assert np.concatenate(list(file.chunks(8))).tolist() == [[0.25, 0.75]]
