# pyright: basic, reportArgumentType=false, reportAttributeAccessIssue=false, reportCallIssue=false
# pyright: reportOptionalMemberAccess=false, reportIndexIssue=false, reportOptionalSubscript=false
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
                explains. "lossy": the shown boxes alone give some texts more than the target does, by more than
                rounding explains on their paths.

The sums are exact. With --function, the named function is run in each box: with numbers in the middle of each interval
and close to both ends, with each winner, close and clear. It must draw these very numbers, in order, and return what is
stated. Without --function nothing is run, whatever the certificate names.

Rounding. On V tokens, with unit roundoff u, the j-th number of a path moves at most n u / (1 - n u) + 2u of the mass,
n = V + 4 + 2(j - 1); see Higham, chapter 3, for sums and quotients. A function of Fractions may compare them with
floats, so u is 2^-53 at least.
"""

import argparse
import gzip
import importlib
import json
import random
import re
import sys
from collections import Counter
from contextlib import ExitStack
from copy import deepcopy
from fractions import Fraction
from functools import cache, reduce
from hashlib import sha256
from importlib.util import find_spec
from itertools import chain, pairwise, product
from math import prod
from operator import getitem
from pathlib import Path
from unittest.mock import patch

FORMATS = ("spec_math followed paths certificate, version 1",)
ASSUMED = "no further threshold lies inside a box; there is no other source of random numbers; uniforms are ideal"
DIGITS = {"fractions": 53, "float64": 53, "float32": 24, "float16": 11, "bfloat16": 8}
"""The binary digits of the numbers that a function is given; Fractions may be compared with floats of 53."""
MAKERS = {"random": "Random", "numpy.random": "default_rng"}
"""What makes a generator that the function takes, by its module."""

number = cache(lambda text: Fraction(re.fullmatch("-?[0-9]+(/[1-9][0-9]*)?", text)[0]))


def demand(condition, reason):
    """Raise ValueError with the reason unless the condition holds."""
    if not condition:
        raise ValueError(reason)


def once(pairs):
    """Return pairs as a dict, in which nothing is listed twice."""
    demand(len(found := dict(pairs)) == len(pairs), "an entry is listed twice")
    return found


def cut(known, j, cuts):
    """Return each part of an interval: its share, and what is known there of the number."""
    kinds, low, high, *_ = known.get(j, ["u", Fraction(0), Fraction(1)])
    edges = [low, *map(number, cuts), high]
    demand(kinds == "u" and all(a < b for a, b in pairwise(edges)), f"cuts of number {j} do not rise in its interval")
    return [((b - a) / (high - low), {j: ["u", a, b]}) for a, b in pairwise(edges)]


def race(known, numbers, rates, groups):
    """Return each group that has the winner: its share, and what is known there of the numbers."""
    rates = list(map(number, rates))
    kinds = "e" if len(numbers) > 1 else "t" if len({*rates}) > 1 else "nt"
    fresh = [kinds, numbers, rates, [place for place, rate in enumerate(rates) if rate]]
    before = [known.get(j, fresh) for j in numbers]
    demand(before == [[kinds, numbers, rates, before[0][-1]]] * len(before), "a number takes part in two races")
    demand(len({*numbers}) == len(numbers) in (1, len(rates)) and min(rates) >= 0, "numbers do not fit the rates")
    demand(sorted(chain(*groups)) == before[0][-1], "winners are not listed once each")
    total = sum(rates[place] for place in before[0][-1])
    return [(sum(rates[i] for i in won) / total, {j: [kinds, numbers, rates, won] for j in numbers}) for won in groups]


def boxes(nodes, at, whole, mass, known):
    """Go through the boxes below a node: mass, what is known of each number, draws, and what is emitted."""
    kind, *about, last = nodes[at]
    if kind == "end":
        demand(all(about[0][j : j + 1] in [*kinds] for j, (kinds, *_) in known.items()), f"node {at}: other draws")
        yield mass, known, *about, last
        return
    for (share, now), child in zip({"cut": cut, "race": race}[kind](known, *about), last, strict=True):
        demand(not whole if child is None else 0 <= child < at, f"node {at}: a child is missing, or not before it")
        if child is not None:
            yield from boxes(nodes, child, whole, mass * share, {**known, **now})


def judged(case, nodes, whole, drafts, run):
    """Check a case; return what was shown, in words."""
    target, draft = ([list(map(number, row)) for row in case[name]] for name in ("target", "draft"))
    size, counts = len(target[0]), [case["k"], case["lookahead"], case["horizon"]]
    k, ahead, horizon = counts
    sized = (len(target), len(draft)) == (ahead + 1, ahead or 1) and {*map(type, counts)} == {int}
    right = all(len(row) == size and sum(row) == 1 and min(row) >= 0 for row in target + draft)
    demand(sized and right and min(k, horizon) >= 1, "k, lookahead, horizon, or rows are wrong")
    rows = (draft if ahead else draft * k) if drafts else []
    drawn = [*product(*([token for token, mass in enumerate(row) if mass] for row in rows))]
    roots = once([(tuple(tokens), root) for tokens, root in case["drafted"]])
    demand({*roots} == {*drawn} if whole else {*roots} <= {*drawn}, "drafts are left out, or are never drawn")
    law, coins = Counter({(): -1}), 0
    for tokens in filter(roots.__contains__, drawn):
        for mass, known, draws, emitted in boxes(nodes, roots[tokens], whole, prod(map(getitem, rows, tokens)), {}):
            coins = max(coins, len(tokens) + len(draws) + draws.count("t") * (size - 1))
            run(case["numbers"], (target, draft) if ahead else (target[0], draft[0]), tokens, (known, draws), emitted)
            sound = {*map(type, emitted)} == {int} and {*emitted} <= {*range(size)} and (ahead or len(emitted) == 1)
            law[tuple(emitted[:horizon]) if sound else "no text"] += mass
    off = law["no text"]
    for text in product(range(size), repeat=horizon):
        tails = [prod(target[at % len(target)][text[at]] for at in range(n, horizon)) for n in range(horizon + 1)]
        off += max(0, sum(law[text[:n]] * tail for n, tail in enumerate(tails)))
    u = Fraction(1, 2 ** DIGITS[case["numbers"].rpartition(".")[2]])
    most = sum(min(1, n * u / max(1 - n * u, n * u) + 2 * u) for n in range(size + 4, size + 4 + 2 * coins, 2))
    most = min(most, Fraction(1, 10**4 if u < Fraction(1, 2**11) else 100)) if whole else most
    demand((off <= most) == whole, f"it is off by {float(off):.3g}; rounding explains {float(most):.3g}")
    laws = [f"{name} {' | '.join(map(','.join, case[name]))}, " for name in ("target", "draft")]
    return f"{''.join(laws)}k {k}, lookahead {ahead}, horizon {horizon}, {case['numbers']}: off by {float(off):.3g}"


class Script:
    """The random numbers of one path, handed out in order; `turn` numbers the runs of the function on it."""

    def take(self, kind, weights=()):
        """Return a number inside of what is known of it: near the start, in the middle, or near the end."""
        j, at, weights = len(self.taken), self.turn % 3, list(map(Fraction, weights))
        self.taken += kind
        demand(self.draws[j : j + 1] == kind, f"it draws {kind} as number {j} of {self.draws}")
        if kind == "u":
            low, high = map(float, self.known.get(j, [kind, 0, 1])[1:])
            edge = min(2.0 ** -(self.bits * 3 // 4), (high - low) / 4)
            return (low + edge, (low + high) / 2, high - edge)[at]
        fresh = [kind, [j], weights or [1], [i for i, w in enumerate(weights or [1]) if w]]
        _, numbers, rates, group = self.known.get(j, fresh)
        if kind == "e":
            return float((1 if j == numbers[group[0]] else (1.001, 2, 9)[at]) * rates[numbers.index(j)]) or 1.0
        self.taken += "?" * ([w * sum(rates) for w in weights] != [rate * sum(weights) for rate in rates])
        self.turns = max(self.turns, len(group))
        return group[self.turn % len(group)]


def pythons(take):
    """Return what stands for the names of Python's random."""
    methods = {"random": lambda _: take("u"), "_randbelow": lambda _, n: take("n", [1] * n), "getrandbits": None}
    made = type("Random", (random.Random,), methods)
    return {name: getattr(made(), name, made) for name in random.__all__}


def numpys(take):
    """Return what stands for the names of np.random: one class for all generators."""
    import numpy as np

    def drawn(size, kind, weights=()):
        cells = [take(kind, weights) for _ in range(1 if size is None else int(np.prod(size)))]
        return np.array(cells).reshape(() if size is None else size)[()]

    def choice(self, a, size=None, *, p=None):
        among = np.arange(a) if np.ndim(a) == 0 else np.asarray(a)
        if p is None:
            return among[self.integers(len(among), None, size)]
        return among[np.searchsorted(np.cumsum(p) / np.sum(p), self.random(size), "right")]

    def integers(_, low, high=None, size=None):
        return (0 if high is None else low) + drawn(size, "n", [1] * (low if high is None else high - low))

    names = {"__init__": lambda *_: None, "choice": choice, "integers": integers, "randint": integers}
    names["random"] = lambda _, size=None, dtype=float: drawn(size, "u").astype(dtype)
    names["rand"] = lambda self, *size: self.random(size or None)
    names["uniform"] = lambda self, low=0.0, high=1.0, size=None: low + (high - low) * self.random(size)
    names["exponential"] = lambda _, scale=1, size=None: scale * drawn(size, "e")
    names["standard_exponential"] = lambda self, size=None: self.exponential(1, size)
    made = type("Generator", (), names | dict.fromkeys(("random_sample", "ranf", "sample"), names["random"]))
    return {name: getattr(made(), name, made) for name in np.random.__all__}


def torches(take):
    """Return what stands for torch's functions rand, rand_like and multinomial."""
    import torch

    def multinomial(weights, num_samples=1, **_):
        drawn = [take("t", row) for row in weights.reshape(-1, weights.shape[-1]).tolist()]
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


def replayed(document, function, least, stack):
    """Return what runs a function in a box, `least` times at least, on numbers from a script; and words on it."""
    script, there = Script(), {"torch": "torch" in sys.modules, "numpy.random": find_spec("numpy"), "random": True}
    names, call = dict.fromkeys([*document["libraries"], *filter(there.get, there)]), document["call"]
    same = sha256(Path(function.rpartition(":")[0]).read_bytes()).hexdigest() == document["function"]["sha256"]
    _ = [stack.enter_context(patch.multiple(name, **REPLACED[name](script.take))) for name in names]
    fn = loaded(function)

    def returned(numbers, laws, tokens):
        library, _, kind = numbers.rpartition(".")
        laws = deepcopy(laws)
        if library:
            module, plain = sys.modules[library], json.loads(json.dumps(laws, default=float))
            laws, tokens = [module.asarray(rows, dtype=getattr(module, kind)) for rows in plain], module.asarray(tokens)
        values = {"target": laws[0], "draft": laws[1], "tokens": tokens[0] if call["one"] else tokens}
        named = {name: values[role] for name, role in call["named"]}
        named |= {name: getattr(sys.modules[module], MAKERS[module])() for name, module in call["makes"]}
        try:
            found = json.dumps(fn(*[values[role] for role in call["placed"]], **named), default=lambda x: x.tolist())
        except (Exception, SystemExit) as error:
            return json.dumps(type(error).__name__)
        return found if found.startswith("[") else f"[{found}]"

    def run(numbers, laws, tokens, box, emitted):
        script.turn, script.turns, (script.known, script.draws) = 0, least, box
        script.bits = min(DIGITS[numbers.rpartition(".")[2]], 24 if "torch" in numbers else 53)
        while script.turn < script.turns:
            script.taken = ""
            found = returned(numbers, laws, tokens), script.taken
            demand(found == (json.dumps(emitted), script.draws), f"{tokens} in {box}: it returns {found}")
            script.turn += 1
        demand("torch" in names or "torch" not in sys.modules, "it loads torch, and the certificate does not say so")

    return run, f"{function} was run in each box; its file {'is' if same else 'is not'} the one that was judged"


def check(document, function=None, run=3):
    """Return the sentence on what was checked and what is assumed; raise ValueError where the certificate fails.

    The function FILE.py:NAME is run `run` times in each box at least; without it nothing is run.
    """
    try:
        name, call, verdict = function or document["function"]["name"], document["call"], document["verdict"]
        whole = {FORMATS[0]: {"lossless": True, "lossy": False}}[document["format"]][verdict]
        drafts = "tokens" in [*call["placed"], *(role for _, role in call["named"])]
        with ExitStack() as stack:
            idle = lambda *_: None, "It was not run: name it by --function FILE.py:NAME"
            each, ran = replayed(document, function, run, stack) if function else idle
            found = [judged(case, document["nodes"], whole, drafts, each) for case in document["cases"]]
        demand(found and document["assumed"] == ASSUMED, "it has no case, or assumes something else")
    except (Exception, SystemExit) as error:
        said = error if type(error) is ValueError else f"it cannot be read: {type(error).__name__}: {error}"
        raise ValueError(said) from error
    return f"{name}({', '.join(call['placed'])}) is {verdict}. {'. '.join(found)}. {ran}. Assumed: {ASSUMED}"


def main(argv):
    """Check a file: exit code 0 where the certificate holds, 1 where it does not, 2 where a file cannot be read."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("file", type=Path)
    parser.add_argument("--function", metavar="FILE.py:NAME")
    asked = parser.parse_args(argv)
    try:
        content = (gzip.decompress if asked.file.suffix == ".gz" else bytes)(asked.file.read_bytes())
        print(check(json.loads(content, object_pairs_hook=once), asked.function))
    except Exception as error:  # whatever a file may hold
        print(f"Rejected: {error}")
        return 1 if type(error.__cause__) is ValueError else 2
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
