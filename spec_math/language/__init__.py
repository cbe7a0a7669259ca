"""What models speak: vocabularies and their tries, tokenisers, and how two vocabularies compare."""

from spec_math.language.tokenizer import GreedyTokenizer, Tokenizer, UntokenisableError
from spec_math.language.vocabulary import Vocabulary

__all__ = ["GreedyTokenizer", "Tokenizer", "UntokenisableError", "Vocabulary"]
