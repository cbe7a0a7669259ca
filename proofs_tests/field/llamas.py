"""Tiny random Llamas and tokenizers of a few words: whole engines on nothing but seeds."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pytest

pytest.importorskip("torch", reason="torch is an optional extra")
pytest.importorskip("transformers", reason="transformers is not installed: pip install 'spec_math[transformers]'")

import torch
from tokenizers import Tokenizer, models, pre_tokenizers
from transformers import LlamaConfig, LlamaForCausalLM, PreTrainedTokenizerFast

PROMPT = (0, 1)


def llama(vocabulary: int, seed: int, layers: int = 1) -> Any:
    """A Llama of random weights, its head scaled so that its laws are neither flat nor certain."""
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(seed)
        model = LlamaForCausalLM(
            LlamaConfig(
                vocab_size=vocabulary,
                hidden_size=16,
                intermediate_size=16,
                num_hidden_layers=layers,
                num_attention_heads=2,
                max_position_embeddings=32,
                bos_token_id=None,
                eos_token_id=None,
                pad_token_id=None,
            )
        ).eval()
    with torch.no_grad():
        model.lm_head.weight *= 12
    return model


class Words(PreTrainedTokenizerFast):
    """Words are tokens. A fast tokenizer's vocabulary comes in any order, another at each call; `order` holds it."""

    order: Sequence[str] | None = None

    def get_vocab(self) -> dict[str, int]:
        found = super().get_vocab()
        return {word: found[word] for word in self.order} if self.order else found


def words(text: str, order: str | None = None) -> Words:
    """The tokenizer of some words, in the order of their ids; `order` is that of get_vocab.

    What is not among them is read as the word "unknown", where that is one.
    """
    inside = Tokenizer(models.WordLevel({word: place for place, word in enumerate(text.split())}, unk_token="unknown"))
    inside.pre_tokenizer = pre_tokenizers.WhitespaceSplit()
    result = Words(tokenizer_object=inside)
    result.order = order.split() if order else None
    return result
