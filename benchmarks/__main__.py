"""Every promise about speed and float accuracy in one table, each a ratio or a time of this run, on one thread.

Run: make bench, or python -m benchmarks [module ...]. Exit code 1 where a promise is not kept, 2 where a name is none.
"""

from __future__ import annotations

import sys
from argparse import ArgumentParser, RawDescriptionHelpFormatter
from collections.abc import Sequence
from importlib import import_module
from importlib.util import find_spec

MODULES = (
    "start_up",
    "daily",
    "optimum_value",
    "plan",
    "transport",
    "proof_certificates",
    "comparison",
    "block_lengths",
    "verified_blocks",
    "recorded_text",
    "strings",
    "traces",
    "sequential",
    "coverage",
    "audits",
    "followed_certificates",
    "certificates",
    "torch_verify",
    "torch_rules",
    "torch_priorities",
    "engines",
)
NEEDED = {"torch_verify": "torch", "torch_rules": "torch", "torch_priorities": "torch", "engines": "transformers"}
"""What a module needs beyond the library itself: where it is not installed, the module is skipped, and says so."""


def parser() -> ArgumentParser:
    """Return what the command line takes."""
    listed = "\n".join(
        f"  {name}{f' (needs {NEEDED[name]}, else it is skipped)' if name in NEEDED else ''}" for name in MODULES
    )
    found = ArgumentParser(
        "python -m benchmarks",
        description="Measure what the library promises of its speed and float accuracy, and print one table: each\n"
        "promise, what was measured in this run with its spread, the bound, and whether it is kept.",
        epilog=f"modules, measured in this order unless some are named:\n{listed}\n\n"
        "exit codes: 0 every promise is kept, 1 some promise is not kept, 2 a name is no module of the list\n\n"
        "examples:\n  python -m benchmarks\n  python -m benchmarks start_up daily",
        formatter_class=RawDescriptionHelpFormatter,
    )
    _ = found.add_argument("modules", nargs="*", metavar="module", help="what to measure; all of them unless named")
    return found


def chosen(arguments: Sequence[str]) -> tuple[str, ...]:
    """Return the modules to measure; leave with exit code 2 and the list of modules where a name is none of them."""
    taken = parser()
    names: list[str] = taken.parse_args(arguments).modules
    unknown = [name for name in names if name not in MODULES]
    if unknown:
        taken.error(f"no module is called {', '.join(map(repr, unknown))}; the modules are {', '.join(MODULES)}")
    return tuple(names) or MODULES


def main(arguments: Sequence[str] | None = None) -> None:
    """Measure the modules named, or all of them, one after another."""
    names = chosen(sys.argv[1:] if arguments is None else arguments)
    from benchmarks.table import Row, show

    found: list[Row] = []
    for name in names:
        if name in NEEDED and find_spec(NEEDED[name]) is None:
            print(f"skipping {name}: {NEEDED[name]} is not installed", file=sys.stderr, flush=True)
            continue
        print(f"measuring {name} …", file=sys.stderr, flush=True)
        found += import_module(f"benchmarks.{name}").rows()
    sys.exit(not show(found, "Promises and measurements"))


if __name__ == "__main__":
    main()
