"""Audit of an engine: its cases asked one after another, failures narrowed down, and the result.

The engine without speculation is asked first, so that what its own arithmetic or options make wrong is told apart.
"""

from __future__ import annotations

import json
import shutil
from collections.abc import Generator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import asdict, dataclass, replace
from itertools import combinations
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np

from spec_math.arrays import count
from spec_math.engines.options import ORDER, fit, known
from spec_math.engines.pair import Pair, PairShape, read, write
from spec_math.engines.protocol import (
    About,
    Answer,
    CutOffError,
    Driver,
    Engine,
    Recorded,
    Recorder,
    Request,
    command_of,
)
from spec_math.engines.questions import Case, CaseRun, plan
from spec_math.engines.releases import environment, released, turned
from spec_math.engines.report import of_releases, result_of
from spec_math.result import Result
from spec_math.sequential.evidence import level
from spec_math.studies.arguments import Progress, limited, no_progress

CALLS = 4
"""Calls that are judged at once; the same requests are asked once more after the first, where seeds are asked about."""

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

SMALLER = (4, 8, 16)
"""Vocabularies on which a failure is tried again, if the pair is not the user's own."""

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
    pairs: bool = False
    lookahead: int | None = None
    batch: int = 4
    number: int = 12
    alpha: float = 1e-6
    samples: int = 8000
    seed: int = 0
    record: Path | None = None
    python: str = ""
    speculative: str | None = None
    version: str | None = None
    since: str | None = None
    until: str | None = None
    kind: str | None = None
    target: str = "plain"
    draft: str = "near"


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

    Raises:
        ValueError: an option is unknown, or a lookahead is given that the engine cannot be told.

    >>> [case.name for case in cases_of(EngineRequest(), About("x", plain=False))]
    ['no options', 'one prompt', 'no seeds', 'greedy']
    """
    asked = options_of(request.options)
    named = {f"{name}={json.dumps(value)}": {name: value} for name, value in asked.items()}
    if len(asked) > 1:
        named["all options"] = asked
    if request.matrix or request.pairs:
        named |= {f"{name}={json.dumps(value)}": {name: value} for name, value in MATRIX.items() if name not in asked}
    if request.pairs:
        for one, other in combinations(MATRIX, 2):
            named[f"{one} with {other}"] = {one: MATRIX[one], other: MATRIX[other]}
    if request.lookahead is not None and not about.adjustable:
        raise ValueError(f"the lookahead of {about.engine} is set where it is started; leave --lookahead out")
    lookahead = request.lookahead if request.lookahead is not None or not about.adjustable else 3
    batch, samples = min(request.batch, about.batch), request.samples
    main = Case("no options", {}, lookahead, request.number, batch, about.seeds, samples, about.seeds)
    once = replace(main, repeat=False)
    speculative = [
        main,
        replace(once, name="one prompt", number=min(request.number, 2), samples=samples // 2, prompt=(0, 1)),
        replace(once, name="no seeds", seeded=False, samples=samples // 8),
        replace(once, name="greedy", options={"temperature": 0.0}, samples=samples // 16),
    ]
    for name, options in named.items():
        # Filters show at once, by tokens that cannot be; biases and temperatures move probabilities, penalties few.
        share = 12 if set(options) <= FILTERS else 4 if any(name.endswith("penalty") for name in options) else 6
        speculative.append(replace(once, name=name, options=options, samples=samples // share))
    if not about.plain or lookahead == 0:
        return speculative
    own = [case for case in speculative if case.name not in ("no seeds", "one prompt")]
    plain = [
        replace(case, lookahead=0, samples=case.samples // (4 if case is main else 3), repeat=False) for case in own
    ]
    return plain + speculative


def audit_engine(
    engine: Engine, pair: Pair, cases: Sequence[Case], settings: tuple[float, int], progress: Progress
) -> list[CaseRun]:
    """Ask an engine all cases, and return their runs; `settings` are the level of all tests together and the seed.

    Recorded texts that were cut off are judged as far as they go.

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
        run = CaseRun(case, pair, each, engine.about, np.random.default_rng([seed, 1, number]))
        done = progress(case.name + (" without speculation" if case.lookahead == 0 else ""), case.samples)
        runs.append(run)
        while not run.done:
            before = run.tokens
            try:
                _asked(engine, run, requests)
            except CutOffError:
                return runs
            done(run.tokens - before)
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


def smallest_failing(engine: Engine, pair: Pair, failed: CaseRun, settings: tuple[float, int]) -> str:
    """Return a sentence on the smallest lookahead and batch at which a failed case still fails.

    Each is asked with as many tokens as the failure took, and half as many again; at the level of `audit_engine`.
    """
    case = failed.case
    smaller = range(1, case.lookahead or 1)
    least = next((k for k in smaller if _tried(engine, pair, failed, settings, lookahead=k).wrong), case.lookahead)
    alone = case.batch > 1 and _tried(engine, pair, failed, settings, lookahead=least, batch=1).wrong
    together = f", in a batch of {case.batch}, not alone" if case.batch > 1 else ""
    batch = ", and one request alone" if alone else together
    return f"The smallest lookahead that was seen to fail is {least}{batch} ({_enough(failed):,} tokens each)."


def _enough(failed: CaseRun) -> int:
    return 3 * min(failure.tokens for failure in failed.wrong) // 2 + 100


def _tried(engine: Engine, pair: Pair, failed: CaseRun, settings: tuple[float, int], **changes: Any) -> CaseRun:
    case = replace(failed.case, samples=_enough(failed), **changes)
    run = audit_engine(engine, pair, [case], (settings[0], settings[1] + 1), no_progress)[0]
    if not run.done:
        raise CutOffError("the recorded texts end before the case does")
    return run


def started_again(request: EngineRequest, pair: Pair, failed: CaseRun, settings: tuple[float, int]) -> str:
    """Return sentences on the failure in new processes: whether its texts move, and the least vocabulary that fails."""
    if pair.folder is None or failed.first is None:
        return ""
    said = ""
    requests, answers = failed.first
    if failed.case.seeded:
        with Driver(_command(request, pair.folder), pair.shape.size) as other:
            again = other.ask(requests, failed.case.lookahead)
        moved = any(one.tokens != before.tokens for one, before in zip(again, answers, strict=True))
        said = f"A new process gives {'other' if moved else 'the same'} texts for the same seeds."
    smaller = [size for size in SMALLER if size < pair.shape.size and fit(failed.case.options, size)]
    for size in smaller if request.pair is None else ():
        with TemporaryDirectory() as place:
            small = write(replace(pair.shape, size=size), Path(place))
            with Driver(_command(request, Path(place)), size) as other:
                if _tried(other, small, failed, settings).wrong:
                    return f"{said} A vocabulary of {size} tokens is enough to see it."
    if request.pair is not None or not smaller:
        return said
    return f"{said} Vocabularies of {', '.join(map(str, smaller))} tokens were not seen to fail."


def _command(request: EngineRequest, place: Path) -> list[str]:
    python = request.python or (environment(request.engine or "", request.version) if request.version else "")
    return command_of(request.engine or "", request.url, request.baseline_url, place, (python, request.speculative))


@contextmanager
def opened(request: EngineRequest) -> Generator[tuple[Engine, Pair, EngineRequest]]:
    """Open the engine, its pair, and the request that is answered: of recorded texts, the recorded one.

    Raises:
        ValueError: the engine or the pair is missing.
    """
    with TemporaryDirectory() as temporary:
        if request.engine is not None and request.engine.endswith(".jsonl"):
            recorded = Recorded(Path(request.engine))
            pair = read(Path(request.engine).parent / "pair")
            asked: dict[str, Any] = {**recorded.setting, "options": tuple(recorded.setting["options"])}
            yield recorded, pair, replace(EngineRequest(**asked), record=None)
            return
        if request.engine is None and request.url is None:
            raise ValueError(
                "name the engine, such as transformers or stub, or give the address of a server with --url"
            )
        if request.pair is None and request.url is not None:
            raise ValueError("--url needs --pair, the models that the server runs: spec-math engine pair --out pair")
        kind = request.kind or ("tables" if (request.engine or "").startswith("stub") else "llama")
        shape = PairShape(kind, request.target, request.draft, seed=request.seed)
        place = request.record / "pair" if request.record is not None else Path(temporary) / "pair"
        command = _command(request, place)
        if request.record is not None and (request.record / "texts.jsonl").exists():
            raise ValueError(f"{request.record / 'texts.jsonl'} holds texts already; choose another --out")
        if request.pair is not None and request.pair.resolve() != place.resolve():
            _ = read(request.pair)
            shutil.copytree(request.pair, place, dirs_exist_ok=True)
        pair = write(shape, place) if request.pair is None else read(place)
        with Driver(command, pair.shape.size) as driver:
            if request.record is None:
                yield driver, pair, request
            else:
                setting = {name: value for name, value in asdict(request).items() if name not in ("record", "pair")}
                yield Recorder(driver, request.record / "texts.jsonl", setting), pair, request


@contextmanager
def _kept(request: EngineRequest) -> Generator[None]:
    """Say of a run that ends early where the texts so far are."""
    path = request.record / "texts.jsonl" if request.record is not None else None
    said = f"the texts so far are judged by: spec-math engine {path}"
    try:
        yield
    except KeyboardInterrupt:
        raise KeyboardInterrupt(f"interrupted; {said if path and path.is_file() else 'nothing was written'}") from None
    except ValueError as error:
        if path is not None and path.is_file():
            error.add_note(said)
        raise


def study(request: EngineRequest, progress: Progress) -> Result:
    """Judge an engine, and say what was found; exit code 0 nothing is wrong, 1 something is, 3 too little was seen.

    Raises:
        ValueError, TypeError, OSError: the engine cannot be started or asked, or a setting is wrong.

    >>> study(EngineRequest(), lambda what, steps: lambda done: None)
    Traceback (most recent call last):
    ValueError: name the engine, such as transformers or stub, or give the address of a server with --url
    """
    _ = level(request.alpha), known(options_of(request.options))
    for name, most in (("samples", 10**8), ("batch", 256), ("number", 256), ("lookahead", 64)):
        if name != "lookahead" or request.lookahead:
            _ = limited(count(getattr(request, name), f"--{name}"), f"--{name}", most)
    if request.since is not None or request.until is not None:
        return _over_releases(request, progress)
    with _kept(request), opened(request) as (engine, pair, asked):
        cases = cases_of(asked, engine.about)
        settings = asked.alpha, asked.seed
        unfit = next((case.name for case in cases if not fit(case.options, pair.shape.size)), None)
        if unfit is not None:
            raise ValueError(f"{unfit}: this cannot be applied to {pair.shape.size} tokens, or leaves none")
        runs = audit_engine(engine, pair, cases, settings, progress)
        whole = len(runs) == len(cases) and runs[-1].done
        narrowed = "" if whole else f"The texts end in case {len(runs)} of {len(cases)}, {runs[-1].case.name}. "
        wrong = [run for run in runs if run.wrong]
        already = {run.case.name for run in wrong if run.case.lookahead == 0}
        failed = next((run for run in wrong if run.case.lookahead != 0), None)
        with suppress(CutOffError):
            # The cases without speculation have fewer tokens: too few, perhaps, to see what failed.
            for run in wrong if engine.about.plain and "no options" not in already else ():
                if run.case.lookahead != 0 and run.case.name not in already:
                    runs.append(_tried(engine, pair, run, settings, lookahead=0))
                    already |= {run.case.name} if runs[-1].wrong else set()
            if failed is not None and not already and engine.about.adjustable:
                narrowed += smallest_failing(engine, pair, failed, settings)
        if failed is not None and not already:
            if isinstance(engine, Recorded):
                narrowed += engine.note
            elif asked.url is None:
                again = " " + started_again(asked, pair, failed, settings)
                narrowed += again
                if isinstance(engine, Recorder):
                    engine.keep(again)
        return result_of(engine.about, pair, runs, asked.alpha, narrowed.strip())


def _over_releases(request: EngineRequest, progress: Progress) -> Result:
    """Find the release in which a failure came or went; each is judged as by `study`, in its own environment."""
    versions = released(request.engine or "")
    for given in (request.since, request.until):
        if given is not None and given not in versions:
            raise ValueError(f"{request.engine} has no release {given}; there are {', '.join(versions[-12:])}")
    first = versions.index(request.since) if request.since is not None else 0
    last = versions.index(request.until) if request.until is not None else len(versions) - 1
    said: dict[str, str] = {}

    def fails(version: str) -> bool | None:
        try:
            found = study(replace(request, version=version, since=None, until=None, record=None), progress)
        except ValueError as error:
            said[version] = f"could not be tried: {error}"
            return None
        said[version] = found.finding
        return {0: False, 1: True}.get(found.exit_code)

    return of_releases(request.engine or "", turned(versions[first : last + 1], fails), said)
