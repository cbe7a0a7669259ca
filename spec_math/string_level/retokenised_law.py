"""The law of a drafted text as target tokens: which token follows which, summed over every way of drafting it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from spec_math.arrays import Array, count
from spec_math.drafting.correspondence import blank
from spec_math.scheme import Tokens
from spec_math.string_level.reading import Reading

MOST = 1_000_000
"""The most sequences of draft tokens that are walked."""


class RetokenisedLaw:
    """The law of the target tokens that a drafted text is read as, drafted to a fixed lookahead.

    {target tokens: mass}, over all D^lookahead sequences of draft tokens with mass; a drafter's end stops one early.

    Raises:
        ValueError: there are more sequences than `MOST`; lookahead is below 1. TypeError: lookahead is not a positive
            integer.

    >>> from spec_math.language import GreedyTokenizer, TokenizedModel, Vocabulary
    >>> drafter = TokenizedModel(lambda prefix: ["1/2", "1/2"], Vocabulary(["a", "b"]))
    >>> law = RetokenisedLaw(Reading(drafter, b""), GreedyTokenizer(Vocabulary(["b", "a", "ab"])).encode, 2)
    >>> {tokens: str(mass) for tokens, mass in law.masses.items()}
    {(1, 1): '1/4', (2,): '1/4', (0, 1): '1/4', (0, 0): '1/4'}
    """

    def __init__(self, reading: Reading, read: Callable[[bytes], Tokens], lookahead: int) -> None:
        self._like = reading(())
        self.masses: dict[Tokens, Any] = {}
        # The probability that the target tokens begin with these, {beginning: mass}.
        self._begins: dict[Tokens, Any] = {}
        for said, mass in _sequences(reading, count(lookahead, "lookahead")):
            tokens = read(reading.text(said))
            self.masses[tokens] = self.masses[tokens] + mass if tokens in self.masses else mass
        for tokens, mass in self.masses.items():
            for place in range(len(tokens) + 1):
                start = tokens[:place]
                self._begins[start] = self._begins[start] + mass if start in self._begins else mass

    def after(self, tokens: Tokens, size: int) -> Array:
        """Return the law [size] of the next target token given the first ones, a sub-law: the text may end instead.

        >>> from spec_math.language import GreedyTokenizer, TokenizedModel, Vocabulary
        >>> drafter = TokenizedModel(lambda prefix: ["1/2", "1/2"], Vocabulary(["a", "b"]))
        >>> law = RetokenisedLaw(Reading(drafter, b""), GreedyTokenizer(Vocabulary(["b", "a", "ab"])).encode, 2)
        >>> [str(mass) for mass in law.after((), 3)], [str(mass) for mass in law.after((2,), 3)]
        (['1/2', '1/4', '1/4'], ['0', '0', '0'])
        """
        row = blank(self._like, size)
        whole = self._begins[tokens]
        for token in range(size):
            if (*tokens, token) in self._begins:
                row[token] = self._begins[*tokens, token] / whole
        return row


def _sequences(reading: Reading, lookahead: int) -> list[tuple[Tokens, Any]]:
    running: list[tuple[Tokens, Any]] = [((), reading(()).sum() * 0 + 1)]
    for _ in range(lookahead):
        onward: list[tuple[Tokens, Any]] = []
        for said, mass in running:
            if said and said[-1] == reading.end:
                onward.append((said, mass))
                continue
            onward += [((*said, token), mass * p) for token, p in enumerate(reading(said)) if p != 0]
            if len(onward) > MOST:
                raise ValueError(
                    f"a lookahead of {lookahead} makes more than {MOST:,} sequences of draft tokens; draft fewer, or "
                    "verify the draft as deterministic (timing.deterministic)"
                )
        running = onward
    return running
