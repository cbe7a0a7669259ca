"""The request of advice: a recording, tables, or the embedded models; latencies; limits of the engine."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np

from spec_math.arrays import count
from spec_math.block_level.lengths.recorded_text import Along, along, drawn, recorded
from spec_math.block_level.lengths.target_text import Text, start_weights
from spec_math.block_level.methods import METHODS, Method, named
from spec_math.block_level.optimum import OptimalLength
from spec_math.decision import Candidate as Entrant
from spec_math.decision import Terms, interval, race
from spec_math.mean import Mean, known, of_positions
from spec_math.result import Result
from spec_math.studies.advice import answer
from spec_math.studies.advice.answer import NOTHING, Advice, Candidate
from spec_math.studies.advice.recording import Files, opened
from spec_math.studies.arguments import Progress, limited, parsed_ks, spaced
from spec_math.studies.blocks.comparison import EXACT_TERMS, BlockModels, embedded, from_tables, in_floats
from spec_math.studies.costs import Costs, UnmeasuredError, parsed
from spec_math.studies.frontier.contenders import Shape, at
from spec_math.studies.positions.stream import parsed_filters

FLOAT = np.ndarray[Any, np.dtype[np.float64]]

LENGTH = 500
"""Tokens of a text that the models write."""

CHOOSING = 4
"""One stretch in so many, the first ones, chooses drafts."""

EFFECTIVE = 100
"""The least effective sample size of weighted text."""


@dataclass(frozen=True)
class AdviceRequest:
    """Files of a recording, two tables, or none for the embedded models; texts are what a user types.

    `samples` texts of LENGTH tokens are drawn from models that are asked.
    """

    targets: tuple[str, ...] = ()
    drafts: tuple[str, ...] = ()
    tokens: tuple[str, ...] = ()
    documents: str = ""
    logits: bool = False
    costs: str = ""
    methods: tuple[str, ...] = ()
    ks: str = "1,2,4,8"
    lookahead: int = 8
    nodes: int = 64
    temperature: float | None = None
    filters: tuple[str, ...] = ()
    text_of: str = "target"
    samples: int = 20
    seed: int = 0


Wanted = list[tuple[Method, Shape]]


def study(request: AdviceRequest, progress: Progress) -> Result:
    """Return the advice for a recording, for tables, or for the embedded models.

    Raises:
        ValueError, TypeError, OSError: bad input.

    >>> study(AdviceRequest(costs="draft=-1"), lambda what, steps: lambda done: None)
    Traceback (most recent call last):
    ValueError: --costs: draft takes LATENCY or SIZE:LATENCY, at least 0, such as 'target=1:20ms,8:21ms,32:25ms; \
draft=1:1.0ms,4:1.1ms; verify=0.02ms'; got '-1'
    """
    costs = parsed(request.costs)
    tables = [place for place in (*request.targets, *request.drafts) if place.endswith(".json")]
    live = not request.targets and not request.drafts
    if not live and not tables:
        return answer.result_of(of_recording(request, costs, progress), costs)
    if request.tokens or request.documents or request.logits or request.filters or request.text_of != "target":
        raise ValueError("--tokens, --documents, --logits, --filter and --text-of belong to recorded logits")
    if not live and len(tables) != 2:
        raise ValueError("two tables need one --target and one --draft, both .json")
    models = embedded() if live else from_tables(Path(tables[0]), Path(tables[1]))
    wanted, beyond = candidates(request, costs, every=not live)
    if (
        not live
        and request.temperature is None
        and all(method.terms(models.size, shape.levels, shape.k) <= EXACT_TERMS for method, shape in wanted)
    ):
        return answer.result_of(Advice(exactly(models, wanted, progress), models.source, left_out=beyond), costs)
    heated = at("", models, 1.0 if request.temperature is None else request.temperature).models
    texts = written(heated, request, wanted, progress)
    return answer.result_of(measured(texts, (wanted, beyond), costs, models.source), costs)


def candidates(request: AdviceRequest, costs: Costs, every: bool = False) -> tuple[Wanted, str]:
    """Return the methods and shapes within the limits and the measured latencies, simplest first; and what is left out.

    Raises:
        ValueError: nothing is left; a name that no method has.

    >>> [str(shape) for _, shape in candidates(AdviceRequest(ks="1", lookahead=1), Costs())[0]]
    ['one chain of 1', 'one chain of 1']
    """
    ks, longest = parsed_ks(request.ks), limited(request.lookahead, "--lookahead", 64)
    usual = [method for method in METHODS if every or method.along is not None]
    chosen = list(dict.fromkeys(named(name) for name in request.methods)) or usual
    found, beyond = Wanted(), ""
    for method in chosen:
        for shape in (chains(k, size) for k in ks for size in range(1, longest + 1)):
            if (shape.k == 1) is method.one_chain and shape.nodes <= count(request.nodes, "--nodes"):
                try:
                    _ = costs.weights(shape.nodes, shape.levels, shape.widest)
                    found.append((method, shape))
                except UnmeasuredError as error:
                    beyond = beyond or f"Drafts beyond the measured latencies are left out: {error}."
    if not found:
        raise ValueError(
            f"no drafts are within --k, --nodes, --method and --costs. {beyond or 'One chain needs --k 1.'} State more"
        )
    return found, beyond


def chains(k: int, lookahead: int) -> Shape:
    """Return the shape of k chains.

    >>> str(chains(2, 3)), chains(2, 3).nodes
    ('2 chains of 3', 6)
    """
    return Shape(k * lookahead, lookahead, k, k)


def exactly(models: BlockModels, wanted: Wanted, progress: Progress) -> list[Candidate]:
    """Return all candidates with their exact numbers of tokens after the models' first prefix."""
    triple, found = (models.target, models.draft, models.prefixes[0]), [NOTHING]
    step, bounds = progress("adding up exactly", len(wanted)), dict[Any, Any]()
    for method, shape in wanted:
        value, drafts = method.expected(*triple, shape.levels, shape.k), method.drafts
        solvable = drafts.solvable(models.size, shape.levels, shape.k) and drafts.optimum is not None
        if solvable and drafts.optimum is not None and (drafts, shape) not in bounds:
            most = drafts.optimum(*triple, shape.levels, shape.k)
            bounds[drafts, shape] = most.tokens_per_call if isinstance(most, OptimalLength) else most.upper
        bound = bounds.get((drafts, shape))
        share = None if bound is None else known(value / bound)
        most = None if bound is None else known(bound)
        exact = value if isinstance(value, Fraction) else None
        found.append(Candidate(method, shape, known(value), most, share, exact=exact))
        step(1)
    return found


def of_recording(request: AdviceRequest, costs: Costs, progress: Progress) -> Advice:
    """Return the advice of a recording."""
    filters = parsed_filters(request.filters)
    if request.temperature is not None:
        filters = filters.put("temperature", request.temperature)
    files = Files(
        request.targets, request.drafts, request.tokens, request.documents, request.logits, filters, request.text_of
    )
    wanted, beyond = candidates(request, costs)
    silent = [method.name for method, _ in wanted if method.along is None]
    if silent:
        raise ValueError(f"a recording along one text does not tell what {silent[0]} accepts; {answer.RECORD}")
    found = opened(files)
    step, pairs = progress("reading", len(found.tokens)), _pairs(wanted)

    def chunks() -> Iterator[Any]:
        for chunk in found.chunks:
            yield chunk
            step(len(chunk[0]))

    texts = recorded(chunks(), found.tokens, found.lengths, pairs, max(shape.levels for _, shape in wanted))
    source = f"{len(found.tokens):,} tokens in {len(found.lengths):,} documents, {found.size:,} tokens of vocabulary"
    return measured(texts, (wanted, beyond), costs, source, own=found.own)


def _pairs(wanted: Wanted) -> list[tuple[Method, int]]:
    return list(dict.fromkeys((method, shape.k) for method, shape in wanted))


def written(models: BlockModels, request: AdviceRequest, wanted: Wanted, progress: Progress) -> Iterator[Along]:
    """Yield the values of texts that the target writes, each after one of the models' prefixes."""
    longest, rng = max(shape.levels for _, shape in wanted), np.random.default_rng(request.seed)
    places = np.resize(spaced(len(models.prefixes), count(request.samples, "--samples")), request.samples)
    step = progress("writing texts", request.samples)
    sides = in_floats(models.target), in_floats(models.draft)
    text = drawn(*sides, [models.prefixes[place] for place in places.tolist()], LENGTH, rng)
    for row, counted in zip(text.windows, text.counted, strict=True):
        own = row[row >= 0]
        ended = not counted[len(own) - 1]
        starts = len(own) if ended else max(0, len(own) - longest + 1)
        windows = np.arange(starts)[:, None] + np.arange(longest)
        ends = np.arange(len(own)) == (len(own) - 1 if ended else -1)
        inside = np.where(windows < len(own), windows, -1)
        yield along(Text(text.targets[own], text.drafts[own], text.tokens[own], inside, ends), _pairs(wanted))
        step(1)


def measured(texts: Iterator[Along], wanted: tuple[Wanted, str], costs: Costs, source: str, own: bool = True) -> Advice:
    """Return the advice of texts: rounds follow each other on the target's own text, else all positions are starts.

    With R_s the chance that a round begins at position s, a text of N tokens takes Σ R_s calls. Methods are compared by
    the latency of a token, cost · mean R, on stretches of as many positions as the longest drafts have.

    Raises:
        ValueError: there are fewer than two stretches, or the weights leave too small a sample.
    """
    shapes, longest = wanted[0], max(shape.levels for _, shape in wanted[0])
    rounds, tokens, bounds = ([list[FLOAT]() for _ in shapes] for _ in range(3))
    weights = list[FLOAT]()
    for text in texts:
        if len(text.weights):
            weights.append(text.weights[:, -1])
            for place, (method, shape) in enumerate(shapes):
                accepted = text.accepted[method, shape.k][:, : shape.levels]
                tokens[place].append(1 + accepted.sum(1))
                bounds[place].append(1 + text.bounds[shape.k][:, : shape.levels].sum(1))
                rounds[place].append(start_weights(np.ascontiguousarray(accepted)) if own else tokens[place][-1])
    number = sum(map(len, weights)) // longest
    if number < 2 * CHOOSING:
        raise ValueError(
            f"the documents have {sum(map(len, weights)):,} positions with {longest - 1} more tokens behind them; at "
            f"least {2 * CHOOSING * longest} are needed: record more text, or lower --lookahead"
        )

    def stretches(parts: Sequence[FLOAT], last: int = longest) -> FLOAT:
        return np.concatenate(parts)[: number * longest].reshape(number, longest)[:, :last].mean(1)

    calls = [float(costs.of_call(shape.nodes, shape.levels, shape.widest)) for _, shape in shapes]
    if not own:
        return _weighted((shapes, tokens, bounds), np.concatenate(weights), stretches, (source, wanted[1]))
    times = np.stack(
        [np.ones(number), *(cost * stretches(one) for cost, one in zip(calls, rounds, strict=True))], axis=1
    )
    # The first part chooses each method's drafts, the rest decides between methods.
    first, every = number // CHOOSING, [NOTHING, *(Candidate(*pair, known(1)) for pair in shapes)]
    means, best = times[:first].mean(0), dict[Method | None, int]()
    for place in np.argsort(means, kind="stable").tolist():
        _ = best.setdefault(every[place].method, place)
    chosen = sorted(best.values())
    # Twice the least latency less one's own: a margin of it is at most that margin of the latency of the fastest.
    least, costly = 2 * float(means.min()), [1.0, *calls]
    gains = least - times[first:]
    entrants = [Entrant(every[place].name, least - costly[place], least) for place in chosen]
    terms = Terms(number - first, everyone=True)
    decision = race(entrants, lambda units, places, _: gains[units][:, [chosen[one] for one in places]], terms)
    found = [NOTHING]
    for place, (method, shape) in enumerate(shapes):
        # The drafts from the first position of a stretch lie within it.
        values, most = (stretches(parts[place], 1)[first:] for parts in (tokens, bounds))
        ends = 1, shape.levels + 1
        bound = interval(most, *ends, chance=decision.chance)
        share = interval(values, *ends, most, chance=decision.chance).between(0, 1)
        at_any = interval(values, *ends, chance=decision.chance)
        gain = interval(gains[:, place + 1], least - calls[place], least, chance=decision.chance)
        rate = _tokens(gain, least, calls[place]).between(*ends)
        found.append(Candidate(method, shape, rate, bound, share, at_any))
    return Advice(found, source, decision, wanted[1], stretch=longest, chosen=tuple(found[place] for place in chosen))


def _tokens(gain: Mean, least: float, cost: float) -> Mean:
    """Return the tokens per call, cost over the latency of a token, from a mean of `least` minus that latency."""
    value, (low, high) = cost / (least - gain.value), gain.interval
    ends = [cost / max(least - end, 2.0**-50) for end in (low, high)]
    return replace(gain, value=value, error=gain.error * value**2 / cost, low=ends[0], high=ends[1])


def _weighted(
    values: tuple[Wanted, Sequence[Sequence[FLOAT]], Sequence[Sequence[FLOAT]]],
    weights: FLOAT,
    stretches: Callable[[Sequence[FLOAT]], FLOAT],
    said: tuple[str, str],
) -> Advice:
    """Return the advice of weighted text, with standard errors: weights have no bound that an interval could use."""
    effective = float(weights.sum() ** 2 / (weights**2).sum()) if weights.any() else 0.0
    if effective < EFFECTIVE:
        raise ValueError(
            f"the weights leave an effective sample size of {effective:.1f} of {len(weights):,}, and {EFFECTIVE} are "
            "needed: record text of the target at this temperature, or lower --lookahead"
        )
    found = [NOTHING]
    for (method, shape), *both in zip(*values, strict=True):
        tokens, bound = (of_positions(stretches(parts)) for parts in both)
        found.append(Candidate(method, shape, tokens, bound, known(tokens.value / bound.value)))
    return Advice(found, said[0], None, said[1], (effective, len(weights)))
