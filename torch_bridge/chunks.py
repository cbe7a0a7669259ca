"""How many requests of a batch are worked on at a time: as many as a stated memory holds the masses of.

Source: worked out here.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import torch

from torch_bridge.options import Options
from torch_bridge.softmax_rows import working

CHUNK_BYTES = {"cpu": 2**23}
ELSEWHERE = 2**28

HELD = 6
"""About how many rows of a request of a tree, or over another vocabulary, are held at a time."""


def chunk_bytes(options: Options, device: torch.device) -> int:
    """Return `options.chunk_bytes`, or what is usual on a device.

    >>> chunk_bytes(Options(), torch.device("cpu")), chunk_bytes(Options(chunk_bytes=64), torch.device("cpu"))
    (8388608, 64)
    """
    return options.chunk_bytes or CHUNK_BYTES.get(device.type, ELSEWHERE)


def chunks(logits: Any, masses: int, options: Options) -> Iterator[slice]:
    """Yield the requests of logits [B, …, V], as many at a time as the bytes hold, for so many masses held of each.

    >>> list(chunks(torch.zeros(3, 4), 8, Options(chunk_bytes=64)))
    [slice(0, 2, None), slice(2, 4, None)]
    """
    size = max(1, chunk_bytes(options, logits.device) // (masses * working(logits.dtype).itemsize))
    for start in range(0, len(logits), size):
        yield slice(start, start + size)
