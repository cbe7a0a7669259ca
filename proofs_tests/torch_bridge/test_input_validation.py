"""Bad input is refused before anything is launched: the rule, the numbers, and the cure."""

from __future__ import annotations

from typing import Any

import pytest

torch = pytest.importorskip("torch")

from proofs_tests.torch_bridge.batches import Logits, batch  # noqa: E402
from torch_bridge import softmax_rows, verify_block, verify_token  # noqa: E402
from torch_bridge.options import Options  # noqa: E402

GIVEN = batch((6, 3, 5), 3, torch.float32)._replace(tokens=torch.zeros(6, 3, dtype=torch.long))


def spoilt(name: str, place: tuple[int, ...], value: float) -> Logits:
    array = getattr(GIVEN, name).clone()
    array[place] = value
    return GIVEN._replace(**{name: array})


NAN, INF = float("nan"), float("inf")
DATA = [
    (spoilt("targets", (1, 2, 3), NAN), r"that of target_logits\[1, 2\] is nan: a logit is not a number"),
    (spoilt("targets", (0, 3, 1), INF), r"target_logits\[0, 3\] is inf: it has no softmax"),
    (spoilt("drafts", (2, 0), -INF), r"draft_logits\[2, 0\] is -inf: every token is masked"),
    (spoilt("drafts", (5, 1, 0), -INF), r"no mass on the drafted token 0 at tokens\[5, 1\]; give the logits and opt"),
    (spoilt("tokens", (4, 2), 5), r"must lie in 0\.\.4, or be -1 from where a chain is shorter; tokens\[4, 2\] is 5"),
    (spoilt("tokens", (4, 2), -2), r"tokens\[4, 2\] is -2"),
    (spoilt("tokens", (4, 0), -1), r"ends at its first -1; tokens\[4, 0\] is -1 and tokens\[4, 1\] is 0"),
    (spoilt("uniforms", (3, 3), 1.0), r"must lie in \[0, 1\); uniforms\[3, 3\] is 1\.0; draw them in float64"),
    (spoilt("uniforms", (3, 3), -0.25), r"uniforms\[3, 3\] is -0\.25"),
    (spoilt("uniforms", (0, 0), NAN), r"uniforms\[0, 0\] is nan"),
]
FIT = [
    (
        GIVEN._replace(targets=GIVEN.targets[None]),
        ValueError,
        r"must be \[B, L \+ 1, V\], .* target_logits \(1, 6, 4, 5\)",
    ),
    (GIVEN._replace(targets=GIVEN.targets[0]), ValueError, r"must be \[B, L \+ 1, V\], .* target_logits \(4, 5\)"),
    (GIVEN._replace(drafts=GIVEN.drafts[:, :2]), ValueError, r"draft_logits \(6, 2, 5\)"),
    (GIVEN._replace(uniforms=GIVEN.uniforms[:, :3]), ValueError, r"uniforms \(6, 3\)"),
    (GIVEN._replace(tokens=GIVEN.tokens[:0]), ValueError, r"tokens \(0, 3\)"),
    (
        GIVEN._replace(targets=GIVEN.targets.long()),
        TypeError,
        "target_logits must be of a floating type; got torch.int",
    ),
    (GIVEN._replace(drafts=GIVEN.drafts.half()), TypeError, "one type; got torch.float32 and torch.float16"),
    (GIVEN._replace(tokens=GIVEN.tokens.float()), TypeError, "tokens must be whole numbers; got torch.float32"),
    (GIVEN._replace(tokens=GIVEN.tokens == 0), TypeError, "whole numbers; got torch.bool"),
    (GIVEN._replace(uniforms=GIVEN.uniforms.numpy()), TypeError, "uniforms must be a torch tensor; got ndarray"),
    (
        GIVEN._replace(drafts=GIVEN.drafts.to("meta")),
        ValueError,
        "one device; got .*draft_logits on meta, tokens on cpu",
    ),
]


@pytest.mark.parametrize("verify", [verify_token, verify_block])
@pytest.mark.parametrize(("given", "message"), DATA)
def test_data_that_are_no_laws_are_named(verify: Any, given: Logits, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        verify(*given)


@pytest.mark.parametrize("verify", [verify_token, verify_block])
@pytest.mark.parametrize(("given", "kind", "message"), FIT)
@pytest.mark.parametrize("check", [True, False])
def test_arrays_that_do_not_fit_are_told_apart(verify: Any, given: Any, kind: Any, message: str, check: bool) -> None:
    with pytest.raises(kind, match=message):
        verify(*given, Options(check=check))


def test_a_draft_that_top_k_drops_is_refused() -> None:
    with pytest.raises(ValueError, match="the draft puts no mass on the drafted token"):
        verify_token(*GIVEN, Options(top_k=1))


def test_good_data_pass() -> None:
    assert verify_token(*GIVEN).count.shape == (6,)


@pytest.mark.parametrize(
    ("changed", "message"),
    [
        ({"temperature": -1.0}, "must be finite and >= 0; got -1.0"),
        ({"temperature": NAN}, "got nan"),
        ({"temperature": INF}, "got inf"),
        ({"top_k": 0}, "top_k must be at least 1"),
        ({"top_p": 0.0}, r"a mass in \(0, 1\]; got 0.0"),
        ({"top_p": NAN}, "got nan"),
        ({"chunk_bytes": 0}, "chunk_bytes must be at least 1"),
    ],
)
def test_options_that_make_no_law_are_refused(changed: Any, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        Options(**changed)


def test_options_of_a_wrong_kind_are_refused() -> None:
    with pytest.raises(TypeError, match="a whole number"):
        Options(top_k=2.5)  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="must not exceed the vocabulary; k = 9, V = 5"):
        verify_token(*GIVEN, Options(top_k=9))


@pytest.mark.parametrize("given", [given for given, _ in DATA] + [given for given, *_ in FIT])
def test_errors_come_before_anything_is_launched(given: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    """No row is weighed where the input is bad; where it is good, rows are."""
    weighed: list[int] = []

    def noted(*_: Any, **__: Any) -> None:
        weighed.append(1)
        raise RuntimeError("launched")

    monkeypatch.setattr(softmax_rows, "weigh", noted)
    for verify in (verify_token, verify_block):
        with pytest.raises((ValueError, TypeError)):
            verify(*given)
        assert weighed == []
    with pytest.raises(RuntimeError, match="launched"):
        verify_token(*GIVEN)
