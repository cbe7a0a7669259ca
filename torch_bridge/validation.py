"""Validation of what is verified: shapes and types always, and with `Options.check` the values, which waits.

Every error names the rule, the first place where it is broken, the numbers there, and the cure.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import torch

from spec_math.arrays import count
from spec_math.scheme import Scheme
from spec_math.token_level import greedy
from torch_bridge.draft_rows import AT_ONCE, gaps, least_gap, too_light
from torch_bridge.mapped_logits import MappedLogits
from torch_bridge.options import Options, column, restricted

NAMES = ("target_logits", "draft_logits", "tokens", "uniforms")

ALIKE = 2.0**-16
"""Logits so near each other, in nats, count as equal favourites: laws may not tell them apart."""


def check_chains(target_logits: Any, draft_logits: Any, tokens: Any, uniforms: Any, options: Options) -> None:
    """Check chains: shapes [B, L + 1, V], [B, L, V], [B, L], [B, L + 1], and with `options.check` their values.

    Rows behind a chain's end, and behind the token that ends a text, may hold anything.

    >>> logits, uniforms = torch.zeros(1, 2, 3), torch.zeros(1, 2)
    >>> check_chains(logits, logits[:, :1], torch.tensor([[3]]), uniforms, Options())
    Traceback (most recent call last):
    ValueError: tokens must lie in 0..2, or be -1 from where a chain is shorter; tokens[0, 0] is 3
    """
    shapes, batch, length, size = check_tensors(target_logits, draft_logits, tokens, uniforms)
    wanted = [(batch, length + 1, size), (batch, length, size), (batch, length), (batch, length + 1)]
    if shapes != wanted or 0 in wanted[1]:
        raise ValueError(
            "target_logits, draft_logits, tokens and uniforms must be [B, L + 1, V], [B, L, V], [B, L] and [B, L + 1] "
            f"with B, L, V ≥ 1; got {shapes_in_words(NAMES, shapes)}"
        )
    check_options(options, batch, size)
    if not options.check:
        return
    check_tokens(tokens, size)
    check_uniforms(uniforms)
    ended = tokens == (-2 if options.end is None else options.end)
    there = (tokens >= 0) & (ended.cumsum(dim=1) - ended.long() == 0)
    goes_on = there & ~ended
    check_rows(target_logits, "target_logits", torch.cat([torch.ones_like(there[:, :1]), goes_on], dim=1), options)
    check_rows(draft_logits, "draft_logits", there, options)
    slots = torch.arange(length, device=tokens.device).expand_as(tokens)
    check_drafted(draft_logits, slots, tokens.masked_fill(~there, -1), options)


def columns(scheme: Scheme, k: int) -> int:
    """Return C, how many uniforms a request needs: the coins of the longest path of the program on k drafts.

    Raises:
        TypeError, ValueError: k is not a positive integer; the scheme does not say how many coins it tosses.

    >>> from spec_math import SCHEMES
    >>> {scheme.name: columns(scheme, 4) for scheme in SCHEMES[2:4]}
    {'sample and match': 1, 'K-SEQ at γ*': 5}
    """
    if scheme.coins is None:
        raise ValueError(
            f"the scheme {scheme.name!r} does not say how many coins it tosses; make it with coins=lambda k: ..., the "
            "most that any path of its verify asks for"
        )
    return scheme.coins(count(k))


def check_drafts(
    scheme: Scheme, target_logits: Any, draft_logits: Any, tokens: Any, uniforms: Any, options: Options
) -> None:
    """Check drafts of one position: shapes [B, V], [B, V] or [B, k, V], [B, k], [B, C], and on request their values.

    With `MappedLogits` [B, D] tokens lie in 0..D − 1, and uniforms have one column more.

    >>> from spec_math import SCHEMES
    >>> logits, tokens = torch.zeros(1, 2), torch.tensor([[0, 1]])
    >>> check_drafts(SCHEMES[4], logits, logits, tokens, torch.zeros(1, 2), Options())  # doctest: +ELLIPSIS
    Traceback (most recent call last):
    ValueError: the scheme 'recursive rejection' tosses up to 3 coins a request on 2 drafts; uniforms has 2 columns: ...
    """
    mapped = draft_logits if isinstance(draft_logits, MappedLogits) else None
    drafts: Any = draft_logits if mapped is None else mapped.logits
    shapes, batch, k, size = check_tensors(target_logits, drafts, tokens, uniforms)
    if mapped is None:
        _check_position(shapes, scheme, (batch, k, size))
    elif not all(len(shape) == 2 and shape[0] == batch for shape in shapes) or 0 in (*shapes[0], *shapes[1], k):
        raise ValueError(
            "target_logits, MappedLogits.logits, tokens and uniforms must be [B, V], [B, D], [B, k] and [B, C] with "
            f"B, V, D, k ≥ 1; got {', '.join(map(str, shapes))}"
        )
    else:
        check_places(target_logits, mapped)
    check_columns(scheme, (columns(scheme, k), shapes[3][1]), f"{k} drafts", f"columns(scheme, {k})", mapped)
    if mapped is not None and scheme.decide is None:
        raise ValueError(
            f"the scheme {scheme.name!r} has no array formula, which drafts over another vocabulary need: verify them "
            "with another of SCHEMES"
        )
    check_options(options, batch, size)
    if not options.check:
        return
    own, name = options, "draft_logits"
    if mapped is not None:
        check_map(mapped.places, size)
        own, name = mapped.options(options), "draft_logits, on the tokens that may be drafted"
    check_tokens(tokens, shapes[1][-1] if mapped is not None else size)
    check_uniforms(uniforms)
    check_rows(target_logits, "target_logits", torch.ones_like(tokens[:, 0], dtype=torch.bool), options)
    if scheme.distinct:
        _check_distinct(tokens)
    if scheme.drafts is not None:
        _check_number(scheme, tokens)
    if not scheme.reads.draft and mapped is None:
        return
    each = drafts.ndim == 3
    check_rows(drafts, name, tokens >= 0 if each else tokens[:, 0] >= 0, own)
    slots = torch.arange(k, device=tokens.device).expand_as(tokens)
    rows, slots = (drafts, slots) if each else (drafts[:, None], slots * 0)
    check_drafted(rows, slots, tokens, own, scheme.distinct and scheme.reads.draft)
    if scheme.reads.favourite:
        _check_hub(restricted(drafts, own), tokens, own)
    if scheme.draw is greedy.draw:
        _check_greedy(restricted(drafts, own), tokens, own)


def _check_position(shapes: list[tuple[int, ...]], scheme: Scheme, sizes: tuple[int, int, int]) -> None:
    batch, k, size = sizes
    rows = [(batch, size), (batch, k, size)]
    fits = shapes[0] == rows[0] and shapes[1] in rows and len(shapes[2]) == 2 and shapes[3][:1] == (batch,)
    if not fits or len(shapes[3]) != 2 or not batch * k * size:
        raise ValueError(
            "target_logits, draft_logits, tokens and uniforms must be [B, V], [B, V] (or [B, k, V] for k drafters of "
            f"their own), [B, k] and [B, C] with B, k, V ≥ 1; got {shapes_in_words(NAMES, shapes)}"
        )
    if len(shapes[1]) == 3 and not scheme.reads.drafters:
        raise ValueError(
            f"the scheme {scheme.name!r} takes drafts of one distribution; draft_logits is {shapes[1]}: drafters of "
            "their own are verified by recursive rejection"
        )


def check_options(options: Options, batch: int, vocabulary: int, slots: int | None = None) -> None:
    """Check that options fit a batch of so many requests: one number for each, masks of its shape, an end in range.

    With `options.check` the numbers themselves too. `slots` is N + 1 of trees.
    """
    ranges: list[tuple[str, Any, str, Callable[[Any], Any]]] = [
        ("temperature", options.temperature, "finite and >= 0", lambda each: (each >= 0) & (each < float("inf"))),
        ("top_k", options.top_k, "at least 1", lambda each: each >= 1),
        ("top_p", options.top_p, "a mass in (0, 1]", lambda each: (each > 0) & (each <= 1)),
    ]
    for name, value, rule, fits in ranges:
        if not isinstance(value, torch.Tensor):
            continue
        if tuple(value.shape) != (batch,):
            raise ValueError(
                f"{name} holds one number for each request, [B] with B = {batch}; got {tuple(value.shape)}: give "
                f"{batch} of them, or one number"
            )
        if options.check and (at := first(~fits(value))):
            raise ValueError(f"{name} must be {rule} in every request; {name}{list(at)} is {value[at].item()}")
    if options.allowed is not None:
        shapes = [(vocabulary,), (batch, vocabulary), *([] if slots is None else [(batch, slots, vocabulary)])]
        mask = options.allowed
        if not isinstance(mask, torch.Tensor) or mask.dtype != torch.bool or tuple(mask.shape) not in shapes:
            raise ValueError(
                f"allowed must be a tensor of torch.bool of one of the shapes {', '.join(map(str, shapes))}: a row for "
                f"all, for each request, or in trees for each row of logits; got {kind_of(mask)}"
            )
    if options.end is not None and options.end >= vocabulary:
        raise ValueError(
            f"end is a token of the target, in 0..{vocabulary - 1}; got {options.end}: leave it out where no token "
            "ends a text"
        )


def check_tokens(tokens: Any, vocabulary: int) -> None:
    """Check that tokens [B, L] lie in 0..V − 1, or are −1 up to the row's end."""
    _check_indices("tokens", tokens, vocabulary, "from where a chain is shorter")
    if place := first((tokens[:, 1:] >= 0) & (tokens[:, :-1] < 0)):
        row, at = place
        raise ValueError(
            f"a chain ends at its first -1; tokens[{row}, {at}] is -1 and tokens[{row}, {at + 1}] is "
            f"{int(tokens[row, at + 1])}; put the tokens of a chain first"
        )


def _check_indices(name: str, indices: Any, vocabulary: int, none: str) -> None:
    """Check that indices [...] lie in 0..V − 1 or are −1, which stands for none."""
    if at := first((indices < -1) | (indices >= vocabulary)):
        raise ValueError(
            f"{name} must lie in 0..{vocabulary - 1}, or be -1 {none}; {name}{list(at)} is {int(indices[at])}"
        )


def check_uniforms(uniforms: Any) -> None:
    """Check that uniforms lie in [0, 1)."""
    if at := first(~((uniforms >= 0) & (uniforms < 1))):
        found = uniforms[at].item()
        raise ValueError(
            f"uniforms must lie in [0, 1); uniforms{list(at)} is {found}; draw them in float64, or clamp below 1"
        )


def check_rows(logits: Any, name: str, used: Any, options: Options) -> None:
    """Check that each row of logits [..., V] in use [...], masked, has a finite largest: no NaN, no +inf, some mass."""
    if options.allowed is not None:
        logits = restricted(logits, replace(Options(), allowed=options.allowed))
    largest = logits.amax(dim=-1)  # NaN wherever one of the row is
    if at := first(used & ~torch.isfinite(largest)):
        found = largest[at].item()
        why = {"nan": "a logit is not a number", "-inf": "every token is masked"}.get(str(found), "it has no softmax")
        raise ValueError(f"a row of logits needs a finite largest logit; that of {name}{list(at)} is {found}: {why}")


def check_drafted(
    logits: Any, slots: Any, tokens: Any, options: Options, distinct: bool = False, of_nodes: bool = False
) -> None:
    """Check that rows of logits [B, S, V], restricted, can have given the tokens [B, N] drafted from rows slots [B, N].

    Where drafts are `distinct`, those before a draft are taken off its row. −1 stands for no token; errors call columns
    nodes with `of_nodes`.
    """
    step = max(1, AT_ONCE // logits[0].numel())
    for start in range(0, len(tokens), step):
        here = slice(start, start + step)
        own, drafted, at = options.at(here), tokens[here].long(), slots[here]
        kept = restricted(logits[here], own)
        rows = torch.arange(len(drafted), device=tokens.device)[:, None]
        if place := first((drafted >= 0) & (kept[rows, at, drafted.clamp(min=0)] == -torch.inf)):
            token, request, node = int(drafted[place]), start + place[0], place[1]
            name = f"token {token} of node {node} in request {request}"
            name = name if of_nodes else f"the drafted token {token} at tokens[{request}, {node}]"
            raise ValueError(
                f"the draft puts no mass on {name}; give the logits and options that the drafts were drawn with"
            )
        found = gaps(kept, at, drafted, distinct, own)
        if place := first(found < least_gap(kept.dtype, kept.shape[-1])):
            token, request, node = int(drafted[place]), start + place[0], place[1]
            name = f"in request {request} node {node} has token {token}"
            name = name if of_nodes else f"tokens[{request}, {node}] is {token}"
            raise ValueError(too_light(name, float(found[place]), kept.dtype, kept.shape[-1]))


def _check_number(scheme: Scheme, tokens: Any) -> None:
    """Check that no request has more drafts [B, k] than the scheme takes."""
    several = (tokens >= 0).sum(dim=1)
    for request in first(several > scheme.drafts):
        raise ValueError(
            f"the scheme {scheme.name!r} takes {scheme.drafts} draft(s) a request; request {request} has "
            f"{int(several[request])}, tokens[{request}] is {tokens[request].tolist()}: verify them with another scheme"
        )


def _check_distinct(tokens: Any) -> None:
    """Check that no token of [B, k] is drafted twice in a request."""
    if at := first(((tokens[:, :, None] == tokens[:, None]) & (tokens >= 0)[:, None]).tril(-1)):
        request, later, earlier = at
        raise ValueError(
            f"drafts without replacement are distinct; tokens[{request}, {later}] is {int(tokens[request, later])}, as "
            f"is tokens[{request}, {earlier}]; verify i.i.d. drafts with a scheme for them"
        )


def _check_hub(kept: Any, tokens: Any, options: Options) -> None:
    """Check that SpecHub's two drafts [B, 2] are the draft's favourite, by logits [B, V] restricted, and another."""
    hub = kept.argmax(dim=-1)
    certain = (kept > -torch.inf).sum(dim=-1) == 1
    # Where all others weigh too little to be drawn, a drafter that draws from the softmax has the favourite alone.
    below = (kept.double() - kept.amax(dim=-1, keepdim=True).double()) / column(options.divisor, kept)
    alone = (below >= least_gap(kept.dtype, kept.shape[-1])).sum(dim=-1) == 1
    several = (tokens >= 0).sum(dim=-1)
    fitting = ((several == 2) & ~certain) | ((several == 1) & (certain | alone))
    for request in first((several > 0) & ~((tokens == hub[:, None]).any(dim=-1) & fitting)):
        raise ValueError(
            f"SpecHub drafts two tokens of which one is the draft's first maximum (that one alone where the draft is "
            f"certain); in request {request} it is {int(hub[request])} and the drafts are {tokens[request].tolist()}"
        )


def _check_greedy(kept: Any, tokens: Any, options: Options) -> None:
    """Check that all but the last of each request's drafts [B, k] are the draft's favourites, by logits restricted."""
    there = tokens >= 0
    fixed = there & (there.cumsum(dim=1) < there.sum(dim=1, keepdim=True))
    at = tokens.long().clamp(min=0)
    own = kept.gather(1, at).double().masked_fill(~fixed, torch.inf).amin(dim=1)
    # A token that is fixed has no part among the others.
    most = torch.where(fixed, -torch.inf, torch.inf).double()
    others = kept.double().scatter_reduce(1, at, most, "amin", include_self=True)
    for request in first(own / options.divisor < others.amax(dim=1) / options.divisor - ALIKE):
        raise ValueError(
            f"greedy drafts are the draft's favourites, and one draw from the rest as the last; in request {request} "
            f"the drafts are {tokens[request].tolist()} and token {int(others[request].argmax())}, which is none of "
            "the favourites, is likelier than one that is: put the favourites first, or verify with another scheme"
        )


def check_places(target_logits: Any, draft: MappedLogits) -> None:
    """Check types, devices and the shape of places; no value is looked at."""
    places, logits = draft.places, draft.logits
    check_whole_numbers("places", places, logits.device)
    shapes = logits.shape[-1:], (logits.shape[0], logits.shape[-1]), logits.shape
    if tuple(places.shape) not in [tuple(shape) for shape in shapes]:
        raise ValueError(
            "places names the target's token of each of the draft's: [D], [B, D] or as draft_logits; got "
            f"{tuple(places.shape)} beside draft_logits {tuple(logits.shape)} and target_logits "
            f"{tuple(target_logits.shape)}"
        )


def check_map(places: Any, vocabulary: int) -> None:
    """Check that places [..., D] lie in the target's vocabulary or are −1, and name no token twice."""
    _check_indices("places", places, vocabulary, "where the target has no such token")
    ordered, order = places.sort(dim=-1, stable=True)
    if at := first((ordered[..., 1:] == ordered[..., :-1]) & (ordered[..., 1:] >= 0)):
        one, other = ([*at[:-1], int(order[(*at[:-1], at[-1] + step)])] for step in (0, 1))
        raise ValueError(
            f"each token of the target stands for one of the draft's at most; places{one} and places{other} are both "
            f"{int(ordered[at])}: add the draft's tokens of the same bytes up, as "
            "drafting.correspondence.carried does, and draft them as one"
        )


def check_columns(rule: Any, sizes: tuple[int, int], drafted: str, call: str, mapped: MappedLogits | None) -> None:
    """Check that there is a uniform for each coin, and one more for drafts of another vocabulary."""
    wanted, found = sizes
    if found < wanted and mapped is None:
        kind = "the scheme" if isinstance(rule, Scheme) else "the rule"
        raise ValueError(
            f"{kind} {rule.name!r} tosses up to {wanted} coins a request on {drafted}; uniforms has {found} columns: "
            f"draw {call} of them"
        )
    if found < wanted + 1 and mapped is not None:
        raise ValueError(
            f"{rule.name!r} tosses up to {wanted} coins a request, and one more says which of the tokens that the "
            f"draft lacks is emitted; uniforms has {found} columns: draw one more than columns or tree_columns says"
        )


def first(bad: Any) -> tuple[int, ...]:
    """Return the first place where `bad` is true, and () where none is."""
    return tuple(bad.nonzero()[0].tolist()) if bool(bad.any()) else ()


def shapes_in_words(names: tuple[str, ...], shapes: list[tuple[int, ...]]) -> str:
    """Return names, each with its shape."""
    return "; ".join(f"{name} {shape}" for name, shape in zip(names, shapes, strict=True))


def kind_of(given: Any) -> str:
    """Return the type and the shape of a tensor, and the type of anything else."""
    return f"{given.dtype} {tuple(given.shape)}" if isinstance(given, torch.Tensor) else type(given).__name__


def check_tensors(*given: Any) -> tuple[list[tuple[int, ...]], int, int, int]:
    """Check the types and devices of target_logits, draft_logits, tokens and uniforms.

    Returns: their shapes, both sizes of tokens, and V; 0 for a size that is not there.
    """
    for name, array in zip(NAMES, given, strict=True):
        if name == "tokens":
            check_whole_numbers(name, array)
            continue
        _check_tensor(name, array)
        if not array.is_floating_point():
            raise TypeError(f"{name} must be of a floating type; got {array.dtype}")
    target_logits, draft_logits, tokens, _ = given
    if target_logits.dtype != draft_logits.dtype:
        raise TypeError(
            f"target_logits and draft_logits must be of one type; got {target_logits.dtype} and {draft_logits.dtype}: "
            "convert the narrower one"
        )
    devices = [str(array.device) for array in given]
    if len(set(devices)) > 1:
        listed = ", ".join(f"{name} on {device}" for name, device in zip(NAMES, devices, strict=True))
        raise ValueError(f"all tensors of a call must lie on one device; got {listed}")
    batch, number = (*tokens.shape, 0, 0)[:2]
    return [tuple(array.shape) for array in given], batch, number, (*target_logits.shape[-1:], 0)[0]


def _check_tensor(name: str, array: Any) -> None:
    if not isinstance(array, torch.Tensor):
        raise TypeError(f"{name} must be a torch tensor; got {type(array).__name__}")


def check_whole_numbers(name: str, array: Any, device: Any = None) -> None:
    """Check that something is a tensor of whole numbers, on a device if one is given."""
    _check_tensor(name, array)
    if array.is_floating_point() or array.is_complex() or array.dtype == torch.bool:
        raise TypeError(f"{name} must be whole numbers; got {array.dtype}")
    if device is not None and array.device != device:
        raise ValueError(f"all tensors of a call must lie on one device; got {name} on {array.device}")
