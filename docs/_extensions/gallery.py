"""The pictures of the gallery, drawn anew at each build by the scripts that its page links to."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parents[2]
LINKED = re.compile(r"\{download\}`[^`<]*<\.\./([^`>]+\.py)>`")


def scripts(page: str) -> list[Path]:
    """Return the scripts that the text of the gallery links to, in its order."""
    return [ROOT / path for path in LINKED.findall(page)]


def draw(app: Any) -> None:
    """Run each script into the folder that the page shows pictures from, unless its pictures are newer."""
    folder = Path(app.srcdir) / "reference" / "gallery"
    folder.mkdir(parents=True, exist_ok=True)
    for script in scripts((Path(app.srcdir) / "gallery.md").read_text(encoding="utf-8")):
        mark = folder / f"{script.stem}.done"
        if not mark.is_file() or mark.stat().st_mtime < script.stat().st_mtime:
            subprocess.run([sys.executable, str(script), str(folder)], check=True, capture_output=True, cwd=ROOT)
            mark.touch()


def setup(app: Any) -> dict[str, bool]:
    """Draw before Sphinx looks for the pictures."""
    app.connect("builder-inited", draw)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
