"""What `spec-math prove` does: choose theorems, prove them side by side, print the table."""

from __future__ import annotations

import multiprocessing
from collections.abc import Iterator
from concurrent.futures import ProcessPoolExecutor, as_completed
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path
from time import perf_counter

from rich.console import Console
from rich.progress import Progress

from spec_math.arrays import count
from spec_math.files.whole import check_writable, write_whole
from spec_math.report.arguments import load_scheme, parsed_ks
from spec_math.report.proofs.table import as_json, failures, summary, terminal_table
from spec_math.symbolic import THEOREMS, Proof, Theorem, chosen, prove
from spec_math.symbolic.token_theorems import lossless


@dataclass(frozen=True)
class Wanted:
    """What `spec-math prove` was asked. `scheme`: verifiers of one's own, module:name, for `tokens` and `drafts`."""

    words: tuple[str, ...] = ()
    quick: bool = False
    scheme: tuple[str, ...] = ()
    tokens: str = "2,3"
    drafts: str = "1"
    jobs: int = 2
    out: Path | None = None


@dataclass(frozen=True)
class _Job:
    """A theorem as another process can find it: its place in THEOREMS, or a scheme's with its sizes."""

    place: int = -1
    scheme: str = ""
    tokens: int = 0
    drafts: int = 0

    def theorem(self) -> Theorem:
        return lossless(load_scheme(self.scheme), self.tokens, self.drafts) if self.scheme else THEOREMS[self.place]


def prove_all(wanted: Wanted, console: Console, progress: Progress) -> int:
    """Prove the theorems that were asked for, print the table, and return 0 if all hold, 1 if one does not.

    Raises:
        ValueError, TypeError, OSError: z3 is missing, a word is in no theorem, a scheme is none, or the file cannot be
            written: all before anything is proved.

    >>> import io
    >>> wanted = Wanted(("sample and match: lossless",), jobs=1)
    >>> prove_all(wanted, Console(file=io.StringIO()), Progress(disable=True))
    0
    """
    started = perf_counter()
    if find_spec("z3") is None:
        raise ValueError("proofs need z3 to discard impossible regions: pip install 'spec_math[prove]'")
    jobs = _jobs(wanted)
    if wanted.out is not None:
        check_writable(wanted.out.parent)
    task = progress.add_task("proving", total=len(jobs))
    found: dict[_Job, Proof] = {}
    for job, proof in _proved(jobs, count(wanted.jobs, "--jobs")):
        found[job] = proof
        progress.update(task, advance=1, description=f"{proof.verdict}: {proof.name}"[:60])
    proofs = [found[job] for job in jobs]
    progress.stop()
    console.print(terminal_table(proofs))
    for line in failures(proofs):
        console.print(line, markup=False, soft_wrap=True)
    console.print(summary(proofs, perf_counter() - started), markup=False)
    if wanted.out is not None:
        write_whole(wanted.out, as_json(proofs))
    return 0 if all(proofs) else 1


def listed(wanted: Wanted, console: Console) -> int:
    """Print the theorems that were asked for, without proving them.

    >>> import io
    >>> page = io.StringIO()
    >>> listed(Wanted(("SLEM",)), Console(file=page)), page.getvalue().count("SLEM: lossless")
    (0, 4)
    """
    for theorem in chosen(wanted.words, wanted.quick):
        console.print(f"{theorem.name} ({theorem.scope})", markup=False, soft_wrap=True)
    return 0


def _jobs(wanted: Wanted) -> list[_Job]:
    tokens, drafts = parsed_ks(wanted.tokens, "--tokens", "2,3"), parsed_ks(wanted.drafts)
    if not wanted.scheme:
        picked = chosen(wanted.words, wanted.quick)
        return [_Job(place) for place, theorem in enumerate(THEOREMS) if theorem in picked]
    if wanted.words or wanted.quick:
        raise ValueError("a scheme of your own is one theorem; leave out the words and --quick")
    for place in wanted.scheme:
        load_scheme(place)
    return [_Job(-1, *row) for row in ((s, n, k) for s in wanted.scheme for n in tokens for k in drafts)]


def _proved(jobs: list[_Job], at_once: int) -> Iterator[tuple[_Job, Proof]]:
    if at_once == 1 or len(jobs) == 1:
        yield from ((job, _prove(job)) for job in jobs)
        return
    # The long ones first, so that the last worker does not start one when all others are done.
    ordered = sorted(jobs, key=lambda job: -job.theorem().seconds)
    with ProcessPoolExecutor(min(at_once, len(jobs)), multiprocessing.get_context("spawn")) as workers:
        waiting = {workers.submit(_prove, job): job for job in ordered}
        try:
            for done in as_completed(waiting):
                yield waiting[done], done.result()
        except BaseException:
            workers.shutdown(wait=False, cancel_futures=True)
            raise


def _prove(job: _Job) -> Proof:
    return prove(job.theorem())
