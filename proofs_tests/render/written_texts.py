"""What is written in a picture, as matplotlib measures it when the picture is drawn: what overlaps, what is cut."""

from __future__ import annotations

from itertools import combinations
from typing import Any

from matplotlib.backends.backend_agg import FigureCanvasAgg

from spec_math.render import figure
from spec_math.result import Picture, Tree


def drawn(picture: Picture) -> Any:
    """Return matplotlib's figure of a picture whose panels stand in rows."""
    assert not isinstance(picture.panels, Tree)
    return figure._drawn(picture.panels, picture)


def boxes(of: Any) -> dict[str, Any]:
    """Return what each panel takes with all that is written around it, and what the legend and the heading take."""
    canvas = FigureCanvasAgg(of)
    canvas.draw()
    renderer = canvas.get_renderer()
    found = {f"panel {place}": axes.get_tightbbox(renderer) for place, axes in enumerate(of.axes)}
    found |= {f"legend {place}": legend.get_window_extent(renderer) for place, legend in enumerate(of.legends)}
    return found | {f"heading {place}": text.get_window_extent(renderer) for place, text in enumerate(of.texts)}


def faults(picture: Picture) -> list[tuple[str, str]]:
    """Return the pairs of things that overlap, and each that leaves the picture."""
    of = drawn(picture)
    found = boxes(of)
    overlapping = [(a, b) for a, b in combinations(found, 2) if found[a].overlaps(found[b])]
    whole = of.bbox
    cut = [
        (name, "the edge")
        for name, box in found.items()
        if box.x0 < whole.x0 or box.y0 < whole.y0 or box.x1 > whole.x1 or box.y1 > whole.y1
    ]
    return overlapping + cut
