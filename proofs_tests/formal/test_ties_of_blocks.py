"""The programs of blocks in Rocq, computed in fractions, are the library's, and give texts the target's distribution.

Each tie asks Rocq for the numbers of some sixty instances: the distribution of the block itself, and of the texts that
the target makes of it.
"""

from __future__ import annotations

from fractions import Fraction
from functools import partial
from math import prod
from pathlib import Path
from typing import Any

import pytest

from proofs_tests.formal import rocq
from proofs_tests.formal.instances import models, noisy, texts
from proofs_tests.formal.ties import ONE, ZERO, Numbers, Tie, answers, asked, split
from spec_math import law
from spec_math.block_level import block, chain, multi_path, spectr, traversal
from spec_math.block_level import without_replacement as distinct
from spec_math.block_level.conditionals import Conditionals
from spec_math.chance import replay
from spec_math.string_level import exact_match
from spec_math.token_level import recursive, sample_and_match

pytestmark = pytest.mark.skipif(not rocq.installed(), reason="Rocq (coqc) is not installed")


def after(target: Any, prefix: Any, text: Any) -> Fraction:
    """The probability that the target continues a prefix with a text."""
    return prod((target[prefix + text[:at]][token] for at, token in enumerate(text)), start=ONE)


def check_block(generate: Any, expected: Any, values: Numbers, target: Any, draft: Any, *given: Any) -> None:
    """The law of the block; the expected number of its tokens; continued, it gives texts the target's law."""
    *shape, prefix = given
    of = target.__getitem__, draft.__getitem__, prefix, *shape
    found: Any = law(lambda coin: generate(coin, *of))
    longest = 1 + (shape[0] if isinstance(shape[0], int) else len(shape[0]))
    of_blocks(values, found, target, len(target[prefix]), prefix, longest, longest)
    if expected:
        assert sum((len(text) * mass for text, mass in found.items()), ZERO) == expected(*of)


def of_blocks(values: Numbers, found: Any, target: Any, size: int, prefix: Any, longest: int, length: int) -> None:
    wanted = {text: after(target, prefix, text) for text in texts(size, length, length)}
    blocks, continued, own = split(values, len(texts(size, longest, 1)), len(wanted), len(wanted))
    assert blocks == [found.get(text, ZERO) for text in texts(size, longest, 1)]
    shortened = [(text[:length], mass) for text, mass in found.items()]
    for text, ours, theirs in zip(wanted, continued, own, strict=True):
        begun = [(e, mass) for e, mass in shortened if text[: len(e)] == e]
        assert ours == sum((mass * after(target, prefix + e, text[len(e) :]) for e, mass in begun), ZERO)
        assert ours == theirs == wanted[text]


def check_rounds(values: Numbers, target: Any, draft: Any, lookahead: int, prefix: Any) -> None:
    """Two rounds of a chain of one draft, on texts of three tokens."""
    assert lookahead >= 1

    def twice(coin: Any) -> Any:
        written = ()
        for _ in range(2):
            written += chain.generate(coin, target.__getitem__, draft.__getitem__, prefix + written, 1)
        return written

    of_blocks(values, law(twice), target, len(target[prefix]), prefix, 4, 3)


def kept(target: Any, draft: Any, prefix: Any, size: int, lookahead: int, as_block: bool) -> list[Fraction]:
    """Probabilities that at least 0, 1, ..., lookahead drafts are kept: Σ M(s) over the texts s of so many tokens.

    Token by token M(s) is the product of min(t, d), as a block min(d(s), M(s without its last token) t).
    """
    masses: Any = {(): (ONE, ONE)}
    for text in texts(size, lookahead, 1):
        drafted, mass = masses[text[:-1]]
        t, d = target[prefix + text[:-1]][text[-1]], draft[prefix + text[:-1]][text[-1]]
        masses[text] = drafted * d, min(drafted * d, mass * t) if as_block else mass * min(t, d)
    return [sum((masses[text][1] for text in texts(size, n, n)), ZERO) for n in range(lookahead + 1)]


def check_11(values: Numbers, target: Any, draft: Any, lookahead: int, prefix: Any) -> None:
    """The expected number of tokens and the chance of more than n, of a chain and of a block, which is the longer."""
    size = len(target[prefix])
    ours, theirs = split(values, lookahead + 2, lookahead + 2)
    for found, method, as_block in ((ours, chain, False), (theirs, block, True)):
        more = kept(target, draft, prefix, size, lookahead, as_block)
        assert found == [sum(more, ZERO), *more]
        assert found[0] == method.expected(target.__getitem__, draft.__getitem__, prefix, lookahead)
    assert all(a <= b for a, b in zip(ours, theirs, strict=True))


def of_models(name: str, target: Any, draft: Any, *given: Any) -> str:
    written = (rocq.table((text, rocq.masses(row)) for text, row in model.items()) for model in (target, draft))
    return asked(name, len(target[given[-1]]), *written, *given)


def with_chains(seed: str, deep: int, largest: int) -> list[Any]:
    """Two or three chains: three of one token, of two tokens at most. At most so many pairs of chains are longer."""
    found: list[Any] = []
    for target, draft, lookahead, prefix in models(seed, most=4, sizes=(1, 2, 2, largest, 2, 2)):
        size = len(target[prefix])
        longer = lookahead > 1 and size > 1
        deep -= longer
        if deep >= 0 or not longer:
            found.append((target, draft, lookahead, 3 if size ** (lookahead + 1) <= 4 else 2, prefix))
        else:
            found.append((target, draft, 1, 3 if size == 2 else 2, prefix))
    return found


def with_widths(seed: str, most: int) -> list[Any]:
    """Trees of one or two levels; of two where there are at most two tokens; of three tokens at most so many drafts."""
    shapes: Any = {1: [(2,), (1,), (3,)], 2: [(2, 1), (1, 2), (1, 1)]}
    found: list[Any] = []
    for number, (target, draft, lookahead, prefix) in enumerate(models(seed, most=4, sizes=(1, 2, 2, 3, 2, 3))):
        widths = shapes[lookahead][number // 3 % 3]
        if len(target[prefix]) == 3:
            widths = (min(most, *widths, 3),)
        found.append((target, draft, widths, prefix))
    return found


# Shared noise


def check_16(values: Numbers, decoded: Any, size: int, noises: int, length: int, prefix: Any) -> None:
    """With each noise the text of plain decoding, in rounds of exact match; over all noises the target's law."""
    target = {p: [Fraction(row.count(token), noises) for token in range(size)] for p, row in decoded.items()}
    every = texts(noises, length, length)
    written, found = split(values, length * len(every), size**length)
    for place, noise in enumerate(every):
        text: Any = ()
        while len(text) < length:
            rest = noise[len(text) :]
            # Drafts that see the noise; the last noise has no draft, as the round adds a token behind them.
            drafts = tuple(value % size for value in rest)[:-1]
            laws = Conditionals(target.__getitem__, target.__getitem__, prefix + text)
            uniforms = [Fraction(value, noises) for value in rest]

            def once(coin: Any, laws: Any = laws, drafts: Any = drafts) -> Any:
                emit = partial(sample_and_match.emit, coin)
                return exact_match.verified(coin, laws, drafts, b"", emit).tokens

            text += replay(once, uniforms)
        assert list(text) == written[length * place : length * (place + 1)]
    assert found == [after(target, prefix, text) for text in texts(size, length, length)]


def term_16(decoded: Any, size: int, noises: int, length: int, prefix: Any) -> str:
    rows = rocq.table((text, rocq.tokens(row)) for text, row in decoded.items())
    return asked("theorem_16", size, noises, length, rows, prefix)


def of_rounds(target: Any, draft: Any, _: int, prefix: Any) -> str:
    return of_models("two_rounds", target, draft, prefix)


def tie(name: str, instances: Any, check: Any) -> Tie:
    return Tie(list(instances), partial(of_models, name), check)


def of_spectr(coin: Any, *given: Any) -> Any:
    return spectr.generate(coin, *given, verifier=recursive.verify)


of_tree = partial(check_block, of_spectr, partial(spectr.expected, verifier=recursive.verify))
of_distinct = partial(check_block, distinct.generate, distinct.expected)
of_highest = partial(check_block, multi_path.generate, multi_path.expected)

TIES = {
    "8": tie("theorem_8", models("8"), partial(check_block, chain.generate, chain.expected)),
    "8, two rounds": Tie(list(models("rounds", 2, sizes=(1, 2, 2, 2, 2, 2))), of_rounds, check_rounds),
    "9": tie("theorem_9", with_widths("9", 2), of_tree),
    "9, distinct drafts": tie("theorem_9_distinct", with_widths("distinct", 2), of_distinct),
    "10": tie("theorem_10", models("10"), partial(check_block, block.generate, block.expected)),
    "11": tie("theorem_11", models("11"), check_11),
    "12": tie("theorem_12", with_chains("12", deep=6, largest=3), of_highest),
    "12, any selection": tie("theorem_12_any", with_chains("any", deep=15, largest=3), of_highest),
    "15": tie("theorem_15", with_widths("15", 2), partial(check_block, traversal.generate, None)),
    "16": Tie(list(noisy("16")), term_16, check_16),
}


@pytest.fixture(scope="module")
def computed(definitions: Path) -> dict[str, list[Numbers]]:
    """The numbers that Rocq computes for each instance."""
    return answers(definitions, "instances_of_blocks", TIES)


@pytest.mark.parametrize("theorem", TIES)
def test_rocq_the_library_and_the_target_agree(theorem: str, computed: dict[str, list[Numbers]]) -> None:
    tie = TIES[theorem]
    assert len(tie.instances) >= 60
    for case, values in zip(tie.instances, computed[theorem], strict=True):
        tie.check(values, *case)
