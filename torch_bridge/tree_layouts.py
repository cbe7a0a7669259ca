"""Drafted trees in other layouts as tokens and parents: chains side by side, links of engines, paths of engines.

Source: SGLang's retrieve_index, retrieve_next_token and retrieve_next_sibling; EAGLE's retrieve_indices.
"""

from __future__ import annotations

from itertools import pairwise
from typing import Any, NamedTuple

import torch

from torch_bridge.validation import kind_of


class DraftedTrees(NamedTuple):
    """Trees of N nodes: `tokens` [B, N], −1 for none, `parents` [B, N], −1 the root, `copies` [B, N]."""

    tokens: Any
    parents: Any
    copies: Any


def chain_tree(chains: Any, shared: bool = False, check: bool = True) -> DraftedTrees:
    """Lay out k drafted chains [B, K, L] of each request, −1 behind the end of one, as a tree of K·L nodes.

    Chain j has the nodes jL, …, jL + L − 1, so that the target sees every draft on a path of its own. With `shared`
    what chains begin with in common has nodes in the first of them alone, the others have none there (token −1), and
    `copies` says how many chains go through a node: fewer rows for the target to work out. Shared nodes do not say in
    which order the chains were drawn, so that they are for rules without it (`rule.ordered` is False). Without `check`
    no value is looked at on the host.

    Raises:
        ValueError: chains are no whole numbers [B, K, L], or one goes on behind its end.

    >>> chains = torch.tensor([[[5, 6], [5, 7]]])
    >>> chain_tree(chains).parents.tolist()
    [[-1, 0, -1, 2]]
    >>> [each.tolist() for each in chain_tree(chains, shared=True)]
    [[[5, 6, -1, 7]], [[-1, 0, -1, 0]], [[2, 1, 0, 1]]]
    """
    if not isinstance(chains, torch.Tensor) or chains.is_floating_point() or chains.ndim != 3 or not chains.numel():
        raise ValueError(f"chains must be a tensor of whole numbers [B, K, L]; got {kind_of(chains)}")
    resumed = (chains[..., 1:] >= 0) & (chains[..., :-1] < 0)
    if check and bool(resumed.any()):
        request, chain, at = (int(place) for place in resumed.nonzero()[0])
        raise ValueError(
            f"a chain ends at its first -1; chains[{request}, {chain}] is {chains[request, chain].tolist()}, with a "
            f"token at {at + 1} behind -1 at {at}: put the tokens of a chain first"
        )
    requests, many, length = chains.shape
    place = torch.arange(many * length, device=chains.device)
    if not shared:
        parents = torch.where(place % length > 0, place - 1, -1).repeat(requests, 1)
        tokens = chains.reshape(requests, -1)
        return DraftedTrees(tokens, parents, (tokens >= 0).long())
    # same[b, i, j, l]: the chains i and j agree up to their token l, which both have.
    same = (chains[:, :, None] == chains[:, None]) & (chains >= 0)[:, None]
    same = same.long().cumprod(dim=-1)
    first = same.argmax(dim=2)  # [B, K, L]: the first chain that begins alike
    own = torch.arange(many, device=chains.device)[:, None]
    tokens = torch.where(first == own, chains, -1).reshape(requests, -1)
    copies = torch.where(tokens >= 0, same.sum(dim=1).reshape(requests, -1), 0)
    node = first * length + torch.arange(length, device=chains.device)
    above = torch.cat([torch.full_like(node[..., :1], -1), node[..., :-1]], dim=-1).reshape(requests, -1)
    return DraftedTrees(tokens, torch.where(tokens >= 0, above, -1), copies)


def tree_of_links(candidates: Any, next_token: Any, next_sibling: Any, check: bool = True) -> DraftedTrees:
    """Return the trees that SGLang's kernels take: candidates [B, N + 1], the root first, and two links of each slot.

    next_token [B, N + 1] is a slot's first child, next_sibling [B, N + 1] the next one of its own siblings, −1 where
    there is none. Slot i + 1 is node i. Children are then taken by their index, as the builder of these links orders
    them. A slot that no link leads to is no node. Without `check` no value is looked at on the host.

    Raises:
        ValueError: the shapes differ; links lead out of the tree, to the root, to one slot twice, or in a cycle.

    >>> links = torch.tensor([[1, -1, 3, -1]]), torch.tensor([[-1, 2, -1, -1]])
    >>> [each.tolist() for each in tree_of_links(torch.tensor([[9, 5, 6, 7]]), *links)]
    [[[5, 6, 7]], [[-1, -1, 1]], [[1, 1, 1]]]
    """
    shapes = [tuple(each.shape) for each in (candidates, next_token, next_sibling)]
    if len(set(shapes)) > 1 or len(shapes[0]) != 2 or shapes[0][1] < 2:
        raise ValueError(
            f"candidates, next_token and next_sibling must be [B, N + 1] each, the root first; got {shapes}"
        )
    slots = candidates.shape[1]
    if check:
        _check_links(next_token, next_sibling)
    here = torch.arange(slots, device=candidates.device).expand(len(candidates), -1)
    above, before = (_leading_to(links.long(), here, slots) for links in (next_token, next_sibling))
    for _ in range(slots):  # each round settles the next sibling of every settled child
        above = torch.where((before >= 0) & (above < -1), above.gather(1, before.clamp(min=0)), above)
    return _below(candidates, above[:, 1:])


def tree_of_paths(candidates: Any, retrieve_indices: Any, check: bool = True) -> DraftedTrees:
    """Return the trees that EAGLE and Medusa lay out as paths of slots, retrieve_indices [B, paths, depth + 1].

    candidates [B, N + 1] are the tokens of the slots, the root's, slot 0, first; every path starts there, and −1 stands
    behind its end. Without `check` no value is looked at on the host.

    Raises:
        ValueError: the shapes do not fit; a path leaves the tree, does not start at the root, goes on behind its end,
            or puts a slot below another parent than an earlier one.

    >>> paths = torch.tensor([[[0, 1, 3], [0, 2, -1]]])
    >>> tree_of_paths(torch.tensor([[9, 5, 6, 7]]), paths).parents.tolist()
    [[-1, -1, 0]]
    """
    if candidates.ndim != 2 or retrieve_indices.ndim != 3 or len(candidates) != len(retrieve_indices):
        raise ValueError(
            "candidates and retrieve_indices must be [B, N + 1] and [B, paths, depth + 1]; got "
            f"{tuple(candidates.shape)} and {tuple(retrieve_indices.shape)}"
        )
    slots = candidates.shape[1]
    child = retrieve_indices[:, :, 1:].flatten(1).long()
    parent = retrieve_indices[:, :, :-1].flatten(1).long()
    if check:
        _check_paths(retrieve_indices, slots)
    return _below(candidates, _leading_to(child, parent, slots)[:, 1:])


def _leading_to(links: Any, sources: Any, slots: int) -> Any:
    """Return for each slot [B, N + 1] the source of the link that leads to it, −2 where none does."""
    # A link to nowhere is written beyond the end.
    found = links.new_full((len(links), slots + 1), -2)
    return found.scatter(1, torch.where(links < 0, slots, links), sources)[:, :slots]


def _below(candidates: Any, above: Any) -> DraftedTrees:
    """Return the trees whose slots [B, N] but the root's lie below given slots, those below none being no nodes."""
    there = above >= 0
    tokens = torch.where(there, candidates[:, 1:].long(), -1)
    return DraftedTrees(tokens, torch.where(there, above - 1, -1), there.long())


def _check_links(next_token: Any, next_sibling: Any) -> None:
    slots = next_token.shape[1]
    for request, pairs in enumerate(zip(next_token.tolist(), next_sibling.tolist(), strict=True)):
        led: dict[int, str] = {}
        for name, row in zip(("next_token", "next_sibling"), pairs, strict=True):
            for slot, to in enumerate(row):
                here = f"{name}[{request}, {slot}]"
                if to >= slots:
                    raise ValueError(f"links name slots in 1..{slots - 1}, or are -1; {here} is {to}")
                if to >= 0 and (to == 0 or to in led):
                    what = "the root, which follows nothing" if to == 0 else f"slot {to}, as does {led[to]}"
                    raise ValueError(f"one link leads to each slot but the root; {here} leads to {what}")
                if to >= 0:
                    led[to] = here
        # From the root every link must be met: those of a cycle never are.
        open_slots, met = [0], set[int]()
        while open_slots:
            slot = open_slots.pop()
            found = [row[slot] for row in pairs if row[slot] > 0]
            met.update(found)
            open_slots += found
        if missed := sorted(set(led) - met):
            raise ValueError(
                f"links lead from the root to every node; in request {request} {led[missed[0]]} leads to slot "
                f"{missed[0]}, which is not below the root: links go round in a cycle, or start at a slot without one"
            )


def _check_paths(paths: Any, slots: int) -> None:
    for request, listed in enumerate(paths.tolist()):
        known: dict[int, int] = {}
        for number, path in enumerate(listed):
            here = f"retrieve_indices[{request}, {number}] is {path}"
            if max(path) >= slots:
                raise ValueError(f"paths name slots in 0..{slots - 1}, or are -1 behind their end; {here}")
            end = next((at for at, slot in enumerate(path) if slot < 0), len(path))
            if max(path[end:], default=-1) >= 0 or (end and (path[0] != 0 or 0 in path[1:end])):
                raise ValueError(f"a path starts at the root, slot 0, and has -1 only behind its end; {here}")
            for parent, slot in pairwise(path[:end]):
                if known.setdefault(slot, parent) != parent:
                    raise ValueError(
                        f"a slot has one parent; in request {request} slot {slot} follows slot {known[slot]} in one "
                        f"path and slot {parent} in another: give each its own slot"
                    )
