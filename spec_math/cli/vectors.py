"""Write conformance vectors, on which kernels in any language are checked."""

from __future__ import annotations

import json
from importlib.util import find_spec
from pathlib import Path
from typing import Annotated, Any

import typer
from rich.console import Console
from rich.progress import Progress
from rich.table import Table

from spec_math.cli.options import SeedOption
from spec_math.cli.run import run
from spec_math.files.whole import check_writable


def vectors(
    out: Annotated[Path, typer.Option(help="Folder for the files; it is made if it is missing.")],
    seed: SeedOption = 0,
) -> None:
    """Write logits, drafted tokens, uniforms and the tokens that a verifier must emit on them, as safetensors and JSON.

    Verification of chains token by token and as a block, K-SEQ and the optimal plan; ragged batches, placeholders,
    temperature, top-k, top-p, half precision; with each request's distance to the nearest threshold. A kernel in C++,
    CUDA or Rust is checked without Python: docs/how_to/check_a_kernel.md has readers of twenty lines.

    [bold]Example[/bold]

      spec-math vectors --out vectors --seed 7
    """
    run(lambda console, _progress: _write(out, seed, console, _progress))


def _write(out: Path, seed: int, console: Console, progress: Progress) -> int:
    if find_spec("torch") is None:
        raise ValueError(
            "conformance vectors are made of torch's own types, and torch is not installed; install the extra: "
            "pip install 'spec_math[torch]'"
        )
    # No floor below may know of torch_bridge: torch is an extra, and only the command line sees what is installed.
    from torch_bridge import write_vectors

    check_writable(out)
    task = progress.add_task("files", total=None)
    written = write_vectors(out, seed)
    progress.remove_task(task)
    listed: list[dict[str, Any]] = json.loads(written[-1].read_text(encoding="utf-8"))["files"]
    table = Table(box=None, pad_edge=False)
    for name in ("file", "verifier", "options"):
        table.add_column(name)
    for file in listed:
        given = ", ".join(f"{name} {value:g}" for name, value in file["options"].items() if value is not None)
        table.add_row(file["file"], file["verifier"], given)
    console.print(table)
    console.print(f"{len(listed)} files and {written[-1].name} in {out}", markup=False)
    return 0
