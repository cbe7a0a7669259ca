"""A user's own generator of blocks, or selection of a chain: judged on small models, and run on those compared."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial
from itertools import product
from typing import Any, NamedTuple, cast

import numpy as np

from spec_math.block_level import length, selected_chain
from spec_math.block_level.conditionals import Conditionals
from spec_math.block_level.lossless import check_lossless_block
from spec_math.block_level.methods import CHAINS, TOKEN_BY_TOKEN, Generate
from spec_math.chance import Coin, sample
from spec_math.files.place import load_function, required
from spec_math.language import Table
from spec_math.mean import Mean, known, of_independent
from spec_math.result import Result, Row, curve, sentences
from spec_math.samplers.standard import PREFIXES, standard_models
from spec_math.studies.arguments import Progress
from spec_math.studies.blocks.comparison import BlockComparison, BlockRequest
from spec_math.studies.blocks.run import start
from spec_math.verdict import Lossless, Lossy, Undecided, Verdict

PATHS = 2_000
"""A block of a table is added up over every path where V^(K · L + 1) is at most so much; else it is run."""

RUNS = 800
"""Runs of a method for each K and L, at most."""

JUDGED = 2
"""The lookahead, and the number of paths, that a method is judged with."""


class OwnMethod(NamedTuple):
    """A method at MODULE:FUNCTION; with `one` path whatever K is."""

    name: str
    generate: Generate
    one: bool


class OwnLine(NamedTuple):
    """The result for one K and L: tokens per call, exact or of so many runs, and how many more than a plain chain."""

    k: int
    lookahead: int
    tokens: Mean
    gain: Mean | None


def load_method(place: str) -> OwnMethod:
    """Load a method of one's own: generate(coin, target_model, draft_model, prefix, lookahead[, k]) or rule(laws, k).

    A rule makes the selection of `block_level.selected_chain`, which is then verified as a block.

    Raises:
        ValueError, TypeError: there is no such function, or it takes other arguments.

    >>> load_method("spec_math.block_level.chain:generate").one
    True
    """
    found = cast("Callable[..., Any]", load_function(place, "--method").value)
    taken = required(found)
    forms: dict[int, Generate] = {
        2: lambda coin, target, draft, prefix, lookahead, k: selected_chain.generate(
            coin, found(Conditionals(target, draft, prefix), k), lookahead
        ),
        5: lambda coin, target, draft, prefix, lookahead, _: found(coin, target, draft, prefix, lookahead),
        6: found,
    }
    if len(taken) in forms:
        return OwnMethod(place, forms[len(taken)], one=len(taken) == 5)
    raise TypeError(
        f"--method {place}: a function (coin, target_model, draft_model, prefix, lookahead), with k behind it for "
        "several paths, or a rule (laws, k) that selects a chain; this one takes "
        f"({', '.join(taken)})"
    )


def judge(method: OwnMethod) -> Verdict:
    """Judge a method exactly on the standard models, with two paths of two tokens, after no token and after two.

    The first fault ends it.

    >>> bool(judge(load_method("spec_math.block_level.chain:generate")))
    True
    """
    paths, left, evidence = 0, None, ()
    for (target, draft), prefix in product(standard_models(), PREFIXES):

        def block(coin: Coin, prefix: tuple[int, ...], target: Any = target, draft: Any = draft) -> Any:
            return method.generate(coin, target, draft, prefix, JUDGED, JUDGED)

        verdict = check_lossless_block(block, target, JUDGED + 1, 1, prefix)
        if not isinstance(verdict, Undecided):
            shown = tuple(partial(_with_models, method, draft, prefix, make) for make in verdict.evidence)
            verdict = replace(verdict, evidence=shown)
        if isinstance(verdict, Lossy):
            return verdict
        if isinstance(verdict, Lossless):
            paths, evidence = paths + verdict.paths, evidence + verdict.evidence
        else:
            left = verdict
    return Lossless(paths, evidence=evidence) if left is None else left


def _with_models(method: OwnMethod, draft: Any, prefix: tuple[int, ...], make: Callable[[], Any]) -> Any:
    """Return a certificate with the arguments of the method, so that it can be replayed."""
    taken = ["coin", "target", "draft", "prefix", JUDGED, JUDGED][: 5 if method.one else 6]
    size = len(draft(prefix))
    texts = [text for length in range(JUDGED + 1) for text in product(range(size), repeat=length)]
    header = {"of": method.name, "call": [[None, role] for role in taken]}
    rows = {text: draft(prefix + text) for text in texts}
    certificate = make()
    claims = (replace(one, header=one.header | header, draft=rows) for one in certificate.claims)
    return replace(certificate, claims=tuple(claims))


def run(
    method: OwnMethod, request: BlockRequest, found: BlockComparison, progress: Progress, verdict: Verdict | None = None
) -> list[OwnLine]:
    """Return what a method yields for each K and L: added up where the models are small, else by running it.

    Where it fails, one that was found to be lossy has no line.

    Raises:
        ValueError: it fails, and its verdict does not say so.

    >>> table = Table({(): ["1/4", "3/4"]}, context=0)
    >>> from spec_math.studies.blocks.comparison import BlockModels
    >>> from spec_math.studies.arguments import no_progress
    >>> models = BlockModels(table, Table({(): ["1/2", "1/2"]}, context=0), ((),), 2, "tables")
    >>> request = BlockRequest(models, (1,), (2,), 100)
    >>> nothing = BlockComparison("", 2, (1,), (2,), 0, [], [])
    >>> run(load_method("spec_math.block_level.chain:generate"), request, nothing, no_progress)[0].tokens.value
    2.3125
    """
    ks = [1] if method.one else list(request.ks)
    step = progress(f"running {method.name}", len(ks) * len(request.lookaheads))
    lines: list[OwnLine] = []
    for size, k in product(request.lookaheads, ks):
        plain = found.entry(TOKEN_BY_TOKEN, 1, size)
        try:
            tokens = _tokens(method, request, size, k)
        except (Exception, SystemExit) as error:  # whatever somebody's function raises
            if isinstance(verdict, Lossy):
                continue
            said = f"{type(error).__name__}: {error}"
            raise ValueError(f"{method.name} failed at K = {k}, L = {size}: {said}") from error
        lines.append(OwnLine(k, size, tokens, None if plain is None else tokens + _negative(plain.tokens)))
        step(1)
    return lines


def with_own(result: Result, found: Sequence[tuple[OwnMethod, Verdict, Sequence[OwnLine]]]) -> Result:
    """Return a result of blocks with rows, curves and a sentence for each method of one's own.

    >>> with_own(Result("blocks", "", "Take a block."), ()).finding
    'Take a block.'
    """
    for method, verdict, lines in found:
        mark = "wrong" if isinstance(verdict, Lossy) else ""
        (table,) = result.tables
        rows = list(table.rows)
        for line in lines:
            how = f"run {line.tokens.samples:,} times" if line.tokens.samples else "exact"
            group = f"K = {line.k}, L = {line.lookahead}"
            cells = method.name, line.k, line.lookahead, line.tokens, line.gain, None, how, None, ""
            places = [at for at, row in enumerate(rows) if row.group == group]
            bounds = [at for at in places if rows[at].mark == "best"]
            place = bounds[0] if bounds else places[-1] + 1 if places else len(rows)
            rows.insert(place, Row(cells, mark, group))
        said = "lossless" if verdict else "LOSSY" if isinstance(verdict, Lossy) else "undecided"
        own = f"{method.name} is {said}, and fails when it is run."
        if lines:
            best = max(lines, key=lambda line: line.tokens.value)
            sizes = f"K = {best.k} and L = {best.lookahead}"
            own = f"{method.name} is {said} and yields {best.tokens} tokens per call with {sizes}."
            own += _above(best, rows) if isinstance(verdict, Lossless) else ""
        code = 1 if isinstance(verdict, Lossy) else 0 if verdict else 3
        judged = f"{method.name}, on {len(standard_models())} pairs of small models: {verdict}"
        result = replace(
            result,
            tables=(replace(table, rows=tuple(rows)),),
            pictures=tuple(_with_curves(picture, method, lines) for picture in result.pictures),
            notes=(*result.notes, *sentences([judged])),
            finding=f"{result.finding} {own}",
            exit_code=1 if 1 in (code, result.exit_code) else max(code, result.exit_code),
        )
    return result


def _tokens(method: OwnMethod, request: BlockRequest, lookahead: int, k: int) -> Mean:
    models = request.models

    def block(coin: Coin, prefix: tuple[int, ...]) -> Any:
        emitted: Any = method.generate(coin, models.target, models.draft, prefix, lookahead, k)
        return tuple(emitted) if isinstance(emitted, list) else emitted

    if isinstance(models.target, Table) and models.size ** (k * lookahead + 1) <= PATHS:
        emitted = length.law(block, models.prefixes[0])
        for text in emitted:
            _hold_length(len(text), lookahead, least=0)  # none at all is what the verdict says
        return known(sum(len(text) * mass for text, mass in emitted.items()))
    rng = np.random.default_rng(request.seed)
    sizes: list[float] = []
    for _ in range(max(2, min(RUNS, request.samples))):
        prefix = start(models, rng)
        size = len(sample(lambda coin, prefix=prefix: block(coin, prefix), rng))
        _hold_length(size, lookahead)
        sizes.append(size)
    return of_independent(np.array(sizes), 1, lookahead + 1)


def _hold_length(size: int, lookahead: int, least: int = 1) -> None:
    """Refuse what is not the yield of one call: more tokens than were drafted, and the target's own."""
    if not least <= size <= lookahead + 1:
        raise ValueError(
            f"emitted {size} tokens; a lookahead of {lookahead} allows 1 to {lookahead + 1} in one call of the target"
        )


def _negative(mean: Mean) -> Mean:
    low, high = (None if end is None else -end for end in (mean.high, mean.low))
    return replace(mean, value=-mean.value, low=low, high=high)


def _above(line: OwnLine, rows: Sequence[Row]) -> str:
    """Say what a lossless method does that yields more than any verifier of i.i.d. chains; nothing where it does not.

    The numbers are compared where both are exact: samples may lie above what they are samples of.
    """
    place = f"K = {line.k}, L = {line.lookahead}", f"any verifier, {CHAINS.name}"
    bounds = (row.cells[3] for row in rows if (row.group, row.cells[0]) == place)
    bound = next((mean for mean in bounds if isinstance(mean, Mean) and not mean.samples), None)
    if bound is None or line.tokens.samples or line.tokens.value <= bound.value + 2.0**-40:
        return ""
    return (
        f" That exceeds {bound}, the bound of {CHAINS.name}. So its drafts are of another kind, or it calls the target "
        "more than once."
    )


def _with_curves(picture: Any, method: OwnMethod, lines: Sequence[OwnLine]) -> Any:
    panels = list(picture.panels)
    for at, size in enumerate(dict.fromkeys(line.lookahead for line in lines)):
        means = {line.k: line.tokens for line in lines if line.lookahead == size}
        panels[at] = replace(panels[at], curves=(*panels[at].curves, curve(method.name, means)))
    return replace(picture, panels=tuple(panels))
