"""One verification, step by step: each coin with its uniform and its threshold, as bars and sentences."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from spec_math.arrays import as_law, as_laws
from spec_math.recording import Recording, Toss
from spec_math.result import Column, Note, Result, Row, Table, columns
from spec_math.studies.arguments import law_of, limited, names_of
from spec_math.studies.positions.verdicts import named_scheme
from spec_math.token_level import SCHEMES
from spec_math.token_level.optimal import INDEPENDENT, ONE, acceptance, bounding_subset
from spec_math.wording import bar, counted, listed

TOKENS_SHOWN = 24
"""The most tokens of the two laws that are shown, those of the largest masses."""

STEPS = 256
"""The most drafts of one verification that is told step by step."""

ROUNDING = 2.0**-40
"""More than a user's formula in floats is off by, where it sums fewer than 4,096 masses."""


class OneStep(NamedTuple):
    """A scheme by the beginning of its name or module:name, two laws as `law_of` reads them, and the coins' seed."""

    scheme: str = "K-SEQ"
    target: str = "1/2,1/4,1/8,1/8"
    draft: str = "1/8,1/4,1/4,3/8"
    k: int = 2
    seed: int = 0
    names: Path | None = None


def explained(request: OneStep) -> Result:
    """Show one verification step by step.

    Raises:
        ValueError, TypeError: no such scheme, a user's that fails, or a law is not a probability distribution.
    """
    chosen = named_scheme(request.scheme)
    t, d = as_law(law_of(request.target), "target"), as_law(law_of(request.draft), "draft")
    k = limited(request.k, "--k", STEPS)
    names = None if request.names is None else names_of(request.names, len(t))
    try:
        uniforms = iter(np.random.default_rng(request.seed).random, None)
        drafting, verifying = Recording(uniforms), Recording(uniforms)
        t, d = as_laws(t, d)
        drafts = chosen.draw(drafting, d, k)
        emitted = chosen.verify(verifying, drafts, t, d)
        accepted, tested = (form(t, d, k) for form in (chosen.acceptance, chosen.test_acceptance))
    except (Exception, SystemExit) as error:
        if chosen in SCHEMES:
            raise
        raise ValueError(f"{request.scheme} fails: {type(error).__name__}: {error}") from error
    heaviest = np.argsort(-np.maximum(t.astype(float), d.astype(float)), kind="stable")
    tokens = sorted(heaviest[:TOKENS_SHOWN].tolist())
    bars = [
        f"{side if token == tokens[0] else '':7} token {_named(token, names)}  {bar(float(masses[token]), 24)} "
        f"{masses[token]}"
        for side, masses in (("target", t), ("draft", d))
        for token in tokens
    ]
    notes = [Note("\n".join(bars), "probabilities", code=True)]
    for title, coin in (("drafting", drafting), ("verifying", verifying)):
        notes.append(Note("\n".join(f"  {step_sentence(step, len(t))}" for step in coin.tosses), title, code=True))
    by_test = f" A test accepts a draft with probability {shown(tested)}." if shown(tested) != shown(accepted) else ""
    notes.append(Note(f"The acceptance of {chosen.name} is {shown(accepted)}.{by_test}"))
    advice = ""
    if chosen.optimum is not None:
        best = chosen.optimum(t, d, k)
        notes.append(Note(f"The optimum for the drafts of {chosen.name} ({chosen.optimum.drafts}) is {shown(best)}."))
        kept, most = f"{float(accepted):.3f}", f"the optimum for its kind of drafts is {float(best):.3f}"
        advice = f" The acceptance of {chosen.name} is {kept}, and {most}."
        if float(accepted) > float(best) + ROUNDING:
            advice = (
                f" {chosen.name} states an acceptance of {kept}, but {most}: it is lossy, or its formula is wrong. "
                "To find out, run compare --scheme."
            )
    # A subset that bounds i.i.d. drafts says nothing of drafts of another kind.
    if chosen.optimum is INDEPENDENT or chosen.optimum is ONE:
        notes.append(Note(bounding_sentence(t, d, chosen.drafts or k, names)))
    shown_columns = Column("token", "text" if names else "count"), *columns(("target", "draft"), "number", digits=6)
    rows = tuple(Row((names[token] if names else token, float(t[token]), float(d[token]))) for token in tokens)
    title = "The two distributions"
    title += "" if len(tokens) == len(t) else f" at {len(tokens)} of {len(t):,} tokens"
    kept = "one of the drafts" if emitted in drafts else "not one of the drafts"
    drafted = f"token{'s' * (len(drafts) > 1)} {listed(_named(token, names) for token in drafts)}"
    return Result(
        "step",
        f"{chosen.name}: target ({request.target}), draft ({request.draft}), k = {k}, seed {request.seed}",
        f"The drafter proposed {drafted}. The emitted token {_named(emitted, names)} is {kept}.{advice}",
        (Table("laws", title, shown_columns, rows),),
        notes=tuple(notes),
    )


def step_sentence(step: Toss, size: int) -> str:
    """Say what one coin was asked and what it answered, with a bar of its chances.

    A law that is not over the `size` tokens is one over the drafts, or of another choice of the verifier.
    """
    if step.chance is not None:
        asked = f"{step.uniform:.4g} < {_number(step.chance)}"
        return f"accept if {asked}?  {bar(float(step.chance))}  {'yes' if step.answer else 'no'}"
    more = f", … {len(step.masses) - SHOWN:,} more" if len(step.masses) > SHOWN else ""
    asked = f"draw from ({', '.join(_number(mass) for mass in step.masses[:SHOWN])}{more})"
    drawn, from_0 = ("token", "") if len(step.masses) == size else ("number", ", counted from 0")
    return f"{asked} with u = {step.uniform:.4f}: {drawn} {step.answer}{from_0}"


def _named(token: int, names: Sequence[str] | None) -> str:
    return str(token) if names is None else f"{token} {names[token]!r}"


SUBSET_SHOWN = 8


def bounding_sentence(target: Any, draft: Any, k: int, names: Sequence[str] | None = None) -> str:
    """Say which subset of tokens bounds the optimum of k i.i.d. drafts of laws [V], by name where names are known."""
    best = float(acceptance(target, draft, k))
    subset = [int(token) for token in np.flatnonzero(bounding_subset(target, draft, k))]
    if not subset:
        return f"The optimum of {counted(k, 'i.i.d. draft')} is 1: some lossless verifier always accepts a draft."
    others = sorted(set(range(len(target))) - set(subset), key=lambda token: -float(target[token]))
    subset.sort(key=lambda token: -float(draft[token]))
    # The smaller of the two sides is the one to read: the tokens of H, or those it leaves out.
    side, listed = ("", subset) if len(subset) <= len(others) else ("all but ", others)
    shown = ", ".join(repr(names[token]) if names is not None else str(token) for token in listed[:SUBSET_SHOWN])
    more = f", … {len(listed) - SUBSET_SHOWN} more" if len(listed) > SUBSET_SHOWN else ""
    held_d, held_t = (float(np.asarray(x)[subset].sum()) for x in (draft, target))
    return (
        f"The optimum of {counted(k, 'i.i.d. draft')} is {best:.6f}. Let H be these {len(subset)} of the {len(target)} "
        f"tokens: {side}{shown}{more}. The probability that all drafts are in H is {held_d:.6f}^{k} = {held_d**k:.6f}. "
        f"The target's probability of H is only {held_t:.6f}."
    )


SHOWN = 16
"""The most masses of a law that a sentence lists."""


def shown(value: Any) -> str:
    """Write a probability as a fraction where that is short, with its decimals, else as decimals alone."""
    text = _number(value)
    return f"{text} = {float(value):.6f}" if "/" in text else f"{float(value):.6f}"


def _number(value: Any) -> str:
    """Write a mass as a fraction where that is short."""
    text = str(value)
    return text if not isinstance(value, float) and len(text) <= 15 else f"{float(value):.4g}"
