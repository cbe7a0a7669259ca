"""SentencePiece's .model files: their vocabulary and their tokeniser, through the library sentencepiece."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import Any

from spec_math.language.file_content import content, library
from spec_math.language.vocabulary import Vocabulary

_SPACE = "\u2581"


class SentencePiece:
    """The tokeniser of a .model file as it stands, its normaliser and its space before the text included.

    Raises:
        ImportError: the library sentencepiece is not installed.
        ValueError: as `read`.
    """

    def __init__(self, path: str | Path) -> None:
        self._processor = _processor(path)
        self.vocabulary = _vocabulary(self._processor)

    def encode(self, text: str) -> tuple[int, ...]:
        """Return the tokens of a text, without special tokens around it."""
        return tuple(self._processor.encode(text, out_type=int))

    def decode(self, tokens: Iterable[int]) -> str:
        """Return the text of some tokens; the space that was put before it is taken away."""
        return self._processor.decode(list(tokens))


def read(path: str | Path) -> Vocabulary:
    """Read the vocabulary of a .model file.

    A piece adds its characters, "▁" standing for a space; a byte piece <0xNN> adds one byte; unknown, control and
    unused pieces are special. Several tokens with the same bytes are kept (`Vocabulary`, repeats): the piece is later
    than the byte. The keys are the pieces as stored.

    Raises:
        ImportError: the library sentencepiece is not installed.
        ValueError: the file is truncated, or no SentencePiece model.
    """
    return _vocabulary(_processor(path))


def _processor(path: str | Path) -> Any:
    place = Path(path)
    data = content(place)
    sentencepiece = library("sentencepiece", "reading a SentencePiece model")
    try:
        return sentencepiece.SentencePieceProcessor(model_proto=data)
    except (RuntimeError, ValueError) as error:
        raise ValueError(
            f"{place}: {len(data)} bytes that are no SentencePiece model, or a truncated one ({error})"
        ) from error


def _vocabulary(processor: Any) -> Vocabulary:
    size = processor.get_piece_size()
    keys = [processor.id_to_piece(index) for index in range(size)]
    special = [
        index
        for index in range(size)
        if processor.is_unknown(index) or processor.is_control(index) or processor.is_unused(index)
    ]
    tokens = [
        bytes([int(key[3:5], 16)]) if processor.is_byte(index) else key.replace(_SPACE, " ").encode()
        for index, key in enumerate(keys)
    ]
    return Vocabulary(tokens, special, keys, repeats=True)
