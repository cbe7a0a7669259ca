"""A verdict is a value with its evidence: Lossless or Lossy, Optimal or a bracket."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from spec_math.arrays import Array, count, is_exact, laws, sum_gap
from spec_math.chance import Coin, Path, paths
from spec_math.scheme import Scheme, Tokens, draw_independent, is_index

UNIT = 2.0**-53
"""The unit roundoff of float64."""


@dataclass(frozen=True)
class Lossless:
    """The emitted law is the target's: equal as Fractions (bound 0), or to within `bound` in total variation."""

    paths: int
    bound: float = 0.0

    def __bool__(self) -> bool:
        return True


@dataclass(frozen=True)
class Lossy:
    """The emitted law is not the target's, with a counterexample: a token and both its masses, or a broken path.

    Of a generator of blocks the counterexample is a text, `tokens`, in place of one token.
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


@dataclass(frozen=True)
class Optimal:
    """No verifier accepts more: `certificate` shows it to anyone, without a solver."""

    acceptance: Any
    certificate: Any


@dataclass(frozen=True)
class Bracket:
    """What is known of a quantity: it lies in [lower, upper]."""

    lower: Any
    upper: Any

    @property
    def gap(self) -> Any:
        """The width of the bracket."""
        return self.upper - self.lower


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

    def program(coin: Coin) -> Any:
        tokens = draw(coin, d.copy(), k)
        drafts[:] = [tokens]
        # Fresh copies: a verifier that writes into its laws must not spoil the next path.
        return verify(coin, tokens, t.copy(), d.copy())

    return _judged(program, t, d, drafts)


def _judged(program: Callable[[Coin], Any], t: Array, d: Array, drafts: list[Tokens]) -> Lossless | Lossy:
    emitted: list[Any] = [t[0] - t[0] for _ in range(len(t))]
    walked, depth = 0, 0
    walk = paths(program)
    while True:
        drafts.clear()
        try:
            path = next(walk)
        except StopIteration:
            break
        except Exception as error:  # whatever a verifier raises is evidence against it
            place = tuple(note.removeprefix("on the path: ") for note in getattr(error, "__notes__", ()))
            return Lossy(f"{type(error).__name__} for the drafts {_shown(drafts)}: {error}", path=place)
        walked, depth = walked + 1, max(depth, len(path.choices))
        broken = _broken(path, len(t))
        if broken is not None:
            return broken
        emitted[int(path.outcome)] += path.mass
    return _compared(emitted, t, d, walked, depth)


def _broken(path: Path, size: int) -> Lossy | None:
    token: Any = path.outcome
    if not is_index(token):
        return Lossy(f"emitted {token!r}, which is no token index", path=path.choices)
    if not 0 <= token < size:
        return Lossy(f"emitted the token {token}, outside 0..{size - 1}", token=int(token), path=path.choices)
    return None


def _compared(emitted: list[Any], t: Array, d: Array, walked: int, depth: int) -> Lossless | Lossy:
    gaps = [abs(mass - wanted) for mass, wanted in zip(emitted, t, strict=True)]
    distance = sum(gaps) / 2
    bound = 0.0 if is_exact(t) else _float_bound(t, d, depth)
    if distance <= bound:
        return Lossless(walked, bound)
    token = max(range(len(gaps)), key=gaps.__getitem__)
    return Lossy(
        f"token {token} is emitted with probability {emitted[token]} where the target has {t[token]} "
        f"(total variation {distance})",
        token=token,
        emitted=emitted[token],
        target=t[token],
        total_variation=distance,
    )


def _float_bound(t: Array, d: Array, depth: int) -> float:
    """Bound the rounding of an enumerated float program.

    Each coin's law is a quotient of sums of at most V masses: off by at most (V + 8) unit roundoffs in total variation.
    Errors of the `depth` coins on a path add up, and so do the gaps of the two laws' own sums.
    """
    return depth * (len(t) + 8) * UNIT + float(sum_gap(t)) + float(sum_gap(d))


def _shown(drafts: list[Tokens]) -> str:
    return str(drafts[0]) if drafts else "(none drawn yet)"
