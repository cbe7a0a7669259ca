"""Many drafted chains at once, with both models asked in batches: what sampling on large models needs."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from spec_math import array_coin
from spec_math.block_level.conditionals import Conditionals
from spec_math.language.context_tree import padded
from spec_math.language.kept_rows import KeptRows
from spec_math.language.ngram import NGram
from spec_math.language.recorded import Recorded
from spec_math.language.tempered import TemperedNGram, TemperedRecorded
from spec_math.scheme import Tokens
from spec_math.token_level.without_replacement import without


class GatheredLaws(Conditionals):
    """Conditionals that can ask n-gram models for the laws after many paths at once.

    The rows of an n-gram model are laws by construction, and are not checked one by one; other models are asked and
    checked as ever, each law once. Raises as `Conditionals`.

    >>> model = NGram.learn([0, 1, 0, 1, 1], order=2, size=2)
    >>> laws = GatheredLaws(model, model, (0,))
    >>> laws.gather([(), (1,)])
    >>> laws.target((1,)).tolist() == model((1,)).tolist()
    True
    """

    def gather(self, paths: Sequence[Tokens], role: str | None = None) -> None:
        """Ask for both laws after each path that is not known yet, or for the "target" or the "draft" alone."""
        for asked in ("target", "draft") if role is None else (role,):
            self._gather(paths, asked, self._models[asked])

    def _gather(self, paths: Sequence[Tokens], role: str, model: Any) -> None:
        missing = [path for path in dict.fromkeys(paths) if (role, path) not in self._rows]
        if missing and isinstance(model, NGram | TemperedNGram):
            contexts = np.array([padded(self.prefix + path, model.order - 1) for path in missing], dtype=np.int64)
            rows = model.rows(contexts.reshape(len(missing), model.order - 1))
            for path, row in zip(missing, rows, strict=True):
                self._rows[role, path] = row
        elif missing and isinstance(model, Recorded | TemperedRecorded | KeptRows):
            rows = model.rows_after([self.prefix + path for path in missing])
            self._rows.update({(role, path): row for path, row in zip(missing, rows, strict=True)})


def extended(laws: GatheredLaws, stems: Sequence[Tokens], lookahead: int, rng: Any) -> list[Tokens]:
    """Let the draft continue each stem to `lookahead` tokens, or to the end token: chains drafted level by level.

    One uniform a token, of a NumPy Generator. Float laws.

    >>> laws = GatheredLaws(lambda prefix: [0.5, 0.5], lambda prefix: [0.0, 1.0], ())
    >>> extended(laws, [(), (0,)], 2, np.random.default_rng(0))
    [(1, 1), (0, 1)]
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

    >>> laws = GatheredLaws(lambda prefix: [0.5, 0.5], lambda prefix: [0.5, 0.5], ())
    >>> with_distinct_roots(laws, [(0,), (0,)], 2, 1, np.random.default_rng(0))
    [(0,), (1,)]
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

    >>> model = NGram.learn([0, 1, 0, 1, 1], order=2, size=2)
    >>> t, d = drafted_masses((model, model), np.array([[0]]), np.random.default_rng(0).random((1, 3)))
    >>> t.shape, bool((t == d).all())
    ((1, 3), True)
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
