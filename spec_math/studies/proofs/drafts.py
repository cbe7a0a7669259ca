"""What is found of a verifier whose numbers of drafts were not asked for: 1, then 2 and 3 where it takes them."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from time import process_time

from spec_math.studies.positions.schemes import load_scheme
from spec_math.studies.proofs.codes import code_of
from spec_math.studies.proofs.watched import prove_watched
from spec_math.symbolic import Proof
from spec_math.symbolic.token_theorems import lossless
from spec_math.symbolic.trial import SEED
from spec_math.verdict import Reason
from spec_math.wording import listed

NUMBERS = (1, 2, 3)
"""The numbers of drafts that a verifier is proved for where none is asked for."""
ROOM = 8
"""How many times longer a proof for one draft more is expected to take at least: else it is not tried."""


@dataclass(frozen=True)
class Case:
    """A verifier, module:name, on a number of tokens; `limit` is in seconds of processor time a proof.

    >>> Case("mine:verify", 3, 60.0).tokens
    3
    """

    scheme: str
    tokens: int
    limit: float
    seed: int = SEED


@dataclass
class Found:
    """The proofs of a verifier by (drafts, tokens), and why others were not tried.

    >>> Found("mine").proofs
    {}
    """

    name: str
    proofs: dict[tuple[int, int], Proof] = field(default_factory=dict[tuple[int, int], Proof])
    not_tried: dict[tuple[int, int], str] = field(default_factory=dict[tuple[int, int], str])


def in_turn(case: Case) -> Found:
    """Prove a verifier for 1 draft, then for 2 and 3: as far as it is not refuted, and the time allows it.

    A scheme that drafts a fixed number is proved for that number.

    >>> found = in_turn(Case("spec_math.token_level.single:verify", 2, limit=60.0))
    >>> found.proofs[1, 2].verdict
    'proved'
    """
    scheme = load_scheme(case.scheme)
    found = Found(case.scheme)
    why = ""
    for drafts in NUMBERS if scheme.drafts is None else (scheme.drafts,):
        if why:
            found.not_tried[drafts, case.tokens] = why
            continue
        begun = process_time()
        proof = prove_watched(lossless(scheme, case.tokens, drafts), limit=case.limit, seed=case.seed)
        found.proofs[drafts, case.tokens] = proof
        if proof.verdict == "refuted":
            why = f"refuted for {drafts}"
        elif not not_taken(proof) and (spent := process_time() - begun) * ROOM > case.limit:
            why = f"{drafts} took {spent:.0f} s"
    return found


def together(parts: Sequence[Found]) -> Found:
    """Put what was found of one verifier together.

    >>> together([Found("mine"), Found("mine", not_tried={(2, 2): "refuted for 1"})]).not_tried
    {(2, 2): 'refuted for 1'}
    """
    whole = Found(parts[0].name)
    for part in parts:
        whole.proofs |= part.proofs
        whole.not_tried |= part.not_tried
    return whole


def finding(found: Found) -> str:
    """Say in a sentence for how many drafts a verifier is proved, and what was left.

    >>> proof = Proof("mine", "", "proved", 7, 0, 0, 0.1)
    >>> finding(Found("mine", {(1, 2): proof, (1, 3): proof, (2, 2): proof}, {(2, 3): "1 took 20 s"}))
    'mine is proved for 1 draft on 2 and 3 tokens, for 2 drafts on 2 tokens; not tried for 2 on 3 tokens (1 took 20 s)'
    """
    parts: dict[tuple[str, str], dict[int, list[int]]] = {}
    for (drafts, tokens), proof in found.proofs.items():
        parts.setdefault(_said(proof), {}).setdefault(drafts, []).append(tokens)
    for (drafts, tokens), why in found.not_tried.items():
        parts.setdefault((_NOT_TRIED, why), {}).setdefault(drafts, []).append(tokens)
    everywhere = tuple(sorted({tokens for _, tokens in (*found.proofs, *found.not_tried)}))
    said: list[str] = []
    for status in _STATES:
        for why, sizes in ((why, sizes) for (named, why), sizes in parts.items() if named == status):
            noun = (" draft", " drafts") if not said else ("", "")
            reason = f" ({why})" if why else ""
            said.append(f"{status} for {_sizes(sizes, noun, None if noun[0] else everywhere)}{reason}")
    return f"{found.name} is {'; '.join(said)}"


def exit_code(found: Found) -> int:
    """Return 1 where a proof is refuted, 0 where all that the verifier takes are proved, else 3.

    >>> exit_code(Found("mine", {(1, 2): Proof("mine", "", "proved", 7, 0, 0, 0.1)}))
    0
    """
    taken = [proof for proof in found.proofs.values() if not not_taken(proof)]
    return code_of(taken) if taken else 3


def not_taken(proof: Proof) -> bool:
    """Say whether a verifier gave no verdict on any law: it does not take so many drafts.

    >>> not_taken(Proof("mine", "", "open", 1, 0, 0, 0.1, tried=40, not_judged=40, undecided=Reason.NOT_JUDGED))
    True
    """
    return proof.undecided is Reason.NOT_JUDGED and 0 < proof.tried == proof.not_judged


_PROVED, _REFUTED, _OPEN, _NOT_JUDGED, _NOT_TRIED = "proved", "refuted", "left open", "not judged", "not tried"
_STATES = (_PROVED, _REFUTED, _OPEN, _NOT_JUDGED, _NOT_TRIED)


def _said(proof: Proof) -> tuple[str, str]:
    """Return what is said of a proof, and why: of those that are left open, each for its own reason."""
    if proof:
        return _PROVED, ""
    if proof.verdict == "refuted":
        return _REFUTED, ""
    why = " ".join(proof.reason.split())
    # The exception names drafts and counts its paths: what is left of it is the same for all numbers of tokens.
    return (_NOT_JUDGED, _without_paths(why)) if not_taken(proof) else (_OPEN, why)


def _without_paths(why: str) -> str:
    return re.sub(r" for the drafts \([^)]*\)|; got \d+| \(and each of the [\d,]+ paths raises\)", "", why)


def _sizes(sizes: dict[int, list[int]], noun: tuple[str, str], known: tuple[int, ...] | None) -> str:
    """Say which numbers of drafts on which numbers of tokens; those on the same tokens together."""
    alike: dict[tuple[int, ...], list[int]] = {}
    for drafts, tokens in sizes.items():
        alike.setdefault(tuple(sorted(tokens)), []).append(drafts)
    return ", for ".join(
        f"{listed(drafts)}{noun[drafts != [1]]}{'' if tokens == known else f' on {listed(tokens)} tokens'}"
        for tokens, drafts in alike.items()
    )
