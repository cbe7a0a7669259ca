"""Tokenisers that lose text: whether decoding what was encoded gives the text back, on a corpus."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from spec_math.language.tokenizer import Tokenizer


@dataclass(frozen=True)
class Loss:
    """A text, and what decoding its tokens gave instead; None where it could not be encoded or decoded, and why."""

    text: str
    decoded: str | None
    reason: str


def not_recovered(tokenizer: Tokenizer, texts: Iterable[str], characters: int | None = 100) -> list[Loss]:
    """Return the texts, cut to their first characters, that a tokeniser does not give back.

    The tokeniser is injective on these texts if the list is empty (a text given back cannot be confused with another).
    Nothing is said of other texts. characters=None takes whole texts. Source: Timor et al., Appendix F, Table 11.

    >>> from spec_math.language import GreedyTokenizer, Vocabulary
    >>> [loss.text for loss in not_recovered(GreedyTokenizer(Vocabulary(["a", "b"])), ["abba", "abc"])]
    ['abc']
    """
    losses: list[Loss] = []
    for text in texts:
        prefix = text[:characters]
        try:
            decoded = tokenizer.decode(tokenizer.encode(prefix))
        except ValueError as error:
            losses.append(Loss(prefix, None, str(error)))
            continue
        if decoded != prefix:
            losses.append(Loss(prefix, decoded, _difference(prefix, decoded)))
    return losses


def _difference(text: str, decoded: str) -> str:
    same = next((at for at, (own, other) in enumerate(zip(text, decoded, strict=False)) if own != other), None)
    at = min(len(text), len(decoded)) if same is None else same
    return f"from character {at} on, {text[at : at + 12]!r} becomes {decoded[at : at + 12]!r}"
