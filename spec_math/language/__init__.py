"""Vocabularies and their tries, tokenisers, models, and how two vocabularies compare."""

from spec_math.language.corpus import Corpus, documentation, standard_library
from spec_math.language.files import read_vocabulary
from spec_math.language.model import Model, Table
from spec_math.language.ngram import NGram
from spec_math.language.recorded import Recorded
from spec_math.language.tempered import Tempered
from spec_math.language.tokenizer import GreedyTokenizer, TokenizedModel, Tokenizer, UntokenisableError
from spec_math.language.vocabulary import Vocabulary

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
