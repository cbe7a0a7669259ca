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

    def failing(case: Case) -> Judgement | None:
        """Return the judgement of a case that fails in the same way."""
        tried = judge(quick, case, budget, alive=alive)
        if tried.kind == wanted:
            tried = judge(subject, case, budget, alive=alive)
        return tried if tried.kind == wanted and (wanted != "law" or not tried.walk.unexplored) else None

    # A sampler that is right for one draft is wrong for it nowhere: its small cases would be all that are tried.
    given = found.case
    own = given.lookahead, given.k
    sizes = sorted(_sizes(given), key=lambda one: one != own and failing(_of_fewer(given, *one)) is None)
    for number, case in enumerate(islice(small_cases(given, subject, sizes), tried)):
        progress(number + 1)
        if (fails := failing(case)) is not None:
            return fails
    best = found
    while (fails := next(filter(None, map(failing, _smaller(best.case, _denominators(subject)))), None)) is not None:
        best = fails
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
    every = _sizes(given) if sizes is None else sizes
    for (lookahead, k), size, denominator in product(every, range(2, min(given.size, 4) + 1), _denominators(subject)):
        laws = list(_laws(size, denominator))
        for target, draft in product(laws, laws):
            # Rows that are all alike, then rows in turns.
            for turned in dict.fromkeys((target, target[::-1])) if lookahead else (target,):
                rows = tuple(turned if place % 2 else target for place in range(lookahead + 1))
                horizon = min(given.horizon, lookahead + 1) if lookahead else 1
                drafts = (draft,) * max(lookahead, 1)
                yield Case(rows, drafts, 1 if lookahead else k, lookahead, horizon, given.heat)


def _sizes(given: Case) -> list[tuple[int, int]]:
    """List the lengths and numbers of drafts up to those of a case."""
    lengths = range(1, given.lookahead + 1) if given.lookahead else (0,)
    return list(product(lengths, range(1, given.k + 1)))


def _of_fewer(case: Case, lookahead: int, k: int) -> Case:
    """Return a case with its first rows alone, for fewer drafts."""
    rows = {"target": case.target[: lookahead + 1], "draft": case.draft[: max(lookahead, 1)]}
    return replace(case, **rows, k=k, lookahead=lookahead, horizon=min(case.horizon, lookahead + 1))


def _laws(size: int, denominator: int) -> Iterator[Row]:
    """Go through the laws of so many tokens in whole parts of a denominator, none of mass 0."""
    for cuts in product(range(1, denominator), repeat=size - 1):
        rest = denominator - sum(cuts)
        if rest >= 1:
            yield tuple(Fraction(part, denominator) for part in (*cuts, rest))


def _denominators(subject: Subject) -> tuple[int, ...]:
    return DYADIC if subject.numbers.unit else DENOMINATORS


def _smaller(case: Case, denominators: tuple[int, ...]) -> Iterator[Case]:
    """Go through the cases one step smaller than a given one."""
    if case.k > 1:
        yield replace(case, k=case.k - 1)
    if case.lookahead > 1:
        yield _of_fewer(case, case.lookahead - 1, 1)
    every = (*case.target, *case.draft)
    for token in range(case.size if case.size > 1 else 0):
        if all(row[token] < 1 for row in every):
            yield _with_rows(case, lambda row, token=token: _without(row, token))
    for denominator in denominators:
        if any(denominator < mass.denominator for row in every for mass in row) and denominator >= case.size:
            yield _with_rows(case, lambda row, parts=denominator: _coarser(row, parts))


def _with_rows(case: Case, changed: Callable[[Row], Row]) -> Case:
    return case.with_laws([changed(row) for row in case.target], [changed(row) for row in case.draft])


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
