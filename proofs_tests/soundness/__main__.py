"""The command of the hunt: all of it, in pieces; or one case; or the controls."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

import numpy as np
from rich.console import Console

from proofs_tests.soundness import table
from proofs_tests.soundness.compare import fault_of
from proofs_tests.soundness.hunt import described, drawn, prepared, verdict_on
from proofs_tests.soundness.pieces import pieces_of, read, run_all

FOLDER = Path("out/soundness")


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m proofs_tests.soundness", description=__doc__)
    parser.add_argument("--seed", type=int, default=1, help="what the programs are drawn from")
    parser.add_argument("--programs", type=int, default=1_000_000, help="programs of coins")
    parser.add_argument(
        "--functions", type=int, default=100_000, help="explored functions, a quarter and more in each library"
    )
    parser.add_argument("--processes", type=int, default=2)
    parser.add_argument("--case", help="one case alone, such as coin:123")
    parser.add_argument("--controls", action="store_true", help="convict the unsound judges instead")
    asked = parser.parse_args()
    console = Console(width=None if sys.stdout.isatty() else 160)
    if asked.case:
        return one_case(asked.seed, asked.case, console)
    if asked.controls:
        from proofs_tests.soundness.controls import convicted

        return convicted(asked.seed, console)
    each = asked.functions * 27 // 100
    wanted = {"coin": asked.programs, "python": asked.functions - 2 * each, "numpy": each, "torch": each}
    found, seconds = read(run_all(pieces_of(asked.seed, wanted, FOLDER), asked.processes))
    for by in ((0, 1), (0, 2), (3, 4)):
        table.shown(found, console, by)
    table.wrong_ones(found, console, asked.seed)
    cases = found.cases.total()
    console.print(
        f"{cases:,} cases from the seed {asked.seed}, {len(found.wrong)} wrong; {seconds / 60:.1f} minutes of one core"
    )
    return bool(found.wrong)


def one_case(seed: int, name: str, console: Console) -> int:
    stream, _, number = name.partition(":")
    case = drawn(seed, stream, int(number), prepared(stream))
    console.print(described(case), markup=False)
    with np.errstate(all="ignore"):
        verdict, truth = verdict_on(case), case.truth()
    console.print(f"the library: {verdict}", markup=False)
    console.print(
        f"the oracle: total variation {float(truth.run_distance):.6g} as run and {float(truth.ideal_distance):.6g} in "
        f"exact arithmetic; fails with probability {float(truth.run.failed):.3g}; rounding explains "
        f"{truth.rounding:.3g}"
    )
    fault = fault_of(verdict, truth)
    console.print(f"WRONG: {fault}" if fault else "right, or left open", markup=False)
    return bool(fault)


if __name__ == "__main__":
    sys.exit(main())
