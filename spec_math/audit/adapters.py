"""Suggested adapters: the few lines that make a sampler of a function that cannot be called as one.

Source: worked out here, after the signatures of public samplers.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from spec_math.result import listed


def adapter(kind: str, name: str, parameters: Sequence[str], wanting: str = "") -> str:
    """Return why a function is not called, in one sentence, and the lines that make a sampler of it.

    `kind` is what stands in the way, and `wanting` the parameter that it was read from.

    >>> print(adapter("self", "Sampler.verify", ["self", "tokens", "target", "draft"]))
    Sampler.verify(self, tokens, target, draft): it is a method that is not bound to an object; bind it:
        verify = lambda tokens, target, draft: Sampler(...).verify(tokens, target, draft)
    """
    own = [one for one in parameters if one not in ("self", "cls")]
    said, lines = _ADAPTERS[kind](name, own, wanting)
    return _with(f"{name}({', '.join(parameters)}): {said}", lines)


def ask_for_roles(name: str, parameters: Sequence[str], asked: Sequence[str], free: Sequence[str]) -> str:
    """Return the question what some parameters take, of the roles that no other parameter has.

    >>> print(ask_for_roles("step", ["p", "q"], ["p", "q"], ["target", "draft", "tokens"]))
    step(p, q): it is not understood what p and q take; the target's law and the draft's are never guessed. Tell it \
with roles="p=target,q=draft" (in the command: --roles p=target,q=draft), or the other way round
    """
    said = f"{name}({', '.join(parameters)}): it is not understood what {listed(asked)} take{'s' * (len(asked) == 1)}"
    if len(asked) > len(free) or (len(asked) > 1 and "draft" not in free and "target" not in free):
        shown = ", ".join("..." if one in asked else one for one in parameters)
        wrap = f"verify = lambda tokens, target, draft: {name}({shown})"
        return _with(f"{said}; give it a value", [wrap])
    example = ",".join(f"{one}={role}" for one, role in zip(asked, free, strict=False))
    other = ", or the other way round" if len(asked) > 1 else ""
    return (
        f"{said}; the target's law and the draft's are never guessed. Tell it with "
        f'roles="{example}" (in the command: --roles {example}){other}'
    )


def not_taken(name: str, parameters: Sequence[str], missing: Sequence[str]) -> str:
    """Return that a function takes no law of the target or the draft, and how to say that it needs none.

    >>> print(not_taken("step", ["tokens", "target"], ["draft"]))
    step(tokens, target): it does not take the draft's law; if it needs none, say so by wrapping it:
        verify = lambda tokens, target, draft: step(tokens, target)
    """
    lacking = " and ".join(f"the {role}'s law" for role in missing)
    passed = ", ".join(one for one in parameters if not one.startswith("*"))
    if any(one.startswith("**") for one in parameters):
        passed = "tokens=tokens, target=target, draft=draft"
    said = f"{name}({', '.join(parameters)}): it does not take {lacking}; if it needs none, say so by wrapping it"
    return _with(said, [f"verify = lambda tokens, target, draft: {name}({passed})"])


def unreadable(name: str) -> str:
    """Return that a function's parameters have no names, and how to tell them in order.

    >>> "--roles tokens,target,draft" in unreadable("kernel")
    True
    """
    return (
        f"{name}: the names of its parameters cannot be read; tell what it takes, in order, with "
        'roles="tokens,target,draft" (in the command: --roles tokens,target,draft)'
    )


def _method(name: str, own: Sequence[str], wanting: str) -> tuple[str, list[str]]:  # noqa: ARG001
    owner, _, short = name.rpartition(".")
    plain = ", ".join(own)
    line = f"{short} = lambda {plain}: {owner or 'Sampler'}(...).{short}({plain})"
    return "it is a method that is not bound to an object; bind it", [line]


def _class(name: str, own: Sequence[str], wanting: str) -> tuple[str, list[str]]:  # noqa: ARG001
    line = f"verify = lambda tokens, target, draft: {name}(...).verify(tokens, target, draft)"
    return "it is a class, and calling it makes an object; name the method that emits tokens", [line]


def _asynchronous(name: str, own: Sequence[str], wanting: str) -> tuple[str, list[str]]:  # noqa: ARG001
    lines = ["import asyncio", f"verify = lambda {', '.join(own)}: asyncio.run({name}({', '.join(own)}))"]
    return "it is asynchronous, and calling it emits nothing yet; run it to its end", lines


def _yielding(name: str, own: Sequence[str], wanting: str) -> tuple[str, list[str]]:  # noqa: ARG001
    line = f"verify = lambda {', '.join(own)}: list({name}({', '.join(own)}))"
    return "it is a generator function, and calling it emits nothing yet; collect what it yields", [line]


def _bound(name: str, own: Sequence[str], wanting: str) -> tuple[str, list[str]]:
    left = [one for one in own if one != wanting]
    line = f"verify = lambda {', '.join([wanting, *left])}: {name}({', '.join([wanting, *left])}, ...)"
    return f"a partial binds {wanting}, which the judge gives; bind the other parameters alone", [line]


def _prefix(name: str, own: Sequence[str], wanting: str) -> tuple[str, list[str]]:  # noqa: ARG001
    known = {"coin": "coin", "prefix": "prefix", "target_model": "model", "draft_model": "drafter"}
    passed = ", ".join(known.get(one, one if one.startswith("*") else f"{one}=...") for one in own)
    drafter = ['drafter = lambda prefix: ["1/2", "1/2"]'] if "draft_model" in own else []
    lines = [
        "from spec_math import check_lossless_block",
        'model = lambda prefix: ["1/4", "3/4"]',
        *drafter,
        f"check_lossless_block(lambda coin, prefix: {name}({passed}), model, horizon=2)",
    ]
    return "it takes a prefix, as generators of texts do; judge it against a model", lines


def _models(name: str, own: Sequence[str], wanting: str) -> tuple[str, list[str]]:
    if "coin" in own:
        return _prefix(name, own, wanting)
    lines = [
        "import torch",
        "from types import SimpleNamespace",
        "def table(law):  # a model whose model(ids).logits have this law after every prefix",
        "    return lambda ids, **_: SimpleNamespace(logits=law.log().expand(*ids.shape, -1))",
        "def verify(target, draft):  # the first token after a prompt of one token",
        f"    return {name}(table(target), table(draft), torch.zeros(1, 1, dtype=torch.int64), ...)[0, 1]",
    ]
    said = f"{wanting} is a model or a model's input, where the judge has laws; give it models made of the laws"
    return said, lines


def _logs(name: str, own: Sequence[str], wanting: str) -> tuple[str, list[str]]:
    def converted(one: str) -> str:
        if not any(word in one.lower() for word in ("log", "score")):
            return one
        return f"np.log({'draft' if any(word in one.lower() for word in ('draft', 'small', 'assist')) else 'target'})"

    lines = ["import numpy as np", f"verify = lambda tokens, target, draft: {name}({', '.join(map(converted, own))})"]
    return f"{wanting} is logits or logarithms, where the judge has probabilities; convert them", lines


def _made_inside(value: str, said: str) -> Any:
    def lines(name: str, own: Sequence[str], wanting: str) -> tuple[str, list[str]]:
        taken = [one for one in own if one != wanting] or ["tokens", "target", "draft"]
        passed = ", ".join(value if one == wanting else one for one in own)
        return f"{wanting} {said}; make it inside, where it is followed", [
            "import numpy as np",
            f"verify = lambda {', '.join(taken)}: {name}({passed})",
        ]

    return lines


def _seed(name: str, own: Sequence[str], wanting: str) -> tuple[str, list[str]]:
    rest = ", ".join(one for one in own if one != wanting)
    line = f"def {name.rpartition('.')[2]}({rest}, rng): ...  # and rng is what {wanting} was made a generator of"
    return f"{wanting} is a seed, and settles every number that is drawn; let it take a generator in its place", [line]


def _with(said: str, lines: Sequence[str]) -> str:
    # A function of the same name would call itself.
    called = any(" verify(" in line for line in lines)
    lines = [line.replace("verify = lambda", "sampler = lambda") if called else line for line in lines]
    return "\n    ".join([f"{said}:", *lines])


_ADAPTERS: dict[str, Any] = {
    "self": _method,
    "class": _class,
    "async": _asynchronous,
    "yields": _yielding,
    "bound": _bound,
    "prefix": _prefix,
    "models": _models,
    "logits": _logs,
    "uniforms": _made_inside("np.random.random(len(tokens) + 1)", "is uniforms that the caller draws"),
    "seed": _seed,
    "generator": _made_inside("np.random.default_rng()", "is a generator of random numbers"),
}
