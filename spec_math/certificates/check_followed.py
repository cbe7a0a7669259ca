# pyright: basic, reportArgumentType=false, reportAttributeAccessIssue=false, reportCallIssue=false
# pyright: reportOptionalMemberAccess=false, reportIndexIssue=false
"""Checker of a verdict on a sampler as it is, in one file: python check_followed.py FILE [--function FILE.py:NAME]

The sampler draws random numbers from Python's random, NumPy or torch. Each path is a box of these numbers: an interval
of each uniform number, the winner of each race. The certificate holds all boxes, with exact numbers such as "3/16".

    nodes       a list; a node refers to its children by their place in it, always an earlier one:
                  ["cut", j, cuts, children]: the interval of the path's number j, at first [0, 1), in parts
                  ["race", numbers, rates, groups, children]: the groups in which the winner of a race is. Exponentials
                  race at these rates; a single number is one draw by these weights
                  ["end", draws, emitted]: the tokens that are returned, or the name of an exception. The string `draws`
                  has one letter for each number: u uniform, n whole number, t token by weights, e exponential
                a child is null where it is not shown
    cases       a list; a case has the rows of target and draft, k drafts at one position or a lookahead, the horizon up
                to which the target continues texts, and `drafted`: a list of [drafts, place of a node]
    verdict     "lossless": in all cases the texts have the target's distribution, or are off by no more than rounding
                explains. "lossy": the shown boxes alone give `texts` more than the target does, and more than rounding
                explains on paths of `coins` numbers.

The sums are exact. Then the function is run in each box: with numbers in the middle of each interval and close to both
ends, with each winner, close and clear. It must draw these very numbers, in order, and return what is stated.

Rounding. On V tokens, with unit roundoff u, the j-th number of a path moves at most n u / (1 - n u) + 2u of the mass,
n = V + 4 + 2(j - 1); see Higham, chapter 3, for sums and quotients.
"""

import argparse
import gzip
import importlib
import json
import random
import sys
from contextlib import ExitStack
from fractions import Fraction
from functools import cache, reduce
from hashlib import sha256
from itertools import pairwise, product
from math import prod
from pathlib import Path
from unittest.mock import patch

FORMATS = ("spec_math followed paths certificate, version 1",)
ASSUMED = "no further threshold lies inside a box; there is no other source of random numbers; uniforms are ideal"
DIGITS = {"fractions": 53, "numpy.float64": 53, "numpy.float32": 24, "numpy.float16": 11}
DIGITS |= {"torch.float64": 53, "torch.float32": 24, "torch.float16": 11, "torch.bfloat16": 8}
"""The binary digits of the numbers that a function is given; Fractions may be compared with floats of 53."""

number = cache(Fraction)


def demand(condition, reason):
    """Raise ValueError with the reason unless the condition holds."""
    if not condition:
        raise ValueError(reason)


def cut(known, j, cuts):
    """Return each part of an interval: its share, and what is known there of the number."""
    kinds, (low, high, *_) = known.get(j, ("u", (Fraction(0), Fraction(1))))
    edges = [low, *map(number, cuts), high]
    demand(kinds == "u" and all(a < b for a, b in pairwise(edges)), f"cuts of number {j} do not rise in its interval")
    return [((b - a) / (high - low), {j: ("u", (a, b))}) for a, b in pairwise(edges)]


def race(known, numbers, rates, groups):
    """Return each group that has the winner: its share, and what is known there of the numbers."""
    rates = list(map(number, rates))
    kinds = "e" if len(numbers) > 1 else "t" if len({*rates}) > 1 else "nt"
    demand(len({*numbers}) == len(numbers) and len(numbers) in (1, len(rates)), "a race has other numbers than rates")
    before = known.get(numbers[0], (kinds, (numbers, rates, [place for place, rate in enumerate(rates) if rate])))
    *same, left = before[1]
    demand(all(known.get(j, before) == before for j in numbers), "a number takes part in two races")
    demand(same == [numbers, rates] and min(rates) >= 0, "a race goes on with other rates")
    demand(all(groups) and sorted(i for group in groups for i in group) == left, "winners are not listed once each")
    total = sum(rates[place] for place in left)
    parts = [(sum(rates[place] for place in group) / total, (kinds, (numbers, rates, group))) for group in groups]
    return [(share, dict.fromkeys(numbers, now)) for share, now in parts]


def boxes(nodes, at, whole, mass, known):
    """Go through the boxes below a node: mass, what is known of each number, draws, and what is emitted."""
    kind, *about, last = nodes[at]
    if kind == "end":
        fits = all(j in range(len(about[0])) and about[0][j] in now[0] for j, now in known.items())
        demand(fits, f"node {at}: the draws are of other kinds")
        yield mass, known, *about, last
        return
    for (share, now), child in zip({"cut": cut, "race": race}[kind](known, *about), last, strict=True):
        demand(not whole if child is None else 0 <= child < at, f"node {at}: a child is missing, or not before it")
        if child is not None:
            yield from boxes(nodes, child, whole, mass * share, {**known, **now})


def judged(case, nodes, whole, drafts, run):
    """Check a case; return how far it is off."""
    target, draft = ([list(map(number, row)) for row in case[name]] for name in ("target", "draft"))
    size, ahead, roots = len(target[0]), case["lookahead"], {tuple(drafts): root for drafts, root in case["drafted"]}
    right = all(len(row) == size and sum(row) == 1 and min(row) >= 0 for row in target + draft)
    demand(right and (len(target), len(draft)) == (ahead + 1, ahead or 1) and case["horizon"] >= 1, "rows are missing")
    rows = (draft if ahead else draft * case["k"]) if drafts else []
    drawn = {*product(*([token for token, mass in enumerate(row) if mass] for row in rows))}
    demand({*roots} == drawn if whole else {*roots} <= drawn, "drafts are left out, or are never drawn")
    law, coins = {(): Fraction(-1)}, 0 if whole else case["coins"]
    for tokens, root in roots.items():
        share = prod(row[token] for row, token in zip(rows, tokens, strict=True))
        for mass, known, draws, emitted in boxes(nodes, root, whole, share, {}):
            coins = max(coins, len(tokens) + len(draws) + draws.count("t") * (size - 1))
            run(case["numbers"], (target, draft) if ahead else (target[0], draft[0]), tokens, (known, draws), emitted)
            sound = {*map(type, emitted)} == {int} and {*emitted} <= {*range(size)} and (ahead or len(emitted) == 1)
            text = tuple(emitted[: case["horizon"]]) if sound else json.dumps(emitted)
            law[text] = law.get(text, 0) + mass
    more = {text: mass for text, mass in law.items() if type(text) is str}
    for text in product(range(size), repeat=case["horizon"]):
        tail, gap = Fraction(1), law.get(text, 0)
        for place in reversed(range(len(text))):
            tail *= target[place % len(target)][text[place]]
            gap += law.get(text[:place], 0) * tail
        more[json.dumps(text)] = gap
    bits = DIGITS[case["numbers"]]
    u = Fraction(not case["exact"], 2**bits)
    explained = sum(min(1, n * u / max(1 - n * u, n * u) + 2 * u) for n in range(size + 4, size + 4 + 2 * coins, 2))
    most = min(explained, Fraction(1, 10 ** (4 if bits > 11 else 2))) if whole else explained
    off = sum(map(abs, more.values())) / 2 if whole else sum(more[text] for text in {*case["texts"]})
    demand(off <= most if whole else off > most, f"it is off by {float(off):.3g}; rounding explains {float(most):.3g}")
    return off


class Script:
    """The random numbers of one path, handed out in order; `turn` numbers the runs of the function on it."""

    def write(self, known, draws, bits):
        """Choose a number inside of what is known of each: near the start, in the middle, or near the end."""
        self.left, at = [], self.turn % 3
        for j, kind in enumerate(draws):
            _, value = known.get(j, (kind, {"u": (Fraction(0), Fraction(1)), "e": ([None, j], [1, 1], [0])}.get(kind)))
            if kind == "u":
                low, high = map(float, value)
                edge = min(2.0 ** -(bits * 3 // 4), (high - low) / 4)
                value = (low + edge, (low + high) / 2, high - edge)[at]
            elif kind == "e":
                numbers, rates, (winner,) = value
                value = float((j == numbers[winner] or (1.001, 2, 9)[at]) * rates[numbers.index(j)] / max(rates)) or 1.0
            self.left.append((kind, value))

    def take(self, kind, weights=()):
        """Return the next number, which must be of a kind, and drawn by weights."""
        wanted, value = self.left.pop(0) if self.left else ("no number", None)
        weights = list(map(Fraction, weights))
        _, rates, group = value if wanted in "nt" and value else (0, weights, [i for i, w in enumerate(weights) if w])
        if kind != wanted or [w * sum(rates) for w in weights] != [rate * sum(weights) for rate in rates]:
            self.left.append("another draw")
            raise ValueError(f"it draws {kind} {', '.join(map(str, weights))} where the path has {wanted}")
        self.turns = max(self.turns, len(group))
        return group[self.turn % len(group)] if weights else value


def pythons(take):
    """Return what stands for the names of Python's random."""
    methods = {"random": lambda _: take("u"), "_randbelow": lambda _, n: take("n", [1] * n), "getrandbits": None}
    made = type("Random", (random.Random,), methods)
    return {name: getattr(made(), name, made) for name in random.__all__}


def numpys(take):
    """Return what stands for the names of np.random: one class for all generators."""
    np = importlib.import_module("numpy")

    def shaped(size, kind, dtype=float, weights=()):
        cells = [take(kind, weights) for _ in range(1 if size is None else int(np.prod(size)))]
        return np.array(cells, dtype=dtype).reshape(() if size is None else size)[()]

    def choice(self, a, size=None, replace=True, p=None):
        demand(replace or size is None, "it chooses without replacement")
        among = np.arange(a) if np.ndim(a) == 0 else np.asarray(a)
        if p is None:
            return among[self.integers(len(among), None, size)]
        return among[np.searchsorted(np.cumsum(p) / np.sum(p), self.random(size), "right")]

    def integers(_, low, high=None, size=None, dtype=int, endpoint=False):
        low, high = (0, low) if high is None else (low, high)
        return low + shaped(size, "n", dtype, [1] * (high - low + endpoint))

    names = {"__init__": lambda *_: None, "choice": choice, "integers": integers, "randint": integers}
    names["random"] = lambda _, size=None, dtype=float: shaped(size, "u", dtype)
    names["rand"] = lambda self, *size: self.random(size or None)
    names["uniform"] = lambda self, low=0.0, high=1.0, size=None: low + (high - low) * self.random(size)
    names["exponential"] = lambda _, scale=1, size=None: scale * shaped(size, "e")
    names["standard_exponential"] = lambda self, size=None: self.exponential(1, size)
    made = type("Generator", (), names | dict.fromkeys(("random_sample", "ranf", "sample"), names["random"]))
    return {name: getattr(made(), name, made) for name in np.random.__all__}


def torches(take):
    """Return what stands for torch's functions rand, rand_like and multinomial."""
    torch = importlib.import_module("torch")

    def multinomial(weights, num_samples, replacement=False, **_):
        demand(replacement or num_samples == 1, "it draws without replacement")
        drawn = [take("t", row) for row in weights.reshape(-1, weights.shape[-1]).tolist() for _ in range(num_samples)]
        return torch.tensor(drawn).reshape(*weights.shape[:-1], num_samples)

    names = dict.fromkeys(("randn", "randint", "randperm", "bernoulli", "normal"))
    names["rand"] = lambda *size, generator=None, **how: torch.empty(*size, **how).apply_(lambda _: take("u"))  # noqa: ARG005
    names["rand_like"] = lambda like, **how: torch.empty_like(like, **how).apply_(lambda _: take("u"))
    return names | {"multinomial": multinomial}


REPLACED = {"random": pythons, "numpy.random": numpys, "torch": torches}
"""What makes stand-ins for the draws of a module."""


def loaded(place):
    """Return the function FILE.py:NAME, its file imported anew inside its package."""
    file, _, name = place.rpartition(":")
    parts, folder = [Path(file).stem], Path(file).resolve().parent
    while (folder / "__init__.py").is_file():
        parts, folder = [folder.name, *parts], folder.parent
    sys.modules.pop(".".join(parts), None)
    with patch.multiple(sys, path=[str(folder), *sys.path], pycache_prefix="/none", dont_write_bytecode=True):
        return reduce(getattr, name.split("."), importlib.import_module(".".join(parts)))


def returned(call, fn, numbers, laws, tokens):
    """Return the tokens that the function emits, or the name of the exception that it raises."""
    library, _, kind = numbers.partition(".")
    target, draft = ([row[:] if type(row) is list else row for row in law] for law in laws)
    if kind:
        array = getattr(sys.modules[library], {"numpy": "array", "torch": "tensor"}[library])
        kind, plain = getattr(sys.modules[library], kind), json.loads(json.dumps(laws, default=float))
        target, draft, tokens = array(plain[0], dtype=kind), array(plain[1], dtype=kind), array(tokens)
    values = {"target": target, "draft": draft, "tokens": tokens[0] if call["one"] else tokens}
    named = {name: values[role] for name, role in call["named"]}
    named |= {name: getattr(sys.modules[module], maker)() for name, module, maker in call["makes"]}
    try:
        found = fn(*[values[role] for role in call["placed"]], **named)
    except (Exception, SystemExit) as error:
        return type(error).__name__
    found = json.loads(json.dumps(found, default=lambda one: one.tolist()))
    return found if isinstance(found, list) else [found]


def check(document, function=None, run=3):
    """Return the sentence on what was checked and what is assumed; raise ValueError where the certificate fails.

    With `function`, FILE.py:NAME, another function is run than the one named, `run` times in each box at least.
    """
    try:
        about, call, verdict = (document[name] for name in ("function", "call", "verdict"))
        demand(document["format"] in FORMATS and document["assumed"] == ASSUMED, "the format is another")
        whole = {"lossless": True, "lossy": False}[verdict]
        place, script, runs = function or f"{about['file']}:{about['name']}", Script(), []

        def each(numbers, laws, tokens, box, emitted):
            script.turn, script.turns = 0, run
            while script.turn < script.turns:
                script.write(*box, min(DIGITS[numbers], 24 if "torch" in numbers else 53))
                found = returned(call, fn, numbers, laws, tokens)
                demand(found == emitted and not script.left, f"{tokens} in {box}: it returns {found}, not {emitted}")
                script.turn += 1
            runs.append(script.turn)

        with ExitStack() as stack:
            for name in ["random", *document["libraries"]] if run else []:
                stack.enter_context(patch.multiple(name, **REPLACED[name](script.take)))
            same = function or not run or sha256(Path(about["file"]).read_bytes()).hexdigest() == about["sha256"]
            demand(same, f"{about['file']} is another file than the one that was judged; name it by --function")
            fn, drafts = run and loaded(place), "tokens" in call["placed"] + [role for _, role in call["named"]]
            found = [judged(case, document["nodes"], whole, drafts, each) for case in document["cases"]]
        said = f"{place} is {verdict}: {len(found)} cases, {len(runs)} boxes, {sum(runs)} runs; off {float(max(found))}"
        return f"{said}. Assumed: {ASSUMED}"
    except (ArithmeticError, AttributeError, ImportError, LookupError, OSError, RecursionError, TypeError) as error:
        raise ValueError(f"it cannot be read: {type(error).__name__}: {error}") from error


def main(argv):
    """Check a file: exit code 0 where the certificate holds, 1 where it does not, 2 where it is none."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("file", type=Path)
    parser.add_argument("--function", metavar="FILE.py:NAME")
    asked, code = parser.parse_args(argv), 2
    try:
        document = json.loads((gzip.decompress if asked.file.suffix == ".gz" else bytes)(asked.file.read_bytes()))
        code = 1 if document["format"] in FORMATS else 2
        print(check(document, asked.function))
    except (OSError, EOFError, ValueError, LookupError, TypeError) as error:
        print(f"Rejected: {error}" if code == 1 else f"{asked.file} is no certificate: {error}")
        return code
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
