"""Tokens per target call with the embedded drafters: drafts are sampled, the verifier's coins are averaged out."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cache, partial
from typing import Any

import numpy as np

from spec_math import array_coin
from spec_math.arrays import Array, count
from spec_math.block_level.conditionals import Conditionals
from spec_math.block_level.lengths.drafted_chains import GatheredLaws, drafted_masses
from spec_math.distribution import restriction
from spec_math.drafting.correspondence import carried, places
from spec_math.language import GreedyTokenizer, NGram, TokenizedModel, UntokenisableError, Vocabulary
from spec_math.language.byte_pairs import BytePairs, learn
from spec_math.mean import Mean, known, of_positions, of_strata
from spec_math.scheme import Tokens
from spec_math.string_level import merged_paths, methods, timing_bias
from spec_math.string_level.exact_match import LOOKBEHIND
from spec_math.string_level.methods import METHODS, TOKEN_TIMING, Draft, First, Method
from spec_math.string_level.psi import most_calls
from spec_math.string_level.reading import Reading, candidate, opened
from spec_math.string_level.timing import bias as bias_over_one_vocabulary
from spec_math.studies.arguments import Progress, spaced
from spec_math.studies.positions.stream import DRAFT_ORDER, default_models
from spec_math.studies.vocabularies.table import Bias, DrafterLines, MethodLine, VocabularyComparison


@dataclass(frozen=True)
class Sampling:
    """At how many held-out positions, with how many drafts at each, and what is compared."""

    positions: int = 40
    drafts: int = 16
    lookaheads: tuple[int, ...] = (1, 2, 4, 8, 16)
    draft_cost: float = 0.05
    seed: int = 0


@dataclass
class _Position:
    """One drafter at one position: Table 3, and mean tokens by method and lookahead.

    `excess` is what each draft adds to the excess, and the mass of the set, by which it may be negative.
    """

    acceptance: dict[Method, float]
    tokens: dict[tuple[Method, int], float]
    shared_mass: float
    untokenisable: float
    surest: float
    bias: float
    excess: tuple[list[float], float]


def compare(request: Sampling, progress: Progress) -> VocabularyComparison:
    """Compare all methods with every embedded drafter, at evenly spaced held-out positions.

    Acceptances are exact at each position up to rounding; tokens per call are means over drafts; errors are those of
    the mean over positions. A method's lookahead is the one of the highest speed-up, chosen on the same samples.

    Raises:
        TypeError, ValueError: positions, drafts or a lookahead is not a positive integer.
    """
    count(request.drafts, "drafts")
    tokenized, starts = target(), prefixes(request.positions)
    rng = np.random.default_rng(request.seed)
    lines: list[DrafterLines] = []
    surest = of_positions([0.0])
    for drafter in drafters():
        step = progress(f"drafting in {drafter.name}", len(starts))
        found: list[_Position] = []
        words = tokenized.vocabulary
        firsts = drafter.first_token_laws(words, [words.spell(prefix) for prefix in starts])
        for start in zip(starts, firsts, strict=True):
            found.append(_at(tokenized, drafter, start, request, rng))
            step(1)
        surest = of_positions([position.surest for position in found])
        lines.append(_lines(tokenized, drafter, found, request))
    source = (
        f"an n-gram model of CPython's documentation with {len(tokenized.vocabulary):,} words, and drafters "
        f"learnt from the same text, at {len(starts)} held-out words"
    )
    return VocabularyComparison(
        source, len(tokenized.vocabulary), len(starts), request.draft_cost, tuple(lines), surest, "Monte Carlo"
    )


def tokens_of_chain(laws: Conditionals, lookaheads: Sequence[int], rng: Any) -> list[float]:
    """Draft one chain and return the expected tokens of its block, verified token by token, for each lookahead.

    Laws on one vocabulary (`union.models`, `intersection.model`). Drafting stops where a draft has no target mass.
    """
    path: Tokens = ()
    sums, weight = [1.0], 1.0
    for _ in range(max(lookaheads)):
        row = laws.draft(path)
        token = int(array_coin.drawn(row[None], rng.random(1))[0])
        weight *= min(1.0, float(laws.target(path)[token] / row[token]))
        if weight == 0:
            break
        sums.append(sums[-1] + weight)
        path = (*path, token)
    return [sums[min(lookahead, len(sums) - 1)] for lookahead in lookaheads]


_Start = tuple[Tokens, tuple[Any, Any]]
"""The prefix of a position, with ψ there and the mass of drafted texts that begin with no target token."""


def _at(tokenized: TokenizedModel, drafter: Drafter, start: _Start, request: Sampling, rng: Any) -> _Position:
    prefix, (psi, untokenisable) = start
    other = drafter.tokenized.vocabulary
    laws, reading = opened(tokenized, drafter.tokenized, prefix)
    row = laws.target()
    draft = drafter.tokenized.law(reading.context_tokens)
    first = First(row, draft, tokenized.vocabulary, other, psi)
    acceptance = {
        method: method.accepts(first) for method in METHODS if method.accepts is not None and method.like is None
    }
    drafts = reading.draw_all(rng.random((request.drafts, max(request.lookaheads))))
    tokens, firsts = _retokenised(tokenized, (laws, reading), drafts, request.lookaheads)
    tokens |= {
        (method, lookahead): value
        for method, values in _in_a_row(tokenized, drafter, prefix, request, rng).items()
        for lookahead, value in zip(request.lookaheads, values, strict=True)
    }
    for method, accepted in acceptance.items():
        if method.one_token:
            tokens[method, 1] = 1 + accepted
    acceptance[TOKEN_TIMING] = float(np.mean([first.chance for first in firsts]))
    if other is tokenized.vocabulary:
        bias = bias_over_one_vocabulary(row, draft)
    else:
        begins = partial(_begins, GreedyTokenizer(tokenized.vocabulary))
        bias = timing_bias.total_variation(tokenized, drafter.tokenized, prefix, drafter.shortest, begins)
    among = timing_bias.over_proposed(row, psi)
    return _Position(
        acceptance,
        tokens,
        float(carried(draft, tokenized.vocabulary, other)[0].sum()),
        float(untokenisable),
        float(row.max()),
        float(bias),
        ([float(value) for value in timing_bias.excesses(row, firsts, among)], float(row[among].sum())),
    )


def _begins(tokenizer: GreedyTokenizer, text: bytes) -> bool:
    """Say whether some continuation of a text begins with a token."""
    try:
        tokenizer.settled(text)
    except UntokenisableError as error:
        return bool(error.read)
    return True


def _retokenised(
    tokenized: TokenizedModel, opening: tuple[GatheredLaws, Reading], drafts: list[Tokens], lookaheads: tuple[int, ...]
) -> tuple[dict[tuple[Method, int], float], list[timing_bias.First]]:
    """Return the mean tokens of SLEM and TokenTiming by lookahead, and TokenTiming's first of the longest drafts."""
    laws, reading = opening
    # Shorter drafts mostly begin with the same target tokens: one question for the laws after all of them.
    longest = [candidate(tokenized, laws.prefix, reading.text(said), LOOKBEHIND) for said in dict.fromkeys(drafts)]
    laws.gather([tokens[:place] for tokens in longest for place in range(len(tokens))], "target")
    values: dict[tuple[Method, int], list[float]] = {}
    firsts: list[timing_bias.First] = []
    for said in drafts:
        for lookahead in lookaheads:
            for method in METHODS:
                if method.retokenised is None:
                    continue
                tokens, chances = method.retokenised(Draft(tokenized, laws, reading, said[:lookahead]))
                values.setdefault((method, lookahead), []).append(float(methods.emitted(laws, tokens, chances)))
                if method is TOKEN_TIMING and lookahead == max(lookaheads):
                    firsts.append(timing_bias.First(tokens[0], chances[0]) if tokens else timing_bias.First(None, 0.0))
    return {key: float(np.mean(row)) for key, row in values.items()}, firsts


def _in_a_row(
    tokenized: TokenizedModel, drafter: Drafter, prefix: Tokens, request: Sampling, rng: Any
) -> dict[Method, list[float]]:
    """Return the mean tokens of union and TLI by lookahead, where there are shared tokens."""
    if drafter.tokenized.vocabulary is tokenized.vocabulary:
        # Both are the verifier for one vocabulary, and n-gram models say single masses.
        models = default_models().target, drafter.model
        contexts = np.repeat(models[0].context(prefix)[None], request.drafts, axis=0)
        t, d = drafted_masses(models, contexts, rng.random((max(request.lookaheads), len(contexts))).T)
        kept = np.cumprod(np.minimum(1.0, t / d), axis=1)
        values = [float(1 + kept[:, :lookahead].sum(axis=1).mean()) for lookahead in request.lookaheads]
        return {method: values for method in METHODS if method.models is not None}
    if not shared_tokens(tokenized.vocabulary, drafter.tokenized.vocabulary):
        return {}
    found: dict[Method, list[float]] = {}
    for method in METHODS:
        if method.models is not None:
            laws = Conditionals(*method.models(tokenized, drafter.tokenized), prefix)
            chains = [tokens_of_chain(laws, request.lookaheads, rng) for _ in range(request.drafts)]
            found[method] = np.mean(chains, axis=0).tolist()
    return found


def shared_tokens(words: Vocabulary, other: Vocabulary) -> int:
    """Return how many tokens of the target's vocabulary a drafter's has too."""
    found = places(words, other)
    return len(np.unique(found[found >= 0]))


def _lines(tokenized: TokenizedModel, drafter: Drafter, found: list[_Position], request: Sampling) -> DrafterLines:
    calls = most_calls(tokenized.vocabulary, drafter.tokenized.vocabulary)
    lines: list[MethodLine] = []
    for method in (method for method in METHODS if method in found[0].acceptance):
        acceptance = of_positions([position.acceptance[method] for position in found])
        choices = [
            _choice(method, lookahead, found, float(calls) if method.one_token else lookahead, request)
            for other, lookahead in found[0].tokens
            if other is method
        ]
        choices += [] if choices else [(1.0, None, None, None)]
        speed_up, lookahead, tokens, spent = max(choices, key=lambda choice: choice[0])
        lookahead = None if method.one_token else lookahead
        known = None if tokens is None else speed_up
        lines.append(MethodLine(method, acceptance, lookahead, tokens, spent, known))
    shared, untokenisable, bias = (
        of_positions([getattr(position, name) for position in found])
        for name in ("shared_mass", "untokenisable", "bias")
    )
    excess = _mean_excess([position.excess for position in found])
    biases = Bias(drafter.shortest, bias, exact=True), Bias(max(request.lookaheads), excess, exact=False)
    words = tokenized.vocabulary, drafter.tokenized.vocabulary
    return drafter_lines(drafter.name, words, shared, untokenisable, lines, biases)


def drafter_lines(
    name: str,
    words: tuple[Vocabulary, Vocabulary],
    shared: Mean,
    untokenisable: Mean,
    lines: Iterable[MethodLine],
    biases: tuple[Bias, ...] = (),
) -> DrafterLines:
    """Return a drafter's lines with what the two vocabularies, the target's and its own, say of it."""
    sizes = len(words[1]), shared_tokens(*words)
    return DrafterLines(name, *sizes, shared, untokenisable, most_calls(*words), tuple(lines), biases)


def _choice(method: Method, lookahead: int, found: list[_Position], calls: float, request: Sampling) -> Any:
    tokens = of_positions([position.tokens[method, lookahead] for position in found])
    return tokens.value / (1 + calls * request.draft_cost), lookahead, tokens, calls


def _mean_excess(found: list[tuple[list[float], float]]) -> Mean:
    """Return the mean excess over these positions, drafts being drawn; each position is a stratum of its own.

    A draft adds chance·(1[x ∈ A] − t(A)): with t(A) added, a number in [0, 1].
    """
    values = np.array([row for row, _ in found]).T
    if len(values) < 2:
        return of_positions(values[0])
    masses = np.array([mass for _, mass in found])
    return of_strata(values + masses, 0, 1) + known(-masses.mean())


MERGES, PAIRS_ORDER, BYTES_ORDER = 256, 3, 6
"""The byte-pair drafter has the 256 bytes and as many pairs again; n-gram orders of both drafters, in their tokens."""


@dataclass(frozen=True, eq=False)
class Drafter:
    """A drafter of the embedded default: its name, its model with its vocabulary, and the n-gram model behind it.

    shortest: the least number of draft tokens that can make a target token, a blank and what follows it.
    """

    name: str
    tokenized: TokenizedModel
    model: NGram
    shortest: int = 1

    def first_token_laws(self, target: Vocabulary, texts: Sequence[bytes]) -> list[tuple[Array, Any]]:
        """Return ψ after each of some texts, and the mass of the drafted texts that begin with no target token."""
        heard = [self.tokenized.read(text) for text in texts]
        if self.tokenized.vocabulary is target:
            # A word is a token of its own, whatever follows: the next one begins with a blank, which no token holds
            # further on. So ψ is the law of the first draft token, without the one that has no text.
            said = np.array([bool(token) for token in target])
            return [(restriction(self.tokenized.law(tokens), said), 0.0) for tokens in heard]
        found = merged_paths.first_tokens(target, self.tokenized.vocabulary, self.model, heard)
        return [(one.law, one.untokenisable) for one in found]


@cache
def target() -> TokenizedModel:
    """Return the default's target as a tokenized: each word with the blank before it, the unknown one without text."""
    found = default_models()
    words = Vocabulary([*(f" {name}" for name in found.corpus.names)], special=[found.corpus.size - 1])
    return TokenizedModel(found.target, words)


@cache
def byte_pairs() -> BytePairs:
    """Return the byte pairs that one of the drafters drafts, learnt from the target's text."""
    return BytePairs(learn(_texts(), MERGES))


def _texts() -> list[bytes]:
    """Return the paragraphs of the target's text."""
    words = target().vocabulary
    return [words.spell(paragraph) for paragraph in paragraphs(default_models().corpus.training)]


@cache
def drafters() -> tuple[Drafter, ...]:
    """Return the drafters, all learnt from the target's text: words, byte pairs, and bytes."""
    found, words = default_models(), target().vocabulary
    texts, pairs = _texts(), byte_pairs()
    letters = Vocabulary([bytes([byte]) for byte in range(256)])
    same = Drafter(f"words (order {DRAFT_ORDER})", TokenizedModel(found.draft, words), found.draft)
    spelled = (
        ("byte pairs", pairs.vocabulary, pairs.encode, (PAIRS_ORDER, 1)),
        ("bytes", letters, tuple[int, ...], (BYTES_ORDER, 2)),
    )
    return same, *(
        Drafter(name, TokenizedModel(model, vocabulary, encode), model, shortest)
        for name, vocabulary, encode, (order, shortest) in spelled
        for model in [NGram.learn(_joined([encode(text) for text in texts]), order, len(vocabulary))]
    )


def paragraphs(tokens: Any) -> list[Tokens]:
    """Cut a text of token indices where it has a −1."""
    listed = np.asarray(tokens)
    parts = np.split(listed, np.flatnonzero(listed < 0))
    return [tuple(part[part >= 0].tolist()) for part in parts]


def prefixes(positions: int) -> list[Tokens]:
    """Return at most so many evenly spaced held-out positions, each by the words before it in its paragraph.

    Raises:
        TypeError, ValueError: positions is not a positive integer.
    """
    found = [part[:at] for part in paragraphs(default_models().corpus.held_out) for at in range(len(part))]
    return [found[place] for place in spaced(len(found), count(positions, "--positions"))]


def _joined(texts: list[Tokens]) -> list[int]:
    """Lay texts end to end with a −1 between them."""
    return [token for text in texts for token in (*text, -1)][:-1]
