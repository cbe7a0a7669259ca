"""The oracle: what a program of the syntax emits, by carrying every state of it forward with its exact mass.

It shares no code and no method with the library: no coin, no path is replayed; a statement takes weighted states to
weighted states. Chances are Fractions, whatever type the program's own arithmetic is done in.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from itertools import product
from math import isfinite
from operator import add, eq, le, lt, mul, sub, truediv
from typing import Any

from proofs_tests.soundness import syntax as s

Env = dict[str, Any]
ORDINARY = {"+": add, "-": sub, "*": mul, "/": truediv, "min": min, "max": max}
RELATIONS = {"<": lt, "<=": le, "==": eq}


class StoppedError(Exception):
    """The program fails on this state."""


@dataclass
class Emitted:
    """What came out: {tokens: mass}; the mass that failed, and the largest gap of a law drawn from.

    It is `unclear` where what is not a number decides, or what is not a chance: each library takes that in its own way.
    """

    law: dict[Any, Fraction] = field(default_factory=dict)
    failed: Fraction = Fraction(0)
    gap: Fraction = Fraction(0)
    coins: int = 0
    unclear: bool = False


def emitted_by(program: s.Block, names: Env, drafts: Sequence[Any], strict: bool, exact: bool) -> Emitted:
    """Run a program on every tuple of drafts, i.i.d. from each of the laws in `drafts`.

    `strict` holds flips to [0, 1] as a coin does, where a comparison with a uniform would not. With `exact`, what is
    rounded on purpose stays as it is.
    """
    found = Emitted()
    shares = [_shares(law) for law in drafts]
    for tokens in product(*(range(len(law)) for law in drafts)):
        mass = Fraction(1)
        for place, token in enumerate(tokens):
            mass *= shares[place][token]
        if mass:
            env = {**names, "tokens": tokens, "": (strict, exact), "#": len(tokens)}
            for left, rest in _run(program, env, mass, found):
                found.failed += rest  # a program that ends without a token returns None
                found.coins = max(found.coins, left["#"])
    return found


def _shares(law: Sequence[Any]) -> list[Fraction]:
    masses = [as_fraction(mass) for mass in law]
    total = sum(masses)
    return [mass / total for mass in masses]


def as_fraction(value: Any) -> Fraction:
    return value if isinstance(value, Fraction) else Fraction(float(value))


def _finite(number: Any) -> bool:
    return isinstance(number, Fraction) or isfinite(number)


def _run(block: s.Block, env: Env, mass: Fraction, found: Emitted) -> list[tuple[Env, Fraction]]:
    """Carry one state through a block; what it emits or fails with goes to `found`, what goes on is returned."""
    states = [(env, mass)]
    for statement in block:
        step = _STEPS[type(statement)]
        after: list[tuple[Env, Fraction]] = []
        for each, weight in states:
            try:
                after += step(statement, each, weight, found)
            except (StoppedError, ZeroDivisionError, IndexError):
                found.failed += weight
                found.coins = max(found.coins, each["#"])
        states = after
    return states


def _let(statement: s.Let, env: Env, mass: Fraction, found: Emitted) -> Any:
    del found
    env[statement.name] = value(statement.value, env)
    return [(env, mass)]


def _flip(statement: s.Flip, env: Env, mass: Fraction, found: Emitted) -> Any:
    raw = value(statement.chance, env)
    if not _finite(raw):
        found.unclear = True
        raise StoppedError
    chance = as_fraction(raw)
    if not 0 <= chance <= 1:
        if env[""][0]:
            raise StoppedError
        found.unclear = True
        chance = min(max(chance, Fraction(0)), Fraction(1))
    result: list[tuple[Env, Fraction]] = []
    if statement.uniform is None:
        env["#"] += 1
        yes, no = dict(env), env
    else:
        low, high = env[statement.uniform]
        cut = min(max(chance, low), high)
        yes, no = {**env, statement.uniform: (low, cut)}, {**env, statement.uniform: (cut, high)}
        chance = (cut - low) / (high - low)
    if chance:
        result += _run(statement.yes, yes, mass * chance, found)
    if chance != 1:
        result += _run(statement.no, no, mass * (1 - chance), found)
    return result


def _draw(statement: s.Draw, env: Env, mass: Fraction, found: Emitted) -> Any:
    raw = value(statement.law, env)
    if not all(_finite(one) and one >= 0 for one in raw):
        found.unclear = True
        raise StoppedError
    masses = [as_fraction(one) for one in raw]
    total = sum(masses)
    if not total:
        raise StoppedError
    if total != 1 and env[""][0] and not env.get("floating") and all(isinstance(one, Fraction) for one in raw):
        raise StoppedError  # exact masses that are not a probability distribution
    found.gap = max(found.gap, abs(total - 1))
    result: list[tuple[Env, Fraction]] = []
    if statement.uniform is None:
        env["#"] += 1
        for token, one in enumerate(masses):
            if one:
                result.append(({**env, statement.name: token}, mass * one / total))
        return result
    low, high = env[statement.uniform]
    start = Fraction(0)
    for token, one in enumerate(masses):
        stop = start + one / total
        left, right = max(low, start), min(high, stop)
        if left < right:
            kept = {**env, statement.name: token, statement.uniform: (left, right)}
            result.append((kept, mass * (right - left) / (high - low)))
        start = stop
    return result


def _uniform(statement: s.Uniform, env: Env, mass: Fraction, found: Emitted) -> Any:
    del found
    env[statement.name] = Fraction(0), Fraction(1)
    env["#"] += 1
    return [(env, mass)]


def _if(statement: s.If, env: Env, mass: Fraction, found: Emitted) -> Any:
    return _run(statement.yes if holds(statement.condition, env) else statement.no, env, mass, found)


def _for_drafts(statement: s.ForDrafts, env: Env, mass: Fraction, found: Emitted) -> Any:
    states = [(env, mass)]
    for token in env["tokens"]:
        after: list[tuple[Env, Fraction]] = []
        for each, weight in states:
            each[statement.name] = token
            after += _run(statement.body, each, weight, found)
        states = after
    return states


def _repeat(statement: s.Repeat, env: Env, mass: Fraction, found: Emitted) -> Any:
    states = [(env, mass)]
    for _ in range(statement.times):
        states = [one for each, weight in states for one in _run(statement.body, each, weight, found)]
    return states


def _emit(statement: s.Emit, env: Env, mass: Fraction, found: Emitted) -> Any:
    tokens = tuple(value(token, env) for token in statement.tokens)
    found.law[tokens] = found.law.get(tokens, Fraction(0)) + mass
    found.coins = max(found.coins, env["#"])
    return []


def _fail(statement: s.Fail, env: Env, mass: Fraction, found: Emitted) -> Any:
    del statement, env, mass, found
    raise StoppedError


_STEPS: dict[type, Callable[[Any, Env, Fraction, Emitted], list[tuple[Env, Fraction]]]] = {
    s.Let: _let,
    s.Flip: _flip,
    s.Draw: _draw,
    s.Uniform: _uniform,
    s.If: _if,
    s.ForDrafts: _for_drafts,
    s.Repeat: _repeat,
    s.Emit: _emit,
    s.Fail: _fail,
}


def holds(condition: Any, env: Env) -> bool:
    left, right = value(condition.left, env), value(condition.right, env)
    return bool(left == right if isinstance(condition, s.Same) else RELATIONS[condition.relation](left, right))


def value(tree: Any, env: Env) -> Any:
    """Evaluate a scalar, a token or a law in the numbers that the names hold."""
    return _VALUES[type(tree)](tree, env)


def _each(tree: s.Each, env: Env) -> list[Any]:
    left, right = value(tree.left, env), value(tree.right, env)
    apply = ORDINARY[tree.sign]
    paired = zip(left, right if isinstance(right, list) else [right] * len(left), strict=True)
    if not env.get("tensors"):
        return [apply(a, b) for a, b in paired]
    # A 0 that is put into a tensor is a number of its type, where in a list it stays Python's own.
    masses = [(a, apply(a, b)) for a, b in paired]
    return [one if type(one) is type(a) else a.new_tensor(float(one)) for a, one in masses]


def _without(tree: s.Without, env: Env) -> list[Any]:
    masses = list(value(tree.law, env))
    token = value(tree.token, env)
    masses[token] = masses[token] * 0
    return masses


def _moved(tree: s.Moved, env: Env) -> list[Any]:
    masses = list(value(tree.law, env))
    part = masses[tree.source] * _number(tree.share, env)
    masses[tree.source] = masses[tree.source] - part
    masses[tree.sink] = masses[tree.sink] + part
    return masses


def _total(tree: s.Total, env: Env) -> Any:
    return sum(value(tree.law, env))


def _permuted(tree: s.Permuted, env: Env) -> list[Any]:
    masses = value(tree.law, env)
    return [masses[i] for i in tree.order]


def _number(number: Fraction, env: Env) -> Any:
    return number if env[""][1] or not env.get("floating", False) else float(number)


_VALUES: dict[type, Callable[[Any, Env], Any]] = {
    s.Number: lambda tree, env: _number(tree.value, env),
    s.Rounded: lambda tree, env: value(tree.value, env) if env[""][1] else float(value(tree.value, env)),
    s.Mass: lambda tree, env: value(tree.law, env)[value(tree.token, env)],
    s.Total: _total,
    s.Both: lambda tree, env: ORDINARY[tree.sign](value(tree.left, env), value(tree.right, env)),
    s.Fixed: lambda tree, env: tree.token,  # noqa: ARG005
    s.Drafted: lambda tree, env: env["tokens"][tree.place],
    s.Mapped: lambda tree, env: tree.by[value(tree.token, env)],
    s.Name: lambda tree, env: env[tree.name],
    s.Each: _each,
    s.Without: _without,
    s.Permuted: _permuted,
    s.Moved: _moved,
    s.Length: lambda tree, env: len(env["prefix"]),  # noqa: ARG005
    s.Listed: lambda tree, env: [value(one, env) for one in tree.values],
    s.Even: lambda tree, env: [_number(Fraction(1, tree.size), env)] * tree.size,
    s.Row: lambda tree, env: [_number(mass, env) for mass in tree.rows[value(tree.token, env)]],
    s.After: lambda tree, env: env[tree.model](tuple(value(token, env) for token in tree.tokens)),
}
