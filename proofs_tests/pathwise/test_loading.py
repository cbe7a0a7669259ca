"""Files loaded as they lie in their packages: what published samplers' files need, re-stated small."""

from __future__ import annotations

import sys
import time
from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from spec_math.audit import check_sampler
from spec_math.pathwise.loading import Loading, load_module, load_sampler, package_of
from spec_math.pathwise.stubs import AbsentError
from spec_math.pathwise.time_readings import ticking
from spec_math.verdict import Undecided

FILES = {
    "toypack/__init__.py": "import a_package_of_nobody\nfrom toypack.steps.verify import step\nNAME = 'read late'\n",
    "toypack/steps/__init__.py": "raise RuntimeError('never asked for')\n",
    "toypack/ratio.py": "def ratio(p, q):\n    return p / q\n",
    "toypack/steps/verify.py": """
from __future__ import annotations
from dataclasses import dataclass
import jaxish.numpy as jnp
import jaxish
from ..ratio import ratio

@dataclass
class Result:
    accepted: list[int]
    bonus: int | None = None

class Module(jaxish.nn.Module):
    pass

@jaxish.jit
def step(p, q):
    return Result([int(ratio(p, q))])

@jaxish.jit(static_argnums=(0,))
def other(p):
    return p

def used(x):
    return jnp.where(x > 0, x, 0)

def annotated(x: jnp.ndarray | None = None, key: jaxish.random.PRNGKey = None) -> jnp.ndarray:
    from toypack.ratio import ratio as late
    return late(x, 1)
""",
}


@pytest.fixture
def root(tmp_path: Path) -> Iterator[Path]:
    for name, text in FILES.items():
        place = tmp_path / name
        place.parent.mkdir(parents=True, exist_ok=True)
        place.write_text(text)
    yield tmp_path
    for name in [name for name in sys.modules if name.partition(".")[0] in ("toypack", "jaxish")]:
        del sys.modules[name]


def test_a_file_knows_its_package(root: Path) -> None:
    assert package_of(root / "toypack" / "steps" / "verify.py") == (root, "toypack.steps.verify")


def test_relative_imports_dataclasses_and_decorators_of_what_is_not_installed(root: Path) -> None:
    module = load_module(root, "toypack.steps.verify", Loading(stubs=("jaxish",)))
    assert module.step(3, 1) == module.Result([3])
    assert module.other(5) == 5
    assert module.annotated(2) == 2
    assert sys.modules["toypack"].steps.verify is module


def test_a_stand_in_that_is_really_used_refuses(root: Path) -> None:
    module = load_module(root, "toypack.steps.verify", Loading(stubs=("jaxish",)))
    with pytest.raises(AbsentError, match=r"jaxish\.numpy\.where was called"):
        module.used(1)


def test_what_is_missing_is_named_with_the_stub_that_would_help(root: Path) -> None:
    with pytest.raises(ImportError, match="--stub jaxish"):
        load_module(root, "toypack.steps.verify")
    assert "toypack.steps.verify" not in sys.modules


def test_all_that_is_missing_is_named_at_once(root: Path) -> None:
    """The file's own imports and its neighbours'; not what may be missing, nor what is there, nor what is stubbed."""
    (root / "toypack" / "ratio.py").write_text(
        "import nobody_a.parts, json\n"
        "from json import dumps, nobody_name\n"
        "from typing import TYPE_CHECKING\n"
        "if TYPE_CHECKING:\n    import nobody_b\n"
        "try:\n    import nobody_c\nexcept ImportError:\n    nobody_c = None\n"
        "if nobody_c is None:\n    from nobody_d import x\n"
        "def ratio(p, q):\n    return p / q\n"
        "def other():\n    import nobody_e\n"
    )
    with pytest.raises(ImportError, match="--stub jaxish,nobody_a,json,nobody_d stands in for what is missing"):
        load_module(root, "toypack.steps.verify")
    with pytest.raises(ImportError, match="--stub json,nobody_d stands in"):
        load_module(root, "toypack.steps.verify", Loading(("jaxish", "nobody_a")))
    stubs = ("jaxish", "nobody_a", "nobody_d", "json")
    assert load_module(root, "toypack.steps.verify", Loading(stubs)).step(6, 2).accepted == [3]


CUT = """
import nobody_kernels as kernels
import random, nobody_random
from fractions import Fraction
from nobody_types import Logits

SCALE = 2
FACTOR = [1]
FACTOR[0] = 2
FACTOR.append(SCALE)
FIRST = FACTOR.pop(0)
FACTOR[0] *= FIRST // 2

class Head(kernels.Module):
    pass

class Result:
    def __init__(self, tokens):
        self.tokens = tokens * FACTOR[0]

def ratio(p: Logits, q: kernels.Tensor) -> Head:
    return Fraction(p, q)

def step(p: Logits, q) -> list[Head]:
    return Result([ratio(p, q), random.Random is not None]).tokens

def fused(p, q):
    return kernels.run(p, q)

class Sampler:
    scale = SCALE

    def step(self, p, q):
        return ratio(p, q) * self.scale

print(kernels.VERSION)
"""


def test_a_function_is_cut_out_of_a_file_that_cannot_be_imported(tmp_path: Path) -> None:
    place = tmp_path / "cut_out.py"
    place.write_text(CUT)
    for name, value in (("step", [3, True, 3, True]), ("Sampler.step", 6)):
        found = load_sampler(f"{place}:{name}")
        assert found.value(*([SimpleNamespace(scale=2)] if "." in name else []), 6, 2) == value
        assert found.note == (
            f"Only {name} and what it uses was loaded, and what else the file does is not seen, because cut_out cannot "
            "be imported: No module named 'nobody_kernels'; --stub nobody_kernels,nobody_random,nobody_types stands in "
            "for what is missing, if it is not really used"
        )
    place.write_text(CUT.replace("FACTOR[0] = 2", "FACTOR[0] = kernels.FACTOR"))
    with pytest.raises(ValueError, match=r"cut_out.py cannot be imported"):
        load_sampler(f"{place}:step")  # what it uses is changed by what is missing
    # The controls: what uses a missing package is not cut out, and nothing is where the file can be imported.
    for name in ("fused", "Head"):
        with pytest.raises(ValueError, match=r"cut_out.py cannot be imported: .*--stub nobody_kernels,nobody_random"):
            load_sampler(f"{place}:{name}")
    place.write_text("def step(p, q):\n    return p\n")
    assert not load_sampler(f"{place}:step").note


def test_folders_without_an_init_are_packages_where_the_imports_say_so(tmp_path: Path) -> None:
    place = tmp_path / "nobodys" / "lib" / "verify.py"
    place.parent.mkdir(parents=True)
    (place.parent / "ratio.py").write_text("def ratio(p, q):\n    return p / q\n")
    for line, name in (
        ("from .ratio import ratio", "lib.verify"),
        ("from ..lib.ratio import ratio", "nobodys.lib.verify"),
        ("from nobodys.lib.ratio import ratio", "nobodys.lib.verify"),
        ("import lib.ratio as it; ratio = it.ratio", "lib.verify"),
    ):
        place.write_text(f"{line}\ndef step(p, q):\n    return ratio(p, q)\n")
        assert package_of(place)[1] == name
        assert load_sampler(f"{place}:step").value(6, 2) == 3
    # The control: the file is no package's, and a package that is installed is not the folder of its name.
    place.write_text("import json\n")
    assert package_of(place)[1] == "verify"
    other = tmp_path / "json" / "verify.py"
    other.parent.mkdir()
    other.write_text("import json\n")
    assert package_of(other)[1] == "verify"
    # A checkout has the name of its package.
    inner = tmp_path / "lib" / "lib" / "verify.py"
    inner.parent.mkdir(parents=True)
    inner.write_text("import lib.ratio\n")
    assert package_of(inner)[1] == "lib.verify"
    for name in [name for name in sys.modules if name.partition(".")[0] in ("lib", "nobodys")]:
        del sys.modules[name]


def test_a_package_is_run_when_a_name_of_it_is_asked_for(root: Path) -> None:
    load_module(root, "toypack.steps.verify", Loading(stubs=("jaxish",)))
    with pytest.raises(ModuleNotFoundError, match="a_package_of_nobody"):
        _ = sys.modules["toypack"].NAME


def test_names_are_given_in_place_of_a_module(root: Path) -> None:
    given = {"toypack.ratio": {"ratio": lambda p, q: p * q + 1}}
    assert load_module(root, "toypack.steps.verify", Loading(("jaxish",), given)).step(2, 3).accepted == [7]


def test_one_place_of_a_source_is_replaced_in_the_module_and_in_its_neighbours(root: Path) -> None:
    edits = {"toypack.steps.verify": [("int(ratio(p, q))", "-int(ratio(p, q))")], "toypack.ratio": [("p / q", "p * q")]}
    assert load_module(root, "toypack.steps.verify", Loading(("jaxish",), replaced=edits)).step(2, 3).accepted == [-6]


def test_one_place_of_a_package_s_own_file_is_replaced_where_its_neighbours_import_it(root: Path) -> None:
    """toypack.ratio as a package: its __init__.py is changed, and modules of it are still found."""
    (root / "toypack" / "ratio").mkdir()
    (root / "toypack" / "ratio.py").rename(root / "toypack" / "ratio" / "own.py")
    (root / "toypack" / "ratio" / "__init__.py").write_text(
        "from toypack.ratio.own import ratio as kept\nratio = kept\n"
    )
    edits = {"toypack.ratio": [("ratio = kept", "ratio = lambda p, q: -kept(p, q)")]}
    assert load_module(root, "toypack.steps.verify", Loading(("jaxish",))).step(2, 1).accepted == [2]
    for name in [name for name in sys.modules if name.startswith("toypack")]:
        del sys.modules[name]
    assert load_module(root, "toypack.steps.verify", Loading(("jaxish",), replaced=edits)).step(2, 1).accepted == [-2]


@pytest.mark.parametrize("old", ["ratio", "not there"])
def test_a_replacement_is_of_one_place(root: Path, old: str) -> None:
    with pytest.raises(ValueError, match="a replacement is of one place"):
        load_module(root, "toypack.steps.verify", Loading(("jaxish",), replaced={"toypack.steps.verify": [(old, "x")]}))


def test_an_installed_package_of_the_same_name_is_left_alone(root: Path) -> None:
    (root / "json").mkdir()
    (root / "json" / "__init__.py").write_text("")
    (root / "json" / "mine.py").write_text("VALUE = 1\n")
    import json

    assert load_module(root, "json.mine").VALUE == 1
    assert sys.modules["json"] is json
    assert "json.mine" not in sys.modules


def test_modules_that_the_process_imported_are_its_own_afterwards() -> None:
    """A file of a package that is in use, such as a project's own from its tests, is loaded beside it."""
    root, name = package_of(Path(__file__).parents[1] / "controls.py")
    before = {one: module for one, module in sys.modules.items() if one.partition(".")[0] == "proofs_tests"}
    assert before
    loaded = load_module(root, name)
    assert name == "proofs_tests.controls"
    assert loaded is not sys.modules.get(name)
    after = {one: module for one, module in sys.modules.items() if one.partition(".")[0] == "proofs_tests"}
    assert after == before


@pytest.mark.parametrize(
    ("name", "said"), [("", "audit takes module:name, .* got '.*steps.py:'"), (":gone", "has no gone; it has: step")]
)
def test_a_file_is_named_with_its_function(tmp_path: Path, name: str, said: str) -> None:
    place = tmp_path / "steps.py"
    assert place.write_text("def step(p, q):\n    return 0\n") > 0
    with pytest.raises(ValueError, match=said):
        load_sampler(f"{place}{name or ':'}")
    assert load_sampler(f"{place}:step").value(1, 2) == 0


def test_a_neighbour_of_another_package_is_replaced_too_and_is_as_it_was_afterwards(tmp_path: Path) -> None:
    """It was loaded before, and stayed: a mend of it did nothing, and one that did something would have stayed."""
    for name, text in {
        "toyfirst/step.py": "from toysecond.law import mass\n",
        "toysecond/law.py": "mass = 1\n",
    }.items():
        (tmp_path / name).parent.mkdir()
        (tmp_path / name).write_text(text)
    edits = Loading(replaced={"toysecond.law": [("mass = 1", "mass = 2")]})
    try:
        found = [load_module(tmp_path, "toyfirst.step", how).mass for how in (None, edits, None, edits)]
    finally:
        for name in [name for name in sys.modules if name.partition(".")[0] in ("toyfirst", "toysecond")]:
            del sys.modules[name]
    assert found == [1, 2, 1, 2]


@pytest.mark.parametrize("edits", [[], [("return 1", "return 2")]])
def test_annotations_are_what_the_file_says_and_not_what_the_loader_s_own_would_be(
    edits: list[tuple[str, str]], tmp_path: Path
) -> None:
    file = tmp_path / "annotated_by_value.py"
    file.write_text("def step(x: int = 0):\n    return 1\n")
    loaded = load_module(tmp_path, "annotated_by_value", Loading(replaced={"annotated_by_value": edits}))
    assert loaded.step() == 1 + len(edits)
    assert loaded.step.__annotations__ == {"x": int}


INSTALLED = {
    "oldlib/__init__.py": "from oldlib.parts import here\n",
    "oldlib/parts.py": "here = abs\n",
    "user/__init__.py": "",
    "user/neighbour.py": "from oldlib.parts import gone\n",
    "user/step.py": """
import oldlib
from oldlib import Cache, here
from user.neighbour import gone

class Mine(oldlib.Model):
    pass

@oldlib.decorated
def step(value):
    return here(value), isinstance(value, Cache)

def used(value):
    return gone(value)
""",
}


@pytest.fixture
def installed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """A package that is installed in a version without some names, and one that imports them."""
    for name, text in INSTALLED.items():
        place = tmp_path / name
        place.parent.mkdir(parents=True, exist_ok=True)
        place.write_text(text)
    monkeypatch.syspath_prepend(str(tmp_path))
    yield tmp_path
    for name in [name for name in sys.modules if name.partition(".")[0] in ("oldlib", "user")]:
        del sys.modules[name]


def test_a_stub_stands_for_single_names_that_an_installed_package_has_not(installed: Path) -> None:
    found = load_module(installed, "user.step", Loading(["oldlib"]))
    assert found.step(-2) == (2, False)
    with pytest.raises(AbsentError, match=r"oldlib\.parts\.gone was called"):
        found.used(2)


def test_names_that_were_lent_to_an_installed_package_are_taken_back(installed: Path) -> None:
    _ = load_module(installed, "user.step", Loading(["oldlib"]))
    library = sys.modules["oldlib"]
    assert not any(hasattr(library, name) for name in ("Cache", "Model", "decorated"))
    assert library.here(-2) == 2


def test_without_a_stub_a_name_that_is_gone_says_which_would_help(installed: Path) -> None:
    with pytest.raises(ImportError, match=r"cannot import name 'Cache'.*--stub oldlib stands in for what"):
        _ = load_module(installed, "user.step")


def test_the_first_bar_of_progress_starts_no_thread(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    tqdm = pytest.importorskip("tqdm")
    (tmp_path / "shown.py").write_text(
        "import random\nfrom tqdm import tqdm\ndef step(target, draft):\n"
        "    for _ in tqdm(range(1), disable=True):\n        pass\n"
        "    with tqdm(total=1) as bar:\n        bar.update()\n"
        "    return random.choices(range(len(target)), target)[0]\n"
    )
    monkeypatch.setattr(tqdm.tqdm, "monitor_interval", 10)
    monkeypatch.setattr(tqdm.tqdm, "monitor", None)
    verdict = check_sampler(load_sampler(f"{tmp_path}/shown.py:step").value, ["1/4", "3/4"], ["1/2", "1/2"])
    assert verdict, verdict
    assert tqdm.tqdm.monitor is None


MEASURED = """
import time
import random

def verify(tokens, target, draft):
    begun = time.perf_counter()
    token = tokens[0]
    kept = random.random() < target[token] / draft[token]
    if not kept:
        token = random.choices(range(2), [max(p - q, 0) for p, q in zip(target, draft)])[0]
    if (lasted := time.perf_counter() - begun) > 60:
        print(lasted)
    return token
"""


def test_a_clock_that_is_compared_is_refused_with_the_line_that_stops_it(tmp_path: Path) -> None:
    file = tmp_path / "measured.py"
    file.write_text(MEASURED)
    laws = ["1/4", "3/4"], ["1/2", "1/2"]
    verdict = check_sampler(load_sampler(f"{file}:verify").value, *laws)
    assert isinstance(verdict, Undecided)
    line = verdict.explanation.partition("--replace '")[2].partition("'")[0]
    assert line == "import time=>class time: perf_counter = staticmethod(float)"
    assert check_sampler(load_sampler(f"{file}:verify", edits=[line]).value, *laws)


NEIGHBOURS = {
    "project/src/sampler.py": "from loader import weights\n\ndef step(value):\n    return abs(value)\n",
    "project/src/loader.py": "raise OSError('no weights here')\n",
    "project/src/inner/__init__.py": "",
    "project/src/inner/sampler.py": "from .loader import weights\n\ndef step(value):\n    return abs(value)\n",
    "project/src/inner/loader.py": "raise OSError('no weights here')\n",
    "project/tools/entry.py": "from sampler_of_the_project import step\n",
    "project/src/sampler_of_the_project.py": "step = abs\n",
}


@pytest.fixture
def project(tmp_path: Path) -> Path:
    for name, text in NEIGHBOURS.items():
        place = tmp_path / name
        place.parent.mkdir(parents=True, exist_ok=True)
        place.write_text(text)
    return tmp_path / "project"


@pytest.mark.parametrize("file", ["src/sampler.py", "src/inner/sampler.py"])
def test_a_stub_stands_for_a_neighbour_of_the_file(project: Path, file: str) -> None:
    found = load_sampler(f"{project / file}:step", ["loader"])
    assert (found.value(-2), found.note) == (2, "")
    # The control: without it the rest of the file is left out.
    assert "no weights here" in load_sampler(f"{project / file}:step").note


def test_a_folder_that_is_not_on_the_path_is_named(project: Path) -> None:
    with pytest.raises(ImportError) as raised:
        _ = load_module(project / "tools", "entry")
    assert f"sampler_of_the_project lies in {project / 'src'}: set PYTHONPATH={project / 'src'}" in str(raised.value)
    with pytest.raises(ImportError, match="--stub oldlib_of_nobody stands in"):
        (project / "tools" / "other.py").write_text("import oldlib_of_nobody\n")
        _ = load_module(project / "tools", "other")


def test_clocks_of_a_function_without_a_file_tick_in_its_own_names_alone() -> None:
    space: dict[str, Any] = {}
    exec("import time\ndef measured():\n    return time.perf_counter()\n", space)
    before = time.perf_counter
    measured = ticking(space["measured"])
    assert (measured(), measured()) == (0.0, 1 / 128)
    assert time.perf_counter is before
