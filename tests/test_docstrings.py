"""Public docstrings name their parameters, all of them, in order, and have an example."""

import inspect
import re
from doctest import SKIP, DocTestParser
from pathlib import Path

import pytest
from numpydoc.validate import validate

import sedil

PUBLIC = [f"sedil.{name}" for name in sedil.__all__ if callable(getattr(sedil, name))]
# Parameters missing, unknown, out of order; no summary; undocumented returns of functions.
WANTED = {"PR01", "PR02", "PR03", "SS01", "GL08"}


@pytest.mark.parametrize("name", PUBLIC)
def test_parameters_are_documented(name):
    target = getattr(sedil, name.removeprefix("sedil."))
    if inspect.isclass(target) and issubclass(target, Exception | str | sedil.LearningResult):
        assert target.__doc__
        return
    complaints = [text for code, text in validate(name)["errors"] if code in WANTED]
    assert not complaints


@pytest.mark.parametrize("name", PUBLIC)
def test_every_public_name_has_an_example_that_runs(name):
    """That it runs is seen by pytest itself, which runs all doctests of the sources."""
    examples = DocTestParser().get_examples(getattr(sedil, name.removeprefix("sedil.")).__doc__)
    assert any("sedil" in example.source for example in examples)
    assert not any(SKIP in example.options for example in examples)


def test_reference_of_the_site_lists_every_public_name():
    page = Path(__file__).parents[1] / "docs/api.rst"
    listed = re.findall(r"^   (\w+)$", page.read_text(), re.MULTILINE)
    assert sorted(listed) == sorted(name.removeprefix("sedil.") for name in PUBLIC)
