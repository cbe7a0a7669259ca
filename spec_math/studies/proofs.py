"""Proofs for all distributions: theorems proved side by side, and what was found of each verifier, as a result."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from contextlib import closing
from dataclasses import dataclass, field
from importlib.util import find_spec
from itertools import islice
from pathlib import Path
from time import perf_counter, process_time
from typing import NamedTuple

import numpy as np

from spec_math.arrays import count
from spec_math.files.whole import check_writable
from spec_math.pathwise.entropy import entropy_noted
from spec_math.pathwise.generators import Still
from spec_math.pathwise.tape import Tape
from spec_math.result import Cell, Column, Curve, Mark, Panel, Picture, Result, Row, Table, columns, sentences
from spec_math.studies.arguments import Progress, parsed_ks
from spec_math.studies.positions.verdicts import load_scheme
from spec_math.studies.workers import side_by_side
from spec_math.symbolic import THEOREMS, Proof, Theorem, chosen, prove
from spec_math.symbolic.theorem import decided
from spec_math.symbolic.token_theorems import lossless
from spec_math.symbolic.trial import SEED, Faces, laws_to_try
from spec_math.verdict import Reason
from spec_math.wording import listed

LIMIT = 60.0
"""The seconds of processor time of a proof for a number of drafts that was not asked for."""


@dataclass(frozen=True)
class Wanted:
    """The request of `spec-math prove`.

    `scheme`: verifiers of one's own, module:name, for `tokens` and `drafts`: 1, then 2 and 3 where it is None. `limit`
    is in seconds of processor time a theorem, `seed` chooses the laws that what is proved is tried on. `certificate` is
    the file for the certificate of one theorem, or the folder for those of several.
    """

    words: tuple[str, ...] = ()
    quick: bool = False
    scheme: tuple[str, ...] = ()
    tokens: str = "2,3"
    drafts: str | None = None
    jobs: int = 2
    limit: float | None = None
    seed: int = SEED
    certificate: Path | None = None


class Job(NamedTuple):
    """A theorem as another process can find it: its place in THEOREMS, or a verifier, module:name, with its sizes.

    A verifier without a number of drafts is proved for 1, then for 2 and 3. `wanted` has the limit of each proof, the
    seed and the place of certificates.
    """

    wanted: Wanted
    place: int
    scheme: str = ""
    tokens: int = 0
    drafts: int | None = None


@dataclass
class Found:
    """The proofs of a job, or of a verifier, by (drafts, tokens), and why others were not tried."""

    name: str
    proofs: dict[tuple[int, int], Proof] = field(default_factory=dict[tuple[int, int], Proof])
    not_tried: dict[tuple[int, int], str] = field(default_factory=dict[tuple[int, int], str])


def study(wanted: Wanted, progress: Progress) -> Result:
    """Prove the theorems that were asked for; the exit code is 0 if all is proved.

    It is 1 if a theorem is refuted, 3 if none is refuted and one is left open. Of a verifier whose numbers of drafts
    were not asked for, those that it does not take, and those that were not tried, are named.

    Raises:
        ValueError, TypeError, OSError: z3 is missing, a word is in no theorem, or a scheme cannot be loaded: all before
            anything is proved.
    """
    started = perf_counter()
    if find_spec("z3") is None:
        raise ValueError("proofs need z3 to discard impossible regions: pip install 'spec_math[prove]'")
    at_once = count(wanted.jobs, "--jobs")
    if wanted.limit is not None and not wanted.limit > 0:
        raise ValueError(f"--limit takes seconds of processor time, more than 0; got {wanted.limit:g}")
    jobs = _jobs(wanted)
    if wanted.certificate is not None:
        several = len(jobs) > 1 or (bool(wanted.scheme) and wanted.drafts is None)
        if several:
            wanted.certificate.mkdir(parents=True, exist_ok=True)
        check_writable(wanted.certificate if several else wanted.certificate.parent)
    # The long ones first, so that the last process does not start one when all others are done.
    ordered = sorted(jobs, key=lambda job: (-THEOREMS[job.place].seconds if not job.scheme else 0.0, -job.tokens))
    at_once, step = min(at_once, len(ordered)), progress("proving", len(ordered))
    arriving = ((job, proved(job)) for job in ordered) if at_once <= 1 else side_by_side(proved, ordered, at_once)
    arrived: dict[Job, Found] = {}
    with closing(arriving):
        for job, found in arriving:
            arrived[job] = found
            step(1)
    findings: list[Found] = []
    for scheme in wanted.scheme if wanted.drafts is None else ():
        whole = Found(scheme)
        for part in (arrived[job] for job in jobs if job.scheme == scheme):
            whole.proofs |= part.proofs
            whole.not_tried |= part.not_tried
        findings.append(whole)
    proofs = [proof for job in jobs for proof in arrived[job].proofs.values()]
    return result_of(proofs, findings, summary(proofs, perf_counter() - started, wanted.seed, wanted.certificate))


def listing(wanted: Wanted) -> Result:
    """List the theorems that were asked for, without proving them; some hold for every vocabulary, by Rocq."""
    found = chosen(wanted.words, wanted.quick)
    rows = tuple(Row((t.name, t.scope, _short(t), "Rocq" * bool(t.formal), t.formal)) for t in found)
    columns = *_NAMED, Column("every vocabulary"), Column("rocq", shown=False)
    note = sentences([_BY_ROCQ] * any(theorem.formal for theorem in found))
    table = Table("theorems", "Theorems", columns, rows)
    return Result("theorems", "Theorems for all distributions", f"{len(found)} theorems.", (table,), notes=note)


_BY_ROCQ = "Rocq: the statement is machine-checked for every vocabulary and every size (docs/theorems/formal.md)."


def _jobs(wanted: Wanted) -> list[Job]:
    tokens = parsed_ks(wanted.tokens, "--tokens", "2,3")
    drafts: tuple[int | None, ...] = (None,) if wanted.drafts is None else parsed_ks(wanted.drafts)
    if not wanted.scheme:
        picked = chosen(wanted.words, wanted.quick)
        return [Job(wanted, place) for place, theorem in enumerate(THEOREMS) if theorem in picked]
    if wanted.words or wanted.quick:
        raise ValueError("a scheme of your own is one theorem; leave out the words and --quick")
    for place in wanted.scheme:
        load_scheme(place)
    return [Job(wanted, -1, s, n, k) for s in wanted.scheme for n in tokens for k in drafts]


def proved(job: Job) -> Found:
    """Prove a theorem, or a verifier for its number of drafts; else for 1, 2 and 3.

    It goes on as far as the verifier is not refuted and the time allows it. A scheme that drafts a fixed number is
    proved for that number.
    """
    if not job.scheme:
        theorem = THEOREMS[job.place]
        return Found(theorem.name, {(0, 0): _certified(job, theorem, job.wanted.limit)})
    scheme, found, why = load_scheme(job.scheme), Found(job.scheme), ""
    if job.drafts is not None:
        numbers, limit = (job.drafts,), job.wanted.limit
    else:
        numbers = NUMBERS if scheme.drafts is None else (scheme.drafts,)
        limit = LIMIT if job.wanted.limit is None else job.wanted.limit
    for drafts in numbers:
        if why:
            found.not_tried[drafts, job.tokens] = why
            continue
        begun = process_time()
        proof = _certified(job, lossless(scheme, job.tokens, drafts), limit)
        found.proofs[drafts, job.tokens] = proof
        spent = process_time() - begun
        if proof.verdict == "refuted":
            why = f"refuted for {drafts}"
        elif limit is not None and not not_taken(proof) and spent * ROOM > limit:
            why = f"{drafts} took {spent:.0f} s"
    return found


def _certified(job: Job, theorem: Theorem, limit: float | None) -> Proof:
    """Prove a theorem of a job, and write its certificate where one is wanted: into a folder under its own name.

    A verifier that draws from more than its coin on a few laws is left open.
    """
    seed, place = job.wanted.seed, job.wanted.certificate
    unseen = hidden_randomness(theorem, seed) if job.scheme else []
    if unseen:
        why = f"it draws from more than its coin: {'; '.join(unseen)}"
        left_open = Reason.RANDOMNESS_NOT_SEEN
        return Proof(theorem.name, theorem.scope, "open", 0, 0, 0, seconds=0.0, reason=why, undecided=left_open)
    if place is None:
        return prove(theorem, limit=limit, seed=seed)
    from spec_math.symbolic.certificate import saved

    if place.is_dir():
        place /= re.sub(r"[^\w]+", "-", f"{theorem.name} {theorem.scope}").strip("-") + ".json.gz"
    return saved(theorem, place, limit=limit, seed=seed)


def code_of(proofs: Sequence[Proof]) -> int:
    """Return the exit code of proofs: 1 where one is refuted, 3 where one is left open and none refuted, else 0."""
    verdicts = {proof.verdict for proof in proofs}
    return 1 if "refuted" in verdicts else 3 if "open" in verdicts else 0


LOOKED_AT = 12
"""On so many laws a verifier is watched before it is proved: symbols draw from nothing, and solvers may."""


def hidden_randomness(theorem: Theorem, seed: int = SEED) -> list[str]:
    """Name the sources that a statement draws from on a few laws: generators that move, and the system's entropy."""
    tape = Tape()
    still = Still(tape.alive())
    with entropy_noted(tape):
        for point in islice(laws_to_try(theorem, Faces(), seed), LOOKED_AT):
            decided(theorem, point)
        unseen = list(tape.unseen)
    return [*unseen, *still.moved()]


NUMBERS = (1, 2, 3)
"""The numbers of drafts that a verifier is proved for where none is asked for."""
ROOM = 8
"""How many times longer a proof for one draft more is expected to take at least: else it is not tried."""


def finding(found: Found) -> str:
    """Say in a sentence for how many drafts a verifier is proved, and what was left."""
    parts: dict[tuple[str, str], dict[int, list[int]]] = {}
    reasons = {key: _said(proof) for key, proof in found.proofs.items()}
    reasons |= {key: (_NOT_TRIED, why) for key, why in found.not_tried.items()}
    for (drafts, tokens), reason in reasons.items():
        parts.setdefault(reason, {}).setdefault(drafts, []).append(tokens)
    everywhere = tuple(sorted({tokens for _, tokens in reasons}))
    said: list[str] = []
    for status in _STATES:
        for why, sizes in ((why, sizes) for (named, why), sizes in parts.items() if named == status):
            noun = (" draft", " drafts") if not said else ("", "")
            because = f" ({why})" if why else ""
            said.append(f"{status} for {_sizes(sizes, noun, None if noun[0] else everywhere)}{because}")
    return f"{found.name} is {'; '.join(said)}"


def exit_code(found: Found) -> int:
    """Return 1 where a proof is refuted, 0 where all that the verifier takes are proved, else 3."""
    taken = [proof for proof in found.proofs.values() if not not_taken(proof)]
    return code_of(taken) if taken else 3


def not_taken(proof: Proof) -> bool:
    """Say whether a verifier gave no verdict on any law: it does not take so many drafts."""
    return proof.undecided is Reason.NOT_JUDGED and 0 < proof.tried == proof.not_judged


_PROVED, _REFUTED, _OPEN, _NOT_JUDGED, _NOT_TRIED = "proved", "refuted", "left open", "not judged", "not tried"
_PATHS = r" for the drafts \([^)]*\)|; got \d+| \(and each of the [\d,]+ paths raises\)"
_STATES = (_PROVED, _REFUTED, _OPEN, _NOT_JUDGED, _NOT_TRIED)


def _said(proof: Proof) -> tuple[str, str]:
    """Return what is said of a proof, and why: of those that are left open, each for its own reason."""
    if proof:
        return _PROVED, ""
    if proof.verdict == "refuted":
        return _REFUTED, ""
    why = " ".join(proof.reason.split())
    # The exception names drafts and counts its paths: what is left of it is the same for all numbers of tokens.
    return (_NOT_JUDGED, re.sub(_PATHS, "", why)) if not_taken(proof) else (_OPEN, why)


def _sizes(sizes: dict[int, list[int]], noun: tuple[str, str], known: tuple[int, ...] | None) -> str:
    """Say which numbers of drafts on which numbers of tokens; those on the same tokens together."""
    alike: dict[tuple[int, ...], list[int]] = {}
    for drafts, tokens in sizes.items():
        alike.setdefault(tuple(sorted(tokens)), []).append(drafts)
    return ", for ".join(
        f"{listed(drafts)}{noun[drafts != [1]]}{'' if tokens == known else f' on {listed(tokens)} tokens'}"
        for tokens, drafts in alike.items()
    )


def _short(of: Proof | Theorem) -> str:
    return of.scope.removeprefix("all distributions on ")


_NAMED = Column("theorem"), Column("scope", shown=False), Column("short scope", heading="distributions on")

FIELDS: tuple[tuple[Column, Callable[[Proof], Cell]], ...] = (
    (_NAMED[0], lambda proof: proof.name),
    (_NAMED[1], lambda proof: proof.scope),
    (_NAMED[2], lambda proof: _short(proof)),
    (Column("regions", "count"), lambda proof: proof.regions),
    (Column("impossible", "count"), lambda proof: proof.discarded),
    (Column("tried", "count", "distributions"), lambda proof: proof.tried),
    (Column("verdict"), lambda proof: proof.verdict),
    (Column("seconds", "number", "s", digits=1), lambda proof: round(proof.seconds, 3)),
    (Column("witnesses", "count", shown=False), lambda proof: proof.witnesses),
    (Column("z3 alone", "count", shown=False), lambda proof: proof.z3_alone),
    (Column("outside", "count", shown=False), lambda proof: proof.outside),
    (Column("counterexample", shown=False), lambda proof: str(proof.counterexample or "")),
    (Column("reason", shown=False), lambda proof: proof.reason),
    (Column("undecided", shown=False), lambda proof: "" if proof.undecided is None else proof.undecided.value),
)
"""The columns of the table of proofs, each with its cell."""

LAW_COLUMNS = (
    *columns(("theorem", "scope", "law"), shown=False),
    Column("token", "count", shown=False),
    Column("mass", "fraction", shown=False),
)

_MARKS: dict[str, Mark] = {"proved": "", "refuted": "wrong", "open": "faint"}


def result_of(proofs: Sequence[Proof], findings: Sequence[Found], said: str) -> Result:
    """Return proofs as a result; `findings` are verifiers whose numbers of drafts were not asked for."""
    failed = [proof for proof in proofs if not (findings and not_taken(proof))]
    codes = [exit_code(found) for found in findings] or [code_of(proofs)]
    told = list(map(finding, findings))
    notes = failures(failed) + ([said] if told else [])
    shown = tuple(column for column, _ in FIELDS)
    rows = tuple(Row(tuple(cell(proof) for _, cell in FIELDS), _MARKS[proof.verdict]) for proof in proofs)
    table = Table("proofs", "Theorems, with the number of regions of each proof", shown, rows)
    title, code = "Proved for all distributions, with ties and zeros", 1 if 1 in codes else max(codes)
    tables, pictures = (table, *_laws(proofs)), (picture(proofs),)
    return Result("proofs", title, "\n".join(told) or said, tables, pictures, sentences(notes), exit_code=code)


def picture(proofs: Sequence[Proof]) -> Picture:
    """Return the seconds of each proof against its regions."""
    curves: list[Curve] = []
    for verdict in _MARKS:
        held = [proof for proof in proofs if proof.verdict == verdict and proof.regions]
        if held:
            seconds = tuple(proof.seconds for proof in held)
            curves.append(Curve(verdict, tuple(float(proof.regions) for proof in held), seconds, style="points"))
    panel = Panel(tuple(curves), "regions", "seconds", log_x=True)
    caption = "Each point is a theorem. On each region the program takes one path, for all distributions there."
    return Picture("proofs", "Time and regions of the proofs", caption, (panel,))


def failures(proofs: Sequence[Proof]) -> list[str]:
    """Say of each theorem that is not proved why: the first counterexample of a name, or what was left open."""
    said: list[str] = []
    shown: set[str] = set()
    for proof in proofs:
        if proof or (proof.counterexample and proof.name in shown):
            continue
        shown.update([proof.name] if proof.counterexample else [])
        why = "; ".join(str(part) for part in (proof.counterexample, proof.reason) if part)
        said.append(f"{proof.name} ({proof.scope}) is {proof.verdict}: {why}")
    return said


def summary(proofs: Sequence[Proof], seconds: float, seed: int, certificate: Path | None = None) -> str:
    """Say in one line what came of all proofs, and where their certificates are."""
    witnesses, alone = sum(proof.witnesses for proof in proofs), sum(proof.z3_alone for proof in proofs)
    but = f", but for {alone:,} that z3 alone found empty" if alone else ""
    written = f". {witnesses:,} empty regions carry a witness{but}: spec-math check {certificate}"
    regions, discarded = sum(proof.regions for proof in proofs), sum(proof.discarded for proof in proofs)
    return (
        f"{sum(map(bool, proofs))} of {len(proofs)} theorems proved on {regions:,} regions "
        f"({discarded:,} impossible ones discarded by proof) and tried on {sum(proof.tried for proof in proofs):,} "
        f"distributions (seed {seed}) in {seconds:.1f} s{written if certificate else ''}"
    )


def _laws(proofs: Sequence[Proof]) -> list[Table]:
    """The laws of all counterexamples, for files: a row a mass."""
    rows = [
        Row((proof.name, proof.scope, name, *cell))
        for proof in proofs
        if proof.counterexample is not None
        for name, value in proof.counterexample.parameters.items()
        for cell in (enumerate(value.tolist()) if isinstance(value, np.ndarray) else [(None, value)])
    ]
    return [Table("counterexamples", "The counterexamples", LAW_COLUMNS, tuple(rows))] if rows else []
