"""A black box judged by its samples alone: tokens from a file or a function, against the law they should have."""

from __future__ import annotations

import base64
import hashlib
import html
import json
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass, field
from math import log
from pathlib import Path
from typing import Any

import numpy as np
from rich.console import Console
from rich.progress import Progress
from rich.text import Text

from spec_math.audit import IdentityTest, identity_test, sequential_sample_size
from spec_math.files.place import load_function
from spec_math.files.whole import check_writable, write_whole
from spec_math.render.figure import COLOURS, panels, svg
from spec_math.render.html import style
from spec_math.report.arguments import masses_of
from spec_math.report.law_files import open_laws
from spec_math.verdict import Lossy

BATCH, POWER = 4096, 0.99
INTERRUPTED, UNDECIDED = 130, 3


@dataclass(frozen=True)
class SamplesRequest:
    """What `spec-math audit --samples` was asked: tokens, the law [V] they should have, and how sure to be."""

    samples: str
    target: str | None = None
    draft: str | None = None
    alpha: float = 1e-6
    total_variation: float = 0.02
    out: Path | None = None


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


def samples(request: SamplesRequest, console: Console, progress: Progress) -> int:
    """Test samples against a law and say what was found: 0 not rejected, 1 rejected, 3 too few to say.

    Not rejected is not lossless: it says that a distance of `total_variation` or more would have been found with
    probability 0.99, which takes a number of tokens; fewer tokens that reject nothing decide nothing.

    A file is read to its end; a function is asked for as many tokens as find the distance with probability 0.99, and
    no more once it is rejected. With --out, what was seen is kept beside the page until the answer is there:
    interrupted, the same command goes on. A file then gives the very same evidence; a function draws on.

    Raises:
        ValueError, TypeError, OSError: the law or the tokens are wrong or missing, or a file that cannot be written.

    >>> samples(SamplesRequest("tokens.txt"), Console(), Progress(disable=True))
    Traceback (most recent call last):
    ValueError: --samples needs --target, the law that the tokens should have
    """
    if request.target is None:
        raise ValueError("--samples needs --target, the law that the tokens should have")
    if request.out is not None:
        check_writable(request.out.parent)
    target = _law(request.target)
    draft = None if request.draft is None else _law(request.draft)
    test = identity_test(target, request.alpha, draft)
    size = int((test.target > 0).sum())
    needed = sequential_sample_size(request.total_variation, request.alpha, POWER, max(size, 2), bool(test.names))
    kept = None if request.out is None else request.out.with_suffix(".kept.json")
    run = _Run(test, _question(request), kept, needed)
    run.go_on()
    try:
        total = _followed(request, run, needed, progress)
    except KeyboardInterrupt:
        run.keep()
        later = "; the same command goes on from there" if run.kept else "; with --out it would have been kept"
        console.print(Text(f"interrupted after {test.samples:,} tokens{later}"))
        return INTERRUPTED
    rejected = isinstance(test.verdict, Lossy)
    console.print(Text(f"{total:,} tokens seen. {_concluded(request, rejected, total, needed)} {test.verdict}"))
    suspects = [(name, ratio) for name, ratio in test.suspects()[:3] if ratio > 0]
    if rejected:
        if suspects:
            console.print(Text("looks like: " + ", ".join(f"{name} (e^{ratio:.1f})" for name, ratio in suspects)))
        console.print(Text(str(test.promise())))
    if request.out is not None:
        console.print(Text(f"wrote {write_whole(request.out, _page(request, run))}"))
        if run.kept is not None:
            run.kept.unlink(missing_ok=True)
    return 1 if rejected else 0 if total >= needed else UNDECIDED


def _concluded(request: SamplesRequest, rejected: bool, seen: int, needed: int) -> str:
    if rejected:
        return f"Rejected: right samplers are with probability {request.alpha:g} at most, however long the test runs."
    if seen < needed:
        return (
            f"Undecided: to find a total variation of {request.total_variation:g} with probability {POWER} takes "
            f"{needed:,} tokens."
        )
    return (
        f"Not rejected: a total variation of {request.total_variation:g} or more would have been found with "
        f"probability {POWER}. That is not a proof of lossless; smaller distances may be there."
    )


def _followed(request: SamplesRequest, run: _Run, needed: int, progress: Progress) -> int:
    test = run.test
    total, batches = _batches(request.samples, test.samples, needed)
    task = progress.add_task("testing tokens", total=total, completed=test.samples)
    for number, tokens in enumerate(batches, 1):
        test.update_many(tokens)
        run.curve.append((test.samples, test.log_evidence))
        progress.update(task, completed=test.samples)
        if number % 16 == 0:
            run.keep()
        if test.alarm is not None and ":" in request.samples:
            break
    if test.samples == 0:
        raise ValueError(f"{request.samples} holds no tokens")
    return test.samples


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
        found = np.array(json.loads(path.read_text()))
    else:
        words = path.read_text().replace(",", " ").split()
        wrong = next((word for word in words if not word.isdecimal()), None)
        if wrong is not None:
            raise ValueError(f"{path}: tokens are indices with blanks or commas between them; got {wrong!r}")
        found = np.array(words, dtype=np.int64)
    if found.ndim != 1 or (found.size and found.dtype.kind not in "iu"):
        raise ValueError(f"{path}: tokens are whole numbers, shape [n]; got {found.dtype} of {found.shape}")
    return found


def _law(text: str) -> Any:
    if Path(text.partition(":")[0]).suffix not in (".npy", ".npz", ".safetensors"):
        return masses_of(text)
    file = open_laws(text)
    if file.shape[0] != 1:
        raise ValueError(f"{text}: one law [V] is tested; this file holds {file.shape[0]:,} of them")
    return np.array(next(file.chunks(1))[0], dtype=np.float64)


def _question(request: SamplesRequest) -> str:
    """Name the question: what was kept for another one is not taken up."""
    parts = [request.samples, request.target, request.draft, request.alpha, request.total_variation]
    for place in (request.samples, request.target, request.draft):
        if place is not None and (path := Path(place)).is_file():
            parts += [path.stat().st_size, path.stat().st_mtime_ns]
    return hashlib.sha256(json.dumps(parts).encode()).hexdigest()


def _page(request: SamplesRequest, run: _Run) -> str:
    test = run.test
    rejected = isinstance(test.verdict, Lossy)
    title = "These tokens do not have the target's law" if rejected else "Nothing here rejects the target's law"
    figure, (axes,) = panels(1, 8.2, 3.8)
    axes.plot([draws for draws, _ in run.curve], [value / log(10) for _, value in run.curve], color=COLOURS[0])
    axes.axhline(-log(request.alpha) / log(10), color=COLOURS[1], linestyle="--", label=f"alarm, α = {request.alpha:g}")
    axes.set_xlabel("tokens")
    axes.set_ylabel("evidence, powers of ten")
    axes.legend(fontsize=8, frameon=False)
    picture = base64.b64encode(svg(figure).encode()).decode()
    share = test.counts / max(1, test.samples)
    worst = np.argsort(-np.abs(share - test.target), kind="stable")[:20].tolist()
    rows = "".join(f"<tr><td>{y}</td><td>{share[y]:.6f}</td><td>{test.target[y]:.6f}</td></tr>" for y in worst)
    return (
        "<!doctype html><html lang='en'><head><meta charset='utf-8'>"
        f"<title>spec_math: {title}</title><style>{style()}</style></head><body><h1>{title}</h1>"
        f"<p>{html.escape(request.samples)}: {test.samples:,} tokens. "
        f"{html.escape(_concluded(request, rejected, test.samples, run.needed))} {html.escape(str(test.verdict))}</p>"
        f"<p>{html.escape(str(test.promise()))}</p>"
        f"<figure><img alt='evidence against the law' src='data:image/svg+xml;base64,{picture}'><figcaption>The "
        "evidence after each batch. Under the target's law it ever crosses the dashed line with the probability α at "
        "most.</figcaption></figure><h2>Tokens furthest from their mass</h2>"
        f"<table><tr><th>token</th><th>drawn</th><th>target</th></tr>{rows}</table></body></html>"
    )
