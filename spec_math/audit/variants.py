"""Several ways to call one function, of which nobody said which is right: what the verdicts on them say together.

Source: worked out here.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import replace
from fractions import Fraction
from itertools import product
from typing import Any

from spec_math.audit.case import Case
from spec_math.audit.subject import Subject
from spec_math.verdict import Lossless, Lossy, Reason, Undecided

Judgement = Any
"""As `judgement.judge` returns it, whose file needs this one."""

ROUNDING = 1e-4
"""Below this a distance may be due to a type that the function computes in inside; another way has it."""


def of_all(ways: Iterable[Subject], judged: Callable[[Subject], Judgement]) -> Judgement:
    """Return one judgement of a function that can be called in several ways.

    Lossless by one way is lossless, as called, unless another way is lossy: then it is not known which is meant.
    Lossy stands where every way that runs is lossy for its law. What breaks by some way was not meant so.

    >>> from spec_math.audit.case import position
    >>> from spec_math.audit.judgement import judge
    >>> from spec_math.audit.subject import subject_of
    >>> case = position(["1/4", "3/4"], ["1/2", "1/2"])
    >>> right, hopeful = subject_of(lambda coin, x, t, d: coin.draw(t)), subject_of(lambda coin, x, t, d: x[0])
    >>> [type(of_all(ways, lambda one: judge(one, case)).verdict).__name__ for ways in ([right], [hopeful, right])]
    ['Lossless', 'Undecided']
    """
    lossy: list[Judgement] = []
    others: list[Judgement] = []
    for way in ways:
        if way.alike and any(way.alike == one.subject.alike for one in lossy):
            continue  # the same in another type, or for a longer text: neither mends what lies above rounding
        found = judged(way)
        verdict = found.verdict
        if isinstance(verdict, Lossless):
            return _torn(found, lossy[0]) if lossy else found
        if isinstance(verdict, Lossy) and found.walk.fault is None:
            if found.joint is not None and found.joint > ROUNDING:
                lossy.append(found)
            else:
                others.append(found)
        elif isinstance(verdict, Lossy):
            said = f"called so it breaks on some paths, {verdict.reason}; whether it is meant to be is not known"
            others.append(replace(found, verdict=Undecided(Reason.NOT_JUDGED, said, verdict.path)))
        else:
            others.append(found)
    if lossy:
        return lossy[0]
    partly = [one for one in others if one.walk.faults < one.walk.paths]
    reasons = [(one, one.verdict.reason) for one in others if isinstance(one.verdict, Undecided)]
    unseen = [one for one, reason in reasons if reason is not Reason.NOT_JUDGED]
    return next(iter([*partly, *unseen, *others]))


def of_each_draft(case: Case, judged: Callable[[Case], Judgement]) -> Judgement:
    """Return one judgement of a function that takes drafts and no law of them: it must be lossless for each.

    Drafts drawn from a law would hide what is wrong for some of them: one that accepts x with mass t(x) and draws from
    t otherwise emits t where drafts are uniform, and for no fixed draft.

    >>> from spec_math.audit.case import position
    >>> from spec_math.audit.judgement import judge
    >>> from spec_math.audit.subject import subject_of
    >>> case = position(["1/4", "3/4"], ["1/2", "1/2"])
    >>> blind = subject_of(lambda coin, x, t, d: x[0] if coin.flip(t[x[0]]) else coin.draw(t))
    >>> bool(judge(blind, case).verdict), bool(of_each_draft(case, lambda one: judge(blind, one)).verdict)
    (True, False)
    """
    hot = [tuple(Fraction(place == token) for place in range(case.size)) for token in range(case.size)]
    done: list[Judgement] = []
    for rows in product(hot, repeat=len(case.draft)):
        found = judged(case.with_laws(case.target, rows))
        done.append(found)
        if not isinstance(found.verdict, Lossless):
            return found
    last = done[-1]
    walk = replace(last.walk, paths=sum(one.walk.paths for one in done))
    return replace(last, walk=walk, bound=max(one.bound for one in done))


def _torn(lossless: Judgement, lossy: Judgement) -> Judgement:
    ways = lossless.subject.said, lossy.subject.said
    said = "called as {} it is lossless, and called as {} it is not; which is meant is not known: wrap it".format(*ways)
    return replace(lossless, verdict=Undecided(Reason.NOT_JUDGED, said))
