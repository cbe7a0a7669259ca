"""What a test can bet on at a token, from its two rows alone: bounded features, and bugs' likelihood ratios."""

from __future__ import annotations

from spec_math.audit.sequential.bank import BUGS

CLIP = 4
"""Ratios beyond it count as it, and so does a ratio to 0."""

FEATURES = ("t > d", "top 1", "top 4", "t/d to 4", "d/t to 4", "d/t to 1", "acceptance deficit")
"""The features of a token by name, numbers in [0, 1].

They are 1 where t > d, where the token is the target's best one, and where it is among its best four; t/d and d/t up to
`CLIP`, divided by it; min(1, d/t); 1 − min(1, t/d). The bet on "d/t to 1" at full stake, 1 + min(1, d/t) − Σ min(t, d),
is the likelihood ratio of M11 itself.
"""

CONTEXT_BUGS = tuple(bug for bug in BUGS if bug.sums)
"""Bugs whose likelihood ratio at a token needs a few sums over the vocabulary: cheap enough for every draw."""
