"""Speculative Jacobi decoding: the target drafts for itself, with the laws of its last call at later positions (SJD).

Source: Teng et al. 2024, "Accelerating Auto-regressive Text-to-Image Generation with Training-free Speculative Jacobi
Decoding", and Kang et al. 2026, "SJD-PAC", whose continuation is `keep`; both as read in their public code.
"""

from __future__ import annotations

from collections.abc import Sequence

from spec_math.arrays import Array, count
from spec_math.block_level.conditionals import Conditionals
from spec_math.chance import Coin
from spec_math.distribution import normalised
from spec_math.language.model import Model
from spec_math.scheme import Tokens
from spec_math.token_level.recursive import tried_in_turn

Window = tuple[tuple[int, Array], ...]
"""Drafted tokens of the next positions, each with the law that it was drawn from."""


def generate(
    coin: Coin, target_model: Model, prefix: Sequence[int], length: int, lookahead: int, keep: bool = False
) -> tuple[Tokens, int]:
    """Decode `length` tokens, or up to the end of the text, in windows of `lookahead` drafts; count the target's calls.

    The law: the tokens have the target's joint law, with `keep` and without. A window starts with uniform drafts; none
    stands behind a drafted token that ends the text.
    Source: Teng et al. 2024; `keep` is the adaptive continuation of Kang et al. 2026.

    Raises:
        ValueError, TypeError: length or lookahead is not a positive integer; a law is not a probability distribution or
            the prefix is not valid, named by its prefix.

    >>> from spec_math.chance import law
    >>> law(lambda coin: generate(coin, lambda prefix: ["1/4", "3/4"], (), 1, 1)[0])
    {(0,): Fraction(1, 4), (1,): Fraction(3, 4)}
    """
    length, lookahead = count(length, "length"), count(lookahead, "lookahead")
    laws = Conditionals(target_model, target_model, prefix)
    text: Tokens = ()
    window: Window = ()
    calls = 0
    while len(text) < length and not laws.ends(text):
        row = laws.target(text)
        uniform = normalised(row * 0 + row.sum(), row)
        window = (*window, *((coin.draw(uniform), uniform) for _ in range(lookahead - len(window))))
        emitted, window = verify(coin, laws, text, _to_the_end(laws, window), keep)
        text, calls = (*text, *emitted), calls + 1
    return text[:length], calls


def verify(coin: Coin, laws: Conditionals, text: Tokens, window: Window, keep: bool = False) -> tuple[Tokens, Window]:
    """Call the target on a window: return the tokens that it emits, and the drafts of the positions behind them.

    The law: with p_i the target's law after the text and the drafts before i, draft i is accepted with chance
    min(1, p_i/q_i), q_i the law that it was drawn from; the first that is not is drawn from (p_i − q_i)+ instead, and
    ends what is emitted. A later draft is drawn anew from p_i, or with `keep` kept with the same chance, else drawn
    from (p_i − q_i)+: of the law p_i either way, whatever stands before it. Where all are accepted the target adds a
    token, unless the text has ended; only the last draft may end it.

    >>> from spec_math.chance import law
    >>> laws = Conditionals(lambda _: ["1/4", "3/4"], lambda _: ["1/4", "3/4"], ())
    >>> law(lambda coin: verify(coin, laws, (), ((0, laws.target() * 0 + laws.target()[::-1]),))[0][0])
    {0: Fraction(1, 3), 1: Fraction(2, 3)}
    """
    drafted = tuple(token for token, _ in window)
    for place, (token, own) in enumerate(window):
        row = laws.target((*text, *drafted[:place]))
        emission = tried_in_turn(coin, row, [(token, own)])
        if emission.accepted:
            continue
        # The laws of this call, after the drafts as they were: the next call tests against these.
        after = [laws.target((*text, *drafted[:behind])) for behind in range(place + 1, len(window))]
        later = zip(window[place + 1 :], after, strict=True)
        continued = tuple((_continued(coin, draft, row, keep), row) for draft, row in later)
        return (*drafted[:place], emission.token), continued
    return drafted if laws.ends(drafted) else (*drafted, coin.draw(laws.target((*text, *drafted)))), ()


def _to_the_end(laws: Conditionals, window: Window) -> Window:
    """Return the drafts up to the first that ends the text: the target has no law behind it."""
    return window[: next((place for place, (token, _) in enumerate(window, 1) if token == laws.end), len(window))]


def _continued(coin: Coin, draft: tuple[int, Array], after: Array, keep: bool) -> int:
    return tried_in_turn(coin, after, [draft] if keep else []).token
