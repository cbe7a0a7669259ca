"""SpecTr-GBV for blocks (arXiv 2604.25925), written down from the authors' public code, and one chain of it mended.

K chains of L tokens are drafted. With M_d(s) and M_t(s) the masses of a text s under draft and target, r = min(1,
M_d/M_t) and f(s) = M_t(s) (1 − (1 − r(s))^K), a text s of fewer than L tokens is kept with chance
(Σ_x f'(s x) − f'(s)) / (1 − (1 − M_d(s))^K − Σ_x f(s x)), f' = M_t − f, the longest that passes, once a text; all of a
chain with f(s)/(1 − (1 − M_d(s))^K), and then no other chain is looked at. The chains are gone through in turn, each
from as many tokens as have been kept so far, its own. Then one token is drawn in proportion to M_t (1 − r^K).
"""

from __future__ import annotations

from fractions import Fraction

from spec_math.arrays import positive_part
from spec_math.chance import Coin
from spec_math.distribution import normalised
from spec_math.language.model import Model
from spec_math.scheme import Tokens

ONE = Fraction(1)


class Masses:
    """What a text after the prefix weighs under both models."""

    def __init__(self, target: Model, draft: Model, prefix: Tokens) -> None:
        self.models, self.prefix = (target, draft), prefix

    def rows(self, text: Tokens) -> list[list[Fraction]]:
        """Return the target's and the draft's law after a text."""
        return [list(model((*self.prefix, *text))) for model in self.models]

    def of(self, text: Tokens) -> tuple[Fraction, Fraction]:
        """Return M_t and M_d of a text."""
        found = [ONE, ONE]
        for place, token in enumerate(text):
            found = [mass * row[token] for mass, row in zip(found, self.rows(text[:place]), strict=True)]
        return found[0], found[1]

    def after(self, text: Tokens) -> list[tuple[Fraction, Fraction]]:
        """Return M_t and M_d of a text and one token more."""
        of_target, of_draft = self.of(text)
        return [(of_target * t, of_draft * d) for t, d in zip(*self.rows(text), strict=True)]


def generate(coin: Coin, target: Model, draft: Model, prefix: Tokens, lookahead: int, k: int) -> Tokens:
    """Emit one block as the public code does; the target where nothing is left to draw, which it does not foresee."""
    masses = Masses(target, draft, prefix)
    chains = [_drafted(coin, masses, lookahead) for _ in range(k)]
    kept: Tokens = ()
    refused: set[Tokens] = set()
    for chain in chains:
        for size in range(len(kept) + 1, lookahead):
            text = chain[:size]
            if text in refused:
                continue
            if coin.flip(_chance(masses, text, k)):
                kept = text
            else:
                refused.add(text)
        of_target, of_draft = masses.of(chain)
        if coin.flip(_wanted(of_target, of_draft, k) / _drafted_by_any(of_draft, k)):
            kept = chain
            break
    if len(kept) == lookahead:
        return (*kept, coin.draw(target((*prefix, *kept))))
    left = [t * (1 - _ratio(t, d) ** k) for t, d in masses.after(kept)]
    total = sum(left)
    return (*kept, coin.draw([mass / total for mass in left] if total else target((*prefix, *kept))))


def later_targets_changed(coin: Coin, target: Model, draft: Model, prefix: Tokens, lookahead: int) -> Tokens:
    """Emit one block of one chain, and then, up to L tokens in all, draw in proportion to (M_t − M_d)+."""
    text = generate(coin, target, draft, prefix, lookahead, 1)
    masses = Masses(target, draft, prefix)
    while len(text) < lookahead:
        row = target((*prefix, *text)) * ONE
        t, d = masses.of(text)
        changed = t * row - d * draft((*prefix, *text))
        text = (*text, coin.draw(normalised(positive_part(changed), row)))
    return text


def _drafted(coin: Coin, masses: Masses, lookahead: int) -> Tokens:
    chain: Tokens = ()
    while len(chain) < lookahead:
        chain = (*chain, coin.draw(masses.rows(chain)[1]))
    return chain


def _chance(masses: Masses, text: Tokens, k: int) -> Fraction:
    of_target, of_draft = masses.of(text)
    longer = sum((_wanted(t, d, k) for t, d in masses.after(text)), ONE * 0)
    # What the target writes after the text, and is not wanted of a chain, beyond what is not wanted of the text.
    top = of_target - longer - (of_target - _wanted(of_target, of_draft, k))
    bottom = _drafted_by_any(of_draft, k) - longer
    return min(ONE, max(ONE * 0, top / bottom)) if bottom > 0 else ONE * (top > 0)


def _wanted(of_target: Fraction, of_draft: Fraction, k: int) -> Fraction:
    return of_target * (1 - (1 - _ratio(of_target, of_draft)) ** k)


def _ratio(of_target: Fraction, of_draft: Fraction) -> Fraction:
    return min(ONE, of_draft / of_target) if of_target else ONE


def _drafted_by_any(of_draft: Fraction, k: int) -> Fraction:
    return 1 - (1 - of_draft) ** k
