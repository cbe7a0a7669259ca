"""A comparison of blocks as a result, in the layout of SpecTr's Tables 2 and 4, and which K and L to take."""

from __future__ import annotations

from typing import Any

from spec_math.block_level.method import CHAINS
from spec_math.block_level.methods import METHODS
from spec_math.mean import known
from spec_math.result import Column, Curve, Panel, Picture, Result, Row, Table, curve, sentences
from spec_math.studies.blocks import contradictions
from spec_math.studies.blocks.comparison import BlockComparison, Ceiling, Entry, fastest

COLUMNS = (
    Column("method"),
    Column("K", "count", "paths", shown=False),
    Column("L", "count", "draft tokens a path", shown=False),
    Column("tokens per call", "mean", "tokens per call of the target"),
    Column("more than one plain chain", "mean", "tokens per call of the target", heading="more than one chain"),
    Column("speed-up", "mean", "times plain decoding", digits=2),
    Column("how"),
    Column("fraction", "fraction", "tokens per call of the target", shown=False),
    Column("page", shown=False),
)

LONGEST_FRACTION = 60


def result_of(found: BlockComparison) -> Result:
    """Return a comparison of blocks as a result; the finding says which method, K and L are fastest.

    Raises:
        BrokenInvariantError: two numbers contradict each other; both are named.

    >>> result_of(BlockComparison("two tables", 2, (1,), (4,), 0, [], [])).notes[0].text
    'V = 2; everything is added up exactly.'
    """
    contradictions.watch(found).hold()
    rows = [
        row
        for lookahead in found.lookaheads
        for k in found.ks
        for row in (
            *(_row(entry) for entry in found.entries if (entry.k, entry.lookahead) == (k, lookahead)),
            *(_ceiling_row(ceiling) for ceiling in found.ceilings if (ceiling.k, ceiling.lookahead) == (k, lookahead)),
        )
    ]
    title = f"Tokens per target call for K paths of L drafted tokens: {found.source}"
    table = Table("blocks", "Tokens per target call; plain decoding yields 1", COLUMNS, tuple(rows))
    return Result("blocks", title, finding(found), (table,), (picture(found),), sentences(_notes(found)))


def finding(found: BlockComparison) -> str:
    """Say what to take: the fastest method by SpecTr's latencies, else the one of most tokens per call.

    >>> finding(BlockComparison("two tables", 2, (1,), (4,), 0, [], []))
    'No method was compared.'
    """
    if not found.entries:
        return "No method was compared."
    timed = [best for method in METHODS if (best := fastest(found, method)) is not None]
    if timed:
        best = max(timed, key=lambda entry: entry.speed_up or 0.0)
        if (best.speed_up or 0.0) < 1:
            return (
                f"Take none: the fastest, {best.method.name} with {_sizes(best)}, yields {best.tokens} tokens per call "
                f"and is {best.speed_up:.2f} times as fast as plain decoding by the latencies of SpecTr's Tables 1 and "
                "3, which is slower."
            )
        said = f"{best.speed_up:.2f} times as fast as plain decoding by the latencies of SpecTr's Tables 1 and 3"
    else:
        best = max(found.entries, key=lambda entry: entry.tokens.value)
        said = "no latency is stated for these K and L"
    return f"Take {best.method.name} with {_sizes(best)}: {best.tokens} tokens per call, {said}."


def _sizes(entry: Entry) -> str:
    return f"L = {entry.lookahead}" if entry.k == 1 else f"K = {entry.k} and L = {entry.lookahead}"


def picture(found: BlockComparison) -> Picture:
    """Return tokens per call against K, a panel a lookahead, with what no verifier of i.i.d. chains exceeds.

    A method that takes several paths starts, at K = 1, where the method of one chain lies that it is there.

    >>> len(picture(BlockComparison("two tables", 2, (1,), (4, 8), 0, [], [])).panels)
    2
    """
    panels = tuple(
        Panel(
            tuple(_curves(found, lookahead)),
            "K, paths drafted",
            "tokens per target call",
            f"L = {lookahead}",
            log_x=True,
            ticks=tuple(map(str, found.ks)),
        )
        for lookahead in found.lookaheads
    )
    how = f"Monte Carlo: {found.samples:,} sampled blocks, drafts shared by all methods; " if found.samples else ""
    return Picture(
        "blocks",
        "Blocks and trees: tokens per call of the target",
        f"K paths of L drafted tokens, verified at once. {how}bars are 99 % intervals. Methods that verify a path as a "
        "whole gain most from long blocks.",
        panels,
    )


def _curves(found: BlockComparison, lookahead: int) -> list[Curve]:
    curves: list[Curve] = []
    for method in METHODS:
        entries = {k: found.entry(method, k, lookahead) for k in found.ks}
        curves.append(curve(method.name, {k: entry.tokens for k, entry in entries.items() if entry is not None}))
    ceilings = {c.k: c.tokens for c in found.ceilings if c.lookahead == lookahead and c.drafts is CHAINS}
    if ceilings:
        curves.append(curve(f"no verifier of {CHAINS.name} exceeds", ceilings, "bound"))
    return [one for one in curves if one.x]


def fastest_sentences(found: BlockComparison) -> list[str]:
    """Say with which K and L each method is fastest by the latencies that SpecTr measured.

    >>> fastest_sentences(BlockComparison("two tables", 2, (1,), (4,), 0, [], []))
    []
    """
    held = [best for method in METHODS if (best := fastest(found, method)) is not None]
    if not held:
        return []
    ranked = sorted(held, key=lambda entry: -(entry.speed_up or 0.0))
    said = "; ".join(f"{e.method.name} {e.speed_up:.2f} (K = {e.k}, L = {e.lookahead})" for e in ranked)
    return [
        f"Speed-up over plain decoding by the latencies of SpecTr's Tables 1 and 3, drafting included, each method at "
        f"its best K and L: {said}."
    ]


def _notes(found: BlockComparison) -> list[str]:
    notes = [f"V = {found.size:,}; everything is added up exactly."]
    if any(entry.sampled for entry in found.entries):
        notes = [
            f"V = {found.size:,}; Monte Carlo: {found.samples:,} sampled blocks, drafts shared by all methods, coins "
            "averaged out. Intervals hold with 99 % each, for any models and any number of samples: they rest on the "
            "range of the draws and not on a normal limit. 'More than one chain' is the difference to one chain token "
            "by token on the same drafts, and so sharper than the values."
        ]
    notes.append(
        "On any two models a block yields no less than the same chain token by token, and traversal no less than "
        "recursive rejection on the same tree; the other orders are those of these models."
    )
    if any(not ceiling.reached for ceiling in found.ceilings):
        notes.append(
            "An upper bound: no lossless verifier of these drafts exceeds it, and perhaps none reaches it. Where it is "
            "sampled it says that i tokens are accepted no more often than a text of i tokens can be the target's and "
            "drafted."
        )
    return notes + fastest_sentences(found)


def _row(entry: Entry) -> Row:
    gain = None if entry.gain == known(0) else entry.gain
    how = "Monte Carlo" if entry.sampled else "exact"
    faster = None if entry.speed_up is None else entry.tokens.scaled_to(entry.speed_up)
    values = entry.tokens, gain, faster, how, _short(entry.exact)
    cells = entry.method.name, entry.k, entry.lookahead, *values, entry.method.page
    return Row(cells, group=_group(entry.k, entry.lookahead))


def _ceiling_row(ceiling: Ceiling) -> Row:
    how = f"{'optimum' if ceiling.reached else 'upper bound'}{', Monte Carlo' * bool(ceiling.tokens.samples)}"
    name = f"any verifier, {ceiling.drafts.name}"
    cells = name, ceiling.k, ceiling.lookahead, ceiling.tokens, None, None, how, _short(ceiling.exact), ""
    return Row(cells, "best", _group(ceiling.k, ceiling.lookahead))


def _group(k: int, lookahead: int) -> str:
    return f"K = {k}, L = {lookahead}"


def _short(value: Any) -> Any:
    return value if value is not None and "/" in str(value) and len(str(value)) <= LONGEST_FRACTION else None
