"""Driver of transformers' `generate` with an assistant: transformers.py PAIR. It needs torch and transformers alone.

Speaks the lines of `spec_math.engines.protocol`; draws come from torch's global generator, seeded for each request.
"""

import sys
from pathlib import Path
from typing import Any

from _lines import serve

NAMES = {"temperature", "top_k", "top_p", "min_p", "repetition_penalty"}
OTHERS = {"bad_words", "min_tokens", "logit_bias"}
ORDER = ["logit_bias", "repetition_penalty", "bad_words", "min_tokens", "temperature", "top_k", "top_p", "min_p"]
"""The order in which generate applies its options."""


def settings(options: dict[str, Any], number: int) -> dict[str, Any]:
    """Return the arguments of generate for options of the protocol."""
    greedy = options.get("temperature") == 0
    given: dict[str, Any] = {"do_sample": not greedy, "max_new_tokens": number} | ({} if greedy else {"top_k": 0})
    given |= {name: options[name] for name in NAMES & set(options) if not greedy or name == "repetition_penalty"}
    if "bad_words" in options:
        given["bad_words_ids"] = options["bad_words"]
    if "min_tokens" in options:
        given["min_new_tokens"] = options["min_tokens"]
    if "logit_bias" in options:
        given["sequence_bias"] = [[[int(token)], float(bias)] for token, bias in options["logit_bias"].items()]
    return given


def answered(torch: Any, models: Any, asked: dict[str, Any], lookahead: int) -> dict[str, Any]:
    """Return the answer to one request."""
    target, draft = models
    unknown = set(asked["options"]) - NAMES - OTHERS
    if unknown:
        return {"refused": f"generate has no {', '.join(sorted(unknown))}"}
    if asked["seed"] is not None:
        torch.manual_seed(asked["seed"])
    given = settings(asked["options"], asked["number"])
    if lookahead:
        # The schedule would change the number of drafts from run to run, and a low confidence would end them.
        config = draft.generation_config
        config.num_assistant_tokens, config.num_assistant_tokens_schedule = lookahead, "constant"
        config.assistant_confidence_threshold = 0.0
        given["assistant_model"] = draft
    ids = torch.tensor([asked["prompt"]])
    mask, end = torch.ones_like(ids), target.config.eos_token_id
    try:
        found = target.generate(ids, attention_mask=mask, pad_token_id=end, **given)
    except (ValueError, NotImplementedError) as error:
        return {"refused": str(error)[:300]}
    return {"tokens": found[0, ids.shape[1] :].tolist()}


def main() -> None:
    """Read requests and write answers until the input ends."""
    import torch
    import transformers

    transformers.utils.logging.set_verbosity_error()
    torch.set_num_threads(1)  # the models are tiny
    load, folder = transformers.AutoModelForCausalLM.from_pretrained, Path(sys.argv[1])
    models = [load(folder / part, dtype=torch.float32).eval() for part in ("target", "draft")]
    about = {"engine": "transformers", "version": transformers.__version__, "batch": 1, "order": ORDER}
    serve(about, lambda requests, lookahead: [answered(torch, models, one, lookahead) for one in requests])


if __name__ == "__main__":
    main()
