"""A lossy rule: a program with options, its law, its acceptance, and the parameter that it is swept over."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from spec_math.chance import Coin
from spec_math.scheme import Emission, Tokens, draw_independent


@dataclass(frozen=True)
class Rule:
    """A rule of one position that changes the law on purpose.

    `emit(coin, tokens, target, draft, options)` is its program, `law(target, draft, k, options)` what it emits,
    `acceptance(…)` the probability that the emitted token was drafted and `test_acceptance(…)` that its test accepted a
    draft. `options` is the class of its options and `swept` the values of the first of them, from lossless or strict to
    loose. `draw(coin, draft, k)` proposes its drafts, and `several` says that it takes k. `greedy` marks a rule made
    for greedy decoding. Where `of_logits` its options take a second number, the logarithm of Σ exp z over the target's
    logits z, which no law says. Source: each rule's own file.

    >>> from spec_math.lossy import RULES
    >>> RULES[0].name, RULES[0].acceptance(["1/4", "3/4"], ["1/2", "1/2"], 1, "1/2")
    ('ensemble', Fraction(7, 8))
    """

    name: str
    options: Callable[..., Any]
    emit: Callable[[Coin, Any, Any, Any, Any], Emission]
    law: Callable[[Any, Any, int, Any], Any]
    acceptance: Callable[[Any, Any, int, Any], Any]
    swept: tuple[str, ...]
    parameter: str
    test_acceptance: Callable[[Any, Any, int, Any], Any] | None = None
    draw: Callable[[Coin, Any, int], Tokens] = draw_independent
    several: bool = False
    greedy: bool = False
    of_logits: bool = False

    def verify(self, coin: Coin, tokens: Any, target: Any, draft: Any, options: Any = None) -> int:
        """Return the token that `emit` emits."""
        return self.emit(coin, tokens, target, draft, options).token

    @property
    def chosen(self) -> bool:
        """True if its drafter proposes its k likeliest tokens, not k draws."""
        return self.draw is not draw_independent

    def drafts(self, k: int) -> int:
        """Return the number of drafts that it takes of k."""
        return k if self.several else 1
