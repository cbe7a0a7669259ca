"""An audit as a result: what the sampler emits beside what the target asks for, and what is known of a fault."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from typing import Any

from spec_math.audit import Counted, Judgement, Likeness
from spec_math.result import Column, Curve, Note, Panel, Picture, Result, Row, Table
from spec_math.studies.audits.words import headline, how, label, laws_of, sentences
from spec_math.verdict import Undecided

MOST = 16
"""The most outcomes that are shown."""

BAR = 20
"""The length of the longest bar."""

UNDECIDED = 3
"""The exit code where neither lossless nor lossy was shown."""

COLUMNS = (
    Column("tokens"),
    Column("emitted", "number", "probability", digits=6),
    Column("target", "number", "probability", digits=6),
    Column("difference", "number", "probability", digits=6),
    Column("emitted, exact", "fraction", "probability", shown=False),
    Column("target, exact", "fraction", "probability", shown=False),
    Column("emitted ━"),
    Column("target ─"),
)


def result_of(
    found: Counted, name: str, likenesses: Sequence[Likeness], smaller: Judgement | None, test: str
) -> Result:
    """Return an audit as a result: verdict, bars, what is known of the fault, the smallest case, how it was judged.

    >>> from spec_math.audit import judge_counts, subject_of
    >>> from spec_math.audit.case import position
    >>> hopeful = subject_of(lambda tokens, target, draft: tokens[0])
    >>> found = judge_counts(hopeful, position(["1/4", "3/4"], ["1/2", "1/2"]))
    >>> result_of(found, "mine", [], None, "").exit_code
    1
    """
    last = found.last
    notes = [Note(said, what) for what, said in sentences(last, likenesses)]
    if smaller is not None:
        notes.append(Note(laws_of(smaller), "the smallest failing case"))
        notes.append(Note(str(smaller.verdict).partition("\n")[0], "the smallest failing case"))
        if test:
            notes.append(Note(test, "as a test, which fails now and passes once repaired", code=True))
    left = len(found.last.law | found.last.wanted) - MOST
    if left > 0:
        notes.append(Note(f"{left} more outcomes are less far off."))
    if last.walk.paths:
        notes.append(Note(how(last), "how it was judged"))
    return Result(
        "audit",
        f"Audit of {name}",
        headline(found, name),
        (_laws(last),) if last.law else (),
        (_picture(last),) if last.law else (),
        tuple(notes),
        exit_code=UNDECIDED if isinstance(found.verdict, Undecided) else 0 if found.verdict else 1,
    )


def shown_texts(found: Judgement, most: int = MOST) -> list[tuple[int, ...]]:
    """Return the outcomes worth showing: all where they are few, else those furthest off, in order of their tokens.

    >>> from spec_math.audit import judge, subject_of
    >>> from spec_math.audit.case import position
    >>> shown_texts(judge(subject_of(lambda tokens, t, d: tokens[0]), position(["1/4", "3/4"], ["1/2", "1/2"])))
    [(0,), (1,)]
    """
    texts = sorted(found.law | found.wanted)
    gap = {text: abs(found.law.get(text, 0) - found.wanted.get(text, 0)) for text in texts}
    weight = {text: found.wanted.get(text, 0) for text in texts}
    return sorted(sorted(texts, key=lambda text: (-gap[text], -weight[text]))[:most])


def _laws(found: Judgement) -> Table:
    texts = shown_texts(found)
    most = max([float(law.get(text, 0)) for law in (found.law, found.wanted) for text in texts], default=1.0) or 1.0
    rows: list[Row] = []
    for text in texts:
        emitted, wanted = found.law.get(text, 0), found.wanted.get(text, 0)
        bars = (sign * round(BAR * float(mass) / most) for sign, mass in (("━", emitted), ("─", wanted)))
        cells = float(emitted), float(wanted), float(emitted - wanted), _exact(emitted), _exact(wanted), *bars
        rows.append(Row((label(text), *cells), "wrong" if abs(emitted - wanted) > found.bound else ""))
    return Table("laws", "What the sampler emits beside what the target asks for", COLUMNS, tuple(rows))


def _picture(found: Judgement) -> Picture:
    texts = shown_texts(found)
    places = tuple(float(place) for place in range(len(texts)))
    curves = tuple(
        Curve(name, places, tuple(float(law.get(text, 0)) for text in texts))
        for name, law in (("target", found.wanted), ("emitted", found.law))
    )
    what = "token" if found.case.horizon == 1 else f"first {found.case.horizon} tokens"
    panel = Panel(curves, what, "probability", bars=True, ticks=tuple(map(label, texts)))
    seen = "What the sampler emits beside what the target asks for"
    return Picture("audit", seen, f"{seen}.", (panel,))


def _exact(mass: Any) -> Fraction | None:
    return mass if isinstance(mass, Fraction) else None
