"""specdec: a decoder object that drafts with a small model and verifies with a big one."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from torch_bridge.engines.engine import Edit, Engine, Step
from torch_bridge.engines.source import Archive


def _run(module: Any, step: Step) -> Sequence[int]:
    decoder = object.__new__(module.SpecDecoder)
    decoder.big_model, decoder.small_model = step.models()
    decoder.device = "cpu"
    ids = step.ids()
    return decoder.verify(ids, *decoder.generate_small(ids, step.lookahead))


ENGINES = (
    Engine(
        name="specdec",
        source=Archive(
            "specdec",
            "0.2.0",
            "specdec-0.2.0-py3-none-any.whl",
            "cfe701a49ee730d3debb9440fa5c20d81b4d3b177a079d069dfe7c9fd6861110",
        ),
        module="specdec.decoder",
        function="SpecDecoder.verify",
        rule="chain",
        run=_run,
        control=Edit("big_probs-small_probs", "big_probs"),
        stubs=("transformers",),
    ),
)
