"""Ways to draft and verify that are no methods on K shared paths: a record each, as `block_level` keeps of its methods.

Source: our own.
"""

from __future__ import annotations

from dataclasses import dataclass

from spec_math.block_level.method import CHAINS, DISTINCT, Drafts


@dataclass(frozen=True, eq=False)
class Way:
    """A way to draft and verify, or a bound on all of them: its name, the kind of its drafts, its pages in the book.

    >>> BEAMS.drafts is SEQUENCES, BEAMS.page
    (True, 'theorems/stochastic_beam')
    """

    name: str
    drafts: Drafts
    pages: tuple[str, ...] = ()

    @property
    def page(self) -> str:
        """The first of its pages, in the book; empty where it has none."""
        return self.pages[0] if self.pages else ""


TREES, SEQUENCES = Drafts("chosen trees"), Drafts("stochastic beams")
BRANCHING = Drafts("two distinct drafts at every node")
FAVOURED = Drafts("the likeliest and one drawn at every node")
STEMS = {stem: Drafts(f"i.i.d. chains below a stem of {stem}") for stem in (1,)}
"""Chains that share their first so many tokens, a kind for each length of the stem."""

CHOSEN = Way("target-only, likeliest tree", TREES, pages=("theorems/target_only",))
STATIC = Way("target-only, static tree", TREES, pages=("theorems/target_only",))
BEST_TREE = Way("the best tree", TREES, pages=("theorems/target_only",))
BEAMS = Way("stochastic beam, recursive rejection", SEQUENCES, pages=("theorems/stochastic_beam",))
BEAMS_TRAVERSED = Way("stochastic beam, traversal", SEQUENCES, pages=("theorems/stochastic_beam",))
PLANNED = Way("optimal plan, distinct first tokens", DISTINCT, pages=("theorems/planned_tree",))
NOISE = Way("shared noise", CHAINS, pages=("theorems/shared_noise",))
DELAYED = {
    stem: Way(f"chain priorities below a stem of {stem}", drafts, pages=("theorems/delayed",))
    for stem, drafts in STEMS.items()
}
BRANCHED_REJECTION = Way("recursive rejection, two distinct a node", BRANCHING, pages=("theorems/without_replacement",))
BRANCHED_TRAVERSAL = Way("traversal, two distinct a node", BRANCHING, pages=("theorems/traversal",))
BRANCHED_PLAN = Way("optimal plan, two distinct a node", BRANCHING, pages=("theorems/planned_tree",))
UNIVER = Way("UniVer, the likeliest and one drawn a node", FAVOURED, pages=("theorems/univer",))

WAYS: tuple[Way, ...] = (
    CHOSEN,
    STATIC,
    BEST_TREE,
    BEAMS,
    BEAMS_TRAVERSED,
    PLANNED,
    NOISE,
    *DELAYED.values(),
    BRANCHED_REJECTION,
    BRANCHED_TRAVERSAL,
    BRANCHED_PLAN,
    UNIVER,
)
"""All that can be compared with the methods, and the best tree, which bounds the chosen ones."""
