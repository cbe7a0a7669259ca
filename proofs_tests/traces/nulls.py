"""Right engines whose trace is known path by path: every outcome of drafting and verifying, with its probability."""

from __future__ import annotations

from collections.abc import Iterator

import ml_dtypes
import numpy as np

from spec_math.chance import paths
from spec_math.traces.recorder import Engine, _block, as_shard
from spec_math.traces.schema import INTEGERS
from spec_math.traces.shard_file import Shard

STORED = {"float16": np.float16, "bfloat16": ml_dtypes.bfloat16, "float32": np.float32, "float64": np.float64}
OFFSET = {"float16": 7.5, "bfloat16": 5.0, "float32": -40.0, "float64": 3e5}
"""Softmax does not see a constant that all logits share; what is stored may."""
SIZE = 3


def logits_of(dtype, seed, which, prefix):
    """The logits that an engine of this type holds after a prefix: rounded to it, with an offset of their own."""
    rng = np.random.default_rng([seed, which, len(prefix), *prefix])
    return (2 * rng.standard_normal(SIZE) + OFFSET[dtype]).astype(STORED[dtype])


def law_of(logits):
    """The law that an engine draws from: the softmax of the logits as they are stored, in float64."""
    wide = logits.astype(np.float64)
    masses = np.exp(wide - wide.max())
    return masses / masses.sum()


def traces(dtype, verify, lookahead, verification, stored=logits_of, seed=0) -> Iterator[tuple[float, Shard]]:
    """Yield (probability, shard) of every way in which two blocks of one draft, or a block of more, may go.

    `stored` says which logits are written down: those that were drawn from, in a right engine.
    """
    models = [lambda prefix, which=which: law_of(logits_of(dtype, seed, which, prefix)) for which in (0, 1)]
    engine = Engine(*models, verify, lookahead)

    def program(coin):
        rows, prefix = [], ()
        for _ in range(2 if lookahead == 1 else 1):
            drafted, emitted = _block(engine, coin, prefix, ([], []))
            for depth, token in enumerate(emitted):
                guess = drafted[depth] if depth < len(drafted) else -1
                rows.append(((*prefix, *emitted[:depth]), guess, token, int(depth + 1 < len(emitted)), depth))
            prefix = (*prefix, *emitted)
        return tuple(rows)

    masses = {}
    for path in paths(program):
        masses[path.outcome] = masses.get(path.outcome, 0.0) + float(path.mass)
    for rows, mass in masses.items():
        laws = [np.stack([stored(dtype, seed, which, row[0]) for row in rows]) for which in (0, 1)]
        values = [(*row[1:4], 0, place, row[4]) for place, row in enumerate(rows)]
        ids = dict(zip(INTEGERS, np.array(values, dtype=np.int64).T.copy(), strict=True))
        held = {"target_logits": laws[0], "draft_logits": laws[1], **ids}
        yield mass, as_shard(held, lookahead, verification)
