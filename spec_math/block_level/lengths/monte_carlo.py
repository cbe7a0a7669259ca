"""Expected tokens per target call by Monte Carlo: drafts are sampled, the verifier's coins are averaged exactly.

All methods look at the same prefixes and the same drafted chains, so that differences between methods are sharper than
the methods' own values.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from spec_math import array_coin
from spec_math.arrays import count
from spec_math.block_level.conditionals import Conditionals, conditional, in_numpy
from spec_math.block_level.lengths.given_drafts import Nodes
from spec_math.block_level.methods import DISTINCT, METHODS, TOKEN_BY_TOKEN, Method
from spec_math.language.context_tree import padded
from spec_math.language.model import Model
from spec_math.language.ngram import NGram
from spec_math.language.recorded import Recorded
from spec_math.language.tempered import KeptRows, TemperedNGram, TemperedRecorded
from spec_math.mean import Mean, of_independent, of_strata
from spec_math.scheme import Tokens
from spec_math.token_level.without_replacement import without

FLOAT = np.ndarray[Any, np.dtype[np.float64]]

CONFIDENCE = 0.995
"""What each interval holds with: the sum of two of them then holds with 99 %."""


@dataclass(frozen=True)
class Setting:
    """The setting of a sample: two float models, the prefixes to start from, and what is drafted.

    For each sample a prefix is drawn; with `in_turn` they come one after another, as they were drawn elsewhere.
    """

    target: Model
    draft: Model
    prefixes: Sequence[Tokens]
    ks: tuple[int, ...]
    lookahead: int
    in_turn: bool = False


@dataclass(frozen=True)
class Sampled:
    """One method on k paths: per sample and depth i, the number of `given_drafts` for i accepted tokens, [n, L].

    `plain` [n, L] are the same chances for one chain verified token by token, on the same prefixes and chains.
    """

    method: Method
    k: int
    accepted: FLOAT
    plain: FLOAT

    def tokens(self, lookahead: int) -> Mean:
        """Return the tokens per target call at a lookahead of at most L."""
        most = lookahead * self.method.largest(self.k)
        sampled = of_independent(1 + self.accepted[:, :lookahead].sum(axis=1), 1, 1 + most, CONFIDENCE)
        # Weighted samples may exceed what a call can yield; their mean over all samples cannot.
        return sampled.between(1, 1 + lookahead)

    def gain(self, lookahead: int) -> Mean:
        """Return how many tokens more a call yields than one of plain chains does, sample by sample."""
        more = (self.accepted - self.plain)[:, :lookahead].sum(axis=1)
        return of_independent(more, -lookahead, lookahead * self.method.largest(self.k), CONFIDENCE)


def sample(
    setting: Setting,
    samples: int,
    rng: Any,
    progress: Callable[[int], None] = lambda _: None,
    methods: Sequence[Method] = METHODS,
) -> list[Sampled]:
    """Sample every method for every k, on the same prefixes and drafts; those of one chain for k = 1 alone.

    A sample draws a prefix and max k chains after it; a method of k paths takes them in groups of k, and the mean over
    the groups, so that every k has seen as much. Without replacement the same chains serve as far as their first tokens
    differ. A method of effort e looks at every e-th sample. rng is a NumPy Generator, here and below.

    Raises:
        TypeError, ValueError: samples is not a positive integer or leaves a method fewer than 2; the models are exact,
            or give no laws, named by their prefix.

    >>> model = lambda prefix: [0.5, 0.5]
    >>> found = sample(Setting(model, model, [()], (1, 2), 3), 8, np.random.default_rng(0))
    >>> tokens = found[0].tokens(3)
    >>> tokens.value, tokens.low < 4, tokens.high
    (4.0, True, 4.0)
    """
    lines = [
        (method, k)
        for method in methods
        for k in ((1,) if method.one_chain else setting.ks)
        if k > 1 or method.one_chain
    ]
    least = 2 * max(method.effort for method in methods)
    if count(samples, "samples") < least:
        raise ValueError(f"an interval needs at least 2 samples of each method; take at least {least}; got {samples}")
    rows: list[list[FLOAT]] = [[] for _ in lines]
    plain: list[FLOAT] = []
    for number in range(samples):
        place = number if setting.in_turn else int(rng.integers(len(setting.prefixes)))
        prefix = setting.prefixes[place % len(setting.prefixes)]
        block = _Drafted(setting, prefix, rng)
        alone = block.accepted(TOKEN_BY_TOKEN, 1)
        plain.append(alone)
        for row, (method, k) in zip(rows, lines, strict=True):
            if number % method.effort == 0:
                row.append(alone if method is TOKEN_BY_TOKEN else block.accepted(method, k))
        progress(1)
    every = np.array(plain)
    return [
        Sampled(method, k, np.array(row), every[:: method.effort]) for row, (method, k) in zip(rows, lines, strict=True)
    ]


class _Drafted:
    """The chains of one sample, and what each method makes of them."""

    def __init__(self, setting: Setting, prefix: Tokens, rng: Any) -> None:
        self._lookahead, self._rng = setting.lookahead, rng
        self._laws = GatheredLaws(setting.target, setting.draft, prefix)
        if not isinstance(self._laws.target(), np.ndarray) or self._laws.target().dtype != np.float64:
            raise TypeError("sampling takes float distributions; exact models are enumerated, or written as floats")
        self._chains = extended(self._laws, [()] * max(setting.ks), setting.lookahead, rng)
        self._laws.gather([chain[:place] for chain in self._chains for place in range(len(chain))])
        self._nodes = Nodes(self._laws)
        self._distinct: dict[int, list[list[Tokens]]] = {}

    def accepted(self, method: Method, k: int) -> FLOAT:
        given = method.prepare(self._nodes, k)
        groups = [self._chains[at : at + k] for at in range(0, len(self._chains) - k + 1, k)]
        if method.drafts is DISTINCT:
            if k not in self._distinct:
                self._distinct[k] = [
                    with_distinct_roots(self._laws, group, k, self._lookahead, self._rng) for group in groups
                ]
            groups = self._distinct[k]
        return np.mean([given(group, self._lookahead) for group in groups], axis=0)


class DraftedMasses(NamedTuple):
    """Both models' masses of the tokens of chains that the draft drew after every prefix, [repeats, prefixes, L]."""

    target: FLOAT
    draft: FLOAT


class OneChain(NamedTuple):
    """The two methods of one chain for lookaheads 1..L: tokens per call, and what a block yields more."""

    token_by_token: list[Mean]
    as_a_block: list[Mean]
    gain: list[Mean]


def drafted_after_every_prefix(setting: Setting, repeats: int, rng: Any) -> DraftedMasses:
    """Draft `repeats` chains after ALL prefixes, for `of_every_prefix` and `ceilings`.

    For two n-gram models, which are asked for single masses alone: tens of thousands of chains a second.

    Raises:
        TypeError: the models are not n-gram models.
    """
    target, draft = setting.target, setting.draft
    if not isinstance(target, NGram) or not isinstance(draft, NGram):
        raise TypeError("single masses are asked of n-gram models; sample other models")
    longer = max(target, draft, key=lambda model: model.order)
    contexts = np.stack([longer.context(prefix) for prefix in setting.prefixes])
    masses = np.empty((2, repeats, len(contexts), setting.lookahead))
    # Many chains at once, as a call of a model costs as much as thousands of masses; not all, for the memory.
    at_once = max(1, _AT_ONCE // len(contexts))
    for begin in range(0, repeats, at_once):
        part = masses[:, begin : begin + at_once]
        size = part.shape[1]
        uniforms = rng.random((size, setting.lookahead, len(contexts))).swapaxes(1, 2).reshape(-1, setting.lookahead)
        drawn = drafted_masses((target, draft), np.tile(contexts, (size, 1)), uniforms)
        part[:] = np.reshape(drawn, part.shape)
    return DraftedMasses(masses[0], masses[1])


_AT_ONCE = 2**15
"""Chains that are drafted at once."""


def of_every_prefix(masses: DraftedMasses) -> OneChain:
    """Return the two methods of one chain, for lookaheads 1..L, over all prefixes, from at least 2 chains after each.

    The standard error is that of drafting; which prefixes there are is not left to chance.
    """
    t, d = masses
    plain: Any = np.cumprod(np.minimum(1.0, t / d), axis=-1)
    kept = _kept(t, d)
    # A block keeps at each place no less than token by token is accepted: w_i ≥ Π min(1, t/d).
    return OneChain(
        [of_strata(1 + values, 1, 1 + size, CONFIDENCE) for size, values in _up_to_each(plain)],
        [of_strata(1 + values, 1, 1 + size, CONFIDENCE) for size, values in _up_to_each(kept)],
        [of_strata(values, 0, size, CONFIDENCE) for size, values in _up_to_each(kept - plain)],
    )


def ceilings(masses: DraftedMasses, ks: Sequence[int]) -> dict[int, list[Mean]]:
    """Return what no lossless verifier of k i.i.d. chains exceeds, in tokens per call, for each k and lookaheads 1..L.

    The law: i drafted tokens are accepted only where the first i tokens of the text, whose law is the target's, are
    those of a drafted chain, so that P(at least i) ≤ Σ_s min(t(s), 1 − (1 − d(s))^k) over the texts s of i tokens. With
    s drafted this is the mean of min(t/d, Σ_{j<k} (1 − d)^j). No verifier need reach all of these at once. For
    k = 1 the optimum is known: it is verification as a block.
    """
    t, d = (np.cumprod(side, axis=-1) for side in masses)
    found: dict[int, list[Mean]] = {}
    for k in ks:
        power = met = np.ones_like(d)
        for _ in range(k - 1):
            power = power * (1 - d)
            met = met + power
        least: FLOAT = np.minimum(t / d, met) if k > 1 else _kept(*masses)
        # Each term is at most k; for k = 1 it is a weight.
        found[k] = [of_strata(1 + values, 1, 1 + k * size, CONFIDENCE) for size, values in _up_to_each(least)]
    return found


def _kept(t: FLOAT, d: FLOAT) -> FLOAT:
    """Return the weights w_i = min(1, w_{i−1} t/d) of chains, [..., L]."""
    kept, weight = np.empty_like(t), np.ones(t.shape[:-1])
    for place in range(t.shape[-1]):
        weight = kept[..., place] = np.minimum(1.0, weight * t[..., place] / d[..., place])
    return kept


def _up_to_each(accepted: FLOAT) -> Iterator[tuple[int, FLOAT]]:
    for size in range(1, accepted.shape[-1] + 1):
        yield size, accepted[..., :size].sum(axis=-1)


class GatheredLaws(Conditionals):
    """Conditionals that can ask n-gram models for the laws after many paths at once.

    The rows of an n-gram model are laws by construction, and are not checked one by one; other models are asked and
    checked as ever, each law once. Raises as `Conditionals`.
    """

    def gather(self, paths: Sequence[Tokens], role: str | None = None) -> None:
        """Ask for both laws after each path that is not known yet, or for the "target" or the "draft" alone."""
        for asked in ("target", "draft") if role is None else (role,):
            self._gather(paths, asked, self._models[asked])

    def _gather(self, paths: Sequence[Tokens], role: str, model: Any) -> None:
        missing = [path for path in dict.fromkeys(paths) if (role, path) not in self._rows]
        if missing and isinstance(model, NGram | TemperedNGram | Recorded | TemperedRecorded | KeptRows):
            rows = rows_after(model, [self.prefix + path for path in missing])
            self._rows.update({(role, path): row for path, row in zip(missing, rows, strict=True)})


def rows_after(model: Model, prefixes: Sequence[Tokens]) -> Sequence[FLOAT] | FLOAT:
    """Return the distributions [V] after many prefixes: asked for at once of models that can, else one by one.

    Raises:
        ValueError, TypeError: as `conditional`, of a model that is asked one by one.
    """
    if isinstance(model, NGram | TemperedNGram):
        contexts = np.array([padded(prefix, model.order - 1) for prefix in prefixes], dtype=np.int64)
        return model.rows(contexts.reshape(len(prefixes), model.order - 1))
    if isinstance(model, Recorded | TemperedRecorded | KeptRows):
        return model.rows_after(prefixes)
    return [in_numpy(conditional(model, prefix)) for prefix in prefixes]


def extended(laws: GatheredLaws, stems: Sequence[Tokens], lookahead: int, rng: Any) -> list[Tokens]:
    """Let the draft continue each stem to `lookahead` tokens, or to the end token: chains drafted level by level.

    One uniform a token, of a NumPy Generator. Float laws.
    """
    chains = list(stems)
    while growing := [at for at, chain in enumerate(chains) if len(chain) < lookahead and not laws.ends(chain)]:
        laws.gather([chains[at] for at in growing])
        rows = np.stack([laws.draft(chains[at]) for at in growing])
        tokens = array_coin.drawn(rows, rng.random(len(growing)))
        for at, token in zip(growing, tokens.tolist(), strict=True):
            chains[at] = (*chains[at], token)
    return chains


def with_distinct_roots(laws: GatheredLaws, chains: Sequence[Tokens], k: int, lookahead: int, rng: Any) -> list[Tokens]:
    """Turn i.i.d. chains into k chains whose first tokens are drawn without replacement, keeping as many as it can.

    Of i.i.d. draws in a row the different ones, in the order of their first occurrence, are draws without replacement;
    what is then missing of k (or of the support) is drawn so and continued. Float laws.
    """
    kept: dict[int, Tokens] = {}
    for chain in chains:
        kept.setdefault(chain[0], chain)
    draft = laws.draft()
    roots = list(kept)
    while len(roots) < min(k, int((draft > 0).sum())):
        roots += array_coin.drawn(without(draft, roots)[None], rng.random(1)).tolist()
    fresh = roots[len(kept) :]
    return [*kept.values(), *extended(laws, [(root,) for root in fresh], lookahead, rng)][:k]


def drafted_masses(models: tuple[NGram, NGram], contexts: Any, uniforms: Any) -> tuple[Any, Any]:
    """Draft one chain of L tokens from each context; return both models' masses of its tokens, [n, L] each.

    Two n-gram models (target, draft), which are asked for single masses alone. Contexts [n, r] are the last r tokens of
    the prefixes, padded in front with −1, r at least what the longer model looks back; uniforms [n, L], one a token.
    """
    masses = np.empty((2, *uniforms.shape))
    known = np.asarray(contexts)
    for place in range(uniforms.shape[1]):
        seen = [known[:, known.shape[1] - (model.order - 1) :] for model in models]
        tokens = models[1].draw(seen[1], uniforms[:, place])
        for role, model in enumerate(models):
            masses[role, :, place] = model.mass(seen[role], tokens)
        known = np.concatenate([known[:, 1:], tokens[:, None]], axis=1)
    return masses[0], masses[1]
