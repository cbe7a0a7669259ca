"""Certificates of followed samplers: right ones, forged ones, and what shows that an accepted forgery is no lie."""

# ruff: noqa: ARG005
from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from copy import deepcopy
from fractions import Fraction
from functools import cache
from itertools import islice
from pathlib import Path
from typing import Any

from proofs_tests.certificates.followed import plain, with_numpy
from proofs_tests.certificates.forgeries import forged
from proofs_tests.size import kinds
from spec_math import law
from spec_math.certificates import check_followed
from spec_math.chance import Coin
from spec_math.samplers.case import Case, chain, position
from spec_math.samplers.certificate import Certificate
from spec_math.samplers.judgement import judge
from spec_math.samplers.subject import subject_of

Document = dict[str, Any]

ONE = position(["1/4", "3/4"], ["1/2", "1/2"])
TWO = position(["1/4", "3/4"], ["1/2", "1/2"], 2)
THREE = position(["1/8", "1/4", "5/8"], ["1/2", "1/4", "1/4"])
LINE = chain([["1/4", "3/4"], ["2/3", "1/3"]], [["1/2", "1/2"]])

JUDGED: dict[str, tuple[Callable[..., Any], Case]] = {
    "recursive": (plain.recursive, TWO),
    "redraws": (plain.redraws, ONE),
    "chain": (plain.chain, LINE),
    "even chain": (plain.even_chain, LINE),
    "wheel": (plain.wheel, ONE),
    "sometimes": (plain.sometimes, ONE),
    "out of range": (plain.out_of_range, ONE),
    "with a generator": (plain.with_generator, ONE),
    "new generator": (with_numpy.generator, THREE),
    "old generator": (with_numpy.legacy, ONE),
    "turned": (with_numpy.turned, ONE),
    "race": (with_numpy.race, THREE),
    "race of the draft": (with_numpy.race_of_draft, THREE),
    "whole number": (with_numpy.whole, THREE),
    "choice": (with_numpy.chosen, ONE),
}
"""Samplers, each on a case that is small."""


@cache
def true(name: str) -> Document:
    """Return the certificate of a sampler of `JUDGED`."""
    fn, case = JUDGED[name]
    return Certificate((judge(subject_of(fn), case),)).document()


def place(document: Document) -> str:
    """Return the function that a certificate names, as FILE.py:NAME."""
    return "{file}:{name}".format(**document["function"])


def accepted(document: Document, function: str | None = None, run: int = 3) -> bool:
    """Say whether the checker accepts a certificate, of the function that it names or of another."""
    modules = dict(sys.modules)
    try:
        return bool(check_followed.check(document, (function or place(document)) if run else None, run=run))
    except ValueError:
        return False
    finally:
        sys.modules.update(modules)


def confirmed(document: Document, name: str | None = None) -> bool:
    """Say whether a certificate states what is so, by a program against a coin that shares no code with samplers."""
    program = PROGRAMS[name or document["function"]["name"]]
    return all(_confirmed(case, program, document["verdict"] == "lossless") for case in document["cases"])


def _confirmed(case: Document, program: Callable[..., Any], lossless: bool) -> bool:
    target, draft = ([[Fraction(one) for one in row] for row in case[name]] for name in ("target", "draft"))
    ahead = int(case["lookahead"] or 0)
    rows = draft if ahead else draft * case["k"]

    def texts(coin: Coin) -> Any:
        tokens = [coin.draw(row) for row in rows]
        emitted = program(coin, tokens, target if ahead else target[0], draft if ahead else draft[0])
        if not isinstance(emitted, list) or not all(token in range(len(target[0])) for token in emitted):
            return "fault"
        while len(emitted) < case["horizon"]:
            emitted = [*emitted, coin.draw(target[len(emitted) % len(target)])]
        return tuple(emitted[: case["horizon"]])

    def wanted(coin: Coin) -> Any:
        return tuple(coin.draw(target[place % len(target)]) for place in range(case["horizon"]))

    emits, wants = law(texts), law(wanted)
    if lossless:
        return sum(abs(emits.get(text, 0) - wants.get(text, 0)) for text in {**emits, **wants}) / 2 < Fraction(
            1, 10**14
        )
    return any(emits[text] > wants.get(text, 0) for text in emits)


def _residual(target: Any, draft: Any) -> Any:
    rest = [max(Fraction(0), t - d) for t, d in zip(target, draft, strict=True)]
    return [one / sum(rest) for one in rest] if sum(rest) else target


def _recursive(coin: Coin, tokens: Any, target: Any, draft: Any) -> Any:
    for token in tokens:
        if coin.flip(min(Fraction(1), target[token] / draft[token])):
            return [token]
        target = _residual(target, draft)
    return [coin.draw(target)]


def _redraws(coin: Coin, tokens: Any, target: Any, draft: Any) -> Any:
    kept = coin.flip(min(Fraction(1), target[tokens[0]] / draft[tokens[0]]))
    return [tokens[0] if kept else coin.draw(target)]


def _chain(coin: Coin, tokens: Any, target: Any, draft: Any, even: bool = False) -> Any:
    for place, token in enumerate(tokens):
        if not coin.flip(min(Fraction(1), target[place][token] / draft[place][token])):
            return [*tokens[:place], coin.draw(_residual(target[place], draft[place]))]
    size = len(target[0])
    return [*tokens, coin.draw([Fraction(1, size)] * size if even else target[-1])]


def _sometimes(coin: Coin, tokens: Any, target: Any, draft: Any) -> Any:
    if coin.flip(max(Fraction(0), min(Fraction(1), (target[tokens[0]] - Fraction(1, 8)) / draft[tokens[0]]))):
        return [tokens[0]]
    return "fault" if coin.flip(Fraction(1, 2)) else [coin.draw(target)]


def _turned(coin: Coin, tokens: Any, target: Any, draft: Any) -> Any:
    kept = coin.flip(min(Fraction(1), draft[tokens[0]] / target[tokens[0]]))
    return [tokens[0] if kept else coin.draw(_residual(target, draft))]


def _even(coin: Coin, target: Any) -> Any:
    return [coin.draw([Fraction(1, len(target))] * len(target))]


PROGRAMS: dict[str, Callable[..., Any]] = {
    "recursive": _recursive,
    "redraws": _redraws,
    "chain": _chain,
    "even_chain": lambda coin, *laws: _chain(coin, *laws, even=True),
    "wheel": lambda coin, tokens, target, draft: [coin.draw(target)],
    "sometimes": _sometimes,
    "out_of_range": lambda coin, tokens, target, draft: [coin.draw([Fraction(1, 3)] * 3)],
    "with_generator": _recursive,
    "generator": _recursive,
    "legacy": _recursive,
    "turned": _turned,
    "race": lambda coin, tokens, target, draft: [coin.draw(target)],
    "race_of_draft": lambda coin, tokens, target, draft: [coin.draw(draft)],
    "whole": lambda coin, tokens, target, draft: _even(coin, target),
    "chosen": lambda coin, tokens, target, draft: _even(coin, target),
}
"""The samplers again, as programs against a coin."""


def lies(name: str, seed: int, many: int) -> Iterator[tuple[str, bool, bool]]:
    """Try random single changes of a certificate: words on each, whether it is accepted, and whether it is a lie."""
    function = true(name)["function"]["name"]
    for said, document in islice(forged(true(name), seed), many):
        taken = accepted(document, place(true(name)))
        yield said, taken, taken and not confirmed(document, function)


def changed(name: str, change: Callable[[Document], Any]) -> Document:
    """Return a certificate after a change in place."""
    document = deepcopy(true(name))
    _ = change(document)
    return document


def put(value: Any, *place: Any) -> Callable[[Document], None]:
    """Return a change that puts a value at a place."""

    def change(document: Document) -> None:
        at: Any = document
        for key in place[:-1]:
            at = at[key]
        at[place[-1]] = value

    return change


def node(document: Document, kind: str, which: int = 0) -> list[Any]:
    """Return a node of a kind."""
    return [one for one in document["nodes"] if one[0] == kind][which]


def on_node(kind: str, place: int, value: Any, which: int = 0) -> Callable[[Document], None]:
    """Return a change of an entry of a node."""
    return lambda document: node(document, kind, which).__setitem__(place, value)


def replaced_row(name: str, row: list[str]) -> Callable[[Document], None]:
    """Return a change of the first row of target or draft."""
    return put([row], "cases", 0, name)


WRITTEN: dict[str, tuple[str, Callable[[Document], None]]] = {
    "another format": ("recursive", put("spec_math paths certificate, version 1", "format")),
    "it assumes more": ("recursive", put("whatever", "assumed")),
    "no verdict": ("recursive", put("fine", "verdict")),
    "lossy called lossless": ("redraws", put("lossless", "verdict")),
    "no cases": ("recursive", put([], "cases")),
    "another function of the file": ("recursive", put("hopeful", "function", "name")),
    "a function that is not there": ("recursive", put("nowhere", "function", "name")),
    "a file that is not there": ("recursive", put("nowhere.py", "function", "file")),
    "arguments exchanged": ("recursive", put(["tokens", "draft", "target"], "call", "placed")),
    "arguments by wrong names": ("recursive", put([["x", "tokens"]], "call", "named")),
    "one token for a tuple": ("recursive", put(True, "call", "one")),
    "no generator": ("with a generator", put([], "call", "makes")),
    "numbers of another kind": ("recursive", put("numpy.float64", "cases", 0, "numbers")),
    "numbers that there are not": ("recursive", put("reals", "cases", 0, "numbers")),
    "a name that is no library": ("old generator", put(["this"], "libraries")),
    "target that does not sum to 1": ("recursive", replaced_row("target", ["1/4", "1/2"])),
    "target of another size": ("recursive", replaced_row("target", ["1/4", "1/2", "1/4"])),
    "target with a negative mass": ("recursive", replaced_row("target", ["-1/4", "5/4"])),
    "another target": ("recursive", replaced_row("target", ["3/8", "5/8"])),
    "another draft": ("recursive", replaced_row("draft", ["3/4", "1/4"])),
    "a target without rows": ("recursive", put([], "cases", 0, "target")),
    "rows of a chain": ("recursive", put(1, "cases", 0, "lookahead")),
    "a horizon of nothing": ("recursive", put(0, "cases", 0, "horizon")),
    "other number of drafts": ("recursive", put(1, "cases", 0, "k")),
    "drafts left out": ("recursive", lambda d: d["cases"][0]["drafted"].pop()),
    "drafts never drawn": ("redraws", put([[[7], 1]], "cases", 0, "drafted")),
    "drafts twice": ("recursive", lambda d: d["cases"][0]["drafted"].append([[0, 1], 0])),
    "a cut moved": ("recursive", on_node("cut", 2, ["3/8"])),
    "a cut at the end": ("recursive", on_node("cut", 2, ["1"])),
    "a cut at the start": ("recursive", on_node("cut", 2, ["0"])),
    "a cut below 0": ("recursive", on_node("cut", 2, ["-1/8"])),
    "cuts that fall": ("recursive", on_node("cut", 2, ["1/2", "1/4"])),
    "a part left out": ("recursive", lambda d: node(d, "cut")[3].__setitem__(0, None)),
    "parts exchanged": ("recursive", lambda d: node(d, "cut")[3].reverse()),
    "a child too few": ("recursive", lambda d: node(d, "cut")[3].pop()),
    "a node of another kind": ("recursive", on_node("cut", 0, "slice")),
    "a child after its parent": ("recursive", lambda d: node(d, "cut")[3].__setitem__(0, len(d["nodes"]) - 1)),
    "a child before the first": ("recursive", lambda d: node(d, "cut")[3].__setitem__(0, -1)),
    "another number is cut": ("recursive", on_node("cut", 1, 5)),
    "the last number is cut": ("recursive", on_node("cut", 1, -1)),
    "a number too few": ("recursive", on_node("end", 1, "")),
    "a number too many": ("recursive", on_node("end", 1, "uuuu")),
    "a number of another kind": ("recursive", on_node("end", 1, "n")),
    "another token": ("recursive", on_node("end", 2, [1])),
    "a token that there is not": ("recursive", on_node("end", 2, [2])),
    "two tokens at one position": ("recursive", on_node("end", 2, [0, 0])),
    "no token": ("recursive", on_node("end", 2, [])),
    "an exception": ("recursive", on_node("end", 2, "ValueError")),
    "an end with more": ("recursive", lambda d: node(d, "end").insert(1, "u")),
    "other rates": ("race", on_node("race", 2, ["1/4", "1/8", "5/8"])),
    "a rate below 0": ("race", on_node("race", 2, ["-1/8", "1/2", "5/8"])),
    "winners left out": ("race", lambda d: (node(d, "race")[3].pop(), node(d, "race")[4].pop())),
    "a winner twice": ("race", on_node("race", 3, [[0], [1], [1]])),
    "winners exchanged": ("race", on_node("race", 3, [[1], [0], [2]])),
    "no winner": ("race", lambda d: (node(d, "race")[3].append([]), node(d, "race")[4].append(0))),
    "a number races twice": ("race", on_node("race", 1, [0, 0, 2])),
    "fewer numbers race": ("race", on_node("race", 1, [0, 1])),
    "the race of one number": ("race", on_node("race", 1, [0])),
    "a whole number that is not even": ("wheel", on_node("race", 2, ["1/2", "1/6", "1/6", "1/6"])),
    "a whole number of another size": ("wheel", on_node("race", 2, ["1/5"] * 4)),
    "too little to refute": ("redraws", lambda d: node(d, "cut", 0).__setitem__(3, [None, None])),
}
"""Forgeries written by hand, each of a certificate: nearly all are to be rejected."""


def toy(cut: Fraction, case: Document, verdict: str = "lossless", coins: int = 1) -> Document:
    """Return a certificate of uniform numbers, the first cut in two: token 0 below the cut, token 1 above it."""
    known = {"k": 1, "lookahead": 0, "horizon": 1, "numbers": "numpy.float64", "drafted": [[[], 2]]}
    rows = {"target": [["1/4", "3/4"]], "draft": [["1/2", "1/2"]]}
    return {
        "format": check_followed.FORMATS[0],
        "verdict": verdict,
        "assumed": check_followed.ASSUMED,
        "function": {"file": "sampler.py", "name": "sampler", "sha256": ""},
        "call": {"placed": ["target", "draft"], "named": [], "one": False, "makes": []},
        "libraries": [],
        "cases": [known | rows | case],
        "nodes": [["end", "u" * coins, [0]], ["end", "u" * coins, [1]], ["cut", 0, [str(cut)], [0, 1]]],
    }


def rounded(coins: int, size: int, digits: int) -> Fraction:
    """Return the total variation that rounding explains, coin by coin, as the page on rounding derives it."""
    unit, total = Fraction(1, 2**digits), Fraction(0)
    for coin in range(coins):
        errors = (size + 4 + 2 * coin) * unit
        total += 1 if errors >= 1 else min(Fraction(1), errors / (1 - errors) + 2 * unit)
    return total


TINY = Fraction(1, 2**200)


def at_the_bound() -> Iterator[tuple[str, bool, Document]]:
    """Yield certificates of toys that are as far off as rounding explains, and a little farther."""
    quarter = Fraction(1, 4)
    for numbers, digits in (("numpy.float64", 53), ("numpy.float32", 24), ("torch.float64", 53), ("torch.float32", 24)):
        most = rounded(1, 2, digits)
        for verdict, accepted_at in (("lossless", True), ("lossy", False)):
            given = {"numbers": numbers}
            yield f"{numbers} {verdict} at the bound", accepted_at, toy(quarter + most, given, verdict)
            yield f"{numbers} {verdict} beyond it", not accepted_at, toy(quarter + most + TINY, given, verdict)
    for numbers, digits, cap in (("numpy.float16", 11, 100), ("torch.float16", 11, 100), ("torch.bfloat16", 8, 100)):
        most = Fraction(1, cap)
        yield f"{numbers} at the cap", True, toy(quarter + min(most, rounded(1, 2, digits)), {"numbers": numbers})
        yield (
            f"{numbers} beyond the cap",
            False,
            toy(quarter + min(most, rounded(1, 2, digits)) + TINY, {"numbers": numbers}),
        )
        for coins in (1, 3):
            least = quarter + rounded(coins, 2, digits)
            yield f"{numbers} lossy, {coins}", True, toy(least + TINY, {"numbers": numbers}, "lossy", coins)
            yield f"{numbers} lossy at it, {coins}", False, toy(least, {"numbers": numbers}, "lossy", coins)
    many = "u" * 60
    long = toy(quarter + Fraction(1, 10**4), {"numbers": "numpy.float32"})
    long["nodes"][:2] = [["end", many, [0]], ["end", many, [1]]]
    yield "at the cap of float32", True, long
    longer = deepcopy(long)
    longer["nodes"][2][2] = [str(quarter + Fraction(1, 10**4) + TINY)]
    yield "beyond the cap of float32", False, longer
    most = rounded(1, 2, 53)
    for numbers in ("fractions", "numpy.float64"):
        yield f"{numbers} right", True, toy(quarter, {"numbers": numbers})
        yield f"{numbers} lossy", True, toy(quarter + most + TINY, {"numbers": numbers}, "lossy")
        yield f"{numbers} not lossy", False, toy(quarter + most, {"numbers": numbers}, "lossy")


ALLOWED = {"numbers of another kind", "a whole number of another size"}
"""Changes written by hand that leave a certificate true."""


def code_lines(file: Path) -> int:
    """Return the lines of code of a file."""
    return kinds(file.read_text(encoding="utf-8"))["code"]
