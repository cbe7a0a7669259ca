"""Vocabularies and their tries, tokenisers, models, and how two vocabularies compare."""

from typing import TYPE_CHECKING

from spec_math.lazy import lazily

if TYPE_CHECKING:
    from spec_math.language.corpus import Corpus, documentation, standard_library
    from spec_math.language.files import read_vocabulary
    from spec_math.language.model import Model, Table
    from spec_math.language.ngram import NGram
    from spec_math.language.recorded import Recorded
    from spec_math.language.tempered import Tempered
    from spec_math.language.tokenizer import GreedyTokenizer, TokenizedModel, Tokenizer, UntokenisableError
    from spec_math.language.vocabulary import Vocabulary

__getattr__ = lazily(
    __name__,
    {
        "spec_math.language.corpus": ("Corpus", "documentation", "standard_library"),
        "spec_math.language.files": ("read_vocabulary",),
        "spec_math.language.model": ("Model", "Table"),
        "spec_math.language.ngram": ("NGram",),
        "spec_math.language.recorded": ("Recorded",),
        "spec_math.language.tempered": ("Tempered",),
        "spec_math.language.tokenizer": ("GreedyTokenizer", "TokenizedModel", "Tokenizer", "UntokenisableError"),
        "spec_math.language.vocabulary": ("Vocabulary",),
    },
)

__all__ = [
    "Corpus",
    "GreedyTokenizer",
    "Model",
    "NGram",
    "Recorded",
    "Table",
    "Tempered",
    "TokenizedModel",
    "Tokenizer",
    "UntokenisableError",
    "Vocabulary",
    "documentation",
    "read_vocabulary",
    "standard_library",
]


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
