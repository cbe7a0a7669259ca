"""Small certificates with paths, each of which one condition of the checker is needed for: most are wrong by it alone.

A program of one block is the shortest: it has no drafts, and its tree begins with its own coins.
"""

from __future__ import annotations

from importlib.util import find_spec
from typing import Any

from proofs_tests.certificate_forgeries import made
from proofs_tests.certificates.attacks_on_paths import ONE, RIGHT, ZERO, claim

Document = dict[str, Any]

T, EVEN = ["1/4", "3/4"], ["1/2", "1/2"]
SURE = [[[], ["1", "0"]]]
"""A target that always emits token 0."""
EXACT, IN_FLOAT64 = ({"target": kind} for kind in ("fractions", "float64"))
SMALL = "1/1152921504606846976"
"""2^-60, which rounding explains in float64."""
NEARLY = "1152921504606846975/1152921504606846976"

PROGRAMS = """
def nothing_asked(coin, target_model, draft_model, prefix, lookahead):
    return (0,)

def one_token(coin, token, target, draft):
    if coin.flip(min(1, target[token] / draft[token])):
        return token
    left = [max(t - d, 0) for t, d in zip(target, draft)]
    return coin.draw([mass / sum(left) for mass in left])

class Number:
    def __init__(self, value):
        self.value = value

    def item(self):
        return self.value

def in_an_object(coin, token, target, draft):
    return Number(one_token(coin, token, target, draft))

def of_lists(coin, token, target, draft):
    assert type(target) is type(draft) is list and {*map(type, target)} == {float}
    return one_token(coin, token, target, draft)

def of_torch(coin, token, target, draft):
    assert type(target).__module__ == "torch"
    return one_token(coin, token, target, draft)

def first(coin, token, target, draft):
    return token

def true(coin, target_model, draft_model, prefix, lookahead):
    return (False,)

def fails(coin, target_model, draft_model, prefix, lookahead):
    raise ValueError("nothing")

def goes_on(coin, target_model, draft_model, prefix, lookahead):
    coin.draw([])
    return (int(coin.flip(1)),)

def half_a_word(coin, target_model, draft_model, prefix, lookahead):
    return (0, "one")

def forgets(coin, target_model, draft_model, prefix, lookahead):
    return (coin.draw(list(target_model(()))),)

def looks_ahead(coin, target_model, draft_model, prefix, lookahead):
    if len(prefix) == 2:
        target_model((*prefix, 1))
    return (coin.draw(list(target_model(prefix))),)
"""


def block(nodes: list[Any], target: Any = None, **entries: Any) -> Document:
    """One block without drafts, of one token unless told otherwise."""
    rows = [[[], T]] if target is None else target
    own = {"shape": "blocks", "drafts": None, "draft": [], "target": rows, "coins": 1, "given": EXACT}
    return claim(nodes, **own | entries)


def failing(nodes: list[Any], **entries: Any) -> Document:
    """A block of which a fault is claimed."""
    return block(nodes, **{"verdict": "lossy", "side": "more"} | entries)


def lacking(share: int) -> Document:
    """A block of which paths of probability share/10^7 are left out."""
    masses = [f"{10**7 - share}/10000000", f"{share}/10000000"]
    return block([ZERO, ["draw", masses, [0, None]]], [[[], masses]])


def in_float64(nodes: list[Any], target: Any = None) -> Document:
    """A block in float64."""
    return block(nodes, target, numbers="float64", given=IN_FLOAT64, coins=2)


def conditions() -> dict[str, tuple[bool, Document]]:
    """Return claims by name, with whether they hold."""
    draw = ["draw", T, [0, 1]]
    rows = [[[], T], [[0], T], [[1], T]]
    two_blocks = {"horizon": 2, "rounds": 2, "trees": [[[], 2], [[0], 3], [[1], 2]], "verdict": "lossy"}
    deep = [ZERO, ONE, draw, ["flip", "1/2", 2, 0]]
    hidden = [ZERO, ["draw", T, [None, None]], ["flip", "1/2", 0, 1]]
    more = {"verdict": "lossy", "texts": [[0]], "side": "more"}
    later = [["emit", [1, 0]], ["emit", [1, 1]], draw]
    single = [["emit", [0, 0]], ["drafts", [0], 0], ["draw", ["1"], [1]]]
    return {
        "1, in words": (False, block([ZERO, ["draw", ["one", "0"], [0, None]]], SURE)),
        "0, in words": (False, block([ZERO, ["draw", ["1", "none"], [0, None]]], SURE)),
        "floats were given": (False, claim(given={"target": "float64", "draft": "fractions"})),
        "one token, a chain": (
            True,
            claim(single, shape="chain", horizon=2, coins=1, target=[[[], ["1"]], [[0], ["1"]]], draft=[[[], ["1"]]]),
        ),
        "masses that are a text": (False, block([ZERO, ["draw", "10", [0, None]]], SURE)),
        "drawn from nothing": (True, failing([["draw", [], []]])),
        "two tokens at a position": (False, claim([ZERO, ["emit", [1, 0]], *RIGHT[2:]])),
        "a second list of children": (True, block([ZERO, ONE, [*draw, [1, 0]]])),
        "no token": (True, failing([["emit", []]])),
        "a token below 0": (True, failing([["emit", [-1]]])),
        "a second token outside of the vocabulary": (True, failing([["emit", [0, 7]]])),
        "a token after the end": (False, block([ZERO, ["emit", [1, 0]], draw], end=1)),
        "a path that is not shown has a coin": (False, block(hidden, **more)),
        "a path that is not shown has a coin, counted": (True, block(hidden, **more, coins=2)),
        "no row after a text": (
            False,
            block([["emit", [0, 0]]], SURE, horizon=2, verdict="lossy", texts=[[0, 0]], side="more"),
        ),
        "no row after a text, beside a fault": (False, failing([["fault", "x"]], horizon=2)),
        "no row after a text that the target has not": (True, block(later, [[[], ["0", "1"]], [[1], T]], horizon=2)),
        "a rare fault": (False, in_float64([ZERO, ONE, ["fault", "x"], draw, ["flip", SMALL, 2, 3]])),
        "a rare token that the target has not": (
            True,
            in_float64([ZERO, ONE, ["draw", [NEARLY, SMALL], [0, 1]]], SURE),
        ),
        "a token that the target has not": (False, block([ONE], SURE, coins=0)),
        "a later block has more coins": (False, block(deep, rows, **two_blocks, texts=[[0, 0]], side="more", coins=1)),
        "a later block has more coins, counted": (
            True,
            block(deep, rows, **two_blocks, texts=[[0, 0]], side="more", coins=2),
        ),
        "evidence for another verdict": (False, block([ZERO], verdict="right", texts=[[0]], side="more", coins=0)),
        "10^-6 is left out": (True, lacking(10)),
        "more than 10^-6 is left out": (False, lacking(11)),
        "two faults": (True, failing([["fault", "first"], ["fault", "second"], draw], coins=2)),
    }


def optima() -> dict[str, tuple[bool, Document]]:
    """Return optima by name, with whether they hold."""
    halves, each = ["1/2", "1/2"], [[[0], "1/2"], [[1], "1/2"]]
    only = [[[0], "1"]]
    both = [[[1, 0], 0, "1/2"], [[0, 1], 1, "1/2"]]
    return {
        "a set in another order": (True, made(halves, [[[0, 1], "1"]], both, "1", []) | {"drafts": "sets"}),
        "an acceptance that is not reached": (False, made(halves, each, [[[0], 1, "1/2"], [[1], 0, "1/2"]], "1", [])),
        "a draft that is one token too large": (False, made(["1", "0"], [*only, [[2], "0"]], [[[0], 0, "1"]], "1", [])),
        "a draft that the law has not": (False, made(["1", "0"], only, [[[0], 0, "1"], [[1], 0, "0"]], "1", [])),
        "the last token, as -1": (False, made(halves, only, [[[0], 0, "1/2"], [[0], -1, "1/2"]], "1/2", [0])),
        "a token that is one too large": (False, made(halves, only, [[[0], 0, "1/2"], [[0], 2, "1/2"]], "1/2", [0])),
    }


def replayed() -> dict[str, tuple[bool, str, Document]]:
    """Return claims by name, with a function of PROGRAMS and whether each claim is its own."""
    roles = [[None, role] for role in ("coin", "target", "draft", "prefix", 2)]
    models = {"call": roles, "given": {"target": "fractions", "draft": "fractions"}}
    one = [[None, role] for role in ("coin", "token", "target", "draft")]
    rows = [[[], T], [[0], T], [[1], T]]
    draw = [ZERO, ONE, ["draw", T, [0, 1]]]
    longer = {"prefix": [0, 0], "horizon": 2, "rounds": 2, "trees": [[[], 2], [[0], 2], [[1], 2]]}
    pairs = [["drafts", [x, y], x] for x in (0, 1) for y in (0, 1)]
    two = [ZERO, ONE, *pairs, ["draw", EVEN, [2, 3]], ["draw", EVEN, [4, 5]], ["draw", EVEN, [6, 7]]]
    lists = {"target": "lists", "draft": "lists"}
    torch = dict.fromkeys(lists, "torch.float64")
    found = {
        "a coin that is not asked": (False, "nothing_asked", block([ZERO, ["flip", "1/2", 0, 0]], SURE, **models)),
        "one token for one draft": (True, "one_token", claim(call=one)),
        "the first of two": (
            True,
            "first",
            claim(two, drafts=2, call=one, verdict="lossy", texts=[[0]], side="more", coins=2),
        ),
        "arguments by name": (True, "one_token", claim(call=[[role, role] for _, role in one])),
        "a token in an object": (True, "in_an_object", claim(call=one)),
        "lists": (True, "of_lists", claim(call=one, numbers="float64", given=lists)),
        "a token and a word": (True, "half_a_word", failing([["fault", "a word"]], **models)),
        "a token where it fails": (False, "nothing_asked", failing([["fault", "a word"]], **models)),
        "False for 0": (False, "true", block([ZERO], SURE, **models, coins=0)),
        "it fails": (False, "fails", block([ZERO], SURE, **models, coins=0)),
        "it would go on": (True, "goes_on", failing([["draw", [], []]], **models)),
        "another beginning": (False, "forgets", block(draw, **models, prefix=[0, 0])),
        "a longer text": (True, "looks_ahead", block(draw, rows, **models, **longer)),
    }
    if find_spec("torch"):
        found["torch"] = (True, "of_torch", claim(call=one, numbers="float64", given=torch))
    return found
