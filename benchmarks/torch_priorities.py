"""What chain priorities cost on logits: against softmax and argsort of the rows that they visit, and against a loop.

Run from the project's folder: python -m benchmarks.torch_priorities [requests]
One thread, in its own time, float32, V = 32,000, K = 8 chains of L = 4, B = 64 unless another number is asked for: 20
interleaved runs, one of the loop on two requests. The rows visited are those of both models that a chain goes on from,
and those of the target behind the last tokens of one chain. What is shown is the best run over the best of softmax and
`np.argsort` of them, and beside it the range of that ratio in runs made together. The loop replays the exact program on
laws in NumPy. Peak memory is as in `torch_rules`.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from time import thread_time
from typing import Any

import numpy as np
import torch

from benchmarks.table import Row, interleaved, show
from benchmarks.torch_rules import peak
from spec_math.block_level import tree_rules
from torch_bridge import chain_tree, tree_columns, verify_tree
from torch_bridge.options import Options

K, LOOKAHEAD, SIZE, REQUESTS = 8, 4, 32_000, 64


def drafted(requests: int) -> tuple[Any, ...]:
    """Return logits N(0, 3²), drafts moved by N(0, 1), chains drawn from them as a tree, and uniforms."""
    generator = torch.Generator().manual_seed(0)
    number = K * LOOKAHEAD
    targets = 3 * torch.randn(requests, number + 1, SIZE, generator=generator)
    drafts = targets + torch.randn(requests, number + 1, SIZE, generator=generator)
    chains = torch.zeros(requests, K, LOOKAHEAD, dtype=torch.int64)
    for chain in range(K):
        for place in range(LOOKAHEAD):
            row = chain * LOOKAHEAD + place if place else 0
            law = torch.softmax(drafts[:, row], -1)
            chains[:, chain, place] = torch.multinomial(law, 1, generator=generator)[:, 0]
    tree = chain_tree(chains)
    columns = tree_columns(tree_rules.ROUNDED_PRIORITIES, number)
    uniforms = torch.rand(requests, columns, generator=generator, dtype=torch.float64)
    return targets, drafts, tree.tokens, tree.parents, uniforms


def rows(requests: int = REQUESTS, repeats: int = 20) -> list[Row]:
    """Measure it on one thread."""
    torch.set_num_threads(1)
    given = drafted(requests)
    options = Options(check=False, depth=LOOKAHEAD, width=K)
    inner = [0, *(chain * LOOKAHEAD + place for chain in range(K) for place in range(1, LOOKAHEAD))]
    few = tuple(each[:2] for each in given)
    works: list[Callable[[], Any]] = [
        lambda: verify_tree(tree_rules.ROUNDED_PRIORITIES, *given, options),
        lambda: [torch.softmax(each[:, row], -1) for each in given[:2] for row in inner],
        lambda: [np.argsort(given[1][:, row].numpy(), axis=-1) for row in inner],
    ]
    ours, floor, sort = interleaved(works, repeats, thread_time)
    (loop,) = interleaved([lambda: verify_tree(tree_rules.PRIORITIES, *few, options)], 1, thread_time)
    case = f"chain priorities on rounded ratios, B = {requests}"
    ratios = [each / (soft + sorts) for each, soft, sorts in zip(ours, floor, sort, strict=True)]
    spread = f"{min(ratios):.2f}..{max(ratios):.2f}; best {min(ours) * 1e3:.0f} ms, {peak(works[0]):.0f} MiB held"
    against = f"softmax {min(floor) * 1e3:.0f} to {max(floor) * 1e3:.0f} ms + argsort {min(sort) * 1e3:.0f} to "
    each = min(loop) / len(few[2])
    return [
        Row(case, min(ours) / (min(floor) + min(sort)), 2, "×", spread, f"{against}{max(sort) * 1e3:.0f} ms"),
        Row(
            f"{case}: a loop of exact ones",
            each * requests / min(ours),
            3,
            "×",
            f"{each * 1e3:.0f} ms a request",
            "the same",
            at_least=True,
        ),
    ]


if __name__ == "__main__":
    sys.exit(
        not show(rows(int(sys.argv[1]) if len(sys.argv) > 1 else REQUESTS), "Chain priorities on logits, one thread")
    )
