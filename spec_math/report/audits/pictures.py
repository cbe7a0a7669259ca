"""What a sampler emits beside what the target asks for, as bars."""

from __future__ import annotations

from typing import Any

from spec_math.audit import Judgement
from spec_math.render.figure import COLOURS, panels, svg

MOST = 16
"""The most outcomes that are drawn."""


def shown_texts(found: Judgement, most: int = MOST) -> list[tuple[int, ...]]:
    """Return the outcomes worth showing: all where they are few, else those furthest off, in order of their tokens.

    >>> from spec_math.audit import judge, subject_of
    >>> from spec_math.audit.case import position
    >>> shown_texts(judge(subject_of(lambda tokens, t, d: tokens[0]), position(["1/4", "3/4"], ["1/2", "1/2"])))
    [(0,), (1,)]
    """
    texts = sorted(found.law | found.wanted)
    gap = {text: abs(found.law.get(text, 0) - found.wanted.get(text, 0)) for text in texts}
    weight = {text: found.wanted.get(text, 0) for text in texts}
    return sorted(sorted(texts, key=lambda text: (-gap[text], -weight[text]))[:most])


def law_against_target(found: Judgement) -> str:
    """Draw both laws of the horizon's tokens as bars, side by side, as SVG text.

    >>> from spec_math.audit import judge, subject_of
    >>> from spec_math.audit.case import position
    >>> found = judge(subject_of(lambda tokens, t, d: tokens[0]), position(["1/4", "3/4"], ["1/2", "1/2"]))
    >>> law_against_target(found).startswith("<?xml")
    True
    """
    texts = shown_texts(found)
    figure, (axes,) = panels(1, max(4.8, 0.55 * len(texts) + 1.5), 3.6)
    axes.set_axisbelow(True)
    places = range(len(texts))
    for shift, law, name, colour in (
        (-0.2, found.wanted, "target", COLOURS[0]),
        (0.2, found.law, "emitted", COLOURS[1]),
    ):
        heights = [float(law.get(text, 0)) for text in texts]
        axes.bar([place + shift for place in places], heights, 0.4, color=colour, label=name)
    axes.set_xticks(list(places), [label(text) for text in texts], rotation=0 if len(texts) < 9 else 60)
    axes.set_xlabel("token" if found.case.horizon == 1 else f"first {found.case.horizon} tokens")
    axes.set_ylabel("probability")
    axes.legend(fontsize=8, frameon=False)
    return svg(figure)


def label(text: Any) -> str:
    """Write tokens with blanks between them.

    >>> label((0, 2))
    '0 2'
    """
    return " ".join(map(str, text))
