"""`python -m proofs_tests.certificates.path_study`: forgeries and mutants of the checker of paths, all of them.

10,000 random changes of right certificates, of which each accepted one is confirmed by an oracle; and every change of
the checker's file, which some case must notice.
"""

from __future__ import annotations

import sys
import tempfile
from itertools import islice
from pathlib import Path

from proofs_tests.certificates import path_cases, path_certificates
from proofs_tests.certificates.checker_mutants import Mutant, survivors
from proofs_tests.certificates.forgeries import forged
from proofs_tests.certificates.path_oracle import confirms
from spec_math.certificates import check_paths

PATH = Path(check_paths.__file__)

_NUMBER = "return Fraction(text if re.fullmatch('-?[0-9]+(/[1-9][0-9]*)?', text) else -1)"
_CLAIM = "self.end, self.drafts, self.gap, self.laws = (document['end'], document['drafts'], 0, [])"
_BASE = "self.base, self.gap = (2 * (self.gap + self.unit), 0)"
_NODE = "(kind, asked, *children), law, coins = (self.nodes[place], {}, 0)"
EXPLAINED = (
    (_NUMBER, _NUMBER.replace("-1)", "-2)")),  # no mass is -2 either
    (_CLAIM, _CLAIM.replace("0, []", "-1, []")),  # a row has been read before the gap is
    (_BASE, _BASE.replace("0)", "-1)")),  # a program without a coin has the bound 0
    (_NODE, _NODE.replace("0)", "-1)")),  # a coin has a branch
)
"""Changes of the checker that leave it as it is, as (line before, line after)."""


def random_changes(number: int, seed: int = 0) -> tuple[int, list[str]]:
    """Return how many of so many random changes are accepted, and which of these the oracle does not confirm."""
    right, accepted, wrong = path_certificates.right(), 0, list[str]()
    each = -(-number // len(right))
    for place, (name, document) in enumerate(right.items()):
        for what, changed in islice(forged(document, seed + place), each):
            try:
                said = check_paths.check(changed)
            except ValueError:
                continue
            accepted += 1
            if not confirms(changed, said):
                wrong.append(f"{name}: {what}: {said}")
    return accepted, wrong


def living(every: int = 1) -> list[Mutant]:
    """Return the changes of the checker that no case notices; one in `every` is tried."""
    with tempfile.TemporaryDirectory() as folder:
        return survivors(PATH, path_cases.cases(Path(folder)), EXPLAINED, every)


def main() -> None:
    """Print the counts, and what went wrong."""
    accepted, wrong = random_changes(10_000)
    _ = sys.stdout.write(f"10,000 random changes: {accepted:,} accepted, {len(wrong)} of them not confirmed\n")
    _ = sys.stdout.write("\n".join(wrong) + "\n")
    left = living()
    _ = sys.stdout.write(f"{len(left)} changes of the checker live\n" + "\n".join(map(str, left)) + "\n")


if __name__ == "__main__":
    main()
