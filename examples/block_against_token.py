"""Block against token: the same drafts, verified together, keep more of them, and the text keeps its law.

python examples/block_against_token.py [FOLDER]
"""

import sys
from fractions import Fraction
from pathlib import Path

from spec_math import check_lossless_block
from spec_math.block_level import block, chain, length
from spec_math.render.figure import curves


def target(prefix):
    """After a 0 the target likes 1, and the other way round."""
    return [Fraction(1, 3), Fraction(2, 3)] if not prefix or prefix[-1] == 0 else [Fraction(2, 3), Fraction(1, 3)]


def draft(prefix):
    """The draft believes the opposite."""
    return list(reversed(target(prefix)))


LOOKAHEADS = range(1, 7)
by_token = [chain.expected(target, draft, (), lookahead) for lookahead in LOOKAHEADS]
by_block = [block.expected(target, draft, (), lookahead) for lookahead in LOOKAHEADS]
for lookahead, token, whole in zip(LOOKAHEADS, by_token, by_block, strict=True):
    print(
        f"{lookahead} drafted tokens: {float(token):.4f} emitted a call token by token, {float(whole):.4f} as a block"
    )

series = {
    "as a block": (LOOKAHEADS, [float(x) for x in by_block]),
    "token by token": (LOOKAHEADS, [float(x) for x in by_token]),
}
picture = curves(series, "drafted tokens", "emitted tokens a target call", "block efficiency")
folder = Path(sys.argv[1] if len(sys.argv) > 1 else "out/examples")
folder.mkdir(parents=True, exist_ok=True)
_ = (folder / "block_against_token.svg").write_text(picture, encoding="utf-8")


def generate(coin, prefix):
    """One verified block of three drafted tokens."""
    return block.generate(coin, target, draft, prefix, 3)


verdict = check_lossless_block(generate, target, horizon=4)
walked = length.expected(generate, ())
if not verdict or walked != by_block[2] or any(a > b for a, b in zip(by_token, by_block, strict=True)):
    sys.exit(f"{verdict}; {walked} tokens a call against {by_block[2]}")
print(f"checked: {verdict}; {walked} tokens a call, counted path by path and by the closed form")
