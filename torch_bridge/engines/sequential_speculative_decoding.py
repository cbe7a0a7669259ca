"""sequential-speculative-decoding: its chain, and two hierarchical rules that resample along a branch."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from torch_bridge.engines.engine import Defect, Edit, Engine, Step
from torch_bridge.engines.source import Archive

ARCHIVE = Archive(
    "sequential-speculative-decoding",
    "0.1.1",
    "sequential_speculative_decoding-0.1.1-py3-none-any.whl",
    "cc59c9b7e72e1cce99907a851cd9daca5b3fba81e9e64aa4a8b714c4e25a4013",
)
CAPPED = Defect(
    "The backward scan starts from the ratio of γ − 1 tokens in place of γ, and takes the divergences and the residual "
    "of a prefix that is one token too short.",
    (
        Edit("compute_capped_prefix_ratio(ratios, gamma - 1)", "compute_capped_prefix_ratio(ratios, gamma)"),
        Edit("if tau >= 0:\n                _, D_cap_pq", "if True:\n                _, D_cap_pq"),
        Edit("tau, ratios\n                )\n", "tau + 1, ratios\n                )\n"),
        Edit("tau, ratios)\n", "tau + 1, ratios)\n"),
        Edit("for i in range(tau):", "for i in range(tau + 1):"),
    ),
    lookahead=2,
)
ZEROS = Defect(
    "Where the draft has no mass its ratio is set to 0, so that the residual has none of those tokens.",
    (
        Edit(
            "torch.where(r_star > 1, r_star - 1, torch.zeros_like(r_star)) * q_joint",
            "(p_joint / divide - q_joint).relu()",
        ),
        Edit(
            "torch.where(r_star <= 1, 1 - r_star, torch.zeros_like(r_star)) * q_joint",
            "(q_joint - p_joint / divide).relu()",
        ),
        Edit("return r_star, D_cap_pq", "return p_joint / divide - q_joint, D_cap_pq"),
        Edit("q_dist * q_prefix * (r_star - 1)", "r_star"),
    ),
)


def _runs(name: str) -> Callable[[Any, Step], Sequence[int]]:
    def run(module: Any, step: Step) -> Sequence[int]:
        target, draft = step.models()
        ids, heat = step.ids(), step.options.temperature
        found, _, _ = getattr(module, name)(draft, target, ids, step.lookahead, heat, heat)
        return found[0, ids.shape[1] :].tolist()

    return run


def _engine(rule: str, file: str, name: str, control: Edit, defects: tuple[Defect, ...] = ()) -> Engine:
    module = f"seqspecdecod.{file}"
    return Engine(
        f"seqspecdecod {rule}", ARCHIVE, module, name, rule, _runs(name), control, ("temperature",), defects=defects
    )


BONUS = Edit("sample_from_probs(target_probs_bonus)", "draft_tokens[0]")
ENGINES = (
    _engine("chain", "standard_sd", "standard_speculative_step", Edit("torch.max(p - q,", "torch.max(p,")),
    _engine("naive HSD", "naive_hsd", "naive_hsd_step", BONUS),
    _engine("capped HSD", "capped_hsd", "capped_hsd_step", Edit("acceptance_rate > u", "u < 2"), (CAPPED, ZEROS)),
)
