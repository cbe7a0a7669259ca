"""Requests of blocks: all methods on K paths, one block step by step, and text generated block by block."""

from __future__ import annotations

from dataclasses import dataclass, replace
from itertools import product
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from spec_math.arrays import count
from spec_math.block_level.methods import CHAINS, METHODS, Method, named
from spec_math.files.whole import check_writable
from spec_math.mean import known
from spec_math.result import Column, Curve, Note, Panel, Picture, Result, Row, Table, curve, sentences
from spec_math.studies.arguments import Progress, limited, parsed_ks, together
from spec_math.studies.blocks import comparison
from spec_math.studies.blocks.comparison import (
    CONFIDENCE,
    SHOWN,
    BlockComparison,
    BlockModels,
    BlockRequest,
    Ceiling,
    Entry,
    advised,
    compare_blocks,
    embedded,
    fastest,
    from_tables,
)
from spec_math.studies.blocks.own_methods import judge, load_method, with_own
from spec_math.studies.blocks.own_methods import run as run_method
from spec_math.studies.blocks.run import LEGEND, lines, marked, reached, run, shaped, start
from spec_math.studies.blocks.run import generate as generate_text
from spec_math.studies.certificates import saved


@dataclass(frozen=True)
class Blocks:
    """All methods on K paths of L tokens, of two tables or of the embedded default."""

    target: Path | None = None
    draft: Path | None = None
    prefix: str = ""
    ks: str = "1,2,4,8"
    lookaheads: str = "4,8"
    samples: int = 4000
    seed: int = 0
    methods: tuple[str, ...] = ()
    certificate: Path | None = None
    chain: Path | None = None


class BlockExample(NamedTuple):
    """One block, or a text of blocks; without a seed `explain` looks for a run like SpecTr's Figure 4."""

    method: str = "K-SEQ"
    k: int = 6
    lookahead: int = 4
    seed: int | None = None
    target: Path | None = None
    draft: Path | None = None
    prefix: str = ""


PATHS, LONGEST = 1_000, 256
"""The most paths of a block, and tokens of a path, that are looked at: programs go a call deeper with each token."""

FIGURE_4 = (6, 3, 2, 1)
"""How many of the drafts agree, node by node, in SpecTr's Figure 4, where the last of them is rejected."""

FIRST_LIKE_FIGURE_4 = 350
"""The least seed with such a run on the documentation of CPython 3.11; on another one the search goes on from here."""


def models_of(target: Path | None, draft: Path | None, prefix: str) -> BlockModels:
    """Return the models that were named: two tables, or the embedded default where none is.

    Raises:
        ValueError, TypeError, OSError: one of two files; as `from_tables`.

    >>> models_of(Path("t.json"), None, "")
    Traceback (most recent call last):
    ValueError: --target and --draft come together; only one was given
    """
    together(target, draft)
    if target is None or draft is None:
        if prefix:
            raise ValueError("--prefix is for models from files; the embedded default starts at its held-out words")
        return embedded()
    return from_tables(target, draft, prefix)


def study(request: Blocks, progress: Progress) -> Result:
    """Compare all methods on K paths.

    Raises:
        ValueError, TypeError, OSError: bad input.

    >>> study(Blocks(lookaheads="0"), lambda what, steps: lambda done: None)
    Traceback (most recent call last):
    ValueError: --lookahead must be at least 1; got 0
    """
    ks = parsed_ks(request.ks, most=PATHS)
    lookaheads = parsed_ks(request.lookaheads, "--lookahead", "4,8", LONGEST)
    samples = count(request.samples, "--samples")
    own = [load_method(place) for place in request.methods]
    places = [place for place in (request.certificate, request.chain) if place is not None]
    for place in places:
        if len(own) != 1:
            raise ValueError(f"{place} would be about one --method; got {len(own)}")
        check_writable(place.parent)
    models = models_of(request.target, request.draft, request.prefix)
    asked = BlockRequest(models, ks, lookaheads, samples, request.seed)
    judged = [(method, judge(method)) for method in own]
    found = compare_blocks(asked, progress)
    runs = [(method, verdict, run_method(method, asked, found, progress, verdict)) for method, verdict in judged]
    result = with_own(result_of(found), runs)
    notes = [note for _, verdict in judged for place in places for note in saved(verdict, place)]
    return replace(result, notes=(*result.notes, *notes))


def explain(request: BlockExample) -> Result:
    """Show one block step by step: the run of a seed, or one that is shaped like SpecTr's Figure 4.

    Raises:
        ValueError, TypeError, OSError: bad input.

    >>> explain(BlockExample(method="no such method"))  # doctest: +ELLIPSIS
    Traceback (most recent call last):
    ValueError: no method is named 'no such method'; there are: one chain, token by token; ...
    """
    method, size, models = _read(request)
    if request.seed is not None or method.verifier is None or request.target is not None or size != (4, 6):
        seed = request.seed or 0
        rng = np.random.default_rng(seed)
        found, like = run(method, models, start(models, rng), size, rng), ""
    else:
        found, seed = shaped(method, models, size, FIGURE_4, FIRST_LIKE_FIGURE_4)
        like = ", shaped like SpecTr's Figure 4"
    paths = f"{size[1]} paths of {size[0]} tokens" if not method.one_chain else f"{size[0]} tokens"
    *steps, last = lines(found, models)
    notes = Note(models.source), Note("\n".join(steps), code=True)
    return Result("block", f"{method.name}: {paths}, seed {seed}{like}", f"{last}.", notes=notes)


def generate(request: BlockExample, tokens: int) -> Result:
    """Generate text, each token marked as accepted, rejected or the target's own, with the tokens per call.

    Raises:
        ValueError, TypeError, OSError: bad input.

    >>> generate(BlockExample(), 0)
    Traceback (most recent call last):
    ValueError: --tokens must be at least 1; got 0
    """
    wanted = count(tokens, "--tokens")
    method, size, models = _read(request)
    seed = request.seed or 0
    found = generate_text(method, models, size, wanted, seed)
    paths = f"K = {size[1]}, " if not method.one_chain else ""
    title = f"{method.name}, {paths}L = {size[0]}, seed {seed}"
    notes = (Note("", words=marked(found, models)), Note("", words=LEGEND), *sentences([models.source]))
    return Result("text", title, f"{title}: {reached(found)}.", notes=notes)


def _read(request: BlockExample) -> tuple[Method, tuple[int, int], BlockModels]:
    method = named(request.method)
    size = limited(request.lookahead, "--lookahead", LONGEST), limited(request.k, "--k", PATHS)
    return method, size, models_of(request.target, request.draft, request.prefix)


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
    'V = 2; all values are exact.'
    """
    comparison.watch(found).hold()
    rows: list[Row] = []
    for size, k in product(found.lookaheads, found.ks):
        rows += [_row(entry) for entry in found.entries if (entry.k, entry.lookahead) == (k, size)]
        rows += [_ceiling_row(ceiling) for ceiling in found.ceilings if (ceiling.k, ceiling.lookahead) == (k, size)]
    title = f"Tokens per target call for K paths of L drafted tokens: {found.source}"
    table = Table("blocks", "Tokens per target call; plain decoding yields 1", COLUMNS, tuple(rows))
    return Result("blocks", title, finding(found), (table,), (picture(found),), sentences(_notes(found)))


def finding(found: BlockComparison) -> str:
    """Say what to take by SpecTr's latencies, else by tokens per call, and how sure that is.

    >>> finding(BlockComparison("two tables", 2, (1,), (4,), 0, [], []))
    'No method was compared.'
    """
    decided = advised(found)
    if decided is None:
        return "No method was compared."
    best, said = decided
    if best.speed_up is None:
        more = "It has no speed-up here, because SpecTr's Tables 1 and 3 state no latency for these K and L"
        return f"{said} It yields {best.tokens} tokens per call. {more}."
    if best.speed_up < 1:
        said = f"Draft nothing: plain decoding is the fastest. Of the methods, {said[0].lower()}{said[1:]}"
    return (
        f"{said} It is {best.faster} times as fast as plain decoding with the latencies of SpecTr's Tables 1 and 3, "
        f"and yields {best.tokens} tokens per call."
    )


def picture(found: BlockComparison) -> Picture:
    """Return tokens per call against K, a panel a lookahead, with what no verifier of i.i.d. chains exceeds.

    A method that takes several paths starts, at K = 1, where the method of one chain lies that it is there.

    >>> len(picture(BlockComparison("two tables", 2, (1,), (4, 8), 0, [], [])).panels)
    2
    """
    ticks, axes = tuple(map(str, found.ks)), ("K, paths drafted", "tokens per target call")
    panels = tuple(
        Panel(tuple(_curves(found, size)), *axes, f"L = {size}", log_x=True, ticks=ticks) for size in found.lookaheads
    )
    how = "All methods are measured on the same sampled texts; " if found.samples else ""
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
        curves.append(curve(f"upper bound for {CHAINS.name}", ceilings, "bound"))
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
        f"The speed-ups use the latencies of SpecTr's Tables 1 and 3, and include the time of drafting. At its best K "
        f"and L, each method has this speed-up: {said}."
    ]


def _notes(found: BlockComparison) -> list[str]:
    notes = [f"V = {found.size:,}; all values are exact."]
    if found.decision is not None:
        notes = [
            f"V = {found.size:,}. All methods race on the same samples, at most {found.samples:,}: a prefix and a text "
            "that the target writes after it. A method that is shown to be slower than the leader is measured no more, "
            f"beyond {SHOWN} samples for the table. The decision and all intervals hold together with {CONFIDENCE:.0%} "
            "whenever the race ends. The column 'more than one chain' is the gain in tokens per call over one chain "
            "verified token by token on these samples."
        ]
    notes.append(
        "For any two models, a chain verified as a block yields at least as many tokens per call as the same chain "
        "verified token by token. For any two models and any tree, traversal yields at least as many tokens per call "
        "as recursive rejection. For any other two methods, the models decide which yields more."
    )
    if any(not ceiling.reached for ceiling in found.ceilings):
        notes.append(
            "No lossless verifier of the drafts in a row 'upper bound' exceeds this bound; it may be that none reaches "
            "it. A sampled bound comes from the same samples; it is shown at least as high as what its methods reach."
        )
    return notes + fastest_sentences(found)


def _row(entry: Entry) -> Row:
    gain = None if entry.gain == known(0) else entry.gain
    how = f"{entry.tokens.samples:,} samples" if entry.sampled else "exact"
    values = entry.tokens, gain, entry.faster, how, _short(entry.exact)
    cells = entry.method.name, entry.k, entry.lookahead, *values, entry.method.page
    return Row(cells, group=_group(entry.k, entry.lookahead))


def _ceiling_row(ceiling: Ceiling) -> Row:
    number = ceiling.tokens.samples
    how = f"{'optimum' if ceiling.reached else 'upper bound'}{f', {number:,} samples' * bool(number)}"
    name = f"any verifier, {ceiling.drafts.name}"
    cells = name, ceiling.k, ceiling.lookahead, ceiling.tokens, None, None, how, _short(ceiling.exact), ""
    return Row(cells, "best", _group(ceiling.k, ceiling.lookahead))


def _group(k: int, lookahead: int) -> str:
    return f"K = {k}, L = {lookahead}"


def _short(value: Any) -> Any:
    return value if value is not None and "/" in str(value) and len(str(value)) <= LONGEST_FRACTION else None
