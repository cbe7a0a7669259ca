"""Decoding loops of small repositories, run on table models: a record of each."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import nullcontext
from functools import partial
from types import SimpleNamespace
from typing import Any

import numpy as np
import torch

from spec_math.field.engine import LIKELIEST, PROMPT, Archive, Defect, Edit, Engine, Repository, Step, Text, real_tokens
from spec_math.field.stand_ins import GIVEN, OF_KERAS, cond, rearrange, scan
from spec_math.language.model import Model
from torch_bridge.toy_models import TableModel, logits_of


def _shifted(model: Model) -> Model:
    """A law on one token more, which it never has: token 0, at which the sampler raises."""
    return lambda text: [0.0, *model(tuple(token - 1 for token in text))]


def _run_feifeibear(module: Any, step: Step, name: str, seeded: bool, first: int) -> Sequence[int]:
    seed = 1 + len(step.text) if seeded else None  # another one for each call: a text is made by one call
    prompt = [token + first for token in step.prompt]
    models = [_shifted(model) if first else model for model in (step.target, step.draft)]
    target, draft = (TableModel(model, prompt[: len(PROMPT)]) for model in models)
    heat, ids = step.options.temperature, step.ids() + first
    found = getattr(module, name)(ids, draft, target, 1, step.lookahead, temperature=heat, random_seed=seed)
    return [token - first for token in found[0, len(prompt) :].tolist()]


SEED = Defect(
    "If random_seed is given, the code seeds the generator before every uniform. All drafts of a text are therefore "
    "tested with the same uniform.",
    Edit(
        "            if random_seed:\n                torch.manual_seed(random_seed)\n"
        "            r = torch.rand(1, device = device)",
        "            r = torch.rand(1, device = device)",
    ),
    Edit(
        "    resample_count = 0\n",
        "    if random_seed:\n        torch.manual_seed(random_seed)\n    resample_count = 0\n",
    ),
)


ZERO = Defect(
    "The sampler raises an error when token 0 is drawn.",
    Edit("    if (idx_next.item() == 0):\n        raise RuntimeError\n", "", "sampling.utils"),
)


def _engine(name: str, function: str, seeded: bool = False, first: int = 1) -> Engine:
    place = f"sampling.speculative_sampling:{function}"
    run = partial(_run_feifeibear, name=function, seeded=seeded, first=first)
    options = () if seeded or not first else ("temperature > 0",)
    defects = (SEED,) if seeded else () if first else (ZERO,)
    return Engine(name, FEIFEIBEAR_SOURCE, place, run, UNREDUCED, options=options, defects=defects)


FEIFEIBEAR_SOURCE = Repository("feifeibear/LLMSpeculativeSampling")
UNREDUCED = Edit(
    "target_model_cache._prob_history[:, n, :] - approx_model_cache._prob_history[:, n, :]",
    "target_model_cache._prob_history[:, n, :]",
)
FEIFEIBEAR = (
    _engine("feifeibear", "speculative_sampling"),
    _engine("feifeibear with a seed", "speculative_sampling", seeded=True),
    _engine("feifeibear token 0", "speculative_sampling", first=0),
)


def _after_the_prompt(step: Step) -> tuple[TableModel, TableModel]:
    """Models of tensors that have read the prompt."""
    target, draft = step.models("tensor")
    for model in (target, draft):
        model(step.ids(), input_pos=torch.arange(len(step.prompt)))
    return target, draft


def _run_gpt_fast(module: Any, step: Step) -> Sequence[int]:
    target, draft = map(_placed, _after_the_prompt(step))
    sampling = {"temperature": step.options.temperature, "top_k": step.options.top_k}
    token, place = step.ids()[0, -1].int(), len(step.prompt) - 1
    return module.speculative_decode(target, draft, token, place, step.lookahead, **sampling).tolist()


def _placed(model: TableModel) -> Callable[[torch.Tensor, torch.Tensor], torch.Tensor]:
    """A model whose second argument is where its tokens stand."""
    return lambda ids, places: model(ids, input_pos=places)


SHAPES = Defect(
    "Each draft and its probabilities have a leading batch dimension, which the verification does not expect.",
    Edit("draft_tokens = torch.cat(draft_tokens)", "draft_tokens = torch.cat(draft_tokens).view(-1)"),
    Edit("draft_probs = torch.stack(draft_probs)", "draft_probs = torch.cat(draft_probs)"),
)
GPT_FAST = Engine(
    name="gpt-fast",
    source=Repository("pytorch-labs/gpt-fast"),
    function="generate:speculative_decode",
    run=_run_gpt_fast,
    control=Edit("new = q - p\n", "new = q\n"),
    options=("temperature > 0", "top_k"),
    given={"model": {"Transformer": object}, "tokenizer": {}},
    defects=(SHAPES,),
)


def _run_jaymody(module: Any, step: Step) -> Sequence[int]:
    module.tqdm = _quiet

    def rows(law: Model) -> Any:
        def answers(ids: Any) -> Any:
            text: Text = tuple(int(token) for token in ids)
            return np.array([law(text[len(PROMPT) : n + 1]) for n in range(len(text))])

        return answers

    prompt = np.array(step.prompt)
    found = module.speculative_sampling(prompt, rows(step.draft), rows(step.target), 1, step.lookahead)
    return found[len(prompt) :].tolist()


def _quiet(**_: Any) -> Any:
    """Return a progress bar that shows nothing."""
    return nullcontext(SimpleNamespace(update=int))


JAYMODY = Engine(
    name="jaymody",
    source=Repository("jaymody/speculative-sampling"),
    function="main:speculative_sampling",
    run=_run_jaymody,
    control=Edit("max_fn(q[i] - p[i])", "q[i]"),
    stubs=("gpt2", "utils", "fire"),
)


def _run_litgpt(module: Any, step: Step) -> Sequence[int]:
    (target, draft), options, many = _after_the_prompt(step), step.options, len(step.prompt)
    sampling = {"temperature": options.temperature, "top_k": options.top_k, "top_p": options.top_p or 1.0}
    token, place = step.ids()[0, -1:], torch.tensor([many - 1])
    return module.speculative_decoding(draft, target, token, place, many, step.lookahead, **sampling).tolist()


def _text(module: Any, step: Step) -> Sequence[int]:
    target, draft = _after_the_prompt(step)  # it is read once with its places not named
    length = len(step.prompt) + step.lookahead + 1
    lengths = {"max_returned_tokens": length, "speculative_k": step.lookahead}
    return module.generate(draft, target, step.ids()[0], **lengths, include_prompt=False)[0].tolist()


ARCHIVE = Archive("litgpt-0.5.13", "da044b76c52cd44fc0564f6177ed6cf186dde24f711ce8e71e1fd9e9da5f02b2")
MODULE = "litgpt.generate.speculative_decoding"
STUBS = ("lightning", "lightning_utilities", "jsonargparse", "safetensors")
CONTROL = Edit("torch.clamp(adjusted_distribution, 0.0)", "torch.clamp(target_probs[idx], 0.0)")
GREEDY = Defect(
    "At temperature 0 the draft is the most likely token, but the test uses softmax probabilities.",
    Edit(
        "return torch.argmax(logits, dim=-1, keepdim=True), F.softmax(logits, dim=-1)",
        "return logits.argmax(-1, keepdim=True), F.one_hot(logits.argmax(-1), len(logits)).float()",
    ),
)
FILTERED = Defect(
    "The residual consists of probabilities, but the code passes it through a filter for logits. The filter's output "
    "is not a probability distribution.",
    Edit(
        "sample(adjusted_distribution[None, None, ...], apply_softmax=False, **sample_kwargs)",
        "multinomial_num_samples_1(adjusted_distribution), None",
    ),
)
FIRST = Defect(
    "The code draws the first token when it reads the prompt. The models then read this token, but the returned text "
    "does not contain it.",
    Edit("    tokens = []\n    total_generated", "    tokens = [token[0]]\n    total_generated"),
)


def _engine_litgpt(name: str, function: str, run: Any, *defects: Defect, **known: Any) -> Engine:
    return Engine(name, ARCHIVE, f"{MODULE}:{function}", run, CONTROL, stubs=STUBS, defects=defects, **known)


FILTERS = ("temperature", "top_k", "top_p")
LITGPT = (
    _engine_litgpt("litgpt", "speculative_decoding", _run_litgpt, GREEDY, FILTERED, options=FILTERS),
    _engine_litgpt("litgpt text", "generate", _text, FIRST, most=1, slow=True),
)


def _run_lucidrains(module: Any, step: Step) -> Sequence[int]:
    def answers(model: Any) -> Any:
        # A cache is there to be cut; the whole text is handed over each time.
        def answer(ids: torch.Tensor, **_: Any) -> Any:
            return model(ids), (torch.zeros(1, 1, ids.shape[1], 1), None)

        return answer

    target, draft = map(answers, step.models("tensor"))
    ids, heat = step.ids(), step.options.temperature
    found = module.speculative_decoding(target, draft, ids, ids.shape[1] + 1, step.lookahead, heat, filter_thres=0.0)
    return found[0][0].tolist()


LUCIDRAINS = Engine(
    name="lucidrains",
    source=Archive("speculative_decoding-0.2.0", "0652f1723decdfeadec7333fe4d6d37abf17fe0cf59f59637107d7af3f762cfb"),
    function="speculative_decoding.speculative_decoding:speculative_decoding",
    run=_run_lucidrains,
    control=Edit("(bool_tensor.cumsum(dim = dim) == 0)", "(bool_tensor.cumsum(dim = dim) < 9)"),
    options=("temperature > 0",),
    stubs=("beartype",),
    given={"einops": {"rearrange": rearrange}},
)


def _run_keras(module: Any, step: Step, requests: int) -> Sequence[int]:
    index, heat = len(step.prompt), step.options.temperature
    texts = np.array([[*step.prompt, *[-1] * (step.lookahead + 1)]] * requests)

    def answers(model: Model, ids: Any, cache: Any, place: int) -> Any:
        return logits_of([model(tuple(row[len(PROMPT) : place])) for row in ids.tolist()]).numpy(), None, cache

    target, draft = (partial(answers, model) for model in (step.target, step.draft))
    sampler = module.SpeculativeSampler(step.lookahead, SimpleNamespace(temperature=heat), temperature=heat)
    return real_tokens(sampler(target, texts, index=index, mask=texts >= 0, draft_next=draft)[0, index:])


LONE = Defect(
    LIKELIEST,
    Edit(
        "next_token = ops.argmax(probs, axis=-1)",
        "race = -ops.log(random.uniform(shape=ops.shape(probs), seed=self.seed_generator, dtype='float32'))\n"
        "                next_token = ops.argmax(probs / race, axis=-1)",
    ),
)
BESIDE = Defect(
    "All requests of a batch go on by as many tokens as the request with the fewest accepted drafts. A request that "
    "accepted more gets a draw from the residual there, which replaces its accepted draft.",
    Edit(
        "bonus_token = ops.cast(bonus_token, prompt.dtype)",
        "kept = draft_ids[:, ops.minimum(min_accepted, k - 1)]\n"
        "            bonus_token = ops.where(num_accepted > min_accepted, kept, bonus_token)",
    ),
)


def _engine_keras(name: str, requests: int, *defects: Defect, **known: Any) -> Engine:
    return Engine(
        name=name,
        source=Archive("keras_hub-0.32.0", "c0a07ed19b894f5588188afd841659263eb6d3732e21188c82e3e7d3b6de4268"),
        function="keras_hub.src.samplers.speculative_sampler:SpeculativeSampler.__call__",
        run=partial(_run_keras, requests=requests),
        control=Edit("(r * q_draft) < p_target", "(r * q_draft) < 2 * p_target"),
        rule="likeliest, by ratio",
        options=("temperature > 0",),
        given={"keras": OF_KERAS, "keras_hub.src.api_export": {}},
        edits=(Edit("keras_hub.src.models.gemma4.gemma4_causal_lm import (\n", "types import (UnionType as\n"),),
        defects=defects,
        **known,
    )


KERAS = (
    _engine_keras("keras-hub", 1, LONE),
    _engine_keras("keras-hub beside another request", 2, LONE, BESIDE, most=1, narrow=True),
)


def _run_kyegomez(module: Any, step: Step) -> Sequence[int]:
    p, q = (torch.tensor(step.laws(model, ())[0]) for model in (step.target, step.draft))
    return [module.SpeculativeDecoder.speculative_sampling(None, p, q)]


NO_COIN = Defect(
    "The code keeps a draft only if its target probability is at least its draft probability. It flips no coin, so it "
    "rejects every other draft.",
    Edit("if q[x] > p[x]:", "if torch.rand(1) >= p[x] / q[x]:"),
)
KYEGOMEZ = Engine(
    name="kyegomez",
    source=Repository("kyegomez/Speculative-Decoding"),
    function="sd.main:SpeculativeDecoder.speculative_sampling",
    run=_run_kyegomez,
    control=Edit("torch.clamp(p - q, min=0)", "p"),
    rule="one position",
    most=1,
    defects=(NO_COIN,),
)


def _run_romsto(module: Any, step: Step) -> Sequence[int]:
    target, draft = step.models()
    heat, named = step.options.temperature, {one.__name__: one for one in module.LogitsProcessor.__subclasses__()}
    chosen = named["MultinomialProcessor"](heat) if heat else named["GreedyProcessor"]()
    sizes = {"gamma": step.lookahead, "max_gen_len": step.lookahead + 1, "eos_tokens_id": 1 << 20}
    found, _ = module.speculative_generate(
        list(step.prompt), draft, target, logits_processor=chosen, first_target=False, **sizes
    )
    return found


SOFT = Defect(
    "The default sampler is greedy: it takes the most likely token. The acceptance test, however, uses softmax "
    "probabilities.",
    Edit(
        "return logits\n\n    def sample(self, probs: Tensor) -> Tensor:\n        return torch.argmax",
        "return F.one_hot(logits.argmax(-1), logits.shape[-1]).float().log()\n\n"
        "    def sample(self, probs: Tensor) -> Tensor:\n        return torch.argmax",
        "utils.logits_processor",
    ),
)
ROMSTO = Engine(
    name="romsto",
    source=Repository("romsto/Speculative-Decoding"),
    function="sampling.speculative_decoding:speculative_generate",
    run=_run_romsto,
    control=Edit("max_fn(p[..., n, :] - q[0, n, :])", "max_fn(p[..., n, :])"),
    options=("temperature",),
    stubs=("termcolor", "rich"),
    defects=(SOFT,),
)


def _run_specdec(module: Any, step: Step) -> Sequence[int]:
    decoder = object.__new__(module.SpecDecoder)
    decoder.big_model, decoder.small_model = step.models()
    decoder.device = "cpu"
    ids = step.ids()
    return decoder.verify(ids, *decoder.generate_small(ids, step.lookahead))


SPECDEC = Engine(
    name="specdec",
    source=Archive("specdec-0.2.0", "cfe701a49ee730d3debb9440fa5c20d81b4d3b177a079d069dfe7c9fd6861110"),
    function="specdec.decoder:SpecDecoder.verify",
    run=_run_specdec,
    control=Edit("big_probs-small_probs", "big_probs"),
    stubs=("transformers",),
)


def _run_jacobi(module: Any, step: Step) -> Sequence[int]:
    heat, drafts = step.options.temperature, step.drafted()
    target = (step.rows(step.target, drafts) / heat).softmax(-1)
    draft = (step.rows(step.draft, drafts) / heat).softmax(-1).roll(1, 0)  # row i is of the draft in place i

    def warped(_ids: Any, scores: torch.Tensor) -> torch.Tensor:
        return scores / heat

    states = [torch.zeros(1, dtype=torch.long), torch.zeros(1, target.size(-1)), torch.zeros(1, dtype=torch.long)]
    sampler = module.SpeculativeSampler([], [], 2, None, "jacobian_states", *states)
    advanced = torch.cat([torch.zeros(len(drafts), dtype=torch.long), torch.multinomial(target[-1], 1)])
    tokens, laws = torch.tensor([[step.prompt[-1], *drafts]]), (draft[None], target[None])
    kept, found, _ = sampler(tokens, advanced[None], *laws, None, warped, all_collected_input_ids=step.ids())
    return found[0, : kept[0]].tolist()


TWICE = Defect(
    "The code applies the logits warper to the logarithm of the residual. The residual is the difference of two "
    "distributions that were already warped, so the temperature is applied twice.",
    Edit("logits_warper = logits_warper,\n                        all_c", "all_c"),
)
JACOBI = Engine(
    name="speculative Jacobi",
    source=Repository("tyshiwo1/Accelerating-T2I-AR-with-SJD"),
    function="scheduler.jacobi_iteration_lumina_mgpt:SpeculativeSampler.__call__",
    run=_run_jacobi,
    control=Edit("token_advanced_prob - token_draft_prob", "token_advanced_prob - 0 * token_draft_prob"),
    options=("temperature > 0",),
    stubs=("transformers", "absl", "scheduler.logit_processor_3dim"),
    defects=(TWICE,),
)


def _run_tidar(module: Any, step: Step) -> Sequence[int]:
    drafts, heat = step.drafted(), step.options.temperature
    target, draft = (step.rows(model, drafts).numpy() for model in (step.target, step.draft))
    # Row i of the draft's logits is of the token in place i, behind one that is there already.
    told = {"anchor_token": 0, "verify_logits": target, "draft_logits": np.roll(draft, 1, 0), "top_k": 0}
    told |= {"draft_tokens": np.array(drafts), "predraft_tokens": np.zeros((len(target), 1)), "temperature": heat}
    _, many, tokens, _ = module.anchor_rejection_sample((len(step.text),), **told)
    return tokens[:many].tolist()


WHOLE = Defect(
    "After a rejection, the code draws from the target's whole distribution instead of the residual.",
    Edit(
        "jax.random.categorical(k, p_logits, axis=-1)",
        "jax.random.categorical(k, jnp.log(jnp.maximum(jnp.exp(p_log) - jnp.exp(q_log), 1e-30)), axis=-1)",
    ),
)
TIDAR = Engine(
    name="SUPER-GIANT TiDAR",
    source=Repository("DebelToni/SUPER-GIANT"),
    function="TiDAR.model.tidar_core:anchor_rejection_sample",
    run=_run_tidar,
    control=Edit("accept = u_i < ap_i", "accept = u_i < 2 * ap_i"),
    options=("temperature",),
    given={**GIVEN, "jax": GIVEN["jax"] | {"lax": SimpleNamespace(cond=cond, scan=scan)}},
    edits=(Edit("selected_proposal = selected_proposal.at[0].set(next_anchor)\n", "\n"),),
    defects=(WHOLE,),
)


ENGINES = (*FEIFEIBEAR, GPT_FAST, JACOBI, JAYMODY, *KERAS, KYEGOMEZ, *LITGPT, LUCIDRAINS, ROMSTO, SPECDEC, TIDAR)
