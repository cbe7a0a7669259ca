"""Markov chain of a program with a coin in PRISM's language, for the model checkers PRISM and Storm.

Source: Kwiatkowska, Norman, Parker 2011, PRISM 4.0 (the language); Hensel et al. 2022, Storm.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from fractions import Fraction
from typing import Any

from spec_math.certificates.paths import Certificate
from spec_math.certificates.tree import Claim, Text
from spec_math.masses import by_outcome


def models(certificate: Certificate) -> list[tuple[str, str]]:
    """Return the Markov chain of each claim of a certificate with paths, and its properties: files .pm and .props.

    A chain is the whole program, whatever its verdict is. It ends in one state for each text of `horizon` tokens; the
    target continues shorter texts. A path that breaks, or is too long to follow, ends in the state `no_text`. Nodes
    with equal futures are one state. The properties ask for the probability of each outcome, and name the target's as
    the result that PRISM tests.

    Raises:
        ValueError: it has too many paths, the function has no coin, or the program is not a function of its coin.

    >>> from spec_math import check_lossless
    >>> from spec_math.token_level import single
    >>> verdict = check_lossless(single.verify, ["1/4", "3/4"], ["1/2", "1/2"], 1)
    >>> print(models(verdict.certificate())[0][0].partition("module")[2].partition("endmodule")[0].strip())
    verifier
      s : [0..3] init 0;
      [] s=0 -> 1/2 : (s'=1) + 1/2 : (s'=2);
      [] s=1 -> 1/2 : (s'=2) + 1/2 : (s'=3);
      [] s=2 -> (s'=2);
      [] s=3 -> (s'=3);
    """
    claims: tuple[Any, ...] = certificate.claims
    if not all(isinstance(claim, Claim) for claim in claims):
        raise ValueError(
            "a Markov chain needs a program with a coin, and this function draws its random numbers itself"
        )
    whole = Certificate(tuple(replace(claim, lossless=True) for claim in claims))
    return [_Chain(claim).written() for claim in whole.document()["claims"]]


class _Chain:
    """The states of a claim: `rows` are the probabilities of those that follow, and `states` finds equal ones."""

    def __init__(self, claim: Mapping[str, Any]) -> None:
        self.claim, self.nodes = claim, claim["nodes"]
        self.trees = {tuple(text): place for text, place in claim["trees"]}
        self.target = {tuple(text): list(map(Fraction, row)) for text, row in claim["target"]}
        self.rows: list[tuple[tuple[Fraction, int], ...]] = []
        self.states: dict[Any, int] = {}
        self.done: dict[Any, int] = {}

    def begun(self, text: Text, rounds: int) -> Any:
        """Return the node after a text, before so many blocks; a text that is over is its own node."""
        if len(text) >= self.claim["horizon"] or text[-1:] == (self.claim["end"],):
            return text
        return ("coin", text, self.trees.get(text), rounds) if rounds else ("target", text)

    def branches(self, node: Any) -> Sequence[tuple[Fraction, Any]]:
        """Return the probabilities and the nodes that follow; an outcome has none."""
        if node[0] == "target":
            return [(mass, self.begun((*node[1], token), 0)) for token, mass in enumerate(self.target[node[1]]) if mass]
        if node[0] != "coin":
            return ()
        _, text, place, rounds = node
        own: list[Any] = ["", []] if place is None else self.nodes[place]
        kind, asked, *below = own
        if kind == "emit":
            return [(Fraction(1), self.begun((text + tuple(asked))[: self.claim["horizon"]], rounds - 1))]
        below = below[0] if kind == "draw" else below
        if all(child is None for child in below):
            return [(Fraction(1), "no_text")]
        masses = list(map(Fraction, {"draw": asked, "flip": [asked]}.get(kind, [1])))
        masses += [1 - masses[0]] * (kind == "flip")
        return [(m / sum(masses), ("coin", text, child, rounds)) for m, child in zip(masses, below, strict=True) if m]

    def state(self, node: Any) -> int:
        """Return the state of a node, whose row is made after those that it leads to."""
        if node not in self.done:
            masses = by_outcome((self.state(child), mass) for mass, child in self.branches(node))
            row = tuple((mass, state) for state, mass in sorted(masses.items(), reverse=True))
            if len(row) == 1 and row[0][0] == 1:  # a coin with one answer is no state
                self.done[node] = row[0][1]
            else:
                self.done[node] = self.states.setdefault(row or node, len(self.rows))
                self.rows += [row] * (self.done[node] == len(self.rows))
        return self.done[node]

    def ends(self, node: Any, mass: Fraction) -> Iterator[tuple[Any, Fraction]]:
        """Yield the outcomes below a node, with their probabilities."""
        below = self.branches(node)
        yield from ((end, own) for share, child in below for end, own in self.ends(child, mass * share))
        yield from [(node, mass)] * (not below)

    def written(self) -> tuple[str, str]:
        """Return the chain and its properties in PRISM's language; the first state is made last."""
        about = f"{self.claim['rounds']} x {self.claim['of']}, then the target, up to {self.claim['horizon']} token(s)"
        first = self.state(self.begun((), self.claim["rounds"]))
        wanted = dict(self.ends(self.begun((), 0), Fraction(1)))
        lines = [f"// {about}", "dtmc", "", "module verifier", f"  s : [0..{first}] init 0;"]
        for state, row in enumerate(reversed(self.rows)):
            after = " + ".join(f"{_number(mass)} : (s'={first - to})" for mass, to in row) or f"(s'={state})"
            lines.append(f"  [] s={state} -> {after};")
        lines += ["endmodule", ""]
        asked = ["// The probability of each text; RESULT is the target's, which prism -exact -test compares."]
        emitted = {node: f"s={first - state}" for node, state in self.states.items() if not self.rows[state]}
        for end in dict.fromkeys((*wanted, *emitted)):
            label = end if isinstance(end, str) else "_".join(map(str, ("emitted", *end)))
            lines.append(f'label "{label}" = {emitted.get(end, "false")};')
            asked += [f"// RESULT: {wanted.get(end, 0)}", f'P=? [ F "{label}" ];']
        return "\n".join([*lines, ""]), "\n".join([*asked, ""])


def _number(mass: Fraction) -> str:
    """Write a fraction so that PRISM and Storm read it exactly: PRISM's whole numbers have 32 bits, decimals any."""
    top, bottom = mass.as_integer_ratio()
    end = "" if bottom < 2**31 else ".0"
    return f"{top}{end}/{bottom}{end}" if bottom > 1 else f"{top}"
