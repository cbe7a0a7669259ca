"""How lines are told apart: a colour, a marker and a dash each, the same in all panels of a picture."""

from __future__ import annotations

from colorsys import hsv_to_rgb
from typing import Any, NamedTuple

from spec_math.result import Panel

# Okabe and Ito's colours without the yellow, which is lost on white; they are told apart by colour-blind readers.
COLOURS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#56B4E9", "#E69F00", "#8C510A", "#999999", "#6A3D9A")
MARKERS = "osD^vP*Xdh<>p8"
DASHES: tuple[Any, ...] = ("-", "--", "-.", (0, (1, 1)), (0, (5, 1, 1, 1, 1, 1)))
BOUNDS: tuple[Any, ...] = ("-", "--", "-.", ":", (0, (5, 1, 1, 1, 1, 1)), (0, (9, 3)), (0, (1, 4)), (0, (3, 1, 1, 1)))
"""The dashes of what nothing exceeds, one a label."""

GOLDEN = 0.618033988749895


class Look(NamedTuple):
    """How a line is told apart from the others of its panel."""

    colour: str
    marker: str
    dash: Any


def look(place: int) -> Look:
    """Return the look of the line at a place: no two of the first 126 share colour, marker and dash, nor a colour."""
    colour = COLOURS[place] if place < len(COLOURS) else _further(place)
    return Look(colour, MARKERS[place % len(MARKERS)], DASHES[place // len(COLOURS) % len(DASHES)])


def _further(place: int) -> str:
    """Return a colour beyond the list: hues by the golden ratio never come back, darkness goes in turns."""
    shade = hsv_to_rgb((place * GOLDEN) % 1.0, 0.85 if place % 2 else 0.6, 0.75 if place % 3 else 0.5)
    return "#" + "".join(f"{round(255 * part):02X}" for part in shade)


def looks_of(panel: Panel, known: dict[tuple[str, int], Look]) -> list[Look]:
    """Return the look of each curve: by its place in the picture, and one in all panels where it stands in several.

    Bounds are black; `known` holds them under −1.
    """
    seen: dict[str, int] = {}
    found: list[Look] = []
    for one in panel.curves:
        key = one.label, seen.get(one.label, 0)
        seen[one.label] = key[1] + 1
        if one.style in ("bound", "ceiling"):
            bounds = [known[other] for other in known if other[1] < 0]
            known.setdefault((one.label, -1), Look("black", "", BOUNDS[len(bounds) % len(BOUNDS)]))
            found.append(known[one.label, -1])
        elif one.style == "guide":
            found.append(Look("0.35", "", ":"))
        else:
            known.setdefault(key, look(sum(place >= 0 for _, place in known)))
            found.append(known[key])
    return found
