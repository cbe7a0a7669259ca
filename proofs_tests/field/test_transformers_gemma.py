"""transformers' drafter for Gemma 4 drafts the likeliest token and reports the softmax: M2 of the zoo."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pytest

pytest.importorskip("torch", reason="torch is an optional extra")
pytest.importorskip("transformers", reason="transformers is not installed: pip install 'spec_math[transformers]'")

import torch

from proofs_tests.field.step_cases import DRAFT, TARGET, known, target
from spec_math.audit import check_drafter
from spec_math.block_level.lossless import continued
from spec_math.field.engine_law import judged, total_variation
from spec_math.field.installed import edited, engine_part
from spec_math.pathwise.exploration import SOURCES
from torch_bridge import explore
from torch_bridge.randomness.source import torch_source

DRAFTING = engine_part("transformers.generation.candidate_generator", "SinglePositionMultiTokenCandidateGenerator")
SHIPPED = DRAFTING.SinglePositionMultiTokenCandidateGenerator


class Gemma4AssistantStandIn:
    """An assistant known to the generator by its name, whose laws are the toy's; it reads nothing."""

    device = torch.device("cpu")
    generation_config = SimpleNamespace(num_assistant_tokens=2)

    def __init__(self) -> None:
        self.place = 0

    def __call__(self, **_: Any) -> Any:
        logits = torch.tensor(DRAFT[self.place]).log()[None, None]
        self.place += 1
        return SimpleNamespace(logits=logits, last_hidden_state=torch.zeros(1, 1, 4))


def drafts(generator: Any) -> Any:
    """One call of the generator: ids [1, 1 + 2] and the logits that it reports [1, 2, 5]."""
    one = generator(
        Gemma4AssistantStandIn(),
        torch.nn.Embedding.from_pretrained(torch.zeros(5, 4)),
        SimpleNamespace(max_length=9, do_sample=True),
    )
    seen = SimpleNamespace(hidden_states=[torch.zeros(1, 1, 4)], shared_kv_states={})
    return one.get_candidates(torch.zeros(1, 1, dtype=torch.long), {}, seen, False, 0)


def drafted(generator: Any) -> Any:
    def run() -> Any:
        ids, logits = drafts(generator)
        row = logits[0, 0].softmax(-1)
        return int(ids[0, 1]), (row / row.sum()).detach().numpy()

    return check_drafter(run, sources=(*SOURCES, torch_source))


def emitted(generator: Any) -> Any:
    """The law of one verification of what the generator drafts and reports."""
    step = engine_part("transformers.generation.utils", "_speculative_sampling")._speculative_sampling

    def run() -> Any:
        ids, logits = drafts(generator)
        tokens, _ = step(ids, logits, 2, torch.tensor(TARGET).log()[None])
        return tuple(tokens[0].tolist())

    return explore(run)


def test_the_likeliest_token_is_drafted_and_the_softmax_reported() -> None:
    found = drafted(SHIPPED)
    assert (found.token, found.emitted) == (2, 1)
    assert abs(found.target - DRAFT[0][2]) < 1e-15


def test_what_is_emitted_under_sampling_is_the_known_bug() -> None:
    """Text by text the law of M2, and so its total variation: 0.063 of the first token."""
    law = emitted(SHIPPED)
    assert not judged(law, target, 3, 0.05)
    assert total_variation(continued(law, target, 3), known("M2")) < 1e-12


def test_a_sampled_draft_cures_it() -> None:
    cured = edited(
        SHIPPED,
        "last_token_id = outputs.logits.argmax(dim=-1)",
        "last_token_id = torch.multinomial(outputs.logits[0].softmax(-1), 1)",
    )
    assert drafted(cured)
    assert judged(emitted(cured), target, 3, 1e-12)
