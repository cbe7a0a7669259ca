"""Drafters with vocabularies of their own, drawn: what a method accepts and yields, how far TokenTiming is off."""

from __future__ import annotations

from typing import Any

from spec_math.report.pictures import COLOURS, panels, svg
from spec_math.report.vocabularies.comparison import VocabularyComparison
from spec_math.string_level.methods import METHODS

BARS = 0.84
"""The width of a drafter's group of bars, of 1."""


def acceptance_and_tokens(result: VocabularyComparison) -> str:
    """Draw for each drafter what a method accepts of the first draft, its tokens per call, and TokenTiming's bias.

    Lines are two standard errors over the positions on either side. Tokens per call are those at the lookahead of the
    highest speed-up; a bar of 1 is no gain.

    >>> from spec_math.mean import known
    >>> nothing = known(0)
    >>> acceptance_and_tokens(VocabularyComparison("models", 2, 1, 0.05, (), nothing, "exact")).startswith("<?xml")
    True
    """
    names = [drafter.name for drafter in result.drafters]
    listed = [line.method for drafter in result.drafters for line in drafter.lines]
    methods = [m.name for m in METHODS if m.name in listed] + [n for n in dict.fromkeys(listed) if n not in _NAMES]
    figure, axes = panels(3 if any(drafter.biases for drafter in result.drafters) else 2, 12.4, 4.6)
    for number, method in enumerate(methods):
        place = (number - (len(methods) - 1) / 2) * BARS / max(1, len(methods))
        style: dict[str, Any] = {"width": BARS / max(1, len(methods)), "color": COLOURS[number % len(COLOURS)]}
        for group, drafter in enumerate(result.drafters):
            line = drafter.line(method)
            for panel, value in zip(axes, (line and line.acceptance, line and line.tokens), strict=False):
                if value is not None:
                    panel.bar(group + place, value.value, yerr=2 * value.error, error_kw=_THIN, **style)
        axes[0].bar([0], [0], label=method, color=style["color"])
    axes[0].set_ylabel("accepts the first draft")
    axes[1].set_ylabel("target tokens per target call")
    axes[1].axhline(1.0, color="0.4", linewidth=0.9, linestyle=":")
    if len(axes) > 2:
        _biases(axes[2], result)
    for panel in axes:
        panel.set_axisbelow(True)
        panel.set_xticks(range(len(names)), names)
        panel.set_xlim(-0.5, max(1, len(names)) - 0.5)
    handles, labels = axes[0].get_legend_handles_labels()
    if labels:
        figure.legend(handles, labels, fontsize=8, loc="outside lower center", ncols=len(labels), frameon=False)
    figure.suptitle(result.source, fontsize=9)
    return svg(figure)


_NAMES = {method.name for method in METHODS}
_THIN = {"linewidth": 0.8, "ecolor": "0.25"}


def _biases(panel: Any, result: VocabularyComparison) -> None:
    """Draw the bias of the printed TokenTiming: exact ones filled, bounds from below hatched."""
    for group, drafter in enumerate(result.drafters):
        for number, bias in enumerate(drafter.biases):
            place = group + (number - (len(drafter.biases) - 1) / 2) * BARS / len(drafter.biases)
            panel.bar(
                place,
                bias.certain,
                width=BARS / len(drafter.biases),
                color=COLOURS[4] if bias.exact else "white",
                edgecolor=COLOURS[0],
                hatch="" if bias.exact else "///",
            )
            panel.annotate(
                f"{'exact' if bias.exact else '≥'}, {bias.lookahead}",
                (place, 0),
                (0, -4),
                xycoords=("data", "axes fraction"),
                textcoords="offset points",
                ha="center",
                va="top",
                fontsize=7,
            )
    panel.axhline(0.0, color="0.4", linewidth=0.8)
    panel.tick_params(axis="x", pad=16)
    panel.set_ylabel("TokenTiming as printed: bias of the first token")
    panel.set_title("exact, or at least so much; draft tokens", fontsize=8, loc="left")
