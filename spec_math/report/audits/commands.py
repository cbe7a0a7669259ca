"""The work of the command audit: load a sampler, judge it, say what is wrong, write the page and the test."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from rich.console import Console
from rich.progress import Progress
from rich.table import Table

from spec_math.arrays import count
from spec_math.audit import Counted, Judgement, Likeness, Subject, judge_counts, likenesses, smallest
from spec_math.audit.case import Case, chain, default, position
from spec_math.audit.likeness import comparable
from spec_math.audit.smallest import TRIED
from spec_math.files.place import Place, load_function
from spec_math.files.whole import check_writable, write_whole
from spec_math.report.arguments import masses_of
from spec_math.report.audits.case import pytest_file
from spec_math.report.audits.page import how, laws_of, page
from spec_math.report.audits.tables import headline, sentences, table
from spec_math.verdict import Lossy, Undecided

UNDECIDED = 3
"""The exit code where neither lossless nor lossy was shown."""


@dataclass(frozen=True)
class AuditRequest:
    """What is asked of the command audit."""

    place: str
    shape: str | None = None
    roles: str | None = None
    numbers: str | None = None
    target: str | None = None
    draft: str | None = None
    k: int | None = None
    lookahead: int = 0
    horizon: int | None = None
    budget: int = 100_000
    grid: int | None = None
    out: Path | None = None
    test: Path | None = None


Make = Callable[..., Subject]
"""Makes a subject of a function, a shape, numbers, a grid and roles: `audit.subject_of`, or torch's."""


def audit(request: AuditRequest, make: Make, console: Console, progress: Progress) -> int:
    """Judge a sampler and show what was found; return 0 where it is lossless, 1 where it is lossy, 3 where undecided.

    Raises:
        ValueError, TypeError: the place holds no function, an option or a law is wrong; a file cannot be written.

    >>> import io
    >>> from spec_math.audit import subject_of
    >>> quiet = Console(file=io.StringIO())
    >>> audit(AuditRequest("spec_math.token_level.recursive:verify"), subject_of, quiet, Progress())
    0
    """
    for path in (request.out, request.test):
        if path is not None:
            check_writable(path.parent)
    place = load_function(request.place, "audit")
    subject = make(place.value, request.shape, request.numbers, request.grid, request.roles)
    case = case_of(request)
    name = f"{place.module}.{place.attribute}"
    found = _judged(subject, case, request, progress)
    near, smaller = _studied(found.last, request, progress)
    test = "" if smaller is None else pytest_file(smaller, place, (request.test or Path("x")).resolve().parent)
    # Files first: a reader of the table may close the pipe.
    written = _write(request, place, test, page(found, name, near, smaller, test) if request.out else "")
    _show(found, name, near, smaller, console)
    for line in written:
        console.print(line, markup=False)
    return UNDECIDED if isinstance(found.verdict, Undecided) else 0 if found.verdict else 1


def case_of(request: AuditRequest) -> Case:
    """Return the case that is asked for: laws as written, or the zoo's toy.

    Raises:
        ValueError, TypeError: only one of target and draft is given, or they are not probability distributions.

    >>> case_of(AuditRequest("", target="1/4,3/4", draft="1/2,1/2", k=2)).k
    2
    """
    if request.lookahead < 0:
        raise ValueError(f"--lookahead counts the drafts of a chain, 0 for one position; got {request.lookahead}")
    if (request.target is None) != (request.draft is None):
        raise ValueError("--target and --draft are given both or not at all; without them the zoo's toy is taken")
    if request.target is None or request.draft is None:
        return default(request.lookahead, request.k or 1, request.horizon)
    target, draft = ([masses_of(row) for row in text.split(";")] for text in (request.target, request.draft))
    if request.lookahead:
        return chain(
            _rows(target, request.lookahead + 1, "--target"),
            _rows(draft, request.lookahead, "--draft"),
            request.horizon,
        )
    if len(target) != 1 or len(draft) != 1:
        raise ValueError("several rows, separated by ;, belong to a chain: give --lookahead too")
    return position(target[0], draft[0], request.k or 1)


def _rows(rows: list[list[str]], size: int, option: str) -> list[list[str]]:
    """One row serves every position."""
    if len(rows) not in (1, size):
        raise ValueError(f"{option} needs one row, or {size} separated by ;; got {len(rows)}")
    return rows * size if len(rows) == 1 else rows


def _judged(subject: Subject, case: Case, request: AuditRequest, progress: Progress) -> Counted:
    task = progress.add_task("paths", total=request.budget)

    def told(walked: int) -> None:
        progress.update(task, completed=walked)

    try:
        return judge_counts(subject, case, request.k, count(request.budget, "--budget"), told)
    finally:
        progress.remove_task(task)


def _studied(found: Judgement, request: AuditRequest, progress: Progress) -> tuple[list[Likeness], Judgement | None]:
    """Look for the bugs that a failing sampler looks like, and for its smallest failing case."""
    if not isinstance(found.verdict, Lossy):
        return [], None
    task = progress.add_task("known bugs", total=len(comparable()))
    near = likenesses(
        found.subject, found.case.lookahead, request.budget, lambda done: progress.update(task, completed=done)
    )
    progress.remove_task(task)
    task = progress.add_task("smaller cases", total=TRIED)
    smaller = smallest(found, min(request.budget, 5_000), told=lambda done: progress.update(task, completed=done))
    progress.remove_task(task)
    return near, smaller


def _show(found: Counted, name: str, near: list[Likeness], smaller: Judgement | None, console: Console) -> None:
    last = found.last
    colour = "yellow" if isinstance(found.verdict, Undecided) else "green" if found.verdict else "bold red"
    console.print(headline(found, name), style=colour, markup=False)
    if last.law:
        console.print()
        console.print(table(last))
    told: list[tuple[str, str]] = sentences(last, near)
    if smaller is not None:
        told.append(("smallest failing case", laws_of(smaller)))
    if told:
        listed = Table(box=None, show_header=False, pad_edge=False)
        listed.add_column(style="bold")
        listed.add_column()
        for what, said in told:
            listed.add_row(what, said)
        console.print()
        console.print(listed)
    if last.walk.paths:
        console.print()
        console.print(how(last), style="dim", markup=False)


def _write(request: AuditRequest, place: Place, test: str, shown: str) -> list[str]:
    """Write the page and the test that are asked for, and say so."""
    told: list[str] = []
    if request.out is not None:
        write_whole(request.out, shown)
        told.append(f"page: {request.out}")
    if request.test is not None and test:
        write_whole(request.test, test)
        told.append(f"test: {request.test} (fails until {place.attribute} is repaired)")
    elif request.test is not None:
        told.append("no test was written: nothing was found to fail")
    return told
