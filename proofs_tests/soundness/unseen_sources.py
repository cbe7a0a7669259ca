"""Sources of randomness that nobody follows, each as a function that returns a uniform number; not tests."""

from __future__ import annotations

import _thread
import ctypes
import datetime
import os
import random
import secrets
import threading
import time
import uuid
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from os import urandom
from typing import Any

import numba
import numpy as np
from scipy import stats

Source = Callable[[], Any]

PAIR = ["1/4", "3/4"], ["1/2", "1/2"]


class Congruential(random.Random):
    """A subclass with numbers of its own, which moves no state that Python knows."""

    word = 1

    def random(self) -> float:
        """Return the next number."""
        Congruential.word = (Congruential.word * 6364136223846793005 + 1442695040888963407) % 2**64
        return Congruential.word / 2**64

    def getrandbits(self, k: int) -> int:
        """Return the next bits."""
        return int(self.random() * 2**k)


class Plain(random.Random):
    """A subclass that overrides nothing."""


class Passed(random.Random):
    """A subclass whose numbers are those of the class it overrides."""

    def random(self) -> Any:
        """Return the next number."""
        return super().random()


@numba.njit
def _numba_numpy() -> float:
    return np.random.random()  # noqa: NPY002


@numba.njit
def _numba_python() -> float:
    return random.random()


@numba.njit(parallel=True)
def _numba_parallel() -> float:
    drawn = np.empty(4)
    for place in numba.prange(4):
        drawn[place] = np.random.random()  # noqa: NPY002
    return drawn[3]


@numba.njit
def _numba_generator(generator: Any) -> float:
    return generator.random()


@numba.vectorize(["float64(float64)"])
def _numba_ufunc(x: float) -> float:
    return x + np.random.random()  # noqa: NPY002


def _made_inside() -> random.Random:
    class Local(random.Random):
        def random(self) -> float:
            Congruential.word = Congruential.word * 6364136223846793005 % 2**64 + 1
            return Congruential.word / 2**64

    return Local()


def in_a_thread(draw: Source) -> Source:
    """Return a draw made in a thread that is started for it."""

    def threaded() -> Any:
        drawn: list[Any] = []
        one = threading.Thread(target=lambda: drawn.append(draw()))
        one.start()
        one.join()
        return drawn[0]

    return threaded


def _in_a_raw_thread() -> Any:
    drawn: list[Any] = []
    ready = _thread.allocate_lock()
    ready.acquire()
    _thread.start_new_thread(lambda: (drawn.append(random.random()), ready.release()), ())
    ready.acquire()
    return drawn[0]


def _device() -> float:
    with open("/dev/urandom", "rb") as device:  # noqa: PTH123
        return _fraction(device.read(6))


def _fraction(read: bytes) -> float:
    return int.from_bytes(read, "big") / 2 ** (8 * len(read))


_SYSTEM, _OWN = random.SystemRandom(), Congruential(0)
_POOL = ThreadPoolExecutor(1)
_C = ctypes.CDLL(None)
_C.drand48.restype = ctypes.c_double
_SFC = np.random.SFC64
_HELD: list[Any] = [
    random.random,
    np.random.default_rng(1),
    np.random.rand,
    np.random.RandomState(1),
    np.random.PCG64(),
]


class _Device:
    """An object whose dictionary holds what it reads from."""

    def __init__(self) -> None:
        self.sources: dict[str, Any] = {"reads": [urandom]}

    def number(self) -> float:
        return _fraction(self.sources["reads"][0](6))


_NESTED: dict[str, Any] = {"clock": time.time_ns, "more": {"date": datetime.datetime}, "listed": [os.getrandom]}

REFUSED: dict[str, Source] = {
    "os.urandom as a default": lambda read=urandom: _fraction(read(6)),
    "a timer as a default of a keyword": lambda *, read=time.perf_counter_ns: read() // 10 % 1000 / 1000,
    "hash as a default": lambda mixed=hash: mixed("abc") % 997 / 997,
    "id as a default": lambda address=id: address(object()) // 16 % 997 / 997,
    "a clock in a dictionary": lambda: _NESTED["clock"]() // 100 % 1000 / 1000,
    "the date in a dictionary in a dictionary": lambda: _NESTED["more"]["date"].now().microsecond / 1e6,
    "os.getrandom in a list in a dictionary": lambda: _fraction(_NESTED["listed"][0](6)),
    "os.urandom in an object's dictionary": _Device().number,
    "a dictionary as a default": lambda held={"read": urandom}: _fraction(held["read"](6)),
    "the hash of a tuple with a text in it": lambda: hash((1, ("abc", 2))) % 997 / 997,
    "the hash of a frozen set of texts": lambda: hash(frozenset(["abc"])) % 997 / 997,
    "secrets.randbelow": lambda: secrets.randbelow(10**6) / 10**6,
    "secrets.randbits": lambda: secrets.randbits(30) / 2**30,
    "secrets.token_bytes": lambda: _fraction(secrets.token_bytes(4)),
    "SystemRandom": lambda: random.SystemRandom().random(),
    "a SystemRandom made before": _SYSTEM.random,
    "SystemRandom.uniform": lambda: _SYSTEM.uniform(0, 1),
    "SystemRandom.randrange": lambda: _SYSTEM.randrange(10**6) / 10**6,
    "a subclass with its own numbers": lambda: Congruential(1).random(),
    "a subclass made inside": lambda: _made_inside().random(),
    "one made before": lambda: _OWN.random(),
    "one by uniform": lambda: _OWN.uniform(0, 1),
    "one by randrange": lambda: _OWN.randrange(10**6) / 10**6,
    "numba's np.random": _numba_numpy,
    "numba's random": lambda: _numba_python(),
    "numba's prange": lambda: _numba_parallel(),
    "numba's vectorize": lambda: float(_numba_ufunc(0.0)),
    "numba and a Generator": lambda: _numba_generator(np.random.default_rng()),
    "a thread, Python": in_a_thread(random.random),
    "a thread, NumPy": in_a_thread(np.random.rand),
    "a thread, numba": in_a_thread(_numba_numpy),
    "a thread, by the module": in_a_thread(lambda: random.random()),
    "a thread without threading": _in_a_raw_thread,
    "a pool of threads": lambda: _POOL.submit(random.random).result(),
    "a pool of threads, by the module": lambda: _POOL.submit(lambda: np.random.default_rng().random()).result(),
    "a pool of threads, numba": lambda: _POOL.submit(_numba_numpy).result(),
    "a pool made inside": lambda: next(ThreadPoolExecutor(1).map(lambda _: random.random(), [0])),
    "raw bits, fresh": lambda: int(np.random.PCG64().random_raw()) / 2**64,
    "raw bits, made before": lambda: int(_HELD[4].random_raw()) / 2**64,
    "a seed sequence": lambda: int(np.random.SeedSequence().generate_state(1)[0]) / 2**32,
    "os.urandom": lambda: _fraction(os.urandom(6)),
    "os.urandom by its own name": lambda: _fraction(urandom(6)),
    "os.getrandom": lambda: _fraction(os.getrandom(6)),
    "uuid4": lambda: uuid.uuid4().int / 2**128,
    "uuid1": lambda: (uuid.uuid1().int >> 64) % 997 / 997,
    "/dev/urandom": _device,
    "the time": lambda: time.time_ns() // 100 % 1000 / 1000,
    "a timer": lambda: time.perf_counter() * 1e6 % 1,
    "the date": lambda: datetime.datetime.now().microsecond / 1e6,
    "the time as a text": lambda: hash(str(time.time())) % 1000 / 1000,
    "C's rand": lambda: _C.rand() / 2**31,
    "C's rand, loaded inside": lambda: ctypes.CDLL(None).rand() / 2**31,
    "C's drand48": lambda: _C.drand48(),
    "scipy's rvs": lambda: stats.uniform.rvs(),
    "a state's numbers": lambda: random.getstate()[1][0] % 1000 / 1000,
    "an address": lambda: id(object()) // 16 % 1000 / 1000,
    "an address as a text": lambda: int(f"{id(object())}"[-4:-1]) / 1000,
    "the hash of an object": lambda: hash(object()) % 1000 / 1000,
    "the hash of a text": lambda: hash("token") % 1000 / 1000,
}
"""What is refused, by a name of its own."""

_PLAIN, _PASSED = Plain(0), Passed(0)

FOLLOWED: dict[str, Source] = {
    "Python's own method in a list": lambda: _HELD[0](),
    "NumPy's generator in a list": lambda: _HELD[1].random(),
    "NumPy's old function in a list": lambda: _HELD[2](),
    "NumPy's old generator in a list": lambda: _HELD[3].random_sample(),
    "a subclass that overrides nothing": lambda: Plain().random(),
    "one made before the run": lambda: _PLAIN.random(),
    "one that hands on": lambda: _PASSED.random(),
    "fresh entropy": lambda: np.random.default_rng().random(),
    "a fresh SFC64": lambda: np.random.Generator(np.random.SFC64()).random(),
    "a fresh SFC64 by its own name": lambda: np.random.Generator(_SFC()).random(),
    "a fresh RandomState": lambda: np.random.RandomState().random_sample(),
    "scipy's rvs, given a state": lambda: stats.uniform.rvs(random_state=np.random.RandomState()),
    "a Random in a list": lambda: [_PLAIN][0].random(),
}
"""What is followed, as `random.random()` is."""


def right(draw: Source) -> Callable[[Any, Any], int]:
    """Return a sampler of the target (1/4, 3/4) that draws by a source alone."""
    return lambda _target, _draft: int(draw() >= 0.25)


def leaky(draw: Source) -> Callable[[Any, Any], int]:
    """Return a sampler that emits token 0 one time in 1,000 too often, by a source; else it draws by random()."""

    def sampler(_target: Any, _draft: Any) -> int:
        return 0 if draw() < 0.001 else int(random.random() >= 0.25)

    return sampler


@numba.njit
def _kernel(u: float, chance: float) -> bool:
    return u < chance


@numba.njit(parallel=True)
def _parallel_kernel(u: float, chance: float) -> bool:
    less = np.zeros(4)
    for place in numba.prange(4):
        less[place] = u < chance
    return less.sum() == 4


def _by_kernel(target: Any, _draft: Any) -> int:
    u = 0.2 if random.random() < target[0] else 0.7
    return int(not _kernel(u, 0.5))


def _by_parallel_kernel(target: Any, _draft: Any) -> int:
    u = 0.2 if random.random() < target[0] else 0.7
    return int(not _parallel_kernel(u, 0.5))


def _with_a_product(target: Any, _draft: Any) -> int:
    product = np.ones((300, 300)) @ np.ones((300, 300))
    return int(random.random() >= target[0]) + int(product[0, 0] - 300)


def _with_a_computing_thread(target: Any, _draft: Any) -> int:
    half = in_a_thread(lambda: target[0] * 2)()
    also = _POOL.submit(lambda: half / 2).result()
    return int(random.random() >= also)


TIMES = [0.0]


def _timed(target: Any, _draft: Any) -> int:
    start = time.perf_counter()
    token = int(random.random() >= target[0])
    TIMES[0] += time.perf_counter() - start
    return token


JUDGED: dict[str, Callable[[Any, Any], int]] = {
    "a compiled kernel": _by_kernel,
    "a parallel kernel": _by_parallel_kernel,
    "a product of matrices": _with_a_product,
    "threads that compute": _with_a_computing_thread,
    "a timing that is kept": _timed,
}
"""Right samplers that compute where nobody looks in, and draw where explore follows."""
