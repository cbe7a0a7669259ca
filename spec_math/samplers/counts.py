"""The numbers of drafts that a verdict covers: a sampler is judged for 1, then for 2 and 3 where it takes them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

from spec_math.arrays import count
from spec_math.float_allowance import cap
from spec_math.pathwise.generators import generators_alive
from spec_math.samplers.case import Case, chain, position
from spec_math.samplers.judgement import BUDGET, Judgement, judge
from spec_math.samplers.subject import Subject, subject_of
from spec_math.verdict import NUMBERS, UNASKED, Lossless, Lossy, Reason, Undecided, Verdict
from spec_math.wording import counted

ANSWERS = ("ChanceError", "tokens")
"""Faults of a function that took its drafts: masses that are no distribution, and a token outside the vocabulary."""


@dataclass(frozen=True)
class Counted:
    """The judgements of one sampler for several numbers of drafts, and the verdict on all of them.

    `judged` are those that count: lossless ones, and one at the end that is not, if any. `not_judged` says for which
    numbers of drafts nothing was judged, and why.

    Made by `judge_counts`.
    """

    judged: tuple[Judgement, ...]
    verdict: Verdict
    not_judged: tuple[str, ...] = ()

    @property
    def last(self) -> Judgement:
        """The judgement that decided: the one that is not lossless, or the one of most drafts."""
        return self.judged[-1]

    @property
    def drafts(self) -> tuple[int, ...]:
        """The numbers of drafts that the verdict covers; none where the function drafts by itself."""
        if self.last.subject.call.drafts_itself:
            return ()
        found = tuple(one.case.lookahead or one.case.k for one in self.judged)
        return found if self.last.verdict else found[-1:]


def judge_counts(
    subject: Subject,
    case: Case,
    k: int | None = None,
    budget: int = BUDGET,
    progress: Callable[[int], None] = lambda _: None,
) -> Counted:
    """Judge a sampler on a case for k drafts of one position; k = None means 1, then 2 and 3 where it takes them.

    A function that drafts by itself, takes a single token or a chain of drafts has its own number. One that breaks on
    every path of some number was not judged for it, which is progress, and so is a number that takes too many paths for
    one that nobody asked for. One that breaks on some paths of 2 drafts, or takes them and draws from no law, is left
    open, since it may be written for one, and one that breaks on some paths of 1 is, where it is lossless for 2.
    Everything else decides.

    Raises:
        TypeError, ValueError: k is not a positive integer.

    >>> from spec_math.samplers.case import default
    >>> found = judge_counts(subject_of(lambda coin, tokens, target, draft: coin.draw(target)), default())
    >>> found.drafts, bool(found.verdict)
    ((1, 2, 3), True)
    """
    if k is not None or case.lookahead or subject.call.drafts_itself:
        found = judge(subject, case if k is None else replace(case, k=count(k)), budget, progress)
        return _counted([found])
    alive = generators_alive()
    done: list[Judgement] = []
    left: list[tuple[str, Judgement]] = []
    for drafts in NUMBERS:
        why = _skipped(done, drafts)
        if why:
            return _counted(done, (*(one for one, _ in left), why))
        found = judge(subject, replace(case, k=drafts), budget, progress, alive)
        fault = found.walk.fault
        taken = (drafts > 1 and fault is not None and fault.kind in ANSWERS) or isinstance(found.verdict, Lossy)
        if fault is not None and found.walk.faults == found.walk.paths and not taken:
            left.append((f"{drafts} ({fault.said})", found))
            continue
        if fault is not None and drafts == 1 and isinstance(found.verdict, Lossy):
            if judge(subject, replace(case, k=2), budget, progress, alive).verdict:
                found = _maybe_for(found, "2")
        elif fault is not None and drafts > 1:
            found = _maybe_for(found, "fewer")
        done.append(found)
        if not found.verdict:
            break
    return _counted(done or [left[0][1]], tuple(one for one, _ in left) if done else ())


def _skipped(done: list[Judgement], drafts: int) -> str:
    """Say why a number of drafts that nobody asked for is not judged, or nothing."""
    if not done:
        return ""
    last = done[-1]
    if last.subject.call.one_token:
        return f"{drafts} (it takes a single token)"
    foreseen = last.walk.paths * sum(mass > 0 for mass in last.case.draft[0])
    return f"{drafts} (about {foreseen:,} paths; ask with k = {drafts})" if foreseen > UNASKED else ""


def check_sampler(
    fn: Callable[..., Any], target: Any, draft: Any, k: int | None = None, lookahead: int = 0, **how: Any
) -> Verdict:
    """Decide whether somebody's sampler emits the target's law, by every path of its own randomness.

    One position: laws [V] and k i.i.d. drafts; k = None judges 1, then 2 and 3 where the function takes them. With a
    lookahead L: target [L + 1, V] and draft [L, V] by position, and the joint law of L + 1 tokens. `fn` takes target
    and draft in any order, by their names; a coin, or else random numbers of Python's or NumPy's; and tokens, or else
    it drafts by itself. `how` may hold roles, shape, numbers, grid, budget, horizon, as `subject_of` and `judge`;
    repeats, how many more times each path of followed code is walked (by default one in sixteen is, once); and at_most,
    the total variation that is forgiven, as `check_lossless`. What the function does is never raised: what cannot be
    judged is Undecided.

    Raises:
        ValueError, TypeError: the laws are not probability distributions, or an option is unknown.

    >>> import random
    >>> def redraws(tokens, target, draft):
    ...     x = tokens[0]
    ...     return x if random.random() * draft[x] < target[x] else random.choices(range(2), target)[0]
    >>> verdict = check_sampler(redraws, ["1/4", "3/4"], ["1/2", "1/2"])
    >>> verdict.token, verdict.emitted
    (0, Fraction(5, 16))
    """
    return checked_sampler(subject_of, fn, (target, draft), k, {"lookahead": lookahead, **how})


def checked_sampler(
    make: Callable[..., Subject], fn: Callable[..., Any], laws: tuple[Any, Any], k: int | None, how: dict[str, Any]
) -> Verdict:
    """Decide as `check_sampler`, with a subject that `make` makes of the function and its options."""
    given = {name: how.pop(name, None) for name in ("lookahead", "budget", "horizon")}
    case = chain(*laws, given["horizon"]) if given["lookahead"] else position(*laws)
    budget = BUDGET if given["budget"] is None else count(given["budget"], "budget")
    repeats, at_most = how.pop("repeats", 0), how.pop("at_most", None)
    subject = replace(make(fn, **how), repeats=count(repeats + 1, "repeats + 1") - 1, at_most=at_most)
    _ = cap([], at_most)
    return judge_counts(subject, case, k, budget).verdict


def _counted(judged: list[Judgement], not_judged: tuple[str, ...] = ()) -> Counted:
    """Put judgements together: the last one's verdict, with the drafts and the laws that all of them speak of."""
    found = Counted(tuple(judged), judged[-1].verdict, not_judged)
    last, verdict = found.last, found.verdict
    assumed, scope, bound = last.subject.assumed, scope_of(last), max(one.bound for one in judged)
    if isinstance(verdict, Lossless):
        paths = sum(one.walk.paths for one in judged)
        verdict = replace(verdict, bound=bound, paths=paths, not_judged=not_judged, scope=scope, assumed=assumed)
        evidence = [make for one in judged if isinstance(one.verdict, Lossless) for make in one.verdict.evidence]
        verdict = replace(verdict, evidence=tuple(evidence))
    elif isinstance(verdict, Lossy):
        verdict = replace(verdict, scope=f"{scope}; {', '.join(assumed)}")
    if not last.subject.call.unclear:
        verdict = replace(verdict, drafts=found.drafts)
    return replace(found, verdict=verdict)


def scope_of(found: Judgement) -> str:
    """Return the laws that a judgement covers, in words."""
    case = found.case
    chain_of = f", {case.lookahead} drafts in a row" if case.lookahead else ""
    own = ", with the drafts that it makes itself" if found.subject.call.drafts_itself else chain_of
    return f"one pair of distributions on {counted(case.size, 'token')}{own}"


def _maybe_for(found: Judgement, number: str) -> Judgement:
    """Leave a judgement open: the function breaks on some paths, but may be written for another number of drafts."""
    fault, drafts = found.walk.fault, found.case.k
    said = fault.said if fault else ""
    why = f"{said}, on some paths of {counted(drafts, 'draft')}; if it is written for {number}, give their"
    open_verdict = Undecided(Reason.NOT_JUDGED, f"{why} number as k", found.way)
    return replace(found, verdict=open_verdict, contract=None)
