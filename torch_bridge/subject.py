"""Samplers in torch as subjects of an audit: laws as tensors, torch's randomness followed with Python's and NumPy's.

A published sampler is called without an adapter: table models for models, logits for laws, a batch of one. What it
takes is read from its names, and said in the verdict; what is not understood is asked for.
"""

from __future__ import annotations

import dis
import inspect
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from fractions import Fraction
from functools import partial
from itertools import islice, product
from math import exp
from multiprocessing import Pipe, get_context
from time import monotonic
from typing import Any, get_args

import torch

from spec_math.pathwise.followed import SOURCES
from spec_math.samplers import subject
from spec_math.samplers.call import ALONE, Call, asking, listed_of, not_understood
from spec_math.samplers.case import chain, position
from spec_math.samplers.counts import checked_sampler
from spec_math.samplers.judgement import judge
from spec_math.samplers.signature import Signature, as_it_is, initial, own_attributes, ticking
from spec_math.samplers.subject import Numbers, Subject
from spec_math.samplers.words import Given, Role, name_of, roles_of
from spec_math.verdict import Undecided, Verdict
from torch_bridge import adapters
from torch_bridge.adapters import Adapter
from torch_bridge.randomness.source import OnCpu, torch_source
from torch_bridge.returned import DECISION, FEW, AnswerError, Decided, Told, parts_of, readings, values_of
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
    signature = _initialised(fn, said, known) or as_it_is(fn, said, known.values)
    in_torch = numbers is None or numbers.startswith("torch.")
    meant = (
        [way for way in ways_of(signature) if numbers in (None, str(way.dtype))] if signature.whole and in_torch else []
    )
    ways = [_way(signature, way, known, grid) for way in meant]
    if ways and (found.call.unclear or only) and shape is None:
        return replace(ways[0], variants=tuple(ways[1:]))
    if found.call.unclear and (signature.takes or signature.open):
        found = replace(found, written=partial(_written, "", signature, known))
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
        found = replace(found, written=partial(_written, None, signature, known) if ways else found.written)
    if numbers in subject.NUMBERS or (numbers is None and found.shape == "verifier"):
        return found
    if numbers is not None:
        return replace(found, numbers=_tensors(numbers), others=())
    single, double = _tensors("torch.float32"), _tensors("torch.float64")
    if subject.names(fn, "torch"):
        return replace(found, numbers=single, others=(double, found.numbers, *found.others))
    return replace(found, others=(*found.others, single, double))


def _initialised(fn: Callable[..., Any], said: Mapping[str | int, Given], told: Told) -> Signature | None:
    """Return a method with what its object's `__init__` takes, where an object that is made so has all it looks for."""
    if not initial(fn):
        return None
    found = as_it_is(fn, said, told.values, initialised=True)
    text, few = written(found, ways_of(found)[0], told), opened(found, ways_of(found)[0], told)
    few = {name: lines for name, lines in few.items() if name.startswith("self.")}

    def made() -> bool:
        for chosen in islice(product(*few.values()), 8):
            filled = re.sub(r"    returned = (.|\n)*", "    return method.__self__\n", _filled(text, few, chosen))
            with suppress(Exception):
                one = _made(filled, found)
                rows = torch.tensor([[0.5, 0.5]] * 3, dtype=one.dtypes[0])
                mine = one.fn(*[rows] * len(inspect.signature(one.fn).parameters))
                return all(hasattr(mine, name.removeprefix("self.")) for name in own_attributes(fn))
        return False

    return found if _in_time(made) else None


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
    return replace(one, alike=alike, written=partial(_written, text, found, told))


def _written(text: str | None, found: Signature, told: Told, decided: bool) -> str:
    """Return an adapter's text, or "" where a plain call serves as well, as it does where there is no `text`."""
    if decided:
        return text or ""
    tried = _tried(found, told)
    return tried if text is not None or ALONE in tried else ""


def _as_judged(_: bool) -> str:
    return "sampler = judged\n"


def _made(text: str, found: Signature) -> Adapter:
    space: dict[str, Any] = {**vars(adapters), "judged": found.fn}
    exec(compile(text, __file__, "exec"), space)  # under this file's name: what it raises is no error of the user's
    return space["sampler"]


def _tried(found: Signature, told: Told) -> str:
    """Return the text of a way in which a function is lossless on a small case, or else of the first in which it runs.

    Some choice is taken for what is not understood of it, and left open.
    """
    ways = ways_of(found)
    text = written(found, ways[0], told)
    last = text.rpartition("    return ")[2].strip()
    # Where nothing has run it is not known whether models and drafts make a text or what follows it.
    texts = found.models and last.startswith("verified(")
    unread, runs = asking(text, (f"return {last}", "return generated(returned, prompt)") if texts else ()), ""
    end = monotonic() + LONG
    for way in ways:
        text, few = written(found, way, told), opened(found, way, told)
        for chosen in islice(product(*few.values()), 32):
            filled = _filled(text, few, chosen)
            asked, lossless = _in_time(partial(_asked, text, filled, found, told)) or ("", False)
            for name, value in zip(few, chosen, strict=True):  # what was taken comes first
                lines = [f"        # {name.removeprefix('self.')}={one},  # open" for one in few[name]]
                before, first = "\n".join(lines), lines.pop(few[name].index(value))
                asked = asked.replace(before, "\n".join([first, *lines]))
            if lossless:
                first = "    # With the first line of each name it is lossless on a small case.\n    returned = "
                return asked.replace("    returned = ", first, 1) if few else asked
            runs = runs or asked
            if monotonic() > end:
                return runs or unread
    return runs or unread


def _filled(text: str, few: Iterable[str], chosen: Iterable[str]) -> str:
    """Return an adapter with a value chosen for each name that is open."""
    for name, value in zip(few, chosen, strict=True):
        line = f"{name.removeprefix('self.')}={value},"
        text = text.replace(f"# {line}  # open", line, 1)
    return text


LONG, EACH = 30.0, 8.0
"""Seconds in which ways to call a function, and to read its answers, are tried, and those for each of them."""


def _in_time(asked: Callable[[], Any]) -> Any:
    """Return what a function returns, or None where it takes long: it has a process of its own, and may not end."""
    here, there = Pipe(duplex=False)

    def sent() -> None:
        torch.set_num_threads(1)  # the threads of the process before are not in this one, and would be waited for
        with suppress(Exception):  # some choice makes no sense
            there.send(asked())

    process = get_context("fork").Process(target=sent, daemon=True)
    with there:
        process.start()
    try:
        return here.recv() if here.poll(EACH) else None
    except EOFError:  # it broke off
        return None
    finally:
        process.kill()


SMALL = [["1/4", "3/4"], ["2/3", "1/3"], ["3/5", "2/5"]], [["1/2", "1/2"], ["1/3", "2/3"]]
"""The distributions on which the readings of an answer are tried, each on so many paths at most."""

PATHS, READINGS = 500, 16
RETURN = re.compile(r"    return (.*)\n")


def _asked(text: str, filled: str, found: Signature, told: Told) -> tuple[str, bool]:
    """Return an adapter with lines that may read its answers, and whether one makes it lossless on a small case.

    `filled` is the text that is run; "" is returned where it raises. The line that makes it lossless comes first, and
    is filled in where nothing else is open.
    """

    def with_line(line: str) -> Adapter:
        return _made(RETURN.sub(lambda _: f"    {line}\n", filled), replace(found, fn=ticking(found.fn)))

    def verdict(line: str) -> Verdict:
        return judge(subject_of(with_line(line)), replace(small, heat=told.temperature), PATHS).verdict

    last = RETURN.findall(filled)[-1]
    own, given = f"return {last}", "token[None]" if found.single else "tokens"
    drafts = "()" if last.startswith("generated") else given
    answers = _answers(with_line("return returned"), drafts)
    read = list(dict.fromkeys(line for raw in answers for line in readings(raw, drafts)))[:READINGS]
    if not answers:
        return "", False
    # A text takes more paths than a round.
    small = chain(SMALL[0][:2], SMALL[1][:1]) if drafts == "()" else chain(*SMALL)
    small = position(SMALL[0][0], SMALL[1][0]) if found.single else small
    if by_default := verdict(own):
        return RETURN.sub(lambda _: f"    {own}  # the usual reading, {ALONE}\n", text), True
    right = [line for line in read if verdict(line)]
    if right and filled == text:
        line = f"{right[0]}  # of {len(read)} readings, the {'first' if right[1:] else 'only'} one {ALONE}"
        return re.sub(r'@adapter\("float\d+"(, )?', "@adapter(", RETURN.sub(lambda _: f"    {line}\n", text)), True
    if not right and (not isinstance(by_default, Undecided) or _answers(with_line(own), drafts)):
        return text, False
    asked = asking(text, [*right, *(line for line in read if line not in right)][:FEW])
    if right or filled != text:
        return asked, bool(right)
    none = f"    # With none of its {len(read)} readings it is lossless on a small case.\n    # return"
    return asked.replace("    # return", none, 1), False


def _answers(one: Adapter, drafts: str) -> list[Any]:
    """Return what an adapter returns in four runs; nothing where it raises."""
    rows = torch.tensor([[0.25, 0.75], [0.5, 0.5], [0.75, 0.25]], dtype=one.dtypes[0])
    run = _subject(one, None, "", one.dtypes[0]).fn
    given = [1] if drafts == "token[None]" else [(1, 0)] if drafts == "tokens" else []
    found: list[Any] = []
    with suppress(Exception), OnCpu():  # whatever it raises, it was not meant so
        for seed in range(4):
            torch.manual_seed(seed)
            found.append(run(*given, rows, rows[:2].flip(0)))
    return found if len(found) == 4 else []


def _subject(one: Adapter, grid: int | None, words: str, dtype: torch.dtype, name: str = "sampler") -> Subject:
    refused: set[bool] = set()
    parameters = [*inspect.signature(one.fn).parameters]
    single = "token" in parameters
    drafts = single or ("tokens" in parameters and any(at.argval == "tokens" for at in dis.get_instructions(one.fn)))

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
    return replace(subject, chain=not single, fixed=fixed, doubt=doubt, written=_as_judged)


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
