"""FLy: a rejected draft is kept where the target is undecided and the drafts after it are accepted.

Each draft of a chain is tested as without loss, one coin each. A rejected one is kept all the same if the target can
emit it, the entropy of the target's `top` likeliest tokens is at least `entropy`, and the next `window` drafts of the
chain pass their own tests. The chain ends with the first draft that is not kept, and a token of the residual there.

Near the end of a chain nothing is deferred, as fewer than `window` drafts follow: what is emitted depends on the place
of a position in its block, so that no law of one position describes it.

Source: FLy as vLLM 0.33.0 has it, v1/spec_decode/fly.py.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np

from spec_math.arrays import Array, count, is_exact
from spec_math.block_level.chain import draw_with_rows
from spec_math.block_level.conditionals import Conditionals
from spec_math.chance import Coin
from spec_math.distribution import capped_ratio, residual_of
from spec_math.language.model import Model
from spec_math.lossy.logarithm import sign
from spec_math.lossy.options import Checked, at_least, option, options_of
from spec_math.scheme import Tokens


@dataclass(frozen=True)
class Options(Checked):
    """`entropy`, in nats from 0 on, of the `top` likeliest tokens; `window`, how many drafts must follow.

    >>> Options("1/2", 1)
    Options(entropy=Fraction(1, 2), window=1, top=3)
    """

    entropy: Any = option(Fraction(1, 2), at_least(0))
    window: int = option(1, count)
    top: int = option(3, count)


def undecided(target: Array, options: Options) -> bool:
    """Say whether −Σ t ln t over the likeliest tokens of a law [V] is at least the threshold.

    >>> from spec_math.arrays import exact
    >>> undecided(exact(["1/2", "1/2"]), Options("69/100")), undecided(exact(["1/2", "1/2"]), Options("7/10"))
    (True, False)
    """
    top = sorted(target.tolist(), reverse=True)[: options.top]
    if is_exact(target):
        return sign([(-mass, mass) for mass in top if mass], -options.entropy) >= 0
    return float(-sum(mass * np.log(mass) for mass in top if mass > 0)) >= float(options.entropy)


def generate(
    coin: Coin, models: tuple[Model, Model], prefix: Sequence[int], lookahead: int, options: Any = None
) -> Tokens:
    """Draft `lookahead` tokens, keep or defer them, and add one token; `models` are the target and the draft.

    Raises:
        ValueError, TypeError: as `block_level.chain.generate`; options out of range.

    >>> from spec_math.chance import law
    >>> models = (lambda prefix: ["1/4", "3/4"]), (lambda prefix: ["1/2", "1/2"])
    >>> law(lambda coin: generate(coin, models, (), 2, Options(0, 1))[0])[0]
    Fraction(7, 16)
    """
    chosen = options_of(Options, options)
    laws = Conditionals(*models, prefix)
    tokens, targets, drafts = draw_with_rows(coin, laws, lookahead)
    passed = [coin.flip(capped_ratio(t[x], d[x])) for x, t, d in zip(tokens, targets, drafts, strict=False)]
    for place, token in enumerate(tokens):
        following = passed[place + 1 : place + 1 + chosen.window]
        deferred = len(following) == chosen.window and all(following) and targets[place][token] > 0
        if not (passed[place] or (deferred and undecided(targets[place], chosen))):
            return (*tokens[:place], coin.draw(residual_of(targets[place], drafts[place])))
    return tokens if laws.ends(tokens) else (*tokens, coin.draw(laws.target(tokens)))
