"""GGUF files of a pair, for llama.cpp, from its safetensors. It needs the packages gguf and safetensors alone."""

import json
from importlib import import_module
from pathlib import Path
from typing import Any

LAYER = {
    "self_attn.q_proj": "attn_q",
    "self_attn.k_proj": "attn_k",
    "self_attn.v_proj": "attn_v",
    "self_attn.o_proj": "attn_output",
    "mlp.gate_proj": "ffn_gate",
    "mlp.up_proj": "ffn_up",
    "mlp.down_proj": "ffn_down",
    "input_layernorm": "attn_norm",
    "post_attention_layernorm": "ffn_norm",
}
WHOLE = {"model.embed_tokens": "token_embd", "model.norm": "output_norm", "lm_head": "output"}


def write_gguf(folder: Path, characters: str, file: Path) -> None:
    """Write the Llama of a folder, whose tokens are single characters, to a GGUF file."""
    gguf: Any = import_module("gguf")
    load_file: Any = import_module("safetensors.numpy").load_file
    config: dict[str, Any] = json.loads((folder / "config.json").read_text(encoding="utf-8"))
    heads, width = config["num_attention_heads"], config["hidden_size"]
    out: Any = gguf.GGUFWriter(str(file), "llama")
    out.add_context_length(config["max_position_embeddings"])
    out.add_embedding_length(width)
    out.add_block_count(config["num_hidden_layers"])
    out.add_feed_forward_length(config["intermediate_size"])
    out.add_head_count(heads)
    out.add_head_count_kv(config["num_key_value_heads"])
    out.add_rope_dimension_count(width // heads)
    out.add_rope_freq_base(config["rope_parameters"]["rope_theta"])
    out.add_layer_norm_rms_eps(config["rms_norm_eps"])
    out.add_vocab_size(len(characters))
    out.add_tokenizer_model("rwkv")  # the one tokenizer without special tokens of its own
    out.add_token_list(list(characters))
    out.add_token_scores([0.0] * len(characters))
    out.add_token_types([gguf.TokenType.NORMAL] * len(characters))
    if config["eos_token_id"] is not None:
        out.add_eos_token_id(config["eos_token_id"])
    for name, masses in load_file(folder / "model.safetensors").items():
        stem = name.removesuffix(".weight")
        if stem in WHOLE:
            told = WHOLE[stem]
        else:
            _, _, layer, part = stem.split(".", 3)
            told = f"blk.{layer}.{LAYER[part]}"
            if part in ("self_attn.q_proj", "self_attn.k_proj"):  # its rotations pair neighbours, not halves
                shape = masses.shape
                masses = masses.reshape(heads, 2, shape[0] // heads // 2, shape[1]).swapaxes(1, 2).reshape(shape)
        out.add_tensor(f"{told}.weight", masses)
    out.write_header_to_file()
    out.write_kv_data_to_file()
    out.write_tensors_to_file()
    _ = out.close()
