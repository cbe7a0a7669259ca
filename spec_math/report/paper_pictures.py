"""SpecTr's Figures 1, 2, 3 and 5 as pictures, from the numbers that the library computes."""

from __future__ import annotations

from collections.abc import Sequence

from spec_math.report.page import Picture
from spec_math.report.pictures import curves
from spec_math.report.spectr_figures import Curve, documentation_laws, figure_1, figure_2, figure_3, figure_5


def paper_pictures() -> list[Picture]:
    """Return the figures of SpecTr, each with what to see in it.

    >>> [picture.title.split(":")[0] for picture in paper_pictures()]
    ['SpecTr, Figure 1', 'SpecTr, Figure 2', 'SpecTr, Figure 3', 'SpecTr, Figure 5']
    """
    return [
        _picture(
            "SpecTr, Figure 1: uniform laws",
            figure_1(),
            ("k, drafts for one position", "optimum"),
            "The draft is uniform on 120 tokens, the target on fewer: with enough drafts all is accepted, but the less "
            "the target covers, the more drafts it takes.",
        ),
        _picture(
            "SpecTr, Figure 2: Bernoulli targets",
            figure_2(),
            ("k, drafts for one position", "optimum"),
            "The draft is Ber(1/4). Which target accepts more with one draft does not say which does with many.",
        ),
        _picture(
            "SpecTr, Figure 3: Bernoulli targets, by k",
            figure_3(),
            ("b, the target being Ber(b)", "optimum"),
            "The draft is Ber(1/4). With eight drafts nearly every target is accepted always.",
        ),
        _picture(
            "SpecTr, Figure 5: optimum and K-SEQ on compressed laws of language",
            figure_5(*documentation_laws()),
            ("k, drafts for one position", "membership"),
            "Two laws of the embedded default, restricted to the union of their ten best tokens as the paper does. The "
            "gap is what K-SEQ leaves on the table.",
        ),
    ]


def _picture(title: str, lines: Sequence[Curve], axes: tuple[str, str], caption: str) -> Picture:
    drawn = {line.label: ([float(x) for x in line.places], [float(y) for y in line.values]) for line in lines}
    return Picture(title, curves(drawn, *axes, title), caption)
