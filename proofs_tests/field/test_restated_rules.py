"""Rules written down, of engines whose code is compiled, against formulas; and kernels as records of engines."""

from __future__ import annotations

import inspect
import re
import shutil
import subprocess
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest

torch = pytest.importorskip("torch", reason="torch is an optional extra")

from proofs_tests.field.numpy_kernels import numpy_kernel  # noqa: E402
from proofs_tests.field.sources import unpacked  # noqa: E402
from spec_math import law  # noqa: E402
from spec_math.field.cases import COINS, CONTEXT, SMALL, FieldCase  # noqa: E402
from spec_math.field.chain_kernel import TOKEN  # noqa: E402
from spec_math.field.engine import PLAIN, Bisected, Edit, Engine, Options, Repository  # noqa: E402
from spec_math.field.engine_law import engine_law, float32_bound, judged, loaded, total_variation  # noqa: E402
from spec_math.field.engines import serving  # noqa: E402
from spec_math.field.judging import judged_case  # noqa: E402
from spec_math.field.recorded import read  # noqa: E402
from spec_math.field.source_file import load  # noqa: E402
from spec_math.samplers.outside import program  # noqa: E402

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


def likeliest_by_ratio(target: Any, draft: Any) -> list[Fraction]:
    """The likeliest draft x stays with min(1, t(x)/d(x)), else (t − d)+ is drawn from."""
    token = draft.index(max(draft))
    kept = min(Fraction(1), target[token] / draft[token])
    left = [max(Fraction(0), t - d) for t, d in zip(target, draft, strict=True)]
    law = [(1 - kept) * rest / (sum(left, Fraction(0)) or 1) for rest in left]
    law[token] += kept
    return law


@pytest.mark.parametrize("laws", LAWS, ids=str)
def test_a_likeliest_draft_tested_by_the_ratio_has_the_law_of_its_formula(laws: Any) -> None:
    """Unfiltered, ids are places."""
    found = [float(mass) for mass in likeliest_by_ratio(laws.target[0], laws.draft[0])]
    assert first_of(serving.LLAMA_CPP, laws) == pytest.approx(found, abs=1e-12)


LIKELIEST = ("keras-hub", "llama.cpp example", "transformers Gemma 4 assistant")


@pytest.mark.parametrize("name", LIKELIEST)
def test_the_recorded_distances_of_likeliest_drafts_are_those_of_the_formula(name: str) -> None:
    recorded = {case["case"]: case for case in read()[name]["cases"] + read()[name]["smallest"]}
    for laws in (CONTEXT, SMALL[0]):
        target, draft = laws.target[0], laws.draft[0]
        off = sum(abs(t - e) for t, e in zip(target, likeliest_by_ratio(target, draft), strict=True)) / 2
        assert recorded[str(FieldCase(laws, 1))]["first token"] == str(off)


def test_the_recorded_distances_of_a_draw_from_the_target_are_those_of_the_formula() -> None:
    """Σ over the drafts of (d − t)+ is rejected, and drawn from t, where (t − d)+ is right."""
    recorded = {case["case"]: case for part in ("cases", "smallest") for case in read()["SUPER-GIANT TiDAR"][part]}
    for laws in (CONTEXT, SMALL[1]):
        pairs = list(zip(laws.target[0], laws.draft[0], strict=True))
        rejected = sum(max(Fraction(0), d - t) for t, d in pairs)
        off = sum(abs(t - min(t, d) - rejected * t) for t, d in pairs) / 2
        assert recorded[str(FieldCase(laws, 1))]["first token"] == str(off)


def test_the_recorded_distance_beside_another_request_is_that_of_the_formula() -> None:
    """The draft 0 is certain and kept with 1/2. It stays if the other request keeps its own too, else 1 is drawn."""
    (case,) = read()["keras-hub beside another request"]["cases"]
    assert (case["case"], case["first token"]) == (str(FieldCase(SMALL[2], 1)), str(Fraction(1, 2) - Fraction(1, 4)))


def test_each_of_two_mends_alone_leaves_llama_cpp_lossy() -> None:
    engine = serving.LLAMA_CPP
    drawn, by_id = (defect.mend for defect in engine.defects)
    case = FieldCase(SMALL[-1], 1, Options(top_k=2))  # the two keep different tokens
    found = [judged_case(engine, loaded(engine, ROOT, mend), case)["verdict"] for mend in (drawn, by_id, drawn + by_id)]
    assert found == ["lossy", "lossy", "lossless"]


SAMPLED = ("const llama_token id = cur_p->data[is].id;", "const llama_token id = given.tokens[i];")
BUILT = {"": (), "top-k": ("-DTOP_K=2",), "sampled": SAMPLED}


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    """llama.cpp's own code by the commands of the example: as it is, with a filter, and with sampled drafts."""
    source = unpacked("llama.cpp") / "llama.cpp"
    if shutil.which("c++") is None:
        pytest.skip("c++ is not installed")
    example = ROOT / "examples" / "languages" / "llama_cpp.cpp"
    commands = re.findall(r"^// ((?:c\+\+|nm) .*)$", example.read_text(encoding="utf-8"), re.MULTILINE)
    found: dict[str, Path] = {}
    for name, how in BUILT.items():
        folder = tmp_path_factory.mktemp("llama") / "llama.cpp"
        shutil.copytree(source, folder)
        if how is SAMPLED:
            place = folder / "examples" / "speculative" / "speculative.cpp"
            assert place.read_text().count(how[0]) == 1
            place.write_text(place.read_text().replace(*how))
        for command in commands:
            made = command.replace("PATH/llama_cpp.cpp", " ".join([str(example), *how[: how is not SAMPLED]]))
            subprocess.run(made, shell=True, cwd=folder, check=True)
        found[name] = folder / "llama.so"
    return found


def emitted(library: Path, laws: Any, lookahead: int, name: str = "verify") -> Any:
    """The exact law of a round whose drafts are sampled; the example itself makes its own."""
    sampler, (target,), (draft,) = program(None, f"{library}:{name}", "float64").verifier, laws.target, laws.draft
    rows = [target] * (lookahead + 1), [draft] * lookahead
    found = law(lambda coin: sampler(coin, tuple(coin.draw(draft) for _ in range(lookahead)), *rows))
    return {text: float(mass) for text, mass in found.items()}


@pytest.mark.parametrize("lookahead", [1, 2])
def test_the_rule_of_llama_cpp_is_that_of_its_compiled_code(built: dict[str, Path], lookahead: int) -> None:
    engine = serving.LLAMA_CPP
    asked = [("", laws, PLAIN) for laws in LAWS] + [("top-k", SMALL[-2], Options(top_k=2))]
    for name, laws, options in asked:
        wanted = engine_law(engine, loaded(engine, ROOT), laws.models, lookahead, options)
        found = emitted(built[name], laws, lookahead)
        assert total_variation(found, wanted) < float32_bound([laws.target[0]] * (lookahead + 1)), (name, str(laws))


@pytest.mark.parametrize("lookahead", [1, 2])
def test_the_code_of_llama_cpp_is_lossless_with_sampled_drafts_and_in_its_server(
    built: dict[str, Path], lookahead: int
) -> None:
    for laws in LAWS:
        bound = float32_bound([laws.target[0]] * (lookahead + 1))
        for how, name, right in (("", "match", True), ("sampled", "verify", True), ("", "verify", False)):
            found = emitted(built[how], laws, lookahead, name)
            assert bool(judged(found, laws.models[0], lookahead + 1, bound)) == right, (name, str(laws))


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
