"""Samplers in eight shapes of the field: the adapter that audit writes, completed by at most two lines, judges them."""

from __future__ import annotations

from pathlib import Path
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
from torch_bridge import check_sampler  # noqa: E402
from torch_bridge.adapters import adapter, emitted  # noqa: E402
from torch_bridge.subject import subject_of  # noqa: E402

CHAIN = chain([["1/2", "1/2"], ["1/4", "3/4"]], [["3/4", "1/4"]])
ONE = position(["1/4", "3/4"], ["1/2", "1/2"])

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
    "a record's fields": (
        "verify",
        FIELD,
        WRONG,
        CHAIN,
        ['return emitted(returned, tokens, "count,token,_")'],
    ),
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
