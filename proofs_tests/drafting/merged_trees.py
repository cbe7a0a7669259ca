"""Random trees drafted over another vocabulary, and their programs."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from proofs_tests.block_level import tree_batches
from proofs_tests.block_level.tree_batches import Batch, batch
from proofs_tests.block_level.tree_shapes import shapes
from spec_math.arrays import exact
from spec_math.block_level.conditionals import Conditionals
from spec_math.block_level.tree_rules import TreeRule
from spec_math.drafting.merged import models, placed_path

END = 3


def drafted(rule: TreeRule, seed: int, many: int = 20, largest: int = 7) -> tuple[Batch, Any]:
    """Trees with a map of the draft's tokens 0..3: the end is token 3 of both, of the others some have no place."""
    rng = np.random.default_rng([seed, 16])
    places = np.array([*rng.permutation(3), END])
    places[:3][rng.random(3) < 0.3] = -1
    given = batch(rule, shapes(rule, rng, many, largest), seed, END)
    more = exact(rng.integers(0, 12, (len(given.tokens), 1))) / 12
    return given._replace(uniforms=np.concatenate([given.uniforms, more], axis=1)), places


def replayed(rule: TreeRule, given: Batch, row: int, places: Any, coin: Any) -> tuple[int, ...]:
    """What the program emits on one tree, on models of the draft's tokens and one more."""
    names = {int(place): token for token, place in enumerate(places) if place >= 0}

    def target(prefix: tuple[int, ...]) -> Any:
        return given.models[0](tuple(names[token] for token in prefix))

    both = models(Ended(target), given.models[1], places)
    path = tree_batches.PROGRAMS[rule](coin, given, row, Conditionals(*both, ()))
    return placed_path(coin, path, target, places)


class Ended:
    """A model with the end token."""

    end = END

    def __init__(self, model: Callable[..., Any]) -> None:
        self._model = model

    def __call__(self, prefix: tuple[int, ...]) -> Any:
        return self._model(prefix)
