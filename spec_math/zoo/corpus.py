"""The corpus of known bugs, `ZOO`, with the correct samplers that look wrong and the bugs that are not modelled."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction

from spec_math.arrays import Array
from spec_math.block_level import block
from spec_math.chance import Coin
from spec_math.distribution import one_hot
from spec_math.zoo import acceptance, drafts, residuals, rounds, rows, toy
from spec_math.zoo.specimen import Specimen, broken
from spec_math.zoo.toy import Drafter, Rows, Text, Verify, by_ratio, favourite, sampled


def _as_one_hot(coin: Coin, prefix: Text) -> tuple[int, Array]:
    """C3: a sampled token, reported as the only one there was."""
    token = coin.draw(toy.draft(prefix))
    return token, one_hot(token, toy.draft(prefix))


def _match(coin: Coin, tokens: Text, targets: Sequence[Array], _reported: Sequence[Array]) -> Text:
    """C4: the target is sampled at each position, and what it sampled is emitted."""
    for place, x in enumerate(tokens):
        y = coin.draw(targets[place])
        if y != x:
            return (*tokens[:place], y)
    return (*tokens, coin.draw(targets[-1]))


def _unsure(coin: Coin, prefix: Text) -> Text:
    """C5: drafting stops after a token of low confidence, which is verified like any other."""
    tokens: Text = ()
    while len(tokens) < toy.LOOKAHEAD:
        x, law = sampled(coin, prefix + tokens)
        tokens = (*tokens, x)
        if law[x] < Fraction(3, 20):
            break
    targets = [toy.target(prefix + tokens[:n]) for n in range(len(tokens) + 1)]
    return by_ratio()(coin, tokens, targets, [toy.draft(prefix + tokens[:n]) for n in range(len(tokens))])


def _without_the_cache(coin: Coin, prefix: Text) -> tuple[int, Array]:
    """M50: the draft has lost its cache of the bonus token, and reports the law that it then has."""
    law = toy.draft((*prefix, 0))
    return coin.draw(law), law


def _control(name: str, drafter: Drafter, verify: Verify, target: Rows = toy.target) -> Specimen:
    return broken(name, drafter, verify, target, contract=None, printed=("0", "0"))


CONTROLS = (
    _control("C1", sampled, by_ratio()).told("verification token by token", ""),
    _control("C2", favourite, by_ratio()).told(
        "a greedy draft reported as one-hot, the rejected token zeroed", "EAGLE #183, #221, #283, #329; vLLM #16899"
    ),
    _control("C3", _as_one_hot, by_ratio()).told("a sampled draft verified as one-hot", "vLLM #40149, #40651"),
    _control("C4", sampled, _match).told(
        "sample and match, the mismatch emitted", "dflash #74; mlx-swift-lm #459; llama-server"
    ),
    Specimen("C5", contract=None, generate=_unsure, drafter=sampled, printed=("0", "0")).told(
        "drafting stops after a token of low confidence, which is verified", "transformers #33258"
    ),
    _control("C6", sampled, block.verify).told("block verification", "vLLM #46781; SGLang"),
    _control("C7", sampled, by_ratio(), rows.cold).told("a draft hotter than the target", "transformers #40976"),
    _control("M50", _without_the_cache, by_ratio()).told(
        "the draft's cache lacks the bonus token",
        "vLLM #9730",
        "append the bonus token to the draft's cache before it drafts again; only the acceptance changes",
    ),
)


UNMODELLED = (
    Specimen("M9").told(
        "wrong indexing of the ratio, and a drafter that does not sample",
        "transformers PR #28166",
        "gather both masses at the drafted token's id, and draw drafts from the distribution that is reported",
        "which entries are divided is not stated, and a greedy draft alone is M2",
    ),
    Specimen("M47", contract="replay").told(
        "the coins of verification differ across tensor-parallel ranks",
        "vLLM #17498",
        "draw the coins on one rank and send them to the others, or seed all ranks alike",
        "ranks that commit different tokens have no one text whose distribution could be judged",
    ),
)

ZOO: tuple[Specimen, ...] = (
    *(*drafts.DRAFTS, *acceptance.ACCEPTANCE, *residuals.RESIDUALS, *rows.ROWS, *residuals.TREES, *residuals.BLOCKS),
    *(*rounds.REPLAY, *drafts.EDGES, *rounds.ROUNDS, *rounds.KEPT, *acceptance.RATIOS, *rows.WARPERS),
    *(*UNMODELLED, *CONTROLS),
)
"""All specimens by family; the controls come last."""
