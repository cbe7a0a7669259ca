"""Options that several commands take."""

from __future__ import annotations

from contextvars import ContextVar
from pathlib import Path
from typing import Annotated, Any

import typer

ALL: ContextVar[bool] = ContextVar("all", default=False)
"""True where a result is shown with all its rows and notes."""


def _keep(value: bool) -> None:
    _ = ALL.set(value)


SHOW_ALL = typer.Option("--all", callback=_keep, expose_value=False, help="Show everything, in more than 40 lines.")


def for_all(everything: Annotated[bool, SHOW_ALL] = False) -> None:
    """Take the options of all commands, none of which a command sees."""


def _seed(value: int | None) -> int | None:
    """Refuse a seed below 0: NumPy's error names no option."""
    if value is not None and value < 0:
        raise typer.BadParameter(f"must be at least 0; got {value}")
    return value


def option(said: str, *names: str, **more: Any) -> Any:
    """Return an option of a command, with what its help says."""
    return typer.Option(*names, help=said, **more)


LawOption = Annotated[
    str | None,
    option("File of distributions \\[positions, V]: .npy, .npz or .safetensors; PATH:NAME chooses one of its arrays."),
]
KOption = Annotated[str, option("Numbers of drafts, separated by commas.")]
SchemeOption = Annotated[list[str] | None, option("Your own scheme, as module:name; may be repeated.")]
FilterOption = Annotated[
    list[str] | None,
    option(
        "Filters temperature=, top_k=, top_p= and min_p=, separated by commas; they are applied in the order "
        "temperature, top_k, top_p, min_p. A filter applies to both models, and as target.NAME= or draft.NAME= to one. "
        "The filter union.top_k=N keeps the tokens that are among the N most likely of either model (SpecTr, Fig. 5).",
        "--filter",
    ),
]
SeedOption = Annotated[int, option("Seed of all random numbers.", callback=_seed)]
TargetModelOption = Annotated[
    Path | None,
    option(
        'JSON table of the target model: {"rows": {"0 1": [0.5, 0.5], ...}, "context": 2}. A row holds the next '
        "token's probabilities after its prefix; context is the number of prefix tokens that these depend on.",
        "--target",
        "--target-model",
    ),
]
DraftModelOption = Annotated[
    Path | None, option("JSON table of the draft model, in --target's form.", "--draft", "--draft-model")
]
PrefixOption = Annotated[str, option("Prefix that both models continue: token indices separated by spaces.")]
BlockSeedOption = Annotated[int | None, option("Seed of all random numbers.", callback=_seed)]
ExactLawOption = Annotated[
    str | None,
    option("The target's distribution: fractions such as 1/4,3/4, a JSON list, or a file with one distribution."),
]
ExactDraftOption = Annotated[
    list[str] | None,
    option("The draft's distribution, in the form of --target; for several drafters of a token each, repeat --draft."),
]
DraftsOption = Annotated[
    str, option("Way to draft k tokens: independent, or that of a scheme (without replacement, greedy).")
]
DraftLawOption = Annotated[
    Path | None, option('Instead of --draft: JSON of the joint distribution of k drafts, {"0 1": "1/4", "1 1": "3/4"}.')
]
CostsOption = Annotated[
    str,
    option(
        "Costs in target calls, such as draft=0.05,knee=256,verify=0.0005: of a drafter call (draft) and of a "
        "verified node (verify). Knee is the number of tokens that a target call takes without extra cost."
    ),
]
WeightsOption = Annotated[bool, option("The distributions are weights; divide them by their exact sum.")]
CertificateOption = Annotated[
    Path | None, option("File for a certificate that spec-math check checks: FILE.json, or FILE.json.gz.")
]
OutOption = Annotated[
    Path | None, option("Where to write: a folder, or one file (.html, .csv, .json, .svg, .pdf or .tex).")
]


def chain_of(out: Path | None) -> tuple[Path | None, Path | None]:
    """Return the place of a Markov chain, where --out names a file .pm, and the place of all other results."""
    return (out, None) if out is not None and out.suffix == ".pm" else (None, out)
