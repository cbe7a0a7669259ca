"""A failing case as a file of pytest: it fails now, and passes once the sampler is repaired."""

from __future__ import annotations

from pathlib import Path

from spec_math.audit import Judgement
from spec_math.audit.subject import NUMBERS
from spec_math.files.place import Place


def pytest_file(found: Judgement, place: Place, beside: Path) -> str:
    """Return the text of a test that judges a sampler on the case on which it was found to fail.

    >>> from spec_math.audit import judge
    >>> from spec_math.audit.case import position
    >>> from spec_math.audit.subject import subject_of
    >>> def hopeful(tokens, target, draft):
    ...     return tokens[0]
    >>> found = judge(subject_of(hopeful), position(["1/4", "3/4"], ["1/2", "1/2"]))
    >>> print(pytest_file(found, Place(hopeful, "mine", "hopeful", None), Path(".")).splitlines()[0])
    '''mine.hopeful must emit the target's law; found by: spec-math audit mine:hopeful'''
    """
    case, subject = found.case, found.subject
    in_torch = subject.numbers.name.startswith("torch.")
    judge = f"from {'torch_bridge' if in_torch else 'spec_math.audit'} import check_sampler\n"
    rows = (case.target, case.draft) if case.lookahead else (case.target[0], case.draft[0])
    listed = [f"{name} = {_written(row)}" for name, row in zip(("TARGET", "DRAFT"), rows, strict=True)]
    numbers = next((key for key, one in NUMBERS.items() if one.name == subject.numbers.name), subject.numbers.name)
    told = ",".join(f"{name}={role}" if name else role for name, role in subject.call.takes)
    options = {
        "k": None if case.lookahead or subject.call.drafts_itself else case.k,
        "lookahead": case.lookahead or None,
        "horizon": case.horizon if case.lookahead and case.horizon != case.lookahead + 1 else None,
        "grid": subject.grid,
        "roles": f'"{told}"' if subject.call.told else None,
    }
    given = "".join(f", {name}={value}" for name, value in options.items() if value is not None)
    name = place.attribute
    test = name.replace(".", "_").strip("_").lower()
    header = place.header(beside)
    imports = f"{judge}\n{header}" if place.folder is None else f"{header}{judge[:-1]}  # noqa: E402\n"
    said = getattr(found.verdict, "reason", "")
    return (
        f"'''{place.module}.{name} must emit the target's law; found by: spec-math audit {place.module}:{name}'''\n\n"
        f"{imports}\n" + "\n".join(listed) + f"\n\n\ndef test_{test}_emits_the_target_s_law() -> None:\n"
        f"    # When this was written: {said}\n"
        f"    verdict = check_sampler(\n"
        f'        {name}, TARGET, DRAFT{given}, numbers="{numbers}"\n    )\n'
        f"    assert verdict, verdict\n"
    )


def _written(rows: object) -> str:
    if isinstance(rows, tuple):
        listed: tuple[object, ...] = rows
        return f"[{', '.join(_written(row) for row in listed)}]"
    return f'"{rows}"'
