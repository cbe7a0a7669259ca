"""The optimal plan against K-SEQ as k grows: what better verification of the same drafts is worth.

python examples/the_optimum_as_k_grows.py [FOLDER]
"""

import sys
from pathlib import Path

import numpy as np

from spec_math.render.figure import curves
from spec_math.token_level import k_sequential, optimal, recursive

rng = np.random.default_rng(3)
logits = 2.0 * rng.standard_normal((200, 1000))
noisy = logits + rng.standard_normal(logits.shape)
target, draft = (np.exp(x) / np.exp(x).sum(axis=-1, keepdims=True) for x in (logits, noisy))

KS = (1, 2, 4, 8, 16, 32)
lines = {
    "optimal plan": [float(np.mean(optimal.acceptance(target, draft, k))) for k in KS],
    "K-SEQ at γ*": [float(np.mean(k_sequential.acceptance(target, draft, k))) for k in KS],
    "recursive rejection": [float(np.mean(recursive.acceptance(target, draft, k))) for k in KS],
}
print("k          ", *(f"{k:7d}" for k in KS))
for name, values in lines.items():
    print(f"{name:20}", *(f"{value:7.4f}" for value in values))

picture = curves(
    {name: (KS, values) for name, values in lines.items()}, "k, drafts", "acceptance", "1,000 tokens, 200 pairs"
)
folder = Path(sys.argv[1] if len(sys.argv) > 1 else "out/examples")
folder.mkdir(parents=True, exist_ok=True)
_ = (folder / "the_optimum_as_k_grows.svg").write_text(picture, encoding="utf-8")

best, sequential, repeated = lines.values()
if any(a < b - 1e-12 for a, b in zip(best, sequential, strict=True)):
    sys.exit("K-SEQ exceeds the optimum")
if any(a < b - 1e-12 for a, b in zip(sequential, repeated, strict=True)):
    sys.exit("recursive rejection exceeds K-SEQ at γ*")
if abs(best[0] - sequential[0]) > 1e-12:
    sys.exit("with one draft they are the same coupling")
print("checked: no scheme exceeds the optimum, and with one draft all are the same")
