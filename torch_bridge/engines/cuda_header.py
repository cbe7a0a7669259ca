"""CUDA kernels in a header, compiled for one thread of the CPU: their blocks and FlashInfer's parts are stand-ins."""

from __future__ import annotations

import ctypes
import shutil
import subprocess
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory

from spec_math.files.whole import write_whole
from torch_bridge.engines.source_file import EngineError

STAND_INS = Path(__file__).parents[1] / "stand_ins"


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
