"""Chains that a draft model draws level by level, with both models' distributions after many paths at once."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from spec_math import array_coin
from spec_math.block_level.conditionals import Conditionals, conditional, in_numpy
from spec_math.language.context_tree import padded
from spec_math.language.model import Model
from spec_math.language.ngram import NGram
from spec_math.language.recorded import Recorded
from spec_math.language.tempered import KeptRows, TemperedNGram, TemperedRecorded
from spec_math.scheme import Tokens

FLOAT = np.ndarray[Any, np.dtype[np.float64]]


class GatheredLaws(Conditionals):
    """Conditionals that can ask n-gram models for the laws after many paths at once.

    The rows of an n-gram model are laws by construction, and are not checked one by one; other models are asked and
    checked as ever, each law once. Raises as `Conditionals`.
    """

    @property
    def models(self) -> tuple[Model, Model]:
        """The target and the draft."""
        return self._models["target"], self._models["draft"]

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


def extended(
    laws: GatheredLaws, stems: Sequence[Tokens], lookahead: int, rng: Any, of_target: bool = False
) -> list[Tokens]:
    """Let the draft continue each stem to `lookahead` tokens, or to the end token: chains drafted level by level.

    With `of_target` the target continues them. One uniform a token, of a NumPy Generator. Float laws.
    """
    chains = list(stems)
    law, asked = (laws.target, "target") if of_target else (laws.draft, None)
    while growing := [at for at, chain in enumerate(chains) if len(chain) < lookahead and not laws.ends(chain)]:
        laws.gather([chains[at] for at in growing], asked)
        rows = np.stack([law(chains[at]) for at in growing])
        tokens = array_coin.drawn(rows, rng.random(len(growing)))
        for at, token in zip(growing, tokens.tolist(), strict=True):
            chains[at] = (*chains[at], token)
    return chains


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
