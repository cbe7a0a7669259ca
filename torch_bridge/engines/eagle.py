"""EAGLE's `evaluate_posterior`, out of the user's own file: the exact law of what it emits from a drafted tree."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from inspect import signature
from typing import Any

import torch

from spec_math.audit.exploration.atom import ExploreError
from spec_math.audit.exploration.explore import Explored, Partial
from spec_math.language.model import Model
from torch_bridge.engines.drafted_tree import Text, drafted_tree
from torch_bridge.explore import explore

ARGUMENTS = ("logits", "candidates", "logits_processor")


def posterior_law(
    evaluate_posterior: Callable[..., Any],
    target: Model,
    paths: Sequence[Text],
    processor: Callable[[Any, torch.Tensor], torch.Tensor] | None = None,
    dtype: torch.dtype = torch.float64,
) -> Explored:
    """Compute the exact law of the tokens emitted from a drafted tree: those accepted, and one drawn after them.

    The law: {tokens: probability}. The tree is given, as EAGLE drafts it by top-k; drafts that are so chosen and tested
    one after the other, each as one-hot and the rejected zeroed, leave the target's law as it is.

    Args:
        evaluate_posterior: the engine's own function, evaluate_posterior(logits [paths, depth+1, V], candidates
            [paths, depth+1], logits_processor) -> (best candidate, accepted length, masses [V] of the next token), as
            `from_file("EAGLE/eagle/model/utils.py", "evaluate_posterior")` loads it.
        target: a model of laws [V], from the tokens after the root.
        paths: the drafted tree as tuples of tokens.
        processor: logits_processor, (ids, scores) -> scores; the target is then what it makes of the target's laws.
        dtype: the type of the logits handed over.

    Raises:
        TypeError: the function takes other arguments: those of EAGLE's first version do not fit.
        ValueError: as `drafted_tree`.

    >>> def greedy(logits, candidates, logits_processor):
    ...     return 0, 0, logits[0, 0].softmax(-1)
    >>> law = posterior_law(greedy, lambda prefix: [0.25, 0.75], [(1,)])
    >>> {text: round(mass, 12) for text, mass in law.items()}
    {(0,): 0.25, (1,): 0.75}
    """
    names = tuple(signature(evaluate_posterior).parameters)
    if names[:3] != ARGUMENTS or len(names) > 3:
        raise TypeError(
            f"this adapter calls evaluate_posterior({', '.join(ARGUMENTS)}); the function given takes {names}"
        )
    tree = drafted_tree(target, paths, dtype)

    def run() -> Text:
        handed = tree.copied()
        best, accepted, masses = evaluate_posterior(handed.logits, handed.candidates, processor or _unchanged)
        length = int(accepted)
        return (*handed.accepted(best, length), int(torch.multinomial(masses, 1).item()))

    found = explore(run)
    if isinstance(found, Partial):
        raise ExploreError(f"{found.paths} paths left {found.unexplored} of the mass unexplored; draft a smaller tree")
    return found


def _unchanged(_ids: Any, scores: torch.Tensor) -> torch.Tensor:
    return scores
