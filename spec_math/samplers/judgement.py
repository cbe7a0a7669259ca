"""The judge of samplers: what a function emits on a case against the target, with all that is known of the fault."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import partial
from itertools import product
from typing import Any

from spec_math.block_level.lossless import continued
from spec_math.chance import LONGEST
from spec_math.float_allowance import AT_MOST, UNIT, Allowance, adding_up, cap, evenly
from spec_math.masses import by_outcome, excess
from spec_math.pathwise.atom import ExploreError
from spec_math.pathwise.generators import generators_alive
from spec_math.pathwise.tape import Tape
from spec_math.samplers.answer import NAMES
from spec_math.samplers.case import Case, smaller
from spec_math.samplers.faults import judged_fault
from spec_math.samplers.subject import Subject, ways
from spec_math.samplers.walk import Text, Walk, walk
from spec_math.verdict import Lossless, Lossy, Reason, Undecided, Verdict, judged

BUDGET = 100_000

Law = dict[Text, Any]


@dataclass(frozen=True)
class Judgement:
    """The judgement of a sampler on a case: its exact law and the target's, the verdict, and the contract it breaks.

    `subject` is the function as it was called in the end. `first` and `joint` are the total variation of the first
    token and of the horizon's tokens; None where no law was found. `bound` is what rounding could explain. `contract`
    is the "verifier", the "replay" of random numbers (fresh ones cure it), or "drafter or verifier" where the function
    drafts by itself. `way` is the heaviest path to the counterexample.

    Made by `judge`.
    """

    subject: Subject
    case: Case
    verdict: Verdict
    law: Law
    wanted: Law
    first: Any
    joint: Any
    bound: float
    walk: Walk
    contract: str | None = None
    way: tuple[str, ...] = ()

    @property
    def kind(self) -> str:
        """The way it fails: "law", or the name of what broke; empty where it was not found to fail."""
        if not isinstance(self.verdict, Lossy):
            return ""
        return "law" if self.walk.fault is None else self.walk.fault.kind


def judge(
    subject: Subject,
    case: Case,
    budget: int = BUDGET,
    progress: Callable[[int], None] = lambda _: None,
    alive: list[Any] | None = None,
) -> Judgement:
    """Judge a sampler on a case: every path of its randomness, up to a budget of paths.

    It never raises for what the sampler is or does.

    The law: P(emitted tokens, continued by the target) against Π t(s_i), exact; the verdict forgives what rounding of
    the code's own numbers explains, and nothing where these are Fractions. A budget that runs out still proves a law
    wrong where the paths walked give a text more than the target does. Lossy is said only after the same paths were
    walked once more and gave the same law. A function that breaks on every path was not judged; one that breaks on
    numbers that nobody asked for is given others. `alive` are the generators made before, if they were looked for.

    >>> from spec_math.samplers.case import position
    >>> from spec_math.samplers.subject import subject_of
    >>> hopeful = subject_of(lambda tokens, target, draft: tokens[0])
    >>> found = judge(hopeful, position(["1/4", "3/4"], ["1/2", "1/2"]))
    >>> found.first, found.contract
    (Fraction(1, 4), 'verifier')
    >>> judge(subject_of(lambda p, q: 0), found.case).verdict.reason.name
    'NOT_JUDGED'
    """
    if subject.call.unclear:
        return _open(subject, case, Undecided(Reason.NOT_JUDGED, subject.call.unclear))
    held = generators_alive() if alive is None else alive

    def of_way(one: Subject, most: int = budget) -> Judgement:
        def judged_on(given: Case) -> Judgement:
            return _judged(one, given, most, progress, held)

        found = of_each_draft(case, judged_on) if one.fixed else judged_on(case)
        walked.append(found.walk.paths)
        return found

    walked: list[int] = []
    if subject.said:
        # A longer text of the same loop takes the more paths: a way that soon decides comes first.
        most = min(budget, SHORT) if subject.text else budget
        found = of_all(ways(subject), partial(of_way, most=most))
        while not found.verdict and most < budget and max(walked) >= most:
            most = min(budget, 10 * most)
            found = of_all(ways(subject), partial(of_way, most=most))
        # What is asked about it afterwards is asked of the way that decided.
        return replace(found, subject=replace(found.subject, variants=()))
    broken: list[Judgement] = []
    for one in ways(subject, case.lookahead or case.k):
        if broken and one.call != subject.call and any(before.walk.faults < before.walk.paths for before in broken):
            break
        found = of_way(one)
        if found.walk.fault is None and not (broken and isinstance(found.verdict, Undecided)):
            return found
        broken.append(found)
    if subject.variants and all(one.walk.fault is not None and one.walk.faults == one.walk.paths for one in broken):
        return of_all(subject.variants, of_way)
    return next((one for one in broken if one.walk.faults < one.walk.paths), broken[0])


def _judged(
    subject: Subject, case: Case, budget: int, progress: Callable[[int], None], alive: list[Any] | None
) -> Judgement:
    loaded = len(sys.modules)
    found = _decided(subject, case, budget, progress, alive)
    unseen = isinstance(found.verdict, Undecided) and found.verdict.reason is Reason.RANDOMNESS_NOT_SEEN
    if unseen and len(sys.modules) > loaded:  # what a module draws when it is first imported is no draw of the sampler
        found = _decided(subject, case, budget, progress, alive)
    verdict = found.verdict
    if isinstance(verdict, Undecided) or verdict.evidence:
        return found

    def certificate() -> Any:
        from spec_math.samplers.certificate import Certificate, of_program

        if subject.shape != "verifier":
            return Certificate((found,))
        numbers = "fractions" if found.walk.exact and not subject.numbers.unit else _stored(subject)
        walked = bool(verdict), found.walk.fault is not None, found.walk.paths
        return of_program(subject, case, numbers, walked)

    return replace(found, verdict=replace(verdict, evidence=(certificate,)))


def _decided(
    subject: Subject, case: Case, budget: int, progress: Callable[[int], None], alive: list[Any] | None
) -> Judgement:
    # A verifier was watched the first time; what it drew beside its coin would show in another law the second time.
    again = replace(subject, sources=()) if subject.shape == "verifier" else subject

    def proven(found: Walk) -> bool:
        laws = _laws(case, found)
        verdict = judged(*laws, _allowance(subject, case, found), found.paths, found.unexplored)
        return found.fault is None and isinstance(verdict, Lossy)

    def walked(most: int = budget, fresh: bool = False) -> Walk:
        asked = replace(case, built_in=False)
        return walk(again, asked, Tape(subject.grid, fresh=fresh, alive=alive), most, progress)

    try:
        found = walk(subject, case, Tape(subject.grid, alive=alive), budget, progress, proven)
        if found.fault is not None:
            verdict = judged_fault(subject, case, found, walked)
            told = isinstance(verdict, Lossy) and found.fault.kind not in NAMES
            contract = _contract(subject, None) if told else None
            return replace(_open(subject, case, verdict), walk=found, contract=contract, way=found.fault.way)
        answer = _compared(subject, case, found, walked, alive)
    except ExploreError as error:
        return _open(subject, case, _not_seen(error))
    finer = subject.numbers.finer
    if finer is None or answer.joint is None:
        return answer
    asked: list[Judgement] = []

    def in_float64() -> Verdict:
        asked.append(_judged(replace(subject, numbers=finer), case, budget, progress, alive))
        broke = asked[0].walk.fault
        # What breaks on numbers that nobody asked for says nothing of the distribution.
        return asked[0].verdict if broke is None else Undecided(Reason.NOT_JUDGED, broke.said)

    verdict = confirmed(answer.verdict, answer.joint, in_float64)
    return replace(asked[0] if isinstance(verdict, Lossy) and asked else answer, verdict=verdict)


def _compared(
    subject: Subject, case: Case, found: Walk, walked: Callable[..., Walk], alive: list[Any] | None
) -> Judgement:
    law, wanted = _laws(case, found)
    measured = excess if found.unexplored else distance
    joint, first = measured(law, wanted), measured(beginnings(law), beginnings(wanted))
    allowed = _allowance(subject, case, found)
    verdict = judged(_shown(law, case), _shown(wanted, case), allowed, found.paths, found.unexplored)
    answer = Judgement(subject, case, verdict, law, wanted, first, joint, allowed.forgiven, found)
    if isinstance(verdict, Undecided) and verdict.reason is Reason.BUDGET:
        return replace(answer, verdict=_budget_spent(found, joint))
    if found.misread and not _emits_tokens(subject, case, alive):
        return replace(answer, verdict=Undecided(Reason.NOT_JUDGED, f"not read as tokens: {found.misread}"))
    if subject.doubt is not None and subject.doubt():
        return replace(answer, verdict=Undecided(Reason.NOT_JUDGED, subject.doubt()))
    if found.seed and verdict:
        return replace(answer, verdict=Undecided(Reason.RANDOMNESS_NOT_SEEN, SEEDED.format(found.seed)))
    if not isinstance(verdict, Lossy):
        return answer
    coarser = _coarser(subject, case, found, joint)
    if coarser is not None:
        return replace(answer, verdict=coarser)
    again = walked(found.paths)
    if again.masses != found.masses or again.fault is not None:
        return replace(answer, verdict=Undecided(Reason.RANDOMNESS_NOT_SEEN, UNREPEATED))
    text = (verdict.token,) if verdict.tokens is None else verdict.tokens
    fresh = walked(found.paths, fresh=True) if found.reused else None  # random numbers that are never used twice
    cured = False
    if fresh is not None and fresh.fault is None and not fresh.unexplored:
        cured = bool(judged(*_laws(case, fresh), allowed))
    return replace(answer, contract=_contract(subject, cured), way=_way(found, text))


SHORT = 100
"""The paths of each way to call a function that returns a text, before any way is given ten times as many."""

SEEN = 2_000
"""The paths that are walked at most on laws of full support, to see whether a function returns tokens."""


def _emits_tokens(subject: Subject, case: Case, alive: list[Any] | None) -> bool:
    """Say whether answers that are alike on these laws are read as tokens on laws where every draft may be rejected.

    There a right chain emits more tokens on one path than on another; a number of drafts with a token does not.
    """
    found = walk(subject, smaller(case, case.size), Tape(subject.grid, alive=alive), SEEN)
    return found.fault is None and not found.misread


def _laws(case: Case, found: Walk) -> tuple[Law, Law]:
    """Return the law of the horizon's tokens that was walked, continued by the target, and the target's."""
    wanted = continued({(): Fraction(1)}, case.row, case.horizon)
    return continued(dict(found.masses), case.row, case.horizon), wanted


def _shown(law: Law, case: Case) -> dict[Any, Any]:
    """Return a law of texts of one token as a law of tokens."""
    return {text[0]: mass for text, mass in law.items()} if case.horizon == 1 else dict(law)


UNREPEATED = (
    "the same paths, followed a second time, gave another distribution: the function keeps state between calls, or "
    "draws random numbers that the judge does not see; create its state inside the function"
)


SEEDED = (
    "the function {}, which determines every number that it draws: its output is random only if the seed is; seed the "
    "generator outside of the function, or let it take a generator as an argument"
)


def _open(subject: Subject, case: Case, verdict: Verdict) -> Judgement:
    return Judgement(subject, case, verdict, {}, {}, None, None, 0.0, Walk())


def _not_seen(error: ExploreError) -> Undecided:
    notes: Sequence[str] = getattr(error, "__notes__", ())
    places = [note.removeprefix("on the path: ") for note in notes]
    path = tuple(place for place in places if place != "no choice yet")
    return Undecided(Reason.RANDOMNESS_NOT_SEEN if error.of_randomness else Reason.NOT_JUDGED, str(error), path)


def _budget_spent(found: Walk, joint: Any) -> Undecided:
    most = min(1, joint + found.unexplored)
    cure = "raise the budget, or judge a smaller case"
    if found.cut:
        cure = (
            f"the last path asks for more than {LONGEST:,} random numbers, or compares one number more often than "
            "that; bound the function's loop, or round its random numbers less finely"
        )
    return Undecided(
        Reason.BUDGET,
        f"{found.paths:,} paths left {float(found.unexplored):.3g} of the mass unexplored; the total variation lies "
        f"between {float(joint):.3g} and {float(most):.3g}; {cure}",
    )


def _way(found: Walk, text: tuple[int | None, ...]) -> tuple[str, ...]:
    """Return the heaviest path that emits a text, or a beginning of it, if any does."""
    found_ways = [way for emitted, way in found.ways.items() if text[: len(emitted)] == emitted]
    return max(found_ways, key=lambda way: way[0])[1] if found_ways else ()


def _contract(subject: Subject, cured: bool | None) -> str:
    if cured:
        return "replay"
    return "drafter or verifier" if subject.call.drafts_itself else "verifier"


def _allowance(subject: Subject, case: Case, found: Walk) -> Allowance:
    """Return what rounding may do to the law of a right sampler; nothing where all is rational.

    A path's random numbers, the drafts included, are its coins. The laws are stored to a relative u, the unit roundoff
    of their type, so that both together are off by 2u in sum; the case itself is exact, and its masses are Fractions.
    What guards of logarithms change was counted on the way.
    """
    unit = subject.numbers.unit or (0.0 if found.exact else UNIT["float64"])
    explained = evenly(found.deepest, case.size, unit, 2 * unit)
    stored = _stored(subject)
    floats = isinstance(next(iter(found.masses.values()), 0), float)
    measured = adding_up(found.paths, found.deepest, case.size) if floats else 0.0
    return Allowance(explained, cap([stored], subject.at_most), measured, float(found.ignored))


def _stored(subject: Subject) -> str:
    return subject.numbers.name.replace(".", " ").split()[-1]


def _coarser(subject: Subject, case: Case, found: Walk, joint: Any) -> Undecided | None:
    """Leave a difference open that rounding explains in a type which the function seems to compute in, inside."""
    name = rounded_to(found.digits, [mass for row in (*case.target, *case.draft) for mass in row])
    unit = UNIT.get(name, 0.0)
    explained = evenly(found.deepest, case.size, unit, 2 * unit) + float(found.ignored)
    if unit <= subject.numbers.unit or joint > explained:
        return None
    return Undecided(
        Reason.ROUNDING,
        f"the total variation is {float(joint):.3g}; the function seems to compute in {name}, whose rounding explains "
        f"up to {explained:.3g}; judge it with numbers of that type",
    )


def beginnings(law: Mapping[Text, Any], size: int = 1) -> Law:
    """Return the law of the first `size` tokens of texts."""
    return by_outcome((text[:size], mass) for text, mass in law.items())


def distance(one: Law, other: Law) -> Any:
    """Return the total variation between two laws."""
    return sum((abs(one.get(text, 0) - other.get(text, 0)) for text in one | other), Fraction(0)) / 2


TORN = "called as {} it is lossless, called as {} it is not; wrap it to show which call is meant"

ROUNDING = 1e-4
"""Below this a distance may be due to a type that the function computes in inside; another way has it."""


def of_all(ways: Iterable[Subject], judged: Callable[[Subject], Judgement]) -> Judgement:
    """Return one judgement of a function that can be called in several ways.

    Lossless by one way is lossless, as called, unless another way is lossy: then it is not known which is meant.
    Lossy stands where every way that runs is lossy for its law. What breaks by some way was not meant so.
    """
    lossy: list[Judgement] = []
    others: list[Judgement] = []
    for way in ways:
        if way.alike and any(way.alike == one.subject.alike for one in lossy):
            continue  # the same in another type, or for a longer text: neither mends what lies above rounding
        found = judged(way)
        verdict = found.verdict
        if isinstance(verdict, Lossless):
            for one in others:
                if one.walk.fault is None and one.joint is not None and one.subject.alike == way.alike:
                    off = f" (given {one.subject.numbers.name} the total variation is {float(one.joint):.1e}"
                    off += ", which is lossy)" if isinstance(one.verdict, Lossy) else ")"
                    found = replace(found, subject=replace(found.subject, finer=off))
            if not lossy:
                return found
            torn = TORN.format(way.said, lossy[0].subject.said)
            return replace(found, verdict=Undecided(Reason.NOT_JUDGED, torn))
        if isinstance(verdict, Lossy) and found.walk.fault is not None:
            said = f"called in this way it fails on some paths, {verdict.reason}; this may not be the intended call"
            found = replace(found, verdict=Undecided(Reason.NOT_JUDGED, said, verdict.path))
        above = isinstance(found.verdict, Lossy) and found.joint is not None and found.joint > ROUNDING
        (lossy if above else others).append(found)
    if lossy:
        return lossy[0]
    partly = [one for one in others if one.walk.faults < one.walk.paths]
    # A way whose answer was not understood runs at least.
    left = [one for one in others if isinstance(one.verdict, Undecided) and one.walk.fault is None]
    return [*partly, *left, *others][0]


def of_each_draft(case: Case, judged: Callable[[Case], Judgement]) -> Judgement:
    """Return one judgement of a function that takes drafts and no law of them: it must be lossless for each.

    Drafts drawn from a law would hide what is wrong for some of them: one that accepts x with mass t(x) and draws from
    t otherwise emits t where drafts are uniform, and for no fixed draft.

    >>> from spec_math.samplers.case import position
    >>> from spec_math.samplers.judgement import judge
    >>> from spec_math.samplers.subject import subject_of
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
    evidence = tuple(make for one in done if isinstance(one.verdict, Lossless) for make in one.verdict.evidence)
    verdict = replace(last.verdict, evidence=evidence)
    return replace(last, walk=walk, bound=max(one.bound for one in done), verdict=verdict)


DIGITS = {"float32": 24, "float16": 11, "bfloat16": 8}
"""The binary digits of a significand."""

GENERAL = 25
"""Masses of so many digits, or of infinitely many, have no exact float of a coarser type."""

FEW = 3
"""Masses of so few digits are exact in every type, and so are their sums and small products."""


def digits(number: Fraction) -> int:
    """Return the binary digits that a significand needs, and 53 where no number of them is enough."""
    if number.denominator & (number.denominator - 1):
        return 53
    top = abs(number.numerator)
    return (top >> ((top & -top).bit_length() - 1)).bit_length() if top else 0


def rounded_to(met: Iterable[int], masses: Iterable[Fraction]) -> str:
    """Return the coarsest type that numbers of so many digits show, for laws of these masses; "" for none."""
    needed = [digits(mass) for mass in masses if 0 < mass < 1]
    if not needed:
        return ""
    if min(needed) >= GENERAL:
        least = {"float32": 20, "float16": 9, "bfloat16": 6}
    elif max(needed) <= FEW:
        least = {name: most - 2 for name, most in DIGITS.items()}
    elif all(many >= GENERAL or many <= FEW for many in needed):
        # Products of a few such masses have the digits of bfloat16 by themselves.
        least = {name: most - 2 for name, most in DIGITS.items() if name != "bfloat16"}
    else:
        # Products of such masses have the digits of half precision by themselves; what float32 explains is little.
        least = {"float32": DIGITS["float32"] - 2}
    seen = set(met)
    shown = [name for name in least if seen & set(range(least[name], DIGITS[name] + 1))]
    return shown[-1] if shown else ""


EXACT = 1e-12
"""A total variation that needs no second look: float64 would not tell it from 0."""


def confirmed(
    verdict: Verdict, distance: Any, finer: Callable[[], Verdict], laws: str = "numbers in float64"
) -> Verdict:
    """Return the verdict on a program in a coarse type, at a total variation, after it was asked again in float64.

    What rounding alone explains is lossless there too, and stays Lossless. What is lossy there is Lossy. Where float64
    cannot tell, Lossless stays up to `AT_MOST`, which every type is forgiven, and becomes Undecided above it.

    >>> confirmed(Lossless(4, 0.01), 0.009, lambda: Lossy("token 3")).reason
    'with numbers in float64, token 3'
    >>> bool(confirmed(Lossless(4, 0.01), 0.009, lambda: Lossless(4)))
    True
    """
    rounded = isinstance(verdict, Undecided) and verdict.reason is Reason.ROUNDING
    if not rounded and not (isinstance(verdict, Lossless) and distance > EXACT):
        return verdict
    asked = finer()
    if isinstance(asked, Lossy):
        return replace(asked, reason=f"with {laws}, {asked.reason}")
    if rounded or isinstance(asked, Lossless) or distance <= AT_MOST:
        return verdict
    said = f"the total variation is {float(distance):.3g}, which rounding explains; with {laws} it is undecided"
    return Undecided(Reason.ROUNDING, f"{said}: {getattr(asked, 'explanation', '')}")
