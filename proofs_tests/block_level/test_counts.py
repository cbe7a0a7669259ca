"""Each number of blocks and trees that is not a positive integer is refused by its name."""

from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
import pytest

from spec_math.block_level import block, chain, likeliest_tree, optimum, stochastic_beam
from spec_math.block_level.chain_priorities import expected
from spec_math.block_level.conditionals import Conditionals
from spec_math.block_level.likeliest_tree import beam
from spec_math.block_level.likeliest_tree import likeliest_paths as likeliest
from spec_math.papers import delayed, jacobi


def model(_: tuple[int, ...]) -> list[str]:
    return ["1/4", "3/4"]


LAWS = Conditionals(model, model, ())
CASES: list[tuple[str, Callable[[], Any]]] = [
    ("lookahead", partial(chain.expected, model, model, (), 0)),
    ("lookahead", partial(block.expected, model, model, (), 0)),
    ("lookahead", partial(optimum.tokens_per_call, model, model, (), 0, 1)),
    ("lookahead", partial(optimum.level_bound, model, model, (), 0, 1)),
    ("lookahead", partial(expected, model, model, (), 0, 2)),
    ("lookahead", lambda: stochastic_beam.grow(None, LAWS, 0, 2)),  # type: ignore[arg-type]
    ("k", lambda: stochastic_beam.grow(None, LAWS, 2, 0)),  # type: ignore[arg-type]
    ("lookahead", lambda: stochastic_beam.sampled(None, 0, (2,), np.random.default_rng(0))),  # type: ignore[arg-type]
    ("length", lambda: jacobi.generate(None, model, (), 0, 1)),  # type: ignore[arg-type]
    ("lookahead", lambda: jacobi.generate(None, model, (), 1, 0)),  # type: ignore[arg-type]
    ("stem", partial(delayed.checked, (-1, 1))),
    ("branch", partial(delayed.checked, (0, 0))),
    ("nodes", partial(likeliest, model, 0, 1)),
    ("depth", partial(likeliest, model, 1, 0)),
    ("nodes", partial(likeliest_tree.likeliest_of_depths, model, 0, (1,))),
    ("depth", partial(likeliest_tree.likeliest_of_depths, model, 1, (1, 0))),
    ("nodes", partial(beam, model, 0, 1, 1)),
    ("depth", partial(beam, model, 1, 0, 1)),
    ("width", partial(beam, model, 1, 1, 0)),
]


@pytest.mark.parametrize(("name", "ask"), CASES)
def test_a_number_below_one_is_refused_by_its_name(name: str, ask: Callable[[], Any]) -> None:
    with pytest.raises(ValueError, match=f"^{name} must be at least 1; got "):
        ask()
