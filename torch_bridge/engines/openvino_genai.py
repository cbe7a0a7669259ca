"""openvino-genai: its rule as it is written down in `torch_bridge.restated`, for its own code is compiled."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from torch_bridge.engines.engine import Defect, Edit, Engine, Step
from torch_bridge.engines.source import Restated


def _run(module: Any, step: Step) -> Sequence[int]:
    drafts = step.drafted()
    texts = [(*step.text, *drafts[:n]) for n in range(len(drafts) + 1)]
    reported = [float(step.draft(text)[token]) for text, token in zip(texts, drafts, strict=False)]
    target = [[float(mass) for mass in step.target(text)] for text in texts]
    return module.verify(drafts, reported, target.__getitem__)


KEPT = Edit("random.random() < min(floor(100 * ratio) + 1, COINS) / COINS", "drawn == drafts[place]")
REPLACED = Edit("rejected = True", "return [*emitted, drawn]")
ENGINES = (
    Engine(
        name="openvino-genai",
        source=Restated("openvino-genai 2026.4.1.0"),
        module="torch_bridge.restated.openvino_genai",
        function="validate_candidate, restated",
        rule="its own",
        run=_run,
        control=Edit("drawn = _drawn(law)", "drawn = drafts[min(place, len(drafts) - 1)]"),
        defects=(
            Defect(
                "A draft is kept by the ratio of its reported mass to the target's mass of another token, the one that "
                "was drawn; the coin has 101 values and is compared by ≤; a rejected draft is replaced by a draw from "
                "the law of the place after it. Kept where it is the drawn token, else replaced by that, it is right.",
                (KEPT, REPLACED),
            ),
        ),
    ),
)
