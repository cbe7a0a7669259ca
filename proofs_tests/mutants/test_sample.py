"""The sample of mutants: the same for one salt, fresh for another, and kept by a change of the code."""

from __future__ import annotations

import random
from pathlib import Path

from proofs_tests.mutants.__main__ import PLAIN, drawn_by_salt, named

NAMES = [f"spec_math.token_level.single.x_emit__mutmut_{number}" for number in range(2_000)]


def test_a_salt_names_one_sample_whatever_the_order() -> None:
    shuffled = random.Random(0).sample(NAMES, len(NAMES))
    assert drawn_by_salt(shuffled, 600, "1") == drawn_by_salt(NAMES, 600, "1")
    assert len(set(drawn_by_salt(NAMES, 600, "1"))) == 600


def test_another_salt_is_a_fresh_sample() -> None:
    # Two independent samples of 600 in 2,000 share 180 on average, with a standard deviation of 9.4.
    shared = set(drawn_by_salt(NAMES, 600, "1")) & set(drawn_by_salt(NAMES, 600, "2"))
    assert 180 - 75 < len(shared) < 180 + 75


def test_a_change_of_the_code_keeps_most_of_the_sample() -> None:
    """20 mutants go and 20 others come: at most 20 of the sample go, where a drawn sample would be another one."""
    before = set(drawn_by_salt(NAMES, 600, "1"))
    changed = [*NAMES[20:], *(f"spec_math.token_level.hub.x_emit__mutmut_{number}" for number in range(20))]
    assert len(before - set(drawn_by_salt(changed, 600, "1"))) <= 40
    drawn = set(random.Random(1).sample(sorted(NAMES), 600)) - set(random.Random(1).sample(sorted(changed), 600))
    assert len(drawn) > 40


def test_a_list_of_an_earlier_run_names_its_mutants(tmp_path: Path) -> None:
    listed = tmp_path / "token_level.txt"
    text = (
        "## {}: survived\n--- spec_math/token_level/single.py\n+    return 1\n## {}: survived\n## a.gone__mutmut_7: x\n"
    )
    listed.write_text(text.format(NAMES[12], NAMES[3]), encoding="utf-8")
    assert named(NAMES, listed) == [NAMES[3], NAMES[12]]


def test_what_is_compiled_or_kept_is_made_plain_to_be_changed() -> None:
    """Nothing decorated is ever mutated: a decorator that is not known here would leave its functions unjudged."""
    kinds = ["@kernel", "@inner_kernel(fastmath={'reassoc'})", "@lru_cache(64)", "@remembering(4096)", "@cache"]
    assert PLAIN.sub("", "".join(f"{kind}\ndef f(x): ...\n" for kind in kinds)) == "def f(x): ...\n" * len(kinds)
    assert PLAIN.sub("", "@kernels\n@dataclass(frozen=True)\n") == "@kernels\n@dataclass(frozen=True)\n"
