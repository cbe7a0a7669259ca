"""K-SEQ: k i.i.d. drafts, each tested against t/(γ d) (SpecTr Alg. 2), at the least γ that is certified valid."""

from __future__ import annotations

from typing import Any

from spec_math.arrays import Array, array_namespace, as_laws, count, divide, is_exact, ones_like
from spec_math.chance import Coin
from spec_math.distribution import as_probability, capped_ratio
from spec_math.remembering import remembering
from spec_math.scheme import Emission, Parameter, Proven, Scheme, drafted, draw_independent, token_of
from spec_math.token_level import optimal
from spec_math.token_level.batch.rejection import decide_k_sequential
from spec_math.token_level.excess import STEPWISE, Excess, column, least, none_of, scaled
from spec_math.token_level.excess import beta as beta
from spec_math.token_level.excess import f as f
from spec_math.token_level.excess import gamma_star as gamma_star
from spec_math.token_level.optimum.prefix_law import mixed_powers
from spec_math.token_level.streamed import Chunk

draw = draw_independent


def emit(coin: Coin, tokens: Any, target: Any, draft: Any, gamma: Any = None) -> Emission:
    """Accept the first draft x whose test passes, with chance min(1, t(x)/(γ d(x))), else draw from p_res.

    The law: the emitted token has the target's law, p_res = (t − min(d, t/γ)·p_acc/β) / (1 − p_acc), which is t itself
    where β = 0. Laws [V]. γ None means γ*. Source: SpecTr, Alg. 2 and Theorem 2.

    Raises:
        ValueError: γ below γ*, naming f(γ); a drafted token without draft mass; a law that is
            not a probability distribution.

    >>> from spec_math.chance import law
    >>> law(lambda coin: emit(coin, (0, 0), ["1/4", "3/4"], ["1/2", "1/2"], 2))[Emission(0, True)]
    Fraction(7, 16)
    """
    t, d = as_laws(target, draft)
    listed = drafted(tokens, d)
    gamma, remainder = _prepared(t, d, len(listed), gamma)
    for x in listed:
        if coin.flip(chance(t[x], d[x], gamma)):
            return Emission(x, accepted=True)
    return Emission(coin.draw(remainder), accepted=False)


def chance(t: Any, d: Any, gamma: Any) -> Any:
    """Return the chance min(1, t/(γ d)) that a draft of these masses passes its test."""
    return capped_ratio(t, gamma * d)


verify = token_of(emit)
"""The verifier: it returns the token that `emit` emits."""


def acceptance(target: Any, draft: Any, k: int, gamma: Any = None) -> Any:
    """Return p_acc + Σ_y p_res(y)·[(1 − β)^k − (1 − β − d(y) + min(d(y), t(y)/γ))^k], for laws [..., V].

    The bracket is the probability that every draft is rejected and y is among them. It adds nothing at γ*.

    Raises:
        ValueError: γ below γ*, naming f(γ).

    >>> acceptance(["1/2", "1/2"], ["1/2", "1/2"], 2, 2)
    Fraction(15, 16)
    """
    t, d, passed = _passed(target, draft, k, gamma)
    xp = array_namespace(t)
    passes = xp.sum(passed, axis=-1, keepdims=True)
    # p_res·(1 − β)^k needs no division: it is the target mass that the tests leave over.
    left = _left_over(t, passed, k)
    among = divide(d - passed, 1 - passes, ones_like(passes))
    found = 1 - none_of(passes[..., 0], k) + xp.sum(left * (1 - none_of(among, k)), axis=-1)
    return as_probability(found, t, d, k)


def test_acceptance(target: Any, draft: Any, k: int, gamma: Any = None) -> Any:
    """Return p_acc = 1 − (1 − β(γ))^k, the probability that a test accepts, for laws [..., V]; γ None means γ*.

    Raises:
        ValueError: γ below γ*, naming f(γ).

    >>> test_acceptance(["1/2", "1/2"], ["1/2", "1/2"], 2, 2)
    Fraction(3, 4)
    """
    t, d, passed = _passed(target, draft, k, gamma)
    # Where rounding takes β above 1, no power of 1 − β lies further from 0.
    return as_probability(1 - none_of(array_namespace(t).sum(passed, axis=-1), k), t, d)


def _passed(target: Any, draft: Any, k: int, gamma: Any) -> tuple[Array, Array, Array]:
    """Return both laws, checked, and the masses min(d, t/γ) that pass a test."""
    t, d = as_laws(target, draft)
    gamma = least(t, d, count(k)) if gamma is None else _valid(t, d, count(k), gamma)
    return t, d, array_namespace(t).minimum(d, t / column(gamma))


def _left_over(t: Array, passed: Array, k: int) -> Array:
    """Return t − passed · p_acc/β; p_acc/β = Σ_{j<k} (1 − β)^j needs no division, and serves β = 0 too.

    Floats divide for many drafts: what a small β does to the quotient's digits, passed ≤ β takes back.
    """
    xp = array_namespace(t)
    passes = xp.sum(passed, axis=-1, keepdims=True)
    if is_exact(t):
        return t - passed * mixed_powers(1 - passes, ones_like(passes), k)
    if k <= STEPWISE:
        return t - passed * sum((1 - passes) ** j for j in range(k))
    return t - passed * divide(1 - none_of(passes, k), passes, k * ones_like(passes))


def _valid(t: Array, d: Array, k: int, gamma: Any) -> Any:
    gamma = scaled(t, gamma)
    value = Excess.of_laws(t, d).f(k, gamma)
    # Floats compute f to within k(V + 4) roundings, so that a γ* from another order of summation is not refused.
    slack = 0 if is_exact(t) else k * (t.shape[-1] + 4) * array_namespace(t).finfo(t.dtype).eps
    valid = (gamma >= 1) & (value <= slack)
    if not (valid.all() if hasattr(valid, "all") else valid):
        raise ValueError(
            f"K-SEQ needs γ ≥ 1 with f(γ) ≤ 0; γ = {gamma} has f(γ) = {value}; take gamma_star(target, draft, {k}), "
            "or None"
        )
    return gamma


@remembering(4096)
def _prepared(t: Array, d: Array, k: int, gamma: Any) -> tuple[Any, Array]:
    gamma = least(t, d, k) if gamma is None else _valid(t, d, k, gamma)
    step = 2.0**-50
    while True:
        left = _left_over(t, array_namespace(t).minimum(d, t / gamma), k)
        if is_exact(t) or bool((left >= 0).all()):
            break
        # f ≤ 0 as floats compute it may miss by a rounding; a larger γ is valid and costs a rounding's acceptance.
        gamma, step = gamma * (1 + step), 2 * step
    total = left.sum()
    return gamma, left / total if total > 0 else t


SCHEME = Scheme(
    "K-SEQ at γ*",
    draw,
    verify,
    acceptance,
    test_acceptance,
    emit,
    decide=decide_k_sequential,
    coins=lambda k: k + 1,
    short_name="K-SEQ",
    optimum=optimal.INDEPENDENT,
    streamed=Chunk.k_sequential,
    monotone=True,
    parameter=Parameter("γ", "every γ with f(γ) ≤ 0", f),
    proven=Proven(
        lossless=((2, 1, 0.2), (2, 2, 0.2), (2, 3, 0.3), (3, 1, 0.9), (3, 2, 2.0), (3, 3, 2.8)),
        formulas=((2, 1, 0.2), (2, 2, 0.3), (2, 3, 0.3), (3, 2, 2.3)),
        formal="k_sequential_is_lossless",
    ),
    pages=("theorems/k_sequential", "how_to/choose_a_multi_draft_method"),
)
