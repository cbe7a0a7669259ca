"""Two drafts and the linear program: the best coupling, three ways to its value, and a certificate.

python examples/two_drafts_and_the_linear_program.py [FOLDER]
"""

import sys
from pathlib import Path

import numpy as np
from matplotlib.patches import Rectangle

from spec_math import proportional_to
from spec_math.render.figure import panels, svg
from spec_math.token_level import k_sequential, optimal, recursive, transport

target, draft = proportional_to([6, 3, 2, 1]), proportional_to([1, 4, 2, 5])
drafts = {(x, y): draft[x] * draft[y] for x in range(4) for y in range(4)}

certificate = transport.solve(target, drafts)
by_program = transport.linear_program(target, drafts)
by_prefix = optimal.acceptance(target, draft, 2)
print(f"an exact flow:             {certificate.acceptance}")
print(f"HiGHS, in floats:          {by_program:.12f}")
print(f"a prefix of target/draft:  {by_prefix}")
print(
    f"K-SEQ reaches {float(k_sequential.acceptance(target, draft, 2)):.4f}, "
    f"recursive rejection {float(recursive.acceptance(target, draft, 2)):.4f}, "
    f"one draft {float(optimal.acceptance(target, draft, 1)):.4f}"
)
print(f"the subset that bounds it: {sorted(certificate.subset)}")

pairs = sorted(drafts)
matrix = np.array([[float(certificate.coupling.get((pair, token), 0)) for token in range(4)] for pair in pairs])
figure, (axes,) = panels(1, 4.2, 5.2)
image = axes.imshow(matrix, cmap="Greens", aspect="auto")
for row, pair in enumerate(pairs):
    for token in set(pair):
        axes.add_patch(Rectangle((token - 0.5, row - 0.5), 1, 1, fill=False, lw=0.6))
axes.set_xticks(range(4))
axes.set_yticks(range(len(pairs)), [str(pair) for pair in pairs])
axes.set_xlabel("emitted token; framed where it is a draft")
axes.grid(visible=False)
_ = figure.colorbar(image, label="probability")
folder = Path(sys.argv[1] if len(sys.argv) > 1 else "out/examples")
folder.mkdir(parents=True, exist_ok=True)
_ = (folder / "two_drafts_and_the_linear_program.svg").write_text(svg(figure), encoding="utf-8")

if not certificate.check(target, drafts):
    sys.exit(str(certificate.fault(target, drafts)))
if by_prefix != certificate.acceptance or abs(by_program - float(by_prefix)) > 1e-9:
    sys.exit("the three ways disagree")
print("checked: the three agree, and the certificate holds without a solver")
