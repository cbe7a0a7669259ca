"""A certificate of an optimal coupling: it carries what it claims, and anyone checks it with a few sums."""

from __future__ import annotations

import json
import os
import re
from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path
from typing import Any, cast

from spec_math.arrays import exact
from spec_math.certificates import check_paths, read, write
from spec_math.notebook import BAD, GOOD, card, joint_table
from spec_math.token_level.draft_law import Drafts, checked, sets

FORMAT = check_paths.FORMATS[1]

NUMBER = re.compile(r"-?[0-9]+(/0*[1-9][0-9]*)?")


@dataclass(frozen=True)
class Certificate:
    """The claim: no verifier of drafts with this law emits the target's law and a drafted token more often than this.

    target: the masses [V]. draft_law: {tokens: mass}, the keys tuples or frozensets. acceptance: P(emitted token is a
    draft). coupling: {(tokens, emitted): mass}, which reaches it. subset: tokens H with P(S ⊆ H) − t(H) = 1 −
    acceptance, which shows that nothing exceeds it: a draft inside H can only be met by a target token inside H.
    Every number is a Fraction.
    """

    target: tuple[Fraction, ...]
    draft_law: dict[Any, Fraction]
    acceptance: Fraction
    coupling: dict[tuple[Any, int], Fraction]
    subset: frozenset[int]

    def check(self, target: Any = None, draft_law: Any = None) -> bool:
        """Say whether the claim is shown, and, where laws are given, whether it is about them; never raises."""
        return self.fault(target, draft_law) is None

    def fault(self, target: Any = None, draft_law: Any = None) -> str | None:
        """Return the first thing wrong with the claim, or None; never raises.

        Laws given are compared with the certificate's own: a claim can be true and about other laws. A law of tuples
        and one of sets are compared as laws of sets.
        """
        try:
            return _fault(self) or _other(self, target, draft_law)
        except Exception as error:  # a judge of anybody's certificate answers, whatever it is given
            return f"the certificate cannot be read: {type(error).__name__}: {error}"

    def _repr_html_(self) -> str:
        fault = self.fault()
        rows: dict[Any, dict[int, Fraction]] = {}
        for (tokens, token), mass in self.coupling.items():
            rows.setdefault(tokens, {})[token] = mass
        facts = {"acceptance": self.acceptance, "bounded by the subset": sorted(self.subset), "fault": fault}
        heading = "Certificate, checked" if fault is None else "Certificate that shows nothing"
        return card(heading, facts, joint_table(rows) if fault is None else "", GOOD if fault is None else BAD)

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the certificate as JSON, every number a string such as "3/16", zipped where the name ends in .gz.

        The file appears whole or not at all.

        Raises:
            OSError: the folder cannot be written to.
            ValueError: a number has more digits than Python writes (4300 by default).
        """
        write(path, [self.as_json()])

    def as_json(self) -> str:
        """Return what `save` writes.

        Raises:
            ValueError: a number has more digits than Python writes (4300 by default).
        """
        return json.dumps(_to_json(self), indent=1, ensure_ascii=False) + "\n"


def load(path: str | os.PathLike[str]) -> Certificate:
    """Read a certificate that `save` wrote, as claimed; `check` then judges it.

    Raises:
        OSError: there is no such file, or it cannot be read.
        ValueError: the file is no certificate, naming the file and what is wrong with it.
    """
    fields = read(Path(path))
    try:
        return _from_json(fields)
    except ValueError as error:
        raise ValueError(f"{path} holds no certificate: {error}") from error


def _fault(claim: Certificate) -> str | None:
    """Judge the claim by the conditions of the checker that anybody can copy."""
    numbers = [*claim.target, *claim.draft_law.values(), claim.acceptance, *claim.coupling.values()]
    if any(type(number) is not Fraction for number in numbers):
        return "every number must be a Fraction"
    cells = [(*outcome, mass) for outcome, mass in claim.coupling.items()]
    try:
        _ = check_paths.optimum([*claim.target], claim.draft_law, cells, claim.acceptance, claim.subset)
    except ValueError as error:
        return str(error)
    return None


def _other(claim: Certificate, target: Any, draft_law: Any) -> str | None:
    own = exact(list(claim.target))
    if target is not None and exact(target).tolist() != own.tolist():
        return "the certificate is about another target"
    if draft_law is None:
        return None
    exactly = dict(zip(draft_law, exact(list(draft_law.values())).tolist(), strict=True))
    theirs, ours = checked(exactly, own), checked(claim.draft_law, own)
    if any(isinstance(key, frozenset) for key in (*theirs, *ours)):
        theirs, ours = sets(theirs), sets(ours)
    return None if theirs == ours else "the certificate is about another distribution of the drafts"


def _to_json(claim: Certificate) -> dict[str, Any]:
    return {
        "format": FORMAT,
        "drafts": "sets" if any(isinstance(key, frozenset) for key in claim.draft_law) else "tuples",
        "target": [str(mass) for mass in claim.target],
        "acceptance": str(claim.acceptance),
        "subset": sorted(claim.subset),
        "draft_law": [[_listed(tokens), str(mass)] for tokens, mass in claim.draft_law.items()],
        "coupling": [[_listed(tokens), token, str(mass)] for (tokens, token), mass in claim.coupling.items()],
    }


def _listed(tokens: Drafts) -> list[int]:
    return sorted(tokens) if isinstance(tokens, frozenset) else list(tokens)


def _from_json(fields: dict[str, Any]) -> Certificate:
    wanted = {"format", "drafts", "target", "acceptance", "subset", "draft_law", "coupling"}
    if set(fields) != wanted:
        raise ValueError(f"it must be an object with exactly the entries {', '.join(sorted(wanted))}")
    if fields["format"] != FORMAT or fields["drafts"] not in ("tuples", "sets"):
        raise ValueError(f'its "format" must be {FORMAT!r} and its "drafts" "tuples" or "sets"')

    def drafted(value: Any) -> Drafts:
        tokens = _tokens(value)
        return frozenset(tokens) if fields["drafts"] == "sets" else tuple(tokens)

    return Certificate(
        target=tuple(_number(mass) for mass in _list(fields["target"], "target")),
        draft_law=_table(fields["draft_law"], 2, "draft_law", lambda row: (drafted(row[0]), row[1])),
        acceptance=_number(fields["acceptance"]),
        coupling=_table(fields["coupling"], 3, "coupling", lambda row: ((drafted(row[0]), _token(row[1])), row[2])),
        subset=frozenset(_tokens(fields["subset"])),
    )


def _table(rows: Any, width: int, name: str, read: Callable[[list[Any]], tuple[Any, Any]]) -> dict[Any, Fraction]:
    result: dict[Any, Fraction] = {}
    for row in _list(rows, name):
        if len(_list(row, name)) != width:
            raise ValueError(f'each row of "{name}" must have {width} entries; one has {len(row)}')
        outcome, mass = read(row)
        if outcome in result:
            raise ValueError(f'"{name}" lists {outcome} twice')
        result[outcome] = _number(mass)
    return result


def _list(value: Any, name: str) -> list[Any]:
    if not isinstance(value, list):
        raise ValueError(f'"{name}" must be a list, and so must its rows; got {value!r:.80}')
    return cast("list[Any]", value)


def _tokens(value: Any) -> list[int]:
    return [_token(token) for token in _list(value, "tokens")]


def _token(value: Any) -> int:
    if type(value) is not int:
        raise ValueError(f"a token must be a whole number; got {value!r:.80}")
    return value


def _number(value: Any) -> Fraction:
    if not isinstance(value, str) or NUMBER.fullmatch(value) is None:
        raise ValueError(f'a number must be a string such as "3/16"; got {value!r:.80}')
    return Fraction(value)
