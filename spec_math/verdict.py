"""A verdict is a value with its evidence: Lossless, Lossy or Undecided, Optimal or a bracket.

Source: lossless as in SpecTr, Section 3, valid transport plan; the judge is our own.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from enum import Enum
from typing import Any

import numpy as np

from spec_math.arrays import Array, asarray, count, is_exact, laws, storage, sum_gap
from spec_math.chance import Coin, Path, paths
from spec_math.notebook import BAD, GOOD, card
from spec_math.scheme import Scheme, Tokens, draw_independent, is_index

UNIT = {"float64": 2.0**-53, "float32": 2.0**-24, "float16": 2.0**-11, "bfloat16": 2.0**-8}
"""The unit roundoff of each type that a law may be stored in, and a verifier compute in."""


@dataclass(frozen=True)
class Lossless:
    """The emitted law is the target's: equal as Fractions (bound 0), or to within `bound` in total variation.

    >>> bool(Lossless(paths=3)), Lossless(paths=3)
    (True, Lossless(paths=3, bound=0.0))
    """

    paths: int
    bound: float = 0.0

    def __bool__(self) -> bool:
        return True

    def _repr_html_(self) -> str:
        return card("Lossless", {"paths walked": self.paths, "total variation at most": self.bound}, colour=GOOD)


@dataclass(frozen=True)
class Lossy:
    """The emitted law is not the target's, with a counterexample: a token and both its masses, or a broken path.

    Of a generator of blocks the counterexample is a text, `tokens`, in place of one token.

    >>> print(Lossy("token 0 comes too often", path=("flip(1/2) = True",)))
    Lossy: token 0 comes too often
      on the path: flip(1/2) = True
    """

    reason: str
    token: int | None = None
    emitted: Any = None
    target: Any = None
    total_variation: Any = None
    path: tuple[str, ...] = ()
    tokens: tuple[int, ...] | None = None

    def __bool__(self) -> bool:
        return False

    def __str__(self) -> str:
        where = f"\n  on the path: {', '.join(self.path)}" if self.path else ""
        return f"Lossy: {self.reason}{where}"

    def _repr_html_(self) -> str:
        facts = {"token": self.token, "text": self.tokens, "emitted": self.emitted, "target": self.target}
        known = {**facts, "total variation": self.total_variation, "on the path": ", ".join(self.path) or None}
        return card(f"Lossy: {self.reason}", known, colour=BAD)


class Reason(Enum):
    """Why a verdict was left open, in a form that a program can read."""

    NOT_JUDGED = "not judged"
    """Nothing was decided: every case raised, or it is not known how the function is to be called."""
    ROUNDING = "rounding could explain it"
    """The rounding that the program's own number types allow exceeds what a verdict may forgive."""
    RANDOMNESS_NOT_SEEN = "randomness not seen"
    """The function draws from a source that cannot be followed."""
    BUDGET = "budget spent"
    """The paths that were walked decide nothing, and more were not allowed."""


@dataclass(frozen=True)
class Undecided:
    """Neither lossless nor lossy was shown: `reason` says why, and `explanation` names what stood in the way.

    It is never truthy, so that a test that asks for a lossless verifier fails.

    >>> verdict = Undecided(Reason.RANDOMNESS_NOT_SEEN, "os.urandom was read")
    >>> bool(verdict), str(verdict)
    (False, 'Undecided (randomness not seen): os.urandom was read')
    """

    reason: Reason
    explanation: str
    path: tuple[str, ...] = ()

    def __bool__(self) -> bool:
        return False

    def __str__(self) -> str:
        where = f"\n  on the path: {', '.join(self.path)}" if self.path else ""
        return f"Undecided ({self.reason.value}): {self.explanation}{where}"

    def _repr_html_(self) -> str:
        known = {"why": self.explanation, "on the path": ", ".join(self.path) or None}
        return card(f"Undecided: {self.reason.value}", known)


Verdict = Lossless | Lossy | Undecided
"""What a judge returns; only `Lossless` is truthy."""


@dataclass(frozen=True)
class Optimal:
    """No verifier accepts more: `certificate` shows it to anyone, without a solver.

    >>> Optimal(0.75, certificate=None).acceptance
    0.75
    """

    acceptance: Any
    certificate: Any

    def _repr_html_(self) -> str:
        shown = getattr(self.certificate, "_repr_html_", lambda: "")
        return card("Optimal", {"acceptance": self.acceptance}, shown(), colour=GOOD)


@dataclass(frozen=True)
class Bracket:
    """What is known of a quantity: it lies in [lower, upper].

    >>> Bracket(0.5, 0.75).gap
    0.25
    """

    lower: Any
    upper: Any

    @property
    def gap(self) -> Any:
        """The width of the bracket."""
        return self.upper - self.lower

    def _repr_html_(self) -> str:
        return card("Bracket", {"at least": self.lower, "at most": self.upper, "width": self.gap})


Verifier = Callable[[Coin, Tokens, Array, Array], int]


def check_lossless(verifier: Scheme | Verifier, target: Any, draft: Any, k: int = 1) -> Lossless | Lossy:
    """Decide whether a verifier of one position emits the target's law, by walking every path of it.

    The law: Σ over drafts and coins of P(drafts) · P(emitted = y | drafts) = t(y) for every token y. A Scheme drafts as
    it says; a function verify(coin, tokens, target, draft) is given k i.i.d. drafts. Laws [V]; with Fractions the
    verdict is exact. A verifier that breaks (negative masses, masses that are no law, an exception, a token out of
    range) is Lossy, with its reason and path.

    Raises:
        TypeError, ValueError: target or draft is no law, or k no count. Never for what the verifier does.

    >>> def hopeful(coin, tokens, target, draft):
    ...     return tokens[0]
    >>> verdict = check_lossless(hopeful, ["1/4", "3/4"], ["1/2", "1/2"])
    >>> verdict.token, verdict.emitted, verdict.target
    (0, Fraction(1, 2), Fraction(1, 4))
    """
    t, d = laws(target, draft)
    if t.ndim != 1:
        raise ValueError(f"check_lossless judges one position, laws of shape [V]; got {tuple(t.shape)}")
    k = count(k)
    draw, verify = (verifier.draw, verifier.verify) if isinstance(verifier, Scheme) else (draw_independent, verifier)
    drafts: list[Tokens] = []
    # The verifier gets its laws in the type they are stored in, since it checks them against that type's bound.
    stored_target, stored_draft = asarray(target), asarray(draft)

    def program(coin: Coin) -> Any:
        tokens = draw(coin, _copy(stored_draft), k)
        drafts[:] = [tokens]
        # Fresh copies: a verifier that writes into its laws must not spoil the next path.
        return verify(coin, tokens, _copy(stored_target), _copy(stored_draft))

    unit = 0.0 if is_exact(t) else max(UNIT.get(storage(law), UNIT["float64"]) for law in (stored_target, stored_draft))
    gap = 0.0 if is_exact(t) else float(sum_gap(t)) + float(sum_gap(d))
    return _judged(program, t.tolist(), drafts, (unit, gap))


def _judged(
    program: Callable[[Coin], Any], target: list[Any], drafts: list[Tokens], rounding: tuple[float, float]
) -> Lossless | Lossy:
    emitted: list[Any] = [mass - mass for mass in target]
    walked, depth = 0, 0
    walk = paths(program)
    while True:
        drafts.clear()
        try:
            path = next(walk)
        except StopIteration:
            break
        except Exception as error:  # whatever a verifier raises is evidence against it
            # A StopIteration arrives wrapped, as the cause of another exception.
            notes = getattr(error, "__notes__", None) or getattr(error.__cause__, "__notes__", ())
            place = tuple(note.removeprefix("on the path: ") for note in notes)
            return Lossy(f"{type(error).__name__} for the drafts {_shown(drafts)}: {error}", path=place)
        walked, depth = walked + 1, max(depth, len(path.choices))
        broken = _broken(path, len(target))
        if broken is not None:
            return broken
        emitted[int(path.outcome)] += path.mass
    return _compared(emitted, target, walked, _float_bound(len(target), walked, depth, rounding))


def _broken(path: Path, size: int) -> Lossy | None:
    token: Any = path.outcome
    if not is_index(token):
        return Lossy(f"emitted {token!r}, which is no token index", path=path.choices)
    if not 0 <= token < size:
        return Lossy(f"emitted the token {token}, outside 0..{size - 1}", token=int(token), path=path.choices)
    return None


def _compared(emitted: list[Any], target: list[Any], walked: int, bound: float) -> Lossless | Lossy:
    gaps = [abs(mass - wanted) for mass, wanted in zip(emitted, target, strict=True)]
    distance = sum(gaps) / 2
    if distance <= bound:
        return Lossless(walked, bound)
    token = max(range(len(gaps)), key=gaps.__getitem__)
    return Lossy(
        f"token {token} is emitted with probability {emitted[token]} where the target has {target[token]} "
        f"(total variation {distance})",
        token=token,
        emitted=emitted[token],
        target=target[token],
        total_variation=distance,
    )


def _float_bound(size: int, walked: int, depth: int, rounding: tuple[float, float]) -> float:
    """Bound the rounding of an enumerated float program in total variation; 0 for an exact one.

    A coin's law is a quotient of sums of at most V masses: a relative error of V + 8 unit roundoffs at most. A residual
    of a residual inherits the error of the one before it, weighted by the chance to get there: the i-th coin adds at
    most i times as much, `depth` coins depth² times. Each coin also adds the gaps of the two laws' own sums. The masses
    of the paths are added one by one in float64.
    """
    unit, gap = rounding
    return depth * (depth * (size + 8) * unit + gap) + (walked * UNIT["float64"] if unit else 0.0)


def _copy(x: Array) -> Array:
    return x.copy() if isinstance(x, np.ndarray) else x.clone()


def _shown(drafts: list[Tokens]) -> str:
    return str(drafts[0]) if drafts else "(none drawn yet)"
