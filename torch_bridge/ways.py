"""The ways in which a public sampler may be meant to be called, each written as the function of an adapter."""

from __future__ import annotations

import inspect
import re
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import product
from typing import Any

import torch

from spec_math.samplers.call import choices
from spec_math.samplers.generators import generator_for, source_of
from spec_math.samplers.signature import Signature, by_default, is_method
from spec_math.samplers.subject import names
from spec_math.samplers.words import LAW, TOKS, Taken, parameters_of, side_of, taken_by, words_in
from torch_bridge.returned import Told
from torch_bridge.toy_models import Form

ANSWERS: dict[Form, str] = {
    "object": ".logits and .past_key_values",
    "copied": ".logits and .past_key_values, a cache that no later call changes",
    "tensor": "logits",
    "tuple": "(logits, cache)",
    "pair": "(logits, (cache, None))",
    "masses": "masses",
}
"""What models answer, the likeliest first; masses are for functions in NumPy alone."""


def said(found: Signature, way: Way, told: Told) -> str:
    """Return in words how a function is called, and what it is taken to return where that was told."""
    fields = _fields(found, way, told)
    meaning = [(name, _GIVEN[taken][0].format(**fields)) for name, taken in found.takes]
    listed = "; ".join(f"{name}: {words}" for name, words in meaning if words)
    listed += "".join(f"; {name}: {value!r}, as told" for name, value in told.values.items())
    kept = by_default(found.fn, [*dict(found.takes), *told.values], found.initialised)
    laid = ", in a batch of one" if way.batch else ", without a batch dimension"
    laid = "" if found.models or found.has("candidates", "draft records") or found.single else laid
    laid += ", no distribution after all drafts" * way.cut
    laid += ", each draft fixed, as no distribution of it is taken" * found.fixed
    laid += f", returning {', '.join(told.returns)}, as told" if told.returns else ""
    return f"{getattr(found.fn, '__qualname__', 'the function')}({listed}){laid}{kept}"


NEW = {"max_new_tokens", "max_gen_len", "n_tokens_to_generate", "num_tokens", "max_tokens", "N"}
"""Lengths that are of new tokens by their name; `seq_len` is of the whole text, and others may be both."""
WHOLE = {"seq_len", "max_seq_len", "max_returned_tokens"}


LISTED = re.compile(r"(typing\.)?[Ll]ist\[(int|(torch\.)?(Long|Float)?Tensor)\b")
"""How a list of tokens, or of tensors, is annotated."""


@dataclass(frozen=True)
class Way:
    """One way to call a function: how models answer, how laws are laid out, and in which type.

    `cut` leaves out the target's law after all drafts; `masses` gives of the draft's laws those of the drafted tokens;
    `last` gives the prompt's last token, the rest being in the cache; `flat` a prompt without a batch dimension;
    `whole` a length of the whole text; `drawn` a token of the target's law in a record, in place of its likeliest.
    """

    form: Form = "object"
    batch: bool = False
    dtype: torch.dtype = torch.float64
    listed: bool = False
    cut: bool = False
    masses: bool = False
    last: bool = False
    flat: bool = False
    whole: bool = False
    drawn: bool = False
    numpy: bool = False


def ways_of(found: Signature) -> list[Way]:
    """Return the ways in which a function may be meant to be called, the likeliest first."""
    numpy = names(found.fn, "numpy") and not names(found.fn, "torch")
    options: dict[str, Sequence[Any]] = {}
    if found.has("target model"):
        forms = ("masses",) if numpy else tuple(ANSWERS)[:-1]
        options |= {"form": forms, "last": (found.has("cache") and found.given_drafts,)}
        if found.has("length"):
            length = found.name_of("length")
            options |= {"whole": (length in WHOLE,) if length in NEW | WHOLE else (False, True)}
        if found.has("prompt"):
            flat = (True,) if numpy else (False, True)
            options |= {"listed": (True,)} if "ist[" in found.annotation(found.name_of("prompt")) else {"flat": flat}
    if found.has("target records"):
        options |= {"drawn": (False, True)}
    elif not found.single and (found.given_drafts or (found.open and not found.has("draft model"))):
        options |= {"batch": (False,) if numpy else (True, False)}
        if found.has("draft") and not found.has("draft mass"):
            options |= {"masses": (False, True)}
        if not found.has("target model", "candidates"):
            options |= {"cut": (True,) if found.has("bonus") else (False, True)}
    # Code that computes in float32 inside is asked again in it before it is called in another way.
    options |= {"dtype": (torch.float64, torch.float32)}
    return [Way(numpy=numpy, **dict(zip(options, one, strict=True))) for one in product(*options.values())]


def written(found: Signature, way: Way, told: Told) -> str:
    """Return an adapter's function `sampler`, which calls the function `judged` in this way: the text that is run.

    What is not understood of the function is commented out, in the lines of which one is to be chosen.
    """
    fields, has = _fields(found, way, told), {"cache": way.last, "key": way.numpy}
    lines: dict[bool, list[str]] = {True: [], False: []}
    for name, taken in found.takes:
        if has.get(taken, True):
            own = {**fields, "name": name, "count": _count(found.annotation(name), fields["many"], way.numpy)}
            own["seen"] = f'records(judged, "{name}", {fields["drawn"]}, target, tokens)'
            words, value = (one.format(**own) for one in _GIVEN[taken])
            mine = lines[name.startswith("self.")]
            mine.append(f"        {name.removeprefix('self.')}={value},  # {words or 'as by default'}")
    for name, few in opened(found, way, told).items():
        lines[name.startswith("self.")] += [f"        # {name.removeprefix('self.')}={one},  # open" for one in few]
    for one in told.texts:
        name = one.partition("=")[0].strip()
        value = f'{name.removeprefix("self.")}=values_of(judged, {[one]})["{name}"]'
        lines[name.startswith("self.")].append(f"        {value},  # as told")
    if kept := by_default(found.fn, [*dict(found.takes), *dict(found.open), *told.values], found.initialised):
        lines[False].append(f"        # {kept.removeprefix(', ')}")
    body, method = "\n".join([*lines[True], *lines[False]]), is_method(found.fn)
    tokens = "token" if found.single else "tokens"
    code = "\n".join(line.rpartition("  # ")[0] for line in body.split("\n"))
    drafts = found.given_drafts or (not found.has("draft model") and re.search(r"\btokens\b", code) is not None)
    takes = [tokens] * drafts + ["target"] + ["draft"] * (not drafts or not found.fixed or "=draft" in code)
    back = f'emitted(returned, {fields["drafts"]}, "{",".join(told.returns)}")'
    if not told.returns:
        back = "generated(returned, prompt)" if not drafts else f"verified(returned, {fields['drafts']})"
    models = [one for one in ("target", "draft") if f"={one}_model" in code]
    form = "" if way.form == "object" else f', "{way.form}"'
    heat, dtype = told.temperature, str(way.dtype).removeprefix("torch.")
    marks = [f'"{dtype}"'] * (not found.open) + [f'temperature="{heat}"'] * (heat != 1)
    marks += ["length=True"] * found.has("length")
    text = [f"@adapter({', '.join(marks)})", f"def sampler({', '.join(takes)}):"]
    text += ["    prompt = prompt_of(target)"] * ("prompt" in code + back or bool(models))
    text += [f"    {one}_model = model_of({one}, prompt{form})" for one in models]
    if found.has("places"):
        text += [f"    {one}_model(prompt, input_pos=torch.arange(prompt.shape[1]))" for one in models]
    if method:
        how = ("initialised", "by its __init__") if found.initialised else ("bound", "that was not initialised")
        text += [f"    method = {how[0]}(", f"        judged,  # an object {how[1]}", *lines[True], "    )"]
    text += [f"    returned = {'method' if method else 'judged'}(", *lines[False], "    )", f"    return {back}"]
    return "\n".join(text) + "\n"


def opened(found: Signature, way: Way, told: Told) -> dict[str, list[str]]:
    """Return what each parameter that is not understood may be meant to take, as an adapter writes it."""
    fields = _fields(found, way, told)
    return {name: [one.format(**fields) for one in _choices(found, name, taken)] for name, taken in found.open}


def _count(said: str, many: str, numpy: bool) -> str:
    if "ist[int" in said:
        return f"[{many}]"
    return f"{'np.array' if numpy else 'torch.tensor'}([{many}])" if "Tensor" in said or "rray" in said else many


def _choices(found: Signature, name: str, taken: Taken) -> tuple[str, ...]:
    kind = found.annotation(name)
    if (own := _options_of(found.fn, kind)) is not None:
        heat = ", ".join(f"{one}={{heat}}" for one in own[1] if taken_by(one) == "temperature")
        return (f'''values_of(judged, ["{name}={own[0]}({heat})"])["{name}"]''', "None")
    used = dict.fromkeys(re.findall(rf"\b{re.escape(name)}\.([a-z]\w*)", source_of(found.fn)))
    keys = dict.fromkeys(re.findall(rf"\b{re.escape(name)}(?:\[|\.get\()['\"](\w+)", source_of(found.fn)))
    if keys and taken == "":
        inner = (f'"{one}": {_inner(one)}' for one in keys)
        return (f"{{{{{', '.join(inner)}}}}}", "None")
    if used and not any(hasattr(torch.Tensor, one) for one in used) and taken in ("", "drafts"):
        called = (one for one in used if side_of(one) and f"{name}.{one}(" in source_of(found.fn))
        models = {one: f"{side_of(one)}_model" for one in called}
        inner = ", ".join(f"{one}={models.get(one, _inner(one))}" for one in used)
        return f"SimpleNamespace({inner})", "None"
    if (literal := re.search(r"Literal\[([^]]*)\]", kind)) is not None:
        return tuple(literal[1].split(", "))
    for word, few in (("bool", ("True", "False")), ("int", ("{many}", "{size}")), ("float", ("1.0", "0.0"))):
        if re.match(rf"\b{word}\b", kind.replace("<class '", "")):
            return few
    sides = {name: not any(kind.startswith(name) for _, kind in found.takes) for name in ("target", "draft")}
    sides["tokens"] = not (found.given_drafts or found.has("draft model"))
    free = [name for name in sides if sides[name]] if not name.startswith("self.") else []
    if taken == "" and found.given_drafts and words_in(name) & LAW:
        free = ["draft[range(len(tokens)), tokens]", *free]
    row = "torch.cat([prompt, tokens[None]], 1)"
    if taken == "" and found.models and not found.has("prompt"):
        free = [row] * found.given_drafts + ["prompt"]
    if words_in(name) & TOKS and taken != "drafts" and not found.has("draft model", "tokens"):
        return row, "tokens[None]", "tokens.tolist()", "prompt"
    if words_in(name) & {"past", "cache", "kv"} and taken == "input" and found.has("target model"):
        return f"{side_of(name) or 'target'}_model(prompt[:, :-1]).past_key_values", "None"
    if words_in(name) & {"idx", "index", "start", "offset", "pos", "position", "base"} and found.models:
        return "prompt.shape[1] - 1", "prompt.shape[1]", "0"
    return tuple(_LAID.get(one, one.replace("len(tokens)", "{many}")) for one in choices(taken, free))


def _inner(name: str) -> str:
    """Return what is given under a name within options, by what the name says; ... where it says nothing."""
    taken = taken_by(name)
    return "..." if taken in ("generator", "key") else _GIVEN.get(taken, ("", "..."))[1]


def _options_of(fn: Any, annotation: str) -> tuple[str, list[str]] | None:
    """Return a class of options that a parameter is annotated with, if it is made of nothing, and what it takes."""
    name = annotation.removeprefix("<class '").rstrip("'>").rpartition(".")[2]
    found = getattr(inspect.unwrap(fn), "__globals__", {}).get(name)
    if not isinstance(found, type) or found.__module__.partition(".")[0] in ("builtins", "torch", "numpy"):
        return None
    taken = parameters_of(found)
    required = [one for one in taken.values() if one.default is one.empty and one.kind is not one.VAR_KEYWORD]
    return None if required or not taken else (name, list(taken))


_LAID = {
    "target": "{target}",
    "draft": "{draft}",
    "tokens": "{tokens}",
    "prompt": "{prompt_ids}",
    "target.log()": "{target_logs}",
    "draft.log()": "{draft_logs}",
}


def _fields(found: Signature, way: Way, told: Told) -> dict[str, str]:
    """Return what the words and the values of `_GIVEN` are filled with."""
    heat, listed = told.temperature, LISTED.match

    def in_numpy(value: str) -> str:
        return f"{value}.numpy()" if way.numpy else value

    def laid(rows: str, kind: Taken = "draft") -> str:
        if found.single:
            return "token" if kind == "tokens" else in_numpy(f"{rows}[0]")
        if listed(found.annotation(found.name_of(kind))):
            in_rows = "list(tokens[:, None, None])" if "Tensor" in found.annotation(found.name_of(kind)) else None
            return in_rows or "tokens.tolist()" if kind == "tokens" else f"[row[None] for row in {rows}]"
        return in_numpy(f"{rows}[None]" if way.batch else rows)

    rows, text = "target[:-1]" if way.cut else "target", "prompt[:, -1:]" if way.last else "prompt"
    many = "len(tokens)" if found.given_drafts and not found.single else "len(target) - 1"
    law = "target" if heat == 1 else f'at_temperature(target, "{heat}")'
    drawn = f"torch.multinomial({law}, 1)[:, 0]" if way.drawn else f"{law}.argmax(-1)"
    bonus = f"np.random.default_rng().choice(len(target[-1]), 1, p={law}[-1].numpy())"
    sampled = f"all_greedy={heat == 0}, all_random={heat != 0}, temperature=torch.tensor([{float(heat)}])"
    heats = {"heat": str(float(heat)), "sampled": str(heat != 0), "greedy": str(heat == 0)}
    heats["processor"] = "one that divides by the temperature" if heat else "None"
    heats["divided"] = f"lambda _, scores: scores / {float(heat)}" if heat else "None"
    heats["metadata"] = f"SimpleNamespace({sampled}, generators={{}}, top_k=None, top_p=None)"
    laws = {"target": laid(rows), "target_logs": laid(f"{rows}.log()", "target logs")}
    laws["draft_logs"] = laid("draft.log()", "draft logs")
    laws["kind"] = "masses of the drafted tokens" if way.masses else "distributions"
    laws["draft"] = laid("draft[range(len(tokens)), tokens]" if way.masses else "draft")
    laws["bonus"] = bonus if way.numpy else f"torch.multinomial({law}[-1], 1)"
    texts = {"answers": ANSWERS[way.form], "prompt": "the prompt's last token" if way.last else "a prompt"}
    texts["prompt_ids"] = f"{text}[0].tolist()" if way.listed else in_numpy(f"{text}[0]" if way.flat else text)
    texts["cache"] = "the target's cache of the prompt before" if way.last else ""
    texts["length"] = "a length of the whole text" if way.whole else "a length"
    texts["until"] = "len(target) + 1" + " + prompt.shape[1]" * way.whole
    row = "torch.cat([prompt[:, -1:], tokens[None]], 1)"
    tokens = {"tokens": laid("tokens", "tokens"), "many": many, "count": many, "size": "target.shape[-1]", "row": row}
    tokens |= {"drafts": "token[None]" if found.single else "tokens", "drawn": drawn}
    tokens["record"] = "token" if way.drawn else "likeliest token"
    made = generator_for(found.fn, found.name_of("generator")) if found.has("generator") else ""
    return {**heats, **laws, **texts, **tokens, "made": made}


_GIVEN: dict[Taken, tuple[str, str]] = {
    "target model": ("a model of the target that returns {answers}", "target_model"),
    "draft model": ("a model of the draft that returns {answers}", "draft_model"),
    "cache": ("{cache}", "target_model(prompt[:, :-1]).past_key_values"),
    "target": ("the target's distributions", "{target}"),
    "target logs": ("logarithms of the target's distributions", "{target_logs}"),
    "target mass": ("the target's mass of the drafted token", "target[0, token]"),
    "target records": ("a {record} of each target's distribution, with masses", "{seen}"),
    "draft": ("the draft's {kind}", "{draft}"),
    "draft logs": ("logarithms of the draft's distributions", "{draft_logs}"),
    "draft mass": ("the draft's mass of the drafted token", "draft[0, token]"),
    "draft records": ("drafted tokens with the draft's masses of them", 'records(judged, "{name}", tokens, draft)'),
    "tokens": ("the drafted tokens", "{tokens}"),
    "bonus": ("a token of the target's last distribution", "{bonus}"),
    "candidates": ("one row of candidates, the last token and the drafts", "{row}"),
    "candidate logits": ("logarithms of the target's distributions, for that row", "target.log()[None]"),
    "prompt": ("{prompt}", "{prompt_ids}"),
    "token": ("the prompt's last token", "prompt[0, -1:]"),
    "places": ("its place", "torch.tensor([prompt.shape[1] - 1])"),
    "places end": ("its place + 1", "prompt.shape[1]"),
    "lookahead": ("the drafts of a round", "{count}"),
    "cumulative": ("the drafts of a round", "torch.tensor([{many}])"),
    "length": ("{length}", "{until}"),
    "end": ("a token that there is not", "1 << 20"),
    "temperature": ("{heat}", "{heat}"),
    "sampling": ("{sampled}", "{sampled}"),
    "greedy": ("{greedy}", "{greedy}"),
    "processor": ("{processor}", "{divided}"),
    "metadata": ("how requests are sampled", "{metadata}"),
    "generator": ("{made} of each call", "{made}"),
    "key": ("a key", "GivenKey((0,))"),
    "size": ("the number of tokens", "target.shape[-1]"),
    "device": ("the processor", '"cpu"'),
    "tokenizer": ("a tokenizer whose texts are tokens", "TableTokenizer(prompt)"),
    "batch": ("one text", "1"),
    "top k": ("no limit", "0"),
    "top p": ("no limit", "1.0"),
    "counter": ("a count", "0"),
    "list": ("a list", "[]"),
    "none": ("None", "None"),
}
"""What is given by what a parameter takes, in words and as an adapter writes it."""
