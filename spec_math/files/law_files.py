"""Files of laws: arrays [positions, V] in .npy, .npz or .safetensors, read chunk by chunk and never whole."""

from __future__ import annotations

import re
import struct
import zipfile
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, cast

import ml_dtypes
import numpy as np
import safetensors

FLOATS = ("float64", "float32", "float16", "bfloat16")


WINDOW = 2**27
"""Bytes of float64 that are mapped at a time."""


class LawFileError(ValueError):
    """A file that holds no laws, or none that can be read; the message names the file, the reason and the cure."""


@dataclass(frozen=True)
class LawFile:
    """An array [positions, V] of a type in FLOATS in a file; `array` is its name inside .npz and .safetensors."""

    path: Path
    array: str | None
    shape: tuple[int, int]
    dtype: str

    def chunks(self, rows: int) -> Iterator[np.ndarray[Any, Any]]:
        """Yield the positions in order, `rows` at a time, as stored: mapped into memory, or inflated piece by piece.

        Raises:
            LawFileError: the file ends before its header says.
        """
        try:
            for chunk in _READERS[self.path.suffix](self, rows):
                yield _typed(chunk).reshape(-1, self.shape[1])
        except (OSError, ValueError, EOFError, zipfile.BadZipFile, safetensors.SafetensorError) as error:
            raise LawFileError(f"{self.path}: the array ends early or is broken ({error}); write it anew") from error

    def row(self, position: int) -> np.ndarray[Any, Any]:
        """Return one position [V], as stored.

        Raises:
            LawFileError: there is no such position, or the file ends before its header says.
        """
        if not 0 <= position < self.shape[0]:
            raise LawFileError(f"{self.path}: positions lie in 0..{self.shape[0] - 1}; got {position}")
        first = 0
        for chunk in self.chunks(64):
            if position < first + len(chunk):
                return chunk[position - first].copy()
            first += len(chunk)
        raise LawFileError(f"{self.path}: the array ends before position {position}; write it anew")


def open_laws(location: str | Path) -> LawFile:
    """Open a file of laws by its path, or PATH:NAME for one array of several; only its header is read.

    An array [V] is one position. Shapes [positions, V]. Arrays that are not asked for may be of any kind. NAME is all
    that follows the path, further colons included.

    Raises:
        LawFileError: no such file, an unknown ending, a truncated or broken header, several arrays and none named,
            two files that PATH:NAME may mean, an array of another rank or order, empty, or of another type.
    """
    path, array, shape, dtype = _opened(location)
    if len(shape) not in (1, 2) or 0 in shape:
        raise LawFileError(
            f"{path}: distributions need the shape [positions, V] (or [V]), none of them 0; this is {list(shape)}"
        )
    if dtype not in FLOATS:
        raise LawFileError(f"{path}: distributions are stored as one of {', '.join(FLOATS)}; this array is {dtype}")
    return LawFile(path, array, cast("tuple[int, int]", tuple(shape) if len(shape) == 2 else (1, *shape)), dtype)


def _opened(location: str | Path) -> tuple[Path, str | None, tuple[int, ...], str]:
    """Return the path, the name, the shape and the type of an array; only its header is read."""
    path, wanted = _split(str(location))
    if path.suffix not in _READERS:
        raise LawFileError(
            f"{path}: distributions are read from .npy, .npz and .safetensors files, not from "
            f"{repr(path.suffix) if path.suffix else 'a name without an ending'}; numpy.save(path, rows) writes one"
        )
    if not path.is_file():
        raise LawFileError(f"{path}: there is no such file")
    try:
        arrays = _HEADERS[path.suffix](path)
    except (OSError, ValueError, EOFError, struct.error, zipfile.BadZipFile, safetensors.SafetensorError) as error:
        raise LawFileError(f"{path}: unreadable or truncated ({error}); write it anew") from error
    array, header = _chosen(path, arrays, wanted)
    if isinstance(header, str):
        raise LawFileError(f"{path}: {header}")
    return path, array, tuple(header[0]), header[1]


def read_integers(location: str | Path) -> np.ndarray[Any, np.dtype[np.int64]]:
    """Return an array [n] of whole numbers, such as tokens, by its path or PATH:NAME.

    Raises:
        LawFileError: as `open_laws`, or the array is no list of whole numbers.
    """
    path, array, shape, dtype = _opened(location)
    if len(shape) != 1 or not re.fullmatch(r"u?int\d+|[IU]\d+", dtype):
        raise LawFileError(f"{path}: one list of whole numbers is needed, such as int64 [n]; this is {dtype} {shape}")
    chunks = LawFile(path, array, (shape[0], 1), dtype).chunks(max(1, shape[0]))
    return np.concatenate([np.empty((0, 1), np.int64), *chunks]).ravel().astype(np.int64)


def _split(location: str) -> tuple[Path, str | None]:
    """Return path and name: of several ways to read PATH:NAME, as both may hold colons, the one whose file is there."""
    ways: list[tuple[Path, str | None]] = [(Path(location), None)]
    for place, sign in enumerate(location):
        if sign == ":" and Path(location[:place]).suffix in (".npz", ".safetensors"):
            ways.append((Path(location[:place]), location[place + 1 :]))
    there = [(path, name) for path, name in ways if path.is_file()]
    if len(there) > 1:
        listed = " and ".join(str(path) for path, _ in there)
        raise LawFileError(f"{location}: {listed} are both files; rename one, so that it is clear which is meant")
    return there[0] if there else ways[min(1, len(ways) - 1)]


Header = tuple[tuple[int, ...], str]
"""Shape and type."""

Headers = Mapping[str, Header | str]
"""By the array's name, its header, or why it cannot be read, in words."""


def _chosen(path: Path, arrays: Headers, wanted: str | None) -> tuple[str | None, Header | str]:
    if wanted is None and len(arrays) == 1:
        return next(iter(arrays.items()))
    if wanted is not None and wanted in arrays:
        return wanted, arrays[wanted]
    names = ", ".join(sorted(arrays)) or "none"
    asked = "name one" if wanted is None else f"there is no {wanted!r}"
    raise LawFileError(f"{path}: it holds the arrays {names}; {asked}: {path}:NAME")


def _npy_header(path: Path) -> Headers:
    array = np.load(path, mmap_mode="r", allow_pickle=False)
    return {"": (array.shape, _typed(array).dtype.name)}


def _npy_rows(file: LawFile, rows: int) -> Iterator[Any]:
    for first, last in _windows(file, rows):
        # As a plain array: each view of NumPy's own class of mapped ones costs some microseconds.
        array = np.asarray(np.load(file.path, mmap_mode="r", allow_pickle=False)).reshape(file.shape)
        for start in range(first, last, rows):
            yield array[start : min(start + rows, last)]


def _npz_header(path: Path) -> Headers:
    with zipfile.ZipFile(path) as archive:
        # What NumPy did not write, such as a text, is not an array and nobody asks for it.
        members = [member for member in archive.namelist() if member.endswith(".npy")]
        return {member.removesuffix(".npy"): _npz_member(archive, member) for member in members}


def _npz_member(archive: zipfile.ZipFile, member: str) -> Header | str:
    try:
        with archive.open(member) as stream:
            shape, fortran, dtype = _read_npy_header(stream)
    except (OSError, ValueError, EOFError, zipfile.BadZipFile) as error:
        return f"the array {member} is unreadable or truncated ({error}); write it anew"
    if fortran and len(shape) > 1:
        return f"the array {member} is in Fortran order; save it with numpy.ascontiguousarray"
    return shape, _typed(np.empty(0, dtype)).dtype.name


def _npz_rows(file: LawFile, rows: int) -> Iterator[Any]:
    with zipfile.ZipFile(file.path) as archive, archive.open(f"{file.array}.npy") as stream:
        _, _, dtype = _read_npy_header(stream)
        for start in range(0, file.shape[0], rows):
            taken = min(rows, file.shape[0] - start)
            size = taken * file.shape[1] * dtype.itemsize
            data = stream.read(size)
            if len(data) < size:
                raise EOFError(f"{size - len(data)} bytes are missing")
            yield np.frombuffer(data, dtype=dtype)


def _read_npy_header(stream: Any) -> tuple[tuple[int, ...], bool, np.dtype[Any]]:
    version = np.lib.format.read_magic(stream)
    read = np.lib.format.read_array_header_1_0 if version == (1, 0) else np.lib.format.read_array_header_2_0
    return read(stream)


def _safetensors_header(path: Path) -> Headers:
    names: dict[str, str] = {"F64": "float64", "F32": "float32", "F16": "float16", "BF16": "bfloat16"}

    def header(file: Any, name: str) -> Header | str:
        try:
            array = file.get_slice(name)
            stored = str(array.get_dtype())
            return tuple(array.get_shape()), names.get(stored, stored)
        except (ValueError, TypeError, safetensors.SafetensorError) as error:
            return f"the array {name!r} is unreadable ({error})"

    with safetensors.safe_open(path, "np") as file:
        return {name: header(file, name) for name in file.keys()}  # noqa: SIM118 - safe_open is no dict


def _safetensors_rows(file: LawFile, rows: int) -> Iterator[Any]:
    for first, last in _windows(file, rows):
        with safetensors.safe_open(file.path, "np") as opened:
            array = opened.get_slice(file.array)
            if len(array.get_shape()) == 1:
                yield array[:]
                return
            for start in range(first, last, rows):
                yield array[start : min(start + rows, last)]


def _windows(file: LawFile, rows: int) -> Iterator[tuple[int, int]]:
    """Yield stretches of rows, each to be mapped anew: pages of a map that was read stay in memory until it closes."""
    chunks = max(1, WINDOW // (rows * file.shape[1] * 8))
    for first in range(0, file.shape[0], chunks * rows):
        yield first, min(first + chunks * rows, file.shape[0])


def _typed(array: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
    # NumPy stores bfloat16 as two nameless bytes.
    return array.view(ml_dtypes.bfloat16) if array.dtype == np.dtype("V2") else array


_HEADERS = {".npy": _npy_header, ".npz": _npz_header, ".safetensors": _safetensors_header}
_READERS = {".npy": _npy_rows, ".npz": _npz_rows, ".safetensors": _safetensors_rows}
