"""Where the engines' own files are, changed copies of them, and the known bugs that a law is recognised by."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from contextlib import suppress
from fractions import Fraction
from functools import cache
from importlib.util import find_spec
from pathlib import Path
from time import process_time
from typing import Any
from unittest import mock

import pytest

from spec_math.block_level.lossless import EmissionError, continued, emitted_law
from spec_math.field import chain_kernel
from spec_math.field.engines import sglang, vllm
from spec_math.field.source_file import interpreted_triton, load
from spec_math.zoo import ZOO, toy

ROOT = Path(__file__).parents[2]
FOLDER = Path(os.environ.get("ENGINES", ROOT / ".venv-engines" / "engines"))

# Laws of three tokens after each text so far, in sixteenths, which every type holds exactly; some masses are 0.
TARGETS = {
    (): (1, 4, 11), (0,): (5, 3, 8), (1,): (0, 15, 1), (2,): (6, 6, 4),
    (0, 0): (7, 2, 7), (0, 1): (16, 0, 0), (0, 2): (1, 1, 14), (1, 0): (3, 3, 10), (1, 1): (8, 8, 0),
    (1, 2): (2, 13, 1), (2, 0): (4, 4, 8), (2, 1): (9, 1, 6), (2, 2): (5, 5, 6),
}  # fmt: skip
DRAFTS = {(): (4, 10, 2), (0,): (2, 14, 0), (1,): (5, 3, 8), (2,): (6, 6, 4)}


def target(prefix: tuple[int, ...]) -> list[Fraction]:
    return [Fraction(part, 16) for part in TARGETS[prefix[:2]]]


def draft(prefix: tuple[int, ...]) -> list[Fraction]:
    return [Fraction(part, 16) for part in DRAFTS[prefix]]


def root(package: str) -> Path:
    """The folder that holds an engine's package; skips where it or Triton is not there."""
    if not find_spec("triton"):
        pytest.skip("triton is not installed; make test-engines runs these tests")
    return unpacked(package)


def unpacked(package: str) -> Path:
    """The folder that holds an engine's package; skips where it is not there."""
    if not (FOLDER / package).is_dir():
        pytest.skip(f"no sources of {package} under {FOLDER.name}; make test-engines fetches them")
    return FOLDER


def kernel(adapter: Any, folder: Path, **options: Any) -> chain_kernel.Kernel:
    """An engine's kernel out of the folder that holds its package, as a function of its coins."""
    interpreted_triton()
    parts = {} if adapter is sglang else vllm.parts()
    return adapter.kernel_of(load(folder, adapter.MODULE, parts, getattr(adapter, "BESIDE", ())), **options)


def exact(adapter: Any, folder: Path, models: tuple[Any, Any], lookahead: int, **options: Any) -> dict[Any, Any]:
    """The exact law of one call of an engine's kernel."""
    found = kernel(adapter, folder, **options)
    return chain_kernel.law(found, *models, lookahead, one_hot=options.get("one_hot", False))


def changed(folder: Path, copy: Path, file: str, changes: Mapping[str, str]) -> Path:
    """A copy of a package's files in which one file reads differently wherever it said what is changed."""
    package = folder / file.partition("/")[0]
    for path in (*package.rglob("*.py"), *package.rglob("*.cuh")):
        there = copy / path.relative_to(folder)
        there.parent.mkdir(parents=True, exist_ok=True)
        there.write_text(path.read_text(encoding="utf-8"), encoding="utf-8")
    text = (copy / file).read_text(encoding="utf-8")
    for old, new in changes.items():
        assert old in text, f"{file} no longer says {old!r}: it is another version"
        text = text.replace(old, new)
    (copy / file).write_text(text, encoding="utf-8")
    return copy


def distance(one: Mapping[Any, Any], other: Mapping[Any, Any]) -> float:
    return float(sum(abs(one.get(text, 0) - other.get(text, 0)) for text in one.keys() | other.keys()) / 2)


@cache
def known_laws() -> dict[str, Mapping[Any, Any]]:
    """The laws of three tokens of the known bugs and controls that run on the zoo's toy, one block each."""
    laws: dict[str, Mapping[Any, Any]] = {}
    for specimen in ZOO:
        if specimen.generate is not None and specimen.rounds == 1 and specimen.target((0,)) is toy.target((0,)):
            with suppress(RuntimeError, EmissionError):  # some stop, or emit what is no token: they have no law
                laws[specimen.name] = emitted_law(specimen.generate, toy.target, toy.HORIZON)
    return laws


def named(law: Mapping[Any, Any], bound: float) -> set[str]:
    """The known bugs and controls that have this law of three tokens on the zoo's toy, to within a bound."""
    found = continued(dict(law), toy.target, toy.HORIZON)
    return {name for name, known in known_laws().items() if distance(found, known) <= bound}


def counted(module: Any, work: Callable[[], Any]) -> tuple[Any, str]:
    """What work returns, and what it took: launches of an adapter's kernel, their requests, seconds of a core."""
    launch, sizes, start = module.launch, [], process_time()

    def one(kernel: Any, requests: Any, *rest: Any, **named: Any) -> Any:
        sizes.append(len(requests.tokens))
        return launch(kernel, requests, *rest, **named)

    with mock.patch.object(module, "launch", one):
        result = work()
    return result, f"{len(sizes)} launches, {sum(sizes)} requests, {process_time() - start:.1f} s of one core"
