"""Assertions and strategies for the tests of other people's repositories: samplers, verifiers, kernels.

Each assertion says what it promises: how often it fails on right code, what it finds and with how many samples. A test
that has never failed on wrong code is no test: give each of them a wrong twin of your function once. pytest shows the
line of the test that called it, and none of ours.

Source: stating rates and counts as in the statistical tests of TensorFlow Probability; the assertions are our own.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from fractions import Fraction
from functools import cache, partial
from typing import TYPE_CHECKING, Any

import numpy as np

from spec_math.arrays import Array, count, exact, proportional_to
from spec_math.block_level.lossless import asked_in_float64, check_lossless_block
from spec_math.chance import Coin
from spec_math.files.place import required
from spec_math.language.model import InFloat64
from spec_math.samplers import standard
from spec_math.samplers.counts import check_sampler
from spec_math.samplers.subject import names
from spec_math.scheme import Scheme
from spec_math.verdict import Lossless, Lossy, Verdict, check_lossless, drafts_in_words
from spec_math.wording import counted

if TYPE_CHECKING:
    from spec_math.sequential.evidence import Guarantee

BATCH = 4096
"""Tokens that a sampler is asked for at a time."""


class NotLosslessError(AssertionError):
    """A verifier emits another law than the target's; the message holds the laws, the token and both masses."""


class UndecidedError(AssertionError):
    """Neither lossless nor lossy was shown; the message holds the laws, and what stood in the way."""


class DifferentLawError(AssertionError):
    """A sampler's tokens refute that they have the law they should; the message holds the evidence and the promise."""


class DifferentTokensError(AssertionError):
    """Two verifiers decided differently on the same uniforms, further from a threshold than rounding explains."""


def assert_lossless(
    verifier: Scheme | Callable[..., Any],
    k: int | None = None,
    pairs: Sequence[tuple[Any, Any]] = (),
    lookahead: int = 0,
    check: Callable[..., Verdict] = check_sampler,
    **how: Any,
) -> None:
    """Raise unless a verifier emits exactly the target's law, on every pair of laws, for every number of drafts.

    `verifier` is a Scheme, verify(coin, tokens, target, draft), or unmodified code with Python's or NumPy's random
    numbers. Code of torch, which may take logits or models, needs `check=torch_bridge.check_sampler`. The verifier is
    given k i.i.d. drafts: 1, then 2 and 3 where k is None and it takes them; with a lookahead L, a chain of L drafts.
    `how` has the options of `audit.check_sampler`. Every path of its
    randomness is walked, so there is no false alarm and no sample: a difference of 10^-9 in one mass is found. `pairs`
    are (target, draft), [V], or [L + 1, V] and [L, V] of a chain; by default 48 pairs of at most 4 tokens, with zeros,
    ties, equal and disjoint laws, or 8 chains of them. It proves nothing for other laws; a rule that fails only on
    larger vocabularies, or only in low precision, is not seen.

    Raises:
        NotLosslessError: with the pair, the token and both masses.
        UndecidedError: on some pair nothing could be decided, with the reason.
        TypeError, ValueError: a law is not a probability distribution, k is not a positive integer, an option is
            unknown, a Scheme is given a lookahead, or code of torch is judged without torch's check.

    >>> def hopeful(coin, tokens, target, draft):
    ...     return tokens[0]
    >>> assert_lossless(hopeful)
    Traceback (most recent call last):
    spec_math.testing.NotLosslessError: target (1/4 3/4), draft (1/2 1/2), 1 draft: token 0 is emitted with \
probability 1/2 where the target has 1/4 (total variation 1/4)
    """
    __tracebackhide__ = True
    if isinstance(verifier, Scheme) and (lookahead or how):
        raise ValueError("a Scheme verifies one position: leave out lookahead, and options of unmodified code")
    if check is check_sampler and not isinstance(verifier, Scheme) and names(verifier, "torch", alone=True):
        raise TypeError("this code names torch: import torch_bridge, and pass check=torch_bridge.check_sampler")
    usual = standard.chains(lookahead) if lookahead else [(target, draft) for target, draft, _ in standard.pairs()]
    for target, draft in pairs or usual:
        if isinstance(verifier, Scheme):
            verdict = check_lossless(verifier, target, draft, k)
        else:
            verdict = check(verifier, target, draft, k, lookahead, **how)
        _raise_unless_lossless(verdict, f"target {_masses(target)}, draft {_masses(draft)}", k)


def assert_lossless_block(
    generate: Callable[..., Any],
    lookahead: int = 2,
    rounds: int = 1,
    models: Sequence[tuple[Any, Any]] = (),
    prefixes: Sequence[Sequence[int]] = (),
) -> None:
    """Raise unless blocks that a generator emits have the target's joint law, on every pair of models.

    `generate(coin, target_model, draft_model, prefix)` emits the tokens of one block, at most lookahead + 1 of them; it
    is handed the lookahead where it needs a fifth argument, as the library's own do. A model is a callable from a tuple
    of tokens to a law [V]. The joint law of rounds · (lookahead + 1) tokens is compared with the target's, every path
    walked: the first token alone shows little. `models` are pairs (target, draft); an attribute `end` is a token that
    ends the text. By default they are 12 pairs in Fractions on 2 to 5 tokens, whose distributions change with the last
    token, with zeros, ties, equal and disjoint ones. Two of them have an end token. A block begins after each of
    `prefixes`; by default after no token, and on the 12 pairs after (1, 0) or a longer prefix of up to 13 tokens too.
    It proves nothing for other models and prefixes.

    Raises:
        NotLosslessError: with the text and both its masses.
        UndecidedError: on some pair nothing could be decided, with the reason.
        TypeError, ValueError: lookahead or rounds is not a positive integer, or a model returns no law.

    >>> from spec_math.block_level import chain
    >>> assert_lossless_block(chain.generate)
    >>> def twice(coin, target, draft, prefix):
    ...     return (coin.draw(target(prefix)),) * 2
    >>> assert_lossless_block(twice)  # doctest: +ELLIPSIS
    Traceback (most recent call last):
    spec_math.testing.NotLosslessError: models 1 of 12, lookahead 2, 1 round: the tokens (0, 1, 1) are emitted ...
    """
    __tracebackhide__ = True
    horizon = count(rounds, "rounds") * (count(lookahead, "lookahead") + 1)
    given: list[tuple[Any, Any, Any]] = [(*pair, ((),)) for pair in models] if models else standard.block_cases()
    starts = [tuple(prefix) for prefix in prefixes]
    cases = [(place, *pair, start) for place, (*pair, own) in enumerate(given, 1) for start in starts or own]
    last = (lookahead,) if len(required(generate)) == 5 else ()
    for place, target, draft, start in cases:

        def block(coin: Coin, prefix: tuple[int, ...], target: Any = target, draft: Any = draft) -> Any:
            return generate(coin, target, draft, prefix, *last)

        wide = InFloat64(target), InFloat64(draft)
        verdict = check_lossless_block(block, target, horizon, rounds, start)
        finer = partial(block, target=wide[0], draft=wide[1])
        verdict = asked_in_float64(verdict, finer, wide[0], horizon, rounds, start)
        where = f"models {place} of {len(given)}, lookahead {lookahead}, {counted(rounds, 'round')}"
        where += f", after the prefix {start}" if start else ""
        end = getattr(target, "end", None)
        where += f" (token {end} ends the text: `target_model.end`)" if end is not None else ""
        _raise_unless_lossless(verdict, where)


def _raise_unless_lossless(verdict: Verdict, where: str, k: int | None = None) -> None:
    __tracebackhide__ = True
    if isinstance(verdict, Lossless):
        return
    counts = verdict.drafts or ((k,) if k else ())
    spoken = f"{where},{drafts_in_words(counts).removeprefix(' for')}" if counts else where
    way = f"; on the path: {', '.join(verdict.path)}" if verdict.path else ""
    if isinstance(verdict, Lossy):
        raise NotLosslessError(f"{spoken}: {verdict.reason}{way}")
    raise UndecidedError(f"{spoken}: undecided, {verdict.reason.value}: {verdict.explanation}{way}")


def _masses(law: Any) -> str:
    rows = np.atleast_2d(np.asarray(law, dtype=object))
    return f"({'; '.join(' '.join(map(str, row)) for row in rows)})"


def assert_same_law(
    sampler: Callable[[int], Any], target: Any, *, total_variation: float = 0.02, alpha: float = 1e-6, draft: Any = None
) -> Guarantee:
    """Raise unless tokens of a sampler are compatible with a target law [V]; return what the test promises.

    `sampler(n)` returns n tokens, drawn independently. A right sampler fails with probability `alpha` at most; one that
    is off by `total_variation` or more is found with probability 0.99 within the number of samples that this takes,
    `promise.samples`, and usually far sooner: evidence is looked at after each token, and a clear case ends at once.
    With a draft [V], known bugs of verifiers are looked for by name too. Dependence between tokens is not seen.

    Raises:
        DifferentLawError: with the evidence, the token that stands out, and the promise.
        TypeError, ValueError: the target is not a probability distribution, or alpha or the distance lie outside (0,
            1).

    >>> rng = np.random.default_rng(0)
    >>> promise = assert_same_law(lambda n: rng.choice(2, n, p=[0.25, 0.75]), ["1/4", "3/4"], total_variation=0.05)
    >>> promise.false_alarms, promise.power, promise.samples < 10_000
    (1e-06, 0.99, True)
    """
    __tracebackhide__ = True
    # The assertions above need NumPy alone; this test compiles its evidence.
    from spec_math.sequential.bank import in_words
    from spec_math.sequential.evidence import level
    from spec_math.sequential.identity_test import identity_test
    from spec_math.sequential.sample_size import sequential_sample_size

    test = identity_test(target, level(alpha), draft)
    power, size = 0.99, int((test.target > 0).sum())
    needed = sequential_sample_size(total_variation, alpha, power, max(size, 2), bool(test.names))
    while test.samples < needed and test.alarm is None:
        wanted = min(BATCH, needed - test.samples)
        tokens = np.asarray(sampler(wanted))
        if tokens.shape != (wanted,):
            raise ValueError(f"sampler({wanted}) must return {wanted} tokens, shape [{wanted}]; got {tokens.shape}")
        test.update_many(tokens)
    promise = test.promise(needed, power)
    verdict = test.verdict
    if not verdict:
        likely = f"; as if {in_words(test.suspects()[0][0])}" if test.names and test.suspects()[0][1] > 0 else ""
        raise DifferentLawError(f"{verdict}{likely}\n{promise}")
    return promise


def assert_same_tokens(expected: Any, got: Any, distance: Any, bound: Any, uniforms: Any = None) -> None:
    """Raise unless two verifiers emit the same tokens wherever the distance to a threshold exceeds the bound.

    expected, got: tokens [B, L + 1] padded with −1, or [B]; distance: how far each row is from another decision,
    [B]; bound: a number or [B]; uniforms [B, ...] are shown if given. Coupled so, a difference of one in a million
    decisions is found by one row of its kind, without false alarms; random numbers that both sides use twice are not.

    Raises:
        DifferentTokensError: naming the batch row, the position, both tokens, the uniforms and the distance.
        ValueError: the shapes differ, or a distance or a bound is not a number.

    >>> assert_same_tokens([[1, 2]], [[1, 3]], [0.1], 1e-5)  # doctest: +ELLIPSIS
    Traceback (most recent call last):
    spec_math.testing.DifferentTokensError: row 0, position 1: expected token 2, got 3; the row is 0.1 from ...
    """
    __tracebackhide__ = True
    wanted, found = np.asarray(expected), np.asarray(got)
    far = np.asarray(distance, dtype=np.float64)
    if wanted.shape != found.shape or far.shape != wanted.shape[:1]:
        raise ValueError(
            f"expected and got must have one shape [B, ...], distance [B]; got {wanted.shape}, {found.shape} and "
            f"{far.shape}"
        )
    if np.isnan(far).any():
        raise ValueError("distances must be numbers; one is NaN, so that nothing could be compared there")
    limits = np.broadcast_to(np.asarray(bound, dtype=np.float64), far.shape)
    if np.isnan(limits).any():
        raise ValueError("bounds must be numbers; one is NaN, so that no difference could be told from rounding there")
    rows, columns = wanted.reshape(len(far), -1), found.reshape(len(far), -1)
    wrong = (rows != columns) & (far > limits)[:, None]
    if not wrong.any():
        return
    row, place = (int(index) for index in np.argwhere(wrong)[0])
    drawn = "" if uniforms is None else f"; its uniforms are {np.asarray(uniforms)[row].tolist()}"
    raise DifferentTokensError(
        f"row {row}, position {place}: expected token {int(rows[row, place])}, got {int(columns[row, place])}; the row "
        f"is {float(far[row]):.6g} from the nearest threshold, and rounding explains {float(limits[row]):.3g} at most"
        f"{drawn} ({int(wrong.any(axis=1).sum())} of {len(far)} rows differ)"
    )


def laws(size: int) -> Any:
    """Return a Hypothesis strategy of laws on `size` tokens, as Fractions: small and wide weights, zeros, one-hot.

    Raises:
        ModuleNotFoundError: hypothesis is not installed.

    >>> laws(3).validate()
    """
    _ = _strategies()
    return _laws(size)


# A composite strategy reads its own source by its syntax tree when it is made: one a size, not one a law that is drawn.
@cache
def _laws(size: int) -> Any:
    st = _strategies()
    small = st.integers(0, 6)
    wide = st.one_of(small, st.sampled_from([Fraction(1, 2**60), Fraction(1, 10**9), 10**9]))
    kinds, places = st.sampled_from(["small", "wide", "one-hot"]), st.integers(0, size - 1)
    weights = {
        kind: st.lists(each, min_size=size, max_size=size).filter(any)
        for kind, each in (("small", small), ("wide", wide))
    }

    @st.composite
    def one(draw: Any) -> Array:
        kind = draw(kinds)
        if kind == "one-hot":
            at = draw(places)
            return exact([int(token == at) for token in range(size)])
        return proportional_to(draw(weights[kind]))

    return one()


def pairs(largest: int = 4) -> Any:
    """Return a Hypothesis strategy of (target, draft) on up to `largest` tokens: unrelated, equal, permuted, disjoint.

    Raises:
        ModuleNotFoundError: hypothesis is not installed.

    >>> pairs().validate()
    """
    _ = _strategies()
    return _pairs(largest)


@cache
def _pairs(largest: int) -> Any:
    st = _strategies()

    @st.composite
    def one(draw: Any) -> tuple[Array, Array]:
        size = draw(st.integers(1, largest))
        target = draw(laws(size))
        kind = draw(st.sampled_from(["any", "any", "any", "equal", "permuted", "tied", "disjoint"]))
        if kind == "equal":
            return target, target.copy()
        if kind == "permuted":
            return target, target[list(draw(st.permutations(range(size))))]
        if kind == "tied":
            # A hair apart at one token: thresholds at which t = d are met from both sides.
            weights = [*target[:-1], target[-1] + draw(st.sampled_from([1, Fraction(1, 2**60)]))]
            return target, proportional_to(weights)
        if kind == "disjoint" and size > 1:
            cut = draw(st.integers(1, size - 1))
            left, right = draw(laws(cut)), draw(laws(size - cut))
            return exact([*left, *[0] * (size - cut)]), exact([*[0] * cut, *right])
        return target, draw(laws(size))

    return one()


def _strategies() -> Any:
    try:
        from hypothesis import strategies
    except ImportError as error:
        raise ModuleNotFoundError(
            "these strategies need Hypothesis, which is not installed; pip install hypothesis. The assertions of "
            "spec_math.testing need nothing but spec_math"
        ) from error
    return strategies
