"""The overlap of two vocabularies: how many tokens they share, by the bytes they add or by their raw keys."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable
from dataclasses import dataclass
from fractions import Fraction
from typing import NamedTuple

import numpy as np

from spec_math.language.tokenizer import Tokenizer
from spec_math.language.trie import most_tokens
from spec_math.language.vocabulary import Vocabulary

Identities = Callable[[Vocabulary, Iterable[int]], frozenset[Hashable]]
"""What two tokens must have in common to count as one: from some tokens of a vocabulary to the set of it."""


@dataclass(frozen=True)
class Overlap:
    """Two vocabularies as sets; tokens of one vocabulary with the same identity count once, in every figure."""

    target: frozenset[Hashable]
    draft: frozenset[Hashable]

    @property
    def shared(self) -> frozenset[Hashable]:
        """The tokens in both: T ∩ D."""
        return self.target & self.draft

    @property
    def of_target(self) -> Fraction:
        """The share of the target vocabulary: |T ∩ D| / |T|."""
        return _share(len(self.shared), len(self.target))

    @property
    def jaccard(self) -> Fraction:
        """The share of the union: |T ∩ D| / |T ∪ D|."""
        return _share(len(self.shared), len(self.target | self.draft))

    @property
    def of_larger(self) -> Fraction:
        """The share of the larger vocabulary: |T ∩ D| / max(|T|, |D|)."""
        return _share(len(self.shared), max(len(self.target), len(self.draft)))


def by_bytes(target: Vocabulary, draft: Vocabulary) -> Overlap:
    """Compare two vocabularies by what their tokens add to a text; special tokens, by name, among themselves.

    >>> overlap = by_bytes(Vocabulary(["a", "b", "ab"]), Vocabulary(["a", "b", "ba", "<end>"], special=[3]))
    >>> len(overlap.shared), overlap.of_target, overlap.jaccard, overlap.of_larger
    (2, Fraction(2, 3), Fraction(2, 5), Fraction(1, 2))
    """
    return Overlap(bytes_of(target, range(len(target))), bytes_of(draft, range(len(draft))))


def by_keys(target: Vocabulary, draft: Vocabulary) -> Overlap:
    """Compare two vocabularies by their raw keys, as the published tables do, whatever bytes the keys stand for.

    One spelling may stand for different bytes in two files (a leading space is "Ġ" in one, "▁" in the other), so that
    these figures speak of spellings more than of texts.

    Raises:
        ValueError: a vocabulary has no keys.

    Source: Timor et al., Table 9; TokenTiming, Table 1.

    >>> byte_level = Vocabulary([b" the"], keys=["Ġthe"])
    >>> len(by_keys(byte_level, Vocabulary([b" the"], keys=["▁the"])).shared)
    0
    """
    return Overlap(keys_of(target, range(len(target))), keys_of(draft, range(len(draft))))


def bytes_of(vocabulary: Vocabulary, indices: Iterable[int]) -> frozenset[Hashable]:
    """Return what some tokens add to a text, special tokens as ("special", name).

    >>> bytes_of(Vocabulary(["a", "b"]), [1])
    frozenset({b'b'})
    """
    return frozenset(_identity(vocabulary[index], vocabulary.special.get(index)) for index in indices)


def keys_of(vocabulary: Vocabulary, indices: Iterable[int]) -> frozenset[Hashable]:
    """Return the raw keys of some tokens.

    >>> keys_of(Vocabulary([" a"], keys=["Ġa"]), [0])
    frozenset({'Ġa'})
    """
    keys = vocabulary.keys
    return frozenset(keys[index] for index in indices)


def _identity(token: bytes, name: str | None) -> Hashable:
    return token if name is None else ("special", name)


def in_texts(texts: Iterable[str], target: Tokenizer, draft: Tokenizer, identities: Identities = bytes_of) -> Overlap:
    """Compare two vocabularies on the tokens that their tokenisers use in some texts: T' and D'.

    identities: `bytes_of` unless given, or `keys_of`. Source: Timor et al., Table 10 (|T' ∩ D'| / |T'|).

    >>> from spec_math.language.tokenizer import GreedyTokenizer
    >>> target, draft = Vocabulary(["a", "b", "ab", "c"]), Vocabulary(["a", "b", "c"])
    >>> in_texts(["aab"], GreedyTokenizer(target), GreedyTokenizer(draft)).of_target
    Fraction(1, 2)
    """
    listed = list(texts)
    sides = [
        identities(tokenizer.vocabulary, {token for text in listed for token in tokenizer.encode(text)})
        for tokenizer in (target, draft)
    ]
    return Overlap(sides[0], sides[1])


def pairs(target: Vocabulary, draft: Vocabulary) -> tuple[tuple[int, int], ...]:
    """Return the shared tokens by bytes as pairs (target index, draft index), in the order of the target vocabulary.

    Of tokens with the same bytes the one that texts are read as stands for all. No shared token gives no pair.

    >>> pairs(Vocabulary(["a", "ab", "<s>"], special=[2]), Vocabulary(["ab", "<s>", "b"], special=[1]))
    ((1, 0), (2, 1))
    """
    own, places = _places(target), _places(draft)
    return tuple(sorted((index, places[identity]) for identity, index in own.items() if identity in places))


def _places(vocabulary: Vocabulary) -> dict[Hashable, int]:
    return {_identity(token, vocabulary.special.get(index)): index for index, token in enumerate(vocabulary.tokens)}


def _share(part: int, whole: int) -> Fraction:
    if whole == 0:
        raise ValueError("a share of an empty set is undefined: these texts use no tokens")
    return Fraction(part, whole)


@dataclass(frozen=True)
class Expressibility:
    """Both relations of two vocabularies: the tokens of each that the other cannot spell, in any way of cutting.

    T ↠ D* holds if target_breaks is empty; D ↠ T*, and so D* ↠ T*, if draft_breaks is.
    """

    target_breaks: tuple[int, ...]
    draft_breaks: tuple[int, ...]

    def __bool__(self) -> bool:
        """Say whether both relations hold, as Timor et al., Algorithms 2 and 3, assume."""
        return not (self.target_breaks or self.draft_breaks)


def expressibility(target: Vocabulary, draft: Vocabulary) -> Expressibility:
    """Find the tokens of each vocabulary that no concatenation of the other's tokens spells.

    Special tokens have no text to spell and break nothing. Source: Timor et al., Section 3, Notation; Section 3.1.

    >>> expressibility(Vocabulary(["a", "b", "ab"]), Vocabulary(["a", "ba"]))
    Expressibility(target_breaks=(1, 2), draft_breaks=())
    """
    return Expressibility(inexpressible(target, draft), inexpressible(draft, target))


def inexpressible(source: Vocabulary, vocabulary: Vocabulary) -> tuple[int, ...]:
    """Return the text tokens of `source` that no concatenation of tokens of `vocabulary` spells.

    >>> inexpressible(Vocabulary(["b", "bba", "c"]), Vocabulary(["b", "ba", "bb"]))
    (2,)
    """
    node, most = source.trie.node, most_tokens(source.trie, vocabulary.trie)
    return tuple(np.flatnonzero((node >= 0) & (most[node] < 0)).tolist())


class Loss(NamedTuple):
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
