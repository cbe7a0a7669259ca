"""Shards as files: what is written is read, in every type; what is broken is named with its reason and cure."""

import json
import struct

import ml_dtypes
import numpy as np
import pytest
from safetensors.numpy import save_file

from spec_math.traces import TraceError, audit_shard, metadata, open_shard, write_shard
from spec_math.traces.recorder import Engine, by_position, record
from spec_math.traces.schema import INTEGERS, SCHEMA
from spec_math.traces.shard_file import chunk_rows

SIZE, LOOKAHEAD = 300, 3


@pytest.fixture(scope="module")
def columns():
    rng = np.random.default_rng(0)
    laws = rng.dirichlet(np.full(SIZE, 0.1), size=6)
    near = 0.8 * laws + 0.2 * rng.dirichlet(np.full(SIZE, 0.1), size=6)
    engine = Engine(lambda p: laws[len(p) % 6], lambda p: near[len(p) % 6], by_position(), LOOKAHEAD)
    return record(engine, 2, 120, rng)


def cast(columns, dtype):
    return {name: c.astype(dtype) if name.endswith("logits") else c for name, c in columns.items()}


@pytest.mark.parametrize("ending", ["safetensors", "parquet"])
@pytest.mark.parametrize("dtype", [np.float16, ml_dtypes.bfloat16, np.float32, np.float64])
def test_what_is_written_is_read(columns, tmp_path, ending, dtype):
    if ending == "parquet":
        pytest.importorskip("pyarrow", reason="Parquet shards need pyarrow, the extra `traces`")
    stored = cast(columns, dtype)
    path = tmp_path / f"a.{ending}"
    write_shard(path, stored, LOOKAHEAD)
    shard = open_shard(path)
    assert (shard.header.rows, shard.header.size) == columns["target_logits"].shape
    for name in INTEGERS:
        assert (shard.ids[name] == columns[name]).all()
    read = [(t.copy(), d.copy()) for t, d in shard.chunks()]
    for place, name in enumerate(("target_logits", "draft_logits")):
        whole = np.concatenate([part[place] for part in read])
        wanted = stored[name].astype(np.float64)
        if dtype is np.float64:
            wanted = wanted - wanted.max(axis=1, keepdims=True)
        # Everything up to float32 is held exactly; float64 is rounded once.
        assert (whole == wanted.astype(np.float32)).all()


def test_parquet_lists_that_others_wrote_are_read(columns, tmp_path):
    pyarrow = pytest.importorskip("pyarrow", reason="Parquet shards need pyarrow, the extra `traces`")
    parquet = pytest.importorskip("pyarrow.parquet")
    lists = {
        name: pyarrow.array(c) if c.ndim == 1 else pyarrow.FixedSizeListArray.from_arrays(c.reshape(-1), c.shape[1])
        for name, c in columns.items()
    }
    path = tmp_path / "a.parquet"
    parquet.write_table(pyarrow.table(lists).replace_schema_metadata(metadata(LOOKAHEAD)), path)
    found, wanted = audit_shard(path), audit_shard(write_shard(tmp_path / "b.parquet", columns, LOOKAHEAD))
    assert (found.emitted == wanted.emitted).all()
    holes = lists | {
        "target_logits": pyarrow.array([None] * len(columns["depth"]), pyarrow.list_(pyarrow.float32(), SIZE))
    }
    parquet.write_table(pyarrow.table(holes).replace_schema_metadata(metadata(LOOKAHEAD)), path)
    with pytest.raises(TraceError, match="a row of logits is empty"):
        audit_shard(path)


def test_both_kinds_of_files_give_the_same_evidence(columns, tmp_path):
    pytest.importorskip("pyarrow", reason="Parquet shards need pyarrow, the extra `traces`")
    results = [
        audit_shard(write_shard(tmp_path / f"a.{end}", columns, LOOKAHEAD)) for end in ("safetensors", "parquet")
    ]
    assert (results[0].emitted == results[1].emitted).all()
    assert (results[0].by_entropy == results[1].by_entropy).all()


def test_a_shard_is_never_read_whole(columns, tmp_path):
    """Chunks are as small as a cache; a shard of any length is read in the same memory."""
    many = {name: np.concatenate([column] * 20) for name, column in columns.items()}
    shard = open_shard(write_shard(tmp_path / "a.safetensors", many, LOOKAHEAD))
    seen, places = 0, set()
    for targets, drafts in shard.chunks():
        assert len(targets) == len(drafts) <= chunk_rows(SIZE) < shard.header.rows / 5
        seen += len(targets)
        places.add(targets.__array_interface__["data"][0])
    assert seen == shard.header.rows
    assert len(places) == 1


def test_shards_without_draft_logits_are_of_one_hot_drafts(columns, tmp_path):
    bare = {name: column for name, column in columns.items() if name != "draft_logits"}
    shard = open_shard(write_shard(tmp_path / "a.safetensors", bare, LOOKAHEAD, "one-hot draft"))
    assert {drafts.shape for _, drafts in shard.chunks()} == {(0, SIZE)}


@pytest.mark.parametrize("kept", [0, 3, 8, 100, 5_000, -1])
def test_a_truncated_safetensors_shard_is_named(columns, tmp_path, kept):
    path = write_shard(tmp_path / "a.safetensors", columns, LOOKAHEAD)
    path.write_bytes(path.read_bytes()[:kept])
    with pytest.raises(TraceError, match=r"a\.safetensors: (truncated|unreadable header)"):
        audit_shard(path)


@pytest.mark.parametrize("kept", [0, 3, 5_000, -1])
def test_a_truncated_parquet_shard_is_named(columns, tmp_path, kept):
    pytest.importorskip("pyarrow", reason="Parquet shards need pyarrow, the extra `traces`")
    path = write_shard(tmp_path / "a.parquet", columns, LOOKAHEAD)
    path.write_bytes(path.read_bytes()[:kept])
    with pytest.raises(TraceError, match=r"a\.parquet: truncated or no Parquet file"):
        audit_shard(path)


def test_a_shard_that_shrinks_while_it_is_read_is_named(columns, tmp_path):
    path = write_shard(tmp_path / "a.safetensors", columns, LOOKAHEAD)
    shard = open_shard(path)
    with path.open("r+b") as file:
        file.truncate(path.stat().st_size // 2)
    with pytest.raises(TraceError, match="truncated while it was read"):
        list(shard.chunks())


def without(columns, name):
    return {other: column for other, column in columns.items() if other != name}


WRONG = {
    "another schema": (lambda c: c, {}, "another schema: it says none"),
    "another name": (lambda c: c, metadata(3) | {"schema": "a.b"}, "another schema: it says 'a.b'"),
    "a later version": (lambda c: c, metadata(3) | {"version": "2"}, "another schema: version '2'"),
    "no lookahead": (lambda c: c, metadata(3) | {"lookahead": "four"}, "lookahead is a whole number"),
    "no verification": (lambda c: c, metadata(3) | {"verification": "magic"}, "verification is one of"),
    "no depth": (lambda c: without(c, "depth"), metadata(3), "holds the column 'depth'"),
    "no target": (lambda c: without(c, "target_logits"), metadata(3), "holds the column 'target_logits'"),
    "flat logits": (lambda c: c | {"target_logits": c["target_logits"][:, 0].copy()}, metadata(3), r"are \[n, V\]"),
    "whole logits": (lambda c: cast(c, np.int32), metadata(3), "of int32"),
    "a smaller draft": (lambda c: c | {"draft_logits": c["draft_logits"][:, 1:].copy()}, metadata(3), "pad a smaller"),
    "float tokens": (lambda c: c | {"emitted": c["emitted"] * 1.5}, metadata(3), "emitted holds"),
    "short tokens": (lambda c: c | {"emitted": c["emitted"][1:].copy()}, metadata(3), "emitted holds"),
    "unsigned": (lambda c: c | {"drafted": c["drafted"].view(np.uint64)}, metadata(3), "uint64"),
    "too deep": (lambda c: c, metadata(2), "lookahead is said to be 2"),
    "no start": (lambda c: {n: x[c["depth"].argmax() :].copy() for n, x in c.items()}, metadata(3), "row 0 has depth"),
    "a gap": (lambda c: c | {"position": c["position"] * 2}, metadata(3), "does not go on"),
    "nothing accepted": (lambda c: c | {"accepted": c["accepted"] * 0}, metadata(3), "does not go on"),
    "texts mixed": (lambda c: c | {"request": np.arange(len(c["request"]))}, metadata(3), "does not go on"),
}


@pytest.mark.parametrize("case", WRONG)
def test_what_is_no_trace_is_named(columns, tmp_path, case):
    change, notes, words = WRONG[case]
    path = tmp_path / "a.safetensors"
    save_file(change(columns), path, metadata=notes)
    with pytest.raises(TraceError, match=rf"(?s)a\.safetensors: .*{words}"):
        open_shard(path)


def test_the_writer_refuses_what_the_reader_would(columns, tmp_path):
    with pytest.raises(TraceError, match="does not go on"):
        write_shard(tmp_path / "a.safetensors", columns | {"position": columns["position"] * 2}, LOOKAHEAD)
    with pytest.raises(TraceError, match=r"not '\.bin'"):
        write_shard(tmp_path / "a.bin", columns, LOOKAHEAD)
    with pytest.raises(TraceError, match=r"not '\.bin'"):
        open_shard(tmp_path / "a.bin")
    assert list(tmp_path.iterdir()) == []


def test_a_header_that_lies_is_named(tmp_path):
    path = tmp_path / "a.safetensors"
    for header in (b"[1, 2]", b"{", json.dumps({"x": {"dtype": "F32"}}).encode()):
        path.write_bytes(struct.pack("<Q", len(header)) + header)
        with pytest.raises(TraceError, match="unreadable header"):
            open_shard(path)
    path.write_bytes(struct.pack("<Q", 2**60))
    with pytest.raises(TraceError, match="truncated or no safetensors file"):
        open_shard(path)


def test_an_empty_trace_holds_no_evidence(columns, tmp_path):
    none = {name: column[:0] for name, column in columns.items()}
    result = audit_shard(write_shard(tmp_path / "a.safetensors", none, LOOKAHEAD))
    assert result.counts["rows"] == 0
    assert (result.emitted == 0).all()


def test_the_ten_lines_of_the_how_to_write_a_shard(columns, tmp_path):
    """An engine needs no spec_math to record: safetensors' own writer and the metadata as text are enough."""
    notes = {"schema": SCHEMA, "version": "1", "lookahead": "3", "verification": "maximal coupling"}
    save_file(columns, tmp_path / "plain.safetensors", metadata=notes)
    assert open_shard(tmp_path / "plain.safetensors").header.lookahead == 3


def test_one_hot_drafts_with_logits_of_their_own_are_refused(columns, tmp_path):
    """What accepts them would be predicted from a law that they were not drawn from."""
    with pytest.raises(TraceError, match="one-hot need no distribution; leave out draft_logits"):
        write_shard(tmp_path / "a.safetensors", columns, LOOKAHEAD, "one-hot draft")
