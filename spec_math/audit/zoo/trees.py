"""Bugs of trees: several candidates for one position."""

from __future__ import annotations

import numpy as np

from spec_math.audit.zoo import toy
from spec_math.audit.zoo.engine import Text
from spec_math.audit.zoo.specimen import Specimen
from spec_math.chance import Coin
from spec_math.distribution import residual_of, restricted


def _stale_residual(coin: Coin, prefix: Text) -> Text:
    """M23: two siblings a level, drafted without replacement; a residual made at the last level outlives its use."""
    text: Text = ()
    law, adjusted = toy.target(prefix), False
    for _ in range(toy.LOOKAHEAD):
        law, draft = toy.target(prefix + text), toy.draft(prefix + text)
        adjusted, accepted = False, False
        for _ in range(2):
            x = coin.draw(draft)
            if coin.flip(min(1, law[x] / draft[x])):
                text, accepted = (*text, x), True
                break
            law, adjusted = residual_of(law, draft), True
            draft = restricted(draft, np.arange(len(draft)) != x)
        if not accepted:
            return (*text, coin.draw(law))
    return (*text, coin.draw(law if adjusted else toy.target(prefix + text)))


def _a_truth_for_each_path(coin: Coin, prefix: Text) -> Text:
    """M24: two candidates, each compared with a draw of the target of its own; any match is accepted."""
    t = toy.target(prefix)
    candidates = np.argsort(-toy.draft(prefix), kind="stable")[:2]
    truths = [coin.draw(t) for _ in candidates]
    matched = [int(x) for x, truth in zip(candidates, truths, strict=True) if x == truth]
    return (matched[0],) if matched else (truths[0],)


SPECIMENS = (
    Specimen(
        "M23",
        "the bonus token is drawn from the parent's residual",
        "EAGLE PR #47",
        "verifier",
        _stale_residual,
        printed=("0", ".070"),
        note="two siblings a level, drafted without replacement: the joint distance is .1016 here, by hand too; the "
        "corpus measured the engine's own function on a tree that it does not state, and no near reading has its .070",
    ).mended_by("draw the bonus token from the target's row after the last accepted node"),
    Specimen(
        "M24",
        "an independent draw of the target for each path of a tree",
        "Medusa, nucleus sampling; fms-extras #12",
        "verifier",
        _a_truth_for_each_path,
        printed=(".181", ".181"),
        note="the draft's two likeliest tokens as paths; without a match the first path's draw is emitted",
    ).mended_by("draw once after each prefix, whichever paths share it, and emit what was drawn"),
)
