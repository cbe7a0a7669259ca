"""Certificates with paths changed by hand, and cases of the checker of paths: what it must make of each."""

from __future__ import annotations

import contextlib
import gzip
import io
import json
import sys
from collections.abc import Callable
from copy import deepcopy
from fractions import Fraction
from functools import cache
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from types import ModuleType
from typing import Any

from proofs_tests import certificate_forgeries as optima
from proofs_tests.certificates import path_conditions
from proofs_tests.certificates.attacks_on_paths import ALWAYS, attacks, claim
from proofs_tests.certificates.attacks_on_paths import document as attack
from proofs_tests.certificates.checker_mutants import Case, as_script, in_words
from proofs_tests.certificates.path_certificates import PROGRAMS, REPLAYED, WRONG, T, right

Data = dict[str, Any]


def changed(name: str, change: Callable[[Data], Any], claim: int = 0) -> Data:
    """A right certificate after a change of one of its claims, in place."""
    copy = deepcopy(right()[name])
    _ = change(copy["claims"][claim])
    return copy


def node_of(claim: Data, kind: str, last: bool = True) -> Any:
    """The last or the first node of a kind."""
    nodes = [node for node in claim["nodes"] if node[0] == kind]
    return nodes[-1 if last else 0]


def put(*path: Any) -> Callable[[Data], None]:
    """Put the last of the arguments at the place that the others name."""
    *keys, last, value = path

    def change(claim: Any) -> None:
        for key in keys:
            claim = claim[key]
        claim[last] = value

    return change


def half_the_tree(claim: Data) -> None:
    """Leave out the branches of the first draw that are shown, but for one."""
    root = claim["nodes"][-1]
    root[2] = [root[2][0], *[None] * (len(root[2]) - 1)]


def deeper(claim: Data) -> None:
    """Put flips of no consequence above each root, to gain rounding."""
    for tree in claim["trees"]:
        for _ in range(40):
            claim["nodes"].append(["flip", "1/2", tree[1], tree[1]])
            tree[1] = len(claim["nodes"]) - 1


@cache
def by_hand() -> dict[str, Data]:
    """Changed certificates, each by what was done to it; all must be rejected."""
    found = {
        "a flip below 0": changed("one draft", lambda claim: put(1, "-1/2")(node_of(claim, "flip"))),
        "a flip above 1": changed("one draft", lambda claim: put(1, "3/2")(node_of(claim, "flip"))),
        "another flip": changed("one draft", lambda claim: put(1, "1/3")(node_of(claim, "flip"))),
        "a branch left out": changed("one draft", lambda claim: put(2, None)(node_of(claim, "flip"))),
        "half of the drafts left out": changed("one draft", half_the_tree),
        "another token": changed("one draft", put("nodes", 0, 1, [1])),
        "a token too large": changed("one draft", put("nodes", 0, 1, [2])),
        "a token below 0": changed("one draft", put("nodes", 0, 1, [-1])),
        "no token": changed("one draft", put("nodes", 0, 1, [])),
        "a token that is true": changed("too much", put("nodes", 0, 1, [False])),
        "a fraction of a token": changed("too much", put("nodes", 0, 1, [0.0])),
        "two tokens": changed("too much", put("nodes", 0, 1, [1, 0])),
        "another draft law": changed("one draft", put("draft", 0, 1, ["1/4", "3/4"])),
        "drafts of another law": changed("one draft", lambda claim: put(1, ["1/4", "3/4"])(claim["nodes"][-1])),
        "given other drafts": changed("one draft", lambda claim: put(1, [1])(node_of(claim, "drafts", last=False))),
        "given no drafts": changed("one draft", lambda claim: put(1, [])(node_of(claim, "drafts", last=False))),
        "more drafts": changed("one draft", put("drafts", 2)),
        "fewer drafts": changed("two drafts", put("drafts", 1)),
        "a flip for a draft": changed("one draft", lambda claim: put(-1, ["flip", "1/2", 0, 0])(claim["nodes"])),
        "drafts of a chain exchanged": changed(
            "a chain",
            lambda claim: claim["draft"].reverse() or put("draft", 0, 0, [])(claim) or put("draft", 1, 0, [0])(claim),
        ),
        "masses below 0": changed(
            "kept masses", lambda claim: put(1, ["-1/4", "5/4"])(node_of(claim, "draw", last=False))
        ),
        "masses above 1": changed(
            "kept masses", lambda claim: put(1, ["1/2", "3/4"])(node_of(claim, "draw", last=False))
        ),
        "no masses": changed(
            "kept masses",
            lambda claim: (
                put(1, [])(node_of(claim, "draw", last=False)),
                put(2, [])(node_of(claim, "draw", last=False)),
            ),
        ),
        "masses below 1": changed(
            "kept masses", lambda claim: put(1, ["1/4", "1/4"])(node_of(claim, "draw", last=False))
        ),
        "more children": changed("kept masses", lambda claim: node_of(claim, "draw")[2].append(0)),
        "a later child": changed("one draft", lambda claim: put(2, len(claim["nodes"]))(node_of(claim, "flip"))),
        "a child below 0": changed("one draft", lambda claim: put(2, -len(claim["nodes"]))(node_of(claim, "flip"))),
        "a circle": changed(
            "one draft",
            lambda claim: (
                put(2, [5, 5])(claim["nodes"][5])
                if claim["nodes"][5][0] == "draw"
                else put("nodes", 5, ["flip", "1/2", 5, 5])(claim)
            ),
        ),
        "another target": changed("one draft", put("target", 0, 1, ["1/3", "2/3"])),
        "a target above 1": changed("one draft", put("target", 0, 1, ["1/4", "5/4"])),
        "a target below 0": changed("one draft", put("target", 0, 1, ["-1/4", "5/4"])),
        "a larger vocabulary": changed("one draft", put("target", 0, 1, ["1/4", "3/4", "0"])) | {"claims": []},
        "rows of two sizes": changed("two blocks", lambda claim: put("target", 1, 1, ["1/4", "3/4", "0"])(claim)),
        "a row left out": changed("two blocks", lambda claim: claim["target"].pop()),
        "no row at all": changed("one draft", put("target", [])),
        "a horizon of 0": changed("one draft", put("horizon", 0)),
        "no blocks": changed("two blocks", put("rounds", 0)),
        "a longer horizon": changed("one draft", put("horizon", 2)),
        "no tree": changed("one draft", put("trees", [])),
        "a tree left out": changed("two blocks", lambda claim: claim["trees"].pop()),
        "more blocks": changed(
            "after a prefix", lambda claim: put("rounds", 2)(claim) or put("nodes", 0, 1, [0])(claim)
        ),
        "another end": changed("an end", put("end", 0)),
        "tokens after the end": changed("an end", put("nodes", 0, 1, [1, 0])),
        "an unknown type": changed("one draft", put("numbers", "float8")),
        "floats said to be exact": changed("float64", put("numbers", "fractions")),
        "float32 said to be float64": changed("float32", put("numbers", "float64")),
        "rounding said of a lossy one": changed(
            "too much", lambda claim: put("verdict", ["lossless", None, None])(claim)
        ),
        "a fault said to be lossless": changed("raises", lambda claim: put("verdict", ["lossless", None, None])(claim)),
        "lossless said to be lossy": changed("one draft", put("verdict", ["lossy", [[0]], "more"])),
        "lossless said to be too little": changed("one draft", put("verdict", ["lossy", [[0]], "less"])),
        "lossless said to fail": changed("one draft", put("verdict", ["lossy", None, "more"])),
        "another verdict": changed("one draft", put("verdict", ["right", None, None])),
        "another text": changed("too much", put("verdict", ["lossy", [[1]], "more"])),
        "another side": changed("too much", put("verdict", ["lossy", [[0]], "less"])),
        "no side": changed("too much", put("verdict", ["lossy", [[0]], "both"])),
        "less said of a fault": changed("raises", put("verdict", ["lossy", None, "both"])),
        "fewer coins than there are": changed("too much", put("coins", 0)),
        "so many coins that rounding explains it": changed("lossy in float16", put("coins", 500)),
        "two blocks of rounding": changed("lossy in float16", lambda claim: put("rounds", 10**4)(claim)),
        "a lossy one in a coarse type": changed(
            "lossy in float16", lambda claim: put("verdict", ["lossless", None, None])(claim)
        ),
        "a fault of no mass": changed(
            "one draft",
            lambda claim: (claim["nodes"].insert(0, ["fault", "x"]), put("verdict", ["lossy", None, "more"])(claim)),
        ),
        "a kind that there is not": changed("raises", put("nodes", 0, 0, "error")),
        "nothing claimed": right()["one draft"] | {"claims": []},
        "another format": right()["one draft"] | {"format": "another"},
        "claims that are no list": right()["one draft"] | {"claims": 3},
        "masses that are numbers": changed("one draft", put("target", 0, 1, [0.25, 0.75])),
        "a mass over 0": changed("one draft", put("target", 0, 1, ["1/0", "3/4"])),
    }
    few = [
        (name, claim) for name, claim in optima.forged() if name in optima.ONE_FAULT or name.startswith("two drafts")
    ]
    found.update({f"the optimum, {name}": claim for name, claim in few})
    return found


def of_document(claimed: Data, function: str | None = None) -> Case:
    """The case that checks a document, with a function that is replayed."""
    return lambda module: module.check(json.loads(json.dumps(claimed)), function=function)


def of_command(*arguments: str) -> Case:
    """The case that runs the command of a checker: its exit code and what it prints."""

    def case(module: ModuleType) -> Any:
        out = io.StringIO()
        with contextlib.redirect_stdout(out), contextlib.redirect_stderr(io.StringIO()):
            try:
                code = module.main(list(arguments))
            except SystemExit as left:
                code = f"leaves with {left.code}"
        return code, out.getvalue()

    return case


def of_sibling(place: str, shadowed: Path) -> Case:
    """The case of a function whose file imports another file of its folder, which an earlier folder has too."""

    def case(module: ModuleType) -> Any:
        before = list(sys.path)
        sys.path.insert(0, str(shadowed))
        try:
            return module.loaded(place)
        finally:
            sys.path[:] = before
            _ = sys.modules.pop("the_sibling", None)

    return case


def numbers_of(document: Data) -> Case:
    """The case of what a checker derives from a right certificate: bounds, sums of each node, branches, rows."""
    names = ("unit", "off", "most", "base", "gap", "size", "laws", "after", "target", "used")
    return lambda module: [[getattr(module.Claim(part), name) for name in names] for part in document["claims"]]


def explained(module: ModuleType) -> Any:
    """The case of the bound on rounding."""
    tried = [(unit, base) for unit in (0, Fraction(1, 2**11), Fraction(1, 8), 1) for base in (0, Fraction(1, 9))]
    return [module.explained(unit, size, coins, base, gap) for unit, base in tried for size, coins, gap in BLOCKS]


BLOCKS = ((2, 0, 0), (2, 1, 0), (2, 2, 0), (5, 3, Fraction(1, 7)), (9, 4, 1))


def continued(module: ModuleType) -> Any:
    """The case of texts that go on, end, are cut, or are not known."""
    claim = module.Claim(right()["an end"]["claims"][0])
    masses = {
        (): Fraction(1, 2),
        (0,): Fraction(1, 4),
        (1,): Fraction(1, 8),
        None: Fraction(1, 8),
        "fails": Fraction(1),
    }
    after = {(): {(0, 0, 1, 0): Fraction(1, 3), None: Fraction(1, 3), "fails": Fraction(1, 3)}}
    return claim.extended(masses, after), claim.extended(masses, claim.target)


def by_parts() -> dict[str, Case]:
    """Cases of the parts of the checker, and of the documents of `attacks_on_paths`."""
    found: dict[str, Case] = {"constants": lambda module: (module.TYPES, module.FORMATS)}
    found |= {"the bound": explained, "continued": continued}
    found |= {f"numbers: {name}": numbers_of(document) for name, document in right().items()}
    for words, own, name in attacks():
        if name is None:
            found[f"attack: {words}"] = of_document(own if "format" in own else attack(own))
    less = claim(ALWAYS, verdict="lossy", texts=[[1]], side="less", coins=1)
    never = claim([["emit", [0]]], shape="blocks", drafts=None, target=[[[], ["1/4", "1/4", "1/2"]]], draft=[])
    never |= {"verdict": ["lossy", [[2]], "less"], "coins": 0}
    found |= {"less": of_document(attack(less)), "never": of_document(attack(never))}
    found["a library that is not installed"] = lambda module: module.array("no_such_library.float64", ["1/2"])
    return found | {"another library": lambda module: module.array("sys.float_info", ["1/2"]).tolist()}


def cases(folder: Path) -> dict[str, Case]:
    """Every case of the checker of paths; programs and files are written to a folder."""
    if find_spec("torch"):
        _ = import_module("torch")  # not in the time of a case
    place = folder / "programs_of_these_cases.py"
    _ = place.write_text(PROGRAMS, encoding="utf-8")
    found: dict[str, Case] = {name: of_document(claimed) for name, claimed in right().items()}
    found |= {f"forged: {name}": of_document(claimed) for name, claimed in by_hand().items()}
    found |= {f"{name}, replayed": of_document(right()[name], f"{place}:{of}") for name, of in REPLAYED.items()}
    others = {name: of_document(right()["one draft"], f"{place}:{name}") for name in WRONG}
    found |= {f"another program: {name}": in_words(case) for name, case in others.items()}
    found |= by_parts()
    own = {words: one for words, one, name in attacks() if name == "always" and "format" not in one}
    found |= {f"attack, replayed: {words}": of_document(attack(one), f"{place}:hopeful") for words, one in own.items()}
    (folder / "beside").mkdir()
    _ = (folder / "beside" / "the_sibling.py").write_text("one = len", encoding="utf-8")
    _ = (folder / "beside" / "imports.py").write_text("from the_sibling import one", encoding="utf-8")
    (folder / "earlier").mkdir()
    _ = (folder / "earlier" / "the_sibling.py").write_text("one = max", encoding="utf-8")
    found["a file beside"] = of_sibling(f"{folder / 'beside' / 'imports.py'}:one", folder / "earlier")
    zero = optima.true()["two drafts"]
    found["a cell of no mass"] = of_document(zero | {"coupling": [*zero["coupling"], [[0, 0], 1, "0"]]})
    roles = [[None, role] for role in ("coin", "target", "draft", "prefix", 2)]
    reads = claim([["emit", [0]], ["emit", [1]], ["draw", T, [0, 1]]], shape="blocks", drafts=None, coins=1, end=1)
    found["models, replayed"] = of_document(attack(reads | {"call": roles, "prefix": [0, 0]}), f"{place}:reads_models")
    found |= {f"optimum: {name}": of_document(claimed) for name, claimed in optima.true().items()}
    found["an optimum has no paths"] = of_document(optima.true()["sets"], f"{place}:right")
    written = {"right": right()["one draft"], "wrong": by_hand()["another flip"], "other": {"format": "another"}}
    for name, claimed in written.items():
        text = json.dumps(claimed)
        _ = (folder / f"{name}.json").write_text(text, encoding="utf-8")
        with gzip.open(folder / f"{name}.json.gz", "wt", encoding="utf-8") as file:
            _ = file.write(text)
        found |= {f"command: {name}{end}": of_command(str(folder / f"{name}{end}")) for end in (".json", ".json.gz")}
    _ = (folder / "list.json").write_text("[1]", encoding="utf-8")
    _ = (folder / "text.json").write_text("no JSON", encoding="utf-8")
    _ = (folder / "plain.json.gz").write_text("{}", encoding="utf-8")
    for name in ("list.json", "text.json", "plain.json.gz", "missing.json"):
        found[f"command: {name}"] = of_command(str(folder / name))
    for program in ("right", "hopeful", "not_there"):
        found[f"command, replayed: {program}"] = of_command(
            str(folder / "right.json"), "--function", f"{place}:{program}"
        )
    found |= {"command: no file": of_command(), "command: help": of_command("--help")}
    found["as a script"] = as_script(str(folder / "right.json"))
    _ = (folder / "programs_of_conditions.py").write_text(path_conditions.PROGRAMS, encoding="utf-8")
    for name, (_, claimed) in path_conditions.conditions().items():
        found[f"condition: {name}"] = of_document(attack(claimed))
    found |= {f"optimum: {name}": in_words(of_document(own)) for name, (_, own) in path_conditions.optima().items()}
    for name, (_, function, claimed) in path_conditions.replayed().items():
        case = of_document(attack(claimed), f"{folder / 'programs_of_conditions.py'}:{function}")
        found[f"condition, replayed: {name}"] = in_words(case)
    return found
