"""transformers, sampling with an assistant of another vocabulary (TLI): what it emits is not the model's law.

Two Llamas of one layer and random weights; the target knows the words a and b, the assistant x, a and b. generate is
run down every path of its random numbers, so that the laws below are exact, and nothing is downloaded.

The translator prunes the assistant's head to the shared words in the order in which get_vocab() of the assistant's
tokenizer lists them, but writes the drafts' probabilities to ids in ascending order. Fast tokenizers list their words
in an order of chance, another at each call. Where the two orders differ, a draft is sampled from one law and verified
against another.
"""

from __future__ import annotations

import sys
from typing import Any

import torch

from spec_math.field.engine_law import judged, total_variation
from spec_math.field.engines.transformers import Rows, check_drafts, generate_law
from spec_math.field.installed import edited, missing

if reason := missing("transformers"):
    print(f"skipped: {reason}")
    sys.exit()

from tokenizers import Tokenizer, models, pre_tokenizers
from transformers import LlamaConfig, LlamaForCausalLM, PreTrainedTokenizerFast
from transformers.generation import candidate_generator
from transformers.utils import logging

PROMPT = [0, 1]
TOKENS = 2
ROUNDING = 1e-5
"""More than float32 costs over two tokens, and far less than what is found."""


def llama(words: int, seed: int) -> Any:
    """Return a tiny Llama of random weights."""
    torch.manual_seed(seed)
    sizes = {"hidden_size": 16, "intermediate_size": 16, "num_hidden_layers": 1, "num_attention_heads": 2}
    ends = {"bos_token_id": None, "eos_token_id": None, "pad_token_id": None}
    model = LlamaForCausalLM(LlamaConfig(vocab_size=words, **sizes, **ends)).eval()
    with torch.no_grad():
        model.lm_head.weight *= 12  # as made, the law is nearly flat
    return model


class InOrder(PreTrainedTokenizerFast):
    """A fast tokenizer whose get_vocab() keeps to one order, where the shipped one leaves it to chance."""

    order: tuple[str, ...] = ()

    def get_vocab(self) -> dict[str, int]:
        """Return the ids of the words, listed in the order set."""
        ids = super().get_vocab()
        return {word: ids[word] for word in self.order or ids}


def tokenizer(*words: str, order: tuple[str, ...] = ()) -> Any:
    """Return a tokenizer of words, each a token, that lists them in an order."""
    inside = Tokenizer(models.WordLevel({word: place for place, word in enumerate(words)}))
    inside.pre_tokenizer = pre_tokenizers.WhitespaceSplit()
    result = InOrder(tokenizer_object=inside)
    result.order = order
    return result


def main() -> None:
    """Print the exact law of two tokens, as shipped and cured, against the target's."""
    logging.set_verbosity_error()
    target, assistant = llama(2, seed=0), llama(3, seed=1)
    listed = {tuple(tokenizer("x", "a", "b").get_vocab()) for _ in range(100)}
    print(f"get_vocab() of a fast tokenizer of 3 words, 100 times: {len(listed)} different orders")

    def how(*order: str) -> dict[str, Any]:
        return {
            "assistant_model": assistant,
            "tokenizer": tokenizer("a", "b"),
            "assistant_tokenizer": tokenizer("x", "a", "b", order=order),
        }

    ascending = generate_law(target, PROMPT, TOKENS, **how("x", "a", "b"))
    other = generate_law(target, PROMPT, TOKENS, **how("x", "b", "a"))
    cure = edited(
        candidate_generator.AssistantToTargetTranslator,
        "list(self.target_to_assistant_input_ids.values())",
        "sorted(self.target_to_assistant_input_ids.values())",
    )
    shipped, candidate_generator.AssistantToTargetTranslator = candidate_generator.AssistantToTargetTranslator, cure
    cured = generate_law(target, PROMPT, TOKENS, **how("x", "b", "a"))
    candidate_generator.AssistantToTargetTranslator = shipped

    rows = Rows(target, PROMPT)
    wanted = {(one, two): float(rows(())[one] * rows((one,))[two]) for one in (0, 1) for two in (0, 1)}
    print(f"\n{'tokens':8}{'target':>10}{'x a b':>10}{'x b a':>10}{'sorted':>10}")
    for text in wanted:
        name = " ".join("ab"[token] for token in text)
        print(f"{name:8}" + "".join(f"{law[text]:10.6f}" for law in (wanted, ascending, other, cured)))
    print(f"{'TV':18}" + "".join(f"{total_variation(law, wanted):10.6f}" for law in (ascending, other, cured)))
    print(f"{'runs':18}" + "".join(f"{law.paths:10}" for law in (ascending, other, cured)))

    found = check_drafts(target, PROMPT, **how("x", "b", "a"))
    print(f"\nthe drafter: {found.reason if not found else 'reports what it samples'}")

    if not judged(ascending, rows, TOKENS, ROUNDING) or not judged(cured, rows, TOKENS, ROUNDING):
        sys.exit("with ids in order, or sorted, the law should be the target's: something else is wrong too")
    if judged(other, rows, TOKENS, ROUNDING):
        sys.exit("the law is the target's in either order: this version of transformers has no such bug")
    print("checked: lossless with the words listed in the order of their ids, lossy otherwise; sorted() cures it")


if __name__ == "__main__":
    main()
