"""Samplers in torch as subjects of an audit: laws as tensors, torch's randomness followed with Python's and NumPy's.

A published sampler is called without an adapter: table models for models, logits for laws, a batch of one. What it
takes is read from its names, and said in the verdict; what is not understood is asked for.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from fractions import Fraction
from functools import partial
from itertools import islice, product
from math import exp
from typing import Any, get_args

import torch

from spec_math.pathwise.followed import SOURCES
from spec_math.samplers import subject
from spec_math.samplers.call import Call, asking, listed_of, not_understood
from spec_math.samplers.counts import checked_sampler
from spec_math.samplers.generators import source_of
from spec_math.samplers.signature import Signature, as_it_is
from spec_math.samplers.subject import Numbers, Subject
from spec_math.samplers.words import Given, Role, name_of, roles_of
from spec_math.verdict import Verdict
from torch_bridge import adapters
from torch_bridge.adapters import Adapter
from torch_bridge.randomness.source import torch_source
from torch_bridge.returned import DECISION, AnswerError, Decided, Told, UnreadError, parts_of, values_of
from torch_bridge.ways import Way, opened, said, ways_of, written

TYPES = ("float64", "float32", "float16", "bfloat16")


def subject_of(
    fn: Callable[..., Any],
    shape: str | None = None,
    numbers: str | None = None,
    grid: int | None = None,
    roles: str | Mapping[str, str] | None = None,
    told: Told | None = None,
) -> Subject:
    """Return a function as a subject, as `spec_math.samplers.subject.subject_of`, with torch's randomness followed.

    `told` is what a caller tells of a function that is called as it is. `numbers` may also be torch.float64,
    torch.float32, torch.float16 or torch.bfloat16; by default torch.float32 where the function or its module
    names torch.

    >>> subject_of(lambda target, draft: int(torch.multinomial(target, 1))).numbers.name
    'torch.float32'
    """
    if isinstance(fn, Adapter):
        if shape or numbers or roles or (told and (told.texts or told.returns)):
            raise ValueError(
                "an adapter says how it is called: change its lines, and leave out numbers and other options"
            )
        first, *others = (_subject(fn, grid, "the adapter writes", dtype) for dtype in fn.dtypes)
        return replace(first, variants=tuple(others))
    numbers = numbers or subject.written_beside(fn)
    said = roles_of(roles, get_args(Given))
    plain = {key: role for key, role in said.items() if role in get_args(Role)}
    found = subject.subject_of(fn, shape, numbers if numbers in (None, *subject.NUMBERS) else "float64", grid, plain)
    found = replace(found, sources=(*SOURCES, torch_source))
    known = told or Told()
    only = plain != said or known != Told()
    signature = as_it_is(fn, said, known.values)
    meant = ways_of(signature) if numbers is None and signature.whole else []
    ways = [_way(signature, way, known, grid) for way in meant]
    if ways and (found.call.unclear or only) and shape is None:
        return replace(ways[0], variants=tuple(ways[1:]))
    if found.call.unclear and (signature.takes or signature.open):
        found = replace(found, written=partial(_tried, signature, known))
        if signature.open and (known.values or {taken for _, taken in signature.takes} - {*get_args(Role)}):
            unclear = not_understood(found.call.name, listed_of(fn), opened(signature, ways_of(signature)[0], known))
            found = replace(found, call=replace(found.call, unclear=unclear))
    if only and found.written is None:
        raise ValueError(
            f"{found.call.unclear or 'numbers and shapes'}; values, answers and temperatures are told of functions "
            "that are called as they are: target and draft, or their models, must be understood, and numbers left out"
        )
    if found.shape == "tokens":
        found = replace(found, variants=tuple(ways))
    if numbers in subject.NUMBERS or (numbers is None and found.shape == "verifier"):
        return found
    if numbers is not None:
        return replace(found, numbers=_tensors(numbers), others=())
    single, double = _tensors("torch.float32"), _tensors("torch.float64")
    if subject.names(fn, "torch"):
        return replace(found, numbers=single, others=(double, found.numbers, *found.others))
    return replace(found, others=(*found.others, single, double))


def told_subject_of(told: tuple[Sequence[str], str | None, str | None], fn: Callable[..., Any], *args: Any) -> Subject:
    """Return a function as a subject, with values, the parts of an answer and a temperature as a caller writes them."""
    parts = parts_of(told[1]) if told[1] is not None else ()
    known = Told(values_of(fn, told[0]), tuple(told[0]), parts, Fraction(told[2] or "1"))
    shape, numbers, grid, roles = (*args, *(None,) * 4)[:4]
    return subject_of(fn, shape, numbers, grid, roles, known)


def check_sampler(
    fn: Callable[..., Any], target: Any, draft: Any, k: int | None = None, lookahead: int = 0, **how: Any
) -> Verdict:
    """Decide whether somebody's sampler in torch emits the target's law, as `spec_math.audit.check_sampler` does.

    >>> bool(check_sampler(lambda target, draft: int(torch.multinomial(target, 1)), ["1/4", "3/4"], ["1/2", "1/2"]))
    True
    """
    return checked_sampler(subject_of, fn, (target, draft), k, {"lookahead": lookahead, **how})


def _tensors(name: str) -> Numbers:
    library, _, kind = name.partition(".")
    if library != "torch" or kind not in TYPES:
        known = ", ".join((*subject.NUMBERS, *(f"torch.{one}" for one in TYPES)))
        raise ValueError(f"numbers must be one of {known}; got {name!r}")
    dtype: torch.dtype = getattr(torch, kind)

    finer = None if kind == "float64" else _tensors("torch.float64")
    return Numbers(name, rows_of(dtype), partial(torch.tensor, dtype=torch.int64), torch.finfo(dtype).eps / 2, finer)


DEEPEST, WIDEST = 7, 16
"""Laws are handed over as logits: their masses are at least e^−7, on 16 tokens at most."""

LOGITS = 4 * DEEPEST + WIDEST + 5
"""A mass of a softmax of logits is off by a factor 1 ± (4D + V + 5)·u, as `engines.judged.token_bound` derives."""


def _way(found: Signature, way: Way, told: Told, grid: int | None) -> Subject:
    """Return a function as a subject that is called in a way: by the text that an adapter has."""
    text = written(found, way, told)
    words, alike = said(found, way, told), said(found, replace(way, whole=False), told)
    made = _made(text, found)
    one = _subject(made, grid, words, way.dtype, getattr(found.fn, "__name__", "sampler"))
    return replace(one, alike=alike, written=lambda: asking(text, _read(made) or ()))


def _made(text: str, found: Signature) -> Adapter:
    space: dict[str, Any] = {**vars(adapters), "judged": found.fn}
    exec(compile(text, __file__, "exec"), space)  # under this file's name: what it raises is no error of the user's
    return space["sampler"]


def _tried(found: Signature, told: Told) -> str:
    """Return the text of the first way in which a function runs, with some choice for what is not understood of it."""
    ways = ways_of(found)
    text = written(found, ways[0], told)
    last = text.rpartition("    return ")[2].strip()
    # Where nothing has run it is not known whether models and drafts make a text or what follows it.
    texts = found.models and last.startswith("verified(")
    unread = asking(text, (f"return {last}", "return generated(returned, prompt)") if texts else ())
    if "while " in source_of(found.fn):  # which some choice may run for ever
        return unread
    for way in ways:
        text, few = written(found, way, told), opened(found, way, told)
        for chosen in islice(product(*few.values()), 32):
            filled = text
            for name, value in zip(few, chosen, strict=True):
                line = f"{name.removeprefix('self.')}={value},"
                filled = filled.replace(f"# {line}  # open", line, 1)
            read = _read(_made(filled, found))
            if read is not None:
                return asking(text, read)
    return unread


def _read(one: Adapter) -> tuple[str, ...] | None:
    """Return what may read the answers of an adapter: nothing where they are read, and None where it raises."""
    rows = torch.tensor([[0.25, 0.75], [0.5, 0.5], [0.75, 0.25]], dtype=one.dtypes[0])
    run = _subject(one, None, "", one.dtypes[0]).fn
    given = (rows, rows[:2].flip(0))
    drafts = inspect.signature(one.fn).parameters.keys() & {"token", "tokens"}
    single = "token" in drafts
    for _ in range(4):
        try:
            _ = run(*([1] if single else [(1, 0)] if drafts else []), *given)
        except UnreadError as error:
            return tuple(line.replace(" tokens,", " token[None],") if single else line for line in error.readings)
        except Exception:  # whatever it raises, it was not meant so
            return None
    return ()


def _subject(one: Adapter, grid: int | None, words: str, dtype: torch.dtype, name: str = "sampler") -> Subject:
    refused: set[bool] = set()
    parameters = [*inspect.signature(one.fn).parameters]
    single, drafts = "token" in parameters, "token" in parameters or "tokens" in parameters

    def sampler(*given: Any) -> Any:
        *tokens, target, draft = given
        if target.dim() == 1:
            target, draft = target.repeat(2, 1), draft[None]
        _check_laws(target)
        row = torch.tensor(tokens if single else tokens[0] if tokens else (), dtype=torch.int64)
        values = {"tokens": row, "token": row[0] if single else row, "target": target, "draft": draft}
        answer = one.fn(**{name: values[name] for name in parameters})
        if isinstance(answer, Decided):
            refused.add(answer.again)
        return answer

    sampler.__qualname__ = sampler.__name__ = name
    takes: tuple[tuple[str, Role], ...] = (("token" if single else "tokens", "tokens"),)
    takes = (*takes[:drafts], ("target", "target"), ("draft", "draft"))
    numbers = Numbers(str(dtype), rows_of(dtype), tuple, LOGITS * torch.finfo(dtype).eps / 2)
    call = Call(name_of(sampler), takes, len(takes), single)
    subject = Subject(sampler, call, numbers, (*SOURCES, torch_source), grid, said=words, alike=words, text=one.length)
    fixed, doubt = drafts and "draft" not in parameters, lambda: DECISION if refused == {True} else ""
    return replace(subject, chain=not single, fixed=fixed, doubt=doubt, written=lambda: "sampler = judged\n")


def rows_of(dtype: torch.dtype) -> Callable[[Any], torch.Tensor]:
    """Return what makes exact rows tensors of a type."""
    return lambda given: torch.from_numpy(subject.in_float64(given)).to(dtype)


def _check_laws(laws: torch.Tensor) -> None:
    least = float(laws[laws > 0].min())
    if least < exp(-DEEPEST) or laws.shape[-1] > WIDEST:
        raise AnswerError(
            f"a function that takes models or logits is judged on masses of at least e^-{DEEPEST} and {WIDEST} tokens "
            f"at most, for which its rounding is known; got {least:.3g} and {laws.shape[-1]} tokens"
        )
