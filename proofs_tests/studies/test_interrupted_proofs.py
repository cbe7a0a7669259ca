"""Ctrl-C ends `spec-math prove`, and no worker lives on: while proofs run, and while modules are imported."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import closing, suppress
from pathlib import Path
from threading import Timer
from threading import enumerate as threads

import pytest

from spec_math.studies import workers as pool
from spec_math.symbolic import polynomial
from spec_math.symbolic.polynomial import Ring
from spec_math.symbolic.solver import Solver

pytest.importorskip("z3")

if sys.platform == "win32":
    pytest.skip("signals are those of POSIX", allow_module_level=True)

SOON = 10.0
"""Seconds within which a command ends: two on an idle machine."""
START = 120.0
"""Seconds within which it is under way."""

MODULE = """
import multiprocessing, os, pathlib, time

HERE = pathlib.Path(__file__).parent

def met(place):
    (HERE / f"{place}-{os.getpid()}").touch()

if SLOW_IN_MAIN and multiprocessing.parent_process() is None:
    met("importing")
    time.sleep(600)
if SLOW_IN_WORKERS and multiprocessing.parent_process() is not None:
    met("importing")
    time.sleep(600)

def endless(coin, tokens, target, draft):
    met("proving")
    while True:
        if coin.flip(target[0] * draft[0] + target[0]):
            return 0
"""


def met(folder: Path, place: str, how_many: int) -> list[int]:
    """Wait until so many processes have met a place, and return them."""
    ends = time.monotonic() + START
    while time.monotonic() < ends:
        found = [int(path.name.split("-")[1]) for path in folder.glob(f"{place}-*")]
        if len(found) >= how_many:
            return found
        time.sleep(0.05)
    raise AssertionError(f"{how_many} processes should have met {place}; {list(folder.iterdir())}")


def alive(process: int) -> bool:
    """Whether a process runs; one that has ended and was not fetched does not."""
    try:
        return Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()[0] not in "ZX"
    except OSError:
        return False


@pytest.fixture
def started(tmp_path: Path) -> Iterator[Callable[..., subprocess.Popen[str]]]:
    """Start the command on a verifier that never ends, in a group of processes of its own."""
    running: list[subprocess.Popen[str]] = []

    def start(*arguments: str, slow_in_main: bool = False, slow_in_workers: bool = False) -> subprocess.Popen[str]:
        code = MODULE.replace("SLOW_IN_MAIN", str(slow_in_main)).replace("SLOW_IN_WORKERS", str(slow_in_workers))
        (tmp_path / "mine.py").write_text(code, encoding="utf-8")
        command = [sys.executable, "-c", "from spec_math.cli import main; main()", "prove", "--scheme", "mine:endless"]
        place = os.pathsep.join([str(tmp_path), *sys.path])
        running.append(
            subprocess.Popen(
                [*command, *arguments],
                env={**os.environ, "PYTHONPATH": place},
                cwd=tmp_path,
                stdout=subprocess.PIPE,
                stderr=subprocess.PIPE,
                text=True,
                start_new_session=True,
            )
        )
        return running[0]

    yield start
    for process in running:
        with suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)
        process.communicate()


def assert_ended(command: subprocess.Popen[str], workers: list[int], send: Callable[[int, int], None]) -> None:
    """Send Ctrl-C: the command says so and leaves with 130, and its workers are gone soon after."""
    sent = time.monotonic()
    send(command.pid, signal.SIGINT)
    _, complaints = command.communicate(timeout=SOON)
    while any(map(alive, workers)) and time.monotonic() - sent < SOON:
        time.sleep(0.02)
    assert [worker for worker in workers if alive(worker)] == []
    assert command.returncode == 130, complaints
    assert "interrupted" in complaints
    assert "Traceback" not in complaints


@pytest.mark.parametrize(
    ("arguments", "send"),
    [(("--k", "1", "--tokens", "2,3"), os.kill), (("--tokens", "2,3"), os.killpg)],
    ids=["asked, to the command", "unasked, to all its processes"],
)
def test_an_interrupt_ends_proofs_that_run_side_by_side(
    started: Callable[..., subprocess.Popen[str]], tmp_path: Path, send: Callable[[int, int], None], arguments: object
) -> None:
    command = started(*arguments)  # type: ignore[misc]
    proofs = met(tmp_path, "proving", 2)
    assert command.pid not in proofs
    assert_ended(command, proofs, send)


@pytest.mark.parametrize("send", [os.kill, os.killpg], ids=["to the command", "to all its processes"])
def test_an_interrupt_ends_workers_that_import(
    started: Callable[..., subprocess.Popen[str]], tmp_path: Path, send: Callable[[int, int], None]
) -> None:
    command = started("--k", "1", "--tokens", "2,3", slow_in_workers=True)
    assert_ended(command, met(tmp_path, "importing", 2), send)


def test_an_interrupt_ends_a_command_that_imports(
    started: Callable[..., subprocess.Popen[str]], tmp_path: Path
) -> None:
    command = started("--tokens", "2", slow_in_main=True)
    assert_ended(command, met(tmp_path, "importing", 1), os.kill)


def test_an_interrupt_ends_a_proof_that_has_no_worker(
    started: Callable[..., subprocess.Popen[str]], tmp_path: Path
) -> None:
    command = started("--tokens", "2", "--jobs", "1")
    assert met(tmp_path, "proving", 1) == [command.pid]
    assert_ended(command, [command.pid], os.kill)


def test_workers_end_with_a_command_that_is_killed(
    started: Callable[..., subprocess.Popen[str]], tmp_path: Path
) -> None:
    command = started("--tokens", "2,3")
    proofs = met(tmp_path, "proving", 2)
    command.kill()
    command.wait(SOON)
    ends = time.monotonic() + SOON
    while any(map(alive, proofs)) and time.monotonic() < ends:
        time.sleep(0.02)
    assert [worker for worker in proofs if alive(worker)] == []


def test_an_interrupt_that_z3_takes_for_itself_is_an_interrupt() -> None:
    """While z3 looks for an answer it catches the signal, answers "unknown", and Python has seen nothing."""
    ring = Ring(["x", "y", "z", "w"])
    x, y, z, w = ring.variables
    hard = [
        (
            ring.plus(ring.times(ring.power(a, 5), b), ring.plus(ring.times(ring.power(c, 7), d), ring.number(-n))),
            polynomial.ZERO,
        )
        for a, b, c, d, n in ((x, y, z, w, 12345), (y, w, x, z, 33), (w, x, y, z, 7))
    ]
    timer = Timer(0.5, lambda: os.kill(os.getpid(), signal.SIGINT))
    timer.start()
    begun = time.monotonic()
    with pytest.raises(KeyboardInterrupt):
        while time.monotonic() - begun < START:
            Solver(ring).ask(hard, patience=10**9)
    assert time.monotonic() - begun < SOON
    timer.join()


def test_a_pool_that_is_left_early_leaves_no_thread_of_its_own(monkeypatch: pytest.MonkeyPatch) -> None:
    # Such a thread closes a pipe that Python's exit writes to: when both come at once, a traceback is printed.
    monkeypatch.setattr(pool, "LONGEST_WAIT", START)
    before = set(threads())
    with closing(pool.side_by_side(time.sleep, [0.0, 600.0, 600.0], 2)) as items:
        assert next(items) == (0.0, None)
    assert set(threads()) <= before
