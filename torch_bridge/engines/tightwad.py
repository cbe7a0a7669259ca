"""tightwad: a proxy that verifies drafts by log-probabilities of single tokens, which two servers report."""

from __future__ import annotations

from collections.abc import Sequence
from math import log
from typing import Any

import torch

from torch_bridge.engines.engine import Defect, Edit, Engine, Step
from torch_bridge.engines.source import Archive


def _run(module: Any, step: Step) -> Sequence[int]:
    drafts = step.drafted()
    rows = [list(step.target((*step.text, *drafts[:n]))) for n in range(len(drafts) + 1)]
    given = [module.DraftToken(x, log(step.draft((*step.text, *drafts[:n]))[x])) for n, x in enumerate(drafts)]
    drawn = getattr(module.TargetLogprob, "drawn", False)  # as the mend has it; else the likeliest, as it is documented
    tokens = [int(torch.multinomial(torch.tensor(row), 1)) if drawn else row.index(max(row)) for row in rows]
    tops = [(token, row[token]) for token, row in zip(tokens, rows, strict=True)]
    masses = [log(row[x]) if row[x] else -1e9 for row, x in zip(rows, drafts, strict=False)]
    reported = [
        module.TargetLogprob(top, log(mass), known) for (top, mass), known in zip(tops, [*masses, None], strict=True)
    ]
    found = module.verify_stochastic(given, reported)
    rest = [one for one in (found.resample_token, found.bonus_token) if one is not None]
    return [one.token_id for one in (*found.accepted_tokens, *rest)]


MATCH = Edit("accept = random.random() < accept_prob", "accept = target.token_id == draft.token_id")
ENGINES = (
    Engine(
        name="tightwad",
        source=Archive(
            "tightwad",
            "0.5.4",
            "tightwad-0.5.4-py3-none-any.whl",
            "5d65d71557369cd96d571effb75a62d225eaa1c620758e256d3232c3f9133307",
        ),
        module="tightwad.speculation",
        function="verify_stochastic",
        rule="chain",
        run=_run,
        control=Edit(MATCH.new, "accept = True"),
        defects=(
            Defect(
                "The token after the accepted ones is the target's likeliest one, and not a draw; the residual cannot "
                "be drawn from, since whole laws are not handed over. Where the target's token is a draw, a draft is "
                "kept where it is that token.",
                (
                    Edit(
                        "token_id: int  # target's top token at this position",
                        "token_id: int  # drawn from the target's law at this position\n    drawn = True",
                    ),
                    MATCH,
                ),
            ),
        ),
    ),
)
