"""MTAD: the longest drafted prefix that the target finds likely enough as a whole is kept.

Of a drafted chain the longest prefix with t(x_1 … x_i)/d(x_1 … x_i) > `threshold` is accepted, whatever its shorter
prefixes are, and a token of the target follows it. Nothing is random once the chain is drafted; with a chain sampled
from the draft the law of one drafted position is d on the tokens with t/d > threshold, and t on the rest.

Source: multi-token assisted decoding (Qin et al., ICLR 2025), as its public code has it; there the chain comes from a
beam search of the draft model.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from spec_math.block_level.chain import draw
from spec_math.block_level.conditionals import Conditionals
from spec_math.chance import Coin
from spec_math.language.model import Model
from spec_math.lossy.one_draft import as_number
from spec_math.lossy.options import Checked, option, options_of, positive
from spec_math.scheme import Tokens


@dataclass(frozen=True)
class Options(Checked):
    """`threshold`, above 0, on the likelihood ratio of a whole prefix.

    >>> Options("1/2")
    Options(threshold=Fraction(1, 2))
    """

    threshold: Any = option(Fraction(1, 2), positive)


def generate(
    coin: Coin, models: tuple[Model, Model], prefix: Sequence[int], lookahead: int, options: Any = None
) -> Tokens:
    """Draft `lookahead` tokens, keep the longest likely prefix, and add a token; `models` are the target and the draft.

    Raises:
        ValueError, TypeError: as `block_level.chain.generate`; the threshold is not above 0.

    >>> from spec_math.chance import law
    >>> models = (lambda prefix: ["1/4", "3/4"]), (lambda prefix: ["1/2", "1/2"])
    >>> law(lambda coin: generate(coin, models, (), 1, "3/4")[0])[0]
    Fraction(1, 8)
    """
    laws = Conditionals(*models, prefix)
    least = as_number(options_of(Options, options).threshold, laws.target())
    tokens = draw(coin, laws, lookahead)
    wanted, proposed, kept = laws.target().sum(), laws.target().sum(), 0
    for place, token in enumerate(tokens):
        wanted = wanted * laws.target(tokens[:place])[token]
        proposed = proposed * laws.draft(tokens[:place])[token]
        if wanted > least * proposed:
            kept = place + 1
    accepted = tokens[:kept]
    return accepted if laws.ends(accepted) else (*accepted, coin.draw(laws.target(accepted)))
