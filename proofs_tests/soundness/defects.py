"""One seeded defect in a right program: where it stands, how large it is, and on what condition it shows."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator
from fractions import Fraction
from typing import Any

from proofs_tests.soundness import syntax as s
from proofs_tests.soundness.families import Maker

SIZES = tuple(Fraction(size) for size in ("1/2", "1/8", "1/100", "1/1000", "1/10000", "1/100000", "1/1000000"))
"""How large a defect is: what share of a mass is moved, or with what chance it shows."""

SUMS = ("sums_off", "one_mass_off")
"""The defects that leave masses which do not sum to 1."""

Place = tuple[tuple[int, str], ...]
"""The way to a statement: at each level its number in the block, and the field of the inner block, or nothing."""


def statements(block: s.Block, before: Place = ()) -> Iterator[tuple[Place, Any]]:
    """Go through all statements of a program, with the way to each."""
    for number, statement in enumerate(block):
        yield (*before, (number, "")), statement
        for name, inner in s.inner_blocks(statement):
            yield from statements(inner, (*before, (number, name)))


def replaced(block: s.Block, place: Place, new: s.Block) -> s.Block:
    """Return the program with other statements in one place."""
    (number, name), *rest = place
    if not name:
        return (*block[:number], *new, *block[number + 1 :])
    inner = replaced(getattr(block[number], name), tuple(rest), new)
    return (*block[:number], block[number]._replace(**{name: inner}), *block[number + 1 :])


Drawn = tuple[s.Block, str, Fraction | None]


def with_defect(program: s.Block, make: Maker, coin: bool) -> Drawn:
    """Return a program with a defect, the defect's name, and its size where it has one."""
    kinds = COIN if coin else ANY
    for _ in range(20):
        kind = make.rng.choice(kinds)
        size = make.rng.choice(SIZES)
        found = kind(program, make, size)
        if found is not None:
            return found, kind.__name__, size if kind in SIZED else None
    return (_leaking(program, make, Fraction(1, 100)), "leaks", Fraction(1, 100))


def _one(program: s.Block, make: Maker, kind: type) -> tuple[Place, Any] | None:
    found = [(place, one) for place, one in statements(program) if isinstance(one, kind)]
    return make.rng.choice(found) if found else None


def _two(make: Maker) -> tuple[int, int]:
    first, second = make.rng.sample(range(make.size), 2)
    return first, second


def _leaking(program: s.Block, make: Maker, size: Fraction) -> s.Block:
    token = s.Emit((s.Fixed(make.rng.randrange(make.size)),))
    return (s.Flip(s.Number(size), (token,)), *program)


def leaks(program: s.Block, make: Maker, size: Fraction) -> s.Block:
    """A token comes out with a small chance before anything else."""
    return _leaking(program, make, size)


def moves_mass(program: s.Block, make: Maker, size: Fraction) -> s.Block | None:
    """A share of one mass is moved to another token where something is drawn."""
    found = _one(program, make, s.Draw)
    if found is None or isinstance(found[1].law, s.Even | s.After):
        return None
    place, drawn = found
    return replaced(program, place, (drawn._replace(law=s.Moved(drawn.law, *_two(make), size)),))


def accepts_less(program: s.Block, make: Maker, size: Fraction) -> s.Block | None:
    """A chance to accept is too small."""
    found = _one(program, make, s.Flip)
    if found is None:
        return None
    place, flip = found
    return replaced(program, place, (flip._replace(chance=s.Both("*", flip.chance, s.Number(1 - size))),))


def accepts_more(program: s.Block, make: Maker, size: Fraction) -> s.Block | None:
    """A chance to accept is too large."""
    found = _one(program, make, s.Flip)
    if found is None:
        return None
    place, flip = found
    more = s.Both("min", s.ONE, s.Both("*", flip.chance, s.Number(1 + size)))
    return replaced(program, place, (flip._replace(chance=more),))


def sometimes_fails(program: s.Block, make: Maker, size: Fraction) -> s.Block | None:
    """An exception, or what is no token, with a small chance."""
    fails = s.Fail(make.rng.choice((None, "None", "1.0", "-1", "True", str(make.size))))
    return (s.Flip(s.Number(size), (fails,)), *program)


def swaps_tokens(program: s.Block, make: Maker, size: Fraction) -> s.Block | None:
    """In one branch two tokens are exchanged."""
    del size
    found = _one(program, make, s.Let)
    if found is None or not isinstance(found[1].value, s.Drafted | s.Mapped):
        return None
    place, let = found
    order = list(range(make.size))
    a, b = _two(make)
    order[a], order[b] = b, a
    return replaced(program, place, (let._replace(value=s.Mapped(let.value, tuple(order))),))


def off_by_one(program: s.Block, make: Maker, size: Fraction) -> s.Block | None:
    """The chance to accept is read at the next token."""
    del size
    found = _one(program, make, s.Flip)
    if found is None or not isinstance(found[1].chance, s.Both):
        return None
    place, flip = found
    order = (*range(1, make.size), 0)

    def shifted(tree: Any) -> Any:
        if isinstance(tree, s.Mass):
            return s.Mass(tree.law, s.Mapped(tree.token, order))
        if isinstance(tree, s.Both):
            return tree._replace(left=shifted(tree.left), right=tree.right)
        return tree

    return replaced(program, place, (flip._replace(chance=shifted(flip.chance)),))


def draws_from_target(program: s.Block, make: Maker, size: Fraction) -> s.Block | None:
    """What should be a residual is the target."""
    del size
    found = _one(program, make, s.Draw)
    if found is None or isinstance(found[1].law, s.Even | s.Name | s.After):
        return None
    place, drawn = found
    return replaced(program, place, (drawn._replace(law=s.TARGET),))


def only_where(program: s.Block, make: Maker, size: Fraction) -> s.Block | None:
    """Wrong only on a condition: ties, zeros, equal laws, a second draft like the first, one token."""
    # Another defect of this file, of which it is asked that the condition hold.
    inner = make.rng.choice((moves_mass, accepts_less, swaps_tokens, draws_from_target, leaks, accepts_more))
    wrong = inner(program, make, size)
    if wrong is None:
        return None
    return (s.If(_condition(make), wrong, program),)


def _condition(make: Maker) -> Any:
    token = s.Fixed(make.rng.randrange(make.size))
    t, d = s.Mass(s.TARGET, token), s.Mass(s.DRAFT, token)
    kinds = [
        s.Compared("==", t, d),
        s.Compared("==", t, s.ZERO),
        s.Compared("==", d, s.ZERO),
        s.Compared("<", d, t),
        s.Same(s.Drafted(make.k - 1), token),
    ]
    if make.k > 1:
        kinds.append(s.Same(s.Drafted(0), s.Drafted(1)))
    return make.rng.choice(kinds)


def sums_off(program: s.Block, make: Maker, size: Fraction) -> s.Block | None:
    """Masses that do not sum to 1 are drawn from."""
    found = _one(program, make, s.Draw)
    if found is None:
        return None
    place, drawn = found
    return replaced(program, place, (drawn._replace(law=s.Each("*", drawn.law, s.Number(1 + size))),))


def one_mass_off(program: s.Block, make: Maker, size: Fraction) -> s.Block | None:
    """One mass is too small, so that the sum is too: a coin that divides by the sum hides where it went."""
    found = _one(program, make, s.Draw)
    if found is None or isinstance(found[1].law, s.Even):
        return None
    place, drawn = found
    factors = tuple(1 - size if token == 0 else Fraction(1) for token in range(make.size))
    return replaced(program, place, (drawn._replace(law=s.Each("*", drawn.law, s.Row((factors,), s.Fixed(0)))),))


def rounds_inside(program: s.Block, make: Maker, size: Fraction) -> s.Block | None:
    """A chance is made a binary float: no fault, but no exact program any more."""
    del size
    found = _one(program, make, s.Flip)
    if found is None:
        return None
    place, flip = found
    return replaced(program, place, (flip._replace(chance=s.Rounded(flip.chance)),))


def reuses(program: s.Block, make: Maker, size: Fraction) -> s.Block | None:
    """One uniform number decides twice."""
    del size
    found = [(place, one) for place, one in statements(program) if isinstance(one, s.Flip | s.Draw)]
    if len(found) < 2:
        return None
    for place, one in make.rng.sample(found, 2):
        program = replaced(program, place, (one._replace(uniform="kept"),))
    return (s.Uniform("kept"), *program)


def wrong_later_draft(program: s.Block, make: Maker, size: Fraction) -> s.Block | None:
    """In a loop over drafts, wrong from the second one on: right for one draft."""
    found = _one(program, make, s.ForDrafts)
    if found is None or make.k < 2:
        return None
    place, loop = found
    # On two tokens what is left after a rejection is one token: only a leak shows there.
    wrong = make.rng.choice((accepts_less, leaks))(loop.body, make, size)
    if wrong is None:
        return None
    count, later = s.Name("scalar_n"), s.Compared("<", s.ZERO, s.Name("scalar_n"))
    body = (s.If(later, wrong, loop.body), s.Let(count.name, s.Both("+", count, s.ONE)))
    return replaced(program, place, (s.Let(count.name, s.ZERO), loop._replace(body=body)))


Defect = Callable[[s.Block, Maker, Fraction], s.Block | None]
ANY: tuple[Defect, ...] = (
    *(leaks, moves_mass, accepts_less, accepts_more, sometimes_fails, swaps_tokens),
    *(off_by_one, draws_from_target, only_where, wrong_later_draft, reuses),
)
COIN: tuple[Defect, ...] = (*(one for one in ANY if one is not reuses), sums_off, one_mass_off, rounds_inside)
SIZED = {
    *(leaks, moves_mass, accepts_less, accepts_more, sometimes_fails, only_where, wrong_later_draft),
    *(sums_off, one_mass_off),
}


def chosen(rng: random.Random) -> bool:
    """Say whether a program is given a defect: every second is."""
    return rng.random() < 0.5


# Defects of generators of blocks.


def wrong_context(program: s.Block, make: Maker, size: Fraction) -> s.Block | None:
    """A model is asked after the text without its last token."""
    del size
    found = [
        (place, one)
        for place, one in statements(program)
        if isinstance(one, s.Let) and isinstance(one.value, s.After) and one.value.tokens
    ]
    if not found:
        return None
    place, let = make.rng.choice(found)
    return replaced(program, place, (let._replace(value=let.value._replace(tokens=let.value.tokens[:-1])),))


def repeats_token(program: s.Block, make: Maker, size: Fraction) -> s.Block | None:
    """With a small chance the block's last token is another's copy."""
    found = [(place, one) for place, one in statements(program) if isinstance(one, s.Emit) and len(one.tokens) > 1]
    if not found:
        return None
    place, emit = make.rng.choice(found)
    wrong = s.Emit((*emit.tokens[:-1], emit.tokens[0]))
    return replaced(program, place, (s.Flip(s.Number(size), (wrong,), (emit,)),))


def after_a_round(program: s.Block, make: Maker, size: Fraction) -> s.Block | None:
    """Wrong only where the prefix is not empty: in the second round."""
    wrong = make.rng.choice((leaks, accepts_less, moves_mass))(program, make, size)
    return None if wrong is None else (s.If(s.Compared("<", s.ZERO, s.Length()), wrong, program),)


BLOCK: tuple[Defect, ...] = (
    *(leaks, moves_mass, accepts_less, accepts_more, sometimes_fails, sums_off, one_mass_off, rounds_inside),
    *(wrong_context, repeats_token, after_a_round),
)


CHAIN: tuple[Defect, ...] = (
    *(leaks, moves_mass, accepts_less, accepts_more, sometimes_fails, swaps_tokens, repeats_token, reuses),
)


def in_a_block(program: s.Block, make: Maker, kinds: tuple[Defect, ...] = BLOCK) -> Drawn:
    """Return a generator's program with a defect, as `with_defect` does."""
    while True:
        kind, size = make.rng.choice(kinds), make.rng.choice(SIZES)
        found = kind(program, make, size)
        if found is not None:
            return found, kind.__name__, size if kind in (*SIZED, repeats_token, after_a_round) else None


def in_a_chain(program: s.Block, make: Maker) -> Drawn:
    """Return a function's program on a chain of drafts with a defect."""
    return in_a_block(program, make, CHAIN)
