"""The gallery: every example can be read, needs no network, and runs as a script (`pytest -m examples`)."""

import ast
import os
import re
import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path

import pytest
from skimage import data

EXAMPLES = sorted((Path(__file__).parents[1] / "examples").rglob("*.py"))
GENERATED = {"binary_blobs"}  # pictures of scikit-image that are computed
OTHER_FILES = {"immunohistochemistry": "ihc", "cat": "chelsea"}


def imports(example):
    """The top-level packages that an example imports."""
    nodes = list(ast.walk(ast.parse(example.read_text())))
    named = {alias.name for node in nodes if isinstance(node, ast.Import) for alias in node.names}
    return {name.split(".")[0] for name in named}


def test_there_are_enough_examples():
    assert len(EXAMPLES) >= 12


@pytest.mark.parametrize("example", EXAMPLES, ids=lambda path: path.stem)
def test_example_begins_with_a_title_and_a_few_sentences(example):
    title, line, blank, *text = ast.get_docstring(ast.parse(example.read_text())).splitlines()
    assert line == "=" * len(title)
    assert blank == ""
    assert 2 <= len(re.findall(r"[.?](?=\s|$)", " ".join(text))) <= 5


@pytest.mark.parametrize("example", EXAMPLES, ids=lambda path: path.stem)
def test_pictures_come_with_the_packages(example):
    carried = {file.stem for file in Path(data.__file__).parent.iterdir()} | GENERATED
    used = set(re.findall(r"\bdata\.(\w+)\(", example.read_text()))
    assert {OTHER_FILES.get(name, name) for name in used} <= carried
    assert not re.search(r"fetch_|https?://|urlopen", example.read_text())


@pytest.mark.examples
@pytest.mark.parametrize("example", EXAMPLES, ids=lambda path: path.stem)
def test_example_runs_as_a_script(example, tmp_path):
    missing = [name for name in imports(example) if find_spec(name) is None]
    if missing:
        pytest.skip(f"{', '.join(missing)} is not installed: this example was not run")
    environment = os.environ | {"MPLBACKEND": "Agg"}
    done = subprocess.run(
        [sys.executable, example], cwd=tmp_path, env=environment, capture_output=True, text=True, timeout=300
    )
    assert done.returncode == 0, done.stderr


@pytest.mark.examples
def test_site_loads_nothing_from_elsewhere():
    pages = list((EXAMPLES[0].parents[2] / "docs/_build/html").rglob("*.html"))
    if not pages:
        pytest.skip("The site is not built (make docs): it was not looked at")
    from_elsewhere = re.compile(r"""<(?:script|link|img|iframe)\b[^>]*\b(?:src|href)=["'](?:https?:)?//""")
    assert [page.name for page in pages if from_elsewhere.search(page.read_text())] == []
