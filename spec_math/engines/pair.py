"""Pairs of tiny random models, target and draft, whose exact distributions are known; a token is one character.

A pair is of tables (NumPy alone; for the stub engine) or of Llamas (for engines that load safetensors and a tokenizer).
"""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np

from spec_math.arrays import Array, count
from spec_math.engines.exact import Model, Table, model_of, quietly, torch_and_transformers
from spec_math.files.whole import write_whole

TOKENS = "abcdefghijklmnopqrstuvwxyz01234."
"""The characters of a pair; the last one that it has is its end token."""

KINDS = ("tables", "llama")
SHAPES = {"plain": 1.3, "sharp": 3.0, "flat": 0.5, "tied": 1.3}
"""The shapes of a target's distributions, with the standard deviation of its logits, in nats."""

DRAFTS = ("near", "far", "equal", "disjoint")
END = 0.5
"""The bias on the logit of the end token, in nats: about one token of twenty ends a text."""

APART = 40.0
"""The bias, in nats, that keeps the tokens of a disjoint pair apart: e^-40 is never drawn."""


@dataclass(frozen=True)
class PairShape:
    """The description that a pair is made of: the same one gives the same weights.

    `size` is the number of tokens V, 4 to 32; `target` one of `SHAPES`; `draft` one of `DRAFTS`: "near" is the target
    with some noise, "far" another model, "disjoint" has none of the target's tokens.

    Raises:
        ValueError: a name is unknown, or a number is out of range.

    >>> PairShape(target="steep")
    Traceback (most recent call last):
    ValueError: target is one of plain, sharp, flat, tied; got 'steep'
    """

    kind: str = "tables"
    target: str = "plain"
    draft: str = "near"
    size: int = 32
    end: bool = True
    seed: int = 0

    def __post_init__(self) -> None:
        for name, among in (("kind", KINDS), ("target", tuple(SHAPES)), ("draft", DRAFTS)):
            if (value := getattr(self, name)) not in among:
                raise ValueError(f"{name} is one of {', '.join(among)}; got {value!r}")
        if not 4 <= count(self.size, "size") <= len(TOKENS):
            raise ValueError(f"a pair has 4 to {len(TOKENS)} tokens; got {self.size}")

    @property
    def characters(self) -> str:
        """The characters that are its tokens, in the order of their indices; the last is "."."""
        return TOKENS[: self.size - 1] + TOKENS[-1]


@dataclass(frozen=True)
class Pair:
    """A target and a draft over the same single-character tokens, and the folder that holds them, if any.

    Made by `read` and `tables`.
    """

    shape: PairShape
    target: Model
    draft: Model
    folder: Path | None = None


def tables(shape: PairShape) -> Pair:
    """Return a pair of tables in memory; a disjoint one has even tokens in the target and odd ones in the draft.

    >>> pair = tables(PairShape(size=4, draft="equal"))
    >>> pair.target.row((0, 1)).tolist() == pair.draft.row((0, 1)).tolist()
    True
    """
    return Pair(shape, _table(shape, "target"), _table(shape, "draft"))


def _table(shape: PairShape, part: str) -> Table:
    def normal(number: int) -> Array:
        return np.random.default_rng([shape.seed, number]).standard_normal((2, shape.size + 1, shape.size))

    far, pairs = part == "draft" and shape.draft == "far", 2 * (shape.size // 2)
    both = normal(3 if far else 1) * SHAPES[shape.target] / np.sqrt(2)
    if shape.target == "tied" and not far:
        both[..., 1:pairs:2] = both[..., :pairs:2]
    if part == "draft" and shape.draft == "near":
        both = both + normal(2) * 0.6
    return Table(both[0] + _bias(shape, part), both[1], shape.size - 1 if shape.end else None)


def _bias(shape: PairShape, part: str) -> Array:
    """Return what a model's logits [V] have on top: of the end token, and of tokens that a disjoint pair leaves out."""
    bias = np.zeros(shape.size)
    if shape.end:
        bias[-1] = END
    if shape.draft == "disjoint":
        left_out = np.arange(shape.size) % 2 == (1 if part == "target" else 0)
        bias[left_out] -= APART
    return bias


def write(shape: PairShape, folder: Path) -> Pair:
    """Write a pair to folder/target and folder/draft, with a tokenizer of single characters, and read it back.

    Raises:
        ValueError: torch or transformers is missing where Llamas are asked for.
        OSError: the folder cannot be written.

    >>> from tempfile import TemporaryDirectory
    >>> with TemporaryDirectory() as folder:
    ...     pair = write(PairShape(size=5), Path(folder))
    ...     sorted(path.name for path in (Path(folder) / "target").iterdir())
    ['config.json', 'model.safetensors']
    >>> pair.shape.characters
    'abcd.'
    """
    folder.mkdir(parents=True, exist_ok=True)
    for part in ("target", "draft"):
        (folder / part).mkdir(exist_ok=True)
        if shape.kind == "llama":
            _write_llama(shape, part, folder / part)
        else:
            _write_table(_table(shape, part), folder / part)
    _ = write_whole(folder / "pair.json", json.dumps(asdict(shape), indent=1) + "\n")
    return read(folder)


def _write_table(table: Table, folder: Path) -> None:
    from safetensors.numpy import save_file

    save_file({"first": table.first, "second": table.second}, folder / "model.safetensors")
    config = {"model_type": "spec_math_tables", "vocab_size": table.size, "eos_token_id": table.end}
    _ = write_whole(folder / "config.json", json.dumps(config) + "\n")


def read(folder: Path) -> Pair:
    """Read a pair that was written.

    Raises:
        ValueError: the folder holds no pair, or its weights are not those of its description.
    """
    described = folder / "pair.json"
    if not described.is_file():
        raise ValueError(f"{folder} holds no pair of models; write one: spec-math engine pair --out {folder}")
    shape = PairShape(**json.loads(described.read_text(encoding="utf-8")))
    target, draft = (model_of(folder / part) for part in ("target", "draft"))
    if not target.size == draft.size == shape.size:
        raise ValueError(
            f"{folder}: the models have {target.size} and {draft.size} tokens; pair.json says {shape.size}"
        )
    return Pair(shape, target, draft, folder)


WIDTH, HEADS, LAYERS = 64, 2, 2
"""Sizes of a Llama: heads of 32 numbers, which engines' attention kernels support."""

CONSTANT = 4.0
"""The first number of each embedding. No layer changes it, so that the first column of the head is a bias."""


def _write_llama(shape: PairShape, part: str, folder: Path) -> None:
    torch, transformers = torch_and_transformers()
    near, equal = shape.draft == "near", shape.draft in ("equal", "disjoint")
    other = part == "draft" and not (near or equal)
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(2 * shape.seed + other)
        model: Any = transformers.LlamaForCausalLM(_config(transformers, shape)).eval()
        with torch.no_grad():
            _shaped(torch, model, shape, part)
            if part == "draft" and near:
                torch.manual_seed(2 * shape.seed + 1)
                noise = torch.randn(shape.size, WIDTH) * model.lm_head.weight[:, 1:].std() * 0.6
                noise[:, 0] = 0
                model.lm_head.weight += noise
    with quietly(transformers):
        model.save_pretrained(folder)
        _tokenizer(transformers, shape).save_pretrained(folder)
    # Older engines read these names, and ask for a first token that nothing here begins with.
    llama: dict[str, Any] = {"rope_theta": 10_000.0, "torch_dtype": "float32"}
    for name, more in (("config.json", llama), ("generation_config.json", {"bos_token_id": 0})):
        path = folder / name
        held = json.loads(path.read_text(encoding="utf-8"))
        _ = write_whole(path, json.dumps({**held, **more}, indent=1) + "\n")


def _config(transformers: Any, shape: PairShape) -> Any:
    sizes = {"vocab_size": shape.size, "hidden_size": WIDTH, "intermediate_size": WIDTH, "max_position_embeddings": 512}
    heads = {"num_hidden_layers": LAYERS, "num_attention_heads": HEADS, "num_key_value_heads": HEADS}
    ends = {"bos_token_id": None, "eos_token_id": shape.size - 1 if shape.end else None, "pad_token_id": None}
    return transformers.LlamaConfig(**sizes, **heads, **ends, tie_word_embeddings=False, dtype="float32")


def _shaped(torch: Any, model: Any, shape: PairShape, part: str) -> None:
    """Give a model its constant, and scale its head so that logits have the standard deviation of the shape."""
    inside = model.model
    inside.embed_tokens.weight.normal_()
    inside.embed_tokens.weight[:, 0] = CONSTANT
    for layer in inside.layers:
        for out in (layer.self_attn.o_proj.weight, layer.mlp.down_proj.weight):
            out *= 10
            out[0] = 0
    texts = torch.randint(shape.size, (32, 16))
    hidden = inside(texts).last_hidden_state
    head = model.lm_head.weight
    if shape.target == "tied":
        head[1::2] = head[: 2 * (shape.size // 2) : 2]
    head[:, 0] = 0
    head *= SHAPES[shape.target] / (hidden @ head.T).std()
    # Normalised by the size of the state, the constant varies a little from text to text: a bias by its mean.
    head[:, 0] = torch.tensor(_bias(shape, part)) / hidden[..., 0].mean()


def _tokenizer(transformers: Any, shape: PairShape) -> Any:
    from tokenizers import Regex, Tokenizer, decoders, models, pre_tokenizers

    characters = shape.characters
    inside = Tokenizer(models.WordLevel({one: place for place, one in enumerate(characters)}, unk_token="a"))
    inside.pre_tokenizer = pre_tokenizers.Split(Regex("."), "isolated")
    inside.decoder = decoders.ByteLevel()  # the one that every engine knows; ASCII is itself in it
    ends = {"eos_token": characters[-1]} if shape.end else {}
    return transformers.PreTrainedTokenizerFast(tokenizer_object=inside, clean_up_tokenization_spaces=False, **ends)
