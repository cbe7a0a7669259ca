"""Methods for heterogeneous vocabularies: the embedded drafters, two files of laws, or two tables of models."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np

from spec_math.arrays import count
from spec_math.chance import law
from spec_math.distribution import restriction
from spec_math.drafting.correspondence import carried
from spec_math.files.law_files import LawFile, LawFileError, open_laws
from spec_math.language import Table, TokenizedModel, Vocabulary
from spec_math.language.files import read_vocabulary
from spec_math.mean import known, of_positions
from spec_math.result import Result
from spec_math.scheme import Tokens
from spec_math.string_level import speed, timing, timing_bias
from spec_math.string_level.methods import METHODS, First, Method
from spec_math.string_level.psi import first_token
from spec_math.string_level.reading import opened
from spec_math.studies.arguments import Progress, no_progress, parsed_ks, prefix_of, spaced, stepped
from spec_math.studies.positions.stream import from_files
from spec_math.studies.vocabularies import sampling
from spec_math.studies.vocabularies.table import Bias, MethodLine, VocabularyComparison, result_of
from spec_math.wording import counted

EMBEDDED, TABLES = (1, 2, 4, 8, 16), (1, 2, 3)
"""Lookaheads that are compared unless others are asked for: of the embedded drafters, and of tables."""


@dataclass(frozen=True)
class Vocabularies:
    """The request of a comparison: the embedded default, or two vocabularies, with laws or with tables."""

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
    """
    return result_of(compared(request, progress))


def compared(request: Vocabularies, progress: Progress) -> VocabularyComparison:
    """Return the comparison as `study` shows it.

    Raises:
        ValueError, TypeError, OSError: bad input.
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
        raise ValueError(f"two vocabularies need --target and --draft, files of distributions or tables; {given}")
    tables = [path.endswith(".json") for path in (target, draft)]
    if tables[0] != tables[1]:
        raise ValueError(f"--target and --draft are two files of distributions or two tables; got {target} and {draft}")
    if tables[0]:
        return compare_tables(request, (target, draft), (words, other), progress)
    if request.lookaheads is not None or request.prefix:
        raise ValueError("--lookahead and --prefix are for tables; files of distributions have only one draft token")
    return compare_laws(request, (target, draft), (words, other), progress)


def _embedded(request: Vocabularies, cost: Fraction, progress: Progress) -> VocabularyComparison:
    if request.prefix:
        raise ValueError("--prefix is for models from files; the embedded default starts at its held-out words")
    positions = sampling.Sampling.positions if request.positions is None else request.positions
    lookaheads = _lookaheads(request, EMBEDDED)
    asked = sampling.Sampling(positions, lookaheads=lookaheads, draft_cost=float(cost), seed=request.seed)
    return sampling.compare(asked, progress)


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


def compare_laws(
    request: Vocabularies, files: tuple[str, str], vocabularies: tuple[Path, Path], progress: Progress
) -> VocabularyComparison:
    """Compare union, TLI, SLEM and SLRS at evenly spaced positions of two files.

    ψ is that of one draft token, which needs no law but the one in the file; and, as lines of their own, that of a
    drafter which draws every further token from the same law until the first target token is determined. Special draft
    tokens are left out of ψ (`distribution.restriction`), as they add no text.

    Raises:
        LawFileError: a file is none, the numbers of positions differ, or a law has another size than its vocabulary.
        ValueError, OSError: a vocabulary file is none.
    """
    most = sampling.Sampling.positions if request.positions is None else count(request.positions, "--positions")
    draft_cost = float(_cost(request.draft_cost))
    sides = open_laws(files[0]), open_laws(files[1])
    words = read_vocabulary(vocabularies[0]), read_vocabulary(vocabularies[1])
    _fit(sides, words, vocabularies)
    chosen = spaced(sides[0].shape[0], most).tolist()
    comparing = stepped(chosen, "comparing two vocabularies", progress)
    streams = (from_files(side, side, request.logits).laws(set(chosen)) for side in sides)
    laws = zip(*streams, comparing, strict=True)
    found = [_at(target, draft, *words) for (target, _), (draft, _), _ in laws]
    names: tuple[Key, ...] = ("shared", "untokenisable", "surest")
    shared, untokenisable, surest = (of_positions([position[name] for position in found]) for name in names)
    about = sampling.drafter_lines(Path(files[1]).name, words, shared, untokenisable, _lines(found, draft_cost))
    source = f"{files[0]} and {files[1]}, {len(chosen):,} of {counted(sides[0].shape[0], 'position')}"
    return VocabularyComparison(source, len(words[0]), len(chosen), draft_cost, (about,), surest, "laws")


def _fit(sides: tuple[LawFile, LawFile], words: tuple[Vocabulary, Vocabulary], paths: tuple[Path, Path]) -> None:
    for side, vocabulary, path in zip(sides, words, paths, strict=True):
        if side.shape[1] != len(vocabulary):
            raise LawFileError(f"{side.path}: its rows have {side.shape[1]:,} tokens, {path} has {len(vocabulary):,}")
    if sides[0].shape[0] != sides[1].shape[0]:
        raise LawFileError(
            f"both files need the same positions; {sides[0].path} has {sides[0].shape[0]:,}, {sides[1].path} has "
            f"{sides[1].shape[0]:,}"
        )


Key = tuple[Method, bool] | str
"""A method and whether each draft token is taken to be from this law, or another fact of a position."""


def _at(target: Any, draft: Any, words: Vocabulary, other: Vocabulary) -> dict[Key, float]:
    said = draft if not other.special else restriction(draft, np.array([bool(token) for token in other]))
    found: dict[Key, Any] = {"shared": carried(draft, words, other)[0].sum(), "surest": target.max()}
    for alike, lookahead in ((False, 1), (True, None)):
        psi = first_token(words, other, said, lookahead)
        first = First(target, draft, words, other, psi.law)
        for method in METHODS:
            if method.accepts is not None and method.like is None and (method.models is None or not alike):
                found[method, alike] = method.accepts(first)
        found["untokenisable"] = psi.untokenisable
    return {name: float(value) for name, value in found.items()}


def _lines(found: list[dict[Key, float]], draft_cost: float) -> Iterator[MethodLine]:
    for alike, lookahead in ((False, 1), (True, None)):
        for method in METHODS:
            if (method, alike) not in found[0]:
                continue
            acceptance = of_positions([position[method, alike] for position in found])
            # One draft token that is accepted or not: 1 + acceptance, unless it is read as several target tokens.
            line = MethodLine(method, acceptance, lookahead, alike=alike)
            if lookahead == 1 and method.retokenised is None:
                tokens = of_positions([1 + position[method, alike] for position in found])
                line = replace(line, tokens=tokens, calls=1.0, speed_up=tokens.value / (1 + draft_cost))
            yield line


MOST = 5_000
"""The most sequences of draft tokens that are added up."""


def compare_tables(
    request: Vocabularies, files: tuple[str, str], vocabularies: tuple[Path, Path], progress: Progress
) -> VocabularyComparison:
    """Compare all methods on two tables after one prefix, each at its best lookahead; exact on Fractions.

    Raises:
        ValueError, TypeError, OSError: a file is none, a table does not fit its vocabulary, the prefix is not valid;
            too many sequences of draft tokens to add up.
    """
    plan = _lookaheads(request, TABLES), _cost(request.draft_cost)
    target = TokenizedModel(Table.load(Path(files[0])), read_vocabulary(vocabularies[0]))
    drafter = TokenizedModel(Table.load(Path(files[1])), read_vocabulary(vocabularies[1]))
    result = of_tokenized_models(target, drafter, prefix_of(request.prefix), plan, progress)
    return replace(result, source=f"{files[0]} and {files[1]}{result.source.removeprefix(TWO)}")


TWO = "two models"


def of_tokenized_models(
    target: TokenizedModel,
    drafter: TokenizedModel,
    prefix: Tokens,
    plan: tuple[Sequence[int], Any],
    progress: Progress = no_progress,
) -> VocabularyComparison:
    """Compare all methods on two tokenized models after a prefix of target tokens; plan: lookaheads and draft cost.

    Raises:
        ValueError: there are more than `MOST` sequences of draft tokens; as `speed.compare`. TypeError: as it.
    """
    lookaheads, draft_cost = plan
    _affordable(len(drafter.vocabulary), max(lookaheads))
    laws, reading = opened(target, drafter, prefix)
    row, draft = laws.target(), drafter.law(reading.context_tokens)
    lines: list[MethodLine] = []
    for method in stepped(METHODS, "adding up every path", progress):
        (found,) = speed.compare(target, drafter, prefix, lookaheads, draft_cost, (method,))
        accepted = _accepted(method, (target, drafter, prefix), found.lookahead)
        means = known(accepted), found.lookahead, known(found.tokens_per_call)
        speeds = float(found.drafter_calls), float(found.speed_up)
        values = accepted, found.tokens_per_call, found.speed_up
        exact = tuple(map(str, values)) if all(isinstance(value, Fraction | int) for value in values) else ()
        lines.append(MethodLine(method, *means, *speeds, exact))
    at, words = max(lookaheads), (target.vocabulary, drafter.vocabulary)
    shared, untokenisable = carried(draft, *words)[0].sum(), first_token(*words, reading, at).untokenisable
    biases = tuple(
        Bias(lookahead, known(timing_bias.total_variation(target, drafter, prefix, lookahead)), exact=True)
        for lookahead in sorted({min(lookaheads), at})
    )
    about = sampling.drafter_lines("the drafter", words, known(shared), known(untokenisable), lines, biases)
    source = f"{TWO}, after the prefix {prefix}" if prefix else TWO
    return VocabularyComparison(source, len(words[0]), 1, float(draft_cost), (about,), known(row.max()), "exact")


def _affordable(size: int, lookahead: int) -> None:
    if size**lookahead <= MOST:
        return
    shorter = next(n for n in range(lookahead, -1, -1) if size**n <= MOST)
    raise ValueError(
        f"{lookahead} draft tokens of {size:,} make up to {size**lookahead:,} sequences, and at most {MOST:,} are "
        f"added up: {f'take --lookahead up to {shorter}, or ' if shorter else ''}sample (block_level.length.estimate)"
    )


def _accepted(method: Method, tokenized_models: tuple[TokenizedModel, TokenizedModel, Tokens], lookahead: int) -> Any:
    """Return the chance that the first drafted target token is accepted: Table 3, and its like for TokenTiming."""
    target, drafter, prefix = tokenized_models
    if method.accepts is None:
        outcomes = law(lambda coin: timing.run(coin, target, drafter, prefix, lookahead))
        return sum(mass for outcome, mass in outcomes.items() if outcome.accepted)
    laws, reading = opened(target, drafter, prefix)
    both = target.vocabulary, drafter.vocabulary
    psi = first_token(*both, reading, lookahead).law
    return method.accepts(First(laws.target(), drafter.law(reading.context_tokens), *both, psi))
