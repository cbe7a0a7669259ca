"""tightwad: a proxy that verifies drafts by log-probabilities of single tokens, which two servers report."""

from __future__ import annotations

from collections.abc import Sequence
from math import log
from typing import Any

from torch_bridge.engines.engine import Archive, Defect, Edit, Engine, Step


def _run(module: Any, step: Step) -> Sequence[int]:
    drafts = step.drafted()
    rows = [list(step.target((*step.text, *drafts[:n]))) for n in range(len(drafts) + 1)]
    given = [module.DraftToken(x, log(step.draft((*step.text, *drafts[:n]))[x])) for n, x in enumerate(drafts)]
    tops = [(row.index(max(row)), max(row)) for row in rows]
    masses = [log(row[x]) if row[x] else -1e9 for row, x in zip(rows, drafts, strict=False)]
    reported = [
        module.TargetLogprob(top, log(mass), known) for (top, mass), known in zip(tops, [*masses, None], strict=True)
    ]
    found = module.verify_stochastic(given, reported)
    rest = [one for one in (found.resample_token, found.bonus_token) if one is not None]
    return [one.token_id for one in (*found.accepted_tokens, *rest)]


ENGINES = (
    Engine(
        name="tightwad",
        archive=Archive(
            "tightwad",
            "0.5.4",
            "tightwad-0.5.4-py3-none-any.whl",
            "5d65d71557369cd96d571effb75a62d225eaa1c620758e256d3232c3f9133307",
        ),
        module="tightwad.speculation",
        function="verify_stochastic",
        rule="chain",
        run=_run,
        control=Edit("accept = random.random() < accept_prob", "accept = True"),
        defects=(
            Defect(
                "The token after the accepted ones is the target's likeliest one, and not a draw; the residual cannot "
                "be drawn from, since whole laws are not handed over.",
            ),
        ),
    ),
)
