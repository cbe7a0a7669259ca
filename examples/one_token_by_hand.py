"""One token by hand: draft, test, residual, and the law that comes out, as fractions and as a picture.

python examples/one_token_by_hand.py [FOLDER]
"""

import sys
from fractions import Fraction
from pathlib import Path

from spec_math import law, overlap, proportional_to, residual
from spec_math.render.figure import panels, svg

target, draft = proportional_to([5, 3, 2]), proportional_to([2, 6, 2])


def verify(coin):
    """Draw from the draft, keep it with chance min(1, target/draft), else draw from the residual."""
    token = coin.draw(draft)
    if coin.flip(min(1, target[token] / draft[token])):
        return token, "kept"
    return coin.draw(residual(target, draft)), "corrected"


found = law(verify)
print("target   ", *target)
print("draft    ", *draft)
print("residual ", *residual(target, draft))
for (token, how), mass in sorted(found.items()):
    print(f"token {token} is emitted, {how:9}  with probability {mass}")

kept = [found.get((token, "kept"), Fraction(0)) for token in range(3)]
corrected = [found.get((token, "corrected"), Fraction(0)) for token in range(3)]
figure, (axes,) = panels(1, 5.4, 3.2)
axes.bar(range(3), [float(mass) for mass in kept], label="kept: min(target, draft)", color="#009E73")
axes.bar(
    range(3),
    [float(mass) for mass in corrected],
    [0.6] * 3,
    [float(mass) for mass in kept],
    color="#E69F00",
    label="corrected",
)
axes.step(
    [-0.5, 0.5, 1.5, 2.5], [float(mass) for mass in [*target, target[-1]]], where="post", color="black", label="target"
)
axes.set_xticks(range(3))
axes.set_xlabel("token")
axes.set_ylabel("probability")
axes.legend(fontsize=8)
folder = Path(sys.argv[1] if len(sys.argv) > 1 else "out/examples")
folder.mkdir(parents=True, exist_ok=True)
_ = (folder / "one_token_by_hand.svg").write_text(svg(figure), encoding="utf-8")

if [a + b for a, b in zip(kept, corrected, strict=True)] != target.tolist():
    sys.exit("the emitted law is not the target's")
if sum(kept) != overlap(target, draft):
    sys.exit("the acceptance is not the overlap")
print(f"checked: the emitted law is the target's, and {sum(kept)} of the drafts are kept, which is the overlap")
