"""The page of the field, docs/field.md, from what is recorded: the same text from the same data, byte by byte."""

# ruff: noqa: E501 - the page is Markdown

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path

from spec_math.field.judging import Found
from spec_math.files.whole import write_whole

REPORTS = Path(__file__).parent.parent.parent / "docs" / "field_reports"


def report(found: Found) -> str:
    """Return the report of one engine: version, file, smallest case, cause, mend, and how it was found.

    Raises:
        ValueError: it has no defect to report.

    >>> report({"name": "toy", "verdict": "lossless"})
    Traceback (most recent call last):
        ...
    ValueError: toy has no defect to report: it is lossless
    """
    if not reportable(found):
        raise ValueError(f"{found['name']} has no defect to report: it is {found['verdict']}")
    module, _, function = found["function"].partition(":")
    file = f"{module.replace('.', '/')}.py"
    small = found["smallest"][-1]
    if small["verdict"] == "lossy":
        title = f"the tokens emitted do not have the target's distribution at {small['case']}"
        off = f"The total variation between the distribution of the emitted tokens and the target's is {small['distance']} (of the first token alone: {small['first token']})."
    else:
        title, off = f"it raises at {small['case']}", f"`{small['reason']}`"
    lines = [
        f"# {found['name']}: {title}\n",
        f"- **Version**: {pinned(found)}" + (f", sha256 `{found['sha256']}`" if "sha256" in found else ""),
        f"- **File and function**: `{file}`, `{function}`",
        f"- **Judged on**: {found['judged']}" + newest(found) + "\n",
        "## Smallest case\n",
        f"{small['case'][0].upper()}{small['case'][1:]}. γ is the number of drafted tokens, T the temperature. The distributions are those "
        f"of the next token, the same after every text. {off}\n",
    ]
    for one in found["smallest"][:-1]:
        what = one.get("reason") or f"distance {one['distance']}"
        lines.append(f"Also: {IN_WORDS[one['verdict']]} at {one['case']}: {what}.\n")
    lines += ["## Cause", "", *(one["cause"] for one in found["defects"]), ""]
    edits = [edit for one in found["defects"] for edit in one["mend"]]
    if edits:
        signed = [zip("-+", edit, strict=True) for edit in edits]
        changed = ["\n".join(s + line for s, text in one for line in text.strip("\n").split("\n")) for one in signed]
        lines += ["## Mend", "", _mended(found), "", "```diff", "\n\n".join(changed), "```", ""]
    how = HOW_RESTATED if "restated" in found else HOW
    lines += ["## How this was found", "", how, "", f"```\nspec-math audit {_quoted(found)}\n```", ""]
    return "\n".join(lines)


IN_WORDS = {"lossy": "lossy", "raises": "it raises"}
HOW = (
    "The function was run as it was published, on every path of its random numbers. The distribution of its output was "
    "computed, not sampled. Your project may call the function in another way. If this case cannot occur there, please "
    "tell us, and we will correct the page. The command below repeats the run."
)

HOW_RESTATED = (
    "The published code is compiled, so its rule was rewritten in Python from the source, in the file named above. The "
    "rewritten rule was run on every path of its random numbers, and the distribution of its output was computed, not "
    "sampled. If we misread the source, or if this case cannot occur in your project, please tell us, and we will "
    "correct the page. The command below repeats the run."
)


def reportable(found: Found) -> bool:
    """Return whether an engine was found to have a defect, whose cause is known and not its design.

    >>> reportable({"verdict": "lossless"})
    False
    """
    return found["verdict"] in ("lossy", "raises") and bool(found.get("smallest")) and not by_design(found)


def newest(found: Found) -> str:
    """Return what the package index said of newer versions when it was asked."""
    if "newest" not in found:
        return ""
    said = f"; the newest version in the package index on {found['newest']['asked']} was {found['newest']['version']}"
    return said + (", this one" if found["newest"]["version"] == found["version"] else "")


def _mended(found: Found) -> str:
    left = found.get("mended", {}).get("cases", [])
    if not left:
        return "With these changes, the same code was found lossless in every case that was judged:"
    return f"With these changes, the same code was found lossless in all cases but {len(left)}:"


def _quoted(found: Found) -> str:
    name = f'"{found["name"]}"' if " " in found["name"] else found["name"]
    return f"{name} --source DIR" if "repository" in found else name


def file_name(found: Found) -> str:
    """Return what a report's file is called.

    >>> file_name({"name": "rotalabs-accel EAGLE"})
    'rotalabs-accel-eagle.md'
    """
    return f"{found['name'].lower().replace(' ', '-')}.md"


def write_reports(recorded: Mapping[str, Found], folder: Path = REPORTS) -> list[Path]:
    """Write one file for each defect that is recorded, and return their paths."""
    folder.mkdir(parents=True, exist_ok=True)
    paths = [folder / file_name(found) for found in recorded.values() if reportable(found)]
    for path, found in zip(paths, filter(reportable, recorded.values()), strict=True):
        _ = write_whole(path, report(found))
    return paths


PAGE = Path(__file__).parent.parent.parent / "docs" / "field.md"
TEMPLATE = Path(__file__).parent / "page.md"
"""What the page says beside its rows, which stand where the file has {rows}."""

SAID = {
    "lossless": "is lossless",
    "lossy": "is **lossy**",
    "raises": "**raises an error**",
    "undecided": "is undecided",
}
WORDS = {"lossless": "lossless", "lossy": "**lossy**", "raises": "**raises**", "undecided": "undecided"}


def page(recorded: Mapping[str, Found]) -> str:
    """Return the page of what is recorded.

    >>> page({}).startswith("# The field, judged")
    True
    """
    rows = [_row(found) for found in recorded.values()]
    table = ["| engine | version | rule | verdict | first token | distance | smallest failing case |", "|" + "---|" * 7]
    parts = ["\n".join([*table, *rows]) + "\n"]
    parts += [_details(found) for found in recorded.values() if found["verdict"] != "lossless"]
    undone = [found for found in recorded.values() if found["control"]["verdict"] != "lossy"]
    if undone:
        names = ", ".join(one["name"] for one in undone)
        parts.append(f"\nThe judge did not find the control of these engines lossy: {names}.\n")
    return TEMPLATE.read_text(encoding="utf-8").replace("{rows}", "".join(parts))


def pinned(found: Found) -> str:
    """Return what was judged: a package and its version, or a repository and its commit."""
    if "package" in found:
        return f"{found['package']} {found['version']}"
    if "restated" in found:
        return f"{found['restated']}, restated"
    return f"{found['repository']} {found['commit'][:7]}"


def by_design(found: Found) -> bool:
    """Return whether all that was found of an engine is by its design; and where no cause is known.

    >>> by_design({"defects": [{"cause": "a threshold", "mend": [], "by design": True}]})
    True
    """
    return all(one.get("by design") for one in found.get("defects", ()))


def _row(found: Found) -> str:
    small = next((one for one in found["smallest"] if one["verdict"] == "lossy"), {})
    design = ", by design" if found["defects"] and by_design(found) else ""
    known = [small.get(name, "") for name in ("first token", "distance", "case")]
    cells = [found["name"], pinned(found), found["rule"], WORDS[found["verdict"]] + design, *known]
    return "| " + " | ".join(cells) + " |"


def _details(found: Found) -> str:
    judged = f"`{found['function']}` of {pinned(found)}"
    if "restated" in found:
        judged = f"`{found['function'].removesuffix(', restated')}`, rewritten from the source of {found['restated']},"
    lines = [f"\n## {found['name']}\n", f"{judged} was judged on {found['judged']}.\n"]
    for one in found["smallest"]:
        off = f"emitted distribution has total variation {one.get('distance')} from the target's (first token alone: {one.get('first token')})"
        off = f"error is {one['reason']}".replace(": without", " without") if "reason" in one else off
        lines.append(f"- {found['name']} {SAID[one['verdict']]} for {one['case']}. The {off}.")
    open_ = [one for one in found["cases"] if one["verdict"] == "undecided"]
    if open_:
        lines.append(
            f"- {found['name']} is undecided in {len(open_)} of {len(found['cases'])} cases. For the first of them ({open_[0]['case']}) the judge reports: `{open_[0]['reason']}`."
        )
    if found.get("grid"):
        lines.append(
            f"- The function multiplies its uniforms with each other. The judge therefore took uniforms on the grid k/2^{found['grid']}. It "
            "computed the distances for these uniforms, and its verdict allows for the error of the grid."
        )
    lines += [f"- Cause: {one['cause']}" for one in found["defects"]]
    edits = [edit for one in found["defects"] for edit in one["mend"]]
    if edits:
        rest = found["mended"]["cases"]
        said = "With these changes the same code is lossless in all cases"
        if rest:
            still, many = ", ".join(sorted({one["verdict"] for one in rest})), f"{len(rest)} of {len(found['cases'])}"
            said = f"With these changes it is still {still} in {many} cases, first for {rest[0]['case']}"
        lines += ["", f"{said}:", "", "```"]
        lines += [f"{old.strip()}\n    => {new.strip()}" for old, new in edits]
        lines += ["```"]
    return "\n".join(lines) + "\n"


Listed = Sequence[Mapping[str, str]]
"""Records with package, function, options, what is hard, found, and a reason where it was not found lossless."""

FUNCTIONS_PAGE = Path(__file__).parent.parent.parent / "docs" / "field_functions.md"

FUNCTIONS_HEAD = """# Thirty functions, as they are

These thirty public functions come from the packages of [the field](field.md). The functions were chosen because they are
hard to call, and before any of them was tried. Each row shows the result of one `spec-math audit` command on the published
function, without an adapter. The command calls the function with small example distributions and follows every path of the
function's random numbers. The command finds the function lossless or lossy, or refuses to judge it and says why. Of the 30
functions, {lossless} are lossless as called, {lossy} are lossy, and {refused} are refused.

"""


def listed() -> Listed:
    """Return the thirty functions as they are recorded.

    >>> len(listed())
    30
    """
    return json.loads((Path(__file__).parent / "functions.json").read_text(encoding="utf-8"))


def functions_page(functions: Listed) -> str:
    """Return the page of the functions: how many were judged, a table, and the command of each.

    >>> record = {"package": "toy 1", "function": "a.py:f", "options": "", "hard": "names", "found": "lossless"}
    >>> "1 are lossless as called" in functions_page([record])
    True
    """
    many = Counter(one["found"] for one in functions)
    rows = ["| package | function | hard to call | found | why |", "|" + "---|" * 5]
    rows += [
        f"| {one['package']} | `{_name(one)}` | {one['hard']} | {WORDS.get(one['found'], one['found'])} | {one.get('reason', '')} |"
        for one in functions
    ]
    commands = [f"spec-math audit {one['function']} {one['options']}".strip() for one in functions]
    return (
        FUNCTIONS_HEAD.format_map(many)
        + "\n".join(rows)
        + "\n\n## The commands\n\nThe commands are in the order of the table. Run each in the folder of the package's source:\n\n```\n"
        + "\n".join(commands)
        + "\n```\n"
    )


def _name(one: Mapping[str, str]) -> str:
    return one["function"].rpartition(":")[2]
