"""An audit in words and a table: the same sentences for the terminal and for the page."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from typing import Any

from rich.table import Table

from spec_math.audit import Case, Counted, Judgement, Likeness
from spec_math.audit.case import default
from spec_math.report.audits.pictures import label, shown_texts
from spec_math.verdict import Lossy, Undecided


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
    >>> from spec_math.audit.case import position
    >>> target = subject_of(lambda coin, tokens, target, draft: coin.draw(target))
    >>> print(headline(judge_counts(target, position(["1"], ["1"])), "mine"))
    mine is lossless for 1, 2 and 3 drafts on the laws given (1 token): it emits the target's law, exactly (3 paths \
walked); called as the function(coin, tokens, target, draft), given Fractions, an ideal coin
    """
    last, verdict = found.last, found.verdict
    if last.subject.call.unclear:
        return f"{name} was not judged: {last.subject.call.unclear}"
    where = f"{_drafts(found)} on {_laws(last.case)}"
    paths = sum(one.walk.paths for one in found.judged)
    walked = f"{paths:,} path{'s' * (paths != 1)} walked"
    given = ", ".join(last.subject.assumed)
    if isinstance(verdict, Undecided):
        return f"{name} is undecided {where} ({verdict.reason.value}): {verdict.explanation}; {given}"
    if isinstance(verdict, Lossy):
        before = "" if len(found.judged) == 1 else f" (lossless for {_numbers(found.judged[:-1])})"
        reason = "" if last.kind == "law" else f": {verdict.reason}"
        return f"{name} is LOSSY {where}{before}{reason} ({walked}); {given}"
    how = "exactly"
    if last.bound:
        how = f"within what rounding explains ({float(last.joint):.2g}, bound {last.bound:.2g})"
    left = f"; not judged for {found.not_judged}" if found.not_judged else ""
    return f"{name} is lossless {where}: it emits the target's law, {how} ({walked}){left}; {given}"


def _drafts(found: Counted) -> str:
    last = found.last
    if last.subject.call.drafts_itself:
        return "with the drafts that it makes itself"
    if last.case.lookahead:
        return f"for a chain of {_counted(last.case.lookahead, 'draft')}"
    judged = found.judged if last.verdict else found.judged[-1:]
    return f"for {_numbers(judged)}"


def _numbers(judged: Sequence[Judgement]) -> str:
    *first, last = [str(one.case.k) for one in judged]
    listed = f"{', '.join(first)} and {last}" if first else last
    return f"{listed} draft{'' if listed == '1' else 's'}"


def _laws(case: Case) -> str:
    which = "the zoo's toy" if is_toy(case) else "the laws given"
    return f"{which} ({_counted(case.size, 'token')})"


def _counted(number: int, what: str) -> str:
    return f"{number} {what}{'s' * (number != 1)}"


def is_toy(case: Case) -> bool:
    """Say whether a case has the laws of the zoo's toy.

    >>> is_toy(default(2))
    True
    """
    toy = default(case.lookahead, case.k)
    return (case.target, case.draft) == (toy.target, toy.draft)


def sentences(found: Judgement, likenesses: Sequence[Likeness]) -> list[tuple[str, str]]:
    """Return what is known of a failing sampler, each under its name.

    >>> from spec_math.audit import judge, subject_of
    >>> from spec_math.audit.case import position
    >>> found = judge(subject_of(lambda tokens, t, d: tokens[0]), position(["1/4", "3/4"], ["1/2", "1/2"]))
    >>> sentences(found, [])[0]
    ('first differing outcome', 'token 0: emitted with 1/2 = 0.5, target 1/4 = 0.25')
    """
    told: list[tuple[str, str]] = []
    verdict: Any = found.verdict
    if found.kind == "law":
        at_least = "at least " if found.walk.unexplored else ""
        worst = verdict.tokens or (verdict.token,)
        places = {"largest difference": worst}
        if not found.walk.unexplored:
            places = {"first differing outcome": first_difference(found), **places}
        for what, text in places.items():
            if what == "largest difference" and text in list(places.values())[:-1]:
                continue
            emitted, wanted = found.law.get(text, 0), found.wanted.get(text, 0)
            told.append((what, f"{_named(text)}: emitted with {at_least}{number(emitted)}, target {number(wanted)}"))
        told.append(("total variation, first token", at_least + number(found.first)))
        if found.case.horizon > 1:
            told.append((f"total variation, {found.case.horizon} tokens", at_least + number(found.joint)))
    if found.contract:
        told.append(("contract broken", CONTRACTS[found.contract]))
    for one in likenesses:
        bug = one.specimen
        near = "emits the same law on the toy" if one.same else f"{number(one.distance)} from it on the toy"
        told.append(("looks like", f"{bug.name}, {bug.cause} ({near}; {bug.reference}; breaks the {bug.contract})"))
    if found.way:
        told.append(("path", "; ".join(found.way)))
    return told


def first_difference(found: Judgement) -> tuple[int, ...]:
    """Return the first tokens, in order, whose probability is not the target's by more than rounding explains.

    >>> from spec_math.audit import judge, subject_of
    >>> from spec_math.audit.case import position
    >>> first_difference(judge(subject_of(lambda tokens, t, d: tokens[0]), position(["1/4", "3/4"], ["1/2", "1/2"])))
    (0,)
    """
    gaps = {text: abs(found.law.get(text, 0) - found.wanted.get(text, 0)) for text in found.law | found.wanted}
    # All gaps may be small where their sum is not.
    limit = min(found.bound, float(max(gaps.values())) / 2)
    return min(text for text, gap in gaps.items() if gap > limit)


def _named(text: tuple[int, ...]) -> str:
    return f"{'token' if len(text) == 1 else 'tokens'} {label(text)}"


CONTRACTS = {
    "verifier": "verifier: with drafts from the law it is given, it emits another law than the target's",
    "replay": "replay: random numbers are used twice; with fresh ones in their place it is lossless",
    "drafter or verifier": "drafter or verifier: the function drafts by itself; give it as fn(tokens, target, draft) "
    "to tell which",
}


def table(found: Judgement) -> Table:
    """Return the law against the target as a table with bars.

    >>> from spec_math.audit import judge, subject_of
    >>> from spec_math.audit.case import position
    >>> table(judge(subject_of(lambda tokens, t, d: tokens[0]), position(["1/4", "3/4"], ["1/2", "1/2"]))).row_count
    2
    """
    texts = shown_texts(found, 12)
    result = Table(box=None, pad_edge=False)
    result.add_column("token" if found.case.horizon == 1 else "tokens", justify="right")
    for name in ("emitted", "target", "difference"):
        result.add_column(name, justify="right")
    result.add_column("emitted ━, target ─")
    most = max([float(law.get(text, 0)) for law in (found.law, found.wanted) for text in texts], default=1.0) or 1.0
    for text in texts:
        emitted, wanted = found.law.get(text, 0), found.wanted.get(text, 0)
        gap = float(emitted - wanted)
        style = "" if abs(gap) <= found.bound else "red" if gap > 0 else "magenta"
        bars = "━" * round(24 * float(emitted) / most) + "\n" + "─" * round(24 * float(wanted) / most)
        result.add_row(label(text), f"{float(emitted):.6g}", f"{float(wanted):.6g}", f"{gap:+.3g}", bars, style=style)
    left = len(found.law | found.wanted) - len(texts)
    if left > 0:
        result.caption = f"and {left} more, less far off"
    return result
