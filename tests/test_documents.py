"""What the documents say can be done: their Python runs, their commands exist, their links lead somewhere."""

import re
import shlex
from functools import partial
from pathlib import Path

import pytest
from skimage import data

import sedil
from command_lines import parse

ROOT = Path(__file__).parents[1]
README = ROOT / "README.md"
PAGES = [*ROOT.glob("*.md"), *ROOT.glob("docs/*.md"), ROOT / "src/sedil/pretrained/README.md"]


def blocks(page, language):
    return re.findall(rf"^```{language}\n(.*?)^```", page.read_text(), re.DOTALL | re.MULTILINE)


def commands(program):
    """All command lines of a program, without comments."""
    return [
        (page.name, shlex.split(line, comments=True)[1:])
        for page in PAGES
        for block in blocks(page, "console")
        for line in block.splitlines()
        if line.startswith(f"{program} ")
    ]


@pytest.mark.slow
@pytest.mark.parametrize("page", [README, ROOT / "docs/getting_started.md"], ids=lambda page: page.name)
def test_python_of_first_pages_runs(page, tmp_path, monkeypatch):
    """From the first block to the last; few patches of small pictures, as nobody looks at the results."""
    for name in ("camera", "cat"):
        part = getattr(data, name)()[:140, :200]
        monkeypatch.setattr(data, name, lambda part=part: part)
    sample = sedil.sample_patches
    monkeypatch.setattr(sedil, "sample_patches", lambda images, shape, n, **more: sample(images, shape, 300))
    monkeypatch.setattr(sedil, "denoise", partial(sedil.denoise, stride=5))
    monkeypatch.chdir(tmp_path)
    code = blocks(page, "python")
    assert len(code) > 2
    names = {}
    for block in code:
        exec(compile(block, page.name, "exec"), names)
    assert (tmp_path / "camera.npz").is_file()


@pytest.mark.parametrize(("page", "words"), commands("sedil"), ids=str)
def test_commands_can_be_parsed(page, words):
    parse(words)


def test_an_option_that_does_not_exist_would_be_found():
    with pytest.raises(Exception, match="No such option: --best"):
        parse(["denoise", "in.png", "out.png", "--best"])


@pytest.mark.parametrize(("page", "words"), commands("make"), ids=str)
def test_targets_of_make_exist(page, words):
    assert re.search(rf"^{words[0]}:", (ROOT / "Makefile").read_text(), re.MULTILINE)


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_every_linked_file_exists(page):
    for target in re.findall(r"\]\(([^)#:]+)[^):]*\)", page.read_text()):
        assert (page.parent / target).exists(), f"{page.name} links {target}"
