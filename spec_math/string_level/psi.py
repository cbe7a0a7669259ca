"""ψ: the law of the first TARGET token of a drafted text, over two vocabularies read by longest prefix."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np

from spec_math.arrays import Array, count, is_exact, law
from spec_math.language.trie import Integers, Trie, child, compiled
from spec_math.language.vocabulary import Vocabulary

Model = Callable[[tuple[int, ...]], Any]
"""A drafter with context: from the draft tokens drawn so far to the law of the next one."""


@dataclass(frozen=True)
class FirstToken:
    """The law of the first target token of a drafted text, with what it leaves out.

    law[x] = ψ(x), in the order of the target vocabulary; untokenisable, the mass of the texts that begin with no
    target token: Σ ψ + untokenisable = 1. unreachable, the target tokens with text that have ψ = 0.
    calls, the laws asked of the drafter; draws, the expected number of draft tokens until the stopping rule holds.
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
        TypeError: laws of two worlds, or a lookahead that is no int.

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
        ValueError: a law is none or of another length than the draft vocabulary, or gives mass to a special token that
            is not `end`; a lookahead below 1; a token of the target vocabulary has text and the draft's have none.

    Source: as `psi`.

    >>> target, draft = Vocabulary(["a", "ab"]), Vocabulary(["a", "b"])
    >>> first = first_token(target, draft, ["1/3", "2/3"])
    >>> first.law.tolist(), first.untokenisable, first.unreachable, first.draws
    ([Fraction(1, 9), Fraction(2, 9)], Fraction(2, 3), (), Fraction(4, 3))
    """
    depth = None if lookahead is None else count(lookahead, "lookahead")
    walk = _with_context if callable(draft) else _without_context
    masses, calls, draws = walk(target_vocabulary.trie, draft_vocabulary, draft, depth)
    # The last place, which `longest` reaches as −1, gathers the texts on which no target token begins.
    found, missed = masses[:-1], masses[-1]
    silent = tuple(int(token) for token in np.flatnonzero(found == 0) if target_vocabulary[int(token)])
    return FirstToken(found, missed, silent, calls, draws)


def longest_lookahead(target_vocabulary: Vocabulary, draft_vocabulary: Vocabulary) -> int:
    """Return n_max: after this many draft tokens the first target token is determined, whatever they are.

    One more than the most draft tokens whose text is a proper prefix of a target token.
    Source: Timor et al., Section 3.3, Lookahead (n_max = 3 in the example).

    >>> draft = Vocabulary(["hello_", "world", "wo", "rld"])
    >>> longest_lookahead(Vocabulary(["hello_", "world", "wo", "rld", "hello_world"]), draft)
    3
    """
    target, drafted = target_vocabulary.trie, draft_vocabulary.trie
    most = np.full(len(target), -1, np.int64)
    _deepen((target.start, target.byte), (drafted.start, drafted.byte, drafted.token >= 0), most)
    return int(most[target.open].max(initial=0)) + 1


def _without_context(target: Trie, vocabulary: Vocabulary, draft: Any, depth: int | None) -> tuple[Array, int, Any]:
    masses = _checked(draft, vocabulary, None, "draft")
    trie, spelled = vocabulary.trie, vocabulary.trie.node >= 0
    zero = masses[:1] * 0
    own = zero.repeat(len(trie))
    np.add.at(own, trie.node[spelled], masses[spelled])
    below = own.copy()
    walk: tuple[Any, ...] = (target.start, target.byte, target.longest)
    drafted: tuple[Any, ...] = (trie.start, trie.byte, own, below)
    gather, spread = _gather, _spread
    if is_exact(masses):
        # The same functions, interpreted: lists hand out plain ints, and the masses are Fractions.
        gather, spread = _gather.py_func, _spread.py_func
        walk = tuple(part.tolist() for part in walk)
        drafted = (trie.start.tolist(), trie.byte.tolist(), own, below)
    gather(drafted)

    result = zero.repeat(len(target.node) + 1)
    mass = zero.repeat(len(target))
    mass[0] += masses.dtype.type(1) if not is_exact(masses) else Fraction(1)
    if depth is None:
        # Mass flows to deeper nodes only, which have higher numbers: one pass in place is every pass.
        spread(walk, drafted, mass, mass, result)
        return result, 1, mass.sum()
    draws = zero[0]
    for _ in range(depth):
        draws = draws + mass.sum()
        onward = zero.repeat(len(target))
        spread(walk, drafted, mass, onward, result)
        mass = onward
        if not bool((mass != 0).any()):
            break
    np.add.at(result, target.longest, mass)
    return result, 1, draws


@compiled
def _gather(draft: Any) -> None:
    """Add to each node of the draft trie the masses of the nodes below it, deepest first."""
    start, _, _, below = draft
    for node in range(len(below) - 1, -1, -1):
        for deeper in range(start[node], start[node + 1]):
            below[node] += below[deeper]


@compiled
def _spread(target: Any, draft: Any, mass: Any, onward: Any, result: Any) -> None:
    """Draw one draft token at every open node u of the target trie, where a text that spells u waits with mass[u].

    Both tries are walked together from (u, root). A draft token that ends on an open node waits there, in onward;
    where the draft leaves the target trie, or ends it, the first target token is the longest on the way, and all
    draft tokens beyond share it.
    """
    start, byte, longest = target
    first, letter, own, below = draft
    for u in range(len(mass)):
        if mass[u] == 0:
            continue
        pairs = [(u, 0)]
        while len(pairs) > 0:
            v, e = pairs.pop()
            w = start[v]
            for f in range(first[e], first[e + 1]):
                if below[f] == 0:
                    continue
                while w < start[v + 1] and byte[w] < letter[f]:
                    w += 1
                if w == start[v + 1] or byte[w] != letter[f]:
                    result[longest[v]] += mass[u] * below[f]
                elif start[w + 1] == start[w]:
                    result[longest[w]] += mass[u] * below[f]
                else:
                    if own[f] != 0:
                        onward[w] += mass[u] * own[f]
                    if first[f + 1] > first[f]:
                        pairs.append((int(w), int(f)))


def _with_context(target: Trie, vocabulary: Vocabulary, model: Model, depth: int | None) -> tuple[Array, int, Any]:
    end = getattr(model, "end", None)
    data, offset = vocabulary.packed
    waiting: list[tuple[tuple[int, ...], int, Any]] = [((), 0, None)]
    result: Any = None
    calls = 0
    draws: Any = None
    while waiting:
        prefix, node, mass = waiting.pop()
        row = _checked(model(prefix), vocabulary, end, f"draft after {prefix}")
        if result is None:
            result = (row[:1] * 0).repeat(len(target.node) + 1)
            mass, draws = Fraction(1) if is_exact(row) else 1.0, row[0] * 0
        elif is_exact(row) != is_exact(result):
            raise TypeError(f"all laws of a drafter must be of one world; after {prefix} it changes")
        calls, draws = calls + 1, draws + mass
        row = row * mass
        place = _land((target.start, target.byte, target.longest), node, data, offset)
        last = np.full(len(row), depth is not None and len(prefix) + 1 == depth)
        if end is not None:
            last[end] = True
        stays = (place >= 0) & ~last
        # A text that waits on an open node and may not go on is read as it stands.
        np.add.at(result, np.where(place >= 0, target.longest[place], -2 - place)[~stays], row[~stays])
        for token in np.flatnonzero(stays & (row != 0))[::-1]:
            waiting.append(((*prefix, int(token)), int(place[token]), row[token]))
    return result, calls, draws


@compiled
def _land(target: Any, node: int, data: Integers, offset: Integers) -> Any:
    """Say where a text that spells an open node is after each draft token: the open node, or −2 − the first token."""
    start, byte, longest = target
    place = np.empty(len(offset) - 1, np.int64)
    for token in range(len(place)):
        v = node
        determined = False
        for i in range(offset[token], offset[token + 1]):
            w = child(start, byte, v, data[i])
            if w < 0:
                determined = True
                break
            v = w
        determined = determined or start[v + 1] == start[v]
        place[token] = -2 - longest[v] if determined else v
    return place


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


def _checked(masses: Any, vocabulary: Vocabulary, end: int | None, name: str) -> Array:
    """Check one law of the drafter: a law on its vocabulary, with no mass on tokens that add no text, `end` apart."""
    row = law(masses, name)
    if not isinstance(row, np.ndarray):
        raise TypeError(
            f"{name}: ψ walks byte tries on the CPU; pass a NumPy array or a list, not {type(row).__name__}"
        )
    if row.shape != (len(vocabulary),):
        raise ValueError(f"{name}: the draft vocabulary has {len(vocabulary)} tokens; the law has shape {row.shape}")
    silent = [index for index in vocabulary.special if index != end and row[index] != 0]
    if silent:
        index = silent[0]
        raise ValueError(
            f"{name}: special token {index} ({vocabulary.special[index]!r}) has mass {row[index]} and adds no text "
            f"({len(silent)} such tokens); exclude them (mass 0, then proportional_to), or let it be the model's end"
        )
    return row
