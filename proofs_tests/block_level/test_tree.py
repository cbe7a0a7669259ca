"""Drafted trees: the paths to their leaves, and those below which something is drafted, from any path on."""

from spec_math.block_level.tree import Node, inner, leaves

TREE = (Node(1, (Node(0), Node(2, (Node(1),)))), Node(1), Node(0))


def test_leaves_are_listed_as_often_as_they_were_drafted() -> None:
    assert leaves(TREE) == [(1, 0), (1, 2, 1), (1,), (0,)]
    assert leaves((*TREE, Node(0)), (3,)) == [(3, 1, 0), (3, 1, 2, 1), (3, 1), (3, 0), (3, 0)]
    assert leaves(()) == []


def test_inner_nodes_are_those_with_drafts_below_them() -> None:
    assert inner(TREE, ()) == [(), (1,), (1, 2)]
    assert inner(TREE, (3,)) == [(3,), (3, 1), (3, 1, 2)]
    assert inner((), (3,)) == []
