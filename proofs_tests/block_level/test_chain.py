"""Standard speculative decoding of one chain: lossless as a joint law, over rounds, and its length in closed form."""

from hypothesis import given, settings
from hypothesis import strategies as st

from proofs_tests.block_level.models import model_pairs
from spec_math import check_lossless_block
from spec_math.block_level import chain


@settings(max_examples=40)
@given(st.data(), st.sampled_from([(2, 1), (2, 2), (2, 3), (3, 1), (3, 2)]))
def test_chain_is_lossless(data: st.DataObject, shape: tuple[int, int]) -> None:
    size, lookahead = shape
    target, draft = data.draw(model_pairs(size))
    verdict = check_lossless_block(
        lambda coin, prefix: chain.generate(coin, target, draft, prefix, lookahead), target, lookahead + 1
    )
    assert verdict, str(verdict)
