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
from proofs_tests.controls import CONTROLS, Control
from proofs_tests.docs.book import typed
from proofs_tests.every_method import METHODS
from spec_math import SCHEMES, Scheme, check_lossless, check_lossless_block, exact, law
from spec_math.block_level import emitted_law
from spec_math.block_level.methods import Method
from spec_math.certificates.markov_chain import models
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


def of_position(verifier: Scheme | Any, target: Any, draft: Any, k: int = 2) -> Written:
    (written,) = models(check_lossless(verifier, target, draft, k).certificate())
    return written


def of_flip(mass: Fraction) -> Written:
    """A verifier that emits token 1 with a probability, which is the target's."""
    return of_position(lambda coin, *_: int(coin.flip(mass)), exact([1 - mass, mass]), exact([1, 0]), 1)


def of_block(method: Method, k: int, lookahead: int, rounds: int = 1) -> tuple[Written, dict[Any, Fraction]]:
    """A block method of two tokens, and the distribution of lookahead + 1 tokens that enumeration gives."""
    target, draft, horizon = weighted("target"), weighted("draft"), lookahead + 1

    def block(coin: Coin, prefix: tuple[int, ...]) -> tuple[int, ...]:
        return tuple(method.generate(coin, target, draft, prefix, lookahead, k))

    (written,) = models(check_lossless_block(block, target, horizon, rounds).certificate())
    return written, emitted_law(block, target, horizon, rounds)


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


WRONG = [one for one in CONTROLS if not one.broken and one.left_open is None]


@pytest.mark.parametrize("scheme", SCHEMES, ids=lambda scheme: scheme.name)
def test_the_chain_of_a_scheme_has_its_distribution(scheme: Scheme) -> None:
    for target, draft in PAIRS:
        written = of_position(scheme, target, draft)
        assert solved(written) == labelled(law(position(scheme, target, draft))) == results(written)


@pytest.mark.parametrize("method", METHODS, ids=lambda method: method.name)
@pytest.mark.parametrize(("k", "lookahead"), [(1, 2), (2, 1)])
def test_the_chain_of_a_block_method_has_its_distribution(method: Method, k: int, lookahead: int) -> None:
    written, expected = of_block(method, k, lookahead)
    assert solved(written) == labelled(expected) == results(written)


def test_the_chain_of_two_blocks_has_their_distribution() -> None:
    for method in METHODS[:3]:
        written, expected = of_block(method, 1, 2, rounds=2)
        assert solved(written) == labelled(expected) == results(written)


def test_a_text_that_ends_is_its_own_outcome() -> None:
    class Ending:
        end = 0

        def __call__(self, _: tuple[int, ...]) -> list[str]:
            return ["1/3", "2/3"]

    verdict = check_lossless_block(lambda coin, _: (coin.draw(exact(["1/3", "2/3"])),), Ending(), 3)
    (written,) = models(verdict.certificate())
    expected = {(0,): Fraction(1, 3), (1, 0): Fraction(2, 9), (1, 1, 0): Fraction(4, 27), (1, 1, 1): Fraction(8, 27)}
    assert solved(written) == labelled(expected) == results(written)


@pytest.mark.parametrize("control", WRONG, ids=lambda one: one.why)
def test_the_chain_of_a_lossy_verifier_has_another_distribution_than_the_target(control: Control) -> None:
    """The whole program is written, and not only the paths that refute it."""
    given = control.verifier, control.target, control.draft, control.k
    written = of_position(*given)
    assert solved(written) == labelled(law(position(*given))) != results(written)


def test_a_chain_with_one_probability_changed_is_rejected() -> None:
    """The control: each probability of the model is needed."""
    written = of_position(SCHEMES[0], *PAIRS[1], 1)
    places = [match.span(1) for match in re.finditer(r"(\d+/\d+) : \(s'", written[0])]
    assert len(places) > 8
    for low, high in places:
        with pytest.raises(PrismError, match="sum to"):
            Chain(written[0][:low] + "1/999" + written[0][high:])
    rows = re.findall(r"-> (\d+/\d+) : (\S+) \+ (\d+/\d+) : (\S+);", written[0])
    assert rows
    for one, first, other, second in rows:
        row, turned = (f"-> {a} : {first} + {b} : {second};" for a, b in ((one, other), (other, one)))
        changed = written[0].replace(row, turned), written[1]
        assert one == other or solved(changed) != results(written)


def test_nodes_with_equal_futures_are_one_state() -> None:
    """A draft that is not looked at leaves no state: of 21 nodes the draw and its four outcomes are left."""
    target, draft = PAIRS[1]
    written = of_position(lambda coin, _, t, __: coin.draw(t), target, draft, 1)
    assert "s : [0..4] init 0;" in written[0]
    assert solved(written) == labelled(dict(enumerate(target)))


def test_large_numbers_are_written_so_that_they_are_read_exactly() -> None:
    tiny = Fraction(1, 2**31)
    for mass in (tiny, Fraction(1, 2**31 - 1), Fraction(1, 2**200), 1 - Fraction(1, 3**50)):
        assert solved(of_flip(mass)) == {"emitted_1": mass, "emitted_0": 1 - mass} == results(of_flip(mass))
    assert "1.0/2147483648.0" in of_flip(tiny)[0]
    assert "1/2147483647" in of_flip(Fraction(1, 2**31 - 1))[0]


def test_a_program_without_coins_is_a_chain_of_one_state() -> None:
    written = of_position(lambda *_: 1, exact([0, 1]), exact([1, 0]), 1)
    assert "s : [0..0] init 0;" in written[0]
    assert solved(written) == {"emitted_1": 1}


def test_an_outcome_that_is_never_emitted_keeps_its_property() -> None:
    written = of_position(lambda *_: 0, *PAIRS[0], 1)
    assert Chain(written[0]).distribution() == {"emitted_0": 1, "emitted_1": 0}
    assert results(written) == {"emitted_0": Fraction(1, 4), "emitted_1": Fraction(3, 4)}


def test_floats_are_the_fractions_that_they_are() -> None:
    """A row whose floats do not sum to 1 is divided by its sum, as the coin does."""
    target, draft = [0.1, 0.2, 0.7], [0.3, 0.3, 0.4]
    found = solved(of_position(SCHEMES[0], target, draft, 1))
    assert sum(found.values()) == 1
    gaps = [abs(found[f"emitted_{token}"] - Fraction(mass)) for token, mass in enumerate(target)]
    assert max(gaps) < Fraction(1, 2**50)


def test_a_verdict_on_several_numbers_of_drafts_has_a_chain_for_each() -> None:
    target, draft = PAIRS[0]
    verdict = check_lossless(SCHEMES[4], target, draft)
    assert [solved(written) for written in models(verdict.certificate())] == [labelled(dict(enumerate(target)))] * 3


@pytest.mark.parametrize(
    ("wrong", "end"),
    [
        (lambda _: 7, "emitted_7"),
        (lambda _: 1 // 0, "no_text"),
        (lambda _: "x", "no_text"),
        (lambda coin: coin.flip(Fraction(3, 2)), "no_text"),
        (lambda coin: coin.draw([Fraction(1, 2)]), "no_text"),
    ],
)
def test_paths_that_break_have_a_state_of_their_own(wrong: Callable[[Any], Any], end: str) -> None:
    written = of_position(lambda coin, tokens, *_: tokens[0] or wrong(coin), *PAIRS[0], 1)
    assert solved(written) == {end: Fraction(1, 2), "emitted_1": Fraction(1, 2)}


@pytest.mark.parametrize("place", ["model.pm", "folder/chain.pm"])
def test_the_command_writes_the_chain_of_a_function(place: str, tmp_path: Path) -> None:
    ran = typed(f"audit spec_math.token_level.recursive:verify --k 2 {PAIR} --out {place}", tmp_path)
    assert (ran.exit_code, "Wrote the Markov chain" in ran.output) == (0, True), ran.output
    files = [tmp_path / place, (tmp_path / place).with_suffix(".props")]
    written = files[0].read_text("utf-8"), files[1].read_text("utf-8")
    assert solved(written) == {"emitted_0": Fraction(1, 4), "emitted_1": Fraction(3, 4)} == results(written)
    assert {file for file in tmp_path.rglob("*") if file.is_file()} == set(files)


PAIR = "--target 1/4,3/4 --draft 1/2,1/2"


def test_the_command_numbers_the_chains_of_several_cases(tmp_path: Path) -> None:
    ran = typed(f"audit spec_math.token_level.recursive:verify {PAIR} --out {tmp_path}/m.pm", tmp_path)
    assert ran.exit_code == 0, ran.output
    assert sorted(file.name for file in tmp_path.glob("*.pm")) == ["m-1.pm", "m-2.pm", "m.pm"]
    assert all(solved((file.read_text("utf-8"), ""))["emitted_0"] == Fraction(1, 4) for file in tmp_path.glob("*.pm"))


def test_the_command_writes_the_chains_of_a_block_method(tmp_path: Path) -> None:
    method = "spec_math.block_level.block:generate"
    ran = typed(f"blocks --method {method} --k 1 --lookahead 2 --samples 20 --out {tmp_path}/b.pm", tmp_path)
    assert ran.exit_code == 0, ran.output
    for file in sorted(tmp_path.glob("*.pm")):
        written = file.read_text("utf-8"), file.with_suffix(".props").read_text("utf-8")
        assert solved(written) == results(written)
    assert len(list(tmp_path.glob("*.pm"))) == 16


def test_the_command_says_why_there_is_no_chain(tmp_path: Path) -> None:
    source = "import random\n\ndef verify(target, draft):\n    return int(random.random() < target[1])\n"
    _ = (tmp_path / "mine.py").write_text(source, encoding="utf-8")
    ran = typed(f"audit {tmp_path}/mine.py:verify {PAIR} --out {tmp_path}/m.pm", tmp_path)
    assert "No Markov chain was written: " in ran.output
    ran = typed(f"blocks --out {tmp_path}/m.pm", tmp_path)
    assert (ran.exit_code, "one --method" in ran.output) == (2, True)
    assert list(tmp_path.glob("*.pm")) == []


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
            assert by_storm(of_position(scheme, target, draft), tmp_path) == labelled(law(program))
    for method in METHODS:
        written, expected = of_block(method, 2, 1)
        assert by_storm(written, tmp_path) == labelled(expected)
    for control in WRONG:
        given = control.verifier, control.target, control.draft, control.k
        assert by_storm(of_position(*given), tmp_path) == labelled(law(position(*given)))
