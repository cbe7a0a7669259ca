"""The report on the embedded default: one position, blocks, and drafters with other vocabularies, as one page."""

from __future__ import annotations

from dataclasses import replace

from spec_math.arrays import count
from spec_math.render.html import page as document
from spec_math.report import default
from spec_math.report.comparison import compare_judged
from spec_math.report.playground import fragment
from spec_math.report.positions import heated
from spec_math.result import Result
from spec_math.studies.blocks.comparison import BlockRequest, compare_blocks
from spec_math.studies.blocks.models import embedded
from spec_math.studies.blocks.table import result_of as of_blocks
from spec_math.studies.positions.study import bound, judged
from spec_math.studies.positions.table import of_sweep
from spec_math.studies.positions.table import result_of as of_positions
from spec_math.studies.progress import Told
from spec_math.studies.vocabularies import sampling, segmentation_counts
from spec_math.studies.vocabularies.default import drafters
from spec_math.studies.vocabularies.segmentation_pictures import by_length, histogram, tree
from spec_math.studies.vocabularies.table import result_of as of_vocabularies
from spec_math.token_level import SCHEMES

KS = (1, 2, 3, 4, 6, 8, 12, 16)
TEMPERATURES, HEATED = (0.5, 0.75, 1.0, 1.25, 1.5), 4
LEAST_BLOCKS, POSITIONS_A_BLOCK = 8, 10
"""The report samples a block for so many positions, and at least so many blocks."""

MOST, FEWEST, DRAFTS, POSITIONS_A_PREFIX = 20, 2, 12, 100
"""Held-out positions for other vocabularies, at most and at least, and drafts at each; one for so many positions."""

WORD = " raises"
"""The target token whose segmentations are drawn."""


def page(positions: int, seed: int, told: Told) -> str:
    """Return the report as one HTML page: three findings first, then what they rest on.

    Raises:
        ValueError, TypeError: positions is not a positive integer.

    >>> page(0, 0, lambda what, steps: lambda done: None)
    Traceback (most recent call last):
    ValueError: --positions must be at least 1; got 0
    """
    count(positions, "--positions")
    results = [one_position(positions, seed, told), blocks(positions, seed, told), vocabularies(positions, seed, told)]
    return document(results, "How much do speculative verifiers accept, and how much could any?", fragment())


def one_position(positions: int, seed: int, told: Told) -> Result:
    """Return every scheme at one position of the embedded default, with a sweep over the draft's temperature.

    >>> one_position(0, 0, lambda what, steps: lambda done: None)
    Traceback (most recent call last):
    ValueError: --positions must be at least 1; got 0
    """
    source = default.positions(count(positions, "--positions"))
    verdicts = judged(SCHEMES, told)
    found = compare_judged(source, verdicts, KS, told("comparing", source.count), seed)
    swept = [
        compare_judged(
            heated(source, heat), verdicts, (HEATED,), told(f"draft temperature {heat:g}", source.count), seed
        )
        for heat in TEMPERATURES
    ]
    result = of_positions(found, verdicts, bound(found, source.names))
    return replace(result, pictures=(*result.pictures, of_sweep(TEMPERATURES, swept, HEATED)))


def blocks(positions: int, seed: int, told: Told) -> Result:
    """Return all methods on blocks of the embedded default.

    >>> blocks(1, 0, lambda what, steps: lambda done: None).name
    'blocks'
    """
    samples = max(LEAST_BLOCKS, positions // POSITIONS_A_BLOCK)
    return of_blocks(compare_blocks(BlockRequest(embedded(), (1, 2, 4, 8), (4, 8), samples, seed), told))


def vocabularies(positions: int, seed: int, told: Told) -> Result:
    """Return the embedded drafters with other vocabularies, with the segmentations of the byte pairs.

    >>> [picture.name for picture in vocabularies(1, 0, lambda what, steps: lambda done: None).pictures]
    ['vocabularies', 'tree', 'lengths', 'histogram']
    """
    number = max(FEWEST, min(MOST, positions // POSITIONS_A_PREFIX))
    result = of_vocabularies(sampling.compare(sampling.Sampling(number, DRAFTS, seed=seed), told))
    pairs = next(drafter.speaker.vocabulary for drafter in drafters() if drafter.name == "byte pairs")
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
