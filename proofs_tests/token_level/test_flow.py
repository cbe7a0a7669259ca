"""Maximum flow: SciPy's value, conserved at every node, and a cut of the same capacity."""

import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.sparse import csr_array
from scipy.sparse.csgraph import maximum_flow as by_scipy

from spec_math.token_level.transport import maximum_flow

NODES = 6


@st.composite
def networks(draw):
    ends = st.tuples(st.integers(0, NODES - 1), st.integers(0, NODES - 1)).filter(lambda pair: pair[0] != pair[1])
    return [(*pair, draw(st.integers(0, 9))) for pair in draw(st.lists(ends, max_size=14, unique=True))]


@given(networks())
def test_maximum_flow_is_a_flow_of_the_value_of_its_cut(edges):
    found = maximum_flow(NODES, edges, 0, 1)
    surplus = [0] * NODES
    for (tail, head, capacity), carried in zip(edges, found.flows, strict=True):
        assert 0 <= carried <= capacity
        surplus[tail] -= carried
        surplus[head] += carried
    assert surplus == [-found.value, found.value, 0, 0, 0, 0]
    side = found.source_side
    assert 0 in side
    assert 1 not in side
    assert sum(capacity for tail, head, capacity in edges if tail in side and head not in side) == found.value


@given(networks())
def test_maximum_flow_has_the_value_that_scipy_finds(edges):
    matrix = [[0] * NODES for _ in range(NODES)]
    for tail, head, capacity in edges:
        matrix[tail][head] = capacity
    assert maximum_flow(NODES, edges, 0, 1).value == by_scipy(csr_array(matrix, dtype="int32"), 0, 1).flow_value


def test_capacities_may_be_of_any_size():
    huge = 10**60
    assert maximum_flow(3, [(0, 2, huge), (2, 1, huge - 1)], 0, 1).value == huge - 1


@pytest.mark.parametrize(("edges", "sink"), [([(0, 1, -1)], 1), ([(0, 1, 1)], 0)])
def test_what_is_no_network_is_refused(edges, sink):
    with pytest.raises(ValueError, match="two distinct ends and capacities"):
        maximum_flow(2, edges, 0, sink)
