"""The one call of every engine: the exact law of the tokens that it emits in a few rounds, and its judge."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import product
from math import log
from pathlib import Path
from typing import Any

import numpy as np

from spec_math.arrays import asarray
from spec_math.block_level.lossless import continued, target_law
from spec_math.field import chain_kernel
from spec_math.field.engine import PLAIN, Bisected, Edit, Engine, Options, Step, Text, processed
from spec_math.field.source_file import load
from spec_math.language.model import Model
from spec_math.pathwise.exploration import Explored, Partial
from spec_math.pathwise.followed import SOURCES
from spec_math.pathwise.loading import Loading, load_module
from spec_math.samplers.judgement import beginnings
from spec_math.samplers.walk import way_to
from spec_math.scheme import is_index
from spec_math.verdict import UNIT, Allowance, Lossy, Reason, Undecided, Verdict
from spec_math.verdict import judged as judge
from torch_bridge.randomness.source import explore, torch_source


def loaded(engine: Engine, root: Any, edits: tuple[Edit, ...] = ()) -> Any:
    """Load an engine's module from the folder that its archive was unpacked in, with places of the source changed.

    Raises:
        ImportError: something that the engine imports is missing. ValueError: an edit does not fit the source.
    """
    by_module: dict[str, list[tuple[str, str]]] = {}
    for edit in (*engine.edits, *edits):
        by_module.setdefault(edit.module or engine.module, []).append((edit.old, edit.new))
    if isinstance(engine.run, Bisected):
        return load(Path(root), engine.module, engine.run.parts(), engine.run.beside, by_module)
    return load_module(root, engine.module, Loading(engine.stubs, engine.given, by_module))


class Emitted(Explored):
    """The exact law of what an engine emits; `stray` is the path to the first text that holds what is no token."""

    stray: tuple[str, ...] = ()


def engine_law(
    engine: Engine, module: Any, laws: tuple[Model, Model], lookahead: int, options: Options = PLAIN, **how: Any
) -> Emitted | Partial:
    """Compute the exact law {tokens: probability} of what an engine emits in some rounds, on two models of laws.

    Every path of the engine's own code is walked, by `explore`, or its coins are bisected; a round goes on after the
    tokens of the one before.

    Args:
        engine: the record.
        module: what `loaded` returns.
        laws: the target's model and the draft's, functions of the tokens emitted so far.
        lookahead: drafts a round.
        options: temperature, top_k and top_p, which the engine applies.
        how: `rounds`, 1 by default, and `budget` and `grid`, as of `explore`.

    Raises:
        ExploreError: the engine does with a random number what cannot be followed.
    """
    rounds, budget, grid = how.get("rounds", 1), how.get("budget", 100_000), how.get("grid")
    one_round = engine.run
    if isinstance(one_round, Bisected):
        return _bisected(one_round, module, laws, lookahead, rounds)

    def run() -> Text:
        step = Step(*laws, lookahead, options)
        for _ in range(rounds):
            step = step.after([int(token) for token in one_round(module, step)])
        return step.text

    found = explore(run, budget, grid)
    if isinstance(found, Partial):
        return found
    law = Emitted(found, found.paths, found.exact, found.ignored)
    stray = first_stray(law, len(asarray(laws[0](()))))
    if stray is not None:
        law.stray = way_to(run, stray.__eq__, budget, grid, (*SOURCES, torch_source))
    return law


def _bisected(how: Bisected, module: Any, laws: tuple[Model, Model], lookahead: int, rounds: int) -> Emitted:
    """Compute the law of some rounds of a kernel whose coins are bisected, each round after each text so far."""
    found: dict[Text, Any] = {(): 1}
    kernel = how.kernel(module)
    for _ in range(rounds):
        longer: dict[Text, Any] = {}
        for text, mass in found.items():
            after = [_after(model, text) for model in laws]
            for more, share in chain_kernel.law(kernel, after[0], after[1], lookahead, one_hot=how.one_hot).items():
                longer[(*text, *more)] = longer.get((*text, *more), 0) + mass * share
        found = longer
    return Emitted({text: float(mass) for text, mass in found.items()}, len(found), exact=False)


def _after(model: Model, text: Text) -> Model:
    return lambda more: model((*text, *more))


def wanted_of(engine: Engine, module: Any, target: Model, options: Options) -> Model:
    """Return the target's model as the options make it: by the engine's own rule where its record has one.

    >>> from spec_math.field.catalogue import named
    >>> wanted_of(named("specdec")[0], None, lambda text: [0.5, 0.5], PLAIN)(())
    [0.5, 0.5]
    """
    return processed(target, options) if engine.law is None else engine.law(module, target, options)


def verdict_on(
    engine: Engine, module: Any, found: Explored | Partial, laws: tuple[Model, Model], options: Options, horizon: int
) -> Verdict:
    """Decide whether an engine's law is the target's as the options make it, of the first `horizon` tokens.

    What an engine keeps under top_k and top_p is its own rule where its record says one, else the usual.
    """
    if isinstance(found, Partial):
        return Undecided(Reason.BUDGET, f"{found.paths:,} paths left {float(found.unexplored):.3g} of the mass")
    wanted = wanted_of(engine, module, laws[0], options)
    allowed = Allowance(bound_of(engine, laws, options, horizon), left_out=float(found.ignored))
    return judged(found, wanted, horizon, allowed)


def bound_of(engine: Engine, laws: tuple[Model, Model], options: Options, horizon: int) -> float:
    """Return the total variation that rounding explains, over the tokens of a text.

    That of `judged.token_bound` for the row with the smallest mass, at the temperature, once a token.
    """
    size = len(asarray(laws[0](())))
    texts = (text for length in range(horizon) for text in product(range(size), repeat=length))
    rows = [np.asarray(asarray(laws[0](text)), dtype=np.float64) for text in texts]
    least = min(float(row[row > 0].min()) for row in rows)
    # On a grid of k/2^b each coin is off by 2^-b at most; the token after the drafts is drawn by ideal noise.
    coarse = 0.0 if engine.grid is None else (horizon - 1) * 2.0**-engine.grid
    return token_bound(least, size, engine.unit, options.temperature or 1.0) * horizon + coarse


FLOAT32 = UNIT["float32"]
"""The unit roundoff of float32."""


def judged(emitted: Mapping[Text, Any], target_model: Model, horizon: int, bound: Allowance | float) -> Verdict:
    """Decide whether a law of emitted tokens, continued by the target, is the target's joint law of `horizon` tokens.

    `emitted` is what an adapter returns, {tokens: probability}; longer texts are cut at the horizon. `bound` is the
    total variation that the engine's arithmetic may be off by, as `float32_bound` has it. What is no token of the
    target is lossy, with the path to it where the law knows one.

    >>> fair = lambda prefix: [0.5, 0.5]
    >>> judged({(0,): 0.75, (1,): 0.25}, fair, 2, bound=0).total_variation
    0.25
    >>> print(judged({(0,): 0.75, (7,): 0.25}, fair, 2, bound=0))
    Lossy: the tokens (7,) are emitted with probability 0.25, and 7 is no token: there are 2
    """
    size = len(asarray(target_model(())))
    stray = first_stray(emitted, size)
    if stray is not None:
        token = next(token for token in stray if not _is_token(token, size))
        return Lossy(
            f"the tokens {stray} are emitted with probability {float(emitted[stray]):.6g}, and {token} is no token: "
            f"there are {size}",
            tokens=stray,
            emitted=emitted[stray],
            path=getattr(emitted, "stray", ()),
        )
    law = continued(beginnings(emitted, horizon), target_model, horizon)
    return judge(law, target_law(target_model, horizon), bound, getattr(emitted, "paths", len(emitted)))


def first_stray(emitted: Mapping[Text, Any], size: int) -> Text | None:
    """Return the first emitted text that holds what is no token of a vocabulary, in the order of texts, or None.

    >>> first_stray({(0, 1): 0.5, (2,): 0.25, (1, -1): 0.25}, 2)
    (1, -1)
    """
    return min((text for text in emitted if not all(_is_token(token, size) for token in text)), default=None)


def _is_token(token: Any, size: int) -> bool:
    return is_index(token) and 0 <= token < size


def total_variation(one: Mapping[Any, Any], other: Mapping[Any, Any]) -> float:
    """Return half the sum of |one − other| over all outcomes of two laws {outcome: mass}.

    >>> total_variation({0: 0.5, 1: 0.5}, {0: 0.75, 2: 0.25})
    0.5
    """
    return float(sum(abs(one.get(outcome, 0) - other.get(outcome, 0)) for outcome in one.keys() | other.keys()) / 2)


def float32_bound(rows: Sequence[Sequence[float]]) -> float:
    """Return the total variation that a float32 verifier may be off by, emitting one token for each target row [V].

    The sum of `token_bound` over the rows, without temperature or filters. Draft rows need no bound of their own: any
    law does that is both sampled and reported.

    >>> float32_bound([[0.5, 0.5]]) < 4e-6
    True
    """
    return sum(token_bound(min(mass for mass in row if mass > 0), len(row)) for row in rows)


def token_bound(least: float, size: int, unit: float = FLOAT32, heat: float | None = None) -> float:
    """Return the total variation that one token of a verifier may be off by, for a target row of V = `size` masses.

    `least` is its smallest positive mass and D = −log of it. With u the unit roundoff: a logit log t is off by D·u, the
    difference to the largest logit by D·u more, exp by 2u, the sum by V·u and the quotient by u, so that a mass is off
    by a factor 1 ± e with e = (4D + V + 5)·u, the first two counting in the sum as well. A row of such masses sums to
    1 ± (V + 2)·u; so does the draft's, and drawing divides by those sums: 3(V + 2)·u at most. The ratio of the test,
    the difference of the residual and its sum are rounded once each: 3u. Together (4D + 4V + 14)·u, first order in u.

    Where the engine applies a temperature `heat` and filters, logits divided by it are off by 2·D/T·u and their
    difference to the largest by D/T·u more, which count in the sum as well, and filters divide once more by a sum,
    (V + 2)·u: (6·D/T + 5·V + 16)·u. Twice either leaves room for the rest.

    >>> token_bound(0.5, 2) < token_bound(0.5, 2, heat=1.0) < token_bound(0.5, 2, heat=0.5) < 8e-6
    True
    """
    depth = -log(least)
    roundings = 4 * depth + 4 * size + 14 if heat is None else 6 * depth / heat + 5 * size + 16
    return 2 * roundings * unit
