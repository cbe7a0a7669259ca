"""The pictures of the gallery, drawn anew at each build by the scripts that show how."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parents[2]
SCRIPTS = ROOT / "examples" / "gallery"


def draw(app: Any) -> None:
    """Run every script of the gallery into the folder that the page links to, unless its pictures are newer."""
    folder = Path(app.srcdir) / "reference" / "gallery"
    folder.mkdir(parents=True, exist_ok=True)
    for script in sorted(SCRIPTS.glob("*.py")):
        mark = folder / f"{script.stem}.done"
        if not mark.is_file() or mark.stat().st_mtime < script.stat().st_mtime:
            subprocess.run([sys.executable, str(script), str(folder)], check=True, capture_output=True, cwd=ROOT)
            mark.touch()


def setup(app: Any) -> dict[str, bool]:
    """Draw before Sphinx looks for the pictures."""
    app.connect("builder-inited", draw)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
