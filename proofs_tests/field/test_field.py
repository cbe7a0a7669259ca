"""The field's protocol on small packages of our own: verdicts, controls, mends and archives."""

from __future__ import annotations

import hashlib
import sys
import zipfile
from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import product
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

torch = pytest.importorskip("torch", reason="torch is an optional extra")

from spec_math.field import engine as engine_record  # noqa: E402
from spec_math.field import worker  # noqa: E402
from spec_math.field.cases import COINS, CONTEXT, SMALL, FieldCase  # noqa: E402
from spec_math.field.catalogue import ENGINES, named  # noqa: E402
from spec_math.field.engine import PLAIN, Archive, Defect, Edit, Engine, Options, Repository, Step, processed  # noqa: E402  # noqa: E402
from spec_math.field.engine_law import bound_of, engine_law, loaded, verdict_on  # noqa: E402
from spec_math.field.engines import loops  # noqa: E402
from spec_math.field.judging import judged_case, judged_engine  # noqa: E402
from spec_math.field.page import page  # noqa: E402
from spec_math.field.recorded import ArchiveError, unpacked  # noqa: E402
from spec_math.field.worker import judged_apart  # noqa: E402
from spec_math.verdict import Lossy  # noqa: E402

SAMPLER = """
import torch
import kernels_of_nobody
from .ratios import ratio

def step(draft, target, ids, gamma, temperature):
    text, kept = ids, []
    for _ in range(gamma):
        law = (draft(text).logits[0, -1] / temperature).softmax(-1)
        token = torch.multinomial(law, 1)
        kept.append((token, law))
        text = torch.cat([text, token[None]], dim=1)
    rows = (target(text).logits[0, -gamma - 1:] / temperature).softmax(-1)
    out = []
    for place, (token, law) in enumerate(kept):
        if torch.rand(1) < ratio(rows[place][token], law[token]):
            out.append(int(token))
            continue
        left = (rows[place] - law).clamp(min=0)
        return [*out, int(torch.multinomial(left / left.sum(), 1))]
    return [*out, int(torch.multinomial(rows[gamma], 1))]
"""


def run(module: Any, step: Step) -> Sequence[int]:
    target, draft = step.models()
    return module.step(draft, target, step.ids(), step.lookahead, step.options.temperature)


CONTROL = Edit("(rows[place] - law)", "(rows[place] - 0 * law)")
ENGINE = Engine(
    name="toy",
    source=Repository("nobody/toy"),
    function="toysampler.sampler:step",
    run=run,
    control=CONTROL,
    options=("temperature > 0",),
    stubs=("kernels_of_nobody",),
    most=2,
)


@pytest.fixture
def root(tmp_path: Path) -> Iterator[Path]:
    folder = tmp_path / "toysampler"
    folder.mkdir()
    (folder / "__init__.py").write_text("from .nowhere import everything\n")
    (folder / "ratios.py").write_text("def ratio(p, q):\n    return p / q\n")
    (folder / "sampler.py").write_text(SAMPLER)
    yield tmp_path
    for name in [name for name in sys.modules if name.partition(".")[0] == "toysampler"]:
        del sys.modules[name]


def test_a_right_sampler_is_lossless_on_laws_with_context_and_zeros_over_two_rounds(root: Path) -> None:
    module = loaded(ENGINE, root)
    for case in (FieldCase(CONTEXT, 2), FieldCase(CONTEXT, 1, Options(0.5)), FieldCase(CONTEXT, 1, PLAIN, 2)):
        assert judged_case(ENGINE, module, case)["verdict"] == "lossless", str(case)


def test_the_control_is_rejected_with_the_distance_of_the_formula(root: Path) -> None:
    found = judged_case(ENGINE, loaded(ENGINE, root, (CONTROL,)), FieldCase(SMALL[1], 1))
    # target (1/2, 1/2), draft (3/4, 1/4): rejected with 1/4, redrawn from the target, so that 1/8 goes astray.
    assert (found["verdict"], found["first token"]) == ("lossy", "1/8")


def test_a_mend_is_judged_on_the_cases_that_failed(root: Path) -> None:
    broken = ENGINE.run
    place = root / "toysampler" / "sampler.py"
    place.write_text(SAMPLER.replace("(rows[place] - law)", "(rows[place] - 0 * law)"))
    mend = Defect("The residual is the target.", Edit("0 * law", "law"))
    other = Edit("torch.rand(1) < ratio(rows[place][token], law[token])", "True")
    engine = Engine("toy", ENGINE.source, ENGINE.function, broken, other, stubs=ENGINE.stubs, defects=(mend,), most=1)
    found = judged_engine(engine, root)
    assert (found["verdict"], found["control"]["verdict"]) == ("lossy", "lossy")
    assert found["smallest"][0]["case"] == "target (1/2, 1/2), draft (3/4, 1/4), γ = 1, T 1"
    assert found["mended"] == {"verdict": "lossless", "cases": []}
    assert "**lossy**" in page({"toy": found | {"package": "toy", "version": "1", "judged": "a day"}})


def test_what_an_engine_raises_is_said_and_no_law(root: Path) -> None:
    module = loaded(ENGINE, root, (Edit("left / left.sum()", "left / 0"),))
    found = judged_case(ENGINE, module, FieldCase(SMALL[1], 1))
    assert found["verdict"] == "raises"


def test_what_raises_without_a_word_is_said_to(root: Path) -> None:
    """A bare `raise RuntimeError` has no first line to show, and the judge once failed on it."""
    module = loaded(ENGINE, root, (Edit("out = []", "raise RuntimeError"),))
    found = judged_case(ENGINE, module, FieldCase(SMALL[1], 1))
    assert found == {"verdict": "raises", "reason": "RuntimeError: without a message"}


def test_a_stand_in_that_is_used_leaves_the_case_undecided(root: Path) -> None:
    module = loaded(ENGINE, root, (Edit("out = []", "out = kernels_of_nobody.fused(rows)"),))
    found = judged_case(ENGINE, module, FieldCase(SMALL[1], 1))
    assert found["verdict"] == "undecided"
    assert "kernels_of_nobody" in found["reason"]


def test_the_law_under_options_is_that_of_the_library(root: Path) -> None:
    del root
    law = processed(lambda _: [0.5, 0.375, 0.125], Options(0.5, 2, None))(())
    assert law.tolist() == pytest.approx([0.64, 0.36, 0.0], abs=1e-15)


def test_a_partial_law_is_left_open(root: Path) -> None:
    module = loaded(ENGINE, root)
    laws = SMALL[1].models
    partial = engine_law(ENGINE, module, laws, 1, budget=2)
    assert verdict_on(ENGINE, module, partial, laws, PLAIN, 2).reason.name == "BUDGET"


STRAY = Edit("return [*out, int(torch.multinomial(left / left.sum(), 1))]", "return [*out, 7]")


def test_a_token_out_of_range_is_lossy_with_its_reason_and_path(root: Path) -> None:
    """As of every other judge: the draft 0 is rejected with 1/4, and 7 is emitted, which is no token of two."""
    module = loaded(ENGINE, root, (STRAY,))
    laws = SMALL[1].models
    found = engine_law(ENGINE, module, laws, 1)
    verdict = verdict_on(ENGINE, module, found, laws, PLAIN, 2)
    assert isinstance(verdict, Lossy)
    assert verdict.tokens == (7,)
    assert float(verdict.emitted) == pytest.approx(0.25, abs=1e-6)
    assert "7 is no token: there are 2" in verdict.reason
    assert len(verdict.path) == 2  # the draft and its coin
    assert verdict.path[0].endswith(": 0")
    told = judged_case(ENGINE, module, FieldCase(SMALL[1], 1))
    assert told == {"verdict": "lossy", "paths": found.paths, "reason": verdict.reason}


def test_an_engine_that_emits_what_is_no_token_is_shown_as_lossy(root: Path) -> None:
    place = root / "toysampler" / "sampler.py"
    place.write_text(SAMPLER.replace(STRAY.old, STRAY.new))
    short = replace(ENGINE, most=1, options=(), control=Edit("torch.rand(1) < ", "True or "))
    found = judged_engine(short, root)
    assert found["verdict"] == "lossy"
    shown = page({"toy": found | {"package": "toy", "version": "1", "judged": "a day"}})
    assert "7 is no token" in shown


def test_an_engine_is_judged_in_a_process_of_its_own(tmp_path: Path) -> None:
    folder = tmp_path / "specdec"
    folder.mkdir()
    (folder / "decoder.py").write_text(
        "import torch\n"
        "try:\n"
        "    import socket\n"
        "    socket.create_connection(('192.0.2.1', 9), timeout=1)\n"
        "    raise SystemExit('there is a network')\n"
        "except OSError as error:\n"
        "    assert 'without a network' in str(error)\n"
        "print('{')\n"
        'print(\'{"verdict": "lossy"}\')\n'
        "class SpecDecoder:\n"
        "    def generate_small(self, ids, n):\n"
        "        return n, ids\n"
        "    def verify(self, ids, n, _):\n"
        "        big_probs, small_probs = torch.softmax(self.big_model(ids).logits[0, -1], -1), 0.0\n"
        "        return [int(torch.multinomial(torch.clamp(big_probs-small_probs, 0)[None].pow(1), 1))]\n"
    )
    engine = named("specdec")[0]
    said: list[str] = []
    found = judged_apart(engine, tmp_path, said.append)
    assert found["verdict"] == "lossless"
    assert found["control"]["verdict"] == "not rejected"  # the control does nothing to this code, and that is said
    assert {"{", '{"verdict": "lossy"}'} <= {*said}  # what the engine's own code prints is no answer


def test_an_archive_is_pinned_by_its_hash(tmp_path: Path) -> None:
    file = tmp_path / "archives" / "toy-1-py3-none-any.whl"
    file.parent.mkdir()
    with zipfile.ZipFile(file, "w") as whole:
        whole.writestr("toysampler/sampler.py", SAMPLER)
        whole.writestr("toysampler/weights.bin", "large")
    right = hashlib.sha256(file.read_bytes()).hexdigest()
    with pytest.raises(ArchiveError, match="is pinned for toy 1"):
        unpacked(Archive(file.name, "0" * 64), tmp_path)
    folder = unpacked(Archive(file.name, right), tmp_path)
    assert sorted(one.name for one in folder.rglob("*.*")) == [".whole", "sampler.py"]


@pytest.mark.parametrize(
    ("code", "said"),
    [("import time; time.sleep(60)", "was stopped after 0.5 s"), ("raise SystemExit(3)", "ended with 3 and no answer")],
)
def test_a_process_that_hangs_or_fails_is_an_error(
    code: str, said: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """One that hangs says nothing, and reading what it says would wait for ever."""
    monkeypatch.setattr(worker, "WORKER", (sys.executable, "-c", code))
    monkeypatch.setattr(worker, "SECONDS", 0.5 if "sleep" in code else 60)
    with pytest.raises(worker.WorkerError, match=said):
        judged_apart(ENGINES[0], tmp_path)


def test_the_bound_of_rounding_knows_the_rarest_token_of_every_text() -> None:
    """It once looked at some two hundred texts: a sound engine could have been lossy for a rare token behind them."""

    def target(prefix: Sequence[int]) -> list[float]:
        return [2.0**-100, 0.25, 0.25, 0.25, 0.25] if tuple(prefix) == (4, 4, 4, 4) else [0.2] * 5

    def flat(_: Sequence[int]) -> list[float]:
        return [0.2] * 5

    engine = ENGINES[0]
    assert bound_of(engine, (target, flat), Options(), 5) > 2 * bound_of(engine, (flat, flat), Options(), 5)
    assert bound_of(engine, (target, flat), Options(), 4) == bound_of(engine, (flat, flat), Options(), 4)


@pytest.mark.parametrize("text", [(), (1,), (1, 0)])
def test_drafts_handed_over_beside_a_cache_are_read_after_it(text: tuple[int, ...], monkeypatch: Any) -> None:
    """The last token and the drafts once looked like a prompt of as many tokens, and a right sampler lossy for it."""

    def misread() -> list[tuple[int, ...]]:
        wrong: list[tuple[int, ...]] = []
        for drafts in product((0, 1), repeat=3):
            step = Step(*COINS.models, 3, text=text)
            target, _ = step.models()
            cache = target(step.ids()[:, :-1]).past_key_values
            rows = target(torch.tensor([[step.prompt[-1], *drafts]]), past_key_values=cache).logits[0]
            wrong += [] if rows.equal(step.rows(step.target, drafts)) else [drafts]
        return wrong

    assert misread() == []
    monkeypatch.setattr(engine_record, "PROMPT", (1, 0, 1))  # the control
    assert misread() or len(text) > 1


@pytest.mark.parametrize("prompt", [engine_record.PROMPT, (1, 0, 1)])
def test_models_in_numpy_know_where_the_prompt_ends(prompt: tuple[int, ...], monkeypatch: Any) -> None:
    """jaymody's adapter once counted three tokens of a prompt that had five, and a right sampler was lossy for it."""
    for place in (engine_record, loops):
        monkeypatch.setattr(place, "PROMPT", prompt)
    seen: list[Any] = []

    def speculative_sampling(ids: Any, draft: Any, target: Any, *_: int) -> Any:
        seen.extend([draft(ids)[-1], target(np.append(ids, 1))[-1], target(np.append(ids, [1, 0]))[-2]])
        return np.append(ids, 1)

    module, models = SimpleNamespace(speculative_sampling=speculative_sampling), COINS.models
    one_round: Any = loops.JAYMODY.run
    assert list(one_round(module, Step(*models, 1))) == [1]
    assert [row.tolist() for row in seen] == [models[1](()), models[0]((1,)), models[0]((1,))]
