"""Sentences drawn at random from README, docs, help texts and output: those that a second reader judges.

`python -m proofs_tests.docs.sentences --seed 0 --count 60` prints them, each with the place that it is from.
"""

from __future__ import annotations

import argparse
import random
import re
import subprocess
import sys
from pathlib import Path
from tempfile import TemporaryDirectory

from spec_math.cli import COMMANDS

ROOT = Path(__file__).parents[2]
SAMPLING = (ROOT / "README.md").read_text("utf-8").partition("```python\n")[2].partition("```")[0]
OUTPUTS = (
    ("audit", "sampling.py:verify", "--target", "1/4,3/4", "--draft", "1/2,1/2"),
    ("audit", "sampling.py:verify"),
    ("explain", "--target", "1/4,3/4", "--draft", "1/2,1/2", "--k", "2"),
    ("blocks",),
    ("compare",),
    ("lossy",),
)
"""Commands whose output is read, on small input or on their defaults; sampling.py is the first program of README."""


def prose(text: str) -> str:
    """Leave out code, tables, headings, quotes of output, links' targets and HTML of a page in Markdown."""
    text = re.sub(r"^(```|~~~).*?^\1", "", text, flags=re.MULTILINE | re.DOTALL)
    text = re.sub(r"^(#.*|\|.*|<.*|!\[.*|>.*|:::.*|[ \t]{4,}.*|\[.*\]:.*)$", "", text, flags=re.MULTILINE)
    return re.sub(r"\[([^\]]*)\]\([^)]*\)", r"\1", text)


def sentences(text: str) -> list[str]:
    """Split prose into its sentences of five words or more.

    >>> sentences("The draft proposes four tokens. It is cheap. The target verifies them in one call!")
    ['The draft proposes four tokens.', 'The target verifies them in one call!']
    """
    blocks = re.split(r"\n\s*\n|^\s*[-*] |^\s*\d+\. ", text, flags=re.MULTILINE)
    found = [
        part.strip() for block in blocks for part in re.split(r"(?<=[.!?])\s+(?=[A-Z`*])", " ".join(block.split()))
    ]
    return [one for one in found if len(one.split()) >= 5 and one[-1] in ".!?"]


def of_docs() -> list[tuple[str, str]]:
    """Sentences of README and of the pages that people read first to last; the reference is made of docstrings."""
    pages = [ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md")), *sorted((ROOT / "docs").glob("how_to/*.md"))]
    pages += sorted((ROOT / "docs" / "theorems").glob("*.md"))
    return [(str(page.relative_to(ROOT)), one) for page in pages for one in sentences(prose(page.read_text("utf-8")))]


def of_commands() -> list[tuple[str, str]]:
    """Sentences of every command's help, and of some outputs."""
    asked = [*((name, "--help") for name in COMMANDS), *OUTPUTS]
    found: list[tuple[str, str]] = []
    settings = {"PATH": "/usr/bin:/bin", "COLUMNS": "2000", "NO_COLOR": "1", "TERM": "dumb", "PYTHONPATH": str(ROOT)}
    for arguments in asked:
        command = [str(Path(sys.executable).with_name("spec-math")), *arguments]
        with TemporaryDirectory() as folder:
            (Path(folder) / "sampling.py").write_text(SAMPLING)
            said = subprocess.run(command, capture_output=True, text=True, check=False, cwd=folder, env=settings).stdout
        plain = re.sub(r"[│╭╮╰╯─━]+", "\n\n", said)
        found += [(" ".join(arguments), one) for one in sentences(plain)]
    return found


def main() -> None:
    """Print a sample, without repetition."""
    parser = argparse.ArgumentParser(description=__doc__)
    _ = parser.add_argument("--seed", type=int, default=0)
    _ = parser.add_argument("--count", type=int, default=60)
    options = parser.parse_args()
    every = sorted({(one, place) for place, one in (*of_docs(), *of_commands())})
    drawn = random.Random(options.seed).sample(every, options.count)
    lines = [f"{number}. {one}  [{place}]" for number, (one, place) in enumerate(drawn, 1)]
    _ = sys.stdout.write(f"{len(every):,} sentences\n" + "\n".join(lines) + "\n")


if __name__ == "__main__":
    main()
