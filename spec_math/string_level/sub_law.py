"""Sub-laws: masses that sum to at most 1. ψ is one, where some drafted texts begin with no target token."""

from __future__ import annotations

from typing import Any

from spec_math.arrays import SUM_BOUND, Array, array_namespace, asarray, check_same_number_type, is_exact, storage
from spec_math.arrays import as_law as checked


def with_target(target: Any, first_token_law: Any) -> tuple[Array, Array]:
    """Check a target law [..., T] and a sub-law on the same tokens, such as ψ: masses >= 0 that sum to at most 1.

    Raises:
        ValueError: the target is not a probability distribution, a mass is negative, the sum exceeds 1, or the shapes
            differ.
        TypeError: exact and floating masses are mixed.

    >>> with_target(["1/4", "3/4"], ["1/2", "1/4"])[1].tolist()
    [Fraction(1, 2), Fraction(1, 4)]
    >>> with_target(["1/4", "3/4"], ["1/2", "3/4"])
    Traceback (most recent call last):
    ValueError: first-token law: masses must sum to at most 1; a row sums to 5/4 (1/4 too much)
    """
    t, found = checked(target, "target"), asarray(first_token_law)
    check_same_number_type(t, found)
    if t.shape != found.shape:
        raise ValueError(
            f"a first-token law is in the order of the target's tokens, of the target's shape {tuple(t.shape)}; got "
            f"{tuple(found.shape)}"
        )
    if bool((found < 0).any()):
        raise ValueError("first-token law: masses must be >= 0; one is negative")
    sums = array_namespace(found).sum(found, axis=-1, keepdims=True)
    most = sums.max()
    bound = 0 if is_exact(found) else SUM_BOUND.get(storage(found), SUM_BOUND["float64"])
    if not most <= 1 + bound:
        raise ValueError(f"first-token law: masses must sum to at most 1; a row sums to {most} ({most - 1} too much)")
    return t, found
