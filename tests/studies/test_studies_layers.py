"""Studies are beside the library: it does not know them, and what they share knows none of them."""

import ast
from pathlib import Path

import pytest

SOURCE = Path(__file__).parents[2] / "src"
SHARED = {
    "harness": {"harness"},
    "measures": {"measures"},
    "pretrained": {"pretrained", "harness"},
    "peers": {"peers", "harness", "pretrained"},
}


def imported(tree):
    """Modules that the nodes of a tree import."""
    for node in ast.walk(tree):
        if isinstance(node, ast.ImportFrom) and node.module:
            yield node.module
        elif isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)


@pytest.mark.parametrize("part", SHARED)
def test_what_studies_share_knows_none_of_them(part):
    for file in (SOURCE / "sedil_studies" / part).rglob("*.py"):
        for module in imported(ast.parse(file.read_text())):
            root, _, rest = module.partition(".")
            if root == "sedil_studies":
                assert rest.split(".")[0] in SHARED[part], f"{file} imports {module}"


def test_the_library_knows_no_study_before_a_command_is_run():
    for file in (SOURCE / "sedil").rglob("*.py"):
        tree = ast.parse(file.read_text())
        inside = [node for node in ast.walk(tree) if isinstance(node, ast.FunctionDef)]
        inside += [node for node in tree.body if isinstance(node, ast.If)]  # for type checkers
        allowed = (
            {module for node in inside for module in imported(node)} if file.parent.name == "commands" else ()
        )
        for module in imported(tree):
            if module.partition(".")[0] == "sedil_studies":
                assert module in allowed, f"{file} imports {module}"
