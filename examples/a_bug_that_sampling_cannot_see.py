"""A bug that sampling cannot see: a small number added to a division, as engines do to be safe.

python examples/a_bug_that_sampling_cannot_see.py [FOLDER]
"""

import sys
from pathlib import Path

import numpy as np
from scipy.stats import chisquare

from spec_math import check_lossless, proportional_to, residual, sample
from spec_math.render.figure import panels, svg

SAFE, DRAWS = proportional_to([1, 9999])[0], 10_000
target, draft = proportional_to([8, 5, 4, 2, 1]), proportional_to([3, 5, 2, 6, 4])


def verify(coin, tokens, target, draft):
    """As it should be, but for + 1e-4 in the division."""
    token = tokens[0]
    if coin.flip(min(1, target[token] / (draft[token] + SAFE))):
        return token
    return coin.draw(residual(target, draft))


verdict = check_lossless(verify, target, draft)
print(verdict)
distance = 0.0 if verdict else float(verdict.total_variation)

rng = np.random.default_rng(7)
drawn = [sample(lambda coin: verify(coin, (coin.draw(draft),), target, draft), rng) for _ in range(DRAWS)]
counts = np.bincount(drawn, minlength=5)
test = chisquare(counts, DRAWS * np.array(target, dtype=float))
print(f"chi-square over {DRAWS:,} draws: p = {test.pvalue:.2f}: nothing to see")
if distance:
    print(f"to see a total variation of {distance:.1e} it would need about {24 / distance**2:.0e} draws")

figure, (axes,) = panels(1, 5.8, 3.2)
noise = np.sqrt(np.array(target, dtype=float) * (1 - np.array(target, dtype=float)) / DRAWS)
axes.bar(range(5), counts / DRAWS - np.array(target, dtype=float), color="#0072B2", label=f"seen in {DRAWS:,} draws")
axes.errorbar(range(5), np.zeros(5), yerr=2 * noise, fmt="none", color="black", capsize=4, label="two standard errors")
axes.axhline(distance, color="#B00020", linestyle="--", label=f"the bug: {distance:.1e}")
axes.set_xlabel("token")
axes.set_ylabel("frequency less target")
axes.legend(fontsize=8)
folder = Path(sys.argv[1] if len(sys.argv) > 1 else "out/examples")
folder.mkdir(parents=True, exist_ok=True)
_ = (folder / "a_bug_that_sampling_cannot_see.svg").write_text(svg(figure), encoding="utf-8")

if verdict or test.pvalue < 0.01:
    sys.exit("the bug was missed by the exact judge, or sampling saw it")
print("checked: the exact law shows the bug, the sample does not")
