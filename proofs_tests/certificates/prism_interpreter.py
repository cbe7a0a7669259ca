"""An interpreter of a part of PRISM's language: the exact probability of each label of a Markov chain, in Fractions.

It reads one module of a dtmc: bounded integers, commands without synchronisation, labels. It shares no code with the
library, and imports nothing of it.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from fractions import Fraction
from typing import Any

State = tuple[int, ...]
Value = Callable[[dict[str, int]], Any]
"""An expression of the variables."""

TOKEN = re.compile(
    r"""\s*(//[^\n]*|\d+\.\d+|\d+|[A-Za-z_]\w*'?|"[A-Za-z_]\w*"|->|\.\.|!=|<=|>=|[\[\]():;=<>&|!+*/-])"""
)

LARGEST = 2**31 - 1
"""PRISM reads whole numbers of 32 bits; a larger one must be written as a decimal number."""


class PrismError(ValueError):
    """A text that is no model of this part of the language, or a model that is no Markov chain."""


class Chain:
    """A Markov chain as it is written: variables with their ranges, commands, labels.

    >>> chain = Chain('dtmc module m s : [0..1] init 0; [] s=0 -> 1/4 : (s\\'=0) + 3/4 : (s\\'=1);'
    ...               ' [] s=1 -> (s\\'=1); endmodule label "there" = s=1;')
    >>> chain.reached("there")
    Fraction(1, 1)
    """

    def __init__(self, text: str) -> None:
        self._words, self._at = _words(text), 0
        self.variables: dict[str, tuple[int, int, int]] = {}
        self.commands: list[tuple[Value, list[tuple[Value, list[tuple[str, Value]]]]]] = []
        self.labels: dict[str, Value] = {}
        self._read()
        self.rows = self._explored()

    def reached(self, label: str) -> Fraction:
        """Return P(a state with this label is reached), as P=? [F "label"] has it: the system solved exactly."""
        if label not in self.labels:
            raise PrismError(f"the model has no label {label!r}")
        goal = {state for state in self.rows if self.labels[label](self._named(state))}
        # A state from which the goal is out of reach has probability 0; without it the system has one solution.
        before: dict[State, set[State]] = {}
        for state, row in self.rows.items():
            for after in row:
                before.setdefault(after, set()).add(state)
        can, waiting = set(goal), list(goal)
        while waiting:
            for state in before.get(waiting.pop(), set()) - can:
                can.add(state)
                waiting.append(state)
        # x[s] = constant + Σ p x[after]; one unknown is put into the equations of those before it, the last first.
        order = [state for state in self.rows if state in can and state not in goal]
        equations = {
            state: {a: p for a, p in self.rows[state].items() if a in can and a not in goal} for state in order
        }
        constants = {state: sum((p for a, p in self.rows[state].items() if a in goal), Fraction(0)) for state in order}
        solved: list[State] = []
        for state in reversed(order):
            mine = equations[state]
            stays = 1 - mine.pop(state, Fraction(0))
            equations[state] = mine = {after: p / stays for after, p in mine.items()}
            constants[state] /= stays
            for other in before.get(state, ()):
                share = equations[other].pop(state, None) if other in equations and other != state else None
                if share is not None:
                    constants[other] += share * constants[state]
                    for after, p in mine.items():
                        equations[other][after] = equations[other].get(after, Fraction(0)) + share * p
                        before.setdefault(after, set()).add(other)
            solved.append(state)
        values = {state: Fraction(1) for state in goal}
        for state in reversed(solved):
            values[state] = constants[state] + sum((p * values[a] for a, p in equations[state].items()), Fraction(0))
        return values.get(self._first, Fraction(0))

    def distribution(self) -> dict[str, Fraction]:
        """Return the probability of each label."""
        return {label: self.reached(label) for label in self.labels}

    def _named(self, state: State) -> dict[str, int]:
        return dict(zip(self.variables, state, strict=True))

    def _explored(self) -> dict[State, dict[State, Fraction]]:
        """Walk the states that are reached; hold each row to be a probability distribution."""
        self._first = tuple(first for _, _, first in self.variables.values())
        rows: dict[State, dict[State, Fraction]] = {}
        waiting = [self._first]
        while waiting:
            state = waiting.pop()
            if state in rows:
                continue
            named = self._named(state)
            enabled = [updates for guard, updates in self.commands if guard(named)]
            if len(enabled) != 1:
                raise PrismError(f"state {named} enables {len(enabled)} commands; a Markov chain needs exactly one")
            row: dict[State, Fraction] = {}
            for weight, updates in enabled[0]:
                mass = Fraction(weight(named))
                if mass < 0:
                    raise PrismError(f"state {named} has the negative probability {mass}")
                new = {**named, **{name: value(named) for name, value in updates}}
                for name, (low, high, _) in self.variables.items():
                    if not low <= new[name] <= high:
                        raise PrismError(f"{name} leaves its range {low}..{high} in state {named}")
                if mass:
                    after = tuple(new.values())
                    row[after] = row.get(after, Fraction(0)) + mass
            if sum(row.values()) != 1:
                raise PrismError(f"the probabilities in state {named} sum to {sum(row.values())}")
            rows[state] = row
            waiting.extend(row)
        return rows

    # The grammar, by recursive descent.

    def _read(self) -> None:
        self._take("dtmc")
        self._take("module")
        _ = self._name()
        while self._next() not in ("[", "endmodule"):
            name = self._name()
            self._take(":", "[")
            low = self._whole()
            self._take("..")
            high = self._whole()
            self._take("]", "init")
            self.variables[name] = low, high, self._whole()
            self._take(";")
        while self._next() == "[":
            self._take("[", "]")
            guard = self._or()
            self._take("->")
            self.commands.append((guard, self._updates()))
            self._take(";")
        self._take("endmodule")
        while self._next() is not None:
            self._take("label")
            name = self._word()
            if not name.startswith('"') or name[1:-1] in self.labels:
                raise PrismError(f"{name} is no new label")
            self._take("=")
            self.labels[name[1:-1]] = self._or()
            self._take(";")

    def _updates(self) -> list[tuple[Value, list[tuple[str, Value]]]]:
        found: list[tuple[Value, list[tuple[str, Value]]]] = []
        while True:
            start, weight = self._at, _one
            # One update without a probability has probability 1.
            if not (self._next() == "(" and self._words[self._at + 1].endswith("'")):
                weight = self._sum()
                self._take(":")
            elif found:
                raise PrismError(f"an update without its probability: {self._words[start : start + 5]}")
            changes: list[tuple[str, Value]] = []
            while True:
                self._take("(")
                name = self._word()
                if not name.endswith("'") or name[:-1] not in self.variables:
                    raise PrismError(f"{name} is no variable's next value")
                self._take("=")
                changes.append((name[:-1], self._sum()))
                self._take(")")
                if self._next() != "&":
                    break
                self._take("&")
            found.append((weight, changes))
            if self._next() != "+":
                return found
            self._take("+")

    def _or(self) -> Value:
        parts = [self._and()]
        while self._next() == "|":
            self._take("|")
            parts.append(self._and())
        return parts[0] if len(parts) == 1 else lambda named: any(part(named) for part in parts)

    def _and(self) -> Value:
        parts = [self._compared()]
        while self._next() == "&":
            self._take("&")
            parts.append(self._compared())
        return parts[0] if len(parts) == 1 else lambda named: all(part(named) for part in parts)

    def _compared(self) -> Value:
        if self._next() == "!":
            self._take("!")
            negated = self._compared()
            return lambda named: not negated(named)
        left = self._sum()
        if self._next() not in COMPARED:
            return left
        compare, right = COMPARED[self._word()], self._sum()
        return lambda named: compare(left(named), right(named))

    def _sum(self) -> Value:
        value = self._product()
        while self._next() == "-" or (self._next() == "+" and not self._update_follows()):
            sign, other = (1 if self._word() == "+" else -1), self._product()
            value = _added(value, other, sign)
        return value

    def _update_follows(self) -> bool:
        return self._words[self._at + 1] == "(" and self._words[self._at + 2].endswith("'")

    def _product(self) -> Value:
        value = self._factor()
        while self._next() in ("*", "/"):
            value = _times(value, self._factor()) if self._word() == "*" else _divided(value, self._factor())
        return value

    def _factor(self) -> Value:
        word = self._word()
        if word == "(":
            value = self._or()
            self._take(")")
            return value
        if word[0].isdigit():
            if "." not in word and int(word) > LARGEST:
                raise PrismError(f"{word} needs more than 32 bits; PRISM refuses it")
            number = Fraction(word)
            return lambda _: number
        if word in ("true", "false"):
            return lambda _: word == "true"
        if word not in self.variables:
            raise PrismError(f"{word!r} is no variable")
        return lambda named: named[word]

    def _next(self) -> str | None:
        return self._words[self._at] if self._at < len(self._words) else None

    def _word(self) -> str:
        found = self._next()
        if found is None:
            raise PrismError("the model ends too early")
        self._at += 1
        return found

    def _take(self, *wanted: str) -> None:
        for word in wanted:
            found = self._word()
            if found != word:
                raise PrismError(f"{word!r} is missing; there is {found!r}")

    def _name(self) -> str:
        found = self._word()
        if not found.isidentifier():
            raise PrismError(f"{found!r} is no name")
        return found

    def _whole(self) -> int:
        return int(self._word())


COMPARED: dict[str | None, Callable[[Any, Any], bool]] = {
    "=": lambda one, other: one == other,
    "!=": lambda one, other: one != other,
    "<": lambda one, other: one < other,
    "<=": lambda one, other: one <= other,
    ">": lambda one, other: one > other,
    ">=": lambda one, other: one >= other,
}


def _one(_: dict[str, int]) -> Fraction:
    return Fraction(1)


def _added(one: Value, other: Value, sign: int) -> Value:
    return lambda named: one(named) + sign * other(named)


def _times(one: Value, other: Value) -> Value:
    return lambda named: one(named) * other(named)


def _divided(one: Value, other: Value) -> Value:
    return lambda named: Fraction(one(named)) / Fraction(other(named))


def _words(text: str) -> list[str]:
    found: list[str] = []
    at, text = 0, text.rstrip()
    while at < len(text):
        match = TOKEN.match(text, at)
        if match is None:
            raise PrismError(f"this is no word of the language: {text[at : at + 20]!r}")
        if not match[1].startswith("//"):
            found.append(match[1])
        at = match.end()
    return found
