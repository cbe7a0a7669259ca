"""An audit as a result: the emitted distribution beside the target's, and what is known of a fault."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from typing import Any

from spec_math.mean import known
from spec_math.result import Column, Note, Panel, Picture, Result, Row, Table, columns, curve
from spec_math.samplers.answer import NAMES
from spec_math.samplers.case import Case, default
from spec_math.samplers.counts import Counted
from spec_math.samplers.judgement import Judgement
from spec_math.samplers.likeness import Likeness
from spec_math.verdict import Lossy, Undecided
from spec_math.wording import counted, listed

MOST = 16
"""The most outcomes that are shown."""

BAR = 20
"""The length of the longest bar."""

OUTCOMES = "Probability of each outcome, emitted by the sampler and under the target"

UNDECIDED = 3
"""The exit code where neither lossless nor lossy was shown."""

COLUMNS = (
    Column("tokens"),
    *columns(("emitted", "target", "difference"), "number", "probability", digits=6),
    *columns(("emitted, exact", "target, exact"), "fraction", "probability", shown=False),
    *columns(("emitted ━", "target ─")),
)


def result_of(
    found: Counted, name: str, likenesses: Sequence[Likeness], smaller: Judgement | None, test: str
) -> Result:
    """Return an audit as a result: verdict, bars, what is known of the fault, the smallest case, how it was judged.

    >>> from spec_math.audit import judge_counts, subject_of
    >>> from spec_math.samplers.case import position
    >>> hopeful = subject_of(lambda tokens, target, draft: tokens[0])
    >>> found = judge_counts(hopeful, position(["1/4", "3/4"], ["1/2", "1/2"]))
    >>> result_of(found, "mine", [], None, "").exit_code
    1
    """
    last = found.last
    notes = [Note(said, what) for what, said in sentences(last, likenesses)]
    if smaller is not None:
        verdict = str(smaller.verdict).partition("\n")[0]
        notes.append(Note(f"{laws_of(smaller)} {verdict}", "the smallest failing case"))
        if test:
            notes.append(Note(test, "a test that fails until the function is repaired", code=True))
    left = len(last.law | last.wanted) - MOST
    if left > 0:
        notes.append(Note(f"{left} more outcomes differ less from the target."))
    if last.walk.paths:
        notes.append(Note(how(last), "how it was judged"))
    tables, pictures = ((_laws(last),), (_picture(last),)) if last.law else ((), ())
    code = UNDECIDED if isinstance(found.verdict, Undecided) else 0 if found.verdict else 1
    return Result("audit", f"Audit of {name}", headline(found, name), tables, pictures, tuple(notes), exit_code=code)


def shown_texts(found: Judgement, most: int = MOST) -> list[tuple[int, ...]]:
    """Return the outcomes worth showing: all where they are few, else those furthest off, in order of their tokens.

    >>> from spec_math.audit import judge, subject_of
    >>> from spec_math.samplers.case import position
    >>> shown_texts(judge(subject_of(lambda tokens, t, d: tokens[0]), position(["1/4", "3/4"], ["1/2", "1/2"])))
    [(0,), (1,)]
    """
    gap = _gaps(found)
    return sorted(sorted(sorted(gap), key=lambda text: (-gap[text], -found.wanted.get(text, 0)))[:most])


def _gaps(found: Judgement) -> dict[tuple[int, ...], Any]:
    return {text: abs(found.law.get(text, 0) - found.wanted.get(text, 0)) for text in found.law | found.wanted}


def _laws(found: Judgement) -> Table:
    texts = shown_texts(found)
    most = max([float(law.get(text, 0)) for law in (found.law, found.wanted) for text in texts], default=1.0) or 1.0
    rows: list[Row] = []
    for text in texts:
        emitted, wanted = found.law.get(text, 0), found.wanted.get(text, 0)
        bars = (sign * round(BAR * float(mass) / most) for sign, mass in (("━", emitted), ("─", wanted)))
        exact = (mass if isinstance(mass, Fraction) else None for mass in (emitted, wanted))
        cells = float(emitted), float(wanted), float(emitted - wanted), *exact, *bars
        rows.append(Row((label(text), *cells), "wrong" if abs(emitted - wanted) > found.bound else ""))
    return Table("laws", OUTCOMES, COLUMNS, tuple(rows))


def _picture(found: Judgement) -> Picture:
    texts = shown_texts(found)
    curves = tuple(
        curve(name, {place: known(law.get(text, 0)) for place, text in enumerate(texts)})
        for name, law in (("target", found.wanted), ("emitted", found.law))
    )
    what = "token" if found.case.horizon == 1 else f"first {found.case.horizon} tokens"
    panel = Panel(curves, what, "probability", bars=True, ticks=tuple(map(label, texts)))
    return Picture("audit", OUTCOMES, f"{OUTCOMES}.", (panel,))


def number(value: Any) -> str:
    """Write a probability: as a short fraction with its decimals, or as decimals alone.

    >>> number(Fraction(1, 3)), number(0.25)
    ('1/3 = 0.333333', '0.25')
    """
    shown = f"{float(value):.6g}"
    return f"{value} = {shown}" if isinstance(value, Fraction) and 1 < value.denominator < 1000 else shown


def headline(found: Counted, name: str) -> str:
    """Return the verdict as one sentence: for how many drafts, on which laws, and what was assumed.

    >>> from spec_math.audit import judge_counts, subject_of
    >>> from spec_math.samplers.case import position
    >>> target = subject_of(lambda coin, tokens, target, draft: coin.draw(target))
    >>> print(headline(judge_counts(target, position(["1"], ["1"])), "mine"))
    mine is lossless for 1, 2 and 3 drafts on the given distributions of 1 token: it emits exactly the target's \
distribution (3 paths followed); called as the function(coin, tokens, target, draft), given Fractions, an ideal coin
    """
    last, verdict = found.last, found.verdict
    if last.subject.call.unclear:
        return f"{name} was not judged: {last.subject.call.unclear}"
    which = "the built-in distributions" if last.case.built_in or is_toy(last.case) else "the given distributions"
    where = f"{_drafts(found)} on {which} of {counted(last.case.size, 'token')}"
    walked = f"{counted(sum(one.walk.paths for one in found.judged), 'path')} followed"
    if last.walk.unexplored:
        walked += f", of probability {float(1 - last.walk.unexplored):.3g}"
    given = ", ".join(last.subject.assumed)
    if isinstance(verdict, Undecided):
        return f"{name} is undecided {where} ({verdict.reason.value}): {verdict.explanation}; {given}"
    if isinstance(verdict, Lossy):
        if last.kind in NAMES:
            return f"{name} is LOSSY {where}, because it fails: {verdict.reason} ({walked}); {given}"
        before = "" if len(found.judged) == 1 else f" (lossless for {_numbers(found.judged[:-1])})"
        reason = "" if last.kind == "law" else f": {verdict.reason}"
        return f"{name} is LOSSY {where}{before}{reason} ({walked}); {given}"
    how = "it emits exactly the target's distribution"
    if last.bound:
        how = f"total variation {float(last.joint):.2g}, within the rounding bound {last.bound:.2g}"
    left = f"; not judged for {' or '.join(found.not_judged)}" if found.not_judged else ""
    return f"{name} is lossless {where}: {how} ({walked}){left}; {given}"


def _drafts(found: Counted) -> str:
    last = found.last
    if last.subject.call.drafts_itself:
        return "with the drafts that it makes itself"
    if last.case.lookahead:
        return f"for a chain of {counted(last.case.lookahead, 'draft')}"
    judged = found.judged if last.verdict else found.judged[-1:]
    return f"for {_numbers(judged)}"


def _numbers(judged: Sequence[Judgement]) -> str:
    numbers = listed(one.case.k for one in judged)
    return f"{numbers} draft{'s' * (numbers != '1')}"


def is_toy(case: Case) -> bool:
    """Say whether a case has the built-in laws: those of the toy that known bugs run on.

    >>> is_toy(default(2))
    True
    """
    toy = default(case.lookahead, case.k)
    return (case.target, case.draft) == (toy.target, toy.draft)


def sentences(found: Judgement, likenesses: Sequence[Likeness]) -> list[tuple[str, str]]:
    """Return what is known of a failing sampler, each under its name.

    >>> from spec_math.audit import judge, subject_of
    >>> from spec_math.samplers.case import position
    >>> found = judge(subject_of(lambda tokens, t, d: tokens[0]), position(["1/4", "3/4"], ["1/2", "1/2"]))
    >>> sentences(found, [])[0]
    ('first differing outcome', 'token 0: emitted with 1/2 = 0.5, target 1/4 = 0.25')
    """
    told: list[tuple[str, str]] = []
    verdict: Any = found.verdict
    if found.kind == "law":
        at_least = "at least " if found.walk.unexplored else ""
        worst = verdict.tokens or (verdict.token,)
        places = {} if found.walk.unexplored else {first_difference(found): "first differing outcome"}
        places.setdefault(worst, "largest difference")
        for text, what in places.items():
            emitted, wanted = found.law.get(text, 0), found.wanted.get(text, 0)
            named = f"token{'s' * (len(text) != 1)} {label(text)}"
            told.append((what, f"{named}: emitted with {at_least}{number(emitted)}, target {number(wanted)}"))
        told.append(("total variation, first token", at_least + number(found.first)))
        if found.case.horizon > 1:
            told.append((f"total variation, {found.case.horizon} tokens", at_least + number(found.joint)))
    if found.contract:
        told.append(("fault", CONTRACTS[found.contract]))
    for one in likenesses:
        bug = one.specimen
        near = f"{'same output' if one.same else f'differs by {number(one.distance)}'} on the built-in example"
        about = "; ".join(part for part in (bug.name, near, bug.reference, f"fault in the {bug.contract}") if part)
        repair = f"; usual repair: {bug.repair}" if bug.repair else ""
        told.append(("looks like", f"{bug.cause} ({about}){repair}"))
    if found.way:
        told.append(("path", "; ".join(found.way)))
    return told


def first_difference(found: Judgement) -> tuple[int, ...]:
    """Return the first tokens, in order, whose probability is not the target's by more than rounding explains.

    >>> from spec_math.audit import judge, subject_of
    >>> from spec_math.samplers.case import position
    >>> first_difference(judge(subject_of(lambda tokens, t, d: tokens[0]), position(["1/4", "3/4"], ["1/2", "1/2"])))
    (0,)
    """
    gaps = _gaps(found)
    # All gaps may be small where their sum is not.
    limit = min(found.bound, float(max(gaps.values())) / 2)
    return min(text for text, gap in gaps.items() if gap > limit)


def label(text: Any) -> str:
    """Write tokens with blanks between them.

    >>> label((0, 2))
    '0 2'
    """
    return " ".join(map(str, text))


CONTRACTS = {
    "verifier": "The fault is in the verifier, not in the drafter.",
    "replay": "The function uses random numbers twice. With fresh ones it is lossless.",
    "drafter or verifier": "The fault is in the drafter or in the verifier, because the function drafts by itself. To "
    "tell which, audit the verifier alone, as fn(tokens, target, draft).",
}


def how(found: Judgement) -> str:
    """Say what was given to the sampler and what was walked.

    >>> from spec_math.audit import judge, subject_of
    >>> from spec_math.samplers.case import position
    >>> hopeful = subject_of(lambda tokens, target, draft: tokens[0])
    >>> how(judge(hopeful, position(["1/4", "3/4"], ["1/2", "1/2"])))[:60]
    'The function was called as the function(tokens, target, draf'
    """
    case, subject = found.case, found.subject
    drafts = f"a chain of {case.lookahead} drafts" if case.lookahead else "one position"
    exact = "Every threshold is rational, so the verdict is exact"
    if not found.walk.exact or subject.numbers.unit:
        exact = f"The thresholds are rounded floats, so the verdict tolerates a total variation of {found.bound:.2g}"
    told, ignored = "", f"{float(found.walk.ignored):.2g}"
    if found.walk.ignored:
        told = f" Small numbers inside logarithms were left out. They change the distribution by at most {ignored}."
    call, given, coins = subject.assumed
    return (
        f"The function was {call}, {given}, for {drafts} and V = {case.size}. The judge followed "
        f"{counted(found.walk.paths, 'path')} of the function's random choices, with exact probabilities and {coins}. "
        f"{exact}.{told} {laws_of(found)}"
    )


def laws_of(found: Judgement) -> str:
    """Write the target's and the draft's rows of a judgement, and k.

    >>> from spec_math.audit import judge, subject_of
    >>> from spec_math.samplers.case import position
    >>> laws_of(judge(subject_of(lambda tokens, t, d: tokens[0]), position(["1/4", "3/4"], ["1/2", "1/2"])))
    'Target (1/4, 3/4), draft (1/2, 1/2), k = 1.'
    """
    if is_toy(found.case):
        return f"The distributions are the built-in ones, {_sizes(found.case)}."
    both = found.case.target, found.case.draft
    target, draft = ("; ".join(f"({', '.join(map(_mass, row))})" for row in rows) for rows in both)
    return f"Target {target}, draft {draft}, {_sizes(found.case)}."


def _sizes(case: Case) -> str:
    return f"lookahead {case.lookahead}" if case.lookahead else f"k = {case.k}"


def _mass(mass: object) -> str:
    return str(mass) if len(str(mass)) < 10 else f"{float(mass):.8g}"  # type: ignore[arg-type]
