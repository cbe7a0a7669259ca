"""Draw tokens from openvino-genai's speculative decoding, one a line, for `spec-math audit --samples`.

    python examples/openvino_draws.py tokens.txt
    spec-math audit --samples tokens.txt --target 1/4,3/4

It imports nothing of ours, so that it runs in an environment of its own: `pip install openvino-genai`. Target and draft
are models of one layer, whose attention is multiplied by zeros and whose next token has the same law after every text,
up to the rounding of float32. A text has three tokens and a seed of its own, and one token is drafted a step. The
second token of each is written: the first comes before any draft, and the last has none. Prefix caching is off: with
it, as is the default where no scheduler is configured, version 2026.4.1.0 raises an error of its own at text 4.
"""

from __future__ import annotations

import argparse
import sys
from fractions import Fraction
from importlib import import_module
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np

try:
    ov: Any = import_module("openvino")
    op: Any = import_module("openvino.opset13")
    genai: Any = import_module("openvino_genai")
except ImportError as error:
    sys.stderr.write(f"openvino-genai is needed, and was not found ({error}): pip install openvino-genai\n")
    sys.exit(2)

WIDTH = 16
"""The size of the only head: what continuous batching accepts on a processor."""
END = 1_000_000
"""The token that ends a text: none of the vocabulary."""


def read_law(text: str) -> list[float]:
    """Return the masses of a law written as 1/4,3/4."""
    try:
        law = [Fraction(mass) for mass in text.split(",")]
    except (ValueError, ZeroDivisionError) as error:
        raise argparse.ArgumentTypeError(f"{text} is not a list of masses, as 1/4,3/4 is") from error
    if len(law) < 2 or min(law) <= 0:
        raise argparse.ArgumentTypeError(f"{text} is not a list of two or more masses that are all positive")
    if sum(law) != 1:
        raise argparse.ArgumentTypeError(f"{text}: the masses sum to {sum(law)}, and not to 1")
    return [float(mass) for mass in law]


def whole(value: Any) -> Any:
    """Return a constant of whole numbers."""
    return op.constant(np.array(value, np.int64))


def real(value: Any) -> Any:
    """Return a constant of float32."""
    return op.constant(np.array(value, np.float32))


def parameter(shape: list[int], kind: Any, name: str) -> Any:
    """Return an input that is found by its name, whichever of its two names is asked for."""
    node = op.parameter(shape, kind, name)
    node.set_friendly_name(name)
    node.output(0).set_names({name})
    return node


def result(node: Any, name: str) -> Any:
    """Return an output that is found by its name."""
    node.output(0).set_names({name})
    return op.result(node)


def write_model(law: list[float], folder: Path) -> None:
    """Write a model whose next token has this law after every text, with a cache as continuous batching asks for."""
    ids, mask = (parameter([-1, -1], np.int64, name) for name in ("input_ids", "attention_mask"))
    beams = parameter([-1], np.int32, "beam_idx")
    hidden = op.gather(real(np.ones((len(law), WIDTH))), ids, whole(0))

    def head() -> Any:
        projected = op.matmul(hidden, real(np.eye(WIDTH)), transpose_a=False, transpose_b=True)
        return op.transpose(op.reshape(projected, whole([0, 0, 1, WIDTH]), special_zero=True), whole([0, 2, 1, 3]))

    batch = op.gather(op.shape_of(ids), whole([0]), whole(0))
    empty = op.broadcast(real(0), op.concat([batch, whole([1, 0, WIDTH])], axis=0))
    cached, kept = [], []
    for name in ("key", "value"):
        state = f"past_key_values.0.{name}present.0.{name}"
        past = op.read_value(empty, state, ov.Type.f32, ov.PartialShape([-1, 1, -1, WIDTH]))
        cached.append(op.concat([op.gather(past, beams, whole(0)), head()], axis=2))
        kept.append(op.assign(cached[-1], state))
    seen = op.convert(op.unsqueeze(mask, whole([1, 2])), "boolean")
    attention = op.transpose(op.scaled_dot_product_attention(head(), *cached, seen), whole([0, 2, 1, 3]))
    flat = op.reshape(attention, whole([0, 0, WIDTH]), special_zero=True)
    nothing = op.matmul(flat, real(np.zeros((len(law), WIDTH))), transpose_a=False, transpose_b=True)
    logits = result(op.add(nothing, real(np.log(law)[None, None])), "logits")
    model = ov.Model([logits], kept, [ids, mask, beams], "one law")
    ov.save_model(model, folder / "openvino_model.xml", compress_to_fp16=False)


def write_tokenizer(folder: Path) -> None:
    """Write a tokenizer that makes one token 0 of every text: the pipeline asks for one, and is given tokens."""
    texts = parameter([-1], ov.Type.string, "texts")
    shape = op.concat([op.shape_of(texts), whole([1])], axis=0)
    outputs = (("input_ids", 0), ("attention_mask", 1))
    results = [result(op.broadcast(whole(fill), shape), name) for name, fill in outputs]
    ov.save_model(ov.Model(results, [texts], "tokenizer"), folder / "openvino_tokenizer.xml")


def scheduler() -> Any:
    """Return how a pipeline keeps its cache: one text at a time, and none kept for the next."""
    config = genai.SchedulerConfig()
    config.enable_prefix_caching, config.max_num_seqs, config.cache_size = False, 1, 1
    return config


def second_tokens(target: list[float], draft: list[float] | None, draws: int) -> list[int]:
    """Return the second token of as many texts, with the seeds 1, 2, …; without a draft where that is None."""
    with TemporaryDirectory() as place:
        folders = [Path(place, "target"), Path(place, "draft")]
        for folder, law in zip(folders, (target, draft or target), strict=True):
            folder.mkdir()
            write_model(law, folder)
            write_tokenizer(folder)
        options: dict[str, Any] = {"scheduler_config": scheduler()}
        if draft is not None:
            options["draft_model"] = genai.draft_model(str(folders[1]), "CPU", scheduler_config=scheduler())
        pipeline = genai.LLMPipeline(str(folders[0]), "CPU", **options)
        config = genai.GenerationConfig(max_new_tokens=3, do_sample=True, temperature=1.0, top_p=1.0, ignore_eos=True)
        config.eos_token_id, config.stop_token_ids = END, {END}
        if draft is not None:
            config.num_assistant_tokens = 1
        ids, mask = (ov.Tensor(np.array([[value]], np.int64)) for value in (0, 1))
        tokens: list[int] = []
        for seed in range(1, draws + 1):
            config.rng_seed = seed
            tokens.append(int(pipeline.generate(genai.TokenizedInputs(ids, mask), config).tokens[0][1]))
        del pipeline  # it holds the folder's files
        return tokens


def main() -> None:
    """Write the tokens, and say what was drawn."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("file", type=Path, help="where the tokens are written, one a line")
    parser.add_argument("--draws", type=int, default=2_000, help="how many texts; 2,000 without")
    parser.add_argument("--target", type=read_law, default="1/4,3/4", help="the target's law; 1/4,3/4 without")
    parser.add_argument("--draft", type=read_law, default="3/4,1/4", help="the draft's law; 3/4,1/4 without")
    parser.add_argument("--alone", action="store_true", help="without a draft model: the control")
    asked = parser.parse_args()
    if asked.draws < 1:
        parser.error(f"--draws must be a positive integer, not {asked.draws}")
    if len(asked.draft) != len(asked.target):
        parser.error(
            f"the target has {len(asked.target)} tokens and the draft {len(asked.draft)}: they must have as many"
        )
    if asked.file.is_dir() or not asked.file.absolute().parent.is_dir():
        parser.error(f"{asked.file} must be the name of a file in a folder that exists")
    tokens = second_tokens(asked.target, None if asked.alone else asked.draft, asked.draws)
    asked.file.write_text("".join(f"{token}\n" for token in tokens), encoding="utf-8")
    counts = ", ".join(f"{token} in {tokens.count(token):,}" for token in range(len(asked.target)))
    print(f"openvino-genai {genai.get_version()}: of {asked.draws:,} second tokens {counts}")


if __name__ == "__main__":
    main()
