"""A program as a Markov chain in PRISM's language: an interpreter and Storm find the program's own distribution."""

from __future__ import annotations

import re
from collections.abc import Callable
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest

from proofs_tests.block_level.models import weighted
from proofs_tests.certificates.prism_interpreter import Chain, PrismError
from proofs_tests.certificates.trees_of_programs import tree_of
from proofs_tests.controls import CONTROLS, Control
from proofs_tests.every_method import METHODS
from spec_math import SCHEMES, Scheme, check_lossless, exact, law
from spec_math.block_level import emitted_law
from spec_math.block_level.methods import Method
from spec_math.certificates.markov_chain import model, models
from spec_math.chance import Coin
from spec_math.scheme import draw_independent

PAIRS = [
    (exact(["1/4", "3/4"]), exact(["1/2", "1/2"])),
    (exact(["1/10", "1/5", "3/10", "2/5"]), exact(["2/5", "3/10", "1/5", "1/10"])),
    (exact(["1/2", 0, "1/4", "1/4"]), exact(["1/8", "1/2", "1/8", "1/4"])),
    (exact(["2/3", Fraction(1, 2**60), Fraction(1, 3) - Fraction(1, 2**60)]), exact(["1/3", "1/3", "1/3"])),
]
"""Distributions with a token that the target never emits, and with a mass beyond 32 and 64 bits."""


Written = tuple[str, str]
"""The text of a model, and of its properties."""


def position(scheme: Scheme | Any, target: Any, draft: Any, k: int = 2) -> Callable[[Coin], int]:
    """A verifier of one position, with its drafts."""
    draw, verify = (scheme.draw, scheme.verify) if isinstance(scheme, Scheme) else (draw_independent, scheme)
    return lambda coin: int(verify(coin, draw(coin, draft, k), target.copy(), draft.copy()))


def of_position(program: Callable[[Coin], int], target: Any) -> Written:
    return model(*tree_of(program, lambda _: target, 1), "a verifier of one position")


def of_masses(program: Callable[[Coin], int], *target: Any) -> Written:
    return of_position(program, list(target))


def of_block(method: Method, k: int, lookahead: int, generate: Any = None) -> tuple[Written, dict[Any, Fraction]]:
    """A block method of two tokens, and the distribution of lookahead + 1 tokens that enumeration gives."""
    target, draft, horizon = weighted("target"), weighted("draft"), lookahead + 1

    def block(coin: Coin, prefix: tuple[int, ...]) -> tuple[int, ...]:
        return tuple((generate or method.generate)(coin, target, draft, prefix, lookahead, k))

    tree = tree_of(lambda coin: block(coin, ()), target, horizon)
    return model(*tree, method.name), emitted_law(block, target, horizon)


def labelled(distribution: dict[Any, Any]) -> dict[str, Fraction]:
    """A distribution by the labels of its outcomes."""
    words = ((key if isinstance(key, tuple) else (key,), mass) for key, mass in distribution.items())
    return {"emitted_" + "_".join(map(str, key)): Fraction(mass) for key, mass in words if mass}


def solved(written: Written) -> dict[str, Fraction]:
    """The distribution that the interpreter finds, without outcomes of probability 0."""
    return {label: mass for label, mass in Chain(written[0]).distribution().items() if mass}


def results(written: Written) -> dict[str, Fraction]:
    """The target's distribution as the properties name it, without zeros."""
    found = re.findall(r'// RESULT: (\S+)\nP=\? \[ F "(\w+)" \];', written[1])
    return {label: Fraction(mass) for mass, label in found if Fraction(mass)}


@pytest.mark.parametrize("scheme", SCHEMES, ids=lambda scheme: scheme.name)
def test_the_chain_of_a_scheme_has_its_distribution(scheme: Scheme) -> None:
    for target, draft in PAIRS:
        program = position(scheme, target, draft)
        written = of_position(program, target)
        assert solved(written) == labelled(law(program)) == results(written)


@pytest.mark.parametrize("method", METHODS, ids=lambda method: method.name)
@pytest.mark.parametrize(("k", "lookahead"), [(1, 2), (2, 1)])
def test_the_chain_of_a_block_method_has_its_distribution(method: Method, k: int, lookahead: int) -> None:
    written, expected = of_block(method, k, lookahead)
    assert solved(written) == labelled(expected) == results(written)


@pytest.mark.parametrize(
    "control", [one for one in CONTROLS if not one.broken and one.left_open is None], ids=lambda one: one.why
)
def test_the_chain_of_a_lossy_verifier_has_another_distribution_than_the_target(control: Control) -> None:
    program = position(control.verifier, control.target, control.draft, control.k)
    written = of_position(program, control.target)
    assert solved(written) == labelled(law(program)) != results(written)


def test_a_chain_with_one_probability_changed_has_another_distribution() -> None:
    """The control: each probability of the model is needed."""
    target, draft = PAIRS[1]
    written = of_position(position(SCHEMES[0], target, draft), target)
    places = [match.span(1) for match in re.finditer(r"(\d+/\d+) : \(s'", written[0])]
    assert len(places) > 8
    for low, high in places:
        with pytest.raises(PrismError, match="sum to"):
            Chain(written[0][:low] + "1/999" + written[0][high:])
    rows = re.findall(r"-> (\d+/\d+) : (\S+) \+ (\d+/\d+) : (\S+);", written[0])
    assert rows
    for one, first, other, second in rows:
        swapped = written[0].replace(
            f"-> {one} : {first} + {other} : {second};", f"-> {other} : {first} + {one} : {second};"
        )
        assert one == other or Chain(swapped).distribution() != Chain(written[0]).distribution()


def test_nodes_with_equal_futures_are_one_state() -> None:
    """A draft that is not looked at leaves no state: of 21 nodes the draw and its four outcomes are left."""
    written = of_position(lambda coin: (coin.draw(PAIRS[1][1]), coin.draw(PAIRS[1][0]))[1], PAIRS[1][0])
    assert "s : [0..4] init 0;" in written[0]
    assert solved(written) == labelled(dict(enumerate(PAIRS[1][0])))


def test_large_numbers_are_written_so_that_they_are_read_exactly() -> None:
    tiny = Fraction(1, 2**31)
    for mass in (tiny, Fraction(1, 2**31 - 1), Fraction(1, 2**200), 1 - Fraction(1, 3**50)):
        written = of_masses(lambda coin, mass=mass: int(coin.flip(mass)), 1 - mass, mass)
        assert solved(written) == {"emitted_1": mass, "emitted_0": 1 - mass}
    assert "1.0/2147483648.0" in of_masses(lambda coin: int(coin.flip(tiny)), 1)[0]


def test_a_program_without_coins_is_a_chain_of_one_state() -> None:
    assert solved(of_masses(lambda _: 1, 0, 1)) == {"emitted_1": 1}


def test_an_outcome_that_is_never_emitted_keeps_its_property() -> None:
    written = of_masses(lambda _: 0, Fraction(1, 2), Fraction(1, 2))
    assert Chain(written[0]).distribution() == {"emitted_0": 1, "emitted_1": 0}
    assert results(written) == {"emitted_0": Fraction(1, 2), "emitted_1": Fraction(1, 2)}


@pytest.mark.parametrize("scheme", SCHEMES, ids=lambda scheme: scheme.name)
def test_the_chains_of_a_verdict_are_those_of_its_program(scheme: Scheme) -> None:
    for target, draft in PAIRS:
        verdict = check_lossless(scheme, target, draft, 2)
        (written,) = models(verdict.certificate())
        assert solved(written) == labelled(law(position(scheme, target, draft))) == results(written)


def test_a_lossy_verdict_has_the_chain_of_the_whole_program() -> None:
    for control in CONTROLS:
        if not control.broken and control.left_open is None:
            verdict = check_lossless(control.verifier, control.target, control.draft, control.k)
            program = position(control.verifier, control.target, control.draft, control.k)
            (written,) = models(verdict.certificate())
            assert solved(written) == labelled(law(program)) != results(written)


@pytest.mark.parametrize(
    ("wrong", "end"),
    [
        (lambda _: 7, "emitted_7"),
        (lambda _: 1 // 0, "fault"),
        (lambda _: "x", "fault"),
        (lambda coin: coin.flip(Fraction(3, 2)), "fault"),
        (lambda coin: coin.draw([Fraction(1, 2)]), "fault"),
    ],
)
def test_paths_that_break_have_a_state_of_their_own(wrong: Callable[[Any], Any], end: str) -> None:
    def verify(coin: Coin, tokens: Any, _target: Any, _draft: Any) -> Any:
        return tokens[0] or wrong(coin)

    (written,) = models(check_lossless(verify, *PAIRS[0], 1).certificate())
    assert solved(written) == {end: Fraction(1, 2), "emitted_1": Fraction(1, 2)}


DIE = """dtmc
module die  // two fair coins make a die, with loops: Knuth and Yao 1976
  s : [0..7] init 0;
  d : [0..6] init 0;
  [] s=0 -> 0.5 : (s'=1) + 0.5 : (s'=2);
  [] s=1 -> 0.5 : (s'=3) + 0.5 : (s'=4);
  [] s=2 -> 0.5 : (s'=5) + 0.5 : (s'=6);
  [] s=3 -> 0.5 : (s'=1) + 0.5 : (s'=7) & (d'=1);
  [] s=4 -> 0.5 : (s'=7) & (d'=2) + 0.5 : (s'=7) & (d'=3);
  [] s=5 -> 0.5 : (s'=7) & (d'=4) + 0.5 : (s'=7) & (d'=5);
  [] s=6 -> 1-1/2 : (s'=2) + 1/2 : (s'=7) & (d'=6);
  [] s>6 & !(d<1) -> (s'=s);
endmodule
label "one" = s=7 & d=1;
label "six" = s=7 & d=6;
label "even" = s=7 & (d=2 | d=4 | d=6);
"""


def test_the_interpreter_solves_a_chain_with_loops() -> None:
    sixth = Fraction(1, 6)
    assert Chain(DIE).distribution() == {"one": sixth, "six": sixth, "even": Fraction(1, 2)}


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("0.5 : (s'=1) + 0.5 : (s'=2)", "0.5 : (s'=1) + 0.4 : (s'=2)"),
        ("0.5 : (s'=1) + 0.5 : (s'=2)", "1.5 : (s'=1) + -0.5 : (s'=2)"),
        ("[] s=1 ->", "[] s=0 ->"),
        ("[] s>6 & !(d<1) ->", "[] s>7 ->"),
        ("(d'=6)", "(d'=7)"),
        ("dtmc", "mdp"),
        ("1-1/2", "1-1/2147483649"),
        ("(s'=s)", "(t'=s)"),
        ('label "six"', 'label "one"'),
    ],
)
def test_the_interpreter_refuses_what_is_no_markov_chain(old: str, new: str) -> None:
    assert old in DIE
    with pytest.raises(PrismError):
        Chain(DIE.replace(old, new, 1))


def by_storm(written: Written, folder: Path) -> dict[str, Fraction]:
    """The distribution that Storm finds in exact arithmetic."""
    stormpy = pytest.importorskip("stormpy", minversion="2.0", reason="stormpy is not installed: pip install stormpy")
    place = folder / "model.pm"
    _ = place.write_text(written[0], encoding="utf-8")
    program = stormpy.parse_prism_program(str(place))
    asked = stormpy.parse_properties(written[1], program)
    chain = stormpy.build_model[stormpy.Rational](program, asked)
    labels = re.findall(r'F "(\w+)"', written[1])
    (start,) = chain.initial_states
    found = (Fraction(str(stormpy.model_checking(chain, one).get_value(start))) for one in asked)
    return {label: mass for label, mass in zip(labels, found, strict=True) if mass}


def test_storm_finds_the_distribution_of_every_scheme_and_method(tmp_path: Path) -> None:
    for scheme in SCHEMES:
        for target, draft in PAIRS:
            program = position(scheme, target, draft)
            assert by_storm(of_position(program, target), tmp_path) == labelled(law(program))
    for method in METHODS:
        written, expected = of_block(method, 2, 1)
        assert by_storm(written, tmp_path) == labelled(expected)
    for control in CONTROLS:
        if not control.broken and control.left_open is None:
            program = position(control.verifier, control.target, control.draft, control.k)
            assert by_storm(of_position(program, control.target), tmp_path) == labelled(law(program))
