"""Nothing that a user calls is lost: every command with its options, and every public name."""

from __future__ import annotations

import re
from importlib import import_module
from importlib.util import find_spec

import pytest
from typer.testing import CliRunner

from spec_math.cli import COMMANDS, app

OPTIONS = {
    "advise": "--costs --documents --draft --filter --k --logits --lookahead --method --nodes --out --samples --seed "
    "--target --temperature --text --text-of --tokens",
    "audit": "--adapter --alpha --budget --draft --grid --horizon --k --lookahead --numbers --out --pytest --replace "
    "--returns --roles --samples --set --shape --source --stub --suspects --target --temperature "
    "--total-variation MODULE",
    "blocks": "--draft --k --lookahead --method --out --prefix --samples --seed --target",
    "certify": "--draft --draft-law --drafts --k --out --target --weights",
    "check": "--draft --draft-law --drafts --k --out --target --weights",
    "compare": "--draft --filter --k --logits --out --positions --scheme --seed --sweep --target",
    "engine": "--alpha --baseline-url --batch --draft --kind --lookahead --matrix --number --option --out --pair "
    "--samples --seed --target --url ENGINE",
    "explain": "--blocks --draft --k --lookahead --names --out --prefix --scheme --seed --target",
    "frontier": "--batch --costs --draft --draft-temperature --nodes --out --samples --seed --target --temperature",
    "generate": "--draft --k --lookahead --method --out --prefix --seed --target --tokens",
    "lossy": "--bias --draft --k --length --logits --out --positions --rule --target",
    "overlap": "--out --text",
    "prove": "--jobs --k --limit --list --out --quick --scheme --seed --tokens",
    "psi": "--draft --lookahead --out --shortest --target-vocabulary --text --vocabulary TOKEN",
    "record": "--costs --draft --keep --nodes --out --samples --seed --target --temperature --text",
    "report": "--draft --draft-model --k --logits --out --positions --seed --target --target-model --trace",
    "trace": "--alpha --bug --out --scheduler --tolerance --workers",
    "vectors": "--out --seed",
    "vocabularies": "--draft --draft-cost --logits --lookahead --out --positions --prefix --seed --target",
}
"""Options and arguments of each command."""

NAMES = {
    "spec_math": "exact proportional_to overlap residual total_variation law sample replay check_lossless "
    "check_lossless_block SCHEMES Lossless Lossy Undecided",
    "spec_math.token_level.single": "verify acceptance",
    "spec_math.token_level.k_sequential": "gamma_star verify draw acceptance test_acceptance",
    "spec_math.token_level.recursive": "draw verify acceptance",
    "spec_math.token_level.without_replacement": "draw verify acceptance",
    "spec_math.token_level.greedy": "draw verify acceptance test_acceptance",
    "spec_math.token_level.hub": "draw verify acceptance",
    "spec_math.token_level.optimal": "acceptance acceptance_without_replacement acceptance_of plan "
    "plan_without_replacement verify",
    "spec_math.token_level.transport": "solve linear_program Certificate",
    "spec_math.token_level.bounds": "theorem_1",
    "spec_math.block_level": "emitted_law",
    "spec_math.block_level.chain": "generate expected",
    "spec_math.block_level.block": "generate expected",
    "spec_math.block_level.spectr": "generate",
    "spec_math.block_level.without_replacement": "generate",
    "spec_math.block_level.traversal": "generate",
    "spec_math.block_level.multi_path": "generate",
    "spec_math.block_level.chain_priorities": "generate",
    "spec_math.block_level.length": "law expected",
    "spec_math.language": "Vocabulary GreedyTokenizer TokenizedModel",
    "spec_math.drafting.union": "acceptance",
    "spec_math.drafting.intersection": "acceptance",
    "spec_math.string_level.psi": "psi",
    "spec_math.string_level.segmentation": "count list forward_passes",
    "spec_math.string_level.exact_match": "acceptance generate",
    "spec_math.string_level.rejection": "acceptance generate",
    "spec_math.string_level.timing": "generate align",
    "spec_math.audit": "identity_test ZOO sample_size explore check_sampler",
    "spec_math.lossy.budget": "acceptance acceptance_of",
    "spec_math.testing": "assert_lossless assert_lossless_block assert_same_law assert_same_tokens",
    "torch_bridge": "explore verify_token verify_block verify_drafts verify_tree columns check_sampler",
}
"""Names that are imported from outside, by the module that they are imported from."""


def options() -> dict[str, set[str]]:
    """The options and arguments that the help of every command shows."""
    found: dict[str, set[str]] = {}
    for name in COMMANDS:
        said = CliRunner().invoke(app, [name, "--help"], env={"COLUMNS": "200", "NO_COLOR": "1"}).output
        found[name] = set(re.findall(r"^│ *\*? +(--[\w-]+|[A-Z][A-Z_]+\b)", said, re.MULTILINE))
    return found


def lost(wanted: dict[str, str], found: dict[str, set[str]]) -> dict[str, set[str]]:
    """What is wanted and not there."""
    gone = {name: set(words.split()) - found.get(name, set()) for name, words in wanted.items()}
    return {name: words for name, words in gone.items() if words}


def test_every_command_has_its_options() -> None:
    assert lost(OPTIONS, options()) == {}


@pytest.mark.parametrize("module", NAMES)
def test_every_public_name_is_there(module: str) -> None:
    if module == "torch_bridge" and not find_spec("torch"):
        pytest.skip("torch is an optional extra")
    holder = import_module(module)
    assert [name for name in NAMES[module].split() if not hasattr(holder, name)] == []


def test_what_is_lost_is_named() -> None:
    """The control."""
    assert lost({"compare": "--out --gone", "no-such": "x"}, options()) == {"compare": {"--gone"}, "no-such": {"x"}}
