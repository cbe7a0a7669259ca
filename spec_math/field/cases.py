"""The cases that every engine is judged on: small laws first, then laws that depend on the context, with zeros."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from fractions import Fraction

from spec_math.field.engine import PLAIN, Engine, Options, Text
from spec_math.language.model import Model

Row = tuple[Fraction, ...]


def _row(text: str) -> Row:
    return tuple(Fraction(part) for part in text.split())


@dataclass(frozen=True)
class Laws:
    """Two models by name: their rows of target and draft, after no token and after each token; one row serves all."""

    name: str
    target: tuple[Row, ...]
    draft: tuple[Row, ...]

    @property
    def models(self) -> tuple[Model, Model]:
        """The target's model and the draft's, in floats."""
        return _model(self.target), _model(self.draft)

    def __str__(self) -> str:
        return self.name or f"target {_shown(self.target[0])}, draft {_shown(self.draft[0])}"


def _shown(row: Row) -> str:
    return f"({', '.join(map(str, row))})"


def _model(rows: tuple[Row, ...]) -> Model:
    listed = [[float(mass) for mass in row] for row in rows]

    def law(text: Text) -> list[float]:
        return list(listed[0 if not text or len(listed) == 1 else text[-1] + 1])

    return law


def _pair(target: str, draft: str) -> Laws:
    return Laws("", (_row(target),), (_row(draft),))


SMALL = (
    _pair("1/2 1/2", "1/2 1/2"),
    _pair("1/2 1/2", "3/4 1/4"),
    _pair("1/2 1/2", "1 0"),
    _pair("1/4 3/4", "3/4 1/4"),
    _pair("9/20 11/20", "11/20 9/20"),
    _pair("1/2 1/4 1/4", "0 1/2 1/2"),
    _pair("1/2 3/8 1/8", "1/8 3/8 1/2"),
    _pair("2/5 7/20 1/4", "1/5 1/5 3/5"),
)
"""Laws without context, from which the smallest failing case is taken."""

CONTEXT = Laws(
    "distributions of three tokens that depend on the last one, with zeros",
    tuple(map(_row, ("1/2 3/8 1/8", "0 3/4 1/4", "5/8 0 3/8", "1/16 3/16 3/4"))),
    tuple(map(_row, ("1/4 5/8 1/8", "1/2 3/8 1/8", "0 1/4 3/4", "3/8 5/8 0"))),
)

COINS = Laws(
    "distributions of two tokens that depend on the last one",
    tuple(map(_row, ("1/2 1/2", "1/4 3/4", "5/8 3/8"))),
    tuple(map(_row, ("3/4 1/4", "1/2 1/2", "1/8 7/8"))),
)


@dataclass(frozen=True)
class FieldCase:
    """Laws, the drafts of a round, the options, and the rounds."""

    laws: Laws
    lookahead: int
    options: Options = PLAIN
    rounds: int = 1

    def __str__(self) -> str:
        rounds = f", {self.rounds} rounds" if self.rounds > 1 else ""
        return f"{self.laws}, γ = {self.lookahead}, {self.options}{rounds}"


def choices(engine: Engine) -> list[Options]:
    """Return the options of the sweep that an engine applies itself: T in 1, ½, 0 with no filter, top-k, top-p.

    >>> from spec_math.field.catalogue import named
    >>> choices(named("specdec")[0])
    [Options(temperature=1.0, top_k=None, top_p=None)]
    """
    heats = [1.0, 0.5, 0.0] if "temperature" in engine.options else [1.0]
    heats = [1.0, 0.5] if "temperature > 0" in engine.options else heats
    filters = [PLAIN]
    filters += [Options(top_k=2)] if "top_k" in engine.options else []
    filters += [Options(top_p=0.8)] if "top_p" in engine.options else []
    return [replace(kept, temperature=heat) for heat in heats for kept in filters]


def sweep(engine: Engine) -> Iterator[FieldCase]:
    """Go through the cases of an engine: options and drafts on laws with context, then two rounds.

    >>> from spec_math.field.catalogue import named
    >>> [(case.lookahead, case.rounds) for case in sweep(named("specdec")[0])]
    [(1, 1), (2, 1), (3, 1), (1, 2), (2, 2)]
    """
    if engine.narrow:
        yield FieldCase(SMALL[2], engine.most)
        return
    for options in choices(engine):
        for lookahead in range(1, (engine.most if options == PLAIN else min(2, engine.most)) + 1):
            yield FieldCase(CONTEXT, lookahead, options)
    yield FieldCase(COINS if engine.slow else CONTEXT, 1, PLAIN, 2)
    if engine.most > 1 and not engine.slow:
        yield FieldCase(COINS, 2, PLAIN, 2)


def small(options: Options, most: int, rounds: int = 1) -> Iterator[FieldCase]:
    """Go through the small cases under some options, few drafts first.

    >>> next(small(PLAIN, 2)).lookahead
    1
    """
    for many in range(1, rounds + 1):
        for lookahead in range(1, most + 1):
            for laws in SMALL:
                if options.temperature == 0 and laws.target[0].count(max(laws.target[0])) > 1:
                    continue  # which of two maxima is taken is nobody's law
                yield FieldCase(laws, lookahead, options, many)
