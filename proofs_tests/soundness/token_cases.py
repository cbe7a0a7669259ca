"""Cases of one position: a drawn program with its laws, as source for a coin or for a library's random numbers."""

from __future__ import annotations

import random
from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from itertools import accumulate
from typing import Any

import ml_dtypes
import numpy as np

from proofs_tests.soundness import defects, dialects, families, laws
from proofs_tests.soundness import syntax as s
from proofs_tests.soundness.compare import Truth
from proofs_tests.soundness.oracle import Emitted, emitted_by
from proofs_tests.soundness.source import Dialect, compiled, written

FLOATS = ("float64", "float32", "float16", "bfloat16")


@dataclass(frozen=True)
class Case:
    """What is judged: the function of a source, the laws that it is given, and what it is called in the tables."""

    kind: str
    numbers: str
    family: str
    defect: str
    size: Fraction | None
    source: str
    names: dict[str, Any]
    program: s.Block
    target: Any
    draft: Any
    k: int
    exact_target: laws.Law
    exact_draft: laws.Law
    given: int = 0

    def in_its_type(self, law: Any) -> Any:
        """Return a law as the program computes with it."""
        return as_tensor(self.names["torch"], law) if "torch" in self.numbers and isinstance(law, np.ndarray) else law

    @property
    def span(self) -> int:
        """The number of tokens."""
        return len(self.exact_target)

    def function(self) -> Callable[..., Any]:
        return compiled(self.source, self.names)

    def truth(self, drafts: int | None = None) -> Truth:
        """Ask the oracle: about the laws that were meant, divided by their sums, and about those that are stored."""
        given = self.given if drafts is None else drafts
        coin = self.kind in COIN_KINDS
        ideal_target, ideal_draft = self.exact_target, self.exact_draft
        stored_target, stored_draft = (listed(self.in_its_type(law)) for law in (self.target, self.draft))
        wanted = {(token,): mass for token, mass in enumerate(ideal_target) if mass}
        floating = self.numbers != "fractions"
        names = {"target": list(ideal_target), "draft": list(ideal_draft), "floating": floating}
        ideal = emitted_by(self.program, names, (ideal_draft,) * given, coin, True)
        unit = laws.ROUNDOFF[self.numbers.removeprefix("torch.")]
        if not unit and self.defect != "rounds_inside":
            return Truth(ideal, ideal, wanted)
        unit = unit or 2.0**-53
        names = {
            "target": stored_target,
            "draft": stored_draft,
            "floating": floating,
            "tensors": on_tensors(self.source),
        }
        with np.errstate(all="ignore"):
            run = emitted_by(self.program, names, (stored_draft if coin else ideal_draft,) * given, coin, False)
        rounding = 2 * (run.coins + 1) * (len(ideal_target) + 8 + 2 * run.coins) * unit
        cap = 1e-2 if unit >= laws.ROUNDOFF["float16"] else 1e-4
        slack = (
            4 * (run.coins + 1) * float(laws.gap(laws.exactly(stored_target)) + laws.gap(laws.exactly(stored_draft)))
        )
        mirrored = 4 * (run.coins + 1) * len(ideal_target) * unit

        def as_stored() -> Emitted:
            exact = {name: laws.exactly(names[name]) for name in ("target", "draft")}
            return emitted_by(self.program, {**names, **exact, "tensors": False}, (exact["draft"],) * given, coin, True)

        sums = self.defect in defects.SUMS
        return Truth(ideal, run, wanted, slack, rounding, mirrored, coin, cap, sums, as_stored)


UNASKED = "check_lossless k=None"
"""Judged for 1, 2 and 3 drafts, as nobody asked for a number."""

COIN_KINDS = ("check_lossless", UNASKED, "assert_lossless", "check_sampler of a coin")


def on_tensors(source: str) -> bool:
    """Say whether a source takes the larger and the smaller of masses in tensors, and not in lists."""
    return any(f"torch.{name}(" in source for name in ("clamp", "minimum", "maximum"))


def listed(law: Any) -> list[Any]:
    """Return the entries of a law in their own type: torch divides otherwise than NumPy, by a reciprocal."""
    return list(law)


def coin_case(rng: random.Random, torch: Any) -> Case:
    """Draw a program of coins: V, laws, their storage, a lossless program and, every second time, a defect."""
    size, k = rng.choice((2, 2, 2, 2, 3, 3, 3, 4)), rng.choice((1, 1, 1, 1, 2))
    kind = rng.choice(("check_lossless",) * 8 + (UNASKED, "assert_lossless", "check_sampler of a coin"))
    if kind == UNASKED:
        size, k = 2, 3
    exact = laws.drawn_pair(rng, size)
    numbers = "fractions"
    if "check_lossless" in kind and rng.random() < 0.5:
        numbers = rng.choice(FLOATS + tuple(f"torch.{one}" for one in FLOATS) * bool(torch))
    if numbers == "fractions":
        target, draft = ([*law] for law in exact)
    else:
        stored = [laws.stored(rng, law, numbers.removeprefix("torch."), "torch" not in numbers) for law in exact]
        exact = (laws.divided(laws.exactly(stored[0])), laws.divided(laws.exactly(stored[1])))
        target, draft = (as_tensor(torch, law) for law in stored) if "torch" in numbers else stored
    make = families.Maker(rng, size, k, *exact)
    program, defect, ε = drawn_program(make, coin=True, depth=rng.randrange(2))
    arrays = "" if numbers == "fractions" or rng.random() < 0.5 else "torch" if "torch" in numbers else "np"
    source = written(program, dialects.coin(arrays, numbers != "fractions"), rng)
    names = {"V": size, "np": np, "torch": torch}
    return Case(kind, numbers, make.families[0], defect, ε, source, names, program, target, draft, k, *exact, given=k)


def function_case(rng: random.Random, library: str, torch: Any) -> Case:
    """Draw a function with the random numbers of a library."""
    size, k = rng.choice((2, 2, 2, 2, 3)), rng.choice((1, 1, 1, 1, 1, 2))
    shape = rng.choice(("tokens", "laws"))
    exact = laws.drawn_pair(rng, size)
    numbers, dialect = written_for(rng, library, shape)
    make = families.Maker(rng, size, k, *exact)
    program, defect, ε = drawn_program(make, coin=False, own=shape == "laws", depth=rng.choice((0, 1, 2)))
    source = written(program, dialect, rng)
    names = names_of(library, size, torch)
    kind = numbers.removeprefix("torch.")
    target, draft = exact if numbers == "fractions" else (laws.as_stored(law, kind) for law in exact)
    given = 0 if shape == "laws" else k
    kind = f"explore {library}" if shape == "laws" and rng.random() < 0.1 else library
    if kind != library and library == "torch":
        target, draft = (as_tensor(torch, law) for law in (target, draft))
    return Case(kind, numbers, make.families[0], defect, ε, source, names, program, target, draft, k, *exact, given)


def written_for(rng: random.Random, library: str, shape: str) -> tuple[str, Dialect]:
    """Choose a number type, and a way to write with the random numbers of a library."""
    if library == "python":
        numbers = rng.choice(("fractions", "fractions", "fractions", "float64"))
        return numbers, dialects.python(rng, numbers != "fractions", shape)
    if library == "numpy":
        return rng.choice(("float64", "float64", "float32", "float16")), dialects.numpy(rng, shape)
    numbers = "torch." + rng.choice(("float64", "float64", "float32", "float32", "float16", "bfloat16"))
    return numbers, dialects.torch(rng, shape, numbers == "torch.float64")


def names_of(library: str, size: int, torch: Any) -> dict[str, Any]:
    """Return what a function written with a library finds in its module."""
    names: dict[str, Any] = {"V": size, "accumulate": accumulate}
    if library == "python":
        return {**names, "random": random}
    if library == "numpy":
        return {**names, "np": np}
    return {**names, "torch": torch, "row": lambda law: torch.as_tensor([float(m) for m in law], dtype=torch.float64)}


def drawn_program(make: families.Maker, coin: bool, own: bool = False, depth: int = 0) -> defects.Drawn:
    """Draw a lossless program, and perhaps a defect in it; with `own` the program draws its drafts by itself.

    One for three drafts reads them in a loop: it is judged for one and for two as well.
    """
    if make.k == 3 or (make.rng.random() < 0.15 and not own):
        program = families.looped(make)
    else:
        program = (*families.drawn_rule(make, s.TARGET, "y", depth), s.Emit((s.Name("y"),)))
    if own:
        drawn = [s.Draw(f"own{place}", s.DRAFT) for place in range(make.k)]
        program = (*drawn, s.Let("tokens", s.Listed(tuple(s.Name(f"own{place}") for place in range(make.k)))), *program)
    if defects.chosen(make.rng):
        return defects.with_defect(program, make, coin)
    return program, "", None


def as_tensor(torch: Any, law: Any) -> Any:
    kind = "bfloat16" if law.dtype == ml_dtypes.bfloat16 else str(law.dtype)
    return torch.tensor([float(mass) for mass in law], dtype=torch.float64).to(getattr(torch, kind))
