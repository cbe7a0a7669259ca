"""Markov chain of a program with a coin in PRISM's language, for the model checkers PRISM and Storm.

Source: Kwiatkowska, Norman, Parker 2011, PRISM 4.0 (the language); Hensel et al. 2022, Storm.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from fractions import Fraction
from typing import Any, NamedTuple

LARGEST = 2**31
"""PRISM reads whole numbers below this; a larger one is written as a decimal number, which is read exactly too."""

Node = Any
"""A node of a tree: hashable where equal nodes are to be one state, and an outcome where it has no branches."""


class Model(NamedTuple):
    """A Markov chain as the text of a `.pm` file, and its properties as the text of a `.props` file."""

    chain: str
    properties: str


def model(
    root: Node, branches: Callable[[Node], Sequence[tuple[Fraction, Node]]], wanted: Mapping[Any, Fraction], said: str
) -> Model:
    """Write the tree below `root` as a Markov chain, with one absorbing state and one label for each outcome.

    `branches(node)` are the probabilities and the nodes that follow; an outcome has none. `wanted` is the target's
    distribution {outcome: probability}, a token or a tuple of tokens. Nodes with equal futures are one state. The
    properties ask for the probability of each outcome, and name the target's as the result that PRISM tests.

    >>> half = Fraction(1, 2)
    >>> written = model("coin", lambda node: [(half, 0), (half, 1)] if node == "coin" else [], {0: half, 1: half}, "")
    >>> print(written.chain.partition("module")[2].partition("endmodule")[0].strip())
    verifier
      s : [0..2] init 0;
      [] s=0 -> 1/2 : (s'=1) + 1/2 : (s'=2);
      [] s=1 -> (s'=1);
      [] s=2 -> (s'=2);
    """
    rows, outcomes = _states(root, branches)
    last = len(rows) - 1  # the root is made last, and numbered 0
    lines = [f"// {said}", "dtmc", "", "module verifier", f"  s : [0..{last}] init 0;"]
    for state, row in enumerate(reversed(rows)):
        after = " + ".join(f"{_number(mass)} : (s'={last - to})" for mass, to in row) or f"(s'={state})"
        lines.append(f"  [] s={state} -> {after};")
    lines += ["endmodule", ""]
    listed = [*wanted, *(outcome for outcome in outcomes if outcome not in wanted)]
    for outcome in listed:
        where = f"s={last - outcomes[outcome]}" if outcome in outcomes else "false"
        lines.append(f'label "{_label(outcome)}" = {where};')
    asked = [f'// RESULT: {wanted.get(outcome, 0)}\nP=? [ F "{_label(outcome)}" ];' for outcome in listed]
    head = "// The probability of each outcome; RESULT is the target's, which prism -exact -test compares.\n"
    return Model("\n".join(lines) + "\n", head + "\n".join(asked) + "\n")


def _states(
    root: Node, branches: Callable[[Node], Sequence[tuple[Fraction, Node]]]
) -> tuple[list[tuple[tuple[Fraction, int], ...]], dict[Any, int]]:
    """Return the rows of the chain, each after those that it leads to, and the state of each outcome."""
    rows: list[tuple[tuple[Fraction, int], ...]] = []
    known: dict[Any, int] = {}
    done: dict[Node, int] = {}
    waiting = [root]
    while waiting:
        node = waiting[-1]
        after = () if node in done else branches(node)
        left = [child for _, child in after if child not in done]
        if left:
            waiting.extend(left)
            continue
        _ = waiting.pop()
        if node in done:
            continue
        masses: dict[int, Fraction] = {}
        for mass, child in after:
            masses[done[child]] = masses.get(done[child], Fraction(0)) + mass
        row = tuple((mass, state) for state, mass in sorted(masses.items(), reverse=True))
        if len(row) == 1 and row[0][0] == 1:  # a coin with one answer is no state
            done[node] = row[0][1]
            continue
        if (row or node) not in known:
            known[row or node] = len(rows)
            rows.append(row)
        done[node] = known[row or node]
    return rows, {node: state for node, state in known.items() if not rows[state]}


def _number(mass: Fraction) -> str:
    """Write a fraction so that PRISM and Storm read it exactly."""
    top, bottom = mass.as_integer_ratio()
    end = "" if bottom < LARGEST else ".0"
    return f"{top}{end}/{bottom}{end}" if bottom > 1 else f"{top}"


def _label(outcome: Any) -> str:
    return "_".join(map(str, ("emitted", *(outcome if isinstance(outcome, tuple) else (outcome,)))))
