"""Write the report page."""

from __future__ import annotations

import json
import os
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from spec_math.cli.options import KOption, LawOption, SeedOption, option
from spec_math.cli.run import progress_of, run, study

if TYPE_CHECKING:
    from rich.console import Console

    from spec_math.result import Result
    from spec_math.studies.arguments import Progress
    from spec_math.studies.overview import ReportRequest

TITLE = "How much do speculative verifiers accept, and how much could any?"


def report(  # noqa: PLR0913 - typer takes an argument an option
    out: Annotated[
        Path, option("File of the page; or a folder, which also gets CSV, JSON and pictures of each part.")
    ] = Path("out/report.html"),
    positions: Annotated[int, option("Number of held-out positions of the embedded models.")] = 2000,
    seed: SeedOption = 0,
    target: LawOption = None,
    draft: LawOption = None,
    logits: Annotated[bool, option("The files contain logits, not probabilities.")] = False,
    k: KOption = "1,2,4,8",
    target_model: Annotated[Path | None, option("JSON table of the target model of blocks.")] = None,
    draft_model: Annotated[Path | None, option("JSON table of the draft model.")] = None,
    trace: Annotated[
        list[Path] | None, option("Shards of a recorded trace, or folders of shards; may be repeated.")
    ] = None,
) -> None:
    """Write one self-contained HTML page of findings, each with tables, pictures and explanations of the numbers.

    The page reports on your files of distributions, tables of models and recorded traces. Without files it is about
    embedded models: one position, blocks, drafters with other vocabularies, and rules that are lossy by design.

    Exit codes: 0 done, 1 a verifier is lossy or a trace is rejected, 2 bad input, 3 a verdict is undecided.

    [bold]Examples[/bold]

      spec-math report --out page.html --positions 500

      spec-math report --target t.npy --draft d.npy --logits --trace recorded/ --out results
    """
    from spec_math.studies import overview
    from spec_math.studies.blocks.study import Blocks
    from spec_math.studies.positions.study import CompareRequest

    folder = out.parent if out.suffix == ".html" else out
    given = target is not None or draft is not None
    models = target_model is not None or draft_model is not None
    traces = None
    if trace:
        from spec_math.studies.traces.study import TraceRequest

        traces = TraceRequest(tuple(trace), folder / "shards")
    request = overview.ReportRequest(
        CompareRequest(target, () if draft is None else (draft,), logits, k, seed=seed) if given else None,
        Blocks(target_model, draft_model, ks=k, seed=seed) if models else None,
        traces,
        positions,
        seed,
    )
    run(lambda console, progress: _report(request, out, console, progress))


def _report(request: ReportRequest, out: Path, console: Console, progress: Any) -> int:
    from rich.text import Text

    from spec_math.files.whole import check_writable
    from spec_math.render.html import answer_of
    from spec_math.render.output import write_together
    from spec_math.render.playground import fragment
    from spec_math.studies import overview

    if out.suffix == ".html" and out.is_dir():
        raise IsADirectoryError(f"{out}: a folder; --out names the page, such as out/report.html, or another folder")
    if out.suffix not in ("", ".html"):
        raise ValueError(f"{out}: --out names a page, such as report.html, or a folder")
    check_writable(out.parent if out.suffix else out)
    found = overview.results(request, progress_of(progress), os.cpu_count() or 1)
    paths = write_together(found, TITLE, out, fragment())
    progress.stop()
    answer = answer_of(found)
    for said in filter(None, (answer.setting, answer.finding)):
        console.print(Text(said))
    console.print(f"The report is at {paths[0].resolve()}", markup=False, soft_wrap=True)
    codes = [result.exit_code for result in found]
    return 1 if 1 in codes else max(codes)


def vectors(
    out: Annotated[Path, option("Folder for the files and for a page, CSV and JSON that list them.")],
    seed: SeedOption = 0,
) -> None:
    """Write test cases for kernels: logits, drafted tokens, uniforms and the expected tokens, as safetensors and JSON.

    The cases cover chains verified token by token and as a block, K-SEQ and the optimal plan. The cases include ragged
    batches, placeholders, temperature, top-k, top-p and half precision. For each request the files state the smallest
    distance of a uniform number from its threshold. A kernel in C++, CUDA or Rust can be checked without Python, as
    the page docs/how_to/check_a_kernel.md shows.

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
    bound = Column("bound", "number", "probability", None, shown=False)
    columns = *map(Column, ("file", "verifier", "options")), bound
    return Result(
        "files",
        f"Conformance vectors, seed {seed}",
        f"Run your kernel on the {len(listed)} files of {out} and compare its tokens with those expected.",
        (Table("files", "Files of vectors", columns, tuple(rows)),),
        notes=sentences([f"{written[-1].name} says what is in each file."]),
    )


def _options(given: dict[str, Any]) -> str:
    return ", ".join(f"{name} {value:g}" for name, value in given.items() if value is not None)
