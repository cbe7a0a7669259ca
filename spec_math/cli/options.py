"""Options that several commands take."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer


def _seed(value: int | None) -> int | None:
    """Refuse a seed below 0: NumPy's error names no option."""
    if value is not None and value < 0:
        raise typer.BadParameter(f"must be at least 0; got {value}")
    return value


LawOption = Annotated[
    str | None,
    typer.Option(
        help="File of distributions, positions × V: .npy, .npz or .safetensors (PATH:NAME for one array of many)."
    ),
]
DraftOption = Annotated[
    list[str] | None,
    typer.Option(help="File of the draft's distributions; given twice, two different drafters are compared."),
]
KOption = Annotated[str, typer.Option("--k", help="Numbers of drafts, separated by commas.")]
SchemeOption = Annotated[list[str] | None, typer.Option(help="A scheme of your own, module:name; may be repeated.")]
FilterOption = Annotated[
    list[str] | None,
    typer.Option(
        "--filter",
        help="[target.|draft.]temperature=, top_k=, top_p= or min_p=, for both sides if none is named, taken in this "
        "order; union.top_k=N keeps the best N tokens of either side (SpecTr Fig. 5). With commas, or several times.",
    ),
]
SweepOption = Annotated[
    str | None, typer.Option(help="One of these as NAME=FROM:TO:HOW MANY, such as draft.temperature=0.5:1.5:5.")
]
PositionsOption = Annotated[int, typer.Option(help="Held-out positions of the embedded default.")]
VocabularyOption = Annotated[
    Path, typer.Option(help="The drafter's vocabulary: a tokenizer.json, tiktoken or SentencePiece file.")
]
SeedOption = Annotated[int, typer.Option(callback=_seed, help="Seed of everything that is sampled.")]
TargetModelOption = Annotated[
    Path | None,
    typer.Option(
        "--target",
        "--target-model",
        help='JSON table of the target model: {"rows": {"0 1": law, ...}, "context": ...}.',
    ),
]
DraftModelOption = Annotated[
    Path | None, typer.Option("--draft", "--draft-model", help="JSON table of the draft model.")
]
PrefixOption = Annotated[str, typer.Option(help="Where tables start: token indices with blanks between them.")]
MethodOption = Annotated[str, typer.Option(help="Method of verification, some words of its name.")]
BlockSeedOption = Annotated[int | None, typer.Option(callback=_seed, help="Seed of everything that is sampled.")]
ExactLawOption = Annotated[
    str | None,
    typer.Option(
        "--target",
        help="The target's distribution, exact: masses with commas, a JSON list, or a file of one distribution.",
    ),
]
ExactDraftOption = Annotated[
    list[str] | None,
    typer.Option("--draft", help="The draft's distribution, likewise; given twice, each drafter drafts one token."),
]
DraftsOption = Annotated[
    str, typer.Option(help="How k tokens are drafted: independent, or as a scheme does (without replacement, greedy).")
]
DraftLawOption = Annotated[
    Path | None,
    typer.Option(help='Instead of --draft: JSON of the drafts\' distribution, {"0 1": "1/4", "1 1": "3/4"}.'),
]
WeightsOption = Annotated[bool, typer.Option(help="What is given are weights: divide by their exact sum.")]
OutOption = Annotated[
    Path | None, typer.Option(help="Folder for page, CSV, JSON and pictures; or one file: .html, .csv, .json or .svg.")
]
