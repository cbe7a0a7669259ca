"""One verification of a scheme, coin by coin, with what it does over all coins."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from spec_math.arrays import count, law
from spec_math.report.arguments import masses_of, named_scheme
from spec_math.result import Column, Note, Result, Row, Table
from spec_math.studies.positions.explanation import Step, shown
from spec_math.studies.positions.explanation import explain as explain_run


@dataclass(frozen=True)
class OneStep:
    """A scheme by the beginning of its name or module:name, two laws as masses with commas, and the coins' seed."""

    scheme: str = "K-SEQ"
    target: str = "1/2,1/4,1/8,1/8"
    draft: str = "1/8,1/4,1/4,3/8"
    k: int = 2
    seed: int = 0


def explain(request: OneStep) -> Result:
    """Show one verification step by step.

    Raises:
        ValueError, TypeError: no such scheme, or a law is not a probability distribution.

    >>> explain(OneStep("maximal", "1/4,3/4", "1/2,1/2", 1)).exit_code
    0
    """
    chosen = named_scheme(request.scheme)
    t, d = law(masses_of(request.target), "target"), law(masses_of(request.draft), "draft")
    k = count(request.k)
    found = explain_run(chosen, t, d, k, iter(np.random.default_rng(request.seed).random, None))
    bars = [
        f"{name if token == 0 else '':7} token {token}  {_bar(float(mass))} {mass}"
        for name, masses in (("target", t), ("draft", d))
        for token, mass in enumerate(masses)
    ]
    notes = [Note("\n".join(bars), "laws", code=True)]
    for title, steps in (("drafting", found.drafting), ("verifying", found.verifying)):
        notes.append(Note("\n".join(f"  {step_sentence(step)}" for step in steps), title, code=True))
    for label, formula in (("membership", chosen.membership), ("acceptance", chosen.acceptance)):
        notes.append(Note(f"over all coins: {label} {shown(formula(t, d, k))}"))
    if chosen.optimum is not None:
        best = shown(chosen.optimum(t, d, k))
        notes.append(Note(f"no verifier of the same drafts ({chosen.optimum.drafts}) has more than {best}"))
    columns = Column("token", "count"), Column("target", "number", digits=6), Column("draft", "number", digits=6)
    rows = tuple(Row((token, float(x), float(y))) for token, (x, y) in enumerate(zip(t, d, strict=True)))
    kept = "one of the drafts" if found.emitted in found.drafts else "none of the drafts"
    return Result(
        "step",
        f"{chosen.name}: target ({request.target}), draft ({request.draft}), k = {k}, seed {request.seed}",
        f"Drafted {found.drafts}, emitted token {found.emitted}: {kept}.",
        (Table("laws", "The two laws", columns, rows),),
        notes=tuple(notes),
    )


def step_sentence(step: Step) -> str:
    """Say what one coin was asked and what it answered, with a bar of its chances.

    >>> step_sentence(Step("flip", "0.7 < 1/2", 0.7, False, (0.5,)))
    'accept if 0.7 < 1/2?  █████▁▁▁▁▁  no'
    """
    if step.kind == "flip":
        return f"accept if {step.asked}?  {_bar(step.masses[0], 10)}  {'yes' if step.answer else 'no'}"
    return f"{step.asked} with u = {step.uniform:.4f}: token {step.answer}"


def _bar(mass: float, width: int = 24) -> str:
    full = round(mass * width)
    return "█" * full + "▁" * (width - full)
