"""A file of Python loaded as the module that it is in its package: relative imports, dataclasses, its neighbours."""

from __future__ import annotations

import ast
import importlib
import importlib.util
import sys
from collections.abc import Collection, Generator, Iterator, Mapping, Sequence
from contextlib import contextmanager
from copy import copy
from dataclasses import dataclass, field, replace
from importlib.machinery import PathFinder, SourceFileLoader
from pathlib import Path
from types import ModuleType, SimpleNamespace
from typing import Any

from spec_math.files.place import Place, load_function, value_in
from spec_math.pathwise.clock import Clock
from spec_math.pathwise.stubs import standing_in
from spec_math.pathwise.uniform import Uniform

OURS = ("spec_math", "torch_bridge")
"""Packages that are imported as they are."""


def package_of(path: Path) -> tuple[Path, str]:
    """Return the folder that a file is imported from and its dotted name.

    A folder is a package if it has an __init__.py, if a relative import of the file needs it, or if the file imports
    from the name of a folder that it lies in.
    """
    path = path.resolve()
    names, folder = ([] if path.stem == "__init__" else [path.stem]), path.parent
    imports = list(_imports(path))
    tops = {module.partition(".")[0] for level, module, _ in imports if not level}
    inside = max((level for level, *_ in imports), default=0) - (path.stem == "__init__")
    for depth, above in enumerate([folder, *folder.parents], 1):
        if above.name in tops and getattr(PathFinder.find_spec(above.name), "loader", None) is None:
            # A checkout has the name of its package, too: the inner of both is meant.
            tops.remove(above.name)
            inside = max(inside, depth)
    while (folder / "__init__.py").is_file() or inside > 0:
        names.insert(0, folder.name)
        folder, inside = folder.parent, inside - 1
    return folder, ".".join(names)


def _imports(file: Path) -> Iterator[tuple[int, str, list[str]]]:
    """Yield what a file imports when it is loaded, its level, module and names; without what may be missing."""
    try:
        waiting: list[Any] = ast.parse(file.read_bytes()).body
    except SyntaxError:
        return  # which is said when it is loaded
    for node in waiting:
        if isinstance(node, ast.Import):
            yield from ((0, one.name, list[str]()) for one in node.names)
        elif isinstance(node, ast.ImportFrom):
            yield node.level, node.module or "", [one.name for one in node.names]
        elif isinstance(node, ast.If | ast.With | ast.ClassDef) and "TYPE_CHECKING" not in ast.dump(node):
            waiting += [*node.body, *getattr(node, "orelse", ())]


def _missing(root: Path, name: str, stubs: Collection[str]) -> list[str]:
    """Return the packages that a module and its neighbours import, and that are not there, or lack a name."""
    found, waiting = dict[str, None](), [name]
    for own in waiting:
        file = _file(root, own)
        if file is None or own in stubs:
            continue
        for level, module, names in _imports(file):
            above = own.split(".")[: own.count(".") + 1 - level + (file.stem == "__init__")] if level else []
            module = ".".join([*above, *module.split(".")]).rstrip(".")
            top = module.partition(".")[0]
            if top == name.partition(".")[0]:
                waiting += [one for one in (module, *(f"{module}.{part}" for part in names)) if one not in waiting]
            elif top not in stubs and not all(_there(module, one) for one in names or [""]):
                found[top] = None
    return list(found)


def _there(module: str, name: str) -> bool:
    try:
        found = importlib.import_module(module)
        return name in ("", "*") or hasattr(found, name) or bool(importlib.import_module(f"{module}.{name}"))
    except Exception:  # whatever a package does when imported
        return False


def _file(root: Path, name: str) -> Path | None:
    place = root.joinpath(*name.split("."))
    return next((one for one in (place.with_suffix(".py"), place / "__init__.py") if one.is_file()), None)


@dataclass(frozen=True)
class Loading:
    """The state while a file is loaded.

    `stubs` are packages whose modules are stood in for where they are not installed, and single modules, written with a
    dot or neighbours of the file, of which nothing is run; `given` names of modules that are
    not to be imported at all, and `replaced` the places (old, new) changed in the source of a module, by its name.
    Of the module itself only the function `alone` is loaded, with what it uses, unless that is empty.
    """

    stubs: Sequence[str] = ()
    given: Mapping[str, Mapping[str, Any]] = field(default_factory=dict[str, Mapping[str, Any]])
    replaced: Mapping[str, Sequence[tuple[str, str]]] = field(default_factory=dict[str, Sequence[tuple[str, str]]])
    alone: str = ""


_LOADED: dict[str, ModuleType] = {}
"""The modules that were loaded here and left in sys.modules."""

_EDITED: set[str] = set()
"""Packages that were edited as the neighbours of a module that was loaded."""


def load_module(root: Path, name: str, how: Loading | None = None) -> ModuleType:
    """Import the module `name` that lies under `root`; the __init__ files above it are run when they are asked.

    A package of the same name that the process has imported is neither used nor harmed, be it installed or the folder
    itself: its modules are set aside while the file is loaded. What was loaded here before is loaded anew. The modules
    loaded stay in sys.modules where no other of the name was there before, so that imports inside functions find them.

    Raises:
        ImportError: there is no such file, or something that it imports is missing; says which stub would help.
        ValueError: what is to be replaced does not stand in the source exactly once.
    """
    how = how or Loading()
    package = name.partition(".")[0]
    if package in OURS and not how.replaced:
        return importlib.import_module(name)
    # An edited neighbour of another package is loaded anew as well, now and whenever it may be left over.
    _EDITED.update({one.partition(".")[0] for one in how.replaced} - {package, *OURS})
    anew = {package, *_EDITED}
    before = {one: sys.modules.pop(one) for one in _of(anew)}
    mine = {one: module for one, module in before.items() if _LOADED.get(one) is not module}
    parts = name.split(".")
    sys.path.insert(0, str(root))
    try:
        beside = (*how.stubs, *(f"{name.rpartition('.')[0]}.{one}".lstrip(".") for one in how.stubs))
        files = {at for at in beside if (file := _file(root, at)) and file.stem != "__init__"}
        given = {**{one: {} for one in beside if one in files or (one in how.stubs and "." in one)}, **how.given}
        with standing_in([one for one in how.stubs if "." not in one], given) as lend, _replacing(root, how.replaced):
            for depth in range(1, len(parts)):
                parent = ".".join(parts[:depth])
                if parent not in sys.modules:
                    sys.modules[parent] = _Package(parent, root.joinpath(*parts[:depth]))
            importlib.invalidate_caches()
            found = None
            while found is None:
                try:
                    found = _executed(root, name, how)
                except (ImportError, AttributeError) as error:
                    if not lend(error):
                        raise
            for depth in range(1, len(parts)):
                child = sys.modules.get(".".join(parts[: depth + 1]))
                setattr(sys.modules[".".join(parts[:depth])], parts[depth], child)
    except ImportError as error:
        missing = ",".join(_missing(root, name, how.stubs)) or (error.name or "").partition(".")[0]
        hint = f"; --stub {missing} stands in for what is missing, if it is not really used" if missing else ""
        top = (error.name or "").partition(".")[0]
        folders = [at for above in (root, *root.parents)[:4] for at in (above, above / "src") if at != root]
        if top and (at := next((at for at in folders if _file(at, top) or (at / top).is_dir()), None)):
            hint = f"; {top} lies in {at}: set PYTHONPATH={at}{hint}"
        raise ImportError(f"{name} cannot be imported: {error}{hint}", name=error.name) from error
    finally:
        sys.path.remove(str(root))
        for one in _of({one.partition(".")[0] for one in mine}):
            del sys.modules[one]
        sys.modules.update(mine)
        _LOADED.update({one: sys.modules[one] for one in _of(anew) if one not in mine})
    return found


def _of(packages: Collection[str]) -> list[str]:
    return [one for one in sys.modules if one.partition(".")[0] in packages]


def _executed(root: Path, name: str, how: Loading) -> ModuleType:
    spec = _spec_of(root, name, how.replaced, how.alone)
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module
    try:
        spec.loader.exec_module(module)
    except BaseException:
        del sys.modules[name]
        raise
    return module


def _spec_of(root: Path, name: str, edits: Mapping[str, Sequence[tuple[str, str]]], alone: str = "") -> Any:
    """Return the spec of a module whose source is changed while it is loaded; for a package, with its folder."""
    file = _file(root, name)
    if file is None:
        raise ImportError(f"there is no {root.joinpath(*name.split('.')).with_suffix('.py')}")
    loader = _Replacing(name, str(file), edits.get(name, ()), alone)
    inside = [str(file.parent)] if file.name == "__init__.py" else None
    return importlib.util.spec_from_file_location(name, file, loader=loader, submodule_search_locations=inside)


class _Replacing(SourceFileLoader):
    """Loads a source file with places of it changed, or one function with what it uses; keeps nothing of it."""

    def __init__(self, name: str, path: str, edits: Sequence[tuple[str, str]], alone: str) -> None:
        super().__init__(name, path)
        self._edits, self._alone = edits, alone

    def get_code(self, fullname: str) -> Any:
        path = self.get_filename(fullname)
        tree = ast.parse(replaced(Path(path).read_text(encoding="utf-8"), self._edits, fullname))
        if self._alone:
            tree.body = _used(tree, self._alone)
        return compile(ast.fix_missing_locations(_Floats().visit(tree)), path, "exec", dont_inherit=True)

    def exec_module(self, module: ModuleType) -> None:
        module.__dict__[FLOAT] = float_of
        super().exec_module(module)


def _used(tree: ast.Module, name: str) -> list[ast.stmt]:
    """Return the statements of a module that define a name and all that it uses, but in annotations.

    A statement that is no definition belongs to them where it mentions one of these names: it may change its value.
    """
    needed, size, kept = {name.partition(".")[0]}, 0, dict[int, ast.stmt]()
    while size < len(needed):
        size = len(needed)
        for at, statement in enumerate(tree.body):
            if isinstance(statement, ast.Import | ast.ImportFrom):
                own = copy(statement)
                own.names = [one for one in statement.names if _defined(one) & {"*", *needed}]
                if own.names:
                    kept[at] = own
                continue
            used = {one.id for one in _parts(statement) if isinstance(one, ast.Name)}
            if (_defined(statement) if hasattr(statement, "name") else _defined(statement) | used) & needed:
                kept[at] = statement
                needed |= used
    return [*ast.parse("from __future__ import annotations").body, *(kept[at] for at in sorted(kept))]


def _defined(statement: ast.AST) -> set[str]:
    """Return the names that a statement of a module may define."""
    found = set[str]()
    for one in [statement] if hasattr(statement, "name") else ast.walk(statement):
        if isinstance(one, ast.FunctionDef | ast.ClassDef | ast.alias):
            found.add((getattr(one, "asname", None) or one.name).partition(".")[0])
        elif isinstance(one, ast.Name) and isinstance(one.ctx, ast.Store):
            found.add(one.id)
    return found


def _parts(statement: ast.AST) -> list[ast.AST]:
    """Return all parts of a statement but annotations."""
    found = [statement]
    for one in found:
        fields = [value for name, value in ast.iter_fields(one) if name not in ("annotation", "returns")]
        parts = [part for value in fields for part in (value if isinstance(value, list) else [value])]
        found += [part for part in parts if isinstance(part, ast.AST)]
    return found


class _Floats(ast.NodeTransformer):
    """Turns float(x) into a call that lets a random number pass as it is."""

    def visit_Call(self, node: ast.Call) -> ast.AST:
        self.generic_visit(node)
        if isinstance(node.func, ast.Name) and node.func.id == "float" and len(node.args) == 1 and not node.keywords:
            node.func = ast.copy_location(ast.Name(FLOAT, ast.Load()), node.func)
        return node


FLOAT = "__float_of__"


def float_of(value: Any) -> Any:
    """Return float(value), but a random number that is explored as it is: what is done to it is then followed."""
    inner = value.item() if hasattr(value, "item") and getattr(value, "size", 1) != 0 else value
    return inner if isinstance(inner, Uniform | Clock) else float(value if inner is value else inner)


def replaced(source: str, edits: Sequence[tuple[str, str]], name: str = "the source") -> str:
    """Return a source with places of it changed, each of which must stand there exactly once.

    Raises:
        ValueError: a place is not there, or more than once.

    >>> replaced("accept = u < p / q", [("p / q", "1")])
    'accept = u < 1'
    """
    for old, new in edits:
        if (many := source.count(old)) != 1:
            raise ValueError(f"{name} has {old!r} {many} times; a replacement is of one place: write more of the line")
        source = source.replace(old, new)
    return source


def edit_of(text: str) -> tuple[str, str]:
    """Read a replacement as a caller writes it, 'a=>b', with \\n for the end of a line.

    Raises:
        ValueError: it has no =>, or nothing before it.

    >>> edit_of("p / q=>q / p")
    ('p / q', 'q / p')
    """
    old, arrow, new = (part.replace("\\n", "\n") for part in text.partition("=>"))
    if not old or not arrow:
        raise ValueError(f"a replacement is written 'old=>new', and changes one place of the source; got {text!r}")
    return old, new


@contextmanager
def _replacing(root: Path, edits: Mapping[str, Sequence[tuple[str, str]]]) -> Generator[None]:
    """Let modules be found with places of their source changed while the block lasts."""

    def find_spec(name: str, _path: Any = None, _target: Any = None) -> Any:
        return _spec_of(root, name, edits) if name in edits else None

    finder: Any = SimpleNamespace(find_spec=find_spec)
    sys.meta_path.insert(0, finder)
    try:
        yield
    finally:
        sys.meta_path.remove(finder)


class _Package(ModuleType):
    """A package whose __init__.py is run when a name of it is asked for that is not one of its modules."""

    def __init__(self, name: str, folder: Path) -> None:
        super().__init__(name)
        self.__path__ = [str(folder)]
        self.folder = folder

    def __getattr__(self, name: str) -> Any:
        own, start = self.__dict__, self.folder / "__init__.py"
        here = (self.folder / f"{name}.py").is_file() or (self.folder / name).is_dir()
        if not (name.startswith("__") or here or own.get("_run")) and start.is_file():
            own |= {"_run": True, "__file__": str(start)}
            exec(compile(start.read_text(encoding="utf-8"), str(start), "exec", dont_inherit=True), own)
            if name in own:
                return own[name]
        raise AttributeError(f"module {self.__name__!r} has no attribute {name!r}")


def load_sampler(
    place: str,
    stubs: Sequence[str] = (),
    edits: Sequence[str] = (),
    given: Mapping[str, Mapping[str, Any]] | None = None,
) -> Place:
    """Load the function, class or method of MODULE:NAME; a file of Python inside its package, with stand-ins and edits.

    `stubs` are packages that it imports and does not use, `edits` places of its source changed, as 'old=>new'.
    `given` are names of modules that are not imported, by module. Where the file cannot be imported, the function and
    what it uses are loaded without the rest, and the note of the place says so.

    Raises:
        ValueError: there is no such file, module or name, or importing it fails; says which stub would help.
        TypeError: what is there cannot be called.

    >>> load_sampler("spec_math.token_level.single:verify").module
    'spec_math.token_level.single'
    """
    file, _, attribute = place.rpartition(":")
    if not file.endswith(".py") and (stubs or edits):
        raise ValueError(f"--stub and --replace are for a file, FILE.py:FUNCTION; got {place!r}")
    if not file.endswith(".py") or not attribute:
        return load_function(place, "audit")  # which says how it is written
    path = Path(file)
    if not path.is_file():
        raise ValueError(f"there is no file {path}")
    root, name = package_of(path)
    how, note = Loading(stubs, given or {}, {name: [edit_of(one) for one in edits]} if edits else {}), ""
    try:
        module = load_module(root, name, how)
    except ValueError:
        raise
    except Exception as error:  # whatever a module does when imported
        note = f"Only {attribute} and what it uses was loaded, and what else the file does is not seen, because {error}"
        try:
            module = load_module(root, name, replace(how, alone=attribute))
        except Exception:
            raise ValueError(f"{path} cannot be imported: {type(error).__name__}: {error}") from error
    bar: Any = getattr(sys.modules.get("tqdm"), "tqdm", None)
    if hasattr(bar, "monitor_interval"):
        # The first bar of progress draws the name of its lock, and starts a thread.
        bar.get_lock()
        bar.monitor_interval = 0
    found = value_in(module, str(path), attribute)
    if not callable(found):
        raise TypeError(f"{place} is not a function; it is a {type(found).__name__}")
    own = attribute.rpartition(".")[2]
    for cell in getattr(found, "__closure__", None) or ():
        inner: Any = cell.cell_contents if getattr(found, "__name__", own) != own else None
        if getattr(inner, "__name__", "") == own:  # a decorator that does not say whose parameters it has
            vars(found)["__wrapped__"] = inner
    return Place(found, name, attribute, note)
