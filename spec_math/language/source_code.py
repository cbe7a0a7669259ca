"""Python's own standard library as a text to learn from: source code, far sharper to predict than prose.

Source: the text is CPython's standard library (PSF licence); the split is our own.
"""

from __future__ import annotations

import os
import re
import sysconfig
from collections import Counter
from collections.abc import Iterable, Iterator
from functools import cache
from pathlib import Path

from spec_math.arrays import count
from spec_math.language.corpus import HELD_OUT, UNKNOWN, Corpus, encoded, words

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
    read = [code_words(text) for text in texts]
    read = [text for text in read if text]
    if held_out < 2 or len(read) < held_out:
        raise ValueError(
            f"each {held_out}-th text is held out, and both parts need one: held_out must be at least 2, and there "
            f"must be as many texts; there are {len(read)}"
        )
    kept = [text for at, text in enumerate(read, 1) if at % held_out]
    met = Counter(word for text in kept for word in text)
    # By frequency, then by spelling: the same files give the same vocabulary.
    common = sorted(met, key=lambda word: (-met[word], word))[: size - 1]
    names = (*common, UNKNOWN)
    index = {name: at for at, name in enumerate(names)}
    return Corpus(encoded(kept, index), encoded(read[held_out - 1 :: held_out], index), names)


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
