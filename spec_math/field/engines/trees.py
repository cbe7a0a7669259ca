"""Samplers that verify a drafted tree or several paths: EAGLE, Medusa, REST, Sequoia, TriForce and others."""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence
from functools import partial
from itertools import count, takewhile
from types import SimpleNamespace
from typing import Any, NamedTuple

import numpy as np
import torch

from spec_math.arrays import as_law
from spec_math.field.engine import PROMPT, Archive, Defect, Edit, Engine, Repository, Source, Step, Text
from spec_math.field.engines.chains import ROTALABS_ARCHIVE
from spec_math.language.model import Model
from torch_bridge.toy_models import logits_of

NO_TOKEN = -1
"""What EAGLE fills shorter paths up with; Medusa takes token 0."""


class DraftedTree(NamedTuple):
    """candidates [paths, depth + 1], the root token first; logits [paths, depth + 1, V] of the token after each."""

    candidates: torch.Tensor
    logits: torch.Tensor

    def copied(self) -> DraftedTree:
        """Return a tree of its own: a verifier that writes into its tensors must not spoil the next path."""
        return DraftedTree(self.candidates.clone(), self.logits.clone())

    def accepted(self, best: Any, length: Any) -> Text:
        """Return the first tokens of a path, without the root.

        >>> drafted_tree(lambda prefix: [0.25, 0.75], [(0, 1), (1,)]).accepted(0, torch.tensor(1))
        (0,)
        """
        return tuple(self.candidates[int(best), 1 : int(length) + 1].tolist())


def drafted_tree(
    target: Model, paths: Sequence[Text], dtype: torch.dtype = torch.float64, fill: int = NO_TOKEN
) -> DraftedTree:
    """Lay out drafted paths and the logarithms of the target's laws after each of their prefixes.

    The root, token 0 here, stands for what was emitted before. Short paths are filled up with `fill`, and their logits
    with those of the last of the tree's nodes, as an index of -1 finds them.

    Raises:
        ValueError: there is no path, a path is empty, or it holds what is no token of the target.

    >>> tree = drafted_tree(lambda prefix: [0.25, 0.75], [(0, 1), (1,)])
    >>> tree.candidates.tolist(), list(tree.logits.shape)
    ([[0, 0, 1], [0, 1, -1]], [2, 3, 2])
    """
    if not paths or not all(paths):
        raise ValueError(f"a drafted tree needs paths of at least one token each; got {list(paths)}")
    size = len(as_law(target(()), "target"))
    strays = [token for path in paths for token in path if not 0 <= token < size]
    if strays:
        raise ValueError(f"the token {strays[0]} of a drafted path is outside 0..{size - 1}")
    longest = max(paths, key=len)
    candidates = [[0, *path, *[fill] * (len(longest) - len(path))] for path in paths]
    prefixes = [[path[:n] if n <= len(path) else longest for n in range(len(longest) + 1)] for path in paths]
    logits = [torch.stack([logits_of(as_law(target(one), "target"), dtype) for one in row]) for row in prefixes]
    return DraftedTree(torch.tensor(candidates), torch.stack(logits))


def likeliest_tree(step: Step, fill: int = NO_TOKEN) -> DraftedTree:
    """Lay out the draft's two likeliest first tokens, each continued by its likeliest ones, with logits in float32.

    >>> likeliest_tree(Step(lambda text: [0.5, 0.5], lambda text: [0.25, 0.75], 2)).candidates.tolist()
    [[0, 1, 1], [0, 0, 1]]
    """
    paths: list[Text] = []
    for first in np.argsort(-np.array(step.draft(step.text)), kind="stable")[:2].tolist():
        path: Text = (first,)
        while len(path) < step.lookahead:
            path = (*path, int(np.argmax(step.draft((*step.text, *path)))))
        paths.append(path)
    return drafted_tree(lambda text: step.target((*step.text, *text)), paths, torch.float32, fill)


ALL = 0.9999
"""The code asks for a top_p below 1; this one keeps every token of the laws that it is judged on."""


def _run_drawing_paths(module: Any, step: Step, **how: Any) -> Sequence[int]:
    tree = likeliest_tree(step, fill=-2)
    heat, top_p = step.options.temperature, step.options.top_p or ALL
    best, kept = module.evaluate_posterior(tree.logits, tree.candidates, heat, top_p=top_p, **how)
    row = tree.logits[int(best), int(kept)][None]
    if not heat:
        last = row.argmax()
    elif how:
        last = module.get_nucleus_one_token(row, heat, top_p)
    else:
        last = torch.multinomial(module.top_p_filtering(row / heat, top_p).softmax(-1), 1)
    return [*tree.accepted(best, kept), int(last)]


MASK = "    # Create a mask for selected tokens\n"
DRAWING_PATHS_TRIES = Defect(
    "For each path separately, the code draws tokens from the target, and accepts a draft that equals its path's "
    "token. A token that begins two paths therefore has two chances to be accepted. If no path is accepted, the code "
    "draws the next token anew. The code is lossless if it draws one token after each prefix, and emits this token.",
    Edit("    # Apply temperature\n", "    # Apply temperature\n    whole = logits\n"),
    Edit(
        MASK,
        "    drawn = {}\n    for row in range(n_samples):\n        for place in range(n_tokens):\n"
        "            known = tuple(candidates[row, 1 : place + 1].tolist())\n"
        "            if known not in drawn:\n                drawn[known] = sampled_tokens[row, place].item()\n"
        "            sampled_tokens[row, place] = drawn[known]\n"
        "    whole[:, :-1] = F.one_hot(sampled_tokens, whole.size(-1)).to(whole.dtype).log()\n" + MASK,
    ),
)


def _engine(
    name: str, source: Source, module: str, run: Any, control: Edit, rule: str = "tree, one-hot", **known: Any
) -> Engine:
    return Engine(name, source, f"{module}:evaluate_posterior", run, control, rule, **known)


SHARPER = Edit(
    "    logits = logits.view(n_samples*n_tokens, -1)\n\n", "    logits = 2 * logits.view(n_samples*n_tokens, -1)\n"
)
SHARPER_TOO = Edit("view(n_samples*n_tokens, -1)\n    if top_p", "view(n_samples*n_tokens, -1) * 2\n    if top_p")
MEDUSA_MODEL = (Repository("FasterDecoding/Medusa"), "medusa.model.utils")
DRAWING: dict[str, Any] = {"options": ("temperature", "top_p"), "defects": (DRAWING_PATHS_TRIES,)}
NUCLEUS = partial(_run_drawing_paths, sampling="nucleus")
REST = (Repository("FasterDecoding/REST"), "rest.model.utils")
DRAWING_PATHS = (
    _engine("REST", *REST, _run_drawing_paths, SHARPER, stubs=("draftretriever",), **DRAWING),
    _engine("Medusa nucleus", *MEDUSA_MODEL, NUCLEUS, SHARPER_TOO, stubs=("transformers",), **DRAWING),
)


def _run_eagle(module: Any, step: Step) -> Sequence[int]:
    tree, heat = likeliest_tree(step), step.options.temperature
    best, kept, last = module.evaluate_posterior(tree.logits, tree.candidates, partial(_cooled, heat) if heat else None)
    if last.is_floating_point():  # a distribution, or logits where the code is greedy
        last = torch.multinomial(last, 1) if heat else last.argmax()
    return [*tree.accepted(best, kept), int(last)]


def _cooled(heat: float, _ids: Any, scores: torch.Tensor) -> torch.Tensor:
    return scores / heat


BONUS = Defect(
    "After a path that is accepted whole, the code draws the next token from the target's distribution without the "
    "temperature.",
    Edit(
        "gt_logits = logits[best_candidate, accept_length - 1]\n",
        "gt_logits = logits_processor(None, logits[best_candidate, accept_length - 1][None])[0]\n",
    ),
)
CONTROL = Edit("r <= acp", "r <= 2 * acp")
ANGELSLIM = Archive("angelslim-0.5.0", "66a6ec607419c9eac99c38c8117742fb322b740042875fb5c3950a9a9ed94bc6")
IN_ANGELSLIM = "angelslim.compressor.speculative.utils.util"
HEATED: dict[str, Any] = {"options": ("temperature",), "defects": (BONUS,), "stubs": ("transformers",)}
BENCH = Repository("hemingkx/Spec-Bench")
EAGLE = (
    _engine("AngelSlim", ANGELSLIM, IN_ANGELSLIM, _run_eagle, CONTROL, stubs=("transformers", "modelscope")),
    _engine("EAGLE", Repository("SafeAILab/EAGLE"), "eagle.model.utils", _run_eagle, CONTROL, stubs=("transformers",)),
    _engine("HASS", Repository("HArmonizedSS/HASS"), "model.utils", _run_eagle, CONTROL, **HEATED),
    _engine("Spec-Bench eagle2", BENCH, "model.eagle2.utils", _run_eagle, CONTROL, **HEATED),
    _engine("Spec-Bench eagle3", BENCH, "model.eagle3.utils", _run_eagle, CONTROL, **HEATED),
)


def typical_step(evaluate_posterior: Callable[..., Any], tree: DraftedTree, heat: float, **how: Any) -> tuple[int, ...]:
    """Run Medusa's step on a drafted tree: the accepted tokens, and one drawn from the target after them."""
    handed = tree.copied()
    best, accepted = evaluate_posterior(handed.logits, handed.candidates, temperature=heat, **how)
    last = tree.logits[int(best), int(accepted)]
    token = torch.multinomial((last / heat).softmax(-1), 1) if heat else last.argmax()
    return (*handed.accepted(best, accepted), int(token.item()))


def _run_medusa(module: Any, step: Step, **how: Any) -> Sequence[int]:
    return typical_step(module.evaluate_posterior, likeliest_tree(step, fill=0), step.options.temperature, **how)


BY_DESIGN = Defect(
    "Typical acceptance, the default rule, is lossy by design. Without a random number, the rule accepts a draft if "
    "its target probability exceeds a threshold. The threshold is lower where the target's entropy is higher.",
    by_design=True,
)
SIX = Defect(
    "Without `fast`, typical sampling calls a function of five parameters with six arguments. With five arguments the "
    "code is lossy by design: it drops tokens of probability below a threshold, and draws tokens for each path "
    "separately."
)


KEEPS_ALL = Edit("candidates_prob > threshold", "candidates_prob > -1")
FIVE = Edit("posterior_threshold, posterior_alpha, fast)\n", "posterior_threshold, posterior_alpha)\n")
TYPICAL: dict[str, Any] = {"rule": "tree, typical", "options": ("temperature",), "stubs": ("transformers",)}
MEDUSA = (
    _engine("Medusa", *MEDUSA_MODEL, _run_medusa, KEEPS_ALL, defects=(BY_DESIGN,), **TYPICAL),
    _engine("Medusa without fast", *MEDUSA_MODEL, partial(_run_medusa, fast=False), FIVE, defects=(SIX,), **TYPICAL),
)


def _run_rotalabs_tree(module: Any, step: Step) -> Sequence[int]:
    target, draft = step.models()
    settings = sys.modules[module.TreeSpecConfig.__module__]
    tree = module.SpeculationTree(settings.TreeSpecConfig(branch_factor=2, max_depth=step.lookahead))
    tokens, masses, _ = tree.build_tree(draft, step.ids(), torch.device("cpu"))
    return module.verify_tree(target, step.ids(), tree, tokens, masses)[0]


FLAT = Defect(
    "The target model reads the last token and the tokens of the tree as one sequence, without the text before them. "
    "The paths are not separated, so the token after one path also depends on other paths.",
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
)
ROTALABS_TREE_TRIES = Defect(
    "The drafts are the draft's most likely tokens, but the code tests them as if they were sampled. The code tests "
    "each path with its own uniforms, and keeps the longest accepted path. A token on several paths therefore has "
    "several chances to be accepted.",
    Edit("    best_path = []\n    best_length = 0", "    best_path, best_length, drawn = [], 0, {}"),
    Edit(
        "accept_prob = min(1.0, p_target / (p_draft + 1e-10))",
        "known = tuple(accepted)\n"
        "            if known not in drawn:\n"
        "                drawn[known] = torch.multinomial(target_probs[i], 1).item()",
    ),
    Edit("if torch.rand(1).item() < accept_prob:", "if drawn[known] == node.token_id:"),
    Edit("new_token = torch.multinomial(adjusted, 1).item()", "new_token = drawn[known]"),
)
ROTALABS_TREE = Engine(
    name="rotalabs-accel tree",
    source=ROTALABS_ARCHIVE,
    function="rotalabs_accel.speculative.tree:verify_tree",
    rule="tree of the likeliest",
    run=_run_rotalabs_tree,
    control=Edit("accepted.append(new_token)", "accepted.append(node.token_id)"),
    stubs=("transformers", "triton"),
    defects=(FLAT, ROTALABS_TREE_TRIES),
    most=2,
)


FIRST = 3
"""The first token that ends no text: tokens 0 and 2 do."""
LONGEST = 24


class _Laws:
    """A model as the tree calls it: the laws after the nodes that stand at some places of the tree's tokens."""

    def __init__(self, law: Model) -> None:
        self.law, self.tree, self.dtype = law, None, torch.float32
        self.engine = SimpleNamespace(max_length=LONGEST, kv_cache=SimpleNamespace(gather_kv_incremental=_nothing))

    def inference(self, input_ids: torch.Tensor, storage_ids: torch.Tensor, **_: Any) -> torch.Tensor:
        tokens = input_ids[0].tolist() if self.tree is None else self.tree.tokens.tolist()
        first = len(tokens) if self.tree is None else self.tree.ground_truth_len
        rows = [self._row(_above(place, first, tokens)) for place in storage_ids.tolist()]
        return torch.tensor(rows)[None].log()

    graph_inference = inference

    def _row(self, text: list[int]) -> list[float]:
        return [0.0] * FIRST + [float(mass) for mass in self.law(tuple(token - FIRST for token in text[len(PROMPT) :]))]


def _nothing(*_: Any, **__: Any) -> None: ...


def _above(place: int, first: int, tokens: list[int]) -> list[int]:
    """Return the text up to a place: the tree's two paths take turns in what comes after the first tokens."""
    path = range(first + (place - first) % 2, place + 1, 2) if place >= first else ()
    return [*tokens[: min(place + 1, first)], *(tokens[one] for one in path)]


def _started(module: Any, name: str, step: Step) -> Any:
    """Return a tree of two paths: the root has two children, and each node after it one."""
    depth, size = step.lookahead, 2 * step.lookahead + 1
    grown = {
        "size": size,
        "roots": [[0], *([2 * n - 1, 2 * n] for n in range(1, depth + 1))],
        "branches": [[2], *[[1, 1]] * (depth - 1)],
        "Successors": [[1, 2], *([n + 2] if n + 2 < size else [] for n in range(1, size))],
        "mask": torch.ones(size, size),
        "depth": torch.tensor([(n + 1) // 2 for n in range(size)]),
    }
    draft, target = _Laws(step.draft), _Laws(step.target)
    utils = sys.modules[module.get_residual.__module__]
    sampled = utils.sampling_without_replacement
    heat, many = step.options.temperature, [2, *[1] * (depth - 1)]
    tree = getattr(module, name)(
        draft,
        target,
        torch.tensor([token + FIRST for token in step.prompt]),
        temperature=heat,
        top_p=1.0,
        max_length=LONGEST,
        max_target_seq=LONGEST,
        vocab_size=FIRST + len(step.target(())),
        grow_map=grown,
        attn_mask=torch.zeros(LONGEST, LONGEST),
        position_ids=torch.zeros(LONGEST, dtype=torch.int64),
        residual_graph=utils.get_residual,
        sampling_callables=[partial(sampled, num_samples=one, temperature=heat) for one in many],
        sample_gather_indices=[torch.arange(2)] * depth,
    )
    draft.tree = target.tree = tree
    return tree


def _run_sequoia(module: Any, step: Step, name: str) -> Sequence[int]:
    if "tree" not in step.kept:
        step.kept["tree"] = _started(module, name, step)
    tree = step.kept["tree"]
    tree.construct_grow_map()
    return [token - FIRST for token in tree.verify()[0].tolist()[len(step.prompt) :]]


MOVED = Defect(
    "The code stores the token drawn at the end of a round before it moves the accepted tokens to their final "
    "positions. This token can therefore overwrite an accepted token.",
    Edit(
        "                self.tokens[accept_length] = residual.multinomial(num_samples=1, replacement=True)\n\n"
        "        self.tokens[:accept_length] = self.tokens[accept_list]",
        "                last = residual.multinomial(num_samples=1, replacement=True)\n"
        "        self.tokens[:accept_length] = self.tokens[accept_list]\n"
        "        if not terminal:\n"
        "            self.tokens[accept_length] = last",
    ),
)


KEPT = Defect(
    "The code draws uniforms and noise once for a text, and looks them up by a token's position. After a rejection, "
    "the next round verifies the same position again with the same random numbers.",
    Edit(
        "self.target_kv_len = len(accept_list)",
        "self.target_kv_len = len(accept_list)\n"
        "        self.r, self.rand = torch.rand(len(self.r)), torch.rand(self.rand.shape)",
    ),
)
HALF = Edit("dtype = torch.float16)", "dtype = torch.float32)")
"""Its coins and logits are in half precision on a GPU; they are in float32 here."""


def _engine_sequoia(name: str, rule: str, control: Edit) -> Engine:
    return Engine(
        name=f"Sequoia {name}",
        source=Repository("Infini-AI-Lab/Sequoia"),
        function=f"Tree.{name}:{name}.verify",
        rule=rule,
        run=partial(_run_sequoia, name=name),
        given={"Engine.Engine": {}},
        edits=(HALF._replace(module="Tree.Tree"), *({"SpecInferTree": (HALF,)}.get(name, ()))),
        most=2,
        slow=True,
        defects=(MOVED, KEPT),
        control=control,
    )


SEQUOIA = (
    _engine_sequoia("SpecTree", "tree without replacement", Edit("p[token] > r * q[token]", "p[token] > -1")),
    _engine_sequoia("SpecInferTree", "tree with replacement", Edit("p[token] >= r * q[token]", "p[token] >= 0")),
)


FILL = 100
"""What the loop fills places up with that hold no token yet."""


class _Engines:
    """The three models and their caches, as the loop calls them; what is retrieved gives the target's own laws."""

    def __init__(self, step: Step) -> None:
        self.step, self.model, self.emitted = step, SimpleNamespace(device="cpu"), [0]
        self.engine = self.kv_cache = self.graph_cache = self.draft_cache = self
        self.seq_len = self.start_size = self.recent_size = self.calls = 0

    def inference(self, input_ids: torch.Tensor) -> torch.Tensor:
        rows = self.step.rows(self.step.target, input_ids[0, 1:].tolist())[None]
        self.calls += 1
        return rows if self.calls > 2 else torch.eye(rows.shape[-1])[:1, None].log()

    def graph_verify(self, input_ids: torch.Tensor, **_: Any) -> torch.Tensor:
        return self.step.rows(self.step.target, _tokens(input_ids)).softmax(-1)

    def graph_draft_inference(self, input_ids: torch.Tensor, **_: Any) -> torch.Tensor:
        self.emitted = _tokens(input_ids)
        return self.step.rows(self.step.draft, self.emitted)[-1].softmax(-1)

    def __getattr__(self, name: str) -> Any:
        return _nothing


def _tokens(ids: torch.Tensor) -> list[int]:
    return list(takewhile(lambda token: token != FILL, ids[0, 1:].tolist()))


def _run_triforce(module: Any, step: Step) -> Sequence[int]:
    # Of the prompt comes one token, always the same, which is the loop's first and not judged.
    module.time = SimpleNamespace(time=count().__next__)
    models, prompt = _Engines(step), step.ids()
    module.TriForce(SimpleNamespace(eos_token_id=-1), models, prompt, step.lookahead, max_len=1, top_p=0, temperature=1)
    return models.emitted


MIDDLE = Defect(
    "When the middle model rejects a draft, the code draws from the middle model's whole distribution instead of the "
    "residual. The tokens passed to the target therefore do not have the distribution that the code reports for them.",
    Edit(
        "else:\n            pred_token_idx = sample(verify_prob[n])",
        "else:\n            pred_token_idx = sample(max_fn(verify_prob[n] - speculation_prob))",
    ),
)
TRIFORCE = Engine(
    name="TriForce",
    source=Repository("Infini-AI-Lab/TriForce"),
    function="utils.decoding:TriForce, Middle_Spec",
    rule="two levels",
    run=_run_triforce,
    control=Edit("sample(max_fn(verify_prob-speculation_prob))", "sample(verify_prob)"),
    stubs=("termcolor",),
    most=2,
    slow=True,
    defects=(MIDDLE,),
)


ENGINES = (*DRAWING_PATHS, *EAGLE, *MEDUSA, ROTALABS_TREE, *SEQUOIA, TRIFORCE)
