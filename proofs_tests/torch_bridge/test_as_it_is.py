"""Ten ways in which published samplers are written, re-stated small, each judged from its file by one call."""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Literal

import pytest

torch = pytest.importorskip("torch", reason="torch is an optional extra")

from spec_math.audit import Judgement, judge  # noqa: E402
from spec_math.pathwise.loading import load_sampler  # noqa: E402
from spec_math.samplers.case import chain  # noqa: E402
from spec_math.samplers.signature import as_it_is  # noqa: E402
from spec_math.verdict import Lossless, Lossy, Reason  # noqa: E402
from torch_bridge.returned import Told, readings  # noqa: E402
from torch_bridge.subject import subject_of, told_subject_of  # noqa: E402
from torch_bridge.ways import opened, ways_of  # noqa: E402

CASE = chain([["1/2", "1/2"], ["1/4", "3/4"]], [["3/4", "1/4"]])

LOOP = """
    text = {ids}.clone()
    kept = []
    for _ in range(gamma):
        law = torch.softmax({draft}, -1)
        token = torch.multinomial(law, 1)
        kept.append((token, law))
        text = torch.cat([text, token.view(1, 1)], 1)
    rows = torch.softmax({target}, -1)
    out = []
    for place, (token, law) in enumerate(kept):
        if torch.rand(1) < rows[place][token] / law[token]:
            out.append(token)
            continue
        left = (rows[place] - law).clamp(min=0)
        out.append(torch.multinomial(left / left.sum(), 1))
        break
    else:
        out.append(torch.multinomial(rows[gamma], 1))
    new = torch.stack(out).view(1, -1)
"""

HEAD = "from __future__ import annotations\nimport torch\n"


def loop(draft: str, target: str, ids: str = "input_ids") -> str:
    return LOOP.format(draft=draft, target=target, ids=ids)


def chain_on(rows: str, back: str) -> str:
    return f"""
    out = []
    for place, token in enumerate({rows}):
        if torch.rand(1) < p[place, token] / q[place, token]:
            continue
        left = (p[place] - q[place]).clamp(min=0)
        return {back}
"""


QUIRKS: dict[str, tuple[str, str]] = {
    "models with .logits, the draft first, a prompt in the answer, numbers beside it": (
        "step",
        "def step(draft_model, target_model, input_ids, gamma=5, draft_temperature=0.6, target_temperature=0.6):"
        + loop("draft_model(text).logits[0, -1] / draft_temperature", "target_model(text).logits[0, -gamma - 1:]")
        + "    return torch.cat([input_ids, new], 1), len(out) - 1, gamma\n",
    ),
    "models that return logits and keep their cache inside": (
        "step",
        "def step(draft_model, target_model, token, input_pos, input_pos_maxp1, speculative_k, **sample):\n"
        "    gamma, place, last = speculative_k, input_pos.clone(), token\n"
        "    kept, tokens = [], [token]\n"
        "    for _ in range(gamma):\n"
        "        law = torch.softmax(draft_model(idx=last[None], input_pos=place)[0, -1], -1)\n"
        "        last = torch.multinomial(law, 1)\n"
        "        kept.append((last, law)); tokens.append(last); place.add_(1)\n"
        "    ids = torch.cat(tokens)[None]\n"
        "    rows = torch.softmax(target_model(idx=ids, input_pos=input_pos + torch.arange(gamma + 1))[0], -1)\n"
        "    out = []\n"
        "    for n, (x, law) in enumerate(kept):\n"
        "        if torch.rand(1) < rows[n][x] / law[x]:\n"
        "            out.append(x); continue\n"
        "        left = (rows[n] - law).clamp(min=0)\n"
        "        return torch.cat([*out, torch.multinomial(left / left.sum(), 1)])\n"
        "    return torch.cat([*out, torch.multinomial(rows[gamma], 1)])\n",
    ),
    "models that return a pair, and a cache that is cut": (
        "step",
        "def step(prefix, approx_model, target_model, max_len, gamma):\n"
        "    first, cache = approx_model(prefix)\n"
        "    cut = tuple((k[:, :, :-1, :], v[:, :, :-1, :]) for k, v in cache)\n"
        + loop(
            "(approx_model(text[:, prefix.shape[1] - 1:], cache=cut)[0])[0, -1]",
            "target_model(text)[0][0, -gamma - 1:]",
            "prefix",
        )
        + "    return torch.cat([prefix, new], 1)\n",
    ),
    "a method whose object has the models": (
        "Decoder.step",
        "class Decoder:\n"
        "    def __init__(self, small_model, big_model):\n"
        "        raise RuntimeError('loads weights')\n"
        "    def law(self, logits):\n"
        "        return torch.softmax(logits, -1)\n"
        "    def step(self, input_ids, gamma):\n        small, big = self.small_model, self.big_model"
        + loop("small(text).logits[0, -1]", "big(text).logits[0, -gamma - 1:]").replace("\n    ", "\n        ")
        + "\n        return torch.cat([input_ids, new], 1)\n",
    ),
    "a relative import, a dataclass and a package that is not installed": (
        "step",
        "from dataclasses import dataclass\nimport fused_of_nobody as fused\nfrom .other import keep\n"
        "@dataclass\nclass Found:\n    tokens: list[int] | None = None\n"
        "@fused.jit\n"
        "def step(draft_model, target_model, input_ids, gamma):"
        + loop("keep(draft_model(text).logits)[0, -1]", "target_model(text).logits[0, -gamma - 1:]")
        + "    return Found(new).tokens[0]\n",
    ),
    "a leading batch dimension, and how many were kept beside the next token": (
        "step",
        "def step(draft_tokens, target_probs, draft_probs, draft_indices=None):\n"
        "    n = draft_tokens.shape[1]\n"
        "    p, q = target_probs[0], draft_probs[0]\n"
        "    for k in range(n):\n"
        "        x = draft_tokens[0, k]\n"
        "        if torch.rand(1) * q[k, x] >= p[k, x]:\n"
        "            left = (p[k] - q[k]).clamp(min=0)\n"
        "            return k, torch.multinomial(left[None], 1).view(1)[0]\n"
        "    return n, torch.multinomial(p[n][None], 1).view(1)[0]\n",
    ),
    "logarithms, the drafts first, no row after them, padded by -1": (
        "step",
        "def step(input_ids, draft_logprobs, target_logprobs, draft_token_ids, gamma, *, generator=None):\n"
        "    if draft_logprobs.shape != target_logprobs.shape:\n        raise ValueError('shapes')\n"
        "    out = torch.full((1, gamma), -1)\n"
        "    for k in range(gamma):\n"
        "        x = draft_token_ids[0, k]\n"
        "        p, q = target_logprobs[0, k].exp(), draft_logprobs[0, k].exp()\n"
        "        out[0, k] = x\n"
        "        if torch.rand(1) >= p[x] / q[x]:\n"
        "            out[0, k] = torch.multinomial((p - q).clamp(min=0), 1)[0]\n"
        "            break\n"
        "    return out, 0, 1.0\n",
    ),
    "a bonus token that is given, an option that may be None, a race of exponentials": (
        "Sampler.forward",
        "class Sampler:\n"
        "    def forward(self, target_logits: torch.Tensor, draft_token_ids: torch.LongTensor,\n"
        "            bonus_token_ids: torch.LongTensor, *, is_greedy: torch.Tensor | None,\n"
        "            draft_probs: torch.Tensor | None = None):\n"
        "        p, L = target_logits.softmax(-1), draft_token_ids.shape[1]\n"
        "        noise = torch.empty(1, p.shape[-1]).exponential_()\n"
        "        again = ((p - draft_probs).clamp_min(0) * noise.reciprocal()[:, None]).argmax(-1)\n"
        "        out = torch.full((1, L + 1), -1)\n"
        "        for k in range(L):\n"
        "            x = draft_token_ids[0, k]\n"
        "            if torch.rand(1) > p[0, k, x] / draft_probs[0, k, x]:\n"
        "                out[0, k] = again[0, k]\n"
        "                return out\n"
        "            out[0, k] = x\n"
        "        out[0, L] = bonus_token_ids[0]\n"
        "        return out\n",
    ),
    "names that only roles tell, and a text of a given length": (
        "generate",
        "def generate(net, small_net, prompt, seq_len, gamma=5):\n"
        "    text = prompt\n"
        "    while text.shape[1] < seq_len:\n        input_ids = text"
        + loop("small_net(text)[0, -1]", "net(text)[0, -gamma - 1:]").replace("\n    ", "\n        ")
        + "\n        text = torch.cat([input_ids, new], 1)\n    return text[:, prompt.shape[1]:]\n",
    ),
    "a prompt that is a list, an end that never comes, the new tokens alone": (
        "generate",
        "def generate(inputs: list[int], drafter_model, target_model, gamma: int, eos_tokens_id: int = 1):\n"
        "    input_ids = torch.tensor([inputs])"
        + loop(
            "drafter_model(input_ids=text).logits[..., -1, :][0]", "target_model(input_ids=text).logits[0, -gamma - 1:]"
        )
        + "    found = [int(x) for x in new[0]]\n"
        "    return found[: found.index(eos_tokens_id) + 1] if eos_tokens_id in found else found, 0.5\n",
    ),
}

ROLES = {"names that only roles tell, and a text of a given length": "net=target,small_net=draft"}


@pytest.fixture
def folder(tmp_path: Path) -> Iterator[Path]:
    place = tmp_path / "quirkpack"
    place.mkdir()
    (place / "__init__.py").write_text("import weights_of_nobody\n")
    (place / "other.py").write_text("def keep(x):\n    return x\n")
    yield place
    for name in [name for name in sys.modules if name.partition(".")[0] == "quirkpack"]:
        del sys.modules[name]


def judged(folder: Path, name: str, source: str, roles: str | None = None) -> Judgement:
    (folder / "sampler.py").write_text(HEAD + source)
    place = load_sampler(f"{folder / 'sampler.py'}:{name}", ("fused_of_nobody",))
    return judge(subject_of(place.value, roles=roles), CASE)


@pytest.mark.parametrize("quirk", QUIRKS)
def test_a_right_sampler_is_judged_as_it_is(folder: Path, quirk: str) -> None:
    name, source = QUIRKS[quirk]
    found = judged(folder, name, source, ROLES.get(quirk))
    assert found.verdict, found.verdict
    assert "called as" in found.subject.assumed[0]


@pytest.mark.parametrize("quirk", QUIRKS)
def test_with_a_wrong_residual_it_is_lossy_and_nothing_else(folder: Path, quirk: str) -> None:
    name, source = QUIRKS[quirk]
    wrong = source
    for right, other in (("rows[place] - law", "rows[place]"), ("rows[n] - law", "rows[n]"), ("p[k] - q[k]", "p[k]")):
        wrong = wrong.replace(right, other)
    wrong = wrong.replace("(p - q)", "(p)").replace("(p - draft_probs)", "(p)")
    assert wrong != source
    found = judged(folder, name, wrong, ROLES.get(quirk))
    assert (type(found.verdict).__name__, found.kind) == ("Lossy", "law")
    assert float(found.first) == pytest.approx(1 / 8, abs=1e-6)


REFUSED = {
    "two numbers that may be a count and a token": (
        "def step(draft_tokens, target_probs, draft_probs):\n    return torch.tensor([[0, 1]])\n",
        "not judged|randomness",
    ),
    "a stand-in that is used": (
        "import fused_of_nobody as fused\n"
        "def step(draft_model, target_model, input_ids, gamma):\n    return fused.run(input_ids)\n",
        "fused_of_nobody.run was called",
    ),
    "a parameter that nobody knows": (
        "def step(draft_model, target_model, input_ids, gamma, alpha):\n    return input_ids\n",
        r": alpha is not understood; (.|\n)*\n    alpha=None,\n    alpha=1.0,\n    alpha=len\(target\) - 1,",
    ),
    "an object with an attribute that nobody knows": (
        "class S:\n    def step(self, draft_model, target_model, input_ids, gamma):\n        return self.tables[0]\n",
        r": self.tables is not understood; (.|\n)*\n    self.tables=None,",
    ),
}


@pytest.mark.parametrize("why", REFUSED)
def test_what_is_not_understood_is_left_open(folder: Path, why: str) -> None:
    source, said = REFUSED[why]
    found = judged(folder, "S.step" if "class S" in source else "step", source)
    assert type(found.verdict).__name__ == "Undecided"
    assert re.search(said, str(found.verdict)), found.verdict


def test_two_readings_of_which_one_is_lossless_are_left_open(folder: Path) -> None:
    found = judged(
        folder,
        "step",
        "def step(draft_token_ids, target_logprobs, draft_logprobs):\n"
        "    p = target_logprobs.exp()\n"
        "    return [0] if p.dim() == 3 else [int(torch.multinomial(p[0], 1))]\n",
    )
    assert type(found.verdict).__name__ == "Undecided"
    assert "wrap it to show which call is meant" in str(found.verdict)


def test_roles_of_models_are_told_by_position_too_and_not_against_their_names(folder: Path) -> None:
    name, source = QUIRKS["names that only roles tell, and a text of a given length"]
    assert judged(folder, name, source, "target,draft").verdict
    with pytest.raises(ValueError, match="its name says something else"):
        judged(folder, name, source, "net=draft,small_net=target")


WHOLE_TEXTS = {
    # With a batch dimension this prompt's length is taken for 1: the loop is long, and breaks when it returns.
    "a way that breaks after a long loop, and one that leaves out the first token": (
        "def step(draft_model, target_model, prompt, max_returned_tokens, gamma):\n"
        "    text, start = prompt, prompt.size(0)\n"
        "    made = []\n"
        "    while start + len(made) < max_returned_tokens:\n"
        "        ids = torch.cat([prompt.view(-1), *made])[None]\n"
        "        made.append(torch.multinomial(torch.softmax(target_model(ids).logits[0, -1], -1), 1))\n"
        "    return torch.cat([prompt, *made[1:]])\n"
    ),
    # Its last parameter may count all tokens, or the new ones; counted as all of them it makes ten more.
    "a way that starts a thread the first time, and one to a longer text": (
        "import threading, time\nstarted = []\n"
        "def step(draft_model, target_model, prompt, max_len, gamma):\n"
        "    if not started:\n"
        "        started.append(threading.Thread(target=time.sleep, args=(0.5,)))\n        started[0].start()\n"
        "    made, end = [], prompt.shape[1] + max_len\n"
        "    while prompt.shape[1] + len(made) < end:\n"
        "        ids = torch.cat([prompt, *made], 1)\n"
        "        made.append(torch.multinomial(torch.softmax(target_model(ids).logits[0, -1:], -1), 1))\n"
        "    return torch.cat([prompt, *made], 1)\n"
    ),
}


@pytest.mark.parametrize("name", WHOLE_TEXTS)
def test_a_way_that_soon_decides_comes_before_one_of_a_thousand_paths(name: str, tmp_path: Path) -> None:
    place = tmp_path / "loops.py"
    place.write_text(HEAD + WHOLE_TEXTS[name])
    walked: list[int] = []
    found = judge(subject_of(load_sampler(f"{place}:step").value), CASE, 100_000, walked.append)
    assert isinstance(found.verdict, Lossy if "leaves out" in name else Lossless), str(found.verdict)
    assert len(walked) < 300, len(walked)


RECORD = (
    "from dataclasses import dataclass\n"
    "@dataclass\nclass Step:\n    proposed: list\n    depth: int\n    given: list\n    rows: list\n"
    "def step(draft_model, target_model, input_ids, gamma):"
    + loop("draft_model(text).logits[0, -1]", "target_model(text).logits[0, -gamma - 1:]")
    + "    return Step([1], gamma, [int(token) for token in out], [[1], [1, 2]])\n"
)


def test_a_record_is_offered_field_by_field_and_a_number_beside_tokens_last(folder: Path) -> None:
    found = judged(folder, "step", RECORD)
    assert found.verdict.reason is Reason.NOT_JUDGED
    assert "one of: return before_padding(returned.proposed); return before_padding(returned.given)" in str(
        found.verdict
    )
    lines = readings(([0, 1], torch.tensor(1)), "()")
    assert lines == tuple(
        f'return emitted(returned, (), "{one}")' for one in ("tokens,_", "tokens,token", "tokens,length", "_,token")
    )


def test_rows_of_another_shape_are_no_fault_of_the_sampler_s(folder: Path) -> None:
    place = folder / "numpy_step.py"
    place.write_text(
        "import numpy as np\n"
        "def step(p, q, token):\n"
        "    if np.random.random() < 0.5:\n        return token\n"
        "    left = np.maximum(p - q, 0)\n    return int(np.random.choice(len(left), p=left / left.sum()))\n"
    )
    subject = subject_of(load_sampler(f"{place}:step").value, roles="p=target,q=draft")
    verdict = judge(subject, CASE).verdict
    assert type(verdict).__name__ == "Undecided", verdict
    assert "it may take rows of another shape" in str(verdict)


CACHED = """
    ids, made, cache = input_ids, [], CACHE
    last = target_model(input_ids[:, :-1], past_key_values=cache).past_key_values if cache is None else cache
    for _ in range(2):
        kept = []
        text = torch.cat([ids, *made], 1)
        for _ in range(gamma):
            law = torch.softmax(draft_model(torch.cat([text, *[x for x, _ in kept]], 1)).logits[0, -1], -1)
            kept.append((torch.multinomial(law, 1)[None], law))
        tokens = torch.cat([text[:, SEEN:], *[x for x, _ in kept]], 1)
        rows = torch.softmax(target_model(tokens, past_key_values=last).logits[0, -gamma - 1:], -1)
        for place, (x, law) in enumerate(kept):
            if torch.rand(1) < rows[place][x[0, 0]] / law[x[0, 0]]:
                made.append(x)
                continue
            left = (rows[place] - law).clamp(min=0)
            made.append(torch.multinomial(left / left.sum(), 1)[None])
            break
        else:
            made.append(torch.multinomial(rows[gamma], 1)[None])
        AFTER
    return torch.cat([input_ids, *made], 1)
"""


@pytest.mark.parametrize("cache", ["None", "Cache()"])
def test_a_cache_that_is_handed_over_grows_in_place(folder: Path, cache: str) -> None:
    """As in transformers: the caller cuts the object that it handed over, not the one that it got."""
    head = "from transformers import DynamicCache as Cache\n" if cache != "None" else ""
    if head:
        pytest.importorskip("transformers")
    # The sampler counts for itself what the cache has seen.
    begun = "input_ids.shape[1] - 1" if cache == "None" else "0"
    code = CACHED.replace("    for _ in range(2):", f"    seen = {begun}\n    for _ in range(2):", 1)
    code = code.replace("CACHE", cache, 1).replace("SEEN", "seen")
    counted = "seen = input_ids.shape[1] + len(made) - 1\n        much = last.get_seq_length() - seen\n"
    counted += "        if much > 0:\n            last.crop(-much)"
    # The control: drafts that were rejected stay in the cache.
    for after, verdict in ((counted, "Lossless"), (counted.replace("last.crop(-much)", "pass"), "Lossy")):
        step = "def step(draft_model, target_model, input_ids, gamma, max_new_tokens):"
        found = judged(folder, "step", head + step + code.replace("AFTER", after))
        assert type(found.verdict).__name__ == verdict, found.verdict


# A table of two rows goes on by them over and over: what is seen twice has an odd number of tokens, or it is not seen.
AGAIN = CACHED.replace("CACHE", "None", 1).replace("AFTER", "pass").replace("SEEN", "input_ids.shape[1] - 2")
AGAIN = AGAIN.replace("input_ids[:, :-1]", "input_ids[:, :-2]")


def test_code_that_takes_a_cache_for_unchanged_is_left_open(folder: Path) -> None:
    """Right for caches that a call leaves as they are, and lossy for those of transformers: it is not known which."""
    found = judged(folder, "step", f"def step(draft_model, target_model, input_ids, gamma, max_new_tokens):{AGAIN}")
    assert type(found.verdict).__name__ == "Undecided", found.verdict
    assert "a cache that no later call changes" in str(found.verdict)


class Loaded:
    def __init__(self) -> None:
        raise RuntimeError("loads weights")

    def verify(self, draft_tokens: Any, target_probs: Any, draft_probs: Any) -> list[int]:
        scale: Any = self.strictness  # type: ignore[attr-defined]
        for n, x in enumerate(draft_tokens):
            if torch.rand(1, dtype=target_probs.dtype) >= scale * target_probs[n, x] / draft_probs[n, x]:
                rest = (target_probs[n] - draft_probs[n]).clamp(min=0)
                return [*draft_tokens[:n].tolist(), int(torch.multinomial(rest, 1))]
        return [*draft_tokens.tolist(), int(torch.multinomial(target_probs[-1], 1))]


@pytest.mark.parametrize(("scale", "right"), [("1.0", True), ("0.5", False)])
def test_what_a_method_finds_in_its_object_can_be_told(scale: str, right: bool) -> None:
    given = [f"self.strictness={scale}"]
    found = judge(told_subject_of((given, None, None), Loaded.verify), CASE)
    assert bool(found.verdict) == right
    assert f"self.strictness: {scale}, as told" in found.subject.assumed[0]
    with pytest.raises(ValueError, match=r"not one of the parameters: self, draft_tokens, .*, self.strictness"):
        told_subject_of((["self.strict=1"], None, None), Loaded.verify)


def test_a_verdict_names_the_parameters_that_keep_their_defaults() -> None:
    def verify(draft_tokens: Any, target_probs: Any, draft_probs: Any, scale: float = 1.0) -> list[int]:
        stand_in: Any = type("Own", (), {"strictness": scale})()
        return Loaded.verify(stand_in, draft_tokens, target_probs, draft_probs)

    assert "with scale=1.0 by default" in judge(subject_of(verify), CASE).subject.assumed[0]
    told = judge(told_subject_of((["scale=1.0"], None, None), verify), CASE)
    assert "by default" not in told.subject.assumed[0]


def test_an_adapter_offers_the_values_of_a_literal() -> None:
    def verify(tokens: Any, target: Any, draft: Any, mode: Literal["exact", "fast"]) -> Any:
        return tokens, target, draft, mode

    signature = as_it_is(verify, {})
    assert opened(signature, ways_of(signature)[0], Told())["mode"] == ["'exact'", "'fast'"]
