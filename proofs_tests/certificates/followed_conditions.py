"""Small certificates of followed samplers, each of which one condition of the checker needs; and parts of the checker.

`toy` is the shortest: a uniform number that is cut in two, and a token on each side. Its draft is not read.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Callable, Iterator
from fractions import Fraction
from importlib.util import find_spec
from pathlib import Path
from types import ModuleType
from typing import Any
from unittest.mock import patch

from proofs_tests.certificates.checker_mutants import as_script, in_words
from proofs_tests.certificates.followed_forgeries import TINY, Document, rounded, toy

QUARTER = Fraction(1, 4)
NEARLY, SMALL = "1152921504606846975/1152921504606846976", "1/1152921504606846976"
"""1 - 2^-60, and 2^-60, which rounding explains in float64."""

PROGRAMS = """
import random
import sys
import types

runs = []

def below(target, draft):
    return int(random.random() >= 0.25)

def spends(target, draft):
    token = int(random.random() >= target[0])
    target[0] = 2
    return token

def tires(target, draft):
    runs.append(1)
    assert len(runs) <= 6
    return below(target, draft)

def odd_in_the_middle(target, draft):
    uniform = random.random()
    return int(uniform >= 0.25) ^ (uniform == 0.125)

def odd_at_the_end(target, draft):
    uniform = random.random()
    return int(uniform >= 0.25) ^ (0.2 < uniform < 0.25)

def loads_torch(target, draft):
    sys.modules["torch"] = types.ModuleType("torch")
    return below(target, draft)

def near(digits):
    edge = 2.0 ** -digits
    seen = {edge, 0.125, 0.25 - edge, 0.25 + edge, 0.625, 1 - edge}

    def sampler(target, draft):
        uniform = random.random()
        assert uniform in seen
        return int(uniform >= 0.25)

    return sampler

near_39, near_18, near_8 = near(39), near(18), near(8)

def given(token):
    return token
"""


def single(**case: Any) -> Document:
    """A toy that is right, but for entries of its case."""
    return toy(QUARTER, {"numbers": "fractions"} | case)


def with_nodes(*nodes: Any, **case: Any) -> Document:
    """A toy of other nodes, of which the last is the root."""
    return single(drafted=[[[], len(nodes) - 1]], **case) | {"nodes": list(nodes)}


def chain(drafts: int, ends: Any = ([0], [1]), **case: Any) -> Document:
    """A chain of so many drafts, which the function is given and does not read."""
    even, right = ["1/2", "1/2"], ["1/4", "3/4"]
    texts = [[int(bit) for bit in f"{number:0{drafts}b}"] for number in range(2**drafts)]
    known = {"lookahead": drafts, "target": [right] * (drafts + 1), "draft": [even] * drafts}
    found = single(**known | {"drafted": [[text, 2] for text in texts]} | case)
    found["call"]["placed"] = ["tokens", "target", "draft"]
    found["nodes"][:2] = [["end", "u", emitted] for emitted in ends]
    return found


def drawn_by_weights(off: Fraction, **case: Any) -> Document:
    """A toy whose token is drawn by weights, token 0 by so much more than the target has."""
    rates = [str(QUARTER + off), str(3 * QUARTER - off)]
    nodes = ["end", "t", [0]], ["end", "t", [1]], ["race", [0], rates, [[0], [1]], [0, 1]]
    return with_nodes(*nodes, **case)


def conditions() -> dict[str, tuple[bool, Document]]:
    """Return certificates by name, with whether they hold."""
    ends = ["end", "u", [0]], ["end", "u", [1]]
    rates = ["end", "t", [0]], ["end", "t", [1]], ["race", [0], ["1", "3"], [[0], [1]], [0, 1]]
    child = single() | {"nodes": [*ends, ["cut", 0, ["1/4"], [0, -1]], ends[1]]}
    itself = single() | {"nodes": [*ends, ["cut", 0, ["1/4"], [0, 2]]]}
    rare = {"target": [[NEARLY, SMALL]], "numbers": "float64"}
    read = single(draft=[["1", "0"]], drafted=[[[0], 2]])
    read["call"]["placed"] = ["tokens", "target", "draft"]
    most = rounded(2, 2, 53)
    return {
        "rates that sum to 4": (True, with_nodes(*rates)),
        "a child at the end of the list": (False, child),
        "a child that is its own parent": (False, itself),
        "two rows of a position": (False, single(target=[["1/4", "3/4"]] * 2)),
        "k is 1.0": (False, single(k=1.0)),
        "a draft that does not sum to 1": (False, single(draft=[["1/2", "1/4"]])),
        "a draft of one token": (False, single(draft=[["1"]])),
        "a draft with a negative mass": (False, single(draft=[["3/2", "-1/2"]])),
        "a draft with a zero": (True, single(draft=[["1", "0"]])),
        "a draft with a zero, read": (True, read),
        "a chain of two drafts": (True, chain(2, k=3)),
        "a chain of more tokens than are judged": (True, chain(1, ([0, 1], [1, 1]))),
        "a lossy chain of more tokens than are judged": (True, chain(1, ([0, 1], [0, 1])) | {"verdict": "lossy"}),
        "no number, and too little": (
            True,
            toy(QUARTER, rare | {"drafted": [[[], 0]]}, "lossy") | {"nodes": [["end", "", [0]]]},
        ),
        "a token that is True": (
            False,
            single() | {"nodes": [ends[0], ["end", "u", [True]], ["cut", 0, ["1/4"], [0, 1]]]},
        ),
        "drawn by weights, at the bound": (True, drawn_by_weights(most)),
        "drawn by weights, beyond it": (False, drawn_by_weights(most + TINY)),
    }


def replayed() -> dict[str, tuple[bool, str, Document]]:
    """Return certificates by name, with a function of PROGRAMS and whether each certificate is its own."""
    pairs = [[[one, other], one] for one in (0, 1) for other in (0, 1)]
    first = single(k=2, drafted=pairs) | {"verdict": "lossy", "nodes": [["end", "", [0]], ["end", "", [1]]]}
    first["call"] = {"placed": ["tokens"], "named": [], "one": True, "makes": []}
    found = {
        "masses are changed": (True, "spends", single()),
        "six runs": (True, "tires", single()),
        "wrong in the middle": (False, "odd_in_the_middle", single()),
        "wrong at the end": (False, "odd_at_the_end", single()),
        "edges of Fractions": (True, "near_39", single()),
        "edges of half precision": (True, "near_8", single(numbers="numpy.float16")),
        "the first of two drafts": (True, "given", first),
        "two cases": (True, "below", single() | {"cases": single()["cases"] * 2}),
    }
    if find_spec("torch"):
        found["edges of torch"] = (True, "near_18", single(numbers="torch.float64") | {"libraries": ["torch"]})
    return found


def without_torch(name: str, place: Path) -> Callable[[ModuleType], Any]:
    """Return the case of a function that is run where torch has not been loaded before."""

    def case(module: ModuleType) -> Any:
        with patch.dict(sys.modules):
            _ = sys.modules.pop("torch", None)
            return module.check(single(), f"{place}:{name}")

    return case


def cases(place: Path) -> Iterator[tuple[str, Callable[[ModuleType], Any]]]:
    """Write PROGRAMS to a file, and yield cases of a changed checker, by name; words of rejections count."""
    _ = place.write_text(PROGRAMS, encoding="utf-8")

    def asked(document: Document, function: str | None = None) -> Callable[[ModuleType], Any]:
        return in_words(lambda module: module.check(document, function))

    for name, (_, document) in conditions().items():
        yield f"condition: {name}", asked(document)
    for name, (_, function, document) in replayed().items():
        yield f"condition, replayed: {name}", asked(document, f"{place}:{function}")
    for name in ("loads_torch", "below"):
        yield f"without torch: {name}", in_words(without_torch(name, place))
    right = place.with_suffix(".json")
    _ = right.write_text(json.dumps(single()), encoding="utf-8")
    yield "as a script", as_script(str(right))
    yield "help", as_script("--help")
