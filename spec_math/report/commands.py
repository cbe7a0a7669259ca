"""What the commands do: read, compare, judge, print, and write whole files."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass, replace
from math import isnan
from pathlib import Path
from typing import Any

from rich.console import Console
from rich.progress import Progress
from rich.text import Text

from spec_math.arrays import count
from spec_math.files.whole import check_writable, write_whole
from spec_math.report import default, pictures
from spec_math.report.arguments import load_scheme, names_of, parsed_ks, parsed_sweep
from spec_math.report.bounding_subset import bounding_sentence, laws_at
from spec_math.report.comparison import compare_judged
from spec_math.report.drafters import compare_drafters, drafters_table
from spec_math.report.law_files import LawFile, open_laws
from spec_math.report.lines import Comparison
from spec_math.report.positions import Positions, compressed, from_files, heated
from spec_math.report.tables import as_csv, as_json, footnotes, terminal_table
from spec_math.report.verdicts import SchemeVerdict, Verdicts, judge
from spec_math.scheme import Scheme
from spec_math.token_level import SCHEMES


@dataclass(frozen=True)
class CompareRequest:
    """What `spec-math compare` was asked."""

    target: str | None = None
    drafts: tuple[str, ...] = ()
    logits: bool = False
    ks: str = "1,2,4,8"
    schemes: tuple[str, ...] = ()
    sweep: str | None = None
    compress: int | None = None
    names: Path | None = None
    position: int | None = None
    positions: int = 2000
    out: Path | None = None
    seed: int = 0


def compare(request: CompareRequest, console: Console, progress: Progress) -> int:
    """Compare, print the table, and write what was asked for; the exit code is 1 where a scheme is lossy.

    Raises:
        ValueError, TypeError, OSError: bad input, before anything is written.

    >>> compare(CompareRequest(target="t.npy"), Console(), Progress(disable=True))
    Traceback (most recent call last):
    ValueError: --target and --draft come together; only one was given
    """
    ks = parsed_ks(request.ks)
    if len(request.drafts) > 1:
        return _compare_drafters(request, console, progress)
    schemes = (*SCHEMES, *(load_scheme(place) for place in request.schemes))
    if request.out is not None:
        check_writable(request.out)
    temperatures = parsed_sweep(request.sweep) if request.sweep else []
    source = _source(request, 1.0)
    asked = None if request.position is None else (request.position, *laws_at(source, request.position))
    verdicts = _verdicts(schemes, progress)
    result = _compared(source, verdicts, ks, request.seed, progress, "comparing")
    console.print(terminal_table(result, verdicts))
    for note in footnotes(result, verdicts):
        console.print(Text(note))
    console.print(Text(_bound(result, source.names, asked)))
    picture = pictures.membership_against_k(result)
    files = {
        "comparison.csv": as_csv(result, verdicts),
        "comparison.json": as_json(result, verdicts),
        "comparison.svg": picture,
    }
    if temperatures:
        swept = [
            _compared(_source(request, heat), verdicts, ks, request.seed, progress, f"draft temperature {heat:g}")
            for heat in temperatures
        ]
        files["sweep.svg"] = pictures.sweep(temperatures, swept, max(ks))
        for sentence in maximisers(temperatures, swept, max(ks)):
            console.print(Text(sentence))
    if request.out is not None:
        for name, content in files.items():
            console.print(Text(f"wrote {write_whole(request.out / name, content)}"))
    return 0 if all(found.right for found in verdicts.values()) else 1


def maximisers(temperatures: Sequence[float], results: Sequence[Comparison], k: int) -> list[str]:
    """Say for each scheme at which draft temperature its membership is largest.

    >>> maximisers([], [], 1)
    []
    """
    sentences: list[str] = []
    for number, line in enumerate(results[0].lines if results else []):
        if k in line.membership:
            values = [result.lines[number].membership[k].mean for result in results]
            best = max(range(len(values)), key=values.__getitem__)
            sentences.append(
                f"{line.name}: membership at k = {k} is largest, {values[best]:.4f}, at draft temperature "
                f"{temperatures[best]:g}"
            )
    return sentences


def _compared(
    positions: Positions, verdicts: Verdicts, ks: tuple[int, ...], seed: int, progress: Progress, what: str
) -> Comparison:
    task = progress.add_task(what, total=positions.count)
    return compare_judged(positions, verdicts, ks, lambda done: progress.advance(task, done), seed)


def _verdicts(schemes: Sequence[Scheme], progress: Progress) -> dict[Scheme, SchemeVerdict]:
    task = progress.add_task("judging exactly", total=len(schemes))
    found: dict[Scheme, SchemeVerdict] = {}
    for scheme in schemes:
        found[scheme] = judge(scheme)
        progress.advance(task)
    return found


def _compare_drafters(request: CompareRequest, console: Console, progress: Progress) -> int:
    if request.target is None:
        raise ValueError("--target and --draft come together; only one was given")
    target = open_laws(request.target)
    streams = [from_files(target, open_laws(place), request.logits) for place in request.drafts]
    if request.compress is not None or request.sweep or request.schemes:
        raise ValueError("several drafters are compared as they are: leave out --compress, --sweep and --scheme")
    labels = [Path(place).stem for place in request.drafts]
    if len(set(labels)) < len(labels):
        labels = [f"{label} ({number + 1})" for number, label in enumerate(labels)]
    task = progress.add_task("comparing drafters", total=streams[0].count)
    result = compare_drafters(streams, labels, lambda done: progress.advance(task, done))
    console.print(drafters_table(result))
    if request.out is not None:
        check_writable(request.out)
        ends = zip(("optimum, lower end", "optimum, upper end"), result.bracket, strict=True)
        tallies = result.rows | dict(ends)
        # One position knows no spread: JSON has null for that, and no NaN.
        rows = {name: [t.mean, None if isnan(t.error) else t.error] for name, t in tallies.items()}
        content = json.dumps({"positions": result.sampled, "membership": rows}, indent=2, ensure_ascii=False)
        console.print(Text(f"wrote {write_whole(request.out / 'drafters.json', content)}"))
    return 0


def _bound(result: Comparison, names: Sequence[str] | None, asked: tuple[int, Any, Any] | None) -> str:
    k = max(result.ks)
    if asked is not None:
        position, target, draft = asked
        return f"At position {position} {bounding_sentence(target, draft, k, names)}"
    if result.hardest is None:
        return ""
    found = result.hardest
    where = f"At position {found.position}, where the optimum is least, "
    return where + bounding_sentence(found.target, found.draft, k, names)


def _source(request: CompareRequest, temperature: float) -> Positions:
    if (request.target is None) != (not request.drafts):
        raise ValueError("--target and --draft come together; only one was given")
    if request.target is None:
        found = default.positions(count(request.positions, "--positions"))
        found = heated(found, temperature) if temperature != 1.0 else found
    else:
        files: list[LawFile] = [open_laws(request.target), open_laws(request.drafts[0])]
        found = from_files(files[0], files[1], request.logits, (1.0, temperature))
        if request.names is not None:
            found = replace(found, names=names_of(request.names, found.size))
    if request.compress is None:
        return found
    return compressed(found, count(request.compress, "--compress"))
