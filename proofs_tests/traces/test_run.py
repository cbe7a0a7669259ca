"""Many shards: the same evidence whatever comes first, fails, is killed or was done before; each loss is named."""

import builtins
import json
import os
import signal
import subprocess
import sys
import threading
import time
from concurrent.futures import Future, ThreadPoolExecutor
from pathlib import Path

import numpy as np
import pytest

from proofs_tests.render.read_results import from_json
from spec_math.traces import TraceError, metadata, write_shard
from spec_math.traces import run as running
from spec_math.traces.recorder import Engine, by_position, record
from spec_math.traces.run import TRIES, Store, audit_shards, cluster, find_shards
from spec_math.traces.shard_audit import audit_shard

LOOKAHEAD = 3
ROOT = Path(__file__).parents[3]


def wrong(coin, token, target, draft):
    accepted = coin.flip(min(1.0, target[token] / draft[token]))
    return (token, True) if accepted else (coin.draw(target), False)


def write(folder, shards, rows=150, size=40):
    rng = np.random.default_rng(0)
    laws = rng.dirichlet(np.full(size, 0.3), size=4)
    engine = Engine(lambda p: laws[len(p) % 2], lambda p: laws[2 + len(p) % 2], by_position(wrong), LOOKAHEAD)
    return [
        write_shard(folder / f"{number:03}.safetensors", record(engine, 1, rows, rng), LOOKAHEAD)
        for number in range(shards)
    ]


@pytest.fixture
def shards(tmp_path):
    return write(tmp_path, 6)


def evidence(summary):
    """Everything that a run says, to be compared bit by bit."""
    tables = [summary.by_depth, summary.by_place, summary.by_entropy, summary.by_repetition]
    curves = [summary.emitted.curve, summary.drafted.log, summary.accepted.log]
    return json.dumps([summary.counts, summary.emitted.log, *curves, *(table.tolist() for table in tables)])


def audited(shards, executor=None, **options):
    if executor is not None:
        return audit_shards(shards, executor, **options)
    with ThreadPoolExecutor(2) as own:
        return audit_shards(shards, own, **options)


class Backwards:
    """An executor that does the last task first, when it is asked for the first result."""

    def __init__(self):
        self.held = []

    def submit(self, work, *arguments):
        future = Future()
        self.held.append((future, work, arguments))
        if len(self.held) == 6:
            for task, do, given in reversed(self.held):
                task.set_result(do(*given))
        return future


def test_evidence_does_not_depend_on_what_comes_first(shards):
    wanted = evidence(audited(shards))
    assert evidence(audited(shards, Backwards())) == wanted
    with ThreadPoolExecutor(1) as one:
        assert evidence(audited(shards, one)) == wanted


def test_what_is_kept_is_not_computed_again(shards, tmp_path, monkeypatch):
    wanted = evidence(audited(shards))
    store = Store(tmp_path / "kept", 1e-5)
    audited(shards[:4], store=store)
    asked = []
    monkeypatch.setattr(running, "audit_shard", lambda shard, *how: asked.append(shard) or audit_shard(shard, *how))
    assert evidence(audited(shards, store=store)) == wanted
    assert sorted(asked) == shards[4:]
    assert evidence(audited(shards, store=store)) == wanted
    assert len(asked) == 2
    # Another tolerance is another question, and a shard that has changed is another shard.
    audited(shards[:1], store=Store(tmp_path / "kept", 0.1), tolerance=0.1)
    os.utime(shards[1], ns=(1, 1))
    audited(shards[:2], store=store)
    assert len(asked) == 4


def test_a_broken_kept_result_is_computed_again(shards, tmp_path):
    wanted = evidence(audited(shards))
    store = Store(tmp_path / "kept", 1e-5)
    audited(shards, store=store)
    kept = sorted((tmp_path / "kept").iterdir())
    kept[0].write_bytes(b"")
    kept[1].write_bytes(kept[1].read_bytes()[:500])
    kept[2].unlink()
    assert evidence(audited(shards, store=store)) == wanted


def test_broken_shards_are_named_and_left_out_and_the_rest_is_as_without_them(shards):
    wanted = evidence(audited([shards[place] for place in (0, 2, 5)]))
    shards[1].write_bytes(shards[1].read_bytes()[:-1_000])
    content = shards[3].read_bytes()
    shards[3].write_bytes(content.replace(b'"version":"1"', b'"version":"9"'))
    shards[4].write_bytes(b"nothing of the kind")
    heard = []

    def done(shard, result, reason):
        if result is None:
            heard.append((shard.name, reason))

    summary = audited(shards, done=done)
    assert evidence(summary) == wanted
    assert [name for name, _ in summary.skipped] == ["001.safetensors", "003.safetensors", "004.safetensors"]
    reasons = dict(summary.skipped)
    assert "truncated" in reasons["001.safetensors"]
    assert "another schema: version '9'" in reasons["003.safetensors"]
    assert "truncated or no safetensors file" in reasons["004.safetensors"]
    assert sorted(heard) == sorted(reasons.items())


def test_nothing_left_is_an_error_that_says_why(shards):
    for shard in shards:
        shard.write_bytes(b"")
    with pytest.raises(TraceError, match=r"no shard could be audited: .*000\.safetensors: truncated"):
        audited(shards)


def test_a_reading_error_is_tried_again_and_then_named(shards, monkeypatch):
    wanted = evidence(audited(shards))
    failures = {shards[2]: TRIES - 1, shards[4]: TRIES - 1}
    lock = threading.Lock()

    def flaky(shard, *how):
        with lock:
            failures[shard] = failures.get(shard, 0) - 1
        if failures[shard] >= 0:
            raise OSError("the network is away")
        return audit_shard(shard, *how)

    monkeypatch.setattr(running, "audit_shard", flaky)
    assert evidence(audited(shards)) == wanted
    failures[shards[2]] = TRIES
    summary = audited(shards)
    assert summary.skipped == (("002.safetensors", f"OSError: the network is away (tried {TRIES} times)"),)


def test_a_broken_shard_is_not_tried_twice(shards, monkeypatch):
    asked = []
    monkeypatch.setattr(running, "audit_shard", lambda shard, *how: asked.append(shard) or audit_shard(shard, *how))
    shards[0].write_bytes(b"")
    audited(shards)
    assert asked.count(shards[0]) == 1


def test_folders_are_searched_and_shards_counted_once(shards, tmp_path):
    (tmp_path / "notes.txt").write_text("no shard")
    (tmp_path / ".007.safetensors.partial").write_text("half a shard")
    assert find_shards([tmp_path, shards[3]]) == shards
    (tmp_path / "none").mkdir()
    with pytest.raises(TraceError, match="no shards there"):
        find_shards([tmp_path / "none"])


def command(shards, out, *options):
    arguments = ["trace", *map(str, shards), "--out", str(out), "--workers", "1", *options]
    code = "import sys; from spec_math.cli import main; sys.argv[0] = 'spec-math'; main()"
    return [sys.executable, "-c", code, *arguments]


def test_killed_in_the_middle_and_continued_it_gives_the_same_evidence(tmp_path):
    """Two processes, each a few seconds of imports: what is killed must be a real process."""
    shards = write(tmp_path, 40, rows=60)
    out = tmp_path / "out"
    process = subprocess.Popen(command(shards, out), stdout=subprocess.DEVNULL, cwd=ROOT)
    kept = out / "shards"
    while process.poll() is None and len(list(kept.glob("*.npz") if kept.is_dir() else [])) < 3:
        time.sleep(0.002)
    process.send_signal(signal.SIGKILL)
    assert process.wait(timeout=60) == -signal.SIGKILL
    done = len(list(kept.glob("*.npz")))
    assert 3 <= done < 40, f"{done} of 40 shards were done before the signal came"
    assert not (out / "trace.json").exists()
    again = subprocess.run(command(shards, out), capture_output=True, text=True, cwd=ROOT)
    assert again.returncode == 1, again.stderr
    with ThreadPoolExecutor(1) as executor:
        whole = audit_shards(shards, executor)
    told = from_json((out / "trace.json").read_text(encoding="utf-8"))
    claim = told.table("claims").records()[0]
    assert claim["claim"] == "emitted tokens have the target's distribution"
    assert claim["log evidence"] == whole.emitted.log
    assert claim["highest log evidence"] == whole.emitted.highest
    assert claim["refuted"]


@pytest.fixture
def distributed():
    """Dask without the thread that it keeps for another cluster: beside a thread, audits look for what it may draw."""
    found = pytest.importorskip("distributed", reason="clusters need dask and distributed, the extra `traces`")
    before = set(threading.enumerate())
    yield found
    found.utils._offload_executor.shutdown()
    found.utils._offload_executor = ThreadPoolExecutor(max_workers=1)
    for thread in set(threading.enumerate()) - before:  # a worker that was started anew may still be ending
        thread.join(20)
    assert set(threading.enumerate()) <= before


def test_a_worker_killed_at_work_costs_its_shard_again_and_nothing_else(distributed, tmp_path, monkeypatch):
    """A real Dask cluster of two processes, one killed with a shard in hand: starting them takes seconds."""
    shards = write(tmp_path, 8)
    wanted = evidence(audited(shards))
    diary = tmp_path / "diary"
    diary.mkdir()

    def deadly(shard, *how):
        (diary / f"{shard.name}-{len(list(diary.glob(f'{shard.name}-*')))}").touch()
        if shard.name == "003.safetensors" and not (diary / "killed").exists():
            (diary / "killed").touch()
            os.kill(os.getpid(), signal.SIGKILL)
        return audit_shard(shard, *how)

    monkeypatch.setattr(running, "audit_shard", deadly)
    with (
        distributed.LocalCluster(n_workers=2, threads_per_worker=1, dashboard_address=":0") as local,
        cluster(local.scheduler_address) as executor,
    ):
        summary = audited(shards, executor)
    assert (diary / "killed").exists()
    assert len(list(diary.glob("003.safetensors-*"))) == 2
    assert summary.skipped == ()
    assert evidence(summary) == wanted


def test_results_of_very_many_shards_are_small_and_say_the_same(shards, monkeypatch):
    whole = audited(shards)
    monkeypatch.setattr(running, "MANY", 3)
    summary = audited(shards)
    assert len(summary.emitted.curve) == len(shards) + 1
    # Sums of 900 logs of at most 100 nats, put together in another order.
    assert abs(summary.emitted.log - whole.emitted.log) <= 1e-9
    assert len(audit_shard(shards[0], checks=1).to_bytes()) < 16_000


@pytest.mark.parametrize(("missing", "work"), [("distributed", "cluster"), ("pyarrow", "parquet")])
def test_what_is_not_installed_is_named_with_its_extra(tmp_path, monkeypatch, missing, work):
    imported = builtins.__import__

    def without(name, *arguments, **options):
        if name.partition(".")[0] == missing:
            raise ImportError(name)
        return imported(name, *arguments, **options)

    monkeypatch.setattr(builtins, "__import__", without)
    (tmp_path / "a.parquet").write_bytes(b"PAR1")
    with pytest.raises((ModuleNotFoundError, TraceError), match=r"pip install 'spec_math\[traces\]'"):
        if work == "cluster":
            with cluster("tcp://127.0.0.1:8786"):
                pass
        else:
            audited([tmp_path / "a.parquet"])


def test_metadata_is_text():
    assert all(isinstance(value, str) for value in metadata(4).values())
