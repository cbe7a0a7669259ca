"""The request of advice: a recording, tables, or the embedded models; latencies; limits of the engine."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np

from spec_math.arrays import count
from spec_math.block_level.lengths.recorded_text import Along, along, drawn, recorded
from spec_math.block_level.lengths.target_text import Text, start_weights
from spec_math.block_level.methods import METHODS, PLAN_AT_EVERY_NODE, Method, named
from spec_math.block_level.optimum import OptimalLength
from spec_math.mean import FLOAT, Mean, known, of_positions
from spec_math.result import Result
from spec_math.sequential.decision import Candidate as Entrant
from spec_math.sequential.decision import Terms, interval, race
from spec_math.studies.advice import answer
from spec_math.studies.advice.answer import NOTHING, Advice, Candidate
from spec_math.studies.advice.recording import AdviceRequest, opened
from spec_math.studies.arguments import Progress, limited, parsed_ks, spaced, stepped, together
from spec_math.studies.blocks.comparison import EXACT_TERMS, BlockModels, embedded, from_tables, in_floats
from spec_math.studies.costs import Costs, UnmeasuredError, parsed
from spec_math.studies.frontier.contenders import at
from spec_math.studies.frontier.study import LivePair
from spec_math.studies.lengths.units import Shape, chains
from spec_math.studies.positions.stream import parsed_filters

LENGTH, WRITTEN = 500, 128
"""Tokens of a text that embedded models write, and of one that a model of transformers writes."""

CHOOSING = 4
"""One stretch in so many, the first ones, chooses drafts."""

EFFECTIVE = 100
"""The least effective sample size of weighted text."""


Wanted = list[tuple[Method, Shape]]


def study(request: AdviceRequest, progress: Progress, live: LivePair | None = None) -> Result:
    """Return the advice for a recording, for live models, for tables, or for the embedded models.

    Raises:
        ValueError, TypeError, OSError: bad input.

    >>> study(AdviceRequest(costs="knee=0"), lambda what, steps: lambda done: None)
    Traceback (most recent call last):
    ValueError: --costs: knee must be at least 1 token; got 0
    """
    costs = parsed(request.costs)
    files = [place for place in (request.target, request.draft) if place is not None]
    if files and live is None and not any(place.endswith(".json") for place in files):
        return answer.result_of(of_recording(request, costs, progress), costs)
    together(request.target, request.draft)
    if request.tokens or request.documents or request.logits or request.filters or request.text_of != "target":
        raise ValueError("--tokens, --documents, --logits, --filter and --text-of belong to recorded logits")
    if live is not None:
        return answer.result_of(of_live(live, request, costs, progress), costs)
    models = from_tables(Path(files[0]), Path(files[1])) if files else embedded()
    wanted, beyond = candidates(request, costs, every=bool(files))
    sizes = [method.terms(models.size, shape.levels, shape.k) for method, shape in wanted]
    if files and request.temperature is None and max(sizes) <= EXACT_TERMS:
        found = exactly(models, wanted, progress)
        return answer.result_of(Advice(found, (f"{models.source}. All values are exact.", beyond)), costs)
    heated = at("", models, 1.0 if request.temperature is None else request.temperature).models
    texts = written(heated, request, wanted, progress)
    return answer.result_of(measured(texts, wanted, costs, (f"{models.source}.", beyond)), costs)


def candidates(request: AdviceRequest, costs: Costs, every: bool = False) -> tuple[Wanted, str]:
    """Return the methods and shapes within the limits and the measured latencies, simplest first; and what is left out.

    Raises:
        ValueError: nothing is left; a name that no method has.

    >>> [str(shape) for _, shape in candidates(AdviceRequest(ks="1", lookahead=1), Costs())[0]]
    ['one chain of 1', 'one chain of 1']
    """
    ks, longest = parsed_ks(request.ks), limited(request.lookahead, "--lookahead", 64)
    usual = [method for method in METHODS if every or (method.along and method is not PLAN_AT_EVERY_NODE)]
    found, beyond, most = Wanted(), "", count(request.nodes, "--nodes")
    for method in dict.fromkeys(named(name) for name in request.methods) or usual:
        for shape in (chains(method, k, size).shape for k in ks for size in range(1, longest + 1) if k * size <= most):
            try:
                if (shape.k == 1) is method.one_chain and costs.weights(shape.nodes, shape.levels, shape.widest):
                    found.append((method, shape))
            except UnmeasuredError as error:
                beyond = beyond or f"Drafts beyond the measured latencies are left out: {error}."
    if not found:
        raise ValueError(f"no drafts are within --k, --nodes, --method and --costs; allow more. {beyond}".rstrip())
    return found, beyond


def exactly(models: BlockModels, wanted: Wanted, progress: Progress) -> list[Candidate]:
    """Return all candidates with their exact numbers of tokens after the models' first prefix."""
    triple, found = (models.target, models.draft, models.prefixes[0]), [NOTHING]
    bounds = dict[Any, Any]()
    for method, shape in stepped(wanted, "adding up exactly", progress):
        value, drafts, key = method.expected(*triple, shape.levels, shape.k), method.drafts, (method.drafts, shape)
        if drafts.optimum and key not in bounds and drafts.solvable(models.size, shape.levels, shape.k):
            most = drafts.optimum(*triple, shape.levels, shape.k)
            bounds[key] = most.tokens_per_call if isinstance(most, OptimalLength) else most.upper
        bound, share = (known(bounds[key]), known(value / bounds[key])) if key in bounds else (None, None)
        exact = value if isinstance(value, Fraction) else None
        found.append(Candidate(method, shape, known(value), bound, share, exact=exact))
    return found


RECORD = "record models that can be asked: spec-math record FOLDER --target BIG --draft SMALL --text prompts.txt"
SILENT = (
    f"One text tells nothing of trees, distinct first tokens and beams, or of other temperatures; for these {RECORD}."
)


def of_recording(request: AdviceRequest, costs: Costs, progress: Progress) -> Advice:
    """Return the advice of a recording."""
    filters = parsed_filters(request.filters)
    if request.temperature is not None:
        filters = filters.put("temperature", request.temperature)
    wanted, beyond = _told(request, costs)
    tokens, lengths, rows, stream = opened(request, filters)
    step = progress("reading", len(tokens))
    chunks = (chunk for chunk in stream if step(len(chunk[0])) is None)
    texts = recorded(chunks, tokens, lengths, _pairs(wanted), max(shape.levels for _, shape in wanted))
    source = f"{len(tokens):,} tokens in {len(lengths):,} documents, {rows.size:,} tokens of vocabulary."
    return measured(texts, wanted, costs, (source, beyond, SILENT), own=request.text_of == "target")


def of_live(live: LivePair, request: AdviceRequest, costs: Costs, progress: Progress) -> Advice:
    """Return the advice of texts that a live target writes after its prefixes, at the request's temperature."""
    header, rng = live.header, np.random.default_rng(request.seed)
    (wanted, beyond), heat = _told(request, costs), 1.0 if request.temperature is None else request.temperature
    target, draft, longest = live.target, live.draft, max(shape.levels for _, shape in wanted)

    def texts() -> Iterator[Along]:
        for prefix in stepped(header.prefixes, "writing texts", progress):
            tokens, rows = target.written(prefix, WRITTEN, rng, heat)
            both = rows, draft.along(prefix, tokens, heat)
            yield from recorded([both], tokens, [WRITTEN], _pairs(wanted), longest)

    source = f"{len(header.prefixes):,} texts of {WRITTEN} tokens that {header.target} wrote; drafts of {header.draft}."
    return measured(texts(), wanted, costs, (source, beyond, SILENT))


def _told(request: AdviceRequest, costs: Costs) -> tuple[Wanted, str]:
    """Return the candidates, if one text tells what each accepts."""
    wanted, beyond = candidates(request, costs)
    for method, _ in wanted:
        if method.along is None:
            raise ValueError(f"a recording along one text does not tell what {method.name} accepts; {RECORD}")
    return wanted, beyond


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
        ends = ~counted[: len(own)]
        starts = len(own) if ends[-1] else max(0, len(own) - longest + 1)
        windows = np.arange(starts)[:, None] + np.arange(longest)
        inside = np.where(windows < len(own), windows, -1)
        yield along(Text(text.targets[own], text.drafts[own], text.tokens[own], inside, ends), _pairs(wanted))
        step(1)


def measured(
    texts: Iterator[Along], wanted: Wanted, costs: Costs, notes: tuple[str, ...] = (), own: bool = True
) -> Advice:
    """Return the advice of texts: rounds follow each other on the target's own text, else all positions are starts.

    With R_s the chance that a round begins at position s, a text of N tokens takes Σ R_s calls. Methods are compared by
    the latency of a token, cost · mean R, on stretches of as many positions as the longest drafts have.

    Raises:
        ValueError: there are fewer than two stretches, or the weights leave too small a sample.
    """
    longest, weights = max(shape.levels for _, shape in wanted), list[FLOAT]()
    rounds, tokens, bounds = ([list[FLOAT]() for _ in wanted] for _ in range(3))
    for text in texts:
        weights.append(text.weights[:, -1])
        for place, (method, shape) in enumerate(wanted if len(text.weights) else ()):
            accepted = np.ascontiguousarray(text.accepted[method, shape.k][:, : shape.levels])
            tokens[place].append(1 + accepted.sum(1))
            bounds[place].append(1 + text.bounds[shape.k][:, : shape.levels].sum(1))
            rounds[place].append(start_weights(accepted) if own else tokens[place][-1])
    positions = sum(map(len, weights))
    number, every = positions // longest, [NOTHING, *(Candidate(*pair, known(1)) for pair in wanted)]
    if number < 2 * CHOOSING:
        raise ValueError(
            f"the documents have {positions:,} positions with {longest - 1} more tokens behind them; at least "
            f"{2 * CHOOSING * longest} are needed: record more text, or lower --lookahead"
        )

    def stretches(parts: Sequence[FLOAT], last: int = longest) -> FLOAT:
        return np.concatenate(parts)[: number * longest].reshape(number, longest)[:, :last].mean(1)

    if not own:
        means = [[of_positions(stretches(parts)) for parts in both] for both in zip(tokens, bounds, strict=True)]
        shares = [known(mean.value / bound.value) for mean, bound in means]
        rows = zip(wanted, means, shares, strict=True)
        weighted = [Candidate(*pair, both[0], both[1], share) for pair, both, share in rows]
        return Advice([NOTHING, *weighted], (_effective(np.concatenate(weights)), *notes))
    calls = [float(costs.of_call(*one.sizes)) for one in every]
    times = np.stack([np.ones(number), *map(stretches, rounds)], axis=1) * calls
    # The first part chooses each method's drafts, the rest decides between methods.
    first, best = number // CHOOSING, dict[Method | None, int]()
    for place in np.argsort(times[:first].mean(0), kind="stable").tolist():
        _ = best.setdefault(every[place].method, place)
    chosen = sorted(best.values())
    # Twice the least latency less one's own: a margin of it is at most that margin of the latency of the fastest.
    least = 2 * float(times[:first].mean(0).min())
    gains, entrants = least - times[first:], [Entrant(every[at].name, least - calls[at], least) for at in chosen]
    terms = Terms(number - first, everyone=True)
    decision = race(entrants, lambda units, places, _: gains[units][:, [chosen[one] for one in places]], terms)
    found, chance = [NOTHING], decision.chance
    for place, (method, shape) in enumerate(wanted):
        # The drafts from the first position of a stretch lie within it.
        values, most = (stretches(parts[place], 1)[first:] for parts in (tokens, bounds))
        ends, cost = (1, shape.levels + 1), calls[place + 1]
        bound, at_any = (interval(one, *ends, chance=chance) for one in (most, values))
        share = interval(values, *ends, most, chance=chance).between(0, 1)
        gain = interval(gains[:, place + 1], least - cost, least, chance=chance)
        found.append(Candidate(method, shape, _tokens(gain, least, cost).between(*ends), bound, share, at_any))
    unit = f"stretches of {longest} tokens"
    said = (
        "Rounds follow each other along the text, and begin more often where drafts fail; CSV and JSON have the tokens "
        f"of a call at any position too. The first {first:,} {unit} chose each method's drafts. Decision and intervals "
        f"come from {number - first:,} more, and hold together with {terms.confidence:.0%}."
    )
    return Advice(found, (*notes, said), decision, tuple(found[place] for place in chosen), unit)


def _tokens(gain: Mean, least: float, cost: float) -> Mean:
    """Return the tokens per call, cost over the latency of a token, from a mean of `least` minus that latency."""
    value, (low, high) = cost / (least - gain.value), gain.interval
    ends = [cost / max(least - end, 2.0**-50) for end in (low, high)]
    return replace(gain, value=value, error=gain.error * value**2 / cost, low=ends[0], high=ends[1])


def _effective(weights: FLOAT) -> str:
    """Say how large a sample the weights leave; they have no bound that an interval could use."""
    effective = float(weights.sum() ** 2 / max((weights**2).sum(), 2.0**-1000))
    if effective < EFFECTIVE:
        raise ValueError(
            f"the weights leave an effective sample size of {effective:.1f} of {len(weights):,}, and {EFFECTIVE} are "
            "needed: record text of the target at this temperature, or lower --lookahead"
        )
    return (
        "Each value is weighted by the target's mass over the writer's, at any position: "
        f"{effective:,.0f} effective positions of {len(weights):,}. ± is one standard error."
    )
