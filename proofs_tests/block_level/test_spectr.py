"""SpecTr's walk down a tree of i.i.d. drafts: lossless with every lossless verifier of one position."""

from fractions import Fraction
from functools import partial
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from proofs_tests.block_level.models import Rows, model_pairs
from spec_math import check_lossless_block
from spec_math.arrays import exact
from spec_math.block_level import chain, length, spectr
from spec_math.token_level import k_sequential, optimal, recursive


def k_sequential_at_k(coin: Any, tokens: Any, target: Any, draft: Any) -> int:
    """K-SEQ at γ = k: lossless, and its residual is often a draft, so that the walk goes on though no test accepts."""
    return k_sequential.verify(coin, tokens, target, draft, Fraction(len(tokens)))


VERIFIERS = [k_sequential.verify, k_sequential_at_k, recursive.verify]
TREES = [
    (2, (1,)),
    (2, (3,)),
    (2, (1, 2)),
    (2, (2, 1)),
    (2, (2, 2)),
    (2, (2, 1, 1)),
    (3, (2,)),
    (3, (2, 1)),
    (3, (1, 2)),
]


@pytest.mark.parametrize("verifier", VERIFIERS)
@pytest.mark.parametrize(("size", "widths"), TREES)
@settings(max_examples=3)
@given(st.data())
def test_spectr_is_lossless(size: int, widths: tuple[int, ...], verifier: Any, data: st.DataObject) -> None:
    target, draft = data.draw(model_pairs(size))
    verdict = check_lossless_block(
        lambda coin, prefix: spectr.generate(coin, target, draft, prefix, widths, verifier), target, len(widths) + 1
    )
    assert verdict, str(verdict)


@pytest.mark.parametrize(("size", "widths"), [(2, (2,)), (2, (2, 1)), (3, (2,))])
@settings(max_examples=4)
@given(st.data())
def test_spectr_is_lossless_over_two_rounds(size: int, widths: tuple[int, ...], data: st.DataObject) -> None:
    target, draft = data.draw(model_pairs(size))
    verdict = check_lossless_block(
        lambda coin, prefix: spectr.generate(coin, target, draft, prefix, widths), target, 2 * (len(widths) + 1), 2
    )
    assert verdict, str(verdict)


@pytest.mark.parametrize("verifier", VERIFIERS)
@pytest.mark.parametrize(("size", "widths"), [(2, (2, 1)), (2, (1, 2)), (2, (2, 2)), (3, (2,)), (3, (2, 1))])
@settings(max_examples=3)
@given(st.data())
def test_spectr_expected_equals_enumeration(
    size: int, widths: tuple[int, ...], verifier: Any, data: st.DataObject
) -> None:
    target, draft = data.draw(model_pairs(size))
    enumerated = length.expected(
        lambda coin, prefix: spectr.generate(coin, target, draft, prefix, widths, verifier), (0,)
    )
    assert spectr.expected(target, draft, (0,), widths, verifier) == enumerated


@pytest.mark.parametrize(("size", "widths"), [(2, (2,)), (2, (3,)), (2, (2, 1)), (2, (1, 2)), (3, (2,))])
@settings(max_examples=4)
@given(st.data())
def test_spectr_by_plan_is_lossless(size: int, widths: tuple[int, ...], data: st.DataObject) -> None:
    target, draft = data.draw(model_pairs(size))

    def generate(coin: Any, prefix: tuple[int, ...]) -> tuple[int, ...]:
        return spectr.generate(coin, target, draft, prefix, widths, spectr.by_plan)

    verdict = check_lossless_block(generate, target, len(widths) + 1)
    assert verdict, str(verdict)
    assert spectr.expected(target, draft, (), widths, spectr.by_plan) == length.expected(generate, ())


@settings(max_examples=20)
@given(model_pairs(3, end=False), st.integers(1, 3))
def test_spectr_by_plan_meets_the_optimum_at_one_level(models: tuple[Rows, Rows], k: int) -> None:
    target, draft = models
    longest = spectr.expected(target, draft, (), (k,), spectr.by_plan)
    assert longest == 1 + optimal.acceptance(target(()), draft(()), k)
    assert longest >= spectr.expected(target, draft, (), (k,))


@settings(max_examples=40)
@given(model_pairs(3), st.integers(1, 4))
def test_copies_of_k_sequential_equal_enumeration(models: tuple[Rows, Rows], n: int) -> None:
    target, draft = models[0](()), models[1](())
    # partial() hides the verifier's name, so that its closed form is not taken.
    enumerated = spectr.law(partial(k_sequential.verify), target, draft, n)
    assert spectr.law(k_sequential.verify, target, draft, n) == enumerated


@settings(max_examples=15)
@given(st.data(), st.sampled_from([(1,), (1, 1), (1, 1, 1)]))
def test_spectr_on_one_path_equals_the_chain(data: st.DataObject, widths: tuple[int, ...]) -> None:
    target, draft = data.draw(model_pairs(2))
    walked = length.law(lambda coin, prefix: spectr.generate(coin, target, draft, prefix, widths), (0,))
    assert walked == length.law(lambda coin, prefix: chain.generate(coin, target, draft, prefix, len(widths)), (0,))


@pytest.mark.parametrize(("size", "paths", "levels"), [(2, 2, 2), (2, 3, 2), (2, 2, 3), (3, 2, 2)])
@settings(max_examples=2)
@given(st.data())
def test_spectr_on_paths_equals_algorithm_3(size: int, paths: int, levels: int, data: st.DataObject) -> None:
    target, draft = data.draw(model_pairs(size, end=False, small=True))

    def algorithm_3(coin: Any, prefix: tuple[int, ...]) -> tuple[int, ...]:
        candidates = [drawn(coin) for _ in range(paths)]
        emitted: tuple[int, ...] = ()
        while candidates and candidates[0]:
            firsts = tuple(path[0] for path in candidates)
            token = k_sequential.verify(coin, firsts, target(prefix + emitted), draft(prefix + emitted))
            emitted += (token,)
            candidates = [path[1:] for path in candidates if path[0] == token]
        if candidates:
            emitted += (coin.draw(target(prefix + emitted)),)
        return emitted

    def drawn(coin: Any) -> tuple[int, ...]:
        path: tuple[int, ...] = ()
        for _ in range(levels):
            path += (coin.draw(draft((0, *path))),)
        return path

    widths = (paths, *[1] * (levels - 1))
    walked = length.law(lambda coin, prefix: spectr.generate(coin, target, draft, prefix, widths), (0,))
    assert walked == length.law(algorithm_3, (0,))


def test_spectr_goes_on_from_a_residual_that_was_drafted() -> None:
    # t = d, two drafts, γ = 2: a test accepts with 3/4, but the token emitted is a draft with 15/16.
    half = Rows((exact(["1/2", "1/2"]),))
    two = length.expected(lambda coin, prefix: spectr.generate(coin, half, half, prefix, (2,), k_sequential_at_k), ())
    assert two == 1 + Fraction(15, 16)


def test_spectr_stops_with_the_end_token() -> None:
    always = Rows((exact([0, 1]),), end=1)
    assert length.law(lambda coin, prefix: spectr.generate(coin, always, always, prefix, (2, 2)), ()) == {(1,): 1}
    assert spectr.expected(always, always, (), (2, 2)) == 1
