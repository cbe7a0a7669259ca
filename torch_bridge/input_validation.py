"""What is refused before a launch: arrays that do not fit, and, on request, rows that are not distributions."""

from __future__ import annotations

from typing import Any

import torch

from torch_bridge.options import Options, restricted

NAMES = ("target_logits", "draft_logits", "tokens", "uniforms")


def check_fit(target_logits: Any, draft_logits: Any, tokens: Any, uniforms: Any) -> None:
    """Check shapes [B, L + 1, V], [B, L, V], [B, L], [B, L + 1], types and devices; no value is looked at.

    Raises:
        TypeError: something is not a tensor, logits or uniforms do not float, tokens are no whole numbers, or the two
            logits have different types.
        ValueError: the shapes do not fit, or the tensors lie on different devices.

    >>> check_fit(torch.zeros(1, 2, 3), torch.zeros(1, 1, 3), torch.tensor([[0]]), torch.zeros(1, 2))
    """
    check_tensors(target_logits, draft_logits, tokens, uniforms)
    shapes = [tuple(array.shape) for array in (target_logits, draft_logits, tokens, uniforms)]
    batch, length = (*shapes[2], 0, 0)[:2]
    vocabulary = (shapes[0] or (0,))[-1]
    wanted = [(batch, length + 1, vocabulary), (batch, length, vocabulary), (batch, length), (batch, length + 1)]
    if shapes != wanted or 0 in wanted[1]:
        listed = "; ".join(f"{name} {shape}" for name, shape in zip(NAMES, shapes, strict=True))
        raise ValueError(
            "target_logits, draft_logits, tokens and uniforms must be [B, L + 1, V], [B, L, V], [B, L] and [B, L + 1] "
            f"with B, L, V ≥ 1; got {listed}"
        )


def check_data(target_logits: Any, draft_logits: Any, tokens: Any, uniforms: Any, options: Options) -> None:
    """Check that every row in use is a law, every token can be drafted, and every uniform lies in [0, 1).

    It waits for the device; `Options(check=False)` leaves it out. Rows behind a chain's end may hold anything.

    Raises:
        ValueError: naming the first place where it is not so.

    >>> logits, uniforms = torch.zeros(1, 2, 3), torch.zeros(1, 2)
    >>> check_data(logits, logits[:, :1], torch.tensor([[3]]), uniforms, Options())
    Traceback (most recent call last):
    ValueError: tokens must lie in 0..2, or be -1 from where a chain is shorter; tokens[0, 0] is 3
    """
    check_tokens(tokens, target_logits.shape[-1])
    check_uniforms(uniforms)
    size = (tokens >= 0).sum(dim=1)
    places = torch.arange(tokens.shape[1] + 1, device=tokens.device)
    check_rows(target_logits, "target_logits", places <= size[:, None])
    check_rows(draft_logits, "draft_logits", places[:-1] < size[:, None])
    check_drafted(draft_logits, tokens, options)


def check_tokens(tokens: Any, vocabulary: int) -> None:
    """Check that tokens [B, L] lie in 0..V − 1, or are −1 up to the row's end.

    >>> check_tokens(torch.tensor([[-1, 0]]), 2)
    Traceback (most recent call last):
    ValueError: a chain ends at its first -1; tokens[0, 0] is -1 and tokens[0, 1] is 0; put the tokens of a chain first
    """
    outside = (tokens < -1) | (tokens >= vocabulary)
    if bool(outside.any()):
        place, value = first(outside, tokens)
        raise ValueError(
            f"tokens must lie in 0..{vocabulary - 1}, or be -1 from where a chain is shorter; tokens{place} is {value}"
        )
    resumed = (tokens[:, 1:] >= 0) & (tokens[:, :-1] < 0)
    if bool(resumed.any()):
        (row, at), _ = _split(resumed, tokens[:, 1:])
        raise ValueError(
            f"a chain ends at its first -1; tokens[{row}, {at}] is -1 and tokens[{row}, {at + 1}] is "
            f"{int(tokens[row, at + 1])}; put the tokens of a chain first"
        )


def check_uniforms(uniforms: Any) -> None:
    """Check that uniforms lie in [0, 1).

    >>> check_uniforms(torch.tensor([1.0]))
    Traceback (most recent call last):
    ValueError: uniforms must lie in [0, 1); uniforms[0] is 1.0; draw them in float64, or clamp below 1
    """
    outside = ~((uniforms >= 0) & (uniforms < 1))
    if bool(outside.any()):
        place, value = first(outside, uniforms)
        raise ValueError(
            f"uniforms must lie in [0, 1); uniforms{place} is {value}; draw them in float64, or clamp below 1"
        )


def check_rows(logits: Any, name: str, used: Any) -> None:
    """Check that each row of logits [..., V] in use [...] has a finite largest logit: no NaN, no +inf, not all −inf.

    >>> check_rows(torch.tensor([[-torch.inf]]), "draft_logits", torch.tensor([True]))
    Traceback (most recent call last):
    ValueError: a row of logits needs a finite largest logit; that of draft_logits[0] is -inf: every token is masked
    """
    largest = logits.amax(dim=-1)  # NaN wherever one of the row is
    bad = used & ~torch.isfinite(largest)
    if bool(bad.any()):
        place, value = first(bad, largest)
        why = {"nan": "a logit is not a number", "-inf": "every token is masked"}.get(str(value), "it has no softmax")
        raise ValueError(f"a row of logits needs a finite largest logit; that of {name}{place} is {value}: {why}")


def check_drafted(draft_logits: Any, tokens: Any, options: Options) -> None:
    """Check that the draft's laws [B, L, V], restricted, have mass on the drafted tokens [B, L] (−1: none).

    >>> check_drafted(torch.tensor([[[0.0, 1.0]]]), torch.tensor([[0]]), Options(top_k=1))  # doctest: +ELLIPSIS
    Traceback (most recent call last):
    ValueError: the draft puts no mass on the drafted token 0 at tokens[0, 0]; give the logits and options that ...
    """
    at = tokens.long().clamp(min=0)[..., None]
    logit = torch.cat(
        [
            restricted(draft_logits[row : row + 1], options.at(slice(row, row + 1))).gather(-1, at[row : row + 1])
            for row in range(len(at))
        ]
    )
    missing = (tokens >= 0) & (logit.reshape(tokens.shape) == -torch.inf)
    if bool(missing.any()):
        place, value = first(missing, tokens)
        raise ValueError(
            f"the draft puts no mass on the drafted token {value} at tokens{place}; give the logits and options that "
            "the drafts were drawn with"
        )


def first(bad: Any, values: Any) -> tuple[str, int | float]:
    """Return the first place where `bad` is true, written as an index, and the value there.

    >>> first(torch.tensor([False, True]), torch.tensor([3, 4]))
    ('[1]', 4)
    """
    place, value = _split(bad, values)
    return f"[{', '.join(map(str, place))}]", value


def _split(bad: Any, values: Any) -> tuple[tuple[int, ...], int | float]:
    place = tuple(int(index) for index in bad.nonzero()[0])
    return place, values[place].item()


def check_tensors(*given: Any) -> None:
    """Check the types and devices of target_logits, draft_logits, tokens and uniforms.

    Raises:
        TypeError, ValueError: as `check_fit`.

    >>> check_tensors(torch.zeros(1), torch.zeros(1), torch.zeros(1), torch.zeros(1))
    Traceback (most recent call last):
    TypeError: tokens must be whole numbers; got torch.float32
    """
    for name, array in zip(NAMES, given, strict=True):
        if name == "tokens":
            check_whole_numbers(name, array)
            continue
        check_tensor(name, array)
        if not array.is_floating_point():
            raise TypeError(f"{name} must be of a floating type; got {array.dtype}")
    target_logits, draft_logits, *_ = given
    if target_logits.dtype != draft_logits.dtype:
        raise TypeError(
            f"target_logits and draft_logits must be of one type; got {target_logits.dtype} and {draft_logits.dtype}: "
            "convert the narrower one"
        )
    devices = [str(array.device) for array in given]
    if len(set(devices)) > 1:
        listed = ", ".join(f"{name} on {device}" for name, device in zip(NAMES, devices, strict=True))
        raise ValueError(f"all tensors of a call must lie on one device; got {listed}")


def check_tensor(name: str, array: Any) -> None:
    """Check that something is a tensor of torch's.

    Raises:
        TypeError: it is not.

    >>> check_tensor("tokens", [0])
    Traceback (most recent call last):
    TypeError: tokens must be a torch tensor; got list
    """
    if not isinstance(array, torch.Tensor):
        raise TypeError(f"{name} must be a torch tensor; got {type(array).__name__}")


def check_whole_numbers(name: str, array: Any) -> None:
    """Check that something is a tensor of whole numbers.

    Raises:
        TypeError: it is not.

    >>> check_whole_numbers("tokens", torch.tensor([True]))
    Traceback (most recent call last):
    TypeError: tokens must be whole numbers; got torch.bool
    """
    check_tensor(name, array)
    if array.is_floating_point() or array.is_complex() or array.dtype == torch.bool:
        raise TypeError(f"{name} must be whole numbers; got {array.dtype}")
