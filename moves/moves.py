#!/usr/bin/env python3
"""remod: move modules, merge modules, move or rename symbols, and rewrite every importer. Run in the root of a checkout.

  remod.py mv OLD.MODULE NEW.MODULE          git mv of a file or a package; importers, dotted names and paths in text rewritten
  remod.py merge TARGET.MODULE SOURCE.MODULE [SOURCE ...]   append the sources' definitions to the target, delete them, rewrite importers
  remod.py sym OLD.MODULE:NAME NEW.MODULE[:NEWNAME]   importers only: you moved or renamed the definition by hand
                                             (same module on both sides also renames the definition in the file itself)
  remod.py replay LOG                        importers only, for all lines of a log (after merging another branch)
Each call appends to .remod.log in the root (ignored by git). Afterwards: ruff check --fix --select I,F401,F811 && ruff format.
"""
import ast, json, re, subprocess, sys
from pathlib import Path
ROOT = Path.cwd()
LOG = ROOT / ".remod.log"
TOPS = ("spec_math", "torch_bridge", "proofs_tests", "benchmarks", "examples", "docs")

def run(*a): subprocess.run(a, check=True, cwd=ROOT)
def tracked(*suffixes):
    out = subprocess.run(["git", "ls-files", "-co", "--exclude-standard"], cwd=ROOT, capture_output=True, text=True, check=True).stdout.split("\n")
    return [ROOT / f for f in out if f and f.endswith(suffixes) and (ROOT / f).is_file() and not (ROOT/f).is_symlink()]
def path_of(mod):
    p = ROOT / Path(*mod.split("."))
    if p.is_dir(): return p
    return p.with_suffix(".py")
def is_module(mod):
    p = ROOT / Path(*mod.split("."))
    return p.with_suffix(".py").is_file() or (p.is_dir())

class Edits:
    def __init__(self, text): self.text = text; self.lines = text.split("\n"); self.e = []; self.off=[0]
    def pos(self, line, col):  # ast col = utf8 offset
        if len(self.off) == 1:
            o = 0
            for l in self.lines: o += len(l) + 1; self.off.append(o)
        l = self.lines[line - 1]
        return self.off[line - 1] + len(l.encode()[:col].decode())
    def replace(self, node, new): self.e.append((self.pos(node.lineno, node.col_offset), self.pos(node.end_lineno, node.end_col_offset), new))
    def apply(self):
        t = self.text
        for a, b, n in sorted(set(self.e), reverse=True): t = t[:a] + n + t[b:]
        return t

def bound_names(tree, skip=()):
    """names that are assigned anywhere: parameters, targets, definitions"""
    out = set()
    for n in ast.walk(tree):
        if isinstance(n, ast.arg): out.add(n.arg)
        elif isinstance(n, ast.Name) and isinstance(n.ctx, (ast.Store, ast.Del)): out.add(n.id)
        elif isinstance(n, (ast.FunctionDef, ast.ClassDef, ast.AsyncFunctionDef)): out.add(n.name)
        elif isinstance(n, (ast.Import, ast.ImportFrom)) and n not in skip:
            out |= {(a.asname or a.name.split(".")[0]) for a in n.names}
    return out

def doc_blocks(tree, text):
    return text

def rewrite_importers(modmap, symmap, text_too=True):
    """modmap: old module -> new module (file moved whole). symmap: old module -> {name: (new module, new name)}; '*' -> new module for merged."""
    allold = set(modmap) | set(symmap)
    stems = {m.split(".")[-1] for m in allold} | {m for m in allold}
    for f in tracked(".py"):
        src = f.read_text(encoding="utf-8")
        if not any(s.rpartition(".")[2] in src for s in allold): continue
        try: tree = ast.parse(src)
        except SyntaxError as e: print("SYNTAX", f, e); continue
        ed = Edits(src); changed = False
        own = ".".join(f.relative_to(ROOT).with_suffix("").parts)
        allnames = None
        renames = {}   # local name -> new local name (Name nodes)
        attr_merge = {}  # local module alias -> old merged module
        for node in ast.walk(tree):
            if isinstance(node, ast.ImportFrom) and node.module and not node.level:
                outs = []; touched = False
                for a in node.names:
                    full = node.module + "." + a.name
                    local = a.asname or a.name
                    if full in modmap:
                        new = modmap[full]; touched = True
                        par, _, base = new.rpartition(".")
                        if a.asname or base == a.name: outs.append((par, base, a.asname))
                        else:
                            others = bound_names(tree, (node,))
                            if base in others: outs.append((par, base, a.name))
                            else: outs.append((par, base, None)); renames[a.name] = base
                    elif full in symmap and "*" in symmap[full]:
                        new = symmap[full]["*"][0]; touched = True
                        attr_merge[local] = full
                        par, _, base = new.rpartition(".")
                        others = bound_names(tree, (node,))
                        if a.asname: outs.append((par, base, a.asname))
                        elif base == a.name: outs.append((par, base, None))
                        elif base in others and not any(isinstance(x, ast.ImportFrom) and x.module == par and any(y.name == base and not y.asname for y in x.names) for x in ast.walk(tree)):
                            outs.append((par, base, a.name))
                        else: outs.append((par, base, None)); renames[a.name] = base
                    elif node.module in modmap: outs.append((modmap[node.module], a.name, a.asname)); touched = True
                    elif any(node.module.startswith(o + ".") for o in modmap):
                        o = max((o for o in modmap if node.module.startswith(o + ".")), key=len)
                        outs.append((modmap[o] + node.module[len(o):], a.name, a.asname)); touched = True
                    elif node.module in symmap:
                        mp = symmap[node.module]
                        if a.name in mp:
                            nm, nn = mp[a.name]; touched = True
                            if nn != a.name and not a.asname:
                                if nn in bound_names(tree, (node,)): outs.append((nm, nn, a.name))
                                else: outs.append((nm, nn, None)); renames[a.name] = nn
                            else: outs.append((nm, nn, a.asname))
                        elif "*" in mp: outs.append((mp["*"][0], a.name, a.asname)); touched = True
                        else: outs.append((node.module, a.name, a.asname))
                    else: outs.append((node.module, a.name, a.asname))
                if touched:
                    outs = list(dict.fromkeys(o for o in outs if not (o[0] == own)))
                    bymod = {}
                    for m, n, s in outs: bymod.setdefault(m, []).append(n + (f" as {s}" if s and s != n else ""))
                    ind = " " * node.col_offset
                    txt = ("\n" + ind).join(f"from {m} import " + (", ".join(ns) if len(m) + sum(map(len, ns)) < 90 else "(\n" + "".join(f"{ind}    {x},\n" for x in ns) + f"{ind})") for m, ns in bymod.items())
                    ed.replace(node, txt or "pass"); changed = True
            elif isinstance(node, ast.Import):
                for a in node.names:
                    for o in sorted(modmap, key=len, reverse=True):
                        if a.name == o or a.name.startswith(o + "."):
                            ed.replace(a, modmap[o] + a.name[len(o):] + (f" as {a.asname}" if a.asname else "")); changed = True; break
                    else:
                        if a.name in symmap and "*" in symmap[a.name]:
                            ed.replace(a, symmap[a.name]["*"][0] + (f" as {a.asname}" if a.asname else "")); changed = True
        # module used as attribute: alias.name where the name was renamed in a merge or moved elsewhere
        modalias = {}
        for node in ast.walk(tree):
            if isinstance(node, ast.ImportFrom) and node.module and not node.level:
                for a in node.names:
                    full = node.module + "." + a.name
                    if full in symmap: modalias[a.asname or a.name] = full
        for node in ast.walk(tree):
            if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name) and node.value.id in modalias:
                mp = symmap[modalias[node.value.id]]
                if node.attr in mp and node.attr != "*":
                    nm, nn = mp[node.attr]
                    if "*" in mp and mp["*"][0] == nm or nm == modalias[node.value.id]:
                        if nn != node.attr:
                            s = ed.pos(node.end_lineno, node.end_col_offset)
                            ed.e.append((s - len(node.attr), s, nn)); changed = True
                    else: print(f"BY HAND {f}:{node.lineno}: {node.value.id}.{node.attr} is now {nm}.{nn}")
        if renames:
            for node in ast.walk(tree):
                if isinstance(node, ast.Name) and node.id in renames: ed.replace(node, renames[node.id]); changed = True
                elif isinstance(node, ast.Constant) and isinstance(node.value, str): pass
        new = ed.apply() if changed else src
        if renames:  # doctests and annotations in strings
            tree2 = ast.parse(new)
        new2 = text_rewrite(new, modmap, symmap)
        if renames:
            ls = new2.split("\n")
            for i, l in enumerate(ls):
                if l.lstrip().startswith((">>> ", "... ")):
                    for o, n in renames.items(): ls[i] = re.sub(rf"(?<![\w.\"']){o}(?=[.(])", n, ls[i])
            new2 = "\n".join(ls)
        if new2 != src:
            try: ast.parse(new2)
            except SyntaxError as e: print("BROKEN", f, e); continue
            f.write_text(new2, encoding="utf-8")
    for f in tracked(".md", ".toml", ".txt", "Makefile", ".css", ".html", ".js", ".cff", ".yml", ".run", "run", ".json"):
        if f.suffix == ".json" and f.stat().st_size > 2_000_000: continue
        src = f.read_text(encoding="utf-8")
        new = text_rewrite(src, modmap, symmap)
        if new != src: f.write_text(new, encoding="utf-8")

def text_rewrite(t, modmap, symmap):
    pairs = []
    for o, n in modmap.items(): pairs.append((o, n))
    for o, mp in symmap.items():
        for name, (nm, nn) in mp.items():
            if name != "*": pairs.append((o + "." + name, nm + "." + nn))
        if "*" in mp: pairs.append((o, mp["*"][0]))
    pairs.sort(key=lambda p: -len(p[0]))
    for o, n in pairs:
        t = re.sub(rf"(?<![\w./]){re.escape(o)}(?![\w])", n, t)
        po, pn = o.replace(".", "/"), n.replace(".", "/")
        t = re.sub(rf"{re.escape(po)}(?=\.py\b|/)", pn, t) if not any(o == x + "." + y for x, m in symmap.items() for y in m) else t
        # `from a.b import c` in text such as doctests and strings
        a, _, b = o.rpartition("."); c, _, d = n.rpartition(".")
        t = re.sub(rf"from {re.escape(a)} import {re.escape(b)}(?=\s*(?:\n|$|;|\\n|`|\"))", f"from {c} import {d}" + ("" if b == d else f" as {b}"), t)
        t = re.sub(rf"from {re.escape(o)} import ", f"from {n} import ", t)
    return t

def log(entry): 
    with LOG.open("a") as h: h.write(json.dumps(entry) + "\n")

def top_names(tree):
    out = {}
    for n in tree.body:
        if isinstance(n, (ast.FunctionDef, ast.ClassDef, ast.AsyncFunctionDef)): out[n.name] = n
        elif isinstance(n, ast.Assign):
            for t in n.targets:
                for x in ast.walk(t):
                    if isinstance(x, ast.Name): out[x.id] = n
        elif isinstance(n, (ast.AnnAssign, ast.AugAssign)) and isinstance(n.target, ast.Name): out[n.target.id] = n
        elif isinstance(n, ast.TypeAlias if hasattr(ast, "TypeAlias") else ()): out[n.name.id] = n
        elif isinstance(n, (ast.If, ast.Try)):
            for x in ast.walk(n):
                if isinstance(x, (ast.FunctionDef, ast.ClassDef)): out[x.name] = n
                elif isinstance(x, ast.Name) and isinstance(x.ctx, ast.Store): out[x.id] = n
    return out

def rename_in(text, renames):
    tree = ast.parse(text); ed = Edits(text)
    for node in ast.walk(tree):
        if isinstance(node, ast.Name) and node.id in renames: ed.replace(node, renames[node.id])
        elif isinstance(node, (ast.FunctionDef, ast.ClassDef)) and node.name in renames:
            line = node.lineno; l = ed.lines[line - 1]; m = re.search(rf"(def|class)\s+{node.name}\b", l)
            s = ed.off and ed.pos(line, 0); st = ed.pos(line, 0) + m.end() - len(node.name)
            ed.e.append((st, st + len(node.name), renames[node.name]))
    t = ed.apply(); ls = t.split("\n")
    for i, l in enumerate(ls):
        if l.lstrip().startswith((">>> ", "... ")):
            for o, n in renames.items(): ls[i] = re.sub(rf"(?<![\w.\"']){o}\b", n, ls[i])
    return "\n".join(ls)

def merge(target, sources):
    for source in sources:
        tp, sp = path_of(target), path_of(source)
        tt, st = tp.read_text(encoding="utf-8"), sp.read_text(encoding="utf-8")
        tn, sn = top_names(ast.parse(tt)), top_names(ast.parse(st))
        clash = (set(tn) & set(sn)) - {"__all__"}
        same = {c for c in clash if ast.unparse(tn[c]) == ast.unparse(sn[c])}
        ren = {}
        stem = source.rpartition(".")[2]
        for c in clash - same:
            new = (f"_{stem}{c}" if c.startswith("_") else f"{stem}_{c}")
            ren[c] = new; print(f"RENAMED {source}:{c} -> {new} (clash)")
        # names imported by the source that mean something else in the target
        def imports(text):
            out = {}
            for n in ast.parse(text).body:
                if isinstance(n, ast.ImportFrom):
                    for a in n.names: out[a.asname or a.name] = f"{n.module}.{a.name}"
                elif isinstance(n, ast.Import):
                    for a in n.names: out[a.asname or a.name.split(".")[0]] = a.name
            return out
        ti, si = imports(tt), imports(st)
        for k in set(ti) & set(si):
            if ti[k] != si[k]: print(f"BY HAND import {k}: {ti[k]} in target, {si[k]} in {source}")
        for k in (set(ti) & set(sn)) - {"annotations"}:
            if ti[k].rpartition(".")[0] != source: print(f"BY HAND: target imports {k} as {ti[k]}, {source} defines it")
        for k in (set(si) & set(tn)):
            if si[k].rpartition(".")[0] != target: print(f"BY HAND: {source} imports {k} as {si[k]}, target defines it")
        if ren: st = rename_in(st, ren)
        tree = ast.parse(st); lines = st.split("\n")
        drop = set()
        body = tree.body
        doc = ast.get_docstring(tree)
        imps = []
        def cut(n):
            for i in range(n.lineno - 1, n.end_lineno): drop.add(i)
        if body and isinstance(body[0], ast.Expr) and isinstance(body[0].value, ast.Constant): cut(body[0])
        for n in body:
            if isinstance(n, (ast.Import, ast.ImportFrom)):
                cut(n); seg = ast.get_source_segment(st, n)
                if isinstance(n, ast.ImportFrom) and n.module == target: continue
                if isinstance(n, ast.ImportFrom) and n.module == "__future__": continue
                imps.append(seg)
            names = [t.id for t in n.targets if isinstance(t, ast.Name)] if isinstance(n, ast.Assign) else []
            if names == ["__all__"]: cut(n)
            for c in same:
                if sn.get(c) is not None and ast.unparse(n) == ast.unparse(sn[c]) :
                    cut(n)
                    if getattr(n, "decorator_list", None):
                        for i in range(n.decorator_list[0].lineno - 1, n.lineno): drop.add(i)
        rest = "\n".join(l for i, l in enumerate(lines) if i not in drop).strip("\n")
        # references module.attr between the two
        for mod, others in ((target, rest),):
            par, _, base = mod.rpartition(".")
            if si.get(base) == mod: rest = re.sub(rf"(?<![\w.]){base}\.(?=\w)", "", rest); imps = [x for x in imps if not re.fullmatch(rf"from {re.escape(par)} import {base}", x)]
        par, _, base = source.rpartition(".")
        if ti.get(base) == source: tt = re.sub(rf"(?<![\w.]){base}\.(?=\w)", "", tt)
        ttree = ast.parse(tt); tl = tt.split("\n"); drop = set(); last = 0
        if ttree.body and isinstance(ttree.body[0], ast.Expr): last = ttree.body[0].end_lineno
        for n in ttree.body:
            if isinstance(n, (ast.Import, ast.ImportFrom)): 
                last = max(last, n.end_lineno)
                if isinstance(n, ast.ImportFrom) and n.module == source:
                    for i in range(n.lineno - 1, n.end_lineno): drop.add(i)
            elif not (isinstance(n, ast.Expr) and isinstance(n.value, ast.Constant)): break
        head = [l for i, l in enumerate(tl[:last]) if i not in drop]; tail = tl[last:]
        # a source that the target's module level needs comes first
        order = [*head, "", *imps, "", "", *rest.split("\n"), "", "", *tail] if needs_first(tt, sn, source) else [*head, *imps, *tail, "", "", *rest.split("\n"), ""]
        tp.write_text("\n".join(order).rstrip("\n") + "\n", encoding="utf-8")
        run("git", "rm", "-q", "-f", str(sp.relative_to(ROOT)))
        mp = {"*": (target, "*"), **{o: (target, n) for o, n in ren.items()}}
        rewrite_importers({}, {source: mp})
        log({"sym": {source: mp}})
        run("git", "add", "-A", str(tp.relative_to(ROOT)))
        if doc: print(f"docstring of {source} dropped: {doc[:300]!r}")

def needs_first(tt, sn, source):
    for n in ast.parse(tt).body:
        if isinstance(n, (ast.Import, ast.ImportFrom)): continue
        if isinstance(n, (ast.Assign, ast.AnnAssign, ast.Expr)):
            if any(isinstance(x, ast.Name) and x.id in sn for x in ast.walk(n)): return True
        elif isinstance(n, ast.ClassDef):
            if any(isinstance(x, ast.Name) and x.id in sn for b in (*n.bases, *n.decorator_list) for x in ast.walk(b)): return True
            for b in n.body:
                if isinstance(b, (ast.Assign, ast.AnnAssign)) and b.value is not None and any(isinstance(x, ast.Name) and x.id in sn for x in ast.walk(b.value)): return True
        elif isinstance(n, ast.FunctionDef):
            if any(isinstance(x, ast.Name) and x.id in sn for b in (*n.decorator_list, *n.args.defaults, *[k for k in n.args.kw_defaults if k]) for x in ast.walk(b)): return True
    return False

def mv(old, new):
    op = path_of(old); np = ROOT / Path(*new.split("."))
    np.parent.mkdir(parents=True, exist_ok=True)
    for d in [np.parent, *np.parent.parents]:
        if d == ROOT: break
        if not (d / "__init__.py").exists() and d.name not in ("docs",):
            (d / "__init__.py").write_text('"""FIXME: name this folder\'s content."""\n'); run("git", "add", str(d / "__init__.py")); print("made", d / "__init__.py")
    dst = np if op.is_dir() else np.with_suffix(".py")
    run("git", "mv", str(op.relative_to(ROOT)), str(dst.relative_to(ROOT)))
    rewrite_importers({old: new}, {}); log({"mod": {old: new}})

if __name__ == "__main__":
    a = sys.argv[1:]
    if not a: print(__doc__); sys.exit(2)
    if a[0] == "mv": mv(a[1], a[2])
    elif a[0] == "merge": merge(a[1], a[2:])
    elif a[0] == "sym":
        om, _, name = a[1].partition(":"); nm, _, nn = a[2].partition(":"); nn = nn or name
        if om == nm:
            p = path_of(om); p.write_text(rename_in(p.read_text(), {name: nn}))
        mp = {om: {name: (nm, nn)}}; rewrite_importers({}, mp); log({"sym": mp})
    elif a[0] == "replay":
        for l in Path(a[1]).read_text().splitlines():
            e = json.loads(l)
            rewrite_importers(e.get("mod", {}), {m: {k: tuple(v) for k, v in d.items()} for m, d in e.get("sym", {}).items()})
    else: print(__doc__); sys.exit(2)
    if a[0] != "replay" or True:
        run("bash", "-c", "/work/main/.venv/bin/ruff check -q --fix --select I,F401,F811 . >/dev/null; /work/main/.venv/bin/ruff format -q . ; true")
