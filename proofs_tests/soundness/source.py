"""Programs of the syntax as Python source: against a coin, or with the random numbers of a library."""

from __future__ import annotations

import random
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np

from proofs_tests.soundness import syntax as s

Phrase = Callable[[str], str]


@dataclass(frozen=True)
class Dialect:
    """How a program is written: `flips` and `draws` are ways to ask, of which one is chosen at each place.

    `arrays` names the module whose arrays the laws are, or is empty where they are taken apart into lists. `floating`
    writes constants as floats, `several` a single token as a list of one. `uniforms` make a number that is kept.
    """

    flips: Sequence[Phrase]
    draws: Sequence[Phrase]
    evens: Sequence[Phrase]
    uniforms: Sequence[str] = ()
    arrays: str = ""
    floating: bool = False
    head: str = "def verify(coin, tokens, target, draft):"
    before: Sequence[str] = ()
    several: bool = False


COIN_LISTS = Dialect([lambda p: f"coin.flip({p})"], [lambda m: f"coin.draw({m})"], [])


def written(program: s.Block, dialect: Dialect, rng: random.Random) -> str:
    """Return a program as the source of one function."""
    return "\n".join([dialect.head, *_Writer(dialect, rng).body(program, 1, list(dialect.before)), ""])


def compiled(text: str, names: dict[str, Any]) -> Callable[..., Any]:
    """Make the function of a source, with the names that it needs from outside."""
    space: dict[str, Any] = {"__name__": "drawn", **names, **OWN_NAMES}
    exec(compile(text, "<drawn>", "exec"), space)
    return space["verify"]


def _moved(law: Any, source: int, sink: int, share: Any) -> Any:
    masses = list(law)
    part = masses[source] * share
    masses[source] = masses[source] - part
    masses[sink] = masses[sink] + part
    return masses if isinstance(law, list) else _like(law, masses)


def _without(law: Any, token: int) -> Any:
    masses = [mass * 0 if place == token else mass for place, mass in enumerate(law)]
    return masses if isinstance(law, list) else _like(law, masses)


def _like(law: Any, masses: Any) -> Any:
    if not hasattr(law, "new_tensor"):
        return np.array(masses, dtype=law.dtype)
    import torch

    return torch.tensor([float(mass) for mass in masses], dtype=law.dtype)


def _inverse(law: Any, uniform: Any) -> int:
    reached: Any = 0
    for token, mass in enumerate(law):
        reached = reached + mass
        if uniform < reached:
            return token
    return len(law) - 1


def _subtracted(law: Any, uniform: Any) -> int:
    for token, mass in enumerate(law):
        uniform = uniform - mass
        if uniform < 0:
            return token
    return len(law) - 1


def _unit(law: Any) -> Any:
    masses = np.array([float(mass) for mass in law])
    return masses / masses.sum()


OWN_NAMES = {
    "unit": _unit,
    "F": Fraction,
    "moved": _moved,
    "without": _without,
    "inverse": _inverse,
    "subtracted": _subtracted,
    "like": _like,
}


class _Writer:
    def __init__(self, dialect: Dialect, rng: random.Random) -> None:
        self.dialect, self.rng = dialect, rng

    def body(self, block: s.Block, depth: int, lines: list[str] | None = None) -> list[str]:
        indent = "    " * depth
        result = [indent + line for line in lines or ()]
        for statement in block:
            result += self.statement(statement, depth, indent)
        return result or [indent + "pass"]

    def statement(self, statement: Any, depth: int, indent: str) -> list[str]:
        match statement:
            case s.Let(name, value):
                return [f"{indent}{name} = {self.value(value)}"]
            case s.Flip(chance, yes, no, uniform):
                return self.forked(self.flip(chance, uniform), yes, no, depth)
            case s.If(condition, yes, no):
                return self.forked(self.condition(condition), yes, no, depth)
            case s.Draw(name, law, uniform):
                return [f"{indent}{name} = {self.draw(law, uniform)}"]
            case s.Uniform(name):
                return [f"{indent}{name} = {self.rng.choice(self.dialect.uniforms)}"]
            case s.ForDrafts(name, body):
                return [f"{indent}for {name} in {self.drafts()}:", *self.body(body, depth + 1)]
            case s.Repeat(times, body):
                return [f"{indent}for _ in range({times}):", *self.body(body, depth + 1)]
            case s.Emit(tokens):
                return [f"{indent}return {self.emitted(tokens)}"]
            case s.Fail(returns):
                return [f"{indent}return {returns}" if returns else f"{indent}raise RuntimeError('drawn to fail')"]
            case _:
                raise TypeError(statement)

    def forked(self, condition: str, yes: s.Block, no: s.Block, depth: int) -> list[str]:
        indent = "    " * depth
        lines = [f"{indent}if {condition}:", *self.body(yes, depth + 1)]
        return [*lines, f"{indent}else:", *self.body(no, depth + 1)] if no else lines

    def flip(self, chance: Any, uniform: str | None) -> str:
        if uniform is not None:
            return f"{uniform} < {self.value(chance)}"
        return self.rng.choice(self.dialect.flips)(self.value(chance))

    def draw(self, law: Any, uniform: str | None) -> str:
        if uniform is not None:
            return f"inverse({self.value(law)}, {uniform})"
        if isinstance(law, s.Even) and self.dialect.evens:
            return self.rng.choice(self.dialect.evens)(str(law.size))
        return self.rng.choice(self.dialect.draws)(self.value(law))

    def drafts(self) -> str:
        return "tokens" if "coin" in self.dialect.head else "map(int, tokens)"

    def emitted(self, tokens: tuple[Any, ...]) -> str:
        listed = [self.value(token) for token in tokens]
        if "prefix" in self.dialect.head:
            return f"({', '.join(listed)},)"
        return listed[0] if len(listed) == 1 and not self.dialect.several else f"[{', '.join(listed)}]"

    def condition(self, condition: Any) -> str:
        relation = "==" if isinstance(condition, s.Same) else condition.relation
        return f"{self.value(condition.left)} {relation} {self.value(condition.right)}"

    def number(self, value: Fraction) -> str:
        if value.denominator == 1:
            return str(value)
        return repr(float(value)) if self.dialect.floating else f"F({value.numerator}, {value.denominator})"

    def value(self, tree: Any) -> str:
        match tree:
            case s.Number(value):
                return self.number(value)
            case s.Rounded(value):
                return f"float({self.value(value)})"
            case s.Mass(law, token):
                return f"{self.value(law)}[{self.value(token)}]"
            case s.Total(law):
                return f"{self.value(law)}.sum()" if self.dialect.arrays else f"sum({self.value(law)})"
            case s.Both(sign, left, right):
                a, b = self.value(left), self.value(right)
                return f"{sign}({a}, {b})" if sign in ("min", "max") else f"({a} {sign} {b})"
            case s.Fixed(token):
                return str(token)
            case s.Drafted(place):
                return f"tokens[{place}]" if "coin" in self.dialect.head else f"int(tokens[{place}])"
            case s.Mapped(token, by):
                return f"{by}[{self.value(token)}]"
            case s.Name(name):
                return name
            case s.Length():
                return "len(prefix)"
            case s.Listed(values):
                return f"[{', '.join(map(self.value, values))}]"
            case s.Each():
                return self.each(tree)
            case s.Without(law, token):
                return f"without({self.value(law)}, {self.value(token)})"
            case s.Permuted(law, order):
                if self.dialect.arrays:
                    return f"{self.value(law)}[{list(order)}]"
                return f"[{self.value(law)}[i] for i in {order}]"
            case s.Moved(law, source, sink, share):
                return f"moved({self.value(law)}, {source}, {sink}, {self.number(share)})"
            case s.Row(rows, token):
                return self.row(rows, token)
            case s.Even(size):
                shown = f"([{self.number(Fraction(1, size))}] * {size})"
                return f"like({self.model()}, {shown})" if self.dialect.arrays else shown
            case s.After(model, tokens) if "prefix" not in self.dialect.head:
                return f"{model.removesuffix('_model')}[{len(tokens)}]"
            case s.After(model, tokens):
                added = "".join(f"{self.value(token)}, " for token in tokens)
                return f"{model}(prefix + ({added}))" if tokens else f"{model}(prefix)"
            case _:
                raise TypeError(tree)

    def model(self) -> str:
        return "target_model(prefix)" if "prefix" in self.dialect.head else "target"

    def row(self, rows: Any, token: Any) -> str:
        shown = ", ".join("[" + ", ".join(map(self.number, row)) + "]" for row in rows)
        picked = f"[{shown}][{self.value(token)}]"
        return f"like({self.model()}, {picked})" if self.dialect.arrays else picked

    def each(self, tree: s.Each) -> str:
        left, right, sign = self.value(tree.left), self.value(tree.right), tree.sign
        scalar = isinstance(tree.right, s.Number | s.Both | s.Mass | s.Total | s.Rounded) or (
            isinstance(tree.right, s.Name) and tree.right.name.startswith("scalar")
        )
        if self.dialect.arrays == "torch" and sign in ("min", "max"):
            if scalar:
                return f"torch.clamp({left}, {'max' if sign == 'min' else 'min'}={right})"
            return f"torch.{sign}imum({left}, {right})"
        if self.dialect.arrays and sign in ("min", "max"):
            return f"np.{sign}imum({left}, {right})"
        if self.dialect.arrays:
            return f"({left} {sign} {right})"
        a = f"{sign}(a, b)" if sign in ("min", "max") else f"a {sign} b"
        if scalar:
            return f"[{a} for a in {left} for b in ({right},)]"
        return f"[{a} for a, b in zip({left}, {right})]"
