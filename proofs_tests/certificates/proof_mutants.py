"""Wrong versions of the checker of proofs. `python -m proofs_tests.certificates.proof_mutants` prints what lives."""

from __future__ import annotations

import contextlib
import gzip
import io
import json
import tempfile
from copy import deepcopy
from pathlib import Path
from types import ModuleType
from typing import Any

from proofs_tests.certificates.attacks_on_proofs import COINS, EMIT, FUNCTIONS, POLYNOMIALS, attacks, document
from proofs_tests.certificates.checker_mutants import Case, as_script, in_words, survivors
from proofs_tests.certificates.proof_cases import BY_HAND, K_SEQ
from proofs_tests.certificates.proof_forgeries import SMALL, certificate
from spec_math.certificates import check_proof

FORMULA = "K-SEQ: as its formula says", "all distributions on 2 tokens, 2 drafts, every γ with f(γ) ≤ 0"


def checked(document: dict[str, Any]) -> Case:
    """Return the case that checks a document: what the checker says, or why it rejects."""
    return in_words(lambda module: module.check(deepcopy(document)))


def started(*places: Path) -> Case:
    """Return the case that runs the command on a file; what follows it is not read."""

    def case(module: ModuleType) -> tuple[int, str]:
        with contextlib.redirect_stdout(io.StringIO()) as printed:
            return module.main([*map(str, places)]), printed.getvalue()

    return case


def quick_cases(folder: Path) -> dict[str, Case]:
    """Return documents written by hand, right and wrong, and files of each kind: each takes milliseconds."""
    parts = [["ask", 0, [[[1], 1, None], [[0], 2, [0, 4]], [[-1], 3, None]]]]
    formula = [["acceptance", [["0", "1"], ["1", "0"]]]]
    solved = {"polynomials": [*POLYNOMIALS, []], "functions": [*FUNCTIONS, ["0", []]]}
    solved["coins"] = [*COINS, ["draw", [6, 4], [None, 1]]]
    empty = [parts[0], ["leaf", 2, []], ["leaf", 4, []], ["empty", [["-1", [4], None], ["1", [0], None]]]]
    right = {
        "right": document(),
        "right but for two regions": document(
            nodes=[["ask", 0, [[[1], 1, None], [[0], 2, None], [[-1], 3, None]]], ["leaf", 2, []], ["z3"], ["z3"]]
        ),
        "right with a formula": document(formulas=formula, nodes=[["leaf", 2, [0]]]),
        "right with all nodes": document(**solved, nodes=[parts[0], ["outside", 0], ["leaf", 4, []], ["z3"]]),
        "right with an empty region": document(**solved, nodes=empty),
        "right with divisors": document(
            functions=[["1", [[0, 1]]], ["-1", [[1, 1]]], ["1", [[0, 2], [0, -1]]], ["1", [[4, 1], [4, -1]]]],
            polynomials=[*POLYNOMIALS, [["1", [0, 0]], ["1", [1, 0]]]],
        ),
        "right with a coin below a coin": document(
            coins=[*EMIT, ["draw", [0, 1], [0, 1]], ["flip", [5, 5], [2, 2]]], nodes=[["leaf", 3, []]]
        ),
        "right where half of the draft's mass is positive": document(
            polynomials=[*POLYNOMIALS, [["1/2", [0, 1]]], POLYNOMIALS[2]],
            functions=[*FUNCTIONS, ["1", [[0, 1], [2, 1], [5, -1]]]],
            coins=[*COINS, ["draw", [6, 1], [0, 1]]],
            nodes=[["ask", 4, [[[1], 1, None], [[0, -1], 2, None]]], ["leaf", 4, []], ["leaf", 2, []]],
        ),
        "right with an emission of more entries": document(coins=[["emit", "0", "1"], *COINS[1:]]),
        "right with two tokens": document(
            coins=[
                *(["emit", one + two] for one in "01" for two in "01"),
                *(["draw", [0, 1], below] for below in ([0, 1], [2, 3], [4, 5])),
            ],
            wanted=[[one + two, [["target", int(one)], ["target", int(two)]]] for one in "01" for two in "01"],
            nodes=[["leaf", 6, []]],
        ),
        "one token": document(laws=[["target", 2], ["draft", 2], ["one", 1]]),
        "a scalar": document(
            laws=[["target", 2]], scalars=["γ"], nodes=[["ask", 3, [[[1, 0], 1, None]]], ["leaf", 2, []]]
        ),
    }
    text = json.dumps(right["right"])
    _ = (folder / "right.json").write_text(text, encoding="utf-8")
    _ = (folder / "right.json.gz").write_bytes(gzip.compress(text.encode()))
    _ = (folder / "forged.json").write_text(json.dumps(document(nodes=[["z3"]])), encoding="utf-8")
    _ = (folder / "twice.json").write_text(text[:-1] + ', "theorem": "another"}', encoding="utf-8")
    _ = (folder / "other.json").write_text('{"format": "another"}', encoding="utf-8")
    _ = (folder / "deep.json").write_text("[" * 100_000, encoding="utf-8")
    _ = (folder / "broken.json.gz").write_bytes(gzip.compress(text.encode())[:10] + b"nothing")
    found = {words: checked(own) for words, own in (*right.items(), *attacks())}
    files = ("right.json", "right.json.gz", "forged.json", "twice.json", "other.json", "deep.json", "broken.json.gz")
    found |= {name: started(folder / name) for name in (*files, "none.json")}
    found |= {f"{name} and more": started(folder / name, folder / "other") for name in ("right.json", "right.json.gz")}
    found["a function"] = in_words(lambda module: module.check(document(), "mine.py:verify"))
    return found | {"as a script": as_script(str(folder / "right.json"), str(folder / "other"))}


def cases(folder: Path) -> dict[str, Case]:
    """Return the quick cases, certificates of theorems, and those changed by hand."""
    right = [certificate(*theorem) for theorem in (*SMALL, K_SEQ, FORMULA)]
    found = quick_cases(folder) | {f"right {at}": checked(own) for at, own in enumerate(right)}
    for words, change in BY_HAND.items():
        for own in (right[0], right[3], right[5]):
            forgery = deepcopy(own)
            with contextlib.suppress(StopIteration):
                change(forgery)
                found[f"{words} {len(found)}"] = checked(forgery)
    return found


_SIGN = "sign = -1 if one and one[max(one)] < 0 else 1"
_CHILDREN = "for function, child in zip(*self.document['coins'][at][1:], strict=False):"
EXPLAINED = (
    (_SIGN, _SIGN.replace("< 0", "<= 0")),  # a fact is its own negative with the opposite signs
    ("if at not in self.trees:", "if True:"),  # computed again
    (_CHILDREN, _CHILDREN.replace("False", "True")),  # `tree` has compared the lengths
)
"""Changes of the checker that leave it as it is, as (line before, line after)."""


def main() -> int:
    """Print each change of the checker that no case notices."""
    with tempfile.TemporaryDirectory() as folder:
        living = survivors(Path(check_proof.__file__), cases(Path(folder)), EXPLAINED)
    print(*living, f"{len(living)} changes live", sep="\n")
    return int(bool(living))


if __name__ == "__main__":
    raise SystemExit(main())
