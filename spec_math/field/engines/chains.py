"""Verification functions of small packages that are handed one drafted chain: a record of each."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from math import log
from types import SimpleNamespace
from typing import Any

import numpy as np
import torch

from spec_math.field.engine import Archive, Defect, Edit, Engine, Step


def _run_dflash(module: Any, step: Step) -> Sequence[int]:
    sampling = (step.options.temperature, step.options.top_p or 1.0, step.options.top_k or 0)

    def draw(drafts: list[int]) -> Any:
        return module._sample_probs(module._sampling_probs(step.rows(step.draft, drafts)[None, -1:], *sampling))

    drafts = step.drafted(draw)
    target = module._sampling_probs(step.rows(step.target, drafts)[None], *sampling)
    draft = module._sampling_probs(step.rows(step.draft, drafts)[None, :-1], *sampling)
    many, token = module._rejection_sample(torch.tensor([drafts]), target, draft)
    return [*drafts[:many], int(token)]


DFLASH = Engine(
    name="dflash",
    source=Archive("dflash-0.1.0", "b3fe38d9413efc30a952c8b38b34f1dcc696ba6d7b865acbf540a34cc53afaa2"),
    function="dflash.model:_rejection_sample",
    run=_run_dflash,
    control=Edit("residual.sub_(draft_probs[0, accepted])", "residual.sub_(0)"),
    options=("temperature > 0", "top_k", "top_p"),
    stubs=("transformers", "loguru"),
)


FLASHSPEC_ARCHIVE = Archive("flashspec-0.3.1", "c8cfb5588be6529ad4fc98c8ff3823dd91e45a8c5da51c163e34710caf4c84f1")


def _step_flashspec(module: Any, step: Step) -> Sequence[int]:
    drafts, target, draft = step.chain()
    many, token = module.rejection_step(torch.tensor([drafts]), draft[None], target[None])[0].tolist()
    return [*drafts[:many], token]


def _one_hot(module: Any, step: Step) -> Sequence[int]:
    drafts, target, _ = step.chain()
    many, token = module.rejection_step_onehot(torch.tensor([drafts]), target[None])[0].tolist()
    return [*drafts[:many], token]


CHAIN = Edit(
    "first = torch.where(\n        rejected.any(dim=-1),", "first = torch.where(\n        ~rejected.any(dim=-1),"
)
KEPT = Edit("scatter_(1, x_row, 1.0)", "scatter_(1, x_row, 0.0)")
MODULE = "flashspec.sampling.rejection"
FLASHSPEC = (
    Engine("flashspec chain", FLASHSPEC_ARCHIVE, f"{MODULE}:rejection_step", _step_flashspec, CHAIN),
    Engine("flashspec one-hot", FLASHSPEC_ARCHIVE, f"{MODULE}:rejection_step_onehot", _one_hot, KEPT, "one-hot"),
)


def _run_mtplx(module: Any, step: Step) -> Sequence[int]:
    target, draft = (np.array(law(step.text), dtype=np.float64) for law in (step.target, step.draft))
    return [module.verify_one_token(target, draft, step.drafted()[0]).token_id]


MTPLX = Engine(
    name="mtplx",
    source=Archive("mtplx-2.12.2", "6f77365395d5574316be5d521a16d23681cd9c44622ce555d5d7242e00d8a91f"),
    function="mtplx.sampling:verify_one_token",
    run=_run_mtplx,
    control=Edit("np.maximum(np.asarray(target_p) - np.asarray(draft_q), 0.0)", "np.asarray(target_p)"),
    most=1,
)


ROTALABS_ARCHIVE = Archive("rotalabs_accel-1.1.1", "8a558ae32ed28f5149c14238eab1dfa738c8294432ee1db74a3a4211566d0eba")


def _core(module: Any, step: Step, eagle: bool = False) -> Sequence[int]:
    target, _ = step.models()
    cache = target(step.ids()[:, :-1]).past_key_values
    drafted, _, rows = step.chain()
    drafts, masses = torch.tensor(drafted), rows.exp()[range(len(drafted)), drafted]
    if eagle:
        found = module.eagle_verify(target, step.ids(), drafts[None], masses[None], cache, use_sampling=True)
    else:
        found = module.verify_tokens(target, step.ids()[:, -1:], drafts, masses, cache, 1.0)
    return found[0].tolist()


def _step_rotalabs(module: Any, step: Step) -> Sequence[int]:
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
    "The function gets only the drafted token's draft probability, so the residual subtracts only this probability. "
    "For the bonus token, the code passes top_p as top_k, which leaves only the most likely token.",
    Edit("p_draft = draft_probs[i]", "p_draft = torch.ones_like(draft_probs[i])"),
    Edit(
        "all_logits[0, k, :].unsqueeze(0),\n            temperature, top_p, use_sampling", "all_logits[0, k, :][None]"
    ),
)
EAGLE = Defect(
    "The residual subtracts the drafted token's draft probability from the target's probability of every token. The "
    "bonus token is the target's most likely token instead of a draw.",
    Edit("draft_prob = draft_probs[0, i].item()", "draft_prob = 1.0"),
    Edit("target_probs[0, i] - draft_prob,", "target_probs[0, i].index_fill(0, draft_token, 0),"),
    Edit("bonus = target_logits[0, k].argmax()", "bonus = torch.multinomial(target_probs[0, k], 1)[0]"),
)
STEP = Defect(
    "The function gets only the drafted token's draft probability, so the residual subtracts only this probability.",
    Edit(
        "    acceptance_prob = torch.minimum(",
        "    draft_prob = torch.ones_like(draft_prob)\n    acceptance_prob = torch.minimum(",
    ),
)
FIRST = Edit("torch.rand(1, device=draft_token.device) < acceptance_prob", "True")
SECOND = Edit("torch.rand(1).item() < accept_prob", "True")


def _engine_rotalabs(name: str, place: str, run: Any, control: Edit, defect: Defect) -> Engine:
    place, stubs = f"rotalabs_accel.speculative.{place}", ("transformers", "triton")
    return Engine(name, ROTALABS_ARCHIVE, place, run, control, stubs=stubs, defects=(defect,))


ROTALABS = (
    _engine_rotalabs("rotalabs-accel", "core:verify_tokens", _core, FIRST, CORE),
    _engine_rotalabs("rotalabs-accel step", "sampling:rejection_sample", _step_rotalabs, FIRST, STEP),
    _engine_rotalabs("rotalabs-accel EAGLE", "eagle:eagle_verify", partial(_core, eagle=True), SECOND, EAGLE),
)


SEQSPECDECOD_ARCHIVE = Archive(
    "sequential_speculative_decoding-0.1.1", "cc59c9b7e72e1cce99907a851cd9daca5b3fba81e9e64aa4a8b714c4e25a4013"
)
CAPPED = Defect(
    "The backward scan starts from the ratio of the first γ − 1 drafts instead of the ratio of all γ drafts. The scan "
    "also uses the divergences and the residual of a prefix that is one token too short.",
    Edit("compute_capped_prefix_ratio(ratios, gamma - 1)", "compute_capped_prefix_ratio(ratios, gamma)"),
    Edit("if tau >= 0:\n                _, D_cap_pq", "if True:\n                _, D_cap_pq"),
    Edit("tau, ratios\n                )\n", "tau + 1, ratios\n                )\n"),
    Edit("tau, ratios)\n", "tau + 1, ratios)\n"),
    Edit("for i in range(tau):", "for i in range(tau + 1):"),
)
ZEROS = Defect(
    "For tokens of draft probability 0, the code sets the ratio to 0, so the residual does not contain these tokens.",
    Edit(
        "torch.where(r_star > 1, r_star - 1, torch.zeros_like(r_star)) * q_joint", "(p_joint / divide - q_joint).relu()"
    ),
    Edit(
        "torch.where(r_star <= 1, 1 - r_star, torch.zeros_like(r_star)) * q_joint",
        "(q_joint - p_joint / divide).relu()",
    ),
    Edit("return r_star, D_cap_pq", "return p_joint / divide - q_joint, D_cap_pq"),
    Edit("q_dist * q_prefix * (r_star - 1)", "r_star"),
)


def _run_seqspecdecod(module: Any, step: Step, name: str) -> Sequence[int]:
    target, draft = step.models()
    ids, heat = step.ids(), step.options.temperature
    found, _, _ = getattr(module, name)(draft, target, ids, step.lookahead, heat, heat)
    return found[0, ids.shape[1] :].tolist()


def _engine_seqspecdecod(rule: str, file: str, function: str, control: Edit, *defects: Defect) -> Engine:
    place, run, heat = f"seqspecdecod.{file}:{function}", partial(_run_seqspecdecod, name=function), ("temperature",)
    return Engine(f"seqspecdecod {rule}", SEQSPECDECOD_ARCHIVE, place, run, control, rule, heat, defects=defects)


BONUS = Edit("sample_from_probs(target_probs_bonus)", "draft_tokens[0]")
SEQSPECDECOD = (
    _engine_seqspecdecod("chain", "standard_sd", "standard_speculative_step", Edit("torch.max(p - q,", "torch.max(p,")),
    _engine_seqspecdecod("naive HSD", "naive_hsd", "naive_hsd_step", BONUS),
    _engine_seqspecdecod(
        "capped HSD", "capped_hsd", "capped_hsd_step", Edit("acceptance_rate > u", "u < 2"), CAPPED, ZEROS
    ),
)


def _given(module: Any, step: Step, drafts: list[int]) -> list[Any]:
    laws = step.laws(step.draft, drafts)
    return [module.DraftToken(token, log(law[token])) for token, law in zip(drafts, laws, strict=False)]


def _tokens(found: Any) -> list[int]:
    rest = [one for one in (found.resample_token, found.bonus_token) if one is not None]
    return [one.token_id for one in (*found.accepted_tokens, *rest)]


def _run_tightwad(module: Any, step: Step) -> Sequence[int]:
    drafts = step.drafted()
    rows = step.laws(step.target, drafts)
    drawn = getattr(module.TargetLogprob, "drawn", False)  # as the mend has it; else the likeliest, as it is documented
    tokens = [int(torch.multinomial(torch.tensor(row), 1)) if drawn else row.index(max(row)) for row in rows]
    tops = [(token, row[token]) for token, row in zip(tokens, rows, strict=True)]
    masses = [log(row[x]) if row[x] else -1e9 for row, x in zip(rows, drafts, strict=False)]
    told = zip(tops, [*masses, None], strict=True)
    reported = [module.TargetLogprob(top, log(mass), known) for (top, mass), known in told]
    return _tokens(module.verify_stochastic(_given(module, step, drafts), reported))


MATCH = Edit("accept = random.random() < accept_prob", "accept = target.token_id == draft.token_id")
ARGMAX = Defect(
    "The token after the accepted drafts is the target's most likely token instead of a draw. The function cannot draw "
    "from the residual, because it gets no whole distributions. The function is lossless if it gets a draw from the "
    "target instead, and accepts a draft only if the draft equals this draw.",
    Edit(
        "token_id: int  # target's top token at this position",
        "token_id: int  # drawn from the target's law at this position\n    drawn = True",
    ),
    MATCH,
)
TIGHTWAD = Engine(
    name="tightwad",
    source=Archive("tightwad-0.5.4", "5d65d71557369cd96d571effb75a62d225eaa1c620758e256d3232c3f9133307"),
    function="tightwad.speculation:verify_stochastic",
    run=_run_tightwad,
    control=Edit(MATCH.new, "accept = True"),
    defects=(ARGMAX,),
)


def _reported(step: Step, alternatives: bool) -> list[dict[str, Any]]:
    """The answer of a server that generates γ + 1 tokens: each with its log-probability, or with those of all too."""
    tokens: list[int] = []
    content: list[dict[str, Any]] = []
    for _ in range(step.lookahead + 1):
        row = list(step.target((*step.text, *tokens)))
        tokens.append(int(torch.multinomial(torch.tensor(row), 1)))
        others = [{"id": token, "logprob": log(mass)} for token, mass in enumerate(row) if mass]
        told = {"id": tokens[-1], "logprob": log(row[tokens[-1]]), "top_logprobs": others if alternatives else []}
        content.append(told)
    return content


def _answered(waiting: Any) -> Any:
    """Return what a coroutine returns whose only wait is for the server's answer, which is there."""
    try:
        waiting.send(None)
    except StopIteration as done:
        return done.value
    raise RuntimeError("the proxy waits for something else than the server's answer")


def _run_proxy(module: Any, step: Step, alternatives: bool) -> Sequence[int]:
    async def post(*_: Any, **__: Any) -> Any:
        answer = {"choices": [{"logprobs": {"content": _reported(step, alternatives)}}]}
        return SimpleNamespace(raise_for_status=lambda: None, json=lambda: answer)

    given = _given(module, step, step.drafted())
    proxy = object.__new__(module.SpeculativeProxy)
    proxy.target_client = SimpleNamespace(post=post)
    return _tokens(_answered(proxy.verify_with_logprobs("", given, 1.0)))


REPORTED = Defect(
    "The server draws its own tokens, and reports the target's probabilities at each position. The code tests a draft "
    "by these probabilities. After a rejection, the code emits the server's token, which is not drawn from the "
    "residual. After an acceptance, it uses probabilities that follow the server's token instead of the draft.",
    MATCH._replace(module="tightwad.speculation"),
)


def _engine_proxy(name: str, rule: str, alternatives: bool, control: Edit, defects: tuple[Defect, ...] = ()) -> Engine:
    place, run = "tightwad.proxy:SpeculativeProxy.verify_with_logprobs", partial(_run_proxy, alternatives=alternatives)
    stubs = ("httpx", "starlette", "uvicorn", "yaml", "pydantic")
    return Engine(name, TIGHTWAD.source, place, run, control, rule, stubs=stubs, defects=defects)


KEEPS_MATCHES = Edit(MATCH.old, "accept = True", "tightwad.speculation")
KEEPS_ALL = Edit(MATCH.new, "accept = True", "tightwad.speculation")
PROXY = (
    _engine_proxy("tightwad proxy", "match", False, KEEPS_MATCHES),
    _engine_proxy("tightwad proxy with alternatives", "chain", True, KEEPS_ALL, (REPORTED,)),
)


ENGINES = (DFLASH, *FLASHSPEC, MTPLX, *ROTALABS, *SEQSPECDECOD, TIGHTWAD, *PROXY)
