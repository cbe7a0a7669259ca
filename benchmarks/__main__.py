"""Every promise about speed and float accuracy in one table, each a ratio or a time of this run, on one thread.

Run: make bench, or python -m benchmarks [module ...]. Exit code 1 where a promise is not kept.
"""

from __future__ import annotations

import importlib
import sys
from importlib.util import find_spec

from benchmarks.table import Row, show

MODULES = (
    "start_up",
    "daily",
    "optimum_value",
    "plan",
    "transport",
    "comparison",
    "block_lengths",
    "blocks_monte_carlo",
    "strings",
    "traces",
    "sequential",
    "coverage",
    "audits",
    "torch_verify",
    "torch_rules",
    "torch_priorities",
    "engines",
)
NEEDED = {
    "torch_verify": "torch",
    "torch_rules": "torch",
    "torch_priorities": "torch",
    "engines": "transformers",
}
"""What a module needs beyond the library itself: where it is not installed, the module is skipped, and says so."""


def main() -> None:
    """Measure the modules named, or all of them, one after another."""
    found: list[Row] = []
    for name in sys.argv[1:] or MODULES:
        if name in NEEDED and find_spec(NEEDED[name]) is None:
            print(f"skipping {name}: {NEEDED[name]} is not installed", file=sys.stderr, flush=True)
            continue
        print(f"measuring {name} …", file=sys.stderr, flush=True)
        found += importlib.import_module(f"benchmarks.{name}").rows()
    sys.exit(not show(found, "Promises and measurements"))


if __name__ == "__main__":
    main()
