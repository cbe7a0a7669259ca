"""The rules of the code, held by reading the source: imports run downhill, no comparison is lost, all is shown."""

from __future__ import annotations

import ast
import re
from collections.abc import Callable, Iterable, Iterator, Sized
from functools import cache
from importlib import import_module
from pathlib import Path
from textwrap import dedent

import pytest

from proofs_tests.floors import HEIGHT, imported
from spec_math import SCHEMES

ROOT = Path(__file__).parent.parent
LONGEST = 500


AUDITS = {"audit", "pathwise", "samplers", "sequential", "traces", "zoo"}
"""Packages that know each other: the known bugs are judged, and verdicts say which of them a sampler resembles."""

COMPARING = {"allclose", "array_equal", "array_equiv", "isclose", "is_close", "equal", "close"}

LIBRARY = sorted((ROOT / "spec_math").rglob("*.py"))
CHECKED = [
    path
    for folder in ("spec_math", "proofs_tests", "torch_bridge", "benchmarks", "examples")
    for path in sorted((ROOT / folder).rglob("*.py"))
]


def name_of(path: Path) -> str:
    return str(path.relative_to(ROOT))


@cache
def parsed(path: Path) -> ast.Module:
    return ast.parse(path.read_text(encoding="utf-8"))


def found_in(paths: Iterable[Path], reading: Callable[[ast.Module], Sized]) -> dict[str, Sized]:
    """What a reading finds, by the name of the file; files where it finds nothing are left out."""
    return {name_of(path): found for path in paths if (found := reading(parsed(path)))}


def part(name: str) -> str:
    """The part of the library that a full name belongs to: spec_math.<part>.…"""
    return name.split(".")[1]


def uphill(tree: ast.Module, own: str) -> list[str]:
    """Imports that do not run downhill. A command may import torch_bridge while it runs: torch is an extra, and what a
    user calls from the command line is what there is. Public samplers are mostly torch's."""
    found: list[str] = []
    at_the_top = {node.lineno for node in tree.body}
    for line, name in imported(tree):
        late = own == "cli" and line not in at_the_top
        if (late or own == "field") and name.split(".")[0] == "torch_bridge":
            continue
        if name == "a relative import" or name.split(".")[0] in ("torch_bridge", "proofs_tests", "benchmarks"):
            found.append(f"line {line}: {name}")
        elif (
            name.startswith("spec_math.")
            and not {part(name), own} <= AUDITS
            and part(name) != own
            and HEIGHT[part(name)] >= HEIGHT[own]
        ):
            found.append(f"line {line}: {name} is not below {own}")
    return found


def thrown_away(tree: ast.Module) -> list[int]:
    """Lines of statements that compare and drop the answer."""
    return [
        node.lineno
        for node in ast.walk(tree)
        if isinstance(node, ast.Expr) and (_compares(node.value) or _calls_comparison(node.value))
    ]


def _compares(value: ast.expr) -> bool:
    if isinstance(value, ast.BoolOp):
        return any(_compares(part) for part in value.values)
    if isinstance(value, ast.UnaryOp):
        return isinstance(value.op, ast.Not) or _compares(value.operand)
    return isinstance(value, ast.Compare)


def _calls_comparison(value: ast.expr) -> bool:
    if not isinstance(value, ast.Call):
        return False
    called = value.func
    name = called.attr if isinstance(called, ast.Attribute) else called.id if isinstance(called, ast.Name) else ""
    return name in COMPARING


def public_functions(tree: ast.Module) -> Iterator[ast.FunctionDef]:
    for node in tree.body:
        if isinstance(node, ast.FunctionDef) and not node.name.startswith("_"):
            yield node


def without_example(tree: ast.Module) -> list[str]:
    """Functions that the face of a package names, without a doctest; a reader of files has no file here."""
    shown = (">>>", "[bold]Example")
    return [
        function.name
        for function in public_functions(tree)
        if function.name in FACES
        and not any(sign in (ast.get_docstring(function) or "") for sign in shown)
        and not any(argument.arg == "path" for argument in function.args.args)
    ]


def named_by_faces() -> set[str]:
    """What `__all__` names in the packages of the library."""
    faces = (path.parent.relative_to(ROOT) for path in LIBRARY if path.name == "__init__.py")
    return {name for face in faces for name in getattr(import_module(".".join(face.parts)), "__all__", ())}


FACES = named_by_faces()


def empty_examples(tree: ast.Module) -> list[str]:
    """Functions whose only example is their own name, which every function passes."""
    said = ((function.name, ast.get_docstring(function) or "") for function in public_functions(tree))
    return [
        name
        for name, text in said
        if ">>>" in text and not re.sub(r">>> [\w.]+\.__(?:name|module)__\n.*", "", text).count(">>>")
    ]


# What would end the process, take its signals, or need a model of transformers.
NO_EXAMPLE = {"main", "guard", "load", "windows"}

OTHERS = {"spec_math/field/chain_kernel.py", "spec_math/field/recorded.py"}
"""Files with functions that share their name with a public one."""


def asserts(tree: ast.Module) -> list[int]:
    return [node.lineno for node in ast.walk(tree) if isinstance(node, ast.Assert)]


def test_imports_run_downhill() -> None:
    rooms = {path: path.relative_to(ROOT / "spec_math").parts[0].removesuffix(".py") for path in LIBRARY}
    assert set(rooms.values()) - {"__init__"} <= set(HEIGHT), "put each on a floor"
    found = {name_of(path): uphill(parsed(path), own) for path, own in rooms.items() if own != "__init__"}
    assert {name: lines for name, lines in found.items() if lines} == {}


@pytest.mark.parametrize("folder", ["spec_math", "torch_bridge", "proofs_tests"])
def test_no_file_waits_for_itself(folder: str) -> None:
    """Within a package too, no circle of imports."""
    paths = [path for path in CHECKED if path.relative_to(ROOT).parts[0] == folder]
    assert waiting({".".join(path.relative_to(ROOT).with_suffix("").parts): path for path in paths}) == []


def waiting(files: dict[str, Path]) -> list[str]:
    """The modules that stand in a circle of imports, or need one that does."""
    needs = {
        module: {target for _, name in imported(parsed(path)) if (target := _file(name, files)) and target != module}
        for module, path in files.items()
        if not module.endswith("__init__")
    }
    settled: set[str] = set()
    while ready := {module for module, wanted in needs.items() if module not in settled and wanted <= settled}:
        settled |= ready
    return sorted(set(needs) - settled)


def test_a_circle_of_imports_is_found(tmp_path: Path) -> None:
    """The control: two files that import each other, one of them inside a function, and one that needs neither."""
    sources = {"p.a": "from p.b import x", "p.b": "def f():\n    import p.a", "p.c": "from p.d import y", "p.d": ""}
    files = {name: tmp_path / f"{name}.py" for name in sources}
    assert all(files[name].write_text(text) >= 0 for name, text in sources.items())
    assert waiting(files) == ["p.a", "p.b"]


def from_tests(tree: ast.Module) -> list[str]:
    """Modules of tests that are imported: what two tests share stands in a module without tests."""
    found = (name.split(".") for _, name in imported(tree) if name.startswith("proofs_tests."))
    return [".".join(parts) for parts in found if any(part.startswith("test_") for part in parts[:-1])] + [
        name for _, name in imported(tree) if name in TESTS
    ]


TESTS = {".".join(path.relative_to(ROOT).with_suffix("").parts) for path in CHECKED if path.name.startswith("test_")}


def test_nothing_is_imported_from_a_test() -> None:
    assert found_in(CHECKED, from_tests) == {}


def test_an_import_from_a_test_is_found() -> None:
    """The control."""
    wrong = "from proofs_tests.test_structure import parsed\nfrom proofs_tests import test_structure\n"
    right = "from proofs_tests.floors import FLOORS\nfrom spec_math.token_level.k_sequential import test_acceptance\n"
    assert len(from_tests(ast.parse(wrong))) == 2
    assert from_tests(ast.parse(right)) == []


def _file(name: str, files: dict[str, Path]) -> str | None:
    """The file behind a full name: the module itself, or the one that a name was taken from; packages do not count."""
    for candidate in (name, name.rpartition(".")[0]):
        if candidate in files:
            return candidate
    return None


def test_no_comparison_is_thrown_away() -> None:
    assert found_in(CHECKED, thrown_away) == {}


def test_no_file_is_too_long() -> None:
    lines = {name_of(path): len(path.read_text(encoding="utf-8").splitlines()) for path in LIBRARY}
    assert {name: length for name, length in lines.items() if length > LONGEST} == {}


def test_library_code_does_not_assert() -> None:
    """`python -O` drops assertions, and with them the check."""
    assert found_in(LIBRARY, asserts) == {}


def test_every_public_function_shows_an_example() -> None:
    """Of the library; what a command prints is shown by the tests of commands."""
    files = [path for path in LIBRARY if name_of(path) not in OTHERS and "studies" not in path.parts]
    assert found_in(files, without_example) == {}


def test_no_example_is_empty() -> None:
    assert found_in(CHECKED, lambda tree: set(empty_examples(tree)) - NO_EXAMPLE) == {}


def test_an_empty_example_is_found() -> None:
    """The control."""
    empty = 'def f():\n    """Say.\n\n    >>> f.__name__\n    \'f\'\n    """\n'
    assert empty_examples(ast.parse(empty)) == ["f"]
    assert empty_examples(ast.parse(empty.replace("f.__name__", "f()"))) == []


@pytest.mark.parametrize("scheme", SCHEMES, ids=lambda scheme: scheme.name)
def test_every_scheme_has_its_test_file(scheme: object) -> None:
    stem = scheme.acceptance.__module__.rpartition(".")[2]  # type: ignore[attr-defined]
    assert (ROOT / "proofs_tests" / "token_level" / f"test_{stem}.py").is_file()


def test_schemes_have_different_names_and_all_their_parts() -> None:
    assert len({scheme.name for scheme in SCHEMES}) == len(SCHEMES)
    for scheme in SCHEMES:
        assert scheme.emit is not None
        assert scheme.emit.__module__ == scheme.verify.__module__
        assert scheme.acceptance.__module__ == scheme.test_acceptance.__module__


# Each reading above meets what it must find.

WRONG = dedent("""
    import numpy as np
    import torch_bridge.verify
    from spec_math.studies import arguments as progress
    from . import sibling
    def shown(x):
        '''Say it.

        >>> shown(1)
        1
        '''
        assert x
        x == 1
        np.allclose(x, 1)
        not x
        x > 1 and x < 2
        return x
    def exact(x):
        '''Say it.'''
        import torch_bridge
        array_equal(x, x)
        print(x == 1)
        return x
    def _private(x):
        return x
""")


def test_the_readings_find_what_they_look_for() -> None:
    tree = ast.parse(WRONG)
    lines = WRONG.splitlines()
    assert [lines[line - 1].strip() for line in sorted(thrown_away(tree))] == [
        "x == 1",
        "np.allclose(x, 1)",
        "not x",
        "x > 1 and x < 2",
        "array_equal(x, x)",
    ]
    assert [lines[line - 1].strip() for line in asserts(tree)] == ["assert x"]
    assert without_example(tree) == ["exact"]
    assert without_example(
        ast.parse("def law(path): ...\ndef run():\n    '[bold]Example[/bold]'\n@cache\ndef law(): ...")
    ) == ["law"]
    assert len(uphill(tree, "token_level")) == 4
    assert len(uphill(tree, "cli")) == 2
    assert len(CHECKED) > len(LIBRARY) > 40


def test_what_is_found_is_told_by_the_name_of_its_file() -> None:
    """The control: this file asserts, and none of the library does."""
    assert list(found_in([*LIBRARY[:3], Path(__file__)], asserts)) == ["proofs_tests/test_structure.py"]


PRODUCT = [*LIBRARY, *sorted((ROOT / "torch_bridge").rglob("*.py"))]
QUESTIONS = {"How", "That", "What", "When", "Where", "Whether", "Which", "Who", "Why"}


def opened_by_a_question(source: str) -> list[str]:
    """First sentences of docstrings that ask in place of naming their object."""
    found: list[str] = []
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef):
            said = (ast.get_docstring(node) or "-").partition("\n")[0]
            found += [said] if said.split()[0].strip(",:") in QUESTIONS else []
    return found


def test_first_sentences_name_their_object() -> None:
    assert opened_by_a_question('"""What a block costs."""') == ["What a block costs."]
    found = {path.name: opened_by_a_question(path.read_text(encoding="utf-8")) for path in PRODUCT}
    assert {name: said for name, said in found.items() if said} == {}
