"""The exact law of a kernel that verifies one drafted chain a request and takes its random numbers from outside."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from itertools import accumulate
from operator import mul
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from spec_math.arrays import Array, asarray, divide, ones_like, positive_part, zeros_like
from spec_math.field.source_file import EngineError
from spec_math.language.model import Model

Text = tuple[int, ...]
Floats = NDArray[np.float64]


class Requests(NamedTuple):
    """Laws targets [R, L + 1, V] and reported drafts [R, L, V], and drafted tokens [R, L]; one chain a request."""

    targets: Floats
    drafts: Floats
    tokens: Whole

    def take(self, rows: Whole) -> Requests:
        """Return some of the requests, in the order of rows; one may occur more than once."""
        return Requests(self.targets[rows], self.drafts[rows], self.tokens[rows])


class Decisions(NamedTuple):
    """The chance of each coin [R, L], how many tokens [R] are accepted, and the masses [R, V] of the one that follows.

    The masses are not divided by their sum. `scales` [R, L] are the masses that the chances were divided by: ρ + 1 − w
    for a coin of chance ρ/(ρ + 1 − w), 1 for others.
    """

    chances: Array
    scales: Array
    accepted: Array
    masses: Array


Decide = Callable[[Array, Array, Array, Array], Decisions]
"""(targets [R, L + 1, V], drafts [R, L, V], tokens [R, L], uniforms [R, L + 1]) -> what a rule decides, in NumPy."""


@dataclass(frozen=True)
class Rule:
    """A rule of verification: how it decides; the chances [L + 1] of the accepted number, from those of its coins."""

    decide: Decide
    numbers: Callable[[list[Fraction]], list[Fraction]]


@dataclass(frozen=True)
class Kernel:
    """An engine's kernel as a function of its coins.

    emit(requests, coins [R, L]) runs one launch, coin k of `grid` equally likely ones standing for the engine's k-th
    least uniform, and returns what each request emits, the token after the accepted ones being any. following(requests,
    coins, number) returns the masses of that token after the number [R] of tokens that these coins accept: [V] each,
    not divided by their sum.
    """

    rule: Rule
    grid: int
    emit: Callable[[Requests, Whole], list[Text]]
    following: Callable[[Requests, Whole, Whole], list[list[Fraction]]]


def law(
    kernel: Kernel,
    target: Model,
    draft: Model,
    lookahead: int,
    *,
    one_hot: bool = False,
    handed: Callable[[Text], Text] = tuple,
) -> dict[Text, Any]:
    """Return the exact law {emitted tokens: mass} of one call of a kernel on a chain drafted from `draft`.

    The law: Σ over the drafted tokens x of draft(x) · P(n are accepted | x) · P(token | x, n). For each x, each coin is
    bisected to its last accepting value on the kernel's own grid, which makes P(n | x) rational; the token after n
    accepted ones is read from the kernel as its adapter says. The kernel is told the draft's laws, or where `one_hot`
    that each token was certain, and rounds them to its own type; it is handed the tokens handed(x), with −1 from where
    one was taken away. Fractions where the laws are exact. That coins act by the kernel's rule is its adapter's claim,
    which is tested at random coins.

    Raises:
        EngineError: the kernel does not accept as a function of one cut a coin, or a prefix it emits was not drafted.
        ValueError, TypeError: the laws are not probability distributions.

    """
    chances = _drafted(draft, lookahead)
    texts = list(chances)
    requests = _requests(texts, target, draft)
    if one_hot:
        requests = requests._replace(drafts=np.eye(requests.targets.shape[-1])[requests.tokens])
    requests = requests._replace(tokens=np.array([handed(text) for text in texts], dtype=np.int64))
    counts = _counts(kernel, requests)
    states = [(row, number) for row, shares in enumerate(counts) for number, share in enumerate(shares) if share]
    rows, numbers = np.array(states, dtype=np.int64).T
    follows = kernel.following(requests.take(rows), _leading_to(numbers, lookahead, kernel.grid), numbers)
    result: dict[Text, Any] = {}
    for (row, number), masses in zip(states, follows, strict=True):
        total = sum(masses)
        for token, mass in enumerate(masses):
            if mass:
                text = (*texts[row][:number], token)
                share = chances[texts[row]] * (counts[row][number] * mass / total)
                result[text] = result.get(text, 0) + share
    return result


def first_rejection(chances: list[Fraction]) -> list[Fraction]:
    """Return the chances [L + 1] of the accepted number when the first coin that rejects ends the chain.

    >>> first_rejection([Fraction(1, 2), Fraction(1, 3)])
    [Fraction(1, 2), Fraction(1, 3), Fraction(1, 6)]
    """
    *before, whole = accumulate(chances, mul, initial=Fraction(1))
    return [*(reached * (1 - chance) for reached, chance in zip(before, chances, strict=True)), whole]


def last_acceptance(chances: list[Fraction]) -> list[Fraction]:
    """Return the chances [L + 1] of the accepted number when the last coin that accepts ends the block.

    >>> last_acceptance([Fraction(1, 2), Fraction(1, 3)])
    [Fraction(1, 3), Fraction(1, 3), Fraction(1, 3)]
    """
    # From the end of the block, the first coin that accepts is the first that does not reject.
    return first_rejection([1 - chance for chance in reversed(chances)])[::-1]


def decide_chain(targets: Array, drafts: Array, tokens: Array, uniforms: Array) -> Decisions:
    """Decide as `chain.verify` does, column i of the uniforms being the coin of position i; −1 is no token."""
    t, d = _drafted_masses(targets, tokens), _drafted_masses(drafts, tokens)
    chances = np.minimum(ones_like(t), divide(t, d, ones_like(t)))
    accepted = np.cumprod((tokens >= 0) & (uniforms[:, :-1] < chances), axis=1).sum(axis=1)
    return _decisions((chances, ones_like(t)), accepted, ones_like(t[:, 0]), (targets, drafts, tokens))


def decide_block(targets: Array, drafts: Array, tokens: Array, uniforms: Array) -> Decisions:
    """Decide as `block.verify` does; arrays as `decide_chain`."""
    t, d = _drafted_masses(targets, tokens), _drafted_masses(drafts, tokens)
    size, lookahead = lengths(tokens), tokens.shape[1]
    weights, chances, scales = [ones_like(t[:, 0])], [], ones_like(t)
    for place in range(lookahead):
        # w·t first: it is at most 1, where t/d may overflow.
        weight = np.minimum(weights[0], divide(weights[-1] * t[:, place], d[:, place], weights[-1]))
        weights.append(weight)
        if place + 1 < lookahead:
            rest = positive_part(weight[:, None] * targets[:, place + 1] - drafts[:, place + 1]).sum(axis=1)
            inner, scale = place + 1 < size, rest + (1 - weight)
            scales[:, place] = np.where(inner, scale, scales[:, place])
            # At 0/0 a later coin accepts whatever this one says; the last coin of a chain has the chance w itself.
            weight = np.where(inner, divide(rest, scale, weight), weight)
        chances.append(weight)
    stacked, places = np.stack(chances, axis=1), np.arange(lookahead)
    accepts = (places < size[:, None]) & (uniforms[:, :-1] < stacked)
    accepted = ((places + 1) * accepts).max(axis=1)
    weight = np.stack(weights)[accepted, np.arange(len(t))]
    return _decisions((stacked, scales), accepted, weight, (targets, drafts, tokens))


def lengths(tokens: Whole) -> Whole:
    """Return how many tokens each chain [R, L] has: those before its first −1.

    >>> lengths(np.array([[5, -1], [6, 7]])).tolist()
    [1, 2]
    """
    return np.cumprod(tokens >= 0, axis=1).sum(axis=1)


def _drafted_masses(rows: Array, tokens: Whole) -> Array:
    """Return the masses [R, L] of the drafted tokens in the laws of their positions; 0 where none is."""
    masses = np.take_along_axis(rows[:, : tokens.shape[1]], np.maximum(tokens, 0)[:, :, None], axis=-1)[:, :, 0]
    return np.where(tokens >= 0, masses, zeros_like(masses))


def _decisions(
    coins: tuple[Array, Array], accepted: Whole, weight: Array, laws: tuple[Array, Array, Whole]
) -> Decisions:
    """Add the masses of the next token: t where all are accepted, else (w·t − d)+, or t if that is 0."""
    targets, drafts, tokens = laws
    rows = np.arange(len(tokens))
    t = targets[rows, accepted]
    left = positive_part(weight[:, None] * t - drafts[rows, np.minimum(accepted, drafts.shape[1] - 1)])
    rejected = (accepted < lengths(tokens))[:, None] & (left.sum(axis=1, keepdims=True) > 0)
    return Decisions(*coins, accepted, np.where(rejected, left, t))


TOKEN = Rule(decide_chain, first_rejection)
BLOCK = Rule(decide_block, last_acceptance)


def expected(rule: Rule, requests: Requests, coins: Whole, grid: int) -> Decisions:
    """Return what the rule itself decides at some coins, in float64: the first guess of every cut.

    >>> laws = np.array([[[0.5, 0.5], [0.5, 0.5]]])
    >>> expected(TOKEN, Requests(laws, laws[:, :1], np.array([[1]])), np.array([[0]]), 2).chances.tolist()
    [[1.0]]
    """
    uniforms = np.concatenate([coins / grid, np.zeros((len(coins), 1))], axis=1)
    return rule.decide(requests.targets, requests.drafts, requests.tokens, uniforms)


def _drafted(draft: Model, lookahead: int) -> dict[Text, Any]:
    """Return the chances of the drafted chains that have one."""
    chances: dict[Text, Any] = {(): Fraction(1)}
    for _ in range(lookahead):
        rows = [(text, chance, enumerate(asarray(draft(text)))) for text, chance in chances.items()]
        chances = {(*text, token): chance * mass for text, chance, row in rows for token, mass in row if mass}
    return chances


def _requests(texts: list[Text], target: Model, draft: Model) -> Requests:
    lookahead = len(texts[0])
    targets = [[asarray(target(text[:n])) for n in range(lookahead + 1)] for text in texts]
    drafts = [[asarray(draft(text[:n])) for n in range(lookahead)] for text in texts]
    rows = np.array(targets, dtype=np.float64), np.array(drafts, dtype=np.float64)
    return Requests(*rows, np.array(texts, dtype=np.int64))


def _leading_to(numbers: Whole, lookahead: int, grid: int) -> Whole:
    """Return coins [R, L] that accept the given numbers of tokens, if any do: the least ones, then the largest."""
    return np.where(np.arange(lookahead) < numbers[:, None], 0, grid - 1)


def _counts(kernel: Kernel, requests: Requests) -> list[list[Fraction]]:
    """Find the cut of every coin of every request, and return the chances [L + 1] of the number accepted."""
    many, lookahead = requests.tokens.shape
    request, place = np.divmod(np.arange(many * lookahead), lookahead)
    chances = expected(kernel.rule, requests, np.zeros_like(requests.tokens), kernel.grid).chances

    def below(rows: Whole, k: Whole) -> NDArray[np.bool_]:
        coins = _leading_to(place[rows], lookahead, kernel.grid)
        coins[np.arange(len(rows)), place[rows]] = k
        return accepted(kernel, requests.take(request[rows]), coins) > place[rows]

    guesses = np.ceil(chances.astype(np.float64).ravel() * kernel.grid).astype(np.int64)
    # Coins of one place to which the rule gives one chance mostly have one cut; each is asked on both sides of it.
    found = cuts_by_guess(below, guesses, kernel.grid, place).reshape(many, lookahead)
    _check_random_coins(kernel, requests, found)
    return [kernel.rule.numbers([Fraction(int(cut), kernel.grid) for cut in row]) for row in found]


def accepted(kernel: Kernel, requests: Requests, coins: Whole) -> Whole:
    """Return how many drafted tokens [R] each request emits at some coins, after checking that they were drafted.

    Raises:
        EngineError: a request emits other tokens than its drafted ones before its last, none, or too many.
    """
    emitted = kernel.emit(requests, coins)
    for text, drafted in zip(emitted, requests.tokens.tolist(), strict=True):
        if not 1 <= len(text) <= len(drafted) + 1 or list(text[:-1]) != drafted[: len(text) - 1]:
            raise EngineError(f"the kernel emitted {text} where {tuple(drafted)} was drafted")
    return np.array([len(text) - 1 for text in emitted], dtype=np.int64)


def _check_random_coins(kernel: Kernel, requests: Requests, found: Whole) -> None:
    """Check at random coins that the cuts say what is accepted: that coins act one by one, in the order of the rule."""
    many, lookahead = found.shape
    coins = np.random.default_rng(0).integers(0, kernel.grid, (2 * many, lookahead))
    rows = np.arange(2 * many) % many
    accepts = coins < found[rows]
    if kernel.rule is TOKEN:
        predicted = np.cumprod(accepts, axis=1).sum(axis=1)
    else:
        predicted = (np.arange(1, lookahead + 1) * accepts).max(axis=1)
    seen = accepted(kernel, requests.take(rows), coins)
    if (wrong := np.flatnonzero(seen != predicted)).size:
        row = wrong[0]
        raise EngineError(
            f"at the coins {coins[row].tolist()} of {kernel.grid} the kernel accepted {seen[row]} of the tokens "
            f"{requests.tokens[rows[row]].tolist()}, where its cuts {found[rows[row]].tolist()} say {predicted[row]}: "
            "its coins do not act one by one"
        )


Whole = NDArray[np.int64]
Below = Callable[[Whole, Whole], NDArray[np.bool_]]
"""From rows and as many numbers k, one a row, to whether each k is still below its row's cut."""

FARTHEST = 32
"""A cut farther than this from its guess says that the guess is of another rule, not that it was rounded otherwise."""


def cuts(below: Below, guesses: Whole, size: int) -> Whole:
    """Find for each row the least k in 0..size that is not below its cut, asking only k < size.

    A row starts at its guess, goes away from it in steps of 1, 2^4, 2^8, 2^16, … until the cut is bracketed, and
    bisects what lies between. A right guess costs two questions, one off by e > 1 at most 2·log2(e) + 6, and none more
    than 7 beyond bisecting from the start; the cut found does not depend on it. Rows are taken to be monotone: the two
    numbers on either side of the cut are asked, and no change far from them is seen.

    >>> cuts(lambda rows, k: k < 1 + 5 * rows, np.array([0, 6, 2]), 8).tolist()
    [1, 6, 8]
    """
    low, high = np.full(len(guesses), -1, dtype=np.int64), np.full(len(guesses), size, dtype=np.int64)
    step = 1
    asked = np.clip(guesses - 1, 0, size - 1)
    while len(rows := np.flatnonzero(high - low > 1)):
        k = asked[rows]
        yes = below(rows, k)
        low[rows[yes]], high[rows[~yes]] = k[yes], k[~yes]
        bracketed = (low >= 0) & (high < size)
        up = np.minimum(low + step, size - 1)
        down = np.maximum(high - step, 0)
        middle = low + (high - low) // 2
        asked = np.where(bracketed, middle, np.where(high < size, down, up))
        step = 16 if step == 1 else min(step * step, size)
    return high


def cuts_by_guess(below: Below, guesses: Whole, size: int, kinds: Whole) -> Whole:
    """Find the cuts as `cuts` does; of rows that share kind and guess, the first's cut is the guess of the others.

    >>> cuts_by_guess(lambda rows, k: k < 70, np.array([1, 1, 70]), 97, np.array([0, 0, 0])).tolist()
    [70, 70, 70]
    """
    _, first, kind = np.unique(np.stack([kinds, guesses]), axis=1, return_index=True, return_inverse=True)
    found = cuts(lambda rows, k: below(first[rows], k), guesses[first], size)[kind.ravel()]
    others = np.setdiff1d(np.arange(len(guesses)), first)
    found[others] = cuts(lambda rows, k: below(others[rows], k), found[others], size)
    return found


def cuts_by_kind(below: Below, guesses: Whole, size: int, kinds: Whole) -> Whole:
    """Find the cuts as `cuts_by_guess` does; where the first row of a kind shows its guess wrong, its cut is theirs.

    >>> cuts_by_kind(lambda rows, k: k < 70, np.array([1, 1, 70]), 97, np.array([0, 0, 1])).tolist()
    [70, 70, 70]
    """
    _, first, kind = np.unique(kinds, return_index=True, return_inverse=True)
    known = cuts(lambda rows, k: below(first[rows], k), guesses[first], size)
    wrong = np.abs(known - guesses[first]) > FARTHEST
    found = known[kind]
    guesses = np.where(wrong[kind] | (guesses == guesses[first][kind]), found, guesses)
    others = np.setdiff1d(np.arange(len(guesses)), first)
    found[others] = cuts_by_guess(lambda rows, k: below(others[rows], k), guesses[others], size, kind[others])
    return found
