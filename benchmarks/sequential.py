"""Tests of black boxes: how often they alarm falsely, and how soon rightly, against a chi-square of fixed size."""

from __future__ import annotations

import math
from collections.abc import Callable
from itertools import product
from typing import Any

import numpy as np
from scipy.optimize import brentq
from scipy.stats import beta

from benchmarks.table import Row
from proofs_tests.block_level.column_coin import replay_row
from spec_math.audit import (
    ZOO,
    IdentityTest,
    bank,
    context_stopping_times,
    contexts_test,
    coupled_sample_size,
    coupled_test,
    identity_test,
    pools,
    sample_size,
    stopping_times,
)
from spec_math.block_level.lossless import emitted_law, target_law
from spec_math.distribution import total_variation
from spec_math.sequential.bank import BUGS
from spec_math.sequential.sample_size import noncentrality
from spec_math.zoo import toy
from spec_math.zoo.toy import by_ratio, ratio

SIZE = 32
DISTANCES = (0.005, 0.01, 0.02, 0.05)
ALPHA, POWER = 1e-6, 0.99
NULLS, DRAWS = 100_000, 2_000


def rows() -> list[Row]:
    """Measure false alarms, stopping times at four distances, bugs, changing contexts, coupling, a large vocabulary."""
    return [*nulls(), *directions(), *bugs(), *zoo(), *contexts(), *coupled(), *large()]


def softmax(logits: Any) -> Any:
    """Return the laws [..., V] of logits."""
    masses = np.exp(logits - logits.max(axis=-1, keepdims=True))
    return masses / masses.sum(axis=-1, keepdims=True)


def alarmed(times: Any) -> Any:
    """Return stopping times [runs], all of them alarms.

    Raises:
        RuntimeError: a run brought no alarm, so that a mean of the others would flatter.
    """
    if not (times > 0).all():
        raise RuntimeError(f"{int((times == 0).sum())} of {len(times)} runs brought no alarm")
    return times


def stops(test: IdentityTest, law: Any, runs: int, most: int, seed: int) -> Any:
    """Return the stopping times [runs] of draws from a law, all of them alarms."""
    return alarmed(stopping_times(test, law, runs, most, np.random.default_rng(seed)))


def spread(times: Any) -> str:
    """Return the standard error of a mean of stopping times, and their quantiles."""
    low, middle, high = np.quantile(times, [0.01, 0.5, 0.99])
    error = times.std() / math.sqrt(len(times))
    return f"± {error:,.0f}; 1 % {low:,.0f}, median {middle:,.0f}, 99 % {high:,.0f}"


def nulls() -> list[Row]:
    """Alarms on the target itself, with a look after every draw."""
    rng = np.random.default_rng(0)
    target, draft = softmax(1.5 * rng.standard_normal((2, SIZE)))
    many = softmax(1.5 * rng.standard_normal((200, 5))), softmax(1.5 * rng.standard_normal((200, 5)))
    found: list[Row] = []
    for alpha in (0.05, 0.01):
        one = stopping_times(identity_test(target, alpha, draft), target, NULLS, DRAWS, np.random.default_rng(1))
        changing = context_stopping_times(contexts_test(alpha), many, many[0], NULLS, 256, np.random.default_rng(1))
        for name, times, draws in (("one law", one, DRAWS), ("changing contexts", changing, 256)):
            alarms = int((times > 0).sum())
            surely = float(beta.isf(1e-6, alarms + 1, NULLS - alarms))
            found.append(
                Row(
                    f"false alarms, {name}, alpha {alpha:g}",
                    alarms / NULLS,
                    alpha,
                    "",
                    f"below {surely:.4f} but for 1e-6",
                    f"{NULLS:,} nulls of {draws:,} draws, a look at each",
                )
            )
    return found


def directions() -> list[Row]:
    """The direction that is hardest to see, |a − t| in proportion to t, on 32 even tokens."""
    target = np.full(SIZE, 1 / SIZE)
    signs = np.where(np.arange(SIZE) < SIZE // 2, 1.0, -1.0)
    test = identity_test(target, ALPHA, softmax(np.random.default_rng(0).standard_normal(SIZE)))
    found: list[Row] = []
    for distance, runs in zip(DISTANCES, (200, 400, 1_000, 2_000), strict=True):
        fixed = sample_size(distance, ALPHA, POWER, SIZE)
        times = stops(test, target * (1 + 2 * distance * signs), runs, 10 * fixed, seed=2)
        found.append(
            Row(
                f"mean stop, TV {distance:.1%}, hardest direction",
                float(times.mean()) / fixed,
                0.85,
                "×",
                spread(times),
                f"chi-square of {fixed:,} draws; {runs} runs",
            )
        )
    return found


def at_distance(emitted: Callable[[Any, Any], Any], distance: float) -> tuple[Any, Any] | None:
    """Return a target and a draft on which a bug's law is at a total variation: the draft moved towards the target.

    Where that does not bring it near enough, the target is sharpened until it does: a bug of a greedy draft or of an
    argmax does no harm where one token has all the mass. Where that fails too, the draft is all but certain of a token
    that the target rarely has. None where nothing reaches the distance.
    """
    rng = np.random.default_rng(3)
    logits, noise = 1.5 * rng.standard_normal((2, SIZE))

    def moved(share: float) -> tuple[Any, Any]:
        target = softmax(logits)
        return target, (1 - share) * target + share * softmax(noise)

    def sharpened(power: float) -> tuple[Any, Any]:
        target = softmax(power * logits)
        return target, softmax(power * logits + noise)

    def favoured(mass: float) -> tuple[Any, Any]:
        first = np.arange(SIZE) == 0
        rest = softmax(np.where(first, -np.inf, logits))
        return (1 - mass) * rest + mass * first, softmax(np.where(first, 8.0, noise))

    for path, low, high in ((moved, 1e-6, 1.0), (sharpened, 40.0, 1.0), (favoured, 1e-6, 0.45)):

        def beyond(place: float, path: Any = path) -> float:
            t, d = path(place)
            return float(total_variation(t, emitted(t, d))) - distance

        if beyond(low) < 0 < beyond(high):
            return path(float(brentq(beyond, low, high, xtol=1e-13)))
    return None


def bugs() -> list[Row]:
    """Every bug of the bank, each on laws where it is at just the distance."""
    found: list[Row] = []
    for distance, runs in zip(DISTANCES, (20, 40, 100, 200), strict=True):
        fixed = sample_size(distance, ALPHA, POWER, SIZE)
        ratios: dict[str, float] = {}
        errors: dict[str, float] = {}
        own: list[float] = []
        for bug in BUGS:
            pair = at_distance(bug.emitted, distance)
            if pair is None:
                continue
            t, d = pair
            law = bug.emitted(t, d)
            times = stops(identity_test(t, ALPHA, d), law, runs, 10 * fixed, seed=4)
            mean = float(times.mean())
            errors[bug.name] = float(times.std()) / math.sqrt(runs) / fixed
            seen = t > 0
            square = float((((law - t) ** 2)[seen] / t[seen]).sum())
            ratios[bug.name] = mean / fixed
            own.append(mean * square / noncentrality(ALPHA, POWER, SIZE))
        worst, best = max(ratios, key=ratios.__getitem__), min(ratios, key=ratios.__getitem__)
        missing = [bug.name for bug in BUGS if bug.name not in ratios]
        found.append(
            Row(
                f"mean stop, TV {distance:.1%}, worst of {len(ratios)} bugs",
                ratios[worst],
                0.45,
                "×",
                f"± {errors[worst]:.3f}, {worst}; best {ratios[best]:.2g} {best}; "
                f"in its own direction, median {np.median(own):.2f}",
                f"chi-square of {fixed:,} draws; {runs} runs each" + (f"; not {', '.join(missing)}" if missing else ""),
            )
        )
    return found


def zoo() -> list[Row]:
    """The zoo's own laws of three tokens on its toy, each among all the others as alternatives."""
    texts = [*product(range(5), repeat=toy.HORIZON)]
    groups: dict[tuple[Any, ...], dict[str, Any]] = {}
    for specimen in ZOO:
        # Two raise, or emit what is no token; the leaks of 2^-25 need hundreds of millions of draws to come up.
        if specimen.contract is None or not specimen.modelled or specimen.name in ("M38", "M39", "M40", "M41"):
            continue
        wanted = target_law(specimen.target, toy.HORIZON)
        emitted = emitted_law(specimen.generate, specimen.target, toy.HORIZON, specimen.rounds)  # type: ignore[arg-type]
        laws = groups.setdefault(tuple(float(wanted.get(text, 0)) for text in texts), {})
        laws[specimen.name] = np.array([float(emitted.get(text, 0)) for text in texts])
    ratios: dict[str, float] = {}
    for masses, laws in groups.items():
        target = np.array(masses)
        test = identity_test(target, ALPHA, alternatives={name: law / law.sum() for name, law in laws.items()})
        for name, law in laws.items():
            fixed = sample_size(np.abs(law - target).sum() / 2, ALPHA, POWER, len(texts))
            runs = 100 if fixed < 10**6 else 5
            ratios[name] = float(stops(test, law, runs, 20 * fixed, seed=10).mean()) / fixed
    worst, best = max(ratios, key=ratios.__getitem__), min(ratios, key=ratios.__getitem__)
    middle = float(np.median(list(ratios.values())))
    told = f"{worst}; median {middle:.2g}, best {ratios[best]:.2g} {best}"
    name = f"mean stop, worst of {len(ratios)} of the zoo"
    return [Row(name, ratios[worst], 0.45, "×", told, "chi-square at its distance on 125 texts of three tokens")]


def contexts() -> list[Row]:
    """Redrawing from the target in contexts of their own."""
    redrawn = next(bug.emitted for bug in BUGS if bug.name == "M11")
    found: list[Row] = []
    for size in (5, SIZE):
        rng = np.random.default_rng(size)
        targets, drafts = softmax(1.5 * rng.standard_normal((2, 1_000, size)))
        law = np.array([redrawn(t, d) for t, d in zip(targets, drafts, strict=True)])
        times = alarmed(
            context_stopping_times(
                contexts_test(ALPHA), (targets, drafts), law, 2_000, 50_000, np.random.default_rng(5)
            )
        )
        told = f"total variation {np.abs(law - targets).sum(-1).mean() / 2:.3f} on average; 2,000 runs"
        found.append(
            Row(f"redrawn from the target, V = {size}", float(times.mean()), 1_000, "draws", spread(times), told)
        )
    return found


def coupled() -> list[Row]:
    """A kernel that accepts by 0.01 more, on the same uniforms as the reference."""
    rng = np.random.default_rng(6)
    target, draft = softmax(1.5 * rng.standard_normal((2, SIZE)))

    def reference(coin: Any, token: int) -> Any:
        return by_ratio()(coin, (token,), [target, target], [draft])

    def more(t: Any, d: Any, x: int) -> float:
        return min(1.0, ratio(t, d, x) + 0.01)

    def kernel(uniforms: Any, token: int) -> Any:
        return replay_row(lambda coin: by_ratio(more)(coin, (token,), [target, target], [draft]), uniforms)

    times: list[int] = []
    for _ in range(100):
        test = coupled_test(reference, kernel, columns=True)
        while test.first is None:
            test.update(rng.random(2).tolist(), int(rng.choice(SIZE, p=draft)))
        times.append(test.samples)
    told = f"{coupled_sample_size(0.01, POWER)} runs find a chance of 1 % with power 0.99; 100 searches"
    return [Row("coupled, acceptance + 0.01", float(np.mean(times)), 1_000, "draws", spread(np.array(times)), told)]


def large() -> list[Row]:
    """151,936 tokens in 32 pools, the bank at full size."""
    rng = np.random.default_rng(7)
    logits = 3 * rng.standard_normal(151_936)
    target, draft = softmax(logits), softmax(logits + rng.standard_normal(151_936))
    labels = pools(target, draft)
    found: list[Row] = []
    for alpha in (0.05, 0.01):
        test = identity_test(target, alpha, draft, pools=labels)
        alarms = int((stopping_times(test, target, 20_000, DRAWS, np.random.default_rng(8)) > 0).sum())
        surely = float(beta.isf(1e-6, alarms + 1, 20_000 - alarms))
        told = f"20,000 nulls of {DRAWS:,} draws, a look at each"
        name = f"false alarms, V = 151,936, alpha {alpha:g}"
        found.append(Row(name, alarms / 20_000, alpha, "", f"below {surely:.4f} but for 1e-6", told))
    test = identity_test(target, ALPHA, draft, pools=labels)
    # In no bank: half of a lenient verifier, which the pools alone can see; within the plan for their distance.
    law = 0.5 * target + 0.5 * bank(target, draft)["M48"]
    distance = float(total_variation(target, law))
    fixed = sample_size(distance, ALPHA, POWER, SIZE)
    times = stops(test, law, 400, 10 * fixed, seed=9)
    whole = sample_size(distance, ALPHA, POWER, len(target))
    told = f"chi-square of {fixed:,} draws on 32 pools; {whole:,} on all tokens; 400 runs"
    name = f"mean stop, V = 151,936, TV {distance:.1%}, in no bank"
    found.append(Row(name, float(times.mean()) / fixed, 0.85, "×", spread(times), told))
    return found
