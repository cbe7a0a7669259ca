"""The judge of what an engine emits: is the law of its tokens the target's, to within a derived bound?"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from math import log
from typing import Any

from spec_math.arrays import asarray
from spec_math.block_level.lossless import Text, continued, target_law
from spec_math.language.model import Model
from spec_math.scheme import is_index
from spec_math.verdict import UNIT, Allowance, Lossy, Verdict
from spec_math.verdict import judged as judge

FLOAT32 = UNIT["float32"]
"""The unit roundoff of float32."""


def judged(emitted: Mapping[Text, Any], target_model: Model, horizon: int, bound: Allowance | float) -> Verdict:
    """Decide whether a law of emitted tokens, continued by the target, is the target's joint law of `horizon` tokens.

    `emitted` is what an adapter returns, {tokens: probability}; longer texts are cut at the horizon. `bound` is the
    total variation that the engine's arithmetic may be off by, as `float32_bound` has it. What is no token of the
    target is lossy, with the path to it where the law knows one.

    >>> fair = lambda prefix: [0.5, 0.5]
    >>> judged({(0,): 0.75, (1,): 0.25}, fair, 2, bound=0).total_variation
    0.25
    >>> print(judged({(0,): 0.75, (7,): 0.25}, fair, 2, bound=0))
    Lossy: the tokens (7,) are emitted with probability 0.25, and 7 is no token: there are 2
    """
    size = len(asarray(target_model(())))
    stray = first_stray(emitted, size)
    if stray is not None:
        token = next(token for token in stray if not _is_token(token, size))
        return Lossy(
            f"the tokens {stray} are emitted with probability {float(emitted[stray]):.6g}, and {token} is no token: "
            f"there are {size}",
            tokens=stray,
            emitted=emitted[stray],
            path=getattr(emitted, "stray", ()),
        )
    cut = shortened(emitted, horizon)
    law, wanted = continued(cut, target_model, horizon), target_law(target_model, horizon)
    return judge(law, wanted, bound, getattr(emitted, "paths", len(emitted)))


def first_stray(emitted: Mapping[Text, Any], size: int) -> Text | None:
    """Return the first emitted text that holds what is no token of a vocabulary, in the order of texts, or None.

    >>> first_stray({(0, 1): 0.5, (2,): 0.25, (1, -1): 0.25}, 2)
    (1, -1)
    """
    return min((text for text in emitted if not all(_is_token(token, size) for token in text)), default=None)


def _is_token(token: Any, size: int) -> bool:
    return is_index(token) and 0 <= token < size


def shortened(emitted: Mapping[Text, Any], length: int) -> dict[Text, Any]:
    """Return the law of the first `length` tokens of texts.

    >>> shortened({(0, 1): 0.5, (0, 0): 0.25, (1,): 0.25}, 1)
    {(0,): 0.75, (1,): 0.25}
    """
    cut: dict[Text, Any] = {}
    for text, mass in emitted.items():
        cut[text[:length]] = cut.get(text[:length], 0) + mass
    return cut


def total_variation(one: Mapping[Any, Any], other: Mapping[Any, Any]) -> float:
    """Return half the sum of |one − other| over all outcomes of two laws {outcome: mass}.

    >>> total_variation({0: 0.5, 1: 0.5}, {0: 0.75, 2: 0.25})
    0.5
    """
    return float(sum(abs(one.get(outcome, 0) - other.get(outcome, 0)) for outcome in one.keys() | other.keys()) / 2)


def float32_bound(rows: Sequence[Sequence[float]]) -> float:
    """Return the total variation that a float32 verifier may be off by, emitting one token for each target row [V].

    The sum of `token_bound` over the rows, without temperature or filters. Draft rows need no bound of their own: any
    law does that is both sampled and reported.

    >>> float32_bound([[0.5, 0.5]]) < 4e-6
    True
    """
    return sum(token_bound(min(mass for mass in row if mass > 0), len(row)) for row in rows)


def token_bound(least: float, size: int, unit: float = FLOAT32, heat: float | None = None) -> float:
    """Return the total variation that one token of a verifier may be off by, for a target row of V = `size` masses.

    `least` is its smallest positive mass and D = −log of it. With u the unit roundoff: a logit log t is off by D·u, the
    difference to the largest logit by D·u more, exp by 2u, the sum by V·u and the quotient by u, so that a mass is off
    by a factor 1 ± e with e = (4D + V + 5)·u, the first two counting in the sum as well. A row of such masses sums to
    1 ± (V + 2)·u; so does the draft's, and drawing divides by those sums: 3(V + 2)·u at most. The ratio of the test,
    the difference of the residual and its sum are rounded once each: 3u. Together (4D + 4V + 14)·u, first order in u.

    Where the engine applies a temperature `heat` and filters, logits divided by it are off by 2·D/T·u and their
    difference to the largest by D/T·u more, which count in the sum as well, and filters divide once more by a sum,
    (V + 2)·u: (6·D/T + 5·V + 16)·u. Twice either leaves room for the rest.

    >>> token_bound(0.5, 2) < token_bound(0.5, 2, heat=1.0) < token_bound(0.5, 2, heat=0.5) < 8e-6
    True
    """
    depth = -log(least)
    roundings = 4 * depth + 4 * size + 14 if heat is None else 6 * depth / heat + 5 * size + 16
    return 2 * roundings * unit
