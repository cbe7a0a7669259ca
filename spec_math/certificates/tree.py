"""The tree of a program's coins, written node by node while the program is walked; equal subtrees are written once."""

from __future__ import annotations

import json
from collections.abc import Callable, Generator, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from spec_math.certificates.check_paths import spelled
from spec_math.chance import ChanceError, Enumerating, UnrepeatableError
from spec_math.masses import Cumulative, FlipAndDraw, as_list
from spec_math.scheme import is_index

Text = tuple[int, ...]
Step = tuple[str, Any, list[tuple[Any, Any]], int]
"""A coin on a path, as `chance.Choice`; or "drafts", the tokens, [(None, 1)], 0."""

WRITTEN = json.JSONEncoder(ensure_ascii=False).encode
"""A node as JSON, written by one encoder for all."""


class Noting(FlipAndDraw):
    """The coin of a walk, which notes where the drafts are handed over, and the question that was asked last."""

    def __init__(self, coin: Enumerating) -> None:
        self._coin = coin
        self.marks: list[tuple[int, Text]] = []
        self.last: tuple[str, Any] = ("", None)

    def flip(self, p: Any) -> bool:
        """Note the question, and flip."""
        self.last = "flip", p
        return self._coin.flip(p)

    def draw(self, masses: Any) -> int:
        """Note the question, and draw."""
        self.last = "draw", masses
        return self._coin.draw(masses)

    def give(self, drafts: Text) -> None:
        """Note that the verifier is given these drafts here."""
        self.marks.append((self._coin.asked, drafts))

    def steps(self) -> tuple[Step, ...]:
        """Return the path so far, with its drafts."""
        taken = self._coin.taken
        for at, drafts in self.marks:
            taken = (*taken[:at], ("drafts", list(drafts), [(None, 1)], 0), *taken[at:])
        return taken

    def broken_question(self) -> list[Any]:
        """Return the node of the question that the coin refused."""
        kind, asked = self.last
        return _node(kind, asked.masses if isinstance(asked, Cumulative) else asked, {})


class Way(NamedTuple):
    """One path: its coins, the node at its end (None where it was cut), its mass, and whether it ends in a fault.

    `gap` is how far masses of coins were from summing to 1 so far, `coins` the number of coins with the refused one.
    """

    steps: tuple[Step, ...]
    leaf: list[Any] | None
    mass: Any
    fault: bool
    gap: float
    coins: int


@dataclass(frozen=True)
class Claim:
    """A verdict that a certificate can show: the entries of its header, and what is walked again to write the rest.

    `target(text)` and `draft` are rows of masses; `program(text)` is a function of a `Noting` coin that returns the
    emitted tokens, `fault(outcome)` says why an outcome is no block, and `coin()` is a fresh coin of the walk.
    `paths` is the number of paths that the verdict walked. A lossy verdict has `broken` where a path broke.
    """

    header: dict[str, Any]
    target: Callable[[Text], Any]
    draft: dict[Text, Any]
    program: Callable[[Text], Callable[[Noting], Any]]
    fault: Callable[[Any], str | None]
    coin: Callable[[Text], Enumerating]
    lossless: bool
    broken: bool
    paths: int

    def over(self, text: Text) -> bool:
        """Say whether a text has reached the horizon, or has ended."""
        return len(text) >= self.header["horizon"] or text[-1:] == (self.header["end"],)

    def ways(self, text: Text) -> Iterator[Way]:
        """Walk every path of the program after a text.

        Raises:
            ValueError: the program is not a function of its coin.
        """
        coin, program = self.coin(text), self.program(text)
        while True:
            coin.rewind()
            noting = Noting(coin)
            try:
                outcome = program(noting)
            except UnrepeatableError:
                raise
            except (Exception, SystemExit) as error:  # whatever a program raises is evidence against it
                fault = f"{type(error).__name__}: {error}"
                refused = isinstance(error, ChanceError)
                leaf = noting.broken_question() if refused and not coin.cut else ["fault", fault]
            else:
                fault = self.fault(outcome)
                tokens: list[Any] = list(outcome) if isinstance(outcome, tuple | list) else [outcome]
                whole = fault is None or all(is_index(token) for token in tokens)
                leaf = ["emit", [int(token) for token in tokens]] if whole else ["fault", fault]
            broken = fault is not None and not coin.cut
            gap = max(coin.gaps, default=0.0)
            yield Way(noting.steps(), None if coin.cut else leaf, coin.mass, broken, gap, coin.asked + broken)
            if not coin.advance():
                return


def masses_of(row: Any) -> list[str]:
    """Return a row of masses as a certificate writes it.

    >>> masses_of([0.5, 0.5])
    ['1/2', '1/2']
    """
    return [spelled(mass) for mass in as_list(row)]


def _node(kind: str, asked: Any, children: Mapping[Any, int]) -> list[Any]:
    """Return the node of a question, or of drafts, with the places of its children by answer."""
    if kind == "flip":
        return ["flip", spelled(asked), children.get(True), children.get(False)]
    if kind == "drafts":
        return ["drafts", asked, children.get(None)]
    masses = masses_of(asked)
    return ["draw", masses, [children.get(token) for token in range(len(masses))]]


@dataclass
class Tree:
    """Nodes that were written, each once, with their places; the roots after each text, what they emit, and where."""

    places: dict[str, int] = field(default_factory=dict[str, int])
    at: dict[Text, int] = field(default_factory=dict[Text, int])
    emitted: dict[Text, set[Text]] = field(default_factory=dict[Text, set[Text]])
    leaves: dict[Text, int] = field(default_factory=dict[Text, int])
    coins: int = 0

    def roots(self) -> list[Any]:
        """Return [text, place] of each root."""
        return [[list(text), place] for text, place in self.at.items()]

    def grown(self, text: Text, ways: Iterator[Way] | Sequence[Way]) -> Generator[str, None, None]:
        """Write the nodes of the paths after a text, which come in their order, as soon as each is complete."""
        blocks = self.emitted.setdefault(text, set())
        open_nodes: list[tuple[Step, dict[Any, int]]] = []
        child: int | None = None
        for way in ways:
            same = 0
            while same < len(open_nodes) and open_nodes[same][0][3] == way.steps[same][3]:
                same += 1
            # Nodes below the one where the path turns off are complete.
            while len(open_nodes) > same + 1:
                child = yield from self._closed(open_nodes, child)
            if open_nodes:
                step, children = open_nodes.pop()
                if child is not None:
                    children[step[2][step[3]][0]] = child
                open_nodes.append((way.steps[same], children))
            open_nodes += [(step, {}) for step in way.steps[len(open_nodes) :]]
            self.coins = max(self.coins, way.coins)
            child = None
            if way.leaf is not None:
                block = () if way.fault else tuple(way.leaf[1])
                child = self.leaves.get(block)
                if child is None:
                    child = yield from self._placed(way.leaf)
                if block:
                    self.leaves[block] = child
                    blocks.add(block)
        while open_nodes:
            child = yield from self._closed(open_nodes, child)
        if child is not None:
            self.at[text] = child

    def _closed(self, open_nodes: list[Any], child: int | None) -> Generator[str, None, int]:
        (kind, asked, options, at), children = open_nodes.pop()
        if child is not None:
            children[options[at][0]] = child
        return (yield from self._placed(_node(kind, asked, children)))

    def _placed(self, node: list[Any]) -> Generator[str, None, int]:
        line = WRITTEN(node)
        place = self.places.get(line)
        if place is None:
            place = self.places[line] = len(self.places)
            yield f"{',' if place else ''}{line}\n"
        return place
