"""Cases of generators of blocks: speculative decoding of a few tokens, judged by the joint law of a text."""

from __future__ import annotations

import random
from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np

from proofs_tests.soundness import defects, dialects, families, laws
from proofs_tests.soundness import syntax as s
from proofs_tests.soundness.compare import Truth
from proofs_tests.soundness.oracle import Emitted, as_fraction, emitted_by
from proofs_tests.soundness.source import compiled, written

Text = tuple[int, ...]


@dataclass(frozen=True)
class Model:
    """A model by rows: the law after a prefix depends on its length and on its last token."""

    rows: tuple[Any, ...]

    def __call__(self, prefix: Text) -> Any:
        return self.rows[(len(prefix) + (prefix[-1] if prefix else 0)) % len(self.rows)]


@dataclass(frozen=True)
class BlockCase:
    """A generator as source, its models, and how long a text of how many rounds is judged."""

    numbers: str
    family: str
    defect: str
    size: Fraction | None
    source: str
    program: s.Block
    target: Model
    draft: Model
    horizon: int
    rounds: int
    kind: str = "check_lossless_block"

    def function(self) -> Callable[..., Any]:
        return compiled(self.source, {"np": np, "target_model": self.target, "draft_model": self.draft})

    def finer(self) -> tuple[Callable[..., Any], Model] | None:
        """The same program on the same laws in float64, for the judge to ask where rounding leaves it open."""
        if self.numbers in ("fractions", "float64"):
            return None
        target, draft = (Model(tuple(map(_widened, model.rows))) for model in (self.target, self.draft))
        return compiled(self.source, {"np": np, "target_model": target, "draft_model": draft}), target

    def truth(self) -> Truth:
        """Ask the oracle: the law of a text, block after block, continued by the target."""
        floating = self.numbers != "fractions"
        exact = [Model(tuple(laws.exactly(row) for row in model.rows)) for model in (self.target, self.draft)]
        meant = [Model(tuple(list(laws.divided(row)) for row in model.rows)) for model in exact]
        whole = meant[0]
        wanted = continued({(): Fraction(1)}, whole, self.horizon)
        ideal = self.text_law(meant, whole, True)
        if not floating and self.defect != "rounds_inside":
            return Truth(ideal, ideal, wanted)
        unit = laws.ROUNDOFF[self.numbers] or 2.0**-53
        with np.errstate(all="ignore"):
            run = self.text_law(
                [Model(tuple(map(list, model.rows))) for model in (self.target, self.draft)], whole, False
            )
        coins, size = run.coins + self.horizon + 1, len(self.target.rows[0])
        gaps = max(laws.gap(row) for model in exact for row in model.rows)
        rounding, cap = 2 * coins * (size + 8 + 2 * coins) * unit, 1e-2 if unit >= laws.ROUNDOFF["float16"] else 1e-4
        return Truth(
            ideal,
            run,
            wanted,
            8 * coins * float(gaps),
            rounding,
            4 * coins * size * unit,
            True,
            cap,
            self.defect in defects.SUMS,
            lambda: self.text_law(exact, whole, True),
        )

    def text_law(self, models: list[Any], whole: Model, exact: bool) -> Emitted:
        running: dict[Text, Fraction] = {(): Fraction(1)}
        found = Emitted()
        for _ in range(self.rounds):
            after: dict[Text, Fraction] = {}
            for text, mass in running.items():
                if len(text) >= self.horizon:
                    after[text] = after.get(text, Fraction(0)) + mass
                    continue
                block = emitted_by(self.program, self.names(models, text), (), True, exact)
                found.failed += mass * block.failed
                found.gap, found.coins = max(found.gap, block.gap), found.coins + block.coins
                for tokens, share in block.law.items():
                    longer = (text + tokens)[: self.horizon]
                    after[longer] = after.get(longer, Fraction(0)) + mass * share
            running = after
        found.law = continued(running, whole, self.horizon)
        return found

    def names(self, models: list[Any], text: Text) -> dict[str, Any]:
        return {
            "target_model": lambda tokens: models[0](text + tokens),
            "draft_model": lambda tokens: models[1](text + tokens),
            "floating": self.numbers != "fractions",
            "prefix": text,
        }


def continued(masses: dict[Text, Fraction], model: Callable[[Text], Any], horizon: int) -> dict[Text, Fraction]:
    result: dict[Text, Fraction] = {}
    for text, mass in masses.items():
        ends = {text[:horizon]: mass}
        for _ in range(horizon - len(text)):
            ends = {
                (*one, token): weight * as_fraction(chance)
                for one, weight in ends.items()
                for token, chance in enumerate(model(one))
                if chance
            }
        for end, weight in ends.items():
            result[end] = result.get(end, Fraction(0)) + weight
    return result


def block_case(rng: random.Random) -> BlockCase:
    """Draw models, a chain of one or two drafts that is lossless, and perhaps a defect."""
    size, lookahead = rng.choice((2, 2, 2, 3)), rng.choice((1, 1, 2))
    numbers = "fractions" if rng.random() < 0.6 else rng.choice(("float64", "float32", "float16", "bfloat16"))
    rows = rng.choice((1, 2))
    pairs = [laws.drawn_pair(rng, size) for _ in range(rows)]
    models = [Model(tuple(_row(rng, pair[side], numbers) for pair in pairs)) for side in (0, 1)]
    make = families.Maker(rng, size, 1, *pairs[0])
    program = chain(make, lookahead, ())
    if rng.random() < 0.2:
        program = (s.Flip(s.Number(Fraction(1, 3)), chain(make, 1, ()), program),)
    defect, ε = "", None
    if defects.chosen(rng):
        program, defect, ε = defects.in_a_block(program, make)
    arrays = "" if numbers == "fractions" or rng.random() < 0.5 else "np"
    dialect = dialects.coin(arrays, numbers != "fractions", "block")
    horizon, rounds = rng.choice((1, 2, 2, 2, 3)), rng.choice((1, 1, 2))
    source = written(program, dialect, rng)
    return BlockCase(numbers, f"chain of {lookahead}", defect, ε, source, program, *models, horizon, rounds)


def _widened(row: Any) -> Any:
    exact = laws.divided(laws.exactly(row))
    return np.array([float(mass) for mass in exact])


def _row(rng: random.Random, law: laws.Law, numbers: str) -> Any:
    return list(law) if numbers == "fractions" else laws.stored(rng, law, numbers)


def chain(make: families.Maker, left: int, before: tuple[Any, ...], given: bool = False) -> s.Block:
    """Draft and verify token after token, drafts that are `given` or drawn; after the last, one token of the target."""
    goal = s.After("target_model", before)
    y = make.name("y")
    if not left:
        return s.Draw(y, goal), s.Emit((*before, s.Name(y)))
    x, t, d = make.name("x"), make.name("t"), make.name("d")
    token = s.Let(x, s.Drafted(len(before))) if given else s.Draw(x, s.Name(d))
    drafted = (s.Let(t, goal), s.Let(d, s.After("draft_model", before)), token)
    onwards = chain(make, left - 1, (*before, s.Name(x)), given)
    ended = s.Emit((*before, s.Name(y)))
    if make.rng.random() < 0.2:  # the target is sampled, and the block goes on as long as it meets the draft
        return *drafted, s.Draw(y, s.Name(t)), s.If(s.Same(s.Name(x), s.Name(y)), onwards, (ended,))
    rest = families.from_weights(make, y, families.residual(s.Name(t), s.Name(d)), s.Name(t))
    chance = families.ratio(s.Name(t), s.Name(d), s.Name(x), make)
    return *drafted, s.Flip(chance, onwards, (*rest, ended))
