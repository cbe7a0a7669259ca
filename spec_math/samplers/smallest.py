"""A search for the smallest case on which a sampler still fails: few drafts, few tokens, small rational masses."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import replace
from fractions import Fraction
from itertools import islice, product

from spec_math.pathwise.generators import generators_alive
from spec_math.samplers.case import Case
from spec_math.samplers.judgement import Judgement, judge
from spec_math.samplers.subject import Row, Subject

TRIED = 400
"""Small cases that are tried before the given one is made smaller."""

DENOMINATORS = (2, 3, 4, 5, 6, 8)
DYADIC = (2, 4, 8, 16)
"""Binary floats hold these masses as they are, so that storing them rounds nothing."""


def smallest(
    found: Judgement, budget: int, tried: int = TRIED, progress: Callable[[int], None] = lambda _: None
) -> Judgement:
    """Return the judgement of the smallest failing case that is found for a sampler that fails on a case.

    Small cases are tried in order of their drafts, tokens and denominators, those of as many drafts first for which the
    given laws fail; where none of the first `tried` fails in the same way, the given case is made smaller while it
    fails: fewer drafts, fewer tokens, coarser masses.

    >>> from spec_math.samplers.case import position
    >>> from spec_math.samplers.subject import subject_of
    >>> hopeful = subject_of(lambda tokens, target, draft: tokens[0])
    >>> case = smallest(judge(hopeful, position(["1/7", "2/7", "4/7"], ["1/3"] * 3)), 1000).case
    >>> [[str(mass) for mass in row] for row in (case.target[0], case.draft[0])]
    [['1/3', '2/3'], ['2/3', '1/3']]
    """
    subject, wanted = found.subject, found.kind
    alive = generators_alive()
    # What draws nothing unseen on the given case is watched again on the one that is returned: that, and a walk on
    # ordinary numbers, can only withdraw that a sampler fails.
    quick = replace(subject, sources=()) if subject.shape == "verifier" else _unwatched(subject)

    def judging(case: Case) -> Judgement:
        tried = judge(quick, case, budget, alive=alive)
        return tried if tried.kind != wanted else judge(subject, case, budget, alive=alive)

    # A sampler that is right for one draft is wrong for it nowhere: its small cases would be all that are tried.
    sizes = sorted(_sizes(found.case), key=lambda one: not _fails_of(judging, found, one))
    for number, case in enumerate(islice(small_cases(found.case, subject, sizes), tried)):
        progress(number + 1)
        fails = _failing(judging, case, wanted)
        if fails is not None:
            return fails
    best = found
    while True:
        for case in _smaller(best.case, _denominators(subject)):
            fails = _failing(judging, case, wanted)
            if fails is not None:
                best = fails
                break
        else:
            return best


def _unwatched(subject: Subject) -> Subject:
    """Return a sampler, and all ways to call it, whose paths are walked on what stands for random numbers alone."""
    return replace(subject, watched=False, variants=tuple(_unwatched(one) for one in subject.variants))


def small_cases(given: Case, subject: Subject, sizes: Iterable[tuple[int, int]] | None = None) -> Iterator[Case]:
    """Go through the cases smaller than a given one, smallest first; rows of chains are all alike, then in turns.

    sizes: lengths with numbers of drafts, in their order; all up to those of the given case where they are None.

    >>> from spec_math.samplers.case import default
    >>> from spec_math.samplers.subject import subject_of
    >>> first = next(small_cases(default(), subject_of(lambda target, draft: 0)))
    >>> first.size, first.target == first.draft
    (2, True)
    """
    for lookahead, k in _sizes(given) if sizes is None else sizes:
        for size in range(2, min(given.size, 4) + 1):
            for denominator in _denominators(subject):
                laws = list(_laws(size, denominator))
                for target, draft in product(laws, laws):
                    for case in _cases(given, (lookahead, k), target, draft):
                        yield replace(case, heat=given.heat)


def _sizes(given: Case) -> list[tuple[int, int]]:
    """List the lengths and numbers of drafts up to those of a case."""
    lengths = range(1, given.lookahead + 1) if given.lookahead else (0,)
    return list(product(lengths, range(1, given.k + 1)))


def _fails_of(judging: Callable[[Case], Judgement], found: Judgement, sizes: tuple[int, int]) -> bool:
    """Say whether the sampler fails in the same way on the laws that it was found to fail on, with fewer drafts."""
    case = found.case
    if sizes == (case.lookahead, case.k):
        return True
    lookahead, k = sizes
    fewer = replace(case, target=case.target[: lookahead + 1], draft=case.draft[: max(lookahead, 1)], k=k)
    fewer = replace(fewer, lookahead=lookahead, horizon=min(case.horizon, lookahead + 1))
    return _failing(judging, fewer, found.kind) is not None


def _cases(given: Case, sizes: tuple[int, int], target: Row, draft: Row) -> Iterator[Case]:
    lookahead, k = sizes
    horizon = min(given.horizon, lookahead + 1)
    if not lookahead:
        yield Case((target,), (draft,), k)
        return
    yield Case((target,) * (lookahead + 1), (draft,) * lookahead, 1, lookahead, horizon)
    turned = tuple(reversed(target))
    if turned != target:
        turns = tuple(turned if place % 2 else target for place in range(lookahead + 1))
        yield Case(turns, (draft,) * lookahead, 1, lookahead, horizon)


def _laws(size: int, denominator: int) -> Iterator[Row]:
    """Go through the laws of so many tokens in whole parts of a denominator, none of mass 0."""
    for cuts in product(range(1, denominator), repeat=size - 1):
        rest = denominator - sum(cuts)
        if rest >= 1:
            yield tuple(Fraction(part, denominator) for part in (*cuts, rest))


def _denominators(subject: Subject) -> tuple[int, ...]:
    return DYADIC if subject.numbers.unit else DENOMINATORS


def _failing(judging: Callable[[Case], Judgement], case: Case, wanted: str) -> Judgement | None:
    found = judging(case)
    return found if found.kind == wanted and (wanted != "law" or not found.walk.unexplored) else None


def _smaller(case: Case, denominators: tuple[int, ...]) -> Iterator[Case]:
    """Go through the cases one step smaller than a given one."""
    if case.k > 1:
        yield replace(case, k=case.k - 1)
    if case.lookahead > 1:
        horizon = min(case.horizon, case.lookahead)
        rows = {"target": case.target[:-1], "draft": case.draft[:-1]}
        yield replace(case, **rows, k=1, lookahead=case.lookahead - 1, horizon=horizon)
    for token in range(case.size if case.size > 1 else 0):
        if all(row[token] < 1 for row in (*case.target, *case.draft)):
            yield case.with_laws(*([_without(row, token) for row in given] for given in (case.target, case.draft)))
    every = (*case.target, *case.draft)
    for denominator in denominators:
        if any(denominator < mass.denominator for row in every for mass in row) and denominator >= case.size:
            yield case.with_laws(
                *([_coarser(row, denominator) for row in given] for given in (case.target, case.draft))
            )


def _without(row: Row, token: int) -> Row:
    return tuple(mass / (1 - row[token]) for place, mass in enumerate(row) if place != token)


def _coarser(row: Row, denominator: int) -> Row:
    """Return a law near a given one in parts of a denominator: no mass lost to 0 that was not 0."""
    parts = [max(int(mass > 0), int(mass * denominator)) for mass in row]
    while sum(parts) != denominator:
        step = 1 if sum(parts) < denominator else -1
        able = [place for place, part in enumerate(parts) if part and part + step >= 1]
        place = max(able, key=lambda one: step * (row[one] - Fraction(parts[one], denominator)))
        parts[place] += step
    return tuple(Fraction(part, denominator) for part in parts)
