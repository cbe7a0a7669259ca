"""SpecHub: two drafts, one of which is always the draft's favourite, verified optimally (Sun et al. 2024)."""

from __future__ import annotations

from typing import Any

from spec_math.arrays import as_law as checked
from spec_math.arrays import as_laws, positive_part
from spec_math.chance import Coin
from spec_math.distribution import capped_ratio, normalised
from spec_math.scheme import Emission, Optimum, Proven, Reads, Scheme, Tokens, drafted, token_of
from spec_math.token_level import greedy
from spec_math.token_level.batch import rejection
from spec_math.token_level.streamed import Chunk
from spec_math.token_level.without_replacement import without


def draw(coin: Coin, draft: Any, k: int = 2) -> Tokens:  # noqa: ARG001 - SpecHub drafts two tokens
    """Draft (x, a) with mass d(x) for x ≠ a, and (a, x) with mass d(a)·d(x)/(1 − d(a)), a the first maximum of d.

    Where the draft is one-hot the tuple is (a,). Draft [V].

    Raises:
        ValueError: draft is not a probability distribution.

    >>> from spec_math.chance import law
    >>> law(lambda coin: draw(coin, ["1/2", "1/4", "1/4"]))[0, 2]
    Fraction(1, 4)
    """
    d = checked(draft, "draft")
    hub = int(d.argmax())
    first = coin.draw(d)
    if first != hub:
        return first, hub
    return (hub,) if int((d > 0).sum()) == 1 else (hub, coin.draw(without(d, [hub])))


def emit(coin: Coin, tokens: Any, target: Any, draft: Any) -> Emission:
    """Accept the token x ≠ a up to its target mass, first in (x, a), then in (a, x); what is left may be a.

    The law: the emitted token has the target's law, and is a draft with probability
    t(a) + Σ_{x≠a} min(t, d/(1 − d(a))), the optimum for these drafts.
    In (x, a) x is accepted with chance min(1, t/d), in (a, x) with min(1, (t − d)+ / (its mass)); on rejection a is
    accepted with chance t(a)/R, R = 1 − Σ_{x≠a} min(t, d/(1 − d(a))), else a token is drawn from what x ≠ a still lack.
    Laws [V]. Source: SpecHub.

    Raises:
        ValueError: the tuple is none that SpecHub drafts, or a law is not a probability distribution.

    >>> from spec_math.chance import law
    >>> law(lambda coin: emit(coin, (1, 0), ["1/2", "1/4", "1/4"], ["1/2", "1/4", "1/4"]))
    {Emission(token=1, accepted=True): Fraction(1, 1)}
    """
    t, d = as_laws(target, draft)
    pair = drafted(tokens, d)
    hub = int(d.argmax())
    if len(pair) != min(2, int((d > 0).sum())) or hub not in pair or len(set(pair)) < len(pair):
        raise ValueError(f"SpecHub drafts two tokens of which one is the draft's first maximum, {hub}; got {pair}")
    rest = without(d, [hub]) if len(pair) == 2 else d - d
    x = next((token for token in pair if token != hub), None)
    if x is not None:
        first = pair[:1] == (x,)
        if coin.flip(capped_ratio(t[x], d[x]) if first else capped_ratio(positive_part(t - d)[x] / d[hub], rest[x])):
            return Emission(x, accepted=True)
    lacking = positive_part(t - rest)
    left = lacking.sum()
    # left = 0 is t = d' without a: then no test rejects, except a float one by a rounding error.
    if left == 0 or coin.flip(t[hub] / left):
        return Emission(hub, accepted=True)
    lacking[hub] = left - left
    return Emission(coin.draw(normalised(lacking, t)), accepted=False)


verify = token_of(emit)
"""The verifier: it returns the token that `emit` emits."""


def acceptance(target: Any, draft: Any, k: int = 2) -> Any:  # noqa: ARG001
    """Return the probability t(a) + Σ_{x≠a} min(t, d/(1 − d(a))), for laws [..., V]; the sets are greedy's for k = 2.

    >>> acceptance(["1/4", "1/2", "1/4"], ["1/2", "1/4", "1/4"])
    Fraction(1, 1)
    """
    return greedy.acceptance(target, draft, 2)


OPTIMUM = Optimum("SpecHub's drafts", acceptance, None, Chunk.hub)
"""The optimum of SpecHub's sets, which have the law of two greedy drafts."""

SCHEME = Scheme(
    "SpecHub",
    draw,
    verify,
    acceptance,
    emit=emit,
    decide=rejection.decide_hub,
    reads=Reads(favourite=True),
    coins=lambda _: 3,
    distinct=True,
    drafts=2,
    optimum=OPTIMUM,
    streamed=Chunk.hub,
    proven=Proven(
        lossless=((2, 2, 0.1), (3, 2, 1.0)), formulas=((2, 2, 0.1), (3, 2, 4.3)), optimal=((2, 2, 0.1), (3, 2, 1.3))
    ),
    pages=("theorems/hub", "how_to/choose_a_multi_draft_method"),
)
