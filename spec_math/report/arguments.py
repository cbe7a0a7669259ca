"""What is written on the command line, read: counts, sweeps, laws, names, and schemes by name or module:name."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any, cast

import numpy as np

from spec_math.arrays import count, law
from spec_math.chance import Coin, sample
from spec_math.coupling import joint
from spec_math.files.place import load
from spec_math.mean import Mean, of_independent
from spec_math.scheme import Emission, Scheme, draw_independent
from spec_math.token_level import SCHEMES, optima

PATHS = 10_000
"""Paths up to which a bare verifier's membership is enumerated at one position; NaN beyond."""


def parsed_ks(text: str, option: str = "--k", example: str = "1,2,4,8") -> tuple[int, ...]:
    """Read counts separated by commas, each a whole number of at least 1, in ascending order: numbers of drafts.

    >>> parsed_ks("4,1")
    (1, 4)
    """
    try:
        ks = [int(part) for part in text.split(",")]
    except ValueError:
        raise ValueError(f"{option} takes whole numbers separated by commas, such as {example}; got {text!r}") from None
    return tuple(sorted({count(k, option) for k in ks}))


def parsed_sweep(text: str) -> list[float]:
    """Read draft-temperature=FROM:TO:STEP as a list of temperatures, both ends included.

    >>> parsed_sweep("draft-temperature=0.5:1:0.25")
    [0.5, 0.75, 1.0]
    """
    name, _, numbers = text.partition("=")
    try:
        first, last, step = (float(part) for part in numbers.split(":"))
    except ValueError:
        first, last, step = 0.0, 0.0, 0.0
    if name != "draft-temperature" or not (0 < first <= last < float("inf") and 0 < step < float("inf")):
        raise ValueError(
            f"--sweep takes draft-temperature=FROM:TO:STEP with 0 < FROM ≤ TO and STEP > 0, "
            f"such as draft-temperature=0.5:1.5:0.1; got {text!r}"
        )
    return [round(first + step * i, 10) for i in range(int((last - first) / step + 1e-9) + 1)]


def load_scheme(place: str) -> Scheme:
    """Load a user's scheme, module:name: a Scheme, or a function verify(coin, tokens, target, draft).

    >>> load_scheme("spec_math.token_level.single:verify").name
    'spec_math.token_level.single:verify'
    """
    found = load(place, "--scheme").value
    if isinstance(found, Scheme):
        return found
    if not callable(found):
        raise TypeError(f"--scheme {place}: a Scheme or a function verify(coin, tokens, target, draft); got {found!r}")
    return verifier_scheme(place, cast("Callable[..., int]", found))


def verifier_scheme(name: str, verify: Callable[..., int]) -> Scheme:
    """Make a Scheme of a bare verifier of k i.i.d. drafts; its membership is enumerated on small laws, and else run.

    >>> from spec_math.token_level import single
    >>> verifier_scheme("mine", single.verify).membership(["1/4", "3/4"], ["1/2", "1/2"], 1)
    Fraction(3, 4)
    """

    def membership(target: Any, draft: Any, k: int) -> Any:
        t, d = law(target), law(draft)
        # A path for every drafted tuple and, behind it, for every token that may be emitted.
        if float((d > 0).sum()) ** k * len(t) > PATHS:
            return float("nan")
        coupled = joint(
            lambda coin: draw_independent(coin, d, k),
            lambda coin, tokens: Emission(verify(coin, tokens, t, d), accepted=False),
        )
        return coupled.membership()

    return Scheme(
        name,
        draw_independent,
        verify,
        membership,
        membership,
        optimum=optima.INDEPENDENT,
        estimate=lambda target, draft, k, paths, rng: _estimated(verify, (target, draft), k, paths, rng),
    )


def _estimated(verify: Callable[..., int], laws: tuple[Any, Any], k: int, paths: int, rng: Any) -> Mean:
    """Run a verifier `paths` times on fresh drafts and return how often it emits one of them; NaN where it fails."""
    target, draft = laws

    def run(coin: Coin) -> bool:
        tokens = draw_independent(coin, draft, k)
        return verify(coin, tokens, target, draft) in tokens

    try:
        return of_independent(np.array([float(sample(run, rng)) for _ in range(paths)]), 0.0, 1.0)
    except Exception:  # what a user's verifier raises is for its verdict to say
        return Mean(float("nan"), float("nan"), paths)


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


def names_of(path: Path, size: int) -> list[str]:
    """Read the JSON list of V token names.

    >>> names_of(Path("names.json"), 2)  # doctest: +ELLIPSIS
    Traceback (most recent call last):
    ValueError: --names names.json: not a readable JSON file (...
    """
    try:
        names = json.loads(path.read_text(encoding="utf-8-sig"))
    except (OSError, ValueError) as error:
        raise ValueError(f"--names {path}: not a readable JSON file ({error})") from error
    if not isinstance(names, list) or len(names) != size:
        held = f"{len(names)} entries" if isinstance(names, list) else "no list"
        raise ValueError(f"--names {path}: a JSON list of the {size} token names is needed; it holds {held}")
    return [str(name) for name in names]


def masses_of(text: str) -> list[str]:
    """Split a law written as masses separated by commas.

    >>> masses_of("1/4, 3/4")
    ['1/4', '3/4']
    """
    return [part.strip() for part in text.split(",")]
