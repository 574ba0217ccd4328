import subprocess
import sys

import pytest

import sedil

CALLED_BY_USERS = [name for name in sedil.__all__ if name != "__version__"]


def run(code):
    return subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=60)


@pytest.mark.parametrize("name", CALLED_BY_USERS)
def test_every_public_name_can_be_called(name):
    assert callable(getattr(sedil, name))
    assert name in dir(sedil)


def test_names_stay_callable_after_every_module_was_imported():
    code = """
import importlib, pkgutil, sedil
for module in pkgutil.walk_packages(sedil.__path__, "sedil."):
    if not module.name.endswith("__main__"):
        importlib.import_module(module.name)
print([name for name in sedil.__all__ if not callable(getattr(sedil, name))])
"""
    done = run(code)
    assert done.returncode == 0, done.stderr
    assert done.stdout.strip() in ("[]", "['__version__']")


def test_importing_the_package_imports_nothing_heavy():
    heavy = ["numpy", "scipy", "torch", "sklearn", "matplotlib", "skimage", "PIL", "imageio", "typer"]
    done = run(f"import sys, sedil; print([name for name in {heavy} if name in sys.modules])")
    assert done.stdout.strip() == "[]", done.stderr


def test_unknown_name_is_an_attribute_error():
    with pytest.raises(AttributeError, match="no_such_thing"):
        _ = sedil.no_such_thing
