"""The one call of every engine: the exact law of the tokens that it emits in a few rounds, and its judge."""

from __future__ import annotations

from math import log
from typing import Any

import numpy as np

from spec_math.arrays import asarray
from spec_math.audit import Explored, Partial
from spec_math.audit.loading.package import Loading, load_module
from spec_math.block_level.emitted import continued, target_law
from spec_math.language.model import Model
from spec_math.verdict import Allowance, Reason, Undecided, Verdict, judged
from torch_bridge.engines.engine import PLAIN, Edit, Engine, Options, Step, Text, processed
from torch_bridge.explore import explore


def loaded(engine: Engine, root: Any, edits: tuple[Edit, ...] = ()) -> Any:
    """Load an engine's module from the folder that its archive was unpacked in, with places of the source changed.

    Raises:
        ImportError: something that the engine imports is missing. ValueError: an edit does not fit the source.
    """
    by_module: dict[str, list[tuple[str, str]]] = {}
    for edit in (*engine.edits, *edits):
        by_module.setdefault(edit.module or engine.module, []).append((edit.old, edit.new))
    return load_module(root, engine.module, Loading(engine.stubs, engine.given, by_module))


def engine_law(
    engine: Engine, module: Any, laws: tuple[Model, Model], lookahead: int, options: Options = PLAIN, **how: Any
) -> Explored | Partial:
    """Compute the exact law {tokens: probability} of what an engine emits in some rounds, on two models of laws.

    Every path of the engine's own code is walked, by `explore`; a round goes on after the tokens of the one before.

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

    def run() -> Text:
        step = Step(*laws, lookahead, options)
        for _ in range(rounds):
            step = step.after([int(token) for token in engine.run(module, step)])
        return step.text

    return explore(run, budget, grid)


def verdict_on(
    engine: Engine, module: Any, found: Explored | Partial, laws: tuple[Model, Model], options: Options, horizon: int
) -> Verdict:
    """Decide whether an engine's law is the target's as the options make it, of the first `horizon` tokens.

    What an engine keeps under top_k and top_p is its own rule where its record says one, else the usual.
    """
    if isinstance(found, Partial):
        return Undecided(Reason.BUDGET, f"{found.paths:,} paths left {float(found.unexplored):.3g} of the mass")
    wanted = processed(laws[0], options) if engine.law is None else engine.law(module, laws[0], options)
    strays = sorted({token for text in found for token in text if not 0 <= token < len(asarray(wanted(())))})
    if strays:
        return Undecided(Reason.NOT_JUDGED, f"it emits {strays[0]}, which is no token")
    cut: dict[Text, Any] = {}
    for text, mass in found.items():
        cut[text[:horizon]] = cut.get(text[:horizon], 0.0) + float(mass)
    emitted = {text: float(mass) for text, mass in continued(cut, wanted, horizon).items()}
    goal = {text: float(mass) for text, mass in target_law(wanted, horizon).items()}
    allowed = Allowance(bound_of(engine, laws, options, horizon), left_out=float(found.ignored))
    return judged(emitted, goal, allowed, found.paths)


def bound_of(engine: Engine, laws: tuple[Model, Model], options: Options, horizon: int) -> float:
    """Return the total variation that rounding explains, over the tokens of a text.

    As `judged.float32_bound`, whose logits log t are off by D·u: divided by a temperature T they are off by 2·D/T·u,
    and their difference to the largest by D/T·u more, which count in the sum as well: a mass is off by a factor 1 ± e
    with e = (6·D/T + V + 5)·u. Filters divide once more by a sum, (V + 2)·u. Together (6·D/T + 5·V + 16)·u a token, and
    twice that leaves room for the rest.
    """
    least, size = 1.0, 2
    for text in _texts(laws[0], horizon):
        masses = np.asarray(asarray(laws[0](text)), dtype=np.float64)
        least, size = min(least, float(masses[masses > 0].min())), len(masses)
    # On a grid of k/2^b each coin is off by 2^-b at most; the token after the drafts is drawn by ideal noise.
    coarse = 0.0 if engine.grid is None else (horizon - 1) * 2.0**-engine.grid
    depth = -log(least) / (options.temperature or 1.0)
    return 2 * (6 * depth + 5 * size + 16) * engine.unit * horizon + coarse


def _texts(model: Model, horizon: int) -> list[Text]:
    found: list[Text] = [()]
    size = len(asarray(model(())))
    for text in found:
        if len(text) + 1 < horizon:
            found += [(*text, token) for token in range(size)]
    return found
