"""For how many drafts a verdict speaks: a sampler judged for 1 draft, then for 2 and 3 where it takes them.

Source: worked out here.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

from spec_math.arrays import count
from spec_math.audit.case import Case, chain, position
from spec_math.audit.exploration.tape import generators_alive
from spec_math.audit.judgement import BUDGET, Judgement, judge
from spec_math.audit.subject import Subject, subject_of
from spec_math.verdict import Lossless, Lossy, Reason, Undecided, Verdict

MOST = 3
"""Drafts up to which a function is judged if nobody says how many."""


@dataclass(frozen=True)
class Counted:
    """The judgements of one sampler for several numbers of drafts, and the verdict on all of them.

    `judged` are those that count: lossless ones, and one at the end that is not, if any. `not_judged` says for which
    number of drafts nothing was judged, and why.

    Made by `judge_counts`.
    """

    judged: tuple[Judgement, ...]
    verdict: Verdict
    not_judged: str = ""

    @property
    def last(self) -> Judgement:
        """The judgement that decided: the one that is not lossless, or the one of most drafts."""
        return self.judged[-1]

    @property
    def drafts(self) -> tuple[int, ...]:
        """The numbers of drafts that the verdict speaks of; none where the function drafts by itself."""
        if self.last.subject.call.drafts_itself:
            return ()
        found = tuple(one.case.lookahead or one.case.k for one in self.judged)
        return found if self.last.verdict else found[-1:]


def judge_counts(
    subject: Subject,
    case: Case,
    k: int | None = None,
    budget: int = BUDGET,
    told: Callable[[int], None] = lambda _: None,
) -> Counted:
    """Judge a sampler on a case for k drafts of one position; k = None means 1, then 2 and 3 where it takes them.

    A function that drafts by itself, takes a single token or a chain of drafts has its own number. One that breaks on
    every path of 2 drafts was not judged for 2, which is told; one that breaks on some of them is left open, since it
    may be written for one draft. Everything else decides: lossy for 2 drafts is lossy.

    Raises:
        TypeError, ValueError: k is not a positive integer.

    >>> from spec_math.audit.case import default
    >>> found = judge_counts(subject_of(lambda coin, tokens, target, draft: coin.draw(target)), default())
    >>> found.drafts, bool(found.verdict)
    ((1, 2, 3), True)
    """
    if k is not None or case.lookahead or subject.call.drafts_itself:
        found = judge(subject, case if k is None else replace(case, k=count(k)), budget, told)
        return _counted([found])
    alive = generators_alive()
    done: list[Judgement] = []
    for drafts in range(1, MOST + 1):
        if done and done[0].subject.call.one_token:
            return _counted(done, f"{drafts} drafts (it takes a single token)")
        found = judge(subject, replace(case, k=drafts), budget, told, alive)
        if done and found.walk.fault is not None:
            broken, why = found.walk, found.walk.fault.said
            if broken.faults == broken.paths:
                return _counted(done, f"{drafts} drafts ({why})")
            found = replace(found, verdict=_maybe_for_fewer(drafts, why, found.walk.fault.way), contract=None)
        done.append(found)
        if not found.verdict:
            break
    return _counted(done)


def check_sampler(
    fn: Callable[..., Any], target: Any, draft: Any, k: int | None = None, lookahead: int = 0, **how: Any
) -> Verdict:
    """Decide whether somebody's sampler emits the target's law, by every path of its own randomness.

    One position: laws [V] and k i.i.d. drafts; k = None judges 1, then 2 and 3 where the function takes them. With a
    lookahead L: target [L + 1, V] and draft [L, V] by position, and the joint law of L + 1 tokens. `fn` takes target
    and draft in any order, by their names; a coin, or else random numbers of Python's or NumPy's; and tokens, or else
    it drafts by itself. `how` may hold roles, shape, numbers, grid, budget, horizon, as `subject_of` and `judge`. What
    the function does is never raised: what cannot be judged is Undecided.

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
    """Decide as `check_sampler`, with a subject that `make` makes of the function and its options.

    Raises:
        ValueError, TypeError: as there.

    >>> laws = ["1/4", "3/4"], ["1/2", "1/2"]
    >>> checked_sampler(subject_of, lambda tokens, target, draft: tokens[0], laws, 1, {}).token
    0
    """
    given = {name: how.pop(name, None) for name in ("lookahead", "budget", "horizon")}
    case = chain(*laws, given["horizon"]) if given["lookahead"] else position(*laws)
    budget = BUDGET if given["budget"] is None else count(given["budget"], "budget")
    return judge_counts(make(fn, **how), case, k, budget).verdict


def _counted(judged: list[Judgement], not_judged: str = "") -> Counted:
    """Put judgements together: the last one's verdict, with the drafts and the laws that all of them speak of."""
    found = Counted(tuple(judged), judged[-1].verdict, not_judged)
    last, verdict = found.last, found.verdict
    drafts, scope = found.drafts, scope_of(last)
    if isinstance(verdict, Lossless):
        left = (not_judged,) if not_judged else ()
        paths = sum(one.walk.paths for one in judged)
        verdict = replace(
            verdict,
            bound=max(one.bound for one in judged),
            paths=paths,
            drafts=drafts,
            not_judged=left,
            scope=scope,
            assumed=last.subject.assumed,
        )
    elif isinstance(verdict, Lossy):
        verdict = replace(verdict, drafts=drafts, scope=f"{scope}; {', '.join(last.subject.assumed)}")
    elif not last.subject.call.unclear:
        verdict = replace(verdict, drafts=drafts)
    return replace(found, verdict=verdict)


def scope_of(found: Judgement) -> str:
    """Return the laws that a judgement speaks of, in words.

    >>> from spec_math.audit.case import default
    >>> scope_of(judge(subject_of(lambda target, draft: 0), default()))
    'one pair of laws on 5 tokens, with the drafts that it makes itself'
    """
    case = found.case
    chain_of = f", {case.lookahead} drafts in a row" if case.lookahead else ""
    own = ", with the drafts that it makes itself" if found.subject.call.drafts_itself else chain_of
    return f"one pair of laws on {case.size} token{'s' * (case.size != 1)}{own}"


def _maybe_for_fewer(drafts: int, why: str, way: tuple[str, ...]) -> Undecided:
    said = f"{why}, on some paths of {drafts} drafts; if it is written for fewer, give their number as k"
    return Undecided(Reason.NOT_JUDGED, said, way)
