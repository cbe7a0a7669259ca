"""Verification on logits on a CUDA device: the same tokens as on the CPU, no wait for the device, and what it costs.

Run from the project's folder: python -m benchmarks.gpu
Without a CUDA device it says "not measured" of each promise.
"""

from __future__ import annotations

import json
import sys
import tempfile
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import torch
from safetensors.torch import load_file

from benchmarks import torch_rules
from benchmarks.table import Row, interleaved, show
from spec_math import SCHEMES
from spec_math.testing import DifferentTokensError
from torch_bridge import (
    Options,
    assert_same_tokens,
    indexed_logits,
    verify_block,
    verify_drafts,
    verify_token,
    write_vectors,
)

HOT = Options(check=False)
SIZES = ((64, 4, 32_000), (64, 4, 151_936), (256, 4, 151_936))
DOWN = (151_936, 4096, 2048)
"""A head's tokens and dimension, and how many tokens are looked at."""
PROMISES = (
    "vectors decided on the device as by programs replayed in float64, without a wait for the device",
    "every verifier of one position at k = 4, V = 32,000, in at most 6 × the softmax of its rows, without a wait",
)


def batch(shape: tuple[int, int, int], dtype: Any) -> tuple[Any, Any, Any, Any]:
    """Return logits, drafted tokens and uniforms on the device."""
    requests, lookahead, size = shape
    generator = torch.Generator("cuda").manual_seed(0)
    made = {"generator": generator, "device": "cuda"}
    targets = 3 * torch.randn(requests, lookahead + 1, size, **made)
    drafts = (targets[:, :-1] + torch.randn(requests, lookahead, size, **made)).to(dtype)
    drawn = torch.multinomial(torch.softmax(drafts.float(), dim=-1).view(-1, size), 1, generator=generator)
    uniforms = torch.rand(requests, lookahead + 1, dtype=torch.float64, **made)
    return targets.to(dtype), drafts, drawn.view(requests, lookahead), uniforms


def finished(work: Callable[[], Any]) -> Callable[[], Any]:
    """Return the work, waited for."""

    def done() -> None:
        work()
        torch.cuda.synchronize()

    return done


def device_seconds(works: Sequence[Callable[[], Any]], repeats: int = 20, calls: int = 10) -> list[list[float]]:
    """Time several works in turn, A B A B …, by the device's own clock: seconds a call, the mean of some in a row."""
    seconds: list[list[float]] = [[] for _ in works]
    for repeat in range(repeats + 1):
        for place, work in enumerate(works):
            start, end = (torch.cuda.Event(enable_timing=True) for _ in range(2))
            start.record()
            for _ in range(calls):
                work()
            end.record()
            torch.cuda.synchronize()
            if repeat:
                seconds[place].append(start.elapsed_time(end) / 1e3 / calls)
    return seconds


def spread(seconds: Sequence[float]) -> str:
    """Return the range of some times in ms."""
    return f"{min(seconds) * 1e3:.3g}..{max(seconds) * 1e3:.3g} ms"


def speed() -> list[Row]:
    """Measure the verifiers against the softmax of the same logits, and an indexed head against a full one."""
    rows: list[Row] = []
    for shape in SIZES:
        given = batch(shape, torch.bfloat16)
        targets, drafts, *_ = given

        def softmax(targets: Any = targets, drafts: Any = drafts) -> None:
            torch.softmax(targets, dim=-1, dtype=torch.float32)
            torch.softmax(drafts, dim=-1, dtype=torch.float32)

        works = (softmax, lambda given=given: verify_token(*given, HOT), lambda given=given: verify_block(*given, HOT))
        seconds = interleaved([finished(work) for work in works])
        floor, token, block = (min(times) for times in seconds)
        spreads = [spread(times) for times in seconds]
        case = "B = {}, L = {}, V = {:,}, bfloat16".format(*shape)
        rows.append(
            Row(f"verify_token, {case}", token / floor, float("inf"), "×", spreads[1], f"softmax, {spreads[0]}")
        )
        rows.append(Row(f"verify_block, {case}", block / token, float("inf"), "×", spreads[2], "verify_token"))
        del given, targets, drafts
    size, dimension, looked = DOWN
    head = torch.randn(size, dimension, dtype=torch.bfloat16, device="cuda")
    hidden = torch.randn(64, dimension, dtype=torch.bfloat16, device="cuda")
    tokens = torch.randint(0, size, (64, looked), device="cuda")
    both = finished(lambda: indexed_logits(head, hidden, tokens)), finished(lambda: hidden @ head.T)
    ours, full = interleaved(both)
    against = "the full head, B = 64"
    rows.append(Row(f"indexed head, k = {looked:,}", min(ours) / min(full), float("inf"), "×", spread(ours), against))
    return rows


def rules() -> list[Row]:
    """Measure every verifier of one position against the softmax of its rows; a wait for the device is an error."""
    found: list[Row] = []
    for scheme in (scheme for scheme in SCHEMES if scheme.decide):
        given = tuple(each.cuda() for each in torch_rules.batch(scheme, torch.bfloat16))
        torch.cuda.set_sync_debug_mode("error")
        try:
            _ = verify_drafts(scheme, *given, HOT)
        finally:
            torch.cuda.set_sync_debug_mode("default")

        def softmax(rows: Any = given[:2]) -> None:
            for logits in rows:
                torch.softmax(logits, dim=-1, dtype=torch.float32)

        ours, floor = device_seconds((lambda s=scheme, g=given: verify_drafts(s, *g, HOT), softmax))
        case = f"{scheme.short_name}, B = {torch_rules.REQUESTS}, V = {torch_rules.SIZE:,}, bfloat16"
        found.append(Row(case, min(ours) / min(floor), 6, "×", spread(ours), f"softmax, {spread(floor)}"))
    return found


def conformance() -> list[Row]:
    """Count the vectors that the device decides differently beyond the bound, and the waits for the device."""
    counts: dict[str, int] = dict.fromkeys(("files", "differing", "waits"), 0)
    with tempfile.TemporaryDirectory() as folder:
        paths = write_vectors(folder)
        for file in json.loads(paths[-1].read_text())["files"]:
            if file["verifier"] not in ("token", "block"):
                continue
            arrays = load_file(Path(folder) / file["file"])
            options = Options(**file["options"], check=False)
            verify = verify_token if file["verifier"] == "token" else verify_block
            emitted = unwaited(verify, arrays, options, file["file"])
            counts["waits"] += emitted is None
            counts["files"] += emitted is not None
            counts["differing"] += emitted is not None and differs(arrays, emitted, file)
    calls = counts["files"] + counts["waits"]
    against = "programs replayed in float64"
    return [
        Row("files of vectors decided differently", counts["differing"], 0, "", f"{counts['files']} files", against),
        Row("calls that wait for the device", counts["waits"], 0, "", f"{calls} calls", "torch.cuda's own sync check"),
    ]


def unwaited(verify: Any, arrays: Any, options: Options, name: str) -> Any:
    """Return what is emitted, or None where the call waits for the device."""
    given = [arrays[each].cuda() for each in ("target_logits", "draft_logits", "tokens", "uniforms")]
    verify(*given, options)  # the first call loads kernels, and may wait for that
    torch.cuda.synchronize()
    torch.cuda.set_sync_debug_mode("error")
    try:
        return verify(*given, options).emitted
    except RuntimeError as error:
        print(f"{name}: {error}", file=sys.stderr)
        return None
    finally:
        torch.cuda.set_sync_debug_mode("default")


def differs(arrays: Any, emitted: Any, file: Any) -> bool:
    """Say whether another token is emitted than a file of vectors expects, beyond its bound."""
    try:
        assert_same_tokens(arrays["expected"], emitted.cpu(), arrays["margin"], file["bound"])
    except DifferentTokensError as error:
        print(f"{file['file']}: {error}", file=sys.stderr)
        return True
    return False


def main() -> None:
    """Print the table, or say that there is no device."""
    if not torch.cuda.is_available():
        print("no CUDA device here")
        for promise in PROMISES:
            print(f"not measured: {promise}")
        return
    rows = conformance() + speed() + rules()
    sys.exit(not show(rows, f"Verification on logits, {torch.cuda.get_device_name()}"))


if __name__ == "__main__":
    main()
