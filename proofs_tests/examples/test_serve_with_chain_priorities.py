"""The how-to's loop: its exact law on three tokens, and its cache.

That it yields more tokens a call than one chain is the example's own check, which `test_examples.py` runs.
"""

from __future__ import annotations

import importlib.util
import runpy
from pathlib import Path
from typing import Any

import pytest

torch = pytest.importorskip("torch")

from spec_math.block_level.methods import named  # noqa: E402
from torch_bridge import explore  # noqa: E402

PATH = Path(__file__).parent.parent.parent / "examples" / "serve_with_chain_priorities.py"
BEST = named("chain priorities")


@pytest.fixture(scope="module")
def loop() -> Any:
    spec = importlib.util.spec_from_file_location("serve_with_chain_priorities", PATH)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def law_after(target: Any, text: list[int]) -> list[float]:
    """The target's law after a text, computed without any cache."""
    size = len(text)
    mask = torch.ones(size, size, dtype=torch.bool).tril()
    return target(torch.tensor(text), torch.arange(size), mask, target.empty())[0][-1].softmax(-1).tolist()


def first_tokens(loop: Any, models: Any, lookahead: int) -> tuple[dict[Any, float], dict[Any, float]]:
    """The law of the first tokens of one call, continued by the target, and the target's own."""
    prefix = [0, 1]
    mask = torch.ones(1, 1, dtype=torch.bool)
    _, cache = models[0](torch.tensor(prefix[:1]), torch.arange(1), mask, models[0].empty())
    blocks = explore(lambda: tuple(loop.call(models, prefix, cache, (2, lookahead), BEST)[0]), budget=10**6)

    def continued(block: tuple[int, ...]) -> list[tuple[tuple[int, ...], float]]:
        found = [(block, 1.0)]
        for _ in range(lookahead + 1 - len(block)):
            found = [
                ((*path, y), mass * t)
                for path, mass in found
                for y, t in enumerate(law_after(models[0], [*prefix, *path]))
            ]
        return found

    total: dict[Any, float] = {}
    for block, mass in blocks.items():
        for text, share in continued(block):
            total[text] = total.get(text, 0.0) + mass * share
    return total, dict(continued(()))


@pytest.mark.parametrize(("size", "lookahead"), [(3, 1), (2, 2)])
def test_the_exact_law_of_the_loop_is_the_targets(loop: Any, size: int, lookahead: int) -> None:
    found, wanted = first_tokens(loop, loop.two_models(size, apart=0.4), lookahead)
    assert max(abs(found.get(text, 0.0) - mass) for text, mass in wanted.items()) < 1e-12


def test_a_draft_that_is_told_wrong_is_found(loop: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    """The control: the rows that the verifier is told are not those that the chains were drawn from."""
    models = loop.two_models(2, apart=2.0)
    found, wanted = first_tokens(loop, models, 1)
    assert max(abs(found.get(text, 0.0) - mass) for text, mass in wanted.items()) < 1e-12
    right = loop.draft_chains

    def wrong(*given: Any) -> Any:
        chains, rows = right(*given)
        return chains, rows.flip(-1)

    monkeypatch.setattr(loop, "draft_chains", wrong)
    found, wanted = first_tokens(loop, models, 1)
    assert max(abs(found.get(text, 0.0) - mass) for text, mass in wanted.items()) > 0.5


def test_the_cache_that_is_kept_is_that_of_the_text(loop: Any) -> None:
    models = loop.two_models(12)
    torch.manual_seed(1)
    text, cache = [3], models[0].empty()
    for _ in range(4):
        block, cache = loop.call(models, text, cache, (3, 3), BEST)
        text += block
        size = len(text) - 1
        mask = torch.ones(size, size, dtype=torch.bool).tril()
        _, whole = models[0](torch.tensor(text[:-1]), torch.arange(size), mask, models[0].empty())
        for kept, wanted in zip(cache, whole, strict=True):
            assert kept.shape == wanted.shape
            assert float((kept - wanted).abs().max()) < 1e-12


def test_an_example_that_drafts_one_chain_twice_does_not_end_in_its_check(tmp_path: Path) -> None:
    """The control of the example's own check, on fewer texts."""
    text = PATH.read_text(encoding="utf-8")
    for right, wrong in (
        ('("chain priorities", (4, 3))', '("chain priorities", (1, 3))'),
        ("texts: int = 20", "texts: int = 6"),
    ):
        assert text.count(right) == 1
        text = text.replace(right, wrong)
    broken = tmp_path / PATH.name
    assert broken.write_text(text, encoding="utf-8") > 0
    with pytest.raises(SystemExit, match="four chains should yield more"):
        runpy.run_path(str(broken), run_name="__main__")
