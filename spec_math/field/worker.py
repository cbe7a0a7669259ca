"""A process of its own that judges one engine without a network, and writes what it found."""

from __future__ import annotations

import json
import subprocess
import sys
from dataclasses import replace
from pathlib import Path
from secrets import token_hex
from threading import Event, Timer
from typing import Any

from spec_math.field.catalogue import ENGINES
from spec_math.field.engine import Edit, Engine
from spec_math.field.judging import Found, Told, judged_engine
from spec_math.field.source_file import EngineError

SECONDS = 900
"""A quarter of an hour."""

CANNOT = "cannot be judged"
"""The key of an answer that is a reason alone: a source is not where it was said to be, an import is missing, or a
change does not fit the source."""

WORKER = (sys.executable, "-m", "spec_math.field.worker")
"""How the process is started; what is asked follows."""


class WorkerError(RuntimeError):
    """The process of an engine ended without an answer."""


def judged_apart(engine: Engine, root: Path, told: Told = lambda _: None, edits: tuple[Edit, ...] = ()) -> Found:
    """Judge an engine in a process of its own, which opens no connection; `edits` change its source first.

    Raises:
        WorkerError: the process failed, or took more than a quarter of an hour, or what the engine needs is not there.
    """
    # The engine's own code may write whatever it likes: its answer is the line that bears a mark made for this run.
    mark = token_hex(16)
    asked = {"name": engine.name, "root": str(root), "edits": [list(edit) for edit in edits], "mark": mark}
    late = Event()
    with subprocess.Popen([*WORKER, json.dumps(asked)], stdout=subprocess.PIPE, text=True) as process:

        def stop() -> None:
            late.set()
            process.kill()

        # A process that hangs says nothing: the time runs beside the reading of what it says.
        timer = Timer(SECONDS, stop)
        timer.start()
        found: Any = None
        try:
            for line in process.stdout or ():
                if line.startswith(mark):
                    found = json.loads(line.removeprefix(mark))
                else:
                    told(line.strip())
            code = process.wait()
        finally:
            timer.cancel()
    if late.is_set():
        raise WorkerError(f"the process of {engine.name} was stopped after {SECONDS:g} s without an answer")
    if code or found is None:
        raise WorkerError(f"the process of {engine.name} ended with {code} and no answer")
    if CANNOT in found:
        raise WorkerError(f"{engine.name} cannot be judged here: {found[CANNOT]}")
    return found


def _refuse(event: str, _arguments: tuple[Any, ...]) -> None:
    if event in ("socket.connect", "socket.bind", "socket.getaddrinfo", "socket.sendto", "socket.gethostbyname"):
        raise OSError(f"an engine is judged without a network; {event} was asked for")


def main() -> None:
    """Judge what the command line asks for, and write the answer as one line of JSON behind its mark."""
    asked = json.loads(sys.argv[1])
    engine = next(one for one in ENGINES if one.name == asked["name"])
    edits = tuple(Edit(*edit) for edit in asked["edits"])
    if edits:
        engine = replace(engine, edits=edits, defects=())
    sys.addaudithook(_refuse)
    try:
        found = judged_engine(engine, Path(asked["root"]), lambda said: print(said, flush=True))  # noqa: T201
    except (EngineError, ImportError, ValueError) as error:
        found = {CANNOT: str(error)}
    print(asked["mark"] + json.dumps(found), flush=True)  # noqa: T201


if __name__ == "__main__":
    main()
