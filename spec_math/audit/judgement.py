"""The judge of samplers: what a function emits on a case against the target, with all that is known of the fault.

Source: worked out here.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from spec_math.audit.case import Case, chain, position
from spec_math.audit.exploration.atom import ExploreError
from spec_math.audit.exploration.tape import Tape, generators_alive
from spec_math.audit.exploration.walk import Text, Walk, walk
from spec_math.audit.subject import Subject, subject_of
from spec_math.block_level.emitted import continued
from spec_math.verdict import UNIT, Lossless, Lossy

BUDGET = 100_000


@dataclass(frozen=True)
class Judgement:
    """What a sampler emits on a case: its exact law and the target's, the verdict, and the contract it breaks.

    `verdict` is None where the budget of paths ran out before either could be shown. `first` and `joint` are the total
    variation of the first token and of the horizon's tokens. `bound` is what rounding could explain. `contract` is the
    "verifier", the "replay" of random numbers (fresh ones cure it), or "drafter or verifier" where the function drafts
    by itself. `way` is the heaviest path to the counterexample.

    Made by `judge`.
    """

    subject: Subject
    case: Case
    verdict: Lossless | Lossy | None
    law: dict[Text, Any]
    wanted: dict[Text, Any]
    first: Any
    joint: Any
    bound: float
    walk: Walk
    contract: str | None = None
    way: tuple[str, ...] = ()

    @property
    def kind(self) -> str:
        """How it fails: "law", or the name of what broke; empty where it does not."""
        if self.verdict is None or self.verdict:
            return ""
        return "law" if self.walk.fault is None else self.walk.fault[0]


def judge(
    subject: Subject,
    case: Case,
    budget: int = BUDGET,
    told: Callable[[int], None] = lambda _: None,
    alive: list[Any] | None = None,
) -> Judgement:
    """Judge a sampler on a case: every path of its randomness, up to a budget of paths.

    The law: P(emitted tokens, continued by the target) against Π t(s_i), exact; the verdict forgives what rounding of
    the code's own numbers explains, and nothing where these are Fractions. A budget that runs out still proves a law
    wrong where the paths walked give a text more than the target does. `alive` are the generators made before, where
    they were looked for already.

    Raises:
        ExploreError, LeakError: as `walk`.

    >>> hopeful = subject_of(lambda tokens, target, draft: tokens[0])
    >>> found = judge(hopeful, position(["1/4", "3/4"], ["1/2", "1/2"]))
    >>> found.first, found.contract
    (Fraction(1, 4), 'verifier')
    """
    alive = generators_alive() if alive is None and subject.shape != "verifier" else alive
    found = walk(subject, case, Tape(subject.grid, alive=alive), budget, told)
    wanted = continued({(): Fraction(1)}, case.row, case.horizon)
    if found.fault is not None:
        _, said, way = found.fault
        broken = Lossy(said, path=way)
        return Judgement(subject, case, broken, {}, wanted, None, None, 0.0, found, _contract(subject, None), way)
    law = continued(dict(found.masses), case.row, case.horizon)
    joint, first = _over(law, wanted), _over(_firsts(law), _firsts(wanted))
    if not found.unexplored:
        joint, first = _distance(law, wanted), _distance(_firsts(law), _firsts(wanted))
    bound = _rounding(subject, case, found)
    if joint <= bound:
        verdict = None if found.unexplored else Lossless(found.paths, bound)
        return Judgement(subject, case, verdict, law, wanted, first, joint, bound, found)
    text = max(law | wanted, key=lambda one: abs(law.get(one, 0) - wanted.get(one, 0)))
    if found.unexplored:
        text = max(law, key=lambda one: law[one] - wanted.get(one, 0))
    emitted, promised = law.get(text, Fraction(0)), wanted.get(text, Fraction(0))
    verdict = _lossy(text, emitted, promised, joint, bool(found.unexplored))
    way = _way(found, text)
    fresh = Tape(subject.grid, fresh=True, alive=alive)
    cured = subject.shape != "verifier" and _cured(case, walk(subject, case, fresh, budget), bound)
    return Judgement(subject, case, verdict, law, wanted, first, joint, bound, found, _contract(subject, cured), way)


def check_sampler(
    fn: Callable[..., Any], target: Any, draft: Any, k: int = 1, lookahead: int = 0, **how: Any
) -> Lossless | Lossy:
    """Decide whether somebody's sampler emits the target's law, by every path of its own randomness.

    One position: laws [V] and k i.i.d. drafts. With a lookahead L: target [L + 1, V] and draft [L, V] by position, and
    the joint law of L + 1 tokens. `fn` is verify(coin, tokens, target, draft), or fn(tokens, target, draft) or
    fn(target, draft) with random numbers of Python's or NumPy's. `how` may hold shape, numbers, grid, budget, horizon.

    Raises:
        ValueError, TypeError: the laws are none, or fn is none of these.
        ExploreError, LeakError: its randomness cannot be followed; or the budget of paths ran out.

    >>> import random
    >>> def redraws(tokens, target, draft):
    ...     x = tokens[0]
    ...     return x if random.random() * draft[x] < target[x] else random.choices(range(2), target)[0]
    >>> verdict = check_sampler(redraws, ["1/4", "3/4"], ["1/2", "1/2"])
    >>> verdict.token, verdict.emitted
    (0, Fraction(5, 16))
    """
    how = dict(how)
    budget, horizon = how.pop("budget", BUDGET), how.pop("horizon", None)
    case = chain(target, draft, horizon) if lookahead else position(target, draft, k)
    return decided(judge(subject_of(fn, **how), case, budget))


def decided(found: Judgement) -> Lossless | Lossy:
    """Return a judgement's verdict, which a budget of paths must have reached.

    Raises:
        ExploreError: it was not reached.

    >>> from spec_math.audit.case import position
    >>> bool(decided(judge(subject_of(lambda coin, tokens, t, d: coin.draw(t)), position(["1"], ["1"]))))
    True
    """
    if found.verdict is None:
        raise ExploreError(
            f"{found.walk.paths} paths left {float(found.walk.unexplored):.3g} of the mass unexplored, and what they "
            "emit decides nothing; raise budget, or judge a smaller case"
        )
    return found.verdict


def _lossy(text: Text, emitted: Any, promised: Any, joint: Any, partial: bool) -> Lossy:
    single = len(text) == 1
    said = f"token {text[0]} is" if single else f"the tokens {text} are"
    more = "at least " if partial else ""
    return Lossy(
        f"{said} emitted with probability {more}{emitted} where the target has {promised} "
        f"(total variation {more}{joint})",
        token=text[0] if single else None,
        tokens=None if single else text,
        emitted=emitted,
        target=promised,
        total_variation=joint,
    )


def _way(found: Walk, text: Text) -> tuple[str, ...]:
    """Return the heaviest path that emits a text, or a beginning of it, if any does."""
    ways = [way for emitted, way in found.ways.items() if text[: len(emitted)] == emitted]
    return max(ways, key=lambda way: way[0])[1] if ways else ()


def _contract(subject: Subject, cured: bool | None) -> str:
    if cured:
        return "replay"
    return "drafter or verifier" if subject.shape == "laws" else "verifier"


def _cured(case: Case, fresh: Walk, bound: float) -> bool:
    """Say whether random numbers that are never used twice make the law right."""
    if fresh.fault is not None or fresh.unexplored:
        return False
    law = continued(dict(fresh.masses), case.row, case.horizon)
    return bool(_distance(law, continued({(): Fraction(1)}, case.row, case.horizon)) <= bound)


def _rounding(subject: Subject, case: Case, found: Walk) -> float:
    """Bound what rounding may do to the law of a right sampler, in total variation; 0 where all is rational.

    Its laws are stored to a relative u, the unit roundoff. A threshold or a law to draw from is a quotient of sums of
    at most V of them: a relative error of V + 8 roundoffs at most, and the residual of a residual inherits that of the
    one before it, so that the i-th number drawn adds at most i times as much: m numbers m² times. Each token that the
    target adds is exact. Guards of logarithms add what was counted on the way.
    """
    unit = subject.numbers.unit or (0.0 if found.exact else UNIT["float64"])
    numbers = found.deepest
    return numbers * numbers * (case.size + 8) * unit + float(found.ignored)


def _firsts(law: dict[Text, Any]) -> dict[Text, Any]:
    result: dict[Text, Any] = {}
    for text, mass in law.items():
        result[text[:1]] = result.get(text[:1], 0) + mass
    return result


def _distance(one: dict[Text, Any], other: dict[Text, Any]) -> Any:
    return sum((abs(one.get(text, 0) - other.get(text, 0)) for text in one | other), Fraction(0)) / 2


def _over(law: dict[Text, Any], wanted: dict[Text, Any]) -> Any:
    """Return how much of a law, or of a part of it, lies above the target: no more than its total variation."""
    return sum((max(Fraction(0), mass - wanted.get(text, 0)) for text, mass in law.items()), Fraction(0))
