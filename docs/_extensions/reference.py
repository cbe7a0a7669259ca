"""A reference page for each module, written anew at each build, so that no public name can be missing."""

from __future__ import annotations

import ast
import re
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parents[2]
BAR = re.compile(r"\|")
PACKAGES = ("spec_math", "torch_bridge")
FLOORS = {
    "spec_math": "What `import spec_math` gives, and the modules that all others use.",
    "spec_math.language": "Vocabularies, tokenisers, models, the embedded text.",
    "spec_math.token_level": "Verifiers of one position, the optimum, its plans and certificates.",
    "spec_math.block_level": "Verifiers of blocks and trees, and the law of what one target call emits.",
    "spec_math.drafting": "Drafts over another vocabulary, or part of one.",
    "spec_math.string_level": "Drafters with another vocabulary.",
    "spec_math.lossy": "Rules that are lossy on purpose, their distances, and the optimum under a budget.",
    "torch_bridge": "Logits on any device, and torch's random sources.",
}


def modules() -> list[str]:
    """Return the full names of all modules with a public name, in the order of their paths."""
    found: list[str] = []
    for package in PACKAGES:
        for path in sorted((ROOT / package).rglob("*.py")):
            # A folder that is no package holds programs.
            if path.name != "__main__.py" and (path.parent / "__init__.py").is_file() and public(path):
                found.append(".".join(path.relative_to(ROOT).with_suffix("").parts).removesuffix(".__init__"))
    return found


def public(path: Path) -> list[str]:
    """Return the names that a module defines for others: functions and classes without a leading underscore."""
    body = ast.parse(path.read_text(encoding="utf-8")).body
    kinds = (ast.FunctionDef, ast.ClassDef)
    return [node.name for node in body if isinstance(node, kinds) and not node.name.startswith("_")]


def floor_of(module: str) -> str:
    """Return the package that a module is listed under."""
    parts = module.split(".")
    return ".".join(parts[: 2 if parts[0] == "spec_math" and len(parts) > 2 else 1])


def path_of(module: str) -> Path:
    """Return the file of a module, or of a package."""
    path = ROOT / module.replace(".", "/")
    return path / "__init__.py" if path.is_dir() else path.with_name(f"{path.name}.py")


def title_of(module: str) -> str:
    """Return the first sentence of a module, or of a package, as its title's second half."""
    return (ast.get_docstring(ast.parse(path_of(module).read_text(encoding="utf-8"))) or "").split("\n")[0]


def pages() -> dict[str, str]:
    """Return {name of a page: its text}: one for each module, one for each floor.

    Modules are listed on the page of their floor and stand in no toctree: with them in the navigation of every page the
    book would take minutes to write.
    """
    result: dict[str, str] = {}
    floors: dict[str, list[str]] = {}
    for module in modules():
        floor = floor_of(module)
        floors.setdefault(floor, []).append(module)
        result[module] = (
            f"---\norphan: true\n---\n\n# `{module}`\n\n[{floor}](floor_{floor}.md)\n\n"
            f"```{{eval-rst}}\n.. automodule:: {module}\n```\n"
        )
    for floor, held in floors.items():
        rows = [f"| [`{module}`]({module}.md) | {BAR.sub('/', title_of(module))} |" for module in held]
        said = FLOORS.get(floor) or title_of(floor)
        result[f"floor_{floor}"] = "\n".join([f"# `{floor}`\n\n{said}\n\n| module | |\n|---|---|", *rows, ""])
    listed = "\n".join(f"floor_{floor}" for floor in floors)
    result["index"] = (
        "# Reference\n\nEvery public name, package by package, from the docstrings; each example runs in the tests."
        "\n\n```{include} ../ten_functions.md\n```\n\n## All packages"
        f"\n\n```{{toctree}}\n:maxdepth: 1\n\n{listed}\n```\n"
    )
    return result


def write(app: Any) -> None:
    """Write the pages that have changed, and remove those of modules that are gone."""
    folder = Path(app.srcdir) / "reference"
    folder.mkdir(exist_ok=True)
    wanted = {f"{name}.md": text for name, text in pages().items()}
    for path in folder.glob("*.md"):
        if path.name not in wanted:
            path.unlink()
    for name, text in wanted.items():
        path = folder / name
        if not path.is_file() or path.read_text(encoding="utf-8") != text:
            path.write_text(text, encoding="utf-8")


def setup(app: Any) -> dict[str, bool]:
    """Write the pages before Sphinx looks for them."""
    app.connect("builder-inited", write)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
