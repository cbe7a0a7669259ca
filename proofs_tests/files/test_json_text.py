"""JSON of a user: what is given twice, is no number, is nested too deeply or is no JSON is bad input, by its path."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from spec_math.files.whole import parsed, read_json

WRONG = {
    '{"0": 1, "0": 1}': "'0' occurs twice",
    '[{"a": {"b": 1, "b": 2}}]': "'b' occurs twice",
    "[NaN]": "must be finite",
    "[" * 5000 + "]" * 5000: "nested too deeply",
    "": "Expecting value",
    "[1, 2": "delimiter",
}


@pytest.mark.parametrize("text", WRONG, ids=lambda text: text[:20])
def test_wrong_json_is_bad_input_that_names_its_file(text: str, tmp_path: Path) -> None:
    with pytest.raises(ValueError, match=WRONG[text]):
        parsed(text)
    path = tmp_path / "mine.json"
    assert path.write_text(text, encoding="utf-8") == len(text)
    with pytest.raises(ValueError, match=rf"mine\.json.*{WRONG[text]}"):
        read_json(path)


def test_a_mark_of_the_byte_order_is_skipped_and_decimals_may_stay_as_written(tmp_path: Path) -> None:
    path = tmp_path / "mine.json"
    path.write_bytes(b"\xef\xbb\xbf" + b'{"rows": [0.1, 2]}')
    assert read_json(path) == {"rows": [0.1, 2]}
    assert read_json(path, parse_float=str) == {"rows": ["0.1", 2]}
    path.write_bytes(b"\xff\xfe[]")
    with pytest.raises(ValueError, match="utf-8"):
        read_json(path)


def test_python_s_own_reader_takes_what_is_refused_here() -> None:
    """The control."""
    assert json.loads('{"0": 1, "0": 2}') == {"0": 2}
    with pytest.raises(RecursionError):
        json.loads("[" * 5000 + "]" * 5000)
