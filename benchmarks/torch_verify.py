"""What verification on logits costs on one thread, against the softmax of the same logits and against a loop.

Run from the project's folder: python -m benchmarks.torch_verify
B = 64 requests, L = 4 drafts, V = 32,000 tokens, float32. The floor is the softmax: every logit is read and put through
one exponential. The loop verifies one request after another as engines do: by transformers' own `_speculative_sampling`
where it is installed, and by the same steps in plain torch besides, which need nothing else.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from time import thread_time
from typing import Any

import torch

from benchmarks.table import Row, interleaved, show
from torch_bridge import Options, verify_block, verify_token
from torch_bridge.softmax_rows import CHUNK_BYTES

REQUESTS, LOOKAHEAD, SIZE = 64, 4, 32_000
HOT = Options(check=False)


def batch() -> tuple[Any, Any, Any, Any]:
    """Return targets of logits N(0, 3²), drafts moved by N(0, 1), tokens of the drafts, and uniforms."""
    generator = torch.Generator().manual_seed(0)
    targets = 3 * torch.randn(REQUESTS, LOOKAHEAD + 1, SIZE, generator=generator)
    drafts = targets[:, :-1] + torch.randn(REQUESTS, LOOKAHEAD, SIZE, generator=generator)
    drawn = torch.multinomial(torch.softmax(drafts, dim=-1).view(-1, SIZE), 1, generator=generator)
    uniforms = torch.rand(REQUESTS, LOOKAHEAD + 1, generator=generator, dtype=torch.float64)
    return targets, drafts, drawn.view(REQUESTS, LOOKAHEAD), uniforms


def softmax(targets: Any, drafts: Any) -> None:
    """Take the softmax of all logits, chunk by chunk, in the chunks of the verifiers."""
    size = max(1, CHUNK_BYTES["cpu"] // (LOOKAHEAD * SIZE * 4))
    for start in range(0, REQUESTS, size):
        for logits in (targets, drafts):
            torch.softmax(logits[start : start + size], dim=-1)


def one_request(candidates: Any, draft_logits: Any, length: int, target_logits: Any) -> Any:
    """Verify one request in plain torch, as engines do: [1, L] candidates, logits [1, L, V] and [1, L + 1, V]."""
    t, d = torch.softmax(target_logits, dim=-1), torch.softmax(draft_logits, dim=-1)
    at = candidates[:, :length, None]
    ratios = t[:, :length].gather(-1, at)[..., 0] / d.gather(-1, at)[..., 0]
    accepts = torch.rand_like(ratios) < ratios
    kept = int(((~accepts).cumsum(dim=-1) < 1).sum())
    if kept < length:
        left = (t[:, kept] - d[:, kept]).clamp(min=0)
        last = torch.multinomial(left / left.sum(), 1)
    else:
        last = torch.multinomial(t[:, length], 1)
    return torch.cat([candidates[:, :kept], last], dim=-1)


def engines() -> dict[str, Callable[..., Any]]:
    """Return how engines verify one request, by name; transformers' own function where it is installed."""
    known: dict[str, Callable[..., Any]] = {"a loop over the same steps in plain torch": one_request}
    try:
        from transformers import __version__
        from transformers.generation.utils import _speculative_sampling  # type: ignore[import-not-found]
    except ImportError:
        return known
    return {f"a loop over _speculative_sampling of transformers {__version__}": _speculative_sampling, **known}


def rows() -> list[Row]:
    """Measure the promises: best of 20 interleaved runs, on one thread, in its own time."""
    threads = torch.get_num_threads()
    torch.set_num_threads(1)
    try:
        return _rows()
    finally:
        torch.set_num_threads(threads)


def _rows() -> list[Row]:
    given = batch()
    targets, drafts, tokens, _ = given
    loops = engines()

    def loop(verify: Callable[..., Any]) -> None:
        for row in range(REQUESTS):
            here = slice(row, row + 1)
            verify(tokens[here], drafts[here], LOOKAHEAD, targets[here])

    works = [
        lambda: softmax(targets, drafts),
        lambda: verify_token(*given, HOT),
        lambda: verify_block(*given, HOT),
        lambda: verify_token(*given),
        *(lambda verify=verify: loop(verify) for verify in loops.values()),
    ]
    # Of this one thread: what other processes take of the machine counts for none of the works.
    seconds = interleaved(works, clock=thread_time)
    floor, token, block, checked, *looped = (min(times) for times in seconds)
    spread = [f"{min(times) * 1e3:.3g}..{max(times) * 1e3:.3g} ms" for times in seconds]
    case = f"B = {REQUESTS}, L = {LOOKAHEAD}, V = {SIZE:,}"
    chunks = f"torch.softmax of the same chunks, {spread[0]}"
    found = [
        Row(f"verify_token, {case}", token / floor, 6, "×", spread[1], chunks),
        Row(f"verify_block, {case}", block / token, 2, "×", spread[2], "verify_token"),
        Row(f"verify_token with checks, {case}", checked / floor, float("inf"), "×", spread[3], chunks),
    ]
    for name, best, shown in zip(loops, looped, spread[4:], strict=True):
        promised = 1 if name == next(iter(loops)) else 0
        throughput = f"throughput of verify_token, {case}"
        found.append(Row(throughput, best / token, promised, "×", f"loop {shown}", name, at_least=True))
    return found


if __name__ == "__main__":
    sys.exit(not show(rows(), "Verification on logits, one thread"))
