"""An engine judged on all its cases: what it emits, its smallest failing case, control and repair, as plain data."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from fractions import Fraction
from pathlib import Path
from typing import Any

from spec_math.block_level.lossless import continued, target_law
from spec_math.field.cases import FieldCase, small, sweep
from spec_math.field.engine import PLAIN, Edit, Engine
from spec_math.field.engine_law import bound_of, engine_law, loaded, total_variation, verdict_on, wanted_of
from spec_math.pathwise.atom import ExploreError
from spec_math.pathwise.exploration import Partial
from spec_math.samplers.judgement import beginnings
from spec_math.verdict import Lossless, Lossy, Undecided, Verdict

BUDGET = 20_000

Told = Callable[[str], None]
Found = dict[str, Any]


def judged_engine(engine: Engine, root: Path, told: Told = lambda _: None) -> Found:
    """Judge an engine whose archive is unpacked under root, and return what is recorded of it."""
    module = loaded(engine, root)
    cases: list[Found] = []
    failing: list[FieldCase] = []
    for case in sweep(engine):
        told(f"{engine.name}: {case}")
        found = judged_case(engine, module, case)
        cases.append({"case": str(case), **found})
        if found["verdict"] in ("lossy", "raises"):
            failing.append(case)
    told(f"{engine.name}: smallest failing case")
    smallest = [one for case in _kinds(failing) for one in _smallest(engine, module, case)]
    told(f"{engine.name}: control")
    result: Found = {
        "name": engine.name,
        "rule": engine.rule,
        "function": engine.function,
        "options": list(engine.options),
        "verdict": _whole(cases),
        "cases": cases,
        "smallest": smallest,
        "control": _control(engine, root),
        "grid": engine.grid,
        "defects": [
            {"cause": one.cause, "mend": [[edit.old, edit.new] for edit in one.mend]}
            | ({"by design": True} if one.by_design else {})
            for one in engine.defects
        ],
    }
    mends = _mends(engine)
    if mends:
        told(f"{engine.name}: mended")
        result["mended"] = _mended(engine, root, mends, failing)
    return result


def judged_case(engine: Engine, module: Any, case: FieldCase) -> Found:
    """Judge one case: the verdict in a word, the paths, and how far the first token and the first tokens are off."""
    laws = case.laws.models
    try:
        how = {"rounds": case.rounds, "budget": BUDGET, "grid": engine.grid}
        found = engine_law(engine, module, laws, case.lookahead, case.options, **how)
    except ExploreError as error:
        return {"verdict": "undecided", "reason": str(error).splitlines()[0]}
    except Exception as error:  # whatever an engine raises is what is said of it
        first = (str(error).splitlines() or ["without a message"])[0]
        return {"verdict": "raises", "reason": f"{type(error).__name__}: {first}"}
    horizon = case.lookahead + case.rounds
    verdict = verdict_on(engine, module, found, laws, case.options, horizon)
    said: Found = {"verdict": _word(verdict), "paths": found.paths}
    if isinstance(verdict, Undecided):
        return said | {"reason": verdict.explanation}
    if isinstance(verdict, Lossy) and not isinstance(found, Partial):
        if verdict.total_variation is None:
            return said | {"reason": verdict.reason}
        wanted = wanted_of(engine, module, laws[0], case.options)
        bound = bound_of(replace(engine, grid=None), laws, case.options, horizon)
        for name, length in (("first token", 1), ("distance", horizon)):
            emitted = continued(beginnings(found, length), wanted, length)
            off = total_variation(emitted, target_law(wanted, length))
            said[name] = in_fractions(off, bound)
    return said


def in_fractions(value: float, bound: float) -> str:
    """Return a distance as the fraction of small denominator that it is within its bound, else in six digits.

    >>> in_fractions(0.24999998, 1e-6), in_fractions(0.0044721, 1e-7)
    ('1/4', '0.004472')
    """
    near = Fraction(value).limit_denominator(64)
    if abs(float(near) - value) <= bound:
        return str(near)
    near = Fraction(value).limit_denominator(1024)
    return str(near) if abs(float(near) - value) <= min(bound, 1e-7) else f"{value:.6f}"


def _word(verdict: Verdict) -> str:
    return "lossless" if isinstance(verdict, Lossless) else "lossy" if isinstance(verdict, Lossy) else "undecided"


def _whole(cases: list[Found]) -> str:
    words = [case["verdict"] for case in cases]
    return next((word for word in ("lossy", "raises", "undecided") if word in words), "lossless")


def _kinds(failing: list[FieldCase]) -> list[FieldCase]:
    """The first failing case for each choice of options and rounds; where plain ones fail, these alone."""
    first: dict[Any, FieldCase] = {}
    for case in failing:
        first.setdefault((case.options, case.rounds), case)
    plain = [case for case in first.values() if case.options.temperature == 1 and case.rounds == 1]
    return plain[:1] or list(first.values())[:2]


def _smallest(engine: Engine, module: Any, failing: FieldCase) -> list[Found]:
    """Return the smallest case whose law is wrong, and before it that which raises, if one comes first."""
    result: list[Found] = []
    most = max(failing.lookahead, min(2, engine.most))
    for case in [failing] if engine.narrow else small(failing.options, most, failing.rounds):
        found = judged_case(engine, module, case)
        if found["verdict"] == "lossy" or (found["verdict"] == "raises" and not result):
            result.append({"case": str(case), **found})
        if found["verdict"] == "lossy":
            return result
    return result or [{"case": str(failing), **judged_case(engine, module, failing)}]


def _control(engine: Engine, root: Path) -> Found:
    """One place changed: the changed code must be found lossy on a small case, or nothing is shown by a verdict.

    Code that is lossy or raises is mended before the place is changed, where the mend leaves the place as it is.
    """
    edit, mends = engine.control, _mends(engine)
    for before in (mends, ()) if mends else ((),):
        try:
            module = loaded(engine, root, (*before, edit))
        except ValueError:
            continue
        found = _rejected(engine, module)
        if found is not None:
            return {"edit": [edit.old, edit.new], **found} | ({"mended": True} if before else {})
    return {"edit": [edit.old, edit.new], "verdict": "not rejected"}


def _rejected(engine: Engine, module: Any) -> Found | None:
    first = () if engine.narrow else small(PLAIN, min(2, engine.most))
    cases = ({"case": str(case), **judged_case(engine, module, case)} for case in (*first, *sweep(engine)))
    return next((found for found in cases if found["verdict"] == "lossy"), None)


def _mends(engine: Engine) -> tuple[Edit, ...]:
    return tuple(edit for defect in engine.defects for edit in defect.mend)


def _mended(engine: Engine, root: Path, mends: tuple[Edit, ...], failing: list[FieldCase]) -> Found:
    module = loaded(engine, root, mends)
    # What is mended needs no grid: it multiplies no coins.
    engine = replace(engine, grid=None, narrow=False)
    cases = list(dict.fromkeys([*failing, *(case for case in sweep(engine) if case not in failing)]))
    found = [{"case": str(case), **judged_case(engine, module, case)} for case in cases]
    return {"verdict": _whole(found), "cases": [one for one in found if one["verdict"] != "lossless"]}
