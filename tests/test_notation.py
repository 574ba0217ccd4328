"""docs/notation.md is held to the code: each row names what exists, each tag in the code has a row."""

import ast
import re
from importlib import import_module
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
PAGE = ROOT / "docs/notation.md"
TAG = re.compile(r"Paper: ((?:Eq\. \(\d+\)|Algorithm \d|Sec\. \d)(?:,? (?:and )?\(\d+\))*)")
ROWS = [
    [cell.strip() for cell in line.strip("|").split("|")]
    for line in PAGE.read_text().split("## Equations and algorithms")[1].split("\n## ")[0].splitlines()
    if line.startswith("| ") and not line.startswith("| number")
]


def numbers(text):
    """``Eq. (8), (14)`` as {"Eq. 8", "Eq. 14"}, ``Algorithm 1`` as itself."""
    return {f"Eq. {n}" for n in re.findall(r"\((\d+)\)", text)} | set(
        re.findall(r"(?:Algorithm|Sec\.) \d", text)
    )


def resolve(dotted):
    """The object behind a dotted name, or None."""
    parts = dotted.split(".")
    for split in range(len(parts) - 1, 0, -1):
        try:
            found = import_module(".".join(parts[:split]))
        except ModuleNotFoundError:
            continue
        for name in parts[split:]:
            found = getattr(found, name, None)
        return found
    return None


def test_every_equation_and_algorithm_has_a_row():
    listed = set().union(*(numbers(row[0]) for row in ROWS))
    assert {f"Eq. {n}" for n in range(1, 36)} <= listed
    assert {"Algorithm 1", "Algorithm 2"} <= listed


@pytest.mark.parametrize("row", [row for row in ROWS if row[2].startswith("`")], ids=lambda row: row[2])
def test_row_names_a_function_and_a_test_that_exist(row):
    assert resolve(row[2].strip("`")) is not None, f"no such function: {row[2]}"
    file, _, name = row[3].strip("`").partition("::")
    tree = ast.parse((ROOT / file).read_text())
    assert name in {node.name for node in tree.body if isinstance(node, ast.FunctionDef)}, row[3]


def test_every_tag_in_the_code_has_a_row():
    listed = set().union(*(numbers(row[0]) for row in ROWS))
    tags = [tag for file in (ROOT / "src").rglob("*.py") for tag in TAG.findall(file.read_text())]
    assert len(tags) > 20
    for tag in tags:
        assert numbers(tag) <= listed, f"'Paper: {tag}' has no row in {PAGE.name}"
