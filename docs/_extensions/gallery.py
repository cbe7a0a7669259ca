"""The pictures of the gallery, drawn anew by the scripts that its page links to, where these have changed."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parents[2]
EMPTY = '<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 1 1"/>\n'
SHOWN = re.compile(r"\]\(reference/gallery/(\w+\.svg)\)")
LINKED = re.compile(r"\{download\}`[^`<]*<\.\./([^`>]+\.py)>`")


def scripts(page: str) -> list[Path]:
    """Return the scripts that the text of the gallery links to, in its order."""
    return [ROOT / path for path in LINKED.findall(page)]


def draw(app: Any) -> None:
    """Run each script into the folder that the page shows pictures from, unless its pictures are newer.

    With -D gallery_drawn=0, an empty picture stands in the place of each that is not there, until a later build.
    """
    folder = Path(app.srcdir) / "reference" / "gallery"
    folder.mkdir(parents=True, exist_ok=True)
    page = (Path(app.srcdir) / "gallery.md").read_text(encoding="utf-8")
    if not app.config.gallery_drawn:
        missing = [path for name in SHOWN.findall(page) if not (path := folder / name).exists()]
        for path in missing:
            path.write_text(EMPTY, encoding="utf-8")
        for mark in folder.glob("*.done") if missing else ():
            mark.unlink()
        return
    for script in scripts(page):
        mark = folder / f"{script.stem}.done"
        if not mark.is_file() or mark.stat().st_mtime < script.stat().st_mtime:
            subprocess.run([sys.executable, str(script), str(folder)], check=True, capture_output=True, cwd=ROOT)
            mark.touch()


def setup(app: Any) -> dict[str, bool]:
    """Draw before Sphinx looks for the pictures."""
    app.add_config_value("gallery_drawn", True, "", types=(bool,))
    app.connect("builder-inited", draw)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
