"""Every modelled bug is found and named, every right way passes, and the distances are the printed ones."""

from __future__ import annotations

from decimal import ROUND_HALF_UP, Decimal
from fractions import Fraction

import pytest

from proofs_tests.zoo.specimens import by_name, name_of
from spec_math import check_lossless_block
from spec_math.audit import ZOO, Specimen, diagnose, distances
from spec_math.block_level.lossless import EmissionError
from spec_math.distribution import residual
from spec_math.zoo import rounds, toy
from spec_math.zoo.acceptance import top_three

MODELLED = [specimen for specimen in ZOO if specimen.modelled]
BROKEN = [specimen for specimen in MODELLED if specimen.contract is not None]
RIGHT = [specimen for specimen in MODELLED if specimen.contract is None]
PRINTED = [specimen for specimen in MODELLED if specimen.printed != (None, None)]

DISAGREEING = {("M23", 1): "0.101565", ("M34", 0): "0.003435"}
"""Where no reading of the description gives the printed digits: our value."""


def shown(value: Fraction, printed: str) -> str:
    """Round a value to the digits that the corpus prints."""
    quantum = Decimal(printed.partition("e")[0]).as_tuple().exponent
    power = int(printed.partition("e")[2] or 0)
    scaled = Decimal(value.numerator) / Decimal(value.denominator) / Decimal(10) ** power
    text = str(scaled.quantize(Decimal(1).scaleb(int(quantum)), ROUND_HALF_UP))
    return (text.removeprefix("0") if not power and value else text) + (f"e{power}" if power else "")


@pytest.mark.parametrize("specimen", BROKEN, ids=name_of)
def test_every_bug_is_found_and_its_contract_named(specimen: Specimen) -> None:
    found = diagnose(specimen)
    assert found.contract == specimen.contract
    assert not found.block
    assert (found.drafter is not None and not found.drafter) == (specimen.contract == "drafter")


@pytest.mark.parametrize("specimen", RIGHT, ids=name_of)
def test_no_right_way_is_flagged(specimen: Specimen) -> None:
    found = diagnose(specimen)
    assert found.contract is None
    assert found.block
    assert found.drafter
    assert distances(specimen) == (0, 0)


@pytest.mark.parametrize("specimen", PRINTED, ids=name_of)
def test_distances_are_the_printed_ones(specimen: Specimen) -> None:
    for place, (value, printed) in enumerate(zip(distances(specimen), specimen.printed, strict=True)):
        if printed is None:
            continue
        expected = DISAGREEING.get((specimen.name, place))
        if expected is None:
            assert shown(value, printed) == printed
        else:
            assert shown(value, printed) != printed
            assert f"{float(value):.6f}" == expected


def test_what_is_not_modelled_says_why() -> None:
    absent = [specimen for specimen in ZOO if not specimen.modelled]
    assert [specimen.name for specimen in absent] == ["M9", "M47"]
    assert all(specimen.note for specimen in absent)
    with pytest.raises(ValueError, match="M9 is not modelled: which entries"):
        diagnose(absent[0])


def test_the_corpus_is_complete() -> None:
    names = {specimen.name.partition(",")[0].partition(" ")[0] for specimen in ZOO}
    assert names == {f"M{n}" for n in range(1, 61)} | {f"C{n}" for n in range(1, 8)}


def test_every_bug_says_its_usual_repair_and_no_right_way_does() -> None:
    without = [specimen.name for specimen in ZOO if not specimen.repair]
    assert without == [specimen.name for specimen in ZOO if specimen.name.startswith("C")]


@pytest.mark.parametrize("specimen", [one for one in BROKEN if one.fresh is not None], ids=name_of)
def test_random_numbers_used_twice_are_mended_by_fresh_ones(specimen: Specimen) -> None:
    """The code that the entry carries, repaired as it says, is lossless; as it stands it is not."""
    assert specimen.fresh is not None
    assert specimen.generate is not None
    judged = [
        check_lossless_block(one, specimen.target, toy.HORIZON, specimen.rounds)
        for one in (specimen.fresh, specimen.generate)
    ]
    assert [bool(verdict) for verdict in judged] == [True, False]


def test_an_entry_says_whether_it_emits_tokens() -> None:
    """Two of the broken ones have no law of tokens on the toy: one raises, the other emits an index beyond it."""

    def emits(specimen: Specimen) -> bool:
        try:
            return bool(distances(specimen))
        except (RuntimeError, EmissionError):
            return False

    assert [specimen.name for specimen in BROKEN if not emits(specimen)] == [
        specimen.name for specimen in BROKEN if not specimen.emits_tokens
    ]


def test_the_first_token_alone_would_miss_these() -> None:
    """Bugs with an exact first token: a check of one position is blind to them."""
    blind = [s.name for s in BROKEN if s.emits_tokens and distances(s)[0] == 0]
    assert blind == ["M31", "M18", "M20", "M45", "M23", "M28", "M36", "M37", "M42", "M43", "M35", "M46", "M52", "M53"]


def test_coins_by_position_are_lossless_in_one_round() -> None:
    target = by_name("M35").target
    assert check_lossless_block(rounds.ONE_ROUND, target, toy.HORIZON)
    assert not diagnose(by_name("M35")).block


def test_a_coin_of_exactly_zero_leaks_what_is_drafted_out_of_the_support() -> None:
    leaked = sum(d for t, d in zip(top_three(()), toy.draft(()), strict=True) if t == 0)
    assert leaked > 0
    assert distances(by_name("M39"))[0] == leaked / 2**24


def test_a_coin_of_one_leaks_from_the_corrections_to_the_last_token() -> None:
    rejected = sum(max(Fraction(0), t - d) for t, d in zip(top_three(()), toy.draft(()), strict=True))
    assert residual(top_three(()), toy.draft(()))[-1] == 0
    assert distances(by_name("M40"))[0] == rejected / 2**25


def test_the_digits_are_compared_as_printed() -> None:
    """The comparison above rejects a neighbour in the last digit."""
    assert shown(Fraction(8059, 100_000), ".081") == ".081"
    assert shown(Fraction(8049, 100_000), ".081") == ".080"
    assert shown(Fraction(23, 100_000), "2.3e-4") == "2.3e-4"
    assert shown(Fraction(236, 1_000_000), "2.3e-4") == "2.4e-4"
    assert shown(Fraction(0), "0") == "0"
