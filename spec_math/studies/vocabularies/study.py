"""Methods for heterogeneous vocabularies: the embedded drafters, two files of laws, or two tables of models."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path

from spec_math.arrays import count
from spec_math.result import Result
from spec_math.studies.arguments import parsed_ks
from spec_math.studies.progress import Progress
from spec_math.studies.vocabularies import laws as vocabulary_laws
from spec_math.studies.vocabularies import models as vocabulary_models
from spec_math.studies.vocabularies import sampling as vocabulary_sampling
from spec_math.studies.vocabularies.comparison import VocabularyComparison
from spec_math.studies.vocabularies.table import result_of

EMBEDDED, TABLES = (1, 2, 4, 8, 16), (1, 2, 3)
"""Lookaheads that are compared unless others are asked for: of the embedded drafters, and of tables."""


@dataclass(frozen=True)
class Vocabularies:
    """What is compared: nothing named is the embedded default; else two vocabularies, with laws or with tables."""

    target_vocabulary: Path | None = None
    draft_vocabulary: Path | None = None
    target: str | None = None
    draft: str | None = None
    logits: bool = False
    prefix: str = ""
    lookaheads: str | None = None
    draft_cost: str = "1/20"
    positions: int | None = None
    seed: int = 0


def study(request: Vocabularies, progress: Progress) -> Result:
    """Compare union, TLI, SLEM, SLRS and TokenTiming, and say which one to take.

    Raises:
        ValueError, TypeError, OSError: bad input.

    >>> study(Vocabularies(target="t.npy"), lambda what, steps: lambda done: None)
    Traceback (most recent call last):
    ValueError: files need both vocabularies, the target's and the drafter's
    """
    return result_of(compared(request, progress))


def compared(request: Vocabularies, progress: Progress) -> VocabularyComparison:
    """Return the comparison as `study` shows it.

    Raises:
        ValueError, TypeError, OSError: bad input.

    >>> compared(Vocabularies(draft_cost="-1"), lambda what, steps: lambda done: None)
    Traceback (most recent call last):
    ValueError: --draft-cost is at least 0 target calls; got -1
    """
    cost = _cost(request.draft_cost)
    words, other = request.target_vocabulary, request.draft_vocabulary
    target, draft = request.target, request.draft
    if not (target or draft or words or other):
        return _embedded(request, cost, progress)
    if words is None or other is None:
        raise ValueError("files need both vocabularies, the target's and the drafter's")
    if target is None or draft is None:
        given = "only one was given" if target or draft else "spec-math overlap compares vocabularies alone"
        raise ValueError(f"two vocabularies are compared with --target and --draft, files of laws or tables; {given}")
    tables = [path.endswith(".json") for path in (target, draft)]
    if tables[0] != tables[1]:
        raise ValueError(f"--target and --draft are both files of laws or both tables; got {target} and {draft}")
    if tables[0]:
        files = vocabulary_models.Tables(Path(target), Path(draft), words, other, request.prefix)
        return vocabulary_models.compare(files, _lookaheads(request, TABLES), cost, progress)
    if request.lookaheads is not None or request.prefix:
        raise ValueError("--lookahead and --prefix are for tables; files of laws say nothing of further draft tokens")
    most = vocabulary_laws.Laws.positions if request.positions is None else count(request.positions, "--positions")
    laws = vocabulary_laws.Laws(target, draft, words, other, request.logits, most)
    return vocabulary_laws.compare(laws, float(cost), progress)


def _embedded(request: Vocabularies, cost: Fraction, progress: Progress) -> VocabularyComparison:
    if request.prefix:
        raise ValueError("--prefix is for models from files; the embedded default starts at its held-out words")
    positions = vocabulary_sampling.Sampling.positions if request.positions is None else request.positions
    lookaheads = _lookaheads(request, EMBEDDED)
    sampling = vocabulary_sampling.Sampling(positions, lookaheads=lookaheads, draft_cost=float(cost), seed=request.seed)
    return vocabulary_sampling.compare(sampling, progress)


def _lookaheads(request: Vocabularies, usual: tuple[int, ...]) -> tuple[int, ...]:
    return usual if request.lookaheads is None else parsed_ks(request.lookaheads, "--lookahead", "1,2,4")


def _cost(written: str) -> Fraction:
    try:
        cost = Fraction(written)
    except (ValueError, ZeroDivisionError):
        raise ValueError(f"--draft-cost takes a number, such as 0.05 or 1/20; got {written!r}") from None
    if cost < 0:
        raise ValueError(f"--draft-cost is at least 0 target calls; got {written}")
    return cost
