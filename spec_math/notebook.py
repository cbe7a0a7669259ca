"""HTML of values in notebooks: small tables with bars, with nothing fetched from outside."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from html import escape
from typing import Any

ROWS = 16
"""A table shows so many rows; what is left out is said."""

GOOD, BAD, PLAIN = "#009E73", "#B00020", "#0072B2"


def card(heading: str, facts: Mapping[str, Any], body: str = "", colour: str = PLAIN) -> str:
    """Return a heading, named facts and a body, as one HTML block.

    >>> card("Lossless", {"paths": 3})
    "<div style='border-left:4px solid #0072B2;padding-left:.8em'><b>Lossless</b><br>paths: 3</div>"
    """
    lines = "".join(f"<br>{escape(name)}: {number(value)}" for name, value in facts.items() if value is not None)
    return f"<div style='border-left:4px solid {colour};padding-left:.8em'><b>{escape(heading)}</b>{lines}{body}</div>"


def number(value: Any) -> str:
    """Return a number as text: a Fraction that is no integer with its decimal value beside it.

    >>> from fractions import Fraction
    >>> number(Fraction(1, 3)), number(2), number("a<b")
    ('1/3 ≈ 0.3333', '2', 'a&lt;b')
    """
    text = escape(str(value))
    if "/" in text and not isinstance(value, str):
        top = str(value)
        return f"{top if len(top) <= 24 else 'a fraction'} ≈ {float(value):.4g}"
    return f"{value:.6g}" if isinstance(value, float) else text


def law_table(columns: Mapping[str, Sequence[Any]]) -> str:
    """Return laws [V] side by side with a bar each, the tokens of most mass first where there are too many.

    >>> "width:50%" in law_table({"target": [0.5, 0.5]})
    True
    """
    size = len(next(iter(columns.values())))
    kept = list(range(size))
    if size > ROWS:
        kept = sorted(kept, key=lambda i: -max(float(masses[i]) for masses in columns.values()))[:ROWS]
    head = "".join(f"<th style='text-align:left'>{escape(name)}</th>" for name in ("token", *columns))
    body = "".join(f"<tr><th>{i}</th>{''.join(_barred(masses[i]) for masses in columns.values())}</tr>" for i in kept)
    return f"<table><tr>{head}</tr>{body}</table>{_left_out(size - len(kept), 'tokens')}"


def joint_table(rows: Mapping[Any, Mapping[int, Any]]) -> str:
    """Return a joint law of (drafts, emitted token): green where a draft is kept, yellow where none is.

    >>> table = joint_table({(0,): {0: 0.5, 1: 0.5}})
    >>> table.count("<td"), "0.5" in table
    (2, True)
    """
    tokens = sorted({token for row in rows.values() for token in row})[:ROWS]
    shown = sorted(rows, key=lambda drafts: (len(drafts), sorted(drafts)))[:ROWS]
    head = "".join(f"<th>{token}</th>" for token in tokens)
    body = "".join(
        f"<tr><th style='text-align:left'>{escape(_drafts(drafts))}</th>"
        f"{''.join(_joint(rows[drafts].get(token, 0), token in drafts) for token in tokens)}</tr>"
        for drafts in shown
    )
    more = _left_out(len(rows) - len(shown), "drafts")
    return f"<table><tr><th>drafts \\ emitted</th>{head}</tr>{body}</table>{more}"


def _barred(mass: Any) -> str:
    bar = f"<div style='background:{PLAIN};height:.5em;width:{100 * min(1.0, max(0.0, float(mass))):.4g}%'></div>"
    return f"<td style='text-align:left;min-width:9em'>{number(mass)}{bar}</td>"


def _joint(mass: Any, kept: bool) -> str:
    if not mass:
        return "<td>·</td>"
    share = min(1.0, 2 * float(mass))
    colour = f"rgba(0,158,115,{share:.2f})" if kept else f"rgba(230,159,0,{share:.2f})"
    return f"<td style='background:{colour}'>{number(mass)}</td>"


def _drafts(drafts: Any) -> str:
    inside = ", ".join(str(token) for token in (sorted(drafts) if isinstance(drafts, frozenset) else drafts))
    return f"{{{inside}}}" if isinstance(drafts, frozenset) else f"({inside})"


def _left_out(count: int, what: str) -> str:
    return f"<small>and {count:,} more {what}</small>" if count > 0 else ""
