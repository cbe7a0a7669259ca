"""Documents written by hand to deceive the checker of certificates with paths, and the functions that they are about.

Each one is wrong in one way that a reader of the checker thought of. None may be accepted.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from spec_math.certificates.check_paths import FORMATS

Document = dict[str, Any]

MINE = '''
def verify(coin, tokens, target, draft):
    x = tokens[0]
    if coin.flip(min(1, target[x] / draft[x])):
        return x
    left = [max(t - d, 0) for t, d in zip(target, draft)]
    return coin.draw([mass / sum(left) for mass in left])


def always(coin, tokens, target, draft):
    return tokens[0]


def true(coin, tokens, target, draft):
    return bool(verify(coin, tokens, target, draft))


def decimal(coin, tokens, target, draft):
    return float(verify(coin, tokens, target, draft))


def two(coin, tokens, target, draft):
    return [verify(coin, tokens, target, draft), 0]


class Number:
    """A whole number that is not of type int, as NumPy has them."""

    def __init__(self, value):
        self.value = value

    def item(self):
        return self.value

    def __index__(self):
        return self.value


def wrapped(coin, tokens, target, draft):
    return (Number(verify(coin, tokens, target, draft)),)


class Anything:
    def __eq__(self, other):
        return True


def anything(coin, tokens, target, draft):
    _ = verify(coin, tokens, target, draft)
    return Anything()


def forgets(coin, target_model, draft_model, prefix, lookahead):
    return (coin.draw(target_model(())),)
'''

ZERO, ONE = ["emit", [0]], ["emit", [1]]
RIGHT = [
    ZERO,
    ONE,
    ["draw", ["0", "1"], [None, 1]],
    ["flip", "1/2", 0, 2],
    ["flip", "1", 1, None],
    ["drafts", [0], 3],
    ["drafts", [1], 4],
    ["draw", ["1/2", "1/2"], [5, 6]],
]
"""Rejection sampling with target 1/4, 3/4 and draft 1/2, 1/2."""
ALWAYS = [ZERO, ONE, ["drafts", [0], 0], ["drafts", [1], 1], ["draw", ["1/2", "1/2"], [2, 3]]]
"""The draft is always accepted: lossy."""


def claim(nodes: list[Any] | None = None, **entries: Any) -> Document:
    """One claim: rejection sampling, right but for the entries that are given."""
    own = RIGHT if nodes is None else nodes
    found = {
        "of": "mine.verify",
        "numbers": "fractions",
        "shape": "position",
        "drafts": 1,
        "drafted": True,
        "horizon": 1,
        "rounds": 1,
        "end": None,
        "prefix": [],
        "given": {"target": "fractions", "draft": "fractions"},
        "call": [[None, role] for role in ("coin", "tokens", "target", "draft")],
        "draft": [[[], ["1/2", "1/2"]]],
        "nodes": own,
        "trees": [[[], len(own) - 1]],
        "target": [[[], ["1/4", "3/4"]]],
        "coins": 3,
        "verdict": "lossless",
        "texts": None,
        "side": None,
    }
    found |= entries
    found["verdict"] = [found["verdict"], found.pop("texts"), found.pop("side")]
    return found


def document(*claims: Document) -> Document:
    """A certificate of claims."""
    return {"format": FORMATS[0], "claims": list(claims)}


def off(chance: str) -> list[Any]:
    """Rejection sampling with another chance to accept token 0."""
    return [ZERO, ONE, ["flip", chance, 0, 1], ["flip", "1", 1, None], *drafts(2, 3)]


def drafts(first: int, second: int) -> list[Any]:
    """One draft, and what follows it; the nodes stand at places 4 to 6."""
    return [["drafts", [0], first], ["drafts", [1], second], ["draw", ["1/2", "1/2"], [4, 5]]]


def chain(nodes: list[Any], **entries: Any) -> Document:
    """A chain of one draft and two tokens."""
    return claim(nodes, **{"shape": "chain", "horizon": 2, "coins": 2} | entries)


def attacks() -> Iterator[tuple[str, Document, str | None]]:
    """Yield (words, document, name of a function of MINE or None)."""
    lossy = claim(ALWAYS, coins=1)
    yield "a lossy tree", lossy, None
    yield "another function", claim(), "always"
    for rounds in (0, -1, True, "1", 1.0):
        yield f"{rounds!r} rounds", lossy | {"rounds": rounds}, "always"
    for horizon in (0, -1, False, True, 1.0):
        yield f"horizon {horizon!r}", lossy | {"horizon": horizon}, "always"
    nested = [ZERO, ONE, ["drafts", [0], 0], ["drafts", [1], 1], ["flip", "1/2", 2, 3], ["drafts", [0], 4]]
    nested += [["drafts", [1], 3], ["draw", ["1/2", "1/2"], [5, 6]]]
    yield "drafts handed over twice, with coins between that nobody asks", claim(nested), "always"
    own = [ZERO, ONE, ["drafts", [0], 0], ["drafts", [1], 1], ["draw", ["1/4", "3/4"], [2, 3]]]
    yield "drafts drawn from another distribution", claim(own, coins=1), "always"
    yield "an unknown shape", claim(shape="foo"), None
    yield "the token is True", claim(), "true"
    yield "the token is 1.0", claim(), "decimal"
    yield "the token equals everything", claim(), "anything"
    doubled = [["emit", [0, 0]], ["emit", [1, 0]], *RIGHT[2:]]
    yield "two tokens at one position", claim(doubled), "two"
    fault = claim([["fault", "it raises"], *RIGHT[1:]], verdict="lossy", side="more")
    yield "a fault where the function returns a token", fault, "verify"
    yield "a fault where the function returns a tuple", fault, "wrapped"
    for coins in (10**15, -1, True, "3", 3.0, 4):
        yield f"floats, {coins} coins", claim(off("49991/100000"), numbers="float64", coins=coins), None
    unused = [*off("1/2"), ["draw", ["1/2", "65/128"], [0, 1]]]
    halves = {"numbers": "float16", "coins": 2, "trees": [[[], 6]]}
    yield "a coin that nothing leads to widens the bound", claim(unused, **halves), None
    floats = {"verdict": "lossy", "side": "more", "given": {"target": "float64", "draft": "float64"}}
    short = [ZERO, ONE, ["draw", ["1/10", "8/10"], [0, 1]], ["emit", [1]], *drafts(2, 2)]
    yield "floats that are called fractions", claim(short, **floats), None
    yield "two rows of the target for one text", claim(target=[[[], ["3/4", "1/4"]], [[], ["1/4", "3/4"]]]), None
    yield "two rows of the draft for one text", claim(draft=[[[], ["3/4", "1/4"]], [[], ["1/2", "1/2"]]]), None
    yield "two trees for one text", claim(trees=[[[], 0], [[], 7]]), None
    yield "a row that is a string", claim(target=[[[], "01"]], nodes=[ZERO, ONE, ["drafts", [], 1]], drafts=0), None
    for mass in ("1_0/4_0", " 1/4", "+1/4", "-1/-4", "1/4 ", "\u0661/4", "0.25", "1/4/1", 0.25, "1e999999999"):
        yield f"the mass {mass!r}", claim(target=[[[], [mass, "3/4"]]]), None
    yield "a type that is another module", claim(given={"target": "this.x", "draft": "fractions"}), "verify"
    rows = [[[], ["1/2", "1/2"]], [[0], ["1/2", "1/2"]], [[1], ["1", "0"]]]
    both = [["emit", [0, 0]], ["emit", [0, 1]], ["emit", [1, 0]], ["draw", ["1/2", "1/2"], [0, 1]], *drafts(3, 2)]
    yield "a chain whose target depends on the text", chain(both, target=rows), None
    ended = [[[], ["1", "0"]], [[0], ["1/2", "1/2"]], [[1], ["1/2", "1/2"]]]
    one_hot = [ZERO, ["drafts", [0], 0], ["draw", ["1", "0"], [1, None]]]
    yield "an end token in a chain", chain(one_hot, end=0, target=ended, draft=[[[], ["1", "0"]]]), None
    blind = {"shape": "blocks", "drafts": None, "prefix": [1, 0], "coins": 1}
    roles = [[None, role] for role in ("coin", "target", "draft", "prefix", 2)]
    yield (
        "a model that forgets the prefix",
        claim([ZERO, ONE, ["draw", ["1/4", "3/4"], [0, 1]]], **blind, call=roles),
        "forgets",
    )
    yield "no claim", document(), None
    yield "a negative root", claim(trees=[[[], -1]]), None
    yield "a root that is no whole number", claim(trees=[[[], 7.0]]), None
    yield "a child after its parent", claim([*RIGHT[:7], ["draw", ["1/2", "1/2"], [5, 7]]]), None
    yield "a branch that is left out", claim([*RIGHT[:7], ["draw", ["1/2", "1/2"], [None, 6]]]), None
    yield "a branch without mass that is drawn", claim([*RIGHT[:2], ["draw", ["0", "1"], [0, None]], *RIGHT[3:]]), None
    yield "a draw with a negative mass", claim([*RIGHT[:2], ["draw", ["-1", "2"], [0, 1]], *RIGHT[3:]]), None
    yield "a flip above 1", claim([*RIGHT[:3], ["flip", "3/2", 0, 2], *RIGHT[4:]]), None
    for token in (2, -1, True, 0.0, 10**30, "0", None, [0]):
        yield f"the token {token!r}", claim([["emit", [token]], *RIGHT[1:]]), None
    overlapping = {"verdict": "lossy", "texts": [[1], [1]], "side": "more"}
    yield "a lossy claim whose texts are counted twice", claim(**overlapping), None
    yield "a lossy claim about all texts", claim(ALWAYS, verdict="lossy", texts=[[0], [1]], side="more", coins=1), None
    yield "a lossy claim about the other side", claim(ALWAYS, verdict="lossy", texts=[[0]], side="less", coins=1), None
    yield "a target of another size", claim(target=[[[], ["1/4", "3/4", "0"]]]), None
    wide = [*RIGHT[:7], ["draw", ["1/2", "1/2", "0"], [5, 6, None]]]
    yield "a draft of another size", claim(wide, draft=[[[], ["1/2", "1/2", "0"]]]), None
