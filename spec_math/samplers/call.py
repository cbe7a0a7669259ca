"""The call of a user's function: which parameter takes which role, read from its signature."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property, partial
from typing import Any, Literal, cast, get_args

from spec_math.samplers.generators import MAKERS, generator_for
from spec_math.samplers.signature import named_in, read, told_by_name
from spec_math.samplers.words import (
    PREFIX,
    Role,
    Taken,
    beside,
    name_of,
    parameters_of,
    roles_of,
    side_of,
    taken_by,
    takes_one,
    whole,
    words_in,
)
from spec_math.wording import listed

Shape = Literal["verifier", "tokens", "laws"]
"""verify(coin, tokens, target, draft), the library's own; fn(tokens, target, draft), which is given its drafts; or
fn(target, draft), which drafts by itself: by what they take, in any order."""

NEEDED: tuple[Role, ...] = ("target", "draft")
MEANING: dict[Role, str] = {
    "coin": "the coin",
    "tokens": "the drafted tokens",
    "target": "the target's distribution",
    "draft": "the draft's distribution",
}

_ROLES: dict[str, Role] = {role: role for role in MEANING}


_STOPS: dict[Taken, str] = {
    "self": "self",
    **dict.fromkeys(("target model", "draft model", "model"), "models"),
    **dict.fromkeys(("input", "prompt", "cache", "places", "places end"), "models"),
    "prefix": "prefix",
    **dict.fromkeys(("logits", "target logs", "draft logs", "candidate logits"), "logits"),
    "uniforms": "uniforms",
    "seed": "seed",
    **dict.fromkeys(("generator", "key"), "generator"),
}
"""The adapter for a parameter that the judge does not give, by what it takes."""


@dataclass(frozen=True)
class Call:
    """The call of a function: its parameters and the role that each takes, the first of them by position.

    `unclear` says what is not understood of the signature, with what the caller can do about it; the function is then
    not called at all. `one_token` is True where the drafted tokens are given as a single token. `makes` are generators
    of random numbers that are made anew for each call, each with how.
    """

    name: str
    takes: tuple[tuple[str, Role], ...] = ()
    positional: int = 0
    one_token: bool = False
    told: bool = False
    unclear: str = ""
    makes: tuple[tuple[str, str], ...] = ()

    @cached_property
    def shape(self) -> Shape:
        """The source of the randomness and of the drafts."""
        roles = {role for _, role in self.takes}
        return "verifier" if "coin" in roles else "tokens" if "tokens" in roles else "laws"

    @cached_property
    def drafts_itself(self) -> bool:
        """True if the function is not given drafted tokens."""
        return all(role != "tokens" for _, role in self.takes)

    def __call__(self, fn: Callable[..., Any], values: Mapping[Role, Any]) -> Any:
        """Call the function with a value for each role that it takes."""
        given = [values[role] for _, role in self.takes[: self.positional]]
        named = {name: values[role] for name, role in self.takes[self.positional :]}
        return fn(*given, **named, **{name: MAKERS[how]() for name, how in self.makes})

    def __str__(self) -> str:
        shown = [name if name == role else f"{name}: {MEANING[role]}" for name, role in self.takes]
        shown += [f"{name}: {how} of each call" for name, how in self.makes]
        return f"{self.name}({', '.join(shown)})"


def call_of(fn: Callable[..., Any], shape: str | None = None, roles: str | Mapping[Any, str] | None = None) -> Call:
    """Read how a function is called from the names of its parameters, and from roles that the caller tells.

    Nothing is taken by its position alone: a guess between the target's law and the draft's would condemn right
    samplers. Optional parameters keep their defaults, but for laws and tokens whose default is None.

    Raises:
        ValueError: shape or roles are unknown, or contradict the names.
    """
    if shape is not None and shape not in get_args(Shape):
        raise ValueError(f"a shape must be one of {', '.join(get_args(Shape))}; got {shape!r}")
    told = roles_of(roles)
    found = _read(fn, name_of(fn), told)
    if shape is not None and not found.unclear and found.shape != shape:
        raise ValueError(f"the shape {shape!r} contradicts the parameters of {found}; leave shape out, or give roles")
    return found


def _read(fn: Callable[..., Any], name: str, told: Mapping[str | int, Any]) -> Call:
    kind, bound = _unusual(fn), _bound(fn)
    if kind or bound:
        return Call(name, unclear=adapter(kind or "bound", name, _listed(fn), bound))
    takes: list[tuple[str, Role]] = told_by_name(fn, told)
    unsaid, taken, parameters = read(fn), read(fn, told), named_in(fn)
    for key, role in takes:
        _check_told(key, role, unsaid.get(key, ""))
    if any(not key for key, _ in takes):
        return Call(name, tuple(takes), len(takes), told=True)
    # The laws of several positions beside their tokens; without these, drafts may be either.
    drafts = [key for key, one in taken.items() if one == "drafts"]
    if len(drafts) == 1 and "tokens" in taken.values() and "draft" not in taken.values():
        taken[drafts[0]] = "draft"
    given: dict[str, Role] = dict(takes)
    for key, one in parameters.items():
        role = _ROLES.get(taken[key])
        # An optional law is given, and so are tokens, where it is None until then.
        if role and key not in given and (one.default is one.empty or (one.default is None and role != "coin")):
            given[key] = role
    found = _complete(fn, name, taken, given)
    return replace(found, told=bool(told))


def _complete(fn: Callable[..., Any], name: str, taken: Mapping[str, Taken], given: Mapping[str, Role]) -> Call:
    """Return the call if all that is required is understood, once each, and nothing is missing."""
    listed, parameters = _listed(fn), named_in(fn)
    makes = {
        key: how
        for key, one in parameters.items()
        if _STOPS.get(taken[key]) == "generator" and one.default is one.empty and one.kind is not one.POSITIONAL_ONLY
        if key not in given and (how := generator_for(fn, key))
    }
    left = [key for key in parameters if key not in given and key not in makes]
    unknown = [key for key in left if parameters[key].default is inspect.Parameter.empty]
    for key in unknown:
        kind = "prefix" if words_in(key) & PREFIX and taken[key] == "prompt" else _STOPS.get(taken[key])
        if kind:
            return Call(name, unclear=adapter(kind, name, listed, key))
    roles = list(given.values())
    # A law that is bound already, as a partial binds it, is not the judge's; a role told twice is told of neither.
    unknown += [key for key in left if taken[key] in _left(roles, NEEDED)]
    unknown += [key for key, role in given.items() if roles.count(role) > 1]
    free = _left([role for key, role in given.items() if key not in unknown], ("target", "draft", "tokens"))
    if unknown:
        asked = [key for key in parameters if key in unknown]
        # Of two that say the draft, the longer name says its law and the shorter one may be tokens.
        asked.sort(key=lambda key: -len(key) if key in given else 0)
        return Call(name, unclear=ask_for_roles(name, listed, asked, free))
    missing = _left(roles, NEEDED)
    if missing and (not listed or any(one.startswith("*") and one[1] != "*" for one in listed)):
        return Call(name, unclear=unreadable(name))
    if missing:
        return Call(name, unclear=not_taken(name, listed, missing))
    called: list[tuple[str, Role]] = [(key, given[key]) for key in parameters if key in given]
    # A parameter before which something else stands is not given by its place.
    placed = zip(parameters.items(), called, strict=False)
    positional = sum(key == one and by.kind != by.KEYWORD_ONLY for (key, by), (one, _) in placed)
    one_token = any(role == "tokens" and takes_one(key) for key, role in called)
    return Call(name, tuple(called), positional, one_token, makes=tuple(makes.items()))


def _left(roles: Sequence[Role], wanted: Sequence[Role]) -> list[Role]:
    return [role for role in wanted if role not in roles]


def _check_told(name: str, role: Role, taken: Taken) -> None:
    # A bare draft or target may be tokens.
    side, sides = taken.partition(" ")[0], ("target", "draft")
    wrong = (side in sides and role in sides) or taken in ("tokens", "coin")
    if (wrong and side != role) or _STOPS.get(taken) == "logits":
        raise ValueError(
            f"roles say that {name} takes {MEANING[role]}, and its name says something else; if the name misleads, "
            "wrap the function in a lambda with other names"
        )


def _unusual(fn: Any) -> str:
    """Say what keeps a function from being called as a sampler, whatever its parameters are."""
    plain = whole(fn)
    if inspect.isclass(plain):
        return "class"
    entered = plain if inspect.isroutine(plain) else getattr(type(plain), "__call__", plain)  # noqa: B004
    for one in (plain, inspect.unwrap(entered)):
        if inspect.iscoroutinefunction(one) or inspect.isasyncgenfunction(one):
            return "async"
        if inspect.isgeneratorfunction(one):
            return "yields"
    return ""


def _bound(fn: Any) -> str:
    """Return the law or the tokens that a partial gives to its function, which the judge would give; "" if none."""
    if not isinstance(fn, partial):
        return ""
    held = cast(Any, fn)
    try:
        given = list(inspect.signature(held.func).bind_partial(*held.args, **held.keywords).arguments)
    except (TypeError, ValueError):
        return ""
    taken = beside({one: taken_by(one) for one in given})
    return next((one for one in given if taken[one] in _ROLES), "")


def _listed(fn: Callable[..., Any]) -> list[str]:
    return [str(one).partition(":")[0].partition("=")[0].strip() for one in parameters_of(fn).values()]


def adapter(kind: str, name: str, parameters: Sequence[str], wanting: str = "") -> str:
    """Return why a function is not called, in one sentence, and the lines that make a sampler of it.

    `kind` is what stands in the way, and `wanting` the parameter that it was read from.

    >>> print(adapter("self", "Sampler.verify", ["self", "tokens", "target", "draft"]))
    Sampler.verify(self, tokens, target, draft): it is a method that is not bound to an object; bind it:
        verify = lambda tokens, target, draft: Sampler(...).verify(tokens, target, draft)
    """
    own = [one for one in parameters if one not in ("self", "cls")]
    others = [one for one in own if one != wanting]
    owner, _, short = name.rpartition(".")
    known = {"coin": "coin", "prefix": "prefix", "target_model": "model", "draft_model": "drafter"}
    words = {
        "name": name,
        "short": short,
        "owner": owner or "Sampler",
        "wanting": wanting,
        "own": ", ".join(own),
        "others": ", ".join(others),
        "taken": ", ".join(others or ["tokens", "target", "draft"]),
        "first": ", ".join([wanting, *others]),
        "made": ", ".join(_MADE.get(kind, one) if one == wanting else one for one in own),
        "filled": ", ".join(known.get(one, one if one.startswith("*") else f"{one}=...") for one in own),
        "converted": ", ".join(map(_converted, own)),
    }
    said, *lines = _ADAPTERS["prefix" if kind == "models" and "coin" in own else kind]
    lines = [line for line in lines if "draft_model" in own or not line.startswith("drafter = ")]
    return _with(f"{name}({', '.join(parameters)}): {said.format(**words)}", [line.format(**words) for line in lines])


def ask_for_roles(name: str, parameters: Sequence[str], asked: Sequence[str], free: Sequence[str]) -> str:
    """Return the question what some parameters take, of the roles that no other parameter has.

    >>> print(ask_for_roles("step", ["p", "q"], ["p", "q"], ["target", "draft", "tokens"]))
    step(p, q): the names do not say what p and q take, and the judge does not guess. Give \
roles="p=target,q=draft" (in the command: --roles p=target,q=draft), or the other way round
    """
    said = f"{name}({', '.join(parameters)}): the names do not say what {listed(asked)} take{'s' * (len(asked) == 1)}"
    if len(asked) > len(free) or (len(asked) > 1 and "draft" not in free and "target" not in free):
        shown = ", ".join("..." if one in asked else one for one in parameters)
        wrap = f"verify = lambda tokens, target, draft: {name}({shown})"
        return _with(f"{said}; pass a value", [wrap])
    example = ",".join(f"{one}={role}" for one, role in zip(asked, free, strict=False))
    other = ", or the other way round" if len(asked) > 1 else ""
    return f'{said}, and the judge does not guess. Give roles="{example}" (in the command: --roles {example}){other}'


def not_taken(name: str, parameters: Sequence[str], missing: Sequence[str]) -> str:
    """Return that a function takes no law of the target or the draft, and how to say that it needs none.

    >>> print(not_taken("step", ["tokens", "target"], ["draft"]))
    step(tokens, target): it does not take the draft's distribution; if it needs none, wrap it:
        verify = lambda tokens, target, draft: step(tokens, target)
    """
    lacking = " and ".join(f"the {role}'s distribution" for role in missing)
    passed = ", ".join(one for one in parameters if not one.startswith("*"))
    if any(one.startswith("**") for one in parameters):
        passed = "tokens=tokens, target=target, draft=draft"
    said = f"{name}({', '.join(parameters)}): it does not take {lacking}; if it needs none, wrap it"
    return _with(said, [f"verify = lambda tokens, target, draft: {name}({passed})"])


def unreadable(name: str) -> str:
    """Return that a function's parameters have no names, and how to tell them in order."""
    return (
        f"{name}: the names of its parameters cannot be read; list its roles in order, with "
        'roles="tokens,target,draft" (in the command: --roles tokens,target,draft)'
    )


def _converted(one: str) -> str:
    return f"np.log({side_of(one) or 'target'})" if _STOPS.get(taken_by(one)) == "logits" else one


def _with(said: str, lines: Sequence[str]) -> str:
    # A function of the same name would call itself.
    called = any(" verify(" in line for line in lines)
    lines = [line.replace("verify = lambda", "sampler = lambda") if called else line for line in lines]
    return "\n    ".join([f"{said}:", *lines])


_MADE = {"uniforms": "np.random.random(len(tokens) + 1)", "generator": "np.random.default_rng()"}
"""What is made inside of an adapter, where it is followed."""

_ADAPTERS: dict[str, tuple[str, ...]] = {
    "self": (
        "it is a method that is not bound to an object; bind it",
        "{short} = lambda {own}: {owner}(...).{short}({own})",
    ),
    "class": (
        "it is a class, and calling it makes an object; name the method that emits tokens",
        "verify = lambda tokens, target, draft: {name}(...).verify(tokens, target, draft)",
    ),
    "async": (
        "it is asynchronous, and calling it emits nothing yet; run it to its end",
        "import asyncio",
        "verify = lambda {own}: asyncio.run({name}({own}))",
    ),
    "yields": (
        "it is a generator function, and calling it emits nothing yet; collect what it yields",
        "verify = lambda {own}: list({name}({own}))",
    ),
    "bound": (
        "a partial binds {wanting}, which the judge passes; bind only the other parameters",
        "verify = lambda {first}: {name}({first}, ...)",
    ),
    "prefix": (
        "it takes a prefix, as generators of texts do; judge it against a model",
        "from spec_math import check_lossless_block",
        'model = lambda prefix: ["1/4", "3/4"]',
        'drafter = lambda prefix: ["1/2", "1/2"]',
        "check_lossless_block(lambda coin, prefix: {name}({filled}), model, horizon=2)",
    ),
    "models": (
        "{wanting} is a model or a model's input; wrap the distributions in models",
        "import torch",
        "from types import SimpleNamespace",
        "def table(law):  # a model whose model(ids).logits have this distribution after every prefix",
        "    return lambda ids, **_: SimpleNamespace(logits=law.log().expand(*ids.shape, -1))",
        "def verify(target, draft):  # the first token after a prompt of one token",
        "    return {name}(table(target), table(draft), torch.zeros(1, 1, dtype=torch.int64), ...)[0, 1]",
    ),
    "logits": (
        "{wanting} is logits or logarithms, but the judge passes probabilities; convert them",
        "import numpy as np",
        "verify = lambda tokens, target, draft: {name}({converted})",
    ),
    "uniforms": (
        "{wanting} is uniforms that the caller draws; draw them inside, where the judge follows them",
        "import numpy as np",
        "verify = lambda {taken}: {name}({made})",
    ),
    "seed": (
        "{wanting} is a seed, which determines every number drawn; take a generator instead",
        "def {short}({others}, rng): ...  # and rng is what {wanting} was made a generator of",
    ),
    "generator": (
        "{wanting} is a generator of random numbers; make it inside, where the judge follows it",
        "import numpy as np",
        "verify = lambda {taken}: {name}({made})",
    ),
}
