"""Somebody's sampler judged exactly: loaded, walked, and explained where it fails."""

from __future__ import annotations

import json
import os
import re
from collections.abc import Callable, Generator, Mapping
from contextlib import contextmanager, redirect_stdout
from dataclasses import dataclass, field, replace
from fractions import Fraction
from pathlib import Path
from time import monotonic
from typing import Any

from spec_math.arrays import count
from spec_math.files.place import Place
from spec_math.files.whole import check_writable, write_whole
from spec_math.pathwise.exploration import EVERY, LOGGER
from spec_math.pathwise.loading import load_sampler
from spec_math.result import Note, Result
from spec_math.samplers.call import ALONE, MEANING, asking
from spec_math.samplers.case import FEWER, Case, chain, default, position, smaller
from spec_math.samplers.counts import Counted, judge_counts
from spec_math.samplers.judgement import Judgement
from spec_math.samplers.likeness import Likeness, comparable, likenesses
from spec_math.samplers.outside import BISECTED, DIGITS, confirmed, program
from spec_math.samplers.smallest import TRIED, smallest
from spec_math.samplers.subject import NUMBERS, Subject
from spec_math.samplers.walk import LongWalkError
from spec_math.studies.arguments import Progress, absolute, masses_of, together
from spec_math.studies.audits.table import headline, is_toy, result_of
from spec_math.studies.certificates import saved
from spec_math.verdict import Lossy, Reason, Undecided
from spec_math.wording import listed


@dataclass(frozen=True)
class AuditRequest:
    """The request of the command audit."""

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
    test: Path | None = None
    stubs: tuple[str, ...] = ()
    replaced: tuple[str, ...] = ()
    temperature: str | None = None
    given: Mapping[str, Mapping[str, Any]] = field(default_factory=dict[str, Mapping[str, Any]])
    certificate: Path | None = None
    chain: Path | None = None
    command: str | None = None
    library: str | None = None
    adapter: Path | None = None

    @property
    def outside(self) -> bool:
        """True if the sampler is a program of its own, in any language."""
        return self.command is not None or self.library is not None


Make = Callable[..., Subject]
"""Makes a subject of a function, a shape, numbers, a grid and roles: `audit.subject_of`, or torch's."""


def study(request: AuditRequest, make: Make, progress: Progress) -> Result:
    """Judge a sampler; the exit code is 0 where it is lossless, 1 where it is lossy, 3 where undecided.

    With `test` the smallest failing case is written as a file of pytest, and with `adapter` how the sampler is called.

    Raises:
        ValueError, TypeError: the place holds no function, an option or a law is wrong; a file cannot be written.

    >>> from spec_math.audit import subject_of
    >>> request = AuditRequest("spec_math.token_level.recursive:verify")
    >>> study(request, subject_of, lambda what, steps: lambda done: None).exit_code
    0
    """
    for file in filter(None, (request.test, request.certificate, request.chain, request.adapter)):
        check_writable(file.parent)
    outside = None
    if request.outside:
        numbers = request.numbers or "float64"
        outside = program(request.command, request.library, numbers)
        request = replace(request, numbers=numbers, lookahead=request.lookahead or (0 if request.k else 2))
        place = Place(outside.verifier, "", str(request.command or request.library))
    else:
        place = load_sampler(request.place, request.stubs, request.replaced, request.given)
    heat = getattr(place.value, "temperature", None)
    if isinstance(heat, str):
        request = replace(request, temperature=request.temperature or heat)
        if request.temperature != heat:
            raise ValueError(f"{request.place} calls its sampler at temperature {heat}, not {request.temperature}")
    with _unheard():
        subject = make(place.value, request.shape, request.numbers, request.grid, request.roles)
    if subject.chain and not request.lookahead and request.target is None:
        request = replace(request, lookahead=2)
    case, name = case_of(request), f"{place.module}.{place.attribute}".removeprefix(".")
    budget, begun = count(request.budget, "--budget"), monotonic()
    with _unheard():
        told = absolute(progress("paths", budget))
        found = _in_time(case, lambda one: judge_counts(subject, one, request.k, budget, told))
    if outside is not None:
        last = confirmed(found.last, outside)
        kept = found.verdict if last is found.last else last.verdict
        found = replace(found, judged=(*found.judged[:-1], last), verdict=kept)
    if monotonic() - begun > EVERY:
        LOGGER.info("%s", headline(found, name))
    with _unheard():
        near, failing = _studied(found.last, request, progress)
    if outside is not None and failing is not None and confirmed(failing, outside) is not failing:
        failing = None
    test = "" if failing is None or request.outside else pytest_file(failing, request)
    result = result_of(found, name, near, failing, test)
    notes = list(result.notes)
    if found.last.case.size < case.size:
        notes.append(Note(LONGER.format(found.last.case.size)))
    if request.outside:
        grid = f"uniforms k/2^{DIGITS[str(request.numbers)]}"
        result = replace(result, finding=f"{result.finding}, {grid} bisected")
        notes.append(Note(BISECTED.format(grid)))
    notes += [*saved(found.verdict, request.certificate), *saved(found.verdict, request.chain)]
    notes += [Note(place.note)] if place.note else []
    if request.adapter is not None:
        with _unheard():
            text = adapter_file(request, found.last)
        write_whole(request.adapter, text)
        still = open_names(text)
        cure = "It has no open line, and has to be mended by hand"
        if still:
            cure = f"It is open for {listed(still)}: uncomment one line for each"
        elif _judged(found.last) or ALONE in text:
            cure = "It is complete"
        notes.insert(0, Note(f"The adapter {request.adapter} was written. {cure}: spec-math audit {request.adapter}"))
    if request.test is not None and test:
        write_whole(request.test, test)
        notes.append(Note(f"The test {request.test} fails until {place.attribute} is repaired."))
    elif request.test is not None:
        why = "no case failed" if failing is None else "only this command can call the program"
        notes.append(Note(f"No test was written, because {why}."))
    return replace(result, notes=tuple(notes))


def _in_time(case: Case, judged: Callable[[Case], Counted]) -> Counted:
    """Judge a sampler on a case, or where that would take long on a smaller one, if the case is built in."""
    try:
        return judged(case)
    except LongWalkError:
        size = next(size for size in FEWER if size < case.size)
        LOGGER.info("this would take longer than a minute: beginning again with %s tokens", size)
        return _in_time(smaller(case, size), judged)


@contextmanager
def _unheard() -> Generator[None]:
    """Let what a sampler prints on each of its paths be unheard while the block lasts."""
    with Path(os.devnull).open("w", encoding="utf-8") as nobody, redirect_stdout(nobody):
        yield


def case_of(request: AuditRequest) -> Case:
    """Return the case that is asked for: laws as written, or the zoo's toy.

    Raises:
        ValueError, TypeError: only one of target and draft is given, or they are not probability distributions.

    >>> case_of(AuditRequest("", target="1/4,3/4", draft="1/2,1/2", k=2)).k
    2
    """
    if request.lookahead < 0:
        raise ValueError(f"--lookahead counts the drafts of a chain, 0 for one position; got {request.lookahead}")
    together(request.target, request.draft, "by default a built-in example of five tokens is used")
    return replace(_laws_of(request), heat=heat_of(request.temperature or "1"))


def heat_of(text: str) -> Fraction:
    """Read a temperature: 0, 1, or a fraction at which masses stay rational.

    Raises:
        ValueError: it is neither 0 nor 1/n.

    >>> heat_of("1/2"), heat_of("0.5")
    (Fraction(1, 2), Fraction(1, 2))
    """
    try:
        found = Fraction(text)
    except (ValueError, ZeroDivisionError):
        found = Fraction(-1)
    if found < 0 or (found and (1 / found).denominator != 1):
        raise ValueError(f"--temperature takes 0 or 1/n, at which masses stay rational; got {text!r}")
    return found


def _laws_of(request: AuditRequest) -> Case:
    if request.target is None or request.draft is None:
        return replace(default(request.lookahead, request.k or 1, request.horizon), built_in=True)
    target, draft = ([masses_of(row) for row in text.split(";")] for text in (request.target, request.draft))
    if request.lookahead:
        rows = _rows(target, request.lookahead + 1, "--target"), _rows(draft, request.lookahead, "--draft")
        return chain(*rows, request.horizon)
    if len(target) != 1 or len(draft) != 1:
        raise ValueError("several rows, separated by ;, need --lookahead")
    return position(target[0], draft[0], request.k or 1)


def _rows(rows: list[list[str]], size: int, option: str) -> list[list[str]]:
    """One row serves every position."""
    if len(rows) not in (1, size):
        raise ValueError(f"{option} needs one row, or {size} separated by ;; got {len(rows)}")
    return rows * size if len(rows) == 1 else rows


LONGER = (
    "The built-in distributions of more tokens would take longer than a minute, so {} tokens were taken. For others, "
    "give --target and --draft."
)

SLOW = 100, 20
"""The paths and the small cases that a function called as it is is given after its verdict: its paths are slow."""


def _studied(found: Judgement, request: AuditRequest, progress: Progress) -> tuple[list[Likeness], Judgement | None]:
    """Look for the bugs that a failing sampler looks like, and for its smallest failing case."""
    if not isinstance(found.verdict, Lossy):
        return [], None
    paths, tried = SLOW if found.subject.said or request.outside else (request.budget, TRIED)
    known = absolute(progress("known bugs", len(comparable(found.case.heat))))
    compared = not found.subject.said or (is_toy(found.case) and found.walk.paths <= paths)
    near = likenesses(found.subject, found.case.lookahead, paths, known, found.case) if compared else []
    return near, smallest(found, min(paths, 5_000), tried, absolute(progress("smaller cases", tried)))


def adapter_file(request: AuditRequest, found: Judgement) -> str:
    """Return a file of Python that calls a sampler as it was called, with lines to uncomment for what is open."""
    subject, file = found.subject, request.adapter or Path("adapter.py")
    text = "" if subject.written is None else subject.written(_judged(found))
    if not text:
        call, taken = subject.call, [role for _, role in subject.call.takes]
        roles = ", ".join(role for role in MEANING if role in taken)
        numbers = next((key for key, one in NUMBERS.items() if one.name == subject.numbers.name), subject.numbers.name)
        said = call.written("bound(judged)" if hasattr(subject.fn, "__self__") else "judged")
        text = f'def sampler({roles}):\n    return {said}\n\n\nsampler.numbers = "{numbers}"\n'
        text = re.sub(r"\btokens\b", "token", text) if call.one_token else text
    text = asking(text, _questions(found, text))
    place, packages = request.place, sorted({name.partition(".")[0] for name in request.given})
    if place.rpartition(":")[0].endswith(".py"):
        place = Path(os.path.relpath(place, file.parent)).as_posix()
    given = f", given=given({packages})" if packages else ""
    timed = f"judged = {TICKING}  # only measures time, it is taken\n" * (TICKING in str(found.verdict))
    blocks = f"from spec_math.samplers.signature import bound, judged_at{', ticking' * bool(timed)}"
    blocks = "from torch_bridge.adapters import *" if re.search("torch|emitted|@adapter", text) else blocks
    imports = "from spec_math.field.stand_ins import given\n" * bool(packages)
    return (
        f"# The sampler {request.place}, judged by: spec-math audit {file.name}\n"
        f"{imports}{blocks}\n\n"
        f'judged = judged_at(__file__, "{place}", {request.stubs}, {request.replaced}{given})\n{timed}\n\n{text}'
    )


def _judged(found: Judgement) -> bool:
    open_for = Reason.NOT_JUDGED, Reason.RANDOMNESS_NOT_SEEN
    return not isinstance(found.verdict, Undecided) or found.verdict.reason not in open_for


def _questions(found: Judgement, text: str) -> tuple[str, ...]:
    """Return lines of which one may read what a sampler returns, where a verdict is open for that."""
    subject, verdict, fault = found.subject, found.verdict, found.walk.fault
    if not isinstance(verdict, Undecided) or _judged(found) or subject.call.unclear or ALONE in text:
        return ()
    own, parts = text.rpartition("    return ")[2].partition("\n")[0], tuple[str, ...]()
    value = "returned" if "    returned = " in text else own
    if fault is not None and fault.kind == "refusal":
        value, parts = f"({value}, (target - draft).clip(0))", ("index,law", "token,law")
    elif found.walk.misread or (subject.doubt is not None and subject.doubt()):
        parts = "count,token" if found.walk.misread else "_,token", "tokens"
    torn = (f"return {own}  # called in another way it is lossy",) * ("lossless, called as" in verdict.explanation)
    return tuple(f'return emitted({value}, tokens, "{one}")' for one in parts) or torn


TICKING = "ticking(judged)"


def open_names(text: str) -> list[str]:
    """Return the names in an adapter that are open: those of whose lines none was uncommented.

    >>> open_names("    # alpha=target,  # open\\n    # beta=1,  # open\\n    beta=2,  # mine\\n")
    ['alpha']
    """
    asked, given = (re.findall(line, text, re.MULTILINE) for line in (r"^ *# (\w+)\b.*# open$", r"^ *(\w+)"))
    return [name for name in dict.fromkeys(asked) if name not in given]


def pytest_file(found: Judgement, request: AuditRequest) -> str:
    """Return the text of a test that judges a sampler on the case on which it was found to fail: an adapter of it."""
    case, text = found.case, adapter_file(replace(request, adapter=request.test), found)
    rows = (case.target, case.draft) if case.lookahead else (case.target[0], case.draft[0])
    laws = [f"{name} = {json.dumps(row, default=str)}\n" for name, row in zip(("TARGET", "DRAFT"), rows, strict=True)]
    options = {
        "k": None if case.lookahead or found.subject.call.drafts_itself else case.k,
        "lookahead": case.lookahead or None,
        "horizon": case.horizon if case.lookahead and case.horizon != case.lookahead + 1 else None,
        "grid": found.subject.grid,
    }
    given = "".join(f", {name}={value}" for name, value in options.items() if value is not None)
    in_torch = found.subject.said or found.subject.numbers.name.startswith("torch.")
    return (
        f"from {'torch_bridge' if in_torch else 'spec_math.audit'} import check_sampler\n{text}\n\n{''.join(laws)}\n\n"
        "def test_the_sampler_emits_the_target_s_distribution() -> None:\n"
        f"    # When this was written: {getattr(found.verdict, 'reason', '')}\n"
        f"    verdict = check_sampler(sampler, TARGET, DRAFT{given})\n    assert verdict, verdict\n"
    )
