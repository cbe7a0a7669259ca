"""Bugs of the drafter: the law that it reports is not the law that its token was sampled from."""

from __future__ import annotations

from fractions import Fraction

import numpy as np

from spec_math.arrays import Array, exact, proportional_to
from spec_math.audit.zoo import toy
from spec_math.audit.zoo.engine import Drafter, Text, by_ratio, engine
from spec_math.audit.zoo.specimen import Specimen
from spec_math.chance import Coin
from spec_math.distribution import temperature, top_k


def _permuted(coin: Coin, prefix: Text) -> tuple[int, Array]:
    """M1: the tokens are translated by one map, the reported law by another."""
    law = toy.draft(prefix)
    return coin.draw(law), np.roll(law, 2)


def _greedy(_coin: Coin, prefix: Text) -> tuple[int, Array]:
    """M2: the likeliest token, reported as a sample of the softmax."""
    law = toy.draft(prefix)
    return int(np.argmax(law)), law


def _filtered(coin: Coin, prefix: Text) -> tuple[int, Array]:
    """M3: sampled after top-3, reported before."""
    law = toy.draft(prefix)
    return coin.draw(top_k(law, 3)), law


def _colder(coin: Coin, prefix: Text) -> tuple[int, Array]:
    """M4: sampled at temperature 1/2, reported at 1."""
    law = toy.draft(prefix)
    return coin.draw(temperature(law, Fraction(1, 2))), law


def _rounded(coin: Coin, prefix: Text) -> tuple[int, Array]:
    """M5: sampled from the softmax of logits in bfloat16, reported from logits in float32."""
    logits = toy.DRAFT_LOGITS[len(prefix) % len(toy.DRAFT)]
    return coin.draw(proportional_to(exact(np.exp(logits)))), toy.draft(prefix)


def _beam(_coin: Coin, prefix: Text) -> tuple[int, Array]:
    """M6: the likeliest pair of tokens by beam search; where laws go by position, the likeliest token of each row."""
    law = toy.draft(prefix)
    return int(np.argmax(law)), law


def _discarded(coin: Coin, prefix: Text) -> tuple[int | None, Array]:
    """M49: a token of low confidence is thrown away, and the law of those kept is not divided by what is left."""
    law = toy.draft(prefix)
    token = coin.draw(law)
    return (token if law[token] >= Fraction(3, 20) else None), law


def _broken(
    name: str, drafter: Drafter, cause: str, reference: str, printed: tuple[str | None, str | None]
) -> Specimen:
    return Specimen(name, cause, reference, "drafter", engine(drafter, by_ratio()), drafter, printed=printed)


SPECIMENS = (
    _broken(
        "M1",
        _permuted,
        "two index maps disagree: the draft's law is permuted against its tokens",
        "transformers 5.23.0, AssistantToTargetTranslator with a pruned head",
        (".081", ".164"),
    ).mended_by("map the draft's law and its tokens by one table, in one place"),
    _broken(
        "M2",
        _greedy,
        "a greedy draft is verified against the softmax",
        "transformers #32867; jaymody/speculative-sampling #3; rtp-llm #1311",
        (".063", ".063"),
    ).mended_by("report a greedy draft as one-hot, or draw it from the law that is reported"),
    _broken(
        "M3",
        _filtered,
        "drafted from processed logits, the raw ones are reported",
        "transformers #47932; mlx-node #11",
        (".076", ".105"),
    ).mended_by("report the law that the draft was drawn from, after all processors"),
    _broken(
        "M4", _colder, "drafted at one temperature, reported at another", "mlx-node #11; vLLM #9834", (".078", ".094")
    ).mended_by("divide the logits by one temperature before drawing, and report the law after it"),
    _broken(
        "M5",
        _rounded,
        "sampled in bfloat16, reported in float32",
        "deepseek-ai/DeepSpec #31",
        ("2.3e-4", "3.7e-4"),
    ).mended_by("draw from the very numbers that are reported, of one type"),
    _broken(
        "M6", _beam, "a beam-searched draft is taken for a sample", "apple/ml-recurrent-drafter #6", (None, None)
    ).mended_by("report a beam's tokens as one-hot, or sample them"),
    _broken(
        "M49",
        _discarded,
        "a sampled draft of low confidence is discarded, and its law not renormalised",
        "predicted of early exits by p_min with a ratio test",
        (".098", ".112"),
    ).mended_by(
        "stop drafting after the token of low confidence and verify it, or renormalise the law that is reported"
    ),
)
