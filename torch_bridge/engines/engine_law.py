"""The one call of every engine: the exact law of the tokens that it emits in a few rounds, and its judge."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

from spec_math.arrays import asarray
from spec_math.audit.exploration.explore import Explored, Partial
from spec_math.audit.exploration.followed import SOURCES
from spec_math.audit.exploration.way import way_to
from spec_math.audit.loading.package import Loading, load_module
from spec_math.language.model import Model
from spec_math.verdict import Allowance, Reason, Undecided, Verdict
from torch_bridge.engines import chain_kernel
from torch_bridge.engines.engine import PLAIN, Bisected, Edit, Engine, Options, Step, Text, processed
from torch_bridge.engines.judged import first_stray, judged, token_bound
from torch_bridge.engines.source_file import load
from torch_bridge.explore import explore
from torch_bridge.random_source import torch_source


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

    >>> from torch_bridge.engines.specdec import ENGINES
    >>> wanted_of(ENGINES[0], None, lambda text: [0.5, 0.5], PLAIN)(())
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
    least, size = 1.0, 2
    for text in _texts(laws[0], horizon):
        masses = np.asarray(asarray(laws[0](text)), dtype=np.float64)
        least, size = min(least, float(masses[masses > 0].min())), len(masses)
    # On a grid of k/2^b each coin is off by 2^-b at most; the token after the drafts is drawn by ideal noise.
    coarse = 0.0 if engine.grid is None else (horizon - 1) * 2.0**-engine.grid
    return token_bound(least, size, engine.unit, options.temperature or 1.0) * horizon + coarse


def _texts(model: Model, horizon: int) -> list[Text]:
    found: list[Text] = [()]
    size = len(asarray(model(())))
    for text in found:
        if len(text) + 1 < horizon:
            found += [(*text, token) for token in range(size)]
    return found
