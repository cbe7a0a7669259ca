"""Two small models with vocabularies of their own, from files: every method, added up exactly."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np

from spec_math.chance import law
from spec_math.drafting.correspondence import carried, places
from spec_math.language import Table, TokenizedModel
from spec_math.language.files import read_vocabulary
from spec_math.mean import known
from spec_math.scheme import Tokens
from spec_math.string_level import speed, timing, timing_bias
from spec_math.string_level.methods import METHODS, First, Method
from spec_math.string_level.psi import first_token, most_calls
from spec_math.string_level.reading import opened
from spec_math.studies.progress import Progress, no_progress
from spec_math.studies.vocabularies.comparison import Bias, DrafterLines, MethodLine, VocabularyComparison


@dataclass(frozen=True)
class Tables:
    """Four files: two JSON tables (`language.Table.load`) and their vocabularies; and where texts start."""

    target_model: Path
    draft_model: Path
    target_vocabulary: Path
    draft_vocabulary: Path
    prefix: str = ""


MOST = 5_000
"""The most sequences of draft tokens that are added up."""


def compare(
    files: Tables, lookaheads: Sequence[int], draft_cost: Fraction, progress: Progress = no_progress
) -> VocabularyComparison:
    """Compare all methods on two tables after one prefix, each at its best lookahead; exact on Fractions.

    Raises:
        ValueError, TypeError, OSError: a file is none, a table does not fit its vocabulary, the prefix is not valid;
            too many sequences of draft tokens to add up.

    >>> none = Path("none.json")
    >>> compare(Tables(none, none, none, none), (1,), Fraction(1, 20))
    Traceback (most recent call last):
    FileNotFoundError: [Errno 2] No such file or directory: 'none.json'
    """
    target, drafter = (
        TokenizedModel(Table.load(model), read_vocabulary(vocabulary))
        for model, vocabulary in (
            (files.target_model, files.target_vocabulary),
            (files.draft_model, files.draft_vocabulary),
        )
    )
    source = f"{files.target_model} and {files.draft_model}"
    result = of_tokenized_models(target, drafter, _tokens(files.prefix), (lookaheads, draft_cost), progress)
    return replace(result, source=f"{source}{result.source.removeprefix(TWO)}")


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

    >>> from spec_math.language import Vocabulary
    >>> target = TokenizedModel(Table({}, default=["1/4", "3/4"]), Vocabulary(["a", "b"]))
    >>> drafter = TokenizedModel(Table({}, default=["1"]), Vocabulary(["bb"]))
    >>> found = of_tokenized_models(target, drafter, (), ((1, 2), Fraction(1, 8))).drafters[0]
    >>> from spec_math.string_level.methods import SLEM
    >>> found.line(SLEM).exact
    ('3/4', '781/256', '781/320')
    """
    lookaheads, draft_cost = plan
    _affordable(len(drafter.vocabulary), max(lookaheads))
    laws, reading = opened(target, drafter, prefix)
    row, draft = laws.target(), drafter.law(reading.context_tokens)
    lines: list[MethodLine] = []
    step = progress("adding up every path", len(METHODS))
    for method in METHODS:
        (found,) = speed.compare(target, drafter, prefix, lookaheads, draft_cost, (method,))
        step(1)
        accepted = _accepted(method, (target, drafter, prefix), found.lookahead)
        lines.append(
            MethodLine(
                method,
                known(accepted),
                found.lookahead,
                known(found.tokens_per_call),
                float(found.drafter_calls),
                float(found.speed_up),
                _fractions(accepted, found.tokens_per_call, found.speed_up),
            )
        )
    at = max(lookaheads)
    shared = places(target.vocabulary, drafter.vocabulary)
    about = DrafterLines(
        "the drafter",
        len(drafter.vocabulary),
        len(np.unique(shared[shared >= 0])),
        known(carried(draft, target.vocabulary, drafter.vocabulary)[0].sum()),
        known(first_token(target.vocabulary, drafter.vocabulary, reading, at).untokenisable),
        most_calls(target.vocabulary, drafter.vocabulary),
        tuple(lines),
        tuple(
            Bias(lookahead, known(timing_bias.total_variation(target, drafter, prefix, lookahead)), exact=True)
            for lookahead in sorted({min(lookaheads), at})
        ),
    )
    return VocabularyComparison(
        TWO if not prefix else f"{TWO}, after the prefix {prefix}",
        len(target.vocabulary),
        1,
        float(draft_cost),
        (about,),
        known(row.max()),
        "exact",
    )


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


def _fractions(*values: Any) -> tuple[str, ...]:
    return tuple(str(value) for value in values) if all(isinstance(v, Fraction | int) for v in values) else ()


def _tokens(prefix: str) -> Tokens:
    if not all(part.isascii() and part.isdigit() for part in prefix.split()):
        raise ValueError(f"--prefix lists token indices with blanks between them, such as '0 12 3'; got {prefix!r}")
    return tuple(int(part) for part in prefix.split())
