"""Rocq text of docs/theorems/formal.md: of each file its theorems, and each definition that a theorem rests on.

A block of the page that begins with a file's name is that file's text, word for word and in its order, without proofs.
`python -m proofs_tests.formal.page` writes these blocks; the words around them are written by hand.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator

from proofs_tests.formal.check import HERE, THEOREM, bare, sentences

PAGE = HERE.parents[1] / "docs" / "theorems" / "formal.md"
BLOCK = re.compile(r"^```coq\n\(\* (\w+)\.v \*\)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
DECLARED = re.compile(r"(?:Local )?(?:Theorem|Corollary|Definition|Fixpoint|Inductive|Record|Notation) (\w+)")
ASSUMED = ("Variable", "Hypothes", "Context", "Implicit Type")
WORD = re.compile(r"[A-Za-z_][\w']*")


def sources() -> dict[str, str]:
    """Return {name of a file, without its ending: its text}."""
    return {path.stem: path.read_text(encoding="utf-8") for path in sorted(HERE.glob("*.v"))}


class File:
    """The sentences of a file: what each declares, in which sections it stands, and the files that are imported."""

    def __init__(self, source: str) -> None:
        self.sentences = sentences(source)
        self.imports = [name for _, text in self.sentences for name in _imported(text)]
        self.sections: list[tuple[int, ...]] = []
        self.declared: dict[str, list[int]] = {}
        self.theorems: list[int] = []
        opened: list[int] = []
        for place, (_, text) in enumerate(self.sentences):
            self.sections.append(tuple(opened))
            if text.startswith("Section "):
                opened.append(place)
            elif text.startswith("End "):
                _ = opened.pop()
            elif name := DECLARED.match(text):
                self.declared.setdefault(name[1], []).append(place)
                self.theorems += [place] if text.startswith(THEOREM) else []

    def around(self, place: int) -> Iterator[int]:
        """Yield what a sentence stands in: the sections with their ends, and what they assume before it."""
        if self.sentences[place][1].startswith("End "):
            return
        for section in self.sections[place]:
            yield section
            inside = [other for other, opened in enumerate(self.sections) if opened[-1:] == (section,)]
            yield inside[-1]
            yield from (other for other in inside if other < place and self.sentences[other][1].startswith(ASSUMED))

    def text(self, shown: set[int]) -> str:
        """Return these sentences in their order, each with the comment before it."""
        parts: list[str] = []
        for comment, text in (self.sentences[place] for place in sorted(shown)):
            apart = parts and (comment or not text.startswith((*ASSUMED, "Notation", "Local Notation", "End ")))
            parts += [""] * bool(apart) + [comment] * bool(comment) + [text]
        return "".join(f"{part}\n" for part in parts)


def _imported(text: str) -> list[str]:
    found = re.fullmatch(r"From spec Require Import (.*)\.", text, re.DOTALL)
    return found[1].split() if found else []


def rested_on(files: dict[str, File]) -> dict[str, set[int]]:
    """Return the places in each file of its theorems, and of whatever the theorems of any file rest on."""
    seen: dict[str, set[int]] = {name: set() for name in files}
    waiting = [(name, place) for name, file in files.items() for place in file.theorems]
    while waiting:
        name, place = waiting.pop()
        if place in seen[name]:
            continue
        seen[name].add(place)
        file = files[name]
        waiting += [(name, other) for other in file.around(place)]
        words = set(WORD.findall(bare(file.sentences[place][1])))
        for other in (name, *file.imports):
            waiting += [(other, at) for word in words for at in files[other].declared.get(word, ())]
    return seen


def shown(texts: dict[str, str]) -> dict[str, str]:
    """Return {file: what the page shows of it}."""
    files = {name: File(text) for name, text in texts.items()}
    return {name: files[name].text(places) for name, places in rested_on(files).items()}


def filled(page: str, texts: dict[str, str]) -> str:
    """Return the page with the text of the files in its blocks."""
    parts, absent = shown(texts), "no such file\n"
    return BLOCK.sub(lambda block: f"```coq\n(* {block[1]}.v *)\n{parts.get(block[1], absent)}```", page)


if __name__ == "__main__":
    _ = PAGE.write_text(filled(PAGE.read_text(encoding="utf-8"), sources()), encoding="utf-8")
    sys.exit()
