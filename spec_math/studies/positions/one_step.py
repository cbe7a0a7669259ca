"""One verification of a scheme, coin by coin, with what it does over all coins and what bounds any verifier."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from spec_math.arrays import as_law
from spec_math.result import Column, Note, Result, Row, Table
from spec_math.studies.arguments import law_of, limited, names_of
from spec_math.studies.positions.bounding_subset import bounding_sentence
from spec_math.studies.positions.explanation import Step, shown
from spec_math.studies.positions.explanation import explain as explain_run
from spec_math.studies.positions.schemes import named_scheme
from spec_math.token_level import SCHEMES
from spec_math.token_level.optimal import INDEPENDENT, ONE

SHOWN = 24
"""The most tokens of the two laws that are shown, those of the largest masses."""

STEPS = 256
"""The most drafts of one verification that is told step by step."""

ROUNDING = 2.0**-40
"""More than a user's formula in floats is off by, where it sums fewer than 4,096 masses."""


@dataclass(frozen=True)
class OneStep:
    """A scheme by the beginning of its name or module:name, two laws as `law_of` reads them, and the coins' seed."""

    scheme: str = "K-SEQ"
    target: str = "1/2,1/4,1/8,1/8"
    draft: str = "1/8,1/4,1/4,3/8"
    k: int = 2
    seed: int = 0
    names: Path | None = None


def explain(request: OneStep) -> Result:
    """Show one verification step by step.

    Raises:
        ValueError, TypeError: no such scheme, a user's that fails, or a law is not a probability distribution.

    >>> explain(OneStep("maximal", "1/4,3/4", "1/2,1/2", 1)).exit_code
    0
    """
    chosen = named_scheme(request.scheme)
    t, d = as_law(law_of(request.target), "target"), as_law(law_of(request.draft), "draft")
    k = limited(request.k, "--k", STEPS)
    names = None if request.names is None else names_of(request.names, len(t))
    try:
        found = explain_run(chosen, t, d, k, iter(np.random.default_rng(request.seed).random, None))
        accepted, tested = (form(t, d, k) for form in (chosen.acceptance, chosen.test_acceptance))
    except (Exception, SystemExit) as error:
        if chosen in SCHEMES:
            raise
        raise ValueError(f"{request.scheme} fails: {type(error).__name__}: {error}") from error
    tokens = _largest(t, d)
    bars = [
        f"{side if token == tokens[0] else '':7} token {_named(token, names)}  {_bar(float(masses[token]))} "
        f"{masses[token]}"
        for side, masses in (("target", t), ("draft", d))
        for token in tokens
    ]
    notes = [Note("\n".join(bars), "laws", code=True)]
    for title, steps in (("drafting", found.drafting), ("verifying", found.verifying)):
        notes.append(Note("\n".join(f"  {step_sentence(step, len(t))}" for step in steps), title, code=True))
    of_which = f", of which a test accepts {shown(tested)}" if shown(tested) != shown(accepted) else ""
    notes.append(Note(f"over all coins: acceptance {shown(accepted)}{of_which}"))
    advice = ""
    if chosen.optimum is not None:
        best = chosen.optimum(t, d, k)
        notes.append(Note(f"no verifier of the same drafts ({chosen.optimum.drafts}) has more than {shown(best)}"))
        advice = (
            f" Over all coins {chosen.name} keeps {float(accepted):.3f}, and no verifier of these drafts more than "
            f"{float(best):.3f}."
        )
        if float(accepted) > float(best) + ROUNDING:
            advice = (
                f" {chosen.name} says that it keeps {float(accepted):.3f} over all coins, and no lossless verifier of "
                f"these drafts more than {float(best):.3f}: it is lossy, or its formula is wrong, as compare "
                "--scheme will show."
            )
    # A subset that bounds i.i.d. drafts says nothing of drafts of another kind.
    if chosen.optimum is INDEPENDENT or chosen.optimum is ONE:
        notes.append(Note(f"Why: {bounding_sentence(t, d, chosen.drafts or k, names)}"))
    columns = (
        Column("token", "text" if names else "count"),
        Column("target", "number", digits=6),
        Column("draft", "number", digits=6),
    )
    rows = tuple(Row((names[token] if names else token, float(t[token]), float(d[token]))) for token in tokens)
    title = "The two laws" if len(tokens) == len(t) else f"The two laws at {len(tokens)} of {len(t):,} tokens"
    kept = "one of the drafts" if found.emitted in found.drafts else "none of the drafts"
    drafted = ", ".join(_named(token, names) for token in found.drafts)
    return Result(
        "step",
        f"{chosen.name}: target ({request.target}), draft ({request.draft}), k = {k}, seed {request.seed}",
        f"Drafted {drafted}, emitted token {_named(found.emitted, names)}: {kept}.{advice}",
        (Table("laws", title, columns, rows),),
        notes=tuple(notes),
    )


def step_sentence(step: Step, size: int) -> str:
    """Say what one coin was asked and what it answered, with a bar of its chances.

    A law that is not over the `size` tokens is one over the drafts, or of another choice of the verifier.

    >>> step_sentence(Step("flip", "0.7 < 1/2", 0.7, False, (0.5,)), 2)
    'accept if 0.7 < 1/2?  █████▁▁▁▁▁  no'
    """
    if step.kind == "flip":
        return f"accept if {step.asked}?  {_bar(step.masses[0], 10)}  {'yes' if step.answer else 'no'}"
    drawn = "token" if len(step.masses) == size else "number"
    from_0 = "" if drawn == "token" else ", counted from 0"
    return f"{step.asked} with u = {step.uniform:.4f}: {drawn} {step.answer}{from_0}"


def _largest(target: Any, draft: Any) -> list[int]:
    """Return the tokens that are shown, in their order."""
    most = np.maximum(target.astype(float), draft.astype(float))
    return sorted(np.argsort(-most, kind="stable")[:SHOWN].tolist())


def _named(token: int, names: Sequence[str] | None) -> str:
    return str(token) if names is None else f"{token} {names[token]!r}"


def _bar(mass: float, width: int = 24) -> str:
    full = round(mass * width)
    return "█" * full + "▁" * (width - full)
