"""Every scheme of one position: lossless, and its program's law is its closed forms, by exact enumeration."""

from __future__ import annotations

from fractions import Fraction
from functools import partial
from typing import Any

import numpy as np
import pytest
from hypothesis import example, given, settings

from proofs_tests.oracles import forked, optimum
from proofs_tests.strategies import counts, dyadic_pairs, pairs
from spec_math import SCHEMES, Lossless, Scheme, check_lossless, exact, proportional_to, replay
from spec_math.arrays import SUM_BOUND
from spec_math.chance import law
from spec_math.coupling import Coupling, joint

each_scheme = pytest.mark.parametrize("scheme", SCHEMES, ids=lambda scheme: scheme.name)

TINY = Fraction(1, 2**60)
# A residual of mass 2^-60, a draft that never drafts what the target wants, and fewer tokens than drafts.
NARROW = exact(["1/2", Fraction(1, 2) - TINY, TINY]), exact(["1/2", "1/2", 0])
DISJOINT = exact([0, 0, 1]), exact(["1/3", "2/3", 0])
SINGLE_TOKEN = exact([1]), exact([1])


def coupling(scheme: Scheme, target: Any, draft: Any, k: int) -> Coupling:
    assert scheme.emit is not None
    return joint(lambda coin: scheme.draw(coin, draft, k), partial(_emit, scheme.emit, target=target, draft=draft))


def _emit(emit: Any, coin: Any, tokens: Any, target: Any, draft: Any) -> Any:
    return emit(coin, tokens, target, draft)


def as_law(target: Any) -> dict[int, Any]:
    return {token: mass for token, mass in enumerate(target) if mass != 0}


@given(pair=pairs(), k=counts())
@example(pair=NARROW, k=3)
@example(pair=DISJOINT, k=2)
@example(pair=SINGLE_TOKEN, k=3)
@settings(max_examples=150)
def test_scheme_is_lossless(pair: Any, k: int) -> None:
    target, draft = pair
    for scheme in SCHEMES:
        verdict = check_lossless(scheme, target, draft, k)
        assert isinstance(verdict, Lossless), f"{scheme.name}: {verdict}"
        assert verdict.bound == 0
        assert coupling(scheme, target, draft, k).emitted() == as_law(target), scheme.name


@given(pair=pairs(), k=counts())
@example(pair=NARROW, k=3)
@example(pair=DISJOINT, k=2)
@example(pair=SINGLE_TOKEN, k=3)
@settings(max_examples=150)
def test_program_accepts_with_the_mass_of_its_closed_forms(pair: Any, k: int) -> None:
    target, draft = pair
    for scheme in SCHEMES:
        enumerated = coupling(scheme, target, draft, k)
        closed = scheme.test_acceptance(target, draft, k), scheme.acceptance(target, draft, k)
        assert (enumerated.test_acceptance(), enumerated.acceptance()) == closed, scheme.name
        assert [type(mass) for mass in closed] == [Fraction, Fraction], scheme.name
        assert 0 <= closed[0] <= closed[1] <= 1, scheme.name
        assert closed[1] <= optimum(target, enumerated.drafts()), scheme.name


@given(pair=pairs(3), k=counts(2))
@settings(max_examples=40)
def test_two_enumerations_of_a_scheme_agree(pair: Any, k: int) -> None:
    target, draft = pair
    for scheme in SCHEMES:

        def program(coin: Any, scheme: Scheme = scheme) -> Any:
            tokens = scheme.draw(coin, draft, k)
            return tokens, scheme.verify(coin, tokens, target, draft)

        assert law(program) == forked(program), scheme.name


@given(pair=pairs(3), other=pairs(3), k=counts())
@settings(max_examples=40)
def test_closed_forms_of_a_batch_are_those_of_its_rows(pair: Any, other: Any, k: int) -> None:
    size = min(len(pair[0]), len(other[0]))
    rows = [[proportional_to([*side[: size - 1], side[size - 1 :].sum()]) for side in both] for both in (pair, other)]
    targets, drafts = (np.stack([row[side] for row in rows]) for side in (0, 1))
    for form in (form for scheme in SCHEMES for form in (scheme.acceptance, scheme.test_acceptance)):
        single = [form(target, draft, k) for target, draft in rows]
        batch = form(targets, drafts, k)
        assert batch.dtype == object
        assert batch.shape == (2,)
        assert batch.tolist() == single, form
        deep = form(targets[:, None], drafts[:, None], k)
        assert deep.shape == (2, 1)
        assert deep[:, 0].tolist() == single, form


# How far a float acceptance may lie from the exact one, for laws that floats hold exactly; u = 2^-53, V tokens, k
# drafts.
# A sum of V products or quotients of such masses is off by (V + 2)u at most: single, one-hot, sample and match, greedy
# (whose d' is such a quotient), SpecHub. RRS: each step adds the excess E, off by (V + 2)u·(1 + λ), to a scale λ ≤ k,
# and E is 1-Lipschitz in λ, so an error at most doubles in a step: 2^k·k(V + 2)u. Without replacement, a residual and a
# draft law lose (V + 2)u in L1 each, a residual's loss being weighted by the chance to get there, and both enter what
# follows 1-Lipschitz: k·4(V + 2)u. K-SEQ: p_acc falls in γ and 1 − E(γ) rises, and they meet at γ*, so p_acc(γ) is
# within |f(γ)| of p_acc(γ*); f as floats compute it is off by k(V + 4)u, and moves by (k + 1)ku from one float to the
# next. The acceptance there adds at most |f| again. All lie below 2^k·4(k + 1)(V + 4)u.
def float_bound(size: int, k: int) -> float:
    return 2**k * 4 * (k + 1) * (size + 4) * 2.0**-53


def as_floats(rows: Any, library: str) -> Any:
    if library == "numpy":
        return rows.astype(float)
    torch = pytest.importorskip("torch", reason="torch is not installed")
    return torch.tensor(rows.astype(float), dtype=torch.float64)


@pytest.mark.parametrize("library", ["numpy", "torch"])
@given(pair=dyadic_pairs(), k=counts())
@settings(max_examples=80)
def test_closed_forms_agree_between_worlds(library: str, pair: Any, k: int) -> None:
    target, draft = pair
    floats = as_floats(target, library), as_floats(draft, library)
    for form in (form for scheme in SCHEMES for form in (scheme.acceptance, scheme.test_acceptance)):
        computed = form(*floats, k)
        assert type(computed).__module__.split(".")[0] == library
        gap = abs(Fraction(float(computed)) - form(target, draft, k))
        assert gap <= float_bound(len(target), k), form
        batch = form(*(side[None] for side in floats), k)
        assert batch.shape == (1,)
        assert float(batch[0]) == pytest.approx(float(computed), abs=float_bound(len(target), k)), form


@pytest.mark.parametrize("stored", ["float64", "float32", "float16", "bfloat16", "torch.float64", "torch.float32"])
@each_scheme
def test_scheme_is_lossless_on_laws_stored_as(scheme: Scheme, stored: str) -> None:
    rng = np.random.default_rng(20240501)
    off = SUM_BOUND[stored.removeprefix("torch.")]
    for _ in range(6):
        size, k = int(rng.integers(1, 5)), int(rng.integers(1, 4))
        laws = [rng.dirichlet(np.full(size, 0.5)) for _ in range(2)]
        target, draft = (_stored(law, stored) for law in laws)
        verdict = check_lossless(scheme, target, draft, k)
        assert isinstance(verdict, Lossless), str(verdict)
        accepted, tested = scheme.acceptance(target, draft, k), scheme.test_acceptance(target, draft, k)
        assert 0 <= tested <= accepted + off
        assert accepted <= 1 + off
        assert float(scheme.acceptance(target[None], draft[None], k)[0]) == pytest.approx(float(accepted), abs=off)


@each_scheme
def test_torch_laws_are_not_handed_to_numpy_by_accident(scheme: Scheme, monkeypatch: pytest.MonkeyPatch) -> None:
    """NumPy takes a tensor of the CPU in silence and fails on one of a GPU: here it fails on every tensor."""
    torch = pytest.importorskip("torch", reason="torch is not installed")

    def refused(*_: Any, **__: Any) -> None:
        raise TypeError("a tensor of a GPU has no NumPy form")

    monkeypatch.setattr(torch.Tensor, "__array__", refused)
    target, draft = (torch.tensor(masses, dtype=torch.float64) for masses in ([0.5, 0.25, 0.25], [0.25, 0.25, 0.5]))
    for k in (1, 2, 3):
        for form in (scheme.acceptance, scheme.test_acceptance):
            alone, batch = form(target, draft, k), form(torch.stack([target] * 2), torch.stack([draft] * 2), k)
            assert isinstance(batch, torch.Tensor)
            assert batch.dtype == torch.float64
            assert batch.tolist() == [float(alone)] * 2
        for u in (0.0, 0.5, 0.999):

            def program(coin: Any, k: int = k) -> int:
                return scheme.verify(coin, scheme.draw(coin, draft, k), target, draft)

            assert 0 <= replay(program, [u] * 20) < 3


def _stored(masses: Any, stored: str) -> Any:
    if stored.startswith("torch."):
        torch = pytest.importorskip("torch", reason="torch is not installed")
        return torch.tensor(masses, dtype=getattr(torch, stored.removeprefix("torch.")))
    import ml_dtypes

    return masses.astype(ml_dtypes.bfloat16 if stored == "bfloat16" else stored)


def test_every_scheme_drafts_what_it_says() -> None:
    target, draft = exact(["1/8", "1/2", "3/8"]), exact(["1/2", "1/4", "1/4"])
    for scheme in SCHEMES:
        for k in (1, 2, 3, 4):
            drafts = coupling(scheme, target, draft, k).drafts()
            assert {len(tokens) for tokens in drafts} <= {scheme.drafts or min(k, 3), k}


@given(pair=pairs(3), k=counts(2))
@settings(max_examples=20)
def test_emit_and_verify_are_one_program(pair: Any, k: int) -> None:
    target, draft = pair
    for scheme in SCHEMES:
        emitted = coupling(scheme, target, draft, k).emitted()

        def program(coin: Any, scheme: Scheme = scheme) -> int:
            return scheme.verify(coin, scheme.draw(coin, draft, k), target, draft)

        assert law(program) == emitted, scheme.name


@each_scheme
def test_a_bad_draft_law_is_named(scheme: Scheme) -> None:
    with pytest.raises(ValueError, match=r"draft.* sum to 3/4"):
        law(lambda coin: scheme.draw(coin, exact(["1/2", "1/4"]), scheme.drafts or 2))
