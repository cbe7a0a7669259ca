"""Checker of a verdict on an unmodified sampler: boxes of its random numbers are added up exactly, then run.

Run it as `python check_followed.py FILE [--function FILE.py:NAME] [--sums]`. It reads one JSON file, zipped where the
name ends in `.gz`, and imports the standard library, the judged function, and the libraries that this function needs.

The certificate lists nodes; a child stands before its parent. `["cut", j, cuts, children]` divides the interval of the
path's number j at the cuts; a number starts in [0, 1). `["race", numbers, rates, groups, children]` divides by the
winner: of exponentials that race at these rates, or of one draw by these weights. `["end", draws, emitted]` ends a path;
`draws` has one letter a number: u uniform, n whole number, t token by weights, e exponential, g Gumbel, and U or V for a
uniform u that is raced as −log u or −log(1 − u). A case lists a node for each row of drafts. Fractions are strings.

A box is held by the sums, and by runs of the function with numbers in its middle and near both of its ends.
"""

from __future__ import annotations

import gzip
import hashlib
import importlib
import json
import random
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from fractions import Fraction
from itertools import pairwise, product
from math import exp, log, prod
from pathlib import Path
from typing import Any

FORMATS = ("spec_math followed paths certificate, version 1",)
ASSUMED = [
    "inside each box the function meets no further threshold",
    "it draws from no source of randomness but those that were replaced",
    "uniform numbers are ideal",
]
MOST = 100_000
"""The most paths of a certificate."""
DIGITS = {"Fraction": 53, "float": 53, "numpy.object": 53, "numpy.float64": 53, "numpy.float32": 24}
DIGITS |= {"numpy.float16": 11, "torch.float64": 53, "torch.float32": 24, "torch.float16": 11, "torch.bfloat16": 8}
"""The binary digits that the function computes with, by the numbers that it is given."""
FORMS = {"u": "u", "even": "nt", "token": "t", "race": "egUV"}
"""The draws that a box of each form may speak of."""


def need(holds: bool, reason: str) -> None:
    """Raise ValueError with the reason where a condition does not hold."""
    if not holds:
        raise ValueError(reason)


def masses(row: list[str]) -> list[Fraction]:
    """Return numbers that are written as strings and not negative."""
    need(all(type(one) is str for one in row), "a number is not written as a string")
    found = [Fraction(one) for one in row]
    need(min(found) >= 0, "a mass or a rate is negative")
    return found


def cut(known: dict[int, Any], j: int, cuts: list[str]) -> list[Any]:
    """Return the share of each part of number j's interval, and what is known there."""
    low, high = known.get(j, (Fraction(0), Fraction(1)))
    edges = [low, *masses(cuts), high]
    need(all(a < b for a, b in pairwise(edges)), f"the cuts of number {j} do not rise within its interval")
    return [((b - a) / (high - low), {j: (a, b)}) for a, b in pairwise(edges)]


def race(known: dict[int, Any], numbers: list[int], rates: list[str], groups: list[list[int]]) -> list[Any]:
    """Return the same for the groups that the winner of a race may be in."""
    speeds, before = masses(rates), known.get(numbers[0])
    all_, left = (numbers, speeds), [place for place, speed in enumerate(speeds) if speed]
    need(all(known.get(j) == before for j in numbers), "a number of a race is known from elsewhere")
    need(before is None or before[:2] == all_, "a number races twice")
    need(len(set(numbers)) == len(numbers) and len(numbers) in (1, len(speeds)), "a race has other numbers than rates")
    left = left if before is None else before[2]
    need(sorted(sum(groups, [])) == sorted(left) and all(groups), "the winners of a race are not all listed once")
    total = sum(speeds[place] for place in left)
    return [(sum(speeds[i] for i in group) / total, dict.fromkeys(numbers, (*all_, group))) for group in groups]


def paths(nodes: list[Any], root: int, whole: bool) -> Iterator[Any]:
    """Go through the ends below a node: the mass of each, what is known of its numbers, its draws, its outcome."""
    stack: list[Any] = [(root, Fraction(1), {})]
    while stack:
        at, mass, known = stack.pop()
        kind, *about, last = nodes[at]
        if kind == "end":
            draws, forms = about[0], {j: form_of(*now) for j, now in known.items()}
            need(all(draws[j] in FORMS[form] for j, form in forms.items()), f"node {at} has draws of another kind")
            yield mass, known, draws, last
            continue
        parts = {"cut": cut, "race": race}[kind](known, *about)
        need(len(parts) == len(last), f"node {at} has {len(parts)} parts and {len(last)} children")
        need(not whole or None not in last, f"node {at} leaves a part out")
        for (share, now), child in zip(parts, last, strict=True):
            if child is not None:
                need(0 <= child < at, f"node {at} stands before its child")
                stack.append((child, mass * share, {**known, **now}))


def form_of(numbers: Any, rates: Any, group: Any = None) -> str:
    """Return what is known of a number: an interval, or the winners of a race."""
    return "u" if group is None else "race" if len(numbers) > 1 else "token" if len(set(rates)) > 1 else "even"


def continued(law: dict[Any, Any], target: list[list[Fraction]], horizon: int) -> dict[Any, Any]:
    """Let the target continue texts up to a horizon; what is no text stays."""
    done: dict[Any, Any] = {}
    for text, mass in law.items():
        size = horizon - len(text) if isinstance(text, tuple) else 0
        for more in product(range(len(target[0])), repeat=size):
            rows = [target[(len(text) + place) % len(target)] for place in range(size)]
            longer = text + more if more else text
            done[longer] = done.get(longer, 0) + mass * prod(row[token] for row, token in zip(rows, more, strict=True))
    return done


def rounding(coins: int, size: int, unit: Fraction) -> Fraction:
    """Return the total variation that rounding explains: Higham's n·u/(1 − n·u), and the gaps of two laws, a coin."""
    lost = [(size + 4 + 2 * place) * unit for place in range(coins)]
    return sum((min(Fraction(1), one / max(1 - one, one) + 2 * unit) for one in lost), Fraction(0))


def judge(case: dict[str, Any], whole: bool, nodes: list[Any], drafts: bool, run: Callable[..., None]) -> int:
    """Check one case, and return how many paths it has."""
    target, draft = ([masses(row) for row in case[name]] for name in ("target", "draft"))
    size, ahead = len(target[0]), case["lookahead"]
    need(all(len(row) == size and sum(row) == 1 for row in (*target, *draft)), "a distribution does not sum to 1")
    need((len(target), len(draft)) == ((ahead + 1, ahead) if ahead else (1, 1)), "there are other rows than drafts")
    drawn_from = (draft if ahead else draft * case["k"]) if drafts else []
    rows = set(product(*([token for token, mass in enumerate(row) if mass] for row in drawn_from)))
    listed = [tuple(tokens) for tokens, _ in case["drafted"]]
    need(set(listed) <= rows and len(set(listed)) == len(listed), "a row of drafts is listed twice, or never drawn")
    need(not whole or len(listed) == len(rows), "a row of drafts is left out")
    law: dict[Any, Any] = {}
    coins = walked = 0
    for tokens, root in case["drafted"]:
        share = prod(row[token] for row, token in zip(drawn_from, tokens, strict=True))
        for mass, known, draws, emitted in paths(nodes, root, whole):
            walked, coins = walked + 1, max(coins, len(tokens) + len(draws) + draws.count("t") * (size - 1))
            need(walked <= MOST, f"there are more than {MOST} paths")
            run(case, (target, draft), tokens, known, draws, emitted)
            sound = type(emitted) is list and (len(emitted) > 0 if ahead else len(emitted) == 1)
            sound = sound and all(type(token) is int and 0 <= token < size for token in emitted)
            text = tuple(emitted[: case["horizon"]]) if sound else json.dumps(emitted)
            law[text] = law.get(text, 0) + share * mass
    emits, wants = (continued(one, target, case["horizon"]) for one in (law, {(): Fraction(1)}))
    digits, (bound,) = DIGITS[case["numbers"]], masses([case["bound"]])
    explained = Fraction(0) if case["exact"] else rounding(case["coins"], size, Fraction(1, 2**digits))
    need(case["coins"] >= coins, "a path has more random numbers than are stated")
    if whole:
        distance = sum(abs(emits.get(text, 0) - wants.get(text, 0)) for text in {**emits, **wants}) / 2
        need(case["coins"] == coins, "no path has as many random numbers as are stated")
        need(bound <= min(explained, Fraction(1, 10**4 if digits > 11 else 10**2)), "rounding explains less than stated")
        need(distance <= bound, f"the distribution is off by {float(distance):.3g} in total variation")
    else:
        texts = {tuple(text) if type(text) is list and tuple(text) in wants else json.dumps(text) for text in case["texts"]}
        more = sum(emits.get(text, 0) - wants.get(text, 0) for text in texts)
        need(more > bound == explained, f"the texts have only {float(more):.3g} more than in the target")
    return walked


class Script:
    """The random numbers of one path, handed out in order; `wrong` says what did not fit."""

    def __init__(self) -> None:
        self.left: list[Any] = []
        self.turn, self.turns, self.wrong = 0, 3, ""

    def take(self, kind: str, weights: Any = ()) -> Any:
        """Return the next number, which must be of this kind and drawn by these weights."""
        wanted, value, rates = self.left.pop(0) if self.left else ("no more", None, None)
        weights = list(map(Fraction, weights))
        same = not rates or [one * sum(rates) for one in weights] == [one * sum(weights) for one in rates]
        if kind != wanted or not same:
            self.wrong = f"it draws {kind} {'by other weights' if kind == wanted else ''} where the path has {wanted}"
            raise ValueError(self.wrong)
        places = [place for place, weight in enumerate(weights) if weight] if value is None else value
        if kind not in "nt":
            return value
        self.turns = max(self.turns, len(places))
        return places[self.turn % len(places)]

    def write(self, known: dict[int, Any], draws: str, digits: int) -> bool:
        """Choose a number inside of each box; say whether floats can tell it from the ends."""
        self.left, self.wrong, margin, at = [], "", Fraction(1, 2 ** (digits * 3 // 4)), self.turn % 3
        for j, kind in enumerate(draws):
            if kind in "nt":
                self.left.append((kind, *(known[j][:0:-1] if j in known else (None, None))))
            elif kind == "u":
                low, high = known.get(j, (Fraction(0), Fraction(1)))
                if high - low < 4 * margin:
                    return False
                self.left.append((kind, float((low + margin, (low + high) / 2, high - margin)[at]), None))
            else:
                numbers, rates, group = known.get(j, ((j,), (1,), (0,)))
                place, winner = numbers.index(j), group[self.turn % len(group)]
                late = 1 if place == winner else (1 + Fraction(1, 2 ** min(10, digits // 2)), 2, 9)[at]
                ring = float(late * rates[place] / max(rates)) or 1.0
                value = {"e": ring, "g": -log(ring), "U": exp(-ring), "V": 1 - exp(-ring)}[kind]
                self.left.append(("u" if kind in "UV" else kind, value, None))
        return True


def pythons(take: Callable[..., Any]) -> tuple[Any, dict[str, Any]]:
    """Return what stands for the names of Python's random."""
    methods = {"__init__": lambda *_: None, "seed": lambda *_: None, "random": lambda _: take("u")}
    methods["_randbelow"] = lambda _, n: take("n", [1] * n)
    methods["expovariate"] = lambda _, lambd=1: take("e") / lambd
    made = type("Random", (random.Random,), methods)
    return random, {name: getattr(made(), name) for name in random.__all__ if name in dir(made)} | {"Random": made}


def numpys(take: Callable[..., Any]) -> tuple[Any, dict[str, Any]]:
    """Return what stands for the names of np.random: one class for the old and the new generators."""
    np: Any = sys.modules["numpy"]

    def shaped(one: Callable[[], Any], size: Any, dtype: Any = float) -> Any:
        cells = [one() for _ in range(1 if size is None else int(np.prod(size)))]
        return np.array(cells, dtype=dtype).reshape(() if size is None else size)[()]

    def choice(_: Any, a: Any, size: Any = None, replace: bool = True, p: Any = None, **__: Any) -> Any:
        among = np.arange(a) if np.ndim(a) == 0 else np.asarray(a)
        sums = None if p is None else np.cumsum(p) / np.sum(p)
        falls = lambda: take("n", [1] * len(among)) if p is None else np.searchsorted(sums, take("u"), "right")
        return among[shaped(falls, size, int)]

    def integers(_: Any, low: Any, high: Any = None, size: Any = None, dtype: Any = int, endpoint: bool = False) -> Any:
        low, high = (0, low) if high is None else (low, high)
        return shaped(lambda: low + take("n", [1] * (high - low + endpoint)), size, dtype)

    def multinomial(_: Any, n: int, pvals: Any, size: None = None) -> Any:
        rest = list(map(Fraction, np.asarray(pvals)[:-1].tolist()))
        drawn = [take("t", [*rest, max(Fraction(0), 1 - sum(rest))]) for _ in range(n)]
        return np.bincount(drawn, minlength=len(rest) + 1)

    uniform = lambda _, size=None, dtype=float: shaped(lambda: take("u"), size, dtype)
    ring = lambda _, size=None, dtype=float: shaped(lambda: take("e"), size, dtype)
    methods = {"__init__": lambda *_: None, "choice": choice, "integers": integers, "randint": integers}
    methods |= {"multinomial": multinomial, "standard_exponential": ring, "rand": lambda _, *size: uniform(_, size or None)}
    methods |= dict.fromkeys(("random", "random_sample", "ranf", "sample"), uniform)
    methods["uniform"] = lambda _, low=0.0, high=1.0, size=None: low + (high - low) * uniform(_, size)
    methods["exponential"] = lambda _, scale=1, size=None: scale * ring(_, size)
    methods["gumbel"] = lambda _, loc=0, scale=1, size=None: loc + scale * shaped(lambda: take("g"), size)
    made = type("Generator", (), methods)
    functions = {name: getattr(made(), name) for name in methods if name in dir(np.random)}
    return np.random, functions | {"Generator": made, "RandomState": made, "default_rng": made}


def torches(take: Callable[..., Any]) -> tuple[Any, dict[str, Any]]:
    """Return what stands for torch's draws, as functions and as methods of tensors."""
    torch: Any = sys.modules["torch"]

    def filled(kind: str, like: Any) -> Any:
        return torch.tensor([take(kind) for _ in range(like.numel())], dtype=like.dtype).reshape(like.shape)

    def multinomial(weights: Any, num_samples: int, replacement: bool = False, **_: Any) -> Any:
        rows = weights.reshape(-1, weights.shape[-1]).tolist()
        drawn = [take("t", row) for row in rows for _ in range(num_samples)]
        return torch.tensor(drawn).reshape(*weights.shape[:-1], num_samples)

    def bernoulli(chances: Any, **_: Any) -> Any:
        flat = map(Fraction, chances.flatten().tolist())
        return torch.tensor([take("t", [1 - one, one]) for one in flat]).to(chances.dtype).reshape(chances.shape)

    functions = {"rand": lambda *size, generator=None, **how: filled("u", torch.empty(*size, **how))}
    functions |= {"rand_like": lambda x, **how: filled("u", torch.empty_like(x, **how)), "bernoulli": bernoulli}
    methods = {"uniform_": lambda x, **_: x.copy_(filled("u", x)), "multinomial": multinomial, "bernoulli": bernoulli}
    methods["exponential_"] = lambda x, lambd=1, **_: x.copy_(filled("e", x) / lambd)
    for name, method in methods.items():
        setattr(torch.Tensor, name, method)
    return torch, functions | {"multinomial": multinomial}


@contextmanager
def replaced(libraries: list[str], take: Callable[..., Any]) -> Iterator[None]:
    """Let the draws of Python's random, and of libraries, be answered by `take` while the block lasts."""
    for name in libraries:
        importlib.import_module(name)
    changes = [pythons(take), *({"numpy": numpys, "torch": torches}[name](take) for name in libraries)]
    before = [(owner, name, getattr(owner, name)) for owner, names in changes for name in names]
    try:
        for owner, names in changes:
            vars(owner).update(names)
        yield
    finally:
        for owner, name, value in before:
            setattr(owner, name, value)


def loaded(place: str) -> Any:
    """Return the function FILE.py:NAME, its file imported anew inside its package."""
    file, _, name = place.rpartition(":")
    path = Path(file).resolve()
    parts, folder = [path.stem], path.parent
    while (folder / "__init__.py").is_file():
        parts, folder = [folder.name, *parts], folder.parent
    sys.path.insert(0, str(folder))
    before = sys.modules.pop(".".join(parts), None)
    try:
        found: Any = importlib.import_module(".".join(parts))
    finally:
        sys.path.remove(str(folder))
    for part in name.split("."):
        found = getattr(found, part)
    return found
