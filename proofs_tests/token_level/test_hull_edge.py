"""The edge of a hull above one place: that of the stored hull, on curves and laws made to take hundreds of lines."""

from fractions import Fraction

import numpy as np
import pytest

from proofs_tests.token_level.slow_hulls import geometric
from spec_math import exact
from spec_math.token_level.batch import drafts as batch_drafts
from spec_math.token_level.batch import plan

LONG = 300


def stored_edge(place, heights, last, at):
    """The edge by Andrew's monotone chain on the exact values of the floats."""
    xs, ys = ([Fraction(value) for value in row] for row in (place[: last + 1], heights[: last + 1]))
    hull = []
    for i in range(last + 1):
        while len(hull) > 1:
            p, q = hull[-2:]
            if (ys[q] - ys[p]) * (xs[i] - xs[p]) < (ys[i] - ys[p]) * (xs[q] - xs[p]):
                break
            hull.pop()
        hull.append(i)
    right = next(vertex for vertex in hull if vertex > at)
    return hull[hull.index(right) - 1], right


def chords(place, heights, at):
    """How many chords it takes until one is the edge."""
    a, b, number = 0, len(place) - 1, 0
    while True:
        number += 1
        slope = (heights[b] - heights[a]) / (place[b] - place[a])
        lowest = int((heights - slope * place).argmin())
        if not a < lowest < b:
            return number
        a, b = (lowest, b) if lowest <= at else (a, lowest)


def sawtooth(size=LONG):
    """A parabola at powers of two, with a point far above between any two: chords and middles show one vertex each."""
    vertices = np.array([0.0, *2.0 ** np.arange(1 - size, 1)])
    place = np.concatenate([np.stack([vertices[:-1], 0.75 * vertices[1:]], 1).ravel(), vertices[-1:]])
    place[1] = vertices[1] / 2
    heights = place**2
    heights[1::2] = 1.0
    return place, heights


def test_a_curve_that_takes_hundreds_of_lines_has_its_edge(monkeypatch):
    place, heights = sawtooth()
    assert (np.diff(place) > 0).all()
    assert chords(place, heights, 0) > LONG // 2
    seen, bisected = [], plan.bisected

    def counted(*given):
        seen.append(len(given[0]))
        return bisected(*given)

    monkeypatch.setattr(plan, "bisected", counted)
    ats = np.array([0, 1, 40, 401, len(place) - 2])
    rows = np.tile(place, (len(ats), 1)), np.tile(heights, (len(ats), 1))
    last = np.full(len(ats), len(place) - 1)
    true = [stored_edge(place, heights, last[0], int(at)) for at in ats]
    assert list(zip(*plan.lower_edge(*rows, last, ats), strict=True)) == true
    assert seen == [5]
    monkeypatch.setattr(batch_drafts, "on_host", lambda _: False)
    assert list(zip(*plan.lower_edge(*rows, last, ats), strict=True)) == true
    assert seen == [5, 5]


def test_lines_alone_are_rejected(monkeypatch):
    """Control: without the bisection the pool of the same curve is wider than the edge."""
    place, heights = sawtooth()
    monkeypatch.setattr(plan, "bisected", lambda *given: (0 * given[3], given[2]))
    given = place[None], heights[None], np.array([len(place) - 1]), np.array([40])
    found = [int(end[0]) for end in plan.lower_edge(*given)]
    assert tuple(found) != stored_edge(place, heights, len(place) - 1, 40)


def test_torch_takes_the_same_edges(monkeypatch):
    torch = pytest.importorskip("torch")
    place, heights = (torch.from_numpy(row)[None] for row in sawtooth())
    last, at = torch.tensor([place.shape[1] - 1]), torch.tensor([41])
    true = stored_edge(place[0].tolist(), heights[0].tolist(), int(last), 41)
    assert tuple(int(end) for end in plan.lower_edge(place, heights, last, at)) == true
    monkeypatch.setattr(batch_drafts, "on_host", lambda _: False)
    assert tuple(int(end) for end in plan.lower_edge(place, heights, last, at)) == true


def test_random_curves_in_whole_numbers_have_the_stored_edge():
    """Heights and places are small whole numbers, so that no line rounds but by its slope; ties are met."""
    rng = np.random.default_rng(0)
    for _ in range(300):
        size = int(rng.integers(2, 40))
        place = np.concatenate([[0], np.cumsum(rng.integers(1, 5, size))]).astype(float)
        heights = rng.integers(0, 50, size + 1).astype(float)
        heights[1:] += rng.choice([0, 1]) * (place[1:] - place[-1] / 2) ** 2
        last = int(rng.integers(1, size + 1))
        place[last:], heights[last:] = place[last], heights[last]
        at = int(rng.integers(0, last))
        true = stored_edge(place, heights, last, at)
        given = place[None], heights[None], np.array([last]), np.array([at])
        for found in (plan.lower_edge(*given), plan.bisected(*given)):
            a, b = (int(end[0]) for end in found)
            assert a <= at < b <= last
            # Points on the edge may stand for its ends: the line is the same but for the rounding of a slope.
            slope = (Fraction(heights[true[1]]) - Fraction(heights[true[0]])) / Fraction(
                place[true[1]] - place[true[0]]
            )
            for end in (a, b):
                above = (
                    Fraction(heights[end]) - Fraction(heights[true[0]]) - slope * Fraction(place[end] - place[true[0]])
                )
                assert 0 <= above <= Fraction(2.0**-40)


def test_laws_made_for_hundreds_of_chords_have_in_floats_the_edges_of_their_fractions():
    target, draft = geometric(200)
    floats = target.astype(float), draft.astype(float)
    for side, true in zip(floats, (target, draft), strict=True):
        assert [Fraction(mass) for mass in side] == list(true)
    curves = [
        plan.selection(plan.ratios(t[None], d[None]), t[None], d[None], np.array([2]), 2)
        for t, d in ((target, draft), floats)
    ]
    u = Fraction(1, 2)
    assert chords(curves[1].place[0], curves[1].selected[0] - 0.5 * curves[1].inside[0], 0) > 150
    for at in (0, 1, 77, 150, 199):
        true = plan.edge(curves[0], exact([u]), np.array([at]))
        found = plan.edge(curves[1], np.array([0.5]), np.array([at]))
        assert [int(end[0]) for end in found] == [int(end[0]) for end in true]
