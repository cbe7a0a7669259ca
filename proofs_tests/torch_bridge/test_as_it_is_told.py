"""Samplers that take records, lists, masses, counts or candidates: each judged from its file, right and wrong.

Each is a small re-statement of how a published sampler is called and what it returns; in its wrong version one place is
changed.
"""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest

torch = pytest.importorskip("torch", reason="torch is an optional extra")

from spec_math.audit import Judgement, judge  # noqa: E402
from spec_math.field.stand_ins import given  # noqa: E402
from spec_math.pathwise.loading import load_sampler  # noqa: E402
from spec_math.samplers.case import Case, chain, position  # noqa: E402
from torch_bridge.returned import parts_of, values_of  # noqa: E402
from torch_bridge.subject import subject_of, told_subject_of  # noqa: E402

CHAIN = chain([["1/2", "1/2"], ["1/4", "3/4"]], [["3/4", "1/4"]])
UNIFORM = chain([["1/4", "3/4"], ["1/4", "3/4"]], [["1/2", "1/2"]])
ONE = position(["1/4", "3/4"], ["1/2", "1/2"])

HEAD = """from __future__ import annotations
import math, random
from dataclasses import dataclass
from typing import List, Optional
import torch

def residual(p, q):
    left = (p - q).clamp(min=0)
    return left / left.sum()
"""

RECORDS = """
@dataclass
class Drafted:
    token_id: int
    logprob: float
    text: str = ""

@dataclass
class Seen:
    token_id: int
    logprob: float
    draft_token_logprob: float | None = None

@dataclass
class Verified:
    accepted_tokens: list[Drafted]
    bonus_token: Drafted | None = None
    resample_token: Drafted | None = None

def step(draft_tokens: list[Drafted], target_logprobs: list[Seen]) -> Verified:
    kept = []
    for x, t in zip(draft_tokens, target_logprobs):
        if x.token_id != t.token_id:
            return Verified(kept, resample_token=Drafted(t.token_id, t.logprob))
        kept.append(x)
    t = target_logprobs[len(kept)]
    return Verified(kept, bonus_token=Drafted(t.token_id, t.logprob))
"""

LISTS = """
class Decoder:
    def step(self, inp: torch.Tensor, gen_toks: List[int], small_model_distributions: List[torch.Tensor]):
        ids = torch.cat([inp, torch.tensor([gen_toks], device=self.device)], 1)
        rows = torch.softmax(self.big_model(ids).logits[0, inp.size(1) - 1:], -1)
        laws = torch.cat(small_model_distributions, 0)
        out = []
        for n, x in enumerate(gen_toks):
            if torch.rand(1) < rows[n, x] / laws[n, x]:
                out.append(x)
                continue
            out.append(torch.multinomial(residual(rows[n], laws[n]), 1).item())
            return out
        out.append(torch.multinomial(rows[-1], 1).item())
        return out
"""

COUNT = """
def step(draft_token_ids, draft_logprobs, target_logprobs, *, generator=None):
    p, q, x = target_logprobs[0].exp(), draft_logprobs[0].exp(), draft_token_ids[0]
    if target_logprobs.shape[1] != len(x) + 1:
        raise ValueError("a row after the drafts is needed")
    for n in range(len(x)):
        if torch.rand(1) >= p[n, x[n]] / q[n, x[n]]:
            return torch.stack([torch.tensor(n), torch.multinomial(residual(p[n], q[n]), 1)[0]])[None]
    return torch.stack([torch.tensor(len(x)), torch.multinomial(p[len(x)], 1)[0]])[None]
"""

FIXED = """
def step(draft_token_ids, target_probs, draft_len: Optional[torch.Tensor] = None):
    p, out = target_probs[0], []
    for n, x in enumerate(draft_token_ids[0].tolist()):
        if torch.rand(1) >= p[n, x]:
            left = p[n].clone()
            left[x] = 0
            return [*out, int(torch.multinomial(left, 1))]
        out.append(x)
    return [*out, int(torch.multinomial(p[len(out)], 1))]
"""

MASSES = """
def step(target_prob, draft_prob, draft_token, target_logits, use_sampling=False):
    assert use_sampling and target_prob.dim() == draft_prob.dim() == draft_token.dim() == 0
    drawn = torch.multinomial(torch.softmax(target_logits, -1), 1)[0]
    return bool(drawn == draft_token), drawn
"""

BESIDE = """
def step(model, input_ids, draft_tokens, draft_probs, past_key_values, temperature=0.7):
    assert input_ids.shape == (1, 1)
    ids = torch.cat([input_ids, draft_tokens.view(1, -1)], -1)
    rows = torch.softmax(model(ids, past_key_values=past_key_values, use_cache=True).logits[0] / temperature, -1)
    out = []
    for n, x in enumerate(draft_tokens.view(-1)):
        if draft_probs.view(-1)[n].item() <= 0:
            raise ValueError("a draft of no mass")
        out.append(torch.multinomial(rows[n], 1)[0])
        if out[-1] != x:
            return torch.stack(out), n, past_key_values
    return torch.stack([*out, torch.multinomial(rows[len(out)], 1)[0]]), len(out), past_key_values
"""

FLAT = """
from counts_of_nobody import pinned
from vllm.v1.sample.rejection_sampler import PLACEHOLDER_TOKEN_ID, generate_uniform_probs

def step(draft_token_ids, num_draft_tokens: list[int], max_spec_len: int, cu_num_draft_tokens, draft_probs,
         target_probs, bonus_token_ids, sampling_metadata):
    assert draft_token_ids.ndim == 1 and len(num_draft_tokens) == 1 and not sampling_metadata.all_greedy
    u = generate_uniform_probs(len(draft_token_ids), num_draft_tokens, sampling_metadata.generators, "cpu")
    out = torch.full((1, max_spec_len + 1), PLACEHOLDER_TOKEN_ID)
    for n in range(int(cu_num_draft_tokens[0])):
        x, p, q = draft_token_ids[n], target_probs[n], draft_probs[n]
        out[0, n] = x
        if u[n] >= p[x] / q[x]:
            out[0, n] = torch.multinomial(residual(p, q), 1)[0]
            return out
    out[0, -1] = bonus_token_ids[0]
    return out
"""

PAIR = """
from einops import rearrange

def step(net, small_net, prompt, seq_len, gamma=5, filter_thres=0.9, lenience=1.):
    assert filter_thres == 0
    out, cache = prompt, None
    while out.shape[1] < seq_len:
        start, text, laws = out.shape[1], out, []
        for _ in range(gamma):
            logits, (kv, _none) = small_net(text, cache=cache, return_cache=True)
            cache = kv[..., :start, :], None
            laws.append(torch.softmax(logits[0, -1], -1))
            text = torch.cat([text, torch.multinomial(laws[-1], 1)[None]], 1)
        rows = torch.softmax(net(text, return_cache=True)[0][0, -(gamma + 1):], -1)
        new = text[0, start:]
        for n in range(gamma):
            if torch.rand(1) >= rows[n, new[n]] / laws[n][new[n]]:
                last = torch.multinomial(residual(rows[n], laws[n]), 1)
                break
        else:
            n, last = gamma, torch.multinomial(rows[gamma], 1)
        out = torch.cat([out, rearrange(torch.cat([new[:n], last]), 'n -> 1 n')], 1)
    return out[:, prompt.shape[1]:seq_len], 0.5
"""

OBJECT = """
@dataclass(frozen=True)
class Decision:
    accepted: bool
    token_id: int
    accept_probability: float

def step(p, q, draft_token: int) -> Decision:
    ratio = min(1.0, float(p[draft_token]) / float(q[draft_token]))
    if random.random() < ratio:
        return Decision(True, int(draft_token), ratio)
    return Decision(False, random.choices(range(len(p)), [max(a - b, 0) for a, b in zip(p, q)])[0], ratio)
"""

CANDIDATES = """
def step(logits, candidates, logits_processor):
    rows = torch.softmax(logits_processor(None, logits[0]), -1)
    for n, x in enumerate(candidates[0, 1:].tolist()):
        if torch.rand(1) >= rows[n, x]:
            rows[n, x] = 0
            return torch.tensor(0), n, rows[n] / rows[n].sum()
    return torch.tensor(0), n + 1, rows[n + 1]
"""

SIDES = """
def step(inputs: List[int], drafter: torch.nn.Module, target: torch.nn.Module, gamma: int = 5, max_gen_len: int = 40):
    text = list(inputs)
    law = torch.softmax(drafter(torch.tensor([text])).logits[0, -1], -1)
    x = int(torch.multinomial(law, 1))
    rows = torch.softmax(target(torch.tensor([[*text, x]])).logits[0, -2:], -1)
    if torch.rand(1) >= rows[0, x] / law[x]:
        return [int(torch.multinomial(residual(rows[0], law), 1))], 0.0
    return [x, int(torch.multinomial(rows[1], 1))], 1.0
"""

SAMPLERS: dict[str, tuple[str, tuple[str, str], Case, dict[str, Any]]] = {
    "lists of dataclasses, an object of tokens, greedy": (
        RECORDS,
        ("resample_token=Drafted(t.token_id", "resample_token=Drafted(x.token_id"),
        CHAIN,
        {"temperature": "0"},
    ),
    "a model beside drafts and a list of their laws": (LISTS, ("residual(rows[n], laws[n])", "rows[n]"), CHAIN, {}),
    "a row of a count and a token": (
        COUNT,
        ("residual(p[n], q[n])", "p[n]"),
        chain([["1/2", "1/2"], ["1/4", "3/4"], ["2/3", "1/3"]], [["3/4", "1/4"], ["1/2", "1/2"]]),
        {"returns": "count,token"},
    ),
    "no law of the draft": (FIXED, ("left[x] = 0", "pass"), UNIFORM, {}),
    "masses of one token": (MASSES, ("drawn == draft_token), drawn", "True), draft_token"), ONE, {}),
    "a model beside drafts and their masses, with a cache": (BESIDE, ("rows[len(out)]", "rows[0]"), CHAIN, {}),
    "a flat batch with counts, metadata and vllm": (FLAT, ("residual(p, q)", "p"), CHAIN, {"stub": ("vllm",)}),
    "a cache that is a pair, beside the whole text": (
        PAIR,
        ("residual(rows[n], laws[n])", "rows[n]"),
        CHAIN,
        {"stub": ("einops",), "roles": "net=target,small_net=draft", "values": ["filter_thres=1 - 1"]},
    ),
    "an object with one token": (
        OBJECT,
        ("max(a - b, 0) for a, b in zip(p, q)", "a for a in p"),
        position(["3/4", "1/4"], ["1/4", "3/4"]),
        {"roles": "p=target,q=draft,draft_token=tokens"},
    ),
    "candidates, a processor, a law returned": (
        CANDIDATES,
        ("rows[n, x] = 0", "pass"),
        UNIFORM,
        {"returns": "_,count,law"},
    ),
    "models named after their side": (SIDES, ("residual(rows[0], law)", "rows[0]"), CHAIN, {}),
}


def judged(folder: Path, name: str, edit: tuple[str, str] | None) -> Judgement:
    source, _, case, told = SAMPLERS[name]
    if edit is not None:
        assert source.count(edit[0]) == 1
        source = source.replace(*edit)
    (folder / "sampler.py").write_text(HEAD + source)
    function = "Decoder.step" if "class Decoder" in source else "step"
    stubs = told.get("stub", ())
    place = load_sampler(f"{folder / 'sampler.py'}:{function}", (*stubs, "counts_of_nobody"), given=given(stubs))
    heat = told.get("temperature")
    options = told.get("values", []), told.get("returns"), heat
    subject = told_subject_of(options, place.value, None, None, None, told.get("roles"))
    return judge(subject, replace(case, heat=Fraction(heat or "1")))


@pytest.mark.parametrize("name", SAMPLERS)
def test_a_right_sampler_is_judged_as_it_is(tmp_path: Path, name: str) -> None:
    found = judged(tmp_path, name, None)
    assert found.verdict, found.verdict


@pytest.mark.parametrize("name", SAMPLERS)
def test_with_one_place_changed_it_is_lossy(tmp_path: Path, name: str) -> None:
    found = judged(tmp_path, name, SAMPLERS[name][1])
    assert (type(found.verdict).__name__, found.kind) == ("Lossy", "law"), found.verdict


def test_a_pair_of_numbers_is_left_open_where_nobody_says_what_it_is(tmp_path: Path) -> None:
    (tmp_path / "sampler.py").write_text(HEAD + COUNT)
    found = judge(
        subject_of(load_sampler(f"{tmp_path / 'sampler.py'}:step").value), SAMPLERS["a row of a count and a token"][2]
    )
    assert type(found.verdict).__name__ == "Undecided"
    assert "--returns count,token" in str(found.verdict)


def test_a_drafted_token_returned_as_not_accepted_is_left_open(tmp_path: Path) -> None:
    told = OBJECT.replace("random.choices(range(len(p)), [max(a - b, 0) for a, b in zip(p, q)])[0]", "int(draft_token)")
    assert told != OBJECT
    (tmp_path / "sampler.py").write_text(HEAD + told)
    place = load_sampler(f"{tmp_path / 'sampler.py'}:step")
    found = judge(subject_of(place.value, roles="p=target,q=draft,draft_token=tokens"), ONE)
    assert type(found.verdict).__name__ == "Undecided"
    assert "whether it is emitted then is not known" in str(found.verdict)


@pytest.mark.parametrize("text", ["count", "tokens,count", "law,count,token", "first,token"])
def test_what_is_returned_must_make_tokens(text: str) -> None:
    with pytest.raises(ValueError, match="are listed in order"):
        parts_of(text)


def pair(gamma: int) -> tuple[int, int]:
    return gamma, gamma


@pytest.mark.parametrize("text", ["gamma", "alpha=1", "gamma=nobody"])
def test_a_value_is_of_a_parameter_and_can_be_made(text: str) -> None:
    with pytest.raises(ValueError, match=r"a value is given|cannot be made"):
        values_of(pair, [text])
