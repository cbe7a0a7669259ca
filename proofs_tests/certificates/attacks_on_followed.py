"""Documents written by hand to deceive the checker of followed samplers, and the samplers that they are about."""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction
from hashlib import sha256
from pathlib import Path
from typing import Any

from spec_math.certificates.check_followed import ASSUMED, FORMATS

Document = dict[str, Any]

MINE = """
import random

import numpy as np


def verify(tokens, target, draft):
    x = tokens[0]
    return x if random.random() * float(draft[x]) < float(target[x]) else 1


def always(tokens, target, draft):
    return tokens[0]


def true(tokens, target, draft):
    return bool(verify(tokens, target, draft))


def decimal(tokens, target, draft):
    return float(verify(tokens, target, draft))


def hidden(tokens, target, draft):
    return tokens[0] if np.random.random() < 0.99999 else 0
"""

ALWAYS = [["end", "", [0]], ["end", "", [1]]]
BOTH = [[[0], 0], [[1], 1]]


def verified(threshold: str = "1/2") -> list[Any]:
    """Rejection sampling, which accepts token 0 where a uniform is below a threshold."""
    return [["end", "u", [0]], ["end", "u", [1]], ["cut", 0, [threshold], [0, 1]]]


def case(**entries: Any) -> Document:
    """One case, right but for the entries that are given."""
    found = {
        "target": [["1/4", "3/4"]],
        "draft": [["1/2", "1/2"]],
        "k": 1,
        "lookahead": 0,
        "horizon": 1,
        "numbers": "fractions",
        "drafted": [[[0], 2], [[1], 1]],
    }
    return found | entries


def document(place: Path, name: str = "verify", *cases: Document, **entries: Any) -> Document:
    """A certificate, right but for the entries that are given."""
    found = {
        "format": FORMATS[0],
        "assumed": ASSUMED,
        "verdict": "lossless",
        "function": {"file": str(place), "name": name, "sha256": sha256(place.read_bytes()).hexdigest()},
        "libraries": [],
        "call": {"one": False, "placed": ["tokens", "target", "draft"], "named": [], "makes": []},
        "nodes": verified(),
        "cases": list(cases) or [case()],
    }
    return found | entries


def attacks(place: Path) -> Iterator[tuple[str, Document]]:
    """Yield (words, document) about functions of MINE, which stands at a place."""
    yield "a lossy function", document(place, "always", case(drafted=BOTH), nodes=ALWAYS)
    for horizon in (0, False, True, -1, 1.0):
        yield f"horizon {horizon!r}", document(place, "always", case(drafted=BOTH, horizon=horizon), nodes=ALWAYS)
    yield "k True", document(place, "verify", case(k=True))
    yield "lookahead False", document(place, "verify", case(lookahead=False))
    yield "the token is True", document(place, "true")
    yield "the token is 1.0", document(place, "decimal")
    rounded = str(2 * Fraction(1 / 3))
    wrong = case(target=[["1/3", "2/3"]])
    yield (
        "a lossy claim by 2e-17, where floats are compared",
        document(place, "verify", wrong, verdict="lossy", nodes=verified(rounded)),
    )
    halves = case(target=[["1/2", "1/2"]], drafted=BOTH)
    yield "numbers of NumPy that are not looked for", document(place, "hidden", halves, nodes=ALWAYS)
    for maker in (["sys"], ["os"], ["builtins"], ["sys", "exit"]):
        made = {"one": False, "placed": ["tokens", "target", "draft"], "named": [], "makes": [["made", *maker]]}
        yield f"a generator made by {'.'.join(maker)}", document(place, call=made)
    yield "a library that is another module", document(place, libraries=["this"])
    yield "no case", document(place) | {"cases": []}
    twice = case(drafted=[[[0], 1], [[0], 2], [[1], 1]])
    yield "drafts that are listed twice", document(place, "verify", twice)
    for mass in (0.25, " 1/4", "1_0/4_0", "0.25", "+1/4"):
        yield f"the mass {mass!r}", document(place, "verify", case(target=[[mass, "3/4"]]))
    yield "a threshold off by 2^-30", document(place, nodes=verified(str(Fraction(1, 2) + Fraction(1, 2**30))))


def another_file(place: Path) -> Document:
    """The certificate of a file with other content."""
    return document(place) | {"function": {"file": str(place), "name": "verify", "sha256": "0" * 64}}
