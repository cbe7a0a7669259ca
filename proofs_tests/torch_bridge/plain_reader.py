"""Vectors as a kernel in another language reads them: lists, and Python alone."""

from __future__ import annotations

import json
import struct
from math import exp
from pathlib import Path
from typing import Any


def files(folder: Path, kind: str) -> dict[str, Path]:
    """The file of each rule, of one kind: drafts, tree; or over another vocabulary, by rule and vocabulary."""
    listed = json.loads((folder / "vectors.json").read_text())["files"]
    return {
        each["rule"] + (f" over {each['vocabulary']}" if "vocabulary" in each else ""): folder / each["file"]
        for each in listed
        if each["verifier"] == kind
    }


def read(path: Path) -> dict[str, Any]:
    """A safetensors file as nested lists, by Python alone."""
    data = path.read_bytes()
    (size,) = struct.unpack("<Q", data[:8])
    arrays: dict[str, Any] = {}
    for name, about in json.loads(data[8 : 8 + size]).items():
        if name == "__metadata__":
            continue
        low, high = (8 + size + place for place in about["data_offsets"])
        letter = {"F32": "f", "F64": "d", "I64": "q"}[about["dtype"]]
        flat: list[Any] = list(struct.unpack(f"<{(high - low) // struct.calcsize(letter)}{letter}", data[low:high]))
        for length in about["shape"][:0:-1]:
            flat = [flat[at : at + length] for at in range(0, len(flat), length)]
        arrays[name] = flat
    return arrays


def softmax(row: list[float]) -> list[float]:
    weights = [exp(x - max(row)) for x in row]
    return [weight / sum(weights) for weight in weights]


def drawn(masses: list[float], u: float) -> int:
    running, point = 0.0, u * sum(masses)
    for token, mass in enumerate(masses):
        running += mass
        if running > point:
            return token
    return len(masses) - 1
