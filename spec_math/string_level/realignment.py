"""Drafted text as target tokens: tokenised alone, or with what stands before it where the tokeniser loses text."""

from __future__ import annotations

from collections.abc import Sequence

from spec_math.language import TokenizedModel, UntokenisableError
from spec_math.scheme import Tokens


def candidate(target: TokenizedModel, prefix: Tokens, drafted: bytes, lookbehind: int) -> Tokens:
    """Return the target tokens that a drafted text is taken for, after a prefix of target tokens.

    T(drafted), where the target's tokeniser gives that text back. Of a text that longest-prefix tokenisation fails on,
    the tokens before the failure. Where the tokeniser loses text, the text of the last `lookbehind` tokens of the
    prefix is encoded with it and what lies beyond the overlap with those tokens is taken (`beyond`).

    Source: Timor et al., Alg. 2, line 7, and Section 3.2.

    >>> from spec_math.language import Vocabulary
    >>> target = TokenizedModel(lambda prefix: [], Vocabulary(["a", "b", "ab"]))
    >>> candidate(target, (0,), b"baba", 10), candidate(target, (0,), b"bac", 10)
    ((1, 2, 0), (1, 0))
    """
    if not drafted:
        return ()
    try:
        alone = tuple(target.encode(drafted))
    except UntokenisableError as error:
        return error.read
    except ValueError:
        alone = None
    if alone is not None and target.vocabulary.spell(alone) == drafted:
        return alone
    old = prefix[max(0, len(prefix) - lookbehind) :]
    try:
        new = tuple(target.encode(target.vocabulary.spell(old) + drafted))
    except ValueError:
        return alone or ()
    found = beyond(old, new)
    return (alone or ()) if found is None else found


def beyond(old: Sequence[int], new: Sequence[int]) -> Tokens | None:
    """Return the tokens of `new` beyond its overlap with `old`; None where they have no token in common.

    The overlap is the longest stretch that stands in both; of equally long ones the one latest in old, then earliest in
    new. What is left of old after the stretch is taken for as many tokens of new.

    Source: Timor et al., Section 3.2 ("the longest stretch of matched tokens").

    >>> beyond((7, 1, 2, 3), (1, 2, 4, 5)), beyond((1,), (2, 3))
    ((5,), None)
    """
    longest, place = 0, 0
    # stretch[j]: how long a stretch ends at old[j] and at the token of new at hand.
    stretch = [0] * (len(old) + 1)
    latest = -1
    for i, token in enumerate(new):
        ends = [0] * (len(old) + 1)
        for j, other in enumerate(old):
            if token == other:
                ends[j + 1] = stretch[j] + 1
                if (ends[j + 1], j) > (longest, latest):
                    longest, latest, place = ends[j + 1], j, i
        stretch = ends
    if longest == 0:
        return None
    return tuple(new[place + 1 + len(old) - 1 - latest :])
