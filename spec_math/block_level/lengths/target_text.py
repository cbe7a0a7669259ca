"""Tokens per target call along the target's own text: one text serves every method on i.i.d. chains, all K and L.

The theorem. Let A be how many drafted tokens a lossless method accepts, and x a text of tokens. M_i(x) = P(A ≥ i and
the text begins with x_1..x_i) is at most T_i(x), the target's mass of x_1..x_i, so that

    E[tokens] = 1 + Σ_i E[M_i(x) / T_i(x)],   x drawn from the target; an end token brings no further token.

For methods on i.i.d. chains M_i hangs on both distributions along x alone. Each method's record has `along`, a function
of this file, or None where no such function is known. One formula serves exact tables and floats.

Sources: Sun et al. 2024 for one chain as a block; SpecTr, Alg. 3, for the walk.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from math import comb
from typing import Any

import numpy as np

from spec_math.arrays import Array, count, divide, is_exact, ones_like, positive_part, zeros_like
from spec_math.block_level import spectr
from spec_math.block_level.conditionals import Conditionals, a_token_longer
from spec_math.block_level.priority_law import PriorityLaw, step, uniform
from spec_math.kernels import kernel
from spec_math.language.model import Model
from spec_math.scheme import Tokens
from spec_math.token_level.excess import Excess, least
from spec_math.token_level.optimum.prefix_law import mixed_powers
from spec_math.token_level.optimum.ratio_order import Joined, RatioOrder, joined, ratio_order


class Text:
    """Texts as both models see them: N positions, and windows of L of them that start where a round may begin.

    `targets` and `drafts` [N, V] are the distributions at each position, `tokens` [N] the text's own. `windows` [S, L]
    are the positions that follow each start; −1 stands behind the end of a text. `ends` [N] marks end tokens.
    `written` [N] are the masses with which the tokens were written, None for the target's own.
    """

    def __init__(self, targets: Array, drafts: Array, tokens: Any, windows: Any, ends: Any = (), written: Any = None):
        self.targets, self.drafts, self.tokens, self.windows = targets, drafts, np.asarray(tokens), np.asarray(windows)
        places = np.arange(len(targets)), self.tokens
        one = ones_like(targets[0, :1])
        # One more position, which −1 stands for, where nothing is drafted.
        self.t, self.d = np.append(targets[places], one), np.append(drafts[places], one - one)
        self.written = self.t if written is None else np.append(written, one)
        ended = np.append(np.asarray(ends) if len(ends) else np.zeros(len(targets), bool), True)
        self.counted = ~ended[self.windows]
        self._orders: dict[int, Joined] = {}
        self._met: dict[tuple[Any, int], Array] = {}

    def order(self, position: int) -> Joined:
        """Return the ratio order of a position, worked out once; tokens of equal ratios are one class in floats."""
        if position not in self._orders:
            row = ratio_order(self.targets[position], self.drafts[position])
            self._orders[position] = joined(row, self.targets.shape[1])
        return self._orders[position]

    def cell(self, position: int) -> tuple[RatioOrder, int, Any]:
        """Return the order of classes, the class of the position's token, and its share of the class's draft mass."""
        found = self.order(position)
        place = int(found.place[self.tokens[position]])
        return found.order, place, self.d[position] / found.order.draft[place]

    def at(self, values: Array) -> list[Array]:
        """Return values [N + 1, ...] at the L positions of the windows, a list of [S, ...]."""
        return [values[places] for places in self.windows.T]

    def met(self, rule: Met, n: int) -> Array:
        """Return P(token emitted, m of n drafts carry it) over the written mass, [N + 1, n + 1], worked out once."""
        if (rule, n) not in self._met:
            found = rule(self, n)
            rows = np.concatenate([found, zeros_like(found[:1])])
            self._met[rule, n] = rows / self.written[:, None]
        return self._met[rule, n]

    @property
    def weights(self) -> Array:
        """The target's mass over the written one of the first i tokens of each window, [S, L]; 1 on its own text."""
        return np.cumprod(np.stack(self.at(self.t / self.written), axis=1), axis=1)


Along = Callable[[Text, int], Array]
"""(text, k) -> M_i over the written mass of the first i tokens, [S, L], of k i.i.d. chains."""

Met = Callable[[Text, int], Array]
"""(text, n) -> P(the text's token is emitted and m of n i.i.d. drafts carry it) at each position, [N, n + 1]."""


def accepted(along: Along, text: Text, k: int) -> Array:
    """Return P(at least i drafted tokens are accepted | text), i = 1..L, from each start of a text, [S, L].

    Their sum over i is the mean number of tokens that a call brings there, less 1: an accepted end token counts 0.
    On a text that was not the target's own these are weighted: their mean over texts is the same.

    Raises:
        TypeError, ValueError: k is not a positive integer.

    >>> text, _ = every_text(lambda _: ["1/4", "3/4"], lambda _: ["1/2", "1/2"], (), 1)
    >>> accepted(as_block, text, 1).tolist()
    [[Fraction(1, 1)], [Fraction(2, 3)]]
    """
    found = along(text, count(k))
    return np.where(text.counted, found, zeros_like(found))


def token_by_token(text: Text, k: int) -> Array:  # noqa: ARG001 - one chain
    """One chain, token by token: M_i = Π min(t, d)."""
    return np.cumprod(np.stack(text.at(np.minimum(text.t, text.d) / text.written), axis=1), axis=1)


def as_block(text: Text, k: int) -> Array:  # noqa: ARG001 - one chain
    """One chain, as a block: M_i = min(D_i, M_{i−1} t_i), D_i the draft's mass of i tokens. The optimum for k = 1."""
    return _block(text, text.at(text.d / text.written))


def bound(text: Text, k: int) -> Array:
    """The bound of every lossless verifier by levels, U_i = min(T_i, 1 − (1 − D_i)^k); for k = 1 the optimum.

    No such method's M_i(x) exceeds U_i(x), whatever the text x: the text has to begin with it, and a chain too.
    """
    if k == 1:
        return as_block(text, 1)
    one = ones_like(text.d[:1])
    reached, drafted, levels = one, one, list[Array]()
    for own, d, written in zip(*map(text.at, (text.t / text.written, text.d, text.written)), strict=True):
        reached, drafted = reached * own, drafted * d
        one = one / written  # 1 over the written mass
        levels.append(np.minimum(reached, drafted * one * mixed_powers(1 - drafted, ones_like(drafted), k)))
    return np.stack(levels, axis=1)


def highest_rank(text: Text, k: int) -> Array:
    """Greedy multi-path: a block against the distribution of the chain of highest rank, as `multi_path.HighestRank`."""
    below, one = text.d * 0, ones_like(text.d[:1])
    for position in np.flatnonzero(text.d > 0).tolist():
        order, place, _ = text.cell(position)
        equals = np.flatnonzero(text.order(position).place[: text.tokens[position]] == place)
        below[position] = order.draft_below[place] + text.drafts[position, equals].sum()
    low, mass, chosen = one - one, one, list[Array]()
    for lower, d, written in zip(*map(text.at, (below, text.d, text.written)), strict=True):
        start, own = low + mass * lower, mass * d
        # Nothing is drafted below a token that the draft never draws: mass and d are 0 then.
        chosen.append(divide(d * mixed_powers(start, start + own, k), mixed_powers(low, low + mass, k), d) / written)
        low, mass = divide(start, start + own, start), divide(own, start + own, own)
    return _block(text, chosen)


def priorities(text: Text, k: int, stem: int = 0) -> Array:
    """Chain priorities: a block against the distribution of the chain of highest priority, as `Priorities`.

    With a `stem` the chains share their first so many tokens.
    """
    one, chosen = ones_like(text.t[:1]), list[Array]()
    states, owners = [(one[0], uniform(one))], np.zeros(len(text.windows), np.int64)
    for level, places in enumerate(text.windows.T):
        # Starts with the same tokens before them are one.
        nodes, owners = np.unique(np.stack([owners, places]), axis=1, return_inverse=True)
        chains = 1 if level < stem else k
        steps = [_refine(text, position, states[state], chains) for state, position in nodes.T.tolist()]
        states = [state for _, state in steps]
        chosen.append(np.array([mass for mass, _ in steps])[owners])
    return _block(text, chosen)


def _refine(text: Text, position: int, state: tuple[Any, PriorityLaw], k: int) -> tuple[Any, tuple[Any, PriorityLaw]]:
    """Return the selected chain's mass of the token over the written one, and the weight and priority that follow."""
    weight, priority = state
    t, d, written = (masses[position] for masses in (text.t, text.d, text.written))
    if not d > 0 or not t > 0:
        return d, state
    if k == 1:
        return d / written, (min(weight * 0 + 1, weight * t / d), priority)
    order, place, share = text.cell(position)
    found = step(order, weight, priority, k, place)
    mass = share * found.mass
    return mass / written, (min(weight * 0 + 1, weight * t / mass), found.below)


def walk(rule: Met) -> Along:
    """SpecTr's walk with a verifier at every node: M_i = Σ_m M_i,m, m the number of chains that are left after i.

    M_i,m = Σ_n M_{i−1},n P(x_i is emitted and m of n drafts carry it), from n = k at the start.
    """

    def along(text: Text, k: int) -> Array:
        steps = [text.met(rule, n) for n in range(1, k + 1)]
        left: list[Array] = [zeros_like(text.t[:1])] * (k - 1) + [ones_like(text.t[:1])]
        levels = list[Array]()
        for places in text.windows.T:
            masses = [step[places] * mass[:, None] for step, mass in zip(steps, left, strict=True)]
            left = [
                sum((masses[n - 1][:, m] for n in range(m + 1, k + 1)), masses[m - 1][:, m]) for m in range(1, k + 1)
            ]
            levels.append(sum(left[1:], left[0]))
        return np.stack(levels, axis=1)

    return along


def by_recursive_rejection(text: Text, n: int) -> Array:
    """Recursive rejection: test j passes with chance min(1, (t/d − λ_j)+ / E_j), and fails with E_{j+1}/E_j in all.

    As `Excess.rejections` says; what all tests reject is never among the drafts.
    """
    t, d = text.t[:-1], text.d[:-1]
    left = [ones_like(t), *Excess.of_laws(text.targets, text.drafts).rejections(range(1, n + 1))]
    scales = [sum(left[:test], zeros_like(t)) for test in range(n)]
    passed = [
        np.minimum(d, divide(positive_part(t - scale * d), mass, d)) for scale, mass in zip(scales, left, strict=False)
    ]
    missed = [divide(after, mass, mass) for after, mass in zip(left[1:], left, strict=False)]
    return spectr.copies_emitted(t, d, passed, missed)


def by_k_sequential(text: Text, n: int) -> Array:
    """K-SEQ at γ*."""
    t, d = text.t[:-1], text.d[:-1]
    gamma = least(text.targets, text.drafts, n)
    passed, missed = np.minimum(d, t / gamma), 1 - (1 - Excess.of_laws(text.targets, text.drafts).at(gamma)) / gamma
    return spectr.copies_emitted(t, d, [passed] * n, [missed] * n)


def by_plan(text: Text, n: int) -> Array:
    """The optimal plan for n drafts: a hit of the pool that the highest draft lies in, each with the same chance.

    With P the draft's mass below a pool and g that of the pool, a token of mass d is put forward with m copies with
    the mass d^m Σ_h C(n, h) C(h − 1, m − 1) P^(n − h) (g − d)^(h − m), h the number of hits.
    """
    known, owners = list[tuple[Any, ...]](), list[int]()
    one = ones_like(text.d[:1])
    for position in np.flatnonzero(text.d[:-1] > 0).tolist():
        order, place, share = text.cell(position)
        pools = step(order, one[0], uniform(one), n, place)
        kept = min(share * pools.mass, text.t[position]) / (share * pools.mass)
        known.append((pools.weights * kept, pools.starts, pools.stops - pools.starts))
        owners += [position] * len(pools.weights)
    found = np.stack([text.d[:-1] * 0] * (n + 1), axis=1)
    if known:
        weights, under, inside = (np.concatenate(parts) for parts in zip(*known, strict=True))
        d = text.d[owners]
        others = positive_part(inside - d)
        for m in range(1, n + 1):
            ways = weights * d**m
            terms = (comb(n, h) * comb(h - 1, m - 1) * under ** (n - h) * others ** (h - m) for h in range(m, n + 1))
            np.add.at(found[:, m], owners, ways * sum(terms, ways * 0))
    return found


def _block(text: Text, chosen: Sequence[Array]) -> Array:
    """Return min(C_i, M_{i−1} t_i) over the written masses, from the factors of C_i [S] over them, i = 1..L."""
    reached = kept = ones_like(chosen[0])
    levels = list[Array]()
    for factor, own in zip(chosen, text.at(text.t / text.written), strict=True):
        reached = reached * factor
        kept = np.minimum(reached, kept * own)
        levels.append(kept)
    return np.stack(levels, axis=1)


def every_text(
    target: Model, draft: Model, prefix: Sequence[int], lookahead: int, writer: Model | None = None
) -> tuple[Text, Array]:
    """Return all texts of `lookahead` tokens after a prefix, or up to an end token, and the mass [S] of each.

    The target writes them, or the `writer`: the texts' masses and `Text.written` are then its own. Small tables.

    Raises:
        ValueError, TypeError: lookahead is not a positive integer; as `Conditionals`; `check_written`.
    """
    laws = Conditionals(target, draft, prefix)
    author = laws if writer is None else Conditionals(writer, draft, prefix)
    known: dict[Tokens, int] = {}
    texts: list[tuple[Tokens, Any]] = [((), laws.target().sum() * 0 + 1)]

    def checked(path: Tokens) -> Array:
        check_written(laws.target(path), author.target(path), len(path))
        return author.target(path)

    for _ in range(count(lookahead, "lookahead")):
        texts = list(a_token_longer(texts, laws.ends, checked))
        fresh = dict.fromkeys(path for path, _ in texts if path not in known)
        known |= {path: len(known) + place for place, path in enumerate(fresh)}
    rows = [np.stack([side(path[:-1]) for path in known]) for side in (laws.target, laws.draft, author.target)]
    tokens = [path[-1] for path in known]
    windows = [[known[path[: i + 1]] if i < len(path) else -1 for i in range(lookahead)] for path, _ in texts]
    ends = [laws.ends(path) for path in known]
    written = rows[2][np.arange(len(tokens)), tokens]
    return Text(rows[0], rows[1], tokens, windows, ends, written), np.array([mass for _, mass in texts])


def exact(along: Along, target: Model, draft: Model, prefix: Sequence[int], lookahead: int, k: int) -> Any:
    """Return the expected tokens per target call as the sum over all texts that the target may write.

    Equal to `Method.expected` of the method that `along` belongs to. Units: tokens per call.

    Raises:
        ValueError, TypeError: as `every_text`.

    >>> exact(as_block, lambda _: ["1/3", "2/3"], lambda _: ["2/3", "1/3"], (), 2, 1)
    Fraction(20, 9)
    """
    text, masses = every_text(target, draft, prefix, lookahead)
    return masses.sum() + (masses[:, None] * accepted(along, text, k)).sum()


def check_written(target: Array, writer: Array, position: int) -> None:
    """Check that the distribution [V] that wrote a text can write what the target can, so that weights correct for it.

    Raises:
        ValueError: a token has mass under the target and none under the writer.
    """
    lost = (target > 0) & ~(writer > 0)
    if lost.any():
        token = int(np.flatnonzero(lost)[0])
        raise ValueError(
            f"position {position}: the target draws token {token} with chance {float(target[token]):.4g}, but the "
            "distribution that wrote the text never does, so that no weights correct for it; record text of the "
            "target's own distribution, or of one without top-k, top-p or min-p"
        )


def start_weights(accepted: Array) -> Array:
    """Return P(a round begins at start s | text), [S], for consecutive starts of one text; one begins at the first.

    The renewal recursion: from s the next round begins j + 1 tokens on with chance R_j − R_{j+1}, R_j = `accepted`
    [S, L] at j, R_0 = 1 and R_{L+1} = 0. Tokens per call are the mean over starts with these weights; the plain mean
    over positions takes starts that no round may have.

    >>> start_weights(np.array([[0.5], [1.0], [0.5]])).tolist()
    [1.0, 0.5, 0.5]
    """
    found = zeros_like(accepted[:, 0])
    (_fast_renewed if not is_exact(accepted) else _renewed)(accepted, found, ones_like(found[:1])[0])
    return found


def _renewed(accepted: Any, found: Any, one: Any) -> None:
    starts, lookahead = accepted.shape
    found[0] = one
    for start in range(starts):
        left = one
        for place in range(lookahead):
            if start + place + 1 < starts:
                found[start + place + 1] += found[start] * (left - accepted[start, place])
            left = accepted[start, place]
        if start + lookahead + 1 < starts:
            found[start + lookahead + 1] += found[start] * left


_fast_renewed = kernel(_renewed)
