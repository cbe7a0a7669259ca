"""Certificates with paths that hold, one of each sort, and the programs that they are about."""

from __future__ import annotations

from fractions import Fraction
from functools import cache
from typing import Any

import numpy as np

from spec_math import SCHEMES, check_lossless, check_lossless_block
from spec_math.audit import check_sampler
from spec_math.block_level import chain
from spec_math.studies.blocks.own_methods import OwnMethod, judge

Data = dict[str, Any]

T, D = ["1/4", "3/4"], ["1/2", "1/2"]

PROGRAMS = """
from fractions import Fraction

def right(coin, tokens, target, draft):
    x = tokens[0]
    if coin.flip(min(1, target[x] / draft[x])):
        return x
    weights = [max(t - d, 0) for t, d in zip(target, draft)]
    total = sum(weights)
    return coin.draw([weight / total for weight in weights])

def named(draft, tokens, coin, target):
    return right(coin, (tokens,) if isinstance(tokens, int) else tokens, target, draft)

def other_question(coin, tokens, target, draft):
    try:
        coin.flip(Fraction(1, 3))
    except BaseException:
        pass
    return right(coin, tokens, target, draft)

def other_kind(coin, tokens, target, draft):
    return coin.draw([Fraction(1, 2), Fraction(1, 2)])

def asks_less(coin, tokens, target, draft):
    return tokens[0]

def asks_more(coin, tokens, target, draft):
    answer = right(coin, tokens, target, draft)
    try:
        coin.flip(Fraction(1, 2))
    except BaseException:
        pass
    return answer

def other_token(coin, tokens, target, draft):
    return 1 - right(coin, tokens, target, draft)

def in_a_tuple(coin, tokens, target, draft):
    import numpy
    return numpy.array([right(coin, tokens, target, draft)])

def hopeful(coin, tokens, target, draft):
    return tokens[0]

def raises(coin, tokens, target, draft):
    if tokens[0] == 1:
        raise ValueError("no token")
    return tokens[0]

def leaves(coin, tokens, target, draft):
    if tokens[0] == 1:
        raise SystemExit(0)
    return tokens[0]

def says_a_word(coin, tokens, target, draft):
    return "one" if tokens[0] else 0

def negative(coin, tokens, target, draft):
    return coin.draw([target[0] - draft[0], 1 - target[0] + draft[0]]) if tokens[0] else 0

def not_a_number(coin, tokens, target, draft):
    return coin.draw([float("nan"), 0.5]) if tokens[0] else 0

def too_likely(coin, tokens, target, draft):
    return int(coin.flip(Fraction(3, 2))) if tokens[0] else 0

def infinite(coin, tokens, target, draft):
    return coin.draw([float("-inf"), float("inf")]) if tokens[0] else 0

def out_of_range(coin, tokens, target, draft):
    return 2 if tokens[0] else 0

def a_chain(coin, tokens, target, draft):
    out = []
    for place, x in enumerate(tokens):
        if not coin.flip(min(1, target[place][x] / draft[place][x])):
            weights = [max(t - d, 0) for t, d in zip(target[place], draft[place])]
            total = sum(weights)
            return (*out, coin.draw([weight / total for weight in weights]))
        out.append(x)
    return (*out, coin.draw(list(target[len(tokens)])))

def a_block(coin, prefix):
    row = [Fraction(1, 4), Fraction(3, 4)]
    return (coin.draw(row), coin.draw(row))

def reads_models(coin, target_model, draft_model, prefix, lookahead):
    assert (target_model.end, lookahead) == (1, 2)
    return (coin.draw(list(target_model((*prefix,)))),)

def masses(coin, tokens, target, draft):
    from spec_math.chance import Cumulative
    return coin.draw(Cumulative([Fraction(1, 4), Fraction(3, 4)]))
"""


@cache
def programs() -> Any:
    """The programs of these cases, as a module's names."""
    known: dict[str, Any] = {}
    exec(compile(PROGRAMS, "programs.py", "exec"), known)
    return known


def document(verdict: Any) -> Data:
    """The certificate of a verdict, as it is written."""
    return verdict.certificate().document()


def of(name: str, target: Any = T, draft: Any = D, k: int = 1) -> Data:
    return document(check_lossless(programs()[name], target, draft, k))


def in_type(kind: str, *masses: float) -> Any:
    row = np.array(masses, dtype=kind)
    return row / row.sum()


@cache
def right() -> dict[str, Data]:
    """Certificates that hold, one of each sort."""
    scheme = {one.name: one for one in SCHEMES}
    even = lambda _: ["1/4", "3/4"]  # noqa: E731

    def ended(_: tuple[int, ...]) -> list[str]:
        return T

    ended.end = 1  # type: ignore[attr-defined]

    def stops(coin: Any, _: tuple[int, ...]) -> tuple[int, ...]:
        first = coin.draw([Fraction(1, 4), Fraction(3, 4)])
        return (first,) if first == 1 else (first, coin.draw([Fraction(1, 4), Fraction(3, 4)]))

    def loops(coin: Any, _: Any, target: Any, __: Any) -> int:
        while coin.flip(Fraction(1, 8)):
            pass
        return coin.draw(target)

    def second_breaks(coin: Any, prefix: tuple[int, ...]) -> tuple[int, ...]:
        if prefix == (1,):
            raise RuntimeError("no second block")
        return (coin.draw([Fraction(1, 4), Fraction(3, 4)]),)

    def doubled(coin: Any, _: tuple[int, ...]) -> tuple[int, ...]:
        return (coin.draw([Fraction(1, 4), Fraction(3, 4)]),) * 2

    def reads(coin: Any, target: Any, draft: Any, prefix: Any, lookahead: int, _: int) -> Any:
        return chain.generate(coin, target, draft, prefix, lookahead)

    own = judge(OwnMethod("a chain", reads, one=True))
    roles = "draft=draft,tokens=tokens,coin=coin,target=target"
    found = {
        "one draft": of("right"),
        "two drafts": document(
            check_lossless(scheme["recursive rejection"], ["1/4", "1/2", "1/4"], ["1/2", "0", "1/2"], 2)
        ),
        "three numbers": document(check_lossless(programs()["right"], T, D)),
        "own drafts": document(
            check_lossless(scheme["greedy drafts"], ["1/4", "1/2", "1/4"], ["1/2", "1/4", "1/4"], 2)
        ),
        "too much": of("hopeful"),
        "too little": of("hopeful", ["1/8", "1/8", "3/4"], ["3/8", "3/8", "1/4"]),
        "raises": of("raises"),
        "leaves": of("leaves"),
        "a word": of("says_a_word"),
        "negative": of("negative"),
        "not a number": of("not_a_number"),
        "infinite": of("infinite"),
        "too likely": of("too_likely"),
        "out of range": of("out_of_range"),
        "kept masses": of("masses"),
        "two blocks": document(check_lossless_block(programs()["a_block"], even, 3, 2)),
        "after a prefix": document(check_lossless_block(programs()["a_block"], even, 2, 1, (0, 1))),
        "an end": document(check_lossless_block(stops, ended, 3, 2)),
        "blocks that differ": document(check_lossless_block(doubled, even, 2)),
        "second block breaks": document(check_lossless_block(second_breaks, even, 3, 2)),
        "models": {**document(own), "claims": document(own)["claims"][:1]},
        "endless": document(check_lossless(loops, T, D, 1)),
        "a chain": document(check_sampler(programs()["a_chain"], [T, D, T], [D, T], lookahead=2)),
        "roles": document(check_sampler(programs()["named"], T, D, k=1, roles=roles)),
    }
    for kind in ("float64", "float32", "float16"):
        laws = in_type(kind, 0.1, 0.3, 0.6), in_type(kind, 0.5, 0.3, 0.2)
        found[kind] = document(check_lossless(scheme["recursive rejection"], *laws, 2))
        found[f"lossy in {kind}"] = document(check_lossless(programs()["hopeful"], *laws, 1))
    found["lists"] = document(check_sampler(programs()["right"], T, ["1/3", "2/3"], k=1, numbers="lists"))
    found["audit in float32"] = document(
        check_sampler(programs()["right"], ["1/7", "6/7"], ["1/3", "2/3"], k=1, numbers="float32")
    )
    return found


REPLAYED = {
    "one draft": "right",
    "three numbers": "right",
    "too much": "hopeful",
    "too little": "hopeful",
    "raises": "raises",
    "leaves": "leaves",
    "a word": "says_a_word",
    "negative": "negative",
    "not a number": "not_a_number",
    "infinite": "infinite",
    "too likely": "too_likely",
    "out of range": "out_of_range",
    "kept masses": "masses",
    "two blocks": "a_block",
    "after a prefix": "a_block",
    "a chain": "a_chain",
    "roles": "named",
    "lossy in float64": "hopeful",
    "lossy in float16": "hopeful",
    "lists": "right",
    "audit in float32": "right",
}
"""The program of PROGRAMS that each certificate is about."""

WRONG = ("other_question", "other_kind", "asks_less", "asks_more", "other_token", "raises", "says_a_word", "missing")
"""Programs that are not the one of the certificate "one draft"."""
