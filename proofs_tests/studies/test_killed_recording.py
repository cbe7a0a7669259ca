"""A recording that is killed goes on from what it had written, and progress bars reach their ends, recording or not."""

from __future__ import annotations

import signal
import subprocess
import sys
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from proofs_tests.studies.live_models import ASKED, Live, pair, quiet, short_blocks
from spec_math.render.data import as_json
from spec_math.studies.frontier.study import recorded


@pytest.fixture(scope="module", autouse=True)
def _short() -> Iterator[None]:
    with short_blocks():
        yield


KILLED = """
import os, signal, sys
from pathlib import Path
from proofs_tests.studies import live_models
from spec_math.studies.frontier.study import recorded as study
from spec_math.language import recorded

class Killed(live_models.Live):
    def __call__(self, prefixes):
        if self.asked + len(prefixes) > 20:
            os.kill(os.getpid(), signal.SIGKILL)
        return super().__call__(prefixes)

recorded.SHARD, recorded.SECONDS = int(sys.argv[2]), float(sys.argv[3])
live_models.Live = Killed
with live_models.short_blocks():
    study(Path(sys.argv[1]), live_models.pair(), live_models.ASKED, live_models.quiet)
"""


def killed(folder: Path, shard: int, seconds: float) -> int:
    """Record in a process that the system kills in the middle: nothing of it runs any more, not even `finally`."""
    command = [sys.executable, "-c", KILLED, str(folder), str(shard), str(seconds)]
    return subprocess.run(command, check=False, timeout=300).returncode


@pytest.mark.parametrize(("shard", "seconds", "kept"), [(4, 1e9, True), (512, 0.0, True), (512, 1e9, False)])
def test_a_killed_recording_goes_on_from_what_it_had_written(
    tmp_path: Path, shard: int, seconds: float, kept: bool
) -> None:
    """Written after 4 laws, or as soon as any time has passed, most of 20 are there.

    The control: with shards of 512 and no time that passes none are, and all are asked anew.
    """
    assert killed(tmp_path / "killed", shard, seconds) == -signal.SIGKILL
    went_on, fresh = pair(), pair()
    whole = recorded(tmp_path / "fresh", fresh, ASKED, quiet)
    after = recorded(tmp_path / "killed", went_on, ASKED, quiet)
    assert as_json(after).replace(str(tmp_path / "killed"), "") == as_json(whole).replace(str(tmp_path / "fresh"), "")
    assert isinstance(went_on.target, Live)
    assert isinstance(fresh.target, Live)
    assert (0 < went_on.target.asked < fresh.target.asked) == kept
    assert [path for path in (tmp_path / "killed").iterdir() if path.suffix not in (".npz", ".json")] == []


def test_every_progress_bar_of_a_recording_reaches_its_end(tmp_path: Path) -> None:
    wanted: Counter[str] = Counter()
    done: Counter[str] = Counter()

    def counted(what: str, steps: int) -> Callable[[int], None]:
        wanted[what] += steps

        def more(number: int) -> None:
            done[what] += number

        return more

    _ = recorded(tmp_path, pair(), ASKED, counted)
    assert done == wanted
    assert sum(wanted.values()) > 0
    assert all("temperature" in what for what in wanted)
