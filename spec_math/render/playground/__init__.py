"""A part of the page to play with: bars that can be dragged, eight schemes, the optimum, two lossy rules, couplings."""

from __future__ import annotations

from importlib import resources

PARTS = ("laws.js", "view.js")

INTRODUCTION = (
    "Drag the bars, or step to them with Tab and use the arrow keys (Page Up and Down for larger steps). The green "
    "bars show how often the emitted token is a draft, the upright line the optimum for independent drafts. Choose a "
    "scheme to see its coupling: green where a draft is kept, yellow where it is lost. The two lossy rules at the end "
    "keep more drafts the less strict they are; their upright line is the most that any rule keeps of one draft at the "
    "same total variation. All of it is computed in this page, by walking every path of each verifier."
)


def fragment() -> str:
    """Return the playground as HTML with its style and scripts inside, nothing fetched from outside.

    The law: five tokens, k = 1..4 drafts; acceptances and couplings on floats, each a sum over all paths.
    """
    scripts = "".join(f"<script>\n{_read(part)}</script>" for part in PARTS)
    return (
        f"<h2>Play with it</h2><style>{_read('style.css')}</style><p>{INTRODUCTION}</p>"
        f"<div id='playground'><noscript>This part needs JavaScript.</noscript></div>{scripts}"
    )


def _read(name: str) -> str:
    return (resources.files("spec_math.render.playground") / name).read_text(encoding="utf-8")
