"""The target's and the draft's laws along the paths of a block, each checked once, with errors that name the prefix.

Source: SpecTr, Section 3, for models as conditionals.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any, TypeVar

import numpy as np

from spec_math.arrays import Array, check_same_number_type, is_exact, named_law
from spec_math.language.model import Model, check_prefix

Made = TypeVar("Made")


class Conditionals:
    """The target's and the draft's laws along the paths that start from one prefix.

    A path holds the tokens after the prefix. Each law is asked for once in a block, and checked: [V] masses that sum to
    1, of one size and one number type throughout. `end` is the token that the models say nothing follows.

    Raises:
        ValueError: a law of another size, or that is not a probability distribution; a prefix with a token outside the
            vocabulary or past its end; models that disagree about the end token. Each names the prefix.
        TypeError: exact and floating laws are mixed, or a token is not an index.

    >>> laws = Conditionals(lambda prefix: ["1/4", "3/4"], lambda prefix: ["1/2", "1/2"], ())
    >>> laws.target((1,)).tolist(), laws.size, laws.end
    ([Fraction(1, 4), Fraction(3, 4)], 2, None)
    """

    def __init__(self, target_model: Model, draft_model: Model, prefix: Sequence[int]) -> None:
        self.end = _common_end(target_model, draft_model)
        self._models = {"target": target_model, "draft": draft_model}
        self._rows: dict[tuple[str, tuple[int, ...]], Array] = {}
        self._made: dict[tuple[Any, tuple[int, ...]], Any] = {}
        self.prefix, first = opening(target_model, prefix)
        self.size = len(first)
        self._rows["target", ()] = first

    def target(self, path: tuple[int, ...] = ()) -> Array:
        """Return the target's law after prefix + path."""
        return self._row("target", path)

    def draft(self, path: tuple[int, ...] = ()) -> Array:
        """Return the draft's law after prefix + path."""
        return self._row("draft", path)

    def kept(self, make: Callable[[Conditionals, tuple[int, ...]], Made], path: tuple[int, ...] = ()) -> Made:
        """Return make(laws, path): made once for each path, and kept for all that verify the same drafts."""
        if (make, path) not in self._made:
            self._made[make, path] = make(self, path)
        return self._made[make, path]

    def ends(self, path: tuple[int, ...]) -> bool:
        """Say whether nothing follows a path, as it ends with the end token."""
        return self.end is not None and bool(path) and path[-1] == self.end

    def _row(self, role: str, path: tuple[int, ...]) -> Array:
        row = self._rows.get((role, path))
        if row is None:
            row = conditional(self._models[role], self.prefix + path, self.size, role)
            first = self._rows["target", ()]
            if type(row) is not type(first) or row.dtype != first.dtype:
                _check_world(first, row, role, self.prefix + path)
            self._rows[role, path] = row
        return row


def conditional(model: Model, prefix: tuple[int, ...], size: int | None = None, role: str = "target") -> Array:
    """Ask a model for the law [V] of the token after prefix, and check it.

    Raises:
        ValueError, TypeError: the answer is not a probability distribution on `size` tokens; names the prefix. What the
            model itself raises gets a note that names the prefix.
    """
    name = f"{role} distribution after the prefix {prefix}"
    try:
        values = model(prefix)
    except Exception as error:
        error.add_note(f"raised by the {role} model when asked for the distribution after the prefix {prefix}")
        raise
    row = named_law(values, name)
    if row.ndim != 1:
        raise ValueError(f"{name}: one distribution [V] is needed; got the shape {tuple(row.shape)}")
    if size is not None and len(row) != size:
        raise ValueError(
            f"{name} has {len(row)} tokens, but the target's distribution at the start of the block has {size}; all "
            "distributions of a block must be over one vocabulary"
        )
    return row


Weighed = tuple[tuple[int, ...], Any]
"""A path, and its mass."""


def a_token_longer(
    paths: Iterable[Weighed], ends: Callable[[tuple[int, ...]], bool], law: Callable[[tuple[int, ...]], Any]
) -> Iterator[Weighed]:
    """Yield each path with each token that a law can draw after it, in this order; one that ends the text as it is."""
    for path, mass in paths:
        if ends(path):
            yield path, mass
        else:
            yield from (((*path, token), mass * share) for token, share in enumerate(law(path)) if share > 0)


def opening(model: Model, prefix: Sequence[int]) -> tuple[tuple[int, ...], Array]:
    """Check the prefix that a block starts from; return it as a tuple, with the model's law [V] after it.

    Raises:
        ValueError: a token outside the vocabulary, or nothing can follow the prefix; as `conditional`.
        TypeError: a token is not an index.
    """
    end: int | None = getattr(model, "end", None)
    # Before the model is asked, as it may answer anything after a prefix that has ended; its size is not known yet.
    listed = check_prefix(tuple(prefix), _UNBOUNDED, end)
    row = conditional(model, listed)
    return check_prefix(listed, len(row), end), row


def in_numpy(row: Array) -> Array:
    """Return a law [V] as the selections compute with it: Fractions as they are, floats and torch as NumPy float64.

    Floats are taken in proportion to their own sum, as a coin draws from them.
    """
    if is_exact(row):
        return row
    wide = row.astype(np.float64) if isinstance(row, np.ndarray) else row.detach().cpu().double().numpy()
    return wide / wide.sum()


_UNBOUNDED = 2**62


def _common_end(target_model: Model, draft_model: Model) -> int | None:
    ours: int | None = getattr(target_model, "end", None)
    theirs: int | None = getattr(draft_model, "end", None)
    if theirs is not None and theirs != ours:
        raise ValueError(
            f"target and draft must agree on the token that ends a text; the target's is {ours}, the draft's {theirs}: "
            "give both models the same `end`"
        )
    return ours


def _check_world(first: Array, row: Array, role: str, prefix: tuple[int, ...]) -> None:
    try:
        check_same_number_type(first, row)
    except TypeError as error:
        raise TypeError(f"{role} distribution after the prefix {prefix}: {error}") from error
