"""Recorded speculation audited: shards side by side, and on from where an interrupted audit stopped."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from spec_math.block_level import block
from spec_math.chance import Coin
from spec_math.result import Note, Result
from spec_math.scheme import Emission, Tokens
from spec_math.studies.arguments import Progress
from spec_math.studies.positions.stream import DRAFT_ORDER, TARGET_ORDER, default_models
from spec_math.studies.traces.table import result_of
from spec_math.traces import Engine, by_position, record, write_shard
from spec_math.traces.result import ShardResult
from spec_math.traces.run import KEPT, Store, audit_shards, cluster, find_shards
from spec_math.traces.shard_audit import TOLERANCE
from spec_math.zoo.toy import by_ratio, likeliest


@dataclass(frozen=True)
class TraceRequest:
    """Shards, or the embedded default with one of its bugs; `kept` is the folder to go on from."""

    paths: tuple[Path, ...] = ()
    kept: Path = Path("out/trace/shards")
    alpha: float = 1e-6
    tolerance: float = TOLERANCE
    scheduler: str | None = None
    workers: int | None = None
    bug: str | None = None


def study(request: TraceRequest, progress: Progress) -> Result:
    """Audit recorded speculation.

    Raises:
        ValueError, OSError: bad input, or no shard that could be audited. KeyboardInterrupt: saying what is kept.

    >>> study(TraceRequest(alpha=2.0), lambda what, steps: lambda done: None)
    Traceback (most recent call last):
    ValueError: --alpha, the false-positive rate, lies in (0, 1); got 2.0
    """
    _check(request)
    if request.paths:
        shards = find_shards(request.paths)
        source = f"{len(shards):,} shard(s) from {', '.join(map(str, request.paths))}"
        return _audited(request, shards, source, progress)
    with tempfile.TemporaryDirectory() as folder:
        bug = request.bug or "none"
        step = progress("recording the default", 1)
        shards = write_default(Path(folder), bug)
        step(1)
        source = f"two n-gram models of CPython's documentation; {VARIANTS[bug].wrong or 'a right verifier'}"
        # The default is recorded anew each time, so that nothing of it is worth keeping.
        return _audited(replace(request, kept=Path(folder) / "kept"), shards, source, progress)


def _check(request: TraceRequest) -> None:
    if not 0 < request.alpha < 1:
        raise ValueError(f"--alpha, the false-positive rate, lies in (0, 1); got {request.alpha}")
    if not 0 <= request.tolerance < 1:
        raise ValueError(f"--tolerance, a total variation, lies in [0, 1); got {request.tolerance}")
    if request.bug is not None and request.paths:
        raise ValueError("--bug is for the embedded default; give either --bug or shards")
    if request.workers is not None and request.workers < 1:
        raise ValueError(f"--workers must be at least 1; got {request.workers}")


def _audited(request: TraceRequest, shards: Sequence[Path], source: str, progress: Progress) -> Result:
    step = progress("auditing shards", len(shards))
    seen = {"kept": 0, "before": 0}

    def done(_: Path, result: ShardResult | None, reason: str) -> None:
        seen["kept"] += result is not None
        seen["before"] += reason == KEPT
        step(1)

    store, threads = Store(request.kept, request.tolerance), request.workers or os.cpu_count() or 1
    try:
        with ThreadPoolExecutor(threads) if request.scheduler is None else cluster(request.scheduler) as executor:
            summary = audit_shards(shards, executor, request.tolerance, store, done)
    except KeyboardInterrupt:
        raise KeyboardInterrupt(
            f"interrupted; {seen['kept']} of {len(shards)} shards are kept; the same command continues"
        ) from None
    result = result_of(summary, request.alpha, source)
    if not seen["before"]:
        return result
    said = Note(f"{seen['before']} of {len(shards)} shards were audited before; they are in {request.kept}")
    return replace(result, notes=(*result.notes, said))


LOOKAHEAD = 4


class Variant(NamedTuple):
    """A way to verify and to draft: what is recorded of it, and what is wrong with it."""

    verify: Any
    verification: str = "maximal coupling"
    drawn_from: Callable[[Any], Any] | None = None
    wrong: str = ""


def _of_target(target: Any, _draft: Any, _token: int) -> Any:
    return target


def _always(coin: Coin, token: int, target: Any, draft: Any) -> Emission:  # noqa: ARG001
    return Emission(token, accepted=True)


def _hot_bonus(coin: Coin, tokens: Tokens, targets: Any, drafts: Any) -> Tokens:
    return by_position()(coin, tokens, [*targets[:-1], _cooler(targets[-1])], drafts)


def _cooler(law: Any) -> Any:
    masses = law**1.5
    return masses / masses.sum()


VARIANTS: dict[str, Variant] = {
    "none": Variant(by_position()),
    "block": Variant(block.verify, "block"),
    "residual": Variant(by_ratio(rest=_of_target), wrong="a rejected draft is replaced from the target (M11)"),
    "accept": Variant(by_position(_always), wrong="every draft is accepted (M7)"),
    "bonus": Variant(_hot_bonus, wrong="the bonus token is drawn at another temperature (M20)"),
    "temperature": Variant(by_position(), drawn_from=_cooler, wrong="drafts are cooler than what is reported (M4)"),
    "greedy": Variant(by_position(), drawn_from=likeliest, wrong="greedy drafts are reported as a softmax (M2)"),
}
"""By the name that --bug takes; those with nothing wrong are controls."""


def engine(bug: str = "none") -> Engine:
    """Return the default's engine with a bug of VARIANTS.

    Raises:
        ValueError: no such bug.

    >>> engine().lookahead
    4
    """
    if bug not in VARIANTS:
        raise ValueError(f"--bug takes one of {', '.join(VARIANTS)}; got {bug!r}")
    found, variant = default_models(), VARIANTS[bug]
    sides = partial(_after, found.target, TARGET_ORDER), partial(_after, found.draft, DRAFT_ORDER)
    return Engine(*sides, variant.verify, LOOKAHEAD, variant.drawn_from)


def columns(bug: str, texts: int, length: int, seed: int) -> dict[str, Any]:
    """Record texts of at least `length` tokens each.

    >>> columns("none", 1, 3, 0)["target_logits"].shape[1]
    4128
    """
    return record(engine(bug), texts, length, np.random.default_rng(seed))


def write_default(folder: Path, bug: str, shards: int = 4, texts: int = 2, length: int = 250) -> list[Path]:
    """Write shards of the default into a folder: its texts are drawn anew from seeds 0, 1, …

    Raises:
        ValueError: no such bug.

    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     [path.name for path in write_default(Path(folder), "none", shards=1, texts=1, length=2)]
    ['default-none-0.safetensors']
    """
    variant = VARIANTS.get(bug) or VARIANTS["none"]
    found: list[Path] = []
    for seed in range(shards):
        path = folder / f"default-{bug}-{seed}.safetensors"
        found.append(write_shard(path, columns(bug, texts, length, seed), LOOKAHEAD, variant.verification))
    return found


def _after(model: Any, order: int, prefix: Tokens) -> Any:
    # What lies further back than the model reads need not be checked again and again.
    return model(prefix[-(order - 1) :])
