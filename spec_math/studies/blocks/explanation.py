"""One block in sentences: the drafted paths, each node of the walk with its coins, and what one call yielded."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

from spec_math.recording import Toss
from spec_math.studies.blocks.models import BlockModels
from spec_math.studies.blocks.run import BlockRun, Stop


def lines(found: BlockRun, models: BlockModels) -> Iterator[str]:
    """Yield the lines of a run, the last one what a call of the target yielded.

    >>> from spec_math.language import Table
    >>> table = Table({(): [0.25, 0.75]}, context=0)
    >>> models = BlockModels(table, table, ((),), 2, "")
    >>> run = BlockRun((), ((0,),), (Toss(0.75, 0.5, 0), Toss(0.5, None, 1)), (1,), 0, ())
    >>> print(*lines(run, models), sep=chr(10))
    drafted 1 path:
       1  0
    coins of verification:
      accept if u = 0.7500 < 0.5000?  █████▁▁▁▁▁  no
      drawn with u = 0.5000: 1
    one call of the target: 1 token, 0 drafted and accepted, 1 of the target's own
    """
    if found.prefix:
        yield f"after: {models.text(found.prefix)}"
    yield f"drafted {len(found.paths)} {_plural('path', len(found.paths))}:"
    for number, path in enumerate(found.paths, 1):
        yield f"  {number:2}  {models.text(path)}"
    if found.stops:
        for number, stop in enumerate(found.stops, 1):
            yield from _step(number, stop, found, models)
    else:
        yield "coins of verification:"
        for toss in found.tosses:
            yield _coin(toss, models, last=toss is found.tosses[-1])
    own = len(found.emitted) - found.accepted
    tokens = f"{len(found.emitted)} {_plural('token', len(found.emitted))}"
    said = f"one call of the target: {tokens}, {found.accepted} drafted and accepted, {own} of the target's own"
    yield said


def _step(number: int, stop: Stop, found: BlockRun, models: BlockModels) -> Iterator[str]:
    drafts = ", ".join(f"{models.text((token,))} ×{times}" for token, times in Counter(stop.candidates).most_common())
    size = len(stop.candidates)
    yield f"step {number}: {size} {_plural('draft', size)}: {drafts}"
    # After the last node, where its token was drafted, the target adds one: the last coin of all.
    adds = stop is found.stops[-1] and len(found.emitted) > len(found.stops)
    own = stop.tosses[:-1] if adds else stop.tosses
    for toss in own:
        yield _coin(toss, models, last=toss.answer == stop.emitted and toss is own[-1])
    agreeing = stop.candidates.count(stop.emitted)
    goes_on = f"{agreeing} of the {size} drafts agree" if agreeing else "none of the drafts: the walk stops"
    yield f"  → {models.text((stop.emitted,))}: {goes_on}"
    if adds:
        yield f"all drafted tokens are accepted, and the target adds {models.text(found.emitted[-1:])}"


def _coin(toss: Toss, models: BlockModels, last: bool) -> str:
    if toss.chance is None:
        drawn = models.text((toss.answer,)) if last else f"choice {toss.answer}, counted from 0"
        return f"  drawn with u = {toss.uniform:.4f}: {drawn}"
    full = round(10 * float(toss.chance))
    bar = "█" * full + "▁" * (10 - full)
    return f"  accept if u = {toss.uniform:.4f} < {float(toss.chance):.4f}?  {bar}  {'yes' if toss.answer else 'no'}"


def _plural(noun: str, number: int) -> str:
    return noun if number == 1 else f"{noun}s"
