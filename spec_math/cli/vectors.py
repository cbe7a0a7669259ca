"""Write conformance vectors, on which kernels in any language are checked."""

from __future__ import annotations

import json
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from spec_math.cli.options import SeedOption
from spec_math.cli.run import study

if TYPE_CHECKING:
    from spec_math.result import Result
    from spec_math.studies.arguments import Progress


def vectors(
    out: Annotated[Path, typer.Option(help="Folder for the files, and a page, CSV and JSON that list them.")],
    seed: SeedOption = 0,
) -> None:
    """Write logits, drafted tokens, uniforms and the tokens that a verifier must emit on them, as safetensors and JSON.

    Verification of chains token by token and as a block, K-SEQ and the optimal plan; ragged batches, placeholders,
    temperature, top-k, top-p, half precision; with each request's distance to the nearest threshold. A kernel in C++,
    CUDA or Rust is checked without Python: docs/how_to/check_a_kernel.md has readers of twenty lines.

    [bold]Example[/bold]

      spec-math vectors --out vectors --seed 7
    """
    if out.suffix in (".html", ".csv", ".json", ".svg"):
        raise typer.BadParameter(f"--out names a folder for many files; got {out}")
    # Without torch nothing is written, and no folder is made either.
    study(lambda progress: _written(out, seed, progress), out if find_spec("torch") else None)


def _written(out: Path, seed: int, progress: Progress) -> Result:
    if find_spec("torch") is None:
        raise ValueError(
            "conformance vectors are made of torch's own types, and torch is not installed; install the extra: "
            "pip install 'spec_math[torch]'"
        )
    # No floor below may know of torch_bridge: torch is an extra, and only the command line sees what is installed.
    from spec_math.result import Column, Result, Row, Table, sentences
    from torch_bridge import write_vectors

    step = progress("files", 1)
    written = write_vectors(out, seed)
    step(1)
    listed: list[dict[str, Any]] = json.loads(written[-1].read_text(encoding="utf-8"))["files"]
    rows = [Row((file["file"], file["verifier"], _options(file["options"]), file["bound"])) for file in listed]
    columns = (
        Column("file"),
        Column("verifier"),
        Column("options"),
        Column("bound", "number", "probability", None, shown=False),
    )
    return Result(
        "files",
        f"Conformance vectors, seed {seed}",
        f"Run your kernel on the {len(listed)} files of {out} and compare its tokens with those expected.",
        (Table("files", "Files of vectors", columns, tuple(rows)),),
        notes=sentences([f"{written[-1].name} says what is in each file."]),
    )


def _options(given: dict[str, Any]) -> str:
    return ", ".join(f"{name} {value:g}" for name, value in given.items() if value is not None)
