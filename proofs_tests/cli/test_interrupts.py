"""Ctrl-C ends every command within two seconds: at work, while it imports, and where something swallows it."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from spec_math.cli import COMMANDS
from spec_math.cli.interrupt import GRACE, INTERRUPTED

if sys.platform == "win32":
    pytest.skip("signals are those of POSIX", allow_module_level=True)

SOON = 2.0
"""Seconds of a processor, which are seconds on the clock where nothing else runs."""

LATE = 60.0
"""Seconds on the clock after which nobody waits any longer."""

# Each is given more work than a minute's; what is done at once is caught while it is imported.
LONG: dict[str, tuple[str, ...]] = {
    "advise": ("--samples", "10000"),
    "frontier": (),
    "record": ("laws", "--target", "big", "--draft", "small", "--text", "letters.json"),
    "lossy": ("--positions", "1000"),
    "compare": ("--positions", "1000000", "--k", "1,2,3,4,5,6,7,8"),
    "blocks": ("--samples", "100000", "--k", "8", "--lookahead", "8"),
    "vocabularies": ("--positions", "1000"),
    "explain": (),
    "engine": ("stub", "--samples", "10000000"),
    "generate": ("--tokens", "1000000"),
    "report": ("--positions", "1000000"),
    "psi": ("hello", "--vocabulary", "letters.json"),
    "overlap": ("letters.json", "letters.json"),
    "audit": ("spec_math.token_level.recursive:verify", "--k", "4", "--budget", "100000000"),
    "trace": (),
    "prove": (),
    "certify": ("--target", ",".join(["1"] * 40), "--draft", ",".join(map(str, range(1, 41))), "--k", "4", "--weights"),
    "check": ("certificate.json",),
    "vectors": ("--out", "vectors"),
}


def start(code: str, *arguments: str, folder: Path) -> subprocess.Popen[str]:
    return subprocess.Popen(
        [sys.executable, "-c", code, *arguments],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        cwd=folder,
        env={**os.environ, "HF_HUB_OFFLINE": "1", "PYTHONPATH": os.pathsep.join(path for path in sys.path if path)},
    )


def processor_seconds(process: int) -> float:
    """What a running process has used of a processor."""
    fields = Path(f"/proc/{process}/stat").read_text(encoding="utf-8").rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def interrupted(process: subprocess.Popen[str]) -> tuple[float, str, str]:
    """Interrupt a process and return the processor seconds that it went on for, what it printed and what it said."""
    try:
        before = spent = processor_seconds(process.pid)
        process.send_signal(signal.SIGINT)
        ends = time.monotonic() + LATE
        while process.poll() is None and time.monotonic() < ends:
            spent = processor_seconds(process.pid)
            time.sleep(0.02)
        # Workers hold the pipes until they have seen that the command is gone: on a busy machine that takes longer.
        return spent - before, *process.communicate(timeout=LATE)
    finally:
        process.kill()


COMMAND = """
import pathlib
from spec_math.cli import main, run

inner = run.interruptible

def noted():
    pathlib.Path("at-work").touch()
    return inner()

run.interruptible = noted
pathlib.Path("loaded").touch()
main()
"""


def waited_for(process: subprocess.Popen[str], place: Path | None) -> None:
    """Wait until a process is at work, or without a place until it imports, or is done; and then a little longer."""
    ends = time.monotonic() + LATE
    while process.poll() is None and time.monotonic() < ends:
        if place.exists() if place is not None else processor_seconds(process.pid) >= 0.1:
            break
        time.sleep(0.02)
    time.sleep(0.1)


def test_every_command_is_given_work() -> None:
    assert set(LONG) == set(COMMANDS)


@pytest.mark.parametrize("at_work", [False, True], ids=["while importing", "at work"])
@pytest.mark.parametrize("name", COMMANDS)
def test_ctrl_c_ends_every_command_within_two_seconds(name: str, at_work: bool, tmp_path: Path) -> None:
    assert (tmp_path / "letters.json").write_text(json.dumps(["a", "b", "ab"]), encoding="utf-8") > 0
    with start(COMMAND, name, *LONG.get(name, ()), folder=tmp_path) as process:
        waited_for(process, tmp_path / "at-work" if at_work else None)
        if process.poll() is not None:
            return  # done before it could be interrupted
        used, printed, said = interrupted(process)
    assert used < SOON, said
    if not (tmp_path / "loaded").exists():
        assert "KeyboardInterrupt" in said  # before the command line is there, Python itself is what is interrupted
    elif process.returncode not in (INTERRUPTED, -signal.SIGINT):
        assert (process.returncode, printed) == undisturbed(name, tmp_path), said  # all of it was done by then
    if at_work:
        assert "Traceback" not in said
    assert not list(tmp_path.rglob(".*")), "what is written in part stays"


def undisturbed(name: str, folder: Path) -> tuple[int, str]:
    """Return the exit code of a command that nobody interrupts, and what it prints."""
    with start(COMMAND, name, *LONG.get(name, ()), folder=folder) as process:
        try:
            printed, _ = process.communicate(timeout=LATE)
        finally:
            process.kill()
    return process.returncode, printed


BREAKING = """
import importlib.abc, os, signal, sys, time

class Breaking(importlib.abc.MetaPathFinder):
    def find_spec(self, name, path, target=None):
        if name == "spec_math.LOADED":
            try:
                os.kill(os.getpid(), signal.SIGINT)
                time.sleep(60)
            except KeyboardInterrupt as error:
                raise RuntimeError("a class could not be made") from error

import spec_math.cli
sys.meta_path.insert(0, Breaking())
MAIN
"""


@pytest.mark.parametrize("loaded", ["cli.frontier", "studies.frontier.study", "render.output"])
def test_an_import_that_breaks_on_an_interrupt_is_that_interrupt(loaded: str, tmp_path: Path) -> None:
    """Python's own exit code for an error, 1, would read as lossy."""
    code = BREAKING.replace("LOADED", loaded)
    with start(code.replace("MAIN", "spec_math.cli.main()"), "frontier", "--samples", "1", folder=tmp_path) as process:
        printed, said = process.communicate(timeout=LATE)
    assert (process.returncode, printed, said) == (INTERRUPTED, "", "interrupted; nothing was written\n")
    # The control: the commands alone, of which each minds its own work and nothing that is loaded before.
    with start(code.replace("MAIN", "spec_math.cli.app()"), "frontier", "--samples", "1", folder=tmp_path) as process:
        printed, said = process.communicate(timeout=LATE)
    assert process.returncode == (INTERRUPTED if loaded == "render.output" else 1)
    assert ("a class could not be made" in said) == (loaded != "render.output")


SWALLOWING = """
import time, sys
GUARD
while True:
    try:
        print("ready", flush=True)
        time.sleep(60)
    except BaseException:
        pass
"""


def test_an_interrupt_that_is_swallowed_ends_the_process_all_the_same(tmp_path: Path) -> None:
    guarded = SWALLOWING.replace("GUARD", "from spec_math.cli.interrupt import guard; guard()")
    with start(guarded, folder=tmp_path) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == "ready\n"
        began = time.monotonic()
        _, _, said = interrupted(process)
        assert process.returncode == INTERRUPTED
        assert said == "interrupted\n"
        assert time.monotonic() - began > GRACE
    # The control: without the guard it goes on.
    with start(SWALLOWING.replace("GUARD", ""), folder=tmp_path) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == "ready\n"
        process.send_signal(signal.SIGINT)
        time.sleep(GRACE + 0.5)
        assert process.poll() is None
        process.kill()
