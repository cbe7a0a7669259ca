"""A model as a table, in memory and in a file; every refusal names the prefix it is about."""

import json
from fractions import Fraction
from itertools import product

import numpy as np
import pytest

from spec_math.language.model import Table, check_prefix

HALF = Fraction(1, 2)
EVEN, FIRST = ["1/2", "1/2"], [1, 0]


def written(tmp_path, content):
    path = tmp_path / "model.json"
    path.write_text(content if isinstance(content, str) else json.dumps(content), encoding="utf-8")
    return path


def test_table_gives_the_row_of_the_whole_prefix():
    table = Table({(): EVEN, (0,): FIRST})
    assert table(()).tolist() == [HALF, HALF]
    assert table([0]).tolist() == [1, 0]
    assert table.size == 2
    with pytest.raises(LookupError, match=r"no row for prefix \(0, 0\)"):
        table((0, 0))


@pytest.mark.parametrize("context", [0, 1, 2, None])
def test_table_gives_the_row_of_its_last_tokens(context):
    longest = 3 if context is None else context
    prefixes = [prefix for length in range(longest + 1) for prefix in product((0, 1), repeat=length)]
    rows = {prefix: [Fraction(1, at + 2), Fraction(at + 1, at + 2)] for at, prefix in enumerate(prefixes)}
    table = Table(rows, context=context)
    for length in range(4):
        for prefix in product((0, 1), repeat=length):
            seen = prefix if context is None else prefix[length - min(context, length) :]
            assert table(prefix).tolist() == rows[seen]


def test_default_stands_in_for_missing_rows():
    table = Table({(0,): FIRST}, default=EVEN)
    assert table((1, 1)).tolist() == [HALF, HALF]
    assert Table({}, default=[0.5, 0.5])((1,)).dtype == np.float64


def test_end_ends_every_prefix():
    table = Table({}, default=EVEN, end=1)
    assert table.end == 1
    with pytest.raises(ValueError, match=r"prefix \(0, 1\) ends with the end token 1"):
        table((0, 1))
    with pytest.raises(ValueError, match=r"prefix \(1,\) ends with the end token 1"):
        Table({(1,): EVEN}, end=1)


def test_a_table_cannot_be_changed_through_its_rows():
    row = np.array([0.25, 0.75])
    table = Table({(): row})
    row[:] = [1, 0]
    assert table(()).tolist() == [0.25, 0.75]
    with pytest.raises(ValueError, match="read-only"):
        table(())[0] = 1


@pytest.mark.parametrize(
    ("rows", "options", "error", "says"),
    [
        ({(0,): ["1/2", "1/3"]}, {}, ValueError, r"prefix \(0,\): masses must sum to exactly 1"),
        ({(0,): [0.5, 0.25]}, {}, ValueError, r"prefix \(0,\): .*off by 0.25"),
        ({(0,): [2, -1]}, {}, ValueError, r"prefix \(0,\): masses must be >= 0"),
        ({(0,): [True, False]}, {}, TypeError, r"prefix \(0,\): True is not a mass"),
        ({(0,): None}, {}, TypeError, r"prefix \(0,\): "),
        ({(0,): [EVEN]}, {}, ValueError, r"prefix \(0,\): a row is one distribution"),
        ({(): EVEN, (0,): ["1/3"] * 3}, {}, ValueError, r"prefix \(\) has 2, prefix \(0,\) has 3"),
        ({(): EVEN, (0,): [0.5, 0.5]}, {}, TypeError, r"prefix \(\) .* against prefix \(0,\)"),
        ({(2,): EVEN}, {}, ValueError, r"prefix \(2,\): token 0 must be an index in \[0, 2\)"),
        ({(True,): EVEN}, {}, TypeError, r"prefix \(True,\): token 0"),
        ({"0": EVEN}, {}, TypeError, "keyed by tuples"),
        ({(0, 0): EVEN}, {"context": 1}, ValueError, r"prefix \(0, 0\) has 2 tokens"),
        ({(): EVEN}, {"context": True}, TypeError, "context"),
        ({(): EVEN}, {"context": -1}, ValueError, "context"),
        ({(): EVEN}, {"context": 1.0}, TypeError, "context"),
        ({(): EVEN}, {"end": 2}, ValueError, r"end must be an index in \[0, 2\)"),
        ({(): EVEN}, {"end": True}, TypeError, "end must be an index"),
        ({}, {}, ValueError, "a row or a default"),
    ],
)
def test_table_refuses(rows, options, error, says):
    with pytest.raises(error, match=says):
        Table(rows, **options)


def test_a_call_names_the_prefix_with_a_token_outside():
    with pytest.raises(ValueError, match=r"prefix \(0, 5\): token 1 must be an index in \[0, 2\); got 5"):
        Table({}, default=EVEN)((0, 5))
    assert check_prefix(np.array([0, 1]), 2) == (0, 1)


def test_a_file_gives_the_table_written_in_it(tmp_path):
    given = {"rows": {"": EVEN, "0": FIRST, "1 0": ["0.1", "0.9"]}, "context": 2, "default": FIRST, "end": 1}
    table = Table.load(written(tmp_path, given))
    assert table(()).tolist() == [HALF, HALF]
    assert table((1, 0)).tolist() == [Fraction(1, 10), Fraction(9, 10)]
    assert (table.context, table.end, table.default.tolist()) == (2, 1, [1, 0])
    assert Table.load(written(tmp_path, '{"rows": {"": [0.5, 0.5]}}'))(()).dtype == np.float64


@pytest.mark.parametrize(
    ("content", "error", "says"),
    [
        ("{", ValueError, "is not JSON"),
        ([], ValueError, 'the field "rows"'),
        ({"rows": []}, ValueError, 'the field "rows"'),
        ({"rows": {"": EVEN}, "contxt": 1}, ValueError, "contxt"),
        ({"rows": {"0,1": EVEN}}, ValueError, r"prefix '0,1'.*blanks"),
        ({"rows": {"-1": EVEN}}, ValueError, "prefix '-1'"),
        ('{"rows": {"0": ["1", "0"], "0": ["0", "1"]}}', ValueError, "'0' occurs twice"),
        ({"rows": {"0": EVEN, " 00": EVEN}}, ValueError, r"prefix \(0,\) occurs twice"),
        ('{"rows": {"0": [NaN, 1]}}', ValueError, "finite"),
        ({"rows": {"0": ["1/2", "1/3"]}}, ValueError, r"model.json: prefix \(0,\): masses must sum to exactly 1"),
        ({"rows": {"0": ["half", "half"]}}, ValueError, r"prefix \(0,\): 'half' is not a number"),
        ({"rows": {"0": [0.5, "1/2"]}}, TypeError, r"prefix \(0,\): "),
        ({"rows": {"0": [True, False]}}, TypeError, r"prefix \(0,\): True is not a mass"),
        ({"rows": {"0": EVEN}, "context": 1.5}, TypeError, "context"),
    ],
)
def test_a_file_is_refused_with_its_name_and_the_prefix(tmp_path, content, error, says):
    with pytest.raises(error, match=says) as caught:
        Table.load(written(tmp_path, content))
    assert "model.json" in str(caught.value)
