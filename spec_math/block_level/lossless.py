"""The judge of generators: is the joint law of the tokens they emit the target's?"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from spec_math.arrays import SUM_BOUND, count, is_exact
from spec_math.block_level.conditionals import opening
from spec_math.block_level.emitted import Generate, Text, emitted_law, target_law
from spec_math.chance import Coin
from spec_math.language.model import Model
from spec_math.verdict import Lossless, Lossy
from spec_math.worlds import as_text


def check_lossless_block(
    generate: Generate, target_model: Model, horizon: int, rounds: int = 1, prefix: Sequence[int] = ()
) -> Lossless | Lossy:
    """Decide whether a generator's tokens, continued by the target, have the target's joint law.

    The law: P(first `horizon` tokens after prefix = s) = Π t(s_i | prefix + s_<i) for every text s, over `rounds`
    blocks in a row. The first token alone shows little: a wrong bonus token or residual can leave it exact. With
    Fractions the verdict is exact. A generator that breaks (an exception, masses that are no law, no token, a token out
    of range, tokens after the end) is Lossy, with its reason and path; else `tokens` is the text furthest off.

    Raises:
        TypeError, ValueError: the target's laws are none, horizon or rounds is no count. Never for what the generator
            does.

    Source: SpecTr, Theorem 3.

    >>> from fractions import Fraction
    >>> target = lambda prefix: [Fraction(1, 4), Fraction(3, 4)]
    >>> verdict = check_lossless_block(lambda coin, prefix: (coin.draw(target(prefix)),) * 2, target, 2)
    >>> verdict.tokens, verdict.emitted, verdict.target
    ((0, 0), Fraction(1, 4), Fraction(1, 16))
    """
    start, first = opening(target_model, prefix)
    wanted = target_law(target_model, count(horizon, "horizon"), start)
    count(rounds, "rounds")
    seen = _Counted(generate)
    try:
        emitted = emitted_law(seen, target_model, horizon, rounds, start)
    except Exception as error:  # whatever a generator raises is evidence against it
        notes: list[str] = getattr(error, "__notes__", [])
        place = tuple(note.removeprefix("on the path: ") for note in notes if note.startswith("on the path: "))
        kind = "" if type(error).__name__ == "EmissionError" else f"{type(error).__name__}: "
        return Lossy(f"after the prefix {seen.prefix}: {kind}{error}", path=place)
    bound = 0.0 if is_exact(first) else float_bound(rounds, seen.deepest, horizon)
    return _compared(emitted, wanted, seen.walked, bound)


def float_bound(rounds: int, coins: int, horizon: int) -> float:
    """Return the total variation that the judge forgives a float program of `coins` coins a round.

    A coin takes masses for a law whose sum is off by up to 2^-36 (`arrays.SUM_BOUND`), so that at each coin a program
    may be off by as much through no fault of its own, and by as much again where a later law answers for it, as a
    residual does. What follows a coin is a law whatever the coin did, so that these add along a path. Each token that
    the target adds is one such draw more. Rounding is far below it: V roundoffs of 2^-53 a coin.

    >>> float_bound(1, 5, 3) == 16 * 2.0**-36
    True
    """
    return 2 * SUM_BOUND["float64"] * (rounds * coins + horizon)


def _compared(emitted: dict[Text, Any], wanted: dict[Text, Any], walked: int, bound: float) -> Lossless | Lossy:
    zero = next(iter(wanted.values())) * 0
    texts = list(wanted) + [text for text in emitted if text not in wanted]
    gaps = {text: abs(emitted.get(text, zero) - wanted.get(text, zero)) for text in texts}
    distance = sum(gaps.values(), zero) / 2
    if distance <= bound:
        return Lossless(walked, bound)
    text = max(texts, key=lambda text: gaps[text])
    ours, theirs = emitted.get(text, zero), wanted.get(text, zero)
    return Lossy(
        f"the tokens {text} are emitted with probability {as_text(ours)} where the target has {as_text(theirs)} "
        f"(total variation {as_text(distance)})",
        tokens=text,
        emitted=ours,
        target=theirs,
        total_variation=distance,
    )


class _Counted:
    """A generator with a count of its paths and of the coins on the longest, and the prefix it was last asked for."""

    def __init__(self, generate: Generate) -> None:
        self._generate = generate
        self.walked = 0
        self.deepest = 0
        self.prefix: Text = ()

    def __call__(self, coin: Coin, prefix: Text) -> Text:
        self.prefix = prefix
        self.walked += 1
        counting = _CountingCoin(coin)
        block = self._generate(counting, prefix)
        self.deepest = max(self.deepest, counting.used)
        return block


class _CountingCoin:
    def __init__(self, coin: Coin) -> None:
        self._coin = coin
        self.used = 0

    def flip(self, p: Any) -> bool:
        self.used += 1
        return self._coin.flip(p)

    def draw(self, masses: Any) -> int:
        self.used += 1
        return self._coin.draw(masses)
