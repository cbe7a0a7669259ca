"""The embedded drafters of other vocabularies, compared at three positions."""

from __future__ import annotations

from functools import cache

from spec_math.studies.vocabularies import sampling as vocabulary_sampling


def unseen(_, __):
    return lambda _: None


SMALL = vocabulary_sampling.Sampling(positions=3, drafts=4, lookaheads=(1, 2))


@cache
def small():
    return vocabulary_sampling.compare(SMALL, unseen)
