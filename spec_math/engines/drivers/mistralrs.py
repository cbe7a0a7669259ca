"""Driver of mistral.rs: mistralrs.py PAIR. It needs the package mistralrs alone, 0.5.0 or 0.6.0 for a draft model.

Speaks the lines of `spec_math.engines.protocol`; each lookahead gets a runner of its own.
"""

import sys
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from importlib import import_module
from importlib.metadata import version
from pathlib import Path
from typing import Any

from _lines import by_lookahead, characters_of, serve

NAMES = {"temperature", "top_k", "top_p", "min_p", "presence_penalty", "frequency_penalty", "logit_bias"}


def runner(module: Any, pair: Path, lookahead: int) -> Any:
    """Return a runner."""
    plain = partial(module.Which.Plain, arch=module.Architecture.Llama, dtype=module.ModelDType.F32)
    target, draft = (plain(model_id=str(pair / part)) for part in ("target", "draft"))
    given = {"which_draft": draft, "speculative_gamma": lookahead} if lookahead else {}
    return module.Runner(which=target, no_paged_attn=True, **given)


def answered(module: Any, own: Any, tokens_of: tuple[str, bool], asked: dict[str, Any]) -> dict[str, Any]:
    """Return the answer to one request."""
    characters, end = tokens_of
    options = dict(asked["options"])
    unknown = set(options) - NAMES
    if unknown:
        return {"refused": f"mistral.rs has no {', '.join(sorted(unknown))}"}
    if "logit_bias" in options:
        options["logit_bias"] = {int(token): float(bias) for token, bias in options["logit_bias"].items()}
    prompt = "".join(characters[token] for token in asked["prompt"])
    given = {"temperature": 1.0, **options, "max_tokens": asked["number"], "model": "pair", "prompt": prompt}
    try:
        choice = own.send_completion_request(module.CompletionRequest(**given)).choices[0]
    except BaseException as error:  # a panic of Rust is no Exception
        return {"failed": f"{type(error).__name__}: {error}"[:300]}
    ended = choice.finish_reason == "stop" and end
    tokens = [characters.index(one) for one in choice.text] + [len(characters) - 1] * ended
    return {"tokens": tokens[: asked["number"]]}  # it may emit one more than it is asked for


def main() -> None:
    """Read requests and write answers until the input ends."""
    mistralrs: Any = import_module("mistralrs")
    pair = Path(sys.argv[1])
    tokens_of = characters_of(pair)
    with ThreadPoolExecutor(8) as pool:

        def asked(own: Any, requests: list[dict[str, Any]]) -> list[dict[str, Any]]:
            return list(pool.map(partial(answered, mistralrs, own, tokens_of), requests))

        about = {"engine": "mistralrs", "version": version("mistralrs"), "seeds": False}
        serve(about, by_lookahead(partial(runner, mistralrs, pair), asked))


if __name__ == "__main__":
    main()
