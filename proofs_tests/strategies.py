"""Hypothesis strategies for laws and pairs: zeros, ties, equal, permuted, disjoint, one-hot, masses of 2^-60."""

from __future__ import annotations

from fractions import Fraction

from hypothesis import strategies as st

from spec_math.arrays import Array, exact, proportional_to

SMALL = st.integers(0, 6)
WIDE = st.one_of(SMALL, st.sampled_from([Fraction(1, 2**60), Fraction(1, 10**9), 10**9]))


@st.composite
def laws(draw: st.DrawFn, size: int) -> Array:
    """A law on `size` tokens, from small whole weights or weights of very different size."""
    kind = draw(st.sampled_from(["small", "wide", "one-hot"]))
    if kind == "one-hot":
        at = draw(st.integers(0, size - 1))
        return exact([int(token == at) for token in range(size)])
    weights = draw(st.lists(SMALL if kind == "small" else WIDE, min_size=size, max_size=size).filter(any))
    return proportional_to(weights)


@st.composite
def pairs(draw: st.DrawFn, largest: int = 4) -> tuple[Array, Array]:
    """A target and a draft: unrelated, equal, permuted, tied up to one token, or disjoint."""
    size = draw(st.integers(1, largest))
    target = draw(laws(size))
    kind = draw(st.sampled_from(["any", "any", "any", "equal", "permuted", "tied", "disjoint"]))
    if kind == "equal":
        return target, target.copy()
    if kind == "permuted":
        return target, target[list(draw(st.permutations(range(size))))]
    if kind == "tied":
        weights = [*target[:-1], target[-1] + draw(st.sampled_from([1, Fraction(1, 2**60)]))]
        return target, proportional_to(weights)
    if kind == "disjoint" and size > 1:
        cut = draw(st.integers(1, size - 1))
        left, right = draw(laws(cut)), draw(laws(size - cut))
        return exact([*left, *[0] * (size - cut)]), exact([*[0] * cut, *right])
    return target, draw(laws(size))


@st.composite
def vocabularies(draw: st.DrawFn, letters: str = "ab", longest: int = 3, most: int = 5) -> list[str]:
    """The tokens of a vocabulary over a few letters: prefixes of one another, in any order, some letters missing."""
    words = st.text(letters, min_size=1, max_size=longest)
    return draw(st.lists(words, min_size=1, max_size=most, unique=True))


def counts(largest: int = 3) -> st.SearchStrategy[int]:
    """A number of drafts."""
    return st.integers(1, largest)


@st.composite
def dyadic_laws(draw: st.DrawFn, size: int, bits: int = 40) -> Array:
    """A law whose masses are multiples of 2^-bits: floats hold it exactly, so only arithmetic rounds."""
    whole = 1 << bits
    cuts = sorted(
        draw(st.lists(st.one_of(st.integers(0, whole), st.just(whole // 4)), min_size=size - 1, max_size=size - 1))
    )
    return exact([Fraction(b - a, whole) for a, b in zip([0, *cuts], [*cuts, whole], strict=True)])


@st.composite
def dyadic_pairs(draw: st.DrawFn, largest: int = 4, bits: int = 40) -> tuple[Array, Array]:
    """A target and a draft that floats hold exactly: unrelated, equal, or a unit apart."""
    size = draw(st.integers(1, largest))
    target = draw(dyadic_laws(size, bits))
    kind = draw(st.sampled_from(["any", "any", "equal", "near"]))
    if kind == "any":
        return target, draw(dyadic_laws(size, bits))
    draft = target.copy()
    if kind == "near" and size > 1 and draft[0] > 0:
        draft[0], draft[-1] = draft[0] - Fraction(1, 1 << bits), draft[-1] + Fraction(1, 1 << bits)
    return target, draft
