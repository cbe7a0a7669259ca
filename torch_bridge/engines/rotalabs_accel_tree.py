"""rotalabs-accel's tree: the likeliest drafts, two at each node, and all paths through it tested one after another."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from typing import Any

import torch

from torch_bridge.engines.engine import Defect, Edit, Engine, Step
from torch_bridge.engines.rotalabs_accel import ARCHIVE


def _run(module: Any, step: Step) -> Sequence[int]:
    target, draft = step.models()
    settings = sys.modules[module.TreeSpecConfig.__module__]
    tree = module.SpeculationTree(settings.TreeSpecConfig(branch_factor=2, max_depth=step.lookahead))
    tokens, masses, _ = tree.build_tree(draft, step.ids(), torch.device("cpu"))
    return module.verify_tree(target, step.ids(), tree, tokens, masses)[0]


FLAT = Defect(
    "The target is shown the last token and the tree's tokens in one line, neither the text before them nor each path "
    "by itself; the token after a path is drawn after another one too.",
    (
        Edit(
            "    for path in tree.get_paths():\n        accepted = []",
            "    for path in tree.get_paths():\n"
            "        text = torch.cat([input_ids[0], torch.tensor([node.token_id for node in path[1:]])])\n"
            "        all_logits = target_model(text[None], use_cache=False).logits[0, -len(path):]\n"
            "        target_probs = F.softmax(all_logits / max(temperature, 1e-8), dim=-1)\n"
            "        accepted = []",
        ),
        Edit(
            "bonus_probs = target_probs[best_length]",
            "text = torch.cat([input_ids[0], torch.tensor(best_path)])\n"
            "        last = target_model(text[None], use_cache=False).logits[0, -1]\n"
            "        bonus_probs = F.softmax(last / max(temperature, 1e-8), dim=-1)",
        ),
    ),
)
TRIES = Defect(
    "Drafts are the likeliest tokens and tested as if they had been drawn; each path is tested with coins of its own, "
    "and the longest one is kept: a token that is on several paths has several tries.",
    (
        Edit("    best_path = []\n    best_length = 0", "    best_path, best_length, drawn = [], 0, {}"),
        Edit(
            "accept_prob = min(1.0, p_target / (p_draft + 1e-10))",
            "known = tuple(accepted)\n"
            "            if known not in drawn:\n"
            "                drawn[known] = torch.multinomial(target_probs[i], 1).item()",
        ),
        Edit("if torch.rand(1).item() < accept_prob:", "if drawn[known] == node.token_id:"),
        Edit("new_token = torch.multinomial(adjusted, 1).item()", "new_token = drawn[known]"),
    ),
)
ENGINES = (
    Engine(
        name="rotalabs-accel tree",
        source=ARCHIVE,
        module="rotalabs_accel.speculative.tree",
        function="verify_tree",
        rule="tree of the likeliest",
        run=_run,
        control=Edit("accepted.append(new_token)", "accepted.append(node.token_id)"),
        stubs=("transformers", "triton"),
        defects=(FLAT, TRIES),
        most=2,
    ),
)
