"""The call of a user's function: which parameter takes which role, read from its signature."""

from __future__ import annotations

import inspect
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property, partial
from typing import Any, Literal, cast, get_args

from spec_math.samplers.generators import generator_for, made_by
from spec_math.samplers.signature import named_in, own_attributes, read, told_by_name
from spec_math.samplers.words import Role, Taken, beside, name_of, parameters_of, roles_of, taken_by, takes_one, whole
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

CHOICES: dict[Taken, tuple[str, ...]] = {
    **dict.fromkeys(("target model", "draft model", "model"), ("target_model", "draft_model")),
    **dict.fromkeys(("input", "cache", "self", "places", "places end"), ("None", "prompt")),
    **dict.fromkeys(("prompt", "prefix"), ("prompt", "prompt[0].tolist()")),
    "logits": ("target.log()", "draft.log()"),
    "candidate logits": ("target.log()",),
    "target logs": ("target.log()",),
    "draft logs": ("draft.log()",),
    "uniforms": ("torch.rand(len(tokens) + 1)", "torch.rand(len(tokens))", "torch.rand(1)"),
    "seed": ("None",),
    **dict.fromkeys(("generator", "key"), ("np.random.default_rng()", "random.Random()", "torch.Generator()")),
}
"""The values that a parameter may be meant to take, by what its name says, where the judge does not know."""


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
        return fn(*given, **named, **{name: made_by(how) for name, how in self.makes})

    def written(self, fn: str) -> str:
        """Return the call as it is written, with each role under its own name."""
        given = [role if at < self.positional else f"{name}={role}" for at, (name, role) in enumerate(self.takes)]
        return f"{fn}({', '.join([*given, *(f'{name}={how}' for name, how in self.makes)])})"

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
        return Call(name, unclear=f"{name}({', '.join(listed_of(fn))}): {kind or _BOUND.format(bound)}")
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
        role = cast("Role | None", taken[key] if taken[key] in MEANING else None)
        # An optional law is given, and so are tokens, where it is None until then.
        if role and key not in given and (one.default is one.empty or (one.default is None and role != "coin")):
            given[key] = role
    found = _complete(fn, name, taken, given)
    return replace(found, told=bool(told))


def _complete(fn: Callable[..., Any], name: str, taken: Mapping[str, Taken], given: Mapping[str, Role]) -> Call:
    """Return the call if all that is required is understood, once each, and nothing is missing."""
    listed, parameters = listed_of(fn), named_in(fn)
    makes = {
        key: how
        for key, one in parameters.items()
        if taken[key] in ("generator", "key") and one.default is one.empty and one.kind is not one.POSITIONAL_ONLY
        if key not in given and (how := generator_for(fn, key))
    }
    left = [key for key in parameters if key not in given and key not in makes]
    unknown = [key for key in left if parameters[key].default is inspect.Parameter.empty]
    stops = {key: choices(taken[key]) for key in unknown if taken[key] in CHOICES}
    if stops.pop("self", ()):
        stops |= {one: choices("", ()) for one in own_attributes(fn)}
    if stops:
        said = not_understood(name, listed, stops)
        return Call(name, unclear=said + _TEXTS * ("coin" in given.values()))
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


_TEXTS = "\nIf it emits a block after a prefix: check_lossless_block(lambda coin, prefix: ..., model, horizon=2)"


def _left(roles: Sequence[Role], wanted: Sequence[Role]) -> list[Role]:
    return [role for role in wanted if role not in roles]


def _check_told(name: str, role: Role, taken: Taken) -> None:
    # A bare draft or target may be tokens.
    side, sides = taken.partition(" ")[0], ("target", "draft")
    wrong = (side in sides and role in sides) or taken in ("tokens", "coin")
    if (wrong and side != role) or taken.endswith(("logits", "logs")):
        raise ValueError(
            f"roles say that {name} takes {MEANING[role]}, and its name says something else; if the name misleads, "
            "wrap the function in a lambda with other names"
        )


def _unusual(fn: Any) -> str:
    """Say what keeps a function from being called as a sampler, whatever its parameters are."""
    plain = whole(fn)
    if inspect.isclass(plain):
        return "it is a class, and calling it makes an object; name the method that emits tokens, as CLASS.METHOD"
    entered = plain if inspect.isroutine(plain) else getattr(type(plain), "__call__", plain)  # noqa: B004
    for one in (plain, inspect.unwrap(entered)):
        if inspect.iscoroutinefunction(one) or inspect.isasyncgenfunction(one):
            return "it is asynchronous, and calling it emits nothing yet; judge a function that runs it: asyncio.run(…)"
        if inspect.isgeneratorfunction(one):
            return "it is a generator function, and calling it emits nothing yet; judge a function of list(…) of it"
    return ""


_BOUND = "a partial binds {}, which the judge passes; bind only the other parameters"


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
    return next((one for one in given if taken[one] in MEANING), "")


def listed_of(fn: Callable[..., Any]) -> list[str]:
    """Return the names of a function's parameters, with their stars."""
    return [str(one).partition(":")[0].partition("=")[0].strip() for one in parameters_of(fn).values()]


def not_understood(name: str, parameters: Sequence[str], unknown: Mapping[str, Sequence[str]]) -> str:
    """Return which parameters are not understood, and for each of them the lines of which an adapter has one."""
    said = f"{name}({', '.join(parameters)}): {listed(list(unknown))} {'is' if len(unknown) == 1 else 'are'} not"
    said += f" understood; write an adapter (spec-math audit FILE:{name} --adapter ADAPTER.py), or a function of tokens"
    lines = [f"{key}={one}," for key, few in unknown.items() for one in few]
    said += ", target and draft that calls it with one of these lines for each"
    name, few = next(iter(unknown.items()))
    role = few[0].partition(".")[0] if few and few[0].startswith(("target", "draft", "prompt", "tokens")) else "none"
    how = f"values, as --set {name}=…" if name.startswith("self.") else f"roles, as --roles {name}={role}"
    return "\n    ".join([f"{said}; or give {how}:", *lines])


ALONE = "with which it is lossless on a small case"
"""The words in an adapter beside the one line that reads an answer so."""


def choices(taken: Taken, free: Sequence[str] = NEEDED) -> tuple[str, ...]:
    """Return what a parameter may be meant to take, where that is not known and some roles are free.

    >>> choices("logits"), choices("", ["tokens"])
    (('target.log()', 'draft.log()'), ('tokens', 'None', '1.0', 'len(tokens)', 'False'))
    """
    return CHOICES.get(taken, (*free, "None", "1.0", "len(tokens)", "False"))


def asking(text: str, questions: Sequence[str]) -> str:
    """Return an adapter with lines that are commented out, of which one is to be chosen, in place of its return."""
    lines = "".join(f"    # {line}  # open\n" for line in questions)
    return re.sub(r"    return .*\n", lambda _: lines, text, count=1) if lines else text


def ask_for_roles(name: str, parameters: Sequence[str], asked: Sequence[str], free: Sequence[str]) -> str:
    """Return the question what some parameters take, of the roles that no other parameter has.

    >>> print(ask_for_roles("step", ["p", "q"], ["p", "q"], ["target", "draft", "tokens"]))
    step(p, q): the names do not say what p and q take, and the judge does not guess. Give \
roles="p=target,q=draft" (in the command: --roles p=target,q=draft), or the other way round
    """
    if len(asked) > len(free) or (len(asked) > 1 and "draft" not in free and "target" not in free):
        return not_understood(name, parameters, dict.fromkeys(asked, choices("", free)))
    said = f"{name}({', '.join(parameters)}): the names do not say what {listed(asked)} take{'s' * (len(asked) == 1)}"
    example = ",".join(f"{one}={role}" for one, role in zip(asked, free, strict=False))
    other = ", or the other way round" if len(asked) > 1 else ""
    return f'{said}, and the judge does not guess. Give roles="{example}" (in the command: --roles {example}){other}'


def not_taken(name: str, parameters: Sequence[str], missing: Sequence[str]) -> str:
    """Return that a function takes no law of the target or the draft, and how to say that it needs none.

    >>> print(not_taken("step", ["tokens", "target"], ["draft"]))
    step(tokens, target): it does not take the draft's distribution; if it needs none, judge
        sampler = lambda tokens, target, draft: step(tokens, target)
    """
    lacking = " and ".join(f"the {role}'s distribution" for role in missing)
    said = f"{name}({', '.join(parameters)}): it does not take {lacking}; if it needs none, judge"
    passed = ", ".join(one for one in parameters if not one.startswith("*"))
    return f"{said}\n    sampler = lambda tokens, target, draft: {name}({passed})"


def unreadable(name: str) -> str:
    """Return that a function's parameters have no names, and how to tell them in order."""
    return (
        f"{name}: the names of its parameters cannot be read; list its roles in order, with "
        'roles="tokens,target,draft" (in the command: --roles tokens,target,draft)'
    )
