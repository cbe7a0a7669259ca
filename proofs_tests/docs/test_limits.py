"""The page on limits knows every judge, every reason, every exit code, and the numbers that it names are the code's."""

from __future__ import annotations

import importlib
import re
from pathlib import Path

import pytest

from proofs_tests.docs.book import BAR, DOCS, ROOT, code
from spec_math import audit, float_allowance, symbolic, testing
from spec_math.cli import COMMANDS
from spec_math.cli import run as command
from spec_math.samplers.standard import pairs
from spec_math.studies.traces.study import TraceRequest
from spec_math.verdict import NUMBERS, Lossless, Lossy, Reason, Undecided

PAGE = (DOCS / "limits.md").read_text(encoding="utf-8")
JUDGES = re.compile(r"(check|assert)_\w+|judge\w*|prove|\w+_test")
"""What a function that judges is called."""

VERDICTS, SAYS, ASSUMES = "## What a verdict says", "### What each judge says", "### What each judge assumes"


def tables(title: str, text: str = PAGE) -> list[list[list[str]]]:
    """The tables between a heading and the next heading, each without its head: rows of cells."""
    (found,) = re.findall(rf"^{re.escape(title)}\n(.*?)(?=^#|\Z)", text, re.MULTILINE | re.DOTALL)
    blocks = re.findall(r"(?:^\|.*\n)+", found, re.MULTILINE)
    return [[[cell.strip() for cell in BAR.split(line)[1:-1]] for line in block.splitlines()[2:]] for block in blocks]


def listed(row: list[str]) -> set[str]:
    return set(code(row[0]))


def named(title: str, text: str = PAGE) -> set[str]:
    """The judges that a table has a row for."""
    (table,) = tables(title, text)
    return set().union(*(listed(row) for row in table))


def judges() -> set[str]:
    """Every public function that judges, by its module's last name and its own; and commands that can say lossy."""
    bridge = (ROOT / "torch_bridge" / "__init__.py").read_text(encoding="utf-8")
    names = {
        "audit": audit.__all__,
        "symbolic": symbolic.__all__,
        "testing": [
            name for name, held in vars(testing).items() if getattr(held, "__module__", "") == testing.__name__
        ],
        "torch_bridge": re.findall(r'"(\w+)"', bridge),
    }
    found = {f"{module}.{name}" for module, listing in names.items() for name in listing if JUDGES.fullmatch(name)}
    return {*found, *commands(), "check_lossless", "check_lossless_block", "spec_math.field.engine_law.judged"}


def commands() -> set[str]:
    """The commands that judge: those whose help speaks of an exit code 1."""
    return {f"spec-math {name}" for name in COMMANDS if 1 in codes_of(name)}


def codes_of(name: str) -> set[int]:
    """The exit codes that a command's help names."""
    return codes_in(getattr(importlib.import_module(f"spec_math.cli.{COMMANDS[name]}"), name).__doc__)


def codes_in(text: str) -> set[int]:
    told = re.search(r"[Ee]xit codes?(?:\[/bold\])?:? (?=\d)(.*?)(?:\n\n|\Z)", text, re.DOTALL)
    return {int(number) for number in re.findall(r"(?<![\w.])(\d+)(?= [a-z])", told[1])} if told else set()


def test_every_judge_is_in_both_tables_and_nothing_else() -> None:
    assert named(SAYS) == judges()
    assert named(ASSUMES) == judges()
    rows = [tables(title)[0] for title in (SAYS, ASSUMES)]
    assert [listed(row) for row in rows[0]] == [listed(row) for row in rows[1]]
    assert all(cell for row in rows[1] for cell in row)


def test_every_verdict_and_every_reason_is_explained() -> None:
    verdicts, reasons, _ = tables(VERDICTS)
    assert [listed(row) for row in verdicts] == [{kind.__name__} for kind in (Lossless, Lossy, Undecided)]
    assert [row[0] for row in reasons] == [reason.value for reason in Reason]


def test_exit_codes_are_those_of_the_commands() -> None:
    codes = {int(row[0]) for row in tables(VERDICTS)[2]}
    assert codes == codes_in(command.__doc__)
    for row in tables(SAYS)[0]:
        for name in listed(row) & commands():
            assert codes_of(name.removeprefix("spec-math ")) == set(map(int, row[4].split(", "))) <= codes, name
        assert bool(row[4]) == bool(listed(row) & commands())


def test_numbers_are_the_codes_own() -> None:
    for value in (float_allowance.AT_MOST, float_allowance.AT_MOST_HALF, TraceRequest.alpha, TraceRequest.tolerance):
        assert f"{value:.0e}".replace("e-0", "e-") in PAGE, value
    assert f"{len(pairs())} pairs on 2 to {max(len(target) for target, *_ in pairs())} tokens" in PAGE
    assert {k for *_, k in pairs()} == {1, 2, 3} == set(NUMBERS)
    assert "1, then 2 and 3" in PAGE


def without_its_assumptions(text: str) -> bool:
    """Say whether a how-to names a judge and does not lead to what that one assumes."""
    words = {name.rpartition(".")[2] for name in judges()}
    speaks = any(word in words for span in code(text) for word in (*re.findall(r"\w+", span), span[: span.find(" --")]))
    return (speaks or any(command in text for command in commands())) and "](../limits.md)" not in text


@pytest.mark.parametrize("page", sorted((DOCS / "how_to").glob("*.md")), ids=lambda page: page.stem)
def test_a_how_to_that_names_a_judge_leads_to_what_it_assumes(page: Path) -> None:
    assert not without_its_assumptions(page.read_text(encoding="utf-8"))


def test_what_a_page_leaves_out_is_told() -> None:
    """The controls."""
    without = PAGE.replace(", `audit.coupled_test`", "")
    assert judges() - named(SAYS, without) == judges() - named(ASSUMES, without) == {"audit.coupled_test"}
    assert "audit.explore" not in judges()
    assert without_its_assumptions("Call `check_lossless(verifier)`.")
    assert without_its_assumptions("Run\n```\nspec-math trace recorded/\n```\n")
    assert not without_its_assumptions("Call `overlap`; run `spec-math psi`.")
    assert len(judges()) >= 20
    assert codes_in("Words.\n\n[bold]Exit codes[/bold]: 0 lossless, 1 lossy at 0.99 or\n3 undecided.\n\n7 other") == {
        0,
        1,
        3,
    }
