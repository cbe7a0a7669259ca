"""Mentored decoding: the law of largest acceptance whose Kullback-Leibler divergence is within a budget.

The law is that of `divergence_budget`, which for one draft is clip(d, A·t, B·t); drafts are verified against it
losslessly. The method's own text was read as far as its statement of the problem; for the problem the law is the only
solution, whatever algorithm finds it. On Fractions the budget is kept exactly, within (1 − α*)/2^40 of the optimum.

Source: V. Tran-Thien 2023, An optimal lossy variant of speculative decoding, for one draft; k drafts: worked out here.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from spec_math.arrays import Array, is_exact
from spec_math.chance import Coin
from spec_math.lossy import divergence_budget, frontier
from spec_math.lossy.options import Checked, at_least, option, options_of
from spec_math.lossy.rule import Rule
from spec_math.remembering import remembering
from spec_math.scheme import Emission, drafted, token_of


@dataclass(frozen=True)
class Options(Checked):
    """`nats`, the budget from 0 on; `to_target`: KL(t‖e) instead of KL(e‖t).

    >>> Options("1/10")
    Options(nats=Fraction(1, 10), to_target=False)
    """

    nats: Any = option(Fraction(1, 10), at_least(0))
    to_target: bool = False


def emit(coin: Coin, tokens: Any, target: Any, draft: Any, options: Any = None) -> Emission:
    """Verify k i.i.d. drafts, k the length of the tuple, by the optimal plan for the law of the budget; laws [V].

    Raises:
        TypeError, ValueError: the budget is negative; a drafted token that the draft cannot draw; as `frontier.law`.

    >>> from spec_math.chance import law
    >>> law(lambda coin: emit(coin, (0,), ["1/4", "3/4"], ["1/2", "1/2"], 1))
    {Emission(token=0, accepted=True): Fraction(1, 1)}
    """
    t, d = frontier.one_position(target, draft)
    listed = drafted(tokens, d)
    return frontier.emit(coin, listed, t, d, acceptance(t, d, len(listed), options))


verify = token_of(emit)
"""The verifier: it returns the token that `emit` emits."""


def law(target: Any, draft: Any, k: int = 1, options: Any = None) -> Array:
    """Return the emitted law for k i.i.d. drafts, for laws [V].

    Raises:
        TypeError, ValueError: as `emit`.

    >>> law(["1/4", "3/4"], ["1/2", "1/2"], 1, 1).tolist()
    [Fraction(1, 2), Fraction(1, 2)]
    """
    t, d = frontier.one_position(target, draft)
    return frontier.law(t, d, k, acceptance(t, d, k, options))


def acceptance(target: Any, draft: Any, k: int = 1, options: Any = None) -> Any:
    """Return the acceptance, a probability: the lower end of the bracket of the optimum, for laws [V].

    Raises:
        TypeError, ValueError: as `emit`.

    >>> acceptance(["1/4", "3/4"], ["1/2", "1/2"], 1, 0)
    Fraction(3, 4)
    """
    t, d = frontier.one_position(target, draft)
    found = _lower(t, d, k, options_of(Options, options))
    return found if is_exact(t) else float(found)


@remembering(1024)
def _lower(target: Array, draft: Array, k: int, chosen: Options) -> Any:
    return divergence_budget.bracket(target, draft, k, chosen.nats, chosen.to_target).lower


SWEPT = ("0", "1/1000", "1/100", "1/50", "1/20", "1/10", "1/5", "1/2", "1", "2")
RULE = Rule("mentored decoding", Options, emit, law, acceptance, SWEPT, "KL(e‖t) in nats", several=True)
