"""What `spec-math prove` does: choose theorems, prove them side by side, print the table and what was found."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import closing
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path
from time import perf_counter
from typing import Any

from rich.console import Console
from rich.progress import Progress

from spec_math.arrays import count
from spec_math.files.whole import check_writable, write_whole
from spec_math.report.arguments import load_scheme, parsed_ks
from spec_math.report.proofs.drafts import Case, Found, exit_code, finding, in_turn, not_taken, together
from spec_math.report.proofs.table import as_json, code_of, failures, summary, terminal_table
from spec_math.report.proofs.watched import prove_watched
from spec_math.report.proofs.workers import side_by_side
from spec_math.symbolic import THEOREMS, Proof, Theorem, chosen, prove
from spec_math.symbolic.token_theorems import lossless
from spec_math.symbolic.trial import SEED

LIMIT = 60.0
"""The seconds of processor time of a proof for a number of drafts that was not asked for."""


@dataclass(frozen=True)
class Wanted:
    """What `spec-math prove` was asked.

    `scheme`: verifiers of one's own, module:name, for `tokens` and `drafts`: 1, then 2 and 3 where it is None. `limit`
    is in seconds of processor time a theorem, `seed` chooses the laws that what is proved is tried on.
    """

    words: tuple[str, ...] = ()
    quick: bool = False
    scheme: tuple[str, ...] = ()
    tokens: str = "2,3"
    drafts: str | None = None
    jobs: int = 2
    out: Path | None = None
    limit: float | None = None
    seed: int = SEED


@dataclass(frozen=True)
class Job:
    """A theorem as another process can find it: its place in THEOREMS, or a scheme's with its sizes.

    >>> Job(0).theorem().name
    'maximal coupling: lossless'
    """

    place: int = -1
    scheme: str = ""
    tokens: int = 0
    drafts: int = 0
    limit: float | None = None
    seed: int = SEED

    def theorem(self) -> Theorem:
        """Return the theorem."""
        return lossless(load_scheme(self.scheme), self.tokens, self.drafts) if self.scheme else THEOREMS[self.place]


def prove_all(wanted: Wanted, console: Console, progress: Progress) -> int:
    """Prove the theorems that were asked for and print the table; return the exit code.

    It is 0 if all is proved, 1 if a theorem is refuted, 3 if none is refuted and one is left open. Of a verifier whose
    numbers of drafts were not asked for, those that it does not take, and those that were not tried, are named.

    Raises:
        ValueError, TypeError, OSError: z3 is missing, a word is in no theorem, a scheme cannot be loaded, or the file
            cannot be written: all before anything is proved.

    >>> import io
    >>> wanted = Wanted(("sample and match: lossless",), jobs=1)
    >>> prove_all(wanted, Console(file=io.StringIO()), Progress(disable=True))
    0
    """
    started = perf_counter()
    if find_spec("z3") is None:
        raise ValueError("proofs need z3 to discard impossible regions: pip install 'spec_math[prove]'")
    at_once = count(wanted.jobs, "--jobs")
    if wanted.limit is not None and not wanted.limit > 0:
        raise ValueError(f"--limit takes seconds of processor time, more than 0; got {wanted.limit:g}")
    jobs = _jobs(wanted)
    if wanted.out is not None:
        check_writable(wanted.out.parent)
    findings: list[Found] = []
    if wanted.scheme and wanted.drafts is None:
        findings = _numbers_in_turn(wanted, at_once, progress)
        proofs = [proof for found in findings for proof in found.proofs.values()]
    else:
        # The long ones first, so that the last process does not start one when all others are done.
        ordered = sorted(jobs, key=lambda job: -job.theorem().seconds)
        arrived = dict(_arriving(_prove, ordered, at_once, progress))
        proofs = [arrived[job] for job in jobs]
    progress.stop()
    console.print(terminal_table(proofs))
    failed = [proof for proof in proofs if not (findings and not_taken(proof))]
    for line in (*failures(failed), summary(proofs, perf_counter() - started, wanted.seed), *map(finding, findings)):
        console.print(line, markup=False, soft_wrap=True)
    if wanted.out is not None:
        write_whole(wanted.out, as_json(proofs))
    codes = [exit_code(found) for found in findings] or [code_of(proofs)]
    return 1 if 1 in codes else max(codes)


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


def _jobs(wanted: Wanted) -> list[Job]:
    tokens = parsed_ks(wanted.tokens, "--tokens", "2,3")
    drafts = (1,) if wanted.drafts is None else parsed_ks(wanted.drafts)
    more = wanted.limit, wanted.seed
    if not wanted.scheme:
        picked = chosen(wanted.words, wanted.quick)
        return [Job(place, "", 0, 0, *more) for place, theorem in enumerate(THEOREMS) if theorem in picked]
    if wanted.words or wanted.quick:
        raise ValueError("a scheme of your own is one theorem; leave out the words and --quick")
    for place in wanted.scheme:
        load_scheme(place)
    return [Job(-1, s, n, k, *more) for s in wanted.scheme for n in tokens for k in drafts]


def _numbers_in_turn(wanted: Wanted, at_once: int, progress: Progress) -> list[Found]:
    """Prove each verifier for 1 draft, then for 2 and 3, on each number of tokens apart."""
    limit = LIMIT if wanted.limit is None else wanted.limit
    tokens = parsed_ks(wanted.tokens, "--tokens", "2,3")
    cases = [Case(scheme, n, limit, wanted.seed) for scheme in wanted.scheme for n in tokens]
    # The large ones first, as they take longest.
    arrived = dict(_arriving(in_turn, cases[::-1], at_once, progress))
    return [together([arrived[case] for case in cases if case.scheme == scheme]) for scheme in wanted.scheme]


def _arriving(
    work: Callable[[Any], Any], items: Sequence[Any], at_once: int, progress: Progress
) -> Iterator[tuple[Any, Any]]:
    """Do the work, here where there is one item or one process, and yield each item with its result."""
    task = progress.add_task("proving", total=len(items))
    at_once = min(at_once, len(items))
    done = ((item, work(item)) for item in items) if at_once <= 1 else side_by_side(work, items, at_once)
    with closing(done):
        for item, result in done:
            said = f"{result.verdict}: {result.name}" if isinstance(result, Proof) else finding(result)
            progress.update(task, advance=1, description=said[:60])
            yield item, result


def _prove(job: Job) -> Proof:
    own = prove_watched if job.scheme else prove
    return own(job.theorem(), limit=job.limit, seed=job.seed)
