"""transformers' verification step, `_speculative_sampling`: its exact law at given laws of target and draft."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import torch

from spec_math.arrays import as_law as checked
from spec_math.audit.exploration.atom import ExploreError
from spec_math.audit.exploration.explore import Explored, Partial
from torch_bridge.engines.installed import engine_part, missing
from torch_bridge.engines.transformers import emitted
from torch_bridge.explore import explore

_UTILS = "transformers.generation.utils"
if missing("transformers") is None:
    # Imported now: parts of it draw random numbers as they are imported, and no explored run should.
    engine_part(_UTILS, "_speculative_sampling")


def step_law(
    target: Any,
    draft: Any,
    weight: float | None = None,
    step: Callable[..., Any] | None = None,
    dtype: torch.dtype = torch.float32,
    grid: int | None = None,
) -> Explored:
    """Compute the exact law of the tokens that one verification step emits for drafts sampled from the draft.

    The law: {tokens: probability}, 1 to L + 1 tokens. It should be the target's; with `weight` w, transformers'
    `assistant_ensemble_weight`, the step is lossy by design and emits `ensemble` at each drafted position.

    Args:
        target: laws [L+1, V], a row for each position whatever was drafted before it.
        draft: laws [L, V]; a draft is sampled from the softmax that the step itself takes.
        weight: None, or w in (0, 1).
        step: what to audit in place of the installed function, as a broken copy made by `edited`.
        dtype: the type of the logits handed over.
        grid: as of `explore`; OWN_GRID for the uniforms k/2^24 that float32 really has.

    Raises:
        ModuleNotFoundError: transformers is not installed.
        ValueError: rows are not probability distributions, or their shapes do not fit.

    >>> law = step_law([[0.5, 0.5], [0.25, 0.75]], [[0.25, 0.75]])
    >>> round(sum(mass for tokens, mass in law.items() if tokens[0] == 0), 6)
    0.5
    """
    verify: Callable[..., Any] = step or engine_part(_UTILS, "_speculative_sampling")._speculative_sampling
    target_logits, draft_logits = _logits(target, "target", dtype), _logits(draft, "draft", dtype)
    lookahead, size = draft_logits.shape
    if target_logits.shape != (lookahead + 1, size):
        raise ValueError(
            f"a step of {lookahead} drafts takes target laws [{lookahead + 1}, {size}]; got {list(target_logits.shape)}"
        )
    drafted_from = draft_logits.softmax(-1)

    def run() -> tuple[int, ...]:
        drafts = torch.multinomial(drafted_from, 1)[:, 0]
        # Copies: a step that writes into its logits must not spoil the next path.
        return emitted(verify, drafts, target_logits.clone(), draft_logits.clone(), weight)

    found = explore(run, grid=grid)
    if isinstance(found, Partial):
        raise ExploreError(f"{found.paths} paths left {found.unexplored} of the mass unexplored; take smaller laws")
    return found


def verify_step(tokens: Any, target: torch.Tensor, draft: torch.Tensor) -> tuple[int, ...]:
    """Run one verification step on given drafts: the function for `spec-math audit`, which judges and names its fault.

    spec-math audit torch_bridge.engines.transformers_step:verify_step --lookahead 2 --numbers torch.float32

    Args:
        tokens: the drafts [L].
        target: laws [L+1, V].
        draft: laws [L, V].

    >>> verify_step([1], torch.tensor([[0.0, 1.0], [1.0, 0.0]]), torch.tensor([[0.5, 0.5]]))
    (1, 0)
    """
    step = engine_part(_UTILS, "_speculative_sampling")._speculative_sampling
    return emitted(step, torch.as_tensor(tokens), target.log(), draft.log())


def ensemble(target: Any, draft: Any, weight: Any) -> Any:
    """Return the law that transformers emits by design under `assistant_ensemble_weight`: w·target + (1 − w)·draft.

    Laws [..., V]. The first token of a step has it, and each further drafted one that is reached; the last has the
    target's.

    >>> ensemble([0.5, 0.5], [1.0, 0.0], 0.5).tolist()
    [0.75, 0.25]
    """
    return checked(target, "target") * weight + checked(draft, "draft") * (1 - weight)


def _logits(rows: Any, name: str, dtype: torch.dtype) -> torch.Tensor:
    laws = np.asarray(checked(rows, name), dtype=np.float64)
    if laws.ndim != 2:
        raise ValueError(f"{name} must be rows of laws [positions, V]; got shape {list(laws.shape)}")
    return torch.tensor(laws).log().to(dtype)
