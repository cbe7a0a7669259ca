"""Vocabularies and their tries, tokenisers, models, and how two vocabularies compare."""

from typing import TYPE_CHECKING

from spec_math.lazy import face

if TYPE_CHECKING:
    from spec_math.language.corpus import Corpus as Corpus
    from spec_math.language.corpus import documentation as documentation
    from spec_math.language.corpus import standard_library as standard_library
    from spec_math.language.files import read_vocabulary as read_vocabulary
    from spec_math.language.model import Model as Model
    from spec_math.language.model import Table as Table
    from spec_math.language.ngram import NGram as NGram
    from spec_math.language.recorded import Recorded as Recorded
    from spec_math.language.tempered import Tempered as Tempered
    from spec_math.language.tokenizer import GreedyTokenizer as GreedyTokenizer
    from spec_math.language.tokenizer import TokenizedModel as TokenizedModel
    from spec_math.language.tokenizer import Tokenizer as Tokenizer
    from spec_math.language.tokenizer import UntokenisableError as UntokenisableError
    from spec_math.language.vocabulary import Vocabulary as Vocabulary

__getattr__, __dir__, __all__ = face(
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
