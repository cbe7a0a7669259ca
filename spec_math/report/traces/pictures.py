"""Pictures of an audited trace: the evidence curve, and acceptance by depth, entropy and place."""

from __future__ import annotations

from collections.abc import Sequence
from math import log
from typing import Any

from spec_math.audit.traces import Summary
from spec_math.report.page import Picture
from spec_math.report.pictures import COLOURS, panels, svg
from spec_math.report.traces.tables import LN10, Group, all_groups


def pictures(summary: Summary, alpha: float) -> list[Picture]:
    """Return all pictures of a trace, the evidence first.

    >>> from spec_math.audit.traces.recorder import toy_shard
    >>> from spec_math.audit.traces import merge
    >>> from spec_math.audit.traces.shard_audit import audit_opened
    >>> [picture.title for picture in pictures(merge([audit_opened(toy_shard())]), 1e-6)]
    ['Evidence against losslessness', 'Where drafts are accepted', 'Where tokens leave the law']
    """
    found = all_groups(summary)
    return [
        Picture(
            "Evidence against losslessness",
            _evidence(summary, alpha),
            "The wealth of bets against the target's law, token after token. A right engine's line stays low: it "
            f"crosses the dashed one with probability {alpha:g} at most, at any time. A wrong engine's rises steadily.",
        ),
        Picture(
            "Where drafts are accepted",
            _acceptance(found),
            "Realised acceptance with two standard errors, what the law foretells, and the most that any verifier of "
            "one draft accepts. Foretold below the optimum: another verification would be faster. Whether the engine "
            "does what it says is for the evidence to say: of many such lines some miss.",
        ),
        Picture(
            "Where tokens leave the law",
            _deviation(found),
            "How much more often than the target says a token with t > d was emitted, and the target's favourite, "
            "each with two standard errors: of a right engine's lines one in twenty or so leaves out 0.",
        ),
    ]


def _evidence(summary: Summary, alpha: float) -> str:
    figure, (axes,) = panels(1, 8.2, 3.8)
    rows = [row for row, _ in summary.emitted.curve]
    axes.plot(rows, [value / LN10 for _, value in summary.emitted.curve], color=COLOURS[0], linewidth=1.6)
    alarm = -log(summary.share(alpha)) / LN10
    axes.axhline(alarm, color=COLOURS[1], linestyle="--", linewidth=1.2, label=f"alarm, α = {alpha:g} in all")
    axes.set_xlabel("tokens")
    axes.set_ylabel("evidence, powers of ten")
    axes.legend(fontsize=8, frameon=False)
    return svg(figure)


def _acceptance(found: dict[str, list[Group]]) -> str:
    kinds = list(found)[:3]
    figure, axes = panels(len(kinds), 11.0, 3.6)
    for panel, kind in zip(axes, kinds, strict=True):
        held = [group for group in found[kind] if group.drafts]
        _errors(panel, [group.accepted for group in held], [group.error for group in held], COLOURS[0], "realised")
        panel.plot([group.expected for group in held], color=COLOURS[1], marker="s", markersize=3, label="foretold")
        panel.plot([group.optimum for group in held], color="black", linestyle=":", label="optimum")
        _ticks(panel, kind, held)
        panel.set_ylim(0.0, 1.02)
    axes[0].set_ylabel("acceptance")
    axes[0].legend(fontsize=7, frameon=False)
    return svg(figure)


def _deviation(found: dict[str, list[Group]]) -> str:
    kinds = list(found)[:3]
    figure, axes = panels(len(kinds), 11.0, 3.4)
    for panel, kind in zip(axes, kinds, strict=True):
        held = found[kind]
        panel.axhline(0.0, color="black", linewidth=0.8)
        for number, (label, pairs) in enumerate(
            (
                ("t > d", [group.above for group in held]),
                ("the target's favourite", [group.favourite for group in held]),
            )
        ):
            values, errors = [mean for mean, _ in pairs], [error for _, error in pairs]
            _errors(panel, values, errors, COLOURS[number], label)
        _ticks(panel, kind, held)
    axes[0].set_ylabel("excess over the target's law")
    axes[0].legend(fontsize=7, frameon=False)
    return svg(figure)


def _errors(panel: Any, values: Sequence[float], errors: Sequence[float], colour: str, label: str) -> None:
    twice = [2 * error for error in errors]
    panel.errorbar(range(len(values)), values, twice, color=colour, marker="o", markersize=3, capsize=2, label=label)


def _ticks(panel: Any, kind: str, held: Sequence[Group]) -> None:
    panel.set_xticks(range(len(held)), [group.name for group in held], fontsize=7, rotation=45)
    panel.set_xlabel(kind, fontsize=9)
