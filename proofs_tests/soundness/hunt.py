"""One case after another: drawn from its name, judged by the library, compared with the oracle, and counted."""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field
from importlib import import_module
from importlib.util import find_spec
from typing import Any

import numpy as np

from proofs_tests.soundness.block_cases import BlockCase, block_case
from proofs_tests.soundness.chain_cases import ChainCase, chain_case
from proofs_tests.soundness.compare import fault_of
from proofs_tests.soundness.oracle import as_fraction
from proofs_tests.soundness.token_cases import UNASKED, Case, coin_case, function_case
from spec_math.audit import ExploreError, Partial, check_sampler, explore
from spec_math.block_level import check_lossless_block
from spec_math.block_level.lossless import asked_in_float64
from spec_math.testing import NotLosslessError, UndecidedError, assert_lossless
from spec_math.verdict import Lossless, Lossy, Reason, Undecided, check_lossless

STREAMS = ("coin", "python", "numpy", "torch")
"""Programs of coins, and functions with the random numbers of three libraries."""

PATHS = 20_000
"""The budget of an explored function: the drawn ones are small, and one that is not would hold up the rest."""


@dataclass(frozen=True)
class Judges:
    """The judges that are on trial; controls put unsound ones in their place."""

    coin: Callable[..., Any] = check_lossless
    block: Callable[..., Any] = check_lossless_block
    sampler: Callable[..., Any] = check_sampler
    asserted: Callable[..., Any] = assert_lossless


LIBRARY = Judges()
AnyCase = Case | BlockCase | ChainCase


@dataclass
class Count:
    """What came of some cases: {(kind, numbers, family, defect, size, verdict): how many}, and each wrong one."""

    cases: Counter[tuple[str, ...]] = field(default_factory=Counter)
    wrong: list[dict[str, str]] = field(default_factory=list)


def prepared(stream: str) -> Any:
    """Get a process ready for a stream, and return torch if the stream needs it and it is there."""
    if stream not in ("coin", "torch") or not find_spec("torch"):
        return None
    torch = import_module("torch")
    import_module("torch_bridge.subject")
    return torch


def drawn(seed: int, stream: str, number: int, torch: Any) -> AnyCase:
    """Draw a case from its name alone."""
    rng = random.Random(f"{seed}:{stream}:{number}")
    if stream == "coin":
        return block_case(rng) if number % 6 == 5 else coin_case(rng, torch)
    return chain_case(rng, stream, torch) if number % 6 == 5 else function_case(rng, stream, torch)


def verdict_on(case: AnyCase, judges: Judges = LIBRARY) -> Any:
    """Ask the library."""
    fn = case.function()
    if isinstance(case, BlockCase):
        verdict = judges.block(fn, case.target, case.horizon, case.rounds)
        finer = case.finer()
        return asked_in_float64(verdict, *finer, case.horizon, case.rounds) if finer else verdict
    if case.kind == "check_lossless":
        return judges.coin(fn, case.target, case.draft, case.k)
    if case.kind == UNASKED:
        return judges.coin(fn, case.target, case.draft)
    sampler = import_module("torch_bridge.subject").check_sampler if case.kind == "torch" else judges.sampler
    if isinstance(case, ChainCase):
        return sampler(fn, case.target, case.draft, lookahead=len(case.draft), numbers=case.numbers, budget=PATHS)
    laws = np.array(case.exact_target, dtype=object), np.array(case.exact_draft, dtype=object)
    if case.kind == "check_sampler of a coin":
        return judges.sampler(fn, *laws, case.k)
    if case.kind == "assert_lossless":
        return _asserted(judges, fn, laws, case.k)
    return sampler(fn, *laws, case.k, numbers=case.numbers, budget=PATHS)


def _asserted(judges: Judges, fn: Any, laws: Any, k: int) -> Any:
    try:
        judges.asserted(fn, k, [laws])
    except NotLosslessError as error:
        return Lossy(str(error))
    except UndecidedError as error:
        return Undecided(next(one for one in Reason if f"undecided, {one.value}:" in str(error)), str(error))
    return Lossless(0)


def tried(case: AnyCase, judges: Judges = LIBRARY) -> tuple[str, str]:
    """Return what the library says of a case, in a word, and what is wrong with it."""
    if isinstance(case, Case) and case.kind.startswith("explore"):
        return explored(case)
    try:
        verdict = verdict_on(case, judges)
    except Exception as error:  # a judge that raises has judged nothing, and that is a fault of its own
        return "raised", f"the judge raised {type(error).__name__}: {str(error)[:300]}"
    if case.kind == UNASKED and isinstance(case, Case):
        # A verdict says for which numbers of drafts it speaks: it is held to each.
        truths = [case.truth(drafts) for drafts in verdict.drafts]
    else:
        truths = [case.truth()]
    faults = (fault_of(verdict, truth, case.kind != "assert_lossless") for truth in truths)
    fault = next((one for one in faults if one), "" if truths else "a verdict that speaks for no number of drafts")
    if isinstance(verdict, Undecided):
        # Where every case raises there is nothing to judge, and to say so is right.
        nothing = verdict.reason is Reason.NOT_JUDGED and all(truth.run.failed == 1 for truth in truths)
        return "nothing to judge" if nothing else f"undecided: {verdict.reason.value}", fault
    return type(verdict).__name__.lower(), fault


def explored(case: Case) -> tuple[str, str]:
    """Return whether the law that exploration gives is the oracle's, outcome by outcome."""
    fn, truth = case.function(), case.truth()
    ending = "_probs" if "target_probs" in case.source else ""
    given = [list(law) if isinstance(law, tuple) else law for law in (case.target, case.draft)]
    laws = {f"target{ending}": given[0], f"draft{ending}": given[1]}
    explore_it = import_module("torch_bridge").explore if case.kind == "explore torch" else explore
    try:
        law = explore_it(lambda: fn(**laws), PATHS)
    except ExploreError:
        return "undecided: randomness not seen", ""
    except Exception as error:  # what the function itself raises, exploration passes on
        broken = truth.run.failed or truth.run.unclear
        return "lossy", "" if broken else f"exploration raised {type(error).__name__}: {str(error)[:300]}"
    if isinstance(law, Partial):
        return "undecided: budget spent", ""
    found = {
        (token,): as_fraction(mass) for token, mass in law.items() if type(token) is int and 0 <= token < case.span
    }
    off = [key for key in found | truth.run.law if abs(found.get(key, 0) - truth.run.law.get(key, 0)) > truth.mirrored]
    if off and not truth.run.failed and not truth.run.unclear:
        return "lossy", f"token {off[0][0]} has the mass {found.get(off[0])}, not {truth.run.law.get(off[0])}"
    return ("lossy" if truth.run_distance > truth.rounding else "lossless"), ""


def hunted(seed: int, stream: str, numbers: range, judges: Judges = LIBRARY, torch: Any = None) -> Count:
    """Try a range of cases."""
    count = Count()
    with np.errstate(all="ignore"):
        for number in numbers:
            case = drawn(seed, stream, number, torch)
            said, fault = tried(case, judges)
            size = str(case.size) if case.size else ""
            count.cases[case.kind, case.numbers, case.family, case.defect, size, "WRONG" if fault else said] += 1
            if fault:
                count.wrong.append({"case": f"{stream}:{number}", "fault": fault, "what": described(case)})
    return count


def described(case: AnyCase) -> str:
    """Show a case: what it is, its laws and its source."""
    where = f"{case.kind}, {case.numbers}, {case.family}, defect: {case.defect or 'none'} {case.size or ''}"
    if isinstance(case, BlockCase):
        rows = f"target rows {case.target.rows}\ndraft rows {case.draft.rows}"
        laws = f"{rows}\nhorizon {case.horizon}, rounds {case.rounds}"
    else:
        laws = f"target {case.target}\ndraft {case.draft}" + ("" if isinstance(case, ChainCase) else f"\nk = {case.k}")
    return f"{where}\n{laws}\n{case.source}"
