"""Options that several commands take."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

LawOption = Annotated[
    str | None,
    typer.Option(help="File of laws, positions × V: .npy, .npz or .safetensors (PATH:NAME for one array of many)."),
]
DraftOption = Annotated[
    list[str] | None, typer.Option(help="File of the draft's laws; given twice, two different drafters are compared.")
]
KOption = Annotated[str, typer.Option("--k", help="Numbers of drafts, separated by commas.")]
SchemeOption = Annotated[list[str] | None, typer.Option(help="A scheme of your own, module:name; may be repeated.")]
SweepOption = Annotated[
    str | None, typer.Option(help="draft-temperature=FROM:TO:STEP, such as draft-temperature=0.5:1.5:0.1.")
]
CompressOption = Annotated[
    int | None, typer.Option(help="Restrict to the union of both laws' best N tokens (SpecTr Fig. 5).")
]
PositionsOption = Annotated[int, typer.Option(help="Held-out positions of the embedded default.")]
VocabularyOption = Annotated[
    Path, typer.Option(help="The drafter's vocabulary: a tokenizer.json, tiktoken or SentencePiece file.")
]
SeedOption = Annotated[int, typer.Option(help="Seed of everything that is sampled.")]
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
BlockSeedOption = Annotated[int | None, typer.Option(help="Seed of everything that is sampled.")]
OutOption = Annotated[
    Path | None,
    typer.Option(help="Folder for page, CSV, JSON and pictures; or one file: .html, .csv, .json or .svg."),
]
