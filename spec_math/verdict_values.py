"""Verdicts as values: Lossless, Lossy, Undecided, Optimal and Bracket, each with its evidence.

Source: lossless as in SpecTr, Section 3, valid transport plan.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import Enum
from functools import reduce
from operator import add
from typing import Any

from spec_math.number_types import as_text


class Evidenced:
    """A verdict that may carry evidence: functions that make its certificate anew. A copy or a pickle has none."""

    evidence: tuple[Any, ...]

    def certificate(self) -> Any:
        """Return the certificate of this verdict, which `save(path)` writes and a short checker checks.

        Raises:
            ValueError: no evidence can be written down.
        """
        if not self.evidence:
            raise ValueError("this verdict carries no evidence that a certificate could show")
        return reduce(add, (make() for make in self.evidence))

    def __getstate__(self) -> dict[str, Any]:
        return {**vars(self), "evidence": ()}


@dataclass(frozen=True)
class Lossless(Evidenced):
    """The emitted law is the target's: equal as Fractions (bound 0), or to within `bound` in total variation.

    `drafts` are the numbers of drafts that it was judged for, where there are such, and `not_judged` those that it was
    not, each with the reason; `scope` says on which laws, and `assumed` what was taken for granted.

    >>> verdict = Lossless(paths=3, drafts=(1,), scope="one pair of distributions on 2 tokens, exactly")
    >>> bool(verdict), verdict
    (True, Lossless(paths=3, bound=0.0, drafts=(1,)))
    >>> print(verdict)
    Lossless for 1 draft: one pair of distributions on 2 tokens, exactly (3 paths)
    """

    paths: int
    bound: float = 0.0
    drafts: tuple[int, ...] = ()
    not_judged: tuple[str, ...] = field(default=(), repr=False)
    scope: str = field(default="", repr=False, compare=False)
    assumed: tuple[str, ...] = field(default=(), repr=False, compare=False)
    evidence: tuple[Any, ...] = field(default=(), repr=False, compare=False)

    def __bool__(self) -> bool:
        return True

    def __str__(self) -> str:
        how = [self.scope] if self.scope else []
        how += [f"to within {self.bound:.2g} in total variation"] if self.bound else []
        left = f"; not judged for {', '.join(self.not_judged)}" if self.not_judged else ""
        given = f"\n  assumed: {'; '.join(self.assumed)}" if self.assumed else ""
        said = f": {', '.join(how)}" if how else ""
        return f"Lossless{drafts_in_words(self.drafts)}{said} ({self.paths:,} paths){left}{given}"

    def _repr_html_(self) -> str:
        known = {"paths walked": self.paths, "total variation at most": self.bound, "judged": self.scope or None}
        more = {"not judged for": ", ".join(self.not_judged) or None, "assumed": "; ".join(self.assumed) or None}
        return _card(f"Lossless{drafts_in_words(self.drafts)}", known | more, good=True)


@dataclass(frozen=True)
class Lossy(Evidenced):
    """The emitted law is not the target's, with a counterexample: a token and both its masses, or a broken path.

    Of a generator of blocks the counterexample is a text, `tokens`, in place of one token.

    >>> print(Lossy("token 0 comes too often", path=("flip(1/2) = True",)))
    Lossy: token 0 comes too often
      on the path: flip(1/2) = True
    """

    reason: str
    token: int | None = None
    emitted: Any = None
    target: Any = None
    total_variation: Any = None
    path: tuple[str, ...] = ()
    tokens: tuple[int, ...] | None = None
    drafts: tuple[int, ...] = ()
    scope: str = field(default="", repr=False, compare=False)
    evidence: tuple[Any, ...] = field(default=(), repr=False, compare=False)

    def __bool__(self) -> bool:
        return False

    def __str__(self) -> str:
        where = f"\n  on the path: {', '.join(self.path)}" if self.path else ""
        judged_on = f"\n  judged on {self.scope}" if self.scope else ""
        return f"Lossy{drafts_in_words(self.drafts)}: {self.reason}{where}{judged_on}"

    def _repr_html_(self) -> str:
        facts = {"token": self.token, "text": self.tokens, "emitted": self.emitted, "target": self.target}
        known = {**facts, "total variation": self.total_variation, "on the path": ", ".join(self.path) or None}
        return _card(f"Lossy{drafts_in_words(self.drafts)}: {self.reason}", known, good=False)


class Reason(Enum):
    """The reason why a verdict was left open, in a form that a program can read.

    >>> Reason("budget spent").name
    'BUDGET'
    """

    NOT_JUDGED = "not judged"
    """Nothing was decided: every case raised, or it is not known how the function is to be called."""
    ROUNDING = "rounding could explain it"
    """The rounding that the program's own number types allow exceeds what a verdict may forgive."""
    RANDOMNESS_NOT_SEEN = "randomness not seen"
    """The function draws from a source that cannot be followed."""
    BUDGET = "budget spent"
    """The paths that were walked decide nothing, and more were not allowed."""


@dataclass(frozen=True)
class Undecided:
    """Neither lossless nor lossy was shown: `reason` says why, and `explanation` names what stood in the way.

    It is never truthy, so that a test that asks for a lossless verifier fails.

    >>> verdict = Undecided(Reason.RANDOMNESS_NOT_SEEN, "os.urandom was read")
    >>> bool(verdict), str(verdict)
    (False, 'Undecided (randomness not seen): os.urandom was read')
    """

    reason: Reason
    explanation: str
    path: tuple[str, ...] = ()
    drafts: tuple[int, ...] = ()

    def __bool__(self) -> bool:
        return False

    def __str__(self) -> str:
        where = f"\n  on the path: {', '.join(self.path)}" if self.path else ""
        return f"Undecided{drafts_in_words(self.drafts)} ({self.reason.value}): {self.explanation}{where}"

    def _repr_html_(self) -> str:
        known = {"why": self.explanation, "on the path": ", ".join(self.path) or None}
        return _card(f"Undecided{drafts_in_words(self.drafts)}: {self.reason.value}", known)


Verdict = Lossless | Lossy | Undecided
"""What a judge returns; only `Lossless` is truthy."""


def _card(heading: str, facts: dict[str, Any], *body: str, good: bool | None = None) -> str:
    from spec_math import notebook  # a verdict is rarely shown in one

    colour = notebook.PLAIN if good is None else notebook.GOOD if good else notebook.BAD
    return notebook.card(heading, facts, *body, colour=colour)


def drafts_in_words(counts: tuple[int, ...]) -> str:
    """Return " for 1, 2 and 3 drafts", or nothing where no number of drafts is known.

    >>> drafts_in_words((1,)), drafts_in_words((1, 2, 3)), drafts_in_words(())
    (' for 1 draft', ' for 1, 2 and 3 drafts', '')
    """
    *first, last = map(str, counts) if counts else ("",)
    listed = f"{', '.join(first)} and {last}" if first else last
    return f" for {listed} draft{'' if counts == (1,) else 's'}" if counts else ""


@dataclass(frozen=True)
class Optimal:
    """No verifier accepts more: `certificate` shows it to anyone, without a solver.

    >>> Optimal(0.75, certificate=None).acceptance
    0.75
    >>> print(Optimal(0.75, certificate=None))
    Optimal: no verifier of these drafts accepts more than 0.75
    """

    acceptance: Any
    certificate: Any

    def __str__(self) -> str:
        return f"Optimal: no verifier of these drafts accepts more than {as_text(self.acceptance)}"

    def _repr_html_(self) -> str:
        shown = getattr(self.certificate, "_repr_html_", lambda: "")
        return _card("Optimal", {"acceptance": self.acceptance}, shown(), good=True)


@dataclass(frozen=True)
class Bracket:
    """Bounds of a quantity: it lies in [lower, upper].

    >>> Bracket(0.5, 0.75).gap
    0.25
    >>> print(Bracket(0.5, 0.75))
    Bracket: at least 0.5, at most 0.75
    """

    lower: Any
    upper: Any

    @property
    def gap(self) -> Any:
        """The width of the bracket."""
        return self.upper - self.lower

    def __str__(self) -> str:
        return f"Bracket: at least {as_text(self.lower)}, at most {as_text(self.upper)}"

    def _repr_html_(self) -> str:
        return _card("Bracket", {"at least": self.lower, "at most": self.upper, "width": self.gap})
