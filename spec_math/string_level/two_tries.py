"""ψ for a drafter without context: all target tokens in one pass over the tries of both vocabularies."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import numpy as np

from spec_math.arrays import Array, is_exact
from spec_math.language.trie import Integers, Trie, compiled


def first_tokens(target: Trie, draft: Trie, masses: Array, depth: int | None) -> tuple[Array, Any]:
    """Return the masses of the first target tokens, those of no token last, and the expected number of draws.

    masses: the drafter's law, by draft token; depth: the lookahead, None until the first token is determined.
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


def most_tokens(target: Trie, draft: Trie) -> Integers:
    """Return for each node of the target trie the most draft tokens that spell it, or −1.

    >>> from spec_math.language.trie import build
    >>> most_tokens(build([b"aab"]), build([b"a", b"aa"])).tolist()
    [0, 1, 2, -1]
    """
    most = np.full(len(target), -1, np.int64)
    _deepen((target.start, target.byte), (draft.start, draft.byte, draft.token >= 0), most)
    return most


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
                f, end = max(low, last + 1), high
                while f < end:
                    middle = (f + end) // 2
                    if letter[middle] < byte[w]:
                        f = middle + 1
                    else:
                        end = middle
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


@compiled
def _deepen(target: Any, draft: Any, most: Integers) -> None:
    """Find for each node of the target trie the most draft tokens that spell it, or leave −1."""
    start, byte = target
    first, letter, spelled = draft
    most[0] = 0
    for u in range(len(most)):
        if most[u] < 0:
            continue
        pairs = [(u, 0)]
        while len(pairs) > 0:
            v, e = pairs.pop()
            w = start[v]
            for f in range(first[e], first[e + 1]):
                while w < start[v + 1] and byte[w] < letter[f]:
                    w += 1
                if w < start[v + 1] and byte[w] == letter[f]:
                    if spelled[f]:
                        most[w] = max(most[w], most[u] + 1)
                    pairs.append((int(w), int(f)))
