"""Conformance vectors: files on which a verification kernel in any language is checked without Python."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
import torch
from safetensors.torch import save

from spec_math import array_coin
from spec_math.block_level import block, chain
from spec_math.chance import Cumulative, replay
from spec_math.files.whole import write_whole
from spec_math.token_level import k_sequential, plan
from torch_bridge import rule_vectors, threshold
from torch_bridge.options import Options
from torch_bridge.verify import padded

ABOUT = {
    "target_logits, draft_logits": "[B, L + 1, V] and [B, L, V] for token and block; [B, V] each for k_seq and plan",
    "tokens": "drafted tokens [B, L] or [B, k]; -1 from where a row is shorter. The rows of logits behind are never "
    "used; they hold nearly all mass on the last token, which a kernel that reads them would emit",
    "uniforms": "in [0, 1), multiples of 2^-24. token, block, k_seq: column i is the coin of draft i, the last column "
    "the final draw. plan: component, choice in the pool, test, residual's draw",
    "rules": "a coin accepts where u < chance; a draw is the first i with v_0 + ... + v_i > u * sum(v)",
    "expected": "emitted tokens, padded with -1: [B, L + 1], or [B, 1]; accepted: drafts kept, or whether one was",
    "distance": "[B], the least distance of a uniform used from the threshold it was compared with",
    "margin": "[B], token and block only: distances times the mass that a decision divides (1 for a coin t/d, "
    "rho + 1 - w for a block's, the residual's sum for a draw); masses within eps in L1 decide alike beyond a few eps",
    "kept_margin": "[B], how far top_p is from keeping another set of tokens; 1 without top_p",
    "gamma": "[B], k_seq only: the scale of its tests, t/(gamma d)",
    "bound": "the margin beyond which this project's float32 arithmetic decides as expected",
}


class Measuring:
    """A coin that replays uniforms, and remembers the least distance of one from the threshold it was compared with.

    Flips take theirs from one iterator and draws from another, which may be the same.
    """

    def __init__(self, flips: Iterator[float], draws: Iterator[float]) -> None:
        self._flips, self._draws = flips, draws
        self.distance = 1.0

    def flip(self, p: Any) -> bool:
        """Return whether the next uniform is below p."""
        uniform = next(self._flips)
        self.distance = min(self.distance, abs(uniform - float(p)))
        return replay(lambda coin: coin.flip(p), [uniform])

    def draw(self, masses: Any) -> int:
        """Return the token that the next uniform draws."""
        uniform = next(self._draws)
        listed = np.array(masses.masses if isinstance(masses, Cumulative) else masses, dtype=np.float64)
        self.distance = min(self.distance, float(array_coin.distance(listed[None], np.array([uniform]))[0]))
        return replay(lambda coin: coin.draw(masses), [uniform])


def in_order(uniforms: list[float]) -> Measuring:
    """Return the coin of one row: flips and draws take the next uniform alike."""
    row = iter(uniforms)
    return Measuring(row, row)


@dataclass(frozen=True)
class Case:
    """One file of vectors: a verifier, the type of its logits, how they become laws, and its sizes."""

    verifier: str
    dtype: Any
    options: Options
    drafts: int
    size: int
    requests: int = 24

    @property
    def name(self) -> str:
        """The name of its file, without the ending."""
        o = self.options
        rule = f"t{o.temperature:g}" + (f"_k{o.top_k}" if o.top_k else "") + (f"_p{o.top_p:g}" if o.top_p else "")
        return f"{self.verifier}_{str(self.dtype).removeprefix('torch.')}_{rule}_{self.drafts}x{self.size}"


VERIFIERS = ("token", "block", "k_seq", "plan")
TYPES = (torch.float32, torch.bfloat16, torch.float16)
OPTIONS = (Options(temperature=0.7, top_k=8), Options(top_p=0.9), Options(temperature=0))
CASES = (
    *(Case(verifier, dtype, Options(), 4, 50) for verifier, dtype in product(VERIFIERS, TYPES)),
    *(Case(verifier, torch.float32, options, 3, 50) for verifier, options in product(VERIFIERS, OPTIONS)),
    *(Case(verifier, torch.float32, Options(), 4, 4099, 8) for verifier in VERIFIERS[:2]),
)


def write_vectors(folder: str | Path, seed: int = 0) -> list[Path]:
    """Write the conformance vectors: one .safetensors file a case, and vectors.json, which says what is in them.

    Expected tokens are those of the programs, replayed on the uniforms with laws in float64; nothing of
    `verify_token`'s own arithmetic enters. Each file is written whole or not at all, vectors.json last. The same seed
    gives the same files. Returns the paths.

    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     write_vectors(folder)[-1].name
    'vectors.json'
    """
    place = Path(folder)
    place.mkdir(parents=True, exist_ok=True)
    listed: list[dict[str, Any]] = []

    def write(name: str, arrays: dict[str, Any], about: dict[str, Any]) -> None:
        file = f"{name}.safetensors"
        write_whole(place / file, save({key: array.contiguous() for key, array in arrays.items()}))
        listed.append({"file": file, **about})

    for number, case in enumerate(CASES):
        lookahead = {"token": 0, "block": case.drafts}.get(case.verifier)
        told = {name: getattr(case.options, name) for name in ("temperature", "top_k", "top_p")}
        bound = None if lookahead is None else threshold.bound(case.dtype, case.size, lookahead)
        about = {"verifier": case.verifier, "options": told, "bound": bound}
        write(case.name, vectors(case, np.random.default_rng([seed, number])), about)
    for each in rule_vectors.rule_files(in_order, seed):
        about = {"verifier": each.name.partition("_")[0], "rule": each.rule, "options": {}, "bound": None}
        write(each.name, each.arrays, about | ({} if each.vocabulary is None else {"vocabulary": each.vocabulary}))
    path = place / "vectors.json"
    found = {"about": {**ABOUT, **rule_vectors.ABOUT}, "seed": seed, "files": listed}
    write_whole(path, (json.dumps(found, indent=1) + "\n").encode())
    return [*(place / each["file"] for each in listed), path]


def vectors(case: Case, rng: np.random.Generator) -> dict[str, Any]:
    """Make the arrays of one case."""
    chained = case.verifier in _CHAINED
    rows = (case.drafts + 1,) if chained else ()
    drawn = 3 * rng.standard_normal((case.requests, *rows, case.size))
    moved = drawn[:, :-1] if chained else drawn
    targets = torch.from_numpy(drawn).to(case.dtype)
    drafts = torch.from_numpy(moved + 0.8 * rng.standard_normal(moved.shape)).to(case.dtype)
    laws = threshold.laws(drafts, case.options).numpy()
    laws = laws if chained else np.repeat(laws[:, None], case.drafts, axis=1)
    tokens = np.array([[rng.choice(case.size, p=law / law.sum()) for law in request] for request in laws])
    # Every fourth request is shorter, the first of them empty but for its place holders.
    sizes = np.where(np.arange(case.requests) % 4 == 3, rng.integers(0, case.drafts, case.requests), case.drafts)
    sizes[3] = 0
    tokens[np.arange(case.drafts) >= sizes[:, None]] = -1
    if chained:
        _spoil(targets, sizes + 1)
        _spoil(drafts, sizes)
    columns = 4 if case.verifier == "plan" else case.drafts + 1
    uniforms = rng.integers(0, 2**24, (case.requests, columns)) / 2.0**24
    given = {"target_logits": targets, "draft_logits": drafts}
    given |= {"tokens": torch.from_numpy(tokens), "uniforms": torch.from_numpy(uniforms)}
    return given | _expected(case, given)


def _spoil(logits: torch.Tensor, sizes: Any) -> None:
    """Put nearly all mass of the rows that no chain reaches on the last token: a kernel that reads them emits it."""
    beyond = torch.arange(logits.shape[1]) >= torch.from_numpy(sizes)[:, None]
    logits[beyond] = 0.0
    logits[..., -1] += 40.0 * beyond


def _expected(case: Case, given: dict[str, Any]) -> dict[str, Any]:
    targets, drafts = (threshold.laws(given[name], case.options).numpy() for name in ("target_logits", "draft_logits"))
    rows = list(zip(targets, drafts, given["tokens"].tolist(), given["uniforms"].tolist(), strict=True))
    found = [_replayed(case, row) for row in rows]
    width = case.drafts + 1 if case.verifier in _CHAINED else 1
    kept = [threshold.kept_margin(given[name], case.options) for name in ("target_logits", "draft_logits")]
    result = {
        "expected": padded([tokens for tokens, _, _ in found], width),
        "accepted": torch.tensor([accepted for _, accepted, _ in found]),
        "distance": torch.tensor([distance for _, _, distance in found], dtype=torch.float64),
        "kept_margin": torch.minimum(*(values.flatten(1).amin(1) if values.ndim > 1 else values for values in kept)),
    }
    margins = {"token": threshold.margin_token, "block": threshold.margin_block}
    if case.verifier in margins:
        logits = given["target_logits"], given["draft_logits"]
        result["margin"] = margins[case.verifier](*logits, given["tokens"], given["uniforms"], case.options)
    if case.verifier == "k_seq":
        sizes = [max(1, sum(token >= 0 for token in row[2])) for row in rows]
        gammas = [k_sequential.gamma_star(t, d, k) for (t, d, *_), k in zip(rows, sizes, strict=True)]
        result["gamma"] = torch.tensor([float(gamma) for gamma in gammas], dtype=torch.float64)
    return result


def _replayed(case: Case, row: tuple[Any, Any, list[int], list[float]]) -> tuple[tuple[int, ...], int, float]:
    target, draft, padded, uniforms = row
    tokens = tuple(token for token in padded if token >= 0)
    coin = Measuring(iter(uniforms[:-1]), iter(uniforms[-1:]))
    if not tokens:
        return (coin.draw(target[0] if target.ndim > 1 else target),), 0, coin.distance
    if case.verifier in _CHAINED:
        laws = list(target[: len(tokens) + 1]), list(draft[: len(tokens)])
        emitted = _CHAINED[case.verifier](coin, tokens, *laws)
        return emitted, len(emitted) - 1, coin.distance
    if case.verifier == "plan":  # its four uniforms are used in order, by flips and draws alike
        coin = in_order(uniforms)
        emission = plan.emit(coin, tokens, plan.plan(target, draft, len(tokens)))
    else:
        emission = k_sequential.emit(coin, tokens, target, draft)
    return (emission.token,), int(emission.accepted), coin.distance


_CHAINED: dict[str, Callable[..., tuple[int, ...]]] = {"token": chain.verify, "block": block.verify}
