"""What the report shows of other vocabularies: the embedded drafters, segmentations, and SpecVocab's ranking."""

from __future__ import annotations

from spec_math.report.page import Picture
from spec_math.report.vocabularies import sampling as vocabulary_sampling
from spec_math.report.vocabularies import segmentation_figures, specvocab_picture
from spec_math.report.vocabularies.comparison import DrafterLines, VocabularyComparison, advice
from spec_math.report.vocabularies.default import drafters
from spec_math.report.vocabularies.pictures import acceptance_and_tokens
from spec_math.report.vocabularies.sampling import Sampling, Told
from spec_math.report.vocabularies.segmentation_pictures import by_length, histogram, tree

WORD = " raises"
"""The target token whose segmentations are drawn."""

MOST, FEWEST, DRAFTS = 20, 2, 12
"""Held-out positions, at most and at least, and drafts at each."""

METHODS = ("union", "TLI", "SLEM", "SLRS", "TokenTiming as printed")


def pictures(positions: int, seed: int, told: Told) -> list[Picture]:
    """Return the pictures of the embedded drafters, with a table under the first; a position in 100 is looked at.

    >>> pictures(0, 0, lambda what, steps: lambda done: None)
    Traceback (most recent call last):
    ValueError: --positions must be at least 1; got 0
    """
    if positions < 1:
        raise ValueError(f"--positions must be at least 1; got {positions}")
    sampling = Sampling(max(FEWEST, min(MOST, positions // 100)), DRAFTS, seed=seed)
    return [
        of_comparison(vocabulary_sampling.compare(sampling, told)),
        *of_segmentations(),
        specvocab_picture.picture(),
    ]


def of_comparison(result: VocabularyComparison) -> Picture:
    """Return the comparison as a picture with its table and its advice.

    >>> from spec_math.mean import known
    >>> of_comparison(VocabularyComparison("models", 2, 1, 0.05, (), known(0), "exact")).table[0][:2]
    ('drafter', 'tokens')
    """
    head = ("drafter", "tokens", "shared", *(f"{name} accepts" for name in METHODS), "its bias", "take")
    return Picture(
        "Drafters that speak another language",
        acceptance_and_tokens(result),
        "The target speaks words; drafters learnt from the same text speak words, byte pairs, or bytes. Left: what "
        "each method accepts of the first draft (Table 3 of Timor et al.). Middle: tokens per target call, at the "
        "lookahead of the highest speed-up. Right: how far the printed TokenTiming is off the target with its first "
        f"token, or is at least. Lines are two standard errors over {result.positions} evenly spaced positions.",
        (head, *(_row(drafter, result) for drafter in result.drafters)),
        tuple(f"{drafter.name}: {' '.join(advice(drafter, result.surest))}" for drafter in result.drafters),
    )


def of_segmentations() -> list[Picture]:
    """Return the segmentations of one word, and of all byte pairs, as the default's byte-pair drafter spells them.

    >>> [picture.title for picture in of_segmentations()][1:]
    ['Timor et al., Figure 2, on the byte pairs', 'Timor et al., Figure 3, on the byte pairs']
    """
    vocabulary = next(drafter.speaker.vocabulary for drafter in drafters() if drafter.name == "byte pairs")
    found = segmentation_figures.counts(vocabulary)
    return [
        Picture(
            f"Every way to draft the token “{WORD}”",
            tree(WORD, vocabulary, f"{WORD!r} in {len(vocabulary)} byte pairs"),
            "Each leaf is one sequence of draft tokens that spells the target's token, as in Figure 1 of Timor et al.; "
            "to know ψ a drafter has to be asked at every inner node.",
        ),
        Picture(
            "Timor et al., Figure 2, on the byte pairs",
            by_length(found, f"segmentations of {len(found.least)} byte pairs into each other"),
            "Longer tokens have more segmentations: least, quartiles, median and most at each length; the dotted line "
            "is the most there can be. For other vocabularies: spec-math psi --vocabulary FILE --out lengths.svg.",
        ),
        Picture(
            "Timor et al., Figure 3, on the byte pairs",
            histogram(found, f"segmentations of {len(found.least)} byte pairs"),
            "How many tokens have how many segmentations. The paper's curve over its histogram is left out, as its "
            "bandwidth is not stated.",
        ),
    ]


def _row(drafter: DrafterLines, result: VocabularyComparison) -> tuple[str, ...]:
    lines = [drafter.line(name) for name in METHODS]
    accepted = [f"{line.acceptance.value:.4f}" if line and line.acceptance else "—" for line in lines]
    biases = "; ".join(
        f"{'' if bias.exact else '≥ '}{bias.certain:.4f} ({bias.lookahead} draft token{'s' * (bias.lookahead > 1)})"
        for bias in drafter.biases
    )
    taken = next((said for said in advice(drafter, result.surest) if said.startswith("Take")), "—")
    taken = taken.removeprefix("Take ").partition(":")[0]
    return (
        drafter.name,
        f"{drafter.size:,}",
        f"{drafter.shared:,}",
        *accepted,
        biases or "—",
        taken,
    )
