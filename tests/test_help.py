"""Every command ends its help with examples that it understands."""

import shlex

import pytest
from typer.testing import CliRunner

from command_lines import all_commands, parse
from sedil.cli import app

COMMANDS = all_commands()


def examples_of(command):
    return [line for line in (command.epilog or "").splitlines() if line.startswith("sedil")]


@pytest.mark.parametrize("words", COMMANDS, ids=" ".join)
def test_help_ends_with_examples_that_can_be_parsed(words):
    lines = examples_of(COMMANDS[words])
    assert lines
    for line in lines:
        called = shlex.split(line)
        assert tuple(called[: len(words)]) == words
        parse(called[1:])


@pytest.mark.parametrize("words", COMMANDS, ids=" ".join)
def test_help_shows_each_example_on_a_line(words):
    shown = CliRunner().invoke(app, [*words[1:], "--help"], env={"COLUMNS": "100", "TERMINAL_WIDTH": "100"})
    assert shown.exit_code == 0
    lines = [line.strip() for line in shown.output.splitlines()]
    assert set(examples_of(COMMANDS[words])) <= set(lines)
