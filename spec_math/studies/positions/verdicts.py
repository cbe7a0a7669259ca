"""The verdict column: each scheme judged exactly on a fixed set of small pairs of laws, with its formulas."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial
from typing import Any, NamedTuple, cast

import numpy as np

from spec_math.arrays import as_law
from spec_math.chance import Coin, sample
from spec_math.coupling import joint
from spec_math.files.place import load
from spec_math.mean import Mean, of_independent
from spec_math.samplers.standard import pairs
from spec_math.scheme import Emission, Scheme, Tokens, draw_independent
from spec_math.token_level import SCHEMES, optimal
from spec_math.verdict import Lossless, Lossy, Undecided, Verdict, check_lossless, drafts_in_words


class SchemeVerdict(NamedTuple):
    """A scheme's verdict: whether it is lossless on every pair of the set, and its closed forms its program's.

    `counterexample` names the pair that decided, or on which nothing was decided. A scheme that was judged for some
    numbers of drafts alone is lossless for those.
    """

    verdict: Verdict
    pairs: int
    counterexample: str = ""
    formula_fault: str = ""

    @property
    def right(self) -> bool:
        """True if it was judged, and neither a counterexample nor a wrong formula was found."""
        return bool(self.verdict) and not self.formula_fault

    @property
    def faulty(self) -> bool:
        """True if a counterexample or a wrong formula was found; what is undecided is neither right nor faulty."""
        return isinstance(self.verdict, Lossy) or bool(self.formula_fault)

    def __str__(self) -> str:
        if isinstance(self.verdict, Lossy):
            return "LOSSY"
        if not isinstance(self.verdict, Lossless):
            return "undecided"
        if self.formula_fault:
            return "formula wrong"
        return f"lossless{drafts_in_words(self.verdict.drafts) if self.verdict.not_judged else ''}"


Verdicts = Mapping[Scheme, SchemeVerdict]
"""What was found of each scheme."""


def judge(scheme: Scheme) -> SchemeVerdict:
    """Judge a scheme exactly on the whole set; the first fault ends it.

    Lossless here is proved for the pairs of the set alone, but a wrong rule seldom survives them: ties, zeros and
    disjoint supports are among them. A verifier that is written for one draft is judged for one draft.
    """
    left: dict[int, tuple[Undecided, str]] = {}
    for target, draft, k in pairs():
        verdict = check_lossless(scheme, target, draft, k)
        if isinstance(verdict, Lossy):
            return SchemeVerdict(verdict, len(pairs()), _shown(target, draft, k))
        if isinstance(verdict, Undecided):
            left.setdefault(k, (verdict, _shown(target, draft, k)))
    drafts = tuple(sorted({k for *_, k in pairs()} - left.keys()))
    if not drafts:
        return SchemeVerdict(left[min(left)][0], len(pairs()), left[min(left)][1])
    not_judged = tuple(f"{k} ({left[k][0].explanation})" for k in sorted(left))
    lossless = Lossless(0, drafts=drafts, not_judged=not_judged)
    for target, draft, k in pairs():
        fault = _formula_fault(scheme, target, draft, k) if k in drafts else ""
        if fault:
            return SchemeVerdict(lossless, len(pairs()), _shown(target, draft, k), fault)
    return SchemeVerdict(lossless, len(pairs()))


def _formula_fault(scheme: Scheme, target: Any, draft: Any, k: int) -> str:
    def emit(coin: Any, tokens: Any) -> Emission:
        if scheme.emit is not None:
            return scheme.emit(coin, tokens, target, draft)
        return Emission(scheme.verify(coin, tokens, target, draft), accepted=False)

    walked = joint(lambda coin: scheme.draw(coin, draft, k), emit)
    kinds = [("acceptance", scheme.acceptance, walked.acceptance())]
    if scheme.emit is not None:
        kinds.append(("test acceptance", scheme.test_acceptance, walked.test_acceptance()))
    for kind, formula, value in kinds:
        try:
            said = formula(target, draft, k)
        except (Exception, SystemExit) as error:  # whatever a user's formula raises is evidence against it
            return f"{kind} raises {type(error).__name__}: {error}"
        if said != value:
            return f"{kind} says {said}, the program has {value}"
    return ""


def _shown(target: Any, draft: Any, k: int) -> str:
    laws = ", ".join(f"{name} ({' '.join(map(str, x))})" for name, x in (("target", target), ("draft", draft)))
    return f"{laws}, k = {k}"


PATHS = 10_000
"""Paths up to which a bare verifier's acceptance is enumerated at one position; NaN beyond."""

RUNS, RUN_MASSES = 100, 2**15
"""Where it is not, it is run so often at a position: less often where laws are long, as a run may look at each mass."""


def load_scheme(place: str) -> Scheme:
    """Load a user's scheme, module:name: a Scheme, or a function verify(coin, tokens, target, draft)."""
    if ":" not in place:
        raise ValueError(
            "--scheme takes your verifier at module:name, such as mypackage.verifiers:mine or verifiers.py:mine; "
            f"got {place!r}; the library's own schemes are always compared"
        )
    found = load(place, "--scheme").value
    if isinstance(found, Scheme):
        return found
    if not callable(found):
        raise TypeError(f"--scheme {place}: a Scheme or a function verify(coin, tokens, target, draft); got {found!r}")
    return verifier_scheme(place, cast("Callable[..., int]", found))


def verifier_scheme(name: str, verify: Callable[..., int]) -> Scheme:
    """Make a Scheme of a bare verifier of k i.i.d. drafts; its acceptance is enumerated on small laws, and else run.

    Its acceptance and estimate raise what the verifier raises.
    """

    def acceptance(target: Any, draft: Any, k: int) -> Any:
        t, d = as_law(target), as_law(draft)
        # A path for every drafted tuple and, behind it, for every token that may be emitted.
        if float((d > 0).sum()) ** k * len(t) > PATHS:
            return float("nan")

        def emit(coin: Coin, tokens: Tokens) -> Emission:
            return Emission(verify(coin, tokens, t, d), accepted=False)

        return joint(lambda coin: draw_independent(coin, d, k), emit).acceptance()

    estimate = partial(_estimated, verify)
    return Scheme(name, draw_independent, verify, acceptance, optimum=optimal.INDEPENDENT, estimate=estimate)


def _estimated(verify: Callable[..., int], target: Any, draft: Any, k: int, paths: int, rng: Any) -> Mean:
    """Run a verifier `paths` times or more on fresh drafts; how often it emits one of them."""
    paths = max(paths, 8, min(RUNS, RUN_MASSES // len(target)))

    def run(coin: Coin) -> bool:
        tokens = draw_independent(coin, draft, k)
        return verify(coin, tokens, target, draft) in tokens

    return of_independent(np.array([float(sample(run, rng)) for _ in range(paths)]), 0.0, 1.0)


def named_scheme(name: str) -> Scheme:
    """Return the scheme of SCHEMES whose name begins so, or a user's at module:name."""
    if ":" in name:
        return load_scheme(name)
    fitting = [scheme for scheme in SCHEMES if scheme.name.lower().startswith(name.lower())]
    exact = [scheme for scheme in fitting if scheme.name.lower() == name.lower()]
    if not fitting:
        raise ValueError(f"no scheme begins with {name!r}; there are: {', '.join(s.name for s in SCHEMES)}")
    return (exact or fitting)[0]
