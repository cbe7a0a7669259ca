"""llama.cpp's example `speculative`: its rule as it is written down in `torch_bridge.restated`."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from spec_math.arrays import asarray
from spec_math.language.model import Model
from torch_bridge.engines.engine import Defect, Edit, Engine, Options, Step, Text
from torch_bridge.engines.source import Restated


def _listed(module: Any, model: Model, options: Options) -> Any:
    def candidates(text: Text) -> Any:
        law = [float(mass) for mass in np.asarray(asarray(model(text)), dtype=np.float64)]
        return module.candidates(law, options.top_k or len(law), options.top_p or 1.0, options.temperature)

    return candidates


def _run(module: Any, step: Step) -> Sequence[int]:
    target, draft = (_listed(module, model, step.options) for model in (step.target, step.draft))
    drafts: list[int] = []
    for _ in range(step.lookahead):
        drafts.append(module.draft_token(draft((*step.text, *drafts))))
    texts = [(*step.text, *drafts[:n]) for n in range(len(drafts) + 1)]
    rows = [target(text) for text in texts]
    return module.verify(drafts, [draft(text) for text in texts[:-1]], rows.__getitem__)


def _law(module: Any, target: Model, options: Options) -> Model:
    """The target's law as its own filters make it: top-p comes before the temperature."""
    listed = _listed(module, target, options)
    return lambda text: [dict(listed(text)).get(token, 0.0) for token in range(len(asarray(target(text))))]


LIKELIEST = Defect(
    "The draft is the likeliest candidate, and is tested by the ratio of the two masses, as if it had been drawn. "
    "Drawn from the candidates it is right, as far as the residual is.",
    (Edit("return listed[0][0]", "return _drawn([token for token, _ in listed], [mass for _, mass in listed])"),),
)
BY_PLACE = Defect(
    "The residual subtracts the draft's candidates from the target's by their place in the two lists, which differ "
    "where the filters keep different tokens.",
    (Edit("(draft[i][1] if i < len(draft) else 0.0)", "_mass(draft, target[i][0])"),),
)
ENGINES = (
    Engine(
        name="llama.cpp example",
        source=Restated("ggml-org/llama.cpp 007d713"),
        module="torch_bridge.restated.llama_cpp",
        function="examples/speculative/speculative.cpp, main, restated",
        rule="likeliest, by ratio",
        run=_run,
        control=Edit("random.random() <= ", "random.random() / 2 <= "),
        options=("temperature > 0", "top_k", "top_p"),
        law=_law,
        unit=2.0**-53,
        defects=(LIKELIEST, BY_PLACE),
    ),
)
