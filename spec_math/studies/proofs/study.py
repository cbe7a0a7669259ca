"""What `spec-math prove` asks: which theorems, proved side by side, as a result."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import closing
from dataclasses import dataclass
from importlib.util import find_spec
from time import perf_counter
from typing import Any

from spec_math.arrays import count
from spec_math.result import Column, Result, Row, Table
from spec_math.studies.arguments import parsed_ks
from spec_math.studies.positions.schemes import load_scheme
from spec_math.studies.progress import Progress
from spec_math.studies.proofs.drafts import Case, Found, in_turn, together
from spec_math.studies.proofs.table import result_of, summary
from spec_math.studies.proofs.watched import prove_watched
from spec_math.studies.proofs.workers import side_by_side
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


def study(wanted: Wanted, progress: Progress) -> Result:
    """Prove the theorems that were asked for; the exit code is 0 if all is proved.

    It is 1 if a theorem is refuted, 3 if none is refuted and one is left open. Of a verifier whose numbers of drafts
    were not asked for, those that it does not take, and those that were not tried, are named.

    Raises:
        ValueError, TypeError, OSError: z3 is missing, a word is in no theorem, or a scheme cannot be loaded: all before
            anything is proved.

    >>> study(Wanted(("sample and match: lossless",), jobs=1), lambda what, steps: lambda done: None).exit_code
    0
    """
    started = perf_counter()
    if find_spec("z3") is None:
        raise ValueError("proofs need z3 to discard impossible regions: pip install 'spec_math[prove]'")
    at_once = count(wanted.jobs, "--jobs")
    if wanted.limit is not None and not wanted.limit > 0:
        raise ValueError(f"--limit takes seconds of processor time, more than 0; got {wanted.limit:g}")
    jobs = _jobs(wanted)
    findings: list[Found] = []
    if wanted.scheme and wanted.drafts is None:
        findings = _numbers_in_turn(wanted, at_once, progress)
        proofs = [proof for found in findings for proof in found.proofs.values()]
    else:
        # The long ones first, so that the last process does not start one when all others are done.
        ordered = sorted(jobs, key=lambda job: -job.theorem().seconds)
        arrived = dict(_arriving(_prove, ordered, at_once, progress))
        proofs = [arrived[job] for job in jobs]
    return result_of(proofs, findings, summary(proofs, perf_counter() - started, wanted.seed))


def listed(wanted: Wanted) -> Result:
    """List the theorems that were asked for, without proving them.

    >>> listed(Wanted(("SLEM",))).finding
    '4 theorems.'
    """
    found = chosen(wanted.words, wanted.quick)
    rows = tuple(Row((theorem.name, theorem.scope)) for theorem in found)
    table = Table("theorems", "Theorems", (Column("theorem"), Column("scope")), rows)
    return Result("theorems", "Theorems for every law", f"{len(found)} theorems.", (table,))


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
    step = progress("proving", len(items))
    at_once = min(at_once, len(items))
    done = ((item, work(item)) for item in items) if at_once <= 1 else side_by_side(work, items, at_once)
    with closing(done):
        for item, result in done:
            step(1)
            yield item, result


def _prove(job: Job) -> Proof:
    own = prove_watched if job.scheme else prove
    return own(job.theorem(), limit=job.limit, seed=job.seed)
