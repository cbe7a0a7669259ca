"""xLLM's check of drafted tokens, as its rejection_sampler.cpp and spec_input_builder.cpp read: written down, not run.

Source: xLLM, core/framework/sampling/rejection_sampler.cpp `random_sample`, core/runtime/spec_input_builder.cpp
`build_validate_tensors`.
"""

from __future__ import annotations

import torch


def kept(tokens: torch.Tensor, laws: torch.Tensor) -> torch.Tensor:
    """Return the laws [L, V] of drafts [L] as they are handed on: the mass of the drafted token alone, 0 elsewhere.

    >>> kept(torch.tensor([1]), torch.tensor([[0.25, 0.75]])).tolist()
    [[0.0, 0.75]]
    """
    selected = laws.gather(-1, tokens[:, None])
    return torch.zeros_like(laws).scatter(-1, tokens[:, None], selected)


def random_sample(tokens: torch.Tensor, draft: torch.Tensor, target: torch.Tensor, bonus: torch.Tensor) -> list[int]:
    """Return the tokens that a step emits, from drafts [L], their laws [L, V], the target's [L, V] and a bonus token.

    >>> sure = torch.tensor([[0.0, 1.0]])
    >>> random_sample(torch.tensor([1]), sure, sure, torch.tensor([0]))
    [1, 0]
    """
    ratio = target.gather(-1, tokens[:, None]) / draft.gather(-1, tokens[:, None])
    accepted = torch.rand(len(tokens)) < ratio[:, 0]
    recovered = (target - draft).clamp(min=0)
    recovered = recovered / recovered.sum(-1, keepdim=True).clamp(min=1e-6)
    emitted: list[int] = []
    for place, token in enumerate(tokens.tolist()):
        if not accepted[place]:
            return [*emitted, int(torch.multinomial(recovered[place], 1))]
        emitted.append(token)
    return [*emitted, int(bonus)]
