"""The protocol of engines: requests and answers, drivers as processes that speak JSON lines, and recorded texts.

A driver writes one line when it is ready, {"engine": name, "version": …, …} with the fields of `About`. Then it reads a
line {"requests": [{"prompt": [3], "number": 8, "options": {…}, "seed": 1 or null}, …], "lookahead": k or null} and
writes a line {"answers": [{"tokens": […], "logprobs": […], "accepted": […]}, …]}, again and again. In place of tokens
an answer is {"refused": why} or {"failed": why}; in place of rounds it may tell "counts": [drafted, accepted]. The
requests of a line are decoded as one batch; lookahead 0 is decoding without speculation.
"""

from __future__ import annotations

import json
import queue
import subprocess
import sys
import tempfile
import threading
from collections.abc import Mapping, Sequence
from contextlib import nullcontext, suppress
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import IO, Any, Protocol, cast

from spec_math.engines.options import ORDER, Text
from spec_math.files.whole import write_whole

PATIENCE = 600.0
"""Seconds that an answer may take, the start included."""


@dataclass(frozen=True)
class Request:
    """A request: prompt tokens, the number of tokens wanted, options by name (`options.ORDER`), and a seed or none.

    >>> Request((1, 2), 4).options
    {}
    """

    prompt: Text
    number: int
    options: Mapping[str, Any] = field(default_factory=dict[str, Any])
    seed: int | None = None


@dataclass(frozen=True)
class Answer:
    """An answer: tokens, log-probabilities (nats) and numbers of accepted drafts by round where told; or a refusal.

    `counts` are the drafted and the accepted tokens, where rounds are not told; `failed` says how the engine broke.

    >>> Answer((1,)).refused is None
    True
    """

    tokens: Text = ()
    logprobs: tuple[float, ...] | None = None
    accepted: tuple[int, ...] | None = None
    refused: str | None = None
    counts: tuple[int, int] | None = None
    failed: str | None = None


@dataclass(frozen=True)
class About:
    """An engine's account of itself: what it can be asked.

    `plain`: it can decode without speculation. `adjustable`: the lookahead is set by each call. `batch`: the largest
    number of requests of a call. `seeds`: whether it honours seeds. `logprobs`: "raw" (of the logits), "processed"
    (after the options), "either" where its documents do not say, "" where it returns none. `order` names the options in
    the order in which it applies them, where that is not `options.ORDER`; those that it does not name come last.
    """

    engine: str
    version: str = ""
    plain: bool = True
    adjustable: bool = True
    batch: int = 8
    seeds: bool = True
    logprobs: str = ""
    order: tuple[str, ...] = ()


def about_of(told: Mapping[str, Any]) -> About:
    """Return an engine's account of itself as JSON told it.

    Raises:
        ValueError: it names options that are not known.

    >>> about_of({"engine": "mine", "order": ["top_k", "temperature"]}).order[:2]
    ('top_k', 'temperature')
    """
    order = tuple(told.get("order", ()))
    if set(order) - set(ORDER):
        raise ValueError(f"the engine applies {', '.join(order)}; known options are {', '.join(ORDER)}")
    given: dict[str, Any] = {**told, "order": (*order, *(name for name in ORDER if name not in order)) if order else ()}
    return About(**given)


class Engine(Protocol):
    """An engine that can be asked: its account of itself, and answers to the requests of one batch."""

    about: About

    def ask(self, requests: Sequence[Request], lookahead: int | None) -> list[Answer]:
        """Return the answers, one a request; lookahead 0 is without speculation, None as the engine was started."""
        ...


def answer_of(told: Any, request: Request, size: int) -> Answer:
    """Return an answer as JSON told it, checked against its request and the number of tokens V.

    Raises:
        ValueError: it is no answer to this request; the message says why.

    >>> answer_of({"tokens": [1, 7]}, Request((0,), 2), 4)
    Traceback (most recent call last):
    ValueError: the engine answered token 7; tokens lie in 0..3
    """
    if not isinstance(told, dict):
        raise ValueError(f"the engine answered {str(told)[:80]!r}; an answer is an object with tokens")
    if told.get("refused") is not None:
        return Answer(refused=_shown(told["refused"]))
    given = cast("dict[str, Any]", told)
    if given.get("failed") is not None:
        return Answer(failed=_shown(given["failed"]))
    tokens: Any = given.get("tokens")
    logprobs, accepted, counts = given.get("logprobs"), given.get("accepted"), given.get("counts")
    if not _numbers(tokens, int):
        raise ValueError(f"the engine answered tokens {str(tokens)[:80]}; they are a list of indices")
    wrong = next((token for token in tokens if not 0 <= token < size), None)
    if wrong is not None:
        raise ValueError(f"the engine answered token {wrong}; tokens lie in 0..{size - 1}")
    if len(tokens) > request.number:
        raise ValueError(f"the engine answered {len(tokens)} tokens; {request.number} were asked for")
    if logprobs is not None and not (_numbers(logprobs, (int, float)) and len(logprobs) == len(tokens)):
        raise ValueError(f"the engine answered log-probabilities {str(logprobs)[:80]}; one number a token is expected")
    if accepted is not None and not (_numbers(accepted, int) and min(accepted, default=0) >= 0):
        raise ValueError(f"the engine answered accepted counts {str(accepted)[:80]}; they are a list of whole numbers")
    if counts is not None and not (_numbers(counts, int) and len(counts) == 2 and 0 <= counts[1] <= counts[0]):
        raise ValueError(f"the engine answered counts {str(counts)[:80]}; they are [drafted, accepted]")
    beside = None if logprobs is None else tuple(map(float, logprobs)), None if accepted is None else tuple(accepted)
    return Answer(tuple(tokens), *beside, counts=None if counts is None else (counts[0], counts[1]))


def _numbers(told: Any, kind: Any) -> bool:
    if not isinstance(told, list) or not all(isinstance(one, kind) and not isinstance(one, bool) for one in told):
        return False
    return all(isinstance(one, float) or one.bit_length() < 64 for one in told)


def _shown(said: Any) -> str:
    """Return what an engine says without what terminals and XML cannot show."""
    return "".join(one if one.isprintable() else " " for one in str(said))


class Driver:
    """An engine behind a driver: a process that speaks the lines of this module. Use it in a with statement.

    Raises:
        ValueError: the process ends, is silent for `patience` seconds, or answers nonsense; with what it wrote last.
    """

    def __init__(self, command: Sequence[str], size: int, patience: float = PATIENCE) -> None:
        self._command, self._size, self._patience = list(command), size, patience
        self._errors: IO[str] = tempfile.TemporaryFile("w+", encoding="utf-8", errors="replace")  # noqa: SIM115
        self._process = subprocess.Popen(
            self._command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=self._errors, text=True
        )
        self._lines: queue.Queue[str | None] = queue.Queue()
        threading.Thread(target=self._read, daemon=True).start()
        try:
            told = self._next()
            names = {name: told[name] for name in About.__dataclass_fields__ if name in told}
            self.about = about_of(names)
        except (ValueError, TypeError):
            self.end()
            raise

    def __enter__(self) -> Driver:
        return self

    def __exit__(self, *_: object) -> None:
        self.end()

    def ask(self, requests: Sequence[Request], lookahead: int | None) -> list[Answer]:
        """Return the answers to one batch."""
        line = json.dumps({"requests": [asdict(request) for request in requests], "lookahead": lookahead})
        stdin = self._process.stdin
        try:
            if stdin is not None:
                stdin.write(line + "\n")
                stdin.flush()
        except OSError:
            raise ValueError(self._complaint("the driver ended")) from None
        told = self._next().get("answers")
        if not isinstance(told, list) or len(told) != len(requests):
            raise ValueError(self._complaint(f"the driver did not answer {len(requests)} requests"))
        return [answer_of(one, request, self._size) for one, request in zip(told, requests, strict=True)]

    def end(self) -> None:
        """End the process."""
        self._process.terminate()
        try:
            self._process.wait(10)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()
        for pipe in (self._process.stdin, self._process.stdout, self._errors):
            with suppress(OSError), pipe or nullcontext():
                continue

    def _read(self) -> None:
        stdout = self._process.stdout
        try:
            for line in stdout or ():
                self._lines.put(line)
        except (OSError, ValueError):
            pass
        self._lines.put(None)

    def _next(self) -> dict[str, Any]:
        try:
            line = self._lines.get(timeout=self._patience)
        except queue.Empty:
            raise ValueError(self._complaint(f"the driver was silent for {self._patience:g} seconds")) from None
        if line is None:
            raise ValueError(self._complaint("the driver ended"))
        told = None
        with suppress(ValueError, RecursionError):
            told = json.loads(line)
        if not isinstance(told, dict):
            raise ValueError(self._complaint(f"the driver wrote {line[:80]!r}, which is no JSON object"))
        if "error" in told:
            raise ValueError(_shown(told["error"]))
        return told

    def _complaint(self, what: str) -> str:
        """Say what went wrong, with the last lines of the process's errors."""
        self._errors.flush()
        self._errors.seek(0)
        last = " | ".join(self._errors.read().strip().splitlines()[-3:])
        return f"{what}: {' '.join(self._command[:4])}" + (f"; it wrote: {last[-400:]}" if last else "")


HERE = Path(__file__).parent


def command_of(
    engine: str, url: str | None, baseline_url: str | None, pair: Path, started: tuple[str, str | None] = ("", None)
) -> list[str]:
    """Return the command of an engine's driver: of this library by name, or your own file.

    `started` are the Python that runs the driver, where it is another one, and what the engine is told of speculation.

    Raises:
        ValueError: there is no such driver.

    >>> command_of("stub", None, None, Path("pair"))[1:]
    ['-m', 'spec_math.engines.stub', 'pair']
    """
    own = {path.stem for path in (HERE / "drivers").glob("[a-z]*.py")} - {"openai"}
    python, told = started[0] or sys.executable, [] if started[1] is None else [started[1]]
    if url is not None:
        plain = [baseline_url] if baseline_url else []
        return [sys.executable, str(HERE / "drivers" / "openai.py"), str(pair), url, *plain]
    if engine == "stub" or engine.startswith("stub:"):
        return [sys.executable, "-m", "spec_math.engines.stub", str(pair), *engine.split(":")[1:]]
    if engine in own:
        return [python, str(HERE / "drivers" / f"{engine}.py"), str(pair), *told]
    if Path(engine).is_file():
        return [python, engine, str(pair), *told]
    raise ValueError(f"there is no engine {engine!r}: {', '.join(sorted(own))}, stub, a driver's file, or --url")


class Recorder:
    """An engine whose requests and answers are written to a file, a JSON line a call, as they come.

    The first line holds `setting`, from which the test can be repeated.
    """

    def __init__(self, engine: Engine, path: Path, setting: Mapping[str, Any]) -> None:
        self.about, self._engine, self._path = engine.about, engine, path
        path.parent.mkdir(parents=True, exist_ok=True)
        _ = write_whole(path, json.dumps({"setting": dict(setting), "about": asdict(engine.about)}) + "\n")

    def ask(self, requests: Sequence[Request], lookahead: int | None) -> list[Answer]:
        """Return the engine's answers, once they are written."""
        answers = self._engine.ask(requests, lookahead)
        call = {"requests": [asdict(one) for one in requests], "lookahead": lookahead}
        self._write({**call, "answers": [asdict(one) for one in answers]})
        return answers

    def keep(self, note: str) -> None:
        """Write a sentence on what was seen beside these texts."""
        self._write({"note": note})

    def _write(self, told: Mapping[str, Any]) -> None:
        with self._path.open("a", encoding="utf-8") as file:
            file.write(json.dumps(told) + "\n")


class CutOffError(ValueError):
    """Recorded texts end before the test does."""


class Recorded:
    """An engine's recorded texts in place of the engine: the same requests, in their order, get the same answers.

    `note` says what else was seen.

    Raises:
        ValueError: the file holds no recorded texts, or something else is asked than was recorded.
    """

    def __init__(self, path: Path) -> None:
        self._calls: list[Any] = []
        try:
            with path.open(encoding="utf-8") as file:
                # A process that was ended leaves half a line.
                head, *self._calls = (json.loads(line) for line in file if line.endswith("\n"))
            self.setting: dict[str, Any] = head["setting"]
            self.about = about_of(head["about"])
            self.note = self._calls.pop()["note"] if self._calls and "note" in self._calls[-1] else ""
        except (ValueError, KeyError, TypeError) as error:
            raise ValueError(f"{path} holds no recorded texts of an engine ({error})") from None
        self._path, self._at = path, 0

    def ask(self, requests: Sequence[Request], lookahead: int | None) -> list[Answer]:
        """Return the recorded answers."""
        if self._at == len(self._calls):
            raise CutOffError(f"{self._path} ends after {self._at} calls; the recorded run was cut off there")
        call = self._calls[self._at]
        asked = json.loads(json.dumps({"requests": [asdict(one) for one in requests], "lookahead": lookahead}))
        if {"requests": call["requests"], "lookahead": call["lookahead"]} != asked:
            raise ValueError(f"{self._path}: call {self._at} is another one; repeat with the recorded seed and options")
        self._at += 1
        size = 1 + max((token for one in call["answers"] for token in one["tokens"]), default=0)
        return [answer_of(one, request, size) for one, request in zip(call["answers"], requests, strict=True)]
