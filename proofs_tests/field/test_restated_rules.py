"""Rules written down, of engines whose code is compiled, against formulas; and kernels as records of engines."""

from __future__ import annotations

import inspect
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest

torch = pytest.importorskip("torch", reason="torch is an optional extra")

from proofs_tests.field.numpy_kernels import numpy_kernel  # noqa: E402
from spec_math.field.cases import COINS, CONTEXT, SMALL, FieldCase  # noqa: E402
from spec_math.field.chain_kernel import TOKEN  # noqa: E402
from spec_math.field.engine import PLAIN, Bisected, Edit, Engine, Options, Repository  # noqa: E402
from spec_math.field.engine_law import engine_law, loaded  # noqa: E402
from spec_math.field.engines import serving  # noqa: E402
from spec_math.field.judging import judged_case  # noqa: E402
from spec_math.field.source_file import load  # noqa: E402

ROOT = Path(__file__).parents[2]
LAWS = [case for case in SMALL if min(case.draft[0]) > 0]


def first_of(engine: Engine, laws: Any, options: Options = PLAIN) -> list[float]:
    found: Any = engine_law(engine, loaded(engine, ROOT), laws.models, 1, options)
    size = len(laws.target[0])
    return [float(sum(mass for text, mass in found.items() if text[0] == token)) for token in range(size)]


@pytest.mark.parametrize("laws", LAWS, ids=str)
def test_a_residual_of_one_token_has_the_law_of_its_formula(laws: Any) -> None:
    """Σ over the drafts x: min(t, d)(x) stays, and the rest is drawn from t with its mass at x less d(x)."""
    target, draft = laws.target[0], laws.draft[0]
    law = [min(t, d) for t, d in zip(target, draft, strict=True)]
    for token, mass in enumerate(draft):
        rejected = mass - law[token] if mass > target[token] else Fraction(0)
        left = [t if other != token else max(Fraction(0), t - mass) for other, t in enumerate(target)]
        whole = sum(left, Fraction(0))
        if rejected:
            law = [one + rejected * rest / whole for one, rest in zip(law, left, strict=True)]
    assert first_of(serving.XLLM, laws) == pytest.approx([float(mass) for mass in law], abs=1e-5)


@pytest.mark.parametrize("laws", LAWS, ids=str)
def test_a_likeliest_draft_tested_by_the_ratio_has_the_law_of_its_formula(laws: Any) -> None:
    """The likeliest draft x stays with min(1, t(x)/d(x)), else (t − d)+ is drawn from; unfiltered, ids are places."""
    target, draft = laws.target[0], laws.draft[0]
    token = draft.index(max(draft))
    kept = min(Fraction(1), target[token] / draft[token])
    left = [max(Fraction(0), t - d) for t, d in zip(target, draft, strict=True)]
    law = [(1 - kept) * rest / (sum(left, Fraction(0)) or 1) for rest in left]
    law[token] += kept
    assert first_of(serving.LLAMA_CPP, laws) == pytest.approx([float(mass) for mass in law], abs=1e-12)


def test_each_of_two_mends_alone_leaves_llama_cpp_lossy() -> None:
    engine = serving.LLAMA_CPP
    drawn, by_id = (defect.mend for defect in engine.defects)
    case = FieldCase(SMALL[-1], 1, Options(top_k=2))  # the two keep different tokens
    found = [judged_case(engine, loaded(engine, ROOT, mend), case)["verdict"] for mend in (drawn, by_id, drawn + by_id)]
    assert found == ["lossy", "lossy", "lossless"]


def test_the_whole_law_kept_mends_xllm() -> None:
    engine = serving.XLLM
    case = FieldCase(CONTEXT, 2)
    found = [judged_case(engine, loaded(engine, ROOT, mend), case)["verdict"] for mend in ((), engine.defects[0].mend)]
    assert found == ["lossy", "lossless"]


KERNEL = """
def scale():
    return 1
"""


def test_a_kernel_whose_coins_are_put_in_is_a_record_too(tmp_path: Path) -> None:
    """Two rounds of it are the target's law, and one place changed is found lossy."""
    (tmp_path / "toykernel").mkdir()
    (tmp_path / "toykernel" / "kernel.py").write_text(KERNEL)

    def kernel(module: Any) -> Any:
        right = numpy_kernel(TOKEN)
        return right if module.scale() == 1 else right.__class__(TOKEN, right.grid, right.emit, flat)

    def flat(requests: Any, coins: Any, _number: Any) -> Any:
        return [[Fraction(1)] * requests.targets.shape[-1] for _ in coins]

    edit = Edit("return 1", "return 2")
    engine = Engine("toy", Repository("nobody/toy"), "toykernel.kernel:verify", Bisected(kernel), edit)
    found: Any = engine_law(engine, loaded(engine, tmp_path), COINS.models, 1, rounds=2)
    assert sum(found.values()) == pytest.approx(1, abs=1e-12)
    assert judged_case(engine, loaded(engine, tmp_path), FieldCase(COINS, 1, PLAIN, 2))["verdict"] == "lossless"
    assert judged_case(engine, loaded(engine, tmp_path, (edit,)), FieldCase(COINS, 1))["verdict"] == "lossy"


def test_a_changed_source_file_keeps_its_source_for_those_who_ask(tmp_path: Path) -> None:
    (tmp_path / "toykernel").mkdir()
    (tmp_path / "toykernel" / "kernel.py").write_text(KERNEL)
    module = load(tmp_path, "toykernel.kernel", {}, (), {"toykernel.kernel": [("return 1", "return 2")]})
    assert (module.scale(), "return 2" in inspect.getsource(module.scale)) == (2, True)
    with pytest.raises(ValueError, match="return 3"):
        load(tmp_path, "toykernel.kernel", {}, (), {"toykernel.kernel": [("return 3", "return 2")]})
