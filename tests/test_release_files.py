"""The conda recipe, the citation and the changelog say the same as the package."""

import tomllib
from pathlib import Path

import pytest

import sedil

yaml = pytest.importorskip("yaml", reason="pyyaml is not installed: the conda recipe was not read")
ROOT = Path(__file__).parents[1]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text())
RECIPE = yaml.safe_load((ROOT / "recipe/recipe.yaml").read_text())
CONDA_NAMES = {"matplotlib": "matplotlib-base"}  # without the windows that pictures are shown in


def from_pip(requirement):
    name, _, least = requirement.partition(">=")
    return f"{CONDA_NAMES.get(name, name)} >={least}"


def test_versions_agree():
    assert RECIPE["context"]["version"] == sedil.__version__
    assert PROJECT["project"]["requires-python"] == f">={RECIPE['context']['python_min']}"


def test_citation_and_changelog_name_the_version():
    assert yaml.safe_load((ROOT / "CITATION.cff").read_text())["version"] == sedil.__version__
    first = next(line for line in (ROOT / "CHANGELOG.md").read_text().splitlines() if line.startswith("## "))
    assert first.split()[1] == sedil.__version__


def test_dependencies_agree():
    python, *others = RECIPE["requirements"]["run"]
    assert python == "python >=${{ python_min }}"
    assert others == list(map(from_pip, PROJECT["project"]["dependencies"]))
    assert set(map(from_pip, PROJECT["build-system"]["requires"])) <= set(RECIPE["requirements"]["host"])


def test_commands_and_facts_agree():
    scripts = [f"{name} = {target}" for name, target in PROJECT["project"]["scripts"].items()]
    assert RECIPE["build"]["python"]["entry_points"] == scripts
    assert RECIPE["about"]["summary"] == PROJECT["project"]["description"]
    assert RECIPE["about"]["license"] == PROJECT["project"]["license"]


def test_recipe_can_be_rendered():
    rattler_build = pytest.importorskip("rattler_build", reason="py-rattler-build is not installed")
    recipe = rattler_build.Stage0Recipe.from_file(str(ROOT / "recipe/recipe.yaml"))
    (rendered,) = recipe.render(rattler_build.VariantConfig())
    assert str(rendered.recipe.package.version) == sedil.__version__
