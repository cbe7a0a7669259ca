"""Verification on logits decides what the replayed programs decide on the same uniforms, and has their law."""

from __future__ import annotations

from itertools import pairwise, product
from typing import Any

import numpy as np
import pytest

torch = pytest.importorskip("torch")

from proofs_tests.torch_bridge.batches import Logits, batch, law_of, replayed  # noqa: E402
from spec_math.testing import DifferentTokensError  # noqa: E402
from torch_bridge import threshold, verify_block, verify_token  # noqa: E402
from torch_bridge.options import DEFAULT, Options  # noqa: E402
from torch_bridge.threshold import assert_same_tokens  # noqa: E402

RULES = {"token": (verify_token, threshold.margin_token), "block": (verify_block, threshold.margin_block)}
SHAPES = [(300, 1, 2), (150, 3, 5), (60, 4, 130), (30, 2, 1000)]
OPTIONS = [
    Options(temperature=0.7),
    Options(top_k=3),
    Options(top_p=0.8),
    Options(temperature=1.3, top_k=4, top_p=0.9),
    Options(temperature=0),
]
rules = pytest.mark.parametrize("rule", RULES)


def compare(verify: Any, rule: str, given: Logits, options: Options = DEFAULT) -> float:
    """Every row further from a threshold than the bound agrees with the program; returns the share of such rows."""
    margin = RULES[rule][1](*given, options)
    lookahead = given.tokens.shape[1] if rule == "block" else 0
    bound = threshold.bound(given.targets.dtype, given.targets.shape[-1], lookahead)
    emitted, count = verify(*given, options)
    assert_same_tokens(replayed(rule, given, options), emitted, margin, bound, given.uniforms)
    assert (count == (emitted >= 0).sum(dim=1)).all()
    return float((margin > bound).double().mean())


@pytest.mark.parametrize("dtype", [torch.float64, torch.float32, torch.bfloat16, torch.float16], ids=str)
@pytest.mark.parametrize("shape", SHAPES, ids=str)
@rules
def test_logits_are_verified_as_the_replayed_program_verifies_their_laws(rule: str, shape: Any, dtype: Any) -> None:
    for seed in range(6):
        given = batch(shape, seed, dtype)
        share = compare(RULES[rule][0], rule, given)
        # Between laws that differ by 1e-3 a residual is of mass 1e-4 or so, and float32 cannot place a draw from it.
        assert share == 1 if dtype == torch.float64 else share > 0.8
        assert len(RULES[rule][0](*given).count.unique()) > 1, "all blocks of one length would show nothing"


@pytest.mark.parametrize("dtype", [torch.float64, torch.float32], ids=str)
@pytest.mark.parametrize("options", OPTIONS, ids=lambda o: f"T={o.temperature} k={o.top_k} p={o.top_p}")
@rules
def test_temperature_top_k_and_top_p_are_applied_to_both(rule: str, options: Options, dtype: Any) -> None:
    for shape in ((200, 3, 6), (40, 3, 200)):
        given = batch(shape, 0, dtype, options)
        assert compare(RULES[rule][0], rule, given, options) > 0.9


@rules
def test_top_k_keeps_the_lowest_index_among_equals(rule: str) -> None:
    options = Options(top_k=3)
    given = batch((200, 2, 6), 1, options=options, spread=1)
    tied = given._replace(targets=given.targets.round(), drafts=given.drafts.round())
    laws = [[law_of(row, options) for row in request] for request in tied.drafts]
    rng = np.random.default_rng(0)
    tokens = torch.tensor([[rng.choice(6, p=law) for law in request] for request in laws])
    assert compare(RULES[rule][0], rule, tied._replace(tokens=tokens), options) > 0.9


@rules
def test_a_token_that_weighs_nothing_in_the_working_type_was_not_drafted(rule: str) -> None:
    """Refused where values are looked at; passed over where they are not, so that the target's token comes first."""
    target, draft = torch.tensor([[[-120.0, 0.0], [0.0, 0.0]]]), torch.tensor([[[-121.0, 0.0]]])
    given = Logits(target, draft, torch.tensor([[0]]), torch.tensor([[0.5, 0.25]]).double())
    with pytest.raises(ValueError, match=r"tokens\[0, 0\] is 0, 121 nats below the draft's largest logit"):
        RULES[rule][0](*given)
    assert RULES[rule][0](*given, Options(check=False)).emitted.tolist() == [[1, -1]]
    assert RULES[rule][0](*(each.double() for each in (target, draft)), *given[2:]).emitted[0, 0] == 0


@rules
def test_the_tokens_do_not_depend_on_the_chunks(rule: str) -> None:
    given = batch((50, 3, 300), 0, torch.float32)
    whole = RULES[rule][0](*given)
    for size in (1, 20_000, 10**9):
        cut = RULES[rule][0](*given, Options(chunk_bytes=size))
        assert (cut.emitted == whole.emitted).all()


@rules
def test_slices_and_narrow_tokens_serve(rule: str) -> None:
    given = batch((40, 3, 50), 0, torch.float32)
    wide = torch.cat([given.targets, given.targets], dim=-1)[..., :50]
    moved = given.drafts.permute(1, 0, 2).contiguous().permute(1, 0, 2)
    sliced = RULES[rule][0](wide, moved, given.tokens.int(), given.uniforms)
    assert (sliced.emitted == RULES[rule][0](*given).emitted).all()


@pytest.mark.parametrize("garbage", [float("nan"), float("inf"), -float("inf"), 1e30])
@rules
def test_rows_behind_a_chain_may_hold_anything(rule: str, garbage: float) -> None:
    given = batch((200, 3, 20), 0, torch.float32)
    size = (given.tokens >= 0).sum(dim=1)[:, None]
    targets, drafts = given.targets.clone(), given.drafts.clone()
    targets[torch.arange(4) > size] = garbage
    drafts[torch.arange(3) >= size] = garbage
    assert (
        RULES[rule][0](targets, drafts, given.tokens, given.uniforms).emitted == RULES[rule][0](*given).emitted
    ).all()


@rules
def test_without_checks_nothing_is_read_on_the_host(rule: str) -> None:
    """On the meta device there are no values: any look at one fails, and so does a shape that depends on one."""
    given = Logits(*(array.to("meta") for array in batch((6, 3, 300), 0, torch.float32)))
    for options in (Options(check=False), Options(check=False, temperature=0.5, top_k=5, top_p=0.9)):
        assert RULES[rule][0](*given, options).emitted.shape == (6, 4)
    with pytest.raises((RuntimeError, NotImplementedError)):
        RULES[rule][0](*given, Options(check=True))


def test_verify_token_has_the_target_law_exactly() -> None:
    """Two positions, three tokens: all uniforms of a grid between all thresholds, each with its volume."""
    masses = torch.tensor([[[4, 3, 1], [1, 1, 6], [2, 5, 1]]]).double() / 8
    drafts = torch.tensor([[[1, 5, 2], [3, 4, 1]]]).double() / 8
    total = torch.zeros(3, 3, 3).double()
    for pair in product(range(3), repeat=2):
        drafted = drafts[0, 0, pair[0]] * drafts[0, 1, pair[1]]
        cuts = [_cuts(masses[0, place, x] / drafts[0, place, x]) for place, x in enumerate(pair)]
        # Borders of every draw that may follow: the residuals of both positions, and the last target.
        last = {0.0, 1.0}
        for left in [*(masses[0, :2] - drafts[0]).clamp(min=0), masses[0, 2]]:
            last |= set((left.cumsum(0) / left.sum()).tolist())
        grid = list(product(*(_cells(cut) for cut in [*cuts, sorted(last)])))
        uniforms = torch.tensor([[middle for middle, _ in cell] for cell in grid]).double()
        rows = len(grid)
        emitted, count = verify_token(
            masses.log().expand(rows, -1, -1),
            drafts.log().expand(rows, -1, -1),
            torch.tensor([pair]).expand(rows, -1),
            uniforms,
        )
        for cell, tokens, size in zip(grid, emitted.tolist(), count.tolist(), strict=True):
            volume = float(drafted) * np.prod([width for _, width in cell])
            total += volume * _continued(tokens[:size], masses[0])
    want = masses[0, 0][:, None, None] * masses[0, 1][None, :, None] * masses[0, 2][None, None, :]
    # 27 drafts times fewer than 100 cells, each within a few roundings.
    assert float((total - want).abs().max()) < 2700 * 8 * 2.0**-53


def _continued(tokens: list[int], masses: Any) -> Any:
    """The law of three tokens that begin as these: later ones come from the target, which ignores its past here."""
    rows = [torch.eye(3).double()[tokens[i]] if i < len(tokens) else masses[i] for i in range(3)]
    return rows[0][:, None, None] * rows[1][None, :, None] * rows[2][None, None, :]


def _cuts(ratio: Any) -> list[float]:
    return sorted({0.0, min(1.0, float(ratio)), 1.0})


def _cells(cuts: list[float]) -> list[tuple[float, float]]:
    return [((a + b) / 2, b - a) for a, b in pairwise(cuts)]


@pytest.mark.parametrize("verify", [verify_token, verify_block])
def test_a_coin_on_its_chance_rejects(verify: Any) -> None:
    """t/d = 1/2 exactly, in every type: u = 1/2 rejects, the number below accepts."""
    target = torch.tensor([[[0.0, 0.0, -torch.inf], [0.0, -torch.inf, -torch.inf]]]).double()
    draft = torch.tensor([[[0.0, -torch.inf, -torch.inf]]]).double()
    for uniform, token in ((0.5, 1), (0.5 - 2.0**-40, 0)):
        assert (
            verify(target, draft, torch.tensor([[0]]), torch.tensor([[uniform, 0.3]], dtype=torch.float64)).emitted[
                0, 0
            ]
            == token
        )


# Controls: the same comparison rejects these.


def shifted(targets: Any, drafts: Any, tokens: Any, uniforms: Any, options: Options = DEFAULT) -> Any:
    return verify_token(targets, drafts, tokens, uniforms.roll(1, dims=1), options)


def swapped(targets: Any, drafts: Any, tokens: Any, uniforms: Any, options: Options = DEFAULT) -> Any:  # noqa: ARG001
    last = torch.cat([drafts, targets[:, -1:]], dim=1)
    return verify_token(last, targets[:, :-1], tokens, uniforms, Options(check=False))


def from_target(targets: Any, drafts: Any, tokens: Any, uniforms: Any, options: Options = DEFAULT) -> Any:
    """A rejected position draws from the target itself."""
    found = verify_token(targets, drafts, tokens, uniforms, options)
    accepted = found.count - 1
    row = targets[torch.arange(len(tokens)), accepted]
    none = torch.full_like(tokens, -1)
    drawn = verify_token(row[:, None].expand_as(targets), drafts, none, uniforms, options).emitted[:, 0]
    return found._replace(emitted=found.emitted.scatter(1, accepted[:, None], drawn[:, None]))


def coarse_uniforms(targets: Any, drafts: Any, tokens: Any, uniforms: Any, options: Any = DEFAULT) -> Any:
    return verify_token(targets, drafts, tokens, (uniforms * 64).floor() / 64, options)


@pytest.mark.parametrize("control", [shifted, swapped, from_target, coarse_uniforms, verify_block])
def test_a_wrong_verifier_is_rejected(control: Any) -> None:
    with pytest.raises(DifferentTokensError, match=r"row \d+, position \d+: expected token"):
        compare(control, "token", batch((300, 3, 5), 0))


def shifted_block(targets: Any, drafts: Any, tokens: Any, uniforms: Any, options: Options = DEFAULT) -> Any:
    """A block whose uniforms come one column late."""
    return verify_block(targets, drafts, tokens, uniforms.roll(1, dims=1), options)


@pytest.mark.parametrize("control", [shifted_block, verify_token])
def test_a_wrong_block_verifier_is_rejected(control: Any) -> None:
    with pytest.raises(DifferentTokensError, match=r"row \d+, position \d+: expected token"):
        compare(control, "block", batch((300, 3, 5), 0))


def test_less_or_equal_is_rejected() -> None:
    """On uniforms that lie on their chances, 1/2, where every float is exact: the margin is 0, the bound below it."""
    target = torch.tensor([[[0.0, 0.0, -torch.inf], [0.0, -torch.inf, -torch.inf]]]).double()
    draft = torch.tensor([[[0.0, -torch.inf, -torch.inf]]]).double()
    given = Logits(target, draft, torch.tensor([[0]]), torch.tensor([[0.5, 0.3]]).double())
    lower = given._replace(uniforms=given.uniforms - 2.0**-50)
    with pytest.raises(DifferentTokensError):
        assert_same_tokens(replayed("token", given), verify_token(*lower).emitted, torch.zeros(1), -1.0)
