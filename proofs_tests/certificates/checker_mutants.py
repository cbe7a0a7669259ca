"""Wrong versions of a checker: each comparison, condition, constant, raise and statement of its file changed by itself.

`survivors(path, cases)` returns the changes that no case notices. A case is a function of the checker's module; its
outcome is what it returns, or "rejected" where it raises ValueError, or the name of another exception. A change is
noticed where the outcome of some case is another one than that of the file as it stands.
"""

from __future__ import annotations

import ast
import contextlib
import io
import signal
import sys
import textwrap
from collections.abc import Callable, Iterator, Mapping, Sequence
from copy import deepcopy
from dataclasses import dataclass
from pathlib import Path
from types import ModuleType
from typing import Any

Case = Callable[[ModuleType], Any]

SECONDS = 2.0
"""The processor time that a case is given; a change that makes it longer is noticed."""

COMPARED: dict[type[ast.cmpop], tuple[type[ast.cmpop], ...]] = {
    ast.Eq: (ast.NotEq,),
    ast.NotEq: (ast.Eq,),
    ast.Lt: (ast.LtE, ast.GtE),
    ast.LtE: (ast.Lt, ast.Gt),
    ast.Gt: (ast.GtE, ast.LtE),
    ast.GtE: (ast.Gt, ast.Lt),
    ast.In: (ast.NotIn,),
    ast.NotIn: (ast.In,),
    ast.Is: (ast.IsNot,),
    ast.IsNot: (ast.Is,),
}
COMPUTED: dict[type[ast.operator], type[ast.operator]] = {
    ast.Add: ast.Sub,
    ast.Sub: ast.Add,
    ast.Mult: ast.Div,
    ast.Div: ast.Mult,
    ast.FloorDiv: ast.Mult,
    ast.Mod: ast.Mult,
    ast.Pow: ast.Mult,
    ast.BitOr: ast.BitAnd,
    ast.BitAnd: ast.BitOr,
}
NAMED = {"all": "any", "any": "all", "min": "max", "max": "min"}


@dataclass(frozen=True)
class Mutant:
    """A change: the line that it is in, as it was and as it is, and the whole source."""

    line: int
    before: str
    after: str
    source: str

    def __str__(self) -> str:
        return f"line {self.line}:\n  - {self.before}\n  + {self.after}"


def mutants(source: str, every: int = 1) -> list[Mutant]:
    """Return one in `every` change of a source; messages, docstrings, imports and annotations stay."""
    # One function at a time, so that the others are not written anew.
    pieces = [piece for statement in ast.parse(source).body for piece in _pieces(statement)]
    plain = [_written(statement, depth) for statement, depth in pieces]
    found: list[Mutant] = []
    changes = [(at, place, number) for at, (one, _) in enumerate(pieces) for place, number in _changes(one)]
    for at, place, number in changes[::every]:
        statement, depth = pieces[at]
        copy = ast.Module([deepcopy(statement)], [])
        node: Any = list(ast.walk(copy))[place]
        line = getattr(node, "lineno", 0)
        _edits(node)[number]()
        text = _written(ast.fix_missing_locations(copy), depth)
        lines = zip(plain[at].splitlines(), text.splitlines(), strict=False)
        changed = [(old, new) for old, new in lines if old != new]
        if changed:
            before, after = changed[0]
            whole = "\n".join([*plain[:at], text, *plain[at + 1 :]])
            found.append(Mutant(line, before.strip(), after.strip(), whole))
    return found


def _pieces(statement: ast.stmt) -> Iterator[tuple[ast.stmt, int]]:
    """Return the functions of a class by themselves, with their depth, after its first lines."""
    if isinstance(statement, ast.ClassDef) and isinstance(statement.body[0], ast.Expr):
        head, *others = statement.body
        statement.body = [head]
        yield statement, 0
        yield from ((one, 1) for one in others)
    else:
        yield statement, 0


def _written(statement: ast.AST, depth: int) -> str:
    return textwrap.indent(ast.unparse(statement), "    " * depth)


def _changes(statement: ast.stmt) -> Iterator[tuple[int, int]]:
    """Return the changes of a statement: the place of a node, and the number of an edit of it."""
    tree = ast.Module([statement], [])
    skipped = set(_skipped(tree))
    for place, node in enumerate(ast.walk(tree)):
        if id(node) not in skipped:
            yield from ((place, number) for number in range(len(_edits(node))))


def _skipped(tree: ast.Module) -> Iterator[int]:
    """Nodes of messages, docstrings, imports, annotations and type aliases."""
    for node in ast.walk(tree):
        parts: list[ast.AST | None] = []
        if isinstance(node, ast.Raise):
            parts = [node.exc]
        elif isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant):
            parts = [node]
        elif isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "demand":
            parts = list(node.args[1:])
        elif isinstance(node, ast.FunctionDef):
            parts = [node.returns]
        elif isinstance(node, ast.arg | ast.AnnAssign):
            parts = [node.annotation]
        for part in parts:
            yield from (id(one) for one in ast.walk(part)) if part is not None else ()


def _edits(node: Any) -> list[Callable[[], None]]:
    """Return the changes of a node in place."""

    def put(name: str, value: Any) -> Callable[[], None]:
        return lambda: setattr(node, name, value)

    def put_at(items: list[Any], at: int, value: Any) -> Callable[[], None]:
        return lambda: items.__setitem__(at, value)

    def without(items: list[Any], at: int) -> Callable[[], None]:
        return lambda: items.__delitem__(at)

    edits: list[Callable[[], None]] = []
    if isinstance(node, ast.Compare):
        for at, op in enumerate(node.ops):
            edits += [put_at(node.ops, at, other()) for other in COMPARED[type(op)]]
    elif isinstance(node, ast.BoolOp):
        edits.append(put("op", ast.And() if isinstance(node.op, ast.Or) else ast.Or()))
        edits += [without(node.values, at) for at in range(len(node.values))]
    elif isinstance(node, ast.BinOp) and type(node.op) in COMPUTED:
        edits.append(put("op", COMPUTED[type(node.op)]()))
    elif isinstance(node, ast.UnaryOp):
        edits.append(put("op", ast.UAdd() if isinstance(node.op, ast.USub) else ast.USub()))
        if isinstance(node.op, ast.Not):
            edits[-1] = put("operand", ast.UnaryOp(ast.Not(), node.operand))
    elif isinstance(node, ast.Constant):
        if isinstance(node.value, bool):
            edits.append(put("value", not node.value))
        elif isinstance(node.value, int):
            edits += [put("value", node.value + 1), put("value", node.value - 1)]
        elif isinstance(node.value, str):
            edits.append(put("value", f"{node.value}XX"))
        elif isinstance(node.value, float):
            edits += [put("value", node.value * 2), put("value", -node.value)]
    elif isinstance(node, ast.If | ast.IfExp | ast.While):
        edits += [put("test", ast.Constant(value)) for value in (True, False)]
    elif isinstance(node, ast.comprehension):
        edits += [without(node.ifs, at) for at in range(len(node.ifs))]
    elif isinstance(node, ast.Return) and node.value is not None:
        edits.append(put("value", ast.Constant(None)))
    elif isinstance(node, ast.Name) and node.id in NAMED:
        edits.append(put("id", NAMED[node.id]))
    elif isinstance(node, ast.Slice):
        edits += [put(name, None) for name in ("lower", "upper", "step") if getattr(node, name) is not None]
    for name in ("body", "orelse", "finalbody"):
        block = getattr(node, name, None)
        if not isinstance(block, list):
            continue
        for at, statement in enumerate(block):
            kinds = (ast.Raise, ast.Assign, ast.AugAssign, ast.Expr, ast.For, ast.Continue, ast.Break, ast.Delete)
            docstring = isinstance(statement, ast.Expr) and isinstance(statement.value, ast.Constant)
            if isinstance(statement, kinds) and not docstring:
                edits.append(put_at(block, at, ast.Pass()))
    return edits


class _TooLongError(BaseException):
    """A case takes longer than it may."""


def outcome(module: ModuleType, case: Case) -> Any:
    """Return what a case comes to on a module: its value, "rejected", or the name of an exception."""

    def stop(*_: object) -> None:
        raise _TooLongError

    before = signal.signal(signal.SIGPROF, stop)
    _ = signal.setitimer(signal.ITIMER_PROF, SECONDS)
    try:
        return case(module)
    except ValueError:
        return "rejected"
    except (Exception, SystemExit, _TooLongError) as error:
        return type(error).__name__
    finally:
        _ = signal.setitimer(signal.ITIMER_PROF, 0)
        _ = signal.signal(signal.SIGPROF, before)


def as_module(source: str, path: Path) -> ModuleType:
    """Return a source as a module that is not that of the command line."""
    module = ModuleType(path.stem)
    module.__file__ = str(path)
    module.__dict__["source"] = source
    exec(compile(source, str(path), "exec"), module.__dict__)
    return module


def in_words(case: Case) -> Case:
    """The case that also compares the words of a rejection."""

    def told(module: ModuleType) -> Any:
        try:
            return case(module)
        except ValueError as error:
            return str(error)

    return told


def as_script(*arguments: str) -> Case:
    """Return the case that runs a checker's file by itself: its exit code and what it prints."""

    def case(module: ModuleType) -> Any:
        out, before = io.StringIO(), sys.argv
        source = getattr(module, "source", None) or Path(str(module.__file__)).read_text(encoding="utf-8")
        sys.argv = ["check.py", *arguments]
        try:
            with contextlib.redirect_stdout(out), contextlib.redirect_stderr(io.StringIO()):
                exec(compile(source, "check.py", "exec"), {"__name__": "__main__"})
        except SystemExit as left:
            return left.code, out.getvalue()
        finally:
            sys.argv = before
        return None, out.getvalue()

    return case


def survivors(
    path: Path, cases: Mapping[str, Case], explained: Sequence[tuple[str, str]] = (), every: int = 1
) -> list[Mutant]:
    """Return the changes of a checker that no case notices, but for those explained as (line before, line after).

    Cases that noticed a change are asked first about the next. One change in `every` is tried.
    """
    source = path.read_text(encoding="utf-8")
    right = as_module(source, path)
    expected = {name: outcome(right, case) for name, case in cases.items()}
    order, living = list(cases), []
    for mutant in mutants(source, every):
        if (mutant.before, mutant.after) in explained:
            continue
        killer = _killer(mutant, path, cases, expected, order)
        if killer is None:
            living.append(mutant)
        elif killer:
            order.remove(killer)
            order.insert(0, killer)
    return living


def _killer(
    mutant: Mutant, path: Path, cases: Mapping[str, Case], expected: Mapping[str, Any], order: Sequence[str]
) -> str | None:
    """Return the first case that notices a change, "" where it cannot even be loaded, None where none does."""
    try:
        module = as_module(mutant.source, path)
    except (Exception, SystemExit):
        return ""
    return next((name for name in order if outcome(module, cases[name]) != expected[name]), None)
