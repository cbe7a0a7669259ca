"""Report of an audited engine: one answer, the questions, the matrix of options, and what was not seen."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from xml.etree.ElementTree import Element, SubElement, tostring

import numpy as np

from spec_math.engines.pair import Pair
from spec_math.engines.protocol import About
from spec_math.engines.questions import LATE, CaseRun, Failure
from spec_math.engines.releases import Turn
from spec_math.result import Attachment, Cell, Column, Note, Result, Row, Table
from spec_math.sequential.bank import in_words
from spec_math.sequential.contexts import ContextsTest
from spec_math.sequential.identity_test import IdentityTest
from spec_math.wording import counted

FOUND = 0.1
"""The largest distance, in total variation of sixteen cells, that a right answer may leave unseen."""

AGAIN = "a seed that is used again gives other texts"

DOUBT = 7.0
"""Evidence, in nats, from which on tokens are not said to be those of another distribution: odds of a thousand."""

QUESTIONS = (
    *("log-probabilities", "end of the text", "one seed, one text", "independence of requests in a batch"),
    *("independence of successive calls", "place in the batch", "position", "distribution", "known bugs"),
    *("one context", "bonus token", "first token of a round", "independence of tokens in a text"),
)
"""The questions in the order of the report."""

_OF_TOKENS = set(QUESTIONS[5:])


def told(run: CaseRun) -> str:
    """Return what the failures of a case say together, narrowed to positions and places where they tell."""
    by: dict[str, list[Failure]] = {}
    for failure in run.failures:
        by.setdefault(failure.question, []).append(failure)
    for question in ("answer", "end of the text", *["log-probabilities"] * (len(by) == 1)):
        if question in by:
            return by[question][0].said
    for question, said in (
        ("one seed, one text", AGAIN),
        ("independence of requests in a batch", "requests of one batch share random numbers"),
        ("independence of successive calls", "successive calls share random numbers"),
    ):
        # Numbers of a wrong distribution are not uniform, and so are differences of two that are independent.
        if question in by and not by.keys() & {"distribution", "position"}:
            return said
    parts = ["tokens do not have the exact distribution"]
    if status(run) == "ignored":
        parts = ["tokens look as if the option were ignored"]
    if "position" in by:
        first = min((failure.group.split(" ")[0] for failure in by["position"]), key=lambda one: int(one.split("-")[0]))
        parts.append(f"seen from position {first} on")
    places = sorted({failure.group for failure in by.get("place in the batch", [])})
    if 0 < len(places) < run.case.batch:
        parts.append(f"seen at place {', '.join(places)} of the batch of {run.case.batch}")
    if set(by) == {"bonus token"}:
        parts.append("in the bonus token after a whole accepted block")
    if set(by) == {"first token of a round"}:
        parts.append(f"in the first token after a round with {by['first token of a round'][0].group.split(' by')[0]}")
    late = run.tests.get(("distribution", LATE))
    if isinstance(late, ContextsTest) and late.alarm is not None and not late.impossible:
        parts.append("as if the options did not see the latest tokens")
    parts += [AGAIN] * ("one seed, one text" in by)
    return ", ".join(parts)


def suspect(runs: Sequence[CaseRun]) -> str | None:
    """Return the known bug that explains failures best, with at least the evidence of an alarm; None where none does.

    One context seen many times tells more bugs apart than changing ones, and goes first where the best leads by e^3.
    """
    for question, lead in (("one context", 3.0), ("known bugs", 0.0)):
        won: Counter[str] = Counter()
        for run in runs:
            for (asked, _), test in run.tests.items():
                if asked == question and isinstance(test, IdentityTest | ContextsTest):
                    won.update({name: wealth for name, wealth in test.suspects() if "λ" not in name})  # type: ignore[misc]
        ranked = sorted(won.items(), key=lambda pair: -pair[1])
        if ranked and ranked[0][1] >= max(19.0, ranked[1][1] + lead):
            return in_words(ranked[0][0])
    return None


def status(run: CaseRun) -> str:
    """Return what became of a case's options: honoured, refused, ignored, wrong, or without an effect that was seen."""
    if run.refused is not None:
        return "wrong" if run.wrong else "refused"
    test = run.tests.get(("options ignored", ""))
    effect = test is not None and test.alarm is not None
    if run.wrong:
        of_tokens = {failure.question for failure in run.wrong} <= _OF_TOKENS
        apart = run.tests.get(("options ignored", "by probability"))
        plain = apart is not None and apart.log_peak < DOUBT and run.for_ignored > 0
        return "ignored" if of_tokens and not effect and plain else "wrong"
    return "honoured" if effect else "no effect seen"


def result_of(about: About, pair: Pair, runs: Sequence[CaseRun], alpha: float, narrowed: str) -> Result:
    """Return the result of an engine's runs at a level; `narrowed` is a sentence on the smallest case that fails."""
    answer, said, code = _answer(runs)
    seen, tests = sum(run.tokens for run in runs), sum(len(run.tests) for run in runs)
    setting = (
        f"{about.engine} {about.version}".strip() + f", on a {pair.shape.target} pair of {pair.shape.kind} with "
        f"{pair.shape.size} tokens and a draft that is {pair.shape.draft}; {seen:,} tokens in "
        f"{counted(tests, 'test')}, which together alarm on a right engine with probability {alpha:g} at most."
    )
    matrix = [_matrix(runs)] if any(run.case.options for run in runs) else []
    notes = tuple(Note(one) for one in _unseen(about, runs))
    tables = (_questions(runs), *matrix, _cases(runs))
    title = f"{about.engine}: {answer}"
    said = f"{said} {narrowed}".strip()
    attached = (Attachment("engine.junit.xml", junit(runs)),)
    return Result("engine", title, said, tables, notes=notes, exit_code=code, attachments=attached, setting=setting)


def junit(runs: Sequence[CaseRun]) -> str:
    """Return a JUnit report: a test case for each way of asking, skipped where it was refused."""
    suite = Element("testsuite", name="engine", tests=str(len(runs)))
    for run in runs:
        case = SubElement(suite, "testcase", classname=f"engine.{_speculation(run)}", name=run.case.name)
        if run.failures:
            SubElement(case, "failure", message=told(run))
        elif run.refused is not None:
            SubElement(case, "skipped", message=run.refused)
    suite.set("failures", str(sum(bool(run.failures) for run in runs)))
    return tostring(suite, encoding="unicode", xml_declaration=True)


def _answer(runs: Sequence[CaseRun]) -> tuple[str, str, int]:
    plain = [run for run in runs if run.failures and run.case.lookahead == 0]
    speculative = [run for run in runs if run.failures and run.case.lookahead != 0]
    already = {run.case.name for run in plain if run.wrong}
    own = [run for run in speculative if not run.wrong or run.case.name not in already]
    if own and "no options" not in already:
        names = {run.case.name for run in own}
        asked = sum(run.tokens for run in runs if run.case.lookahead == 0 and run.case.name in names)
        without = f"Without speculation nothing is wrong in {asked:,} tokens."
        without = without if asked else "It was not asked without speculation."
        if plain:
            without = f"Already without speculation, {_told_of(plain)}."
        what = "not lossless" if any(run.wrong for run in own) else "log-probabilities are wrong"
        return what, f"With speculation, {_told_of(own)}. {without}", 1
    if plain:
        more = " Speculation fails too, which cannot be told from this." if speculative else ""
        return "wrong already without speculation", f"Without speculation, {_told_of(plain)}.{more}", 1
    main = next((run for run in runs if run.case.lookahead != 0), runs[0])
    effect = _effect(main)
    if main.refused is not None:
        return "undecided", f"The engine refused plain requests ({main.refused}).", 3
    if effect is None or effect > FOUND:
        return "undecided", f"{main.tokens:,} tokens do not find a total variation of {FOUND:g}; raise --samples.", 3
    if main.case.lookahead == 0:
        return "undecided", f"Only plain decoding was asked; nothing is wrong in {main.tokens:,} tokens.", 3
    if (main.drafted or main.rounds) and not (main.accepted and main.rejected):
        which = "rejected" if main.accepted else "accepted"
        return "undecided", f"None of the drafted tokens was {which}: speculation was not tested.", 3
    found = f"A total variation of {effect:.2g} between sixteen cells of equal probability"
    with_options = [run for run in runs if run.case.options and run.case.name != "greedy" and run.refused is None]
    least = max((_effect(run) or 1.0 for run in with_options if run.case.lookahead == main.case.lookahead), default=0)
    beside = f" without options, and one of {least:.2g} with each option that was asked" if least > effect else ""
    return "nothing is wrong", f"{found} would have been found with probability 0.99{beside}. That is no proof.", 0


def _told_of(failed: Sequence[CaseRun]) -> str:
    """Say what the first failed case shows, the known bug that fits best, and which other cases fail."""
    failed = [run for run in failed if run.wrong] or failed
    first, *others = failed
    of_tokens = {failure.question for run in failed for failure in run.failures} <= _OF_TOKENS
    placed = any("at place" in told(run) for run in failed)
    bug = suspect(failed) if of_tokens and not placed else None
    said = f"{first.case.name}: {told(first)}" + (f"; of the known bugs the nearest is: {bug}" if bug else "")
    if not first.wrong:
        return said
    return said + (f" (also wrong: {'; '.join(run.case.name for run in others)})" if others else "")


def _effect(run: CaseRun) -> float | None:
    """Return the total variation of cells that the test of all tokens finds with probability .99."""
    return run.tests["distribution", "by probability"].promise().detectable


def _speculation(run: CaseRun) -> str:
    return {0: "none", None: "as started"}.get(run.case.lookahead, f"lookahead {run.case.lookahead}")


def _questions(runs: Sequence[CaseRun]) -> Table:
    """Return every question of the cases without options, and those of the others that failed."""
    columns = (Column("case"), Column("speculation"), Column("question"), Column("answer"), Column("where"))
    numbers = (Column("tokens", "count"), Column("evidence", "number", "powers of ten", digits=1))
    found: list[Row] = []
    for run in runs:
        for question in QUESTIONS:
            tests = {group: test for (name, group), test in run.tests.items() if name == question}
            failed = [failure for failure in run.failures if failure.question == question]
            if not failed and (run.case.name != "no options" or not tests):
                continue
            worst = max(tests.values(), key=lambda test: test.log_peak) if tests else None
            seen = sum(test.samples for test in tests.values())
            answer = "wrong" if failed else "nothing wrong" if seen else "not asked"
            evidence = None if worst is None or not seen else min(worst.log_peak / float(np.log(10)), 999.0)
            where = ", ".join(failure.group for failure in failed[:3])
            cells = run.case.name, _speculation(run), question, answer, where, worst.samples if worst else None
            found.append(Row((*cells, evidence), "wrong" if failed else "", f"{run.case.name} {run.case.lookahead}"))
    return Table("questions", "Questions", (*columns, *numbers), tuple(found))


def _matrix(runs: Sequence[CaseRun]) -> Table:
    found: list[Row] = []
    for name in dict.fromkeys(run.case.name for run in runs if run.case.options):
        by = {run.case.lookahead == 0: status(run) for run in runs if run.case.name == name}
        cells = name, by.get(True, "not asked"), by.get(False, "not asked")
        found.append(Row(cells, "wrong" if {"wrong", "ignored"} & set(by.values()) else ""))
    returned = [_returned([run for run in runs if (run.case.lookahead == 0) == plain]) for plain in (True, False)]
    found.append(Row(("returned log-probabilities", *returned), "wrong" if "wrong" in returned else ""))
    return Table("matrix", "Options", (Column("option"), Column("plain"), Column("with speculation")), tuple(found))


def of_releases(engine: str, turn: Turn, said: Mapping[str, str]) -> Result:
    """Return the result of a search over releases; `said` is what each showed."""
    verdicts = {True: "fails", False: "nothing wrong", None: "not tried"}
    rows = [Row((version, verdicts[fails], said[version]), "wrong" if fails else "") for version, fails in turn.tried]
    table = Table("releases", "Releases", (Column("release"), Column("verdict"), Column("what was seen")), tuple(rows))
    known = {fails for _, fails in turn.tried if fails is not None}
    code = 1 if True in known else 0 if known else 3
    return Result("releases", f"Releases of {engine}", str(turn), (table,), exit_code=code)


def _returned(runs: Sequence[CaseRun]) -> str:
    """Return what the returned log-probabilities of some runs are: raw, processed, wrong or none."""
    if any(failure.question == "log-probabilities" for run in runs for failure in run.failures):
        return "wrong"
    if not any(run.logprobs["told"] for run in runs):
        return "none returned" if runs else "not asked"
    return " or ".join(name for name in ("raw", "processed") if not any(run.logprobs[name] for run in runs))


def _cases(runs: Sequence[CaseRun]) -> Table:
    names = ("texts", "tokens", "left out", "rounds", "drafted", "accepted", "first failure")
    effect = Column("would find", "number", "total variation", digits=3)
    found: list[Row] = []
    for run in runs:
        first = min((failure.tokens for failure in run.failures), default=None)
        numbers: tuple[Cell, ...] = (run.texts, run.tokens, run.left_out, run.rounds, run.drafted, run.accepted, first)
        cells = run.case.name, _speculation(run), *numbers, _effect(run) if run.tokens else None
        found.append(Row(cells, "wrong" if run.wrong else ""))
    columns = Column("case"), Column("speculation"), *(Column(name, "count") for name in names), effect
    return Table("cases", "Cases", columns, tuple(found))


def _unseen(about: About, runs: Sequence[CaseRun]) -> list[str]:
    """Return sentences on what was not seen."""
    left = sum(run.left_out for run in runs)
    drafted = any(run.drafted or run.rounds for run in runs)
    sentences = {
        "The engine was not asked without speculation: its own arithmetic is not told apart.": not about.plain,
        "The engine does not tell how many drafts it accepts: whether it speculated at all is not known.": not drafted,
        "Requests were asked one by one: batches were not tested.": max(run.case.batch for run in runs) == 1,
        "The engine returned no log-probabilities: none were compared.": not any(run.logprobs["told"] for run in runs),
        "The engine has no seeds: they were not tested.": not about.seeds,
        f"{left:,} tokens were left out: rounding, or bad words begun in prompts, decide on them.": left > 0,
    }
    refused = {f"{run.case.name}: refused ({run.refused}).": 0 for run in runs if run.refused and not run.failures}
    long = "Texts of 64 tokens and more, preemption" if max(run.case.number for run in runs) < 64 else "Preemption"
    always = f"{long}, prefix caches and other models than this pair were not tested."
    return [*(said for said, holds in sentences.items() if holds), *refused, always]
