"""A black box judged by its samples alone: tokens from a file or a function, against the law they should have."""

from __future__ import annotations

import ast
import hashlib
import json
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass, field
from math import log
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from spec_math.files.place import load_function
from spec_math.files.whole import read_json, write_whole
from spec_math.result import Column, Curve, Note, Panel, Picture, Result, Table, columns, rows
from spec_math.sequential.bank import in_words
from spec_math.sequential.identity_test import IdentityTest, identity_test
from spec_math.sequential.sample_size import sequential_sample_size
from spec_math.studies.arguments import Progress, absolute, law_of
from spec_math.verdict import Lossy
from spec_math.wording import counted

BATCH, POWER = 4096, 0.99
UNDECIDED, FURTHEST = 3, 20
"""The exit code of too few tokens; tokens that the table shows."""


class SamplesRequest(NamedTuple):
    """The request of `spec-math audit --samples`: tokens, the law [V] they should have, and how sure to be."""

    samples: str
    target: str | None = None
    draft: str | None = None
    alpha: float = 1e-6
    total_variation: float = 0.02
    kept: Path | None = None


@dataclass
class _Run:
    """A test under way, with its curve (draws, log evidence), kept in a file so that it may go on later."""

    test: IdentityTest
    question: str
    kept: Path | None
    needed: int = 0
    curve: list[tuple[int, float]] = field(default_factory=lambda: [(0, 0.0)])

    def keep(self) -> None:
        if self.kept is None:
            return
        test = self.test
        content = {"question": self.question, "counts": test.counts.tolist(), "alarm": test.alarm}
        content |= {"log_peak": test.log_peak, "curve": self.curve}
        write_whole(self.kept, json.dumps(content))

    def go_on(self) -> None:
        """Take up what was kept, if it answers the same question; the evidence depends on the counts alone."""
        if self.kept is None:
            return
        with suppress(OSError, ValueError, KeyError, TypeError):
            held = json.loads(self.kept.read_text())
            if held["question"] == self.question:
                self.test.update_counts(np.array(held["counts"], dtype=np.int64))
                self.test.log_peak, self.test.alarm = held["log_peak"], held["alarm"]
                self.curve = [(draws, value) for draws, value in held["curve"]]


def study(request: SamplesRequest, progress: Progress) -> Result:
    """Test samples against a law and say what was found; the exit code is 0 not rejected, 1 rejected, 3 too few to say.

    Not rejected is not lossless: it says that a distance of `total_variation` or more would have been found with
    probability 0.99, which takes a number of tokens; fewer tokens that reject nothing decide nothing.

    A file is read to its end; a function is asked for as many tokens as find the distance with probability 0.99, and
    no more once it is rejected. With `kept`, what was seen is kept there: interrupted, the same question goes on. A
    file then gives the very same evidence; a function draws on.

    Raises:
        ValueError, TypeError, OSError: the law or the tokens are wrong or missing, or a file that cannot be written.
        KeyboardInterrupt: saying what is kept.

    >>> study(SamplesRequest("tokens.txt"), lambda what, steps: lambda done: None)
    Traceback (most recent call last):
    ValueError: --samples needs --target, the distribution that the tokens should have
    """
    if request.target is None:
        raise ValueError("--samples needs --target, the distribution that the tokens should have")
    target = law_of(request.target)
    draft = None if request.draft is None else law_of(request.draft)
    test = identity_test(target, request.alpha, draft)
    size = int((test.target > 0).sum())
    needed = sequential_sample_size(request.total_variation, request.alpha, POWER, max(size, 2), bool(test.names))
    run = _Run(test, _question(request), request.kept, needed)
    run.go_on()
    try:
        _followed(request, run, needed, progress)
    except KeyboardInterrupt:
        run.keep()
        later = "; the same command continues from there" if run.kept else "; only a run with --out can be continued"
        raise KeyboardInterrupt(f"interrupted after {test.samples:,} tokens{later}") from None
    return _result(request, run)


def _result(request: SamplesRequest, run: _Run) -> Result:
    test = run.test
    rejected = isinstance(test.verdict, Lossy)
    said = f"{test.samples:,} tokens seen. {_concluded(request, rejected, test.samples, run.needed)} {test.verdict}"
    suspects = "; ".join(f"{in_words(name)}, e^{ratio:.1f}" for name, ratio in test.suspects()[:3] if ratio > 0)
    notes = [Note(suspects, "looks like")] if rejected and suspects else []
    what = "these tokens do not have the target's distribution" if rejected else "the test does not reject the target"
    title, tables, pictures = f"{request.samples}: {what}", (_tokens_off(run),), (_evidence(request, run),)
    notes.append(Note(str(test.promise())))
    code = 1 if rejected else 0 if test.samples >= run.needed else UNDECIDED
    return Result("samples", title, said, tables, pictures, tuple(notes), exit_code=code)


def _tokens_off(run: _Run) -> Table:
    share = run.test.counts / max(1, run.test.samples)
    worst = np.argsort(-np.abs(share - run.test.target), kind="stable")[:FURTHEST].tolist()
    shown = Column("token", "count"), *columns(("drawn", "target"), "number", "probability", digits=6)
    found = rows((y, float(share[y]), float(run.test.target[y])) for y in worst)
    return Table("tokens", "Tokens with the largest difference", shown, found)


def _evidence(request: SamplesRequest, run: _Run) -> Picture:
    draws = tuple(float(number) for number, _ in run.curve)
    level = (-log(request.alpha) / log(10),) * 2
    curves = (
        Curve("evidence", draws, tuple(value / log(10) for _, value in run.curve)),
        Curve(f"alarm, α = {request.alpha:g}", (draws[0], draws[-1]), level, style="guide"),
    )
    return Picture(
        "evidence",
        "Evidence against the target's distribution",
        "The evidence after each batch. If the sampler is right, the evidence ever crosses the dotted line with "
        "probability at most α.",
        (Panel(curves, "tokens", "evidence, powers of ten"),),
    )


def _concluded(request: SamplesRequest, rejected: bool, seen: int, needed: int) -> str:
    if rejected:
        return f"Rejected. A right sampler is rejected with probability at most {request.alpha:g}, at any sample size."
    if seen < needed:
        return (
            f"Undecided. The test needs {needed:,} tokens to detect a total variation of {request.total_variation:g} "
            f"with probability {POWER}."
        )
    return (
        f"Not rejected. The test detects a total variation of {request.total_variation:g} or more with probability "
        f"{POWER}. It does not prove losslessness, and smaller distances are possible."
    )


def _followed(request: SamplesRequest, run: _Run, needed: int, progress: Progress) -> None:
    test = run.test
    total, batches = _batches(request.samples, test.samples, needed)
    done = absolute(progress("testing tokens", total))
    for number, tokens in enumerate(batches, 1):
        test.update_many(tokens)
        run.curve.append((test.samples, test.log_evidence))
        done(test.samples)
        if number % 16 == 0:
            run.keep()
        if test.alarm is not None and ":" in request.samples:
            break
    if test.samples == 0:
        raise ValueError(f"{request.samples} holds no tokens")


def _batches(place: str, done: int, needed: int) -> tuple[int, Iterator[Any]]:
    path = Path(place)
    if path.is_file():
        tokens = _tokens(path)
        return len(tokens), (tokens[first : first + BATCH] for first in range(done, len(tokens), BATCH))
    if ":" not in place:
        raise ValueError(f"--samples takes a file of tokens or MODULE:FUNCTION; there is no file {place}")
    draw = load_function(place, "--samples").value

    def drawn() -> Iterator[Any]:
        for first in range(done, needed, BATCH):
            wanted = min(BATCH, needed - first)
            found = np.asarray(draw(wanted))
            if found.shape != (wanted,):
                raise ValueError(f"{place}({wanted}) must return {wanted} tokens, shape [{wanted}]; got {found.shape}")
            yield found

    return needed, drawn()


def _tokens(path: Path) -> Any:
    if path.suffix == ".npy":
        found = np.load(path, mmap_mode="r", allow_pickle=False)
    elif path.suffix == ".json":
        found = np.array(read_json(path))
    else:
        words = path.read_text(encoding="utf-8-sig").replace(",", " ").split()
        wrong = next((word for word in words if not word.isdecimal()), None)
        if wrong is not None:
            raise ValueError(f"{path}: tokens are indices with blanks or commas between them; got {wrong!r}")
        found = np.array(words, dtype=np.int64)
    if found.ndim != 1 or (found.size and found.dtype.kind not in "iu"):
        raise ValueError(f"{path}: tokens are whole numbers, shape [n]; got {found.dtype} of {found.shape}")
    return found


def _question(request: SamplesRequest) -> str:
    """Name the question: what was kept for another one is not taken up."""
    parts = [request.samples, request.target, request.draft, request.alpha, request.total_variation]
    for place in (request.samples, request.target, request.draft):
        if place is not None and (path := Path(place)).is_file():
            parts += [path.stat().st_size, path.stat().st_mtime_ns]
    return hashlib.sha256(json.dumps(parts).encode()).hexdigest()


def suspects_study(folder: Path, told: Progress) -> Result:
    """List the functions under a folder that draw and compare; nothing is run.

    Raises:
        ValueError: there is no such folder or file.

    >>> suspects_study(Path("nowhere"), lambda what, steps: lambda done: None)
    Traceback (most recent call last):
    ValueError: there is no folder nowhere
    """
    if not folder.exists():
        raise ValueError(f"there is no folder {folder}")
    done = told("reading", 1)
    found = suspects(folder)
    done(1)
    cells = ((f"{one.file}:{one.line}", ", ".join(one.draws), one.command) for one in found)
    columns = Column("where"), Column("draws by"), Column("command")
    functions = counted(len(found), "function")
    draw = "draws random numbers and compares" if len(found) == 1 else "draw random numbers and compare"
    said = f"{functions} under {folder} {draw}; none was run."
    table = Table("suspects", "Functions", columns, rows(cells))
    return Result("suspects", f"What may be a verifier under {folder}", said, (table,))


DRAWS = {
    *("rand", "rand_like", "random", "uniform", "uniform_", "multinomial", "exponential", "exponential_", "bernoulli"),
    *("categorical", "choice", "choices", "gumbel", "curand_uniform"),
}


class Suspect(NamedTuple):
    """A function that draws by some calls and compares, where it stands, and the command that would judge it."""

    file: Path
    name: str
    line: int
    draws: tuple[str, ...]

    @property
    def command(self) -> str:
        """The command line that judges it."""
        return f"spec-math audit {self.file}:{self.name}"


def suspects(folder: Path) -> list[Suspect]:
    """Return the functions and methods under a folder that draw and compare; files that are not Python are passed over.

    >>> import spec_math.studies.audits.samples as here
    >>> suspects(Path(here.__file__))
    []
    """
    files = [folder] if folder.is_file() else sorted(folder.rglob("*.py"))
    return [one for file in files for one in _in_file(file)]


def _in_file(file: Path) -> Iterator[Suspect]:
    try:
        tree = ast.parse(file.read_text(encoding="utf-8"))
    except (SyntaxError, UnicodeDecodeError, ValueError):
        return
    for owner, function in _functions(tree):
        calls = [node.func for node in ast.walk(function) if isinstance(node, ast.Call)]
        called = dict.fromkeys(getattr(call, "attr", getattr(call, "id", "")) for call in calls)
        draws = tuple(name for name in called if name in DRAWS)
        if draws and any(isinstance(node, ast.Compare) for node in ast.walk(function)):
            yield Suspect(file, f"{owner}{function.name}", function.lineno, draws)


def _functions(tree: ast.Module) -> Iterator[tuple[str, ast.FunctionDef]]:
    for node in tree.body:
        if isinstance(node, ast.FunctionDef):
            yield "", node
        elif isinstance(node, ast.ClassDef):
            yield from ((f"{node.name}.", inner) for inner in node.body if isinstance(inner, ast.FunctionDef))
