"""ψ: the law of the first TARGET token of a drafted text, over two vocabularies read by longest prefix.

Source: Timor et al., Theorem 3.2, Section 3.3; the stopped form is worked out here.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np

from spec_math.arrays import Array, count, is_exact
from spec_math.language.trie import Trie, compiled, first_from, most_tokens
from spec_math.language.vocabulary import Vocabulary
from spec_math.string_level import drafted_paths, segmentation


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
    target = target_vocabulary.trie
    if callable(draft):
        masses, calls, draws = drafted_paths.first_tokens(target, draft_vocabulary, draft, depth)
    else:
        law = drafted_paths.checked(draft, draft_vocabulary, None, "draft")
        (masses, draws), calls = first_tokens(target, draft_vocabulary.trie, law, depth), 1
    found = masses[:-1]
    return FirstToken(found, masses[-1], with_text(target_vocabulary, found == 0), calls, draws)


def longest_lookahead(target_vocabulary: Vocabulary, draft_vocabulary: Vocabulary) -> int:
    """Return n_max: after this many draft tokens the first target token is determined, whatever they are.

    One more than the most draft tokens whose text is a proper prefix of a target token.
    Source: Timor et al., Section 3.3, Lookahead (n_max = 3 in the example).

    >>> draft = Vocabulary(["hello_", "world", "wo", "rld"])
    >>> longest_lookahead(Vocabulary(["hello_", "world", "wo", "rld", "hello_world"]), draft)
    3
    """
    target = target_vocabulary.trie
    most = most_tokens(target, draft_vocabulary.trie)
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
    return with_text(target_vocabulary, ~reached(target_vocabulary.trie, draft_vocabulary.trie))


def with_text(vocabulary: Vocabulary, chosen: Any) -> tuple[int, ...]:
    """Return the tokens that are chosen by a mask [tokens] and add text.

    >>> with_text(Vocabulary(["a", "b", "<end>"], special=[2]), np.array([False, True, True]))
    (1,)
    """
    return tuple(np.flatnonzero(chosen & (vocabulary.trie.node >= 0)).tolist())


def first_tokens(target: Trie, draft: Trie, masses: Array, depth: int | None) -> tuple[Array, Any]:
    """Return the masses of the first target tokens, those of no token last, and the expected number of draws.

    masses: the drafter's distribution [draft tokens]; depth: the lookahead, None until the first token is determined.
    Sums and products of non-negative masses alone: in floats the relative error is at most the number of operations
    that a mass passes through, times 2^-53.

    >>> from spec_math.arrays import exact
    >>> from spec_math.language.trie import build
    >>> found, draws = first_tokens(build([b"a", b"ab"]), build([b"a", b"b"]), exact(["1/3", "2/3"]), None)
    >>> found.tolist(), draws
    ([Fraction(1, 9), Fraction(2, 9), Fraction(2, 3)], Fraction(4, 3))
    """
    walk: tuple[Any, ...] = (target.start, target.byte, target.longest)
    drafted, spread = _weighed(draft, masses)
    if is_exact(masses):
        walk = tuple(part.tolist() for part in walk)
    zero = masses[:1] * 0
    result = zero.repeat(len(target.node) + 1)
    mass = zero.repeat(len(target))
    mass[0] = Fraction(1) if is_exact(masses) else 1.0
    if depth is None:
        # Mass flows to deeper nodes only, which have higher numbers: one pass in place is every pass.
        spread(walk, drafted, mass, mass, result)
        return result, mass.sum()
    draws = zero[0]
    for _ in range(depth):
        draws = draws + mass.sum()
        onward = zero.repeat(len(target))
        spread(walk, drafted, mass, onward, result)
        mass = onward
        if not bool((mass != 0).any()):
            break
    np.add.at(result, target.longest, mass)
    return result, draws


def reached(target: Trie, draft: Trie) -> Any:
    """Say of each target token whether it is the first token of some drafted text, whatever the drafter's law.

    >>> from spec_math.language.trie import build
    >>> reached(build([b"a", b"aa", b"b"]), build([b"a"])).tolist()
    [False, True, False]
    """
    most = most_tokens(target, draft)
    # One mass for each node that draft tokens spell, and one for each draft token: what it adds up to is not a
    # probability distribution, and only what stays 0 is looked at. Single steps from every node, so nothing grows or
    # vanishes with depth.
    mass = (most >= 0).astype(np.float64)
    drafted, spread = _weighed(draft, np.ones(len(draft.node)))
    result = np.zeros(len(target.node) + 1)
    spread((target.start, target.byte, target.longest), drafted, mass, np.zeros(len(target)), result)
    return result[:-1] > 0


def _weighed(draft: Trie, masses: Array) -> tuple[tuple[Any, ...], Any]:
    """Return the draft trie with the masses that `_gather` sums up over it, and the step that walks it."""
    spelled = draft.node >= 0
    own = (masses[:1] * 0).repeat(len(draft))
    np.add.at(own, draft.node[spelled], masses[spelled])
    sums = (own, own.copy(), own * 0, own * 0)
    if is_exact(masses):
        # The same functions, interpreted: lists hand out plain ints, and the masses are Fractions.
        start = draft.start.tolist()
        _gather(start, *sums)
        return (start, draft.byte.tolist(), *sums), _spread
    _compiled_gather(draft.start, *sums)
    return (draft.start, draft.byte, *sums), _compiled_spread


def _gather(start: Any, own: Any, below: Any, before: Any, after: Any) -> None:
    """Sum up the masses that end at or below each node, and at or below its siblings before it and after it.

    The siblings are summed from both ends, so that no mass is ever taken from a sum.
    """
    for node in range(len(own) - 1, -1, -1):
        low, high = start[node], start[node + 1]
        for sibling in range(low + 1, high):
            before[sibling] = before[sibling - 1] + below[sibling - 1]
        for sibling in range(high - 2, low - 1, -1):
            after[sibling] = after[sibling + 1] + below[sibling + 1]
        if high > low:
            below[node] = own[node] + (before[high - 1] + below[high - 1])


def _spread(target: Any, draft: Any, mass: Any, onward: Any, result: Any) -> None:
    """Draw one draft token at every open node u of the target trie, where a text that spells u waits with mass[u].

    Both tries are walked together from (u, root). A draft token that ends on an open node waits there, in onward;
    where the draft leaves the target trie, or ends it, the first target token is the longest on the way, and all
    draft tokens beyond share it.
    """
    start, byte, longest = target
    first, letter, own, below, before, after = draft
    for u in range(len(mass)):
        if mass[u] == 0:
            continue
        pairs = [(u, 0)]
        while len(pairs) > 0:
            v, e = pairs.pop()
            low, high = first[e], first[e + 1]
            leaves = before[high - 1] + below[high - 1]
            last = -1
            for w in range(start[v], start[v + 1]):
                # The draft's child along the same byte, searched for from the last one found.
                f = first_from(letter, max(low, last + 1), high, byte[w])
                if f == high or letter[f] != byte[w]:
                    continue
                # What leaves the target trie between the last child found and this one; after the last, below.
                if last < 0:
                    leaves = before[f]
                else:
                    for between in range(last + 1, f):
                        leaves += below[between]
                last = f
                if start[w + 1] == start[w]:
                    result[longest[w]] += mass[u] * below[f]
                    continue
                if own[f] != 0:
                    onward[w] += mass[u] * own[f]
                if first[f + 1] > first[f] and below[f] != 0:
                    pairs.append((int(w), int(f)))
            if last >= 0:
                leaves += after[last]
            result[longest[v]] += mass[u] * leaves


_compiled_gather, _compiled_spread = compiled(_gather), compiled(_spread)
