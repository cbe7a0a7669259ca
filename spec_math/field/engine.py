"""The record of an engine: where its function lies, how one round of it is run, and what is known of it."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, NamedTuple

import numpy as np
import torch

from spec_math.arrays import asarray
from spec_math.distribution import temperature, top_k, top_p
from spec_math.language.model import Model
from torch_bridge.toy_models import Form, TableModel, logits_of

Text = tuple[int, ...]


@dataclass(frozen=True)
class Options:
    """The options of a request: temperature, and the filters top_k and top_p, None where there is none."""

    temperature: float = 1.0
    top_k: int | None = None
    top_p: float | None = None

    def __str__(self) -> str:
        filters = [] if self.top_k is None else [f"top_k {self.top_k}"]
        filters += [] if self.top_p is None else [f"top_p {self.top_p:g}"]
        return ", ".join([f"T {self.temperature:g}", *filters])


PLAIN = Options()


class Edit(NamedTuple):
    """One place of a module's source changed: `old`, which stands there once, to `new`."""

    old: str
    new: str
    module: str = ""


class Defect:
    """A defect of an engine: its cause in one sentence, and the edits under which the same code is lossless.

    A rule that is lossy `by_design` has no mend, and no report is made.
    """

    def __init__(self, cause: str, *mend: Edit, by_design: bool = False) -> None:
        self.cause, self.mend, self.by_design = cause, mend, by_design


LIKELIEST = (
    "The draft is the draft model's most likely token. The code accepts it by the ratio of its target and draft "
    "probabilities, as if it were sampled."
)
"""The cause of a defect that several engines share."""


@dataclass(frozen=True)
class Step:
    """One call of an engine: the laws after each text, the text so far, the drafts to make, the options.

    Laws are taken as they are; a sampler applies the options itself. `kept` is the engine's own between rounds.
    """

    target: Model
    draft: Model
    lookahead: int
    options: Options = PLAIN
    text: Text = ()
    kept: dict[str, Any] = field(default_factory=dict[str, Any])

    @property
    def prompt(self) -> Text:
        """The tokens that a sampler is given before those it emits: some of a prompt, and the text so far."""
        return (*PROMPT, *self.text)

    def ids(self) -> torch.Tensor:
        """Return the prompt as tokens [1, n]."""
        return torch.tensor([self.prompt])

    def models(self, form: Form = "object", dtype: torch.dtype = torch.float32) -> tuple[TableModel, TableModel]:
        """Return table models of the target and of the draft."""
        return TableModel(self.target, PROMPT, form, dtype), TableModel(self.draft, PROMPT, form, dtype)

    def texts(self, drafts: Sequence[int]) -> list[Text]:
        """Return the text so far, and what it is after each of the drafts."""
        return [(*self.text, *drafts[:n]) for n in range(len(drafts) + 1)]

    def laws(self, model: Model, drafts: Sequence[int]) -> list[list[float]]:
        """Return the laws [n + 1, V] of a model after the text and after each of the drafts."""
        return [[float(mass) for mass in asarray(model(text))] for text in self.texts(drafts)]

    def rows(self, model: Model, drafts: Sequence[int], dtype: torch.dtype = torch.float32) -> torch.Tensor:
        """Return the logits [n + 1, V] of a model after the text and after each of the drafts."""
        return torch.stack([logits_of(model(text), dtype) for text in self.texts(drafts)])

    def drafted(self, draw: Callable[[list[int]], Any] | None = None) -> list[int]:
        """Draw a chain of drafts, each by a function of those before it, or from the draft's laws under the options."""
        drafts: list[int] = []
        for _ in range(self.lookahead):
            drafts.append(int((draw or self._drawn)(drafts)))
        return drafts

    def _drawn(self, drafts: list[int]) -> torch.Tensor:
        law = np.asarray(asarray(processed(self.draft, self.options)((*self.text, *drafts))), float)
        return torch.multinomial(torch.tensor(law), 1)

    def chain(self) -> tuple[list[int], torch.Tensor, torch.Tensor]:
        """Draw a chain of drafts; return it with the target's logits [n + 1, V] along it and the draft's [n, V]."""
        drafts = self.drafted()
        return drafts, self.rows(self.target, drafts), self.rows(self.draft, drafts)[:-1]

    def after(self, emitted: Sequence[int]) -> Step:
        """Return the next round's call."""
        return replace(self, text=(*self.text, *emitted))


PROMPT: Text = (1, 0, 0, 0, 0)
"""What stands before the first text: longer than the tokens of a round, which beside a cache could else be taken for a
text that begins with it and is handed over whole."""


def real_tokens(row: torch.Tensor) -> list[int]:
    """Return the tokens of a row without the negative ones that fill it up.

    >>> real_tokens(torch.tensor([3, 0, -1]))
    [3, 0]
    """
    return [token for token in row.tolist() if token >= 0]


def processed(model: Model, options: Options) -> Model:
    """Return a model under the options, in the order of most libraries: temperature, top-k, top-p; float64.

    Each filter is that of `spec_math.distribution`; a top_k beyond the vocabulary keeps all of it.

    >>> processed(lambda text: [0.5, 0.25, 0.25], Options(top_p=0.5))(()).tolist()
    [1.0, 0.0, 0.0]
    """
    if options == PLAIN:
        return model

    def law(text: Text) -> Any:
        masses = temperature(np.asarray(asarray(model(text)), dtype=np.float64), options.temperature)
        masses = masses if options.top_k is None else top_k(masses, min(options.top_k, len(masses)))
        return masses if options.top_p is None else top_p(masses, options.top_p)

    return law


@dataclass(frozen=True)
class Bisected:
    """An engine whose coins are arguments or can be put in: its kernel as a function of them, out of its module.

    `kernel(module)` returns a `chain_kernel.Kernel`; `parts()` the names that stand in for others of its package, as of
    `source_file.load`, which also loads the modules `beside`. Where `one_hot` it is told no laws of the draft.
    """

    kernel: Callable[[Any], Any]
    parts: Callable[[], Mapping[str, Mapping[str, Any]]] = dict
    beside: tuple[str, ...] = ()
    one_hot: bool = False


@dataclass(frozen=True)
class Engine:
    """A public sampler: where it comes from, how a round of it is run, and what was found in it.

    `function` is MODULE:FUNCTION. `run(module, step)` calls the engine's own code for one round and returns the
    tokens that it emits; or it is `Bisected`, where coins are put in. `options` names what of `Options` the code
    itself applies. `stubs` are packages that it imports and does not use here, and `given` names of modules that
    are not imported. `control` is one place changed by which its law goes wrong. `unit` is the roundoff of the type
    it computes in.
    """

    name: str
    source: Source
    function: str
    run: Callable[[Any, Step], Sequence[int]] | Bisected
    control: Edit
    rule: str = "chain"
    options: tuple[str, ...] = ()
    stubs: tuple[str, ...] = ()
    given: Mapping[str, Mapping[str, Any]] = field(default_factory=dict[str, Mapping[str, Any]])
    defects: tuple[Defect, ...] = ()
    unit: float = 2.0**-24
    law: Callable[[Any, Model, Options], Model] | None = None
    most: int = 3
    """The most drafts that are judged."""
    grid: int | None = None
    edits: tuple[Edit, ...] = ()
    narrow: bool = False
    """True if it is judged on one small case alone, with the most drafts: coins that are multiplied take many paths."""
    slow: bool = False
    """True if its rounds are judged on laws of two tokens alone, and one draft: a round of it takes many paths."""

    @property
    def module(self) -> str:
        """The module that holds the function."""
        return self.function.partition(":")[0]

    @property
    def project(self) -> str:
        """The package that it is from, or the repository."""
        source = self.source
        return source.package if isinstance(source, Archive) else source[0].partition(" ")[0]


class Archive(NamedTuple):
    """A file of the package index, pinned by its sha256 and its name: PACKAGE-VERSION of a wheel in plain Python."""

    name: str
    sha256: str

    @property
    def file(self) -> str:
        """The name of the file."""
        return self.name if self.name.endswith((".whl", ".zip", ".gz")) else f"{self.name}-py3-none-any.whl"

    @property
    def package(self) -> str:
        """The package that it holds."""
        return self.file.partition("-")[0].replace("_", "-")

    @property
    def version(self) -> str:
        """The version of the package."""
        return self.file.split("-")[1]


class Repository(NamedTuple):
    """A repository that is no package, as OWNER/NAME: it is judged from a copy that the user names."""

    name: str


class Restated(NamedTuple):
    """A package and version whose own code cannot be run: `spec_math.field.restated` writes its rule down."""

    version: str


Source = Archive | Repository | Restated
"""Where an engine's code, or its rule, was had."""
