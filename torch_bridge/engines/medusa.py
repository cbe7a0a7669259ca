"""Medusa's `evaluate_posterior`: the exact law of what it emits from a drafted tree, out of the user's own file too."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from inspect import signature
from typing import Any

import torch

from spec_math.audit.exploration.atom import ExploreError
from spec_math.audit.exploration.explore import Explored, Partial
from spec_math.language.model import Model
from torch_bridge.engines.drafted_tree import DraftedTree, Text, drafted_tree
from torch_bridge.engines.engine import Defect, Edit, Engine, Step
from torch_bridge.engines.likeliest_tree import likeliest_tree
from torch_bridge.engines.source import Repository
from torch_bridge.explore import explore

ARGUMENTS = ("logits", "candidates", "temperature", "posterior_threshold", "posterior_alpha")


def posterior_law(
    evaluate_posterior: Callable[..., Any],
    target: Model,
    paths: Sequence[Text],
    temperature: float = 1.0,
    **options: Any,
) -> Explored:
    """Compute the exact law of the tokens emitted from a drafted tree: those accepted, and one sampled after them.

    The law: {tokens: probability}. The next token is Medusa's next root: sampled from the target at the temperature,
    after the accepted tokens. Short paths are filled up with token 0, as Medusa does. Its typical acceptance (the
    default) is lossy by design: it is no ratio test, and what it accepts depends on no random number. `options` are
    those of the user's version (sampling="nucleus", top_p=...).

    Args:
        evaluate_posterior: the engine's own function, evaluate_posterior(logits [paths, depth+1, V], candidates
            [paths, depth+1], temperature, posterior_threshold, posterior_alpha, ...) -> (best candidate, accepted
            length), as `from_file("Medusa/medusa/model/utils.py", "evaluate_posterior")` loads it.
        target: a model of laws [V], from the tokens after the root.
        paths: the drafted tree as tuples of tokens.
        temperature: above 0; the target's laws are raised to 1/temperature.

    Raises:
        TypeError: the function takes other arguments.
        ValueError: as `drafted_tree`.

    >>> def never(logits, candidates, temperature, posterior_threshold, posterior_alpha):
    ...     return 0, 0
    >>> law = posterior_law(never, lambda prefix: [0.25, 0.75], [(1,)])
    >>> {text: round(mass, 12) for text, mass in law.items()}
    {(0,): 0.25, (1,): 0.75}
    """
    names = tuple(signature(evaluate_posterior).parameters)
    if names[:5] != ARGUMENTS:
        raise TypeError(
            f"this adapter calls evaluate_posterior({', '.join(ARGUMENTS)}); the function given takes {names}"
        )
    tree = drafted_tree(target, paths, fill=0)
    how = {"posterior_threshold": 0.09, "posterior_alpha": 0.3, **options}

    found = explore(lambda: _emitted(evaluate_posterior, tree, temperature, how))
    if isinstance(found, Partial):
        raise ExploreError(f"{found.paths} paths left {found.unexplored} of the mass unexplored; draft a smaller tree")
    return found


def _emitted(evaluate_posterior: Callable[..., Any], tree: DraftedTree, heat: float, how: dict[str, Any]) -> Text:
    handed = tree.copied()
    best, accepted = evaluate_posterior(handed.logits, handed.candidates, temperature=heat, **how)
    length = int(accepted)
    last = tree.logits[int(best), length]
    token = torch.multinomial((last / heat).softmax(-1), 1) if heat else last.argmax()
    return (*handed.accepted(best, length), int(token.item()))


def _run(module: Any, step: Step, **how: Any) -> Sequence[int]:
    return _emitted(module.evaluate_posterior, likeliest_tree(step, fill=0), step.options.temperature, how)


BY_DESIGN = Defect(
    "Typical acceptance, the default, is lossy by design: a draft is kept where the target's mass of it exceeds a "
    "threshold that falls with the entropy, and no coin decides it.",
    by_design=True,
)
SIX = Defect(
    "Typical sampling without `fast` hands six arguments to a function of five. With five it runs, and is lossy by "
    "design: tokens below a threshold are left out, and each path draws tokens of its own."
)


def _engine(name: str, run: Callable[[Any, Step], Sequence[int]], control: Edit, known: Defect) -> Engine:
    return Engine(
        name=name,
        source=Repository("FasterDecoding/Medusa"),
        module="medusa.model.utils",
        function="evaluate_posterior",
        rule="tree, typical",
        run=run,
        control=control,
        options=("temperature",),
        stubs=("transformers",),
        defects=(known,),
    )


KEEPS_ALL = Edit("candidates_prob > threshold", "candidates_prob > -1")
FIVE = Edit("posterior_threshold, posterior_alpha, fast)\n", "posterior_threshold, posterior_alpha)\n")
ENGINES = (
    _engine("Medusa", _run, KEEPS_ALL, BY_DESIGN),
    _engine("Medusa without fast", partial(_run, fast=False), FIVE, SIX),
)
