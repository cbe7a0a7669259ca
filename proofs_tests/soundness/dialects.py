"""The ways that a program's coins are written: a coin's own, and those of Python's random, of NumPy and of torch."""

from __future__ import annotations

import random

from proofs_tests.soundness.source import Dialect, Phrase

HEADS = {
    "tokens": "def verify(tokens, target, draft):",
    "laws": "def verify(target, draft):",
    "block": "def verify(coin, prefix):",
    "coin": "def verify(coin, tokens, target, draft):",
}


OTHER_HEADS = {
    "tokens": (
        ("def verify(draft_probs, target_probs, tokens):", "target, draft = target_probs, draft_probs"),
        ("def verify(draft_tokens, target, draft):", "tokens = draft_tokens"),
        ("def verify(draft, tokens, *, target):", ""),
    ),
    "laws": (
        ("def verify(draft, target):", ""),
        ("def verify(draft_probs, target_probs):", "target, draft = target_probs, draft_probs"),
        ("def verify(*, draft, target):", ""),
    ),
}
"""Signatures of other people: the laws and tokens in another order, under other names."""


def head(rng: random.Random, shape: str) -> tuple[str, tuple[str, ...]]:
    """Return a first line, and the lines that give the arguments the names that programs use."""
    if rng.random() < 0.6:
        return HEADS[shape], ()
    line, renamed = rng.choice(OTHER_HEADS[shape])
    return line, (renamed,) if renamed else ()


def coin(arrays: str, floating: bool, shape: str = "coin") -> Dialect:
    """Write for a coin; laws are lists, or arrays of `arrays`."""
    flips: tuple[Phrase, ...] = (lambda p: f"coin.flip({p})",)
    return Dialect(flips, (lambda m: f"coin.draw({m})",), (), (), arrays, floating, HEADS[shape])


def python(rng: random.Random, floating: bool, shape: str) -> Dialect:
    """Write with Python's random: the module's functions, or a generator made inside the function."""
    own = rng.random() < 0.3
    r = "own" if own else "random"
    flips: tuple[Phrase, ...] = (
        lambda p: f"{r}.random() < {p}",
        lambda p: f"{r}.random() <= {p}",
        lambda p: f"not {r}.random() >= {p}",
        lambda p: f"1 - {r}.random() <= {p}",
        lambda p: f"{r}.uniform(0, 1) < {p}",
        lambda p: f"2 * {r}.random() < 2 * {p}",
        lambda p: f"{r}.random() - {p} < 0",
    )
    draws: tuple[Phrase, ...] = (
        lambda m: f"{r}.choices(range(V), {m})[0]",
        lambda m: f"{r}.choices(list(range(V)), weights={m}, k=1)[0]",
        lambda m: f"{r}.choices(range(V), cum_weights=list(accumulate({m})))[0]",
        lambda m: f"inverse({m}, {r}.random())",
        lambda m: f"subtracted({m}, {r}.random())",
    )
    evens: tuple[Phrase, ...] = (
        lambda n: f"{r}.randrange({n})",
        lambda n: f"{r}.randint(0, {n} - 1)",
        lambda n: f"{r}.choice(range({n}))",
        lambda n: f"{r}.sample(range({n}), 1)[0]",
        lambda n: f"{r}.sample(range({n}), {n})[0]",
        lambda n: f"int({r}.random() * {n})",
    )
    first, before = head(rng, shape)
    before = (*before, f"own = random.Random({rng.choice(('', '7'))})") if own else before
    return Dialect(flips, draws, evens, (f"{r}.random()",), "", floating, first, before)


def numpy(rng: random.Random, shape: str) -> Dialect:
    """Write with NumPy: the old functions, a RandomState or a Generator, on lists or arrays."""
    kind = rng.choice(("old", "old state", "generator", "generator"))
    r = "np.random" if kind == "old" else "rng"
    one = f"{r}.rand()" if kind != "generator" else f"{r}.random()"
    # NumPy holds arrays to their type's precision, and lists to that of float64.
    arrays = rng.choice(("", "np"))
    fitting = "" if arrays else "unit"
    several = f"{r}.random_sample(2)[0]" if kind != "generator" else f"{r}.random(2)[0]"
    whole = f"{r}.randint" if kind != "generator" else f"{r}.integers"
    flips: tuple[Phrase, ...] = (
        lambda p: f"{one} < {p}",
        lambda p: f"{one} <= {p}",
        lambda p: f"{r}.uniform() < {p}",
        lambda p: f"{several} < {p}",
        lambda p: f"1.0 - {one} <= {p}",
        lambda p: f"{r}.choice(2, p=unit([1.0 - {p}, {p}])) == 1",
        lambda p: f"{r}.multinomial(1, unit([{p}, 1.0 - {p}]))[0] == 1",
    )
    draws: tuple[Phrase, ...] = (
        lambda m: f"int({r}.choice(V, p={fitting}({m})))",
        lambda m: f"int({r}.choice(V, 1, p=unit({m}))[0])",
        lambda m: f"int({r}.multinomial(1, unit({m})).argmax())",
        lambda m: f"int((np.asarray({m}) / {r}.exponential(size=V)).argmax())",
        lambda m: f"int((np.log({m}) + {r}.gumbel(size=V)).argmax())",
        lambda m: f"inverse({m}, {one})",
    )
    evens: tuple[Phrase, ...] = (
        lambda n: f"int({whole}({n}))",
        lambda n: f"int({whole}(0, {n}, size=2)[1])",
        lambda n: f"int({r}.choice({n}))",
    )
    made = {
        "old": (),
        "old state": ("rng = np.random.RandomState(3)",),
        "generator": ("rng = np.random.default_rng()",),
    }
    first, renamed = head(rng, shape)
    return Dialect(flips, draws, evens, (one,), arrays, True, first, (*renamed, *made[kind]))


def torch(rng: random.Random, shape: str, exact: bool) -> Dialect:
    """Write with torch: with its own generator or another, on tensors or their entries.

    torch compares a tensor of uniforms with a scalar in the tensor's type: with `exact` laws that is float64.
    """
    own = rng.random() < 0.3
    wide = ", dtype=torch.float64"
    only = "generator=noise" if own else ""
    g = f", {only}" if own else ""
    one = f"{g}{wide}" if exact else g
    flips: tuple[Phrase, ...] = (
        lambda p: f"torch.rand(1{one}).item() < {p}",
        lambda p: f"bool(torch.rand(1{one}) < {p})",
        lambda p: f"bool(torch.rand((){g}{wide}) <= {p})",
        lambda p: f"bool(torch.empty(1{wide}).uniform_({only}) < {p})",
        lambda p: f"bool(torch.bernoulli(torch.tensor(float({p}){wide}){g}))",
        lambda p: f"torch.rand(2{one})[1] < {p}",
    )
    last = ".clamp(max=V - 1)"
    draws: tuple[Phrase, ...] = (
        lambda m: f"int(torch.multinomial(row({m}), 1{g}))",
        lambda m: f"torch.multinomial(row({m}), num_samples=1{g}).item()",
        lambda m: f"int((row({m}) / torch.empty(V{wide}).exponential_({only})).argmax())",
        lambda m: f"inverse({m}, torch.rand(1{g}{wide}).item())",
        lambda m: f"int(torch.searchsorted(row({m}).cumsum(0), torch.rand(1{g}{wide}), right=True){last})",
    )
    evens: tuple[Phrase, ...] = (
        lambda n: f"int(torch.randint({n}, (1,){g}))",
        lambda n: f"torch.randint(0, {n}, (2,){g})[0].item()",
        lambda n: f"int(torch.randperm({n}{g})[0])",
    )
    first, before = head(rng, shape)
    before = (*before, "noise = torch.Generator()") if own else before
    kept = (f"torch.rand(1{g}{wide}).item()",)
    arrays = rng.choice(("", "torch"))
    return Dialect(flips, draws, evens, kept, arrays, True, first, before)
