"""The record of one known bug: a small program, the contract that it breaks, and the smallest case that shows it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction
from typing import Any, Literal

from spec_math.arrays import exact
from spec_math.block_level.lossless import check_lossless_block, emitted_law, target_law
from spec_math.masses import excess
from spec_math.samplers.drafter import check_drafter_program
from spec_math.verdict import Lossy, Verdict
from spec_math.zoo import toy
from spec_math.zoo.toy import Drafter, Generate, Laws, Rows, Text, Verify, drawing, engine

Program = Callable[[Laws], Generate]
"""From the laws that it runs on to a bug as a generator."""
Contract = Literal["verifier", "drafter", "replay"]


@dataclass(frozen=True)
class Specimen:
    """One entry of the corpus of known bugs (M…) and of right ways that look wrong (C…).

    `contract` is what the cause breaks: the "verifier" emits another law than the target's; the "drafter" samples from
    another law than it reports; in "replay" random numbers are used twice, and with fresh ones (`fresh`) all is well.
    None marks what breaks nothing. `printed` holds the total variation of the first token and of three tokens as the
    corpus prints them; `note` says which reading was taken where the cause leaves one open. An entry without `generate`
    is not modelled, and `note` says why. An entry that may raise, or emit what is no token, has no law of tokens:
    `emits_tokens` is False. `repair` is what usually mends it, `smallest` the smallest case on which it is known to
    show, and `heat` the temperature that a request asks for, where `target` is the toy's law at it.
    """

    name: str
    cause: str = ""
    reference: str = ""
    contract: Contract | None = "verifier"
    generate: Generate | None = None
    drafter: Drafter | None = None
    fresh: Generate | None = None
    target: Rows = toy.target
    printed: tuple[str | None, str | None] = (None, None)
    note: str = ""
    rounds: int = 1
    emits_tokens: bool = True
    repair: str = ""
    smallest: SmallCase | None = field(default=None, compare=False)
    heat: Fraction = Fraction(1)

    @property
    def modelled(self) -> bool:
        """True if the entry can be run."""
        return self.generate is not None

    def told(self, cause: str, reference: str, repair: str = "", note: str = "") -> Specimen:
        """Return the entry with its cause, where it was met, and what usually mends it, in the imperative."""
        return replace(self, cause=cause, reference=reference, repair=repair, note=note or self.note)


@dataclass(frozen=True)
class Diagnosis:
    """The contract that was found broken, or None, with the verdicts that say so.

    Made by `diagnose`.
    """

    contract: Contract | None
    drafter: Verdict | None
    block: Verdict


def diagnose(specimen: Specimen) -> Diagnosis:
    """Judge a specimen by its drafter and by its emitted law of three tokens, and name the contract that is broken.

    A drafter that reports another law than it samples is at fault; where it is right, so is the verifier if fresh
    random numbers do not cure what is emitted, and the replay of random numbers if they do.

    Raises:
        ValueError: the specimen is not modelled.

    >>> from spec_math.zoo.toy import by_ratio, engine, sampled
    >>> hopeful = Specimen("M7", "", "", "verifier", engine(sampled, by_ratio(lambda t, d, x: 1)))
    >>> diagnose(hopeful).contract
    'verifier'
    """
    block = _judged(specimen, specimen.generate)
    drafter = None
    if specimen.drafter is not None:
        for start in _PREFIXES:
            drafter = check_drafter_program(_after(specimen.drafter, start))
            if isinstance(drafter, Lossy):
                return Diagnosis("drafter", drafter, block)
    if not isinstance(block, Lossy):
        return Diagnosis(None, drafter, block)
    cured = specimen.fresh is not None and bool(_judged(specimen, specimen.fresh))
    return Diagnosis("replay" if cured else "verifier", drafter, block)


def distances(specimen: Specimen) -> tuple[Any, Any]:
    """Return the exact total variation of what a specimen emits: of its first token, and of three tokens.

    Raises:
        ValueError: the specimen is not modelled.

    >>> from spec_math.zoo.toy import by_ratio, engine, sampled
    >>> distances(Specimen("C1", "", "", None, engine(sampled, by_ratio())))
    (Fraction(0, 1), Fraction(0, 1))
    """
    generate, rows = _modelled(specimen, specimen.generate), specimen.target
    laws = [(emitted_law(generate, rows, n, specimen.rounds), target_law(rows, n)) for n in (1, toy.HORIZON)]
    return excess(*laws[0]), excess(*laws[1])


_PREFIXES: tuple[Text, ...] = ((), (0,))


def _after(drafter: Drafter, prefix: Text) -> Callable[[Any], Any]:
    return lambda coin: drafter(coin, prefix)


def _judged(specimen: Specimen, generate: Generate | None) -> Verdict:
    return check_lossless_block(_modelled(specimen, generate), specimen.target, toy.HORIZON, specimen.rounds)


def _modelled(specimen: Specimen, generate: Generate | None) -> Generate:
    if generate is None:
        raise ValueError(f"{specimen.name} is not modelled: {specimen.note}")
    return generate


def laws(target: Sequence[Any], draft: Sequence[Any], lookahead: int = 1) -> Laws:
    """Return laws without context, from masses as `exact` takes them.

    >>> laws(["1/2", "1/2"], ["3/4", "1/4"]).draft((0,)).tolist()
    [Fraction(3, 4), Fraction(1, 4)]
    """
    return Laws((exact(target),), (exact(draft),), lookahead)


THIRDS = laws(["1/3", "2/3"], ["2/3", "1/3"])


def drawn_from(given: Laws) -> Drafter:
    """Return the drafter that samples from the draft's laws and reports them.

    >>> drawn_from(toy.TOY) is toy.sampled
    False
    """
    return drawing(given=given)


def verified(verify: Verify) -> Program:
    """Return, as a program on any laws, a verifier of drafts that are sampled from the draft."""
    return lambda given: engine(drawn_from(given), verify, given.target, given.lookahead)


def broken(name: str, drafter: Drafter, verify: Verify, target: Rows = toy.target, **known: Any) -> Specimen:
    """Return a specimen of the toy engine, made of a drafter and a verifier."""
    return Specimen(name, generate=engine(drafter, verify, target), drafter=drafter, target=target, **known)


def as_it_is(given: Laws) -> Rows:
    """Return the target's rows as what is wanted: a request without options.

    >>> as_it_is(toy.TOY)(()) is toy.TARGET[0]
    True
    """
    return given.target


@dataclass(frozen=True)
class SmallCase:
    """The first of the small cases on which a bug shows: its laws, and how far off the first `horizon` tokens are.

    `program` is the bug on any laws, and `wanted` what a request's options make of a target's rows. Small cases go by
    drafts, tokens and denominators, as `audit.small_cases` has them.
    """

    program: Program
    laws: Laws
    horizon: int
    distance: Fraction
    wanted: Callable[[Laws], Rows] = as_it_is
