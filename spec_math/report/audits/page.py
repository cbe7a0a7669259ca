"""The verdict page of an audit: one self-contained HTML file."""

from __future__ import annotations

import base64
import html
from collections.abc import Sequence

from spec_math.audit import Case, Counted, Judgement, Likeness
from spec_math.render.html import style
from spec_math.report.audits.pictures import label, law_against_target, shown_texts
from spec_math.report.audits.tables import headline, is_toy, number, sentences
from spec_math.verdict import Undecided

_STYLE = """
.verdict{white-space:pre-wrap;font-size:1.15rem;padding:.6rem .8rem;border-left:.4rem solid #009e73;background:#f1f8f5}
.verdict.lossy{border-color:#a40000;background:#fbf0f0;color:inherit}.verdict.open{border-color:#999;background:#f4f4f4}
td.off{color:#a40000;font-weight:600}pre{overflow-x:auto;background:#f4f4f4;padding:.6rem;font-size:.85rem}
@media (prefers-color-scheme:dark){.verdict,.verdict.lossy,.verdict.open{background:#222}pre{background:#222}
td.off{color:#ff8080}}
"""


def page(found: Counted, name: str, likenesses: Sequence[Likeness], smaller: Judgement | None, test: str) -> str:
    """Return the page: verdict, bars, table, what is known of the fault, the smallest case, and how it was judged.

    >>> from spec_math.audit import judge_counts, subject_of
    >>> from spec_math.audit.case import position
    >>> hopeful = subject_of(lambda tokens, target, draft: tokens[0])
    >>> found = judge_counts(hopeful, position(["1/4", "3/4"], ["1/2", "1/2"]))
    >>> text = page(found, "mine", [], None, "")
    >>> "mine is LOSSY" in text, "src='http" in text
    (True, False)
    """
    last = found.last
    kind = "open" if isinstance(found.verdict, Undecided) else "" if found.verdict else "lossy"
    parts = [
        "<!doctype html><html lang='en'><head><meta charset='utf-8'>",
        "<meta name='viewport' content='width=device-width,initial-scale=1'>",
        f"<title>spec_math audit: {_text(name)}</title><style>{style()}{_STYLE}</style></head><body>",
        f"<h1>Audit of <code>{_text(name)}</code></h1>",
        f"<p class='verdict {kind}'>{_text(headline(found, name))}</p>",
    ]
    if last.law:
        data = base64.b64encode(law_against_target(last).encode()).decode()
        seen = "What the sampler emits beside what the target asks for"
        image = f"<img alt='{seen}' src='data:image/svg+xml;base64,{data}'>"
        parts.append(f"<figure>{image}<figcaption>{seen}.</figcaption></figure>")
    told = sentences(last, likenesses)
    if told:
        parts.append("<h2>What is wrong</h2><dl>")
        parts += [f"<dt>{_text(what)}</dt><dd>{_text(said)}</dd>" for what, said in told]
        parts.append("</dl>")
    if last.law:
        parts += ["<h2>The two laws</h2>", _table(last)]
    if smaller is not None:
        parts += ["<h2>The smallest failing case</h2>", f"<p>{_text(laws_of(smaller))}</p>"]
        parts.append(f"<p>{_text(str(smaller.verdict).partition(chr(10))[0])}</p>")
        if test:
            parts.append(f"<p>As a test, which fails now and passes once repaired:</p><pre>{_text(test)}</pre>")
    if last.walk.paths:
        parts += ["<h2>How it was judged</h2>", f"<p>{_text(how(last))}</p>"]
    return "\n".join([*parts, "</body></html>"])


def how(found: Judgement) -> str:
    """Say what was given to the sampler and what was walked.

    >>> from spec_math.audit import judge, subject_of
    >>> from spec_math.audit.case import position
    >>> hopeful = subject_of(lambda tokens, target, draft: tokens[0])
    >>> how(judge(hopeful, position(["1/4", "3/4"], ["1/2", "1/2"])))[:60]
    'Called as the function(tokens, target, draft), given Fractio'
    """
    case, subject = found.case, found.subject
    drafts = f"a chain of {case.lookahead} drafts" if case.lookahead else "one position"
    exact = "every threshold is rational, so that the verdict is exact"
    if not found.walk.exact or subject.numbers.unit:
        exact = f"thresholds are binary floats; the verdict forgives a total variation of {found.bound:.2g}"
    told = ""
    if found.walk.ignored:
        told = " Small numbers that keep a logarithm finite were left out; they change the law by "
        told += f"{float(found.walk.ignored):.2g} at most."
    call, given, coins = subject.assumed
    return (
        f"{call[0].upper()}{call[1:]}, {given}: {drafts}, {case.size} tokens. {found.walk.paths:,} paths of "
        f"its randomness were walked with their exact weights, with {coins}; {exact}.{told} {laws_of(found)}"
    )


def laws_of(found: Judgement) -> str:
    """Write the target's and the draft's rows of a judgement, and k.

    >>> from spec_math.audit import judge, subject_of
    >>> from spec_math.audit.case import position
    >>> laws_of(judge(subject_of(lambda tokens, t, d: tokens[0]), position(["1/4", "3/4"], ["1/2", "1/2"])))
    'Target (1/4, 3/4), draft (1/2, 1/2), k = 1.'
    """
    if is_toy(found.case):
        return f"The laws are those of the zoo's toy, {_counted(found.case)}."
    target, draft = (
        "; ".join(f"({', '.join(map(_mass, row))})" for row in rows) for rows in (found.case.target, found.case.draft)
    )
    return f"Target {target}, draft {draft}, {_counted(found.case)}."


def _counted(case: Case) -> str:
    return f"lookahead {case.lookahead}" if case.lookahead else f"k = {case.k}"


def _mass(mass: object) -> str:
    return str(mass) if len(str(mass)) < 10 else f"{float(mass):.8g}"  # type: ignore[arg-type]


def _table(found: Judgement) -> str:
    rows = ""
    for text in shown_texts(found):
        emitted, wanted = found.law.get(text, 0), found.wanted.get(text, 0)
        off = " class='off'" if abs(emitted - wanted) > found.bound else ""
        rows += (
            f"<tr><td>{label(text)}</td><td>{_text(number(emitted))}</td><td>{_text(number(wanted))}</td>"
            f"<td{off}>{float(emitted - wanted):+.3g}</td></tr>"
        )
    what = "token" if found.case.horizon == 1 else "tokens"
    head = f"<tr><th>{what}</th><th>emitted</th><th>target</th><th>difference</th></tr>"
    left = len(found.law | found.wanted) - len(shown_texts(found))
    more = f"<p>And {left} more, less far off.</p>" if left > 0 else ""
    return f"<div class='wide'><table>{head}{rows}</table></div>{more}"


def _text(value: str) -> str:
    return html.escape(value, quote=True).replace("'", "&#39;")
