"""Bad drafts of one position are refused by name: shapes and types always, values where the data is looked at."""

from __future__ import annotations

from typing import Any

import pytest

torch = pytest.importorskip("torch")

from spec_math import SCHEMES  # noqa: E402
from spec_math.scheme import Scheme  # noqa: E402
from torch_bridge import columns, verify_drafts  # noqa: E402
from torch_bridge.options import Options  # noqa: E402

NAMED = {scheme.short_name: scheme for scheme in SCHEMES}
LOGITS = torch.tensor([[0.0, 1.0, 2.0], [2.0, 1.0, -torch.inf]])


def call(name: str, tokens: Any, options: Options | None = None, **changed: Any) -> Any:
    given = {"target_logits": LOGITS, "draft_logits": LOGITS, "uniforms": torch.zeros(2, 6), **changed}
    return verify_drafts(
        NAMED[name],
        given["target_logits"],
        given["draft_logits"],
        torch.as_tensor(tokens),
        given["uniforms"],
        options or Options(),
    )


@pytest.mark.parametrize(
    ("name", "tokens", "changed", "message"),
    [
        ("K-SEQ", [[0, 1], [3, 0]], {}, r"tokens must lie in 0..2, .*tokens\[1, 0\] is 3"),
        ("K-SEQ", [[0, 1], [-1, 0]], {}, r"ends at its first -1; tokens\[1, 0\]"),
        ("K-SEQ", [[0, 1], [0, 2]], {}, r"no mass on the drafted token 2 at tokens\[1, 1\]"),
        ("recursive, no replacement", [[0, 1], [1, 1]], {}, r"distinct; tokens\[1, 1\] is 1, as is tokens\[1, 0\]"),
        ("greedy drafts", [[2, 2], [1, 0]], {}, r"distinct; tokens\[0, 1\] is 2"),
        ("SpecHub", [[0, 1], [1, 0]], {}, "in request 0 it is 2 and the drafts are"),
        ("maximal coupling", [[0, -1], [0, 1]], {}, "takes 1 draft.*request 1 has 2"),
        ("K-SEQ", [[0], [0]], {"uniforms": torch.ones(2, 6)}, r"uniforms\[0, 0\] is 1.0"),
        ("K-SEQ", [[0], [0]], {"target_logits": LOGITS / 0 * 0}, r"target_logits\[0\] is nan"),
        ("K-SEQ", [[0], [0]], {"uniforms": torch.zeros(2, 1)}, "tosses up to 2 coins a request on 1 drafts"),
        ("K-SEQ", [[0], [0]], {"draft_logits": LOGITS[:, None]}, "takes drafts of one distribution"),
        ("K-SEQ", [[0], [0]], {"draft_logits": LOGITS[:1]}, "must be .B, V.,"),
        ("optimal plan", [[0], [0]], {"uniforms": torch.zeros(2, 2)}, "tosses up to 4 coins a request on 1 drafts"),
        ("optimal plan", [[0], [0]], {"uniforms": torch.full((2, 4), -0.5)}, r"uniforms\[0, 0\] is -0.5"),
        ("optimal plan", [[0], [0]], {"draft_logits": LOGITS - torch.inf}, r"draft_logits\[0\] is -inf"),
        ("optimal plan", [[0], [0]], {"draft_logits": LOGITS.to("meta")}, "one device; got .*draft_logits on meta"),
    ],
)
def test_bad_drafts_are_refused_with_request_and_place(name: str, tokens: Any, changed: Any, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        _ = call(name, tokens, **changed)


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64, torch.bfloat16, torch.float16])
def test_a_favourite_beside_which_no_weight_is_left_is_drafted_alone(dtype: Any) -> None:
    """A drafter that draws from the softmax has no second token where all other weights underflow."""
    logits = torch.tensor([[8.0, 0.0, -1.0], [0.0, 1.0, 0.0]], dtype=dtype)
    given = {"target_logits": logits, "draft_logits": logits}
    cold = Options(temperature=0.01)
    assert call("SpecHub", [[0, -1], [-1, -1]], cold, **given).emitted.tolist()[0] == 0
    # At temperature 1 the others have weight, and the favourite alone is not what SpecHub drafts.
    with pytest.raises(ValueError, match="that one alone where the draft is certain"):
        _ = call("SpecHub", [[0, -1], [-1, -1]], **given)
    # Nor is another token alone.
    with pytest.raises(ValueError, match=r"nats|that one alone"):
        _ = call("SpecHub", [[1, -1], [-1, -1]], cold, **given)


def test_shapes_and_types_are_checked_without_a_look_at_values() -> None:
    blind = Options(check=False)
    with pytest.raises(ValueError, match="coins a request"):
        _ = call("K-SEQ", [[0], [0]], blind, uniforms=torch.zeros(2, 1))
    with pytest.raises(TypeError, match="whole numbers"):
        _ = call("K-SEQ", [[0.0], [0.0]], blind)
    with pytest.raises(TypeError, match="of one type"):
        _ = call("K-SEQ", [[0], [0]], blind, draft_logits=LOGITS.double())
    with pytest.raises(ValueError, match="does not say how many coins"):
        _ = columns(Scheme("mine", *([len] * 3)), 2)  # type: ignore[arg-type]
