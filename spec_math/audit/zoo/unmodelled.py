"""Known bugs that are not modelled: the cause is not described closely enough to be run, or is no sampler's law."""

from __future__ import annotations

from spec_math.audit.zoo.specimen import Specimen

SPECIMENS = (
    Specimen(
        "M9",
        "wrong indexing of the ratio, and a drafter that does not sample",
        "transformers PR #28166",
        "verifier",
        note="which entries are divided is not stated, and a greedy draft alone is M2",
    ).mended_by("gather both masses at the drafted token's id, and draw drafts from the law that is reported"),
    Specimen(
        "M47",
        "the coins of verification differ across tensor-parallel ranks",
        "vLLM #17498",
        "replay",
        note="ranks that commit different tokens have no one text whose law could be judged",
    ).mended_by("draw the coins on one rank and send them to the others, or seed all ranks alike"),
)
