"""What torch draws where no call of torch is seen: scripted functions, seeds made of entropy."""

from __future__ import annotations

from collections.abc import Generator
from contextlib import contextmanager
from typing import Any

import torch

from spec_math.audit.exploration.atom import ExploreError
from spec_math.audit.exploration.compiled import seeds_noted
from spec_math.audit.exploration.entropy import noting
from spec_math.audit.exploration.replaced import patched, replaced
from spec_math.audit.exploration.stand_ins import everywhere, held, standing_in
from spec_math.audit.exploration.tape import Tape
from torch_bridge.random_draws import Draws, state_of

_GENERATOR: Any = torch.Generator
_DISABLING: Any = torch._C.DisableTorchFunction  # pyright: ignore[reportPrivateUsage]
_SCRIPTED: tuple[Any, ...] = (torch.jit.ScriptFunction, torch._C.ScriptMethod)  # pyright: ignore[reportPrivateUsage]


@contextmanager
def unseen_noted(tape: Tape, draws: Draws) -> Generator[None]:
    """Note on the tape what torch draws behind the back of its function modes, while the block lasts.

    A scripted function that is given its uniforms draws nothing, and is called as it is.

    >>> from torch_bridge.tagged import Tags
    >>> tape = Tape()
    >>> with unseen_noted(tape, Draws(tape, Tags())):
    ...     seed = torch.Generator().seed()
    >>> list(tape.unseen)
    ['torch.Generator.seed()']
    """
    tape.held("torch draws", list)[:] = [draws]
    with tape.standing("torch", lambda: _standing(tape)), seeds_noted(tape, _GENERATOR):
        yield


@contextmanager
def _standing(tape: Tape) -> Generator[None]:
    methods = [(kind, {"__call__": _compared(tape, kind.__call__)}) for kind in _SCRIPTED]
    functions = {name: noting(tape, f"torch.{name}", getattr(torch, name)) for name in ("seed", "initial_seed")}
    seeding = {name: _leaving(tape, getattr(torch, name)) for name in _SEEDING}
    plain = [getattr(torch, name) for name in _SEEDING]
    own = vars(torch), vars(torch._C), globals()  # pyright: ignore[reportPrivateUsage]
    seeing = {_DISABLING.__name__: _refusing(tape)}
    bound = everywhere("torch seeds", lambda value: any(value is one for one in (*plain, _DISABLING)))
    there = [place for place in bound if all(place[0] is not one for one in own)]
    values = [(seeding | seeing)[held(place).__name__] for place in there]
    with (
        patched(methods),
        standing_in(there, values),
        replaced(torch, functions | seeding),
        replaced(torch._C, seeing),  # pyright: ignore[reportPrivateUsage]
    ):
        yield


_SEEDING = ("manual_seed", "set_rng_state", "get_rng_state")


def _refusing(tape: Tape) -> Any:
    """What lets torch's calls pass unseen: random numbers in tensors would be read as they stand there."""

    def disabling() -> Any:
        if tape.foreign():
            return _DISABLING()
        raise ExploreError("explore does not follow code under torch._C.DisableTorchFunction(), where no call is seen")

    return disabling


def _leaving(tape: Tape, plain: Any) -> Any:
    """A function that seeds torch's default generator, or reads or sets its state: nothing has been drawn from it."""

    def seeding(*args: Any, **kwargs: Any) -> Any:
        draws: Draws = tape.held("torch draws", list)[0]
        if plain.__name__ == "manual_seed":
            tape.seeded(next(iter((*args, *kwargs.values())), None))
        before = state_of(torch.default_generator)
        with draws.passing():
            found = plain(*args, **kwargs)
        if plain.__name__ == "get_rng_state":
            tape.seeded.read(before)
        elif plain.__name__ == "set_rng_state":
            tape.seeded.restored(before, lambda: state_of(torch.default_generator))
        return found

    seeding.__name__ = plain.__name__
    return seeding


def _compared(tape: Tape, plain: Any) -> Any:
    def call(self: Any, *args: Any, **kwargs: Any) -> Any:
        draws: Draws = tape.held("torch draws", list)[0]
        args, kwargs = draws.looked_at((args, kwargs))
        before = torch.default_generator.get_state()
        result = plain(self, *args, **kwargs)
        given = any(isinstance(value, _GENERATOR) for value in (*args, *kwargs.values()))
        if given or not torch.equal(before, torch.default_generator.get_state()):
            tape.note(f"the scripted {getattr(self, 'name', 'function')}, which draws by itself; hand it uniforms")
        return result

    return call
