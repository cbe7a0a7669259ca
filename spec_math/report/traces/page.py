"""The page of an audited trace: one self-contained HTML file."""

from __future__ import annotations

import base64
import html
from collections.abc import Sequence

from spec_math.audit.traces import Summary
from spec_math.report.page import STYLE, Picture
from spec_math.report.traces.tables import Group, all_groups, claims, notes, powers_of_ten

MEANINGS = (
    (
        "Evidence",
        "The wealth of a gambler who starts with 1 and bets, token after token, that the claim is wrong. Where the "
        "claim is right, it ever reaches a number N with probability 1/N at most, however long he plays.",
    ),
    (
        "Foretold",
        "What the recorded laws say that the named verification accepts: the overlap Σ min(t, d) of maximal coupling, "
        "Σ t·d of sample and match, t(draft) of a one-hot draft.",
    ),
    ("Optimum", "Σ min(t, d): what no verifier of one draft exceeds at a position."),
    ("In a loop", "Tokens that end eight which their text has held before, in the same shard."),
    (
        "Drafts have the law reported",
        "A verifier divides by the law that the drafter reports. Where drafts come from another law, what is emitted "
        "is wrong although the verifier is right.",
    ),
)


def page(summary: Summary, pictures: Sequence[Picture], alpha: float, source: str) -> str:
    """Return the page as HTML text: verdicts, evidence curve, acceptance, what was left out, what each number means.

    >>> from spec_math.audit.traces.recorder import toy_shard
    >>> from spec_math.audit.traces import merge
    >>> from spec_math.audit.traces.shard_audit import audit_opened
    >>> "not refuted" in page(merge([audit_opened(toy_shard())]), [], 1e-6, "a toy")
    True
    """
    parts = [
        "<!doctype html><html lang='en'><head><meta charset='utf-8'>",
        "<meta name='viewport' content='width=device-width,initial-scale=1'>",
        f"<title>spec_math: an audited trace</title><style>{STYLE}</style></head><body>",
        f"<h1>{_verdict(summary, alpha)}</h1><p>{_text(source)}</p>",
        _claims(summary, alpha),
        *(f"<p>{_text(note)}</p>" for note in notes(summary, alpha)),
        _list("Shards left out", [f"{name}: {reason}" for name, reason in summary.skipped]),
        _list("Rows to look at", summary.examples),
        *map(_figure, pictures),
        "<h2>Acceptance and deviation</h2>",
        *(_groups(kind, found) for kind, found in all_groups(summary).items()),
        "<h2>What each number means</h2><dl>",
        *(f"<dt>{_text(name)}</dt><dd>{_text(meaning)}</dd>" for name, meaning in MEANINGS),
        "</dl></body></html>",
    ]
    return "\n".join(parts)


def _verdict(summary: Summary, alpha: float) -> str:
    if not summary.lossy(alpha):
        return "Nothing in this trace refutes that it is lossless"
    return "This trace is not of a lossless engine that keeps its contracts"


def _claims(summary: Summary, alpha: float) -> str:
    rows = "".join(
        f"<tr class='{'lossy' if claim.refuted else ''}'><td>{_text(claim.name)}</td>"
        f"<td>{powers_of_ten(claim.evidence.log)}</td><td>{powers_of_ten(claim.evidence.highest)}</td>"
        f"<td>{'refuted' if claim.refuted else 'not refuted'}</td></tr>"
        for claim in claims(summary, alpha)
    )
    return (
        "<div class='wide'><table><tr><th>claim</th><th>evidence now</th><th>highest</th>"
        f"<th>refuted from {1 / summary.share(alpha):,.0f} on</th></tr>{rows}</table></div>"
    )


def _groups(kind: str, found: Sequence[Group]) -> str:
    heads = ("drafts", "realised", "±", "foretold", "optimum", "rows", "t > d", "±", "favourite", "±")
    rows = ""
    for group in found:
        shares = (group.accepted, group.error, group.expected, group.optimum)
        cells = [f"{group.drafts:,}", *(f"{value:.4f}" if group.drafts else "–" for value in shares), f"{group.rows:,}"]
        cells += [f"{value:+.4f}" if place % 2 == 0 else f"{value:.4f}" for place, value in enumerate(_both(group))]
        rows += f"<tr><td>{_text(group.name)}</td>{''.join(f'<td>{cell}</td>' for cell in cells)}</tr>"
    head = "".join(f"<th>{_text(name)}</th>" for name in heads)
    return f"<div class='wide'><table><tr><th>{_text(kind)}</th>{head}</tr>{rows}</table></div>"


def _both(group: Group) -> tuple[float, ...]:
    return (*group.above, *group.favourite)


def _list(title: str, lines: Sequence[str]) -> str:
    if not lines:
        return ""
    return f"<h2>{_text(title)}</h2><ul>{''.join(f'<li>{_text(line)}</li>' for line in lines)}</ul>"


def _figure(picture: Picture) -> str:
    data = base64.b64encode(picture.svg.encode()).decode()
    return (
        f"<h2>{_text(picture.title)}</h2><figure><img alt='{_text(picture.caption)}' "
        f"src='data:image/svg+xml;base64,{data}'><figcaption>{_text(picture.caption)}</figcaption></figure>"
    )


def _text(value: str) -> str:
    return html.escape(value, quote=True).replace("'", "&#39;")
