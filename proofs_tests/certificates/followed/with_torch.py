"""Samplers that draw from torch."""
# ruff: noqa: ARG001 - samplers as people write them

import torch


def rejection(tokens, target, draft):
    """Rejection of one draft."""
    x = tokens[0]
    if torch.rand(()) < target[x] / draft[x]:
        return x
    rest = torch.clamp(target - draft, min=0)
    return torch.multinomial(rest, 1)


def redraws(tokens, target, draft):
    """M7 of the zoo: after a rejection the target is drawn from."""
    x = tokens[0]
    return x if torch.rand_like(target[x]) < target[x] / draft[x] else torch.multinomial(target, 1)


def noisy(target, draft):
    """Draw from the target by a race of exponentials."""
    return int((target / torch.empty_like(target).exponential_()).argmax())
