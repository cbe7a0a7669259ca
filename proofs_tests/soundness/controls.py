"""Judges that are unsound on purpose, each made of the library's by one change: the hunt convicts every one of them.

Each hands the library another function, other laws or another budget, or changes what it says. A control that the hunt
did not convict would show what the hunt cannot see.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any

import numpy as np
from rich.console import Console
from rich.table import Table

from proofs_tests.soundness.hunt import LIBRARY, Judges, drawn, prepared, tried
from proofs_tests.soundness.token_cases import Case
from spec_math.verdict import Lossless, Lossy, Reason, Undecided

MOST = 100_000
"""Within so many cases each is convicted."""


@dataclass(frozen=True)
class Control:
    """An unsound judge; the stream that it is tried on, and which of its cases its fault could show in."""

    name: str
    judges: Judges
    stream: str
    relevant: Callable[[Any], bool] = lambda case: isinstance(case, Case) and case.kind == "check_lossless"


def _said(change: Callable[[Any], Any]) -> Judges:
    """Change what the library says of a program of coins."""
    return replace(LIBRARY, coin=lambda *asked: change(LIBRARY.coin(*asked)))


def _called(change: Callable[[Any], Any]) -> Judges:
    """Change the program of coins that the library is given."""
    return replace(LIBRARY, coin=lambda fn, *asked: LIBRARY.coin(change(fn), *asked))


class _OtherCoin:
    """A coin with another reading of what it is asked for."""

    def __init__(self, coin: Any, flip: Callable[[Any], Any], draw: Callable[[list[Any]], list[Any]]) -> None:
        self._coin, self._flip, self._draw = coin, flip, draw

    def flip(self, p: Any) -> bool:
        return self._coin.flip(self._flip(p))

    def draw(self, masses: Any) -> int:
        return self._coin.draw(self._draw([float(m) if not isinstance(m, Fraction) else m for m in masses]))


def _with_coin(flip: Callable[[Any], Any], draw: Callable[[list[Any]], list[Any]]) -> Judges:
    def changed(fn: Any) -> Any:
        return lambda coin, tokens, target, draft: fn(_OtherCoin(coin, flip, draw), tokens, target, draft)

    return _called(changed)


# What is said.


def _forgives_more(verdict: Any) -> Any:
    """Forgive floats a hundred times what rounding explains, some 12 roundoffs of float32 a coin; nothing if exact."""
    wide = min(100 * 3 * 12 * 2.0**-24, 1e-4)
    off = verdict.total_variation if isinstance(verdict, Lossy) else None
    return Lossless(1, wide, verdict.drafts) if isinstance(off, float) and off <= wide else verdict


def _tolerates(verdict: Any) -> Any:
    if isinstance(verdict, Lossy) and verdict.total_variation is not None and verdict.total_variation <= 1e-3:
        return Lossless(1, drafts=verdict.drafts)
    return verdict


def _looks_at_even_tokens(verdict: Any) -> Any:
    return Lossless(1, drafts=verdict.drafts) if isinstance(verdict, Lossy) and (verdict.token or 0) % 2 else verdict


def _tells_other_masses(verdict: Any) -> Any:
    return replace(verdict, emitted=verdict.target, target=verdict.emitted) if isinstance(verdict, Lossy) else verdict


# What the library is given.


def _ignores_exceptions(fn: Any) -> Any:
    def quiet(coin: Any, tokens: Any, target: Any, draft: Any) -> Any:
        try:
            return fn(coin, tokens, target, draft)
        except RuntimeError:
            return coin.draw(target)

    return quiet


def _no_division(masses: list[Any]) -> list[Any]:
    """Take what a law lacks from its last token, or give it there, in place of dividing by the sum."""
    rest = 1 - sum(masses[:-1])
    return [*masses[:-1], rest] if rest >= 0 else masses


class _ByPlace(Fraction):
    """A mass told from others by the place that it was read at: two of one size are two, as symbols once were."""

    place: tuple[str, int]

    def __eq__(self, other: object) -> bool:
        if isinstance(other, _ByPlace) and other.place != self.place:
            return False
        return Fraction.__eq__(self, other)

    def __hash__(self) -> int:
        return hash(self.place)


def _by_place(law: Any, name: str) -> Any:
    if np.asarray(law).dtype != object:
        return law
    masses = np.array([_ByPlace(mass) for mass in law], dtype=object)
    for number, mass in enumerate(masses):
        mass.place = (name, number)
    return masses


def _hashes_by_index(fn: Any) -> Any:
    return lambda coin, tokens, t, d: fn(coin, tokens, _by_place(t, "target"), _by_place(d, "draft"))


def _drops_flip(p: Any) -> Any:
    return p * 0 if p < 1e-3 else p * 0 + 1 if p > 0.999 else p


def _drops_small(masses: list[Any]) -> list[Any]:
    kept = [mass if mass >= 1e-3 else mass * 0 for mass in masses]
    return [mass / sum(kept) for mass in kept]


def _one_draft(fn: Any, target: Any, draft: Any, k: int | None = None) -> Any:
    """Judge one draft, and take that for the number that was asked for."""
    verdict = LIBRARY.coin(fn, target, draft, 1)
    return replace(verdict, drafts=(k or 3,)) if verdict else LIBRARY.coin(fn, target, draft, k)


def _stops_early(*asked: Any, **how: Any) -> Any:
    verdict = LIBRARY.sampler(*asked, **{**how, "budget": 2})
    return Lossless(2) if isinstance(verdict, Undecided) and verdict.reason is Reason.BUDGET else verdict


def _does_not_watch(fn: Any, *laws: Any, **how: Any) -> Any:
    """Take one source of random numbers for a constant, as it is for who looks at one run."""
    names = fn.__globals__
    real = names["random"]
    names["random"] = _Constant(real)
    try:
        return LIBRARY.sampler(fn, *laws, **how)
    finally:
        names["random"] = real


class _Constant:
    def __init__(self, module: Any) -> None:
        self._module = module

    def __getattr__(self, name: str) -> Any:
        return (lambda: 0.375) if name == "random" else getattr(self._module, name)


def _sized(case: Any) -> bool:
    return isinstance(case, Case) and case.kind == "check_lossless" and bool(case.defect)


CONTROLS = (
    Control("the allowance a hundred times as wide", _said(_forgives_more), "coin", _sized),
    Control("laws compared within 1e-3", _said(_tolerates), "coin", _sized),
    Control("every second token looked at", _said(_looks_at_even_tokens), "coin", _sized),
    Control("the two masses of a counterexample exchanged", _said(_tells_other_masses), "coin", _sized),
    Control("exceptions passed over", _called(_ignores_exceptions), "coin", _sized),
    Control(
        "draws not divided by their sum",
        _with_coin(lambda p: p, _no_division),
        "coin",
        lambda case: _sized(case) and case.defect in ("sums_off", "one_mass_off"),
    ),
    Control("paths of small mass dropped", _with_coin(_drops_flip, _drops_small), "coin", _sized),
    Control(
        "masses compared and hashed by their index",
        _called(_hashes_by_index),
        "coin",
        lambda case: _sized(case) and case.defect == "only_where",
    ),
    Control(
        "one draft judged, whatever k is",
        replace(LIBRARY, coin=_one_draft),
        "coin",
        lambda case: _sized(case) and case.defect == "wrong_later_draft",
    ),
    Control(
        "target and draft exchanged",
        replace(LIBRARY, coin=lambda fn, target, draft, k=None: LIBRARY.coin(fn, draft, target, k)),
        "coin",
    ),
    Control(
        "the first token of a block alone",
        replace(LIBRARY, block=lambda fn, model, _, rounds: LIBRARY.block(fn, model, 1, rounds)),
        "coin",
        lambda case: not isinstance(case, Case) and bool(case.defect) and case.horizon > 1,
    ),
    Control(
        "a budget that is spent called lossless",
        replace(LIBRARY, sampler=_stops_early),
        "python",
        lambda case: bool(case.defect),
    ),
    Control(
        "a source of random numbers not watched", replace(LIBRARY, sampler=_does_not_watch), "python", lambda _: True
    ),
)


def convicted_after(control: Control, seed: int, most: int, only_relevant: bool = True) -> tuple[int, str] | None:
    """Return after how many cases an unsound judge is convicted, and by what; None where it is not."""
    torch, judged = prepared(control.stream), 0
    with np.errstate(all="ignore"):
        for number in range(100 * most):
            case = drawn(seed, control.stream, number, torch)
            if only_relevant and not control.relevant(case):
                continue
            judged += 1
            fault = tried(case, control.judges)[1]
            # One that breaks down has not been convicted of a verdict.
            if fault and not fault.startswith("the judge raised") and not tried(case)[1]:
                return judged, fault
            if judged == most:
                return None
    return None


def convicted(seed: int, console: Console) -> int:
    """Try each unsound judge on the cases as they come, and print after how many it is convicted."""
    table = Table("unsound judge", "convicted after", "by")
    free = 0
    for control in CONTROLS:
        found = convicted_after(control, seed, MOST, only_relevant=False)
        free += found is None
        table.add_row(control.name, f"{found[0]:,} cases" if found else "NOT CONVICTED", found[1][:90] if found else "")
    console.print(table)
    return bool(free)
