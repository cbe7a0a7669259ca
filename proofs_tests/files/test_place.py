"""MODULE:NAME finds what is in a module or a file of Python, and errors say what is missing."""

from __future__ import annotations

from pathlib import Path

import pytest

from spec_math.files.place import load, load_function
from spec_math.token_level import single


def test_a_name_in_a_module_and_in_a_file(tmp_path: Path) -> None:
    assert load("spec_math.token_level.single:verify").value is single.verify
    (tmp_path / "beside.py").write_text("ONE = 1\n")
    (tmp_path / "sampler_of_a_header.py").write_text("from beside import ONE\nclass Held:\n    two = ONE + 1\n")
    found = load(f"{tmp_path / 'sampler_of_a_header.py'}:Held.two")
    assert (found.value, found.module, found.attribute, found.folder) == (
        2,
        "sampler_of_a_header",
        "Held.two",
        tmp_path.resolve(),
    )


def test_the_header_imports_it_from_another_folder(tmp_path: Path) -> None:
    (tmp_path / "sampler_of_a_header.py").write_text("def f(): return 7\n")
    (tmp_path / "tests").mkdir()
    header = load_function(f"{tmp_path / 'sampler_of_a_header.py'}:f").header(tmp_path / "tests")
    held: dict[str, object] = {"__file__": str(tmp_path / "tests" / "test_sampler_of_a_header.py")}
    exec(header, held)
    assert held["f"]() == 7  # type: ignore[operator]


@pytest.mark.parametrize(
    ("place", "words"),
    [
        ("nothing", "--scheme takes module:name, such as mypackage.verifiers:mine"),
        (":f", "--scheme takes module:name"),
        ("math:", "--scheme takes module:name"),
        ("no_such_module:f", "no_such_module cannot be imported from here: ModuleNotFoundError"),
        ("gone.py:f", "there is no file gone.py"),
        ("math:nothing", "math has no nothing; it has: acos"),
    ],
)
def test_what_cannot_be_found_is_a_sentence(place: str, words: str) -> None:
    with pytest.raises(ValueError, match=words):
        load(place, "--scheme")


def test_a_module_that_fails_and_a_value_that_is_no_function_are_told(tmp_path: Path) -> None:
    (tmp_path / "broken.py").write_text("1 / 0\n")
    with pytest.raises(ValueError, match=r"broken\.py cannot be imported: ZeroDivisionError"):
        load(f"{tmp_path / 'broken.py'}:f")
    with pytest.raises(TypeError, match="math:pi is not a function; it is a float"):
        load_function("math:pi")
