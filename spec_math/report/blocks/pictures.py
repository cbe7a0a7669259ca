"""Tokens per target call against the number of paths, a line a method, a panel a lookahead."""

from __future__ import annotations

from typing import Any

from spec_math.block_level.methods import METHODS
from spec_math.report.blocks.comparison import INDEPENDENT, BlockComparison
from spec_math.report.pictures import COLOURS, MARKERS, panels, svg

_DARK = tuple(colour for colour in COLOURS if colour != "#F0E442")  # yellow is lost on white


def tokens_against_k(result: BlockComparison) -> str:
    """Draw tokens per call against K, with 99 % intervals, and what no verifier of i.i.d. chains exceeds.

    A method that takes several paths starts, at K = 1, where the method of one chain lies that it is there.

    >>> tokens_against_k(BlockComparison("two tables", 2, (1,), (4,), 0, [], [])).startswith("<?xml")
    True
    """
    figure, axes = panels(len(result.lookaheads), 4.4 * len(result.lookaheads), 4.8)
    for panel, lookahead in zip(axes, result.lookaheads, strict=True):
        for number, method in enumerate(METHODS):
            colour, marker = _DARK[number % len(_DARK)], MARKERS[number % len(MARKERS)]
            _draw(panel, result, (method.name, lookahead), colour, marker)
        ceilings = [c for c in result.ceilings if c.lookahead == lookahead and c.drafts == INDEPENDENT]
        if ceilings:
            ks, values = [c.k for c in ceilings], [c.tokens.value for c in ceilings]
            panel.plot(ks, values, color="black", linewidth=2.2, label="no verifier of i.i.d. chains exceeds")
        panel.set_xscale("log", base=2)
        panel.set_xticks(result.ks, [str(k) for k in result.ks])
        panel.set_xlabel("K, paths drafted")
        panel.set_title(f"L = {lookahead}", fontsize=9)
    axes[0].set_ylabel("tokens per target call")
    handles, labels = axes[0].get_legend_handles_labels()
    if labels:
        figure.legend(handles, labels, fontsize=7, loc="outside lower center", ncols=3, frameon=False)
    figure.suptitle(result.source, fontsize=9)
    return svg(figure)


def _draw(panel: Any, result: BlockComparison, line: tuple[str, int], colour: str, marker: str) -> None:
    method, lookahead = line
    found = [(k, entry) for k in result.ks if (entry := result.entry(method, k, lookahead)) is not None]
    if not found:
        return
    ks, values = [k for k, _ in found], [entry.tokens.value for _, entry in found]
    estimates = [entry.tokens for _, entry in found]
    errors = [[abs(one.value - one.bars[end]) for one in estimates] for end in (0, 1)]
    style: dict[str, Any] = {"color": colour, "marker": marker, "markersize": 4, "linewidth": 1.2, "label": method}
    panel.errorbar(ks, values, yerr=errors, **style)
    if len(ks) == 1:
        panel.axhline(values[0], color=colour, linewidth=0.8, linestyle=":")
