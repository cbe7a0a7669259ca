# pyright: basic
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
the last number of TYPES.
"""

import argparse
import gzip
import importlib.util
import json
import re
import sys
from fractions import Fraction
from functools import cache
from pathlib import Path

FORMATS = ("spec_math paths certificate, version 1", "spec_math optimal transport certificate, version 1")

TYPES = {"fractions": (0, 0, 0), "float64": (2**53, 2**36, 10**4), "float32": (2**24, 2**16, 10**4)}
TYPES |= {"float16": (2**11, 2**7, 10**2), "bfloat16": (2**8, 2**7, 10**2)}
"""Of each type (a, b, c): unit roundoff 1/a, masses sum to 1 within 1/b, a verdict forgives 1/c in total variation."""

UNSHOWN = Fraction(1, 10**6)
"""The mass of endless paths that a lossless certificate may leave out; the sentence names it."""


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
        self.unit, self.off, self.most = (Fraction(1, n) if n else 0 for n in TYPES[document["numbers"]])
        self.document, self.nodes, self.gap, self.laws = document, document["nodes"], 0, []
        self.trees, self.rows, self.draft = (table(document[name]) for name in ("trees", "target", "draft"))
        self.used, self.shape = set(self.trees.values()), document["shape"]
        self.size, self.end, self.drafts = len(self.rows[()]), document["end"], document["drafts"]
        self.horizon, self.rounds = document["horizon"], document["rounds"]
        demand(self.horizon >= 1 and self.rounds >= 1, "nothing is judged")
        by_place = self.end is None and all(row == self.rows[(0,) * len(text)] for text, row in self.rows.items())
        demand(self.shape == "blocks" or (by_place and self.shape in ("position", "chain")), "the shape is another")
        floats = {*document["given"].values()} != {"fractions"}
        demand(self.unit or not floats, "floats are given, and rounding is not allowed for")
        self.target = {text: self.chances(row) for text, row in self.rows.items()}
        sizes = {len(row) for row in (*self.target.values(), *map(self.chances, self.draft.values()))}
        demand(sizes == {self.size}, "the rows differ in size")
        self.base, self.gap = 2 * (self.gap + self.unit), 0
        for place in range(len(self.nodes)):
            self.laws.append(self.outcomes(place))
        demand(self.used == {*range(len(self.nodes))}, "a node belongs to no tree")

    def chances(self, masses):
        """Return the masses of a distribution, divided by their sum; note how far that is from 1."""
        read = [number(mass) for mass in masses]
        total = sum(read)
        right = type(masses) is list and read and min(read) >= 0 and abs(total - 1) <= self.off
        demand(right, f"the masses {', '.join(masses)} are no probability distribution", FaultError)
        self.gap = max(self.gap, abs(total - 1))
        return [mass / total for mass in read]

    def branches(self, place):
        """Return the possible answers to the question of a node, as (answer, chance, child)."""
        kind, asked, *children = self.nodes[place]
        if kind == "flip":
            p = number(asked)
            demand(0 <= p <= 1, f"a flip has the probability {p}", FaultError)
            answers = zip((True, False), (p, 1 - p), children, strict=True)
        elif kind == "draw":
            answers = zip(range(len(asked)), self.chances(asked), children[0], strict=True)
        else:
            demand(kind in ("drafts", "fault"), f"a node is of the unknown kind {kind}")
            demand(kind == "drafts", f"the program fails: {asked}", FaultError)
            answers = zip((None,), (1,), children, strict=True)
        possible = [answer for answer in answers if answer[1]]
        self.used |= {child for *_, child in possible if child is not None}
        for *_, child in possible:
            demand(child is None or 0 <= child < place, f"node {place} refers to a later one")
        return possible

    def outcomes(self, place):
        """Return {emitted tokens: mass} of a node, with None for paths not shown, words for faults; and its coins."""
        (kind, asked, *_), law, coins, handed = self.nodes[place], {}, 0, False
        try:
            if kind == "emit":
                right = asked and all(type(token) is int and 0 <= token < self.size for token in asked)
                right = right and (self.shape != "position" or len(asked) == 1)
                demand(right and self.end not in asked[:-1], f"the program emits {asked}", FaultError)
                return {tuple(asked): Fraction(1)}, 0, False
            for _, chance, child in self.branches(place):
                below, more, again = ({None: 1}, 0, False) if child is None else self.laws[child]
                demand(not (again and kind == "drafts"), "drafts are handed over twice")
                coins, handed = max(coins, more + (kind != "drafts")), handed or again or kind == "drafts"
                for outcome, mass in below.items():
                    law[outcome] = law.get(outcome, 0) + chance * mass
        except FaultError as error:
            return {str(error): Fraction(1)}, 1, False
        return law, coins, handed

    def extended(self, masses, after):
        """Let texts {text: mass} that are not over go on by the tokens of after(text), {tokens: mass}."""
        found = {}
        for text, mass in masses.items():
            over = not isinstance(text, tuple) or len(text) >= self.horizon or text[-1:] == (self.end,)
            for tokens, share in ({text: 1} if over else after(text)).items():
                longer = tokens if over or not isinstance(tokens, tuple) else (text + tokens)[: self.horizon]
                found[longer] = found.get(longer, 0) + mass * share
        return found

    def following(self, text):
        """Return {(token,): mass} of the target after a text."""
        demand(text in self.target, f"the target's distribution after {text} is missing")
        return {(token,): chance for token, chance in enumerate(self.target[text]) if chance}

    def drafted(self, place, tokens):
        """Demand that the first coins draw the drafts from their rows, and that the verifier is given these tokens."""
        kind, asked, *_ = self.nodes[place]
        if len(tokens) == self.drafts:
            demand((kind, asked) == ("drafts", tokens), f"the verifier is not given the drafts {tokens}")
            return
        row = self.draft[(0,) * len(tokens) if self.document["shape"] == "chain" else ()]
        demand((kind, asked) == ("draw", row), f"draft {len(tokens) + 1} is not drawn from its distribution")
        for token, _, child in self.branches(place):
            if child is not None:
                self.drafted(child, [*tokens, token])

    def judged(self):
        """Compare the sums, and return the verdict in words."""
        emitted = wanted = {(): Fraction(1)}
        laws = {text: self.laws[place] for text, place in self.trees.items()}
        for root in self.trees.values() if self.drafts is not None else ():
            self.drafted(root, [])
        for _ in range(self.rounds):
            emitted = self.extended(emitted, lambda text: laws[text][0] if text in laws else {None: 1})
        for _ in range(self.horizon):
            emitted, wanted = (self.extended(masses, self.following) for masses in (emitted, wanted))
        left, faults = emitted.pop(None, 0), [words for words in emitted if isinstance(words, str)]
        coins, (verdict, texts, side) = max(law[1] for law in laws.values()), self.document["verdict"]
        most = coins if verdict == "lossless" else self.document["coins"]
        demand(most >= coins, "a path has more coins than the longest")
        bound = self.rounds * explained(self.unit, self.size, most, self.base, self.gap)
        if verdict == "lossless":
            over = sum(max(0, mass - wanted.get(text, 0)) for text, mass in emitted.items())
            demand(not faults, "; ".join(faults))
            demand(left <= UNSHOWN, f"paths of total probability {left} are missing")
            demand(over <= min(bound, self.most), f"the total variation from the target is {over}")
            within = f" to within {float(over + left):.2g} in total variation" if over + left else ""
            return f"lossless{within}: the {len(wanted)} texts have the target's distribution"
        demand(verdict == "lossy" and side in ("more", "less"), "the verdict is neither lossless nor lossy")
        if texts is None:
            demand(faults, "no path ends in a fault")
            return f"lossy: {faults[0]}"
        event, more = {tuple(text) for text in texts}, side == "more"
        inside = [text for text in {**wanted, **emitted} if (text in event) == more]
        ours, theirs = (sum(masses.get(text, 0) for text in inside) for masses in (emitted, wanted))
        demand(ours > theirs + bound, f"the paths do not give {texts} another probability than the target")
        extreme, ours, theirs = ("at least", ours, theirs) if more else ("at most", 1 - ours, 1 - theirs)
        return f"lossy: the texts {texts} have probability {extreme} {ours}, where the target has {theirs}"

    def ways(self, place, way=(), tokens=()):
        """Return each path that is shown: its questions with their answers, the drafts, and its last node."""
        (kind, asked, *_), following = self.nodes[place], []
        try:
            following = self.branches(place) if kind != "emit" else []
        except FaultError:
            way = way if kind == "fault" else (*way, (kind, asked, None))
        if not following:
            yield way, tokens, (kind, asked)
        for answer, _, child in following:
            if child is not None:
                longer = ((), asked) if kind == "drafts" else ((*way, (kind, asked, answer)), tokens)
                yield from self.ways(child, *longer)

    def given(self, name, rows):
        """Return the rows of target or draft as the function is given them: one, one for each place, or a model."""
        kind, shape, start = self.document["given"][name], self.document["shape"], len(self.document["prefix"])

        def model(prefix):
            demand([*prefix][:start] == self.document["prefix"], "it asks for a text that does not begin so")
            return array(kind, rows[tuple(prefix)[start:]])

        model.end = self.end
        if shape == "blocks":
            return model
        places = range(self.drafts + (name == "target")) if shape == "chain" else ()
        return array(kind, [rows[(0,) * place] for place in places] if shape == "chain" else rows[()])

    def replayed(self, function):
        """Run a function on each path that is shown, with a coin that demands the questions of the tree."""
        for text, root in self.trees.items():
            for way, tokens, (kind, words) in self.ways(root):
                coin = Coin(way)
                values = {"coin": coin, "tokens": tuple(tokens), "token": (*tokens, None)[0]}
                values |= {"target": self.given("target", self.rows), "draft": self.given("draft", self.draft)}
                values["prefix"] = (*self.document["prefix"], *text)
                call = [(name, values.get(role, role)) for name, role in self.document["call"]]
                try:
                    found = function(*(one for name, one in call if not name), **{n: one for n, one in call if n})
                    found = found.tolist() if hasattr(found, "tolist") else found
                    found = list(found) if isinstance(found, (list, tuple)) else [found]
                    found = [one.item() if hasattr(one, "item") else one for one in found]
                except (Exception, SystemExit, Stop) as error:
                    found = [f"{type(error).__name__}: {error}"]
                whole = all(type(one) is int for one in found)
                ends = {"emit": whole and found == words, "fault": not whole}
                demand(not coin.wrong, f"the function asks for {coin.wrong}, and not for what the tree has")
                right = not coin.way and ends.get(kind, True)
                demand(right, f"the function returns {found}, and not what the tree has")


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

    def answer(self, kind, asked):
        """Demand the next question of the path."""
        if not self.way or self.way[0][:2] != (kind, asked):
            self.wrong = self.wrong or f"{kind} {asked}"
            raise Stop
        answer = self.way.pop(0)[2]
        if answer is None:
            raise Stop
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
    return getattr(library, "tensor", library.array)(made(rows), dtype=getattr(library, name, object))


def loaded(place):
    """Return the function that FILE:NAME names."""
    file, _, name = place.rpartition(":")
    sys.path.insert(0, str(Path(file).resolve().parent))
    spec = importlib.util.spec_from_file_location(Path(file).stem, file)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return getattr(module, name)


def optimum(target, drafts, cells, claim, subset):
    """Demand that a coupling has both marginals, and that its acceptance is the claim and the bound of the subset."""
    size, drawn, emitted = len(target), dict.fromkeys(drafts, 0), [0] * len(target)
    demand(sum(target) == 1, f"the target's masses sum to {sum(target)}, not 1")
    inside = all(0 <= token < size for tokens in (*drafts, subset) for token in tokens)
    demand(inside, f"a draft or the subset has a token outside 0..{size - 1}")
    for tokens, token, mass in cells:
        right = mass >= 0 and tokens in drawn and 0 <= token < size
        demand(right, f"the coupling has mass {mass} at ({tokens}, {token}), which is negative or no outcome")
        drawn[tokens] += mass
        emitted[token] += mass
    demand(drawn == drafts, "the coupling's drafts do not have the distribution of the drafts")
    demand(emitted == target, "the coupling's emitted token does not have the target's distribution")
    accepted = sum(mass for tokens, token, mass in cells if token in tokens)
    demand(accepted == claim, f"the coupling emits a drafted token with probability {accepted}, not {claim}")
    drafted = sum(mass for tokens, mass in drafts.items() if subset.issuperset(tokens))
    bound = 1 - drafted + sum(target[token] for token in subset)
    demand(bound == claim, f"the subset shows that at most {bound} is reached, which leaves {claim} unproven")
    return f"Checked: some lossless verifier of these drafts has the acceptance {claim}, and none has a larger one."


def check(document, function=None):
    """Return sentences on what was checked and what is assumed; raise ValueError where the certificate fails."""
    try:
        if document["format"] == FORMATS[1]:
            demand(function is None, "an optimum has no paths on which a function could be replayed")
            made = frozenset if document["drafts"] == "sets" else tuple
            drafts = {made(tokens): number(mass) for tokens, mass in document["draft_law"]}
            demand(len(drafts) == len(document["draft_law"]), "a draft is listed twice")
            cells = [(made(tokens), token, number(mass)) for tokens, token, mass in document["coupling"]]
            target, claim = [number(mass) for mass in document["target"]], number(document["acceptance"])
            return optimum(target, drafts, cells, claim, set(document["subset"]))
        demand(document["format"] == FORMATS[0], "the format is another")
        verdicts, program = [], loaded(function) if isinstance(function, str) else function
        for part in document["claims"]:
            claim, drafts = Claim(part), "its own" if part["drafts"] is None else f"{part['drafts']} independent"
            blocks = f"{drafts} drafts, {part['horizon']} tokens, {part['rounds']} blocks, {part['numbers']}"
            verdicts.append(f"{part['of']}, {blocks}: {claim.judged()}.")
            if function is not None:
                claim.replayed(program)
        demand(verdicts, "nothing is claimed")
        assumed = "the program's" if function is None else f"those of {function}, replayed here, each time that it runs"
        return "\n".join([*verdicts, f"Checked: trees, drafts and sums. Assumed: the trees are {assumed}."])
    except (ArithmeticError, AttributeError, LookupError, OSError, RecursionError, TypeError) as error:
        raise ValueError(f"it cannot be read: {type(error).__name__}: {error}") from error


def main(argv):
    """Check a file: exit code 0 where the certificate holds, 1 where it does not, 2 where it is none."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("file", type=Path)
    parser.add_argument("--function", metavar="FILE:NAME")
    asked = parser.parse_args(argv)
    try:
        content = asked.file.read_bytes()
        content = gzip.decompress(content) if asked.file.suffix == ".gz" else content
        document = json.loads(content, object_pairs_hook=lambda pairs: table(pairs, str))
        demand(document["format"] in FORMATS, "its format is another")
    except Exception as error:  # whatever a file may hold
        print(f"{asked.file} is no certificate: {error}")
        return 2
    try:
        _ = asked.function and loaded(asked.function)
    except (Exception, SystemExit) as error:
        print(f"{asked.function} names no function FILE.py:NAME: {type(error).__name__}: {error}")
        return 2
    try:
        print(check(document, asked.function))
    except ValueError as error:
        print(f"Rejected: {error}")
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
