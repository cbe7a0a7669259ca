"""How a public sampler was called, in words: what each of its parameters was given.

Source: worked out here.
"""

from __future__ import annotations

from torch_bridge.signature import Signature
from torch_bridge.told import Told
from torch_bridge.toy_models import Form
from torch_bridge.ways import Way

FORMS: dict[Form, str] = {
    "object": ".logits and .past_key_values",
    "tensor": "logits",
    "tuple": "(logits, cache)",
    "pair": "(logits, (cache, None))",
    "masses": "masses",
}


def said(found: Signature, way: Way, told: Told) -> str:
    """Return in words how a function is called, and what it is taken to return where that was told."""
    answers = FORMS[way.form]
    meaning = {
        "target model": f"a model of the target that returns {answers}",
        "draft model": f"a model of the draft that returns {answers}",
        "target": "the target's laws",
        "draft": "the draft's masses of the drafted tokens" if way.masses else "the draft's laws",
        "target mass": "the target's mass of the drafted token",
        "draft mass": "the draft's mass of the drafted token",
        "target logs": "logarithms of the target's laws",
        "draft logs": "logarithms of the draft's laws",
        "tokens": "the drafted tokens",
        "prompt": "the prompt's last token" if way.last else "a prompt",
        "token": "the prompt's last token",
        "places": "its place",
        "places end": "its place + 1",
        "bonus": "a token of the target's last law",
        "length": "a length of the whole text" if way.whole else "a length",
        "temperature": f"{float(told.temperature):g}",
        "sampling": str(told.temperature != 0),
        "greedy": str(told.temperature == 0),
        "end": "a token that there is not",
        "none": "None",
        "lookahead": "the drafts of a round",
        "cumulative": "the drafts of a round",
        "key": "a key",
        "metadata": "how requests are sampled",
        "cache": "the target's cache of the prompt before" if way.last else "",
        "processor": "None" if told.temperature == 0 else "one that divides by the temperature",
        "candidates": "one row of candidates, the last token and the drafts",
        "candidate logits": "logarithms of the target's laws, for that row",
        "draft records": "drafted tokens with the draft's masses of them",
        "target records": f"a {'token' if way.drawn else 'likeliest token'} of each target's law, with masses",
    }
    listed = "; ".join(f"{name}: {meaning[taken]}" for name, taken in found.takes if meaning[taken])
    listed += "".join(f"; {name}: {value!r}, as told" for name, value in told.values.items())
    laid = ", in a batch of one" if way.batch else ", without a batch dimension"
    laid = "" if found.models or found.has("candidates", "draft records") or found.single else laid
    laid += ", no law after all drafts" * way.cut
    laid += ", each draft fixed, as no law of it is taken" * found.fixed
    laid += f", returning {', '.join(told.returns)}, as told" if told.returns else ""
    return f"{getattr(found.fn, '__qualname__', 'the function')}({listed}){laid}"
