"""What models speak: vocabularies and their tries, tokenisers, and how two vocabularies compare."""

from spec_math.language.corpus import Corpus, documentation
from spec_math.language.files import read_vocabulary
from spec_math.language.model import Model, Table
from spec_math.language.ngram import NGram
from spec_math.language.speaker import Speaker
from spec_math.language.tokenizer import GreedyTokenizer, Tokenizer, UntokenisableError
from spec_math.language.vocabulary import Vocabulary

__all__ = [
    "Corpus",
    "GreedyTokenizer",
    "Model",
    "NGram",
    "Speaker",
    "Table",
    "Tokenizer",
    "UntokenisableError",
    "Vocabulary",
    "documentation",
    "read_vocabulary",
]
