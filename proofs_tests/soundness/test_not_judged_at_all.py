"""Functions that were never run as samplers got LOSSY with a TypeError; where nothing was judged, nothing is said."""

from __future__ import annotations

from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest
import typer
from typer.testing import CliRunner

from proofs_tests.soundness.audited import not_judged, verdict_of
from spec_math import check_lossless_block
from spec_math.audit import check_sampler
from spec_math.cli import app
from spec_math.cli.run import run
from spec_math.verdict import Lossless, Lossy

CODE = """
class Sampler:
    def __init__(self, kind=right):
        self.kind = kind
    def verify(self, tokens, target, draft):
        return self.kind(tokens[0], target, draft)
    async def later(self, tokens, target, draft):
        return self.kind(tokens[0], target, draft)

async def asynchronous(tokens, target, draft):
    return right(tokens[0], target, draft)

def yielding(tokens, target, draft):
    yield right(tokens[0], target, draft)

def of_models(target_model, draft_model, input_ids, past_key_values):
    return target_model(input_ids, past_key_values=past_key_values).logits

def of_a_model(model, ids):
    return model(ids).logits.argmax()

def generate(coin, prefix):
    return (coin.draw([0.5, 0.5]),)

def of_text(coin, target_model, draft_model, prefix, lookahead):
    return (coin.draw(target_model(prefix)),)

def of_logits(tokens, target_logits, draft_logits):
    return right(tokens[0], target_logits, draft_logits)

def of_uniforms(tokens, target, draft, uniforms):
    x = tokens[0]
    return x if uniforms[0] * draft[x] < target[x] else corrected(target, draft)

def of_a_generator(tokens, target, draft, rng):
    x, held = tokens[0], [rng]
    return x if held[0].random() * draft[x] < target[x] else corrected(target, draft)

def of_something(tokens, target, draft, alpha):
    return right(tokens[0], target, draft)

def of_the_target(tokens, target):
    return random.choices(range(len(target)), target)[0]

def always_breaks(tokens, target, draft):
    raise ValueError("wants a batch")

def returns_a_pair(tokens, target, draft):
    return right(tokens[0], target, draft), True

def returns_nothing(tokens, target, draft):
    right(tokens[0], target, draft)

def returns_a_batch(tokens, target, draft):
    return [[right(tokens[0], target, draft)]]

def returns_whether(tokens, target, draft):
    return accepted(tokens[0], target, draft)

def returns_a_coroutine(tokens, target, draft):
    async def later():
        return right(tokens[0], target, draft)
    found = later()
    found.close()
    return found

bound = partial(Sampler().verify, (1,))
"""

NOT_JUDGED = [
    ("Sampler.verify", "self.kind=None,"),
    ("Sampler.later", "asyncio.run(…)"),
    ("Sampler", "it is a class"),
    ("asynchronous", "asyncio.run(…)"),
    ("yielding", "list(…)"),
    ("of_models", "target_model=target_model,"),
    ("of_a_model", "model=target_model,\n    model=draft_model,"),
    ("generate", "check_lossless_block(lambda coin, prefix: ..., model, horizon=2)"),
    ("of_text", "check_lossless_block(lambda coin, prefix: ..., model, horizon=2)"),
    ("of_logits", "target_logits=target.log(),\n    draft_logits=draft.log(),"),
    ("of_uniforms", "uniforms=torch.rand(len(tokens) + 1),"),
    ("of_a_generator", "rng=np.random.default_rng(),"),
    ("of_something", "alpha=None,"),
    ("of_the_target", "it does not take the draft's distribution"),
    ("always_breaks", "ValueError: wants a batch"),
    ("returns_a_pair", "wrap it so that it returns the token"),
    ("returns_nothing", "emitted None"),
    ("returns_a_batch", "flat list"),
    ("returns_whether", "not a token index"),
    ("returns_a_coroutine", "not a token index"),
    ("bound", "a partial binds tokens"),
]


@pytest.mark.parametrize(("name", "said"), NOT_JUDGED)
@pytest.mark.filterwarnings("ignore::RuntimeWarning")
def test_what_cannot_be_called_is_not_judged_and_told_its_adapter(name: str, said: str, tmp_path: Path) -> None:
    verdict = verdict_of(CODE, name, tmp_path)
    assert not_judged(verdict), verdict
    assert said in verdict.explanation, verdict.explanation


ADAPTERS = """
import asyncio
import numpy as np
method = lambda tokens, target, draft: Sampler(KIND).verify(tokens, target, draft)
ran = lambda tokens, target, draft: asyncio.run(asynchronous(tokens, target, draft))
listed = lambda tokens, target, draft: list(yielding(tokens, target, draft))[0]
uniforms = lambda tokens, target, draft: of_uniforms(tokens, target, draft, np.random.random(len(tokens) + 1))
made = lambda tokens, target, draft: of_a_generator(tokens, target, draft, np.random.default_rng())
bound_last = lambda tokens, target, draft: of_something(tokens, target, draft, 1.0)
wrapped = lambda tokens, target, draft: of_the_target(tokens, target)
"""


@pytest.mark.parametrize("name", ["method", "listed", "uniforms", "made", "bound_last", "wrapped"])
def test_with_its_adapter_it_is_judged(name: str, tmp_path: Path) -> None:
    """Right ones pass; the control is the same code with a correction from the target in place of the residual."""
    code = CODE + ADAPTERS.replace("KIND", "right")
    assert isinstance(verdict_of(code, name, tmp_path), Lossless)
    wrong = (code + "\nright = wrong\ncorrected = lambda target, draft: drawn(target)\n").replace("right)", "wrong)")
    expected = Lossless if name == "wrapped" else Lossy
    assert isinstance(verdict_of(wrong, name, tmp_path), expected)


def test_the_adapter_of_a_generator_of_texts_is_judged_by_the_judge_of_blocks() -> None:
    def generate(coin: Any, prefix: Any) -> Any:  # noqa: ARG001
        return (coin.draw([Fraction(1, 4), Fraction(3, 4)]),)

    assert not_judged(check_sampler(generate, ["1/4", "3/4"], ["1/2", "1/2"]))
    for law, right in ((["1/4", "3/4"], True), (["1/2", "1/2"], False)):

        def model(prefix: Any, law: Any = law) -> Any:  # noqa: ARG001
            return law

        assert bool(check_lossless_block(lambda coin, prefix: generate(coin, prefix), model, horizon=2)) is right


SOME = """
def breaks_on_one(tokens, target, draft):
    if tokens[0] == 0:
        raise RuntimeError("no token was sampled")
    return right(tokens[0], target, draft)

def breaks_when_rejected(tokens, target, draft):
    if accepted(tokens[0], target, draft):
        return tokens[0]
    raise RuntimeError("not written yet")

def forgets_to_return(tokens, target, draft):
    if accepted(tokens[0], target, draft):
        return tokens[0]

def emits_padding(tokens, target, draft):
    return tokens[0] if accepted(tokens[0], target, draft) else len(target)
"""


@pytest.mark.parametrize("name", ["breaks_on_one", "breaks_when_rejected", "emits_padding"])
def test_what_breaks_on_some_paths_is_lossy_with_its_path(name: str, tmp_path: Path) -> None:
    verdict = verdict_of(SOME, name, tmp_path)
    assert isinstance(verdict, Lossy)
    assert verdict.path[0].startswith("draft 1: token")


def test_none_may_mean_that_all_drafts_were_rejected(tmp_path: Path) -> None:
    verdict = verdict_of(SOME, "forgets_to_return", tmp_path)
    assert not_judged(verdict)
    assert "if that means that all drafts were rejected" in verdict.explanation


OF_TYPES = """
def wants_an_array(tokens, target, draft):
    '''A helper in another module would hide that it needs NumPy.'''
    x = tokens[0]
    return x if accepted(x, target, draft) else corrected(target.astype("float64"), draft)

def wants_lists(tokens, target, draft):
    x = tokens[0]
    return x if accepted(x, target, draft) else (target.index(max(target)), corrected(target, draft))[1]

def wants_a_number(tokens, target, draft):
    return right(int(tokens), target, draft)

def wants_a_text(tokens, target, draft):
    x = tokens[0]
    return x if accepted(x, target, draft) else target.upper()
"""


def test_numbers_that_nobody_asked_for_are_not_the_sampler_s_fault(tmp_path: Path) -> None:
    for name in ("wants_an_array", "wants_lists", "wants_a_number"):
        assert isinstance(verdict_of(OF_TYPES, name, tmp_path), Lossless), name
    assert not_judged(verdict_of(OF_TYPES, "wants_a_text", tmp_path))
    assert isinstance(verdict_of(OF_TYPES, "wants_a_text", tmp_path, numbers="float64"), Lossy)


CHAINS = """
def chain(tokens, targets, drafts):
    for place, x in enumerate(tokens):
        if not accepted(x, targets[place], drafts[place]):
            return [*tokens[:place], KIND(targets[place], drafts[place])]
    return [*tokens, drawn(targets[-1])]

def redrawn(target, draft):
    return drawn(target)

def padded(tokens, targets, drafts):
    found = list(chain(tokens, targets, drafts))
    return found + [PAD] * (len(tokens) + 1 - len(found))

def how_many(tokens, targets, drafts):
    found = chain(tokens, targets, drafts)
    return len(found) - 1, found[-1]

def the_next_alone(tokens, targets, drafts):
    return chain(tokens, targets, drafts)[-1]

def in_a_batch(tokens, targets, drafts):
    return [chain(tokens, targets, drafts)]

def always_accepts(tokens, targets, drafts):
    return [*tokens, drawn(targets[-1])]

def only_the_first(tokens, targets, drafts):
    return tokens[0]
"""


@pytest.mark.parametrize("lookahead", [1, 2])
def test_answers_that_are_something_else_than_tokens_are_not_read_as_tokens(lookahead: int, tmp_path: Path) -> None:
    """Padding, a count, a single token and a batch: from a right chain, and from a wrong one."""
    for kind, expected in (("corrected", Lossless), ("redrawn", Lossy)):
        code = CHAINS.replace("KIND", kind)
        assert isinstance(verdict_of(code, "chain", tmp_path, lookahead=lookahead), expected)
        for name, pad in (("padded", "-1"), ("padded", "99"), ("padded", "0"), ("how_many", ""), ("in_a_batch", "")):
            verdict = verdict_of(code.replace("PAD", pad), name, tmp_path, lookahead=lookahead)
            assert not_judged(verdict), (kind, name, pad)
        assert not_judged(verdict_of(code, "the_next_alone", tmp_path, lookahead=lookahead))
    for name in ("always_accepts", "only_the_first"):  # the control: wrong chains whose answers are of one length
        assert isinstance(verdict_of(CHAINS, name, tmp_path, lookahead=lookahead), Lossy)


LEAVES = """
import sys

def leaves(tokens, target, draft):
    sys.exit(0)

def leaves_sometimes(tokens, target, draft):
    return right(tokens[0], target, draft) if tokens[0] else sys.exit(0)
"""


def test_a_function_that_ends_the_process_does_not_end_the_audit(tmp_path: Path) -> None:
    """Its exit code 0 would read as lossless."""
    assert not_judged(verdict_of(LEAVES, "leaves", tmp_path))
    assert isinstance(verdict_of(LEAVES, "leaves_sometimes", tmp_path), Lossy)


def test_a_script_that_ends_the_process_when_it_is_loaded_is_bad_input(tmp_path: Path) -> None:
    script = tmp_path / "script.py"
    script.write_text("import sys\n\ndef step(tokens, target, draft):\n    return tokens[0]\n\nsys.exit(0)\n")
    result = CliRunner().invoke(app, ["audit", f"{script}:step"])
    assert result.exit_code == 2
    assert "ended the process (exit code 0); nothing was judged" in " ".join(result.output.split())


def test_a_fault_of_ours_does_not_read_as_lossy(capsys: pytest.CaptureFixture[str]) -> None:
    def work(console: Any, progress: Any) -> int:  # noqa: ARG001
        raise RuntimeError("a bug")

    with pytest.raises(typer.Exit) as left:
        run(work)
    assert left.value.exit_code == 70
    assert "a fault of spec_math" in capsys.readouterr().err
