"""The law of the first tokens of a text that a generator starts and the target continues.

Source: SpecTr, Theorem 3, for what a block continued by the target is.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from fractions import Fraction
from typing import Any

from spec_math.arrays import count, is_exact, sum_gap
from spec_math.block_level.conditionals import conditional, opening
from spec_math.chance import Coin, paths, possible
from spec_math.language.model import Model
from spec_math.masses import divided
from spec_math.scheme import is_index

Text = tuple[int, ...]
Generate = Callable[[Coin, Text], Text]
"""A generator of one block: from a coin and a prefix to the emitted tokens alone."""


def emitted_law(
    generate: Generate, target_model: Model, horizon: int, rounds: int = 1, prefix: Sequence[int] = ()
) -> dict[Text, Any]:
    """Compute the law of the first `horizon` tokens after prefix: `rounds` blocks in a row, continued by the target.

    The law: P(s) = Σ_b P(the blocks emit b) · Π t(s_i | prefix + s_<i) over the i beyond b, where b is s or a prefix of
    it (or s a prefix of b). A second block starts from what the first one emitted. Texts end at the horizon or with
    the target's `end` token. A generator is taken for a function of its coin and prefix: its law after one prefix is
    computed once.

    Raises:
        EmissionError: the generator emits no token, something that is no token, or tokens after the end.
        ValueError, TypeError: horizon or rounds is not a positive integer; a law of the target is not a probability
            distribution.

    Source: SpecTr, Theorem 3.

    >>> from spec_math.block_level import chain
    >>> target, draft = (lambda prefix: ["1/4", "3/4"]), (lambda prefix: ["1/2", "1/2"])
    >>> emitted_law(lambda coin, prefix: chain.generate(coin, target, draft, prefix, 1), target, 2)[0, 0]
    Fraction(1, 16)
    """
    start, first = opening(target_model, prefix)
    horizon, size = count(horizon, "horizon"), len(first)
    end: int | None = getattr(target_model, "end", None)
    running: dict[Text, Any] = {(): Fraction(1)}
    for _ in range(count(rounds, "rounds")):
        after: dict[Text, Any] = {}
        for text, mass in running.items():
            if is_over(text, horizon, end):
                _add(after, text, mass)
                continue
            for block, share in block_law(generate, start + text, size, end).items():
                _add(after, (text + block)[:horizon], mass * share)
        running = after
    return continued(running, target_model, horizon, start)


def target_law(target_model: Model, horizon: int, prefix: Sequence[int] = ()) -> dict[Text, Any]:
    """Compute the target's own law of the first `horizon` tokens after prefix, {text: mass}; texts may end earlier.

    Raises:
        ValueError, TypeError: horizon is not a positive integer; a law of the target is not a probability distribution.

    >>> target_law(lambda prefix: ["1/4", "3/4"], 2)[0, 1]
    Fraction(3, 16)
    """
    start, _ = opening(target_model, prefix)
    return continued({(): Fraction(1)}, target_model, count(horizon, "horizon"), start)


def continued(
    masses: dict[Text, Any],
    target_model: Model,
    horizon: int,
    prefix: Text = (),
    gaps: list[float] | None = None,
) -> dict[Text, Any]:
    """Let the target continue texts {text: mass} up to the horizon or to its end token; masses of 0 are left out.

    A float law of the target is divided by its sum, as a draw from it is; what the sums are off by is added to `gaps`.

    >>> continued({(0,): 1}, lambda prefix: ["1/4", "3/4"], 2)
    {(0, 0): Fraction(1, 4), (0, 1): Fraction(3, 4)}
    """
    end: int | None = getattr(target_model, "end", None)
    by_length: list[dict[Text, Any]] = [{} for _ in range(horizon + 1)]
    for text, mass in masses.items():
        _add(by_length[len(text)], text, mass)
    finished: dict[Text, Any] = {}
    for length in range(horizon + 1):
        for text, mass in by_length[length].items():
            if is_over(text, horizon, end):
                _add(finished, text, mass)
                continue
            row = conditional(target_model, prefix + text)
            if gaps is not None and not is_exact(row):
                gaps.append(float(sum_gap(row)))
            for token, chance in enumerate(divided(row)):
                if possible(chance):
                    _add(by_length[length + 1], (*text, token), mass * chance)
    return finished


def block_law(generate: Generate, prefix: Text, size: int, end: int | None) -> dict[Text, Any]:
    """Compute the law of what one block emits after prefix, {tokens: mass}, by walking every path of the generator.

    Raises:
        EmissionError: a path emits no token, something that is not a token index below `size`, or tokens after the end.

    >>> block_law(lambda coin, prefix: (0,), (), 2, None)
    {(0,): Fraction(1, 1)}
    """
    result: dict[Text, Any] = {}
    for path in paths(lambda coin: generate(coin, prefix)):
        try:
            block = checked_block(path.outcome, size, end)
        except EmissionError as error:
            error.add_note(f"on the path: {', '.join(path.choices) or 'no choice'}")
            raise
        _add(result, block, path.mass)
    return result


class EmissionError(ValueError):
    """A generator emitted something that is not a block: no token, a token out of range, or tokens after the end."""


def checked_block(block: Any, size: int, end: int | None) -> Text:
    """Return an emitted block as a tuple of ints: at least one index below `size`, the end token only at its end.

    Raises:
        EmissionError: it is not such a block.

    >>> checked_block((0, 1, 0), 2, end=1)
    Traceback (most recent call last):
    spec_math.block_level.emitted.EmissionError: emitted (0, 1, 0): tokens follow the end token 1
    """
    if not isinstance(block, tuple | list):
        raise EmissionError(f"emitted {block!r}, which is not a tuple of tokens")
    tokens: tuple[Any, ...] = tuple(block)
    if not tokens:
        raise EmissionError("emitted no token; every call of the target yields at least one")
    for token in tokens:
        if not is_index(token) or not 0 <= token < size:
            raise EmissionError(f"emitted {tokens}: {token!r} is not a token index in 0..{size - 1}")
    if end is not None and end in tokens[:-1]:
        raise EmissionError(f"emitted {tokens}: tokens follow the end token {end}")
    return tuple(int(token) for token in tokens)


def is_over(text: Text, horizon: int, end: int | None) -> bool:
    """Say whether a text has reached the horizon, or ended.

    >>> is_over((0, 1), 5, end=1), is_over((0,), 5, end=1)
    (True, False)
    """
    return len(text) >= horizon or (end is not None and bool(text) and text[-1] == end)


def _add(masses: dict[Text, Any], text: Text, mass: Any) -> None:
    masses[text] = masses[text] + mass if text in masses else mass
