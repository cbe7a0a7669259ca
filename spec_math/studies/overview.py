"""The report: on the default one position, blocks, other vocabularies, rules lossy by design; or a user's files."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from spec_math.arrays import count
from spec_math.result import Result
from spec_math.studies import default
from spec_math.studies.blocks.comparison import BlockRequest, compare_blocks
from spec_math.studies.blocks.models import embedded
from spec_math.studies.blocks.study import Blocks
from spec_math.studies.blocks.study import result_of as of_blocks
from spec_math.studies.blocks.study import study as of_models
from spec_math.studies.frontier.comparison import LEAST
from spec_math.studies.frontier.study import FrontierRequest
from spec_math.studies.frontier.study import study as of_frontier
from spec_math.studies.lossy import study as lossy_rules
from spec_math.studies.positions.comparison import compare_judged
from spec_math.studies.positions.filters import Filters, Sweep, filtered
from spec_math.studies.positions.study import CompareRequest, bound, judged
from spec_math.studies.positions.study import study as of_laws
from spec_math.studies.positions.table import of_sweep
from spec_math.studies.positions.table import result_of as of_positions
from spec_math.studies.progress import Progress
from spec_math.studies.vocabularies import sampling, segmentation_counts
from spec_math.studies.vocabularies.default import byte_pairs
from spec_math.studies.vocabularies.segmentation_pictures import by_length, histogram, tree
from spec_math.studies.vocabularies.table import result_of as of_vocabularies
from spec_math.token_level import SCHEMES

if TYPE_CHECKING:
    from spec_math.studies.traces.study import TraceRequest

KS = (1, 2, 3, 4, 6, 8, 12, 16)
TEMPERATURES, HEATED = (0.5, 0.75, 1.0, 1.25, 1.5), 4
LEAST_BLOCKS, POSITIONS_A_BLOCK = 8, 10
"""The report samples a block for so many positions, and at least so many blocks."""

FRONTIER_FROM, POSITIONS_A_SAMPLE = 500, 160
"""The frontier stands in reports of at least so many positions, with a sample for so many of them."""

LOSSY_POSITIONS = 4
"""Positions at which the report shows the rules that are lossy by design, at most."""

MOST, FEWEST, DRAFTS, POSITIONS_A_PREFIX = 20, 2, 12, 100
"""Held-out positions for other vocabularies, at most and at least, and drafts at each; one for so many positions."""

WORD = " raises"
"""The target token whose segmentations are drawn."""


@dataclass(frozen=True)
class ReportRequest:
    """What the report is about: files of laws, tables of models, shards of traces, as their commands take them.

    Without any, the embedded default. `positions` and `seed` are its size and the seed of all that is sampled.
    """

    laws: CompareRequest | None = None
    models: Blocks | None = None
    traces: TraceRequest | None = None
    positions: int = 2000
    seed: int = 0


def results(request: ReportRequest, progress: Progress) -> list[Result]:
    """Return what the report shows, a result a part: four of the embedded default, or one of each thing given.

    Raises:
        ValueError, TypeError, OSError: bad input; as the studies.

    >>> results(ReportRequest(positions=0), lambda what, steps: lambda done: None)
    Traceback (most recent call last):
    ValueError: --positions must be at least 1; got 0
    """
    positions, seed = count(request.positions, "--positions"), request.seed
    found: list[Result] = []
    if request.laws is not None:
        found.append(of_laws(request.laws, progress))
    if request.models is not None:
        found.append(of_models(request.models, progress))
    if request.traces is not None:
        from spec_math.studies.traces.study import study as of_shards  # slow to load: what judges samplers

        found.append(of_shards(request.traces, progress))
    if found:
        return found
    further = [frontier(positions, seed, progress)] if positions >= FRONTIER_FROM else []
    return [
        one_position(positions, seed, progress),
        blocks(positions, seed, progress),
        *further,
        vocabularies(positions, seed, progress),
        lossy(positions, progress),
    ]


def one_position(positions: int, seed: int, progress: Progress) -> Result:
    """Return every scheme at one position of the embedded default, with a sweep over the draft's temperature.

    >>> one_position(0, 0, lambda what, steps: lambda done: None)
    Traceback (most recent call last):
    ValueError: --positions must be at least 1; got 0
    """
    source = default.positions(count(positions, "--positions"))
    verdicts = judged(SCHEMES, progress)
    found = compare_judged(source, verdicts, KS, progress("comparing", source.count), seed)
    sweep = Sweep("draft.temperature", TEMPERATURES)
    swept = [
        compare_judged(
            filtered(source, Filters().put(sweep.name, heat)),
            verdicts,
            (HEATED,),
            progress(f"{sweep.label} {heat:g}", source.count),
            seed,
        )
        for heat in TEMPERATURES
    ]
    result = of_positions(found, verdicts, bound(found, source.names))
    table, picture = of_sweep(sweep, swept, HEATED)
    return replace(result, tables=(*result.tables, table), pictures=(*result.pictures, picture))


def blocks(positions: int, seed: int, progress: Progress) -> Result:
    """Return all methods on blocks of the embedded default.

    >>> blocks(1, 0, lambda what, steps: lambda done: None).name
    'blocks'
    """
    samples = max(LEAST_BLOCKS, positions // POSITIONS_A_BLOCK)
    return of_blocks(compare_blocks(BlockRequest(embedded(), (1, 2, 4, 8), (4, 8), samples, seed), progress))


def frontier(positions: int, seed: int, progress: Progress) -> Result:
    """Return what to draft and how to verify it under a budget of nodes, on both embedded defaults.

    >>> frontier(0, 0, lambda what, steps: lambda done: None)
    Traceback (most recent call last):
    ValueError: --positions must be at least 1; got 0
    """
    samples = max(LEAST, count(positions, "--positions") // POSITIONS_A_SAMPLE)
    return of_frontier(FrontierRequest(samples=samples, seed=seed), progress)


def vocabularies(positions: int, seed: int, progress: Progress) -> Result:
    """Return the embedded drafters with other vocabularies, with the segmentations of the byte pairs.

    >>> [picture.name for picture in vocabularies(1, 0, lambda what, steps: lambda done: None).pictures]
    ['vocabularies', 'tree', 'lengths', 'histogram']
    """
    number = max(FEWEST, min(MOST, positions // POSITIONS_A_PREFIX))
    result = of_vocabularies(sampling.compare(sampling.Sampling(number, DRAFTS, seed=seed), progress))
    pairs = byte_pairs().vocabulary
    found = segmentation_counts.counts(pairs)
    return replace(
        result,
        pictures=(
            *result.pictures,
            tree(WORD, pairs, f"Every way to draft the token “{WORD}” in {len(pairs)} byte pairs"),
            by_length(found, f"Segmentations of {len(found.least)} byte pairs into each other"),
            histogram(found, f"How many of {len(found.least)} byte pairs have how many segmentations"),
        ),
    )


def lossy(positions: int, progress: Progress) -> Result:
    """Return the rules that change the law by design, at a few positions of the embedded default.

    >>> lossy(0, lambda what, steps: lambda done: None)
    Traceback (most recent call last):
    ValueError: --positions must be at least 1; got 0
    """
    few = min(LOSSY_POSITIONS, count(positions, "--positions"))
    laws = lossy_rules.laws_of(embedded(), few)
    result = lossy_rules.measured([("documentation", laws)], lossy_rules.LossyRequest(), progress)
    finding = result.finding[0].lower() + result.finding[1:]
    return replace(result, finding=f"Of rules that are lossy by design: {finding}")
