"""Imports point downward only, and never in circles."""

import ast
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import pytest

SOURCE = Path(__file__).parents[1] / "src"

# From the ground up; a module may import from its own layer and those before it. A name stands for all that
# lies under it, unless something under it has a place of its own.
LAYERS = [
    {
        "sedil.arrays",
        "sedil.choices",
        "sedil.curves",
        "sedil.errors",
        "sedil.global_state",
        "sedil.memory",
        "sedil.npz",
        "sedil.partial_files",
        "sedil.patch_grid",
        "sedil.progress",
    },
    {"sedil.checks", "sedil.match_grid"},
    {"sedil.engines", "sedil.files"},
    {"sedil.engines.portable"},
    {"sedil.engines.fused"},
    {
        "sedil.cluster.clusters",
        "sedil.cluster.dask_arrays",
        "sedil.cluster.journal",
        "sedil.cluster.shards",
        "sedil.cluster.stored_arrays",
    },
    {"sedil.spheres", "sedil.mosaic"},
    {"sedil.manifold", "sedil.objective"},
    {"sedil.dictionary"},
    {"sedil.analytic", "sedil.pretrained"},
    {"sedil.coding"},
    {"sedil.learning"},
    {"sedil.image_files"},
    {"sedil.imaging", "sedil.cluster"},
    {"sedil.file_jobs"},
    {"sedil.panels", "sedil.plots", "sedil.terminal"},
    {"sedil.estimators", "sedil.demo", "sedil.app"},
    {"sedil_studies"},
    {"sedil.commands"},
    {"sedil.cli"},
    {"sedil.__main__"},
]
LEVEL = {name: level for level, names in enumerate(LAYERS) for name in names}

# Studies are loaded by the commands that run them, and only then.
RUNS_STUDIES = {"sedil.commands.study_commands"}


def module_name(file: Path) -> str:
    parts = file.relative_to(SOURCE).with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


FILES = {module_name(file): file for file in sorted(SOURCE.rglob("*.py"))}
MODULES = [name for name in FILES if name != "sedil"]  # which only lists the public names


def public_names() -> dict[str, str]:
    """The module that each public name of `sedil` comes from."""
    stub = ast.parse((SOURCE / "sedil/__init__.pyi").read_text())
    return {
        alias.asname or alias.name: f"sedil.{node.module}"
        for node in stub.body
        if isinstance(node, ast.ImportFrom)
        for alias in node.names
    }


PUBLIC = public_names()


def nodes_that_run(node: ast.AST, in_function: bool = False) -> Iterator[tuple[ast.AST, bool]]:
    """All nodes but those for type checking, and whether they lie in a function."""
    for child in ast.iter_child_nodes(node):
        yield child, in_function
        inside = in_function or isinstance(child, ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda)
        if isinstance(child, ast.If) and ast.unparse(child.test).endswith("TYPE_CHECKING"):
            for other in child.orelse:
                yield other, inside
                yield from nodes_that_run(other, inside)
        else:
            yield from nodes_that_run(child, inside)


def absolute(node: ast.ImportFrom, importer: str) -> str:
    """The module that an import names, also where it begins with dots."""
    if not node.level:
        return node.module or ""
    parts = importer.split(".")
    above = node.level - (FILES[importer].name == "__init__.py")
    return ".".join(parts[: len(parts) - above] + ([node.module] if node.module else []))


def source_of(dotted: str) -> str | None:
    """The module that defines a dotted name of ours; None for a name of somebody else, and for `sedil`."""
    root, *rest = dotted.split(".")
    if root not in {"sedil", "sedil_studies"}:
        return None
    if root == "sedil" and rest and f"sedil.{rest[0]}" not in FILES:
        return PUBLIC.get(rest[0])
    while dotted not in FILES:
        dotted = dotted.rpartition(".")[0]
    return None if dotted == "sedil" else dotted


@cache
def imports(name: str, text: str | None = None) -> set[tuple[str, bool]]:
    """Modules of ours that a module uses when it runs, and whether only once a function is called.

    What is used by ``sedil.NAME`` after ``import sedil`` comes from the module of that name.
    """
    return set(_imports(name, text))


def _imports(name: str, text: str | None) -> Iterator[tuple[str, bool]]:
    tree = ast.parse(FILES[name].read_text() if text is None else text)
    called = {}  # by which names whole modules are known: a node is seen after the import above it
    for node, in_function in nodes_that_run(tree):
        found = []
        if isinstance(node, ast.Import):
            found = [alias.name for alias in node.names]
            called |= {alias.asname or alias.name.split(".")[0]: alias for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            module = absolute(node, name)
            found = [f"{module}.{alias.name}" for alias in node.names]
            if module not in FILES:
                yield from [(module, in_function)] if module.startswith("sedil") else []
                continue
        elif isinstance(node, ast.Attribute):
            found = [ast.unparse(node)]
            root, _, rest = found[0].partition(".")
            if root not in called or not rest:
                continue
            alias = called[root]
            found = [f"{alias.name if alias.asname else root}.{rest}"]
        yield from ((source, in_function) for source in map(source_of, found) if source not in (None, name))


def level(name: str) -> int:
    while name not in LEVEL:
        assert "." in name, f"{name} is in no layer: find its place in LAYERS"
        name = name.rpartition(".")[0]
    return LEVEL[name]


@pytest.mark.parametrize("name", MODULES)
def test_imports_point_downward(name):
    above = {other for other, _ in imports(name) if level(other) > level(name)}
    assert not above, f"{name} imports what lies above it: {', '.join(sorted(above))}"


@pytest.mark.parametrize("name", MODULES)
def test_studies_are_loaded_by_their_commands_alone(name):
    if name.startswith("sedil_studies"):
        return
    used = [(other, late) for other, late in imports(name) if other.startswith("sedil_studies")]
    if name in RUNS_STUDIES:
        used = [(other, late) for other, late in used if not late]
    assert not used, f"{name} imports {', '.join(sorted({other for other, _ in used}))}"


def circles(graph: dict[str, set[str]]) -> list[set[str]]:
    """Modules that import each other, directly or by way of others: strongly connected components."""
    reached = {name: _reachable(graph, name) for name in graph}
    found = {
        frozenset(other for other in graph if other in reached[name] and name in reached[other])
        for name in graph
    }
    return [set(circle) for circle in found if circle]


def _reachable(graph: dict[str, set[str]], start: str) -> set[str]:
    seen: set[str] = set()
    waiting = [start]
    while waiting:
        new = graph.get(waiting.pop(), set()) - seen
        seen |= new
        waiting += new
    return seen


def test_no_module_is_imported_in_a_circle():
    assert circles({name: {other for other, _ in imports(name)} for name in MODULES}) == []


# The checks see what they should


def test_circles_are_found():
    assert circles({"a": {"b"}, "b": {"c"}, "c": {"a", "d"}, "d": set()}) == [{"a", "b", "c"}]
    assert circles({"a": {"a"}}) == [{"a"}]
    assert circles({"a": {"b"}, "b": set()}) == []


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("import sedil\nsedil.learn(1)", {("sedil.learning.learn", False)}),
        ("import sedil as s\ns.odct(8, 8)", {("sedil.analytic", False)}),
        ("import sedil\nclass A(sedil.SeparableDictionary): pass", {("sedil.dictionary", False)}),
        ("import numpy as np, sedil\nnp.learn(1)", set()),
        ("import sedil.imaging.denoise", {("sedil.imaging.denoise", False)}),
        ("import sedil.spheres as s\ns.normalize(1)", {("sedil.spheres", False)}),
        ("from sedil import checks, learn", {("sedil.checks", False), ("sedil.learning.learn", False)}),
        ("from sedil.imaging import noise", {("sedil.imaging.noise", False)}),
        ("from sedil.engines import choose_engine", {("sedil.engines", False)}),
        ("def f():\n    from sedil.cli import app", {("sedil.cli", True)}),
        ("def f():\n    import sedil\n    return sedil.denoise", {("sedil.imaging.denoise", True)}),
        ("from typing import TYPE_CHECKING\nif TYPE_CHECKING:\n    from sedil.cli import app", set()),
        ("from . import noise", {("sedil.imaging.noise", False)}),
        ("from ..learning.learn import learn", {("sedil.learning.learn", False)}),
    ],
)
def test_no_way_to_import_is_missed(text, expected):
    assert imports("sedil.imaging.quality", text) == expected


def test_every_layer_exists():
    assert {name for name in LEVEL if name not in FILES} == set()
