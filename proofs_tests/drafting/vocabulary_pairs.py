"""Laws over two vocabularies."""

from __future__ import annotations

from typing import Any

from hypothesis import strategies as st

from proofs_tests.strategies import laws, vocabularies
from proofs_tests.tokenized_models import speaker


@st.composite
def vocabulary_pairs(draw: st.DrawFn) -> tuple[Any, Any, list[str], list[str]]:
    """A target law, a draft law and their tokens."""
    target, draft = draw(vocabularies("ab", most=4)), draw(vocabularies("abc", most=4))
    return draw(laws(len(target))), draw(laws(len(draft))), target, draft


TARGET = speaker(["a", "b", "aa"], ["1/2", "1/4", "1/4"], ["1/5", "2/5", "2/5"], ["1/10", "1/2", "2/5"])


DRAFTER = speaker(["aa", "a", "c"], ["1/2", "1/4", "1/4"], ["1/3", "1/3", "1/3"], ["1/5", "1/5", "3/5"])
