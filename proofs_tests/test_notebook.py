"""What values show in a notebook: the numbers that they hold, nothing more, and no mark-up of their own."""

from __future__ import annotations

import re
from dataclasses import replace
from fractions import Fraction
from functools import partial
from html.parser import HTMLParser
from typing import Any

import pytest

from spec_math import check_lossless
from spec_math.block_level import optimum
from spec_math.coupling import Coupling, joint
from spec_math.language import Table
from spec_math.notebook import ROWS, card, joint_table, law_table
from spec_math.scheme import Emission
from spec_math.symbolic import Theorem, prove
from spec_math.token_level import optimal, single, transport
from spec_math.token_level.certificate import Certificate
from spec_math.verdict import Bracket, Lossless, Lossy, Optimal

HALF = Fraction(1, 2)


class Balanced(HTMLParser):
    """Every tag that is opened is closed, in order."""

    def __init__(self) -> None:
        super().__init__()
        self.open: list[str] = []
        self.faults: list[str] = []

    def handle_starttag(self, tag: str, attrs: Any) -> None:  # noqa: ARG002
        if tag != "br":
            self.open.append(tag)

    def handle_endtag(self, tag: str) -> None:
        if not self.open or self.open.pop() != tag:
            self.faults.append(tag)


def faults(html: str) -> list[str]:
    parser = Balanced()
    parser.feed(html)
    return parser.faults + parser.open


def text(value: Any) -> str:
    html = value._repr_html_()
    assert faults(html) == []
    assert "http" not in html
    return re.sub(r"<[^>]*>", " ", html)


def test_the_judge_of_tags_sees_one_left_open() -> None:
    assert faults("<div><b>x</div>") == ["div", "div"]
    assert faults("<i>") == ["i"]


def test_verdicts_show_their_evidence() -> None:
    assert "paths walked: 3" in text(Lossless(3))
    lossy = check_lossless(lambda _, tokens, *__: tokens[0], ["1/4", "3/4"], ["1/2", "1/2"])
    shown = text(lossy)
    assert "emitted: 1/2 ≈ 0.5" in shown
    assert "target: 1/4 ≈ 0.25" in shown
    assert "total variation: 1/4" in shown
    assert "width: 1/6" in text(Bracket(Fraction(1, 3), HALF))


def test_a_reason_cannot_smuggle_mark_up() -> None:
    assert "<script>" not in Lossy("<script>alert(1)</script>")._repr_html_()


def test_a_coupling_shows_every_mass_and_which_are_kept() -> None:
    laws = ["1/4", "3/4"], ["1/2", "1/2"]
    found = joint(lambda coin: single.draw(coin, laws[1]), lambda coin, tokens: single.emit(coin, tokens, *laws))
    html = found._repr_html_()
    assert "acceptance: 3/4 ≈ 0.75" in text(found)
    assert html.count("rgba(0,158,115") == 2  # (0) → 0 and (1) → 1
    assert html.count("rgba(230,159,0") == 1  # (0) → 1


def test_masses_of_one_cell_are_added() -> None:
    both = Coupling({((0,), Emission(0, True)): HALF, ((0,), Emission(0, False)): HALF})
    assert text(both).split()[-2:] == ["(0)", "1"]


def test_a_plan_and_its_laws() -> None:
    shown = text(optimal.plan(["2/5", "3/5"], ["3/4", "1/4"], 2))
    assert "acceptance, the optimum: 67/80" in shown
    assert "9/16" in shown  # what is put forward
    assert "2, independent" in shown
    html = optimal.plan(["2/5", "3/5"], ["3/4", "1/4"], 2)._repr_html_()
    assert "<b>Optimal plan</b>" in html
    assert all(f">{column}</th>" in html for column in ("token", "draft", "put forward", "kept with"))


def test_a_certificate_is_judged_before_it_is_shown() -> None:
    found = transport.solve(["2/5", "3/5"], {(0,): "3/4", (1,): "1/4"})
    assert "Certificate, checked" in text(found)
    assert "drafts \\ emitted" in text(found)
    assert "None" not in text(found)
    false = Certificate((HALF, HALF), {(0,): Fraction(1)}, Fraction(1), {((0,), 0): Fraction(1)}, frozenset())
    assert "Certificate that shows nothing" in text(false)
    assert "fault: the coupling has other drafts, or does not emit the target" in text(false)
    assert "Certificate, checked" in text(Optimal(found.acceptance, found))


def test_a_block_certificate_shows_both_bounds() -> None:
    target, draft = Table({(): ["1/2", "1/2"]}, context=0), Table({(): ["1/3", "2/3"]}, context=0)
    found = optimum.chains_certificate(target, draft, (), 2, 2)
    assert f"tokens per call at least: {found.lower}" in text(found)
    assert "shows nothing" in text(replace(found, selection=(Fraction(2),)))


def test_long_tables_say_what_they_leave_out() -> None:
    assert f"and {100 - ROWS} more tokens" in law_table({"target": [0.01] * 100})
    assert "more drafts" in joint_table({(i,): {0: 0.01} for i in range(40)})
    assert "more" not in law_table({"target": [1 / ROWS] * ROWS})
    heavy = law_table({"target": [0.0] * 99 + [1.0]})
    assert "<th>99</th>" in heavy


@pytest.mark.parametrize("value", [None, 0])
def test_facts_that_are_unknown_are_not_shown(value: Any) -> None:
    assert ("token" in card("x", {"token": value})) == (value is not None)


def test_a_proof_shows_its_scope_and_a_refutation_its_laws() -> None:
    laws = {"t": 2, "d": 2}
    held = prove(Theorem("maximal coupling", "all laws on 2 tokens", partial(check_lossless, single.verify), laws))
    assert "Proved: maximal coupling" in text(held)
    assert "for: all laws on 2 tokens" in text(held)
    assert f"regions judged: {held.regions}" in text(held)
    never = prove(Theorem("no test", "all laws", partial(check_lossless, lambda _, tokens, *__: tokens[0]), laws))
    shown = text(never)
    assert "Refuted: no test" in shown
    assert "Counterexample" in shown
    assert "Lossy for 1 draft: token 0 is emitted" in shown
    assert never.counterexample is not None
    for law in never.counterexample.parameters.values():
        assert all(str(mass) in shown for mass in law)
