"""The optimal acceptance of given laws with its certificate, and a certificate of anybody's, read and judged."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import replace
from fractions import Fraction
from pathlib import Path
from typing import Any, NamedTuple, cast

import numpy as np

from spec_math import certificates as of_all_kinds
from spec_math.arrays import Array, as_law, count, exact, proportional_to
from spec_math.certificates.markov_chain import models
from spec_math.files.whole import read_json, write_whole
from spec_math.mean import known
from spec_math.result import Attachment, Column, Note, Panel, Picture, Result, Table, curve, rows
from spec_math.scheme import Scheme
from spec_math.studies.arguments import law_of
from spec_math.studies.positions.verdicts import named_scheme
from spec_math.token_level import SCHEMES, draft_law, optimal, transport
from spec_math.token_level import certificate as certificates
from spec_math.token_level.certificate import Certificate
from spec_math.verdict import Undecided, Verdict
from spec_math.wording import counted

BARS = 40
"""The most tokens that the picture shows side by side."""

MOST = 10_000
"""The most drafts of a certificate."""

TERMS = 5_000
"""Schemes stand beside the certificate where V^k is at most so much."""

INDEPENDENT = "independent"
"""Drafts that nobody else's program draws: k of one draft law, or one of each of several."""


class LawsRequest(NamedTuple):
    """A target and its drafts, as written on the command line; None where nothing is said of them.

    A law: masses with commas, a JSON list of them, or a file of laws with one position. `drafts`: one law, of which k
    are drawn, or one a drafter. `kind`: "independent", or the beginning of a scheme's name that draws them its way.
    `table`: a JSON file {"0 1": mass} with the law of the drafts itself. With `weights`, masses are divided by their
    exact sum.
    """

    target: str | None = None
    drafts: tuple[str, ...] = ()
    k: int | None = None
    kind: str = INDEPENDENT
    table: Path | None = None
    weights: bool = False


def certify(request: LawsRequest, place: Path | None = None) -> Result:
    """Return the optimal acceptance with the certificate that shows it to anybody, attached as certificate.json.

    With a `place` the certificate is written there too, zipped where the name ends in .gz.

    Raises:
        ValueError, TypeError, OSError: laws are missing, are no probability distributions, or no exact ones.
    """
    if request.target is None:
        raise ValueError("certify needs --target and --draft (or --draft-law): they define the optimum")
    target = _law(request.target, "--target", request.weights)
    drafts = _drafts(request, len(target))
    if drafts is None:
        raise ValueError("certify needs --draft, or --draft-law: they define the drafts")
    found = transport.solve(target, drafts)
    fault = found.fault(target, drafts)
    if fault is not None:  # nothing leaves unjudged
        raise ArithmeticError(f"the certificate that was found does not hold: {fault}")
    result = _shown(found, "optimum", f"The optimal acceptance of {_described(request)}")
    if place is not None:
        found.save(place)
    attached = (Attachment("certificate.json", found.as_json()),)
    beside = _schemes(request, target)
    planned = request.table is None and len(request.drafts) == 1 and _drawing(request) is None
    reached = "optimal plan reaches" if planned else "certified coupling reaches"
    said = f"The optimal acceptance of these drafts is {_number(found.acceptance)}. The {reached} it."
    return replace(result, finding=f"{said} {beside}".rstrip(), attachments=attached)


def saved(verdict: Verdict, place: Path | None) -> tuple[Note, ...]:
    """Write the certificate of a verdict where a place is given, and say so, or why it has no certificate.

    A place that ends in .pm gets the Markov chain of the function instead.
    """
    if place is None:
        return ()
    what = "Markov chain" if place.suffix == ".pm" else "certificate"
    try:
        if isinstance(verdict, Undecided):
            raise ValueError("the verdict is undecided")
        found = verdict.certificate()
        if place.suffix == ".pm":
            return _chains(found, place)
        found.save(place)
    except ValueError as error:
        return (Note(f"No {what} was written: {error}."),)
    return (Note(f"Wrote the certificate {place}. To check it, run spec-math check {place}."),)


def _chains(found: Any, place: Path) -> tuple[Note, ...]:
    """Write the Markov chain of each claim of a certificate with paths: the first at a place, others numbered."""
    written = [place.with_stem(f"{place.stem}-{at}" if at else place.stem) for at in range(len(found.claims))]
    for file, texts in zip(written, models(found), strict=True):
        for ending, text in zip((".pm", ".props"), texts, strict=True):
            _ = write_whole(file.with_suffix(ending), text)
    run = f"storm --prism {place} --prop {place.with_suffix('.props')} --exact"
    return (Note(f"Wrote the Markov chain {' and '.join(map(str, written))}. To compute its distribution, run {run}."),)


def check(place: Path, request: LawsRequest, function: str | None = None) -> Result:
    """Read a certificate of any kind and check it; the exit code is 1 where it shows nothing.

    Distributions that are given must be those of a certificate of an optimum: a claim can be true and about others.
    `function` (FILE:NAME) is replayed on the paths of a certificate that has paths.

    Raises:
        ValueError, OSError: the file is no certificate, or a law that was given is no probability distribution.
    """
    document, title = of_all_kinds.read(place), f"Does the certificate {place} hold?"
    if document["format"] != certificates.FORMAT:
        if request != LawsRequest():
            raise ValueError(f"--target and --draft are for certificates of an optimum; {place} is of another kind")
        try:
            said = of_all_kinds.check(document, **({} if function is None else {"function": function}))
        except ValueError as error:
            return Result("certificate", title, f"Rejected: {error}.", exit_code=1)
        return Result("certificate", title, said)
    if function is not None:
        raise ValueError("--function is replayed on paths; a certificate of an optimum has none")
    read = certificates.load(place)
    if not request.drafts and request.k is not None:
        raise ValueError("--k says how many drafts of --draft there are; give --draft too, or leave out --k")
    target = None if request.target is None else _law(request.target, "--target", request.weights)
    drafts = _drafts(request, len(read.target))
    fault = read.fault(target, drafts)
    if fault is not None:
        return Result("certificate", title, f"Rejected: {fault}.", exit_code=1)
    found = f"It holds: the optimal acceptance of its drafts is {_number(read.acceptance)}."
    if target is None and drafts is None:
        found += " To check that it is about your distributions, give --target and --draft."
    elif target is None:
        found += " Its drafts are yours. To check its target, give --target."
    elif drafts is None:
        found += " Its target is yours. To check its drafts, give --draft."
    return replace(_shown(read, "certificate", title), finding=found)


def _law(text: str, option: str, weights: bool) -> Array:
    read = law_of(text)
    # Floats of a file are what they are, exactly, whichever type they are stored in.
    values = read.astype(float).tolist() if isinstance(read, np.ndarray) else read
    if weights:
        return proportional_to(exact(values))
    try:
        return as_law(exact(values), option)
    except ValueError as error:
        error.add_note("give --weights to have masses divided by their exact sum")
        raise


def _drafts(request: LawsRequest, size: int) -> Mapping[Any, Any] | None:
    """Return the law of the drafts that the request names, or None where it names none."""
    if request.table is not None:
        if request.drafts:
            raise ValueError("--draft-law defines the drafts alone; leave out --draft")
        return _table(request.table, request.weights)
    if not request.drafts:
        return None
    laws = [_law(text, "--draft", request.weights) for text in request.drafts]
    for law in laws:
        if len(law) != size:
            raise ValueError(f"target and drafts share one vocabulary; got {size} and {len(law)} tokens")
    if len(laws) > 1:
        if request.k not in (None, len(laws)) or _drawing(request) is not None:
            raise ValueError(f"one draft from each of {len(laws)} drafters: leave out --k and --drafts")
        return draft_law.independent_sets(laws)
    k, scheme = _drawn(request), _drawing(request)
    if scheme is None:
        return draft_law.independent_sets(laws * k)
    return draft_law.sets(draft_law.drawn(scheme.draw, laws[0], k))


def _drawing(request: LawsRequest) -> Scheme | None:
    """Return the scheme that draws the drafts, or None where they are independent."""
    kind = request.kind.strip().lower()
    if not kind:
        raise ValueError(f"--drafts says how drafts are drawn: {INDEPENDENT}, or a scheme; got {request.kind!r}")
    if INDEPENDENT.startswith(kind):
        return None
    if ":" not in kind and not any(scheme.name.lower().startswith(kind) for scheme in SCHEMES):
        inside = [scheme for scheme in SCHEMES if kind in scheme.name.lower()]
        if len({scheme.draw for scheme in inside}) == 1:
            return inside[0]
        there = ", ".join([INDEPENDENT, *(scheme.name for scheme in SCHEMES)])
        raise ValueError(f"--drafts {request.kind} names no one way to draw drafts; there are: {there}")
    return named_scheme(request.kind.strip())


def _drawn(request: LawsRequest) -> int:
    """Return how many drafts are drawn: as many as were asked for, or as the scheme draws whatever is asked for."""
    scheme = _drawing(request)
    if scheme is None or scheme.drafts is None:
        k = count(1 if request.k is None else request.k, "--k")
    else:
        k = scheme.drafts
        if request.k not in (None, k):
            raise ValueError(
                f"{scheme.name} draws {counted(k, 'draft')} whatever is asked for; got --k {request.k}: leave it out"
            )
    if k > MOST:
        raise ValueError(f"--k must be at most {MOST:,} for an exact certificate; got {k:,}")
    return k


def _table(place: Path, weights: bool) -> dict[tuple[int, ...], Any]:
    held = read_json(place, parse_float=str)
    if not isinstance(held, dict):
        raise ValueError(f'{place}: a distribution of drafts is a JSON object such as {{"0 1": "1/4", "1 1": "3/4"}}')
    table = cast("dict[str, Any]", held)
    try:
        keys = [tuple(int(token) for token in key.split()) for key in table]
    except ValueError:
        raise ValueError(f"{place}: drafts are token indices with blanks between them, such as '0 1'") from None
    if len(set(keys)) < len(keys):
        raise ValueError(f"{place}: some drafts are listed twice")
    wrong = next((mass for mass in table.values() if isinstance(mass, bool) or not isinstance(mass, int | str)), None)
    if wrong is not None:
        raise ValueError(f'{place}: a mass is a number such as 0.25 or "1/4"; got {json.dumps(wrong)[:BARS]}')
    values = exact(list(table.values()))
    return dict(zip(keys, (proportional_to(values) if weights else values).tolist(), strict=True))


def _described(request: LawsRequest) -> str:
    if request.table is not None:
        return f"the drafts of {request.table}"
    if len(request.drafts) > 1:
        return f"one draft from each of {len(request.drafts)} drafters"
    k, scheme = _drawn(request), _drawing(request)
    drafts = counted(k, "draft")
    return drafts if scheme is None else f"{drafts} as {scheme.name} draws {'them' if k > 1 else 'it'}"


def _schemes(request: LawsRequest, target: Array) -> str:
    """Say what the schemes of the same drafts keep, where they are quickly added up."""
    if request.table is not None or len(request.drafts) != 1 or len(target) ** _drawn(request) > TERMS:
        return ""
    draft, k, scheme = _law(request.drafts[0], "--draft", request.weights), _drawn(request), _drawing(request)
    kind = optimal.INDEPENDENT if scheme is None else scheme.optimum
    same = [scheme for scheme in SCHEMES if scheme.optimum is kind and scheme.drafts in (None, k)]
    kept = [f"{scheme.name} {float(scheme.acceptance(target, draft, k)):.3f}" for scheme in same]
    return f"Acceptance of the schemes with these drafts: {'; '.join(kept)}." if kept else ""


def _number(value: Fraction) -> str:
    text = str(value)
    return f"{text} = {float(value):.6f}" if len(text) <= 24 and value.denominator > 1 else f"{float(value):.6f}"


def _shown(found: Certificate, name: str, title: str) -> Result:
    size = len(found.target)
    kept = [Fraction(0)] * size
    for (tokens, token), mass in found.coupling.items():
        kept[token] += mass if token in tokens else 0
    masses = {"target": found.target, "emitted as a draft": kept}
    fractions = (Column(name, "fraction", "probability", 6) for name in masses)
    columns = Column("token", "count"), *fractions, Column("in the subset", "flag")
    cells = ((token, found.target[token], kept[token], token in found.subset) for token in range(size))
    joint = rows(
        (" ".join(map(str, sorted(tokens))), token, mass, token in tokens)
        for (tokens, token), mass in found.coupling.items()
    )
    coupled = (
        Column("drafts", shown=False),
        Column("emitted", "count", shown=False),
        Column("mass", "fraction", "probability", shown=False),
        Column("kept", "flag", shown=False),
    )
    heading = "Probability of each token: under the target, and emitted as one of the drafts"
    tables = Table("tokens", heading, columns, rows(cells))
    curves = tuple(curve(label, dict(enumerate(map(known, held)))) for label, held in masses.items())
    panel = Panel(curves, "token", "probability", bars=True, ticks=tuple(map(str, range(size))))
    subset = sorted(found.subset)
    inside = sum((mass for tokens, mass in found.draft_law.items() if found.subset.issuperset(tokens)), Fraction(0))
    held = sum((found.target[token] for token in subset), Fraction(0))
    listed = ", ".join(map(str, subset[:BARS])) + (", …" if len(subset) > BARS else "")
    bound = "No subset of tokens bounds the optimum: every draft can be accepted."
    bound += f" With probability {_number(inside)} there is no draft." if inside else ""
    if subset:
        bound = (
            f"With probability {_number(inside)} all drafts fall among the tokens {listed}, which have probability "
            f"{_number(held)} under the target. Every verifier loses the difference."
        )
    return Result(
        name,
        title,
        "",
        (tables, Table("coupling", "The joint distribution of drafts and emitted token", coupled, joint)),
        (Picture(name, title, f"{heading}.", (panel,)),) if size <= BARS else (),
        (Note(bound),),
    )
