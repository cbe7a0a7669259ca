"""Check a certificate of an optimum with nothing of ours: python examples/check_a_certificate.py certificate.json"""

import json
import sys
from fractions import Fraction
from pathlib import Path

data = json.loads(Path(sys.argv[1]).read_text(encoding="utf-8"))
target, claim, subset = [Fraction(mass) for mass in data["target"]], Fraction(data["acceptance"]), set(data["subset"])
drafts = {tuple(tokens): Fraction(mass) for tokens, mass in data["draft_law"]}
cells = [(tuple(tokens), token, Fraction(mass)) for tokens, token, mass in data["coupling"]]
inside = sum(mass for tokens, mass in drafts.items() if subset.issuperset(tokens))
holds = (
    sum(target) == 1 and len(drafts) == len(data["draft_law"]) and all(mass >= 0 for _, _, mass in cells)
    and set(range(len(target))) >= subset.union(*drafts, (token for _, token, _ in cells))
    and drafts.keys() >= {tokens for tokens, _, _ in cells}
    and all(mass == sum(m for x, _, m in cells if x == tokens) for tokens, mass in drafts.items())
    and all(mass == sum(m for _, y, m in cells if y == token) for token, mass in enumerate(target))
    and claim == sum(m for x, y, m in cells if y in x) == 1 - inside + sum(target[token] for token in subset)
)  # fmt: skip
print(f"checked: no verifier of these drafts keeps one more often than {claim}" if holds else "rejected")
sys.exit(not holds)
