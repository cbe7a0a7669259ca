"""REST, and Medusa's nucleus sampling: checks of drafted paths in which each path draws tokens of its own."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import torch

from torch_bridge.engines.engine import Defect, Edit, Engine, Step
from torch_bridge.engines.likeliest_tree import likeliest_tree
from torch_bridge.engines.source import Repository

ALL = 0.9999
"""The code asks for a top_p below 1; this one keeps every token of the laws that it is judged on."""


def _runs(filtered: Callable[[Any, torch.Tensor, float, float], torch.Tensor], **how: Any) -> Any:
    def run(module: Any, step: Step) -> Sequence[int]:
        tree = likeliest_tree(step, fill=-2)
        heat, top_p = step.options.temperature, step.options.top_p or ALL
        best, kept = module.evaluate_posterior(tree.logits, tree.candidates, heat, top_p=top_p, **how)
        row = tree.logits[int(best), int(kept)][None]
        last = filtered(module, row, heat, top_p) if heat else row.argmax()
        return [*tree.accepted(best, kept), int(last)]

    return run


def _filtered(module: Any, row: torch.Tensor, heat: float, top_p: float) -> torch.Tensor:
    return torch.multinomial(module.top_p_filtering(row / heat, top_p).softmax(-1), 1)


def _nucleus(module: Any, row: torch.Tensor, heat: float, top_p: float) -> torch.Tensor:
    return module.get_nucleus_one_token(row, heat, top_p)


MASK = "    # Create a mask for selected tokens\n"
TRIES = Defect(
    "Each path draws its own tokens from the target's law: a token that begins two paths, or a second path, has a try "
    "of its own, and where none is kept the next token is drawn once more. Drawn once after each prefix, and emitted "
    "where it was drawn, it is right.",
    (
        Edit("    # Apply temperature\n", "    # Apply temperature\n    whole = logits\n"),
        Edit(
            MASK,
            "    drawn = {}\n    for row in range(n_samples):\n        for place in range(n_tokens):\n"
            "            known = tuple(candidates[row, 1 : place + 1].tolist())\n"
            "            if known not in drawn:\n                drawn[known] = sampled_tokens[row, place].item()\n"
            "            sampled_tokens[row, place] = drawn[known]\n"
            "    whole[:, :-1] = F.one_hot(sampled_tokens, whole.size(-1)).to(whole.dtype).log()\n" + MASK,
        ),
    ),
)


def _engine(name: str, place: tuple[str, str], stub: str, control: Edit, run: Any) -> Engine:
    module, repository = place
    return Engine(
        name,
        Repository(repository),
        module,
        "evaluate_posterior",
        "tree, one-hot",
        run,
        control,
        ("temperature", "top_p"),
        (stub,),
        defects=(TRIES,),
    )


REST = ("rest.model.utils", "FasterDecoding/REST")
MEDUSA = ("medusa.model.utils", "FasterDecoding/Medusa")
SHARPER = Edit(
    "    logits = logits.view(n_samples*n_tokens, -1)\n\n", "    logits = 2 * logits.view(n_samples*n_tokens, -1)\n"
)
SHARPER_TOO = Edit("view(n_samples*n_tokens, -1)\n    if top_p", "view(n_samples*n_tokens, -1) * 2\n    if top_p")
ENGINES = (
    _engine("REST", REST, "draftretriever", SHARPER, _runs(_filtered)),
    _engine("Medusa nucleus", MEDUSA, "transformers", SHARPER_TOO, _runs(_nucleus, sampling="nucleus")),
)
