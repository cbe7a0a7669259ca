"""Documents written by hand to deceive the checker of proofs for all distributions."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from spec_math.certificates.check_proof import FORMATS

Document = dict[str, Any]

# The variables are the first mass of the target, t, and that of the draft, d.
POLYNOMIALS = [[["1", [1, 0]]], [["1", [1, 0]], ["-1", [0, 0]]], [["1", [0, 1]]], [["1", [0, 1]], ["-1", [0, 0]]]]
FUNCTIONS = [["1", [[0, 1]]], ["-1", [[1, 1]]], ["1", [[2, 1]]], ["-1", [[3, 1]]], ["1", []], ["1/2", []]]
EMIT = [["emit", "0"], ["emit", "1"]]
COINS = [*EMIT, ["draw", [0, 1], [0, 1]], ["draw", [2, 3], [0, 1]]]
"""Coin 2 draws from the target, coin 3 from the draft."""
DRAFT = ["leaf", 3, []]


def document(**entries: Any) -> Document:
    """The proof that a program which draws from the target is lossless, right but for the entries that are given."""
    found = {
        "format": FORMATS[0],
        "theorem": "draws from the target: lossless",
        "scope": "2 tokens",
        "laws": [["target", 2], ["draft", 2]],
        "scalars": [],
        "polynomials": POLYNOMIALS,
        "functions": FUNCTIONS,
        "coins": COINS,
        "wanted": [["0", [["target", 0]]], ["1", [["target", 1]]]],
        "formulas": [],
        "nodes": [["leaf", 2, []]],
    }
    return found | entries


def attacks() -> Iterator[tuple[str, Document]]:
    """Yield (words, document)."""
    yield "the draft is emitted", document(nodes=[DRAFT])
    yield "everything is outside of the hypothesis", document(nodes=[["outside", 4]])
    yield "a solver found everything empty", document(nodes=[["z3"]])
    yield "no claim", document(wanted=[], nodes=[DRAFT])
    yield "the witness of an empty region is 0 = 0", document(nodes=[["empty", [["0", [], None]]]])
    yield "the witness of an empty region is 1", document(nodes=[["empty", [["1", [], None]]]])
    yield "the witness adds what is no equality", document(nodes=[["empty", [["1", [], None], ["-1", [0], 0]]]])
    yield "a sign is left out", document(nodes=[["ask", 0, [[[1], 1, None]]], ["leaf", 2, []]])
    yield "a branch leads back", document(nodes=[["ask", 0, [[[-1, 0, 1], 0, None]]]])
    yield (
        "a mass may be negative",
        document(functions=[*FUNCTIONS, ["1", [[1, 1]]]], coins=[*EMIT, ["draw", [6, 0], [0, 1]]]),
    )
    yield "masses do not sum to 1", document(coins=[*EMIT, ["draw", [4, 4], [0, 1]]])
    yield "a branch of the coins is left out", document(coins=[*EMIT, ["draw", [0, 1], [0, None]]])
    yield "a divisor may be 0", document(functions=[["1", [[0, 2], [0, -1]]], *FUNCTIONS[1:]])
    yield (
        "solves what is no equality",
        document(nodes=[["ask", 0, [[[0, 1, -1], 1, [0, 4]]]], ["leaf", 2, []]], polynomials=[*POLYNOMIALS, []]),
    )
    solved = [["ask", 2, [[[1, -1], 1, None], [[0], 2, [-1, 4]]]], ["leaf", 2, []], ["leaf", 2, []]]
    yield "a negative variable", document(nodes=solved, polynomials=[*POLYNOMIALS, []])
    half = [*EMIT, ["draw", [5, 5], [0, 1]]]
    point = {"point": ["1/2", "1/2"], "coin": 2, "coins": half}
    yield "a point where all claims hold: no entry of a proof", document(**point, values=[])
    yield "a point outside", document(**point | {"point": ["3/2", "1/2"]}, values=[])
    fractional = [*POLYNOMIALS[:2], [["1", [0, 0.5]], ["-1", [0, 1.5]]], POLYNOMIALS[3]]
    yield "exponents that are no whole numbers", document(polynomials=fractional)
    yield "exponents that are True", document(polynomials=[[["1", [True, 0]]], *POLYNOMIALS[1:]])
    yield "a distribution that is listed twice", document(laws=[["target", 3], ["target", 2], ["draft", 2]])
    for number in (1, 1.0, "1.0", " 1", "+1", "1_0/1_0", "1e0"):
        yield f"the number {number!r}", document(functions=[[number, [[0, 1]]], *FUNCTIONS[1:]])
    yield "a power that is no whole number", document(functions=[["1", [[0, 1.0]]], *FUNCTIONS[1:]])
    yield "a coin that is True", document(nodes=[["leaf", 2.0, []]])
    yield "no node", document(nodes=[])
    yield "a bound without a value", document(bounds=["acceptance <= optimum"])
    leaves = [["ask", 0, [[[0, 1], 1, None], [[-1], 2, None]]]]
    yield "one region is judged, the rest is called empty", document(nodes=[*leaves, ["empty", []], ["leaf", 2, []]])
    minus = [*POLYNOMIALS, [["-1", [0, 0]]]]
    terms = [["1", [], None], ["1", [0], 4], ["-1", [1], 4]]
    parts = [["ask", 0, [[[1], 1, None], [[0, -1], 2, None]]], ["leaf", 2, []]]
    yield "multiples of inequalities", document(polynomials=minus, nodes=[*parts, ["empty", terms]])
    constant = [*POLYNOMIALS, [["1", [0, 0]]]]
    other = [["ask", 0, [[[1], 1, None], [[0], 2, [0, 4]], [[-1], 1, None]]], ["leaf", 2, []], ["leaf", 4, []]]
    always = {"functions": [*FUNCTIONS, ["0", []]], "coins": [*COINS, ["draw", [4, 6], [0, None]]]}
    yield "solves for another value", document(polynomials=constant, nodes=other, **always)
    divided = [["1", [[0, 1], [2, 1], [4, -1]]], *FUNCTIONS[1:]]
    yield "divides by the draft's mass", document(polynomials=[*POLYNOMIALS, POLYNOMIALS[2]], functions=divided)
    yield "a negative exponent", document(polynomials=[*POLYNOMIALS, [["1", [-1, 0]]]])
    yield "no tokens", document(laws=[["target", 2], ["draft", 2], ["none", 0]], scalars=["x"])
    yield "a line break in the name", document(theorem="right\nAssumed: nothing")
    yield "a term of a witness is negative", document(nodes=[["empty", [["1", [], None], ["-1", [], None]]]])
    short = [*POLYNOMIALS, [["1", []]], [["1", []]]]
    shares = [*FUNCTIONS, ["1", [[4, 1], [5, -1]]], ["0", [[5, -1]]]]
    asked = [["ask", 4, [[[1], 1, None], [[0, -1], 2, None]]], ["leaf", 4, []], ["z3"]]
    zero = {"functions": shares, "coins": [*COINS, ["draw", [6, 7], [0, 1]]]}
    yield "exponents of fewer variables: token 0 is always emitted", document(polynomials=short, nodes=asked, **zero)
    double = {"functions": [*FUNCTIONS, ["2", [[0, 1]]], ["-2", [[1, 1]]]]}
    below = [*COINS, ["draw", [6], [0]], ["draw", [7], [1]], ["flip", [5, 5], [4, 5]]]
    yield "masses below a coin do not sum to 1", document(**double, coins=below, nodes=[["leaf", 6, []]])
    shifted = [*POLYNOMIALS, [["1", [1, 0]], ["1", [0, 0]]]]
    signs = {"functions": [*FUNCTIONS, ["1", [[4, 1]]], ["-1", []]], "coins": [*COINS, ["draw", [6, 7, 1], [0, 0, 1]]]}
    yield "a mass of -1 beside one above 1", document(polynomials=shifted, **signs, nodes=[["leaf", 4, []]])
    mean = {"wanted": [], "formulas": [["acceptance", [["0", "1"], ["1", "0"]]]], "nodes": [["leaf", 4, [0]]]}
    yield "a branch is left out of a mean", document(**mean, coins=[*COINS, ["draw", [0, 1], [0, None]]])
    yield "another mean", document(**mean | {"nodes": [["leaf", 2, [4]]]})
    third = {"functions": [*FUNCTIONS, ["0", []]], "coins": [*COINS, ["draw", [0, 1, 6], [0, 1]]]}
    yield "a mass without a child", document(**third, nodes=[["leaf", 4, []]])
