"""Audit a sampler: its exact distribution, by every path of its randomness."""

from __future__ import annotations

import logging
from dataclasses import replace
from functools import partial
from importlib.util import find_spec
from pathlib import Path
from typing import Annotated, Any

import typer

from spec_math.cli.options import CertificateOption, OutOption, chain_of, option
from spec_math.cli.run import study

_read = partial(option, rich_help_panel="Parameters and return value of the function")
_code = partial(option, rich_help_panel="Code that needs changes to run")
_paths = partial(option, rich_help_panel="Exploration of the paths")
_outside = partial(option, rich_help_panel="A sampler in another language")
_black_box = partial(option, rich_help_panel="A black box, judged by its tokens")


def audit(  # noqa: PLR0913
    sampler: Annotated[
        str | None,
        typer.Argument(
            metavar="MODULE:FUNCTION|NAME",
            help="The sampler to judge: module:function, file.py:function, or an engine's name in docs/field.md.",
        ),
    ] = None,
    target: Annotated[
        str | None, option("The target's probabilities, as 1/4,3/4; in a chain by position: 1/4,3/4;1,0.")
    ] = None,
    draft: Annotated[str | None, option("The draft's distribution, in the form of --target.")] = None,
    k: Annotated[
        int | None, option("Number of independent drafts at one position; by default 1, 2 and 3, in turn.")
    ] = None,
    lookahead: Annotated[int, option("Length of the drafted chain, with a row per position.")] = 0,
    horizon: Annotated[
        int | None, option("Number of emitted tokens that are judged together; by default lookahead + 1.")
    ] = None,
    shape: Annotated[
        str | None,
        _read("What the function takes: verifier (coin, drafts), tokens (drafts), or laws (only distributions)."),
    ] = None,
    roles: Annotated[str | None, _read("Roles of parameters with ambiguous names, such as p=target,q=draft.")] = None,
    numbers: Annotated[
        str | None, _read("Type of the distributions: fractions, lists, float64, float32, float16, torch.float32, …")
    ] = None,
    grid: Annotated[
        str, _paths("Uniforms: ideal (real numbers), own (the grid of each float type), or b (the grid k/2^b).")
    ] = "ideal",
    budget: Annotated[int, _paths("Largest number of paths to follow.")] = 100_000,
    out: OutOption = None,
    pytest: Annotated[Path | None, option("File for a pytest test of the smallest failing case, if any.")] = None,
    certificate: CertificateOption = None,
    adapter: Annotated[Path | None, _read("Write how it is called to FILE.", metavar="FILE")] = None,
    samples: Annotated[
        str | None,
        _black_box("A file of tokens, or a function f; f(n) returns n tokens.", metavar="FILE|MODULE:FUNCTION"),
    ] = None,
    alpha: Annotated[float, _black_box("False-positive rate of the test with --samples, however long it runs.")] = 1e-6,
    stub: Annotated[
        str | None, _code("Packages that the file imports and the function does not need, such as jax,triton.")
    ] = None,
    replaced: Annotated[
        list[str] | None,
        _code("Replace text A, which must occur once, by B in the source.", "--replace", metavar="'A=>B'"),
    ] = None,
    source: Annotated[Path | None, _code("Folder with your copy of engine NAME's repository.")] = None,
    suspects: Annotated[
        Path | None, _code("List the functions in FOLDER that may be verifiers; run none.", metavar="FOLDER")
    ] = None,
    values: Annotated[
        list[str] | None,
        _read("Value for a parameter, or self.NAME: a Python expression.", "--set", metavar="NAME=VALUE"),
    ] = None,
    returns: Annotated[
        str | None, _read("The return value's parts in order: tokens; count,token; count,law; _ is another part.")
    ] = None,
    temperature: Annotated[str | None, option("Temperature of the sampler: 0, 1 or a fraction 1/n.")] = None,
    command: Annotated[
        str | None, _outside("A program that reads a JSON line and writes one; see docs/how_to/any_language.md.")
    ] = None,
    library: Annotated[
        str | None, _outside("A function of a shared library, such as mine.so:verify.", metavar="FILE:NAME")
    ] = None,
    total_variation: Annotated[
        float, _black_box("Total variation to detect; it sets the sample size where --samples is a function.")
    ] = 0.02,
) -> None:
    """Judge a sampler exactly: run its code unchanged on every path of its random numbers.

    The command recognises parameters by their names, in any order: target, draft, tokens, coin, and similar names such
    as draft_probs and draft_token_ids. Give the roles of ambiguous names, such as p and q, with --roles. A parameter
    coin receives this library's source of random numbers. A function without such a parameter must use Python's random,
    NumPy or torch. A function without a parameter for tokens must draw the drafts itself. The function must return the
    emitted token, or with --lookahead all emitted tokens. By default a built-in example with V = 5 tokens is used.

    [bold]Examples[/bold]

      spec-math audit spec_math.token_level.recursive:verify --k 2

      spec-math audit sampling.py:verify --target 1/4,3/4 --draft 1/2,1/2 --out verdict.html --pytest test_case.py

      spec-math audit speculative.py:step --roles p=target,q=draft

      spec-math audit package/sampling.py:step --stub jax,triton --replace 'p / q=>q / p'

      spec-math audit sampling.py:verify --returns count,token --set top_k=None --temperature 0

      spec-math audit rotalabs-accel

      spec-math audit --library verify.so:verify --lookahead 2

      spec-math audit mypackage.sampling:rejection_sample --lookahead 2 --numbers torch.float32

      spec-math audit sampling.py:verify --target 1/4,3/4 --draft 1/2,1/2 --out model.pm

      spec-math audit --samples tokens.txt --target 1/4,3/4 --out verdict.html

    [bold]Exit codes[/bold]: 0 lossless, 1 lossy, 2 bad input, 3 undecided. With --samples: 0 the tokens are not
    rejected, 1 they are rejected, 3 they are too few to detect the distance --total-variation with probability 0.99.
    """
    _tell_of_long_ones()
    if samples is not None:
        from spec_math.render.output import ENDINGS
        from spec_math.studies.audits import samples as of_samples

        place = None if out is None else out if out.suffix in ENDINGS else out / "samples"
        kept = None if place is None else place.with_suffix(".kept.json")
        tokens = of_samples.SamplesRequest(samples, target, draft, alpha, total_variation, kept)
        study(lambda progress: of_samples.study(tokens, progress), out, lambda: kept and kept.unlink(missing_ok=True))
    if suspects is not None:
        from spec_math.studies.audits.samples import suspects_study as of_suspects

        study(partial(of_suspects, suspects), out)
    outside = command is not None or library is not None
    if (outside and sampler is not None) or (adapter is not None and ":" not in (sampler or "")):
        raise typer.BadParameter("--command and --library name the sampler; --adapter needs MODULE:FUNCTION")
    if sampler is None and not outside:
        raise typer.BadParameter("name what is audited, MODULE:FUNCTION, or give its tokens with --samples")
    if sampler is not None and ":" not in sampler:
        if Path(sampler).suffix != ".py":
            study(_engine(sampler, source, replaced or []), out)
        sampler = _sampler_in(Path(sampler))
    from spec_math.studies.audits import study as of_samplers

    chain, out = chain_of(out)
    bits = _grid(grid)
    stubs = tuple(stub.split(",")) if stub else ()
    laws = target, draft, k, lookahead, horizon
    code = stubs, tuple(replaced or ()), temperature, _stand_ins(stubs)
    asked = of_samplers.AuditRequest(sampler or "", shape, roles, numbers, *laws, budget, bits, pytest, *code)
    asked = replace(asked, command=command, library=library, certificate=certificate, chain=chain, adapter=adapter)
    study(lambda progress: of_samplers.study(asked, _make(values or [], returns, temperature), progress), out)


def _engine(name: str, source: Path | None, replaced: list[str]) -> Any:
    """A public engine, whose records stand in torch_bridge."""
    if find_spec("torch") is None:
        raise typer.BadParameter(
            "engines are judged with torch, which is not installed: pip install 'spec_math[torch]'"
        )
    from spec_math.field.study import study as of_engines
    from spec_math.pathwise.loading import edit_of

    return partial(of_engines, name, source, [edit_of(one) for one in replaced])


def _sampler_in(file: Path) -> str:
    """Return the sampler of an adapter; of another file, say which functions may be meant."""
    from spec_math.studies.audits.samples import suspects
    from spec_math.studies.audits.study import open_names

    if not file.is_file():
        raise typer.BadParameter(f"there is no file {file}; name a module:function, a file or an engine")
    text = file.read_text(encoding="utf-8")
    if "\ndef sampler(" in f"\n{text}":
        if still := open_names(text):
            raise typer.BadParameter(f"{file} is open for {', '.join(still)}: uncomment one of the lines for each")
        return f"{file}:sampler"
    names = [one.name for one in suspects(file)]
    which = f"; functions in it that draw and compare: {', '.join(names)}" if names else ""
    raise typer.BadParameter(f"{file} is a file; name the function, as in {file}:{(*names, 'verify')[0]}{which}")


class _ToStandardError(logging.Handler):
    """Writes to what is standard error at that moment: a command may run many times in one process."""

    def emit(self, record: logging.LogRecord) -> None:
        """Write a message."""
        typer.echo(self.format(record), err=True)


def _tell_of_long_ones() -> None:
    """Let explorations that last say how far they are."""
    logger = logging.getLogger("spec_math.pathwise")
    if not logger.handlers:
        logger.addHandler(_ToStandardError())
        logger.setLevel(logging.INFO)


def _grid(text: str) -> int | None:
    from spec_math.pathwise.tape import OWN_GRID

    if text in ("ideal", "own"):
        return None if text == "ideal" else OWN_GRID
    if not text.isdecimal() or not 0 < int(text) <= 64:
        raise typer.BadParameter(f"--grid takes ideal, own, or a number of bits from 1 to 64; got {text!r}")
    return int(text)


def _make(values: list[str], returns: str | None, temperature: str | None) -> Any:
    """With torch installed its randomness is followed too; no floor below may know of torch_bridge."""
    from spec_math.samplers.subject import subject_of

    told = bool(values or returns or temperature)
    if find_spec("torch") is None:
        if told:
            raise typer.BadParameter("--set, --returns and --temperature need torch: pip install 'spec_math[torch]'")
        return subject_of
    from torch_bridge import subject

    return partial(subject.told_subject_of, (values, returns, temperature)) if told else subject.subject_of


def _stand_ins(stubs: tuple[str, ...]) -> Any:
    """Return names that compute, of packages that are stood in for and not installed."""
    packages = [one for one in stubs if one and "." not in one and find_spec(one) is None]
    if not packages or find_spec("torch") is None:
        return {}
    from spec_math.field.stand_ins import given

    return given(packages)


# Written here too, so that --help loads no kernel; a test holds them to the study's.
TOLERANCE = 1e-5
BUGS = ("none", "block", "residual", "accept", "bonus", "temperature", "greedy")


def trace(  # noqa: PLR0913 - typer takes an argument an option
    paths: Annotated[
        list[Path] | None,
        typer.Argument(help="Shards of a trace (files .safetensors or .parquet), or folders of shards."),
    ] = None,
    out: Annotated[
        Path, option("Folder for page, CSV, JSON, pictures, and the state from which an interrupted run continues.")
    ] = Path("out/trace"),
    alpha: Annotated[float, option("False-positive rate: the largest share of correct engines that is rejected.")] = (
        1e-6
    ),
    tolerance: Annotated[float, option("Total variation that counts as rounding.")] = TOLERANCE,
    scheduler: Annotated[
        str | None, option("Address of a Dask scheduler, such as tcp://10.0.0.1:8786; without it, threads are used.")
    ] = None,
    workers: Annotated[
        int | None, option("Number of threads, if no --scheduler is given; by default one per core.")
    ] = None,
    bug: Annotated[str | None, option(f"Without shards: bug in the recorded engine, one of {', '.join(BUGS)}.")] = None,
) -> None:
    """Audit an engine's trace: test tokens and drafts against their distributions, and report acceptance and loops.

    A trace holds, for each emitted token, the logits of target and draft, the drafted token and the emitted token. The
    page docs/how_to/record_a_trace.md shows how to record a trace. Without shards, the command records a trace of two
    n-gram models and audits this trace. The command keeps its results in the output folder. If you run it
    again after an interruption, it continues from these results and computes the same evidence.

    Exit codes: 0 nothing is rejected, 1 the tokens or the drafts are rejected, 2 bad input or an unreadable shard,
    3 too few tokens to reject anything.

    [bold]Examples[/bold]

      spec-math trace recorded/ --out audit

      spec-math trace a.safetensors b.parquet --alpha 1e-9

      spec-math trace recorded/ --scheduler tcp://10.0.0.1:8786

      spec-math trace --bug residual
    """
    from spec_math.render.output import ENDINGS
    from spec_math.studies.traces import study as of_traces

    folder = out.parent if out.suffix in ENDINGS else out
    asked = of_traces.TraceRequest(tuple(paths or ()), folder / "shards", alpha, tolerance, scheduler, workers, bug)
    study(lambda progress: of_traces.study(asked, progress), out)
