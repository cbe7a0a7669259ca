"""Certificates of followed samplers: right ones, forged ones, and what shows that an accepted forgery is no lie.

`python -m proofs_tests.certificates.followed_forgeries` tries 10,000 random single changes, and prints a table.
"""

from __future__ import annotations

import sys
from collections import Counter
from collections.abc import Callable, Iterator
from copy import deepcopy
from fractions import Fraction
from functools import cache
from itertools import islice
from types import ModuleType
from typing import Any

from proofs_tests.certificates.followed import plain, with_numpy
from proofs_tests.certificates.forgeries import forged
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


def accepted(document: Document, module: ModuleType | Any = check_followed, run: bool = True) -> bool:
    """Say whether a checker accepts a certificate."""
    modules = dict(sys.modules)
    try:
        return bool(module.check(document, run=run))
    except ValueError:
        return False
    finally:
        sys.modules.update(modules)


def confirmed(document: Document) -> bool:
    """Say whether a certificate states what is so, by a program against a coin that shares no code with samplers."""
    program = PROGRAMS[document["function"]["name"]]
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
        return sum(abs(emits.get(text, 0) - wants.get(text, 0)) for text in {**emits, **wants}) / 2 < Fraction(1, 10**14)
    shown = {text.strip("[]") for text in case["texts"]}
    more = [emits[text] - wants.get(text, 0) for text in emits if text == "fault" or ", ".join(map(str, text)) in shown]
    return sum(more) > 0


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
    for said, document in islice(forged(true(name), seed), many):
        taken = accepted(document)
        yield said, taken, taken and not confirmed(document)


def main() -> None:
    """Print the table of 10,000 changes."""
    total: Counter[str] = Counter()
    for place, name in enumerate(JUDGED):
        found = list(lies(name, place, 10_005 // len(JUDGED)))
        counts = len(found), sum(taken for _, taken, _ in found), sum(lie for *_, lie in found)
        total.update(dict(zip(("changes", "accepted", "lies"), counts, strict=True)))
        print(f"{name:20} {counts[0]:6} changes, {counts[1]:4} accepted, {counts[2]} of them untrue")
        print(*(f"    untrue: {said}" for said, _, lie in found if lie), sep="\n", end="")
    print(dict(total))


def changed(name: str, change: Callable[[Document], Any]) -> Document:
    """Return a certificate after a change in place."""
    document = deepcopy(true(name))
    _ = change(document)
    return document


if __name__ == "__main__":
    main()
