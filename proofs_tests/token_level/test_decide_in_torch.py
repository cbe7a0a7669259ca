"""Array formulas decide tensors as the replayed programs do: on the host, and by the steps that a device takes."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

torch = pytest.importorskip("torch")

from proofs_tests.token_level.replayed_rows import Replayed, batch, decided, floats, parted, replayed  # noqa: E402
from proofs_tests.torch_bridge.no_wait import NoWait  # noqa: E402
from spec_math import SCHEMES  # noqa: E402
from spec_math.scheme import Scheme  # noqa: E402

schemes = pytest.mark.parametrize(
    "scheme", [scheme for scheme in SCHEMES if scheme.decide is not None], ids=lambda scheme: scheme.name
)

NEAR = {torch.float64: 2.0**-36, torch.float32: 2.0**-10}
"""A row with a uniform so close to a threshold is decided by rounding."""


def batches(scheme: Scheme) -> Iterator[tuple[Any, list[Replayed]]]:
    """Rows as tensors, and what the program does on them."""
    for k, size, seed in ((1, 4, 0), (3, 7, 1), (2, 40, 2)):
        given = floats(batch(scheme, k, seed, rows=30, size=size), seed)
        yield tuple(torch.from_numpy(each) for each in given), replayed(scheme, given)


@schemes
def test_tensors_are_decided_as_by_the_replayed_programs(scheme: Scheme) -> None:
    for (target, draft, *rest), wanted in batches(scheme):
        for kind, near in NEAR.items():
            # Masses are in proportion to their own sums: factors of two round nothing.
            up = 2.0 ** torch.arange(len(target))[:, None].remainder(5)
            rows: Any = ((target * up).to(kind), (draft / up.roll(1, 0)).to(kind), *rest)
            # What is made without naming the batch's own device is made elsewhere, and does not mix with it.
            with torch.device("meta"):
                host = decided(scheme.decide, rows)
                with NoWait():
                    device = decided(scheme.decide, rows)
            assert [parted(found, wanted, near) for found in (host, device)] == [0, 0], (kind, len(target[0]))
            assert sum(want.distance <= near for want in wanted) <= len(wanted) / 4
            # Control: the answers to another request.
            assert parted(tuple(each.roll(1, 0) for each in device), wanted, near) > 0
