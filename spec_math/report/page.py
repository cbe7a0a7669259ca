"""The report: one self-contained HTML page, with nothing fetched from outside."""

from __future__ import annotations

import base64
import html
from collections.abc import Sequence
from dataclasses import dataclass

from spec_math.report.lines import Comparison, Line
from spec_math.report.playground import fragment
from spec_math.report.tables import footnotes
from spec_math.report.tally import Tally
from spec_math.report.verdicts import Verdicts

STYLE = """
body{font:16px/1.5 system-ui,sans-serif;color:#1b1b1b;background:#fff;max-width:62rem;margin:0 auto;padding:1rem}
h1{font-size:1.6rem;line-height:1.2}h2{font-size:1.2rem;margin-top:2.2rem;border-bottom:1px solid #ddd}
img{max-width:100%;height:auto}figure{margin:1rem 0}figcaption{font-size:.9rem;color:#444}
table{border-collapse:collapse;font-size:.9rem}th,td{padding:.25rem .6rem;text-align:right;border-bottom:1px solid #eee}
th:first-child,td:first-child{text-align:left}.wide{overflow-x:auto}.lossy{color:#a40000}.optimum{font-weight:600}
code{background:#f4f4f4;padding:.1rem .25rem}dt{font-weight:600}dd{margin:0 0 .6rem 1rem}
@media (prefers-color-scheme:dark){body{color:#eee;background:#161616}figcaption{color:#bbb}img{background:#fff}
th,td{border-color:#333}code{background:#2a2a2a}.lossy{color:#ff8080}}
"""

MEANINGS = (
    (
        "Lossless",
        "The emitted token has exactly the target's law, whatever the draft is. The verdict is exact: every path of "
        "the verifier is walked in rational arithmetic on a fixed set of small laws, with ties and zeros among them.",
    ),
    (
        "Membership",
        "The probability that the emitted token is among the k drafts. It is what optimal transport maximises, and "
        "what decides whether the next drafted token can be used.",
    ),
    ("Acceptance", "The probability that a test accepted a draft. It is at most the membership; often they are equal."),
    (
        "Optimum",
        "The largest membership of any lossless verifier of one kind of drafts: 1 − max over subsets H of tokens of "
        "[P(all drafts in H) − target(H)]. No verifier of i.i.d. drafts reaches the grey region above theirs.",
    ),
    ("Gap", "What the optimum of a scheme's own drafts accepts more, on average over the same positions."),
    ("±", "The standard error of the mean over positions. It says how far other text of the kind would differ."),
)


@dataclass(frozen=True)
class Picture:
    """An SVG picture with a title and a sentence that says what to see in it; a table, head first, and notes."""

    title: str
    svg: str
    caption: str
    table: tuple[tuple[str, ...], ...] = ()
    notes: tuple[str, ...] = ()


def page(result: Comparison, verdicts: Verdicts, pictures: Sequence[Picture], subset: str = "") -> str:
    """Return the page as HTML text: the table, the pictures, the bounding subset, and what each number means.

    >>> import numpy as np
    >>> from spec_math import SCHEMES
    >>> from spec_math.report.comparison import compare
    >>> from spec_math.report.positions import from_rows
    >>> half = lambda start, stop: np.full((stop - start, 2), 0.5)
    >>> result = compare(from_rows(half, half, (3, 2)), SCHEMES[:1], (1,), lambda done: None)
    >>> "http" in page(result, {}, [])
    False
    """
    parts = [
        "<!doctype html><html lang='en'><head><meta charset='utf-8'>",
        "<meta name='viewport' content='width=device-width,initial-scale=1'>",
        f"<title>spec_math: how much could any verifier accept?</title><style>{STYLE}</style></head><body>",
        "<h1>How much do speculative verifiers accept, and how much could any?</h1>",
        f"<p>{_text(result.source)}. {result.count:,} positions, {result.size:,} tokens.</p>",
    ]
    first, *others = pictures or [None]
    if first is not None:
        parts.append(_figure(first))
    parts += [_table(result, verdicts), "".join(f"<p>{_text(note)}</p>" for note in footnotes(result, verdicts))]
    if subset:
        parts.append(f"<h2>The subset that bounds the optimum</h2><p>{_text(subset)}</p>")
    parts += [_figure(picture) for picture in others if picture is not None]
    parts.append(fragment())
    meanings = "".join(f"<dt>{_text(name)}</dt><dd>{_text(meaning)}</dd>" for name, meaning in MEANINGS)
    parts.append(f"<h2>What each number means</h2><dl>{meanings}</dl></body></html>")
    return "\n".join(parts)


def _figure(picture: Picture) -> str:
    data = base64.b64encode(picture.svg.encode()).decode()
    return (
        f"<h2>{_text(picture.title)}</h2><figure><img alt='{_text(picture.caption)}' "
        f"src='data:image/svg+xml;base64,{data}'><figcaption>{_text(picture.caption)}</figcaption></figure>"
        f"{_rows(picture.table)}{_list(picture.notes)}"
    )


def _list(notes: Sequence[str]) -> str:
    return f"<ul>{''.join(f'<li>{_text(note)}</li>' for note in notes)}</ul>" if notes else ""


def _rows(table: Sequence[Sequence[str]]) -> str:
    if not table:
        return ""
    head, *rows = table
    lines = ["".join(f"<th>{_text(cell)}</th>" for cell in head)]
    lines += ["".join(f"<td>{_text(cell)}</td>" for cell in row) for row in rows]
    return f"<div class='wide'><table>{''.join(f'<tr>{line}</tr>' for line in lines)}</table></div>"


def _table(result: Comparison, verdicts: Verdicts) -> str:
    head = "".join(f"<th>k = {k}</th>" for k in result.ks)
    body = "".join(_row(line, result.ks, verdicts) for line in [*result.lines, *result.optima])
    return f"<div class='wide'><table><tr><th>membership</th>{head}<th>verdict</th></tr>{body}</table></div>"


def _row(line: Line, ks: Sequence[int], verdicts: Verdicts) -> str:
    verdict = None if line.scheme is None else verdicts.get(line.scheme)
    kind = "optimum" if line.scheme is None else "lossy" if verdict is not None and not verdict.right else ""
    cells = "".join(_cell(line.membership.get(k)) for k in ks)
    return f"<tr class='{kind}'><td>{_text(line.name)}</td>{cells}<td>{_text(str(verdict or ''))}</td></tr>"


def _cell(tally: Tally | None) -> str:
    return "<td>—</td>" if tally is None or not tally.count else f"<td>{tally.mean:.4f}</td>"


def _text(value: str) -> str:
    return html.escape(value, quote=True)
