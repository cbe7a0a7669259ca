"""Verification on logits on a CUDA device: the same tokens as on the CPU, no wait for the device, and what it costs.

Run from the project's folder: python -m benchmarks.gpu
One table. Without a CUDA device it says so and measures nothing.
"""

from __future__ import annotations

import json
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import torch
from safetensors.torch import load_file

from benchmarks.table import Row, interleaved, show
from torch_bridge import Options, assert_same_tokens, indexed_logits, verify_block, verify_token, write_vectors
from torch_bridge.same_tokens import DifferentTokensError

HOT = Options(check=False)
SIZES = ((64, 4, 32_000), (64, 4, 151_936), (256, 4, 151_936))
DOWN = (151_936, 4096, 2048)
"""A head's tokens and dimension, and how many tokens are looked at."""


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
        spread = [f"{min(times) * 1e3:.3g}..{max(times) * 1e3:.3g} ms" for times in seconds]
        case = "B = {}, L = {}, V = {:,}, bfloat16".format(*shape)
        rows.append(Row(f"verify_token, {case}", token / floor, float("inf"), "×", spread[1], f"softmax, {spread[0]}"))
        rows.append(Row(f"verify_block, {case}", block / token, float("inf"), "×", spread[2], "verify_token"))
        del given, targets, drafts
    size, dimension, looked = DOWN
    head = torch.randn(size, dimension, dtype=torch.bfloat16, device="cuda")
    hidden = torch.randn(64, dimension, dtype=torch.bfloat16, device="cuda")
    tokens = torch.randint(0, size, (64, looked), device="cuda")
    both = finished(lambda: indexed_logits(head, hidden, tokens)), finished(lambda: hidden @ head.T)
    ours, full = interleaved(both)
    spread = f"{min(ours) * 1e3:.3g}..{max(ours) * 1e3:.3g} ms"
    rows.append(
        Row(f"indexed head, k = {looked:,}", min(ours) / min(full), float("inf"), "×", spread, "the full head, B = 64")
    )
    return rows


def conformance() -> list[Row]:
    """Count the vectors that the device decides differently beyond the bound, and the waits for the device."""
    differing, files, waits = 0, 0, 0
    with tempfile.TemporaryDirectory() as folder:
        paths = write_vectors(folder)
        for file in json.loads(paths[-1].read_text())["files"]:
            if file["verifier"] not in ("token", "block"):
                continue
            arrays = load_file(Path(folder) / file["file"])
            given = [arrays[name].cuda() for name in ("target_logits", "draft_logits", "tokens", "uniforms")]
            verify = verify_token if file["verifier"] == "token" else verify_block
            options = Options(**file["options"], check=False)
            verify(*given, options)  # the first call loads kernels, and may wait for that
            torch.cuda.synchronize()
            torch.cuda.set_sync_debug_mode("error")
            try:
                emitted = verify(*given, options).emitted
            except RuntimeError as error:
                waits += 1
                print(f"{file['file']}: {error}", file=sys.stderr)
                continue
            finally:
                torch.cuda.set_sync_debug_mode("default")
            files += 1
            try:
                assert_same_tokens(arrays["expected"], emitted.cpu(), arrays["margin"], file["bound"])
            except DifferentTokensError as error:
                differing += 1
                print(f"{file['file']}: {error}", file=sys.stderr)
    return [
        Row("files of vectors decided differently", differing, 0, "", f"{files} files", "programs replayed in float64"),
        Row("calls that wait for the device", waits, 0, "", f"{files + waits} calls", "torch.cuda's own sync check"),
    ]


def main() -> None:
    """Print the table, or say that there is no device."""
    if not torch.cuda.is_available():
        print("not measured: no CUDA device here")
        return
    sys.exit(not show(conformance() + speed(), f"Verification on logits, {torch.cuda.get_device_name()}"))


if __name__ == "__main__":
    main()
