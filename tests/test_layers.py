"""Imports point downward only."""

import ast
from pathlib import Path

import pytest

SOURCE = Path(__file__).parents[1] / "src/sedil"

# From the ground up; a module may import from its own layer and those before it.
LAYERS = [
    {"arrays", "errors", "patch_grid", "progress"},
    {"checks"},
    {"engines", "files", "spheres"},
    {"manifold"},
    {"objective", "mosaic"},
    {"dictionary"},
    {"analytic", "pretrained"},
    {"coding"},
    {"learning"},
    {"image_files"},
    {"imaging"},
    {"file_jobs"},
    {"plots", "progress", "terminal"},
    {"estimators", "demo"},
    {"commands"},
    {"cli"},
    {"__main__"},
]
LEVEL = {name: level for level, names in enumerate(LAYERS) for name in names}


def imported_parts(file):
    """First parts below ``sedil`` that the file imports when it runs, type checking left out."""
    tree = ast.parse(file.read_text())
    skipped = {
        id(inner)
        for node in ast.walk(tree)
        if isinstance(node, ast.If) and getattr(node.test, "id", "") == "TYPE_CHECKING"
        for inner in ast.walk(node)
    }
    for node in ast.walk(tree):
        if id(node) in skipped or not isinstance(node, ast.ImportFrom) or not node.module:
            continue
        root, _, rest = node.module.partition(".")
        if root == "sedil":
            yield from [rest.split(".")[0]] if rest else [alias.name for alias in node.names]


PROGRAMS = {SOURCE / "__init__.py"}
FILES = [file for file in SOURCE.rglob("*.py") if file not in PROGRAMS]


@pytest.mark.parametrize("file", FILES, ids=lambda file: str(file.relative_to(SOURCE)))
def test_imports_point_downward(file):
    own = file.relative_to(SOURCE).parts[0].removesuffix(".py")
    for part in imported_parts(file):
        assert LEVEL[part] <= LEVEL[own], f"{own} imports {part}, which lies above it"


def test_no_import_is_missed():
    assert "objective" in set(imported_parts(SOURCE / "dictionary.py"))
