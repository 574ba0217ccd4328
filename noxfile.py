"""The quick tests on every Python that pyproject.toml names: make test-pythons.

Interpreters that are not here are fetched by uv; those that cannot be had are named at the end.
"""

import nox

nox.options.default_venv_backend = "uv|virtualenv"
nox.options.error_on_missing_interpreters = False


@nox.session(python=nox.project.python_versions(nox.project.load_toml("pyproject.toml")))
def tests(session: nox.Session) -> None:
    """What takes a few seconds at most; arguments after -- go to pytest."""
    session.install("--editable", ".[test]")
    session.run("pytest", "-q", "-n", "2", "-m", "not slow and not examples and not soak", *session.posargs)
