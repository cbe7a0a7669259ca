"""What is asked of blocks: all methods on K paths, one block step by step, and text generated block by block."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import numpy as np

from spec_math.arrays import count
from spec_math.block_level.method import Method
from spec_math.block_level.methods import named
from spec_math.result import Note, Result, sentences
from spec_math.studies.arguments import Progress, limited, parsed_ks
from spec_math.studies.blocks.comparison import BlockRequest, compare_blocks
from spec_math.studies.blocks.explanation import lines
from spec_math.studies.blocks.generated_text import LEGEND, marked, reached
from spec_math.studies.blocks.generated_text import generate as generate_text
from spec_math.studies.blocks.models import BlockModels, embedded, from_tables
from spec_math.studies.blocks.own_methods import judge, load_method, with_own
from spec_math.studies.blocks.own_methods import run as run_method
from spec_math.studies.blocks.run import run, shaped, start
from spec_math.studies.blocks.table import result_of


@dataclass(frozen=True)
class Blocks:
    """All methods on K paths of L tokens, of two tables or of the embedded default."""

    target: Path | None = None
    draft: Path | None = None
    prefix: str = ""
    ks: str = "1,2,4,8"
    lookaheads: str = "4,8"
    samples: int = 800
    seed: int = 0
    methods: tuple[str, ...] = ()


@dataclass(frozen=True)
class BlockExample:
    """One block, or a text of blocks; without a seed `explain` looks for a run like SpecTr's Figure 4."""

    method: str = "K-SEQ"
    k: int = 6
    lookahead: int = 4
    seed: int | None = None
    target: Path | None = None
    draft: Path | None = None
    prefix: str = ""


PATHS, LONGEST = 1_000, 256
"""The most paths of a block, and tokens of a path, that are looked at: programs go a call deeper with each token."""

FIGURE_4 = (6, 3, 2, 1)
"""How many of the drafts agree, node by node, in SpecTr's Figure 4, where the last of them is rejected."""

FIRST_LIKE_FIGURE_4 = 350
"""The least seed with such a run on the documentation of CPython 3.11; on another one the search goes on from here."""


def models_of(target: Path | None, draft: Path | None, prefix: str) -> BlockModels:
    """Return the models that were named: two tables, or the embedded default where none is.

    Raises:
        ValueError, TypeError, OSError: one of two files; as `from_tables`.

    >>> models_of(Path("t.json"), None, "")
    Traceback (most recent call last):
    ValueError: --target and --draft come together; only one was given
    """
    if (target is None) != (draft is None):
        raise ValueError("--target and --draft come together; only one was given")
    if target is None or draft is None:
        if prefix:
            raise ValueError("--prefix is for models from files; the embedded default starts at its held-out words")
        return embedded()
    return from_tables(target, draft, prefix)


def study(request: Blocks, progress: Progress) -> Result:
    """Compare all methods on K paths.

    Raises:
        ValueError, TypeError, OSError: bad input.

    >>> study(Blocks(lookaheads="0"), lambda what, steps: lambda done: None)
    Traceback (most recent call last):
    ValueError: --lookahead must be at least 1; got 0
    """
    ks = parsed_ks(request.ks, most=PATHS)
    lookaheads = parsed_ks(request.lookaheads, "--lookahead", "4,8", LONGEST)
    samples = count(request.samples, "--samples")
    own = [load_method(place) for place in request.methods]
    models = models_of(request.target, request.draft, request.prefix)
    asked = BlockRequest(models, ks, lookaheads, samples, request.seed)
    verdicts = [judge(method) for method in own]
    found = compare_blocks(asked, progress)
    judged = list(zip(own, verdicts, strict=True))
    runs = [run_method(method, asked, found, progress, verdict) for method, verdict in judged]
    return with_own(result_of(found), list(zip(own, verdicts, runs, strict=True)))


def explain(request: BlockExample) -> Result:
    """Show one block step by step: the run of a seed, or one that is shaped like SpecTr's Figure 4.

    Raises:
        ValueError, TypeError, OSError: bad input.

    >>> explain(BlockExample(method="no such method"))  # doctest: +ELLIPSIS
    Traceback (most recent call last):
    ValueError: no method is named 'no such method'; there are: one chain, token by token; ...
    """
    method, size, models = _read(request)
    if request.seed is not None or method.verifier is None or request.target is not None or size != (4, 6):
        seed = request.seed or 0
        rng = np.random.default_rng(seed)
        found, like = run(method, models, start(models, rng), size, rng), ""
    else:
        found, seed = shaped(method, models, size, FIGURE_4, FIRST_LIKE_FIGURE_4)
        like = ", shaped like SpecTr's Figure 4"
    paths = f"{size[1]} paths of {size[0]} tokens" if not method.one_chain else f"{size[0]} tokens"
    *steps, last = lines(found, models)
    notes = Note(models.source), Note("\n".join(steps), code=True)
    return Result("block", f"{method.name}: {paths}, seed {seed}{like}", f"{last}.", notes=notes)


def generate(request: BlockExample, tokens: int) -> Result:
    """Generate text, each token marked as accepted, rejected or the target's own, with the tokens per call.

    Raises:
        ValueError, TypeError, OSError: bad input.

    >>> generate(BlockExample(), 0)
    Traceback (most recent call last):
    ValueError: --tokens must be at least 1; got 0
    """
    wanted = count(tokens, "--tokens")
    method, size, models = _read(request)
    seed = request.seed or 0
    found = generate_text(method, models, size, wanted, seed)
    paths = f"K = {size[1]}, " if not method.one_chain else ""
    title = f"{method.name}, {paths}L = {size[0]}, seed {seed}"
    notes = (Note("", words=marked(found, models)), Note("", words=LEGEND), *sentences([models.source]))
    return Result("text", title, f"{title}: {reached(found)}.", notes=notes)


def _read(request: BlockExample) -> tuple[Method, tuple[int, int], BlockModels]:
    method = named(request.method)
    size = limited(request.lookahead, "--lookahead", LONGEST), limited(request.k, "--k", PATHS)
    return method, size, models_of(request.target, request.draft, request.prefix)
