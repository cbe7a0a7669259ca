"""Driver of llama.cpp's server: llama_cpp.py PAIR. It needs the packages xllamacpp, gguf and safetensors alone.

Speaks the lines of `spec_math.engines.protocol`; each lookahead gets a server of its own, of eight slots.
"""

import json
import sys
import tempfile
import urllib.error
import urllib.request
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from importlib import import_module
from importlib.metadata import version
from pathlib import Path
from typing import Any

from _gguf import write_gguf
from _lines import by_lookahead, characters_of, serve

NEUTRAL = {"temperature": 1.0, "top_k": 0, "top_p": 1.0, "min_p": 0.0, "repeat_last_n": 4096, "cache_prompt": True}
ORDER = ["penalties", "temperature", "min_p", "top_k", "top_p"]


def served(files: dict[str, str], lookahead: int) -> Any:
    """Start a server, and return it."""
    xllamacpp: Any = import_module("xllamacpp")
    asked = xllamacpp.CommonParams()
    asked.model.path, asked.n_parallel, asked.n_ctx, asked.verbosity = files["target"], 8, 4096, -1
    asked.cpuparams.n_threads, asked.warmup = 1, False
    if lookahead:
        speculative = asked.speculative
        speculative.types = [xllamacpp.common_speculative_type.COMMON_SPECULATIVE_TYPE_DRAFT_SIMPLE]
        speculative.draft.mparams.path, speculative.draft.n_max = files["draft"], lookahead
        speculative.draft.n_min, speculative.draft.p_min, speculative.draft.probabilistic = 0, 0.0, True
    return xllamacpp.Server(asked)


def answered(url: str, asked: dict[str, Any]) -> dict[str, Any]:
    """Return the answer to one request."""
    options = dict(asked["options"])
    if {"bad_words", "min_tokens"} & set(options):
        return {"refused": "llama.cpp's server has no bad_words or min_tokens"}
    options["repeat_penalty"] = options.pop("repetition_penalty", 1.0)
    if "logit_bias" in options:
        options["logit_bias"] = [[int(token), bias] for token, bias in options["logit_bias"].items()]
    body = {**NEUTRAL, **options, "samplers": ORDER, "prompt": asked["prompt"], "n_predict": asked["number"]}
    body |= {"return_tokens": True, "n_probs": 1, "seed": -1 if asked["seed"] is None else asked["seed"]}
    sent = urllib.request.Request(f"{url}/completion", json.dumps(body).encode(), {"Content-Type": "application/json"})
    try:
        with urllib.request.urlopen(sent, timeout=120) as reply:
            told = json.loads(reply.read())
    except urllib.error.HTTPError as error:
        return {"refused": error.read().decode("utf-8", "replace")[:300]}
    named = told.get("completion_probabilities") or []
    tokens = [one["id"] for one in named] or told["tokens"]
    timings = told.get("timings", {})
    counts = [timings["draft_n"], timings["draft_n_accepted"]] if "draft_n" in timings else None
    return {"tokens": tokens, "logprobs": [one["logprob"] for one in named] or None, "counts": counts}


def main() -> None:
    """Read requests and write answers until the input ends."""
    pair = Path(sys.argv[1])
    with tempfile.TemporaryDirectory() as place, ThreadPoolExecutor(8) as pool:
        files = {part: f"{place}/{part}.gguf" for part in ("target", "draft")}
        for part, file in files.items():
            write_gguf(pair / part, characters_of(pair)[0], Path(file))

        def asked(server: Any, requests: list[dict[str, Any]]) -> list[dict[str, Any]]:
            return list(pool.map(partial(answered, server.listening_address), requests))

        about = {"engine": "llama.cpp", "version": f"xllamacpp {version('xllamacpp')}", "logprobs": "raw"}
        serve(about, by_lookahead(partial(served, files), asked))


if __name__ == "__main__":
    main()
