"""The text that a drafter with a vocabulary of its own reads, and the draft tokens that it proposes."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from spec_math import array_coin
from spec_math.arrays import Array, check_same_number_type, count
from spec_math.block_level.lengths.drafted_chains import GatheredLaws
from spec_math.chance import Coin
from spec_math.distribution import restriction
from spec_math.language import NGram, TokenizedModel, UntokenisableError
from spec_math.scheme import Tokens


class Reading:
    """The drafter's laws after a text: a model on the draft tokens that follow it.

    The drafter is conditioned on the draft tokenisation of the text, or of the longest suffix that it can read
    (`TokenizedModel.read`), and then on its own draft tokens as they are: D(c) ⊕ d₁ ⊕ … ⊕ d_{j−1}. Tokens that add no
    text are excluded from drafting, but for the drafter's end: each law is restricted to the others.

    Source: Timor et al., Alg. 2, lines 4 to 6.

    >>> from spec_math.language import Vocabulary
    >>> drafter = TokenizedModel(lambda prefix: ["1/4", "1/4", "1/2"], Vocabulary(["a", "ab", "<pad>"], special=[2]))
    >>> reading = Reading(drafter, b"aab")
    >>> reading.context_tokens, reading(()).tolist()
    ((0, 1), [Fraction(1, 2), Fraction(1, 2), Fraction(0, 1)])
    """

    def __init__(self, drafter: TokenizedModel, text: bytes) -> None:
        self.context_tokens = drafter.read(text)
        self.end = drafter.end
        self._drafter = drafter
        self._silent = [token for token in drafter.vocabulary.special if token != drafter.end]
        self._said = np.ones(len(drafter.vocabulary), dtype=bool)
        self._said[self._silent] = False
        self._laws: dict[Tokens, Array] = {}

    def __call__(self, path: Tokens) -> Array:
        """Return the draft law [D] after the text and the draft tokens `path`.

        Raises:
            ValueError: all its mass lies on tokens that add no text; as `TokenizedModel.law`.
        """
        if path not in self._laws:
            self._laws[path] = self._spoken(self.context_tokens + path)
        return self._laws[path]

    def draw(self, coin: Coin, lookahead: int, enough: Callable[[Tokens], bool] = lambda _: False) -> Tokens:
        """Draw `lookahead` draft tokens one after another; none follows the drafter's end, or what is enough.

        >>> from spec_math.chance import replay
        >>> from spec_math.language import Vocabulary
        >>> drafter = TokenizedModel(lambda prefix: ["1/2", "1/2"], Vocabulary(["a", "b"]))
        >>> replay(lambda coin: Reading(drafter, b"").draw(coin, 2), [0.1, 0.7])
        (0, 1)
        """
        drafted: Tokens = ()
        for _ in range(count(lookahead, "lookahead")):
            drafted = (*drafted, coin.draw(self(drafted)))
            if drafted[-1] == self.end or enough(drafted):
                break
        return drafted

    def draw_all(self, uniforms: Array) -> list[Tokens]:
        """Draw n texts side by side by given uniforms [n, L] in [0, 1), as coins would; none after an end.

        An n-gram drafter with floating laws is asked for the laws after all of them at once, token by token.

        >>> from spec_math.language import NGram, Vocabulary
        >>> drafter = TokenizedModel(NGram.learn([0, 1, 0, 1, 1], order=2, size=2), Vocabulary(["a", "b"]))
        >>> Reading(drafter, b"a").draw_all(np.array([[0.1, 0.7], [0.9, 0.1]]))
        [(0, 1), (1, 0)]
        """
        drafted: list[Tokens] = [()] * len(uniforms)
        for column in np.asarray(uniforms).T:
            growing = [at for at, path in enumerate(drafted) if not path or path[-1] != self.end]
            if not growing:
                break
            self._gather([drafted[at] for at in growing])
            tokens = array_coin.drawn(np.stack([self(drafted[at]) for at in growing]), column[growing])
            for at, token in zip(growing, tokens.tolist(), strict=True):
                drafted[at] = (*drafted[at], token)
        return drafted

    def text(self, path: Tokens) -> bytes:
        """Return what draft tokens add to the text."""
        return self._drafter.vocabulary.spell(path)

    def _gather(self, paths: Sequence[Tokens]) -> None:
        """Ask an n-gram drafter for the laws after all paths that are not known yet: they are laws by construction."""
        model = self._drafter.model
        missing = [path for path in dict.fromkeys(paths) if path not in self._laws]
        if not missing or not isinstance(model, NGram) or model.size != len(self._drafter.vocabulary):
            return
        known = self.context_tokens[max(0, len(self.context_tokens) - model.order + 1) :]
        rows = model.rows(np.stack([model.context(known + path) for path in missing]))
        self._laws.update(zip(missing, restriction(rows, self._said) if self._silent else rows, strict=True))

    def _spoken(self, prefix: Tokens) -> Array:
        row = self._drafter.law(prefix)
        if not any(row[token] != 0 for token in self._silent):
            return row
        try:
            return restriction(row, self._said)
        except ValueError:
            raise ValueError(
                f"draft after the prefix {prefix}: all its mass lies on tokens that add no text, which are "
                "excluded from drafting; let one of them be the model's end, or give mass to a token with text"
            ) from None


def opened(target: TokenizedModel, drafter: TokenizedModel, prefix: Sequence[int]) -> tuple[GatheredLaws, Reading]:
    """Open a block after a prefix of target tokens: the target's laws from there on, and what the drafter reads.

    Raises:
        ValueError: the prefix is not valid, or the target's laws are not over its vocabulary.
        TypeError: one model's laws are exact and the other's floating.

    >>> from spec_math.language import Vocabulary
    >>> target = TokenizedModel(lambda prefix: ["1/2", "1/2"], Vocabulary(["a", "b"]))
    >>> opened(target, TokenizedModel(lambda prefix: ["1"], Vocabulary(["ab"])), (0, 1))[1].context_tokens
    (0,)
    """
    laws = GatheredLaws(target.model, target.model, prefix)
    if laws.size != len(target.vocabulary):
        raise ValueError(
            f"target after the prefix {laws.prefix}: the vocabulary has {len(target.vocabulary)} tokens; the "
            f"distribution has {laws.size}"
        )
    reading = Reading(drafter, target.vocabulary.spell(laws.prefix))
    check_same_number_type(laws.target(), reading(()))
    return laws, reading


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
