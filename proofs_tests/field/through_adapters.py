"""Public functions through adapters that the command writes: `python -m proofs_tests.field.through_adapters FOLDER`.

FOLDER holds the sources of the thirty functions of docs/field_functions.md: one folder a package, named as the package
without its version, with + for /. More words choose packages. Each function is judged as it is, `--adapter` writes its
adapter, and the adapter is judged as it was written. The table says the verdicts, which lines are open, the lines of
the adapter and the seconds of both commands.
"""

from __future__ import annotations

import json
import shlex
import subprocess
import sys
from pathlib import Path
from time import perf_counter

from spec_math.studies.audits.study import open_names

FUNCTIONS = Path(__file__).parents[2] / "spec_math" / "field" / "functions.json"
AUDIT = str(Path(sys.executable).with_name("spec-math"))
LIMIT = 200
OUTCOMES = {0: "lossless", 1: "lossy", 3: "undecided", 124: "no verdict in time"}
OF_THE_CALL = ("--stub", "--returns", "--set", "--roles", "--shape")
"""Options that an adapter answers itself."""


def judged(*words: str) -> tuple[str, str]:
    """Run the command audit; return what came of it, and the first line that it said."""
    try:
        done = subprocess.run([AUDIT, "audit", *words], capture_output=True, text=True, timeout=LIMIT)
    except subprocess.TimeoutExpired:
        return OUTCOMES[124], ""
    lines = (done.stderr if done.returncode == 2 else done.stdout).strip().splitlines() or [""]
    return OUTCOMES.get(done.returncode, "refused"), lines[-1 if lines[0].startswith("Usage") else 0]


def row(one: dict[str, str], folder: Path) -> list[str]:
    """Return the row of a function."""
    package = one["package"].rpartition(" ")[0].replace("/", "+")
    place = folder / package / one["function"]
    adapter = folder / f"{package}_{one['function'].rpartition(':')[2].replace('.', '_')}.py"
    options = shlex.split(one["options"])
    adapter.unlink(missing_ok=True)
    begun = perf_counter()
    first, said = judged(str(place), *options, "--adapter", str(adapter))
    if not adapter.exists():
        return [package, one["function"], one["found"], first, "", "", "", f"{perf_counter() - begun:.0f}", said]
    text = adapter.read_text()
    kept = [
        word
        for at, word in enumerate(options)
        if word not in OF_THE_CALL and not (at and options[at - 1] in OF_THE_CALL)
    ]
    if "--temperature" in kept:
        at = kept.index("--temperature")
        del kept[at : at + 2]
    second, said = judged(str(adapter), *kept)
    lines = str(len(text.splitlines()))
    seconds = f"{perf_counter() - begun:.0f}"
    return [package, one["function"], one["found"], first, ", ".join(open_names(text)), lines, second, seconds, said]


def main(argv: list[str]) -> int:
    """Print the table, and how many adapters were complete and had the verdict that is recorded."""
    folder, words = Path(argv[0]), argv[1:]
    right = total = 0
    print("| package | function | recorded | as it is | open | lines | through its adapter | seconds | said |")
    print("|---" * 9 + "|")
    for one in json.loads(FUNCTIONS.read_text()):
        if words and not any(word in one["package"] for word in words):
            continue
        cells = row(one, folder)
        total += 1
        right += not cells[4] and cells[6] == one["found"]
        print(f"| {' | '.join(cell.replace('|', '¦')[:160] for cell in cells)} |", flush=True)
    print(f"{right} of {total} through adapters that were written complete")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
