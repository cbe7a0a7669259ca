"""Draw what lossless means: what the draft proposes, what is kept of it, and where the rest goes.

python docs/pictures/lossless.py writes the picture beside itself.
"""

from __future__ import annotations

from fractions import Fraction
from pathlib import Path

from spec_math import exact, overlap
from spec_math.distribution import residual

TOKENS = ("the", "a", "cat", "dog")
TARGET = exact(["4/10", "3/10", "2/10", "1/10"])
DRAFT = exact(["2/10", "4/10", "1/10", "3/10"])

WIDTH, HEIGHT, PANEL, BAR, GAP = 660, 330, 204, 38, 8
BASE, UNIT = 272, 460
KEPT, LOST, GIVEN, LINE = "#3b6fb6", "#d9dde3", "#e08a2e", "#1d2733"

# One stretch of a bar: its mass and its colour. A bar is a list of them from the ground up.
Bar = list[tuple[Fraction, str]]


def panels() -> list[tuple[tuple[str, str], list[Bar]]]:
    """Return the three steps: two lines of title, and a bar for each token."""
    kept = [min(t, d) for t, d in zip(TARGET, DRAFT, strict=True)]
    given = [(1 - overlap(TARGET, DRAFT)) * mass for mass in residual(TARGET, DRAFT)]
    proposed = [[(d, KEPT)] for d in DRAFT]
    tested = [[(k, KEPT), (d - k, LOST)] for k, d in zip(kept, DRAFT, strict=True)]
    emitted = [[(k, KEPT), (g, GIVEN)] for k, g in zip(kept, given, strict=True)]
    return [
        (("The draft", "proposes a token."), proposed),
        (("It is kept up to", "the target’s mass."), tested),
        (("The rest goes where", "the target lacks."), emitted),
    ]


def text(x: float, y: float, said: str, size: int = 16, weight: str = "normal") -> str:
    """Return a line of text, centred at x."""
    return f'<text x="{x:g}" y="{y:g}" font-size="{size}" font-weight="{weight}" text-anchor="middle">{said}</text>'


def bar(x: float, stretches: Bar) -> list[str]:
    """Return the stretches of one bar as rectangles, and its mass in tenths above it."""
    drawn, top = [], float(BASE)
    for mass, colour in stretches:
        if mass:
            height = float(mass) * UNIT
            top -= height
            edge = f' stroke="{LINE}" stroke-dasharray="3 3"' if colour == LOST else ""
            drawn.append(f'<rect x="{x:g}" y="{top:g}" width="{BAR}" height="{height:g}" fill="{colour}"{edge}/>')
    total = sum(mass for mass, colour in stretches if colour != LOST)
    return [*drawn, text(x + BAR / 2, top - 6, f"{total * 10}")]


def target_line(x: float, mass: Fraction) -> str:
    """Return a stroke at the height of the target's mass."""
    y = BASE - float(mass) * UNIT
    return f'<path d="M{x - 3:g} {y:g} h{BAR + 6}" stroke="{LINE}" stroke-width="3"/>'


def svg() -> str:
    """Return the picture."""
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {HEIGHT}" role="img" '
        f'font-family="system-ui, sans-serif" fill="{LINE}">',
        "<title>What lossless means</title>",
        "<desc>Three bar charts of four tokens, in tenths. The draft proposes 2, 4, 1, 3. The target keeps 2, 3, 1, 1. "
        "The 3 that were rejected go to the first and the third token, and 4, 3, 2, 1 come out: the target.</desc>",
        f'<rect width="{WIDTH}" height="{HEIGHT}" rx="8" fill="#ffffff"/>',
    ]
    for place, ((first, second), bars) in enumerate(panels()):
        left = 16 + place * (PANEL + 8)
        middle = left + PANEL / 2
        parts += [text(middle, 26, first, 17, "bold"), text(middle, 47, second, 17, "bold")]
        for token, stretches in enumerate(bars):
            x = left + 12 + token * (BAR + GAP)
            parts += bar(x, stretches)
            if place:
                parts.append(target_line(x, TARGET[token]))
            parts.append(text(x + BAR / 2, BASE + 22, TOKENS[token], 17))
        parts.append(f'<path d="M{left + 4} {BASE} h{PANEL - 12}" stroke="{LINE}"/>')
    parts.append(
        text(WIDTH / 2, HEIGHT - 10, "in tenths; the strokes are the target, and the last bars end at them", 16)
    )
    return "\n".join([*parts, "</svg>", ""])


if __name__ == "__main__":
    Path(__file__).with_suffix(".svg").write_text(svg(), encoding="utf-8")
