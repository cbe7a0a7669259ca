"""Driver of OpenVINO GenAI: openvino.py PAIR. It needs the packages openvino-genai and optimum-intel.

optimum-intel converts the pair, which takes some seconds. Speaks the lines of `spec_math.engines.protocol`; each
lookahead gets a pipeline of its own.
"""

import subprocess
import sys
import tempfile
from functools import cache, partial
from importlib import import_module
from importlib.metadata import version
from pathlib import Path
from typing import Any

from _lines import serve

MISSING = {"bad_words", "logit_bias"}
EXACT = {"INFERENCE_PRECISION_HINT": "f32", "KV_CACHE_PRECISION": "f32"}
"""By default OpenVINO computes in bfloat16 where the processor has it, and keeps keys and values in eight bits."""


def converted(pair: Path, place: Path) -> None:
    """Write both models in OpenVINO's format."""
    for part in ("target", "draft"):
        tool = [str(Path(sys.executable).parent / "optimum-cli"), "export", "openvino", "--model", str(pair / part)]
        settings = ["--task", "text-generation-with-past", "--weight-format", "fp32", str(place / part)]
        subprocess.run([*tool, *settings], check=True, stdout=2)


def pipeline(genai: Any, place: Path, lookahead: int) -> Any:
    """Return a pipeline."""
    own = genai.SchedulerConfig()
    own.max_num_batched_tokens, own.cache_size = 256, 1
    draft = {"draft_model": genai.draft_model(str(place / "draft"), "CPU", **EXACT)} if lookahead else {}
    return genai.ContinuousBatchingPipeline(str(place / "target"), own, "CPU", {**EXACT, **draft})


def config(genai: Any, asked: dict[str, Any], lookahead: int) -> Any:
    """Return the settings of one request."""
    found, options = genai.GenerationConfig(), dict(asked["options"])
    found.max_new_tokens, found.do_sample = asked["number"], options.get("temperature") != 0
    if options.get("temperature") == 0:
        del options["temperature"]
    found.top_k, found.logprobs = sys.maxsize, 1
    if asked["seed"] is not None:
        found.rng_seed = asked["seed"]
    if lookahead:
        found.num_assistant_tokens = lookahead
    for name, value in options.items():
        setattr(found, "min_new_tokens" if name == "min_tokens" else str(name), value)
    return found


def main() -> None:
    """Read requests and write answers until the input ends."""
    openvino: Any = import_module("openvino")
    genai: Any = import_module("openvino_genai")
    with tempfile.TemporaryDirectory() as folder:
        place = Path(folder)
        pipelines = cache(partial(pipeline, genai, place))
        converted(Path(sys.argv[1]), place)

        def asked(requests: list[dict[str, Any]], lookahead: int) -> list[dict[str, Any]]:
            missing = MISSING & set(requests[0]["options"])
            if missing:
                return [{"refused": f"OpenVINO GenAI has no {', '.join(sorted(missing))}"} for _ in requests]
            own = pipelines(lookahead)
            prompts = [openvino.Tensor([one["prompt"]]) for one in requests]
            try:
                found = own.generate(prompts, [config(genai, one, lookahead) for one in requests])
            except Exception as error:  # a setting that is not taken, or whatever breaks inside
                return [{"refused": f"{type(error).__name__}: {error}"[:300]} for _ in requests]
            return [{"tokens": list(one.m_generation_ids[0])} for one in found]

        serve({"engine": "openvino", "version": f"openvino-genai {version('openvino-genai')}"}, asked)


if __name__ == "__main__":
    main()
