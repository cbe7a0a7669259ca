# pyright: basic, reportArgumentType=false, reportCallIssue=false, reportOptionalMemberAccess=false
"""Checker of certificates with paths, in one file: python check_paths.py FILE [--function FILE:NAME]

A *program* draws random numbers from a coin alone: `coin.flip(p)` is True with probability p, and `coin.draw(masses)`
is token i with probability masses[i] / Σ masses. Its paths form a tree. The certificate holds this tree with exact
numbers, written as "3/16", and the target's distribution of the next token after each text that is needed. A float is
written as the exact fraction that it is.

    nodes       a list; a node refers to its children by their places in it, which are always earlier:
                  ["flip", p, yes, no]   ["draw", masses, [child, …]]   ["emit", tokens]
                  ["drafts", tokens, child]: the tokens that the verifier is given; they were drawn above this node
                  ["fault", words]: the program raises an error, or returns what is no token
                a child is null where it has no mass, or is not shown
    trees       a list of [text, place]: the root of the tree after each text at which a block begins
    target      a list of [text, masses]: the target's distribution after a text; `draft` likewise
    shape       "position": one token and independent drafts from draft[""]; "chain": several tokens and one draft from
                each row of `draft`; "blocks": the program draws its drafts itself, and `draft` is only handed to it
    drafts      the number of drafts that are drawn first, from these rows; null: the program's own coins draw them
    horizon     the number of tokens that are judged together; the target continues a text that is shorter
    rounds      the number of blocks in a row; `end` is the token that ends a text, or null
    verdict     ["lossless", null, null]: the texts have the target's distribution.
                ["lossy", texts, "more" or "less"]: the texts have a larger or smaller probability than the target gives
                them, and the paths that are shown prove it alone. No path has more than `coins` coins.
                ["lossy", null, "more"]: a path that is shown ends in a fault
    call        the arguments of the function, as [name or null, what]; `prefix`, `given`: their first text and types
    of          the name of the program; `claims` lists all of this once for each verdict

Rounding. Where `numbers` is a type of floats with unit roundoff u, a right program on V tokens may differ from the
target. The masses at the j-th coin of a path are quotients of sums of at most V stored numbers: V − 1 roundings in the
sum, one in 1 minus the sum, 4 in a ratio, a product, a difference and a quotient, and 2 for each earlier coin. So
n = V + 4 + 2(j − 1) roundings change them by a relative n u / (1 − n u) at most (Higham 2002, chapter 3). Masses whose
sum is off from 1 by a gap add this gap at each coin that follows. The gap of the target's rows is counted twice, for
target and draft, and 2u is added for the storage of both. Later coins pass on what one coin moves. So a block of J
coins moves at most J times the bound of its last coin. A lossless verdict forgives no more than that, and no more than
the last number of TYPES. Endless paths of mass 1/10^6 in all may be left out; the sentence adds their mass.
"""

import argparse
import gzip
import importlib.util
import json
import re
import runpy
import sys
from collections import defaultdict
from fractions import Fraction
from functools import cache
from pathlib import Path

FORMATS = ("spec_math paths certificate, version 1", "spec_math optimal transport certificate, version 1")

TYPES = {"fractions": (0, 0, 0), "float64": (2**53, 2**36, 10**4), "float32": (2**24, 2**16, 10**4)}
TYPES |= {"float16": (2**11, 2**7, 10**2), "bfloat16": (2**8, 2**7, 10**2)}
"""Of each type (a, b, c): unit roundoff 1/a, masses sum to 1 within 1/b, a verdict forgives 1/c in total variation."""


class FaultError(ValueError):
    """The program does on a path what no verifier may do."""


def demand(condition, reason, error=ValueError):
    """Raise an error with the reason unless the condition holds."""
    if not condition:
        raise error(reason)


@cache
def number(text):
    """Return the fraction that a text such as "3/16" stands for."""
    return Fraction(text if re.fullmatch(r"-?[0-9]+(/[1-9][0-9]*)?", text) else -1)  # nan and inf are no mass


def table(pairs, key=tuple):
    """Return pairs as a dict, in which nothing is listed twice."""
    found = {key(name): value for name, value in pairs}
    demand(len(found) == len(pairs), "an entry is listed twice")
    return found


def explained(unit, size, coins, base, gap):
    """Return the total variation that rounding explains in a block of so many coins, for `size` tokens."""
    lost = (size + 2 + 2 * coins) * unit
    return coins * ((lost / (1 - lost) if lost < 1 else 1) + base + coins * gap) if unit else 0


class Claim:
    """The trees, the target and the sums of a certificate with paths."""

    def __init__(self, document):
        self.document, self.nodes, self.shape = document, document["nodes"], document["shape"]
        self.unit, self.off, self.most = (Fraction(1, n) if n else 0 for n in TYPES[document["numbers"]])
        self.trees, self.rows, self.draft = (table(document[name]) for name in ("trees", "target", "draft"))
        self.size, self.after, self.used = len(self.rows[()]), defaultdict(list), {None, *self.trees.values()}
        self.end, self.drafts, self.gap, self.laws = document["end"], document["drafts"], 0, []
        self.horizon, self.rounds = document["horizon"], document["rounds"]
        demand(self.horizon >= 1 and self.rounds >= 1, "nothing is judged")
        by_place = self.end is None and all(row == self.rows.get((0,) * len(text)) for text, row in self.rows.items())
        demand(self.shape == "blocks" or (by_place and self.shape in ("position", "chain")), "the shape is another")
        demand(self.unit or {*document["given"].values()} == {"fractions"}, "floats are given, as if they were exact")
        self.target = {text: {(x,): p for x, p in enumerate(self.chances(row)) if p} for text, row in self.rows.items()}
        sizes = {len(row) for row in (*self.rows.values(), *map(self.chances, self.draft.values()))}
        demand(sizes == {self.size}, "the rows differ in size")
        self.base, self.gap = 2 * (self.gap + self.unit), 0
        for place in range(len(self.nodes)):
            try:
                self.laws.append(self.outcomes(place))
            except FaultError as error:
                self.laws.append(({str(error): Fraction(1)}, 1))
        demand(self.used == {None, *range(len(self.nodes))}, "a node belongs to no tree")

    def chances(self, masses):
        """Return the masses of a distribution, divided by their sum; note how far that is from 1."""
        read = [number(mass) for mass in masses]
        total = sum(read)
        right = type(masses) is list and read and min(read) >= 0 and abs(total - 1) <= self.off
        demand(right, f"the masses {', '.join(masses)} are no probability distribution", FaultError)
        self.gap = max(self.gap, abs(total - 1))
        return [mass / total for mass in read]

    def outcomes(self, place):
        """Return {emitted tokens: mass} of a node, with None for paths not shown, words for faults; and its coins."""
        (kind, asked, *children), law, coins = self.nodes[place], {}, 0
        demand(kind in ("flip", "draw", "emit", "drafts", "fault"), f"a node is of the unknown kind {kind}")
        demand(kind != "fault", f"the program fails: {asked}", FaultError)
        if kind == "emit":
            right = asked and all(type(token) is int and 0 <= token < self.size for token in asked)
            right = right and (self.shape != "position" or len(asked) == 1)
            demand(right and self.end not in asked[:-1], f"the program emits {asked}", FaultError)
            return {tuple(asked): Fraction(1)}, 0
        masses = [asked, str(1 - number(asked))] if kind == "flip" else ["1"] if kind == "drafts" else asked
        answers = {"flip": (True, False), "drafts": (None,)}.get(kind, range(len(masses)))
        options = zip(answers, self.chances(masses), children[0] if kind == "draw" else children, strict=True)
        self.after[place] = [option for option in options if option[1]]
        for _, chance, child in self.after[place]:
            self.used.add(child)  # a later node has no sums yet, and one below 0 is not used
            below, more = ({None: 1}, 0) if child is None else self.laws[child]
            coins = max(coins, more + (kind != "drafts"))
            for outcome, mass in below.items():
                law[outcome] = law.get(outcome, 0) + chance * mass
        return law, coins

    def extended(self, masses, after):
        """Let texts {text: mass} that are not over go on by after[text], {tokens: mass}; None is what is not known."""
        found = {}
        for text, mass in masses.items():
            over = not isinstance(text, tuple) or len(text) >= self.horizon or text[-1:] == (self.end,)
            for tokens, share in ({text: 1} if over else after.get(text, {None: 1})).items():
                longer = tokens if over or not isinstance(tokens, tuple) else (text + tokens)[: self.horizon]
                found[longer] = found.get(longer, 0) + mass * share
        return found

    def drafted(self, place, tokens):
        """Demand that the first coins draw the drafts from their rows, and that the verifier is given these tokens."""
        last = len(tokens) == self.drafts
        row = self.draft.get((0,) * len(tokens) if self.shape == "chain" else ())
        demand(self.nodes[place][:2] == (["drafts", tokens] if last else ["draw", row]), f"other drafts: {tokens}")
        for token, _, child in () if last else self.after[place]:
            if child is not None:
                self.drafted(child, [*tokens, token])

    def judged(self):
        """Compare the sums, and return the verdict in words."""
        emitted = wanted = {(): Fraction(1)}
        laws = {text: self.laws[place][0] for text, place in self.trees.items()}
        for root in self.trees.values() if self.drafts is not None else ():
            self.drafted(root, [])
        for _ in range(self.rounds):
            emitted = self.extended(emitted, laws)
        for _ in range(self.horizon):
            emitted, wanted = (self.extended(masses, self.target) for masses in (emitted, wanted))
        demand(None not in wanted, "the target's distribution after a text is missing")
        left, faults = emitted.pop(None, 0), [words for words in emitted if isinstance(words, str)]
        coins = max(self.laws[root][1] for root in self.trees.values())
        verdict, texts, side = self.document["verdict"]
        most = coins if verdict == "lossless" else self.document["coins"]
        demand(most >= coins, "a path has more coins than the longest")
        bound = self.rounds * explained(self.unit, self.size, most, self.base, self.gap)
        if verdict == "lossless":
            over = sum(max(0, mass - wanted.get(text, 0)) for text, mass in emitted.items())
            demand(not faults, "; ".join(faults))
            demand(left <= Fraction(1, 10**6), f"paths of total probability {float(left):.6g} are missing")
            demand(over <= min(bound, self.most), f"the total variation from the target is {float(over):.6g}")
            within = f" to within {float(over + left):.2g} in total variation" if over or left else ""
            return f"lossless{within}: all {len(wanted)} texts have the target's distribution"
        demand(verdict == "lossy" and side in ("more", "less"), "no verdict is shown")
        if texts is None:
            return f"lossy: {faults[0]}"
        inside = [text for text in {**wanted, **emitted} if (list(text) in texts) == (side == "more")]
        ours, theirs = (sum(masses.get(text, 0) for text in inside) for masses in (emitted, wanted))
        demand(ours > theirs + bound, f"the paths do not give {texts} another probability than the target")
        extreme, ours, theirs = ("at least", ours, theirs) if side == "more" else ("at most", 1 - ours, 1 - theirs)
        return f"lossy: the texts {texts} have probability {extreme} {float(ours):.6g}, not {float(theirs):.6g}"

    def ways(self, place, way=(), tokens=None):
        """Return each path that is shown: its questions with their answers, the drafts, and its last node."""
        kind, asked, *_ = self.nodes[place]
        demand(kind != "drafts" or tokens is None, "drafts are handed over twice")
        if not self.after[place]:
            yield way if kind in ("emit", "fault") else (*way, (kind, asked, None)), tokens or (), (kind, asked)
        for answer, _, child in self.after[place]:
            if child is not None:
                longer = ((), tuple(asked)) if kind == "drafts" else ((*way, (kind, asked, answer)), tokens)
                yield from self.ways(child, *longer)

    def given(self, name, rows):
        """Return the rows of target or draft as the function is given them: one, one for each place, or a model."""
        kind, prefix = self.document["given"][name], self.document["prefix"]

        def model(text):
            demand([*text][: len(prefix)] == prefix, "it asks for a text that does not begin so")
            return array(kind, rows[tuple(text)[len(prefix) :]])

        model.end = self.end
        if self.shape == "chain":
            return array(kind, [rows[(0,) * place] for place in range(self.drafts + (name == "target"))])
        return model if self.shape == "blocks" else array(kind, rows[()])

    def replayed(self, function):
        """Run a function on each path that is shown, with a coin that demands the questions of the tree."""
        for text, root in self.trees.items():
            for way, tokens, (kind, words) in self.ways(root):
                coin, prefix = Coin(way), (*self.document["prefix"], *text)
                values = {"coin": coin, "tokens": tokens, "token": (*tokens, None)[0], "prefix": prefix}
                values |= {"target": self.given("target", self.rows), "draft": self.given("draft", self.draft)}
                call = [(name, values.get(role, role)) for name, role in self.document["call"]]
                try:
                    found = function(*(one for name, one in call if not name), **{n: one for n, one in call if n})
                    found = found if isinstance(found, list | tuple) else [found]
                    found = [one.item() if hasattr(one, "item") else one for one in found]
                except (Exception, SystemExit, Stop) as error:
                    found = [f"{type(error).__name__}: {error}"]
                whole = all(type(one) is int for one in found)
                right = not coin.way and {"emit": whole and found == words, "fault": not whole}.get(kind, True)
                found = f"asks for {coin.wrong}" if coin.wrong else f"returns {found}"
                demand(right and not coin.wrong, f"the function {found}, and not what the tree has")


class Stop(BaseException):
    """Ends a function at a question that no coin can answer."""


class Coin:
    """A coin that demands the questions of one path, and gives its answers."""

    def __init__(self, way):
        self.way, self.wrong = list(way), ""

    def flip(self, p):
        """Return the answer of this path to a flip."""
        return self.answer("flip", spelled(p))

    def draw(self, masses):
        """Return the answer of this path to a draw."""
        return self.answer("draw", [spelled(mass) for mass in getattr(masses, "masses", masses)])

    def answer(self, *asked):
        """Demand the next question of the path; None is the answer to one that no coin can answer."""
        *question, answer = self.way.pop(0) if self.way else (None,)
        self.wrong = self.wrong or ("" if question == [*asked] else f"{asked[0]} {asked[1]}")
        demand(answer is not None, self.wrong, Stop)
        return answer


def spelled(value):
    """Return a number as it is written in a certificate."""
    value = value.item() if hasattr(value, "item") else value
    return str(Fraction(value)) if abs(value) < float("inf") else str(value)


def array(kind, rows):
    """Return rows of masses in a type: an array of NumPy or torch, or lists where NumPy is not installed."""
    convert, (library, _, name) = Fraction if kind == "fractions" else float, kind.rpartition(".")

    def made(values):
        return [made(one) if isinstance(one, list) else convert(number(one)) for one in values]

    if kind == "lists" or importlib.util.find_spec(library or "numpy") is None:
        return made(rows)
    demand(library in ("", "torch"), f"{library} is no library of arrays")
    library = importlib.import_module(library or "numpy")
    return library.asarray(made(rows), dtype=getattr(library, name, object))


def loaded(place):
    """Return the function that FILE:NAME names."""
    file, _, name = place.rpartition(":")
    sys.path.insert(0, str(Path(file).resolve().parent))
    return runpy.run_path(file)[name]


def optimum(target, drafts, cells, claim, subset):
    """Demand that a coupling has both marginals, and that its acceptance is the claim and the bound of the subset.

    >>> optimum([Fraction(1)], {(0,): 1}, [((0,), 0, 1)], 1, set())
    'Checked: some lossless verifier of these drafts has the acceptance 1, and none has a larger one.'
    """
    size, drawn, emitted = len(target), dict.fromkeys(drafts, 0), [0] * len(target)
    demand(sum(target) == 1, f"the target's masses sum to {sum(target)}, not 1")
    for token in (token for tokens in (*drafts, subset) for token in tokens):
        demand(0 <= token < size, f"a draft or the subset has the token {token}, outside 0..{size - 1}")
    for tokens, token, mass in cells:
        demand(mass >= 0 and tokens in drawn and 0 <= token < size, f"negative or no outcome: {tokens, token, mass}")
        drawn[tokens] += mass
        emitted[token] += mass
    demand((drawn, emitted) == (drafts, target), "the coupling has other drafts, or does not emit the target")
    demand(claim == sum(mass for tokens, token, mass in cells if token in tokens), f"the acceptance is not {claim}")
    bound = 1 + sum(target[one] for one in subset) - sum(drafts[one] for one in drafts if subset.issuperset(one))
    demand(bound == claim, f"the subset shows that at most {bound} is reached, which leaves {claim} unproven")
    return f"Checked: some lossless verifier of these drafts has the acceptance {claim}, and none has a larger one."


def check(document, function=None):
    """Return sentences on what was checked and what is assumed; raise ValueError where the certificate fails."""
    try:
        if document["format"] == FORMATS[1]:
            demand(function is None, "an optimum has no paths on which a function could be replayed")
            made = frozenset if document["drafts"] == "sets" else tuple
            drafts = {tokens: number(mass) for tokens, mass in table(document["draft_law"], made).items()}
            cells = [(made(tokens), token, number(mass)) for tokens, token, mass in document["coupling"]]
            target, claim = [number(mass) for mass in document["target"]], number(document["acceptance"])
            return optimum(target, drafts, cells, claim, set(document["subset"]))
        demand(document["format"] == FORMATS[0], "the format is another")
        verdicts, program = [], loaded(function) if function else None
        for part in document["claims"]:
            claim, drafts = Claim(part), "its own" if part["drafts"] is None else f"{part['drafts']} independent"
            judged = f"drafts: {drafts}, tokens: {part['horizon']}, blocks: {part['rounds']}, {part['numbers']}"
            verdicts.append(f"{part['of']} ({judged}): {claim.judged()}.")
            if function:
                claim.replayed(program)
        demand(verdicts, "nothing is claimed")
        assumed = f"those of {function}, replayed here, each time that it runs" if function else "the program's"
        return "\n".join([*verdicts, f"Checked: trees, drafts and sums. Assumed: the trees are {assumed}."])
    except (ArithmeticError, AttributeError, ImportError, LookupError, OSError, RecursionError, TypeError) as error:
        raise ValueError(f"it cannot be read: {type(error).__name__}: {error}") from error


def main(argv):
    """Check a file: exit code 0 where the certificate holds, 1 where it does not, 2 where it is no certificate."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("file", type=Path)
    parser.add_argument("--function", metavar="FILE:NAME")
    asked = parser.parse_args(argv)
    try:
        code, what = 2, f"{asked.file} is no certificate"
        unzipped = gzip.decompress if asked.file.suffix == ".gz" else bytes
        document = json.loads(unzipped(asked.file.read_bytes()), object_pairs_hook=lambda pairs: table(pairs, str))
        what = f"{asked.function} names no function FILE.py:NAME"
        _ = asked.function and loaded(asked.function)
        code, what = 1 if document["format"] in FORMATS else 2, "Rejected"
        print(check(document, asked.function))
    except (Exception, SystemExit) as error:  # whatever a file may hold
        print(f"{what}: {error}")
        return code
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
