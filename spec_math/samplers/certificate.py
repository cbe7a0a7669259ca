"""Certificate of a verdict on a sampler as it is: every path of its random numbers, with the box of each number."""

from __future__ import annotations

import hashlib
import json
import sys
from collections.abc import Hashable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import reduce
from itertools import accumulate, takewhile
from math import prod
from pathlib import Path
from typing import Any

from spec_math.certificates import check_followed
from spec_math.certificates.paths import MOST
from spec_math.certificates.paths import Certificate as Written
from spec_math.chance import ChanceError, Enumerating, paths
from spec_math.float_allowance import UNIT, evenly
from spec_math.pathwise.atom import Atom
from spec_math.pathwise.tape import Tape
from spec_math.samplers.answer import OF_ANSWERS, Fault, broken, plain
from spec_math.samplers.case import Case
from spec_math.samplers.subject import FRACTIONS, Numbers, Subject, names
from spec_math.samplers.walk import Run

Judgement = Any
"""A Judgement; its module makes certificates, and so is not imported here."""

EXACT = 1e-12
"""The total variation up to which the judge does not ask float64 too, as in `samplers.judgement`."""

Step = tuple[tuple[Any, ...], int]
"""A division of what is known of a path's numbers, and which of its parts the path goes through."""


@dataclass(frozen=True)
class Box:
    """One path: its drafts and its mass, its divisions, a letter for each number drawn, and what was returned."""

    drafts: tuple[int, ...]
    mass: Fraction
    steps: tuple[Step, ...]
    draws: str
    emitted: Any


@dataclass(frozen=True)
class Certificate(Written):
    """The certificate of judgements of one sampler as it is; it is made anew each time that it is written.

    The paths are walked once more. A lossy verdict is certified by the heaviest boxes of the texts that come too often.
    The certificate is checked before it is written, by sums and one run of the function in each box.
    """

    claims: tuple[Any, ...]

    def lines(self) -> Iterator[str]:
        """Return the certificate as JSON, in lines.

        Raises:
            ValueError: the verdict has no certificate; the message says what is needed.
        """
        document = self.document()
        nodes = document.pop("nodes")
        yield json.dumps(document, ensure_ascii=False)[:-1] + ', "nodes": [\n'
        for place, node in enumerate(nodes):
            yield f"{',' if place else ''}{json.dumps(node)}\n"
        yield "]}\n"

    def document(self) -> dict[str, Any]:
        """Return the certificate as a JSON object.

        Raises:
            ValueError: as `lines`.
        """
        judged, whole = [one for claim in self.claims for one in _each(claim)], bool(self.claims[0].verdict)
        for one in judged:
            _check_plain(one.subject)
        nodes, subject = _Nodes(), judged[-1].subject
        # Draws of torch's are replaced too, beside Python's random and NumPy's.
        torch = judged[0].subject.numbers.name.startswith("torch") or names(judged[0].subject.fn, "torch")
        document: dict[str, Any] = {
            "format": check_followed.FORMATS[0],
            "verdict": "lossless" if whole else "lossy",
            "assumed": check_followed.ASSUMED,
            "function": _place(subject.fn),
            "call": {
                "placed": [role for _, role in subject.call.takes[: subject.call.positional]],
                "named": [[name, role] for name, role in subject.call.takes[subject.call.positional :]],
                "one": subject.call.one_token,
                "makes": [[name, _MAKERS[how]] for name, how in subject.call.makes],
            },
            "libraries": ["torch"] * torch,
            "cases": [_case(one, nodes, whole) for one in judged],
            "nodes": nodes.listed,
        }
        modules = dict(sys.modules)
        try:
            _ = check_followed.check(document, "{file}:{name}".format(**document["function"]), run=1)
        except ValueError as error:
            raise ValueError(f"plain runs of the function do not confirm the paths that were found: {error}") from error
        finally:
            sys.modules.update(modules)  # the checker imports the function's file anew
        return document

    def check(self, function: str | None = None) -> str:
        """Return what the checker says; `function` (FILE.py:NAME) is run in place of the function judged.

        Raises:
            ValueError: the certificate does not hold.
        """
        return check_followed.check(self.document(), function)


_MAKERS = {"np.random.default_rng()": "numpy.random", "random.Random()": "random"}


def _each(found: Judgement) -> Iterator[Judgement]:
    """Return what a judgement rests on: the numbers that were asked for, and float64 where these were asked too."""
    yield found
    finer = found.subject.numbers.finer
    if finer is not None and found.verdict and found.joint is not None and found.joint > EXACT:
        yield replace(found, subject=replace(found.subject, numbers=finer))


def _check_plain(subject: Subject) -> None:
    """Refuse what a plain call of a function in a file does not do."""
    if subject.said:
        raise ValueError(f"it is {subject.said}: wrap it in a function of tokens, target and draft, and judge that")
    if subject.grid is not None:
        raise ValueError("a certificate states ideal uniforms; leave the grid out")
    if any(how not in _MAKERS for _, how in subject.call.makes):
        raise ValueError("it takes a torch.Generator; wrap it in a function that makes one")


def _place(fn: Any) -> dict[str, str]:
    """Return the file, the name and the hash of a function that stands in a file under its own name."""
    module: Any = sys.modules.get(getattr(fn, "__module__", ""))
    file, name = getattr(module, "__file__", None), getattr(fn, "__qualname__", "<")
    found = None if "<" in name else reduce(lambda at, part: getattr(at, part, None), name.split("."), module)
    if file is None or getattr(found, "__code__", None) != getattr(fn, "__code__", fn):
        raise ValueError("a certificate names a function FILE.py:NAME; define it at the top of a file, by def")
    path = Path(file).resolve()
    shown = path.relative_to(Path.cwd()) if path.is_relative_to(Path.cwd()) else path
    return {"file": shown.as_posix(), "name": name, "sha256": hashlib.sha256(path.read_bytes()).hexdigest()}


def _numbers(numbers: Numbers) -> tuple[str, Numbers]:
    """Return the name of numbers in a certificate, and the numbers: lists of Fractions where arrays of them were."""
    if numbers is FRACTIONS:
        return "fractions", replace(numbers, rows=_as_lists)
    name = numbers.name.replace("NumPy ", "numpy.")
    if name.rpartition(".")[2] not in check_followed.DIGITS:
        raise ValueError(f"a certificate gives no {numbers.name}; judge it with numbers of another type")
    return name, numbers


def _as_lists(value: Any) -> Any:
    return [_as_lists(one) for one in value] if isinstance(value, tuple) else value


def _case(found: Judgement, nodes: _Nodes, whole: bool) -> dict[str, Any]:
    """Return one case of a certificate, its boxes among the nodes."""
    case, (name, numbers) = found.case, _numbers(found.subject.numbers)
    boxes = _boxes(replace(found.subject, numbers=numbers), case)
    written: dict[str, Any] = {name: getattr(case, name) for name in ("k", "lookahead", "horizon")}
    written |= {side: [list(map(str, row)) for row in getattr(case, side)] for side in ("target", "draft")}
    if not whole:
        boxes = _refuting(found, boxes)
    rows = {box.drafts: None for box in boxes}
    roots = [[list(drafts), nodes.tree([box for box in boxes if box.drafts == drafts])] for drafts in rows]
    return written | {"numbers": name, "drafted": roots}


def _refuting(found: Judgement, boxes: list[Box]) -> list[Box]:
    """Return the heaviest boxes that alone give texts more than the target, and more than rounding."""
    case, unit = found.case, found.subject.numbers.unit or UNIT["float64"]
    coins = max(len(box.drafts) + len(box.draws) + box.draws.count("t") * (case.size - 1) for box in boxes)
    explained = Fraction(1.001 * evenly(coins, case.size, unit, 2 * unit))
    faulty = [box for box in boxes if broken(tuple(box.emitted), case)]
    if faulty:
        shares, least = {box: box.mass for box in faulty}, explained
    else:
        wanted = {text: Fraction(mass) for text, mass in found.wanted.items()}
        excess = {text: Fraction(mass) - wanted.get(text, 0) for text, mass in found.law.items()}
        texts = _heaviest(excess, explained)
        least = explained + sum(wanted.get(text, 0) for text in texts)
        shares = {box: sum(_share(box, text, case) for text in texts) for box in boxes}
    return _heaviest(shares, least)


def _heaviest(weights: Mapping[Any, Any], bound: Fraction) -> list[Any]:
    """Return as many of the heaviest things as weigh more than a bound together."""
    heavy = sorted(weights, key=weights.__getitem__, reverse=True)
    before = accumulate((weights[one] for one in heavy), initial=Fraction(0))
    return [one for one, _ in takewhile(lambda pair: pair[1] <= bound, zip(heavy, before, strict=False))]


def _share(box: Box, text: tuple[int, ...], case: Case) -> Fraction:
    """Return the mass that a box gives to a text, continued by the target."""
    emitted = tuple(box.emitted[: case.horizon])
    if text[: len(emitted)] != emitted:
        return Fraction(0)
    return box.mass * prod(case.row(text[:place])[text[place]] for place in range(len(emitted), case.horizon))


def _boxes(subject: Subject, case: Case) -> list[Box]:
    """Walk every path of a sampler on a case."""
    tape, boxes = _Recorder(), list[Box]()
    run = Run(subject, case, tape)
    followed: Any = run.followed
    followed.on_ordinary = followed.watching = False
    with followed.exploring():
        for path in paths(run):
            name = getattr(path.outcome, "kind", path.outcome)  # of an exception, unless the answer was read
            answer = plain(run.raw) if isinstance(name, tuple) or name in OF_ANSWERS else name
            emitted = answer if isinstance(answer, tuple | str) else (answer,)
            if emitted and isinstance(emitted[0], Fault):
                raise ValueError(f"{emitted[0].said}, which a certificate cannot write down")
            steps, draws = tape.resolved()
            boxes.append(Box(run.tokens, path.mass, steps, draws, emitted))
            if len(boxes) > MOST:
                raise ValueError(f"a certificate holds at most {MOST:,} paths; there are more: judge a smaller case")
    return boxes


class _Recorder(Tape):
    """A tape that keeps how each fork divides what is known of the numbers of a path."""

    def begin(self, coin: Any) -> None:
        """Start a path."""
        super().begin(coin)
        self.steps: list[tuple[Any, Any, list[list[int]], int]] = []

    def flip(self, asked: str, p: Fraction, of: Any = None) -> bool:
        """Fork in two, and keep it."""
        answer = super().flip(asked, p)
        if 0 < p < 1:
            head, more = of
            self.steps.append((head, more, more if isinstance(head, dict) else [[0], [1]], int(not answer)))
        return answer

    def draw(self, asked: str, masses: Sequence[Fraction], of: Any = None) -> int:
        """Fork into indices, and keep it."""
        answer = super().draw(asked, masses)
        taken = [index for index, mass in enumerate(masses) if mass]
        if len(taken) > 1:
            # What is asked of no number that was drawn before is a draw by itself.
            head, more = of or (len(self.numbers), masses)
            if isinstance(head, dict) and more:
                raise ValueError("the same exponentials race twice, which a certificate cannot state")
            self.steps.append((head, more, [[index] for index in taken], taken.index(answer)))
        return answer

    def resolved(self) -> tuple[tuple[Step, ...], str]:
        """Return the divisions of the path that was walked, by the places of its numbers, and the letters of these."""
        if self.reused or self.ignored:
            kind = "one random number twice" if self.reused else "noise with a small number inside a logarithm"
            raise ValueError(f"it draws {kind}, which a certificate does not state")
        races = {atom: race for race in self.tokens for atom in race}
        place: dict[Any, int] = {}
        draws = ""
        for index, (kind, number) in enumerate(self.numbers.values()):
            race = races.get(number) if isinstance(number, Atom) else None
            if race is None or race[0] is number:
                draws += "t" if race else _letter(kind, number)
            place[number if isinstance(number, Atom) else index] = len(draws) - 1
        return tuple((_division(place, draws, *step[:3]), step[3]) for step in self.steps), draws


def _division(place: dict[Any, int], draws: str, head: Any, more: Any, groups: list[list[int]]) -> tuple[Any, ...]:
    if isinstance(head, Atom):
        if draws[place[head]] != "u":
            raise ValueError("an exponential is compared with a number; a certificate states only races of them")
        return "cut", place[head], tuple(str(more[group[0]]) for group in groups[:-1])
    numbers = tuple(dict.fromkeys(place[atom] for atom in head)) if isinstance(head, dict) else (place[head],)
    rates: Any = head.values() if isinstance(head, dict) else more
    if len(numbers) not in (1, len(rates)):
        raise ValueError("a race of numbers that were drawn in different ways is not stated by a certificate")
    return "race", numbers, tuple(map(str, rates)), tuple(map(tuple, groups))


def _letter(kind: str, number: Any) -> str:
    """Return the letter of a number that was drawn in a way."""
    if isinstance(number, Atom):
        raced = number.races or number.unsettled is not None
        if kind.startswith("a uniform of") and not raced:
            return "u"
        if ".exponential" in kind:
            return "e"
    elif (kind.startswith("a number below") and "random.sample" not in kind) or ".choice out of" in kind:
        return "n"
    raise ValueError(
        f"it draws {kind}{' and races it' if isinstance(number, Atom) else ''}, which a certificate does not state; "
        "it states uniforms, whole numbers, choices, exponentials raced by argmin, and torch.multinomial"
    )


class _Nodes:
    """The nodes of a certificate, each listed once."""

    def __init__(self) -> None:
        self.listed: list[Any] = []
        self._places: dict[Hashable, int] = {}

    def tree(self, boxes: Sequence[Box], depth: int = 0) -> int:
        """List the tree of some paths, which share their first divisions, and return its place."""
        first = boxes[0]
        if len(first.steps) == depth:
            emitted = first.emitted if isinstance(first.emitted, str) else tuple(first.emitted)
            return self._place(("end", first.draws, emitted))
        about, _ = first.steps[depth]
        parts: dict[int, list[Box]] = {}
        for box in boxes:
            parts.setdefault(box.steps[depth][1], []).append(box)
        size = len(about[2]) + 1 if about[0] == "cut" else len(about[3])
        children = tuple(self.tree(parts[part], depth + 1) if part in parts else None for part in range(size))
        return self._place((*about, children))

    def _place(self, node: Any) -> int:
        if node not in self._places:
            self._places[node] = len(self.listed)
            self.listed.append(_as_lists(node))
        return self._places[node]


def of_program(subject: Subject, case: Case, numbers: str, walked: tuple[bool, bool, int]) -> Any:
    """Return the certificate of a verdict on a program with a coin, which is walked again."""
    from spec_math.certificates.judged import coarsest, header_of, name_of
    from spec_math.certificates.tree import Claim, Noting

    run, call, chained = Run(subject, case, Tape(subject.grid)), subject.call, bool(case.lookahead)
    drafts = 0 if call.drafts_itself else len(case.drafted_from)

    def program(coin: Noting) -> Any:
        outcome = run(coin)
        if drafts:
            coin.marks.append((drafts, run.tokens))
        if isinstance(outcome, Fault) and outcome.kind != "tokens":
            raise (ChanceError if outcome.kind == "ChanceError" else ValueError)(outcome.said)
        return plain(run.raw)

    def fault(outcome: Any) -> str | None:
        wrong = broken(outcome if isinstance(outcome, tuple) else (outcome,), case)
        return None if wrong is None else wrong.said

    taken = [(role, None if place < call.positional else name) for place, (name, role) in enumerate(call.takes)]
    kind = {"Fractions": "fractions", "lists of floats": "lists"}.get(subject.numbers.name, subject.numbers.name)
    header = header_of(name_of(subject.fn), numbers if numbers == "fractions" else coarsest([numbers])) | {
        "shape": "chain" if chained else "position",
        "horizon": case.horizon,
        "drafts": drafts or None,
        "drafted": bool(drafts),
        "given": dict.fromkeys(("target", "draft"), kind.removeprefix("NumPy ")),
        "call": [[name, "token" if role == "tokens" and call.one_token else role] for role, name in taken],
    }
    draft = {(0,) * place: row for place, row in enumerate(case.draft)}
    return Written((Claim(header, case.row, draft, lambda _: program, fault, lambda _: Enumerating(), *walked),))
