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
        help="File of distributions \\[positions, V]: .npy, .npz or .safetensors (PATH:NAME for one of several arrays)."
    ),
]
DraftOption = Annotated[
    list[str] | None, typer.Option(help="File of the draft's distributions; give it twice to compare two drafters.")
]
KOption = Annotated[str, typer.Option("--k", help="Numbers of drafts, separated by commas.")]
SchemeOption = Annotated[list[str] | None, typer.Option(help="Your own scheme, module:name; may be repeated.")]
FilterOption = Annotated[
    list[str] | None,
    typer.Option(
        "--filter",
        help="\\[target.|draft.]temperature=, top_k=, top_p= or min_p=, applied in this order, to both models if none "
        "is named. union.top_k=N keeps the N most likely tokens of either model (SpecTr Fig. 5). Separate by commas.",
    ),
]
SweepOption = Annotated[
    str | None, typer.Option(help="Vary one filter as NAME=FROM:TO:COUNT, such as draft.temperature=0.5:1.5:5.")
]
PositionsOption = Annotated[int, typer.Option(help="Number of held-out positions of the embedded models.")]
VocabularyOption = Annotated[
    Path, typer.Option(help="The drafter's vocabulary: a tokenizer.json, tiktoken or SentencePiece file.")
]
SeedOption = Annotated[int, typer.Option(callback=_seed, help="Seed of all random numbers.")]
TargetModelOption = Annotated[
    Path | None,
    typer.Option(
        "--target",
        "--target-model",
        help='JSON table of the target model: {"rows": {"0 1": probabilities, ...}, "context": ...}.',
    ),
]
DraftModelOption = Annotated[
    Path | None, typer.Option("--draft", "--draft-model", help="JSON table of the draft model.")
]
PrefixOption = Annotated[str, typer.Option(help="Prefix from which models start: token indices separated by spaces.")]
MethodOption = Annotated[str, typer.Option(help="Some words of the verification method's name.")]
BlockSeedOption = Annotated[int | None, typer.Option(callback=_seed, help="Seed of all random numbers.")]
ExactLawOption = Annotated[
    str | None,
    typer.Option(
        "--target",
        help="The target's exact distribution: probabilities with commas, a JSON list, or a file of one distribution.",
    ),
]
ExactDraftOption = Annotated[
    list[str] | None,
    typer.Option(
        "--draft",
        help="The draft's distribution, in the same form; give it twice for two drafters with one token each.",
    ),
]
DraftsOption = Annotated[
    str, typer.Option(help="Way to draft k tokens: independent, or that of a scheme (without replacement, greedy).")
]
DraftLawOption = Annotated[
    Path | None,
    typer.Option(help='Instead of --draft: JSON of the drafts\' distribution, {"0 1": "1/4", "1 1": "3/4"}.'),
]
WeightsOption = Annotated[bool, typer.Option(help="The distributions are weights; divide them by their exact sum.")]
OutOption = Annotated[
    Path | None, typer.Option(help="Folder for page, CSV, JSON and pictures; or one file: .html, .csv, .json or .svg.")
]
