"""A plugin of pytest that keeps the tests of a list, `allowed.json` beside this file."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any


def pytest_collection_modifyitems(config: Any, items: list[Any]) -> None:
    """Deselect what is not on the list."""
    allowed = set(json.loads((Path(__file__).parent / "allowed.json").read_text(encoding="utf-8")))
    left_out = [item for item in items if item.nodeid not in allowed]
    items[:] = [item for item in items if item.nodeid in allowed]
    config.hook.pytest_deselected(items=left_out)
