"""Parts of the checker of followed samplers, called one by one: stand-ins for random numbers, cuts, the command."""

from __future__ import annotations

import gzip
import json
import sys
from collections.abc import Callable
from contextlib import redirect_stdout
from fractions import Fraction
from io import StringIO
from pathlib import Path
from tempfile import TemporaryDirectory
from types import ModuleType
from typing import Any

from proofs_tests.certificates.followed import plain
from proofs_tests.certificates.followed_forgeries import toy

THREE_EVEN = ["nt", [1], [Fraction(1)] * 3, [2]]
WEIGHED = ["t", [0], [Fraction(1, 4), Fraction(3, 4)], [0, 1]]
PAIR = ["e", [3, 4], [Fraction(1, 4), Fraction(3, 4)], [1]]


def script_of(
    module: ModuleType, draws: str, known: dict[int, Any] | None = None, turn: int = 0, bits: int = 53
) -> Any:
    """Return a script of a path with these numbers."""
    script: Any = module.Script()
    script.draws, script.known, script.turn, script.turns, script.bits, script.taken = (
        draws,
        known or {},
        turn,
        3,
        bits,
        "",
    )
    return script


def of_python(module: ModuleType) -> Any:
    """Draw by each of the stand-ins for Python's random."""
    script = script_of(module, "unununu", {1: THREE_EVEN}, turn=1)
    names = module.pythons(script.take)
    random = names["Random"](7)
    drawn = [names["random"](), names["randrange"](3), names["choices"]([0, 1], [1, 1]), random.choice("abcd")]
    drawn += [names["uniform"](1, 3), random.randint(5, 5)]
    return [*drawn, script.taken, script.turns, names["getrandbits"], names["Random"].__name__]


def of_numpy(module: ModuleType) -> Any:
    """Draw by each of the stand-ins for np.random."""
    cuts: dict[int, Any] = {
        at: ["u", Fraction(at, 32), Fraction(at + 1, 32)] for at in (0, 2, 4, 12, 14, 16, 18, 20, 22)
    }
    script = script_of(module, "u" * 6 + "n" * 5 + "uuuuuuuuuuuuu" + "e" * 5 + "nn", cuts, turn=2)
    names = module.numpys(script.take)
    rng = names["default_rng"](3)
    drawn = [rng.random(), rng.random(2, dtype="float32"), names["rand"](), names["rand"](2), rng.integers(3)]
    drawn += [names["randint"](4, 7), rng.integers(-1, 1), rng.choice([7, 8]), rng.choice(3)]
    drawn += [rng.choice(3, p=[0.25, 0.25, 0.5]), rng.choice([5, 6], p=[0.125, 0.375], size=1)]
    drawn += [rng.choice(2, p=[0.375, 0.125])]
    drawn += [
        rng.uniform(1, 3),
        names["ranf"](),
        names["sample"](),
        names["random_sample"](),
        names["uniform"](size=(2, 1)),
    ]
    drawn += [rng.uniform(), rng.random((1, 2)), names["rand"](1)]
    drawn += [rng.exponential(2), rng.standard_exponential(), names["exponential"](3, 1), rng.standard_exponential(1)]
    drawn += [rng.exponential(), rng.choice(4, 2)]
    shown = [
        (getattr(one, "dtype", None), getattr(one, "shape", None), getattr(one, "tolist", lambda: 0)()) for one in drawn
    ]
    return str((shown, script.taken, names["normal"].__name__, names["Generator"].__name__))


def of_torch(module: ModuleType) -> Any:
    """Draw by each of the stand-ins for torch."""
    import torch

    one = ["t", [6], [Fraction(1, 4), Fraction(3, 4)], [1]]
    cuts: dict[int, Any] = {at: ["u", Fraction(at, 8), Fraction(at + 1, 8)] for at in range(5)}
    script = script_of(module, "uuuuutttt", cuts | {5: one, 7: one}, turn=2)
    names = module.torches(script.take)
    rows = torch.tensor([[0.25, 0.75], [1.0, 0.0]])
    drawn = [names["rand"](2), names["rand"]((1,), generator=None), names["rand_like"](rows[0])]
    drawn += [names["multinomial"](rows, 1), names["multinomial"](rows[0]), names["multinomial"](rows[:1])]
    return str((drawn, script.taken, script.turns, names["randn"], names["bernoulli"], names["normal"]))


def of_torch_refused(module: ModuleType) -> Any:
    """Draw two tokens without replacement."""
    import torch

    names = module.torches(script_of(module, "tt").take)
    try:
        return names["multinomial"](torch.tensor([0.5, 0.5]), 2).tolist()
    except RuntimeError:
        return "refused"


def of_script(module: ModuleType) -> Any:
    """Take the numbers of a path, at each turn."""
    known: dict[int, Any] = {0: ["u", Fraction(1, 4), Fraction(1, 2)], 2: ["nt", [2], [Fraction(1)] * 2, [1]]}
    known |= dict.fromkeys((3, 4), PAIR) | {7: ["u", Fraction(0), Fraction(1, 2**60)]}
    known |= {at: ["e", [8, 9], [Fraction(0), Fraction(3, 4)], [1]] for at in (8, 9)}
    shown: list[Any] = []
    for turn, bits in ((0, 53), (1, 53), (2, 53), (3, 53), (5, 24), (4, 24), (0, 11)):
        script = script_of(module, "uunee" + "etuee", known, turn, bits)
        for kind in script.draws:
            shown.append(script.take(kind, {"n": [1, 1], "t": [1, 3, 0, 4]}.get(kind, ())))
        shown += [script.taken, script.turns]
    return str(shown)


def taken(draws: str, known: Any, kind: str, weights: Any = (), turn: int = 0) -> Callable[[ModuleType], Any]:
    """Return a case: a number is taken from a script; what was taken, and how many turns there are, is seen."""

    def case(module: ModuleType) -> Any:
        script = script_of(module, draws, known, turn)
        try:
            return script.take(kind, weights), script.taken, script.turns
        except ValueError:
            return "refused", script.taken

    return case


UNITS: dict[str, Callable[[ModuleType], Any]] = {
    "Python's random": of_python,
    "np.random": of_numpy,
    "a script": of_script,
    "a uniform": taken("u", {}, "u"),
    "another kind": taken("u", {}, "e"),
    "none left": taken("", {}, "u"),
    "by these weights": taken("t", {0: WEIGHED}, "t", [1, 3]),
    "by these weights, turned": taken("tu", {0: WEIGHED}, "t", [1, 3], turn=5),
    "by other weights": taken("t", {0: WEIGHED}, "t", [1, 2]),
    "by fewer weights": taken("t", {0: WEIGHED}, "t", [1]),
    "by any weights": taken("t", {}, "t", [0, 1, 0, 2, 1, 1], turn=2),
    "many turns": taken("n", {}, "n", [1] * 7, turn=6),
}
"""Parts of the checker that stand in for random numbers, called one by one."""

KNOWN: dict[int, Any] = {
    0: ["u", Fraction(1, 4), Fraction(1, 2)],
    1: ["t", [1], [Fraction(1, 4), Fraction(3, 4)], [0, 1]],
}


def parts(name: str, *about: Any) -> Callable[[ModuleType], Any]:
    """Return a case: the parts that a division makes of what is known."""
    return lambda module: str(getattr(module, name)(KNOWN, *about))


UNITS |= {
    "a cut": parts("cut", 0, ["3/8"]),
    "two cuts": parts("cut", 0, ["3/8", "7/16"]),
    "a cut twice": parts("cut", 0, ["3/8", "3/8"]),
    "a cut outside": parts("cut", 0, ["3/4"]),
    "a cut of a token": parts("cut", 1, ["3/8"]),
    "a first cut": parts("cut", 5, ["3/8"]),
    "a race goes on": parts("race", [1], ["1/4", "3/4"], [[0], [1]]),
    "a race goes on, in one": parts("race", [1], ["1/4", "3/4"], [[1, 0]]),
    "a race goes on by other rates": parts("race", [1], ["1/2", "1/2"], [[0], [1]]),
    "a race of a cut": parts("race", [0], ["1/2", "1/2"], [[0], [1]]),
    "a race of a known number": parts("race", [1, 2], ["1/4", "3/4"], [[0], [1]]),
    "a race of a known number at last": parts("race", [2, 1], ["1/4", "3/4"], [[0], [1]]),
    "a race of two": parts("race", [2, 3], ["1/4", "3/4"], [[0], [1]]),
    "an even race of two": parts("race", [2, 3], ["1/2", "1/2"], [[0], [1]]),
    "an even draw": parts("race", [4], ["1/2", "1/2"], [[0], [1]]),
    "a draw with a 0": parts("race", [4], ["1/2", "0", "1/2"], [[0], [2]]),
    "a draw with a 0 that wins": parts("race", [4], ["1/2", "0", "1/2"], [[0], [1], [2]]),
    "a draw below 0": parts("race", [4], ["1/2", "-1/2", "1"], [[0], [1], [2]]),
    "a draw a little below 0": parts("race", [4], ["1/2", "-1/4"], [[0], [1]]),
    "a draw with nobody": parts("race", [4], ["1/2", "1/2"], [[0], [1], []]),
    "a draw of a part": parts("race", [4], ["1/2", "1/2"], [[0]]),
}


def of_the_command(module: ModuleType) -> Any:
    """Run the command on files: right ones, wrong ones, zipped ones."""
    said: list[Any] = []
    exact = {"numbers": "fractions"}
    right, wrong = toy(Fraction(1, 4), exact), toy(Fraction(1, 8), exact)
    place = f"{Path(plain.__file__).parent}/plain.py:below"
    with TemporaryDirectory() as folder:
        for name, text in (("right", json.dumps(right)), ("wrong", json.dumps(wrong)), ("none", "{"), ("other", "{}")):
            for end in (".json", ".json.gz"):
                file = Path(folder) / f"{name}{end}"
                _ = file.write_bytes(gzip.compress(text.encode()) if end.endswith("z") else text.encode())
                out = StringIO()
                with redirect_stdout(out):
                    code = module.main([str(file), "--function", place])
                said.append((code, out.getvalue().replace(folder, "")))
        with redirect_stdout(out):
            said.append(module.main([str(Path(folder) / "right.json")]))
    return said


def of_files(module: ModuleType) -> Any:
    """Load functions of a package, of which one file is written anew."""
    with TemporaryDirectory() as place:
        folder, found = Path(place) / "a_package" / "inside", list[Any]()
        folder.mkdir(parents=True)
        for empty in (folder.parent, folder):
            _ = (empty / "__init__.py").write_text("", encoding="utf-8")
        _ = (folder.parent / "beside.py").write_text("def one():\n    return 1\n", encoding="utf-8")
        try:
            for value in (1, 2):
                inner = f"import sys\nfrom ..beside import one\n\nclass Box:\n    def two():\n        return {value}\n"
                inner += "\nflags = sys.pycache_prefix, sys.dont_write_bytecode\n"
                _ = (folder / "inner.py").write_text(inner, encoding="utf-8")
                found += [module.loaded(f"{folder}/inner.py:{name}") for name in ("one", "Box.two", "flags")]
                found[-3:] = found[-3](), found[-2](), found[-1]
        finally:
            for name in [name for name in sys.modules if name.startswith("a_package")]:
                del sys.modules[name]
    return found


UNITS |= {
    "the command": of_the_command,
    "files": of_files,
    "a narrow interval": taken("u", {0: ["u", Fraction(1, 2), Fraction(1, 2) + Fraction(1, 2**50)]}, "u"),
    "a race that goes on": taken("ee", {0: ["e", [0, 1], [Fraction(1, 4), Fraction(3, 4)], [0, 1]]}, "e"),
    "a race of one": taken("e", {}, "e"),
}

UNITS_IN_TORCH = {"torch": of_torch, "torch without replacement": of_torch_refused}
