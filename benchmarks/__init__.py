"""Benchmarks: every promise about speed as a ratio in one run, on one thread."""

import os

for _threads in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "NUMBA_NUM_THREADS"):
    os.environ[_threads] = "1"  # before NumPy is imported
