"""The product stays as small as it is: the lines that a verdict loads, and the files side by side in a folder.

`python -m proofs_tests.size` prints these numbers. A change that needs more says so here.
"""

from __future__ import annotations

import pytest

from proofs_tests.size import VERDICTS, fullest, loaded, totals

LOADED = {
    "check_lossless": 2_600,
    "check_lossless_block": 6_000,
    "audit.check_sampler": 13_000,
    "torch_bridge.check_sampler": 16_000,
}
IN_ONE_FOLDER = 25
FILES, LINES, CODE = 386, 71_000, 37_500
"""Bounds of the size: of code 2,000 lines for whole engines, 900 for certificates, 600 for their checkers, 500 for
advice, and 33,500 for all else. Of lines 63,000, and two for each line of code beyond 33,500."""


@pytest.mark.parametrize("name", VERDICTS)
def test_a_verdict_loads_few_lines(name: str) -> None:
    assert loaded(VERDICTS[name])[1] <= LOADED[name]


def test_no_folder_is_overfull() -> None:
    assert fullest()[0] <= IN_ONE_FOLDER


def test_the_product_does_not_grow() -> None:
    number, by_kind = totals()
    assert (number <= FILES, by_kind.total() <= LINES, by_kind["code"] <= CODE) == (True, True, True)


def test_what_is_loaded_is_counted() -> None:
    """The control: a module that a verdict does not need makes its count larger."""
    assert loaded("import spec_math.audit, spec_math.token_level.k_sequential")[1] > loaded("import spec_math")[1]
