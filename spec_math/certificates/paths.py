"""Certificates with paths: what `certificates.check_paths` reads, written in a stream.

The tree of a lossless program is written while it is walked; of a lossy one the paths that refute it are written.
"""

from __future__ import annotations

import json
import os
from collections.abc import Generator, Iterator
from dataclasses import dataclass, replace
from typing import Any, Self

from spec_math.certificates import check_paths, write
from spec_math.certificates.refutation import refutation
from spec_math.certificates.tree import Claim, Text, Tree, masses_of

MOST = 100_000
"""The most paths of a certificate."""


@dataclass(frozen=True)
class Certificate:
    """A certificate of claims with paths; it is made anew each time that it is written.

    >>> from spec_math import check_lossless
    >>> from spec_math.token_level import single
    >>> certificate = check_lossless(single.verify, ["1/4", "3/4"], ["1/2", "1/2"], 1).certificate()
    >>> print(certificate.check().splitlines()[-1])
    Checked: trees, drafts and sums. Assumed: the trees are the program's.
    """

    claims: tuple[Claim, ...]

    def __add__(self, other: Certificate) -> Self:
        return replace(self, claims=self.claims + other.claims)

    def lines(self) -> Iterator[str]:
        """Return the certificate as JSON, in lines.

        Raises:
            ValueError: it has too many paths, or the program is not a function of its coin.
        """
        paths = sum(claim.paths for claim in self.claims if claim.lossless)
        if paths > MOST:
            raise ValueError(f"a certificate holds at most {MOST:,} paths; this one would have {paths:,}")
        yield json.dumps({"format": check_paths.FORMATS[0]})[:-1] + ', "claims": [\n'
        for place, claim in enumerate(self.claims):
            yield ",\n" if place else ""
            yield from _lines(claim)
        yield "]}\n"

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the certificate, zipped where the name ends in .gz; the file appears whole or not at all.

        Raises:
            OSError: the folder cannot be written to. ValueError: as `lines`.
        """
        write(path, self.lines())

    def document(self) -> dict[str, Any]:
        """Return what `save` writes, as Python reads it."""
        return json.loads("".join(self.lines()))

    def check(self, function: str | None = None) -> str:
        """Return what the checker says; `function` (FILE:NAME) is replayed on each path.

        Raises:
            ValueError: the certificate does not hold.
        """
        return check_paths.check(self.document(), function=function)


def _lines(claim: Claim) -> Generator[str, None, None]:
    """Write a claim as JSON, in lines."""
    known = claim.header | {"draft": [[list(text), masses_of(row)] for text, row in claim.draft.items()]}
    yield json.dumps(known, ensure_ascii=False)[:-1] + ',\n"nodes": [\n'
    tree = Tree()
    if claim.lossless:
        verdict = ["lossless", None, None]
        yield from _all_blocks(claim, tree)
    else:
        texts, side, ways, tree.coins = refutation(claim)
        verdict = ["lossy", texts, side]
        for text, shown in ways.items():
            yield from tree.grown(text, shown)
    rest = {"trees": tree.roots(), "target": _rows(claim, tree), "coins": tree.coins, "verdict": verdict}
    yield "],\n" + json.dumps(rest, ensure_ascii=False)[1:]


def _all_blocks(claim: Claim, tree: Tree) -> Generator[str, None, None]:
    texts: set[Text] = {()}
    for _ in range(claim.header["rounds"]):
        after: set[Text] = set()
        for text in sorted(texts):
            if not claim.over(text) and text not in tree.emitted:
                yield from tree.grown(text, claim.ways(text))
            after |= {(text + block)[: claim.header["horizon"]] for block in tree.emitted.get(text, {()})}
        texts = after


def _rows(claim: Claim, tree: Tree) -> list[Any]:
    """Return the target's rows after all texts that it or the program begins."""
    texts: set[Text] = {(), *claim.draft, *([(0,) * len(claim.draft)] if claim.header["shape"] == "chain" else [])}
    rows = {text: masses_of(claim.target(text)) for text in texts}
    waiting: set[Text] = {(), *(text + block for text, blocks in tree.emitted.items() for block in blocks)}
    while waiting:
        texts = {text for text in waiting if not claim.over(text)}
        rows |= {text: masses_of(claim.target(text)) for text in texts if text not in rows}
        waiting = {(*text, token) for text in texts for token, mass in enumerate(rows[text]) if mass != "0"}
    return [[list(text), row] for text, row in sorted(rows.items(), key=lambda item: (len(item[0]), item[0]))]
