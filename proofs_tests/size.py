"""Size of the product: lines, lines of code, files, files in a folder, and the lines that each verdict loads.

`python -m proofs_tests.size` prints them, folder by folder.
"""

from __future__ import annotations

import ast
import subprocess
import sys
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).parent.parent
PRODUCT = ("spec_math", "torch_bridge")

VERDICTS = {
    "check_lossless": "from spec_math import check_lossless",
    "check_lossless_block": "from spec_math import check_lossless_block",
    "audit.check_sampler": "from spec_math.audit import check_sampler",
    "torch_bridge.check_sampler": "from torch_bridge import check_sampler",
}
"""What a user imports for each verdict."""


def files(*folders: str) -> list[Path]:
    """The Python files below folders of the project."""
    return [path for folder in folders or PRODUCT for path in sorted((ROOT / folder).rglob("*.py"))]


def kinds(source: str) -> Counter[str]:
    """Count the lines of a file by kind: code, docstring, doctest, import, comment or blank."""
    lines = [line.strip() for line in source.splitlines()]
    found = ["blank" if not line else "comment" if line.startswith("#") else "code" for line in lines]
    for node in ast.walk(ast.parse(source)):
        for at, kind in _marked(node, lines):
            found[at] = kind
    return Counter(found)


def _marked(node: ast.AST, lines: list[str]) -> Iterator[tuple[int, str]]:
    if isinstance(node, ast.Import | ast.ImportFrom):
        yield from ((at, "import") for at in range(node.lineno - 1, node.end_lineno or node.lineno))
    if isinstance(node, ast.Module | ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
        for text in node.body:
            if (
                isinstance(text, ast.Expr)
                and isinstance(text.value, ast.Constant)
                and isinstance(text.value.value, str)
            ):
                yield from _of_a_docstring(text, lines)


def _of_a_docstring(text: ast.Expr, lines: list[str]) -> Iterator[tuple[int, str]]:
    shown = False
    for at in range(text.lineno - 1, text.end_lineno or text.lineno):
        shown = bool(lines[at]) and (lines[at].startswith(">>>") or (shown and lines[at] != '"""'))
        if lines[at]:
            yield at, "doctest" if shown else "docstring"


def loaded(statement: str) -> tuple[int, int]:
    """Return the files of the product that a fresh Python loads for a statement, and their lines."""
    program = (
        f"import sys\n{statement}\n"
        f"parts = {PRODUCT!r}\n"
        "print(*{m.__file__ for n, m in list(sys.modules.items())"
        " if n.split('.')[0] in parts and getattr(m, '__file__', None)}, sep='\\n')"
    )
    run = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True, cwd=ROOT)
    paths = [Path(line) for line in run.stdout.split("\n") if line.endswith(".py")]
    return len(paths), sum(len(path.read_text(encoding="utf-8").splitlines()) for path in paths)


def fullest(*folders: str) -> tuple[int, str]:
    """Return the most Python files in one folder, and its name."""
    counted = Counter(str(path.parent.relative_to(ROOT)) for path in files(*folders))
    name, count = counted.most_common(1)[0]
    return count, name


def totals(*folders: str) -> tuple[int, Counter[str]]:
    """Return the number of files, and their lines by kind."""
    found = [kinds(path.read_text(encoding="utf-8")) for path in files(*folders)]
    return len(found), sum(found, Counter[str]())


def main() -> None:
    """Print the table."""
    rooms = sorted({str(Path(*path.relative_to(ROOT).parts[:2])) for path in files()})
    rows = [("all", *totals()), *((room, *totals(room)) for room in rooms if (ROOT / room).is_dir())]
    lines = [f"{'':32}{'files':>7}{'lines':>8}{'code':>8}{'docstr.':>8}{'doctest':>8}{'import':>8}{'blank':>8}"]
    for name, number, by_kind in rows:
        shares = [by_kind[kind] for kind in ("code", "docstring", "doctest", "import", "blank")]
        lines.append(f"{name:32}{number:7,}{by_kind.total():8,}" + "".join(f"{share:8,}" for share in shares))
    lines.append("the fullest folder has {} files: {}".format(*fullest()))
    lines += [f"{name} loads {loaded(text)[1]:,} lines in {loaded(text)[0]} files" for name, text in VERDICTS.items()]
    _ = sys.stdout.write("\n".join(lines) + "\n")


if __name__ == "__main__":
    main()
