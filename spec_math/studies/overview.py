"""The report: on the default one position, blocks, other vocabularies, rules lossy by design; or a user's files."""

from __future__ import annotations

from contextlib import closing
from dataclasses import replace
from typing import TYPE_CHECKING, NamedTuple

from spec_math.arrays import count
from spec_math.result import Result
from spec_math.sequential.decision import FIRST
from spec_math.studies import lossy as lossy_rules
from spec_math.studies.arguments import Progress, no_progress
from spec_math.studies.blocks.comparison import BlockRequest, compare_blocks, embedded
from spec_math.studies.blocks.study import Blocks
from spec_math.studies.blocks.study import result_of as of_blocks
from spec_math.studies.blocks.study import study as of_models
from spec_math.studies.frontier.study import FrontierRequest
from spec_math.studies.frontier.study import study as of_frontier
from spec_math.studies.positions import stream
from spec_math.studies.positions.comparison import compare_judged
from spec_math.studies.positions.study import CompareRequest, bound, judged
from spec_math.studies.positions.study import result_of as of_positions
from spec_math.studies.positions.study import study as of_laws
from spec_math.studies.vocabularies import sampling
from spec_math.studies.vocabularies.table import result_of as of_vocabularies
from spec_math.studies.workers import side_by_side
from spec_math.token_level import SCHEMES

if TYPE_CHECKING:
    from spec_math.studies.traces.study import TraceRequest

PARTS = ("frontier", "blocks", "one_position", "vocabularies", "lossy")
LONGEST_FIRST = ("one_position", "vocabularies", "frontier", "blocks", "lossy")
"""The functions of this module that compute the parts, as they are shown, and as processes begin them."""

KS = (1, 2, 3, 4, 6, 8, 12, 16)
LEAST_BLOCKS, POSITIONS_A_BLOCK = 8, 10
"""The report samples a block for so many positions, and at least so many blocks."""

FRONTIER_FROM, POSITIONS_A_SAMPLE = 500, 50
"""The frontier stands in reports of at least so many positions, with a sample for so many of them."""

LOSSY_POSITIONS = 4
"""Positions at which the report shows the rules that are lossy by design, at most."""

MOST, FEWEST, DRAFTS, POSITIONS_A_PREFIX = 20, 2, 12, 100
"""Held-out positions for other vocabularies, at most and at least, and drafts at each; one for so many positions."""


class ReportRequest(NamedTuple):
    """The subject of the report: files of laws, tables of models, shards of traces, as their commands take them.

    Without any, the embedded default. `positions` and `seed` are its size and the seed of all that is sampled.
    """

    laws: CompareRequest | None = None
    models: Blocks | None = None
    traces: TraceRequest | None = None
    positions: int = 2000
    seed: int = 0


def results(request: ReportRequest, progress: Progress, at_once: int = 1) -> list[Result]:
    """Return what the report shows, a result a part: five of the embedded default, or one of each thing given.

    The parts of the embedded default are computed by `at_once` processes; each part is the same whatever their number.

    Raises:
        ValueError, TypeError, OSError: bad input.
    """
    positions, seed = count(request.positions, "--positions"), request.seed
    found: list[Result] = []
    if request.models is not None:
        found.append(of_models(request.models, progress))
    if request.laws is not None:
        found.append(of_laws(request.laws, progress))
    if request.traces is not None:
        from spec_math.studies.traces.study import study as of_shards  # slow to load: what judges samplers

        found.append(of_shards(request.traces, progress))
    if found:
        return found
    parts = [name for name in PARTS if name != "frontier" or positions >= FRONTIER_FROM]
    if at_once == 1 or positions < FRONTIER_FROM:
        return [_part((name, positions, seed), progress) for name in parts]
    step = progress("parts of the report", len(parts))
    arrived: dict[str, Result] = {}
    items = [(name, positions, seed) for name in LONGEST_FIRST]
    with closing(side_by_side(_part, items, min(at_once, len(items)))) as done:
        for (name, *_), result in done:
            arrived[name] = result
            step(1)
    return [arrived[name] for name in parts]


def _part(which: tuple[str, int, int], progress: Progress = no_progress) -> Result:
    """Compute a part by its name, with the number of positions and the seed."""
    name, positions, seed = which
    return globals()[name](positions, seed, progress)


def one_position(positions: int, seed: int, progress: Progress) -> Result:
    """Return every scheme at one position of the embedded default."""
    source = stream.default_positions(count(positions, "--positions"))
    verdicts = judged(SCHEMES, progress)
    found = compare_judged(source, verdicts, KS, progress("comparing", source.count), seed)
    return of_positions(found, verdicts, bound(found, source.names))


def blocks(positions: int, seed: int, progress: Progress) -> Result:
    """Return all methods on blocks of the embedded default."""
    samples = max(LEAST_BLOCKS, positions // POSITIONS_A_BLOCK)
    return of_blocks(compare_blocks(BlockRequest(embedded(), (1, 2, 4, 8), (4, 8), samples, seed), progress))


def frontier(positions: int, seed: int, progress: Progress) -> Result:
    """Return what to draft and how to verify it under a budget of nodes, on both embedded defaults."""
    samples = max(FIRST, count(positions, "--positions") // POSITIONS_A_SAMPLE)
    return of_frontier(FrontierRequest(samples=samples, seed=seed), progress)


def vocabularies(positions: int, seed: int, progress: Progress) -> Result:
    """Return the embedded drafters with other vocabularies."""
    number = max(FEWEST, min(MOST, positions // POSITIONS_A_PREFIX))
    return of_vocabularies(sampling.compare(sampling.Sampling(number, DRAFTS, seed=seed), progress))


def lossy(positions: int, seed: int, progress: Progress) -> Result:  # noqa: ARG001 - nothing is sampled
    """Return the rules that change the law by design, at a few positions of the embedded default."""
    few = min(LOSSY_POSITIONS, count(positions, "--positions"))
    laws = lossy_rules.laws_of(embedded(), few)
    result = lossy_rules.measured([("documentation", laws)], lossy_rules.LossyRequest(), progress)
    return replace(result, finding=f"Rules that are lossy by design: {result.finding}")
