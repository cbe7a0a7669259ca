"""What the figures are about: two models at their temperatures, and how sharp they are where texts are decoded.

Source: our own.
"""

from __future__ import annotations

import platform
from dataclasses import dataclass, replace
from functools import cache
from typing import Any

import numpy as np

from spec_math.arrays import is_exact
from spec_math.block_level.lengths.monte_carlo import GatheredLaws
from spec_math.language import NGram, Table, standard_library
from spec_math.language.context_tree import windows
from spec_math.language.model import Model
from spec_math.language.tempered import KeptRows, TemperedNGram, heated
from spec_math.scheme import Tokens
from spec_math.studies.blocks.models import BlockModels, embedded

CODE_TARGET, CODE_DRAFT = 8, 3
"""Orders of the two models of source code."""


@dataclass(frozen=True)
class Facts:
    """Means over prefixes: the mass of the likeliest token and the entropy in bits of both models, their overlap."""

    target_top: float
    target_bits: float
    draft_top: float
    draft_bits: float
    overlap: float

    def __str__(self) -> str:
        """Say them in a sentence."""
        return (
            f"Target: mean top-1 mass {self.target_top:.2f}, {self.target_bits:.1f} bits; draft: {self.draft_top:.2f}, "
            f"{self.draft_bits:.1f} bits; overlap {self.overlap:.2f}"
        )


@dataclass(frozen=True)
class Regime:
    """Two models at their temperatures, from some prefixes on, and the facts of them."""

    name: str
    models: BlockModels
    temperature: float
    draft_temperature: float
    facts: Facts

    @property
    def title(self) -> str:
        """Its name with the target's temperature, and the draft's where it is another."""
        own = "" if self.temperature == self.draft_temperature else f", draft {self.draft_temperature:g}"
        return f"{self.name}, temperature {self.temperature:g}{own}"


def drafting_itself(masses: list[float]) -> Regime:
    """Return a model of one law that drafts for itself, so that all drafts are accepted: for examples.

    >>> drafting_itself([0.5, 0.5]).facts.overlap
    1.0
    """
    model = Table({(): masses}, context=0)
    return at("one law", BlockModels(model, model, ((),), len(masses), "one law"), 1.0)


def at(name: str, models: BlockModels, temperature: float, draft_temperature: float | None = None) -> Regime:
    """Return two models at a temperature each, the draft's that of the target where none is given.

    Raises:
        ValueError: a temperature that is not positive and finite.

    >>> table = Table({(): [0.25, 0.75]}, context=0)
    >>> print(at("table", BlockModels(table, table, ((),), 2, "one table"), 0.5).facts)
    Target: mean top-1 mass 0.90, 0.5 bits; draft: 0.90, 0.5 bits; overlap 1.00
    """
    drafts = temperature if draft_temperature is None else draft_temperature
    for value in (temperature, drafts):
        if not 0 < value < float("inf"):
            raise ValueError(f"a temperature must be positive and finite; got {value:g}")
    target, draft = heated(in_floats(models.target), temperature), heated(in_floats(models.draft), drafts)
    warm = replace(models, target=target, draft=draft)
    return Regime(name, warm, temperature, drafts, facts(kept(warm)))


def facts(models: BlockModels, most: int = 200) -> Facts:
    """Return the facts of two models at `most` evenly spaced prefixes.

    >>> table = Table({(): [0.25, 0.75]}, context=0)
    >>> facts(BlockModels(table, table, ((),), 2, "one table")).overlap
    1.0
    """
    places = np.linspace(0, len(models.prefixes) - 1, min(most, len(models.prefixes))).round().astype(int)
    rows: list[list[float]] = []
    prefixes = [models.prefixes[place] for place in places]
    for model in (models.target, models.draft):
        if isinstance(model, KeptRows):
            _ = model.rows_after(prefixes)  # all at once
    for prefix in prefixes:
        t, d = (np.asarray(law, dtype=np.float64) for law in laws_after(models, prefix))
        rows.append([t.max(), _bits(t), d.max(), _bits(d), np.minimum(t, d).sum()])
    return Facts(*(float(mean) for mean in np.mean(rows, axis=0)))


def in_floats(model: Model) -> Model:
    """Return an exact table with its laws in float64, as sampling takes them; any other model as it is.

    >>> in_floats(Table({(): ["1/4", "3/4"]}, context=0))(()).tolist()
    [0.25, 0.75]
    """
    if not isinstance(model, Table) or not is_exact([*model.rows.values(), model.default][0]):
        return model
    rows = {prefix: row.astype(np.float64) for prefix, row in model.rows.items()}
    default = None if model.default is None else model.default.astype(np.float64)
    return Table(rows, model.context, default, model.end)


def kept(models: BlockModels) -> BlockModels:
    """Return n-gram models that keep the laws that they were asked for last, for one comparison; others as they are.

    >>> table = Table({(): [0.25, 0.75]}, context=0)
    >>> kept(BlockModels(table, table, ((),), 2, "one table")).target is table
    True
    """
    target, draft = (
        KeptRows(model) if isinstance(model, NGram | TemperedNGram) else model
        for model in (models.target, models.draft)
    )
    return replace(models, target=target, draft=draft)


def laws_after(models: BlockModels, prefix: Tokens) -> tuple[Any, Any]:
    """Return both laws [V] after a prefix.

    >>> laws_after(BlockModels(lambda _: [1.0], lambda _: [1.0], ((),), 1, ""), ())[0].tolist()
    [1.0]
    """
    laws = GatheredLaws(models.target, models.draft, prefix)
    laws.gather([()])
    return laws.target(), laws.draft()


@cache
def source_code() -> BlockModels:
    """Return the second embedded default: n-gram models of Python's standard library, from held-out words on.

    >>> source_code().size
    4096
    """
    corpus = standard_library()
    target, draft = (NGram.learn(corpus.training, order, corpus.size) for order in (CODE_TARGET, CODE_DRAFT))
    contexts, _ = windows(corpus.held_out, CODE_TARGET)
    prefixes = tuple(tuple(token for token in context if token >= 0) for context in contexts[::8].tolist())
    source = (
        f"n-gram models of orders {CODE_TARGET} and {CODE_DRAFT} learnt from the standard library of Python "
        f"{platform.python_version()}, from {len(prefixes):,} held-out words on"
    )
    return BlockModels(target, draft, prefixes, corpus.size, source, corpus.names)


def defaults() -> tuple[tuple[str, BlockModels], ...]:
    """Return the embedded pairs of models by their names: prose, and source code.

    >>> [name for name, _ in defaults()]
    ['documentation', 'source code']
    """
    return ("documentation", embedded()), ("source code", source_code())


def _bits(law: Any) -> float:
    held = law[law > 0]
    return float(-(held * np.log2(held)).sum())
