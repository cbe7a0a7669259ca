"""Reports of what was found, one for each defective engine, ready to be sent: written from what is recorded alone."""

# ruff: noqa: E501 - reports are Markdown

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from spec_math.files.whole import write_whole
from torch_bridge.field.judging import Found
from torch_bridge.field.page import by_design, pinned

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
        off = (
            f"The total variation between the law of the emitted tokens and the target's is {small['distance']} "
            f"(of the first token alone: {small['first token']})."
        )
    else:
        title, off = f"it raises at {small['case']}", f"`{small['reason']}`"
    lines = [
        f"# {found['name']}: {title}",
        "",
        f"- **Version**: {pinned(found)}" + (f", sha256 `{found['sha256']}`" if "sha256" in found else ""),
        f"- **File and function**: `{file}`, `{function}`",
        f"- **Judged on**: {found['judged']}" + newest(found),
        "",
        "## Smallest case",
        "",
        f"{small['case'][0].upper()}{small['case'][1:]}. γ is the number of drafted tokens, T the temperature; the laws are those of the next "
        f"token, the same after every text. {off}",
        "",
    ]
    lines += [f"Also: {WORDS[one['verdict']]} at {one['case']}: {_what(one)}.\n" for one in found["smallest"][:-1]]
    lines += ["## Cause", "", *(one["cause"] for one in found["defects"]), ""]
    edits = [edit for one in found["defects"] for edit in one["mend"]]
    if edits:
        lines += ["## Mend", "", _mended(found), "", "```diff"]
        for old, new in edits:
            lines += [f"-{line}" for line in old.strip("\n").split("\n")]
            lines += [f"+{line}" for line in new.strip("\n").split("\n")]
            lines.append("")
        lines[-1] = "```"
        lines.append("")
    lines += [
        "## How this was found",
        "",
        HOW_RESTATED if "restated" in found else HOW,
        "",
        "```",
        f"spec-math audit {_quoted(found)}",
        "```",
        "",
    ]
    return "\n".join(lines)


WORDS = {"lossy": "lossy", "raises": "it raises"}
HOW = (
    "The function was run as it was published, down every path of its random numbers, and the law of what it emits was "
    "computed, not sampled. Projects call their functions in ways of their own: if this case cannot occur in yours, we "
    "would be glad to know, and to correct the page. The command below runs it anew."
)

HOW_RESTATED = (
    "The rule was written down after its source, in the file named above, and not run as it was published: it is "
    "compiled. The law of what the written rule emits was computed down every path of its random numbers, not sampled. "
    "If we misread the source, or if this case cannot occur in your project, we would be glad to know, and to correct "
    "the page. The command below runs the written rule anew."
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


def _what(one: Found) -> str:
    return one.get("reason") or f"distance {one['distance']}"


def _mended(found: Found) -> str:
    left = found.get("mended", {}).get("cases", [])
    if not left:
        return "With these places changed, the same code was found lossless on every case that it was judged on:"
    return f"With these places changed, the same code was found lossless on all cases but {len(left)}:"


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
