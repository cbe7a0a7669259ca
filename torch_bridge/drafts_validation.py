"""What is refused before drafts of one position are verified: arrays that do not fit, and, on request, their values."""

from __future__ import annotations

from typing import Any

import torch

from spec_math.arrays import count
from spec_math.scheme import Scheme
from torch_bridge import draft_weights, input_validation
from torch_bridge.options import Options, restricted


def columns_of(scheme: Scheme, k: int) -> int:
    """Return how many coins the longest path of a scheme tosses on k drafts.

    Raises:
        TypeError, ValueError: k is not a positive integer; the scheme does not say how many coins it tosses.

    >>> from spec_math import SCHEMES
    >>> columns_of(SCHEMES[0], 1)
    2
    """
    if scheme.coins is None:
        raise ValueError(
            f"the scheme {scheme.name!r} does not say how many coins it tosses; make it with coins=lambda k: ..., the "
            "most that any path of its verify asks for"
        )
    return scheme.coins(count(k))


def check_shapes(scheme: Scheme, target_logits: Any, draft_logits: Any, tokens: Any, uniforms: Any) -> None:
    """Check types, devices and the shapes [B, V], [B, V] or [B, k, V], [B, k], [B, C]; no value is looked at.

    Raises:
        TypeError, ValueError: they do not fit the scheme.

    >>> from spec_math import SCHEMES
    >>> logits, tokens = torch.zeros(1, 2), torch.tensor([[0, 1]])
    >>> check_shapes(SCHEMES[4], logits, logits, tokens, torch.zeros(1, 2))  # doctest: +ELLIPSIS
    Traceback (most recent call last):
    ValueError: the scheme 'recursive rejection' tosses up to 3 coins a request on 2 drafts; uniforms has 2 columns: ...
    """
    input_validation.check_tensors(target_logits, draft_logits, tokens, uniforms)
    shapes = [tuple(array.shape) for array in (target_logits, draft_logits, tokens, uniforms)]
    batch, k = (*shapes[2], 0, 0)[:2]
    vocabulary = (shapes[0] or (0,))[-1]
    rows = [(batch, vocabulary), (batch, k, vocabulary)]
    fits = shapes[0] == rows[0] and shapes[1] in rows and len(shapes[2]) == 2 and shapes[3][:1] == (batch,)
    if not fits or len(shapes[3]) != 2 or not batch * k * vocabulary:
        listed = "; ".join(f"{name} {shape}" for name, shape in zip(input_validation.NAMES, shapes, strict=True))
        raise ValueError(
            "target_logits, draft_logits, tokens and uniforms must be [B, V], [B, V] (or [B, k, V] for k drafters of "
            f"their own), [B, k] and [B, C] with B, k, V ≥ 1; got {listed}"
        )
    if len(shapes[1]) == 3 and not scheme.reads.drafters:
        raise ValueError(
            f"the scheme {scheme.name!r} takes drafts of one law; draft_logits is {shapes[1]}: drafters of their own "
            "are verified by recursive rejection"
        )
    wanted = columns_of(scheme, k)
    if shapes[3][1] < wanted:
        raise ValueError(
            f"the scheme {scheme.name!r} tosses up to {wanted} coins a request on {k} drafts; uniforms has "
            f"{shapes[3][1]} columns: draw columns(scheme, {k}) of them"
        )


def check_values(
    scheme: Scheme, target_logits: Any, draft_logits: Any, tokens: Any, uniforms: Any, options: Options
) -> None:
    """Check that rows are laws, that tokens can have been drafted, and that uniforms lie in [0, 1).

    It waits for the device. Without draft_logits (None) any token of the vocabulary can have been drafted.

    Raises:
        ValueError: naming the first place where it is not so.

    >>> from spec_math import SCHEMES
    >>> logits, uniforms = torch.zeros(1, 3), torch.zeros(1, 3)
    >>> check_values(SCHEMES[5], logits, logits, torch.tensor([[1, 1]]), uniforms, Options())  # doctest: +ELLIPSIS
    Traceback (most recent call last):
    ValueError: drafts without replacement are distinct; tokens[0, 1] is 1, as is tokens[0, 0]; ...
    """
    input_validation.check_tokens(tokens, target_logits.shape[-1])
    input_validation.check_uniforms(uniforms)
    input_validation.check_rows(target_logits, "target_logits", torch.ones_like(tokens[:, 0], dtype=torch.bool))
    if scheme.distinct:
        check_distinct(tokens)
    if scheme.drafts is not None:
        check_number(scheme, tokens)
    if draft_logits is None:
        return
    own = draft_logits.ndim == 3
    input_validation.check_rows(draft_logits, "draft_logits", tokens >= 0 if own else tokens[:, 0] >= 0)
    rows = draft_logits if own else draft_logits[:, None].expand(-1, tokens.shape[1], -1)
    input_validation.check_drafted(rows, tokens, options)
    draft_weights.check_weights(draft_logits, tokens, scheme.distinct, options)
    if scheme.reads.favourite:
        _check_hub(restricted(draft_logits, options), tokens, options)


def check_number(scheme: Scheme, tokens: Any) -> None:
    """Check that no request has more drafts [B, k] than the scheme takes.

    Raises:
        ValueError: naming the first request that has.

    >>> from spec_math import SCHEMES
    >>> check_number(SCHEMES[0], torch.tensor([[0, -1], [0, 1]]))  # doctest: +ELLIPSIS
    Traceback (most recent call last):
    ValueError: the scheme 'maximal coupling' takes 1 draft(s) a request; request 1 has 2, tokens[1] is [0, 1]: ...
    """
    many = (tokens >= 0).sum(dim=1) > scheme.drafts
    if bool(many.any()):
        request = int(many.nonzero()[0])
        listed = tokens[request].tolist()
        raise ValueError(
            f"the scheme {scheme.name!r} takes {scheme.drafts} draft(s) a request; request {request} has "
            f"{sum(token >= 0 for token in listed)}, tokens[{request}] is {listed}: verify them with another scheme"
        )


def check_distinct(tokens: Any) -> None:
    """Check that no token of [B, k] is drafted twice in a request.

    Raises:
        ValueError: naming the request and both places.

    >>> check_distinct(torch.tensor([[0, 1, -1, -1]]))
    """
    same = (tokens[:, :, None] == tokens[:, None]) & (tokens >= 0)[:, None]
    again = same.tril(-1)
    if bool(again.any()):
        request, later, earlier = (int(index) for index in again.nonzero()[0])
        raise ValueError(
            f"drafts without replacement are distinct; tokens[{request}, {later}] is {int(tokens[request, later])}, as "
            f"is tokens[{request}, {earlier}]; verify i.i.d. drafts with a scheme for them"
        )


def _check_hub(draft_logits: Any, tokens: Any, options: Options) -> None:
    hub = draft_logits.argmax(dim=-1)
    certain = (draft_logits > -torch.inf).sum(dim=-1) == 1
    # Where all others weigh too little to be drawn, a drafter that draws from the softmax has the favourite alone.
    divisor = torch.as_tensor(options.divisor, dtype=torch.float64, device=tokens.device).reshape(-1, 1)
    gaps = (draft_logits.double() - draft_logits.amax(dim=-1, keepdim=True).double()) / divisor
    alone = (gaps >= draft_weights.least_gap(draft_logits.dtype, draft_logits.shape[-1])).sum(dim=-1) == 1
    several = (tokens >= 0).sum(dim=-1)
    fitting = ((several == 2) & ~certain) | ((several == 1) & (certain | alone))
    wrong = (several > 0) & ~((tokens == hub[:, None]).any(dim=-1) & fitting)
    if bool(wrong.any()):
        request = int(wrong.nonzero()[0])
        raise ValueError(
            f"SpecHub drafts two tokens of which one is the draft's first maximum (that one alone where the draft is "
            f"certain); in request {request} it is {int(hub[request])} and the drafts are {tokens[request].tolist()}"
        )
