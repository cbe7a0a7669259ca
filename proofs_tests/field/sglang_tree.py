"""SGLang's kernel for trees, compiled for the CPU: its exact law, its coins being arguments.

It verifies a tree by the target alone: one coin a node is tested against the running mass of its children, divided by
a threshold that is 1 where the rule is to be lossless; a second threshold accepts a child of enough mass whatever the
coin.
"""

from __future__ import annotations

import ctypes
import shutil
import subprocess
from collections.abc import Sequence
from fractions import Fraction
from functools import cache
from itertools import product
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, NamedTuple

import numpy as np

from spec_math.field.source_file import EngineError
from spec_math.files.whole import write_whole

STAND_INS = Path(__file__).parent
"""The folder of FlashInfer's stand-in header."""

HEADER = "sglang/kernels/jit/include/sgl_kernel/speculative/sampling.cuh"
_ENTRY = """
namespace sglang::speculative_sampling { uint8_t smem_sampling[1024]; }
using namespace sglang::speculative_sampling;
extern "C" void verify(int32_t* predicts, int32_t* accept_index, int32_t* accept_number, int64_t* candidates,
                       int64_t* slots, int64_t* next_token, int64_t* next_sibling, double* coins, double* final_coins,
                       double* target, double* draft, uint32_t batch, uint32_t depth, uint32_t nodes, uint32_t size,
                       double single, double accumulated) {
  for (blockIdx.x = 0; blockIdx.x < batch; ++blockIdx.x)
    TreeSpeculativeSamplingTargetOnly<1, cub::BLOCK_SCAN_RAKING, cub::BLOCK_REDUCE_RAKING, 1, true>(
        predicts, accept_index, accept_number, candidates, slots, next_token, next_sibling, coins, final_coins, target,
        draft, batch, depth, nodes, size, single, accumulated);
}
"""


class Tree(NamedTuple):
    """A tree of N drafts: `tokens` and `parents` [N], −1 the root, and `target` laws [N + 1, V], the root's first."""

    tokens: Sequence[int]
    parents: Sequence[int]
    target: Sequence[Sequence[Fraction]]

    def children(self, slot: int) -> list[int]:
        """Return the slots of a slot's children in their order; slot 0 is the root, slot i + 1 node i."""
        return [node + 1 for node, parent in enumerate(self.parents) if parent + 1 == slot]


def law(folder: Path, tree: Tree, grid: int, single: Any = 1, accumulated: Any = 1) -> dict[tuple[int, ...], Fraction]:
    """Return the exact law {emitted tokens: mass} of `TreeSpeculativeSamplingTargetOnly` on one tree.

    folder holds the package `sglang`. Each coin goes through the midpoints of `grid` equal intervals: the law is exact
    where every place at which a decision changes is a multiple of 1/grid, with laws and thresholds that float64 holds.

    Raises:
        EngineError: the header is not there, or no compiler takes it.

    Source: SGLang 0.5.23, kernels/jit/include/sgl_kernel/speculative/sampling.cuh.
    """
    tossed = [slot for slot in range(len(tree.tokens) + 1) if tree.children(slot)]
    places = np.array(list(product(range(grid), repeat=len(tossed) + 1)))
    middles = (places + 0.5) / grid
    coins = np.zeros((len(places), len(tree.tokens) + 1))
    coins[:, tossed] = middles[:, :-1]
    emitted = launch(folder, tree, coins, middles[:, -1], (float(single), float(accumulated)))
    texts, numbers = np.unique(emitted, axis=0, return_counts=True)
    shares = [Fraction(int(number), len(places)) for number in numbers]
    return {tuple(text[text >= 0].tolist()): share for text, share in zip(texts, shares, strict=True)}


def launch(folder: Path, tree: Tree, coins: Any, final: Any, thresholds: tuple[float, float] = (1.0, 1.0)) -> Any:
    """Run the kernel on coins [B, N + 1] of the slots and final ones [B]; return tokens [B, depth], −1 behind them."""
    batch, slots = coins.shape
    size, depth = len(tree.target[0]), _levels(tree) + 1
    links = [_links(tree, slot) for slot in range(slots)]
    predicts = np.full((batch, slots), -1, dtype=np.int32)
    accepted = np.full((batch, depth), -1, dtype=np.int32)
    number = np.zeros(batch, dtype=np.int32)
    target = np.array([[float(mass) for mass in row] for row in tree.target])
    arrays = [
        *(predicts, accepted, number, np.tile(np.array([-1, *tree.tokens], dtype=np.int64), (batch, 1))),
        np.arange(batch * slots, dtype=np.int64),
        *(np.tile(np.array(column, dtype=np.int64), (batch, 1)) for column in zip(*links, strict=True)),
        *(np.ascontiguousarray(coins), np.ascontiguousarray(final), np.tile(target, (batch, 1, 1))),
        np.zeros((batch, slots, size)),
    ]
    pointers = [array.ctypes.data_as(ctypes.c_void_p) for array in arrays]
    sizes = [ctypes.c_uint32(number) for number in (batch, depth, slots, size)]
    kernel = compiled(folder / HEADER, _ENTRY)
    kernel.verify(*pointers, *sizes, *map(ctypes.c_double, thresholds))
    behind = np.arange(depth) > number[:, None]
    return np.where(behind, -1, predicts.reshape(-1)[np.where(behind, 0, accepted)])


def _links(tree: Tree, slot: int) -> tuple[int, int]:
    """Return a slot's first child and its next sibling, −1 for none."""
    siblings = tree.children(tree.parents[slot - 1] + 1) if slot else [0]
    after = siblings[siblings.index(slot) + 1 :]
    return (tree.children(slot) or [-1])[0], (after or [-1])[0]


def _levels(tree: Tree) -> int:
    levels = [0]
    for parent in tree.parents:
        levels.append(levels[parent + 1] + 1)
    return max(levels)


@cache
def compiled(header: Path, entry: str) -> ctypes.CDLL:
    """Return a library of a header and `entry`: C++ that includes nothing and calls the kernels, block after block.

    Raises:
        EngineError: there is no such header, no C++ compiler, or it refuses the header; with its first lines.
    """
    if not header.is_file():
        raise EngineError(f"there is no file {header}; give the folder that the engine's package was unpacked in")
    compiler = shutil.which("g++") or shutil.which("c++")
    if compiler is None:
        raise EngineError("a C++ compiler is needed to run this kernel on the CPU: g++ or c++")
    with TemporaryDirectory() as folder:
        source, library = Path(folder, "entry.cpp"), Path(folder, "entry.so")
        write_whole(source, f'#include <flashinfer/sampling.cuh>\n#include "{header.resolve()}"\n{entry}')
        options = ["-std=c++17", "-O1", "-shared", "-fPIC", "-w", "-I", str(STAND_INS)]
        ran = subprocess.run([compiler, *options, str(source), "-o", str(library)], capture_output=True, text=True)
        if ran.returncode:
            raise EngineError(f"{compiler} refuses {header.name}: {ran.stderr[:500]}")
        return ctypes.CDLL(str(library))
