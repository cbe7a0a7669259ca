"""TokenTiming as printed, written down again from its pseudocode: every path of every alignment, every draft."""

from __future__ import annotations

from fractions import Fraction
from itertools import product


def edits(first, second):
    """Levenshtein's distance by furthest ends: with e edits, how far one gets on each diagonal of the edit graph.

    Ukkonen 1985. No table of prefixes, no recursion over suffixes.
    """

    def slide(i, j):
        while i < len(first) and j < len(second) and first[i] == second[j]:
            i, j = i + 1, j + 1
        return i

    ends, edit = {0: slide(0, 0)}, 0
    while ends.get(len(first) - len(second), -1) < len(first):
        edit += 1
        further = {}
        for diagonal in range(-edit, edit + 1):
            reached = max(
                ends.get(diagonal - 1, -1) + 1,  # a letter of the first is left out
                ends.get(diagonal, -1) + 1,  # one is replaced
                ends.get(diagonal + 1, -1),  # one of the second is put in
            )
            i = min(reached, len(first), len(second) + diagonal)
            if i >= 0 and i - diagonal >= 0:
                further[diagonal] = slide(i, i - diagonal)
        ends = further
    return edit


STEPS = ((1, 0), (0, 1), (1, 1))
"""Walking back the printed order is (i−1, j), (i, j−1), (i−1, j−1)."""


def warping_paths(rows, columns, window):
    """Every path of the band from the first places to the last, in the printed order of its steps walked back."""
    end, growing, whole = (rows - 1, columns - 1), [[(rows - 1, columns - 1)]], []
    if abs(end[0] - end[1]) > window:
        return []
    while growing:
        path = growing.pop()
        i, j = path[-1]
        if (i, j) == (0, 0):
            whole.append(path[::-1])
            continue
        # The last pushed is the next popped: pushed in reverse, paths come out in the printed order.
        for down, left in reversed(STEPS):
            if i >= down and j >= left and abs(i - down - (j - left)) <= window:
                growing.append([*path, (i - down, j - left)])
    return whole


def least_paths(xs, ys, window):
    """All least paths, the one that the printed order takes first; their cost, and the window that there had to be."""
    window = max(window, abs(len(xs) - len(ys)))
    cost = {(i, j): edits(x, y) for (i, x), (j, y) in product(enumerate(xs), enumerate(ys))}
    weighed = [(sum(cost[place] for place in path), path) for path in warping_paths(len(xs), len(ys), window)]
    least = min(total for total, _ in weighed)
    return [path for total, path in weighed if total == least], least, window


def longest_first(text, words):
    """The tokens of a text, each the longest that fits; every letter is a word."""
    tokens = []
    while text:
        token = max((place for place, word in enumerate(words) if text.startswith(word)), key=lambda p: len(words[p]))
        tokens.append(token)
        text = text[len(words[token]) :]
    return tuple(tokens)


def block_law(target, drafter, lookahead, window, which=0):
    """The law of the tokens of one block, {tokens: mass}, for (words, model) of target and drafter; no prefix.

    `which` of the least paths is taken: the first is the printed one.
    """
    (words, target_model), (drafter_words, drafter_model) = target, drafter
    found = {}

    def add(tokens, mass):
        if mass:
            found[tokens] = found.get(tokens, 0) + mass

    for said in product(range(len(drafter_words)), repeat=lookahead):
        proposed = [drafter_model(said[:place])[token] for place, token in enumerate(said)]
        mass = Fraction(1)
        for chance in proposed:
            mass *= chance
        if not mass:
            continue
        drafted = longest_first(b"".join(drafter_words[token] for token in said), words)
        path = least_paths([drafter_words[x] for x in said], [words[x] for x in drafted], window)[0][which]
        for place, token in enumerate(drafted):
            last = max(i for i, j in path if j == place)
            chance = min(1, target_model(drafted[:place])[token] / proposed[last])
            for other, other_mass in enumerate(target_model(drafted[:place])):
                add((*drafted[:place], other), mass * (1 - chance) * other_mass)
            mass *= chance
        for other, other_mass in enumerate(target_model(drafted)):
            add((*drafted, other), mass * other_mass)
    return found
