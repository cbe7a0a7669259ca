"""SpecTr's Figures 1, 2, 3 and 5: what k i.i.d. drafts can reach at best, and what K-SEQ reaches.

Figures 1 to 3 show the optimum alone; passing `k_sequential.acceptance` draws the same figure for K-SEQ.

python examples/gallery/spectr_figures.py [FOLDER]
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable, Sequence
from fractions import Fraction
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from spec_math.arrays import Array, as_laws, count, proportional_to
from spec_math.distribution import descending_rank, restriction
from spec_math.files.whole import check_writable, write_whole
from spec_math.render.figure import pdf_of, svg_of
from spec_math.result import Curve as Line
from spec_math.result import Panel, Picture
from spec_math.studies.positions.stream import default_models
from spec_math.token_level import k_sequential, optimal

Acceptance = Callable[[Any, Any, int], Any]

QUARTER = Fraction(1, 4)
"""The draft of Figures 2 and 3 is Ber(1/4)."""


class Curve(NamedTuple):
    """One line of a figure: its label, and as many values as places on the horizontal axis."""

    label: str
    places: tuple[Any, ...]
    values: tuple[Any, ...]


def figure_1(
    size: int = 120,
    ratios: Iterable[int] = (1, 2, 3, 4, 6, 8, 10),
    counts: Iterable[int] = range(1, 21),
    acceptance: Acceptance = optimal.acceptance,
) -> list[Curve]:
    """Return the acceptance over k for a draft U(d) and targets U(d/r), a curve for each r; probabilities.

    The optimum is 1 − (1 − 1/r)^k (Appendix B.2), and K-SEQ reaches it (Appendix D.1). Source: SpecTr, Figure 1.

    Raises:
        ValueError: r does not divide d, which would leave U(d/r) without a meaning.

    >>> figure_1(ratios=(2,), counts=(1, 2))[0].values
    (Fraction(1, 2), Fraction(3, 4))
    """
    size, places = count(size, "size"), tuple(counts)
    draft = proportional_to([1] * size)
    curves: list[Curve] = []
    for ratio in ratios:
        if size % count(ratio, "ratio"):
            raise ValueError(f"U(d/r) needs r to divide d; got d = {size}, r = {ratio}")
        kept = size // ratio
        target = proportional_to([1] * kept + [0] * (size - kept))
        curves.append(_curve(f"U({kept})", places, [acceptance(target, draft, k) for k in places]))
    return curves


def figure_2(
    targets: Iterable[Any] = (0, "1/10", QUARTER, "1/2", "3/4", 1),
    counts: Iterable[int] = range(1, 21),
    acceptance: Acceptance = optimal.acceptance,
) -> list[Curve]:
    """Return the acceptance over k for a draft Ber(1/4) and targets Ber(b), a curve for each b; probabilities.

    The optimum is min(b, 1 − (3/4)^k) + min(1 − b, 1 − (1/4)^k). Source: SpecTr, Figure 2 and Appendix B.2.

    >>> figure_2(targets=("6/10",), counts=(1, 2))[0].values
    (Fraction(13, 20), Fraction(67, 80))
    """
    places = tuple(counts)
    return [
        _curve(f"Ber({b})", places, [acceptance(bernoulli(b), bernoulli(QUARTER), k) for k in places])
        for b in map(Fraction, targets)
    ]


def figure_3(
    counts: Iterable[int] = (1, 2, 4, 8), steps: int = 40, acceptance: Acceptance = optimal.acceptance
) -> list[Curve]:
    """Return the acceptance over b = 0, 1/steps, …, 1 for a draft Ber(1/4) and a target Ber(b), a curve for each k.

    Source: SpecTr, Figure 3.

    >>> figure_3(counts=(2,), steps=5)[0].values[3]
    Fraction(67, 80)
    """
    places = tuple(Fraction(step, count(steps, "steps")) for step in range(steps + 1))
    return [
        _curve(f"k = {k}", places, [acceptance(bernoulli(b), bernoulli(QUARTER), k) for b in places]) for k in counts
    ]


def figure_5(target: Any, draft: Any, counts: Iterable[int] = range(1, 11), kept: int = 10) -> list[Curve]:
    """Return the optimum and K-SEQ over k for two laws compressed as the paper does it: two curves; probabilities.

    Laws [V] of one number type. The paper's own two laws were not published; `documentation_laws` has a pair like them.
    Source: SpecTr, Figure 5 and Appendix D.2.

    >>> optimum, sequential = figure_5(["2/5", "3/5"], ["3/4", "1/4"], counts=(1, 2))
    >>> optimum.values, round(float(sequential.values[1]), 6)
    ((Fraction(13, 20), Fraction(67, 80)), 0.769917)
    """
    places = tuple(counts)
    small = compressed(target, draft, kept)
    return [
        _curve("optimum", places, [optimal.acceptance(*small, k) for k in places]),
        _curve("K-SEQ", places, [k_sequential.acceptance(*small, k) for k in places]),
    ]


def compressed(target: Any, draft: Any, kept: int = 10) -> tuple[Array, Array]:
    """Restrict two laws [V] to the union of their `kept` likeliest tokens, each divided by its own mass there.

    Raises:
        TypeError, ValueError: kept is not a positive integer; as `arrays.as_laws`.

    >>> [law.tolist() for law in compressed([0, "1/2", "1/4", "1/4"], ["1/2", "1/4", "1/4", 0], 1)]
    [[Fraction(0, 1), Fraction(1, 1)], [Fraction(2, 3), Fraction(1, 3)]]
    """
    t, d = as_laws(target, draft)
    among = (descending_rank(t) < count(kept, "kept")) | (descending_rank(d) < kept)
    return restriction(t, among)[among], restriction(d, among)[among]


def documentation_laws(context: Sequence[str] = ("a", "list", "of")) -> tuple[Array, Array]:
    """Return the exact laws of the word after a context, of the default target (order 5) and draft (order 2).

    Raises:
        ValueError: a word is not in the models' vocabulary.

    >>> target, draft = documentation_laws()
    >>> target.sum(), draft.sum()
    (Fraction(1, 1), Fraction(1, 1))
    """
    found = default_models()
    unknown = [word for word in context if word not in found.corpus.names]
    if unknown:
        raise ValueError(f"the models know the words of CPython's documentation; {unknown} are not among them")
    prefix = [found.corpus.names.index(word) for word in context]
    return found.target.exact(prefix), found.draft.exact(prefix)


def bernoulli(b: Any) -> Array:
    """Return Ber(b) as a law on the tokens 0 and 1, with mass b on 1.

    >>> bernoulli("1/4").tolist()
    [Fraction(3, 4), Fraction(1, 4)]
    """
    return np.array([1 - Fraction(b), Fraction(b)], dtype=object)


def _curve(label: str, places: tuple[Any, ...], values: list[Any]) -> Curve:
    return Curve(label, places, tuple(values))


def pictures() -> list[Picture]:
    """Return the four figures, each with what to see in it.

    >>> [picture.name for picture in pictures()]
    ['spectr_figure_1', 'spectr_figure_2', 'spectr_figure_3', 'spectr_figure_5']
    """
    k, optimum = "k, drafts for one position", "optimum"
    return [
        _picture(
            (1, "uniform laws"),
            figure_1(),
            (k, optimum),
            "The draft is uniform on 120 tokens, the target on fewer: with enough drafts all is accepted, but the less "
            "the target covers, the more drafts it takes.",
        ),
        _picture(
            (2, "Bernoulli targets"),
            figure_2(),
            (k, optimum),
            "The draft is Ber(1/4). Which target accepts more with one draft does not say which does with many.",
        ),
        _picture(
            (3, "Bernoulli targets, by k"),
            figure_3(),
            ("b, the target being Ber(b)", optimum),
            "The draft is Ber(1/4). With eight drafts nearly every target is accepted always.",
        ),
        _picture(
            (5, "optimum and K-SEQ on compressed laws of language"),
            figure_5(*documentation_laws()),
            (k, "acceptance"),
            "Two laws of the embedded default, restricted to the union of their ten best tokens as the paper does. The "
            "gap is what K-SEQ leaves on the table.",
        ),
    ]


def _picture(named: tuple[int, str], curves: Sequence[Curve], axes: tuple[str, str], caption: str) -> Picture:
    drawn = tuple(Line(one.label, tuple(map(float, one.places)), tuple(map(float, one.values))) for one in curves)
    number, title = named
    return Picture(f"spectr_figure_{number}", f"SpecTr, Figure {number}: {title}", caption, (Panel(drawn, *axes),))


def main() -> None:
    """Draw the figures and check what the paper proves of them."""
    folder = Path(sys.argv[1] if len(sys.argv) > 1 else "out/gallery")
    check_writable(folder)
    for picture in pictures():
        print(write_whole(folder / f"{picture.name}.svg", svg_of(picture)), picture.caption)
        print(write_whole(folder / f"{picture.name}.pdf", pdf_of(picture)))
    for curve, ratio in zip(figure_1(ratios=(2, 4), counts=(1, 2, 3)), (2, 4), strict=True):
        if curve.values != tuple(1 - (1 - Fraction(1, ratio)) ** k for k in (1, 2, 3)):
            sys.exit("the optimum of uniform laws is not 1 − (1 − 1/r)^k")
    best, sequential = figure_5(*documentation_laws(), counts=(1, 2, 4))
    if not all(upper >= lower for upper, lower in zip(best.values, sequential.values, strict=True)):
        sys.exit("K-SEQ exceeds the optimum")
    print("checked: the optimum of uniform laws is 1 − (1 − 1/r)^k, and K-SEQ nowhere exceeds the optimum")


if __name__ == "__main__":
    main()
