"""What people get who install it: the wheel and the source archive, built as a release builds them."""

import re
import subprocess
import sys
import tarfile
import zipfile
from email import message_from_string
from pathlib import Path

import pytest

pytest.importorskip("build", reason="build is not installed: neither wheel nor source archive was built")
pytest.importorskip("twine", reason="twine is not installed: neither wheel nor source archive was checked")
from hatch_build import stand_alone

ROOT = Path(__file__).parents[1]
SHIPPED = ROOT / "src/sedil/pretrained"


def run(*words):
    done = subprocess.run([sys.executable, "-m", *words], capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr


@pytest.fixture(scope="module")
def built(tmp_path_factory):
    """Both archives; the wheel is made from the source archive, as an installer would."""
    folder = tmp_path_factory.mktemp("dist")
    run("build", "--no-isolation", "--outdir", str(folder), str(ROOT))
    (wheel,), (source,) = folder.glob("*.whl"), folder.glob("*.tar.gz")
    return wheel, source


@pytest.fixture(scope="module")
def wheel(built):
    with zipfile.ZipFile(built[0]) as archive:
        yield archive


@pytest.fixture(scope="module")
def metadata(wheel):
    (name,) = [name for name in wheel.namelist() if name.endswith("METADATA")]
    return message_from_string(wheel.read(name).decode())


def test_an_index_would_accept_both(built):
    run("twine", "check", "--strict", *map(str, built))


def test_wheel_holds_both_packages_whole_and_nothing_else(wheel):
    expected = {
        str(path.relative_to(ROOT / "src"))
        for package in ("sedil", "sedil_studies")
        for path in (ROOT / "src" / package).rglob("*")
        if path.is_file() and "__pycache__" not in path.parts
    }
    assert {"sedil/py.typed", "sedil/pretrained/separable-8x8.npz"} <= expected
    packed = {name for name in wheel.namelist() if ".dist-info/" not in name}
    assert packed == expected


def test_source_archive_holds_what_tests_need(built):
    with tarfile.open(built[1]) as archive:
        names = {name.partition("/")[2] for name in archive.getnames()}
    assert {"LICENSE", "README.md", "CITATION.cff", "hatch_build.py", "tests/test_packaging.py"} <= names
    assert not [name for name in names if name.startswith((".venv", "dist", "docs/_build", "demo"))]


def test_long_description_links_no_file(metadata):
    text = metadata.get_payload()
    assert text.startswith("# sedil")
    assert metadata["Description-Content-Type"] == "text/markdown"
    links = re.findall(r"\]\(([^)]+)\)", text)
    assert links
    assert [link for link in links if not link.startswith("https://")] == []


def test_metadata_names_what_an_index_sorts_by(metadata):
    assert metadata["License-Expression"] == "BSD-3-Clause"
    assert "Typing :: Typed" in metadata.get_all("Classifier")
    assert metadata.get_all("Project-URL")


def test_links_hold_anywhere_where_the_address_is_known():
    text = "![atoms](results/a.png) [how](docs/how.md#why), [a](https://b.c), [`x.md`](x.md), [up](#top)"
    assert stand_alone(text, "https://home") == (
        "![atoms](https://home/raw/main/results/a.png) [how](https://home/blob/main/docs/how.md#why), "
        "[a](https://b.c), [`x.md`](https://home/blob/main/x.md), [up](#top)"
    )
    assert stand_alone(text, None) == (
        "*Picture (results/a.png): atoms* how (`docs/how.md#why`), [a](https://b.c), `x.md`, [up](#top)"
    )
