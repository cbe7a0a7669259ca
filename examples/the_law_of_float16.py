"""The exact law of a step in float16, bfloat16 and float32, without one random number. Needs torch.

python examples/the_law_of_float16.py [FOLDER]
"""

import sys
from pathlib import Path

import torch

from spec_math import proportional_to
from spec_math.render.figure import panels, svg
from torch_bridge import float_step

target, draft = proportional_to([31, 17, 13, 11, 7, 5, 3, 1]), proportional_to([5, 11, 3, 17, 1, 31, 7, 13])
TYPES = {"float32": torch.float32, "float16": torch.float16, "bfloat16": torch.bfloat16}
errors = {name: float_step(target, draft, dtype) for name, dtype in TYPES.items()}
for name, error in errors.items():
    print(f"{name:9} total variation {error.ideal:.3e} by ideal coins, {error.own_grid:.3e} by its own uniforms")

figure, (axes,) = panels(1, 5.4, 3.2)
axes.bar(
    [x - 0.2 for x in range(3)], [error.ideal for error in errors.values()], 0.4, label="ideal coins", color="#0072B2"
)
axes.bar(
    [x + 0.2 for x in range(3)],
    [error.own_grid for error in errors.values()],
    0.4,
    label="its own uniforms",
    color="#E69F00",
)
axes.set_xticks(range(3), list(errors))
axes.set_yscale("log")
axes.set_ylabel("total variation from the target")
axes.legend(fontsize=8)
folder = Path(sys.argv[1] if len(sys.argv) > 1 else "out/examples")
folder.mkdir(parents=True, exist_ok=True)
_ = (folder / "the_law_of_float16.svg").write_text(svg(figure), encoding="utf-8")

# The eight masses of each law and the arithmetic on them are off by a few unit roundoffs each, 2^-24, 2^-11, 2^-8.
roundoff = {"float32": 2.0**-24, "float16": 2.0**-11, "bfloat16": 2.0**-8}
if any(not 0 < errors[name].ideal < 8 * unit for name, unit in roundoff.items()):
    sys.exit(f"an error is not of the size of its type: {errors}")
print("checked: each error is of the size of its type's unit roundoff")
