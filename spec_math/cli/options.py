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
        help="Array \\[positions, V] of distributions: .npy, .npz or .safetensors, or PATH:NAME to name one of several."
    ),
]
DraftOption = Annotated[
    list[str] | None, typer.Option(help="File of the draft's distributions; repeat the option to compare drafters.")
]
KOption = Annotated[str, typer.Option("--k", help="Numbers of drafts, separated by commas.")]
SchemeOption = Annotated[list[str] | None, typer.Option(help="Your own scheme, as module:name; may be repeated.")]
FilterOption = Annotated[
    list[str] | None,
    typer.Option(
        "--filter",
        help="Filters temperature=, top_k=, top_p= and min_p=, separated by commas and applied in this order. A filter "
        "is for both models, or for one model as target.NAME= or draft.NAME=. The filter union.top_k=N keeps the "
        "tokens that are among the N most likely of either model (SpecTr, Fig. 5).",
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
PrefixOption = Annotated[str, typer.Option(help="Prefix that both models continue: token indices separated by spaces.")]
MethodOption = Annotated[str, typer.Option(help="Some words of the verification method's name.")]
BlockSeedOption = Annotated[int | None, typer.Option(callback=_seed, help="Seed of all random numbers.")]
ExactLawOption = Annotated[
    str | None,
    typer.Option(
        "--target",
        help="The target's exact distribution: as 1/4,3/4, as a JSON list, or as a file of one distribution.",
    ),
]
ExactDraftOption = Annotated[
    list[str] | None,
    typer.Option(
        "--draft",
        help="The draft's distribution, in the form of --target; repeat it if two drafters draft one token each.",
    ),
]
DraftsOption = Annotated[
    str, typer.Option(help="Way to draft k tokens: independent, or that of a scheme (without replacement, greedy).")
]
DraftLawOption = Annotated[
    Path | None,
    typer.Option(help='JSON of the joint distribution of drafts, instead of --draft: {"0 1": "1/4", "1 1": "3/4"}.'),
]
CostsOption = Annotated[
    str,
    typer.Option(
        help="Costs in target calls, such as draft=0.05,knee=256,verify=0.0005: draft is the cost of a drafter "
        "call, verify that of a verified node, and knee the number of tokens that a call takes without extra cost."
    ),
]
WeightsOption = Annotated[bool, typer.Option(help="The distributions are weights; divide them by their exact sum.")]
OutOption = Annotated[
    Path | None,
    typer.Option(help="Output: a folder for page, CSV, JSON and pictures, or one file (.html, .csv, .json or .svg)."),
]
