"""`make field`: all engines judged, what was found recorded, and the page written anew."""

from __future__ import annotations

import argparse
import sys
from datetime import UTC, datetime
from pathlib import Path

from spec_math.field.catalogue import ENGINES, named
from spec_math.field.page import FUNCTIONS_PAGE, PAGE, functions_page, listed, page, reportable, write_reports
from spec_math.field.recorded import ArchiveError, read, record, with_newest, write
from spec_math.field.worker import WorkerError
from spec_math.files.whole import write_whole


def main() -> int:
    """Judge the engines that are named, or all that were not judged today, and write the pages and the reports."""
    parser = argparse.ArgumentParser(prog="python -m spec_math.field", description=__doc__)
    parser.add_argument("names", nargs="*", help="engines or packages; all without")
    parser.add_argument(
        "--source", action="append", default=[], metavar="REPOSITORY=DIR", help="a copy of a repository"
    )
    parser.add_argument("--newest", action="store_true", help="ask the index for newer versions, and judge nothing")
    parser.add_argument("--page", action="store_true", help="write the page from what is recorded, and judge nothing")
    asked = parser.parse_args()
    sources = {name: Path(folder) for name, _, folder in (one.partition("=") for one in asked.source)}
    day, known, failed = datetime.now(UTC).date().isoformat(), read(), 0
    wanted = [engine for name in asked.names for engine in named(name)] or [
        engine for engine in ENGINES if known.get(engine.name, {}).get("judged") != day
    ]
    if asked.newest:
        write({name: with_newest(found, day) if reportable(found) else found for name, found in known.items()})
    for number, engine in enumerate([] if asked.page or asked.newest else wanted, 1):
        sys.stderr.write(f"[{number}/{len(wanted)}] {engine.name}\n")
        try:
            found = record(engine, sources, day, _tell)
        except (ArchiveError, WorkerError) as error:
            failed += 1
            sys.stderr.write(f"  not judged: {error}\n")
            continue
        sys.stderr.write(f"  {found['verdict']}\n")
    _ = write_whole(PAGE, page(read()))
    _ = write_whole(FUNCTIONS_PAGE, functions_page(listed()))
    written = [PAGE, FUNCTIONS_PAGE, *write_reports(read())]
    sys.stderr.write("".join(f"{path}\n" for path in written))
    return 3 if failed else 0


def _tell(said: str) -> None:
    sys.stderr.write(f"  {said}\n")


if __name__ == "__main__":
    sys.exit(main())
