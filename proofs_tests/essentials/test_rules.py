"""Each rule of one position: program = closed form = certificate = logits = proof, and its controls are rejected.

Pairs hold ties, zeros, disjoint supports, equal distributions and a residual of mass 2^-60. All of `Fractions` is `==`.
"""

from __future__ import annotations

import random
from fractions import Fraction
from functools import cache, partial
from math import log
from typing import Any

import pytest

from proofs_tests.controls import CONTROLS
from proofs_tests.oracles import optimum
from spec_math import SCHEMES, Lossless, Lossy, Scheme, check_lossless, exact
from spec_math.chance import replay
from spec_math.coupling import Coupling, joint
from spec_math.symbolic import THEOREMS, prove
from spec_math.token_level import transport

TINY = Fraction(1, 2**60)
PAIRS = {
    "two tokens": (["1/4", "3/4"], ["1/2", "1/2"]),
    "reversed": (["1/10", "1/5", "3/10", "2/5"], ["2/5", "3/10", "1/5", "1/10"]),
    "ties": (["1/2", "1/4", "1/4"], ["1/4", "1/4", "1/2"]),
    "equal": (["1/3", "1/6", "1/2"], ["1/3", "1/6", "1/2"]),
    "disjoint": ([0, 0, 1], ["1/3", "2/3", 0]),
    "nearly equal": ([Fraction(1, 2), Fraction(1, 2) - TINY, TINY], ["1/2", "1/2", 0]),
    "one token": ([1], [1]),
}
KS = (1, 2, 3)

each_scheme = pytest.mark.parametrize("scheme", SCHEMES, ids=lambda scheme: scheme.name)
each_pair = pytest.mark.parametrize("pair", PAIRS)
each_k = pytest.mark.parametrize("k", KS)


@cache
def laws(pair: str) -> tuple[Any, Any]:
    target, draft = PAIRS[pair]
    return exact(target), exact(draft)


def coupling(scheme: Scheme, target: Any, draft: Any, k: int) -> Coupling:
    assert scheme.emit is not None
    emit = scheme.emit
    return joint(lambda coin: scheme.draw(coin, draft, k), lambda coin, tokens: emit(coin, tokens, target, draft))


@each_scheme
@each_pair
@each_k
def test_the_program_is_lossless_and_accepts_as_its_closed_forms_say(scheme: Scheme, pair: str, k: int) -> None:
    target, draft = laws(pair)
    verdict = check_lossless(scheme, target, draft, k)
    assert isinstance(verdict, Lossless)
    assert verdict.bound == 0
    enumerated = coupling(scheme, target, draft, k)
    assert enumerated.emitted() == {token: mass for token, mass in enumerate(target) if mass}
    assert enumerated.acceptance() == scheme.acceptance(target, draft, k)
    assert enumerated.test_acceptance() == scheme.test_acceptance(target, draft, k)


@each_scheme
@pytest.mark.parametrize("pair", ["two tokens", "reversed", "ties", "disjoint"])
@pytest.mark.parametrize("k", [1, 2])
def test_the_optimum_of_its_drafts_is_certified_and_not_exceeded(scheme: Scheme, pair: str, k: int) -> None:
    target, draft = laws(pair)
    drafts = coupling(scheme, target, draft, k).drafts()
    certificate = transport.solve(target, drafts)
    assert certificate.check()
    assert certificate.acceptance == optimum(target, drafts)
    assert scheme.acceptance(target, draft, k) <= certificate.acceptance
    if scheme.optimum is not None:
        assert scheme.optimum(target, draft, k) == certificate.acceptance


@each_scheme
@pytest.mark.parametrize("pair", ["two tokens", "reversed", "ties"])
@each_k
def test_logits_are_decided_as_the_program_decides(scheme: Scheme, pair: str, k: int) -> None:
    """Uniforms are drawn from a grid of multiples of 1/997, which meets no threshold of these pairs but 0."""
    torch = pytest.importorskip("torch")
    from torch_bridge import columns, verify_drafts

    target, draft = laws(pair)
    rng = random.Random(f"{scheme.name} {pair} {k}")
    rows, width = 40, columns(scheme, k)
    uniforms = [[Fraction(rng.randrange(1, 997), 997) for _ in range(width)] for _ in range(rows)]
    drafted = [
        replay(lambda coin: scheme.draw(coin, draft, k), [Fraction(rng.randrange(1, 997), 997)] * 9) for _ in uniforms
    ]
    expected = [
        replay(partial(_verified, scheme, tokens, target, draft), row)
        for tokens, row in zip(drafted, uniforms, strict=True)
    ]
    most = max(map(len, drafted))
    given = torch.tensor([[*tokens, *[-1] * (most - len(tokens))] for tokens in drafted])
    targets, drafts = (
        torch.tensor([[log(mass) for mass in law]] * rows, dtype=torch.float64) for law in (target, draft)
    )
    numbers = torch.tensor([[float(u) for u in row] for row in uniforms], dtype=torch.float64)
    assert verify_drafts(scheme, targets, drafts, given, numbers).emitted.tolist() == expected


def _verified(scheme: Scheme, tokens: Any, target: Any, draft: Any, coin: Any) -> int:
    return scheme.verify(coin, tokens, target, draft)


ON_TWO_TOKENS = [theorem for theorem in THEOREMS if "on 2 tokens" in theorem.scope and theorem.seconds <= 1]


@pytest.mark.parametrize("theorem", ON_TWO_TOKENS, ids=lambda theorem: f"{theorem.name}, {theorem.scope}")
def test_what_is_stated_is_proved_for_every_distribution_on_two_tokens(theorem: Any) -> None:
    pytest.importorskip("z3")
    found = prove(theorem)
    assert found, found.counterexample or found.reason


@pytest.mark.parametrize("control", CONTROLS, ids=lambda control: control.why)
def test_its_controls_are_rejected(control: Any) -> None:
    verdict = check_lossless(control.verifier, control.target, control.draft, control.k)
    assert not isinstance(verdict, Lossless)
    assert isinstance(verdict, Lossy) == (control.left_open is None)
