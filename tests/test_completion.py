"""What a shell offers when the tab key is pressed, asked as bash asks."""

import shutil
from pathlib import Path
from typing import get_args

import pytest
from typer.testing import CliRunner

import sedil
from command_lines import all_commands
from sedil.choices import DenoisingMethod, InpaintingMethod, ShippedName
from sedil.cli import app

SHIPPED = Path(sedil.__file__).parent / "pretrained/separable-8x8.npz"
NAMES = list(get_args(ShippedName))


def offered(line):
    """Words that may stand in the place of the last of `line`."""
    asked = {
        "_SEDIL_COMPLETE": "complete_bash",
        "COMP_WORDS": line,
        "COMP_CWORD": str(len(line.split(" ")) - 1),
    }
    result = CliRunner().invoke(app, env=asked, prog_name="sedil")
    assert result.exit_code == 0, result.output
    return result.stdout.split()


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """A folder to work in with a dictionary, one in a folder below, and a picture."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "own").mkdir()
    for name in ("separate.npz", "own/[1].npz"):
        shutil.copy(SHIPPED, tmp_path / name)
    (tmp_path / "separate.png").touch()


@pytest.mark.parametrize(
    "line", ["sedil denoise a.png b.png -d", "sedil inpaint a b c --dictionary", "sedil show"]
)
def test_dictionaries_are_offered_by_name_and_by_file(line, folder):
    assert offered(f"{line} ") == [*NAMES, "separate.npz"]
    assert offered(f"{line} separa") == [*(name for name in NAMES if name.startswith("sep")), "separate.npz"]
    assert offered(f"{line} own/") == ["own/[1].npz"]
    assert offered(f"{line} own/[") == ["own/[1].npz"]
    assert offered(f"{line} nothing") == []


def test_every_dictionary_of_every_command_is_completed():
    found = [
        (words, parameter._custom_shell_complete)
        for words, command in all_commands().items()
        for parameter in command.params
        if parameter.name == "dictionary"
    ]
    assert len(found) >= 3
    assert all(complete is not None for _, complete in found)


def test_methods_are_offered():
    assert offered("sedil denoise --method ") == list(get_args(DenoisingMethod))
    assert offered("sedil inpaint --method ") == list(get_args(InpaintingMethod))


def test_names_between_commas_are_offered():
    assert offered("sedil reproduce table1 --methods bm3d,odct-1") == ["bm3d,odct-12x12", "bm3d,odct-16x16"]
    assert offered("sedil bench --cases c") == ["coding", "cost"]


def test_commands_are_offered_and_completion_can_be_installed():
    assert {"denoise", "learn", "reproduce"} <= set(offered("sedil "))
    assert "--install-completion" in CliRunner().invoke(app, ["--help"]).output
