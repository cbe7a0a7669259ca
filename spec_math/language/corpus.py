"""A text to learn from, with positions held out: by default the English documentation that comes with CPython.

Source: the text is CPython's own documentation (PSF licence); the split is our own.
"""

from __future__ import annotations

import os
import re
import sysconfig
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path

import numpy as np

from spec_math.arrays import count
from spec_math.language.context_tree import START

UNKNOWN = "<unk>"
"""Stands for every word that the training part does not hold, and so for none in it: the last index of a vocabulary."""

HELD_OUT = 20
"""Of the different paragraphs of a text, in order, each twentieth is held out."""

# A name with its digits and underscores, a number, a run of three or more of one mark, or one mark.
_WORD = re.compile(r"[^\W\d]\w*|\d+|([^\w\s])\1{2,}|[^\w\s]")
_PARAGRAPH = re.compile(r"\n\s*\n")


@dataclass(frozen=True, eq=False)
class Corpus:
    """A text as token indices, in two parts that share no paragraph.

    `training` and `held_out` are int64 [n], with -1 where a new paragraph starts (each paragraph is a text of its
    own); `names` are the words of the training part by their first occurrence, and `UNKNOWN` last.

    >>> corpus = documentation()
    >>> corpus.names[-1] == UNKNOWN, corpus.size == len(corpus.names)
    (True, True)
    """

    training: np.ndarray[tuple[int], np.dtype[np.int64]]
    held_out: np.ndarray[tuple[int], np.dtype[np.int64]]
    names: tuple[str, ...]

    @property
    def size(self) -> int:
        """Return the number of tokens V, the unknown one included."""
        return len(self.names)


def words(text: str) -> list[str]:
    """Cut a text into words and marks; case is kept, blanks are dropped.

    A name keeps its digits and underscores, since code is part of the text ("None" and "none" differ there). A run
    of three or more of one mark is one word, cut to three: the rulers under headings would else be 15 % of all
    words of the documentation, each trivially predicted from the one before.

    >>> words('The "__doc__" of 2 things...\\n**********')
    ['The', '"', '__doc__', '"', 'of', '2', 'things', '...', '***']
    """
    return [match[0][:3] if match[1] else match[0] for match in _WORD.finditer(text)]


def split(texts: Iterable[str], held_out: int = HELD_OUT) -> Corpus:
    """Learn the vocabulary of texts, hold out each `held_out`-th paragraph, and write both parts as token indices.

    A paragraph (what blank lines set apart) that occurs twice, word for word, is taken once, so that what is held
    out does not also stand in the training part.

    Raises:
        TypeError: held_out is not an int (a bool is refused).
        ValueError: it is below 2, or there are fewer different paragraphs than that, so that one part would be empty.

    >>> corpus = split(["a b\\n\\nb c", "a b\\n\\na d"], held_out=3)
    >>> corpus.names, corpus.training.tolist(), corpus.held_out.tolist()
    (('a', 'b', 'c', '<unk>'), [0, 1, -1, 1, 2], [0, 3])
    """
    held_out = count(held_out, "held_out")
    found = (tuple(words(paragraph)) for text in texts for paragraph in _PARAGRAPH.split(text))
    paragraphs = list(dict.fromkeys(paragraph for paragraph in found if paragraph))
    said = "paragraph", f"different paragraphs; the text has {len(paragraphs)}"
    return _parted(paragraphs, held_out, said, lambda kept: dict.fromkeys(word for text in kept for word in text))


def _parted(
    texts: Sequence[Sequence[str]],
    held_out: int,
    said: tuple[str, str],
    vocabulary: Callable[[Sequence[Sequence[str]]], Iterable[str]],
) -> Corpus:
    """Hold out each `held_out`-th text, and write both parts by the vocabulary of the other part."""
    if held_out < 2 or len(texts) < held_out:
        raise ValueError(
            f"each {held_out}-th {said[0]} is held out, and both parts need one: held_out must be at least 2, and "
            f"there must be as many {said[1]}"
        )
    kept = [text for at, text in enumerate(texts, 1) if at % held_out]
    names = (*vocabulary(kept), UNKNOWN)
    index = {name: at for at, name in enumerate(names)}
    return Corpus(encoded(kept, index), encoded(texts[held_out - 1 :: held_out], index), names)


@cache
def documentation() -> Corpus:
    """Return the documentation of CPython's language (`pydoc help`) as a corpus; read once, then kept.

    With CPython 3.11.7: 98,132 words in 79 topics, of which 78,470 in 2,071 different paragraphs; 103 of these
    (3,520 words, 2.7 % of them unknown) are held out; 4,127 different words are left in the training part.

    Raises:
        ModuleNotFoundError: this Python has been installed without its documentation.

    >>> documentation().names[-1]
    '<unk>'
    """
    try:
        from pydoc_data.topics import topics
    except ImportError as error:
        raise ModuleNotFoundError(
            "the default models are learnt from pydoc_data.topics, the documentation inside CPython, and this Python "
            "has been installed without it; install it (some systems pack it apart from Python itself), or give the "
            "models as files"
        ) from error
    return split(topics[name] for name in sorted(topics))


def encoded(texts: Sequence[Sequence[str]], index: dict[str, int]) -> np.ndarray[tuple[int], np.dtype[np.int64]]:
    """Return texts as one read-only array of tokens, `START` between them, `UNKNOWN` for words that are not indexed.

    >>> encoded([["a"], ["b", "a"]], {"a": 0, UNKNOWN: 1}).tolist()
    [0, -1, 1, 0]
    """
    unknown = index[UNKNOWN]
    tokens: list[int] = []
    for text in texts:
        tokens.append(START)
        tokens.extend(index.get(word, unknown) for word in text)
    found = np.array(tokens[1:], dtype=np.int64)
    found.flags.writeable = False
    return found


SIZE = 4096
"""Tokens of the vocabulary: the words met most often, and the unknown one."""

SHARE = 3
"""Each third file is read: enough to learn from, in seconds."""

_LEFT_OUT = {"site-packages", "test", "tests", "idlelib", "lib2to3", "encodings", "turtledemo", "pydoc_data"}
"""Packages of others, tests, tables and examples."""


_LONG_STRING = re.compile(r"(\"{3}|'{3}).*?\1", re.DOTALL)
_COMMENT = re.compile(r"#.*")


def code_words(text: str) -> list[str]:
    """Cut source code into words and marks, each line headed by its break and indentation.

    Comments and strings in three quotes are prose, and left out, up to two quotes; blank lines are dropped.

    >>> code_words("def f(x):  # f\\n    return x\\n")
    ['\\n', 'def', 'f', '(', 'x', ')', ':', '\\n    ', 'return', 'x']
    """
    found: list[str] = []
    code = _COMMENT.sub("", _LONG_STRING.sub('""', text))
    for line in code.expandtabs().splitlines():
        bare = line.lstrip(" ")
        if bare:
            found.append("\n" + line[: len(line) - len(bare)])
            found += words(bare)
    return found


def split_files(texts: Iterable[str], size: int, held_out: int = HELD_OUT) -> Corpus:
    """Hold out each `held_out`-th text, and write both parts by the `size` − 1 commonest words of the other part.

    Each text is one of its own, set apart by -1. What is not among the words is `corpus.UNKNOWN`.

    Raises:
        TypeError, ValueError: size or held_out is not a positive integer; fewer texts than held_out, or than 2.

    >>> corpus = split_files(["a b a", "a c", "b b"], 3, held_out=3)
    >>> corpus.names, corpus.training.tolist(), corpus.held_out.tolist()
    (('a', '\\n', '<unk>'), [1, 0, 2, 0, -1, 1, 0, 2], [1, 2, 2])
    """
    size, held_out = count(size, "size"), count(held_out, "held_out")
    read = [text for text in map(code_words, texts) if text]

    def commonest(kept: Sequence[Sequence[str]]) -> list[str]:
        met = Counter(word for text in kept for word in text)
        # By frequency, then by spelling: the same files give the same vocabulary.
        return sorted(met, key=lambda word: (-met[word], word))[: size - 1]

    return _parted(read, held_out, ("text", f"texts; there are {len(read)}"), commonest)


@cache
def standard_library() -> Corpus:
    """Return each third file of this Python's standard library as a corpus of at most `SIZE` words; read once.

    With CPython 3.11.7: 211 files, 440,022 words to learn from, and 9 % of the held-out words unknown. At held-out
    words the model of order 8 has a mean top-1 mass of .55 and 2.9 bits, that of order 3 .43 and 3.7 bits.

    Raises:
        ModuleNotFoundError: this Python keeps no source files of its library.

    >>> standard_library().size
    4096
    """
    root = Path(sysconfig.get_path("stdlib"))
    texts = [path.read_text(encoding="utf-8", errors="replace") for path in sorted(_sources(root))[::SHARE]]
    if len(texts) < HELD_OUT:
        raise ModuleNotFoundError(
            f"the models of source code are learnt from Python's standard library, and {root} holds {len(texts)} of "
            "its files; use a Python that is installed with its sources, or give the models as files"
        )
    return split_files(texts, SIZE)


def _sources(root: Path) -> Iterator[Path]:
    """Go through the source files below a folder; what is left out, packages by the thousand, is not looked into."""
    for folder, below, names in os.walk(root):
        below[:] = [name for name in below if name not in _LEFT_OUT]
        yield from (Path(folder, name) for name in names if name.endswith(".py") and name not in _LEFT_OUT)
