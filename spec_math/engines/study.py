"""Audit of an engine: its cases asked one after another, failures narrowed down, and the result.

The engine without speculation is asked first, so that what its own arithmetic or options make wrong is told apart.
"""

from __future__ import annotations

import json
import shutil
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np

from spec_math.arrays import count
from spec_math.engines.options import ORDER, known
from spec_math.engines.pair import Pair, PairShape, read, write
from spec_math.engines.protocol import About, Answer, Driver, Engine, Recorded, Recorder, Request, command_of
from spec_math.engines.questions import Case, CaseRun, Failure, plan
from spec_math.result import Column, Note, Result, Row, Table
from spec_math.sequential.bank import in_words
from spec_math.sequential.evidence import level
from spec_math.sequential.identity_test import IdentityTest
from spec_math.sequential.tolerant import TolerantTest
from spec_math.studies.arguments import Progress, limited
from spec_math.wording import counted

CALLS = 4
"""Calls that are judged at once; the same requests are asked once more after the first, where seeds are asked about."""

FOUND = 0.1
"""The largest distance, in total variation of sixteen cells, that a right answer may leave unseen."""

MATRIX: Mapping[str, Any] = {
    "temperature": 0.5,
    "top_k": 3,
    "top_p": 0.6,
    "min_p": 0.3,
    "presence_penalty": 2.0,
    "frequency_penalty": 2.0,
    "repetition_penalty": 2.0,
    "logit_bias": {"0": 3.0, "1": -3.0},
    "bad_words": [[0], [2], [3, 1]],
    "min_tokens": 8,
}
"""The options that --matrix asks about one by one, at values whose effect is large."""

FILTERS = {"top_k", "top_p", "min_p", "bad_words", "min_tokens"}
"""Options that leave tokens without probability."""


@dataclass(frozen=True)
class EngineRequest:
    """The request of the command engine.

    `options` are texts NAME=VALUE; `samples` is the number of tokens of the main question, of which the others get
    fixed shares; `record` is the folder for the texts.

    >>> EngineRequest("stub").samples
    8000
    """

    engine: str | None = None
    url: str | None = None
    baseline_url: str | None = None
    pair: Path | None = None
    options: tuple[str, ...] = ()
    matrix: bool = False
    lookahead: int | None = None
    batch: int = 4
    number: int = 12
    alpha: float = 1e-6
    samples: int = 8000
    seed: int = 0
    record: Path | None = None


def options_of(texts: Sequence[str]) -> dict[str, Any]:
    """Read options NAME=VALUE; the value is JSON.

    Raises:
        ValueError: an option is unknown, or its value cannot be read.

    >>> options_of(["top_p=0.8", "bad_words=[[1]]"])
    {'top_p': 0.8, 'bad_words': [[1]]}
    """
    found: dict[str, Any] = {}
    for text in texts:
        name, _, value = text.partition("=")
        if name not in ORDER or not value:
            raise ValueError(f"--option takes NAME=VALUE with one of {', '.join(sorted(ORDER))}; got {text!r}")
        try:
            found[name] = json.loads(value)
        except ValueError:
            raise ValueError(f"--option {name} takes a number or JSON; got {value!r}") from None
        if not isinstance(found[name], type(MATRIX[name])) and not isinstance(found[name], int | float):
            raise ValueError(f"--option {name} takes a value such as {json.dumps(MATRIX[name])}; got {value!r}")
    return found


def cases_of(request: EngineRequest, about: About) -> list[Case]:
    """Return the cases that are asked, in their order; those without speculation first.

    >>> [case.name for case in cases_of(EngineRequest(), About("x", plain=False))]
    ['no options', 'one prompt', 'no seeds', 'greedy']
    """
    asked = options_of(request.options)
    named = {f"{name}={json.dumps(value)}": {name: value} for name, value in asked.items()}
    if len(asked) > 1:
        named["all options"] = asked
    if request.matrix:
        named |= {f"{name}={json.dumps(value)}": {name: value} for name, value in MATRIX.items() if name not in asked}
    lookahead = request.lookahead if request.lookahead is not None or not about.adjustable else 3
    batch, samples = min(request.batch, about.batch), request.samples
    main = Case("no options", {}, lookahead, request.number, batch, about.seeds, samples, about.seeds)
    speculative = [
        main,
        replace(
            main, name="one prompt", number=min(request.number, 2), samples=samples // 2, repeat=False, prompt=(0, 1)
        ),
        replace(main, name="no seeds", seeded=False, samples=samples // 8, repeat=False),
        replace(main, name="greedy", options={"temperature": 0.0}, samples=samples // 16, repeat=False),
    ]
    for name, options in named.items():
        # Filters show at once, by tokens that cannot be; penalties, biases and temperatures move probabilities.
        share = 12 if set(options) <= FILTERS else 6
        speculative.append(replace(main, name=name, options=options, samples=samples // share, repeat=False))
    if not about.plain or lookahead == 0:
        return speculative
    plain = [
        replace(case, lookahead=0, samples=case.samples // (4 if case is main else 2), repeat=False)
        for case in speculative
        if case.name not in ("no seeds", "one prompt")
    ]
    return plain + speculative


def audit_engine(
    engine: Engine, pair: Pair, cases: Sequence[Case], settings: tuple[float, int], progress: Progress
) -> list[CaseRun]:
    """Ask an engine all cases, and return their runs; `settings` are the level of all tests together and the seed.

    Raises:
        ValueError: the engine cannot be asked, or answers nonsense.

    >>> from spec_math.engines.pair import tables
    >>> from spec_math.engines.stub import Stub
    >>> pair = tables(PairShape(size=8))
    >>> case = Case("no options", samples=2000)
    >>> quiet = lambda what, steps: lambda done: None
    >>> [run.failures for run in audit_engine(Stub(pair), pair, [case], (0.01, 0), quiet)]
    [[]]
    >>> audit_engine(Stub(pair, "redraw"), pair, [case], (0.01, 0), quiet)[0].failures[0].question
    'known bugs'
    """
    alpha, seed = settings
    each = alpha / sum(len(plan(case)) for case in cases)
    requests = _Requests(seed, pair)
    runs: list[CaseRun] = []
    for number, case in enumerate(cases):
        run = CaseRun(case, pair, each, engine.about.logprobs, np.random.default_rng([seed, 1, number]))
        done = progress(f"{case.name}, {_speculation(case)}", case.samples)
        while not run.done:
            before = run.tokens
            _asked(engine, run, requests)
            done(run.tokens - before)
        runs.append(run)
    return runs


class _Requests:
    """Requests with prompts of 1 to 8 random tokens, in every second call one for all; no seed is used twice."""

    def __init__(self, seed: int, pair: Pair) -> None:
        self._rng = np.random.default_rng([seed, 0])
        self._tokens = pair.shape.size - (1 if pair.target.end is not None else 0)
        self._seed, self._calls = 1_000_003 * (seed % 2000), 0

    def call(self, case: Case) -> list[Request]:
        """Return the requests of one call."""
        self._calls += 1
        prompts = [case.prompt or self._prompt() for _ in range(case.batch)]
        if self._calls % 2:
            prompts = prompts[:1] * case.batch
        found: list[Request] = []
        for prompt in prompts:
            self._seed += 1
            found.append(Request(prompt, case.number, case.options, self._seed if case.seeded else None))
        return found

    def _prompt(self) -> tuple[int, ...]:
        return tuple(self._rng.integers(0, self._tokens, size=int(self._rng.integers(1, 9))).tolist())


def _asked(engine: Engine, run: CaseRun, requests: _Requests) -> None:
    """Ask some calls of a case, and judge them."""
    case = run.case
    calls: list[tuple[list[Request], list[Answer]]] = []
    for _ in range(CALLS):
        asked = requests.call(case)
        calls.append((asked, engine.ask(asked, case.lookahead)))
        if calls[-1][1][0].refused is not None:
            break
    run.take(calls)
    if case.repeat and run.refused is None:
        run.repeated(calls[0][1], engine.ask(calls[0][0], case.lookahead))
    if run.refused is None and not any(answer.tokens for _, answers in calls for answer in answers):
        raise ValueError(f"the engine answered no tokens at all in {CALLS} calls of {case.name!r}")


def _speculation(case: Case) -> str:
    if case.lookahead == 0:
        return "without speculation"
    return "with speculation" if case.lookahead is None else f"lookahead {case.lookahead}"


def smallest(engine: Engine, pair: Pair, failed: CaseRun, settings: tuple[float, int]) -> str:
    """Return a sentence on the smallest lookahead and batch at which a failed case still fails.

    Each is asked with as many tokens as the failure took, and half as many again; at the level of `audit_engine`.
    """
    case = failed.case
    samples = 3 * min(failure.tokens for failure in failed.failures) // 2 + 100
    most = case.lookahead or 1

    def fails(lookahead: int, batch: int) -> bool:
        tried = replace(case, lookahead=lookahead, batch=batch, samples=samples)
        return bool(audit_engine(engine, pair, [tried], (settings[0], settings[1] + 1), _silent)[0].failures)

    lookahead = next((k for k in range(1, most) if fails(k, case.batch)), most)
    alone = case.batch > 1 and fails(lookahead, 1)
    batch = (
        "" if case.batch == 1 else ", and one request alone" if alone else f", in a batch of {case.batch}, not alone"
    )
    return f"The smallest lookahead that was seen to fail is {lookahead}{batch} ({samples:,} tokens each)."


def _silent(_what: str, _steps: int) -> Any:
    return lambda done: None  # noqa: ARG005


QUESTIONS = (
    *("log-probabilities", "end of the text", "one seed, one text", "independence of requests in a batch"),
    *("independence of successive calls", "place in the batch", "position", "distribution", "known bugs"),
    *("one context", "bonus token", "first token of a round", "independence of tokens in a text"),
)
"""The questions, those that say most about a cause first."""


def told(run: CaseRun, ignored: bool = False) -> str:
    """Return what the failures of a case say together: a cause, narrowed to positions and places where they tell."""
    by: dict[str, list[Failure]] = {}
    for failure in run.failures:
        by.setdefault(failure.question, []).append(failure)
    if "log-probabilities" in by and len(by) == 1:
        return by["log-probabilities"][0].said
    if "end of the text" in by:
        return by["end of the text"][0].said
    if "one seed, one text" in by:
        return "a seed used again gives other texts: seeds are ignored"
    if "independence of requests in a batch" in by:
        return "requests of one batch share random numbers"
    if "independence of successive calls" in by:
        return "successive calls share random numbers"
    parts = ["the option has no effect" if ignored else "tokens do not have the exact distribution"]
    if "position" in by:
        first = min(
            (failure.group.split(" ")[0] for failure in by["position"]), key=lambda name: int(name.split("-")[0])
        )
        parts.append(f"from position {first} on")
    places = sorted({failure.group for failure in by.get("place in the batch", [])})
    if 0 < len(places) < run.case.batch:
        parts.append(f"at place {', '.join(places)} of the batch of {run.case.batch}")
    if set(by) == {"bonus token"}:
        parts.append("in the bonus token after a whole accepted block")
    if set(by) == {"first token of a round"}:
        parts.append(f"in the first token after a round with {by['first token of a round'][0].group.split(' by')[0]}")
    suspect = None if ignored else _suspect(run)
    return ", ".join([*parts, f"as if {suspect}"] if suspect else parts)


def _suspect(run: CaseRun) -> str | None:
    """Return the known bug that explains a failure best: by its evidence, at least as much as an alarm needs."""
    found: list[tuple[float, str]] = []
    for (question, _), test in run.tests.items():
        if question in ("known bugs", "one context") and test.alarm is not None and not isinstance(test, TolerantTest):
            found += [
                (wealth, name) for name, wealth in test.suspects() if "λ" not in name and wealth >= test.threshold
            ]
    return in_words(max(found)[1]) if found else None


def status(run: CaseRun) -> str:
    """Return what became of an option: honoured, refused, ignored, wrong, or not to be told from ignored."""
    if run.refused is not None:
        return "refused"
    test = run.tests.get(("options ignored", ""))
    effect = test is not None and test.alarm is not None
    if run.failures:
        of_tokens = {failure.question for failure in run.failures} <= {"distribution", "position", *_OF_TOKENS}
        return "ignored" if test is not None and of_tokens and not effect and run.for_ignored > 0 else "wrong"
    return "honoured" if effect else "no effect seen"


_OF_TOKENS = {
    "place in the batch",
    "known bugs",
    "bonus token",
    "first token of a round",
    "independence of tokens in a text",
}


@contextmanager
def opened(request: EngineRequest) -> Iterator[tuple[Engine, Pair, EngineRequest]]:
    """Open the engine, its pair, and the request that is answered: of recorded texts, the recorded one.

    Raises:
        ValueError: the engine or the pair is missing.
    """
    with TemporaryDirectory() as temporary:
        if request.engine is not None and request.engine.endswith(".jsonl"):
            recorded = Recorded(Path(request.engine))
            pair = read(Path(request.engine).parent / "pair")
            asked = {**recorded.setting, "options": tuple(recorded.setting["options"])}
            yield recorded, pair, replace(EngineRequest(**asked), record=None)
            return
        if request.engine is None and request.url is None:
            raise ValueError(
                "name the engine, such as transformers or stub, or give the address of a server with --url"
            )
        if request.pair is None and request.url is not None:
            raise ValueError("--url needs --pair, the models that the server runs: spec-math engine pair --out pair")
        kind = "tables" if (request.engine or "").startswith("stub") else "llama"
        place = request.record / "pair" if request.record is not None else Path(temporary) / "pair"
        command = command_of(request.engine or "", request.url, request.baseline_url, place)
        if request.pair is not None:
            _ = read(request.pair)
            shutil.copytree(request.pair, place, dirs_exist_ok=True)
        pair = write(PairShape(kind, seed=request.seed), place) if request.pair is None else read(place)
        with Driver(command, pair.shape.size) as driver:
            if request.record is None:
                yield driver, pair, request
            else:
                setting = {name: value for name, value in asdict(request).items() if name not in ("record", "pair")}
                yield Recorder(driver, request.record / "texts.jsonl", setting), pair, request


def study(request: EngineRequest, progress: Progress) -> Result:
    """Judge an engine, and say what was found; exit code 0 nothing is wrong, 1 something is, 3 too little was seen.

    Raises:
        ValueError, TypeError, OSError: the engine cannot be started or asked, or a setting is wrong.

    >>> study(EngineRequest(), lambda what, steps: lambda done: None)
    Traceback (most recent call last):
    ValueError: name the engine, such as transformers or stub, or give the address of a server with --url
    """
    _ = level(request.alpha), known(options_of(request.options))
    for name, number, most in (
        ("--samples", request.samples, 10**8),
        ("--batch", request.batch, 256),
        ("--number", request.number, 256),
        ("--lookahead", 1 if request.lookahead in (None, 0) else request.lookahead, 64),
    ):
        _ = limited(count(number, name), name, most)
    with opened(request) as (engine, pair, asked):
        cases = cases_of(asked, engine.about)
        settings = asked.alpha, asked.seed
        runs = audit_engine(engine, pair, cases, settings, progress)
        failed = next((run for run in runs if run.failures and run.case.lookahead), None)
        own = any(run.failures and run.case.lookahead == 0 for run in runs)
        narrowed = (
            "" if failed is None or own or not engine.about.adjustable else smallest(engine, pair, failed, settings)
        )
        return result_of(engine.about, pair, runs, asked, narrowed)


def result_of(about: About, pair: Pair, runs: Sequence[CaseRun], request: EngineRequest, narrowed: str) -> Result:
    """Return the result of runs: one answer, the questions, the matrix of options, and what was not seen."""
    finding, code = _answer(runs)
    seen = sum(run.tokens for run in runs)
    tests = sum(len(run.tests) for run in runs)
    said = f"{finding} {narrowed}".strip()
    setting = (
        f"{about.engine} {about.version}".strip() + f", on a {pair.shape.target} pair of {pair.shape.kind} with "
        f"{pair.shape.size} tokens and a draft that is {pair.shape.draft}; {seen:,} tokens in "
        f"{counted(tests, 'test')}, which together alarm on a right engine with probability {request.alpha:g} at most."
    )
    tables = (_questions(runs), *([_matrix(runs)] if any(run.case.options for run in runs) else []), _cases(runs))
    notes = [Note(one) for one in _unseen(about, runs)]
    return Result(
        "engine",
        f"{about.engine}: the engine against its weights",
        said,
        tables,
        (),
        tuple(notes),
        (),
        code,
        (),
        setting,
    )


def _answer(runs: Sequence[CaseRun]) -> tuple[str, int]:
    plain = [run for run in runs if run.failures and run.case.lookahead == 0]
    speculative = [run for run in runs if run.failures and run.case.lookahead != 0]
    if plain:
        where = "; ".join(f"{run.case.name}: {told(run, status(run) == 'ignored')}" for run in plain)
        more = "Speculation was asked too, but its failures cannot be told from these. " if speculative else ""
        return f"Wrong already without speculation ({where}). {more}".strip(), 1
    if speculative:
        where = "; ".join(f"{run.case.name}: {told(run, status(run) == 'ignored')}" for run in speculative)
        asked_plain = any(run.case.lookahead == 0 for run in runs)
        without = (
            "Without speculation nothing is wrong." if asked_plain else "The engine was not asked without speculation."
        )
        return f"Not lossless. With speculation, {where}. {without}", 1
    main = next(run for run in runs if run.case.lookahead != 0 or len({r.case.lookahead for r in runs}) == 1)
    effect = _effect(main)
    if main.refused is not None:
        return f"Undecided: the engine refused plain requests ({main.refused}).", 3
    if effect is None or effect > FOUND:
        return (
            f"Undecided: {main.tokens:,} tokens find no total variation of {FOUND:g}; ask for more with --samples.",
            3,
        )
    if main.rounds and main.accepted == 0:
        return f"Undecided: no draft was accepted in {main.rounds:,} rounds, so that speculation was not tested.", 3
    found = f"a total variation of {effect:.2g} between sixteen cells of equal probability"
    return (
        f"Nothing is wrong with these tokens: {found} would have been found with probability 0.99. That is no proof.",
        0,
    )


def _effect(run: CaseRun) -> float | None:
    name = "by probability"
    test: Any = run.tests["distribution", name]
    return test.promise().detectable


def _questions(runs: Sequence[CaseRun]) -> Table:
    columns = (
        Column("case"),
        Column("speculation"),
        Column("question"),
        Column("answer"),
        Column("where"),
        Column("draws", "count", "tokens"),
        Column("evidence", "number", "powers of ten", digits=1),
        Column("would find", "number", "total variation", digits=3),
    )
    found: list[Row] = []
    for run in runs:
        for question in QUESTIONS:
            tests = {group: test for (name, group), test in run.tests.items() if name == question}
            failures = [failure for failure in run.failures if failure.question == question]
            if not tests and not failures:
                continue
            worst = max(tests, key=lambda group: tests[group].log_peak) if tests else ""
            test = tests.get(worst)
            answer = "wrong" if failures else "not asked" if test is None or not test.samples else "nothing wrong"
            where = ", ".join(failure.group for failure in failures[:3])
            evidence = None if test is None or not test.samples else min(float(test.log_peak) / np.log(10), 999.0)
            effect = test.promise().detectable if isinstance(test, IdentityTest) and test.samples else None
            cells = (run.case.name, _speculation(run.case), question, answer, where)
            draws = None if test is None else test.samples
            found.append(Row((*cells, draws, evidence, effect), "wrong" if failures else "", run.case.name))
    return Table("questions", "Questions", columns, tuple(found))


def _matrix(runs: Sequence[CaseRun]) -> Table:
    names = list(dict.fromkeys(run.case.name for run in runs if run.case.options))
    found: list[Row] = []
    for name in names:
        by = {run.case.lookahead == 0: status(run) for run in runs if run.case.name == name}
        cells = name, by.get(True, "not asked"), by.get(False, "not asked")
        found.append(Row(cells, "wrong" if {"wrong", "ignored"} & set(by.values()) else ""))
    columns = Column("option"), Column("without speculation"), Column("with speculation")
    return Table("matrix", "Options", columns, tuple(found))


def _cases(runs: Sequence[CaseRun]) -> Table:
    names = ("texts", "tokens", "left out", "rounds", "accepted")
    columns = (
        Column("case"),
        Column("speculation"),
        *(Column(name, "count") for name in names),
        Column("first failure", "count", "tokens"),
    )
    found: list[Row] = []
    for run in runs:
        first = min((failure.tokens for failure in run.failures), default=None)
        cells = (
            run.case.name,
            _speculation(run.case),
            run.texts,
            run.tokens,
            run.left_out,
            run.rounds,
            run.accepted,
            first,
        )
        found.append(Row(cells))
    return Table("cases", "Cases", columns, tuple(found))


def _unseen(about: About, runs: Sequence[CaseRun]) -> list[str]:
    """Return sentences on what was not seen."""
    found: list[str] = []
    if not about.plain:
        found.append("The engine was not asked without speculation, so that its own arithmetic is not told apart.")
    if not any(run.rounds for run in runs):
        found.append("The engine does not tell how many drafts it accepts: whether it speculated at all is not known.")
    if max(run.case.batch for run in runs) == 1:
        found.append("Requests were asked one by one: batches were not tested.")
    if not about.logprobs or not any(run.logprobs["told"] for run in runs):
        found.append("The engine returned no log-probabilities, so that none were compared.")
    if not about.seeds:
        found.append("The engine has no seeds, so that they were not tested.")
    left = sum(run.left_out for run in runs)
    if left:
        found.append(
            f"{left:,} tokens were left out: rounding of the engine's own size would change what an option keeps."
        )
    found += [f"{run.case.name}: refused ({run.refused})." for run in runs if run.refused is not None]
    found.append("Long texts, preemption, prefix caches and other models than this pair were not tested.")
    return found
