"""Samplers in eight shapes of the field: the adapter that audit writes, completed by at most two lines, judges them."""

from __future__ import annotations

import re
from pathlib import Path
from time import monotonic
from typing import Any

import pytest

torch = pytest.importorskip("torch", reason="torch is an optional extra")

from typer.testing import CliRunner  # noqa: E402

from spec_math.audit import Judgement, judge  # noqa: E402
from spec_math.cli import app  # noqa: E402
from spec_math.pathwise.loading import load_sampler  # noqa: E402
from spec_math.samplers.case import chain, position  # noqa: E402
from spec_math.studies.audits.study import AuditRequest, adapter_file, open_names  # noqa: E402
from spec_math.verdict import Lossy, Reason, Undecided  # noqa: E402
from torch_bridge import check_sampler, subject  # noqa: E402
from torch_bridge.adapters import adapter, emitted  # noqa: E402
from torch_bridge.returned import Told, parts_of  # noqa: E402
from torch_bridge.subject import subject_of  # noqa: E402

CHAIN = chain([["1/2", "1/2"], ["1/4", "3/4"]], [["3/4", "1/4"]])
ONE = position(["1/4", "3/4"], ["1/2", "1/2"])
TWO_TOKENS = chain([["1/4", "3/4"], ["2/3", "1/3"]], [["1/2", "1/2"]])
TWO_ROUNDS = chain([["1/4", "3/4"], ["2/3", "1/3"], ["3/5", "2/5"]], [["1/2", "1/2"], ["1/3", "2/3"]])

HEAD = """import torch
from dataclasses import dataclass

def residual(p, q):
    left = (p - q).clamp(min=0)
    return left / left.sum()

def rand(*size):
    return torch.rand(*size, dtype=torch.float64)
"""

METHOD = """
class Engine:
    def __init__(self):
        raise RuntimeError("loads weights")
    def verify(self, input_ids, draft_tokens, draft_probs):
        ids = torch.cat([input_ids, draft_tokens], 1)
        return self.emitted(self.model(ids).logits[0, -self.gamma - 1:].softmax(-1), draft_tokens[0], draft_probs[0])
    def emitted(self, p, x, q):
        for n in range(self.gamma):
            if rand(1) >= p[n, x[n]] / q[n, x[n]]:
                return torch.cat([x[:n], torch.multinomial(residual(p[n], q[n]), 1)])
        return torch.cat([x, torch.multinomial(p[-1], 1)])
"""

LOGITS = """
def verify(draft_ids, draft_logits, verify_logits):
    p, q = verify_logits.softmax(-1), draft_logits.softmax(-1)
    for n, x in enumerate(draft_ids):
        if rand(1) >= p[n, x] / q[n, x]:
            return [*draft_ids[:n].tolist(), int(torch.multinomial(residual(p[n], q[n]), 1))]
    return [*draft_ids.tolist(), int(torch.multinomial(p[-1], 1))]
"""

LAW = """
def verify(draft_tokens, target_probs, draft_probs):
    p, q, x = target_probs[0], draft_probs[0], draft_tokens[0]
    for n in range(len(x)):
        if rand(1) >= p[n, x[n]] / q[n, x[n]]:
            return torch.tensor(0), n, residual(p[n], q[n])
    return torch.tensor(0), len(x), p[-1]
"""

LENGTH = """
def verify(draft_tokens, target_logits, draft_logits):
    p, q, x = target_logits.softmax(-1), draft_logits.softmax(-1), draft_tokens
    out = torch.cat([x, torch.multinomial(p[-1], 1)])
    for n in range(len(x)):
        if rand(1) >= p[n, x[n]] / q[n, x[n]]:
            out[n] = torch.multinomial(residual(p[n], q[n]), 1)[0]
            return out, n + 1
    return out, len(out)
"""

FIELD = """
@dataclass
class Outcome:
    kept: int
    following: torch.Tensor
    rate: float

def verify(draft_tokens, target_probs, draft_probs):
    p, q, x = target_probs[0], draft_probs[0], draft_tokens[0]
    for n in range(len(x)):
        if rand(1) >= p[n, x[n]] / q[n, x[n]]:
            return Outcome(n, torch.multinomial(residual(p[n], q[n]), 1), 0.0)
    return Outcome(len(x), torch.multinomial(p[-1], 1), 1.0)
"""

INDEX = """
def verify(draft_tokens, target_probs, draft_probs):
    for n, x in enumerate(draft_tokens):
        if rand(1) < target_probs[x] / draft_probs[x]:
            return n
"""

CONFIG = """
def verify(input_ids, draft_model, target_model, config):
    ids, q, x = input_ids, [], []
    for _ in range(config.num_draft_tokens):
        q.append((draft_model(ids).logits[0, -1] / config.temperature).softmax(-1))
        x.append(torch.multinomial(q[-1], 1))
        ids = torch.cat([ids, x[-1][None]], 1)
    p = (target_model(ids).logits[0, -len(x) - 1:] / config.temperature).softmax(-1)
    for n in range(len(x)):
        if rand(1) >= p[n, x[n]] / q[n][x[n]]:
            return torch.cat([*x[:n], torch.multinomial(residual(p[n], q[n]), 1)])
    return torch.cat([*x, torch.multinomial(p[-1], 1)])
"""

MODES = """
def verify(model, input_ids, gamma):
    ids, q, x = input_ids, [], []
    for _ in range(gamma):
        q.append(model(ids, draft=True).logits[0, -1].softmax(-1))
        x.append(torch.multinomial(q[-1], 1))
        ids = torch.cat([ids, x[-1][None]], 1)
    p = model(ids).logits[0, -gamma - 1:].softmax(-1)
    for n in range(gamma):
        if rand(1) >= p[n, x[n]] / q[n][x[n]]:
            return torch.cat([*x[:n], torch.multinomial(residual(p[n], q[n]), 1)])
    return torch.cat([*x, torch.multinomial(p[-1], 1)])
"""

TWO = "model=lambda ids, draft=False: (draft_model if draft else target_model)(ids),"
WRONG = "residual(p[n], q[n])", "p[n]"

SHAPES: dict[str, tuple[str, str, tuple[str, str], Any, list[str]]] = {
    "a method that finds its model in its object": ("Engine.verify", METHOD, WRONG, CHAIN, []),
    "logits of a name that says no side": ("verify", LOGITS, WRONG, CHAIN, ["verify_logits=target.log(),"]),
    "(best, count, law)": ("verify", LAW, WRONG, CHAIN, ['return emitted(returned, tokens, "_,count,law")']),
    "(tokens, length)": ("verify", LENGTH, WRONG, CHAIN, ['return emitted(returned, tokens, "tokens,length")']),
    "a record's fields": ("verify", FIELD, WRONG, CHAIN, ['return emitted(returned, tokens, "count,token,_")']),
    "an index or None": (
        "verify",
        INDEX,
        ("target_probs[x] / draft_probs[x]", "target_probs[x]"),
        ONE,
        ['return emitted((judged(tokens, target, draft), (target - draft).clip(0)), tokens, "index,law")'],
    ),
    "an object of options": (
        "verify",
        CONFIG,
        WRONG,
        CHAIN,
        ["config=SimpleNamespace(num_draft_tokens=len(target) - 1, temperature=1.0),"],
    ),
    "one model with two modes": ("verify", MODES, WRONG, CHAIN, ["model=draft_model,"]),
}


READ = ("(best, count, law)", "(tokens, length)", "a record's fields")
"""The shapes whose answers are read in the one way with which the sampler is lossless."""


def adapter_of(folder: Path, shape: str, changed: bool = False) -> tuple[str, Judgement]:
    """Write the sampler of a shape, and return the adapter that is written for it, with the verdict on it as it is."""
    name, source, wrong, case, _ = SHAPES[shape]
    assert source.count(wrong[0]) == 1
    (folder / "engine.py").write_text(HEAD + (source.replace(*wrong) if changed else source))
    request = AuditRequest(f"{folder / 'engine.py'}:{name}", adapter=folder / "adapter.py")
    found = judge(subject_of(load_sampler(request.place).value), case)
    return adapter_file(request, found), found


def completed(text: str, shape: str) -> str:
    """Uncomment the lines that somebody who knows the sampler chooses."""
    for line in SHAPES[shape][4]:
        assert f"# {line}" in text or (shape in READ and f"    {line}  # of " in text), text
        text = text.replace(f"# {line}", line, 1)
    if shape == "one model with two modes":
        text = text.replace("model=draft_model,", TWO, 1)
    assert open_names(text) == []
    assert len(text.splitlines()) <= 40
    return text


@pytest.mark.parametrize("shape", SHAPES)
def test_a_right_sampler_is_lossless_by_its_adapter_and_a_wrong_one_lossy(tmp_path: Path, shape: str) -> None:
    text, direct = adapter_of(tmp_path, shape)
    lines = SHAPES[shape][4]
    assert bool(open_names(text)) == (bool(lines) and shape not in READ)
    # Of a wrong sampler all readings are left open.
    assert ("With none of its " in adapter_of(tmp_path, shape, True)[0]) == (shape in READ)
    assert type(direct.verdict).__name__ == ("Undecided" if lines else "Lossless"), direct.verdict
    (tmp_path / "adapter.py").write_text(completed(text, shape))
    for changed, verdict in ((False, "Lossless"), (True, "Lossy")):
        _ = adapter_of(tmp_path, shape, changed)
        found = judge(subject_of(load_sampler(f"{tmp_path / 'adapter.py'}:sampler").value), SHAPES[shape][3])
        assert type(found.verdict).__name__ == verdict, found.verdict
        if not lines:
            assert adapter_of(tmp_path, shape, changed)[1].law == found.law


ENGINE = """
from abc import ABC, abstractmethod

class Engine(ABC):
    def __init__(self, target_model, draft_model, tokenizer, gamma=4, temperature=1.0, device="cuda"):
        self.big, self.small, self.tok = target_model.to(device), draft_model.to(device), tokenizer
        self.ahead, self.heat, self.rounds, self.seen = gamma, temperature, 0, []

    @abstractmethod
    def load(self): ...

    @torch.no_grad()
    def generate(self, prompt, max_new_tokens):
        ids = self.tok(prompt, return_tensors="pt").input_ids
        end = ids.shape[1] + max_new_tokens
        while ids.shape[1] < end and self.tok.eos_token_id not in ids[0]:
            text, q, x = ids, [], []
            for _ in range(self.ahead):
                q.append((self.small(text).logits[0, -1] / self.heat).softmax(-1))
                x.append(torch.multinomial(q[-1], 1))
                text = torch.cat([text, x[-1][None]], 1)
            p = (self.big(text).logits[0, -self.ahead - 1:] / self.heat).softmax(-1)
            kept = next((n for n in range(self.ahead) if rand(1) >= p[n, x[n]] / q[n][x[n]]), self.ahead)
            law = residual(p[kept], q[kept]) if kept < self.ahead else p[-1]
            self.rounds += 1
            self.seen.append(kept)
            ids = torch.cat([ids, *[one[None] for one in x[:kept]], torch.multinomial(law, 1)[None]], 1)
        return self.tok.decode(ids[0], skip_special_tokens=True), self.rounds
"""


@pytest.mark.parametrize("changed", [False, True])
def test_an_object_is_made_by_its_init_where_that_gives_all_it_looks_for(tmp_path: Path, changed: bool) -> None:
    wrong = "residual(p[kept], q[kept]) if", "p[kept] if"
    (tmp_path / "engine.py").write_text(HEAD + (ENGINE.replace(*wrong) if changed else ENGINE))
    request = AuditRequest(f"{tmp_path / 'engine.py'}:Engine.generate", adapter=tmp_path / "adapter.py")
    found = judge(subject_of(load_sampler(request.place).value), TWO_TOKENS)
    assert type(found.verdict).__name__ == ("Lossy" if changed else "Lossless"), found.verdict
    text = adapter_file(request, found)
    assert "initialised(" in text
    assert open_names(text) == []


ATTRIBUTES = ENGINE.replace(
    "self.big, self.small", 'open("weights")\n        self.target_model, self.draft_model'
).replace("self.small(", "self.draft_model(")
ATTRIBUTES = ATTRIBUTES.replace("self.big(", "self.target_model(").replace("self.ahead", "self.options.gamma")
ATTRIBUTES = ATTRIBUTES.replace("self.heat", "self.options.temp")


def test_an_object_that_cannot_be_made_is_given_what_it_looks_for(tmp_path: Path) -> None:
    """Of a class that is abstract and loads weights, a method finds models, counts, lists and options in its object."""
    (tmp_path / "engine.py").write_text(HEAD + ATTRIBUTES)
    request = AuditRequest(f"{tmp_path / 'engine.py'}:Engine.generate", adapter=tmp_path / "adapter.py")
    text = adapter_file(request, judge(subject_of(load_sampler(request.place).value), TWO_TOKENS))
    assert open_names(text) == ["tok", "options"]
    lines = "rounds=0,", "seen=[],", "# options=SimpleNamespace(gamma=len(target) - 1, temp=1.0),  # open"
    assert all(line in text for line in lines), text


PARTS = """
@dataclass
class Options:
    temperature: float = 0.5
    top_p: float = 1.0

def verify(draft_ids, verify_logits, q_token_probs: "torch.Tensor | None", q_logits, how, options: Options):
    p = (verify_logits / options.temperature).softmax(-1)
    for n, x in enumerate(draft_ids):
        if not how.get("do_sample", False) or rand(1) >= p[n, x] / q_token_probs[n]:
            return int(torch.multinomial(residual(p[n], q_logits[n].softmax(-1)), 1)), n
    return int(torch.multinomial(p[-1], 1)), len(draft_ids)
"""


def test_of_what_is_open_the_first_lines_make_it_lossless(tmp_path: Path) -> None:
    (tmp_path / "engine.py").write_text(HEAD + PARTS)
    request = AuditRequest(f"{tmp_path / 'engine.py'}:verify", adapter=tmp_path / "adapter.py")
    text = adapter_file(request, judge(subject_of(load_sampler(request.place).value), CHAIN))
    assert "With the first line of each name it is lossless on a small case." in text
    for name in open_names(text):
        text = re.sub(rf"# ({name}\b.*)  # open", r"\1", text, count=1)
    lines = "q_token_probs=draft[range(len(tokens)), tokens],", 'how={"do_sample": True},', "Options(temperature=1.0)"
    assert all(line in text for line in lines), text
    (tmp_path / "adapter.py").write_text(text)
    for changed, verdict in (
        (PARTS, "Lossless"),
        (PARTS.replace("residual(p[n], q_logits[n].softmax(-1))", "p[n]"), "Lossy"),
    ):
        (tmp_path / "engine.py").write_text(HEAD + changed)
        found = judge(subject_of(load_sampler(f"{tmp_path / 'adapter.py'}:sampler").value), CHAIN)
        assert type(found.verdict).__name__ == verdict, found.verdict


ANSWERS = {
    "a list of a number and a token": ("[n, t]", "count,token"),
    "a dictionary": ('{"rate": 0.5, "n": n, "next": t}', "_,count,token"),
    "a record with a number before": ("Told(9, n, t, 0.5)", "_,count,token,_"),
    "drafts that may be none, a number, a token": ("(x[:n], n, t)", "tokens,_,token"),
    "a list of tensors of one, which needs no line": ("([one[None] for one in [*x[:n], t]], {})", ""),
}
ANSWERED = """
@dataclass
class Told:
    proposed: int
    n: int
    t: int
    rate: float

def verify(draft_tokens, target_probs, draft_probs):
    p, q, x = target_probs[0], draft_probs[0], draft_tokens[0]
    n = next((n for n in range(len(x)) if rand(1) >= p[n, x[n]] / q[n, x[n]]), len(x))
    t = torch.multinomial(residual(p[n], q[n]) if n < len(x) else p[-1], 1)[0]
    return {}
"""


@pytest.mark.parametrize("name", ANSWERS)
def test_an_answer_is_read_in_the_way_that_makes_it_lossless(tmp_path: Path, name: str) -> None:
    answer, read = ANSWERS[name]
    (tmp_path / "engine.py").write_text(HEAD + ANSWERED.replace("{}", answer))
    request = AuditRequest(f"{tmp_path / 'engine.py'}:verify", adapter=tmp_path / "adapter.py")
    text = adapter_file(request, judge(subject_of(load_sampler(request.place).value), TWO_ROUNDS))
    line = f'return emitted(returned, tokens, "{read}")  # of ' if read else "return verified(returned, tokens)\n"
    assert line in text
    assert open_names(text) == []


TIMED = """
import time

def verify(draft_tokens, target_probs, draft_probs):
    begun, p, q, x = time.perf_counter(), target_probs[0], draft_probs[0], draft_tokens[0]
    n = next((n for n in range(len(x)) if rand(1) >= p[n, x[n]] / q[n, x[n]]), len(x))
    t = torch.multinomial(residual(p[n], q[n]) if n < len(x) else p[-1], 1)[0]
    return n, t, round(n / (time.perf_counter() - begun), 2)
"""


def test_a_clock_that_measures_is_taken_to_tick_and_one_that_decides_is_not_judged(tmp_path: Path) -> None:
    (tmp_path / "engine.py").write_text(HEAD + TIMED)
    request = AuditRequest(f"{tmp_path / 'engine.py'}:verify", adapter=tmp_path / "adapter.py")
    found = judge(subject_of(load_sampler(request.place).value), CHAIN)
    assert (found.verdict.reason, "ticking(judged)" in str(found.verdict)) == (Reason.RANDOMNESS_NOT_SEEN, True)
    text = adapter_file(request, found)
    assert "judged = ticking(judged)  # " in text
    (tmp_path / "adapter.py").write_text(text)
    for changed, verdict in (
        (TIMED, "Lossless"),
        (TIMED.replace("[n, x[n]]), len", "[n, x[n]] + begun), len"), "Undecided"),
    ):
        (tmp_path / "engine.py").write_text(HEAD + changed)
        found = judge(subject_of(load_sampler(f"{tmp_path / 'adapter.py'}:sampler").value), CHAIN)
        assert type(found.verdict).__name__ == verdict, found.verdict


@pytest.mark.skipif(torch.cuda.is_available(), reason="there is a device that code may ask for")
@pytest.mark.parametrize("changed", [False, True])
def test_code_that_asks_for_cuda_is_judged_on_the_cpu(tmp_path: Path, changed: bool) -> None:
    source = LAW.replace("p, q, x =", 'p, q, x = (one.cuda().to("cuda:0") for one in').replace(
        "tokens[0]", "tokens[0])"
    )
    source = source.replace("torch.tensor(0)", 'torch.zeros(1, device=torch.device("cuda"))')
    source = source.replace(
        "target_probs[0], draft_probs[0], draft_tokens[0])", "(target_probs[0], draft_probs[0], draft_tokens[0]))"
    )
    (tmp_path / "engine.py").write_text(HEAD + (source.replace(*WRONG) if changed else source))
    request = AuditRequest(f"{tmp_path / 'engine.py'}:verify", adapter=tmp_path / "adapter.py")
    text = adapter_file(request, judge(subject_of(load_sampler(request.place).value), CHAIN))
    assert ('return emitted(returned, tokens, "_,count,law")  # of ' in text) == (not changed)
    assert ("With none of its " in text) == changed


def test_a_denominator_that_float32_hides_is_told(tmp_path: Path) -> None:
    """A draft of mass 3/4 is accepted too rarely by 1e-9 · 4/3 of its chance, and 1/2 of all drafts are that."""
    (tmp_path / "engine.py").write_text(HEAD + LAW.replace("/ q[n, x[n]]", "/ (q[n, x[n]] + 1e-9)"))
    source = "@adapter()\ndef sampler(tokens, target, draft):\n"
    source += '    return emitted(judged(tokens[None], target[None], draft[None]), tokens, "_,count,law")\n'
    top = 'from torch_bridge.adapters import *\n\njudged = judged_at(__file__, "engine.py:verify", (), ())\n\n\n'
    (tmp_path / "adapter.py").write_text(top + source)
    command = ["audit", str(tmp_path / "adapter.py"), "--lookahead", "1", "--target", "1/2,1/2", "--draft", "3/4,1/4"]
    said = " ".join(CliRunner().invoke(app, command, env={"COLUMNS": "300"}).output.split())
    assert "is lossless" in said
    assert "given torch.float32 (given torch.float64 the total variation is 6.7e-10, which is lossy)" in said


def test_what_a_module_draws_when_it_is_first_imported_is_no_draw_of_the_sampler_s(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.syspath_prepend(tmp_path)
    (tmp_path / "seeded_when_imported.py").write_text("import os\nSEED = os.urandom(4)\n")
    source = LAW.replace("    p, q, x =", "    import seeded_when_imported\n    p, q, x =")
    (tmp_path / "engine.py").write_text(HEAD + source)
    for changed, verdict in (
        (source, "Lossless"),
        (source.replace("when_imported\n", "when_imported, os\n    os.urandom(1)\n"), "Undecided"),
    ):
        (tmp_path / "engine.py").write_text(HEAD + changed)
        fn = load_sampler(f"{tmp_path / 'engine.py'}:verify").value
        found = judge(subject_of(fn, told=Told(returns=parts_of("_,count,law"))), CHAIN)
        assert type(found.verdict).__name__ == verdict, found.verdict
        # Left open, the first way to call it would be followed by one in float32.
        assert found.subject.numbers.name == "torch.float64"


def test_threads_of_this_process_are_not_waited_for_where_lines_are_tried(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """torch's threads do not go with a process that is forked: with more than one it would wait for ever."""
    before = torch.get_num_threads()
    torch.set_num_threads(2)
    try:
        _ = torch.rand(4_000_000).exp().sum(), torch.rand(3000, 2000).softmax(-1)
        monkeypatch.setattr(subject, "EACH", 30.0)
        begun = monotonic()
        assert open_names(adapter_of(tmp_path, "(tokens, length)")[0]) == []
        assert monotonic() - begun < 30
    finally:
        torch.set_num_threads(before)


def test_a_choice_that_never_ends_is_left_alone(tmp_path: Path) -> None:
    source = LOGITS.replace("verify_logits)", "verify_logits, alpha)").replace(
        "    p, q", "    while alpha == 1.0: pass\n    p, q", 1
    )
    (tmp_path / "engine.py").write_text(HEAD + source.replace("residual", "alpha and residual"))
    request = AuditRequest(f"{tmp_path / 'engine.py'}:verify", adapter=tmp_path / "adapter.py")
    text = adapter_file(request, judge(subject_of(load_sampler(request.place).value), CHAIN))
    assert open_names(text) == ["verify_logits", "alpha"]


def test_the_command_writes_an_adapter_says_what_is_open_and_judges_it(tmp_path: Path) -> None:
    (tmp_path / "engine.py").write_text(HEAD + LOGITS)
    laws = "--lookahead", "1", "--target", "1/2,1/2;1/4,3/4", "--draft", "3/4,1/4"
    adapter = tmp_path / "adapter.py"
    command = ["audit", f"{tmp_path / 'engine.py'}:verify", "--adapter", str(adapter), *laws]
    written = CliRunner().invoke(app, command)
    assert (written.exit_code, "open for verify_logits" in " ".join(written.output.split())) == (3, True)
    still_open = CliRunner().invoke(app, ["audit", str(adapter), *laws])
    assert (still_open.exit_code, "verify_logits" in still_open.output) == (2, True)
    adapter.write_text(completed(adapter.read_text(), "logits of a name that says no side"))
    assert CliRunner().invoke(app, ["audit", str(adapter), *laws]).exit_code == 0


@pytest.mark.parametrize("named", [["vllm"], ["--command", "./mine"], []])
def test_an_adapter_needs_a_function(named: list[str]) -> None:
    said = CliRunner().invoke(app, ["audit", *named, "--adapter", "adapter.py"], env={"COLUMNS": "200"})
    assert said.exit_code == 2
    assert "--adapter needs MODULE:FUNCTION" in said.output


@pytest.mark.parametrize("option", [["--numbers", "torch.float16"], ["--returns", "tokens"], ["--temperature", "1/2"]])
def test_an_adapter_says_itself_how_it_is_called(option: list[str], tmp_path: Path) -> None:
    file = tmp_path / "mine.py"
    _ = file.write_text(OWN, encoding="utf-8")
    assert CliRunner().invoke(app, ["audit", str(file), *LAWS]).exit_code == 0
    said = CliRunner().invoke(app, ["audit", str(file), *LAWS, *option], env={"COLUMNS": "200"})
    assert said.exit_code == 2
    assert "an adapter says how it is called" in said.output or "at temperature 1, not 1/2" in said.output


LAWS = ["--target", "1/4,3/4", "--draft", "1/2,1/2", "--k", "1"]
OWN = """
from torch_bridge.adapters import *

@adapter()
def sampler(target, draft):
    return torch.multinomial(target[0], 1)
"""


NOISY = """
import torch

def verify(draft_token_ids, target_probs, draft_probs, alpha):
    print("noise of each path")
    return int(torch.multinomial(target_probs[0], 1))

def raises(draft_token_ids, target_probs, draft_probs):
    raise OSError("no weights")
"""


def test_what_a_sampler_prints_is_unheard(tmp_path: Path) -> None:
    (tmp_path / "engine.py").write_text(NOISY)
    found = CliRunner().invoke(app, ["audit", f"{tmp_path / 'engine.py'}:verify", "--set", "alpha=1"])
    assert "noise" not in found.output
    assert "alpha: 1, as told" in " ".join(found.output.split())


def test_an_adapter_is_written_beside_what_is_told(tmp_path: Path) -> None:
    (tmp_path / "engine.py").write_text(NOISY.replace("alpha)", "alpha, beta)"))
    adapter = tmp_path / "adapter.py"
    command = ["audit", f"{tmp_path / 'engine.py'}:verify", "--set", "alpha=1", "--adapter", str(adapter)]
    found = CliRunner().invoke(app, command, env={"COLUMNS": "300"})
    assert found.exit_code == 3
    assert "or give roles, as --roles beta=none" in " ".join(found.output.split())
    assert open_names(adapter.read_text())[0] == "beta"
    assert "alpha=values_of(judged, ['alpha=1'])[\"alpha\"],  # as told" in adapter.read_text()


def test_an_adapter_that_fails_is_not_called_complete(tmp_path: Path) -> None:
    (tmp_path / "engine.py").write_text(NOISY)
    for name, said in (
        ("raises", "It has no open line, and has to be mended by hand"),
        ("verify", "It is open for alpha"),
    ):
        command = ["audit", f"{tmp_path / 'engine.py'}:{name}", "--adapter", str(tmp_path / "adapter.py")]
        assert said in CliRunner().invoke(app, command, env={"COLUMNS": "300"}).output


UNRUN = """
def step(target_model, draft_model, input_ids, gamma, tables):
    while tables.loop:
        pass
    return input_ids
"""


def test_what_is_returned_is_open_where_nothing_has_run(tmp_path: Path) -> None:
    (tmp_path / "engine.py").write_text(UNRUN.replace("draft_model, input_ids", "input_ids, draft_tokens"))
    command = ["audit", f"{tmp_path / 'engine.py'}:step", "--adapter", str(tmp_path / "adapter.py")]
    found = CliRunner().invoke(app, command, env={"COLUMNS": "300"})
    text = (tmp_path / "adapter.py").read_text()
    assert "    # return verified(returned, tokens)  # open\n    # return generated(returned, prompt)  # open\n" in text
    assert "open for tables and return" in " ".join(found.output.split())
    # The control: a function that drafts by itself returns a text.
    (tmp_path / "engine.py").write_text(UNRUN)
    _ = CliRunner().invoke(app, command)
    assert "\n    return generated(returned, prompt)\n" in (tmp_path / "adapter.py").read_text()


def test_a_count_that_an_adapter_tells_is_no_token() -> None:
    """The first token is the same on every path, and each answer has two tokens: a number and a token look so too."""

    def keeps(tokens: Any, law: Any) -> Any:
        return emitted((1, law), torch.tensor([0] * len(tokens)), "count,law")

    right = adapter()(lambda tokens, target: keeps(tokens, target[1]))
    wrong = adapter()(lambda tokens, target: keeps(tokens, target[1].flip(0)))
    case = [["1", "0"], ["1/4", "3/4"], ["1/2", "1/2"]], [["1", "0"], ["1/2", "1/2"]]
    assert check_sampler(right, *case, lookahead=2, horizon=2)
    assert isinstance(check_sampler(wrong, *case, lookahead=2, horizon=2), Lossy)
    # The control: what looks like a number and a token, and nobody told, stays open.
    untold = adapter()(lambda tokens, target: tuple(keeps(tokens, target[1].flip(0))))
    assert isinstance(check_sampler(untold, *case, lookahead=2, horizon=2), Undecided)


def test_a_mass_that_is_too_small_is_not_said_to_be_unseen_randomness() -> None:
    found = check_sampler(
        adapter()(lambda tokens, target: emitted((len(tokens), target[-1]), tokens, "count,law")),
        [["1999/2000", "1/2000"], ["1/2", "1/2"]],
        [["1/2", "1/2"]],
        lookahead=1,
    )
    assert isinstance(found, Undecided)
    assert (found.reason, "at least e^-7" in found.explanation) == (Reason.NOT_JUDGED, True)
