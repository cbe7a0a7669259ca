"""What every verifier of one position, and of trees, costs on logits: against the softmax of its rows, and a loop.

Run from the project's folder: python -m benchmarks.torch_rules [repeats]
One thread, in its own time, 20 interleaved runs (one of a loop, three of trees): B = 64 requests, k = 4 drafts, V =
32,000 tokens, by storage type. A rule is allowed 6 times the chunked softmax of the rows that it reads. The plan, whose
program orders the tokens, is allowed 6 times the sum of that and 1.3 times `np.argsort` of one row a request. What is
shown is the best run over what the best runs of these two allow, and beside it the least and the largest ratio of runs
that were made together, as other work on the machine meets all of them. Peak memory is the most that torch holds in a
call beyond its input, by its own profiler, and the most that NumPy does, by Python's. Trees: K = 8 chains of L = 4 on 8
requests; what is promised of them is in `torch_priorities`.
"""

from __future__ import annotations

import sys
import tracemalloc
from collections.abc import Callable, Sequence
from time import thread_time
from typing import Any

import numpy as np
import torch
from torch.profiler import ProfilerActivity, profile

from benchmarks.table import Row, interleaved, show
from spec_math import SCHEMES
from spec_math.block_level import tree_rules
from spec_math.chance import replay
from spec_math.scheme import Scheme
from torch_bridge import chain_tree, columns, tree_columns, verify_drafts, verify_tree
from torch_bridge.options import Options
from torch_bridge.softmax_rows import CHUNK_BYTES, working
from torch_bridge.threshold import laws

REQUESTS, K, SIZE, REPEATS = 64, 4, 32_000, 20
HOT = Options(check=False)
DTYPES = (torch.float32, torch.bfloat16, torch.float16, torch.float64)


def batch(scheme: Scheme, dtype: Any) -> tuple[Any, ...]:
    """Return logits N(0, 3²), drafts moved by N(0, 1), what the scheme drafts from them, and uniforms."""
    generator = torch.Generator().manual_seed(0)
    targets = 3 * torch.randn(REQUESTS, SIZE, generator=generator)
    drafts = (targets + torch.randn(REQUESTS, SIZE, generator=generator)).to(dtype)
    number = scheme.drafts or K
    masses = torch.softmax(drafts.double(), dim=-1)
    tokens = torch.multinomial(masses, number, replacement=not scheme.distinct, generator=generator)
    if scheme.drafts == 2:
        tokens = torch.stack([tokens[:, 0], masses.argmax(dim=-1)], dim=1)
        same = tokens[:, 0] == tokens[:, 1]
        tokens[same, 1] = torch.multinomial(masses, 2, generator=generator)[same, 1]
        tokens[same, 1] = torch.where(tokens[same, 1] == tokens[same, 0], 0, tokens[same, 1])
    uniforms = torch.rand(REQUESTS, columns(scheme, K), generator=generator, dtype=torch.float64)
    return targets.to(dtype), drafts, tokens, uniforms


def softmax(rows: Sequence[Any]) -> None:
    """Take the softmax of logits in the working type, chunk by chunk."""
    kind = working(rows[0].dtype)
    size = max(1, CHUNK_BYTES["cpu"] // (len(rows) * rows[0].shape[-1] * kind.itemsize))
    for start in range(0, len(rows[0]), size):
        for logits in rows:
            torch.softmax(logits[start : start + size], dim=-1, dtype=kind)


def loop(scheme: Scheme, given: tuple[Any, ...]) -> None:
    """Verify one request after another, as programs do."""
    targets, drafts, tokens, uniforms = given
    for row in range(len(tokens)):
        t, d = (laws(logits[row]).numpy() for logits in (targets, drafts))
        listed = tuple(tokens[row].tolist())
        if scheme.emit is not None:
            replay(lambda coin, a=(scheme.emit, listed, t, d): a[0](coin, *a[1:]), uniforms[row].tolist())


def peak(work: Callable[[], Any]) -> float:
    """Return a bound of the memory that a call holds at a time beyond its input, in MiB: torch's peak and NumPy's."""
    with profile(activities=[ProfilerActivity.CPU], profile_memory=True) as seen:
        work()
    held = most = 0
    for event in seen.profiler.kineto_results.events():  # type: ignore[union-attr]
        if event.name() == "[memory]":
            held += event.nbytes()
            most = max(most, held)
    tracemalloc.start()
    work()
    _, beside = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    return (most + beside) / 2**20


def positions(dtype: Any, repeats: int = REPEATS) -> list[Row]:
    """Measure each verifier of one position on one storage type."""
    rows: list[Row] = []
    for scheme in (scheme for scheme in SCHEMES if scheme.decide):
        given = batch(scheme, dtype)
        reads = given[:2] if scheme.reads.draft else given[:1]
        ordered = scheme.reads.order
        keys = given[0].to(working(dtype)).numpy()
        works = [
            lambda given=given, scheme=scheme: verify_drafts(scheme, *given, HOT),
            lambda reads=reads: softmax(reads),
            lambda keys=keys: np.argsort(keys, axis=-1),
        ]
        times = interleaved(works[: 3 if ordered else 2], repeats, thread_time)
        times += [[0.0] * repeats] * (3 - len(times))
        (looped,) = interleaved([lambda given=given, scheme=scheme: loop(scheme, given)], 1, thread_time)
        ratios = [each / (6 * soft + 1.3 * sorts) for each, soft, sorts in zip(*times, strict=True)]
        ours, floor, sort = (min(each) for each in times)
        case = f"{scheme.short_name}, {str(dtype).removeprefix('torch.')}"
        memory = peak(works[0])
        against = f"6 × softmax {floor * 1e3:.3g} ms" + (f" + 1.3 × argsort {sort * 1e3:.3g} ms" if ordered else "")
        best = ours / (6 * floor + 1.3 * sort)
        spread = f"{min(ratios):.2f}..{max(ratios):.2f}; best {ours * 1e3:.3g} ms, {memory:.0f} MiB held"
        rows.append(Row(case, best, 6 if ordered else 1, "×", spread, against))
        promised = 2 if ordered else 1
        rows.append(
            Row(
                f"{case}: a loop",
                min(looped) / ours,
                promised,
                "×",
                f"{min(looped) * 1e3:.3g} ms",
                "the same",
                at_least=True,
            )
        )
    return rows


def trees(requests: int = 8, k: int = 8, lookahead: int = 4) -> list[Row]:
    """Measure the rules for i.i.d. chains on trees, against the softmax of the rows of one path each."""
    generator = torch.Generator().manual_seed(0)
    number = k * lookahead
    targets = 3 * torch.randn(requests, number + 1, SIZE, generator=generator)
    drafts = targets + torch.randn(requests, number + 1, SIZE, generator=generator)
    root = torch.multinomial(torch.softmax(drafts[:, 0], -1), k, replacement=True, generator=generator)
    chains = torch.randint(0, SIZE, (requests, k, lookahead), generator=generator)
    chains[:, :, 0] = root
    tree = chain_tree(chains)
    options = Options(check=False, depth=lookahead, width=k)
    rules = [tree_rules.K_SEQUENTIAL, tree_rules.PLAN, tree_rules.MULTI_PATH, tree_rules.ROUNDED_PRIORITIES]
    uniforms = torch.rand(requests, max(tree_columns(rule, number) for rule in rules), dtype=torch.float64)
    works: list[Callable[[], Any]] = [
        lambda rule=rule: verify_tree(rule, targets, drafts, tree.tokens, tree.parents, uniforms, options)
        for rule in rules
    ]
    path = targets[:, : lookahead + 1].reshape(-1, SIZE), drafts[:, :lookahead].reshape(-1, SIZE)
    works.append(lambda: [softmax([each]) for each in path])
    works.append(lambda: np.argsort(path[1].numpy(), axis=-1))
    *found, floor, sort = (min(each) for each in interleaved(works, 3, thread_time))
    against = f"softmax {floor * 1e3:.3g} ms + argsort {sort * 1e3:.3g} ms of one path's rows"
    return [
        Row(
            f"{rule.name}, B = {requests}, K = {k}, L = {lookahead}",
            ours / (floor + sort),
            float("inf"),
            "×",
            f"{ours * 1e3:.3g} ms",
            against,
        )
        for rule, ours in zip(rules, found, strict=True)
    ]


def rows(repeats: int = REPEATS, dtypes: Sequence[Any] = DTYPES) -> list[Row]:
    """Measure all of it on one thread."""
    threads = torch.get_num_threads()
    torch.set_num_threads(1)
    try:
        return [row for dtype in dtypes for row in positions(dtype, repeats)] + trees()
    finally:
        torch.set_num_threads(threads)


if __name__ == "__main__":
    runs = int(sys.argv[1]) if len(sys.argv) > 1 else REPEATS
    sys.exit(not show(rows(runs), f"Every rule on logits, one thread, B = {REQUESTS}, k = {K}, V = {SIZE:,}"))
