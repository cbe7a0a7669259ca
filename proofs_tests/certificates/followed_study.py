"""`python -m proofs_tests.certificates.followed_study`: forgeries and mutants of the checker of followed samplers.

10,000 random changes of right certificates, of which each accepted one is confirmed by a program against a coin; and
every change of the checker's file, which some case must notice.
"""

from __future__ import annotations

import tempfile
from collections import Counter
from collections.abc import Callable
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from types import ModuleType
from typing import Any

from proofs_tests.certificates import followed_conditions, followed_parts
from proofs_tests.certificates.checker_mutants import in_words, survivors
from proofs_tests.certificates.followed_forgeries import (
    JUDGED,
    WRITTEN,
    Document,
    at_the_bound,
    changed,
    lies,
    place,
    true,
)
from spec_math.certificates import check_followed


def cases(folder: Path) -> dict[str, Callable[[ModuleType], Any]]:
    """Return what a changed checker is tried on: the cheap ones first."""
    if find_spec("torch"):
        _ = import_module("torch")  # not in the time of a case
    units = followed_parts.UNITS | (followed_parts.UNITS_IN_TORCH if find_spec("torch") else {})
    units |= dict(followed_conditions.cases(folder / "followed_conditions.py"))

    def asked(document: Document, run: int) -> Callable[[ModuleType], Any]:
        return in_words(lambda module: module.check(document, place(document) if run else None, run=run))

    documents = {name: true(name) for name in JUDGED}
    documents |= {name: changed(*change) for name, change in WRITTEN.items()}
    bounds = {name: asked(document, 0) for name, _, document in at_the_bound()}
    sums = {f"sums: {name}": asked(document, 0) for name, document in documents.items()}
    runs = {f"runs: {name}": asked(document, 3) for name, document in documents.items()}
    return {**units, **bounds, **sums, **runs}


_BITS = "script.bits = min(DIGITS[numbers.rpartition('.')[2]], 24 if 'torch' in numbers else 53)"
_RUN = "run(case['numbers'], (target, draft) if ahead else (target[0], draft[0]), tokens, (known, draws), emitted)"
_EACH = "most = sum((min(1, n * u / max(1 - n * u, n * u) + 2 * u) for n in range(size + 4, size + 4 + 2 * coins, 2)))"
_CAP = "most = min(most, Fraction(1, 10 ** 4 if u < Fraction(1, 2 ** 11) else 100)) if whole else most"
_FRESH = "fresh = [kind, [j], weights or [1], [i for i, w in enumerate(weights or [1]) if w]]"
_RACE = "demand(before == [[kinds, numbers, rates, before[0][-1]]] * len(before), 'a number takes part in two races')"
_WINNERS = "demand(sorted(chain(*groups)) == before[0][-1], 'winners are not listed once each')"
_END = "demand(all((about[0][j:j + 1] in [*kinds] for j, (kinds, *_) in known.items())), f'node {at}: other draws')"
_SIZE = "size, counts = (len(target[0]), [case['k'], case['lookahead'], case['horizon']])"
_OWN = "methods = {'random': lambda _: take('u'), '_randbelow': lambda _, n: take('n', [1] * n), 'getrandbits': None}"
_NUMPY = "return (0 if high is None else low) + drawn(size, 'n', [1] * (low if high is None else high - low))"
_UNIFORM = "names['uniform'] = lambda self, low=0.0, high=1.0, size=None: low + (high - low) * self.random(size)"
_TOTAL = "total = sum((rates[place] for place in before[0][-1]))"
_VERDICT = "whole = {FORMATS[0]: {'lossless': True, 'lossy': False}}[document['format']][verdict]"
EXPLAINED = tuple(
    (line, line.replace(old, new))
    for line, old, new in (
        # What is known of the numbers of a race is the same of each of them, or the race is rejected.
        (_RACE, "before[0]", "before[-1]"),
        (_WINNERS, "before[0]", "before[-1]"),
        (_TOTAL, "before[0]", "before[-1]"),
        (_END, "about[0]", "about[-1]"),  # an end has one entry before its text
        (_SIZE, "target[0]", "target[-1]"),  # rows of two sizes are rejected
        ("law, coins = (Counter({(): -1}), 0)", "0)", "-1)"),  # no path has fewer than 0 coins
        (_RUN, "target[0]", "target[-1]"),  # a position has one row
        (_RUN, "draft[0]", "draft[-1]"),
        (_EACH, "min(1,", "min(2,"),  # nothing is off by more than 1
        (_EACH, "size + 4 + 2", "size + 3 + 2"),  # it counts by 2
        (_CAP, "2 ** 11", "3 ** 11"),  # no type has 12 to 17 digits
        (_CAP, "2 ** 11", "2 ** 12"),
        (_FRESH, "weights or [1], [i", "weights or [0], [i"),  # one racer wins at any rate
        (_FRESH, "enumerate(weights or [1])", "enumerate(weights or [2])"),
        (_OWN, "[1] * n", "[2] * n"),  # even weights are even at any scale
        (_NUMPY, "[1] *", "[2] *"),
        ("names['rand'] = lambda self, *size: self.random(size or None)", "size or None", "size"),  # () is one number
        (_UNIFORM, "low=0.0", "low=-0.0"),
        (_BITS, "24 if", "25 if"),  # three quarters of the digits, rounded down
        (_BITS, "else 53", "else 54"),  # no type has more than 53
        (_BITS, "else 53", "else 52"),
        (_VERDICT, "FORMATS[0]", "FORMATS[-1]"),  # there is one
    )
)
"""Changes of the checker that change nothing that it says: the line before and after."""


def living(every: int = 1) -> list[str]:
    """Return the changes of the checker, one in `every`, that no case notices."""
    with tempfile.TemporaryDirectory() as folder:
        return [str(one) for one in survivors(Path(check_followed.__file__), cases(Path(folder)), EXPLAINED, every)]


def main() -> None:
    """Print the table of 10,000 changes."""
    total: Counter[str] = Counter()
    for seed, name in enumerate(JUDGED):
        found = list(lies(name, seed, 10_005 // len(JUDGED)))
        counts = len(found), sum(taken for _, taken, _ in found), sum(lie for *_, lie in found)
        total.update(dict(zip(("changes", "accepted", "lies"), counts, strict=True)))
        print(f"{name:20} {counts[0]:6} changes, {counts[1]:4} accepted, {counts[2]} of them untrue")
        print(*(f"    untrue: {said}" for said, _, lie in found if lie), sep="\n", end="")
    print(dict(total))
    left = living()
    print(f"{len(left)} changes of the checker live", *left, sep="\n")


if __name__ == "__main__":
    main()
