"""Certificates of verdicts on positions and blocks: the program is walked again on the same distributions."""

from __future__ import annotations

from collections.abc import Callable, Collection
from typing import Any, NamedTuple

from spec_math.arrays import copied, is_exact
from spec_math.certificates.paths import Certificate
from spec_math.certificates.tree import Claim, Noting
from spec_math.chance import Enumerating
from spec_math.float_allowance import UNIT
from spec_math.scheme import Scheme, draw_independent, is_index


class Walk(NamedTuple):
    """The facts of a walk that its certificate needs.

    Floating types that the program used, the least mass of a path that was not cut, the number of paths, and whether
    the verdict is lossless or rests on a path that broke.
    """

    stored: Collection[str]
    least: Any
    lossless: bool
    broken: bool
    paths: int


def type_of(row: Any) -> str:
    """Return the type in which a function is given a row, as `check_paths.array` names it.

    >>> import numpy as np
    >>> type_of(np.array([0.5, 0.5], dtype=np.float32)), type_of(["1/2", "1/2"])
    ('float32', 'fractions')
    """
    return "fractions" if not hasattr(row, "dtype") or is_exact(row) else str(row.dtype)


def coarsest(stored: Collection[str]) -> str:
    """Return the coarsest floating type of some, or "fractions" where there is none.

    >>> coarsest(["float64", "float32"]), coarsest([])
    ('float32', 'fractions')
    """
    return max((name if name in UNIT else "float64" for name in stored), key=UNIT.__getitem__, default="fractions")


def name_of(program: Any) -> str:
    """Return the name of a function or a scheme, with its module."""
    if isinstance(program, Scheme):
        return program.name
    names = getattr(program, "__module__", None), getattr(program, "__qualname__", type(program).__name__)
    return ".".join(filter(None, names))


def header_of(name: str, numbers: str) -> dict[str, Any]:
    """Return the entries of a claim on one position, for a program that draws its drafts itself."""
    one = {"shape": "position", "drafts": None, "drafted": False, "horizon": 1, "rounds": 1, "end": None, "prefix": []}
    return {"of": name, "numbers": numbers, **one}


def position_certificate(
    verifier: Any, laws: tuple[Any, Any], types: Collection[str], k: int, walked: Walk
) -> Certificate:
    """Return the certificate of a verdict of `check_lossless` for k drafts of laws [V], stored in `types`."""
    target, draft = laws
    own = isinstance(verifier, Scheme)
    draw, verify = (verifier.draw, verifier.verify) if own else (draw_independent, verifier)
    fixed = (verifier.drafts or k) if own else k

    def program(coin: Noting) -> Any:
        drafts = draw(coin, copied(draft), k)
        coin.give(drafts)
        return verify(coin, drafts, copied(target), copied(draft))

    def fault(token: Any) -> str | None:
        return None if is_index(token) and 0 <= token < len(target) else f"emitted {token!r}, which is no token"

    def coin(_: Any) -> Enumerating:
        return Enumerating(types, closed=True, least=walked.least)

    header = header_of(name_of(verifier), coarsest([*types, *walked.stored])) | {
        "drafts": fixed if draw is draw_independent else None,
        "drafted": True,
        "given": {"target": type_of(target), "draft": type_of(draft)},
        "call": [[None, role] for role in ("coin", "tokens", "target", "draft")],
    }
    claim = Claim(header, lambda _: target, {(): draft}, lambda _: program, fault, coin, *walked[2:])
    return Certificate((claim,))


class Blocks(NamedTuple):
    """A generator of blocks as it was judged: its target's rows [V] after a text, and what the texts are."""

    generate: Callable[[Any, tuple[int, ...]], Any]
    target: Callable[[tuple[int, ...]], Any]
    prefix: tuple[int, ...]
    horizon: int
    rounds: int
    end: int | None


def block_certificate(
    blocks: Blocks, types: Collection[str], fault: Callable[[Any], str | None], walked: Walk
) -> Certificate:
    """Return the certificate of a verdict of `check_lossless_block`; `fault(block)` says why it is no block."""

    def program(text: tuple[int, ...]) -> Callable[[Noting], Any]:
        return lambda coin: blocks.generate(coin, blocks.prefix + text)

    def coin(text: tuple[int, ...]) -> Enumerating:
        return Enumerating(types, least=walked.least.get(text, 0))

    kind = type_of(blocks.target(()))
    header = header_of(name_of(blocks.generate), coarsest([*types, *walked.stored])) | {
        "shape": "blocks",
        "horizon": blocks.horizon,
        "rounds": blocks.rounds,
        "end": blocks.end,
        "prefix": list(blocks.prefix),
        "given": {"target": kind, "draft": kind},
        "call": [[None, "coin"], [None, "prefix"]],
    }
    return Certificate((Claim(header, blocks.target, {}, program, fault, coin, *walked[2:]),))
