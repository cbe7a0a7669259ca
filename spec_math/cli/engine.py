"""The command engine: a whole engine against the exact distribution of its own weights."""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Annotated, Any

import typer

from spec_math.cli.options import OutOption, SeedOption, option
from spec_math.cli.run import study

_served = partial(option, rich_help_panel="The engine and its models")
_pair = partial(option, rich_help_panel="A new pair of models")
_asked = partial(option, rich_help_panel="What is asked")
_PAIR = "Folder of the pair of models that the engine runs; by default a pair is made."


def engine(  # noqa: PLR0913 - typer takes an argument an option
    name: Annotated[
        str | None,
        typer.Argument(
            metavar="ENGINE",
            help="vllm, llama_cpp, openvino, mistralrs, transformers, stub (or stub:BUG), a driver's file, recorded "
            "texts (.jsonl), or pair to write a pair.",
        ),
    ] = None,
    url: Annotated[str | None, _served("Address of an OpenAI-compatible server that runs the pair.")] = None,
    baseline_url: Annotated[str | None, _served("Address of a server of the same target without speculation.")] = None,
    pair: Annotated[Path | None, _served(_PAIR)] = None,
    python: Annotated[str, _served("Python of the environment that has the engine; by default this one.")] = "",
    speculative: Annotated[
        str | None, _served("What the engine is told of speculation, such as vLLM's config.", metavar="JSON")
    ] = None,
    version: Annotated[str | None, _served("Release of the engine, in an environment made for it.")] = None,
    since: Annotated[str | None, _served("First release: find the one in which a failure came or went.")] = None,
    until: Annotated[str | None, _served("Last release of that search.")] = None,
    option: Annotated[
        list[str] | None, _asked("A sampling option to test, such as top_p=0.8; repeat it.", metavar="NAME=VALUE")
    ] = None,
    matrix: Annotated[bool, _asked("Test every sampling option, one at a time.", "--matrix")] = False,
    pairs: Annotated[bool, _asked("Test every two sampling options together, too.", "--pairs")] = False,
    lookahead: Annotated[int | None, _asked("Number of drafted tokens, where the engine can be told.")] = None,
    batch: Annotated[int, _asked("Number of requests that are decoded together.")] = 4,
    number: Annotated[int, _asked("Number of tokens of a text.")] = 12,
    alpha: Annotated[float, _asked("False-positive rate of all tests together.")] = 1e-6,
    samples: Annotated[int, _asked("Number of tokens of the main question; the others get a share.")] = 8000,
    target: Annotated[str, _pair("Shape of a new pair's target: plain, sharp, flat or tied.")] = "plain",
    draft: Annotated[str, _pair("Draft of a new pair: near, far, equal or disjoint.")] = "near",
    kind: Annotated[str | None, _pair("Kind of a new pair: llama, or tables as for the stub engine.")] = None,
    out: OutOption = None,
    seed: SeedOption = 0,
) -> None:
    """Judge a whole engine: its tokens against the exact distribution of its own weights.

    The command runs the engine on two tiny random models, and tests the distribution of each token given the text
    before it, the sampling options, independence, seeds, greedy decoding and returned log-probabilities. It asks the
    engine without speculation first. With --out the texts are recorded; the test can then be repeated without the
    engine.

    [bold]Examples[/bold]

      spec-math engine transformers

      spec-math engine vllm --version 0.32.0 --matrix

      spec-math engine stub:redraw --out audit

      spec-math engine pair --out pair

      spec-math engine --url http://127.0.0.1:8000/v1 --pair pair --option top_p=0.8

      spec-math engine audit/texts.jsonl

    [bold]Exit codes[/bold]: 0 nothing is wrong, 1 something is wrong, 2 bad input or no engine, 3 too little was seen.
    """
    if name == "pair":
        study(lambda _: _written(kind or "llama", target, draft, seed, out), None)
    from spec_math.engines import study as of_engines
    from spec_math.render.output import ENDINGS

    folder = None if out is None else out.parent if out.suffix in ENDINGS else out
    asked = of_engines.EngineRequest(name, url, baseline_url, pair, tuple(option or ()), matrix, pairs, lookahead)
    asked = replace(asked, batch=batch, number=number, alpha=alpha, samples=samples, seed=seed, record=folder)
    asked = replace(asked, python=python, speculative=speculative, version=version, since=since, until=until)
    asked = replace(asked, kind=kind, target=target, draft=draft)
    study(lambda progress: of_engines.study(asked, progress), out)


def _written(kind: str, target: str, draft: str, seed: int, out: Path | None) -> Any:
    from spec_math.engines.pair import PairShape, write
    from spec_math.result import Result

    if out is None:
        raise ValueError("a pair is written to a folder: spec-math engine pair --out pair")
    made = write(PairShape(kind, target, draft, seed=seed), out)
    said = f"{out}/target and {out}/draft hold the models; their tokens are the characters {made.shape.characters}"
    return Result("pair", f"A {target} pair of {kind}, draft {draft}", said)
