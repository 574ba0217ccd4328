"""Public docstrings name their parameters, all of them, in order."""

import inspect

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
