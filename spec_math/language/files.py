"""Reading a vocabulary from a file: Hugging Face's tokenizer.json, tiktoken, SentencePiece, or a list of tokens.

Source: the formats of tokenizers, tiktoken and sentencepiece.
"""

from __future__ import annotations

from pathlib import Path

from spec_math.language import sentencepiece_file, tiktoken_file, token_list, tokenizer_json
from spec_math.language.file_content import content
from spec_math.language.tokenizer import GreedyTokenizer, Tokenizer
from spec_math.language.vocabulary import Vocabulary


def read_vocabulary(path: str | Path) -> Vocabulary:
    """Read the vocabulary of a tokeniser file, whose kind is seen from its first bytes.

    A file that begins with "{" is a tokenizer.json; with "[", a list of tokens (`token_list`); one whose first line is
    a base64 text and a number is tiktoken's; anything else is a SentencePiece model, for which the library
    sentencepiece is needed.

    Raises:
        FileNotFoundError: there is no such file.
        ImportError: the library for this kind is not installed; the message says which.
        ValueError: the file is empty, truncated or of no known kind; the path and the place are named.

    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     place = Path(folder) / "tokens.json"
    ...     _ = place.write_text('["a", "ab"]')
    ...     read_vocabulary(place)
    Vocabulary(2 tokens, 0 special)
    """
    place = Path(path)
    head = content(place)[:512]
    if head.lstrip().startswith(b"{"):
        return tokenizer_json.read(place)
    if head.lstrip().startswith(b"["):
        return token_list.read(place)
    if tiktoken_file.begins(head):
        return tiktoken_file.read(place)
    return sentencepiece_file.read(place)


def read_tokenizer(path: str | Path) -> tuple[Tokenizer, str]:
    """Read the tokeniser of a file, and say in words how it reads: as the file says, or by longest prefixes.

    Longest prefixes stand in where the file does not say how texts are cut (tiktoken, a list of tokens), or the library
    for its kind is not installed.

    Raises:
        ValueError, OSError: as `read_vocabulary`.
    """
    place = Path(path)
    vocabulary = read_vocabulary(place)
    head = content(place)[:512].lstrip()
    try:
        if head.startswith(b"{"):
            return tokenizer_json.TokenizerJson(place), "by its own tokeniser"
        if not head.startswith(b"[") and not tiktoken_file.begins(head):
            return sentencepiece_file.SentencePiece(place), "by its own tokeniser"
    except ImportError:
        pass
    return GreedyTokenizer(vocabulary), "by longest prefixes"
