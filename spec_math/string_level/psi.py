"""ψ: the law of the first TARGET token of a drafted text, over two vocabularies read by longest prefix.

Source: Timor et al., Theorem 3.2, Section 3.3; the stopped form is worked out here.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from spec_math.arrays import Array, count
from spec_math.language.vocabulary import Vocabulary
from spec_math.string_level import drafted_paths, segmentation, two_tries


@dataclass(frozen=True)
class FirstToken:
    """The law of the first target token of a drafted text, with what it leaves out.

    law[x] = ψ(x), in the order of the target vocabulary; untokenisable, the mass of the texts that begin with no
    target token (the empty text of a drafter that ends at once is one): Σ ψ + untokenisable = 1. unreachable, the
    target tokens with text that have ψ = 0.
    calls, the laws asked of the drafter; draws, the expected number of draft tokens until the stopping rule holds.

    >>> FirstToken(np.array([1, 0]), 0, (1,), calls=1, draws=1).unreachable
    (1,)
    """

    law: Array
    untokenisable: Any
    unreachable: tuple[int, ...]
    calls: int
    draws: Any


def psi(target_vocabulary: Vocabulary, draft_vocabulary: Vocabulary, draft: Any, lookahead: int | None = None) -> Array:
    """Return ψ(x) = P(T(d₁ ⊕ … ⊕ d_i)₁ = x), the law [target tokens] of the first target token of a drafted text.

    Draft tokens are drawn until the first target token is determined (lookahead None), or n of them are drawn
    (lookahead n). It is determined once the text is no proper prefix of a target token: later draws cannot change it,
    so that any lookahead of at least `longest_lookahead` gives the same ψ. A shorter one changes ψ, and a verifier
    with its own ψ stays lossless. T(·) is longest-prefix tokenisation, of which only the first token is looked at; for
    byte-pair encoding, a longer text may change even a first token that is no proper prefix. Text on which no target
    token begins counts for none, and then Σ ψ < 1: see `first_token`.

    draft: a vector, for a drafter without context, or a model, a callable from a tuple of draft tokens to a vector;
    a model's attribute `end` (a token index), where it has one, ends the drafted text. Fractions in, Fractions out.

    Raises:
        ValueError: as `first_token`.
        TypeError: laws of two number types, or a lookahead that is not an int.

    Source: Timor et al., Theorem 3.2 and Section 3.3, Lookahead, over stopped sequences (the sum over all lengths as
    printed diverges, and its 1[i > n] stops after n + 1 draws, where the text says n).

    >>> draft = Vocabulary(["hello_", "world", "wo", "rld"])
    >>> target = Vocabulary(["hello_", "world", "wo", "rld", "hello_world"])
    >>> psi(target, draft, ["1/2", "1/4", "1/8", "1/8"]).tolist()[-1]   # 1/2 · (1/4 + 1/8 · 1/8)
    Fraction(17, 128)
    >>> psi(target, draft, ["1/2", "1/4", "1/8", "1/8"], lookahead=2).tolist()[-1]   # hello_ wo rld is cut short
    Fraction(1, 8)
    """
    return first_token(target_vocabulary, draft_vocabulary, draft, lookahead).law


def first_token(
    target_vocabulary: Vocabulary, draft_vocabulary: Vocabulary, draft: Any, lookahead: int | None = None
) -> FirstToken:
    """Return ψ with its report: what cannot be tokenised or reached, and what it costs.

    Without context: one pass over the target's trie in order of depth, each open node's mass walking both tries at
    once; a lookahead n takes min(n, longest_lookahead) such passes. With context: one law for each sequence of draft
    tokens that leaves the first token undetermined.

    Raises:
        ValueError: a law is not a probability distribution or of another length than the draft vocabulary, or gives
            mass to a special token that is not `end`; a lookahead below 1.
        TypeError: laws of two number types, a torch tensor, a lookahead that is not an int.

    Source: as `psi`.

    >>> target, draft = Vocabulary(["a", "ab"]), Vocabulary(["a", "b"])
    >>> first = first_token(target, draft, ["1/3", "2/3"])
    >>> first.law.tolist(), first.untokenisable, first.unreachable, first.draws
    ([Fraction(1, 9), Fraction(2, 9)], Fraction(2, 3), (), Fraction(4, 3))
    """
    depth = None if lookahead is None else count(lookahead, "lookahead")
    target, texts = target_vocabulary.trie, target_vocabulary.tokens
    if callable(draft):
        masses, calls, draws = drafted_paths.first_tokens(target, draft_vocabulary, draft, depth)
    else:
        law = drafted_paths.checked(draft, draft_vocabulary, None, "draft")
        (masses, draws), calls = two_tries.first_tokens(target, draft_vocabulary.trie, law, depth), 1
    found = masses[:-1]
    silent = tuple(int(token) for token in np.flatnonzero(found == 0) if texts[int(token)])
    return FirstToken(found, masses[-1], silent, calls, draws)


def longest_lookahead(target_vocabulary: Vocabulary, draft_vocabulary: Vocabulary) -> int:
    """Return n_max: after this many draft tokens the first target token is determined, whatever they are.

    One more than the most draft tokens whose text is a proper prefix of a target token.
    Source: Timor et al., Section 3.3, Lookahead (n_max = 3 in the example).

    >>> draft = Vocabulary(["hello_", "world", "wo", "rld"])
    >>> longest_lookahead(Vocabulary(["hello_", "world", "wo", "rld", "hello_world"]), draft)
    3
    """
    target = target_vocabulary.trie
    most = two_tries.most_tokens(target, draft_vocabulary.trie)
    return int(most[target.open].max(initial=0)) + 1


def most_calls(target_vocabulary: Vocabulary, draft_vocabulary: Vocabulary) -> int:
    """Return how many laws ψ asks of a drafter with context that may propose any of its tokens at any time.

    One after each sequence of draft tokens whose text is a proper prefix of a target token, the empty one included:
    `FirstToken.calls` of a drafter whose laws have no zeros. Exact, however many they are.

    >>> most_calls(Vocabulary(["abc", "b"]), Vocabulary(["a", "b", "ab"]))   # after nothing, a, a ⊕ b, and ab
    4
    """
    waiting = {token[:end] for token in target_vocabulary for end in range(len(token))}
    return sum(segmentation.counts(sorted(waiting), draft_vocabulary))


def unreachable(target_vocabulary: Vocabulary, draft_vocabulary: Vocabulary) -> tuple[int, ...]:
    """Return the target tokens with text that begin no drafted text, so that ψ is 0 there for every drafter.

    >>> unreachable(Vocabulary(["a", "aa", "b"]), Vocabulary(["a"]))
    (0, 2)
    """
    reached = two_tries.reached(target_vocabulary.trie, draft_vocabulary.trie)
    return tuple(int(token) for token in np.flatnonzero(~reached) if target_vocabulary[int(token)])
