"""tightwad's proxy as it calls its verification: the target's server goes on by itself, and reports what it drew."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from math import log
from types import SimpleNamespace
from typing import Any

import torch

from torch_bridge.engines.engine import Defect, Edit, Engine, Step
from torch_bridge.engines.tightwad import ENGINES as VERIFICATION
from torch_bridge.engines.tightwad import MATCH


def _reported(step: Step, alternatives: bool) -> list[dict[str, Any]]:
    """What a server answers that generates γ + 1 tokens: each with its log-probability, or with those of all too."""
    tokens: list[int] = []
    content: list[dict[str, Any]] = []
    for _ in range(step.lookahead + 1):
        row = list(step.target((*step.text, *tokens)))
        tokens.append(int(torch.multinomial(torch.tensor(row), 1)))
        others = [{"id": token, "logprob": log(mass)} for token, mass in enumerate(row) if mass]
        content.append({"id": tokens[-1], "logprob": log(row[tokens[-1]])})
        content[-1]["top_logprobs"] = others if alternatives else []
    return content


def _answered(waiting: Any) -> Any:
    """Return what a coroutine returns whose only wait is for the server's answer, which is there."""
    try:
        waiting.send(None)
    except StopIteration as done:
        return done.value
    raise RuntimeError("the proxy waits for something else than the server's answer")


def _runs(alternatives: bool) -> Callable[[Any, Step], Sequence[int]]:
    def run(module: Any, step: Step) -> Sequence[int]:
        drafts = step.drafted()
        given = [
            module.DraftToken(token, log(step.draft((*step.text, *drafts[:n]))[token]))
            for n, token in enumerate(drafts)
        ]

        async def post(*_: Any, **__: Any) -> Any:
            answer = {"choices": [{"logprobs": {"content": _reported(step, alternatives)}}]}
            return SimpleNamespace(raise_for_status=lambda: None, json=lambda: answer)

        proxy = object.__new__(module.SpeculativeProxy)
        proxy.target_client = SimpleNamespace(post=post)
        found = _answered(proxy.verify_with_logprobs("", given, 1.0))
        rest = [one for one in (found.resample_token, found.bonus_token) if one is not None]
        return [one.token_id for one in (*found.accepted_tokens, *rest)]

    return run


REPORTED = Defect(
    "A draft is tested by its mass among the alternatives that the server reports, but on rejection the token is drawn "
    "from the target's whole law, and after an acceptance the server's own text goes on, which is another one.",
    (MATCH._replace(module="tightwad.speculation"),),
)


def _engine(name: str, rule: str, alternatives: bool, control: Edit, defects: tuple[Defect, ...] = ()) -> Engine:
    return Engine(
        name,
        VERIFICATION[0].source,
        "tightwad.proxy",
        "SpeculativeProxy.verify_with_logprobs",
        rule,
        _runs(alternatives),
        control,
        stubs=("httpx", "starlette", "uvicorn", "yaml", "pydantic"),
        defects=defects,
    )


ENGINES = (
    _engine("tightwad proxy", "match", False, MATCH._replace(new="accept = True", module="tightwad.speculation")),
    _engine(
        "tightwad proxy with alternatives",
        "chain",
        True,
        Edit(MATCH.new, "accept = True", "tightwad.speculation"),
        (REPORTED,),
    ),
)
