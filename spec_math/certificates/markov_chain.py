"""Markov chain of a program with a coin in PRISM's language, for the model checkers PRISM and Storm.

Source: Kwiatkowska, Norman, Parker 2011, PRISM 4.0 (the language); Hensel et al. 2022, Storm.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from fractions import Fraction
from typing import Any

from spec_math.certificates.paths import Certificate, Text

Branches = Callable[[Any], Sequence[tuple[Fraction, Any]]]
"""The probabilities and the nodes that follow a node of a tree; an outcome has none."""


def models(certificate: Certificate) -> list[tuple[str, str]]:
    """Return the Markov chain of each claim of a certificate with paths, and its properties: files .pm and .props.

    A chain is the whole program, whatever its verdict is. It ends in one state for each text of `horizon` tokens; the
    target continues shorter texts. A path that breaks ends in `fault`, one that is not followed in `not_followed`.

    Raises:
        ValueError: it has too many paths, or the program is not a function of its coin.

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
    whole = Certificate(tuple(replace(claim, lossless=True) for claim in certificate.claims))
    return [_of_claim(claim) for claim in whole.document()["claims"]]


def _of_claim(claim: Mapping[str, Any]) -> tuple[str, str]:
    trees = {tuple(text): place for text, place in claim["trees"]}
    rows = {tuple(text): list(map(Fraction, row)) for text, row in claim["target"]}

    def begun(text: Text, rounds: int) -> Any:
        """Return the node after a text, before so many blocks; a text that is over is its own node."""
        if len(text) >= claim["horizon"] or text[-1:] == (claim["end"],):
            return text
        return coin(text, trees.get(text), rounds) if rounds else ("target", text)

    def coin(text: Text, place: int | None, rounds: int) -> Any:
        return "not_followed" if place is None else ("coin", text, place, rounds)

    def branches(node: Any) -> Sequence[tuple[Fraction, Any]]:
        if node[0] == "target":
            return [(mass, begun((*node[1], token), 0)) for token, mass in enumerate(rows[node[1]]) if mass]
        if node[0] != "coin":
            return ()
        _, text, place, rounds = node
        kind, asked, *below = claim["nodes"][place]
        if kind == "emit":
            return [(Fraction(1), begun((text + tuple(asked))[: claim["horizon"]], rounds - 1))]
        below = below[0] if kind == "draw" else below
        if all(child is None for child in below):
            return [(Fraction(1), "fault")]
        masses = list(map(Fraction, {"draw": asked, "flip": [asked]}.get(kind, [1])))
        masses += [1 - masses[0]] * (kind == "flip")
        total = sum(masses, Fraction(0))
        return [(m / total, coin(text, child, rounds)) for m, child in zip(masses, below, strict=True) if m]

    said = f"{claim['of']}: {claim['rounds']} block(s), then the target, up to {claim['horizon']} token(s)"
    return model(begun((), claim["rounds"]), begun((), 0), branches, said)


def model(program: Any, target: Any, branches: Branches, said: str) -> tuple[str, str]:
    """Write the tree below the node `program` as a Markov chain, with a state and a label for each outcome.

    Nodes with equal futures are one state. The properties ask for the probability of each outcome, and name its
    probability below the node `target` as the result that PRISM tests.
    """
    rows: list[tuple[tuple[Fraction, int], ...]] = []
    places: dict[Any, int] = {}
    done: dict[Any, int] = {}
    first = _state(program, branches, (rows, places, done))
    wanted: dict[Any, Fraction] = {}
    for outcome, mass in _ends(target, Fraction(1), branches):
        wanted[outcome] = wanted.get(outcome, Fraction(0)) + mass
    written = [f"// {said}", "dtmc", "", "module verifier", f"  s : [0..{first}] init 0;"]
    for state, row in enumerate(reversed(rows)):  # the first state is made last
        after = " + ".join(f"{_number(mass)} : (s'={first - to})" for mass, to in row) or f"(s'={state})"
        written.append(f"  [] s={state} -> {after};")
    written += ["endmodule", ""]
    asked = ["// The probability of each text; RESULT is the target's, which prism -exact -test compares."]
    for outcome in dict.fromkeys((*wanted, *(end for end, state in places.items() if not rows[state]))):
        label = outcome if isinstance(outcome, str) else "_".join(map(str, ("emitted", *outcome)))
        written.append(f'label "{label}" = {f"s={first - places[outcome]}" if outcome in places else "false"};')
        asked += [f"// RESULT: {wanted.get(outcome, 0)}", f'P=? [ F "{label}" ];']
    return "\n".join([*written, ""]), "\n".join([*asked, ""])


def _state(node: Any, branches: Branches, made: tuple[list[Any], dict[Any, int], dict[Any, int]]) -> int:
    """Return the state of a node; its row is made after those that it leads to, and only once where rows are equal."""
    rows, places, done = made
    if node not in done:
        masses: dict[int, Fraction] = {}
        for mass, child in branches(node):
            after = _state(child, branches, made)
            masses[after] = masses.get(after, Fraction(0)) + mass
        row = tuple((mass, state) for state, mass in sorted(masses.items(), reverse=True))
        if len(masses) == 1 and row[0][0] == 1:  # a coin with one answer is no state
            done[node] = row[0][1]
        else:
            done[node] = places.setdefault(row or node, len(rows))
            rows += [row] * (done[node] == len(rows))
    return done[node]


def _ends(node: Any, mass: Fraction, branches: Branches) -> Iterator[tuple[Any, Fraction]]:
    below = branches(node)
    if not below:
        yield node, mass
    for chance, child in below:
        yield from _ends(child, mass * chance, branches)


def _number(mass: Fraction) -> str:
    """Write a fraction so that PRISM and Storm read it exactly: PRISM's whole numbers have 32 bits, decimals any."""
    top, bottom = mass.as_integer_ratio()
    end = "" if bottom < 2**31 else ".0"
    return f"{top}{end}/{bottom}{end}" if bottom > 1 else f"{top}"
