"""Draft logits over another vocabulary, or over part of one, with the target's token for each of the draft's.

Source: union and intersection: Timor et al., Alg. 1 and 4; reduced heads: SpecVocab, Sections 2 and 3.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any, NamedTuple

import torch

from torch_bridge import input_validation
from torch_bridge.options import Options


class MappedLogits(NamedTuple):
    """Draft logits [B, D] (trees: [B, N + 1, D]), and which of the target's tokens [D] the draft's are.

    `places` is −1 where the target has no such token, and names no token twice: [D] once for all (two vocabularies,
    FR-Spec, VocabTrim, EAGLE-3), [B, D] for requests with subsets of their own (SpecVocab), or [B, N + 1, D] for trees
    with a subset at each node. `shared` says that drafts were drawn from the shared tokens alone, logits masked to them
    before temperature, top-k and top-p (intersection, TLI); False that they were drawn from all of the draft's
    (union), of which those that the target lacks are never accepted. Nothing is laid out over the target's vocabulary
    but the target itself.

    >>> MappedLogits(torch.zeros(1, 2), torch.tensor([5, -1])).shared
    True
    """

    logits: Any
    places: Any
    shared: bool = True

    def options(self, options: Options) -> Options:
        """Return the options for the draft's rows: what the target's say, along the places, and on shared tokens.

        >>> found = MappedLogits(torch.zeros(1, 2), torch.tensor([5, -1])).options(Options(top_k=3))
        >>> found.top_k, found.allowed.tolist()
        (2, [True, False])
        """
        allowed, known = options.allowed, self.places >= 0
        if allowed is not None:
            at = self.places.clamp(min=0)
            # Masks and places of more than one axis begin with the requests; a tree's have one for each node.
            axes = max(allowed.ndim, at.ndim)
            shape = torch.broadcast_shapes(_with_axes(allowed, axes).shape[:-1], _with_axes(at, axes).shape[:-1])
            wide, at = (_with_axes(each, axes).expand(*shape, -1) for each in (allowed, at))
            allowed = wide.gather(-1, at) & _with_axes(known, axes)
        elif self.shared:
            allowed = known
        keeps: Any = options.top_k
        if keeps is not None:
            size = self.logits.shape[-1]
            keeps = keeps.clamp(max=size) if isinstance(keeps, torch.Tensor) else min(keeps, size)
        return replace(options, allowed=allowed, top_k=keeps)

    def at(self, requests: Any) -> MappedLogits:
        """Return the draft's logits of some requests of the batch, a slice.

        >>> MappedLogits(torch.zeros(3, 2), torch.tensor([5, -1])).at(slice(0, 2)).logits.shape
        torch.Size([2, 2])
        """
        places = self.places if self.places.ndim == 1 else self.places[requests]
        return self._replace(logits=self.logits[requests], places=places)


def check_places(target_logits: Any, draft: MappedLogits) -> None:
    """Check types, devices and the shape of places; no value is looked at.

    Raises:
        TypeError, ValueError: they do not fit the logits.

    >>> draft = MappedLogits(torch.zeros(1, 2), torch.tensor([5, -1, 3]))
    >>> check_places(torch.zeros(1, 8), draft)  # doctest: +ELLIPSIS
    Traceback (most recent call last):
    ValueError: places names the target's token of each of the draft's: [D], [B, D] or as draft_logits; got (3,) ...
    """
    places, logits = draft.places, draft.logits
    input_validation.check_whole_numbers("places", places)
    input_validation.check_tensor("draft_logits", logits)
    if places.device != logits.device:
        raise ValueError(f"all tensors of a call must lie on one device; got places on {places.device}")
    shapes = logits.shape[-1:], (logits.shape[0], logits.shape[-1]), logits.shape
    if tuple(places.shape) not in [tuple(shape) for shape in shapes]:
        raise ValueError(
            "places names the target's token of each of the draft's: [D], [B, D] or as draft_logits; got "
            f"{tuple(places.shape)} beside draft_logits {tuple(logits.shape)} and target_logits "
            f"{tuple(target_logits.shape)}"
        )


def check_map(places: Any, vocabulary: int) -> None:
    """Check that places [..., D] lie in the target's vocabulary or are −1, and name no token twice. It waits.

    Raises:
        ValueError: naming the first place where it is not so.

    >>> check_map(torch.tensor([3, -1, 3]), 8)  # doctest: +ELLIPSIS
    Traceback (most recent call last):
    ValueError: each token of the target stands for one of the draft's at most; places[0] and places[2] are both 3: ...
    """
    outside = (places < -1) | (places >= vocabulary)
    if bool(outside.any()):
        place, value = input_validation.first(outside, places)
        raise ValueError(
            f"places must lie in 0..{vocabulary - 1}, or be -1 where the target has no such token; places{place} is "
            f"{value}"
        )
    ordered, order = places.sort(dim=-1, stable=True)
    again = (ordered[..., 1:] == ordered[..., :-1]) & (ordered[..., 1:] >= 0)
    if bool(again.any()):
        *row, at = (int(index) for index in again.nonzero()[0])
        one, other = (int(order[(*row, at + step)]) for step in (0, 1))
        names = [f"places[{', '.join(map(str, (*row, token)))}]" for token in (one, other)]
        raise ValueError(
            f"each token of the target stands for one of the draft's at most; {names[0]} and {names[1]} are both "
            f"{int(ordered[(*row, at)])}: add the draft's tokens of the same bytes up, as "
            "drafting.correspondence.carried does, and draft them as one"
        )


def _with_axes(array: Any, axes: int) -> Any:
    if 1 < array.ndim < axes:
        return array[:, None]
    return array.reshape(*[1] * (axes - array.ndim), *array.shape)
