"""Facts on the machine-checked theorems: their numbers, and the pages and rows of the book that name their files.

A new file of theorems gets a row here, a section on docs/theorems/formal.md, and a sentence on each page that is named.
"""

from __future__ import annotations

from typing import NamedTuple


class Fact(NamedTuple):
    """A file of theorems: `pages` of docs/theorems say what it proves, and `rows` (page, item) of the paper map do."""

    number: int
    file: str
    theorems: tuple[str, ...]
    pages: tuple[str, ...]
    rows: tuple[tuple[str, str], ...] = ()


FACTS = (
    Fact(
        1,
        "position",
        ("maximal_coupling_is_lossless", "maximal_coupling_accepts_the_overlap", "no_coupling_accepts_more"),
        ("single",),
        (("spectr", "Algorithm 1"),),
    ),
    Fact(2, "one_hot", ("one_hot_is_lossless", "sample_and_match_is_lossless"), ("one_hot", "sample_and_match")),
    Fact(
        3,
        "recursive",
        ("recursive_rejection_is_lossless", "tests_all_reject_with_the_telescoped_excess"),
        ("recursive",),
    ),
    Fact(4, "without_replacement", ("distinct_drafts_are_lossless",), ("without_replacement",)),
    Fact(
        5,
        "k_sequential",
        ("k_sequential_accepts_by_tests", "k_sequential_is_lossless"),
        ("k_sequential",),
        (("spectr", "Algorithm 2"), ("spectr", "Theorem 2")),
    ),
    Fact(6, "cut", ("no_lossless_verifier_passes_the_cut",), ("transport",)),
    Fact(7, "plan_pools", ("pool_rule_law", "pool_rule_below"), ("pooled_priority",)),
    Fact(7, "plan_mixture", ("mixture_law",), ("pooled_priority",)),
    Fact(7, "plan_selection", (), ("pooled_priority",)),
    Fact(
        7,
        "plan",
        (
            "selection_is_the_law_put_forward",
            "plan_is_lossless",
            "no_lossless_verifier_emits_a_draft_more_often",
            "sets_up_to_a_ratio_suffice",
            "plan_reaches_the_cut",
            "plan_accepts_with_the_optimum",
        ),
        ("pooled_priority",),
    ),
    Fact(8, "chain", ("chain_is_lossless",), ("chain",), (("spectr", "Algorithm 4"), ("timor", "Algorithm 5"))),
    Fact(8, "text", ("rounds_of_a_lossless_block_are_lossless",), ("chain", "block")),
    Fact(
        9,
        "tree",
        ("tree_is_lossless",),
        ("spectr", "without_replacement"),
        (("spectr", "Algorithm 3"), ("spectr", "Theorem 3")),
    ),
    Fact(10, "block", ("block_is_lossless",), ("block",)),
    Fact(
        11,
        "block_length",
        ("block_is_never_shorter", "block_emits_at_least_as_many_tokens", "block_is_longer_than_n_at_least_as_often"),
        ("block",),
    ),
    Fact(12, "selected_chain", ("selected_chain_is_lossless",), ("selected_chain",)),
    Fact(12, "highest", ("highest_is_the_highest",), ("multi_path",)),
    Fact(
        12,
        "multi_path",
        (
            "selection_of_the_highest",
            "highest_block_is_lossless",
            "by_ratio_ranks",
            "selection_of_multi_path",
            "multi_path_is_lossless",
        ),
        ("multi_path",),
    ),
    Fact(
        13,
        "shared_tokens",
        ("shared_tokens_are_lossless", "shared_tokens_accept_the_overlap", "shared_tokens_accept_at_least_the_union"),
        ("intersection",),
        (("timor", "Theorem 4.1"),),
    ),
    Fact(
        14,
        "budget",
        ("a_biased_verifier_gives_a_lossless_one", "a_unit_of_bias_buys_a_unit_of_acceptance"),
        ("budget",),
    ),
    Fact(15, "traversal", ("traversal_is_lossless",), ("traversal",)),
    Fact(15, "tree_without_replacement", ("tree_without_replacement_is_lossless",), ("without_replacement",)),
    Fact(
        16,
        "shared_noise",
        ("speculative_text_is_the_plain_text", "speculative_text_is_lossless"),
        ("shared_noise",),
        (("trees", "Daliri et al. 2024, drafter invariance"),),
    ),
)
