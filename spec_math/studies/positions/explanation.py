"""One verification, step by step: each coin with its uniform and its threshold, as bars and sentences."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from spec_math.arrays import as_laws
from spec_math.recording import Recording, Toss
from spec_math.scheme import Scheme

SHOWN = 16
"""The most masses of a law that a sentence lists."""


@dataclass(frozen=True)
class Step:
    """One coin: what was asked, the uniform that answered, and the answer."""

    kind: str
    asked: str
    uniform: float
    answer: Any
    masses: tuple[float, ...]


@dataclass(frozen=True)
class Explanation:
    """A run of a scheme on one pair of laws: the coins of drafting, the coins of verifying, and the emitted token."""

    drafting: tuple[Step, ...]
    verifying: tuple[Step, ...]
    drafts: tuple[int, ...]
    emitted: int


def explain(scheme: Scheme, target: Any, draft: Any, k: int, uniforms: Iterator[float]) -> Explanation:
    """Run a scheme once on laws [V] with the given uniforms, and keep every coin.

    Raises:
        TypeError, ValueError: as the scheme and `chance.replay`.

    >>> from spec_math import SCHEMES
    >>> found = explain(SCHEMES[0], ["1/4", "3/4"], ["1/2", "1/2"], 1, iter([0.1, 0.7, 0.2]))
    >>> found.drafts, found.verifying[0].asked, found.emitted
    ((0,), '0.7 < 1/2', 1)
    """
    t, d = as_laws(target, draft)
    drafting, verifying = Recording(uniforms), Recording(uniforms)
    drafts = scheme.draw(drafting, d, k)
    emitted = scheme.verify(verifying, drafts, t, d)
    drawn, tested = (tuple(map(_step, coin.tosses)) for coin in (drafting, verifying))
    return Explanation(drawn, tested, drafts, emitted)


def _step(toss: Toss) -> Step:
    if toss.chance is not None:
        asked = f"{toss.uniform:.4g} < {_number(toss.chance)}"
        return Step("flip", asked, toss.uniform, bool(toss.answer), (float(toss.chance),))
    more = f", … {len(toss.masses) - SHOWN:,} more" if len(toss.masses) > SHOWN else ""
    asked = f"draw from ({', '.join(_number(mass) for mass in toss.masses[:SHOWN])}{more})"
    return Step("draw", asked, toss.uniform, toss.answer, tuple(float(mass) for mass in toss.masses))


def shown(value: Any) -> str:
    """Write a probability as a fraction where that is short, with its decimals, else as decimals alone.

    >>> from fractions import Fraction
    >>> shown(Fraction(3, 4)), shown(Fraction(10**30, 3 * 10**30 + 1))
    ('3/4 = 0.750000', '0.333333')
    """
    text = _number(value)
    return f"{text} = {float(value):.6f}" if "/" in text else f"{float(value):.6f}"


def _number(value: Any) -> str:
    """Write a mass as a fraction where that is short."""
    text = str(value)
    return text if not isinstance(value, float) and len(text) <= 15 else f"{float(value):.4g}"
