"""Whole engines, each judged by `spec-math engine --matrix` in its own environment: the tables of docs/engines.md.

Run: make whole-engines, or python -m benchmarks.whole_engines [engine …]. Engines that are not named keep their column.
What cannot be installed is left out, and that is said.
"""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
from datetime import date
from pathlib import Path
from time import monotonic
from typing import Any

VERSIONS = {
    "transformers": "5.23.0",
    "llama_cpp": "2026.10.11549",
    "openvino": "2026.4.1.0",
    "vllm": "0.32.0",
    "mistralrs": "0.6.0",
}
PAGE = Path(__file__).parent.parent / "docs" / "engines.md"
KEPT = PAGE.with_suffix(".json")
START, END = "<!-- tables -->\n", "<!-- end of tables -->\n"


def judged(engine: str) -> dict[str, Any]:
    """Run the command on an engine, and return what the page says of it."""
    out, began = Path("out") / "whole_engines" / engine, monotonic()
    shutil.rmtree(out, ignore_errors=True)
    tool, version = Path(sys.executable).parent / "spec-math", VERSIONS[engine]
    command = [str(tool), "engine", engine, "--version", version, "--matrix", "--out", str(out)]
    ran = subprocess.run(command, check=False, capture_output=True, text=True)
    _ = sys.stdout.write(ran.stdout + ran.stderr)
    if ran.returncode not in (0, 1, 3):
        return {"left out": ran.stderr.strip().splitlines()[-1][:200]}
    told = json.loads((out / "engine.json").read_text(encoding="utf-8"))
    rows = {table["name"]: table["rows"] for table in told["tables"]}
    return {
        "engine": told["setting"].partition(",")[0],
        "on": date.today().isoformat(),
        "finding": told["finding"],
        "tokens": sum(row["tokens"] for row in rows["cases"]),
        "seconds": round(monotonic() - began),
        "matrix": {row["option"]: [row["plain"], row["with speculation"]] for row in rows["matrix"]},
    }


def tables(kept: dict[str, Any]) -> str:
    """Return the two tables of the page: what was found, and the matrix of options."""
    there = {name: kept[name] for name in VERSIONS if "matrix" in kept.get(name, {})}
    lines = ["| engine | tokens | time | finding |", "|---|---|---|---|"]
    for one in there.values():
        finding = one["finding"].replace("|", "\\|")
        lines.append(f"| {one['engine']}, {one['on']} | {one['tokens']:,} | {one['seconds']} s | {finding} |")
    lines += [f"| {name} | | | left out: {kept[name]['left out']} |" for name in kept if "left out" in kept[name]]
    options = list(dict.fromkeys(option for one in there.values() for option in one["matrix"]))
    lines += ["", f"| option | {' | '.join(there)} |", f"|---|{'---|' * len(there)}"]
    for option in options:
        cells = [" / ".join(one["matrix"].get(option, ["not asked"] * 2)) for one in there.values()]
        lines.append(f"| `{option}` | {' | '.join(cells)} |")
    return "\n".join(lines) + "\n"


def main(engines: list[str]) -> int:
    """Judge engines, and write their columns to the page."""
    kept = json.loads(KEPT.read_text(encoding="utf-8")) if KEPT.is_file() else {}
    for engine in engines or list(VERSIONS):
        kept[engine] = judged(engine)
        KEPT.write_text(json.dumps(kept, indent=1) + "\n", encoding="utf-8")
        page = PAGE.read_text(encoding="utf-8")
        before, _, rest = page.partition(START)
        PAGE.write_text(before + START + tables(kept) + END + rest.partition(END)[2], encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
