"""One block as it happened: what was drafted, which coins were tossed, what was kept, and where the walk stopped."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

import numpy as np

from spec_math.arrays import Array
from spec_math.block_level import spectr
from spec_math.block_level.conditionals import Conditionals
from spec_math.block_level.methods import Method, paths
from spec_math.chance import Coin
from spec_math.recording import Recording, Toss
from spec_math.result import Word
from spec_math.scheme import Tokens
from spec_math.studies.blocks.comparison import BlockModels
from spec_math.wording import bar, counted


class Stop(NamedTuple):
    """A node of a walk: the drafts that follow it, the coins tossed there, and the token emitted."""

    candidates: Tokens
    tosses: tuple[Toss, ...]
    emitted: int


class BlockRun(NamedTuple):
    """One block: the drafted paths, the coins of verification, the emitted tokens, and how many of them were drafted.

    `stops` are the nodes of a walk, for methods with a verifier at every node; empty for others.
    """

    prefix: Tokens
    paths: tuple[Tokens, ...]
    tosses: tuple[Toss, ...]
    emitted: Tokens
    accepted: int
    stops: tuple[Stop, ...]

    @property
    def rejected(self) -> Tokens:
        """The drafts that stood where the last token is not one of them, each once."""
        if self.accepted == len(self.emitted):
            return ()
        before, last = self.emitted[: self.accepted], self.emitted[self.accepted]
        following = (path[len(before)] for path in self.paths if path[: len(before)] == before and path != before)
        return tuple(dict.fromkeys(token for token in following if token != last))

    @property
    def shape(self) -> Tokens:
        """The number of drafts at each node of a walk: 6, 3, 2, 1 in SpecTr's Figure 4."""
        return tuple(len(stop.candidates) for stop in self.stops)


def run(method: Method, models: BlockModels, prefix: Tokens, size: tuple[int, int], rng: Any) -> BlockRun:
    """Generate one block of k paths of L tokens, size = (L, k), with the uniforms of a NumPy Generator.

    Drafting is the first part of every method, so that replaying it on the same uniforms gives the drafted paths.

    Raises:
        ValueError, TypeError: as the method.

    >>> from spec_math.block_level.methods import named
    >>> from spec_math.language import Table
    >>> table = Table({(): [0.25, 0.75]}, context=0)
    >>> found = run(named("K-SEQ"), BlockModels(table, table, ((),), 2, ""), (), (2, 3), np.random.default_rng(0))
    >>> found.shape[0], found.accepted, len(found.emitted)
    (3, 2, 3)
    """
    lookahead, k = size
    coin = Recording(iter(rng.random, None))
    nodes: list[tuple[Tokens, int, int]] = []

    verifier = method.verifier
    if verifier is None:
        emitted = method.generate(coin, models.target, models.draft, prefix, lookahead, k)
    else:

        def recorded(walking: Coin, drafts: Tokens, target: Array, draft: Array) -> int:
            before = len(coin.tosses)
            nodes.append((drafts, before, verifier(walking, drafts, target, draft)))
            return nodes[-1][2]

        emitted = spectr.generate(coin, models.target, models.draft, prefix, paths(lookahead, k), recorded)
    laws = Conditionals(models.target, models.draft, prefix)
    drafting = Recording(toss.uniform for toss in coin.tosses)
    chains = method.draft(drafting, laws, lookahead, k)
    own = tuple(coin.tosses[len(drafting.tosses) :])
    ends = [before for _, before, _ in nodes[1:]] + [len(coin.tosses)]
    walked = zip(nodes, ends, strict=False)
    stops = tuple(Stop(drafts, tuple(coin.tosses[before:end]), token) for (drafts, before, token), end in walked)
    return BlockRun(prefix, chains, own, emitted, _accepted(emitted, chains, laws), stops)


def shaped(
    method: Method, models: BlockModels, size: tuple[int, int], shape: Tokens, seed: int
) -> tuple[BlockRun, int]:
    """Return the first run from a seed on whose walk has this shape and ends without a draft, and its seed.

    Raises:
        ValueError: none of 5,000 seeds has it.

    >>> from spec_math.block_level.methods import named
    >>> from spec_math.language import Table
    >>> target, draft = Table({(): [0.25, 0.75]}, context=0), Table({(): [1.0, 0.0]}, context=0)
    >>> shaped(named("K-SEQ"), BlockModels(target, draft, ((),), 2, ""), (2, 3), (3,), 0)[0].shape
    (3,)
    """
    for number in range(seed, seed + TRIES):
        rng = np.random.default_rng(number)
        found = run(method, models, start(models, rng), size, rng)
        if found.shape == shape and found.accepted == len(shape) - 1:
            return found, number
    raise ValueError(
        f"none of the seeds {seed}..{seed + TRIES - 1} gives a walk with {' → '.join(map(str, shape))} drafts at its "
        "nodes; name a seed to see any run"
    )


TRIES = 5_000


def start(models: BlockModels, rng: Any) -> Tokens:
    """Return one of the prefixes that blocks start from.

    >>> start(BlockModels(None, None, ((1, 2),), 3, ""), np.random.default_rng(0))
    (1, 2)
    """
    return models.prefixes[int(rng.integers(len(models.prefixes)))]


def _accepted(emitted: Tokens, chains: tuple[Tokens, ...], laws: Conditionals) -> int:
    """Return how many emitted tokens are drafted ones: the last never is, unless it ends the text."""
    longest = max(
        sum(emitted[:size] == chain[:size] for size in range(1, min(len(emitted), len(chain)) + 1)) for chain in chains
    )
    return longest if laws.ends(emitted) else min(longest, len(emitted) - 1)


def lines(found: BlockRun, models: BlockModels) -> Iterator[str]:
    """Yield the lines of a run, the last one what a call of the target yielded.

    >>> from spec_math.language import Table
    >>> table = Table({(): [0.25, 0.75]}, context=0)
    >>> models = BlockModels(table, table, ((),), 2, "")
    >>> run = BlockRun((), ((0,),), (Toss(0.75, 0.5, 0), Toss(0.5, None, 1)), (1,), 0, ())
    >>> print(*lines(run, models), sep=chr(10))
    drafted 1 path:
       1  0
    coins of verification:
      accept if u = 0.7500 < 0.5000?  █████▁▁▁▁▁  no
      drawn with u = 0.5000: 1
    one call of the target: 1 token, 0 drafted and accepted, 1 of the target's own
    """
    if found.prefix:
        yield f"after: {models.text(found.prefix)}"
    yield f"drafted {len(found.paths)} path{'s' * (len(found.paths) != 1)}:"
    for number, path in enumerate(found.paths, 1):
        yield f"  {number:2}  {models.text(path)}"
    if found.stops:
        for number, stop in enumerate(found.stops, 1):
            yield from _step(number, stop, found, models)
    else:
        yield "coins of verification:"
        for toss in found.tosses:
            yield _coin(toss, models, last=toss is found.tosses[-1])
    own = len(found.emitted) - found.accepted
    tokens = counted(len(found.emitted), "token")
    yield f"one call of the target: {tokens}, {found.accepted} drafted and accepted, {own} of the target's own"


def _step(number: int, stop: Stop, found: BlockRun, models: BlockModels) -> Iterator[str]:
    drafts = ", ".join(f"{models.text((token,))} ×{times}" for token, times in Counter(stop.candidates).most_common())
    size = len(stop.candidates)
    yield f"step {number}: {size} draft{'s' * (size != 1)}: {drafts}"
    # After the last node, where its token was drafted, the target adds one: the last coin of all.
    adds = stop is found.stops[-1] and len(found.emitted) > len(found.stops)
    own = stop.tosses[:-1] if adds else stop.tosses
    for toss in own:
        yield _coin(toss, models, last=toss.answer == stop.emitted and toss is own[-1])
    agreeing = stop.candidates.count(stop.emitted)
    goes_on = f"{agreeing} of the {size} drafts agree" if agreeing else "none of the drafts: the walk stops"
    yield f"  → {models.text((stop.emitted,))}: {goes_on}"
    if adds:
        yield f"all drafted tokens are accepted, and the target adds {models.text(found.emitted[-1:])}"


def _coin(toss: Toss, models: BlockModels, last: bool) -> str:
    if toss.chance is None:
        drawn = models.text((toss.answer,)) if last else f"choice {toss.answer}, counted from 0"
        return f"  drawn with u = {toss.uniform:.4f}: {drawn}"
    chance = float(toss.chance)
    return f"  accept if u = {toss.uniform:.4f} < {chance:.4f}?  {bar(chance)}  {'yes' if toss.answer else 'no'}"


SHOWN = 3
"""How many rejected drafts of a place are shown."""


def generate(method: Method, models: BlockModels, size: tuple[int, int], tokens: int, seed: int) -> list[BlockRun]:
    """Generate at least so many tokens, or up to the end token, in blocks of k paths of L tokens: size = (L, k).

    >>> from spec_math.block_level.methods import METHODS
    >>> from spec_math.language import Table
    >>> table = Table({(): [0.25, 0.75]}, context=0)
    >>> len(generate(METHODS[0], BlockModels(table, table, ((),), 2, ""), (2, 1), 5, 0))
    2
    """
    rng: Any = np.random.default_rng(seed)
    prefix = begun = start(models, rng)
    end = getattr(models.target, "end", None)
    blocks: list[BlockRun] = []
    while len(prefix) - len(begun) < tokens and not (blocks and prefix[-1] == end):
        blocks.append(run(method, models, prefix, size, rng))
        prefix = prefix + blocks[-1].emitted
    return blocks


def marked(blocks: Sequence[BlockRun], models: BlockModels) -> tuple[Word, ...]:
    """Return the text word by word, each with its mark.

    >>> from spec_math.language import Table
    >>> table = Table({(): [0.25, 0.75]}, context=0)
    >>> models = BlockModels(table, table, ((),), 2, "")
    >>> [tuple(word) for word in marked([BlockRun((), ((0, 0),), (), (0, 1), 1, ())], models)]
    [('0', 'kept'), ('0', 'struck'), ('1', 'added')]
    """
    words = [Word(models.text((token,)), "faint") for token in blocks[0].prefix]
    for block in blocks:
        words += [Word(models.text((token,)), "kept") for token in block.emitted[: block.accepted]]
        words += [Word(models.text((token,)), "struck") for token in block.rejected[:SHOWN]]
        words += [Word(models.text((token,)), "added") for token in block.emitted[block.accepted :]]
    return tuple(words)


LEGEND = Word("accepted", "kept"), Word("rejected", "struck"), Word("from the target", "added")
"""What the marks mean."""


def reached(blocks: Sequence[BlockRun]) -> str:
    """Say how many tokens a call of the target yielded.

    >>> reached([BlockRun((), ((0, 0),), (), (0, 1), 1, ())])
    '2 tokens in 1 call of the target, 2.00 a call. 1 of the 2 tokens were drafted'
    """
    calls, tokens = len(blocks), sum(len(block.emitted) for block in blocks)
    return (
        f"{tokens} tokens in {calls} call{'s' * (calls != 1)} of the target, {tokens / calls:.2f} a call. "
        f"{sum(block.accepted for block in blocks)} of the {tokens} tokens were drafted"
    )
