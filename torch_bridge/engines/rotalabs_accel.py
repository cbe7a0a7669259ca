"""rotalabs-accel: drafts verified by the one mass that is reported of each, in three functions."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import torch

from torch_bridge.engines.engine import Defect, Edit, Engine, Step
from torch_bridge.engines.source import Archive

ARCHIVE = Archive(
    "rotalabs-accel",
    "1.1.1",
    "rotalabs_accel-1.1.1-py3-none-any.whl",
    "8a558ae32ed28f5149c14238eab1dfa738c8294432ee1db74a3a4211566d0eba",
)


def _drafted(step: Step) -> tuple[torch.Tensor, torch.Tensor]:
    drafts = step.drafted()
    rows = step.rows(step.draft, drafts).exp()
    return torch.tensor(drafts), torch.stack([rows[n, x] for n, x in enumerate(drafts)])


def _core(module: Any, step: Step) -> Sequence[int]:
    target, _ = step.models()
    cache = target(step.ids()[:, :-1]).past_key_values
    drafts, masses = _drafted(step)
    return module.verify_tokens(target, step.ids()[:, -1:], drafts, masses, cache, 1.0)[0].tolist()


def _eagle(module: Any, step: Step) -> Sequence[int]:
    target, _ = step.models()
    cache = target(step.ids()[:, :-1]).past_key_values
    drafts, masses = _drafted(step)
    found = module.eagle_verify(target, step.ids(), drafts[None], masses[None], cache, use_sampling=True)
    return found[0].tolist()


def _step(module: Any, step: Step) -> Sequence[int]:
    drafts = step.drafted()
    rows, known = step.rows(step.target, drafts), step.rows(step.draft, drafts).exp()
    emitted: list[int] = []
    for place, (token, row) in enumerate(zip(torch.tensor(drafts), rows, strict=False)):
        kept, drawn = module.rejection_sample(row.exp()[token], known[place, token], token, row)
        emitted.append(int(drawn))
        if not kept:
            return emitted
    return [*emitted, int(torch.multinomial(rows[-1].exp(), 1))]


CORE = Defect(
    "Of the draft's law only the drafted token's mass is known, and it alone is subtracted; top_p reaches the bonus "
    "token in the place of top_k, which leaves the likeliest one.",
    (
        Edit("p_draft = draft_probs[i]", "p_draft = torch.ones_like(draft_probs[i])"),
        Edit(
            "all_logits[0, k, :].unsqueeze(0),\n            temperature, top_p, use_sampling",
            "all_logits[0, k, :][None]",
        ),
    ),
)
EAGLE = Defect(
    "The drafted token's mass is subtracted from the mass of every token, and the bonus token is the likeliest one.",
    (
        Edit("draft_prob = draft_probs[0, i].item()", "draft_prob = 1.0"),
        Edit("target_probs[0, i] - draft_prob,", "target_probs[0, i].index_fill(0, draft_token, 0),"),
        Edit("bonus = target_logits[0, k].argmax()", "bonus = torch.multinomial(target_probs[0, k], 1)[0]"),
    ),
)
STEP = Defect(
    "Of the draft's law only the drafted token's mass is known, and it alone is subtracted.",
    (
        Edit(
            "    acceptance_prob = torch.minimum(",
            "    draft_prob = torch.ones_like(draft_prob)\n    acceptance_prob = torch.minimum(",
        ),
    ),
)
FIRST = Edit("torch.rand(1, device=draft_token.device) < acceptance_prob", "True")
SECOND = Edit("torch.rand(1).item() < accept_prob", "True")


def _engine(name: str, file: str, function: str, run: Any, known: tuple[Edit, Defect]) -> Engine:
    module = f"rotalabs_accel.speculative.{file}"
    return Engine(
        name, ARCHIVE, module, function, "chain", run, known[0], (), ("transformers", "triton"), defects=known[1:]
    )


ENGINES = (
    _engine("rotalabs-accel", "core", "verify_tokens", _core, (FIRST, CORE)),
    _engine("rotalabs-accel step", "sampling", "rejection_sample", _step, (FIRST, STEP)),
    _engine("rotalabs-accel EAGLE", "eagle", "eagle_verify", _eagle, (SECOND, EAGLE)),
)
