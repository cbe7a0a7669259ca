"""Two tokenisers and ψ: what a drafter with another vocabulary says about the target's next token.

python examples/two_tokenisers_and_psi.py [FOLDER]
"""

import sys
from fractions import Fraction
from itertools import product
from pathlib import Path

from spec_math import exact, proportional_to
from spec_math.language import GreedyTokenizer, Vocabulary
from spec_math.render.figure import panels, svg
from spec_math.string_level import exact_match, psi, rejection, segmentation

target_words = ["a", "b", "aa", "ab", "abb"]
draft_words = ["a", "b", "bb"]
target_vocabulary, draft_vocabulary = Vocabulary(target_words), Vocabulary(draft_words)
draft = exact(["1/2", "1/4", "1/4"])
target = proportional_to([2, 3, 1, 2, 1])

first = psi.psi(target_vocabulary, draft_vocabulary, draft)
for word, mass in zip(target_words, first, strict=True):
    print(f"ψ({word:3}) = {mass!s:6}  {segmentation.count(word, draft_vocabulary)} way(s) to draft it")

# The definition, by brute force: five draft tokens settle the first target token, as no token is longer than three.
tokenizer, by_hand = GreedyTokenizer(target_vocabulary), [Fraction(0)] * len(target_words)
for tokens in product(range(3), repeat=5):
    mass = Fraction(1)
    for token in tokens:
        mass *= draft[token]
    by_hand[tokenizer.encode("".join(draft_words[token] for token in tokens))[0]] += mass

matched, rejected = exact_match.acceptance(target, first), rejection.acceptance(target, first)
print(f"kept by exact match (SLEM) {matched}, by string-level rejection (SLRS) {rejected}")

figure, (axes,) = panels(1, 5.4, 3.2)
axes.bar([x - 0.2 for x in range(5)], [float(x) for x in target], 0.4, label="target", color="#0072B2")
axes.bar([x + 0.2 for x in range(5)], [float(x) for x in first], 0.4, label="ψ of the drafter", color="#D55E00")
axes.set_xticks(range(5), target_words)
axes.set_ylabel("probability")
axes.legend(fontsize=8)
folder = Path(sys.argv[1] if len(sys.argv) > 1 else "out/examples")
folder.mkdir(parents=True, exist_ok=True)
_ = (folder / "two_tokenisers_and_psi.svg").write_text(svg(figure), encoding="utf-8")

if first.tolist() != by_hand:
    sys.exit(f"ψ is {first.tolist()}, all texts of five draft tokens give {by_hand}")
if rejected < matched:
    sys.exit("exact match exceeds rejection")
print("checked: ψ is what all 243 drafted texts add up to, and rejection keeps no less than exact match")
