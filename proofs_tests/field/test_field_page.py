"""The record of the field: its page, the lines of it in the README, and the page of functions as they are."""

from __future__ import annotations

import pytest

torch = pytest.importorskip("torch", reason="torch is an optional extra")

from spec_math.field import page as functions  # noqa: E402
from spec_math.field import recorded  # noqa: E402
from spec_math.field.cases import choices  # noqa: E402
from spec_math.field.catalogue import ENGINES, named  # noqa: E402
from spec_math.field.engine import PLAIN  # noqa: E402
from spec_math.field.judging import in_fractions  # noqa: E402
from spec_math.field.page import PAGE, page, reportable  # noqa: E402


def test_the_page_is_what_is_recorded_byte_by_byte() -> None:
    assert PAGE.read_text(encoding="utf-8") == page(recorded.read())


def test_the_readme_shows_the_first_lines_of_the_table() -> None:
    table = page(recorded.read()).partition("\n| engine")[2].partition("\n\n")[0].splitlines()
    readme = (PAGE.parent.parent / "README.md").read_text(encoding="utf-8")
    assert "\n".join(("| engine" + table[0], *table[1:7])) in readme


def test_every_engine_that_is_recorded_is_known_and_has_a_control_that_was_rejected() -> None:
    known = {engine.name for engine in ENGINES}
    for name, found in recorded.read().items():
        assert name in known
        assert found["control"]["verdict"] == "lossy", name
        assert found["control"]["edit"][0] != found["control"]["edit"][1]


def test_names_of_engines_are_their_own() -> None:
    assert len({engine.name for engine in ENGINES}) == len(ENGINES)
    with pytest.raises(ValueError, match="there is no engine"):
        named("nobody's")
    assert all(choices(engine)[0] == PLAIN for engine in ENGINES)


def test_a_distance_is_written_as_the_fraction_that_it_is_within_its_bound() -> None:
    assert in_fractions(1 / 3 + 1e-7, 1e-6) == "1/3"
    assert in_fractions(1 / 3 + 1e-4, 1e-6) == "0.333433"


def test_the_thirty_functions_say_what_became_of_each_as_it_is() -> None:
    listed = functions.listed()
    assert len({(one["package"], one["function"]) for one in listed}) == 30
    assert all(one["found"] in ("lossless", "lossy", "refused") for one in listed)
    assert all(one["found"] == "lossless" or one["reason"] for one in listed)
    assert sum(one["found"] != "refused" for one in listed) >= 20


def test_the_page_of_the_thirty_functions_is_what_is_recorded() -> None:
    written = functions.FUNCTIONS_PAGE.read_text(encoding="utf-8")
    assert written == functions.functions_page(functions.listed())
    assert written != functions.functions_page([one | {"found": "lossless"} for one in functions.listed()])


def test_what_is_lossy_by_design_is_said_to_be_and_is_not_reported() -> None:
    """The control: the same record with a cause that is no design is reported."""
    found = recorded.read()["Medusa"]
    assert "| **lossy**, by design |" in page({"Medusa": found})
    assert not reportable(found)
    defect = found | {"defects": [{"cause": "a threshold", "mend": []}]}
    assert "by design" not in page({"Medusa": defect})
    assert reportable(defect)
