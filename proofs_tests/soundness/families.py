"""Rules that are lossless by construction, as programs: each draws a token of a goal law from drafts and coins.

A rule returns statements that leave the token in a variable, so that rules can be mixed, composed and relabelled.
"""

from __future__ import annotations

import random
from collections.abc import Callable
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any

from proofs_tests.soundness import syntax as s
from proofs_tests.soundness.laws import Law

Rule = Callable[["Maker", Any, str], s.Block]


@dataclass
class Maker:
    """What a rule is made for: how many tokens and drafts, the laws where constants are computed from them."""

    rng: random.Random
    size: int
    k: int
    target: Law
    draft: Law
    kept_uniforms: bool = False
    families: list[str] = field(default_factory=list)
    _made: int = 0

    def name(self, stem: str) -> str:
        self._made += 1
        return f"{stem}{self._made}"

    def evenly(self) -> bool:
        return self.rng.random() < 0.5


def drawn_rule(make: Maker, goal: Any, out: str, depth: int = 0) -> s.Block:
    """Draw a rule: a simple one, or one made of others."""
    simple: tuple[Rule, ...] = (single, recursive, k_sequential, matched, own_drafts, without_replacement, rejection)
    made_of_others: tuple[Rule, ...] = (mixture, branched, composed, relabelled, early)
    pool = simple + (table,) * (goal == s.TARGET)
    if depth < 1 or (depth < 2 and make.rng.random() < 0.2):
        pool += made_of_others
    rule = make.rng.choice(pool)
    make.families.append(rule.__name__)
    if rule in made_of_others:
        return rule(make, goal, f"{out}|{depth + 1}")
    return rule(make, goal, out)


def split(out: str) -> tuple[str, int]:
    name, _, depth = out.partition("|")
    return name, int(depth)


# Pieces.


def residual(goal: Any, draft: Any) -> Any:
    return s.Each("max", s.Each("-", goal, draft), s.ZERO)


def ratio(goal: Any, draft: Any, token: Any, make: Maker) -> Any:
    top, bottom = s.Mass(goal, token), s.Mass(draft, token)
    if make.rng.random() < 0.7:
        return s.Both("min", s.ONE, s.Both("/", top, bottom))
    return s.Both("/", s.Both("min", top, bottom), bottom)


def from_weights(make: Maker, out: str, weights: Any, fallback: Any) -> s.Block:
    """Draw from weights divided by their sum; where they are all zero, which has no chance, from the fallback."""
    name = make.name("r")
    drawn = s.Draw(out, s.Each("/", s.Name(name), s.Total(s.Name(name))))
    safe = s.If(s.Compared("<", s.ZERO, s.Total(s.Name(name))), (drawn,), (s.Draw(out, fallback),))
    return s.Let(name, weights), safe


# Rules of the drafts that are given.


def single(make: Maker, goal: Any, out: str) -> s.Block:
    """Maximal coupling with one of the drafts."""
    x = s.Drafted(make.rng.randrange(make.k))
    return (coupled(make, (x, s.DRAFT), goal, out),)


def coupled(make: Maker, source: tuple[Any, Any], goal: Any, out: str) -> Any:
    token, law = source
    kept = (s.Let(out, token),)
    return s.Flip(ratio(goal, law, token, make), kept, from_weights(make, out, residual(goal, law), goal))


def recursive(make: Maker, goal: Any, out: str) -> s.Block:
    """Recursive rejection, in any order of the drafts."""
    places = make.rng.sample(range(make.k), make.k)

    def rounds(left: list[int], law: Any) -> s.Block:
        if not left:
            return (s.Draw(out, law),)
        x, rest, after = s.Drafted(left[0]), make.name("r"), make.name("g")
        weights = s.Let(rest, residual(law, s.DRAFT))
        positive = s.Compared("<", s.ZERO, s.Total(s.Name(rest)))
        shared = s.Let(after, s.Each("/", s.Name(rest), s.Total(s.Name(rest))))
        onwards = s.If(positive, (shared,), (s.Let(after, law),))
        chance = ratio(law, s.DRAFT, x, make)
        return (s.Flip(chance, (s.Let(out, x),), (weights, onwards, *rounds(left[1:], s.Name(after)))),)

    return rounds(places, goal)


def k_sequential(make: Maker, goal: Any, out: str) -> s.Block:
    """SpecTr's k-sequential selection with a gamma that leaves no negative mass: k always does."""
    gamma = s.Number(Fraction(make.k))
    if goal == s.TARGET and make.evenly():
        gamma = s.Number(least_gamma(make))
    capped = make.name("c")
    first = s.Let(capped, s.Each("min", s.DRAFT, s.Each("/", goal, gamma)))
    accepted = s.Total(s.Name(capped))
    # Σ (1 − β)^i for i < k, which is (1 − (1 − β)^k)/β, and right at β = 0 too.
    power: Any = s.ONE
    total: Any = s.ONE
    for _ in range(make.k - 1):
        power = s.Both("*", power, s.Both("-", s.ONE, accepted))
        total = s.Both("+", total, power)
    scalar = make.name("scalar")
    left = residual(goal, s.Each("*", s.Name(capped), s.Name(scalar)))
    inner: s.Block = (s.Let(scalar, total), *from_weights(make, out, left, goal))
    for place in reversed(range(make.k)):
        x = s.Drafted(place)
        inner = (s.Flip(s.Both("/", s.Mass(s.Name(capped), x), s.Mass(s.DRAFT, x)), (s.Let(out, x),), inner),)
    return first, *inner


def least_gamma(make: Maker) -> Fraction:
    """Return the least of some gammas that leave no negative mass."""
    for gamma in (Fraction(1), Fraction(5, 4), Fraction(3, 2), Fraction(7, 4), Fraction(2), Fraction(5, 2)):
        capped = [min(d, t / gamma) for t, d in zip(make.target, make.draft, strict=True)]
        share = sum((1 - sum(capped)) ** i for i in range(make.k))
        if gamma < make.k and all(t >= c * share for t, c in zip(make.target, capped, strict=True)):
            return gamma
    return Fraction(make.k)


def table(make: Maker, goal: Any, out: str) -> s.Block:
    """A transport plan made by filling rows and columns in any order, drawn from by the draft's row."""
    del goal
    order = [make.rng.sample(range(make.size), make.size) for _ in range(2)]
    left, need = list(make.draft), list(make.target)
    plan = [[Fraction(0)] * make.size for _ in range(make.size)]
    for x in order[0]:
        for y in order[1]:
            plan[x][y] = min(left[x], need[y])
            left[x], need[y] = left[x] - plan[x][y], need[y] - plan[x][y]
    rows = tuple(
        tuple(mass / make.draft[x] for mass in row) if make.draft[x] else make.target for x, row in enumerate(plan)
    )
    return (s.Draw(out, s.Row(rows, s.Drafted(make.rng.randrange(make.k)))),)


# Rules that need no draft, or draw their own.


def matched(make: Maker, goal: Any, out: str) -> s.Block:
    """Sample the goal and see whether it was drafted: the token is emitted in any case."""
    if make.evenly():
        return (s.Draw(out, goal),)
    seen = s.If(s.Same(s.Name(out), s.Drafted(0)), (s.Let("seen", s.ONE),))
    return s.Draw(out, goal), seen


def own_drafts(make: Maker, goal: Any, out: str) -> s.Block:
    """Draw a further draft, from the draft or from an even law, and couple it."""
    x = make.name("x")
    law = s.DRAFT
    if make.rng.random() < 0.3:
        return s.Draw(x, s.Even(make.size)), coupled(make, (s.Name(x), s.Even(make.size)), goal, out)
    return s.Draw(x, law), coupled(make, (s.Name(x), law), goal, out)


def without_replacement(make: Maker, goal: Any, out: str) -> s.Block:
    """Two drafts without replacement, drawn here, and recursive rejection with what is left of the draft."""
    x, y, rest, left = make.name("x"), make.name("y"), make.name("g"), make.name("q")
    first = s.Flip(ratio(goal, s.DRAFT, s.Name(x), make), (s.Let(out, s.Name(x)),), ())
    weights = make.name("r")
    after = (
        s.Let(weights, residual(goal, s.DRAFT)),
        s.If(
            s.Compared("<", s.ZERO, s.Total(s.Name(weights))),
            (s.Let(rest, s.Each("/", s.Name(weights), s.Total(s.Name(weights)))),),
            (s.Let(rest, goal),),
        ),
        s.Let(left, s.Without(s.DRAFT, s.Name(x))),
        s.If(
            s.Compared("<", s.ZERO, s.Total(s.Name(left))),
            (
                s.Let(left, s.Each("/", s.Name(left), s.Total(s.Name(left)))),
                s.Draw(y, s.Name(left)),
                coupled(make, (s.Name(y), s.Name(left)), s.Name(rest), out),
            ),
            (s.Draw(out, s.Name(rest)),),
        ),
    )
    return s.Draw(x, s.DRAFT), first._replace(no=after)


def rejection(make: Maker, goal: Any, out: str) -> s.Block:
    """Propose evenly and accept in proportion to the goal, some times; then draw from the goal."""
    x = make.name("x")
    inner: s.Block = (s.Draw(out, goal),)
    for _ in range(make.rng.randrange(1, 3)):
        accepted = s.Flip(s.Mass(goal, s.Name(x)), (s.Let(out, s.Name(x)),), inner)
        inner = (s.Draw(x, s.Even(make.size)), accepted)
    return inner


# Rules made of others.


def mixture(make: Maker, goal: Any, out: str) -> s.Block:
    """One rule or another, by a coin of its own."""
    name, depth = split(out)
    weight = s.Number(Fraction(1, make.rng.choice((2, 3, 4, 16))))
    return (s.Flip(weight, drawn_rule(make, goal, name, depth), drawn_rule(make, goal, name, depth)),)


def branched(make: Maker, goal: Any, out: str) -> s.Block:
    """One rule or another, by what the laws are: whatever the branch, the rule is right."""
    name, depth = split(out)
    a, b = s.Mass(s.TARGET, s.Fixed(make.rng.randrange(make.size))), s.Mass(s.DRAFT, s.Fixed(0))
    condition = s.Compared(make.rng.choice(("<", "<=", "==")), a, b)
    return (s.If(condition, drawn_rule(make, goal, name, depth), drawn_rule(make, goal, name, depth)),)


def composed(make: Maker, goal: Any, out: str) -> s.Block:
    """From the draft to a law between, and from there to the goal."""
    name, depth = split(out)
    between, y = make.name("m"), make.name("y")
    half = s.Number(Fraction(1, 2))
    law = s.Each("+", s.Each("*", goal, half), s.Each("*", s.DRAFT, half))
    onwards = coupled(make, (s.Name(y), s.Name(between)), goal, name)
    return s.Let(between, law), *drawn_rule(make, s.Name(between), y, depth), onwards


def relabelled(make: Maker, goal: Any, out: str) -> s.Block:
    """Couple under other labels, and put the labels back."""
    name, _ = split(out)
    order = tuple(make.rng.sample(range(make.size), make.size))
    back = tuple(order.index(token) for token in range(make.size))
    goal_there, draft_there, y = make.name("g"), make.name("d"), make.name("y")
    x = s.Mapped(s.Drafted(make.rng.randrange(make.k)), back)
    return (
        s.Let(goal_there, s.Permuted(goal, order)),
        s.Let(draft_there, s.Permuted(s.DRAFT, order)),
        coupled(make, (x, s.Name(draft_there)), s.Name(goal_there), y),
        s.Let(name, s.Mapped(s.Name(y), order)),
    )


def early(make: Maker, goal: Any, out: str) -> s.Block:
    """Coins before they are needed: the residual is drawn first, or a draw is not used at all."""
    name, depth = split(out)
    if make.evenly():
        return s.Draw(make.name("unused"), s.Even(2)), *drawn_rule(make, goal, name, depth)
    spare, x = make.name("z"), s.Drafted(make.rng.randrange(make.k))
    first = from_weights(make, spare, residual(goal, s.DRAFT), goal)
    kept, replaced = (s.Let(name, x),), (s.Let(name, s.Name(spare)),)
    return *first, s.Flip(ratio(goal, s.DRAFT, x, make), kept, replaced)


# Programs that read their drafts in a loop: right for any number of them.


def looped(make: Maker) -> s.Block:
    """Recursive rejection as a loop over however many drafts there are, which returns from inside it."""
    make.families.append("looped")
    x, positive = s.Name("x"), s.Compared("<", s.ZERO, s.Total(s.Name("r")))
    body = (
        s.Flip(ratio(s.Name("g"), s.DRAFT, x, make), (s.Emit((x,)),)),
        s.Let("r", residual(s.Name("g"), s.DRAFT)),
        s.If(positive, (s.Let("g", s.Each("/", s.Name("r"), s.Total(s.Name("r")))),)),
    )
    return s.Let("g", s.TARGET), s.ForDrafts("x", body), s.Draw("y", s.Name("g")), s.Emit((s.Name("y"),))
