"""Schemes as a user names them: by the beginning of a name, a Scheme at module:name, or a bare verifier there."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, cast

import numpy as np

from spec_math.arrays import as_law
from spec_math.chance import Coin, sample
from spec_math.coupling import joint
from spec_math.files.place import load
from spec_math.mean import Mean, of_independent
from spec_math.scheme import Emission, Scheme, draw_independent
from spec_math.token_level import SCHEMES, optimal

PATHS = 10_000
"""Paths up to which a bare verifier's acceptance is enumerated at one position; NaN beyond."""

RUNS, RUN_MASSES = 100, 2**15
"""Where it is not, it is run so often at a position: less often where laws are long, as a run may look at each mass."""


def load_scheme(place: str) -> Scheme:
    """Load a user's scheme, module:name: a Scheme, or a function verify(coin, tokens, target, draft).

    >>> load_scheme("spec_math.token_level.single:verify").name
    'spec_math.token_level.single:verify'
    """
    if ":" not in place:
        raise ValueError(
            "--scheme takes a verifier of yours at module:name, such as mypackage.verifiers:mine or verifiers.py:mine; "
            f"got {place!r}; the library's own are all looked at without it"
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

    >>> from spec_math.token_level import single
    >>> verifier_scheme("mine", single.verify).acceptance(["1/4", "3/4"], ["1/2", "1/2"], 1)
    Fraction(3, 4)
    """

    def acceptance(target: Any, draft: Any, k: int) -> Any:
        t, d = as_law(target), as_law(draft)
        # A path for every drafted tuple and, behind it, for every token that may be emitted.
        if float((d > 0).sum()) ** k * len(t) > PATHS:
            return float("nan")
        coupled = joint(
            lambda coin: draw_independent(coin, d, k),
            lambda coin, tokens: Emission(verify(coin, tokens, t, d), accepted=False),
        )
        return coupled.acceptance()

    return Scheme(
        name,
        draw_independent,
        verify,
        acceptance,
        optimum=optimal.INDEPENDENT,
        estimate=lambda target, draft, k, paths, rng: _estimated(verify, (target, draft), k, paths, rng),
    )


def _estimated(verify: Callable[..., int], laws: tuple[Any, Any], k: int, paths: int, rng: Any) -> Mean:
    """Run a verifier `paths` times or more on fresh drafts; how often it emits one of them."""
    target, draft = laws
    paths = max(paths, 8, min(RUNS, RUN_MASSES // len(target)))

    def run(coin: Coin) -> bool:
        tokens = draw_independent(coin, draft, k)
        return verify(coin, tokens, target, draft) in tokens

    return of_independent(np.array([float(sample(run, rng)) for _ in range(paths)]), 0.0, 1.0)


def named_scheme(name: str) -> Scheme:
    """Return the scheme of SCHEMES whose name begins so, or a user's at module:name.

    >>> named_scheme("greedy").name
    'greedy drafts'
    """
    if ":" in name:
        return load_scheme(name)
    fitting = [scheme for scheme in SCHEMES if scheme.name.lower().startswith(name.lower())]
    exact = [scheme for scheme in fitting if scheme.name.lower() == name.lower()]
    if not fitting:
        raise ValueError(f"no scheme begins with {name!r}; there are: {', '.join(s.name for s in SCHEMES)}")
    return (exact or fitting)[0]
